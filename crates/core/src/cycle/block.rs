//! The SIGNAL BLOCK: what a stage says last, so that people and programs know who comes next.

mod reader;
#[cfg(test)]
mod tests;

use std::fmt;

use serde::Deserialize;
use serde::Serialize;

pub use reader::FoundBlock;
pub use reader::Generation;
pub use reader::read_all;
pub use reader::tail_block;

pub(super) use reader::reads_as_block;

/// The four roles of the loop (CY-01).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Role {
    Human,
    Planner,
    Actor,
    Judge,
}

impl Role {
    pub const ALL: [Role; 4] = [Role::Human, Role::Planner, Role::Actor, Role::Judge];

    /// The word as documents carry it.
    pub fn word(self) -> &'static str {
        match self {
            Role::Human => "Human",
            Role::Planner => "Planner",
            Role::Actor => "Actor",
            Role::Judge => "Judge",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// What a stage came to: the seven results of the seed's pattern (CY-81).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Mark {
    Init,
    PlanCreated,
    PlanUpdated,
    Success,
    Fail,
    Pass,
    Insufficient,
}

impl Mark {
    pub const ALL: [Mark; 7] = [
        Mark::Init,
        Mark::PlanCreated,
        Mark::PlanUpdated,
        Mark::Success,
        Mark::Fail,
        Mark::Pass,
        Mark::Insufficient,
    ];

    /// The word as documents carry it.
    pub fn word(self) -> &'static str {
        match self {
            Mark::Init => "INIT",
            Mark::PlanCreated => "PLAN_CREATED",
            Mark::PlanUpdated => "PLAN_UPDATED",
            Mark::Success => "SUCCESS",
            Mark::Fail => "FAIL",
            Mark::Pass => "PASS",
            Mark::Insufficient => "INSUFFICIENT",
        }
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Who may say what, and who may come next (CY-82, K-59, K-63). A person's answers and approvals have no result
/// of their own and are `INIT`: an answer goes back to the Planner, the approval of a risky step on to the Actor,
/// and the approval of the work to the Judge, who commits. After a stop it is a person's turn again.
const PERMITTED: &[(Role, Mark, &[Role])] = &[
    (Role::Human, Mark::Init, &[Role::Planner, Role::Actor, Role::Judge, Role::Human]),
    (Role::Planner, Mark::PlanCreated, &[Role::Actor, Role::Human]),
    (Role::Planner, Mark::PlanUpdated, &[Role::Actor, Role::Human]),
    (Role::Actor, Mark::Success, &[Role::Judge]),
    (Role::Actor, Mark::Fail, &[Role::Planner, Role::Human]),
    (Role::Judge, Mark::Pass, &[Role::Human]),
    (Role::Judge, Mark::Insufficient, &[Role::Planner, Role::Human]),
];

/// Why a block does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("the result {mark} is not for the {role} to give")]
    Mark { role: Role, mark: Mark },
    #[error("after {mark} of the {role} the {next} cannot come next")]
    Next { role: Role, mark: Mark, next: Role },
}

/// Whether `role` may give `mark` and hand over to `next`.
pub fn permitted(role: Role, mark: Mark, next: Role) -> Result<(), Refused> {
    let line = PERMITTED.iter().find(|(by, what, _)| *by == role && *what == mark);
    match line {
        None => Err(Refused::Mark { role, mark }),
        Some((_, _, nexts)) if !nexts.contains(&next) => Err(Refused::Next { role, mark, next }),
        Some(_) => Ok(()),
    }
}

/// A block that is to be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    pub role: Role,
    pub mark: Mark,
    /// One line.
    pub summary: String,
    pub next: Role,
    /// Further lines, which follow the four.
    pub extra: Vec<(String, String)>,
}

impl Block {
    /// Whether this block may be written at all.
    pub fn check(&self) -> Result<(), Refused> {
        permitted(self.role, self.mark, self.next)
    }

    /// The block in the seed's form. Whatever the texts hold, the four lines stay four lines.
    pub fn render(&self, project: &str, step: u32) -> String {
        let mut text = format!(
            "### SIGNAL BLOCK\n- Agent: {}\n- Result: {}\n- Step Summary: {}\n- Next: {}\n",
            self.role,
            self.mark,
            one_line(&self.summary),
            self.next
        );
        for (key, value) in &self.extra {
            text.push_str(&format!("- {}: {}\n", key_word(key), one_line(value)));
        }
        let project = one_line(project).replace('|', "/");
        text.push_str(&format!("\n# Signature\nProject={project} | Agent={} | Step={step}\n", self.role));
        text
    }
}

/// A text on one line; the pattern wants at least one character.
fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() { "(none)".to_owned() } else { line }
}

/// A key without what would end it, or the block, early.
fn key_word(key: &str) -> String {
    let kept: String = key.chars().map(|c| if is_key_char(c) { c } else { ' ' }).collect();
    let word = one_line(&kept);
    let named = word.starts_with(|c: char| c.is_ascii_alphabetic()) && !word.starts_with("Signature");
    if named { word.chars().take(reader::KEY_LEN_MAX).collect() } else { "Note".to_owned() }
}

/// The characters of which keys are made.
fn is_key_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, ' ' | '_' | '-' | '/')
}
