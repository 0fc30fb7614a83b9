//! What must be true of a world: after every life of the engine, and at the end.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use seriatim_core::process::log::EXECUTIONS;
use seriatim_engine::drive::History;
use seriatim_engine::drive::images_of;
use seriatim_engine::drive::replay;
use seriatim_engine::hands::files::Files;
use seriatim_engine::hands::files::TEMPORARY_PREFIX;
use seriatim_engine::sim::Play;
use seriatim_journal::RunInfo;
use seriatim_journal::Store;

use crate::people::Counts;
use crate::people::Known;
use crate::world::ROOT;
use crate::world::SCRATCH;
use crate::world::World;

const FILE_BYTES_MAX: u64 = 64 << 20;

/// How the runs of a world ended, without what chance may differ in: times, ids, and how often they were cut off.
#[derive(Debug, PartialEq)]
pub(crate) struct Ends {
    pub(crate) runs: BTreeMap<String, (String, Vec<String>)>,
    pub(crate) played: Counts,
    pub(crate) answered: Counts,
}

impl Ends {
    /// Shows the first difference alone: the whole is too long for anybody to read.
    pub(crate) fn assert_same(&self, expected: &Ends, world: &World) {
        let crashes: Vec<String> = world.crashes.iter().map(ToString::to_string).collect();
        for (run, (ended, steps)) in &expected.runs {
            let (found_end, found_steps) = &self.runs[run];
            for (found, step) in found_steps.iter().zip(steps) {
                assert_eq!(found, step, "a step of {run} after {crashes:?}");
            }
            assert_eq!(found_steps.len(), steps.len(), "the steps of {run} after {crashes:?}");
            assert_eq!(found_end, ended, "{run} after {crashes:?}");
        }
        assert_eq!(self.played, expected.played, "attempts after {crashes:?}");
        assert_eq!(self.answered, expected.answered, "answers after {crashes:?}");
    }
}

/// True after every life: the chains hold, the flows agree with their journals, and no secret was written down.
pub(crate) fn sound(world: &World) {
    let store = world.store();
    let report = store.verify();
    assert!(report.is_sound(), "{:?}", report.problems);
    for info in runs(world, &store) {
        let history = History::read(&store, &info).unwrap();
        let (flow, input) = history.flow(&seriatim_flows::registry::STANDARD, &info).unwrap();
        replay(flow, input, history).unwrap_or_else(|why| panic!("replay of {}: {why}", info.name));
    }
    let markers: Vec<String> = world.processes.begun().into_iter().map(|begun| begun.marker).collect();
    let agents = Known::of(&store).agents;
    for begun in world.processes.begun().iter().filter(|begun| !begun.step.is_empty()) {
        assert!(agents.contains_key(&begun.marker), "{begun:?} began before it was in the journal");
        let times = markers.iter().filter(|marker| **marker == begun.marker).count();
        assert_eq!(times, 1, "{begun:?} was begun again");
    }
    drop(store);
    no_secret(world);
}

fn no_secret(world: &World) {
    if !world.processes.begun().iter().any(|begun| begun.play == Play::Leaks) {
        return;
    }
    let secret = world.processes.secret();
    let holds = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(&secret);
    for (path, bytes) in world.files.all() {
        assert!(path.starts_with(SCRATCH) || !holds(&bytes), "the secret is in {}", path.display());
    }
    for entry in std::fs::read_dir(world.dir.path().join(".seriatim")).unwrap() {
        let path = entry.unwrap().path();
        assert!(
            !path.is_file() || !holds(&std::fs::read(&path).unwrap()),
            "the secret is in {}",
            path.display()
        );
    }
}

fn runs(world: &World, store: &Store) -> Vec<RunInfo> {
    (0..world.plan.len()).filter_map(|index| world.info(store, index)).collect()
}

