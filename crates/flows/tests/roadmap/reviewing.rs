//! Reviews: what a reviewing agent finds, and what a person says before the commit.

use serde_json::json;
use seriatim_flows::registry::End;

use crate::repository::Files;
use crate::world::World;
use crate::world::step;

fn seven() -> World {
    let mut world = World::of("", &[step("01-01", "add", &[])]);
    world.start.only = Some("01-01".to_owned());
    world
}

fn asking() -> World {
    let wanted = json!({"review_request": {"from": "solution-architect", "reason": "The interface changed"}});
    World::one().reports("01-01 GREEN", json!({"status": "done", "summary": "green", "outputs": wanted}))
}

/// DW-86: the step is IN_REVIEW while a person looks, and DONE once it is approved.
#[test]
fn dw_86_a_review_that_was_asked_for_is_told_and_approved() {
    let story = asking().answers("review by @solution-architect", "approve", "").run();
    insta::assert_snapshot!(story.whole());
}

/// DW-77: rework goes on from GREEN with the reviewer's words, and the earlier attempt is kept.
#[test]
fn dw_77_dw_86_rework_goes_on_from_green_with_the_words_of_the_reviewer() {
    let story = asking().answers("review by", "rework", "rename it").run();
    assert_eq!(story.calls(), ["01-01 RED", "01-01 GREEN", "01-01 GREEN"]);
    assert_eq!(
        story.world().called[2].brief.feedback,
        ["A person looked at the work and wants it done over: rename it"]
    );
    assert_eq!(
        story.log_of(&["review", "decided", "again"]),
        [
            "The agent of step 01-01 asked @solution-architect for a review. [The interface changed]",
            "ada decided on the review of step 01-01: rework. [rename it]",
            "Step 01-01, GREEN: has to be done again, since a reviewer asked for rework. [rename it]",
            "Step 01-01, GREEN: began again, attempt 2.",
        ]
    );
    assert_eq!(story.ended().status, End::Completed);
}

#[test]
fn a_review_that_stops_the_step_leaves_it_failed_and_uncommitted() {
    let story = asking().answers("review by", "cancel", "").run();
    assert_eq!(story.ended().status, End::Cancelled);
    assert_eq!(story.saves().last().unwrap(), "01-01 FAILED: COMMIT COMPLETED FAIL");
    assert_eq!(story.commits(), ["feat(01-01): GREEN"]);
    // It can be tried again, and goes on with the commit.
    let again = story.again().run();
    assert_eq!(again.calls(), Vec::<String>::new());
    assert_eq!(again.ended().status, End::Completed);
}

/// DW-64: a serious finding that is open refuses the review phase.
#[test]
fn dw_64_an_open_finding_refuses_the_review_until_it_is_resolved() {
    let finding = |resolved: bool| {
        let found =
            json!([{"severity": "high", "title": "No bounds", "file": "src/add.py:1", "resolved": resolved}]);
        json!({"status": "done", "summary": "looked", "outputs": {"findings": found}})
    };
    let fix = |files: &mut Files| {
        files.entry("src/add.py".to_owned()).or_default().push_str("# bounded\n");
    };
    // Calling it resolved without a change closes nothing; after the change it does.
    let story = seven()
        .reports("01-01 REVIEW", finding(false))
        .reports("01-01 REVIEW", finding(true))
        .does_and_reports("01-01 REVIEW", fix, finding(true))
        .run();
    let refused = story.log_of(&["REVIEW: refused"]);
    assert_eq!(refused.len(), 2, "{refused:?}");
    assert!(
        refused[0].contains("F1 HIGH: No bounds in src/add.py:1 (software-crafter) is open"),
        "{refused:?}"
    );
    assert!(refused[1].contains("F1 cannot be closed: nothing that it is about has changed"), "{refused:?}");
    assert_eq!(story.ended().status, End::Completed);
    let found = &story.ended().outcome["review_findings"][0];
    assert_eq!((&found["id"], &found["title"]), (&json!("F1"), &json!("No bounds")));
    assert_eq!(found["state"]["closed"]["by"], "software-crafter");
}

