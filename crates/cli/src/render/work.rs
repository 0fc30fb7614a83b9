//! The work of a run in any dialect: attempts, commands that the engine ran, and answers of people.

use std::collections::BTreeSet;

use serde_json::Map;
use serde_json::Value;
use serde_json::json;
use seriatim_core::sentence::Mood;
use seriatim_core::time::span_in_words;
use seriatim_core::view::Block;
use seriatim_core::view::Section;
use seriatim_core::world::Isolation;
use seriatim_engine::drive::AgentWork;
use seriatim_engine::drive::Happening;
use seriatim_engine::drive::Story;
use seriatim_flows::request::Ran;

use super::story::ATTEMPT_FAILED;

/// The fact that flows record for what was merged of a view.
const VIEW_MERGED: &str = "view_merged";

/// Returns the sections that every run has, those without content left out.
pub(crate) fn sections(story: &Story) -> Vec<Section> {
    let all = [attempts(story), isolation(story), failures(story), commands(story), answers(story)];
    all.into_iter().filter(|section| !section.is_empty()).collect()
}

fn attempts(story: &Story) -> Section {
    let mut section = Section::new("Attempts");
    let rows = story.events.iter().filter_map(|event| {
        let (work, began, result, words) = match &event.what {
            Happening::Reported { work, began, report } => {
                (work, *began, status_word(report.status), report.summary.clone())
            }
            Happening::Failed { work, began, failure } => (work, *began, "failed", failure.message.clone()),
            _ => return None,
        };
        let span = span_in_words(event.at.since_ms(began));
        Some(vec![name(work), work.attempt.to_string(), result.to_owned(), span, words])
    });
    section.table(&["work", "attempt", "result", "time", "summary"], rows.collect());
    section
}

/// Where agents were kept apart by less than a world.
fn isolation(story: &Story) -> Section {
    let mut section = Section::new("Weaker isolation");
    let mut named = BTreeSet::new();
    for event in &story.events {
        let Happening::Fact(fact) = &event.what else { continue };
        let isolation = serde_json::from_value::<Isolation>(fact["isolation"].clone()).ok();
        let Some(weakness) = isolation.filter(|_| fact["fact"] == VIEW_MERGED).and_then(Isolation::weakness)
        else {
            continue;
        };
        let step = fact["step"].as_str().unwrap_or_default();
        if named.insert((step, weakness)) {
            section.toned(Mood::Attention, step, weakness);
        }
    }
    section
}

/// Why attempts failed, with the last lines that they printed.
fn failures(story: &Story) -> Section {
    let mut section = Section::new("Attempts that failed");
    for event in &story.events {
        let Happening::Failed { work, failure, .. } = &event.what else { continue };
        let label = format!("{} attempt {}", name(work), work.attempt);
        section.toned(Mood::Bad, &label, format!("{} - {}", failure.class, failure.message));
        let lines = failure.last_lines();
        if !lines.is_empty() {
            section.blocks.push(Block::Output {
                title: String::new(),
                command: String::new(),
                exit: None,
                text: lines.join("\n"),
                brief: true,
            });
        }
    }
    section
}

fn status_word(status: seriatim_core::report::Status) -> &'static str {
    match status {
        seriatim_core::report::Status::Done => "done",
        seriatim_core::report::Status::Partial => "partial",
        seriatim_core::report::Status::Failed => "failed",
    }
}

fn name(work: &AgentWork) -> String {
    let parts = [&work.title, &work.phase].into_iter().filter(|part| !part.is_empty());
    let mut parts: Vec<&str> = parts.map(String::as_str).collect();
    if parts.is_empty() {
        parts.push(&work.step);
    }
    parts.join(", ")
}

fn commands(story: &Story) -> Section {
    let mut section = Section::new("Commands that the engine ran");
    for event in &story.events {
        let Happening::Ran { command, began, result } = &event.what else { continue };
        let span = span_in_words(event.at.since_ms(*began));
        let (mood, how) = match result.as_ref() {
            Ok(ran) if ran.ok() => (Mood::Good, "exit code 0".to_owned()),
            Ok(Ran { code: Some(code), .. }) => (Mood::Bad, format!("exit code {code}")),
            Ok(_) => (Mood::Bad, "ended by a signal".to_owned()),
            Err(failure) => (Mood::Bad, failure.message.clone()),
        };
        section.toned(mood, &command.join(" "), format!("{how}, {span}"));
    }
    section
}

fn answers(story: &Story) -> Section {
    let mut section = Section::new("Answers");
    for event in &story.events {
        let Happening::Answered { question, answer } = &event.what else { continue };
        let label = question.options.iter().find(|option| option.id == answer.choice);
        let label = label.map_or(answer.choice.as_str(), |option| option.label.as_str());
        let words = answer.text.as_deref().map(|text| format!(" - {text}")).unwrap_or_default();
        section.line(&question.header, format!("{label}{words} ({}, {})", answer.by, event.at.seconds()));
    }
    section
}

/// Facts that scripts find under a name of their own, in every dialect that records them.
const NAMED_FACTS: [(&str, &str); 6] = [
    ("steps", "step_ended"),
    ("failed_attempts", ATTEMPT_FAILED),
    ("decisions", "decision"),
    ("observations", "observation"),
    ("flow_changes", "flow_changed"),
    ("errors", "error"),
];

/// Returns what machines read beside the attempts themselves.
pub(crate) fn fields(story: &Story) -> Map<String, Value> {
    let facts = story.facts();
    let mut fields = Map::new();
    for (name, tag) in NAMED_FACTS {
        let tagged: Vec<&Value> =
            facts.iter().map(|fact| &fact.data).filter(|data| data["fact"] == tag).collect();
        fields.insert(name.to_owned(), json!(tagged));
    }
    let answers = story.events.iter().filter_map(|event| match &event.what {
        Happening::Answered { question, answer } => Some(json!({
            "header": question.header, "choice": answer.choice, "text": answer.text, "by": answer.by,
            "at": event.at.to_string(),
        })),
        _ => None,
    });
    fields.insert("answers".to_owned(), answers.collect());
    fields
}
