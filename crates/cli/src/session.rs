//! A working session with a workspace: the journal, this process as a holder, the hands, and whoever watches.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;

use serde_json::Value;
use seriatim_core::choices::Choices;
use seriatim_core::config::Config;
use seriatim_core::hash::Hash;
use seriatim_core::projection::Fact;
use seriatim_core::time::Utc;
use seriatim_engine::agents::pin;
use seriatim_engine::drive::ConfigChoice;
use seriatim_engine::drive::Driver;
use seriatim_engine::drive::Left;
use seriatim_engine::drive::Outcome;
use seriatim_engine::drive::Start;
use seriatim_engine::drive::Story;
use seriatim_engine::drive::Undecided;
use seriatim_engine::hands::clock::Clock;
use seriatim_engine::hands::clock::SystemClock;
use seriatim_engine::hands::disk::Disk;
use seriatim_engine::hands::files::Files;
use seriatim_engine::hands::paths;
use seriatim_engine::hands::process::Processes;
use seriatim_engine::hands::repository::GitRepositories;
use seriatim_engine::hands::runner::Supervised;
use seriatim_engine::home::ATTEMPTS;
use seriatim_engine::job::Address;
use seriatim_engine::job::Job;
use seriatim_engine::listen::ConfigAnswer;
use seriatim_engine::listen::Listener;
use seriatim_engine::listen::Posed;
use seriatim_engine::listen::Said;
use seriatim_engine::perform::Hands;
use seriatim_engine::repository;
use seriatim_engine::schedule::Event;
use seriatim_engine::schedule::Threads;
use seriatim_engine::views;
use seriatim_flows::registry::Registry;
use seriatim_journal::Error as JournalError;
use seriatim_journal::Held;
use seriatim_journal::Holder;
use seriatim_journal::Kind;
use seriatim_journal::Lease;
use seriatim_journal::NewEntry;
use seriatim_journal::NewRun;
use seriatim_journal::RunInfo;
use seriatim_journal::Store;
use signal_hook::consts::SIGHUP;
use signal_hook::consts::SIGINT;
use signal_hook::consts::SIGTERM;
use signal_hook::iterator::Signals;

use crate::answers::Answers;
use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::progress::Progress;
use crate::prompt;
use crate::render;
use crate::render::isolation::WeakerIsolation;
use crate::ui::Ui;
use crate::workspace::Workspace;

/// Somebody pressed Ctrl-C, or the terminal went away.
pub(crate) static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Who answers when nobody says so.
pub(crate) fn whoami() -> String {
    ["SERIATIM_USER", "USER", "LOGNAME"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|v| !v.trim().is_empty()))
        .unwrap_or_else(|| "somebody".to_owned())
}

/// The command line as other processes see who holds a run.
fn command_line() -> String {
    let mut words: Vec<String> = std::env::args().collect();
    if let Some(first) = words.first_mut() {
        *first = "seriatim".to_owned();
    }
    words.join(" ")
}

/// A run that is to begin.
pub(crate) struct Begin {
    pub(crate) flow: &'static str,
    pub(crate) title: String,
    pub(crate) subject: String,
    pub(crate) input: Value,
    /// The names by which agents will be looked up; absent where they are not known beforehand.
    pub(crate) calls: Option<Vec<Vec<String>>>,
}

/// Why a run could not be begun.
pub(crate) enum Busy {
    Unheld(String),
    Other(CommandError),
}

impl From<JournalError> for Busy {
    fn from(error: JournalError) -> Busy {
        match error {
            JournalError::SubjectBusy { run, holder: None, .. } => Busy::Unheld(run),
            other => Busy::Other(other.into()),
        }
    }
}

impl From<CommandError> for Busy {
    fn from(error: CommandError) -> Busy {
        Busy::Other(error)
    }
}

pub(crate) struct Session {
    pub(crate) workspace: Workspace,
    pub(crate) store: Store,
    holder: Holder,
    pub(crate) hands: Arc<Hands>,
    config: Arc<Config>,
    registry: &'static Registry,
}

