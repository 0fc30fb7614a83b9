//! The commits, the push and the closing pass.

use serde_json::json;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_flows::registry::End;

use crate::world::World;

/// DW-83: the final validation runs all gates once more, and a red one keeps the step from being committed.
#[test]
fn dw_66_dw_83_a_red_gate_at_the_commit_fails_the_step() {
    let story = World::one().gate("lint").shows("lint", 1, "E501 line too long\n").run();
    assert_eq!(story.ended().status, End::Failed);
    assert_eq!(story.commits(), ["feat(01-01): GREEN"]);
    assert_eq!(
        story.log_of(&["COMMIT:"]),
        [
            "Step 01-01, COMMIT: began.",
            "Step 01-01, COMMIT: the gate tests ran: 1 test ran, it passed.",
            "Step 01-01, COMMIT: the gate lint ran: it failed with exit code 1.",
            "Step 01-01, COMMIT: refused. The gate `lint` has to pass at the end of COMMIT, but it failed with exit \
             code 1. Run `lint` yourself and mend what it names.",
        ]
    );
    assert_eq!(story.again().run().ended().status, End::Completed);
}

/// K-36: a commit that a hook refuses takes the end of the step back.
#[test]
fn k_36_a_commit_that_fails_takes_the_end_of_the_step_back() {
    let story = World::one().git_succeeds("commit").git_fails("commit", "a hook refused it").run();
    assert_eq!(
        story.log().last().unwrap(),
        "Step 01-01 failed: `feat(01-01): DONE` could not be committed: a hook refused it."
    );
    assert_eq!(
        story.saves()[7..],
        [
            "01-01 DONE: COMMIT COMPLETED PASS, files src/add.py tests/test_add.py",
            "01-01 FAILED: COMMIT COMPLETED FAIL"
        ]
    );
}

#[test]
fn a_state_file_that_cannot_be_written_stops_the_step() {
    let mut world = World::one();
    world.book.troubles.push(Failure::new(Class::Storage, "the disk is full"));
    let story = world.run();
    assert_eq!(story.ended().status, End::Failed);
    assert_eq!(story.calls(), Vec::<String>::new());
    let last = story.log().pop().unwrap();
    assert!(last.ends_with("execution-status.yaml cannot be written: the disk is full."), "{last}");
}

fn pushing() -> World {
    let mut world = World::one();
    world.start.push = true;
    world.repository.remote = Some("origin".to_owned());
    world
}

/// K-100: the branch is pushed when a person approves it, and the log says so either way.
#[test]
fn k_100_the_branch_is_pushed_declined_or_not_pushed_and_each_is_told() {
    let pushed = pushing().answers("Push calc", "approve", "").run();
    assert_eq!(
        pushed.log_of(&["push"]),
        ["ada decided on the push: approve.", "The branch main was pushed."]
    );
    assert_eq!((pushed.world().repository.pushes, &pushed.ended().outcome["pushed"]), (1, &json!(true)));

    let declined = pushing().answers("Push calc", "cancel", "not yet").run();
    assert_eq!(
        declined.log_of(&["push"]),
        ["ada decided on the push: cancel. [not yet]", "The branch main was not pushed: ada declined it."]
    );
    assert_eq!((declined.world().repository.pushes, &declined.ended().outcome["pushed"]), (0, &json!(false)));

    let failed = pushing().git_fails("push", "no route").answers("Push calc", "approve", "").run();
    assert_eq!(
        failed.log_of(&["push"]),
        [
            "ada decided on the push: approve.",
            "Error: push: no route.",
            "The branch main was not pushed: no route.",
        ]
    );
    assert_eq!(failed.ended().outcome["pushed"], false);

    let mut nowhere = pushing();
    nowhere.repository.remote = None;
    let nowhere = nowhere.run();
    assert_eq!(nowhere.log_of(&["push"]), ["Nothing was pushed: the repository has no remote."]);
    assert_eq!(nowhere.questions(), Vec::<String>::new());
}

/// DW-67, DW-71: after the last step the whole is refactored once, and the tests are checked.
#[test]
fn dw_67_dw_71_the_closing_pass_is_one_fact_with_its_parts() {
    let mut world = World::three();
    world.start.finalize = true;
    world.start.mutation = ["mutate", "{files}"].map(str::to_owned).into();
    let story = world
        .does("finalize REFACTOR_ARCHITECTURE", |files| {
            files.insert("src/add.py".to_owned(), "# shared\nRESULT = 5\n".to_owned());
        })
        .run();
    let closing = &story.view().fields["finalized"];
    assert_eq!(closing["refactoring"]["status"], "done");
    assert_eq!(closing["refactoring"]["files"], json!(["src/add.py"]));
    assert_eq!(closing["mutation"]["command"], "mutate src/add.py src/mul.py src/sub.py");
    assert_eq!(closing["review"], json!({"status": "passed", "findings": [], "words": ""}));
    assert_eq!(
        story.log().last().unwrap(),
        "The closing pass ended: The closing refactoring is committed. The mutation tool passed."
    );
    assert_eq!(story.ended().outcome["finalize"], *closing);
    assert_eq!(story.commits().last().unwrap(), &"refactor(calc): L4-L6");
}
