//! A person who reviews: what they are offered, and what their words say. Every dialect with reviews asks it like this.

use serde_json::Map;
use serde_json::Value;
use seriatim_core::action::severity;
use seriatim_core::action::severity::PlainReview;
use seriatim_core::ledger::read_closings;
use seriatim_core::question::Choice;

use crate::request::PersonChoice;

/// A person who reviews found nothing.
const NO_FINDINGS: &str = "none";

/// Returns the options that fit a review. That it could not be done is always among them.
pub(crate) fn offers() -> Vec<PersonChoice> {
    let found = "One finding on each line, with its severity: critical, high, medium or low. Close one that is fixed \
                 with:  closed F1: how it was fixed";
    let none = Choice::new(
        NO_FINDINGS,
        "No findings",
        "You looked, and found nothing; findings that are open stay open.",
    );
    let findings = Choice::new("done", "Findings", found).with_text();
    [none, findings].map(PersonChoice::told_by_id).into()
}

/// Reads what a person chose and wrote, or says which lines cannot be read. No words and no choice are no review.
pub(crate) fn read(by: &str, outputs: &Map<String, Value>) -> Result<PlainReview, Vec<String>> {
    let text = |name: &str| outputs.get(name).and_then(Value::as_str).unwrap_or_default();
    match text("choice") {
        NO_FINDINGS => Ok(PlainReview::default()),
        _ => severity::read_plain(by, text("answer")),
    }
}

/// Reads what an agent found and closed, or says what of it cannot be read.
pub(crate) fn read_report(by: &str, outputs: &Map<String, Value>) -> Result<PlainReview, Vec<String>> {
    Ok(PlainReview { found: severity::read(by, outputs)?, closed: read_closings(outputs)? })
}
