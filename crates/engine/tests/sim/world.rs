//! One world: what outlives the engine, and the lives of the engine in it.

use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use seriatim_core::config::Agent;
use seriatim_core::config::Config;
use seriatim_core::config::Kind as AgentKind;
use seriatim_core::hash::Hash;
use seriatim_core::question::Answer;
use seriatim_core::question::Question;
use seriatim_core::redact::Redactor;
use seriatim_core::time::Utc;
use seriatim_engine::drive::Driver;
use seriatim_engine::drive::Left;
use seriatim_engine::drive::Outcome;
use seriatim_engine::drive::Start;
use seriatim_engine::hands::clock::Clock;
use seriatim_engine::hands::paths::Workspace;
use seriatim_engine::hands::views::Bare;
use seriatim_engine::perform::Hands;
use seriatim_engine::sim::Crash;
use seriatim_engine::sim::Fate;
use seriatim_engine::sim::Rng;
use seriatim_engine::sim::SimClock;
use seriatim_engine::sim::SimFiles;
use seriatim_engine::sim::SimProcesses;
use seriatim_engine::sim::SimRepositories;
use seriatim_engine::sim::SimSchedule;
use seriatim_engine::sim::survive;
use seriatim_flows::registry;
use seriatim_journal::Filter;
use seriatim_journal::Holder;
use seriatim_journal::Kind;
use seriatim_journal::Lease;
use seriatim_journal::NewEntry;
use seriatim_journal::NewRun;
use seriatim_journal::NewSignal;
use seriatim_journal::OpenFilter;
use seriatim_journal::RunInfo;
use seriatim_journal::SignalKind;
use seriatim_journal::Store;
use seriatim_journal::Target;
use tempfile::TempDir;

use crate::people;
use crate::people::Known;
use crate::people::Onlooker;
use crate::plan::Planned;

pub(crate) const ROOT: &str = "/simulated/workspace";
/// The folder of runtime state, seen from the workspace.
pub(crate) const STATE: &str = ".seriatim";
pub(crate) const SCRATCH: &str = "/simulated/tmp";
/// Far more lives than any world needs: one that goes on does not end at all.
const LIVES_MAX: u32 = 150;

/// What one life of the engine meets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Life {
    /// After how many points it dies.
    pub(crate) crash_after: Option<u64>,
    /// Whether the machine dies with it.
    pub(crate) power_cut: bool,
    /// Somebody answers in place.
    pub(crate) attended: bool,
    /// Somebody wants it to stop after that time.
    pub(crate) interrupt_in_ms: Option<u64>,
    /// Somebody wants the run at this place of the plan to be cancelled after that time.
    pub(crate) cancel_in_ms: Option<(usize, u64)>,
    /// Of a hundred waits, this many see the clock set.
    pub(crate) jumps: u64,
}

pub(crate) struct World {
    pub(crate) seed: u64,
    pub(crate) rng: Rng,
    pub(crate) dir: TempDir,
    pub(crate) fate: Fate,
    pub(crate) clock: Arc<SimClock>,
    pub(crate) files: Arc<SimFiles>,
    pub(crate) processes: Arc<SimProcesses>,
    pub(crate) repositories: Arc<SimRepositories>,
    pub(crate) config: Arc<Config>,
    pub(crate) redactor: Redactor,
    pub(crate) plan: Vec<Planned>,
    /// Runs that the engine has seen to their end, files and all.
    pub(crate) settled: Vec<bool>,
    pub(crate) crashes: Vec<Crash>,
}

impl World {
    pub(crate) fn new(seed: u64, mishaps: u64, plan: Vec<Planned>) -> World {
        let fate = Fate::default();
        let files = Arc::new(SimFiles::new(fate.clone(), SCRATCH));
        for (path, text) in plan.iter().flat_map(|run| &run.files) {
            files.put(&Path::new(ROOT).join(path), text.as_bytes());
        }
        let processes = Arc::new(SimProcesses::new(files.clone(), fate.clone(), seed, mishaps));
        let mut player = Agent::new(AgentKind::Command { argv: vec!["player".to_owned()] });
        player.timeout_ms = 2_000;
        let mut config = Config::default();
        config.agents.insert("default".to_owned(), player);
        for (name, kind) in plan.iter().flat_map(|run| run.agents.clone()) {
            config.agents.insert(name, Agent { timeout_ms: 2_000, ..Agent::new(kind) });
        }
        let repositories = Arc::new(SimRepositories::new(files.clone(), fate.clone(), ROOT, STATE));
        World {
            seed,
            rng: Rng::of(seed, &["world"]),
            dir: place(),
            fate,
            clock: Arc::new(SimClock::at(Utc::parse("2026-01-01T00:00:00Z").unwrap())),
            files,
            processes,
            repositories,
            config: Arc::new(config),
            redactor: Redactor::new(&[], &[]).unwrap(),
            settled: vec![false; plan.len()],
            plan,
            crashes: vec![],
        }
    }

