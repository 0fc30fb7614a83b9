//! The result of a process: the words of its type (PX-126), and which of them is a good one.

use super::Capability;
use super::Definition;
use super::Purpose;

/// How the work turned out, before it is put into the words of the process type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Good,
    /// Good in part, or to be changed.
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

/// The word for a verdict.
pub fn word(purpose: Purpose, verdict: Verdict) -> &'static str {
    match (purpose, verdict) {
        (Purpose::Validation, Verdict::Good) => "PASS",
        (Purpose::Validation, Verdict::Mixed) => "PARTIAL",
        (Purpose::Validation, Verdict::Bad) => "FAIL",
        (Purpose::Review, Verdict::Good) => "APPROVED",
        (Purpose::Review, Verdict::Mixed) => "CHANGES_REQUESTED",
        (Purpose::Review, Verdict::Bad) => "REJECTED",
        (Purpose::Analysis, Verdict::Good) => "COMPLETE",
        (Purpose::Analysis, Verdict::Mixed | Verdict::Bad) => "INCOMPLETE",
        (Purpose::Generation, Verdict::Good) => "GENERATED",
        (Purpose::Generation, Verdict::Mixed | Verdict::Bad) => "FAILED",
    }
}

/// The verdict that a word of any type stands for.
pub fn verdict(word: &str) -> Option<Verdict> {
    match word {
        "PASS" | "APPROVED" | "COMPLETE" | "GENERATED" => Some(Verdict::Good),
        "PARTIAL" | "CHANGES_REQUESTED" => Some(Verdict::Mixed),
        "FAIL" | "REJECTED" | "INCOMPLETE" | "BLOCKED" | "FAILED" => Some(Verdict::Bad),
        _ => None,
    }
}
