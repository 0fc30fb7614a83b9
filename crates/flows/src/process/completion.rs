//! Whether a step is done: what its agent says of it, and what can be computed (PX-62).

use serde_json::json;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::process::definition::Step;
use seriatim_core::report::Report;
use seriatim_core::report::Status;
use seriatim_core::verdict::Verdict;

use super::course::Course;
use crate::request::Computed;

impl Course<'_> {
    /// Criteria with a condition of their own are computed, not judged: evidence.
    pub(super) async fn compute_criteria(&mut self, step: &Step, report: &Report) -> Vec<Verdict> {
        let with: Vec<(String, String)> = step
            .completion_criteria
            .iter()
            .chain(&step.validation)
            .filter_map(|c| c.when.as_ref().map(|w| (c.text.clone(), w.value.clone())))
            .collect();
        if with.is_empty() {
            return vec![];
        }
        let mut about = self.about(Some(&report.outputs));
        about.insert("confidence".into(), json!(report.confidence));
        let conditions = with.iter().map(|(_, when)| when.clone()).collect();
        let held = self.cx.compute(conditions, about).await;
        with.into_iter().zip(held).map(|((text, when), held)| computed(&text, &when, held)).collect()
    }
}

/// What a computed condition says of its criterion.
pub(super) fn computed(text: &str, when: &str, held: Computed) -> Verdict {
    match held {
        Computed::Holds(true) => Verdict::checked(text, when, None),
        Computed::Holds(false) => Verdict::bad(text),
        Computed::Unknown(why) => Verdict::unknown(format!("{text} (could not be computed: {why})")),
    }
}

/// A step that its own agent calls partial, or whose criteria it says are not met, is not done (PX-62). Strictly
/// taken, a criterion without an answer is not met either.
pub(super) fn unmet(report: &Report, strict: Option<&Step>, computed: &[Verdict]) -> Option<Failure> {
    if report.status == Status::Partial {
        let what = format!("The step is only partly done: {}", report.summary);
        return Some(Failure::new(Class::Invalid, what));
    }
    let mut unmet: Vec<String> = report
        .criteria
        .iter()
        .filter(|c| !c.met)
        .map(|c| match c.reason.as_str() {
            "" => c.criterion.clone(),
            reason => format!("{} ({reason})", c.criterion),
        })
        .collect();
    if let Some(step) = strict {
        let all = step.completion_criteria.iter().chain(&step.validation).filter(|c| c.when.is_none());
        let silent = all.filter(|c| !report.criteria.iter().any(|j| j.criterion == c.text));
        unmet.extend(silent.map(|c| format!("{} (not judged)", c.text)));
    }
    unmet.extend(computed.iter().flat_map(Verdict::reasons));
    if unmet.is_empty() {
        return None;
    }
    Some(Failure::new(Class::Invalid, format!("Completion criteria not satisfied: {}", unmet.join("; "))))
}
