//! The workspace: where `seriatim.toml` is, and the store that belongs to it.

use seriatim_engine::guard::Project;
use seriatim_engine::ports::Ports;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use seriatim_core::config::Config;
use seriatim_core::finding::Finding;
use seriatim_core::finding::Severity;
use seriatim_core::reading::BrokenFile;
use seriatim_core::reading::text_of;
use seriatim_core::redact::BadPattern;
use seriatim_core::redact::Redactor;
use seriatim_core::redact::names_a_secret;
use seriatim_engine::drive::ConfigChoice;
use seriatim_engine::hands::disk::Disk;
use seriatim_engine::hands::paths::Workspace as Paths;
use seriatim_engine::hands::views::Worlds;
use seriatim_engine::hands::views::WorldsAt;
use seriatim_engine::home::Home;
use seriatim_engine::home::PLAIN;
use seriatim_engine::home::Settled;
use seriatim_engine::reading::broken_file;
use seriatim_engine::reading::read_file;
use seriatim_journal::Filter;
use seriatim_journal::OpenFilter;
use seriatim_journal::RunInfo;
use seriatim_journal::Store;

use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::render;
use crate::ui::Ui;

/// The name of the configuration file.
pub(crate) const CONFIG: &str = "seriatim.toml";
/// A workspace and what it is configured to be.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) config: Config,
    pub(crate) home: Home,
    /// The text of the configuration; empty where there is none.
    pub(crate) source: String,
    /// What is odd about the configuration.
    pub(crate) warnings: Vec<Finding>,
    /// Why the configuration file cannot be used, where that does not matter.
    pub(crate) unreadable: Option<String>,
}

impl Workspace {
    /// The workspace that was named, or the nearest one from here upwards: a folder with `seriatim.toml`,
    /// `.seriatim/` or `.git`; else the current folder.
    pub(crate) fn find(named: Option<&Path>) -> Result<PathBuf> {
        let start = match named {
            Some(dir) => dir.to_owned(),
            None => std::env::current_dir()
                .map_err(|e| CommandError::usage(format!("the current folder cannot be read: {e}")))?,
        };
        let start = start.canonicalize().map_err(|e| {
            CommandError::usage(format!("the workspace {} cannot be opened: {e}", start.display()))
        })?;
        if !start.is_dir() {
            return Err(CommandError::usage(format!("the workspace {} is not a folder", start.display())));
        }
        if named.is_some() {
            return Ok(start);
        }
        let marks = [CONFIG, PLAIN, ".git"];
        let found = start.ancestors().find(|dir| marks.iter().any(|m| is_trusted(&start, &dir.join(m))));
        Ok(found.unwrap_or(&start).to_owned())
    }

    /// Returns the views in which agents work here.
    pub(crate) fn worlds(&self) -> Worlds {
        let variable =
            |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        Worlds::new(WorldsAt {
            workspace: self.root.clone(),
            store: self.home.store().to_owned(),
            dir: self.config.worlds.dir.as_ref().map(PathBuf::from),
            temporary: variable("TMPDIR"),
            home: variable("HOME"),
        })
    }

    /// Opens it for a run that may keep its recorded configuration: then a file that cannot be used is only told.
    pub(crate) fn open_for(context: &Context, choice: Option<ConfigChoice>) -> Result<Workspace> {
        let error = match (Workspace::open(context), choice) {
            (Err(error), Some(ConfigChoice::Old)) => error,
            (opened, _) => return opened,
        };
        let root = Workspace::find(context.workspace.as_deref())?;
        context.ui.warn(format!(
            "{}; the recorded configuration is used, and redaction knows the usual secrets only",
            error.message
        ));
        let home = settle(&context.ui, Home::of(&root));
        Ok(Workspace { unreadable: Some(error.message), ..Workspace::unconfigured(root, home) })
    }

    /// Opens it for a command that only reads or records an answer: a configuration that cannot be used is told, and the
    /// record is still there for everybody.
    pub(crate) fn open_to_look(context: &Context) -> Result<Workspace> {
        Workspace::open(context).or_else(|error| {
            let root = Workspace::find(context.workspace.as_deref())?;
            context.ui.warn(format!("{}; the record can be read all the same", error.message));
            let home = settle(&context.ui, Home::of(&root));
            Ok(Workspace { unreadable: Some(error.message), ..Workspace::unconfigured(root, home) })
        })
    }

    /// Opens it: configuration errors are shown with their place and end the command.
    pub(crate) fn open(context: &Context) -> Result<Workspace> {
        Workspace::open_at(context, Workspace::find(context.workspace.as_deref())?)
    }

    /// Opens the workspace at a root that is known.
    pub(crate) fn open_at(context: &Context, root: PathBuf) -> Result<Workspace> {
        let ui = &context.ui;
        let home = settle(ui, Home::of(&root));
        let path = root.join(CONFIG);
        if path.symlink_metadata().is_ok() && !is_trusted(&root, &path) {
            return Err(CommandError::usage(format!("{} belongs to another user", path.display())).hint(
                "its agents would run as you: look at it, make it yours with chown, or name a workspace",
            ));
        }
        let Some(text) = read_configuration(&root)? else { return Ok(Workspace::unconfigured(root, home)) };
        let tables: Vec<&str> = context.registry.sections().collect();
        let (config, findings) = Config::read_with(&text, &tables);
        let errors = findings.iter().filter(|f| f.severity == Severity::Error).count();
        if errors > 0 || ui.verbose {
            render::findings::to_stderr(CONFIG, &text, &findings);
        }
        if errors > 0 {
            return Err(CommandError::usage(format!("{CONFIG} has {errors} error(s)"))
                .hint(format!("fix it; `seriatim check {CONFIG}` shows every problem")));
        }
        Ok(Workspace { config, source: text, warnings: findings, ..Workspace::unconfigured(root, home) })
    }

