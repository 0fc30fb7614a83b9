//! The facts of a process in plain words, and what `show` presents of them.

use serde_json::Value;

use super::ExecutionStatus;
use super::FlowEvent;
use super::StepStatus;
use super::facts::Fact;
use super::facts::FlowChange;
use super::facts::StepRecord;
use super::facts::Weighed;
use crate::projection;
use crate::sentence::Mood;
use crate::sentence::Sentence;
use crate::sentence::SharedFact;
use crate::sentence::Telling;
use crate::time::span_in_words;
use crate::verdict::Ground;
use crate::verdict::Verdict;
use crate::view::RunView;
use crate::view::Section;

impl Telling for Fact {
    fn sentence(&self) -> Sentence {
        match self {
            Fact::Began(began) => {
                let how = if began.test_mode { "The dry run began." } else { "The process began." };
                Sentence::new(how).detail(format!("log {}", began.execution_id))
            }
            Fact::StepEnded(step) => step_sentence(step),
            Fact::Decision(decision) => {
                let by = person(&decision.actor);
                Sentence::new(format!("{by} decided \"{}\": {}.", decision.subject, ended(&decision.outcome)))
                    .detail(&decision.rationale)
            }
            Fact::Observation(seen) => {
                Sentence::new(format!("Observed \"{}\": {}.", seen.subject, ended(&plain(&seen.value))))
            }
            Fact::FlowChanged(change) => change_sentence(change),
            Fact::FixStepUsed => Sentence::new("The fix step of the last return was run."),
            Fact::TestLogged { text } => Sentence::new(format!("Dry run: {}.", ended(text))),
            Fact::TestSummary { steps, escalations } => {
                let steps = counted(*steps, "step", "steps");
                let escalations = counted(*escalations, "trigger", "triggers");
                Sentence::new(format!("The dry run went through {steps} and fired {escalations}."))
            }
            Fact::Error { text } => Sentence::bad(format!("Error: {}.", ended(text))),
            Fact::Standing { status } => Sentence::new(format!("The process is {}.", standing(*status))),
            Fact::Weighed(weighed) => weighed_sentence(weighed),
            Fact::Finished(finished) => {
                let sentence = Sentence::new(format!("The process ended: {}.", standing(finished.status)));
                sentence.detail(finished.note.clone().unwrap_or_default())
            }
        }
    }
}

fn weighed_sentence(weighed: &Weighed) -> Sentence {
    let Weighed { matter, verdict } = weighed;
    let text = format!("The result rests on \"{matter}\": {}.", verdict.word());
    let sentence = match verdict {
        Verdict::Good(_) => Sentence::new(text),
        Verdict::Bad(_) => Sentence::bad(text),
        Verdict::Unknown(_) | Verdict::NotApplicable(_) => Sentence::attention(text),
    };
    sentence.detail(rests_on(verdict))
}

/// The reasons of a verdict, or what it rests on.
fn rests_on(verdict: &Verdict) -> String {
    let Verdict::Good(grounds) = verdict else { return verdict.reasons().join("; ") };
    let mut words: Vec<String> = vec![];
    for ground in grounds.iter() {
        let word = match ground {
            Ground::Evidence { what, .. } => format!("checked: {what}"),
            Ground::Judgement { who, .. } => format!("on the word of {who}"),
            Ground::Person { who, how, words } => format!("{} by {who}: {words}", how.words()),
        };
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words.join("; ")
}

fn step_sentence(step: &StepRecord) -> Sentence {
    let name = &step.step_name;
    let sentence = match step.status {
        StepStatus::Completed => Sentence::good(format!("Step \"{name}\" was completed.")),
        StepStatus::Failed => Sentence::bad(format!("Step \"{name}\" failed.")),
        StepStatus::Escalated => Sentence::attention(format!("Step \"{name}\" was brought before a person.")),
        StepStatus::Skipped => Sentence::attention(format!("Step \"{name}\" was skipped.")),
    };
    sentence.detail(&step.outcome_summary)
}

fn change_sentence(change: &FlowChange) -> Sentence {
    let to = change.to_step.as_deref().unwrap_or("an earlier step");
    let text = match change.kind {
        FlowEvent::Return => format!("The process returned to step {to}: {}.", ended(&change.reason)),
        FlowEvent::Block => format!("The process was blocked: {}.", ended(&change.reason)),
        FlowEvent::Defer => format!("The process was deferred: {}.", ended(&change.reason)),
        FlowEvent::Resume => format!("The process was resumed: {}.", ended(&change.reason)),
    };
    Sentence::attention(text)
}

fn standing(status: ExecutionStatus) -> &'static str {
    match status {
        ExecutionStatus::InProgress => "in progress",
        ExecutionStatus::Suspended => "suspended",
        ExecutionStatus::Completed => "completed",
        ExecutionStatus::Failed => "failed",
        ExecutionStatus::Blocked => "blocked",
    }
}

