//! What reviews mean for the work.

use super::PLAN;
use super::read;

const REVIEWS: &str = "reviews:
  - reviewer: software-crafter-reviewer
    ready_for_execution: false
    overall_assessment: NEEDS_REVISION
    issues_identified:
      - {severity: HIGH, finding: The whistle is too loud, recommendation: Make it softer}
      - {severity: LOW, finding: A typing error}
";

/// DW-51, DW-52: a review that is not ready blocks, and its open critiques of severity HIGH are there to be logged.
#[test]
fn dw_51_dw_52_the_latest_review_decides_whether_work_may_begin() {
    let text = format!("{PLAN}{REVIEWS}");
    let roadmap = read(&text);
    let step = roadmap.step("01-01").unwrap();
    assert_eq!(roadmap.not_ready(step).unwrap().reviewer.as_deref(), Some("software-crafter-reviewer"));
    let open: Vec<&str> = roadmap.unresolved(step).iter().map(|critique| critique.text.as_str()).collect();
    assert_eq!(open, ["The whistle is too loud"]);

    let approved =
        format!("{text}  - {{reviewer: r, ready_for_execution: true, recommendations: [Test by ear]}}\n");
    let roadmap = read(&approved);
    let step = roadmap.step("01-01").unwrap();
    assert_eq!(roadmap.not_ready(step), None);
    assert_eq!(roadmap.unresolved(step), Vec::<&crate::roadmap::plan::Critique>::new());
    assert_eq!(roadmap.recommendations(step), ["Test by ear"], "DW-55");
}

#[test]
fn dw_51_a_review_of_one_step_blocks_that_step_alone() {
    let review = "reviews: [{ready_for_execution: false}]\n        suggested_agent: researcher";
    let roadmap = read(&PLAN.replace("suggested_agent: researcher", review));
    assert!(roadmap.not_ready(roadmap.step("01-02").unwrap()).is_some());
    assert!(roadmap.not_ready(roadmap.step("01-01").unwrap()).is_none());
}
