//! The sorts of gates, by the words of the maps, and what each of them does.

use serde::Deserialize;
use serde::Serialize;

/// A sort of gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateKind {
    Approval,
    Signoff,
    /// Whether a plan is ready to be built from.
    Readiness,
    /// Whether finished work really is finished.
    DoneReview,
    Clarification,
    SelfReview,
    Editorial,
    Quality,
    TrackerSync,
    OntologySync,
    /// A command with a name of its own.
    Script,
}

/// What happens at a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// A person decides: approve, changes, reject, cancel or roll back.
    Decide,
    /// A person answers questions about what is not clear yet.
    Clarify,
    /// The roles before it look at their own work again, with the checklist.
    CallAgain,
    /// Commands of the configuration measure, and thresholds decide.
    Measure,
    /// A command runs, and its exit code decides: the gate's own, else the one that is configured under its name. Where
    /// there is neither, a person decides, because no gate is ever passed by.
    Run,
}

impl GateKind {
    /// The words of the maps.
    pub const WORDS: [(&'static str, GateKind); 11] = [
        ("approval", GateKind::Approval),
        ("signoff", GateKind::Signoff),
        ("readiness", GateKind::Readiness),
        ("done-review", GateKind::DoneReview),
        ("clarification", GateKind::Clarification),
        ("self-review", GateKind::SelfReview),
        ("editorial", GateKind::Editorial),
        ("quality", GateKind::Quality),
        ("tracker-sync", GateKind::TrackerSync),
        ("ontology-sync", GateKind::OntologySync),
        ("script", GateKind::Script),
    ];

    /// The sort that a word names, whatever separates its parts.
    pub fn of_word(word: &str) -> Option<GateKind> {
        let plain = crate::action::words::kebab(word);
        let plain = match plain.as_str() {
            "sign-off" => "signoff",
            "selfreview" => "self-review",
            other => other,
        };
        GateKind::WORDS.iter().find(|(known, _)| *known == plain).map(|(_, kind)| *kind)
    }

    pub fn word(self) -> &'static str {
        GateKind::WORDS.iter().find(|(_, kind)| *kind == self).map_or("gate", |(word, _)| word)
    }

    pub fn does(self) -> Does {
        match self {
            GateKind::Approval | GateKind::Signoff | GateKind::Readiness | GateKind::DoneReview => {
                Does::Decide
            }
            GateKind::Clarification => Does::Clarify,
            GateKind::SelfReview | GateKind::Editorial => Does::CallAgain,
            GateKind::Quality => Does::Measure,
            GateKind::TrackerSync | GateKind::OntologySync | GateKind::Script => Does::Run,
        }
    }

    /// How a script is started, by the end of its name; anything else is a program.
    pub fn script_command(script: &str) -> Vec<String> {
        let words: Vec<String> = script.split_whitespace().map(str::to_owned).collect();
        let runner = match words.first().and_then(|word| word.rsplit_once('.')) {
            Some((_, "py")) => Some("python3"),
            Some((_, "sh")) => Some("sh"),
            Some((_, "js" | "mjs" | "cjs")) => Some("node"),
            _ => None,
        };
        runner.map(str::to_owned).into_iter().chain(words).collect()
    }
}
