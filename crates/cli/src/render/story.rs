//! The story of a run in plain words: what happens in every dialect, beside what the dialect itself records.

use serde_json::Value;
use serde_json::json;
use seriatim_core::failure::Failure;
use seriatim_core::report::Report;
use seriatim_core::report::Status;
use seriatim_core::sentence::Mood;
use seriatim_core::sentence::Sentence;
use seriatim_core::time::Utc;
use seriatim_core::time::span_in_words;
use seriatim_engine::drive::AgentWork;
use seriatim_engine::drive::ConfigChoice;
use seriatim_engine::drive::Happening;
use seriatim_engine::drive::StoryEvent;
use seriatim_flows::registry::Dialect;

use crate::render::isolation;
use crate::render::table::cut;
use crate::ui::Tone;
use crate::ui::tone;

/// How much of a question stands in the log; `show` and `inbox` have the whole.
const QUESTION_CHARS: usize = 160;
/// How much of a detail stands beside its sentence.
const DETAIL_CHARS: usize = 110;
/// The fact that flows record for a failed attempt; the journal itself tells the same with more about it.
pub(crate) const ATTEMPT_FAILED: &str = "attempt_failed";

/// Returns an event as a sentence; nothing for what only machines need.
pub(crate) fn sentence(dialect: Option<&Dialect>, event: &StoryEvent, verbose: bool) -> Option<Sentence> {
    Some(match &event.what {
        Happening::Fact(fact) if fact["fact"] == ATTEMPT_FAILED => return None,
        Happening::Fact(fact) => match dialect.and_then(|dialect| (dialect.tell)(fact)) {
            Some(sentence) => sentence,
            // A record of another version of the program: its words are not known here, but it is not hidden.
            None => Sentence::new(format!("Recorded: {}", cut(&fact.to_string(), DETAIL_CHARS))),
        },
        Happening::Called(work) if work.by_hand => {
            Sentence::attention(format!("{} waits for a person{}.", named(work), again(work)))
        }
        Happening::Called(work) => {
            let started = Sentence::new(format!("{} started{}.", named(work), again(work)));
            if work.bare { started.detail(isolation::BARE) } else { started }
        }
        Happening::Reported { work, began, report } => reported(work, *began, event.at, report),
        Happening::Failed { work, began, failure } => failed(work, *began, event.at, failure),
        Happening::Asked(question) => {
            let asked = cut(&question.question, QUESTION_CHARS);
            Sentence::attention(format!("Asked \"{}\": {asked}", question.header))
        }
        Happening::Answered { question, answer } => {
            let label = question.options.iter().find(|option| option.id == answer.choice);
            let label = label.map_or(answer.choice.as_str(), |option| option.label.as_str());
            let words = answer.text.as_deref().unwrap_or_default();
            Sentence::new(format!("{} answered \"{}\": {label}.", answer.by, question.header)).detail(words)
        }
        Happening::Ran { .. } if !verbose => return None,
        Happening::Ran { command, result, .. } => {
            let how = match result.as_ref() {
                Ok(ran) => match ran.code {
                    Some(code) => format!("exit code {code}"),
                    None => "ended by a signal".to_owned(),
                },
                Err(failure) => failure.message.clone(),
            };
            Sentence::new(format!("Ran `{}`: {how}.", command.join(" ")))
        }
        Happening::Suspended { .. } => {
            Sentence::attention("The run was suspended until a person resumes it.")
        }
        Happening::Resumed(signal) => Sentence::new(format!("{} resumed the run.", signal.by)),
        Happening::Cancelled { by } => Sentence::bad(format!("{by} cancelled the run.")),
        Happening::Configured(decision) => {
            let number = decision.differences.len();
            let word = if number == 1 { "difference" } else { "differences" };
            let chosen = match decision.choice {
                ConfigChoice::Old => "kept the recorded configuration",
                ConfigChoice::New => "put the configuration of the file in place of the recorded one",
            };
            Sentence::attention(format!("{} {chosen} ({number} {word}).", decision.by))
        }
    })
}

