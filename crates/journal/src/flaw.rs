//! What can be wrong with stored data, as `verify` and the readers name it.

use std::fmt;

/// One thing that is wrong, and nothing about where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    #[error("its hash does not follow from its content and the entry before it")]
    Hash,
    #[error("its body is not the one that was written")]
    Body,
    #[error("its body is missing, and no note says that it was erased")]
    BodyMissing,
    #[error("it is missing, and later entries exist")]
    Gap,
    #[error("the run's row counts {counted} entries, but only {found} are there")]
    Cut { counted: u64, found: u64 },
    #[error("there are entries beyond the {counted} of the run's row, and nobody holds the run")]
    Surplus { counted: u64 },
    #[error("the run's row names another last hash")]
    Head,
    #[error("its kind {0} is unknown")]
    Kind(i64),
    #[error("its column `{column}` cannot be read")]
    Column { column: &'static str },
    #[error("it cannot be read: {message}")]
    Unreadable { message: String },
    #[error("the run's row was changed from outside")]
    Row,
    #[error("what the run is (flow, title, subject, start) was changed from outside")]
    Identity,
    #[error("its status {0} is unknown")]
    Status(i64),
    #[error("its status is `{status}`, which does not fit its end in the ledger")]
    StatusAgainstLedger { status: String },
    #[error("the ledger knows the run, but the run is not there")]
    RunMissing,
    #[error("the run is there, but the ledger does not know it")]
    RunUnknown,
    #[error("there are entries of a run that is not there (row {row})")]
    Orphans { row: i64 },
    #[error("line {line} of the ledger does not follow from the one before it")]
    Ledger { line: i64 },
    #[error("line {line} of the ledger names an entry that is not there or has another hash")]
    LedgerHead { line: i64 },
    #[error("line {line} of the ledger is missing")]
    LedgerGap { line: i64 },
    #[error("the call `{call}` was changed from outside")]
    Call { call: String },
    #[error("the call `{call}` is open, but its intent `{key}` is not in the journal")]
    CallWithoutIntent { call: String, key: String },
    #[error("the call `{call}` is open, but its outcome is in the journal")]
    CallHasOutcome { call: String },
    #[error("the signal {id} was changed from outside")]
    Signal { id: i64 },
    #[error("the record of the file `{path}` was changed from outside")]
    Projection { path: String },
    #[error("the memo `{key}` was changed from outside")]
    Memo { key: String },
    #[error("the schema differs from the one this program made: `{object}`")]
    Schema { object: String },
    #[error("the database is damaged: {message}")]
    Database { message: String },
}

/// Something wrong and its place, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub run: Option<String>,
    pub seq: Option<u64>,
    pub flaw: Flaw,
}

impl Problem {
    pub(crate) fn of_store(flaw: Flaw) -> Problem {
        Problem { run: None, seq: None, flaw }
    }

    pub(crate) fn of_run(run: &str, flaw: Flaw) -> Problem {
        Problem { run: Some(run.to_owned()), seq: None, flaw }
    }

    pub(crate) fn of_entry(run: &str, seq: u64, flaw: Flaw) -> Problem {
        Problem { run: Some(run.to_owned()), seq: Some(seq), flaw }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.run, self.seq) {
            (Some(run), Some(seq)) => write!(f, "run `{run}`, entry {seq}: {}", self.flaw),
            (Some(run), None) => write!(f, "run `{run}`: {}", self.flaw),
            _ => write!(f, "store: {}", self.flaw),
        }
    }
}
