//! Steps side by side: each in a working tree of its own, merged in the order of the roadmap.

use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_flows::registry::End;

use crate::repository::Files;
use crate::world::SHORT;
use crate::world::World;
use crate::world::step;

const TREE: &str = "@trees/calc-01-02";

fn side_by_side() -> World {
    World::three().with(|world| world.start.parallel = 2)
}

/// DW-96: steps that need nothing of one another are carried out in trees of their own and merged in order.
#[test]
fn dw_96_two_steps_side_by_side_are_told_saved_and_merged() {
    let story = side_by_side().run();
    insta::assert_snapshot!(story.whole());
    assert_eq!(story.world().repository.trees(), Vec::<&str>::new());
    for word in ["add", "sub", "mul"] {
        assert_eq!(story.world().repository.committed()[&format!("src/{word}.py")], "RESULT = 5\n");
    }
}

/// Two steps that say nothing about their files and change the same one.
fn conflicting() -> World {
    let bare = |id: &str, word: &str| {
        let lines = step(id, word, &[]);
        let kept =
            lines.lines().filter(|line| !line.contains("files_to_create") && !line.contains("test_file"));
        kept.map(|line| format!("{line}\n")).collect::<String>()
    };
    let list = |word: &'static str| {
        move |files: &mut Files| {
            files.insert("src/list.py".to_owned(), format!("ALL = ['{word}']\n"));
        }
    };
    World::of(SHORT, &[bare("01-01", "add"), bare("01-02", "sub")])
        .with(|world| world.start.parallel = 2)
        .also("01-01 GREEN", list("add"))
        .also("01-02 GREEN", list("sub"))
}

#[test]
fn a_conflict_is_asked_about_and_resolved_by_a_person() {
    let story = conflicting()
        .answers_after("Step 01-02: conflict", "retry", "", |repository, _| {
            repository.resolve(TREE, "src/list.py", "ALL = ['add', 'sub']\n");
        })
        .run();
    assert_eq!(
        story.log_of(&["conflict", "merged"]),
        [
            "Step 01-01 was merged from the branch seriatim/calc/01-01.",
            "Step 01-02 conflicts with merged changes in src/list.py.",
            "ada decided on the conflict of step 01-02: retry.",
            "Step 01-02 was merged from the branch seriatim/calc/01-02.",
        ]
    );
    assert_eq!(story.world().repository.committed()["src/list.py"], "ALL = ['add', 'sub']\n");
    story.ends(End::Completed, "2 of 2 steps are done.");
}

#[test]
fn a_step_in_conflict_is_done_again_on_top_of_the_merged_changes() {
    let story = conflicting().answers("Step 01-02: conflict", "rework", "").run();
    let tail = story.calls()[4..].to_vec();
    assert_eq!(tail, ["01-02 RED", "01-02 GREEN"]);
    assert_eq!(
        story.log_of(&["since the step conflicts"]),
        ["Step 01-02, RED: has to be done again, since the step conflicts with merged changes."]
    );
    story.ends(End::Completed, "2 of 2 steps are done.");
}

#[test]
fn a_step_in_conflict_is_left_and_keeps_its_branch() {
    let story = conflicting().answers("Step 01-02: conflict", "cancel", "").run();
    assert_eq!(story.ended().status, End::Failed);
    assert_eq!(
        story.log().last().unwrap(),
        "Step 01-02 failed: its changes conflict with merged changes in src/list.py; its branch seriatim/calc/01-02 \
         is kept."
    );
    assert_eq!(story.world().repository.committed()["src/list.py"], "ALL = ['add']\n");
    // A later run goes on where it stopped: nothing is done again, and the conflict is asked about again.
    let again = story
        .again()
        .answers_after("Step 01-02: conflict", "retry", "", |repository, _| {
            repository.resolve(TREE, "src/list.py", "ALL = ['add', 'sub']\n");
        })
        .run();
    assert_eq!(again.calls(), Vec::<String>::new());
    assert_eq!(again.world().repository.committed()["src/list.py"], "ALL = ['add', 'sub']\n");
    again.ends(End::Completed, "2 of 2 steps are done.");
}

#[test]
fn files_in_the_way_of_a_merge_are_asked_about() {
    let blocked = || side_by_side().git_fails("advance", "src/add.py would be overwritten");
    let story = blocked().answers("something is in the way", "retry", "").run();
    story.ends(End::Completed, "3 of 3 steps are done.");
    assert_eq!(story.log_of(&["decided"]), ["ada decided on the merge of step 01-01: retry."]);

    let left = blocked().answers("something is in the way", "cancel", "").run();
    assert_eq!(left.ended().status, End::Failed);
    assert_eq!(
        left.log_of(&["01-01 failed"]),
        ["Step 01-01 failed: its work is on the branch seriatim/calc/01-01 and could not be merged."]
    );
}

/// One step's failure keeps the work of the others, and a step that needs it is blocked.
#[test]
fn a_step_that_fails_beside_another_does_not_keep_that_one_from_being_merged() {
    let story = side_by_side().fails("01-01 RED", Failure::new(Class::Contract, "no spec")).run();
    assert_eq!(
        story.log_of(&["is done", "Step 01-01 failed", "could not begin"]),
        [
            "Step 01-01 failed: The agent @software-crafter failed in RED: no spec.",
            "Step 01-02 is done.",
            "Step 01-03 could not begin: Cannot execute until dependencies complete: step 01-03 waits for 01-01.",
        ]
    );
    assert_eq!(story.ended().status, End::Failed);
}

/// Once a step has failed, the next ones are carried out in trees of their own, where nothing of it lies around.
#[test]
fn after_a_failed_step_the_next_one_is_carried_out_in_a_tree_of_its_own() {
    let story = World::three().fails("01-01 GREEN", Failure::new(Class::Contract, "no spec")).run();
    let of_sub = story.world().called.iter().filter(|of| of.brief.step == "01-02");
    assert!(of_sub.clone().count() == 2 && of_sub.clone().all(|of| of.cwd == TREE));
    assert_eq!(story.world().repository.committed().get("src/add.py"), None);
    assert_eq!(story.world().repository.committed()["src/sub.py"], "RESULT = 5\n");
}

/// A review checkpoint is there even where the review changed nothing, on the branch of a step as in the workspace.
#[test]
fn dw_72_the_checkpoint_of_a_review_is_made_beside_others_even_if_it_is_empty() {
    let steps = [step("01-01", "add", &[]), step("01-02", "sub", &[])];
    let story = World::of("", &steps).with(|world| world.start.parallel = 2).run();
    assert_eq!(story.ended().status, End::Completed, "{}", story.ended().message);
    let commits = story.commits();
    assert_eq!(commits.iter().filter(|subject| subject.starts_with("review(")).count(), 2);
    assert!(commits.contains(&"merge(01-02): merge the steps that finished before"), "{commits:?}");
}