/// Returns a line for the log.
pub(crate) fn line(at: Utc, sentence: &Sentence) -> String {
    let words = visible(&sentence.text);
    let text = match sentence.mood {
        Mood::Neutral => words,
        Mood::Good => tone(Tone::Good, words),
        Mood::Bad => tone(Tone::Bad, words),
        Mood::Attention => tone(Tone::Attention, words),
    };
    let at = tone(Tone::Faint, at.seconds());
    if sentence.detail.trim().is_empty() {
        return format!("{at}  {text}");
    }
    format!("{at}  {text} {}", tone(Tone::Faint, visible(&cut(&sentence.detail, DETAIL_CHARS))))
}

/// Makes characters visible that would move the cursor, hide themselves or turn the direction of the text.
pub(crate) fn visible(text: &str) -> String {
    let hides = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
    };
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        match hides(c) {
            true => out.extend(c.escape_unicode()),
            false => out.push(c),
        }
        out
    })
}

/// Returns an event for machines.
pub(crate) fn document(run: &str, event: &StoryEvent) -> Value {
    let at = event.at.to_string();
    let (name, data) = match &event.what {
        Happening::Fact(fact) => {
            return json!({"run": run, "at": at, "entry": event.entry, "event": "fact", "fact": fact});
        }
        Happening::Called(work) => ("agent_called", work_data(work)),
        Happening::Reported { work, report, .. } => {
            ("agent_reported", json!({"work": work_data(work), "report": report}))
        }
        Happening::Failed { work, failure, .. } => {
            ("agent_failed", json!({"work": work_data(work), "failure": failure}))
        }
        Happening::Asked(question) => ("asked", json!({"question": question})),
        Happening::Answered { question, answer } => {
            ("answered", json!({"header": question.header, "answer": answer}))
        }
        Happening::Ran { command, result, .. } => ("ran", json!({"command": command, "result": result})),
        Happening::Suspended { signal } => ("suspended", json!({"signal": signal})),
        Happening::Resumed(signal) => ("resumed", json!({"by": signal.by})),
        Happening::Cancelled { by } => ("cancelled", json!({"by": by})),
        Happening::Configured(decision) => (
            "configured",
            json!({"by": decision.by, "choice": decision.choice, "differences": decision.differences}),
        ),
    };
    json!({"run": run, "at": at, "entry": event.entry, "event": name, "data": data})
}

fn work_data(work: &AgentWork) -> Value {
    json!({
        "title": work.title, "step": work.step, "role": work.role, "phase": work.phase, "attempt": work.attempt,
        "by_hand": work.by_hand, "bare": work.bare,
    })
}

fn named(work: &AgentWork) -> &str {
    [&work.title, &work.role, &work.step].into_iter().find(|text| !text.is_empty()).map_or("An agent", |t| t)
}

fn again(work: &AgentWork) -> String {
    if work.attempt > 1 { format!(", attempt {}", work.attempt) } else { String::new() }
}

fn reported(work: &AgentWork, began: Utc, at: Utc, report: &Report) -> Sentence {
    let span = span_in_words(at.since_ms(began));
    let (name, again) = (named(work), again(work));
    let sentence = match report.status {
        Status::Done => Sentence::new(format!("{name} reported done{again} after {span}.")),
        Status::Partial => Sentence::attention(format!("{name} reported partial work{again} after {span}.")),
        Status::Failed => Sentence::bad(format!("{name} reported failure{again} after {span}.")),
    };
    sentence.detail(&report.summary)
}

fn failed(work: &AgentWork, began: Utc, at: Utc, failure: &Failure) -> Sentence {
    let span = span_in_words(at.since_ms(began));
    let message = failure.message.trim().trim_end_matches('.');
    Sentence::bad(format!("{} failed{} after {span}: {message}.", named(work), again(work)))
}

/// Returns the lines that belong below an event: the last words of an agent that failed.
pub(crate) fn below(event: &StoryEvent) -> Vec<String> {
    match &event.what {
        Happening::Failed { failure, .. } => failure.last_lines().into_iter().map(str::to_owned).collect(),
        _ => vec![],
    }
}
