//! A question as a person reads it: what, why, what was tried, and what each option leads to.

use serde::Serialize;
use seriatim_core::question::Question;
use seriatim_engine::agents::REPORT;

use crate::ui::Tone;
use crate::ui::tone;

/// A question as machine output carries it.
#[derive(Serialize, Debug)]
pub(crate) struct Plain<'a> {
    pub(crate) id: &'a str,
    pub(crate) header: &'a str,
    pub(crate) question: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(crate) why: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub(crate) tried: &'a [String],
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(crate) details: &'a str,
    pub(crate) options: Vec<PlainOption<'a>>,
    pub(crate) free_text: bool,
    /// Where an agent of the run was kept apart less than by a world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) isolation: Option<&'a str>,
}

#[derive(Serialize, Debug)]
pub(crate) struct PlainOption<'a> {
    pub(crate) id: &'a str,
    pub(crate) label: &'a str,
    pub(crate) description: &'a str,
    pub(crate) needs_text: bool,
}

impl<'a> Plain<'a> {
    pub(crate) fn of(id: &'a str, question: &'a Question, isolation: Option<&'a str>) -> Plain<'a> {
        let options = question.options.iter().map(|o| PlainOption {
            id: &o.id,
            label: &o.label,
            description: &o.description,
            needs_text: o.needs_text,
        });
        Plain {
            id,
            header: &question.header,
            question: &question.question,
            why: &question.why,
            tried: &question.tried,
            details: &question.details,
            options: options.collect(),
            free_text: question.free_text,
            isolation,
        }
    }
}

/// The question without its options. `isolation` says where an agent of the run was kept apart less than by a world.
pub(crate) fn body(question: &Question, isolation: Option<&str>) -> String {
    let mut parts = vec![tone(Tone::Strong, &question.header), question.question.clone()];
    if !question.details.trim().is_empty() {
        parts.push(indent(&question.details));
    }
    if !question.why.is_empty() {
        parts.push(format!("{} {}", tone(Tone::Faint, "Why it matters:"), question.why));
    }
    if !question.tried.is_empty() {
        let tried: Vec<String> = question.tried.iter().map(|t| format!("  - {t}")).collect();
        parts.push(format!("{}\n{}", tone(Tone::Faint, "What was tried:"), tried.join("\n")));
    }
    if let Some(weakness) = isolation {
        parts.push(format!("{} {weakness}", tone(Tone::Attention, "Isolation:")));
    }
    parts.join("\n\n")
}

/// The options with what they lead to, by number.
pub(crate) fn numbered(question: &Question) -> String {
    let lines = question.options.iter().enumerate().map(|(i, o)| {
        format!("  {}  {} {}", i + 1, o.label, tone(Tone::Faint, format!("- {}", o.description)))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The options with the words by which a script chooses them.
pub(crate) fn by_word(question: &Question) -> String {
    let width = question.options.iter().map(|o| o.id.chars().count()).max().unwrap_or(0);
    let lines = question.options.iter().map(|o| {
        format!("  {:width$}  {} {}", o.id, o.label, tone(Tone::Faint, format!("- {}", o.description)))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// How a question is answered from the command line, or how the report for an assignment is handed in.
pub(crate) fn way_to_answer(id: &str, question: &Question) -> String {
    match question.options.first().map(|first| first.id.as_str()) {
        Some(REPORT) => format!("Hand in with:  seriatim report {id} FILE"),
        Some(first) => format!("Answer with:  seriatim answer {id} {first}"),
        None => format!("Answer with:  seriatim answer {id} CHOICE"),
    }
}

fn indent(text: &str) -> String {
    let indented = |line: &str| if line.trim().is_empty() { String::new() } else { format!("  {line}") };
    text.trim_end().lines().map(indented).collect::<Vec<_>>().join("\n")
}