    pub(crate) fn store(&self) -> Store {
        Store::open(&self.dir.path().join(STATE), self.redactor.clone()).unwrap()
    }

    pub(crate) fn hands(&self) -> Hands {
        Hands {
            clock: self.clock.clone(),
            files: self.files.clone(),
            processes: self.processes.clone(),
            repositories: self.repositories.clone(),
            views: Arc::new(Bare),
            workspace: Workspace::simulated(ROOT),
            config: self.config.clone(),
            registry: &registry::STANDARD,
            redactor: self.redactor.clone(),
            scratch: SCRATCH.into(),
            outputs: PathBuf::from(ROOT).join(STATE).join("outputs"),
        }
    }

    pub(crate) fn schedule<'a>(&mut self) -> SimSchedule<'a> {
        let rng = Rng::new(self.rng.next());
        SimSchedule::new(self.hands(), self.clock.clone(), self.processes.clone(), self.fate.clone(), rng)
    }

    pub(crate) fn info(&self, store: &Store, index: usize) -> Option<RunInfo> {
        let runs = store.runs(&Filter::default()).unwrap().runs;
        runs.into_iter().find(|run| run.name == self.plan[index].name)
    }

    /// The leases of all runs that are not seen to their end; those that do not exist yet are created.
    pub(crate) fn leases(&self, store: &mut Store, holder: &Holder) -> Vec<(Lease, RunInfo)> {
        let mut leases = Vec::new();
        for (index, planned) in self.plan.iter().enumerate().filter(|(index, _)| !self.settled[*index]) {
            let lease = match self.info(store, index) {
                None => create(store, holder, planned, self.clock.now()),
                Some(info) => {
                    let taken = store.acquire(&[info.id], holder, self.clock.now()).unwrap();
                    taken.into_iter().next().unwrap().unwrap()
                }
            };
            self.fate.pass("a run was leased");
            let info = self.info(store, index).unwrap();
            leases.push((lease, info));
        }
        leases
    }

    /// One life of the engine, until nothing is left to do, or it dies.
    pub(crate) fn live(&mut self, life: &Life) -> Result<Vec<Outcome>, Crash> {
        self.fate.crash_after(life.crash_after);
        let mut schedule = self.schedule().with_jumps(life.jumps);
        if self.plan.iter().any(|run| run.flow == "roadmap") {
            // Each day has a trail of its own: which lines are in which one is a matter of time.
            schedule = schedule.within_the_day();
        }
        if let Some(ms) = life.interrupt_in_ms {
            schedule.interrupt_in(ms);
        }
        let this = &*self;
        if let Some((index, ms)) = life.cancel_in_ms {
            schedule.meanwhile(ms, move || this.cancel(index));
        }
        let lived = survive(|| {
            let mut store = this.store();
            let holder = Holder::register(&store, "simulation", this.clock.now()).unwrap();
            let leases = this.leases(&mut store, &holder);
            let known = Known::of(&store);
            this.processes.remember(known.played);
            let mut onlooker = Onlooker {
                seed: this.seed,
                fate: this.fate.clone(),
                attended: life.attended,
                answered: known.answered,
            };
            let mut driver = Driver::new(
                &mut store,
                &mut schedule,
                &mut onlooker,
                this.config.clone(),
                this.files.clone(),
                Workspace::simulated(ROOT),
            );
            for (lease, info) in leases {
                driver.take_up(lease, &info).unwrap();
            }
            let outcomes = driver.drive().unwrap();
            this.fate.pass("the engine is done");
            outcomes
        });
        drop(schedule);
        self.fate.crash_after(None);
        self.after(life, &lived);
        lived
    }

