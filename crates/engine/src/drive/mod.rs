//! The drive loop: outcomes in, one turn, ONE commit for all runs, then the effects.
//!
//! One thread owns the journal. It drains everything that has happened, turns every run that has news, and commits
//! all of it at once: alone, that is a direct call; with many runs it is a group commit.
//!
//! Architecture invariant: nothing outside can see the effect of a request before the request is durable.

mod configuration;
mod ending;
mod images;
mod live;
mod load;
mod lost;
mod mail;
mod printed;
mod story;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use seriatim_core::config::Config;
use seriatim_core::hash::Hash;
use seriatim_core::question::Question;
use seriatim_core::time::Utc;
use seriatim_flows::Halt;
use seriatim_flows::Request;
use seriatim_flows::registry::Ended;
use seriatim_flows::registry::Registry;
use seriatim_flows::registry::STANDARD;
use seriatim_flows::request::GitCall;
use seriatim_journal::Append;
use seriatim_journal::Committed;
use seriatim_journal::Door;
use seriatim_journal::HolderInfo;
use seriatim_journal::Kind;
use seriatim_journal::Lease;
use seriatim_journal::NewEntry;
use seriatim_journal::RunInfo;
use seriatim_journal::RunRef;
use seriatim_journal::Store;

use crate::agents;
use crate::guard::Project;
use crate::hands::files::Files;
use crate::hands::paths::Workspace;
use crate::job::Job;
use crate::job::Told;
use crate::labelled::Needed;
use crate::listen::Listener;
use crate::records::Poster;
use crate::schedule::Event;
use crate::schedule::Schedule;

use configuration::Compared;
pub use configuration::ConfigChoice;
pub use configuration::ConfigDecision;
pub use configuration::Undecided;
pub use ending::end_on_record;
pub use images::Disk;
pub use images::images_of;
use live::Live;
use live::NoStep;
use live::Step;
use live::Where;
pub use load::History;
pub use load::Start;
pub use load::replay;
pub use lost::Unrecorded;
pub use printed::KeptAttempt;
pub use printed::Worker;
pub use printed::attempts;
pub use story::AgentWork;
pub use story::Happening;
pub use story::Story;
pub use story::StoryEvent;

/// How long the driver sleeps at most before it looks for mail from other processes and lets the face breathe.
const BREATH_MS: u64 = 150;

/// Why a run could not be driven.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Journal(#[from] seriatim_journal::Error),
    #[error("an entry of the journal cannot be written: {0}")]
    Unwritable(#[from] serde_json::Error),
    #[error(transparent)]
    Unrecordable(#[from] agents::pin::Unrecordable),
    #[error("run {run} cannot be continued: entry {seq} cannot be read: {what}")]
    Unreadable { run: String, seq: u64, what: String },
    #[error("run {run} is pinned to version {version} of `{flow}`, which this program does not have")]
    UnknownFlow { run: String, flow: String, version: u32 },
    #[error("the store `{path}` was removed or replaced while a run was at work")]
    StoreLost { path: PathBuf, unrecorded: Vec<Unrecorded> },
}

/// How a run stands when the driver lets go of it.
#[derive(Debug)]
pub enum Left {
    /// It is over.
    Ended(Ended),
    /// It waits for a person or a signal; no process is needed meanwhile.
    Parked,
    /// The engine was asked to stop; the run can be continued.
    Interrupted,
    /// The outside refuses to work (a full disk); the run can be continued once that is mended.
    Stuck(String),
    /// The configuration differs from the recorded one, and nobody has decided which one holds.
    Undecided(Undecided),
    /// The flow and its journal disagree.
    Halted(Halt),
    /// Another process has taken the run over.
    Fenced(Option<HolderInfo>),
}

/// One run that the driver let go of.
#[derive(Debug)]
pub struct Outcome {
    pub run: RunRef,
    pub name: String,
    pub left: Left,
    /// Files that were written for it, relative to the workspace.
    pub files: Vec<String>,
}

/// Drives runs until each of them has ended, waits, or must stop.
pub struct Driver<'a> {
    store: &'a mut Store,
    schedule: &'a mut dyn Schedule,
    listener: &'a mut dyn Listener,
    disk: Disk,
    /// The workspace, for state files and audit trails.
    project: Project,
    /// The configuration of the moment. Runs use the one that they recorded.
    config: Arc<Config>,
    /// Why the configuration of the moment cannot be used, where it cannot.
    unreadable: Option<String>,
    door: Door,
    live: BTreeMap<RunRef, Live>,
    left: Vec<Outcome>,
    files: BTreeMap<RunRef, Vec<String>>,
    interrupted: bool,
    /// Somebody asked twice: what is under way is left to its supervisors.
    impatient: bool,
    /// Mail may have come before this process began to look.
    first_look: bool,
    /// The dialects that it can drive.
    registry: &'static Registry,
    /// What the journal did not take.
    unrecorded: Vec<Unrecorded>,
}

