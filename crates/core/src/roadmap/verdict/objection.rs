//! What holds a step: at a stop, at a commit, or until a person has decided.
//!
//! The sentences are contracts: people and programs look for them to the letter. Code of this program looks at the
//! variants and never at the words.

mod edit;
mod phase;

use serde::Deserialize;
use serde::Deserializer;
use serde::Serialize;
use serde_json::Value as Json;

pub use self::edit::Edit;
pub use self::edit::Unlawful;
pub use self::phase::PhaseFault;
pub use self::phase::TaskFault;
use super::Evidence;
use super::Shown;
use crate::finding::Finding;
use crate::guard::scope::Violation;

/// One reason why a step cannot stop, be committed or go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Objection {
    /// The record of a phase is open, not whole or not a pass.
    Phase { phase: String, fault: PhaseFault },
    /// The status of the task itself.
    Task { fault: TaskFault },
    /// A gate of the project is red or broken.
    Gate(Evidence),
    /// A file was changed that the step may not change.
    Scope(Violation),
    /// A sub-agent worked in the session, and no hook saw it begin.
    Unseen { agent: String },
    /// The state file was edited by hand against the rules, and the edit was undone.
    Edit { edit: Edit },
    /// The state file is missing or cannot be read.
    StateFile { problem: String },
    /// The step waits for the decision of a person.
    Held { step: String, errors: Vec<Objection> },
    /// A text of an older record that has no typed form.
    Other { text: String },
}

impl Objection {
    pub fn phase(phase: &str, fault: PhaseFault) -> Objection {
        Objection::Phase { phase: phase.to_owned(), fault }
    }

    pub fn state_file(finding: &Finding) -> Objection {
        Objection::StateFile { problem: finding.message.clone() }
    }

    /// Returns the sentence that people read and that the audit trail keeps.
    pub fn sentence(&self) -> String {
        match self {
            Objection::Phase { phase, fault } => fault.sentence(phase),
            Objection::Task { fault } => fault.sentence(),
            Objection::Gate(evidence) => evidence.sentence(),
            Objection::Scope(violation) => violation.to_string(),
            Objection::Unseen { agent } => {
                format!(
                    "Sub-agent {agent} was started without any hook seeing it; what it did is not accounted for"
                )
            }
            Objection::Edit { edit } => edit.sentence(),
            Objection::StateFile { problem } => problem.clone(),
            Objection::Held { step, errors } => {
                format!("{step} ended with errors: {}", sentences(errors).join("; "))
            }
            Objection::Other { text } => text.clone(),
        }
    }

    /// Whether this objection is, or is held because of, another one.
    pub fn includes(&self, other: &Objection) -> bool {
        match self {
            Objection::Held { errors, .. } => errors.iter().any(|error| error.includes(other)),
            one => one == other,
        }
    }

    /// Whether an objection of the last stop counts at a commit although the step is judged anew there (K-18): phases,
    /// files and the state file are looked at again, and an edit that was refused was undone. What nothing but another
    /// stop or a person can settle stays, and so does every text of an older record.
    pub fn lasts(&self) -> bool {
        match self {
            Objection::Gate(_) | Objection::Unseen { .. } | Objection::Other { .. } => true,
            Objection::Phase { .. }
            | Objection::Task { .. }
            | Objection::Scope(_)
            | Objection::Edit { .. }
            | Objection::StateFile { .. }
            | Objection::Held { .. } => false,
        }
    }

    /// Whether an objection is still there after a person has asked for another try: what lies outside of the step's
    /// patterns still does, and older texts are not told apart.
    pub fn outlives_retry(&self) -> bool {
        matches!(self, Objection::Scope(_) | Objection::Other { .. })
    }
}

impl Evidence {
    /// Returns the objection of a gate that is not green; one that was not run says nothing about the work.
    pub fn objection(&self) -> Option<Objection> {
        match self.result {
            Shown::Red | Shown::Broken => Some(Objection::Gate(self.clone())),
            Shown::Green | Shown::NotRun => None,
        }
    }
}

pub fn sentences(objections: &[Objection]) -> Vec<String> {
    objections.iter().map(Objection::sentence).collect()
}

