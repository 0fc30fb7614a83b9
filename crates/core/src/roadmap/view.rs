//! A roadmap run as `show` presents it: for each phase what the agent said beside what the engine saw itself.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use super::facts::GateEvidence;
use super::facts::PhaseEnd;
use super::facts::PhaseOutcome;
use super::facts::PushResult;
use super::facts::RoadmapFact;
use super::facts::StepResult;
use crate::projection;
use crate::report::Status;
use crate::sentence::Mood;
use crate::sentence::Telling;
use crate::view::Block;
use crate::view::RunView;
use crate::view::Section;

/// How much of a claim and of the evidence fits beside the other.
const COLUMN: usize = 46;

/// Returns what there is to show about a run. Facts that are none of this dialect's are left to others.
pub fn view(facts: &[projection::Fact]) -> RunView {
    let facts: Vec<RoadmapFact> =
        facts.iter().filter_map(|fact| serde_json::from_value(fact.data.clone()).ok()).collect();
    RunView { fields: fields(&facts), sections: sections(&facts), ..RunView::default() }
}

/// Returns a fact as machines read it: without its name.
fn plain(fact: &impl Serialize) -> Option<Value> {
    let mut value = serde_json::to_value(fact).ok()?;
    value.as_object_mut().and_then(|map| map.shift_remove("fact"));
    Some(value)
}

fn fields(facts: &[RoadmapFact]) -> Map<String, Value> {
    let all = |wanted: fn(&RoadmapFact) -> bool| -> Value {
        facts.iter().filter(|fact| wanted(fact)).filter_map(plain).collect()
    };
    let mut commits = vec![];
    let (mut queue, mut finalized) = (Value::Null, Value::Null);
    for fact in facts {
        match fact {
            RoadmapFact::Committed { step, commit } => {
                commits.push(json!({
                    "subject": commit.subject, "commit": commit.commit, "files": commit.files, "step": step,
                }));
            }
            RoadmapFact::Queue { execution_queue } => queue = json!(execution_queue),
            RoadmapFact::Finalized { closing } => finalized = json!(closing),
            _ => {}
        }
    }
    let parts = [
        ("phases", all(|fact| matches!(fact, RoadmapFact::PhaseEnded(_)))),
        ("evidence", evidence(facts)),
        ("commits", Value::Array(commits)),
        ("context", all(|fact| matches!(fact, RoadmapFact::Context { .. }))),
        ("queue", queue),
        ("coverage", all(|fact| matches!(fact, RoadmapFact::CoverageBase { .. }))),
        ("conflicts", all(|fact| matches!(fact, RoadmapFact::Conflict { .. }))),
        ("finalized", finalized),
    ];
    parts.map(|(key, value)| (key.to_owned(), value)).into_iter().collect()
}

/// Returns every run of a gate with the phase that it belongs to: those of phases first, then those of the coverage
/// before a step.
fn evidence(facts: &[RoadmapFact]) -> Value {
    let mut all = vec![];
    let mut add = |step: &str, phase: Option<&str>, attempt: Option<usize>, seen: &[GateEvidence]| {
        for one in seen {
            let mut entry = json!({"step": step, "phase": phase, "attempt": attempt});
            if let (Some(entry), Some(Value::Object(one))) = (entry.as_object_mut(), plain(one)) {
                entry.extend(one);
            }
            all.push(entry);
        }
    };
    for fact in facts {
        if let RoadmapFact::PhaseEnded(end) = fact {
            add(&end.step, Some(&end.phase), end.attempt, &end.evidence);
        }
    }
    for fact in facts {
        if let RoadmapFact::CoverageBase { step, evidence, .. } = fact {
            add(step, None, None, evidence);
        }
    }
    Value::Array(all)
}

fn sections(facts: &[RoadmapFact]) -> Vec<Section> {
    let mut seen = BTreeSet::new();
    let steps = facts.iter().filter_map(RoadmapFact::step).filter(|step| seen.insert(*step));
    let mut sections: Vec<Section> = steps
        .map(|step| {
            let own: Vec<&RoadmapFact> = facts.iter().filter(|fact| fact.step() == Some(step)).collect();
            step_section(step, &own)
        })
        .collect();
    let mut closing = Section::new("Closing pass");
    let mut push = Section::new("Push");
    for fact in facts {
        match fact {
            RoadmapFact::Finalized { closing: pass } if !pass.words.is_empty() => {
                closing.line("", pass.words.as_str());
            }
            RoadmapFact::Push { result, .. } => {
                let mood = match result {
                    PushResult::Pushed => Mood::Good,
                    PushResult::Declined => Mood::Neutral,
                    PushResult::NoRemote => Mood::Attention,
                    PushResult::Failed => Mood::Bad,
                };
                push.toned(mood, "", fact.sentence().text);
            }
            _ => {}
        }
    }
    sections.extend([closing, push].into_iter().filter(|section| !section.is_empty()));
    sections
}

