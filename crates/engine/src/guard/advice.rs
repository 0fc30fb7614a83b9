//! What to do now, for each kind of trouble that a refusal names: what helps against one is no help against another.

#[cfg(test)]
mod tests;

use seriatim_core::roadmap::verdict::Evidence;
use seriatim_core::roadmap::verdict::Shown;

use super::commit::is_scope;
use super::reconcile;

/// A kind of trouble with a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    /// Phases are open, or their records are not whole.
    Phases,
    /// The state file is gone or cannot be read, or an edit of it was undone.
    StateFile,
    /// Files were changed that the step may not change.
    Scope,
    RedGate,
    BrokenGate,
    /// Sub-agents worked that no hook saw.
    Unseen,
    /// A person has to decide.
    Held,
}

impl Trouble {
    const ALL: [Trouble; 7] = [
        Trouble::Phases,
        Trouble::StateFile,
        Trouble::Scope,
        Trouble::RedGate,
        Trouble::BrokenGate,
        Trouble::Unseen,
        Trouble::Held,
    ];

    fn of(error: &str) -> Trouble {
        match Evidence::held_by(error) {
            Some(Shown::Red) => return Trouble::RedGate,
            Some(_) => return Trouble::BrokenGate,
            None => {}
        }
        match error {
            // It repeats the errors for which it was held, so it comes before them.
            _ if error.contains(HELD) => Trouble::Held,
            _ if is_scope(error) => Trouble::Scope,
            _ if reconcile::is_sentence(error) => Trouble::Unseen,
            _ if error.starts_with("Phase ") || error.starts_with("Task ") => Trouble::Phases,
            _ => Trouble::StateFile,
        }
    }

    /// What to do about it, in one or two sentences. `id` is the step's.
    fn advice(self, id: &str) -> String {
        match self {
            Trouble::Phases => format!(
                "Record each phase as it is: `seriatim phase start {id} PHASE`, then `seriatim phase done {id} PHASE --outcome PASS`, \
                 or `seriatim phase skip {id} PHASE --reason \"NOT_APPLICABLE: why\"`, or `seriatim phase fail {id} PHASE --note \"why\"`. \
                 If you cannot finish, say what is left and stop: `seriatim phase partial {id} --suggest \"what has to be done next\"`."
            ),
            Trouble::StateFile => format!(
                "Leave the state file to `seriatim phase`, which keeps its rules (`seriatim phase --help`); `seriatim check` \
                 says what is wrong with it now. Step {id} goes on from what is on record."
            ),
            Trouble::Scope => format!(
                "Put the files that are named back as they were: `git restore FILE` for one that was changed or removed, \
                 and remove one that is new. If a change has to stay, leave it and say why in your report: a person decides \
                 whether the patterns of step {id} are too narrow."
            ),
            Trouble::RedGate => format!(
                "Mend what the gate names, within the files of step {id}, and stop again: the gate is run anew at each stop."
            ),
            Trouble::BrokenGate => {
                "The gate itself does not work, so that it says nothing about the code: see that its command in seriatim.toml \
                 can be run and that its tests can be collected, and stop again. If that is beyond the step, say so in your \
                 report."
                    .to_owned()
            }
            Trouble::Unseen => {
                "Nothing that is recorded or undone settles this: say in your report what the sub-agent was called for and \
                 what it changed. A person looks at it and decides (`seriatim inbox`)."
                    .to_owned()
            }
            Trouble::Held => {
                "A person has been asked; `seriatim inbox` shows the question, and `seriatim answer` decides it. Go on with \
                 other work meanwhile."
                    .to_owned()
            }
        }
    }
}

/// By these words a step is held (see [`super::people`]).
pub(super) const HELD: &str = " ended with errors: ";

/// What to do about all of these, each kind once.
pub(super) fn on(id: &str, errors: &[String]) -> Vec<String> {
    let found: Vec<Trouble> = errors.iter().map(|error| Trouble::of(error)).collect();
    let there = Trouble::ALL.into_iter().filter(|trouble| found.contains(trouble));
    there.map(|trouble| trouble.advice(id)).collect()
}

/// Whether an error is about the record of the step, which its agent keeps.
pub(super) fn is_of_record(error: &str) -> bool {
    matches!(Trouble::of(error), Trouble::Phases | Trouble::StateFile)
}
