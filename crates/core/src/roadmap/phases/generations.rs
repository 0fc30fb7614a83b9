//! The five generations of phases that are built in.
//!
//! They are tables and no documents: a hook needs one of them at each start, and would spend more time on reading it
//! than on everything that it says.

use super::Phase;
use super::Schema;

/// A generation as a table.
struct Table {
    version: &'static str,
    done: &'static str,
    failed: &'static str,
    title: &'static str,
    phases: &'static [Row],
}

/// A phase, the gate that closes it, and when it may be pre-set as not applicable.
type Row = (&'static str, Option<&'static str>, Skip);

/// When a phase may be pre-set as not applicable (K-10).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Skip {
    Never,
    /// For steps without an acceptance test.
    WithoutAcceptance,
    /// For those, where the roadmap says so itself.
    WhereStated,
}

use Skip::Never;
use Skip::WhereStated;
use Skip::WithoutAcceptance;

/// Titles that every generation accepts beside its own.
const TITLES: [&str; 2] = ["TDD_PHASES", "MANDATORY TDD PHASES"];

/// The first canon: fourteen phases, each step in a file of its own.
const FOURTEEN: Table = Table {
    version: "1.0",
    done: "EXECUTED",
    failed: "FAILED",
    title: "TDD_14_PHASES",
    phases: &[
        ("PREPARE", Some("G1"), Never),
        ("RED_ACCEPTANCE", Some("G2"), WithoutAcceptance),
        ("RED_UNIT", Some("G3"), WithoutAcceptance),
        ("GREEN_UNIT", None, WithoutAcceptance),
        ("CHECK_ACCEPTANCE", None, WithoutAcceptance),
        ("GREEN_ACCEPTANCE", Some("G6"), Never),
        ("REVIEW", Some("G5"), Never),
        ("REFACTOR_L1", Some("G6"), Never),
        ("REFACTOR_L2", Some("G6"), Never),
        ("REFACTOR_L3", Some("G6"), Never),
        ("REFACTOR_L4", Some("G6"), Never),
        ("POST_REFACTOR_REVIEW", Some("G6"), Never),
        ("FINAL_VALIDATE", None, Never),
        ("COMMIT", None, Never),
    ],
};

/// Eight phases: the seven of the third canon, and one more refactoring before the commit.
const EIGHT: Table = Table {
    version: "2.0",
    done: "COMPLETED",
    failed: "COMPLETED",
    title: "TDD_8_PHASES",
    phases: &[
        ("PREPARE", Some("G1"), Never),
        ("RED_ACCEPTANCE", Some("G2"), WithoutAcceptance),
        ("RED_UNIT", Some("G3"), WithoutAcceptance),
        ("GREEN", Some("G6"), WithoutAcceptance),
        ("REVIEW", Some("G5"), WhereStated),
        ("REFACTOR_CONTINUOUS", Some("G6"), Never),
        ("REFACTOR_L4", Some("G6"), Never),
        ("COMMIT", None, Never),
    ],
};

/// Seven phases: what is used where nothing else is said.
const SEVEN: Table = Table {
    version: "3.0",
    done: "COMPLETED",
    failed: "COMPLETED",
    title: "TDD_7_PHASES",
    phases: &[
        ("PREPARE", Some("G1"), Never),
        ("RED_ACCEPTANCE", Some("G2"), WithoutAcceptance),
        ("RED_UNIT", Some("G3"), WithoutAcceptance),
        ("GREEN", Some("G6"), WithoutAcceptance),
        ("REVIEW", Some("G5"), WhereStated),
        ("REFACTOR_CONTINUOUS", Some("G6"), Never),
        ("COMMIT", None, Never),
    ],
};

/// Five phases: review and refactoring are done once for all steps, outside of them.
const FIVE: Table = Table {
    version: "4.0",
    done: "COMPLETED",
    failed: "COMPLETED",
    title: "TDD_5_PHASES",
    phases: &[
        ("PREPARE", Some("G1"), Never),
        ("RED_ACCEPTANCE", Some("G2"), WithoutAcceptance),
        ("RED_UNIT", Some("G3"), WithoutAcceptance),
        ("GREEN", Some("G6"), WithoutAcceptance),
        ("COMMIT", None, Never),
    ],
};

const THREE: Table = Table {
    version: "5.0",
    done: "COMPLETED",
    failed: "COMPLETED",
    title: "TDD_3_PHASES",
    phases: &[
        ("RED", Some("G3"), WithoutAcceptance),
        ("GREEN", Some("G6"), WithoutAcceptance),
        ("COMMIT", None, Never),
    ],
};

/// All of them, the oldest first.
pub(super) fn all() -> Vec<Schema> {
    [FOURTEEN, EIGHT, SEVEN, FIVE, THREE].iter().map(Table::schema).collect()
}

/// The one that is used where nothing else is said.
pub(super) fn seven() -> Schema {
    SEVEN.schema()
}

impl Table {
    fn schema(&self) -> Schema {
        let phase = |(index, (name, gate, skip)): (usize, &Row)| Phase {
            index,
            name: (*name).to_owned(),
            gate: gate.map(str::to_owned),
            atdd_only: *skip != Never,
            skip_if_stated: *skip == WhereStated,
        };
        Schema {
            version: self.version.to_owned(),
            done: self.done.to_owned(),
            failed: self.failed.to_owned(),
            titles: [self.title].into_iter().chain(TITLES).map(str::to_owned).collect(),
            phases: self.phases.iter().enumerate().map(phase).collect(),
        }
    }
}
