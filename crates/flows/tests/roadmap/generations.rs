//! Every list of phases that is built in, and one of the project's own.

use seriatim_core::roadmap::Schema;
use seriatim_flows::registry::End;
use seriatim_flows::roadmap::PinnedFile;

use crate::world::World;
use crate::world::step;

/// DW-57, DW-58, K-01: each generation is carried out in its own order, each phase once.
#[test]
fn dw_57_k_01_each_generation_is_carried_out_in_its_order() {
    for schema in Schema::built_in() {
        let names: Vec<&str> = schema.names().collect();
        let head = format!("tdd_phases: [{}]\n", names.join(", "));
        let mut world = World::of(&head, &[step("01-01", "add", &[])]);
        world.start.only = Some("01-01".to_owned());
        let story = world.run();
        let expected: Vec<String> =
            names.iter().filter(|name| **name != "COMMIT").map(|name| format!("01-01 {name}")).collect();
        assert_eq!(story.calls(), expected);
        assert_eq!(story.ended().status, End::Completed, "{}", story.ended().message);
        let last = story.saves().last().unwrap();
        let done = format!("01-01 DONE: COMMIT {} PASS, files src/add.py tests/test_add.py", schema.done);
        assert_eq!(*last, done);
        let mut commits = vec!["feat(01-01): GREEN"];
        commits.extend(names.contains(&"REVIEW").then_some("review(01-01)"));
        commits.push("feat(01-01): DONE");
        assert_eq!(story.commits(), commits, "{names:?}");
    }
}

/// K-01: a list of the project's own counts where the roadmap has none.
#[test]
fn k_01_a_list_of_the_projects_own_is_carried_out() {
    let list = "version: \"9.0\"\nphases: [RED, GREEN, DEPLOY, COMMIT]\n";
    let mut world = World::of("", &[step("01-01", "add", &[])]).file("phases.yaml", list);
    world.start.only = Some("01-01".to_owned());
    world.start.phases = Some(PinnedFile { path: "phases.yaml".to_owned(), text: list.to_owned() });
    let story = world.run();
    assert_eq!(story.calls(), ["01-01 RED", "01-01 GREEN", "01-01 DEPLOY"]);
    assert_eq!(
        story.log_of(&["DEPLOY"]),
        ["Step 01-01, DEPLOY: began.", "Step 01-01, DEPLOY: passed. [closed on the agent's claim]"]
    );
    assert_eq!(story.ended().status, End::Completed);
}

/// DW-68: phases that do not apply to a step are skipped before it begins, and the beginning says so.
#[test]
fn dw_68_phases_that_do_not_apply_are_skipped_from_the_start() {
    let research = step("01-01", "add", &[]) + "        step_type: research\n";
    let mut world = World::of("", &[research]).answers("no checks", "accept_unchecked", "a study");
    world.start.only = Some("01-01".to_owned());
    world.start.gates.clear();
    let story = world.run();
    assert_eq!(story.calls(), ["01-01 PREPARE", "01-01 REVIEW", "01-01 REFACTOR_CONTINUOUS"]);
    let began = story.log().into_iter().find(|line| line.contains("began with")).unwrap();
    assert_eq!(
        began,
        "Step 01-01 (Function add) began with @software-crafter. [RED_ACCEPTANCE is skipped: NOT_APPLICABLE: preset \
         for research; RED_UNIT is skipped: NOT_APPLICABLE: preset for research; GREEN is skipped: NOT_APPLICABLE: \
         preset for research]"
    );
}
