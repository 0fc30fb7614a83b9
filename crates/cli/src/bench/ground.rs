//! A store of its own and everything that drives runs in it.

use std::path::Path;
use std::sync::Arc;

use seriatim_core::config::Config;
use seriatim_core::hash::Hash;
use seriatim_core::redact::Redactor;
use seriatim_core::time::Utc;
use seriatim_engine::drive::Driver;
use seriatim_engine::drive::Left;
use seriatim_engine::drive::Start;
use seriatim_engine::hands::clock::Clock;
use seriatim_engine::hands::clock::SystemClock;
use seriatim_engine::hands::disk::Disk;
use seriatim_engine::hands::paths;
use seriatim_engine::listen::Unheard;
use seriatim_engine::schedule::Schedule;
use seriatim_flows::Call;
use seriatim_flows::Past;
use seriatim_flows::Run;
use seriatim_flows::Turn;
use seriatim_flows::registry::Flow;
use seriatim_flows::rehearsal;
use seriatim_flows::rehearsal::Plan;
use seriatim_journal::Append;
use seriatim_journal::Filter;
use seriatim_journal::Holder;
use seriatim_journal::Kind;
use seriatim_journal::Lease;
use seriatim_journal::NewEntry;
use seriatim_journal::NewRun;
use seriatim_journal::RunInfo;
use seriatim_journal::Store;

use super::instant::nothing_done;
use crate::error::CommandError;
use crate::error::Result;

/// Entries that are written at once when a long past is made up.
const ENTRIES_AT_ONCE: usize = 20_000;

/// How the runs stand that were driven.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Driven {
    pub(crate) ended: usize,
    pub(crate) parked: usize,
}

pub(crate) struct Ground {
    pub(crate) store: Store,
    holder: Holder,
    clock: SystemClock,
    workspace: paths::Workspace,
    begun: u64,
}

impl Ground {
    /// Opens the store in `dir`, and makes it where there is none.
    pub(crate) fn open(dir: &Path, redactor: Redactor) -> Result<Ground> {
        let store = Store::open(dir, redactor)?;
        let clock = SystemClock::default();
        let holder = Holder::register(&store, "seriatim bench", clock.now())?;
        let workspace = paths::Workspace::new(dir).map_err(|e| CommandError::usage(e.to_string()))?;
        Ok(Ground { store, holder, clock, workspace, begun: 0 })
    }

    /// Begins `count` rehearsals.
    pub(crate) fn begin(&mut self, count: u64, plan: &Plan) -> Result<Vec<Lease>> {
        let flow = rehearsal()?;
        let at = self.clock.now();
        let input = serde_json::to_value(plan).unwrap_or_default();
        let start = Start { flow: flow.name.into(), flow_version: flow.version, input, config: None };
        let body = serde_json::to_vec(&start).unwrap_or_default();
        let new = (0..count).map(|_| {
            self.begun += 1;
            let number = self.begun;
            let run = NewRun {
                name: format!("{}-{number:04}", at.compact()),
                flow: flow.name.into(),
                flow_version: flow.version,
                title: format!("Rehearsal {number}"),
                subject: format!("rehearsal-{number}.yaml"),
                at,
            };
            (run, vec![entry(&self.store, Kind::Start, String::new(), Hash::ZERO, at, body.clone())])
        });
        let new = new.collect();
        Ok(self.store.create(new, &self.holder)?)
    }

    /// Takes the leases of all runs that are not finished, in one transaction.
    pub(crate) fn take_all(&mut self) -> Result<Vec<(Lease, RunInfo)>> {
        let mut runs = self.store.runs(&Filter::default())?.runs;
        runs.retain(|run| !run.status.is_finished());
        let ids: Vec<_> = runs.iter().map(|run| run.id).collect();
        let leases = self.store.acquire(&ids, &self.holder, self.clock.now())?;
        let taken = leases.into_iter().zip(runs).map(|(lease, info)| {
            lease
                .map(|lease| (lease, info))
                .map_err(|_| CommandError::not_good("a run is held by somebody else"))
        });
        taken.collect()
    }

