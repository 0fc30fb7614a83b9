//! Calling agents: their failures, deadlines, live sessions, and one call for the whole step.

use serde_json::json;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_flows::registry::End;
use seriatim_flows::roadmap::Call;

use crate::world::World;
use crate::world::report_phases;
use crate::world::usual;

fn slow() -> World {
    World::one().fails("01-01 GREEN", Failure::new(Class::AgentDeadline, "it took 10 minutes"))
}

/// K-44: a deadline is asked about and never tried again alone.
#[test]
fn k_44_an_agent_that_is_too_slow_is_tried_again_when_a_person_says_so() {
    for (words, feedback) in [("", vec![]), ("split it", vec!["split it".to_owned()])] {
        let story = slow().answers("GREEN took too long", "retry", words).run();
        assert_eq!(story.calls(), ["01-01 RED", "01-01 GREEN", "01-01 GREEN"]);
        assert_eq!(story.world().called[2].brief.feedback, feedback);
        assert_eq!(story.log_of(&["Attempt"]), ["Attempt 1 of 01-01 failed: it took 10 minutes."]);
        assert_eq!(story.ended().status, End::Completed);
    }
}

/// DW-83: GREEN that was skipped with approval does not pass red tests at the commit.
#[test]
fn dw_83_a_slow_phase_that_is_skipped_still_has_to_pass_the_last_gates() {
    let story = slow().answers("GREEN took too long", "skip", "later").run();
    assert_eq!(
        story.log_of(&["GREEN: skipped"]),
        ["Step 01-01, GREEN: skipped. [APPROVED_SKIP: later (ada)]"]
    );
    assert_eq!(story.ended().status, End::Failed);
    assert!(story.ended().message.contains("the final validation refuses"), "{}", story.ended().message);
}

#[test]
fn a_slow_agent_is_stopped_by_a_person() {
    let story = slow().answers("GREEN took too long", "cancel", "").run();
    assert_eq!(story.ended().status, End::Cancelled);
    assert_eq!(
        story.log_of(&["GREEN: refused", "was stopped"]),
        ["Step 01-01, GREEN: refused. ada stopped it", "Step 01-01 was stopped: ada stopped it."]
    );
}

/// DW-89, DW-92: an agent that crashes is called three times; a later run goes on with the same phase.
#[test]
fn dw_89_dw_92_an_agent_that_crashes_is_called_three_times_and_a_later_run_goes_on() {
    let crash = || Failure {
        output: "core dumped\n".to_owned(),
        ..Failure::new(Class::Crash, "it ended with exit code 139")
    };
    let world = World::one().fails("01-01 GREEN", crash()).fails("01-01 GREEN", crash());
    let story = world.fails("01-01 GREEN", crash()).run();
    insta::assert_snapshot!(story.whole());
    let again = story.again().run();
    assert_eq!(again.calls(), ["01-01 GREEN"]);
    assert_eq!(again.ended().status, End::Completed);
}

#[test]
fn an_agent_that_cannot_be_reached_is_called_again_after_a_pause() {
    let story = World::one().fails("01-01 RED", Failure::new(Class::Transport, "no route")).run();
    assert_eq!(story.calls(), ["01-01 RED", "01-01 RED", "01-01 GREEN"]);
    assert_eq!(story.log_of(&["Attempt"]), ["Attempt 1 of 01-01 failed: no route."]);
    assert_eq!(story.ended().status, End::Completed);
}

#[test]
fn an_agent_that_says_that_it_cannot_be_done_fails_the_step() {
    let story = World::one().fails("01-01 GREEN", Failure::new(Class::Contract, "there is no spec")).run();
    story.ends(
        End::Failed,
        "Step 01-01 is FAILED: The agent @software-crafter failed in GREEN: there is no spec. Go on with:  seriatim \
         run step @software-crafter calc 01-01",
    );
    assert_eq!(story.saves().last().unwrap(), "01-01 FAILED: ");
    assert_eq!(story.ended().outcome["can_retry"], true);
}

/// DW-39, E-48: what was in progress when the engine died goes into the history and is begun again.
#[test]
fn dw_39_e_48_a_run_after_a_crash_of_the_engine_begins_the_open_phase_again() {
    let story = World::one().killed_at("01-01 GREEN").run();
    assert_eq!(story.calls(), ["01-01 GREEN"]);
    assert_eq!(
        story.log_of(&["goes on", "again"]),
        [
            "Step 01-01 (Function add) goes on with @software-crafter.",
            "Step 01-01, GREEN: has to be done again, since an earlier run was interrupted in it.",
            "Step 01-01, GREEN: began again, attempt 2.",
        ]
    );
    assert_eq!(story.ended().status, End::Completed);
}

/// A live session hands its report in; the file of the report is no part of its work.
#[test]
fn a_live_session_gets_the_assignment_and_its_report_file_is_left_out() {
    let mut world = World::one();
    world.start.attach = true;
    let report = json!({"status": "done", "summary": "green", "handed_in_from": "report.json"});
    let world = world.file("report.json", "{}").reports("01-01 GREEN", report);
    let story = world.run();
    assert!(story.world().called.iter().all(|assignment| assignment.attach));
    assert_eq!(story.ended().status, End::Completed);
    assert_eq!(story.world().repository.committed().get("report.json"), None);
}

fn whole() -> World {
    let mut world = World::one();
    world.start.call = Call::Step;
    world
}

/// K-104: one call for the whole step; the agent reports each phase itself, and the engine looks at the end.
#[test]
fn k_104_a_whole_step_in_one_call_is_proven_at_its_end() {
    let story = whole()
        .does("01-01 ", |files| {
            usual(files, "01-01", "RED");
            usual(files, "01-01", "GREEN");
            report_phases(files, "01-01", &["RED", "GREEN"]);
        })
        .run();
    insta::assert_snapshot!(story.whole());
}

#[test]
fn k_104_a_whole_step_whose_phases_are_not_reported_is_refused_and_fails() {
    let report_red = |files: &mut crate::repository::Files| {
        usual(files, "01-01", "RED");
        usual(files, "01-01", "GREEN");
        report_phases(files, "01-01", &["RED"]);
    };
    let story = whole().does("01-01 ", report_red).does("01-01 ", |_| {}).does("01-01 ", |_| {}).run();
    assert_eq!(story.calls().len(), 3);
    assert_eq!(
        story.log_of(&["refused"])[0],
        "Step 01-01, all phases: refused. Phase GREEN is not over. Report it with `seriatim phase`."
    );
    assert_eq!(story.ended().status, End::Failed);
}

#[test]
fn k_104_a_whole_step_without_any_report_of_a_phase_fails() {
    let story = whole().does("01-01 ", |_| {}).run();
    assert_eq!(story.log().last().unwrap(), "Step 01-01 failed: The agent reported no phase at all.");
}