impl Session {
    pub(crate) fn open(context: &Context) -> Result<Session> {
        Session::open_at(context, Workspace::open(context)?)
    }

    /// Opens a session with a workspace whose configuration was read already.
    pub(crate) fn open_at(context: &Context, workspace: Workspace) -> Result<Session> {
        let store = workspace.store()?;
        let clock = SystemClock::default();
        let holder = Holder::register(&store, &command_line(), clock.now())?;
        let config = Arc::new(workspace.config.clone());
        let hands = Arc::new(make_hands(&workspace, config.clone(), context.registry)?);
        Ok(Session { workspace, store, holder, hands, config, registry: context.registry })
    }

    pub(crate) fn now(&self) -> Utc {
        self.hands.clock.now()
    }

    /// Creates a run and takes its lease.
    pub(crate) fn begin(&mut self, begin: Begin) -> std::result::Result<Lease, Busy> {
        let flow = self.registry.dialect(begin.flow).and_then(|dialect| dialect.flow.as_ref());
        let flow = flow.ok_or_else(|| CommandError::usage(format!("there is no flow `{}`", begin.flow)))?;
        let at = self.now();
        let pinned =
            pin::pin(flow, &self.config, self.hands.files.as_ref(), &self.hands.workspace, self.store.door())
                .map_err(|error| CommandError::usage(error.to_string()))?;
        let start = Start {
            flow: flow.name.into(),
            flow_version: flow.version,
            input: begin.input,
            config: Some(pinned),
        };
        let body = serde_json::to_vec(&start)
            .map_err(|error| CommandError::not_good(format!("the run cannot be recorded: {error}")))?;
        let new = NewRun {
            name: run_name(at),
            flow: flow.name.into(),
            flow_version: flow.version,
            title: begin.title,
            subject: begin.subject,
            at,
        };
        let first = NewEntry {
            kind: Kind::Start,
            key: String::new(),
            request: Hash::ZERO,
            at,
            body: self.store.clean(body),
        };
        let leases = self.store.create(vec![(new, vec![first])], &self.holder)?;
        let lease = leases.into_iter().next();
        lease.ok_or_else(|| Busy::Other(CommandError::not_good("the run was not created")))
    }

    /// Takes the lease of a run that nobody living holds.
    pub(crate) fn acquire(&mut self, info: &RunInfo) -> Result<Lease> {
        let at = self.now();
        let taken = self.store.acquire(&[info.id], &self.holder, at)?;
        match taken.into_iter().next() {
            Some(Ok(lease)) => Ok(lease),
            Some(Err(Held::By(holder))) => Err(CommandError::held(format!("this work is held by {holder}"))
                .hint("wait for it, or stop it there")),
            Some(Err(Held::Broken(flaw))) => {
                Err(CommandError::not_good(format!("the record of run {} is damaged: {flaw}", info.name)))
            }
            None => Err(CommandError::not_good("the run could not be taken up")),
        }
    }

    /// Drives one run until it ends, waits or must stop.
    pub(crate) fn drive(&mut self, lease: Lease, face: &mut Face) -> Result<Outcome> {
        let info = self.store.run(lease.run)?;
        if face.interactive {
            face.weaker = WeakerIsolation::of_story(&Story::read(&self.store, &info)?);
        }
        let mut threads = Threads::new(self.hands.clone());
        watch_signals(&threads);
        let mut driver = Driver::new(
            &mut self.store,
            &mut threads,
            face,
            self.config.clone(),
            self.hands.files.clone(),
            self.hands.workspace.clone(),
        )
        .speaking(self.registry);
        if let Some(why) = &self.workspace.unreadable {
            driver.set_unreadable(why.clone());
        }
        driver.take_up(lease, &info)?;
        let driven = driver.drive();
        face.progress.clear();
        let outcome = driven?.into_iter().next();
        if let Some(wrong) = face.wrong_answer.take() {
            return Err(
                CommandError::usage(wrong).hint("the run waits; answer it, or mend the answers and resume")
            );
        }
        let outcome = outcome.ok_or_else(|| CommandError::not_good("the run ended without a word"))?;
        if let Left::Ended(ended) = &outcome.left {
            self.end_views(&face.ui, &outcome.name, ended.good);
        }
        Ok(outcome)
    }

