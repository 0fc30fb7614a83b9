//! The promise at the command line, for roadmaps: people in the place of agents.

use crate::roadmap_support::Project;

const HUMAN: &str = "\n[agents.software-crafter]\nkind = \"human\"\n";
const REVIEWED: &str = "tdd_phases: [RED, GREEN, REVIEW, COMMIT]\n";

fn by_hand() -> Project {
    let project = Project::of(REVIEWED, &[crate::roadmap_support::add()]);
    project.configure(HUMAN);
    project
}

/// Work up to the review, by a person.
fn up_to_review(project: &Project) {
    project.step("01-01").exits(3).says("RED").says("It could not be done");
    project.env.file("tests/test_add.py", crate::roadmap_support::TEST).file("src/add.py", "RESULT = 0\n");
    project.resume(&[("01-01.*RED", "done", "The test is there.")]).exits(3).says("GREEN");
    project.env.file("src/add.py", "RESULT = 5\n");
    project.resume(&[("01-01.*GREEN", "done", "It is 5.")]).exits(3).says("REVIEW").says("No findings");
}

/// `kind = "human"`: each phase has options that fit it, and what a person finds in plain words holds the step.
#[test]
fn a_person_can_do_every_phase_and_review() {
    let project = by_hand();
    up_to_review(&project);
    project.resume(&[("01-01.*REVIEW", "done", "critical: src/add.py trusts its input")]).exits(3);
    let shown = project.shown().to_string();
    assert!(shown.contains("trusts its input"), "{shown}");
    // Saying that there is nothing more closes nothing.
    project.resume(&[("01-01.*REVIEW", "none", "")]).exits(3);
    let tries = project.tries("01-01", "REVIEW");
    assert_eq!(tries.len(), 2, "{tries:?}");
    assert!(tries[1]["objections"].to_string().contains("F1 CRITICAL"), "{tries:?}");
    project.resume(&[("01-01.*REVIEW", "done", "closed F1: the input is a constant")]).exits(0);
    assert_eq!(project.subjects().last().unwrap(), "feat(01-01): DONE");
}

/// Words that name no severity are asked about, and a person's "it could not be done" is no PASS.
#[test]
fn a_review_in_words_that_nobody_can_read_or_that_failed_is_no_pass() {
    let project = by_hand();
    up_to_review(&project);
    project.resume(&[("01-01.*REVIEW", "done", "hm, odd")]).exits(3).says("names no severity");
    project.resume(&[("01-01.*REVIEW", "failed", "I do not understand it")]).exits(1);
    assert_eq!(project.phase("01-01", "REVIEW")["outcome"], "FAIL");
    assert!(!project.subjects().contains(&"feat(01-01): DONE".to_owned()));
}
