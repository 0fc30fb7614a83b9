//! Steps one after the other, with nothing in the way.

use serde_json::json;
use seriatim_flows::registry::End;

use crate::world::World;

/// DW-40, DW-66, DW-72, DW-84: every phase is saved before and after, and the step is committed and done.
#[test]
fn dw_40_dw_66_dw_72_dw_84_one_step_is_told_saved_and_committed_from_its_beginning_to_its_end() {
    let story = World::one().run();
    insta::assert_snapshot!(story.whole());
}

/// DW-94: the log of the execution is written beside the state file, and committed with the step.
#[test]
fn dw_94_the_log_of_the_execution_is_written_and_committed() {
    let story = World::one().run();
    let written: Vec<&str> = story.played.writes().iter().map(|file| file.path.as_str()).collect();
    let [state, log] = written.as_slice() else { panic!("{written:?}") };
    assert_eq!(*state, crate::world::STATUS);
    assert!(log.starts_with("docs/feature/calc/logs/") && log.ends_with("-01-01.log"), "{log}");
    assert!(story.world().repository.committed().contains_key(*log));
}

/// DW-46: the same step in the same state gets the same prompt, whatever ran before.
#[test]
fn dw_46_the_same_step_in_the_same_state_gets_the_same_prompt() {
    let prompt = |story: &crate::story::Story, at: usize| story.world().called[at].brief.prompt.clone();
    let (alone, after) = (World::three().run(), World::three().killed_at("01-02 RED").run());
    assert_eq!(alone.calls()[2], "01-02 RED");
    assert_eq!(prompt(&alone, 2), prompt(&after, 0));
}

/// DW-96, DW-97: by default steps follow one another in the order of their dependencies.
#[test]
fn dw_96_dw_97_three_steps_follow_one_another() {
    let story = World::three().run();
    story.ends(End::Completed, "3 of 3 steps are done.");
    insta::assert_snapshot!(story.whole());
}

/// What changes between the last checks and the commit is in no commit: it stays a change of the user's.
#[test]
fn a_commit_holds_what_the_last_checks_saw_and_not_what_was_saved_since() {
    let wanted = json!({"review_request": {"from": "architect", "reason": "look"}});
    let story = World::one()
        .reports("01-01 GREEN", json!({"status": "done", "summary": "green", "outputs": wanted}))
        .answers_after("review by", "approve", "", |repository, _| {
            repository.files("").insert("src/add.py".to_owned(), "RESULT = 4\n".to_owned());
        })
        .run();
    assert_eq!(story.ended().status, End::Completed);
    assert_eq!(story.world().repository.committed()["src/add.py"], "RESULT = 5\n");
    let mut world = story.again();
    assert_eq!(world.repository.files("")["src/add.py"], "RESULT = 4\n");
}
