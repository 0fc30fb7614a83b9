//! Errors: what is tried again, what is asked, what ends the run, and what is kept of it.

use serde_json::Value;
use serde_json::json;
use seriatim_core::failure::Class;
use seriatim_flows::registry::End;

use crate::build::alone;
use crate::build::definition;
use crate::build::done;
use crate::build::holds;
use crate::build::returning;
use crate::build::with;
use crate::story::Story;
use crate::story::has;
use crate::world::World;

fn four() -> Value {
    definition(vec![
        alone("5.1.1", "Look", "Analyse"),
        alone("5.1.2", "Dig", "Analyse"),
        alone("5.1.3", "Build", "Generate"),
        alone("5.1.4", "Tell", "Generate"),
    ])
}

fn failing(times: u32, class: Class) -> World {
    (0..times).fold(World::new(four()), |world, n| world.fails("5.1.1", class, &format!("trouble {n}")))
}

/// PX-133, PX-137.
#[test]
fn px_133_px_137_the_class_decides_what_is_tried_again_before_a_person_is_asked() {
    // How often it is called before somebody is asked: K-41, K-42, K-44.
    let rows = [
        (Class::Transport, 3, "TransportError"),
        (Class::Invalid, 3, "ValidationError"),
        (Class::Silent, 3, "SilentCompletion"),
        (Class::AgentDeadline, 1, "TimeoutError"),
        (Class::Crash, 1, "CrashError"),
        (Class::MissingArtifact, 1, "MissingArtifact"),
        (Class::Contract, 1, "ContractError"),
    ];
    for (class, calls, name) in rows {
        let story = failing(calls, class).run();
        assert_eq!(story.asked().len(), 1, "{class}");
        let last = calls - 1;
        let asked =
            format!("Look: An unexpected error occurred: trouble {last}. How should I proceed? -> retry");
        assert_eq!(story.asked()[0], asked);
        let errors: Vec<String> = (0..calls).map(|n| format!("5.1.1: {name} - trouble {n}")).collect();
        assert_eq!(story.errors(), errors);
        for n in 0..calls {
            has(&story.observed(), &format!("EVENT Error in Look: trouble {n}"));
        }
        // One failure fewer, and nobody needs to be asked.
        let quiet = failing(last, class).run();
        assert_eq!(quiet.asked(), Vec::<String>::new(), "{class}");
        assert_eq!(quiet.ended.status, End::Completed);
    }
}

/// PX-135, PX-136.
#[test]
fn px_135_px_136_an_error_that_nothing_deals_with_is_put_to_a_person() {
    let story = failing(1, Class::Crash).answers_with("How should I proceed", "retry", "mind the gap").run();
    let question = story.question("An unexpected error occurred");
    let labels: Vec<&str> = question.options.iter().map(|o| o.label.as_str()).collect();
    assert_eq!(labels, ["Retry", "Skip step", "Abort process"]);
    assert_eq!(question.tried, ["Attempt 1: Trouble 0."]);
    has(&story.observed(), "EVENT Recovery attempt in Look: retry: mind the gap");
    assert_eq!(story.called()[..2], ["5.1.1/1", "5.1.1/2"]);
    assert!(story.call("5.1.1", 1).brief.prompt.contains("- mind the gap\n"));
    assert_eq!(story.steps()[0], "5.1.1 COMPLETED #1");
    assert_eq!(story.ended.outcome["execution_success"], true);
}

#[test]
fn px_135_skipping_goes_on_and_says_who_let_it_pass() {
    let story = failing(1, Class::Crash).answers("How should I proceed", "skip").run();
    assert_eq!(story.steps()[..2], ["5.1.1 SKIPPED #1", "5.1.2 COMPLETED #1"]);
    assert_eq!(story.step_records()[0]["outcome_summary"], "Skipped by ada: trouble 0");
}

/// Fails at its third step, after a first attempt there that could not be used.
fn aborted() -> Story {
    World::new(four())
        .reports("5.1.1", with(done("Looked"), json!({"outputs": {"files": 3}})))
        .reports("5.1.2", with(done("Dug"), json!({"outputs": {"depth": 2}})))
        .fails("5.1.3", Class::Invalid, "not JSON")
        .fails("5.1.3", Class::Crash, "the compiler is gone")
        .answers("How should I proceed", "cancel")
        .run()
}

/// PX-139, PX-141, K-70.
#[test]
fn px_139_px_141_k_70_a_fatal_error_fails_step_run_and_instance() {
    let story = aborted();
    assert_eq!(story.ended.status, End::Failed);
    assert_eq!(
        story.errors(),
        [
            "5.1.3: ValidationError - not JSON",
            "5.1.3: CrashError - the compiler is gone",
            "5.1.3: FATAL - the compiler is gone",
        ]
    );
    let record = story.step_records().pop().unwrap();
    assert_eq!(record["status"], "FAILED");
    assert_eq!(record["error"], json!({"message": "the compiler is gone", "recoverable": false}));
    assert_eq!(story.log()["execution"]["status"], "FAILED");
    assert_eq!(story.events(), ["BLOCK 5.1.3 > - - #1"]);
    assert_eq!(story.instance()["status"], "FAILED");
    has(&story.observed(), "EVENT Unrecoverable error: Build: the compiler is gone");
}