    fn after(&mut self, life: &Life, lived: &Result<Vec<Outcome>, Crash>) {
        match lived {
            Ok(outcomes) => {
                self.files.outlive();
                for outcome in outcomes {
                    let index = self.plan.iter().position(|run| run.name == outcome.name).unwrap();
                    self.settled[index] = matches!(outcome.left, Left::Ended(_));
                }
            }
            Err(crash) => {
                self.crashes.push(*crash);
                if life.power_cut {
                    self.files.cut_power(&mut self.rng);
                    self.repositories.cut_power(&mut self.rng);
                    // Files that nobody waited for may be gone; whoever looks at a run again brings them back.
                    self.settled.fill(false);
                } else {
                    self.files.outlive();
                }
            }
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.settled.iter().all(|settled| *settled)
    }

    /// Lives one life after the other; people answer in between. `next` says what each life meets.
    pub(crate) fn live_on(
        &mut self,
        mut next: impl FnMut(&mut World, u32) -> Life,
        mut after: impl FnMut(&mut World, &Result<Vec<Outcome>, Crash>),
    ) {
        for number in 0..LIVES_MAX {
            let life = next(self, number);
            let lived = self.live(&life);
            after(self, &lived);
            if self.is_over() {
                return;
            }
            self.answer_all();
            let pause_ms = self.rng.below(5_000);
            self.clock.advance(pause_ms);
        }
        panic!("after {LIVES_MAX} lives it is not over; crashes: {:?}", self.crashes);
    }

    /// Somebody answers every open question, from a process of their own.
    pub(crate) fn answer_all(&mut self) {
        let mut store = self.store();
        let answered = Known::of(&store).answered;
        for open in store.open_calls(&OpenFilter::default()).unwrap() {
            if open.answered.is_some() {
                continue;
            }
            let question: Question = serde_json::from_slice(&open.body).unwrap();
            let nth = answered.get(&(open.run_name.clone(), question.header.clone())).copied().unwrap_or(0);
            let said = people::say(self.seed, &open.run_name, &question, nth);
            let answer = Answer { choice: said.choice, text: said.text, by: said.by, digest: open.digest };
            let body = store.clean(serde_json::to_vec(&answer).unwrap());
            let signal = NewSignal {
                to: Target::Call(open.id),
                kind: SignalKind::Answer,
                body,
                by: answer.by,
                at: self.clock.now(),
                digest: open.digest,
            };
            store.signal(&signal).unwrap();
        }
    }

    /// Somebody wants a run to be cancelled, from a process of their own.
    pub(crate) fn cancel(&self, index: usize) {
        let mut store = self.store();
        let Some(info) = self.info(&store, index) else { return };
        let body = store.clean(b"{}".to_vec());
        let signal = NewSignal {
            to: Target::Run(info.id),
            kind: SignalKind::Cancel,
            body,
            by: "ada".to_owned(),
            at: self.clock.now(),
            digest: Hash::ZERO,
        };
        store.signal(&signal).unwrap();
    }
}

/// A folder for the journal: in memory where the machine has such a place, since thousands of commits that wait for
/// a disk would take minutes and prove nothing more.
pub(crate) fn place() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir()
        && let Ok(dir) = tempfile::tempdir_in(memory)
    {
        return dir;
    }
    tempfile::tempdir().unwrap()
}

fn create(store: &mut Store, holder: &Holder, planned: &Planned, at: Utc) -> Lease {
    let flow = registry::newest(planned.flow).unwrap();
    let start = Start {
        flow: flow.name.into(),
        flow_version: flow.version,
        input: planned.input.clone(),
        config: None,
    };
    let first = NewEntry {
        kind: Kind::Start,
        key: String::new(),
        request: Hash::ZERO,
        at,
        body: store.clean(serde_json::to_vec(&start).unwrap()),
    };
    let new = NewRun {
        name: planned.name.clone(),
        flow: flow.name.into(),
        flow_version: flow.version,
        title: planned.title.clone(),
        subject: planned.subject.clone(),
        at,
    };
    store.create(vec![(new, vec![first])], holder).unwrap().remove(0)
}
