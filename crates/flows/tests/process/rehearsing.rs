//! Test mode: everything is tried, and nothing happens.

use serde_json::Value;
use serde_json::json;
use seriatim_core::process::log;
use seriatim_flows::registry::End;
use seriatim_flows::request::WOULD_WRITE;

use crate::build;
use crate::build::alone;
use crate::build::definition;
use crate::build::done;
use crate::build::holds;
use crate::build::judged;
use crate::build::shares;
use crate::build::step;
use crate::build::trigger;
use crate::build::watching;
use crate::build::with;
use crate::story::Story;
use crate::story::has;
use crate::world::World;

/// Writes a file, escalates, asks, returns and blocks, at an engagement that asks about everything.
fn busy() -> Value {
    let back = with(trigger("It is wrong", "RETURN", "HIGH"), json!({"target": "5.1.1"}));
    let mut definition = definition(vec![
        watching(alone("5.1.1", "Write", "Generate"), vec![trigger("It is large", "ESCALATE", "LOW")]),
        watching(alone("5.1.2", "Check", "Validate"), vec![back, trigger("It is hopeless", "BLOCK", "HIGH")]),
        step("5.1.3", "Sign", "Decide", "Human-Only"),
    ]);
    definition["interfaces"] = json!({"outputs": [{"type": "draft"}, {"type": "verdict"}]});
    definition["quality"] = json!({"entry_criteria": ["There is paper"], "exit_criteria": ["It is signed"]});
    shares(definition, 20, 50, 30)
}

fn rehearsed() -> Story {
    let writes = with(
        holds("It is large"),
        json!({"outputs": {"draft": "text"}, WOULD_WRITE: ["docs/draft.md", "docs/notes.md"]}),
    );
    let wrong = with(done("Checked"), json!({"triggers": ["It is wrong", "It is hopeless"]}));
    World::new(busy())
        .parameters(json!({"depth": 1}))
        .rehearsal()
        .reports("entry-criteria", judged(&["There is paper"], false, 99, "there is none"))
        .reports("5.1.1", writes)
        .reports("5.1.2", wrong)
        .reports("exit-criteria", judged(&["It is signed"], false, 99, "nobody did"))
        .run()
}

/// E-20, PX-24, PX-25, PX-27, K-80.
#[test]
fn e_20_px_24_px_25_px_27_k_80_nothing_is_asked_written_or_recorded_but_one_log() {
    let story = rehearsed();
    assert_eq!(story.asked(), Vec::<String>::new());
    assert_eq!(story.seen.instances, Vec::<String>::new());
    let mut before = build::instance();
    before["instance"]["context"]["parameters"] = json!({"depth": 1});
    before["instance"]["context"]["test_mode"] = json!(true);
    assert_eq!(story.files[build::INSTANCE], seriatim_core::doc::write(&before));
    assert_eq!(story.logs().len(), 1);
    assert_eq!(story.files.len(), 3, "{:?}", story.files.keys());
    assert!(story.files.keys().all(|p| !p.starts_with(log::DECISIONS) && !p.starts_with(log::OBSERVATIONS)));
    assert_eq!(story.log()["execution"]["test_mode"], true);
}

/// PX-19, PX-21, PX-23, PX-25, PX-28.
#[test]
fn px_19_px_21_px_23_px_25_px_28_the_test_log_says_what_would_have_happened() {
    let story = rehearsed();
    let log = story.test_log();
    has(&log, "Executing in TEST MODE - no side effects");
    has(&log, "TEST: entry criterion 'There is paper': not met");
    has(&log, "TEST: exit criterion 'It is signed': not met");
    has(&log, "TEST: Would write docs/draft.md");
    has(&log, "TEST: Would write docs/notes.md");
    has(&log, "TEST: Would escalate - It is large");
    has(&log, "TEST: Would escalate - It is wrong");
    has(&log, "TEST: Would escalate - It is hopeless");
    has(&log, "TEST: Runtime parameters: {\"depth\":1}");
    // The mapping of the outputs is verified as well.
    has(&log, "TEST: Output 'verdict' was not produced");
    assert!(!log.contains(&"TEST: Output 'draft' was not produced".to_owned()));
    assert!(log.iter().any(|l| l.starts_with("TEST: Would ask - I am about to begin 'Write'")), "{log:#?}");
}

#[test]
fn px_26_the_outcome_counts_steps_and_triggers() {
    let story = rehearsed();
    let summary = "Test run completed. 3 steps validated, 3 escalations would trigger.";
    assert_eq!(
        story.ended.outcome,
        json!({
            "execution_success": true, "process_result": "TEST", "summary": summary, "outputs": {"draft": "text"},
        })
    );
    assert_eq!((story.ended.status, story.ended.good), (End::Completed, true));
    assert_eq!(story.log()["test_summary"], json!({"steps_validated": 3, "escalations": 3}));
    assert_eq!(story.steps(), ["5.1.1 COMPLETED #1", "5.1.2 COMPLETED #1", "5.1.3 COMPLETED #1"]);
    assert_eq!(story.events(), Vec::<String>::new());
}

#[test]
fn px_22_agents_are_told_that_they_rehearse() {
    let story = rehearsed();
    assert_eq!(story.called(), ["entry-criteria/1", "5.1.1/1", "5.1.2/1", "exit-criteria/1"]);
    assert!(story.seen.agents.iter().all(|a| a.rehearsal));
    let prompt = &story.call("5.1.1", 0).brief.prompt;
    assert!(prompt.contains("You work in a copy. Call no service outside this machine."));
    let real = World::new(busy()).run();
    assert!(real.seen.agents.iter().all(|a| !a.rehearsal));
}

#[test]
fn px_21_every_criterion_is_evaluated_although_a_computed_one_fails() {
    let mut definition = busy();
    definition["quality"]["entry_criteria"] =
        json!(["There is paper", {"criterion": "It is day", "when": "day"}]);
    let story = World::new(definition).rehearsal().condition("day", |_| false).run();
    has(&story.test_log(), "TEST: entry criterion 'It is day': not met");
    has(&story.test_log(), "TEST: entry criterion 'There is paper': met");
}

#[test]
fn px_25_an_error_is_not_asked_about_either() {
    let story = World::new(busy())
        .rehearsal()
        .fails("5.1.1", seriatim_core::failure::Class::Crash, "the pen is broken")
        .run();
    has(&story.test_log(), "TEST: Would escalate - the pen is broken");
    assert_eq!(story.ended.status, End::Completed);
    // The summary counts triggers alone.
    assert!(story.summary().ends_with("0 escalations would trigger."), "{}", story.summary());
}

#[test]
fn px_45_a_dry_run_that_takes_too_long_goes_on() {
    let mut definition = busy();
    definition["quality"] = json!({"sla": {"timeout_minutes": 1}});
    let story =
        World::new(definition).rehearsal().meanwhile("5.1.1", |outside| outside.minutes_pass(9)).run();
    has(&story.test_log(), "TEST: Process exceeded timeout (1 minutes)");
    assert_eq!(story.ended.status, End::Completed);
}