impl<'a> Driver<'a> {
    pub fn new(
        store: &'a mut Store,
        schedule: &'a mut dyn Schedule,
        listener: &'a mut dyn Listener,
        config: Arc<Config>,
        files: Arc<dyn Files>,
        workspace: Workspace,
    ) -> Driver<'a> {
        let door = store.door().clone();
        let project = Project::new(workspace.root(), Arc::clone(&files));
        let disk = Disk { files, workspace, state: store.dir().to_owned() };
        Driver {
            store,
            schedule,
            listener,
            disk,
            project,
            config,
            unreadable: None,
            door,
            live: BTreeMap::new(),
            left: vec![],
            files: BTreeMap::new(),
            interrupted: false,
            impatient: false,
            first_look: true,
            registry: &STANDARD,
            unrecorded: vec![],
        }
    }

    /// Drives runs of these dialects instead of the standard ones.
    #[must_use]
    pub fn speaking(mut self, registry: &'static Registry) -> Driver<'a> {
        self.registry = registry;
        self
    }

    /// Says that the configuration of the moment cannot be used, and why.
    pub fn set_unreadable(&mut self, why: String) {
        self.unreadable = Some(why);
    }

    /// Takes up a run that this process has the lease of.
    pub fn take_up(&mut self, lease: Lease, info: &RunInfo) -> Result<(), Error> {
        let mut history = History::read(self.store, info)?;
        let (flow, input) = history.flow(self.registry, info)?;
        let config = match self.compare(&lease, info, flow, &mut history)? {
            Compared::Holds(config) => config,
            Compared::Undecided(matter) => {
                self.store.commit(&[Append { release: true, ..Append::to(&lease) }])?;
                let left = Left::Undecided(matter);
                self.left.push(Outcome { run: info.id, name: info.name.clone(), left, files: vec![] });
                return Ok(());
            }
        };
        let begun = load::Begun { lease: lease.clone(), history, flow, input, config };
        let mut taken = load::take_up(self.store, info, begun, self.schedule)?;
        // What the projector has to say so far is what the files are mended to.
        taken.live.projector.changed();
        let ended = taken.live.ended.take();
        self.live.insert(info.id, taken.live);
        // Its files may be behind, or changed by somebody else.
        let mended = self
            .disk
            .mend(taken.flow, &taken.input, &taken.facts, self.listener)
            .and_then(|paths| self.disk.release(&taken.reserved).map(|()| paths));
        match (mended, ended) {
            (Ok(paths), None) => {
                self.files.insert(info.id, paths);
                Ok(())
            }
            (Err(trouble), None) => self.let_go(info.id, Left::Stuck(trouble.to_string())),
            // It was over before: only its files had to be looked after.
            (mended, Some(ended)) => {
                self.store.commit(&[Append { release: true, ..Append::to(&lease) }])?;
                self.forget(
                    info.id,
                    mended.map_or_else(|e| Left::Stuck(e.to_string()), |_| Left::Ended(ended)),
                );
                Ok(())
            }
        }
    }

    /// Drives until nothing is left to drive.
    pub fn drive(mut self) -> Result<Vec<Outcome>, Error> {
        match self.drive_all() {
            Ok(()) => Ok(self.left),
            Err(Error::Journal(seriatim_journal::Error::Lost { path })) => Err(self.abandon(path)),
            Err(error) => Err(error),
        }
    }

    fn drive_all(&mut self) -> Result<(), Error> {
        loop {
            self.read_mail()?;
            self.step_all()?;
            if self.live.is_empty() {
                return Ok(());
            }
            if self.interrupted {
                return self.put_down();
            }
            let news = self.live.values().any(|l| l.news);
            if !news && self.schedule.busy() == 0 && !self.timers() && !self.ask_in_place()? {
                return self.park_all();
            }
            if !self.live.values().any(|l| l.news) {
                self.wait();
            }
        }
    }

    fn timers(&self) -> bool {
        self.live.values().flat_map(|l| l.open.values()).any(|o| matches!(o.place, Where::Timer(_)))
    }

    /// Turns all runs with news and commits what they want in one transaction.
    fn step_all(&mut self) -> Result<(), Error> {
        let now = self.schedule.now();
        let ready: Vec<RunRef> = self.live.iter().filter(|(_, l)| l.news).map(|(run, _)| *run).collect();
        let (mut appends, mut steps): (Vec<Append>, Vec<(RunRef, Step)>) = (vec![], vec![]);
        for run in ready {
            match self.step(run, now) {
                Ok(Some((append, step))) => {
                    appends.push(append);
                    steps.push((run, step));
                }
                Ok(None) => {}
                Err(NoStep::Halted(halt)) => self.let_go(run, Left::Halted(halt))?,
                Err(NoStep::Stuck(stuck)) => self.let_go(run, Left::Stuck(stuck.0))?,
            }
        }
        if appends.is_empty() {
            return Ok(());
        }
        let committed = match self.store.commit(&appends) {
            Ok(committed) => committed,
            Err(error) => {
                self.keep_unrecorded(&appends);
                self.stop_all();
                return Err(error.into());
            }
        };
        for ((run, step), committed) in steps.into_iter().zip(committed) {
            match committed {
                Committed::Done(_) => self.after(run, step)?,
                Committed::Fenced { holder } => {
                    self.stop_run(run);
                    self.forget(run, Left::Fenced(holder));
                }
                Committed::Broken { flaw } => {
                    self.stop_run(run);
                    self.forget(run, Left::Stuck(format!("the record of this run is damaged: {flaw}")));
                }
            }
        }
        Ok(())
    }

    fn step(&mut self, run: RunRef, now: Utc) -> Result<Option<(Append, Step)>, NoStep> {
        let Some(live) = self.live.get_mut(&run) else { return Ok(None) };
        let schedule = &mut *self.schedule;
        let config = live.config.clone();
        let is_human = |request: &Request| human(&config.config, request);
        let mut inline = |job: &Job| schedule.inline(job);
        live.step(&self.door, now, self.listener.attended(), &is_human, &mut inline).map(Some)
    }

    /// After the commit: files, then effects, then goodbye where nothing is left to do.
    fn after(&mut self, run: RunRef, step: Step) -> Result<(), Error> {
        let Some(live) = self.live.get_mut(&run) else { return Ok(()) };
        for fact in &step.facts {
            self.listener.fact(&live.name, fact);
        }
        let written = self.files.entry(run).or_default();
        if let Err(trouble) = self.disk.write(&step.images, written) {
            return self.let_go(run, Left::Stuck(trouble.to_string()));
        }
        if let Some(ended) = step.ended {
            self.forget(run, Left::Ended(ended));
        } else if step.parked {
            self.forget(run, Left::Parked);
        } else {
            self.dispatch(run)?;
        }
        Ok(())
    }

    fn dispatch(&mut self, run: RunRef) -> Result<(), Error> {
        let Some(live) = self.live.get_mut(&run) else { return Ok(()) };
        let fresh: Vec<String> =
            live.open.iter().filter(|(_, o)| o.place == Where::New).map(|(key, _)| key.clone()).collect();
        for key in fresh {
            let Some(opened) = live.open.get_mut(&key) else { continue };
            opened.place = Where::AtWork;
            let Some(job) = live.open.get(&key).map(|opened| live.job(&key, opened)) else { continue };
            let Request::Book(call) = &job.request else {
                self.listener.began(&job);
                let told = told(self.store, &job);
                self.schedule.start(Job { told, ..job });
                continue;
            };
            // The store is the driver's own, so it does this itself; the intent is durable by now.
            let poster = Poster { flow: live.flow, input: &live.input, job: &job };
            match poster.perform(self.store, &self.project, call) {
                Ok(body) => live.put(&self.door, &key, body, self.schedule.now()),
                // Nothing is journalled: the request is still open and is done again at `resume`.
                Err(stuck) => {
                    live.open.remove(&key);
                    return self.let_go(run, Left::Stuck(stuck.0));
                }
            }
        }
        Ok(())
    }

    /// Waits for the world and takes in what it says.
    fn wait(&mut self) {
        let now = self.schedule.now();
        self.shorten_timers(now);
        let due = self.live.values().flat_map(|l| l.open.values()).filter_map(|o| match o.place {
            Where::Timer(at) => Some(at.since_ms(now)),
            _ => None,
        });
        let wait_ms = due.min().map_or(BREATH_MS, |ms| ms.min(BREATH_MS));
        let events = self.schedule.wait(wait_ms);
        self.listener.tick();
        for event in events {
            self.hear(event);
        }
        self.ring_timers();
    }

    /// A pause lasts no longer than was asked for, also when somebody has set the clock back since (E-88).
    fn shorten_timers(&mut self, now: Utc) {
        for opened in self.live.values_mut().flat_map(|l| l.open.values_mut()) {
            if let (Where::Timer(at), Request::Sleep { ms }) = (&mut opened.place, &opened.request) {
                *at = (*at).min(now.plus_ms(*ms));
            }
        }
    }

    fn hear(&mut self, event: Event) {
        match event {
            Event::Interrupt => {
                self.impatient = self.interrupted;
                self.interrupted = true;
            }
            Event::Line { address, line } => self.listener.line(&address, &line),
            Event::Printed { address, printed } => self.keep_printed(&address, &printed),
            Event::Finished { address, result } => {
                self.listener.finished(&address);
                let now = self.schedule.now();
                let Some(live) = self.live.get_mut(&address.run) else { return };
                if let Some(opened) = live.open.get_mut(&address.key).filter(|o| o.place == Where::Stopping) {
                    opened.place = Where::Stopped;
                    return;
                }
                match result {
                    Ok(body) => live.put(&self.door, &address.key, body, now),
                    // Nothing is journalled: the request is still open and is done again at `resume`.
                    Err(stuck) => {
                        live.open.remove(&address.key);
                        let _ = self.let_go(address.run, Left::Stuck(stuck.0));
                    }
                }
            }
        }
    }

    fn ring_timers(&mut self) {
        let now = self.schedule.now();
        for live in self.live.values_mut() {
            let rung: Vec<String> = live
                .open
                .iter()
                .filter(|(_, o)| matches!(o.place, Where::Timer(at) if at <= now))
                .map(|(key, _)| key.clone())
                .collect();
            for key in rung {
                let body = serde_json::to_vec(&now).unwrap_or_default();
                live.put(&self.door, &key, body, now);
            }
        }
    }
}

/// What the hands have to know from the journal for a job: they have no store of their own.
fn told(store: &Store, job: &Job) -> Told {
    match &job.request {
        Request::Git(GitCall::Commit(_)) => {
            Told { head: store.tip(job.address.run).ok().map(|tip| tip.head), needed: Needed::Unknown }
        }
        Request::Snapshot { label, .. } if !label.is_empty() => {
            Told { head: None, needed: Needed::read(store).unwrap_or(Needed::Unknown) }
        }
        _ => Told::default(),
    }
}

/// The question that a piece of work becomes when its agent is a person.
pub(super) fn human(config: &Config, request: &Request) -> Option<Question> {
    let Request::Agent(work) = request else { return None };
    let taken = work.attach || work.by_hand || agents::is_human(config.agent(&work.agents));
    taken.then(|| agents::as_question(work))
}

/// A mark of the engine's own.
pub(crate) fn note(
    door: &Door,
    key: &str,
    at: Utc,
    body: &impl serde::Serialize,
) -> Result<NewEntry, serde_json::Error> {
    let body = door.clean(serde_json::to_vec(body)?);
    Ok(NewEntry { kind: Kind::Note, key: key.to_owned(), request: Hash::ZERO, at, body })
}
