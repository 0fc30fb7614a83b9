//! State that another hand wrote into the file: taken over only after the same rules have looked at it (K-86).

use serde_json::Value as Json;

use crate::finding::Finding;
use crate::finding::Severity;
use crate::roadmap::audit::Event;
use crate::roadmap::audit::Happening;
use crate::roadmap::machine;
use crate::roadmap::machine::Actor;
use crate::roadmap::phases::Schema;
use crate::roadmap::state::PhaseRecord;
use crate::roadmap::state::PhaseStatus;
use crate::roadmap::state::StepState;
use crate::roadmap::state::StepStatus;
use crate::roadmap::verdict;
use crate::roadmap::verdict::Edit;
use crate::roadmap::verdict::Objection;
use crate::roadmap::verdict::Unlawful;
use crate::time::Utc;

/// What an edit by hand amounts to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Imported {
    /// What the rules say about it; with an error in it the edit breaks them.
    pub found: Vec<Unlawful>,
    /// One event for each phase that changed, and one for the step.
    pub events: Vec<Event>,
}

impl Imported {
    pub fn is_lawful(&self) -> bool {
        !self.found.iter().any(|one| one.severity == Severity::Error)
    }

    /// What the rules say about it, for people who read files.
    pub fn findings(&self) -> Vec<Finding> {
        self.found.iter().map(Unlawful::finding).collect()
    }

    /// What the rules say about it, as it holds a step.
    pub fn objections(&self) -> Vec<Objection> {
        self.found.iter().map(|one| Objection::Edit { edit: one.edit.clone() }).collect()
    }
}

/// Compares a step before and after an edit by hand. All that is wrong is said at once.
pub fn import(before: &StepState, after: &StepState, schema: &Schema, now: Utc) -> Imported {
    let mut out = Imported::default();
    let mut changed: Vec<(&PhaseRecord, &PhaseRecord)> = vec![];
    for new in &after.phases {
        match before.phase(&new.name) {
            Some(old) => {
                if old.status != new.status {
                    changed.push((old, new));
                }
                out.found.extend(kept(old, new));
            }
            None => {
                out.found.push(at(new, Edit::PhaseAdded { phase: new.name.clone() }));
            }
        }
    }
    for old in before.phases.iter().filter(|old| after.phase(&old.name).is_none()) {
        let edit = Edit::PhaseRemoved { phase: old.name.clone() };
        out.found.push(Unlawful::new(edit, None).help("put it back"));
    }
    if before.allowed_patterns != after.allowed_patterns {
        let help = "they are fixed when the step starts; report that another file is needed";
        out.found.push(Unlawful::new(Edit::Patterns, None).help(help));
    }
    out.found.extend(batching(&changed));
    for (old, new) in changed {
        out.found.extend(unlawful(old, new));
        out.found.extend(out_of_turn(old, new, after));
        out.found.extend(verdict::record_unlawful(new, schema));
        out.events.push(event(new, after, schema, now));
    }
    if before.status != after.status {
        out.found.extend(step_unlawful(before, after));
        let event = Event::new(now, Happening::StateTransition, &after.step_file)
            .with("step_id", after.task_id.as_str())
            .with("from", before.status.word())
            .with("to", after.status.word())
            .with("trigger", "edited_by_hand");
        out.events.push(event);
    }
    out
}

fn at(record: &PhaseRecord, edit: Edit) -> Unlawful {
    Unlawful::new(edit, record.place)
}

/// What was on record stays on record.
fn kept(old: &PhaseRecord, new: &PhaseRecord) -> Vec<Unlawful> {
    let mut found = vec![];
    if !new.history.starts_with(&old.history) {
        let edit = Edit::HistoryRewritten { phase: new.name.clone() };
        found.push(at(new, edit).help("earlier tries are kept; put them back"));
    }
    let over = matches!(old.status, PhaseStatus::Done | PhaseStatus::Skipped | PhaseStatus::Failed);
    let same_end =
        old.outcome == new.outcome && old.blocked_by == new.blocked_by && old.ended_at == new.ended_at;
    if over && old.status == new.status && !same_end {
        let edit = Edit::EndRewritten { phase: new.name.clone() };
        found.push(at(new, edit).help("open it again with `reopen`, and carry it out"));
    }
    found
}

