//! Facts as sentences: what `log`, `show` and questions say about an event of a run.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::choices;
use crate::failure::Failure;
use crate::world::Effect;
use crate::world::Isolation;

/// How an event is to be read at a glance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mood {
    #[default]
    Neutral,
    Good,
    Bad,
    /// A person should look at it.
    Attention,
}

/// An event in plain words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sentence {
    /// A whole sentence: who did what.
    pub text: String,
    /// What is worth knowing beside it; may be empty.
    pub detail: String,
    /// What belongs below it, whole and one line each.
    pub below: Vec<String>,
    pub mood: Mood,
}

impl Sentence {
    pub fn new(text: impl Into<String>) -> Sentence {
        Sentence { text: text.into(), ..Sentence::default() }
    }

    pub fn good(text: impl Into<String>) -> Sentence {
        Sentence { mood: Mood::Good, ..Sentence::new(text) }
    }

    pub fn bad(text: impl Into<String>) -> Sentence {
        Sentence { mood: Mood::Bad, ..Sentence::new(text) }
    }

    pub fn attention(text: impl Into<String>) -> Sentence {
        Sentence { mood: Mood::Attention, ..Sentence::new(text) }
    }

    #[must_use]
    pub fn detail(self, detail: impl Into<String>) -> Sentence {
        Sentence { detail: detail.into(), ..self }
    }

    #[must_use]
    pub fn below(self, below: Vec<String>) -> Sentence {
        Sentence { below, ..self }
    }
}

/// A fact of a dialect: an enum with the tag `fact`, and one sentence for each variant.
pub trait Telling: Serialize + DeserializeOwned {
    fn sentence(&self) -> Sentence;
}

/// Reads a journalled fact as one of a dialect's facts and returns its sentence; `None` where it is none of them.
pub fn told<F: Telling>(fact: &Value) -> Option<Sentence> {
    serde_json::from_value::<F>(fact.clone()).ok().map(|fact| fact.sentence())
}

/// Facts that flows of every dialect record.
#[derive(Clone, Debug, PartialEq, Serialize, serde::Deserialize)]
#[serde(tag = "fact", rename_all = "snake_case")]
pub enum SharedFact {
    /// An attempt of an agent did not succeed.
    AttemptFailed { step: String, attempt: u32, failure: Failure },
    /// The work of an attempt left its view, or did not.
    ViewMerged {
        step: String,
        isolation: Isolation,
        /// Files that are in the workspace now.
        merged: Vec<String>,
        /// Files that the view changes and that do not leave it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        kept: Vec<String>,
        /// Those of them that are held back since they steer runs.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        held: Vec<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        effects: Vec<Effect>,
    },
    /// A person decided about files that both an agent and another process changed.
    OverlapDecided { step: String, files: Vec<String>, choice: OverlapChoice, by: String },
    /// Versions of the workspace gave way to those of an agent, as a person decided.
    VersionsReplaced { step: String, place: String },
    /// A state machine moved an entity.
    Transition { machine: String, entity: String, from: String, to: String, trigger: String },
}

impl Telling for SharedFact {
    fn sentence(&self) -> Sentence {
        match self {
            SharedFact::AttemptFailed { step, attempt, failure } => {
                let last = failure.output.trim_end().lines().next_back().unwrap_or_default();
                Sentence::bad(format!(
                    "Attempt {attempt} of {step} failed: {}.",
                    failure.message.trim_end_matches('.')
                ))
                .detail(last)
            }
            SharedFact::ViewMerged { step, isolation, merged, kept, held, effects } => {
                let left = LeftWords { merged, kept, held, effects };
                view_sentence(step, *isolation, &left)
            }
            SharedFact::OverlapDecided { step, files, choice, by } => {
                let what = match choice {
                    OverlapChoice::Merge => "merges both versions of",
                    OverlapChoice::KeepMine => "keeps the version of the workspace of",
                    OverlapChoice::TakeTheirs => "takes the agent's version of",
                };
                Sentence::new(format!("In {step} {by} {what} {}.", files.join(", ")))
            }
            SharedFact::VersionsReplaced { step, place } => {
                Sentence::attention(format!("In {step} the versions of the workspace are kept in {place}."))
            }
            SharedFact::Transition { entity, from, to, .. } => {
                let words = |state: &str| state.to_lowercase().replace('_', " ");
                Sentence::new(format!("{entity} went from {} to {}.", words(from), words(to)))
            }
        }
    }
}

