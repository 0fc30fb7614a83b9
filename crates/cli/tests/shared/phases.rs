//! The phases of a step, for every test and bench that needs a step: written out once, so that a list which the program
//! made of itself would be noticed.

/// The fourteen phases of the first generation.
pub(crate) const FOURTEEN: [&str; 14] = [
    "PREPARE",
    "RED_ACCEPTANCE",
    "RED_UNIT",
    "GREEN_UNIT",
    "CHECK_ACCEPTANCE",
    "GREEN_ACCEPTANCE",
    "REVIEW",
    "REFACTOR_L1",
    "REFACTOR_L2",
    "REFACTOR_L3",
    "REFACTOR_L4",
    "POST_REFACTOR_REVIEW",
    "FINAL_VALIDATE",
    "COMMIT",
];