/// Records name people and agents as `human:ada` and `ai:claude`.
fn person(actor: &str) -> &str {
    actor.split_once(':').map_or(actor, |(_, name)| name)
}

fn ended(text: &str) -> &str {
    text.trim().trim_end_matches('.')
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn counted(number: u32, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {many}") }
}

/// Returns what `show` presents of a process.
pub fn view(facts: &[projection::Fact]) -> RunView {
    let typed: Vec<Fact> =
        facts.iter().filter_map(|fact| serde_json::from_value(fact.data.clone()).ok()).collect();
    let mut steps = Section::new("Steps");
    let rows = typed.iter().filter_map(|fact| match fact {
        Fact::StepEnded(step) => Some(step_row(step)),
        _ => None,
    });
    steps.table(&["step", "name", "status", "time", "attempt", "result"], rows.collect());
    let mut grounds = Section::new("What the result rests on");
    let mut decisions = Section::new("Decisions");
    let mut changes = Section::new("Changes of course");
    let mut errors = Section::new("Errors");
    for fact in &typed {
        match fact {
            Fact::Decision(d) => {
                decisions
                    .line(&d.id, format!("{}: {} - {} ({})", d.subject, d.outcome, d.rationale, d.actor));
            }
            Fact::FlowChanged(change) => {
                changes.toned(Mood::Attention, change.kind.word(), change.reason.clone());
            }
            Fact::Weighed(Weighed { matter, verdict }) => {
                let words = format!("{} - {}", verdict.word(), rests_on(verdict));
                match verdict {
                    Verdict::Good(_) => grounds.line(matter, words),
                    Verdict::Bad(_) => grounds.toned(Mood::Bad, matter, words),
                    Verdict::Unknown(_) | Verdict::NotApplicable(_) => {
                        grounds.toned(Mood::Attention, matter, words);
                    }
                }
            }
            Fact::Error { text } => errors.toned(Mood::Bad, "error", text.clone()),
            Fact::Began(_)
            | Fact::StepEnded(_)
            | Fact::Observation(_)
            | Fact::FixStepUsed
            | Fact::TestLogged { .. }
            | Fact::TestSummary { .. }
            | Fact::Standing { .. }
            | Fact::Finished(_) => {}
        }
    }
    let sections =
        [steps, grounds, decisions, changes, errors].into_iter().filter(|section| !section.is_empty());
    let suspended = typed.iter().rev().find_map(|fact| match fact {
        Fact::FlowChanged(change) if change.kind == FlowEvent::Defer => Some(change.reason.clone()),
        _ => None,
    });
    RunView { sections: sections.collect(), suspended, ..RunView::default() }
}

fn step_row(step: &StepRecord) -> Vec<String> {
    vec![
        step.step_id.clone(),
        step.step_name.clone(),
        step.status.word().to_owned(),
        span_in_words(step.completed.since_ms(step.started)),
        step.iteration.to_string(),
        step.outcome_summary.clone(),
    ]
}

/// Returns the sentence of a journalled fact.
pub fn tell(fact: &Value) -> Option<Sentence> {
    crate::sentence::told::<Fact>(fact).or_else(|| crate::sentence::told::<SharedFact>(fact))
}