/// PX-140, PX-142, PX-143, PX-146, K-71.
#[test]
fn px_140_px_142_px_143_px_146_k_71_what_was_done_until_then_is_kept_and_named() {
    let story = aborted();
    let parts = json!({
        "5.1.1": {"status": "COMPLETED", "output": {"files": 3}},
        "5.1.2": {"status": "COMPLETED", "output": {"depth": 2}},
        "5.1.3": {"status": "FAILED", "partial_output": {}, "error": "the compiler is gone"},
    });
    let kept = json!({
        "completed_steps": ["5.1.1", "5.1.2"], "partial_outputs": parts, "failed_at": "5.1.3",
        "partial_results": parts, "error_step": "5.1.3", "error_count": 3,
    });
    assert_eq!(*story.outputs(), kept);
    assert_eq!(story.result(), "FAILED");
    // Whoever wants the results needs no second run: they stand in the instance.
    assert_eq!(story.instance()["outcome"]["outputs"], kept);
}

/// PX-120, PX-132, PX-142, PX-144, PX-145.
#[test]
fn px_120_px_132_px_142_px_144_px_145_the_words_of_a_failure_to_the_letter() {
    let story = aborted();
    assert_eq!(
        story.summary(),
        "Process failed during 'Build' step.\nError: the compiler is gone\nTotal errors: 3\nSee execution log for \
         details.\nProcess completed steps 1-2 of 4. Partial results preserved. To resume: provide corrected input and \
         re-run."
    );
    assert_eq!(
        story.ended.message,
        "Process failed at 'Build': The compiler is gone. Process completed steps 1-2 of 4. Partial results preserved. \
         To resume: provide corrected input and run it again."
    );
    let observed = story.observed();
    has(&observed, "STATE Partial results preserved: Completed: 2 steps, Outputs: Look, Dig");
    has(&observed, "EVENT Process execution completed: Status: FAILED, Execution: false, Result: FAILED");
    has(&observed, &format!("EVENT Process execution failed: {}", story.summary()));
    // The audit is whole after a failure too.
    assert!(story.log()["audit_summary"]["total_observations"].as_u64().unwrap() >= 5);
}

#[test]
fn px_144_the_progress_names_the_steps_that_were_done() {
    let story = World::new(four())
        .fails("5.1.1", Class::Crash, "trouble")
        .answers("An unexpected error occurred: trouble.", "skip")
        .fails("5.1.4", Class::Crash, "more trouble")
        .answers("more trouble", "cancel")
        .run();
    assert!(story.summary().contains("Process completed steps 2, 3 of 4."), "{}", story.summary());
    let none = failing(1, Class::Crash).answers("How should I proceed", "cancel").run();
    assert!(none.summary().contains("None of the 4 steps was completed."), "{}", none.summary());
}

#[test]
fn px_144_corrections_do_not_count_as_steps() {
    let story = World::new(returning("LOW", Some("ALWAYS"))).always("5.1.2", holds("The build is red")).run();
    assert!(story.summary().contains("Process completed step 1 of 2."), "{}", story.summary());
    has(&story.observed(), "STATE Partial results preserved: Completed: 1 steps, Outputs: Write");
}

#[test]
fn px_143_a_step_that_was_done_before_and_failed_now_counts_as_failed() {
    let story = World::new(returning("LOW", None))
        .reports("5.1.1", with(done("Wrote"), json!({"outputs": {"draft": 1}})))
        .reports("5.1.2", holds("The build is red"))
        .fails("5.1.1", Class::Crash, "the pen is broken")
        .answers("How should I proceed", "cancel")
        .run();
    assert_eq!(story.outputs()["completed_steps"], json!([]));
    assert_eq!(story.outputs()["partial_outputs"]["5.1.1"]["status"], "FAILED");
    assert!(story.summary().contains("None of the 2 steps was completed."), "{}", story.summary());
}

/// PX-82, PX-133, PX-138, K-92.
#[test]
fn px_82_px_133_px_138_k_92_a_return_that_is_used_up_is_an_error_each_time_and_blocks() {
    let story = World::new(returning("LOW", None)).always("5.1.2", holds("The build is red")).run();
    assert_eq!(story.ended.status, End::Blocked);
    assert_eq!(story.result(), "BLOCKED");
    let mut expected = vec!["5.1.2: ValidationError - The build is red"; 4];
    expected.push("5.1.2: FATAL - The build is red");
    assert_eq!(story.errors(), expected);
    assert_eq!(story.outputs()["error_count"], 5);
    assert_eq!(story.outputs()["failed_at"], "5.1.2");
}

#[test]
fn an_attempt_that_the_engines_own_end_cut_off_is_simply_done_again() {
    let story = World::new(four()).interrupted("5.1.1").run();
    assert_eq!(story.called()[..2], ["5.1.1/1", "5.1.1/2"]);
    assert_eq!(story.asked(), Vec::<String>::new());
}
