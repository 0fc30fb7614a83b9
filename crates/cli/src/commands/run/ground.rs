//! The workspace as a dialect sees it before a run exists.

use std::path::Path;
use std::path::PathBuf;

use serde_json::Value;
use seriatim_core::config::Config;
use seriatim_core::documents::Conditions;
use seriatim_core::finding::Finding;
use seriatim_core::reading::Reading;
use seriatim_core::time::Utc;
use seriatim_engine::drive::Start;
use seriatim_engine::hands::disk::Disk;
use seriatim_engine::hands::files::Expect;
use seriatim_engine::hands::files::FileError;
use seriatim_engine::hands::files::Files;
use seriatim_engine::hands::files::Write;
use seriatim_engine::hands::paths::Workspace as Paths;
use seriatim_engine::reading::broken_file;
use seriatim_engine::reading::read_file;
use seriatim_flows::entrance::Ground;
use seriatim_flows::entrance::Listed;
use seriatim_flows::entrance::ListedKind;
use seriatim_flows::entrance::Named;
use seriatim_flows::entrance::NoStart;
use seriatim_flows::entrance::Repository;
use seriatim_flows::entrance::Unfinished;
use seriatim_flows::entrance::Why;
use seriatim_journal::Filter;
use seriatim_journal::Kind;
use seriatim_journal::RunInfo;
use seriatim_journal::Store;

use crate::conditions;
use crate::error::CommandError;
use crate::render;
use crate::session::whoami;
use crate::workspace::Workspace;

/// A workspace on the disk, with the journal for reading.
pub(crate) struct OnDisk<'w> {
    pub(crate) workspace: &'w Workspace,
}

impl OnDisk<'_> {
    fn path(&self, relative: &str) -> PathBuf {
        self.workspace.root.join(relative)
    }
}

impl Ground for OnDisk<'_> {
    fn check_conditions(&self, conditions: &Conditions) -> Vec<Finding> {
        conditions::findings(conditions)
    }

    fn config(&self) -> &Config {
        &self.workspace.config
    }

    fn now(&self) -> Utc {
        crate::workspace::now()
    }

    fn user(&self) -> String {
        whoami()
    }

    fn folder_name(&self) -> String {
        let name = self.workspace.root.file_name();
        name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    fn repository(&self) -> Repository {
        let mut above = self.workspace.root.ancestors().skip(1);
        match () {
            () if self.path(".git").exists() => Repository::Here,
            () if above.any(|folder| folder.join(".git").exists()) => Repository::Above,
            () => Repository::No,
        }
    }

    fn read(&self, path: &str) -> Reading<Vec<u8>> {
        match Paths::new(&self.workspace.root) {
            Ok(paths) => read_file(&Disk, &paths, path),
            Err(error) => Reading::Broken(broken_file(path, &error)),
        }
    }

    fn exists(&self, path: &str) -> bool {
        self.path(path).symlink_metadata().is_ok()
    }

    fn list(&self, folder: &str) -> Vec<Listed> {
        let Ok(entries) = std::fs::read_dir(self.path(folder)) else { return vec![] };
        let mut listed: Vec<Listed> = entries.flatten().filter_map(|entry| listed(&entry.path())).collect();
        listed.sort_by(|a, b| a.name.cmp(&b.name));
        listed
    }

    fn is_file(&self, path: &str) -> bool {
        self.path(path).is_file()
    }

    fn named(&self, path: &str) -> Result<Named, String> {
        let words = |error: std::io::Error| error.to_string();
        let bytes = std::fs::read(path).map_err(words)?;
        let place = Path::new(path).canonicalize().map_err(words)?;
        let inside = place.strip_prefix(&self.workspace.root).ok();
        Ok(Named {
            bytes,
            inside: inside.map(|inside| inside.to_string_lossy().into_owned()),
            workspace: self.workspace.root.display().to_string(),
        })
    }

    fn create(&mut self, path: &str, text: &str) -> Result<bool, String> {
        let how = Write::DURABLE.expecting(Expect::Absent);
        match Disk.write(&self.path(path), text.as_bytes(), how) {
            Ok(_) => Ok(true),
            Err(FileError::Changed { .. }) => Ok(false),
            Err(error) => Err(error.to_string()),
        }
    }

    fn plugin_root(&self) -> Option<String> {
        let root = PathBuf::from(std::env::var_os("CLAUDE_PLUGIN_ROOT")?);
        Some(root.strip_prefix(&self.workspace.root).ok()?.to_string_lossy().into_owned())
    }

    fn unfinished(&self, flow: &str) -> Result<Vec<Unfinished>, NoStart> {
        let unreadable = |error: CommandError| NoStart {
            hints: error.hints,
            ..NoStart::not_good(format!("the record of earlier work cannot be read: {}", error.message))
        };
        let Some(store) = self.workspace.store_to_read().map_err(unreadable)? else { return Ok(vec![]) };
        let filter = Filter { flow: Some(flow.to_owned()), ..self.workspace.runs() };
        let listing = store.runs(&filter).map_err(|error| unreadable(error.into()))?;
        let open = listing.runs.into_iter().filter(|run| !run.status.is_finished());
        Ok(open.map(|run| unfinished(&store, run)).collect())
    }
}

fn listed(path: &Path) -> Option<Listed> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    // A link that leads nowhere is listed too: its name is there.
    let found = std::fs::metadata(path).or_else(|_| std::fs::symlink_metadata(path)).ok()?;
    let kind = match () {
        () if found.is_file() => ListedKind::File,
        // Links to folders may lead round in circles.
        () if found.is_dir() && !path.is_symlink() => ListedKind::Folder,
        () => ListedKind::Other,
    };
    Some(Listed { name, kind, size_bytes: found.len() })
}

fn unfinished(store: &Store, run: RunInfo) -> Unfinished {
    let mut input = Value::Null;
    // A record that cannot be read tells nothing of how the run began; the run itself is still unfinished.
    let _ = store.load(run.id, |entry| {
        if entry.kind == Kind::Start
            && let Some(start) = entry.body.and_then(|body| serde_json::from_slice::<Start>(body).ok())
        {
            input = start.input;
        }
    });
    Unfinished {
        holder: run.holder.as_ref().map(ToString::to_string),
        run: run.name,
        title: run.title,
        subject: run.subject,
        input,
    }
}

impl From<NoStart> for CommandError {
    fn from(refused: NoStart) -> CommandError {
        for document in &refused.documents {
            render::findings::to_stderr(&document.path, &document.text, &document.findings);
        }
        let error = match refused.why {
            Why::Usage => CommandError::usage(refused.message),
            Why::NotGood => CommandError::not_good(refused.message),
            Why::Held => CommandError::held(refused.message),
        };
        CommandError { hints: refused.hints, ..error }
    }
}