    /// Throws away what agents left in their views. Unmerged work of a run that did not end well is kept, and said.
    fn end_views(&self, ui: &Ui, run: &str, good: bool) {
        match views::end_run(&self.hands, run, good) {
            Ok(kept) if kept.is_empty() => {}
            Ok(kept) => {
                let files: usize =
                    kept.iter().map(|view| view.change.files.iter().filter(|f| !f.ignored).count()).sum();
                let files = if files == 1 {
                    "1 file of unmerged work is".to_owned()
                } else {
                    format!("{files} files of unmerged work are")
                };
                ui.note(format!("{files} kept; look with `seriatim world {run}`"));
            }
            Err(error) => ui.warn(format!("the layers of run {run} could not be removed: {error}")),
        }
    }

    /// Leaves the store tidy: the last one out moves its log into the database.
    pub(crate) fn close(self) {
        drop(self.holder);
        // Empty by now, unless another process works in the same workspace; then it stays.
        let _ = std::fs::remove_dir(&self.hands.scratch);
        let _ = self.store.close();
    }

    pub(crate) fn face(&self, ui: &Ui, answers: Answers, no_input: bool) -> Face {
        Face {
            progress: Progress::new(ui.quiet || ui.json),
            answers,
            interactive: !no_input && ui.interactive(),
            wrong_answer: None,
            from_list: false,
            configuring: Configuring::Ignored,
            weaker: WeakerIsolation::default(),
            ui: *ui,
        }
    }
}

/// Returns the hands with which this program works in a workspace.
pub(crate) fn make_hands(
    workspace: &Workspace,
    config: Arc<Config>,
    registry: &'static Registry,
) -> Result<Hands> {
    let root = paths::Workspace::new(&workspace.root).map_err(|e| CommandError::usage(e.to_string()))?;
    let files: Arc<dyn Files> = Arc::new(Disk);
    let processes: Arc<dyn Processes> = Arc::new(Supervised::by_this_program());
    let repositories = GitRepositories::new(
        processes.clone(),
        files.clone(),
        workspace.home.store().join(repository::PRIVATE),
    );
    Ok(Hands {
        clock: Arc::new(SystemClock::default()),
        files,
        processes,
        repositories: Arc::new(repositories),
        views: Arc::new(workspace.worlds()),
        workspace: root.with_store(workspace.home.store()),
        config,
        registry,
        redactor: workspace.redactor()?,
        scratch: workspace.home.make_folder(ATTEMPTS)?,
        outputs: workspace.home.make_folder("outputs")?,
    })
}

/// Signals reach the driver as events; a second one is left to the supervisors, which see the engine die.
fn watch_signals(threads: &Threads) {
    let sender = threads.sender();
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else { return };
    std::thread::spawn(move || {
        for _ in signals.forever() {
            INTERRUPTED.store(true, Ordering::SeqCst);
            let _ = sender.send(Event::Interrupt);
        }
    });
}

/// Sortable by time, short enough to type, unique by chance and by the journal's own check.
fn run_name(at: Utc) -> String {
    use std::hash::BuildHasher;
    use std::hash::Hasher;
    const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let mut random = std::hash::RandomState::new().build_hasher().finish();
    let mut tail = String::new();
    for _ in 0..4 {
        tail.push(char::from(LETTERS[(random % 32) as usize]));
        random /= 32;
    }
    format!("{}-{tail}", at.compact())
}

