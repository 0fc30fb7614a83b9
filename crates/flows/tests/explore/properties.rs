//! The three laws: a way out of every state, a bound on every loop, and no way to a good end around a gate.

use seriatim_flows::registry::End;
use seriatim_flows::registry::Ended;

use crate::hands;
use crate::ledger::Ledger;
use crate::search::World;

/// What must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Property {
    /// No blocked state without an exit for a person.
    Exit,
    /// No loop without a person and without a bound.
    Bound,
    /// No way to a good end around a gate.
    Gate,
}

/// A class of counterexamples.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Class {
    pub(crate) property: Property,
    pub(crate) words: String,
}

impl Class {
    pub(crate) fn of(property: Property, words: impl Into<String>) -> Class {
        Class { property, words: words.into() }
    }

    /// Its name in the list of what is known.
    pub(crate) fn signature(&self, dialect: &str) -> String {
        let number = match self.property {
            Property::Exit => 1,
            Property::Bound => 2,
            Property::Gate => 3,
        };
        format!("{dialect}/{number}/{}", self.words)
    }
}

/// Choices by which a person ends a run.
const ENDS: [&str; 7] = ["stop", "cancel", "reject", "changes", "keep", "rollback", "not_met"];

/// An end as the last line of a trace.
pub(crate) fn in_words(ended: &Ended) -> String {
    let status = match ended.status {
        End::Completed => "COMPLETED",
        End::Blocked => "BLOCKED",
        End::Failed => "FAILED",
        End::Cancelled => "CANCELLED",
    };
    let good = if ended.good { "good" } else { "not good" };
    format!("end: {status}, {good}: {}", ended.message)
}

/// What is wrong with an end.
pub(crate) fn at_end(world: &dyn World, ledger: &Ledger, ended: &Ended, cancelled: bool) -> Vec<Class> {
    if ended.good {
        let around = around(world, ledger);
        return around.into_iter().map(|words| Class::of(Property::Gate, words)).collect();
    }
    let chosen = cancelled || ledger.answers.values().any(|(choice, _)| ENDS.contains(&choice.as_str()));
    if chosen || says_what_next(ended) {
        return vec![];
    }
    let shape = hands::without_numbers(ended.message.split([':', '.']).next().unwrap_or_default());
    vec![Class::of(Property::Exit, format!("the end does not say what to do next: {shape}"))]
}

fn says_what_next(ended: &Ended) -> bool {
    let suggested = ended.outcome.to_string().contains("suggestions\":[\"");
    ended.message.contains("seriatim ") || !ended.findings.is_empty() || suggested
}

fn around(world: &dyn World, ledger: &Ledger) -> Vec<String> {
    let open = ledger.open.iter().map(|(name, what)| format!("{name} {what}, and it counts as good"));
    let mut words: Vec<String> = open.collect();
    for gate in world.required() {
        let name = format!("gate {gate}");
        if ledger.accepted.contains(&name) || ledger.open.contains_key(&name) {
            continue;
        }
        match ledger.gates.get(&gate) {
            None => words.push(format!("{name} was never run")),
            Some((_, result)) if *result != world.result() => {
                words.push(format!("{name} was run on something else than the result"));
            }
            Some(_) => {}
        }
    }
    words.extend(world.wrong(ledger));
    words
}
