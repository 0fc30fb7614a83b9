//! What to do now, for each kind of trouble that a refusal names: what helps against one is no help against another.

#[cfg(test)]
mod tests;

use seriatim_core::roadmap::verdict::Objection;
use seriatim_core::roadmap::verdict::Shown;

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
    /// An older version wrote it down as a text.
    Older,
}

impl Trouble {
    const ALL: [Trouble; 8] = [
        Trouble::Phases,
        Trouble::StateFile,
        Trouble::Scope,
        Trouble::RedGate,
        Trouble::BrokenGate,
        Trouble::Unseen,
        Trouble::Held,
        Trouble::Older,
    ];

    fn of(objection: &Objection) -> Trouble {
        match objection {
            Objection::Phase { .. } | Objection::Task { .. } => Trouble::Phases,
            Objection::Gate(evidence) => match evidence.result {
                Shown::Broken => Trouble::BrokenGate,
                Shown::Red | Shown::Green | Shown::NotRun => Trouble::RedGate,
            },
            Objection::Scope(_) => Trouble::Scope,
            Objection::Unseen { .. } => Trouble::Unseen,
            Objection::Held { .. } => Trouble::Held,
            Objection::Edit { .. } | Objection::StateFile { .. } => Trouble::StateFile,
            Objection::Other { .. } => Trouble::Older,
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
            Trouble::Older => format!(
                "An older version of this program recorded that at the last stop of step {id}: call the sub-agent for the \
                 step again, and its next stop is judged anew."
            ),
        }
    }
}

/// What to do about all of these, each kind once.
pub(super) fn on<'o>(id: &str, errors: impl IntoIterator<Item = &'o Objection>) -> Vec<String> {
    let found: Vec<Trouble> = errors.into_iter().map(Trouble::of).collect();
    let there = Trouble::ALL.into_iter().filter(|trouble| found.contains(trouble));
    there.map(|trouble| trouble.advice(id)).collect()
}

/// Whether an error is about the record of the step, which its agent keeps.
pub(super) fn is_of_record(error: &Objection) -> bool {
    matches!(Trouble::of(error), Trouble::Phases | Trouble::StateFile)
}
