//! The three commits of a step, with messages that can be looked for to the letter (DW-72).

use crate::roadmap::phases::COMMIT;
use crate::roadmap::phases::Schema;
use crate::roadmap::verdict::Level;

/// A point at which the work of a step is committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checkpoint {
    /// All tests pass.
    Green,
    /// The review is over.
    Review,
    /// The step is done; only this one is ever pushed.
    Final,
}

/// What a commit carries so that it can be found again and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marks {
    pub step: String,
    pub run: String,
    /// The head of the run's journal at the commit.
    pub chain_head: String,
}

impl Marks {
    /// The trailers, in the order in which they stand.
    pub fn trailers(&self) -> Vec<(String, String)> {
        let pairs = [("Step", &self.step), ("Run", &self.run), ("Chain-Head", &self.chain_head)];
        pairs.map(|(name, value)| (name.to_owned(), value.clone())).into()
    }
}

impl Checkpoint {
    pub const ALL: [Checkpoint; 3] = [Checkpoint::Green, Checkpoint::Review, Checkpoint::Final];

    /// The first line of the message.
    pub fn subject(self, step: &str) -> String {
        match self {
            Checkpoint::Green => format!("feat({step}): GREEN"),
            Checkpoint::Review => format!("review({step})"),
            Checkpoint::Final => format!("feat({step}): DONE"),
        }
    }

    /// The whole message: the line, what the step is, and the trailers.
    pub fn message(self, name: &str, marks: &Marks) -> String {
        let trailers = marks.trailers().into_iter().map(|(key, value)| format!("{key}: {value}"));
        let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut parts = vec![self.subject(&marks.step)];
        parts.extend(Some(name).filter(|name| !name.is_empty()));
        parts.push(trailers.collect::<Vec<_>>().join("\n"));
        parts.join("\n\n")
    }

    /// The phase after which it comes in a generation, where it has one: GREEN after the last phase that makes tests
    /// pass, REVIEW after the review, FINAL with the commit.
    pub fn phase(self, schema: &Schema) -> Option<&str> {
        match self {
            Checkpoint::Green => schema.names().filter(|name| name.starts_with("GREEN")).last(),
            Checkpoint::Review => schema.names().find(|name| *name == "REVIEW"),
            Checkpoint::Final => schema.names().find(|name| *name == COMMIT),
        }
    }

    /// The checkpoint that is due when a phase is over.
    pub fn due_after(phase: &str, schema: &Schema) -> Option<Checkpoint> {
        Checkpoint::ALL.into_iter().find(|checkpoint| checkpoint.phase(schema) == Some(phase))
    }

    /// The phase from which on the work is done again when it is taken back (DW-74): the first one after the checkpoint
    /// before it; for GREEN the first that makes tests pass, since what was red before is proven and its tests stay.
    pub fn opens(self, schema: &Schema) -> Option<&str> {
        if self == Checkpoint::Green {
            return schema.names().find(|name| name.starts_with("GREEN"));
        }
        let before = Checkpoint::ALL.into_iter().take_while(|point| *point != self);
        let ends: Vec<&str> = before.filter_map(|point| point.phase(schema)).collect();
        let after = schema.names().position(|name| ends.last() == Some(&name)).map_or(0, |at| at + 1);
        schema.names().nth(after)
    }

    /// How strictly the phases are looked at before the commit (K-06).
    pub fn level(self) -> Level {
        match self {
            Checkpoint::Green | Checkpoint::Review => Level::Checkpoint,
            Checkpoint::Final => Level::Final,
        }
    }

    /// Whether it may be pushed at all; whether it is, a person decides (K-100).
    pub fn may_push(self) -> bool {
        self == Checkpoint::Final
    }

    /// Whether it can be taken back by moving the branch: only as long as nobody else can have it (K-37).
    pub fn can_reset(pushed: bool) -> bool {
        !pushed
    }
}