/// Whoever watches a drive: progress, prepared answers, questions on the terminal.
pub(crate) struct Face {
    progress: Progress,
    answers: Answers,
    interactive: bool,
    /// A prepared answer that does not fit its question: an error, never a guess.
    wrong_answer: Option<String>,
    /// The last answer came from the list.
    from_list: bool,
    /// What is done about a configuration that differs from the recorded one.
    configuring: Configuring,
    /// Where an agent of the run was kept apart less than by a world.
    weaker: WeakerIsolation,
    ui: Ui,
}

/// What is done about a configuration that differs from the recorded one.
enum Configuring {
    /// Nothing is compared: the run only ends.
    Ignored,
    /// It was decided beforehand.
    Decided(ConfigChoice),
    /// A person decides, where one is there.
    Asked,
}

impl Face {
    /// Compares the configuration of the moment with the recorded one; `choice` decides beforehand.
    pub(crate) fn compares(mut self, choice: Option<ConfigChoice>) -> Face {
        self.configuring = choice.map_or(Configuring::Asked, Configuring::Decided);
        self
    }

    /// The choice between two configurations, where it can be made and a person or an option makes it.
    fn choose(&self, run_name: &str, matter: &Undecided) -> Option<ConfigChoice> {
        let choice = match self.configuring {
            Configuring::Ignored => return None,
            Configuring::Decided(choice) => choice,
            Configuring::Asked if !self.interactive => return None,
            Configuring::Asked => {
                let question = render::configuration::question(run_name, matter);
                let posed =
                    Posed { id: String::new(), run_name: run_name.to_owned(), key: String::new(), question };
                ConfigChoice::of(&prompt::ask(&posed, None, &mut || false)?.choice)?
            }
        };
        match (choice, &matter.only_new) {
            (ConfigChoice::Old, Some(why)) => {
                self.ui.warn(format!("the recorded configuration cannot be kept: {why}"));
                None
            }
            (ConfigChoice::New, _) if matter.only_old => None,
            (ConfigChoice::Old | ConfigChoice::New, _) => Some(choice),
        }
    }
}

impl Listener for Face {
    fn attended(&self) -> bool {
        self.wrong_answer.is_none() && (self.interactive || self.answers.left())
    }

    fn answer(&mut self, posed: &Posed, elsewhere: &mut dyn FnMut() -> bool) -> Option<Said> {
        if self.wrong_answer.is_some() || INTERRUPTED.load(Ordering::SeqCst) {
            return None;
        }
        self.from_list = true;
        if let Some(said) = self.answers.take(posed) {
            return Some(said);
        }
        self.from_list = false;
        if !self.interactive {
            return None;
        }
        self.progress.clear();
        prompt::ask(posed, self.weaker.words().as_deref(), elsewhere)
    }

    fn refused(&mut self, posed: &Posed, why: &str) {
        if self.from_list {
            self.wrong_answer =
                Some(format!("the answer prepared for \"{}\" cannot be taken: {why}", posed.question.header));
        } else {
            self.ui.warn(why);
        }
    }

    fn decide(&mut self, run_name: &str, matter: &Undecided) -> ConfigAnswer {
        if matches!(self.configuring, Configuring::Ignored) {
            return ConfigAnswer::Ignored;
        }
        self.progress.clear();
        render::configuration::tell(&self.ui, run_name, &matter.differences);
        match self.choose(run_name, matter) {
            Some(choice) => ConfigAnswer::Decided { choice, by: whoami() },
            None => ConfigAnswer::Later,
        }
    }

    fn began(&mut self, job: &Job) {
        self.weaker.take_job(job);
        self.progress.began(job);
    }

    fn fact(&mut self, _run_name: &str, fact: &Fact) {
        self.weaker.take_fact(&fact.data);
    }

    fn line(&mut self, address: &Address, line: &str) {
        self.progress.line(address, line);
    }

    fn finished(&mut self, address: &Address) {
        self.progress.finished(address);
    }

    fn tick(&mut self) {
        self.progress.draw();
    }

    fn warn(&mut self, words: &str) {
        self.progress.clear();
        self.ui.warn(words);
    }
}
