//! What goes wrong while an action is carried out: what sort of failure it is, what the engine does about it by itself,
//! and what a person is asked in the end (OC-19 to OC-22, OC-61 to OC-63, OC-74 to OC-80).

mod cause;
mod escalation;
mod report;
mod retry;
#[cfg(test)]
mod tests;

use super::output::Problem;
use crate::failure::Failure;
use crate::time::Utc;

pub use cause::Cause;
pub use cause::Nature;
pub use cause::Scene;
pub use escalation::AfterCancel;
pub use escalation::AfterFailure;
pub use escalation::cancel_question;
pub use escalation::extended_ms;
pub use escalation::options;
pub use escalation::question;
pub use report::IO_BYTES_MAX;
pub use report::file_name;
pub use retry::CALLS_MAX;
pub use retry::CORRECTIONS_MAX;
pub use retry::INTERRUPTIONS_MAX;
pub use retry::Next;
pub use retry::Spent;
pub use retry::WAIT_MS_MAX;
pub use retry::next;
pub use retry::wait_line;

/// A failure with everything that a person needs to decide about it (OC-71, OC-76).
#[derive(Clone, Debug, PartialEq)]
pub struct Trouble {
    pub action: String,
    /// The number of the stage.
    pub stage: u32,
    pub role: String,
    /// What the role was doing, for people: `Frontend Developer (phase B)`.
    pub title: String,
    pub scene: Scene,
    pub failure: Failure,
    pub failed_at: Utc,
    pub duration_ms: u64,
    /// The files that it concerns (OC-88).
    pub artifacts: Vec<Impacted>,
    /// What was tried already, in the order in which it was tried.
    pub tried: Vec<String>,
    /// The action can go on without this role.
    pub optional: bool,
    /// The agent that is used for another try, where one is configured.
    pub different_agent: Option<String>,
    /// There is a snapshot to go back to.
    pub can_roll_back: bool,
    /// How long the role may take; what more time is counted from.
    pub timeout_ms: u64,
}

/// A file that a failure concerns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Impacted {
    pub path: String,
    /// What is wrong with it: `syntax error at line 45`, `missing`, `incomplete`. May be empty.
    pub note: String,
}

impl Impacted {
    /// Files with something wrong in them, each once, with all that is wrong.
    pub fn of_problems(problems: &[Problem]) -> Vec<Impacted> {
        let mut impacted: Vec<Impacted> = vec![];
        for problem in problems {
            match impacted.iter_mut().find(|known| known.path == problem.path) {
                Some(known) => {
                    known.note.push_str("; ");
                    known.note.push_str(&problem.message);
                }
                None => impacted.push(Impacted { path: problem.path.clone(), note: problem.message.clone() }),
            }
        }
        impacted
    }

    /// Files that are owed and not there.
    pub fn of_missing(missing: &[String]) -> Vec<Impacted> {
        missing.iter().map(|path| Impacted { path: path.clone(), note: "missing".to_owned() }).collect()
    }
}

impl Trouble {
    pub fn cause(&self) -> Cause {
        Cause::of(&self.failure)
    }

    /// Whether it is transient, permanent or partial, for what it is and where it happened.
    pub fn nature(&self) -> Nature {
        self.cause().nature(self.scene)
    }
}