/// Each phase is saved when it begins and when it ends. The end of one and the beginning of the next may share a
/// save; anything more is batching.
fn batching(changed: &[(&PhaseRecord, &PhaseRecord)]) -> Option<Unlawful> {
    let handed_over = match changed {
        [(ended, end), (started, start)] => {
            ended.status == PhaseStatus::InProgress
                && matches!(end.status, PhaseStatus::Done | PhaseStatus::Skipped)
                && matches!(started.status, PhaseStatus::NotExecuted | PhaseStatus::Pending)
                && start.status == PhaseStatus::InProgress
                && end.index < start.index
        }
        [] | [_] => true,
        _ => false,
    };
    let (_, second) = changed.get(1).filter(|_| !handed_over)?;
    let phases = changed.iter().map(|(_, new)| new.name.clone()).collect();
    Some(at(second, Edit::Batch { phases }).help("save each phase when it begins and when it ends"))
}

/// The edges of the phase's machine that an edit may take. A skip may go through IN_PROGRESS unseen, as it does by
/// command.
fn unlawful(old: &PhaseRecord, new: &PhaseRecord) -> Option<Unlawful> {
    // A failed try may only be followed by a skip when it was put into the history.
    let kept = new.history.len() > old.history.len();
    let skipped = new.status == PhaseStatus::Skipped
        && match old.status {
            PhaseStatus::NotExecuted | PhaseStatus::Pending => true,
            PhaseStatus::Failed => kept,
            _ => false,
        };
    let (from, to) = (old.status.word(), new.status.word());
    let phase = new.name.clone();
    let edit = match &new.status {
        PhaseStatus::Unknown(_) => return None,
        PhaseStatus::Pending => Edit::PendingByHand { phase },
        _ if from == to || skipped || machine::phase_leads(Actor::Edit, from, to) => return None,
        _ => Edit::PhaseWay { phase, from: from.to_owned(), to: to.to_owned() },
    };
    Some(at(new, edit).help(instead(&old.status, &new.status)))
}

fn instead(from: &PhaseStatus, to: &PhaseStatus) -> &'static str {
    match (from, to) {
        (PhaseStatus::NotExecuted | PhaseStatus::Pending, _) => "start it first, save, and carry it out",
        (PhaseStatus::InProgress, _) => "end it as carried out, skipped or failed",
        (_, PhaseStatus::NotExecuted | PhaseStatus::Pending) => {
            "a phase that is over is opened again only with `reopen`"
        }
        (PhaseStatus::Failed, _) => "start it again, save, and carry it out",
        _ => "put it back as it was",
    }
}

/// A phase begins only when those before it are over.
fn out_of_turn(old: &PhaseRecord, new: &PhaseRecord, after: &StepState) -> Option<Unlawful> {
    let begins = new.status != PhaseStatus::Pending
        && matches!(old.status, PhaseStatus::NotExecuted | PhaseStatus::Pending | PhaseStatus::Failed);
    let position = after.phases.iter().position(|phase| phase.name == new.name)?;
    let open = after.phases.iter().take(position).find(|before| !before.is_closed())?;
    let edit = Edit::OutOfTurn { phase: new.name.clone(), before: open.name.clone() };
    begins.then(|| at(new, edit).help(format!("finish or skip {} first", open.name)))
}

fn step_unlawful(before: &StepState, after: &StepState) -> Vec<Unlawful> {
    let (from, to) = (before.status.word(), after.status.word());
    let mut found = vec![];
    if !machine::step_leads(Actor::Edit, from, to) {
        let edit = Edit::StepWay { from: from.to_owned(), to: to.to_owned() };
        found.push(Unlawful::new(edit, None));
    }
    if after.status == StepStatus::Done && !after.all_phases_valid() {
        let open = after.phases.iter().find(|phase| !phase.is_closed());
        let phase = open.map(|phase| phase.name.clone()).unwrap_or_default();
        found.push(Unlawful::new(Edit::DoneTooEarly { phase }, None));
    }
    found
}

/// The event of a phase that changed by hand.
fn event(record: &PhaseRecord, state: &StepState, schema: &Schema, now: Utc) -> Event {
    let happening = match record.status {
        PhaseStatus::InProgress => Happening::PhaseStarted,
        PhaseStatus::Done => Happening::PhaseCompleted,
        PhaseStatus::Skipped => Happening::PhaseSkipped,
        PhaseStatus::Failed => Happening::PhaseFailed,
        PhaseStatus::NotExecuted => Happening::PhaseReopened,
        PhaseStatus::Pending | PhaseStatus::Unknown(_) => Happening::StateImported,
    };
    let text = |text: &Option<String>| text.as_deref().map_or(Json::Null, Json::from);
    Event::new(now, happening, &state.step_file)
        .with("step_id", state.task_id.as_str())
        .with("phase", record.name.as_str())
        .with("status", record.status.word_in(schema))
        .with("outcome", record.outcome.as_ref().map_or(Json::Null, |outcome| Json::from(outcome.word())))
        .with("blocked_by", text(&record.blocked_by))
        .with("source", "edited_by_hand")
}
