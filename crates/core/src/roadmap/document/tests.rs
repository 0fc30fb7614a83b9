//! State files of all variants: read, checked, and changed without loss.

mod checks;
mod json_files;
mod status_files;
mod step_files;

use crate::finding::Finding;
use crate::roadmap::change::Act;
use crate::roadmap::change::Change;
use crate::roadmap::change::change;
use crate::roadmap::document::Document;
use crate::roadmap::document::check;
use crate::roadmap::state::Outcome;
use crate::time::Utc;

fn now() -> Utc {
    Utc::parse("2026-01-22T12:00:00Z").unwrap()
}

#[track_caller]
fn read(path: &str, text: &str) -> Document {
    Document::read(path, text).unwrap()
}

/// The findings of a check, one line each.
fn lines(path: &str, text: &str) -> Vec<String> {
    let line = |f: &Finding| format!("{}:{} {} {}", f.place.line, f.place.column, f.severity, f.message);
    check(path, text).iter().map(line).collect()
}

/// The lines of `new` that differ from those of `old`, where lines are only replaced or added.
fn changed_lines(old: &str, new: &str) -> Vec<String> {
    let mut rest: Vec<&str> = old.lines().collect();
    let mut changed = vec![];
    for line in new.lines() {
        match rest.iter().position(|known| *known == line) {
            Some(at) => drop(rest.remove(at)),
            None => changed.push(line.trim().to_owned()),
        }
    }
    changed
}

/// Starts a phase and ends it well, each change written into the text of the file.
#[track_caller]
fn carried_out(path: &str, text: &str, step: &str, phase: &str) -> String {
    let start = Change::new(Act::Start, phase);
    let end = Change { outcome: Some(Outcome::Pass), ..Change::new(Act::Done, phase) };
    let mut text = text.to_owned();
    for what in [start, end] {
        let document = read(path, &text);
        let state = document.step_or_fresh(step, crate::roadmap::Schema::usual());
        let (state, _) = change(&state, state.schema(), &what, now()).unwrap();
        text = document.apply(&state, now()).unwrap();
        let again = read(path, &text).step(Some(step)).unwrap();
        assert_eq!((&again.status, again.phase(phase)), (&state.status, again.phase(phase)));
        let plain = |state: &crate::roadmap::StepState| {
            state.phases.iter().map(|p| (p.name.clone(), p.status.clone(), p.fields())).collect::<Vec<_>>()
        };
        assert_eq!(plain(&again), plain(&state), "what was written is read back");
    }
    text
}