fn critical() -> serde_json::Value {
    let found = json!([{"severity": "critical", "title": "SQL from input", "file": "src/add.py"}]);
    json!({"status": "done", "summary": "looked", "outputs": {"findings": found}})
}

fn silent() -> serde_json::Value {
    json!({"status": "done", "summary": "all is well", "outputs": {"findings": []}})
}

/// Promise 3: a later report that omits a finding closes nothing, and nobody can let a critical one stand.
#[test]
fn a_critical_finding_survives_reports_that_omit_it_and_is_never_accepted() {
    let story = seven()
        .reports("01-01 REVIEW", critical())
        .reports("01-01 REVIEW", silent())
        .reports("01-01 REVIEW", silent())
        .answers("open findings", "cancel", "")
        .run();
    assert_eq!(story.log_of(&["REVIEW: refused"]).len(), 3);
    assert_eq!(story.ended().status, End::Cancelled);
    assert!(!story.ended().good);
}

/// Promise 3: a review that a person skips leaves its findings open for every later phase.
#[test]
fn a_high_finding_is_accepted_by_a_person_with_a_reason_and_stays_marked() {
    let found = json!([{"severity": "high", "title": "No bounds", "file": "src/add.py"}]);
    let high = json!({"status": "done", "summary": "looked", "outputs": {"findings": found}});
    let story = seven()
        .reports("01-01 REVIEW", high)
        .reports("01-01 REVIEW", silent())
        .reports("01-01 REVIEW", silent())
        .answers("open findings", "accept", "bounded by the caller")
        .run();
    assert_eq!(story.ended().status, End::Completed);
    let state = &story.ended().outcome["review_findings"][0]["state"]["accepted"];
    assert_eq!(*state, json!({"by": "ada", "reason": "bounded by the caller"}));
}

#[test]
fn a_criterion_that_is_not_met_refuses_the_review() {
    let judged = json!([{"criterion": "add is right", "met": false, "reason": "not for zero"}]);
    let story = seven()
        .reports("01-01 REVIEW", json!({"status": "done", "summary": "looked", "criteria": judged}))
        .run();
    assert_eq!(
        story.log_of(&["REVIEW: refused"]),
        ["Step 01-01, REVIEW: refused. The criterion \"add is right\" is not met: not for zero"]
    );
    assert_eq!(story.ended().status, End::Completed);
}

#[test]
fn a_report_of_partial_work_refuses_the_phase() {
    let story = World::one().reports("01-01 GREEN", json!({"status": "partial", "summary": "half"})).run();
    assert_eq!(
        story.log_of(&["GREEN: refused"]),
        ["Step 01-01, GREEN: refused. The report says that the phase is only partly done: half"]
    );
    assert_eq!(story.ended().status, End::Completed);
}

/// A review that says two things at once, or no without a finding, is called again with what is wrong and never closes.
#[test]
fn dw_64_a_review_that_contradicts_itself_is_not_over() {
    for (outputs, says) in [
        (json!({"status": "APPROVED", "ready": false, "findings": []}), "contradicts itself"),
        (json!({"approved": true, "errors": ["it leaks"], "findings": []}), "contradicts itself"),
        (json!({"review": {"verdict": "rejected", "findings": []}}), "the review is not over"),
        (json!({"approved": false, "findings": []}), "the review is not over"),
    ] {
        let report = json!({"status": "done", "summary": "looked", "outputs": outputs});
        let story = seven().reports("01-01 REVIEW", report).run();
        let called = &story.world().called;
        let reviews: Vec<_> = called.iter().filter(|call| call.phase == "REVIEW").collect();
        assert_eq!(reviews.len(), 2, "{outputs}");
        let feedback = reviews[1].brief.feedback.join(" ");
        assert!(feedback.contains(says), "{outputs}: {feedback}");
    }
}