choices! {
    /// What is done about files that both an agent and another process changed.
    pub enum OverlapChoice {
        Merge = "merge",
        KeepMine = "keep",
        TakeTheirs = "replace",
    }
}

/// How many merged files are named before the rest is counted. What was not merged is named whole, so that nothing can hide
/// behind other files.
const NAMED_MAX: usize = 8;

/// What there is to say about a view.
struct LeftWords<'a> {
    merged: &'a [String],
    kept: &'a [String],
    held: &'a [String],
    effects: &'a [Effect],
}

fn view_sentence(step: &str, isolation: Isolation, left: &LeftWords<'_>) -> Sentence {
    let LeftWords { merged, kept, held, effects } = left;
    let number =
        |files: &[String]| if files.len() == 1 { "1 file".into() } else { format!("{} files", files.len()) };
    let mut text = match merged {
        [] => format!("The agent of {step} changed nothing in the workspace."),
        files => format!("Merged {} of {step} into the workspace.", number(files)),
    };
    if let Some(weakness) = isolation.weakness() {
        text = format!("The agent of {step} {weakness}.");
    }
    let mut below: Vec<String> = vec![];
    if !held.is_empty() {
        below.push(format!("held back, since runs are steered by it: {}", held.join(", ")));
    }
    below.extend(effects.iter().map(|effect| format!("only in its view: {}", effect.sentence())));
    let others: Vec<&str> = kept.iter().filter(|path| !held.contains(path)).map(String::as_str).collect();
    if !others.is_empty() {
        below.push(format!("not merged: {}", others.join(", ")));
    }
    let sentence = if below.is_empty() { Sentence::new(text) } else { Sentence::attention(text) };
    let first = merged.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
    let named = match merged.len().saturating_sub(NAMED_MAX) {
        0 => first,
        more => format!("{first} and {more} more, which `seriatim log RUN --json` names"),
    };
    sentence.detail(named).below(below)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::failure::Class;

    #[test]
    fn a_failed_attempt_says_which_one_why_and_what_was_printed_last() {
        let mut failure = Failure::new(Class::Crash, "the agent ended with exit code 7");
        failure.output = "loading\nno such table: users\n".to_owned();
        let fact = SharedFact::AttemptFailed { step: "2.1".to_owned(), attempt: 2, failure };
        let journalled = serde_json::to_value(&fact).unwrap();
        assert_eq!(journalled["fact"], "attempt_failed");
        let sentence = told::<SharedFact>(&journalled).unwrap();
        assert_eq!(sentence.text, "Attempt 2 of 2.1 failed: the agent ended with exit code 7.");
        assert_eq!(sentence.detail, "no such table: users");
        assert_eq!(told::<SharedFact>(&json!({"fact": "unheard_of"})), None);
    }

    #[test]
    fn what_never_leaves_a_view_is_told_whole_on_lines_of_its_own() {
        let names: Vec<String> = (1..=20).map(|n| format!("a-hook-with-a-long-name-{n}")).collect();
        let others: Vec<String> = (1..=20).map(|n| format!("a{n}.txt")).collect();
        let kept: Vec<String> = others.iter().cloned().chain(["seriatim.toml".to_owned()]).collect();
        let fact = SharedFact::ViewMerged {
            step: "5.1.1".to_owned(),
            isolation: Isolation::World,
            merged: vec!["loaf.txt".to_owned()],
            kept: kept.clone(),
            held: vec!["seriatim.toml".to_owned()],
            effects: vec![Effect::Hooks { names: names.clone() }, Effect::Config],
        };
        let sentence = fact.sentence();
        assert_eq!(
            (sentence.text.as_str(), sentence.detail.as_str()),
            ("Merged 1 file of 5.1.1 into the workspace.", "loaf.txt")
        );
        assert_eq!(
            sentence.below,
            [
                "held back, since runs are steered by it: seriatim.toml".to_owned(),
                format!("only in its view: changed hooks of the repository: {}", names.join(", ")),
                "only in its view: changed the configuration of the repository".to_owned(),
                format!("not merged: {}", others.join(", ")),
            ]
        );
    }
}