    /// A workspace without a configuration file.
    pub(crate) fn unconfigured(root: PathBuf, home: Home) -> Workspace {
        let (config, source, warnings) = (Config::default(), String::new(), vec![]);
        Workspace { root, config, home, source, warnings, unreadable: None }
    }

    /// Shows what is odd about the configuration, before work begins that rests on it.
    pub(crate) fn tell_warnings(&self, context: &Context) {
        if !context.ui.quiet && !context.ui.verbose {
            render::findings::to_stderr(CONFIG, &self.source, &self.warnings);
        }
    }

    /// The folder of the store.
    pub(crate) fn state(&self) -> PathBuf {
        self.home.store().to_owned()
    }

    /// The runs that belong to this workspace.
    pub(crate) fn runs(&self) -> Filter {
        Filter { workspace: Some(self.home.key()), ..Filter::default() }
    }

    /// The open calls of the runs that belong to this workspace.
    pub(crate) fn open_calls(&self) -> OpenFilter {
        OpenFilter { workspace: Some(self.home.key()), ..OpenFilter::default() }
    }

    /// The folder that a run belongs to, where that is another one.
    pub(crate) fn elsewhere(&self, store: &Store, run: &RunInfo) -> Result<Option<PathBuf>> {
        let here = store.workspace_or_origin(&self.home.key())?;
        Ok((run.workspace != here).then(|| self.home.folder_of(&run.workspace)))
    }

    /// Refuses to `verb` a run that belongs to another folder: its files are there.
    pub(crate) fn refuse_elsewhere(&self, store: &Store, run: &RunInfo, verb: &str) -> Result<()> {
        let Some(folder) = self.elsewhere(store, run)? else { return Ok(()) };
        let (name, shown) = (&run.name, folder.display());
        let there = format!("seriatim --workspace {shown} {verb} {name}");
        Err(if folder.is_dir() {
            CommandError::usage(format!("run {name} belongs to {shown}; nothing was changed"))
                .hint(format!("continue there:  {there}"))
        } else {
            CommandError::usage(format!("run {name} belongs to {shown}, which is gone; nothing was changed"))
                .hint(format!("bring the folder back to {shown}, then:  {there}"))
                .hint(format!("or end it on record:  seriatim cancel {name}"))
        })
    }

    /// What must never be stored: configured patterns and the values of variables whose names say so.
    pub(crate) fn redactor(&self) -> Result<Redactor> {
        make_redactor(&self.config.redact).map_err(|e| CommandError::usage(format!("{CONFIG}: {e}")))
    }

    /// The workspace as the guard sees it.
    pub(crate) fn project(&self, ports: &Ports) -> Project {
        Project::new(&self.root, Arc::clone(&ports.files))
    }

    /// The journal, created when it is not there.
    pub(crate) fn store(&self) -> Result<Store> {
        Ok(Store::open(self.home.store(), self.redactor()?)?.at(&self.home.key()))
    }

    /// The journal for reading; nothing is created or changed.
    pub(crate) fn store_to_read(&self) -> Result<Option<Store>> {
        let store = Store::open_read_only(self.home.store(), self.redactor()?)?;
        Ok(store.map(|store| store.at(&self.home.key())))
    }
}

/// Reads the text of the configuration; nothing where there is none.
fn read_configuration(root: &Path) -> Result<Option<String>> {
    let unusable = |broken: BrokenFile| CommandError::usage(broken.headline()).hint(broken.remedy());
    let paths = Paths::new(root).map_err(|error| unusable(broken_file(CONFIG, &error)))?;
    let text = read_file(&Disk, &paths, CONFIG).and_then(|bytes| text_of(CONFIG, bytes));
    text.optional().map_err(unusable)
}

/// Moves a store from where earlier versions kept it, and says so.
fn settle(ui: &Ui, mut home: Home) -> Home {
    match home.settle() {
        Ok(Settled::Already) => {}
        Ok(Settled::Moved { from, to }) => ui.note(format!(
            "The record was moved from {} to {}, where `git clean` does not reach it.",
            from.display(),
            to.display()
        )),
        Ok(Settled::Later { at }) => ui.warn(format!(
            "the record stays in {} for now: another process works with it there; it is moved later",
            at.display()
        )),
        Ok(Settled::Second { unused, used }) => ui.warn(format!(
            "{} is not used: the record of this repository is {}; move the former away, its runs can be read there",
            unused.display(),
            used.display()
        )),
        Err(error) => ui.warn(format!("the record stays in {}: {error}", home.store().display())),
    }
    home
}

/// Takes out what must never be stored: what the patterns say, and values of variables whose names say so.
pub(crate) fn make_redactor(patterns: &[String]) -> std::result::Result<Redactor, BadPattern> {
    let secrets: Vec<String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| names_a_secret(name))
        .map(|(_, value)| value)
        .collect();
    Redactor::new(patterns, &secrets)
}

/// The time, for showing how long things have waited.
pub(crate) fn now() -> seriatim_core::time::Utc {
    use seriatim_engine::hands::clock::Clock;
    seriatim_engine::hands::clock::SystemClock::default().now()
}

/// Whether a mark makes a folder the workspace of those who stand in or below it. One that another user left in a folder
/// above, such as the shared one for temporary files, does not: its commands would run as us.
fn is_trusted(start: &Path, mark: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let owner = |path: &Path| std::fs::symlink_metadata(path).map(|found| found.uid()).ok();
    let Some(by) = owner(mark) else { return false };
    by == 0 || by == rustix::process::geteuid().as_raw() || owner(start) == Some(by)
}
