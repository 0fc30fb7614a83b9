//! The result of a process: the words of its type (PX-126), and which of them is a good one.

use super::Capability;
use super::Definition;
use super::Purpose;
use crate::verdict::Verdict;

/// A verdict as the words of the process types tell it apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grade {
    Good,
    /// Good in part, to be changed, or not known.
    Mixed,
    Bad,
}

/// The type of a process: what the definition says; else what its name says; else what its last working step does.
/// Keeping the result (Preserve) is not the work itself.
pub fn purpose(definition: &Definition) -> Purpose {
    if let Some(stated) = &definition.purpose {
        return stated.value;
    }
    let name = definition.name.value.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|w| name.contains(w));
    if says(&["review"]) {
        return Purpose::Review;
    }
    if says(&["validat", "check", "test", "verif"]) {
        return Purpose::Validation;
    }
    let last = definition.steps.iter().rev().find(|s| s.capability.value != Capability::Preserve);
    match last.map(|s| s.capability.value) {
        Some(Capability::Validate) => Purpose::Validation,
        Some(Capability::Decide) => Purpose::Review,
        Some(Capability::Generate | Capability::Transform) => Purpose::Generation,
        _ => Purpose::Analysis,
    }
}

/// Returns the grade of a result. Nothing but a good verdict has the good one; where changes were asked for and nothing
/// else stands against it, it is to be changed.
pub fn grade(verdict: &Verdict, only_changes: bool) -> Grade {
    match verdict {
        Verdict::Good(_) => Grade::Good,
        Verdict::Bad(_) if only_changes => Grade::Mixed,
        Verdict::Bad(_) => Grade::Bad,
        Verdict::Unknown(_) | Verdict::NotApplicable(_) => Grade::Mixed,
    }
}

/// Returns the word for a grade.
pub fn word(purpose: Purpose, grade: Grade) -> &'static str {
    match (purpose, grade) {
        (Purpose::Validation, Grade::Good) => "PASS",
        (Purpose::Validation, Grade::Mixed) => "PARTIAL",
        (Purpose::Validation, Grade::Bad) => "FAIL",
        (Purpose::Review, Grade::Good) => "APPROVED",
        (Purpose::Review, Grade::Mixed) => "CHANGES_REQUESTED",
        (Purpose::Review, Grade::Bad) => "REJECTED",
        (Purpose::Analysis, Grade::Good) => "COMPLETE",
        (Purpose::Analysis, Grade::Mixed | Grade::Bad) => "INCOMPLETE",
        (Purpose::Generation, Grade::Good) => "GENERATED",
        (Purpose::Generation, Grade::Mixed | Grade::Bad) => "FAILED",
    }
}

/// The words that a judging step can say, those that its prompt names first.
pub const WORDS: [&str; 12] = [
    "PASS",
    "FAIL",
    "PARTIAL",
    "APPROVED",
    "REJECTED",
    "CHANGES_REQUESTED",
    "COMPLETE",
    "INCOMPLETE",
    "GENERATED",
    "FAILED",
    "BLOCKED",
    "INSUFFICIENT",
];

/// Returns the grade that a word of any type means.
pub fn grade_of(word: &str) -> Option<Grade> {
    match word {
        "PASS" | "APPROVED" | "COMPLETE" | "GENERATED" => Some(Grade::Good),
        "PARTIAL" | "CHANGES_REQUESTED" => Some(Grade::Mixed),
        "FAIL" | "REJECTED" | "INCOMPLETE" | "BLOCKED" | "FAILED" | "INSUFFICIENT" => Some(Grade::Bad),
        _ => None,
    }
}