    /// Drives runs that were just begun.
    pub(crate) fn drive_new(&mut self, leases: Vec<Lease>, schedule: &mut dyn Schedule) -> Result<Driven> {
        let limit = u32::try_from(leases.len()).ok();
        let newest = self.store.runs(&Filter { limit, ..Filter::default() })?.runs;
        // The newest come first.
        self.drive(leases.into_iter().zip(newest.into_iter().rev()).collect(), schedule)
    }

    /// Drives runs by the engine's own loop until each has ended or waits.
    pub(crate) fn drive(
        &mut self,
        runs: Vec<(Lease, RunInfo)>,
        schedule: &mut dyn Schedule,
    ) -> Result<Driven> {
        let mut unheard = Unheard;
        let config = Arc::new(Config::default());
        let files = Arc::new(Disk);
        let mut driver =
            Driver::new(&mut self.store, schedule, &mut unheard, config, files, self.workspace.clone());
        for (lease, info) in runs {
            driver.take_up(lease, &info)?;
        }
        let mut driven = Driven::default();
        for outcome in driver.drive()? {
            match outcome.left {
                Left::Ended(_) => driven.ended += 1,
                Left::Parked => driven.parked += 1,
                Left::Interrupted => return Err(CommandError::not_good("interrupted")),
                Left::Stuck(_) | Left::Halted(_) | Left::Fenced(_) | Left::Undecided(_) => {
                    return Err(CommandError::not_good(format!("run {} could not go on", outcome.name)));
                }
            }
        }
        Ok(driven)
    }

    /// Puts the first `steps` steps of a run into its journal at once, entry by entry what the engine would have
    /// written.
    pub(crate) fn make_past(&mut self, lease: &Lease, plan: &Plan, steps: u64) -> Result<()> {
        let flow = rehearsal()?;
        let input = serde_json::to_value(plan).unwrap_or_default();
        let mut run = Run::new(Past::default(), |cx| (flow.start)(cx, input));
        let outcome = nothing_done();
        let mut entries = vec![];
        for _ in 0..steps {
            let Turn::Waits(calls) = run.turn() else { break };
            let at = self.clock.now();
            for Call { key, hash, bytes, .. } in calls {
                run.put(&key, outcome.clone());
                entries.push(entry(&self.store, Kind::Intent, key.clone(), hash, at, bytes));
                entries.push(entry(&self.store, Kind::Outcome, key, hash, at, outcome.clone()));
            }
            if entries.len() >= ENTRIES_AT_ONCE {
                self.append(lease, std::mem::take(&mut entries))?;
            }
        }
        self.append(lease, entries)
    }

    fn append(&mut self, lease: &Lease, entries: Vec<NewEntry>) -> Result<()> {
        self.store.commit(&[Append { entries, ..Append::to(lease) }])?;
        Ok(())
    }

    /// Ends the use of the store, as a process does that has nothing more to do.
    pub(crate) fn close(self) -> Result<()> {
        drop(self.holder);
        Ok(self.store.close()?)
    }
}

fn rehearsal() -> Result<&'static Flow> {
    rehearsal::DIALECT.flow.as_ref().ok_or_else(|| CommandError::usage("there is nothing to rehearse"))
}

fn entry(store: &Store, kind: Kind, key: String, request: Hash, at: Utc, body: Vec<u8>) -> NewEntry {
    NewEntry { kind, key, request, at, body: store.clean(body) }
}

/// The bytes of all files in `dir` and below.
pub(crate) fn bytes_below(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let sizes = entries.map(|found: std::fs::DirEntry| match found.metadata() {
        Ok(data) if data.is_dir() => bytes_below(&found.path()),
        Ok(data) => data.len(),
        Err(_) => 0,
    });
    sizes.sum()
}