/// Adds objections, each once.
pub fn add(to: &mut Vec<Objection>, more: impl IntoIterator<Item = Objection>) {
    for objection in more {
        if !to.contains(&objection) {
            to.push(objection);
        }
    }
}

/// Reads objections of any version: a plain text, and whatever is not known here, counts as [`Objection::Other`].
pub(super) fn read(value: &Json) -> Objection {
    match value {
        Json::String(text) => Objection::Other { text: text.clone() },
        other => {
            Objection::deserialize(other).unwrap_or_else(|_| Objection::Other { text: other.to_string() })
        }
    }
}

/// Deserializes a list of objections of any version.
pub fn read_all<'de, D: Deserializer<'de>>(source: D) -> Result<Vec<Objection>, D::Error> {
    Ok(Vec::<Json>::deserialize(source)?.iter().map(read).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::guard::scope::Why;

    fn one_of_each() -> Vec<Objection> {
        let scope = Violation { path: "a.rs".to_owned(), why: Why::RenamedFrom { from: "b.rs".to_owned() } };
        vec![
            Objection::phase("RED", PhaseFault::Abandoned),
            Objection::phase("RED", PhaseFault::Unexecuted { task: "DONE".to_owned() }),
            Objection::Task { fault: TaskFault::UnknownStatus { word: "WIP".to_owned() } },
            Objection::Gate(Evidence::broken("lint", "its command could not be run")),
            Objection::Scope(scope),
            Objection::Unseen { agent: "a9".to_owned() },
            Objection::Edit { edit: Edit::Batch { phases: vec!["RED".to_owned(), "GREEN".to_owned()] } },
            Objection::StateFile { problem: "Step file not found: a.json".to_owned() },
            Objection::Held {
                step: "step 01 (a.json)".to_owned(),
                errors: vec![Objection::Unseen { agent: "a9".to_owned() }],
            },
            Objection::Other { text: "Phase RED left IN_PROGRESS (abandoned)".to_owned() },
        ]
    }

    #[test]
    fn every_objection_is_read_back_as_it_was_written() {
        for objection in one_of_each() {
            let written = serde_json::to_value(&objection).unwrap();
            assert!(written["kind"].is_string(), "{written}");
            assert_eq!(read(&written), objection);
        }
    }

    #[test]
    fn every_objection_has_one_sentence_to_the_letter() {
        assert_eq!(
            sentences(&one_of_each()),
            [
                "Phase RED left IN_PROGRESS (abandoned)",
                "Task marked DONE but phase RED NOT_EXECUTED",
                "Task has the unknown status `WIP`",
                "Gate `lint` is broken: its command could not be run",
                "Unexpected modification: a.rs (moved from b.rs, which may not be touched)",
                "Sub-agent a9 was started without any hook seeing it; what it did is not accounted for",
                "batching: 2 phases were changed in one save: RED, GREEN",
                "Step file not found: a.json",
                "step 01 (a.json) ended with errors: Sub-agent a9 was started without any hook seeing it; what it did \
                 is not accounted for",
                "Phase RED left IN_PROGRESS (abandoned)",
            ]
        );
    }

    #[test]
    fn what_an_older_or_a_newer_version_wrote_holds_until_it_is_settled() {
        let text = read(&json!("Unexpected modification: a.rs"));
        assert_eq!(text, Objection::Other { text: "Unexpected modification: a.rs".to_owned() });
        let newer = read(&json!({"kind": "unheard_of", "x": 1}));
        assert!(matches!(&newer, Objection::Other { text } if text.contains("unheard_of")), "{newer:?}");
        assert!(text.lasts() && newer.lasts() && newer.outlives_retry());
    }

    #[test]
    fn a_step_that_is_held_includes_what_it_is_held_for() {
        let unseen = Objection::Unseen { agent: "a9".to_owned() };
        let held = Objection::Held { step: "step 01".to_owned(), errors: vec![unseen.clone()] };
        assert!(held.includes(&unseen) && unseen.includes(&unseen) && !unseen.includes(&held));
        assert!(!held.includes(&Objection::Unseen { agent: "a".to_owned() }));
    }
}
