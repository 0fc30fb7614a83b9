//! State that another hand wrote into the file: taken over only after the same rules have looked at it (K-86).

use serde_json::Value as Json;

use crate::finding::Finding;
use crate::finding::Place;
use crate::finding::has_errors;
use crate::machine::Machine;
use crate::roadmap::audit::Event;
use crate::roadmap::audit::Happening;
use crate::roadmap::machines::PHASE;
use crate::roadmap::machines::STEP;
use crate::roadmap::machines::STEP_V1;
use crate::roadmap::phases::Schema;
use crate::roadmap::state::PhaseRecord;
use crate::roadmap::state::PhaseStatus;
use crate::roadmap::state::StepState;
use crate::roadmap::state::StepStatus;
use crate::roadmap::verdict;
use crate::time::Utc;

/// What an edit by hand amounts to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Imported {
    /// What the rules say about it; with an error in it the edit breaks them.
    pub findings: Vec<Finding>,
    /// One event for each phase that changed, and one for the step.
    pub events: Vec<Event>,
}

impl Imported {
    pub fn is_lawful(&self) -> bool {
        !has_errors(&self.findings)
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
                out.findings.extend(kept(old, new));
            }
            None => {
                let message = format!("phase {} was not there before", new.name);
                out.findings.push(at(new, "phase-list", message));
            }
        }
    }
    for old in before.phases.iter().filter(|old| after.phase(&old.name).is_none()) {
        let message = format!("phase {} was removed from the state file", old.name);
        out.findings.push(Finding::error("phase-list", Place::TOP, message).help("put it back"));
    }
    if before.allowed_patterns != after.allowed_patterns {
        let message = "the allowed file patterns of the step were changed while it is at work";
        let help = "they are fixed when the step starts; report that another file is needed";
        out.findings.push(Finding::error("patterns", Place::TOP, message).help(help));
    }
    out.findings.extend(batching(&changed));
    for (old, new) in changed {
        out.findings.extend(unlawful(old, new));
        out.findings.extend(out_of_turn(old, new, after));
        out.findings.extend(verdict::record_findings(new, schema));
        out.events.push(event(new, after, schema, now));
    }
    if before.status != after.status {
        out.findings.extend(step_unlawful(before, after));
        let event = Event::new(now, Happening::StateTransition, &after.step_file)
            .with("step_id", after.task_id.as_str())
            .with("from", before.status.word())
            .with("to", after.status.word())
            .with("trigger", "edited_by_hand");
        out.events.push(event);
    }
    out
}

fn at(record: &PhaseRecord, rule: &str, message: String) -> Finding {
    Finding::error(rule, record.place.unwrap_or(Place::TOP), message)
}

/// What was on record stays on record.
fn kept(old: &PhaseRecord, new: &PhaseRecord) -> Vec<Finding> {
    let mut findings = vec![];
    if !new.history.starts_with(&old.history) {
        let message = format!("the history of phase {} was rewritten", new.name);
        findings.push(at(new, "history", message).help("earlier tries are kept; put them back"));
    }
    let over = matches!(old.status, PhaseStatus::Done | PhaseStatus::Skipped | PhaseStatus::Failed);
    let same_end =
        old.outcome == new.outcome && old.blocked_by == new.blocked_by && old.ended_at == new.ended_at;
    if over && old.status == new.status && !same_end {
        let message = format!("phase {} was over, and how it ended was rewritten", new.name);
        findings.push(at(new, "rewritten", message).help("open it again with `reopen`, and carry it out"));
    }
    findings
}

/// Each phase is saved when it begins and when it ends. The end of one and the beginning of the next may share a
/// save; anything more is batching.
fn batching(changed: &[(&PhaseRecord, &PhaseRecord)]) -> Option<Finding> {
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
    let names: Vec<&str> = changed.iter().map(|(_, new)| new.name.as_str()).collect();
    let message = format!("batching: {} phases were changed in one save: {}", names.len(), names.join(", "));
    Some(at(second, "batching", message).help("save each phase when it begins and when it ends"))
}

/// Whether some edge of a machine leads from one state to another.
fn leads(machine: &Machine, from: &str, to: &str, except: &[&str]) -> bool {
    machine.edges.iter().any(|edge| edge.from == from && edge.to == to && !except.contains(&edge.trigger))
}

/// The edges of the phase's machine, without those that are the engine's. A skip may go through IN_PROGRESS unseen,
/// as it does by command.
fn unlawful(old: &PhaseRecord, new: &PhaseRecord) -> Option<Finding> {
    let (from, to) = (old.status.word(), new.status.word());
    // A failed try may only be followed by a skip when it was put into the history.
    let kept = new.history.len() > old.history.len();
    let skipped = to == "SKIPPED" && (from == "NOT_EXECUTED" || (from == "FAILED" && kept));
    let pending = new.status == PhaseStatus::Pending || matches!(new.status, PhaseStatus::Unknown(_));
    if from == to && !pending || skipped || leads(&PHASE, from, to, &["crash_reset", "reopen"]) {
        return None;
    }
    let message = match &new.status {
        PhaseStatus::Unknown(_) => return None,
        PhaseStatus::Pending => format!("phase {} was marked CHECKPOINT_PENDING by hand", new.name),
        _ => format!("phase {} went from {from} to {to}, which is not a lawful way", new.name),
    };
    Some(at(new, "transition", message).help(instead(from, to)))
}

fn instead(from: &str, to: &str) -> &'static str {
    match (from, to) {
        ("NOT_EXECUTED", _) => "start it first, save, and carry it out",
        ("IN_PROGRESS", _) => "end it as carried out, skipped or failed",
        (_, "NOT_EXECUTED") => "a phase that is over is opened again only with `reopen`",
        ("FAILED", _) => "start it again, save, and carry it out",
        _ => "put it back as it was",
    }
}

/// A phase begins only when those before it are over.
fn out_of_turn(old: &PhaseRecord, new: &PhaseRecord, after: &StepState) -> Option<Finding> {
    let begins = new.status != PhaseStatus::Pending
        && matches!(old.status, PhaseStatus::NotExecuted | PhaseStatus::Pending | PhaseStatus::Failed);
    let position = after.phases.iter().position(|phase| phase.name == new.name)?;
    let open = after.phases.iter().take(position).find(|before| !before.is_closed())?;
    let message = format!("phase {} began before {} was over", new.name, open.name);
    begins.then(|| at(new, "order", message).help(format!("finish or skip {} first", open.name)))
}

fn step_unlawful(before: &StepState, after: &StepState) -> Vec<Finding> {
    let (from, to) = (before.status.word(), after.status.word());
    let mut findings = vec![];
    if !leads(&STEP, from, to, &[]) && !leads(&STEP_V1, from, to, &[]) {
        let message = format!("the step went from {from} to {to}, which is not a lawful way");
        findings.push(Finding::error("transition", Place::TOP, message));
    }
    if after.status == StepStatus::Done && !after.all_phases_valid() {
        let open = after.phases.iter().find(|phase| !phase.is_closed());
        let name = open.map(|phase| phase.name.clone()).unwrap_or_default();
        let message = format!("the step was marked DONE while phase {name} is not over");
        findings.push(Finding::error("transition", Place::TOP, message));
    }
    findings
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
