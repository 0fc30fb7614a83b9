//! One step under way: where it stands, what it began from, and what was proven so far.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use serde::Deserialize;
use serde::Serialize;
use serde_json::Map;
use serde_json::Value;
use serde_json::json;
use seriatim_core::evidence::Counts;
use seriatim_core::evidence::coverage::Coverage;
use seriatim_core::gate::Gate;
use seriatim_core::guard::scope::Allowed;
use seriatim_core::hash::Hash;
use seriatim_core::ledger::FindingLedger;
use seriatim_core::report::Judged;
use seriatim_core::report::Usage;
use seriatim_core::roadmap::facts::StepCommit;
use seriatim_core::roadmap::facts::StepResult;
use seriatim_core::roadmap::phases::Schema;
use seriatim_core::roadmap::plan::Step;
use seriatim_core::roadmap::result::FilesModified;
use seriatim_core::roadmap::state::StepState;
use seriatim_core::time::Utc;

use super::project::Project;
use crate::registry::End;
use crate::request::CommitBase;

/// The working tree in which a step is carried out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// What requests call it; empty means the workspace itself.
    pub(super) tree: String,
    /// The branch of a working tree of its own.
    pub(super) branch: String,
    /// Where people find it.
    pub(super) path: String,
    /// It holds what an earlier run of the step left in it.
    pub(super) resumed: bool,
}

impl Place {
    /// Whether other steps are carried out at the same time, elsewhere.
    pub(super) fn is_beside(&self) -> bool {
        !self.tree.is_empty()
    }

    /// A path of the project, seen from the workspace.
    pub(super) fn at(&self, path: &str) -> String {
        if self.tree.is_empty() { path.to_owned() } else { format!("{}/{path}", self.tree) }
    }
}

/// What a step keeps in mind from one run to the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Memory {
    /// The commit at which the step began; none before the first one (K-35, E-52).
    pub(super) base_commit: Option<String>,
    /// The files as they were then, with what the user had not committed.
    pub(super) base_tree: String,
    /// Paths that are not the step's: the user's own changes, and what checks left behind.
    pub(super) apart: BTreeSet<String>,
    /// The tests as they were when they were red.
    pub(super) red_tests: BTreeMap<String, RedTest>,
    /// The files that decide how tests are loaded, as they were when the tests were red: the part that does.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) red_loaders: BTreeMap<String, Option<Hash>>,
    /// What reviews found, until it is closed by name.
    pub(super) findings: FindingLedger,
    /// For each gate how many tests ran when they were red.
    pub(super) red_counts: BTreeMap<String, Counts>,
    /// Files that gates name, as they were when the step began.
    pub(super) gate_files: Vec<(String, String, Hash)>,
    /// The share of covered code at the step's base, as it was printed.
    pub(super) coverage: Option<String>,
    /// Lines that GREEN added.
    pub(super) green_lines: u64,
    /// Its work is in a working tree of its own and on a branch, and not in the workspace.
    pub(super) beside: bool,
    /// What agents used for the step so far, over all runs (DW-90).
    pub(super) usage: Usage,
    /// Commits made so far.
    pub(super) commits: Vec<StepCommit>,
}

impl Memory {
    /// Whether the step was begun in a working tree of its own, which may still be there.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.beside && !self.base_tree.is_empty()
    }

    /// Reads what an earlier run left; nothing is the memory of a step that was never begun.
    pub(super) fn read(left: Value) -> Result<Memory, String> {
        match left {
            Value::Null => Ok(Memory::default()),
            left => serde_json::from_value(left).map_err(|error| error.to_string()),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RedTest {
    pub(super) hash: Hash,
    pub(super) text: String,
}

/// Longer tests are known by their hash alone from one run to the next.
const KEPT_BYTES_MAX: usize = 256 << 10;

impl RedTest {
    pub(super) fn of(hash: Hash, text: String) -> RedTest {
        RedTest { hash, text: if text.len() > KEPT_BYTES_MAX { String::new() } else { text } }
    }
}

pub(super) struct Work<'p> {
    pub(super) project: &'p Project,
    /// The gates that hold; those of the start unless a person changed the configuration since.
    pub(super) gates: BTreeMap<String, Gate>,
    /// The number of the configuration that they are from.
    pub(super) configuration: u32,
    pub(super) step: &'p Step,
    pub(super) agent: String,
    pub(super) schema: Schema,
    pub(super) place: Place,
    pub(super) path: String,
    pub(super) state: StepState,
    /// The state as it was last saved.
    pub(super) saved: StepState,
    pub(super) memory: Memory,
    pub(super) allowed: Allowed,
    /// Steps that are done and have their scenarios in the same test file.
    pub(super) sharing: usize,
    /// The user said that changes of theirs may become part of the step.
    pub(super) may_take: BTreeSet<String>,
    pub(super) coverage_base: Option<Coverage>,
    pub(super) usage: Usage,
    pub(super) attempts: u32,
    pub(super) judged: Vec<Judged>,
    pub(super) artifacts: Vec<String>,
    pub(super) notes: Option<String>,
    pub(super) findings: Vec<Value>,
    /// Whether phases closed on a claim alone, since no gate is configured for them.
    pub(super) on_claim: Vec<String>,
    /// Who should look at the work, and why.
    pub(super) review: Option<(String, String)>,
    /// What a person said that the next call has to hear.
    pub(super) words: Vec<String>,
    /// Errors of agents so far (DW-89).
    pub(super) errors: u32,
    pub(super) trail: String,
    pub(super) began: Utc,
    /// What happened and is not on the audit trail yet.
    pub(super) unsaid: Vec<seriatim_core::roadmap::audit::Event>,
    /// Files that the last attempt changed in its view and that the step may not change.
    pub(super) kept: Vec<String>,
    /// The commit and branch on which the next commit is made.
    pub(super) onto: Option<CommitBase>,
    /// The branch of the workspace when the step began, for one that is carried out beside others.
    pub(super) home: Option<CommitBase>,
    /// The tree of the files that are committed next: what the checks saw.
    pub(super) seen: String,
    /// The message of the next commit as the user's hooks left it, where they have looked at it already.
    pub(super) message: Option<String>,
    /// Files of the step that differ from where it began.
    pub(super) ours: Vec<String>,
    /// What goes on record with the next saving.
    pub(super) record: Map<String, Value>,
    pub(super) history: Vec<Value>,
}

/// Why a step stops before its end.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Stop {
    Failed {
        reason: String,
        suggestions: Vec<String>,
        can_retry: bool,
    },
    /// A person does not want it to go on.
    Cancelled {
        by: String,
    },
}