/// True when all is over: every file is what the journal makes it, and nothing else was left behind.
pub(crate) fn tidy(world: &World) {
    let store = world.store();
    let mut logs = BTreeSet::new();
    for info in runs(world, &store) {
        assert!(info.status.is_finished(), "{info:?}");
        let history = History::read(&store, &info).unwrap();
        let (flow, input) = history.flow(&seriatim_flows::registry::STANDARD, &info).unwrap();
        for (path, text) in images_of(flow, &input, &history.facts) {
            let found = world.files.read(&Path::new(ROOT).join(&path), FILE_BYTES_MAX);
            let found = found.map(|found| String::from_utf8(found.bytes).unwrap());
            assert_eq!(found.as_deref(), Ok(text.as_str()), "{path} is not what the journal makes it");
            if path.starts_with(EXECUTIONS) {
                assert!(logs.insert(path.clone()), "{path} belongs to two runs");
            }
        }
    }
    let all = world.files.all();
    let found: BTreeSet<String> = all
        .iter()
        .filter_map(|(path, _)| Some(path.strip_prefix(ROOT).ok()?.to_str()?.to_owned()))
        .filter(|path| path.starts_with(EXECUTIONS))
        .collect();
    assert_eq!(found, logs, "one log for each run, and no other");
    for (path, bytes) in &all {
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(!name.starts_with(TEMPORARY_PREFIX), "{} was left behind", path.display());
        assert!(!path.starts_with(SCRATCH), "{} was left behind", path.display());
        assert!(!bytes.starts_with(b"# reserved by"), "{} was reserved and never used", path.display());
    }
    let desks = world.files.list(Path::new(SCRATCH)).unwrap_or_default();
    assert_eq!(desks, vec![], "desks were left behind");
}

/// Every attempt has an outcome: what came of it, or that it was cut off.
pub(crate) fn every_attempt_has_an_outcome(world: &World) {
    for (marker, has_outcome) in &Known::of(&world.store()).agents {
        assert!(has_outcome, "nothing is known about what became of {marker}");
    }
}

/// The same, and each that was cut off is a fact that people can read.
pub(crate) fn every_attempt_is_on_record(world: &World) {
    every_attempt_has_an_outcome(world);
    let store = world.store();
    let known = Known::of(&store);
    let mut cut_off = 0;
    for info in runs(world, &store) {
        let history = History::read(&store, &info).unwrap();
        let is_cut_off = |data: &Value| {
            data["fact"] == "attempt_failed" && data["failure"]["interrupted"] == Value::Bool(true)
        };
        cut_off += history.facts.iter().filter(|fact| is_cut_off(&fact.data)).count();
    }
    assert_eq!(
        cut_off,
        known.cut_off.values().sum::<u32>() as usize,
        "an attempt that was cut off is no fact"
    );
}

/// How the runs ended.
pub(crate) fn ends(world: &World) -> Ends {
    let store = world.store();
    let known = Known::of(&store);
    let mut ends = BTreeMap::new();
    for info in runs(world, &store) {
        let history = History::read(&store, &info).unwrap();
        let steps = history.facts.iter().filter(|fact| fact.data["fact"] == "step_ended");
        let steps = steps.map(|fact| {
            let mut data = fact.data.clone();
            let record = data.as_object_mut().unwrap();
            let id = record.remove("step_id").unwrap();
            // An attempt that was cut off is an observation of its own.
            for by_chance in ["started", "completed", "iteration", "observations"] {
                record.remove(by_chance);
            }
            format!("{id}: {}", without_numbers(&data.to_string()))
        });
        let steps: Vec<String> = steps.collect();
        let ended = history.ended.unwrap();
        assert_eq!(ended.findings, vec![], "the plan of this world cannot be carried out");
        let ended = serde_json::to_string(&ended).unwrap();
        ends.insert(info.name, (without_numbers(&ended), steps));
    }
    Ends { runs: ends, played: known.played, answered: known.answered }
}

/// Times and ids are digits; so is how often something was tried.
fn without_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '0'..='9' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            other => out.push(other),
        }
    }
    out
}
