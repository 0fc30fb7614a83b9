//! Older state files brought forward: nothing lost, the same state, and twice is as good as once.

mod files;
mod properties;

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::*;
use crate::doc::Limits;
use crate::roadmap::state::StepState;

fn now() -> Utc {
    Utc::parse("2026-05-01T12:00:00Z").unwrap()
}

#[track_caller]
fn migrated(sources: &[(&str, &str)]) -> Migration {
    let sources: Vec<Source<'_>> = sources.iter().map(|(path, text)| Source { path, text }).collect();
    let first = migrate(&sources, now()).unwrap();
    let source = Source { path: "execution-status.yaml", text: &first.text };
    let again = migrate(&[source], Utc(0)).unwrap();
    assert_eq!((again.changed, &again.text), (false, &first.text), "twice is as good as once");
    first
}

fn tree(text: &str) -> Json {
    doc::parse(text.as_bytes(), &Limits::default()).0.unwrap().to_json()
}

fn count(value: &Json, into: &mut BTreeMap<String, usize>) {
    match value {
        Json::Null => {}
        Json::Array(items) => items.iter().for_each(|item| count(item, into)),
        Json::Object(map) => map.values().for_each(|item| count(item, into)),
        scalar => *into.entry(scalar.to_string()).or_default() += 1,
    }
}

/// Every scalar of the old files is in the new one, as often as it was.
#[track_caller]
fn nothing_is_lost(olds: &[&Json], new: &Json) {
    let (mut before, mut after) = (BTreeMap::new(), BTreeMap::new());
    olds.iter().for_each(|old| count(old, &mut before));
    count(new, &mut after);
    for (scalar, times) in before {
        let there = after.get(&scalar).copied().unwrap_or(0);
        assert!(there >= times, "{scalar} was there {times} times and is there {there} times in {new:#}");
    }
}

/// What a phase is about.
type Plain = (String, PhaseStatus, Option<String>, Option<String>);

/// What a step is about, in the terms of every state file.
fn plain(state: &StepState) -> (String, StepStatus, Vec<Plain>) {
    let phase = |p: &crate::roadmap::PhaseRecord| {
        (
            p.name.clone(),
            p.status.clone(),
            p.outcome.as_ref().map(|o| o.word().to_owned()),
            p.blocked_by.clone(),
        )
    };
    (state.task_id.clone(), state.status.clone(), state.phases.iter().map(phase).collect())
}
