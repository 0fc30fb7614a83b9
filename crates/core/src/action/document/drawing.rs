//! Reads the drawing of an agent flow, `Architect → (Backend Developer + Frontend Developer) → [APPROVAL GATE: build]`.
//! It is used only where nothing else says how an action is carried out, and only where every word of it is understood.

use crate::action::gate::GateKind;
use crate::action::map::GateEntry;
use crate::action::map::Part;
use crate::action::map::Step;
use crate::action::map::Terms;
use crate::action::map::Wiring;
use crate::action::roles;
use crate::action::words::kebab;
use crate::doc::At;
use crate::finding::Place;

/// The plan that a drawing shows; `None` where anything in it is not understood.
pub(super) fn read(name: &str, flow: &str) -> Option<Wiring> {
    let drawn: Vec<&str> = flow
        .lines()
        .filter(|line| !line.trim_start().starts_with("```") && !line.trim_start().starts_with("**"))
        .flat_map(|line| line.split(['→', '↓']))
        .flat_map(|piece| piece.split("->"))
        .map(|piece| piece.trim().trim_matches(['|', '│', '─', '┌', '┐', '└', '┘', ' ']))
        .filter(|piece| !piece.is_empty())
        .collect();
    let steps: Option<Vec<Step>> = drawn.into_iter().map(step).collect();
    let steps = steps.filter(|steps| steps.iter().any(|step| matches!(step, Step::Work { .. })))?;
    Some(Wiring {
        name: At::new(name.to_owned(), Place::TOP),
        doc: None,
        description: String::new(),
        prerequisites: vec![],
        outputs: vec![],
        steps,
        roles: vec![],
    })
}

fn step(piece: &str) -> Option<Step> {
    if let Some(gate) = piece.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return gate_of(gate);
    }
    let piece = piece.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(piece);
    let parts: Option<Vec<Part>> = piece.split('+').map(part).collect();
    Some(Step::Work { parts: parts?, place: Place::TOP })
}

/// `APPROVAL GATE: architecture`
fn gate_of(words: &str) -> Option<Step> {
    let (kind, name) = words.split_once(':').unwrap_or((words, ""));
    let kind = kebab(kind);
    let kind = kind.strip_suffix("-gate").unwrap_or(&kind);
    let gate = GateEntry {
        kind: GateKind::of_word(kind)?,
        word: kind.to_owned(),
        name: Some(kebab(name)).filter(|name| !name.is_empty()),
        command: vec![],
        limits: vec![],
        checklist: vec![],
    };
    Some(Step::Gate { gate, place: Place::TOP })
}

/// `AI Engineer*` and `Product Manager (Phase A)`; only roles that the contract knows are understood.
fn part(words: &str) -> Option<Part> {
    let words = words.trim().trim_end_matches('*').trim_end();
    let (role, purpose) = match words.strip_suffix(')').and_then(|rest| rest.split_once('(')) {
        Some((role, purpose)) => (role, purpose.trim()),
        None => (words, ""),
    };
    let known = roles::known(role)?;
    Some(Part {
        role: At::new(known.name.to_owned(), Place::TOP),
        purpose: purpose.to_owned(),
        terms: Terms::default(),
    })
}
