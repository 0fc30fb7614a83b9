//! Holes that are known: each test shows one as it is today, so that closing it is seen. The list only shrinks.

use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::roadmap::change;
use seriatim_core::roadmap::change::Act;
use seriatim_core::roadmap::change::Change;
use seriatim_flows::registry::End;
use seriatim_flows::roadmap::Call;

use crate::world::STATUS;
use crate::world::World;

/// Files outside of its scope that a failed run left are taken for somebody else's by the next run, which passes.
#[test]
fn hole_a_retry_forgets_changes_out_of_scope() {
    let deed = |files: &mut crate::repository::Files| {
        files.insert("src/add.py".to_owned(), "RESULT = 5\n".to_owned());
        files.insert("src/other.py".to_owned(), "X = 1\n".to_owned());
    };
    let world = World::one().does("01-01 GREEN", deed).does("01-01 GREEN", deed).does("01-01 GREEN", deed);
    let story = world.run();
    assert_eq!(story.ended().status, End::Failed);
    let again = story.again().run();
    assert_eq!(again.ended().status, End::Completed);
    assert!(again.played.world.repository.subjects.contains(&"feat(01-01): DONE".to_owned()));
}

/// A gate that a failed run edited is pinned as edited by the next run.
#[test]
fn hole_a_retry_pins_an_edited_gate() {
    let deed = |files: &mut crate::repository::Files| {
        files.insert("src/add.py".to_owned(), "RESULT = 5\n".to_owned());
        files.insert("seriatim.toml".to_owned(), "# no gates\n".to_owned());
    };
    let world = World::one().does("01-01 GREEN", deed).does("01-01 GREEN", deed).does("01-01 GREEN", deed);
    let story = world.run();
    assert_eq!(story.ended().status, End::Failed);
    assert_eq!(story.again().run().ended().status, End::Completed);
}

/// A step that only the state file calls IN_PROGRESS makes writes into its files legal for every other step.
#[test]
fn hole_a_stale_step_in_progress_widens_the_scope_of_others() {
    let mut world = World::three();
    world.start.only = Some("01-01".to_owned());
    let world = world.edit_state("01-02", |state, schema, now| {
        change::change(&state, schema, &Change::new(Act::Start, "RED"), now).unwrap().0
    });
    let story = world
        .also("01-01 GREEN", |files| {
            files.insert("src/sub.py".to_owned(), "X = 1\n".to_owned());
        })
        .run();
    assert_eq!(story.ended().status, End::Completed);
    assert_eq!(story.log_of(&["refused"]), Vec::<String>::new());
}

/// Cancelling a roadmap run marks a step as crashed that another process carries out.
#[test]
fn hole_cancelling_ends_steps_of_other_runs() {
    let world = World::three().edit_state("01-02", |state, schema, now| {
        change::change(&state, schema, &Change::new(Act::Start, "RED"), now).unwrap().0
    });
    let story = world.cancelled_at("01-01 GREEN").run();
    assert_eq!(
        story.log_of(&["was stopped"]),
        [
            "Step 01-01 was stopped: a person cancelled the run.",
            "Step 01-02 was stopped: a person cancelled the run."
        ]
    );
}

/// The step is DONE in its file and committed, and the run says that it failed.
#[test]
fn hole_a_failing_look_at_the_last_commit_leaves_the_step_done_and_the_run_failed() {
    let story = World::one().git_fails("between", "git is gone").run();
    assert_eq!(story.ended().status, End::Failed);
    let text = &story.world().repository.committed()[STATUS];
    assert!(text.contains("DONE"), "{text}");
    assert_eq!(story.commits(), ["feat(01-01): GREEN", "feat(01-01): DONE"]);
    assert_eq!(story.again().run().log(), ["Step 01-01 was done before."]);
}

/// Cancelled between the record of its end and its commit, a step is DONE in its file and never committed.
#[test]
fn hole_a_step_that_is_cancelled_before_its_last_commit_is_done_and_not_committed() {
    let story = World::one().cancelled_at("feat(01-01): DONE").run();
    assert_eq!(story.ended().status, End::Cancelled);
    let again = story.again().run();
    assert_eq!(again.log(), ["Step 01-01 was done before."]);
    assert_eq!(again.commits(), ["feat(01-01): GREEN"]);
}

/// Beside other steps the workspace's branch moves before the end is on record: a commit of the state file that fails
/// leaves the code merged and the step FAILED.
#[test]
fn hole_a_step_beside_others_is_merged_before_it_is_done() {
    let world = World::three().with(|world| world.start.parallel = 2);
    let world =
        world.git_succeeds("commit").git_succeeds("commit").git_succeeds("commit").git_succeeds("commit");
    let story = world.git_fails("commit", "a hook refused it").run();
    assert_eq!(
        story.log_of(&["01-01 was merged", "01-01 failed"]),
        [
            "Step 01-01 was merged from the branch seriatim/calc/01-01.",
            "Step 01-01 failed: `feat(01-01): DONE` could not be committed: a hook refused it.",
        ]
    );
    assert_eq!(story.world().repository.committed()["src/add.py"], "RESULT = 5\n");
}

/// The option says that the phase is skipped; the step fails instead.
#[test]
fn hole_skip_fails_a_step_that_is_done_in_one_call() {
    let mut world = World::one().fails("01-01 ", Failure::new(Class::AgentDeadline, "too slow"));
    world.start.call = Call::Step;
    let story = world.answers("took too long", "skip", "later").run();
    assert_eq!(story.log().last().unwrap(), "Step 01-01 failed: APPROVED_SKIP: later (ada).");
}

/// K-104: called once for the whole step, nobody shows that the tests were ever red.
#[test]
fn hole_one_call_for_a_step_proves_no_red() {
    let mut world = World::one();
    world.start.call = Call::Step;
    let story = world
        .does("01-01 ", |files| {
            files.insert("tests/test_add.py".to_owned(), "def test_add():\n    pass\n".to_owned());
            crate::world::report_phases(files, "01-01", &["RED", "GREEN"]);
        })
        .shows("tests", 0, "==== 1 passed in 0.01s ====\n")
        .shows("tests", 0, "==== 1 passed in 0.01s ====\n")
        .run();
    assert_eq!(story.ended().status, End::Completed);
}

/// Where git cannot tell what the closing refactoring changed, nothing of it is taken.
#[test]
fn a_closing_refactoring_that_cannot_be_looked_at_is_put_back() {
    let mut world = World::one();
    world.start.only = None;
    world.start.finalize = true;
    // The next look after those of the step is that of the closing pass.
    for _ in 0..LOOKS {
        world = world.git_succeeds("changes");
    }
    let story = world
        .git_fails("changes", "git is gone")
        .does("finalize REFACTOR_ARCHITECTURE", |files| {
            files.insert("src/evil.py".to_owned(), "X = 1\n".to_owned());
        })
        .run();
    let refactoring = &story.view().fields["finalized"]["refactoring"];
    assert_eq!(refactoring["status"], "refused");
    assert_eq!(refactoring["words"], "The closing refactoring was put back: git is gone.");
    assert_eq!(refactoring["restored"], true);
}

/// How often git is asked for changes while a step with three phases is carried out.
const LOOKS: u32 = 12;