fn step_section(step: &str, facts: &[&RoadmapFact]) -> Section {
    let mut section = Section::new(format!("Step {step}"));
    for fact in facts {
        match fact {
            RoadmapFact::Context { words, unresolved_critiques, .. } => {
                section.line("context", words.as_str());
                unresolved_critiques
                    .iter()
                    .for_each(|critique| section.toned(Mood::Attention, "unresolved", critique.as_str()));
            }
            RoadmapFact::CoverageBase { value, .. } => {
                section.line("coverage before", value.as_deref().unwrap_or("not measured"));
            }
            _ => {}
        }
    }
    let ends: Vec<&PhaseEnd> = facts
        .iter()
        .filter_map(|fact| if let RoadmapFact::PhaseEnded(end) = fact { Some(&**end) } else { None })
        .collect();
    let heading = ["phase", "try", "outcome", "the agent said", "the engine saw"];
    section.table(&heading, ends.iter().map(|end| phase_row(end)).collect());
    ends.iter().for_each(|end| add_evidence(&mut section, end));
    for fact in facts {
        match fact {
            RoadmapFact::Conflict { files, .. } => section.toned(Mood::Bad, "in conflict", files.join(", ")),
            RoadmapFact::Committed { commit, .. } => {
                let word = if commit.files.len() == 1 { "file" } else { "files" };
                let id = commit.commit.get(..10).unwrap_or(&commit.commit);
                let text = format!("{}  {id}, {} {word}", commit.subject, commit.files.len());
                section.toned(Mood::Good, "committed", text);
            }
            RoadmapFact::Merged { branch, .. } => section.toned(Mood::Good, "merged", branch.as_str()),
            RoadmapFact::StepClosed { status, .. } => {
                let mood = match status {
                    StepResult::Done | StepResult::AlreadyDone => Mood::Good,
                    StepResult::Failed => Mood::Bad,
                    StepResult::Blocked | StepResult::Cancelled => Mood::Attention,
                };
                section.toned(mood, "end", fact.sentence().text);
            }
            _ => {}
        }
    }
    section
}

fn phase_row(end: &PhaseEnd) -> Vec<String> {
    let said = match &end.claim {
        None => "-".to_owned(),
        Some(claim) => {
            let status = match claim.status {
                Status::Done => "done",
                Status::Partial => "partial",
                Status::Failed => "failed",
            };
            let summary = claim.summary.as_str();
            if summary.is_empty() { status.to_owned() } else { format!("{status}: {summary}") }
        }
    };
    let seen: Vec<String> =
        end.evidence.iter().map(|seen| format!("{}: {}", seen.gate, seen.words)).collect();
    let seen = match (seen.is_empty(), end.words.as_str()) {
        (false, _) => seen.join("; "),
        (true, "") => "-".to_owned(),
        (true, words) => words.to_owned(),
    };
    vec![
        end.phase.clone(),
        end.attempt.map_or_else(|| "-".to_owned(), |attempt| attempt.to_string()),
        end.outcome.word().to_owned(),
        cut(&said),
        cut(&seen),
    ]
}

/// Adds what a phase was refused for, and the output of its gates: a few lines where it was refused, the rest where more
/// is asked for.
fn add_evidence(section: &mut Section, end: &PhaseEnd) {
    let title = format!("{}, try {}", end.phase, end.attempt.unwrap_or(1));
    let refused = end.outcome == PhaseOutcome::Fail;
    for objection in &end.objections {
        let label = format!("{title}, refused ({})", objection.rule);
        section.toned(Mood::Bad, &label, objection.message.as_str());
    }
    for note in &end.notes {
        match refused {
            true => section.line(&format!("{title}, note"), note.as_str()),
            false => section.blocks.push(output(format!("{title}, note"), "", None, note, false)),
        }
    }
    for seen in &end.evidence {
        section.blocks.push(output(title.clone(), &seen.command, seen.exit, &seen.output, refused));
    }
}

fn output(title: String, command: &str, exit: Option<i32>, text: &str, brief: bool) -> Block {
    Block::Output { title, command: command.to_owned(), exit, text: text.to_owned(), brief }
}

/// Cuts a text to the width of its column, with a mark where it was cut.
fn cut(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= COLUMN {
        return line;
    }
    let mut kept: String = line.chars().take(COLUMN - 1).collect();
    kept.push('…');
    kept
}