impl Stop {
    pub(super) fn failed(reason: impl Into<String>) -> Stop {
        Stop::Failed { reason: reason.into(), suggestions: vec![], can_retry: true }
    }

    /// Returns why in a few words.
    pub(super) fn reason(&self) -> String {
        match self {
            Stop::Failed { reason, .. } => reason.clone(),
            Stop::Cancelled { by } => format!("{by} stopped it"),
        }
    }
}

/// What became of a step.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum StepEnd {
    Done(Told),
    /// It was done before.
    Already(Told),
    Failed(Told),
    Blocked(Told),
    Cancelled(Told),
}

/// What there is to say about the end of a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Told {
    pub(super) step: String,
    pub(super) message: String,
    /// Why it did not get to its end; empty where it did.
    pub(super) reason: String,
    pub(super) outcome: Map<String, Value>,
    pub(super) files: FilesModified,
}

impl Told {
    pub(super) fn new(step: &str, status: StepResult, message: String) -> Told {
        let mut outcome = Map::new();
        outcome.insert("step".to_owned(), json!(step));
        outcome.insert("status".to_owned(), json!(status.word()));
        let reason = match status {
            StepResult::Done | StepResult::AlreadyDone => String::new(),
            StepResult::Failed | StepResult::Blocked | StepResult::Cancelled => message.clone(),
        };
        Told { step: step.to_owned(), message, reason, outcome, files: FilesModified::default() }
    }

    /// Says why in fewer words than the message.
    #[must_use]
    pub(super) fn because(mut self, reason: &str) -> Told {
        reason.clone_into(&mut self.reason);
        self
    }

    #[must_use]
    pub(super) fn with(mut self, key: &str, value: Value) -> Told {
        self.outcome.insert(key.to_owned(), value);
        self
    }
}

impl StepEnd {
    pub(super) fn told(&self) -> &Told {
        match self {
            StepEnd::Done(told)
            | StepEnd::Already(told)
            | StepEnd::Failed(told)
            | StepEnd::Blocked(told)
            | StepEnd::Cancelled(told) => told,
        }
    }

    pub(super) fn result(&self) -> StepResult {
        match self {
            StepEnd::Done(_) => StepResult::Done,
            StepEnd::Already(_) => StepResult::AlreadyDone,
            StepEnd::Failed(_) => StepResult::Failed,
            StepEnd::Blocked(_) => StepResult::Blocked,
            StepEnd::Cancelled(_) => StepResult::Cancelled,
        }
    }

    pub(super) fn is_done(&self) -> bool {
        matches!(self, StepEnd::Done(_) | StepEnd::Already(_))
    }

    pub(super) fn standing(&self) -> (End, bool) {
        match self {
            StepEnd::Done(_) | StepEnd::Already(_) => (End::Completed, true),
            StepEnd::Failed(_) => (End::Failed, false),
            StepEnd::Blocked(_) => (End::Blocked, false),
            StepEnd::Cancelled(_) => (End::Cancelled, false),
        }
    }

    pub(super) fn message(&self) -> String {
        self.told().message.clone()
    }

    pub(super) fn outcome(&self) -> Value {
        Value::Object(self.told().outcome.clone())
    }
}
