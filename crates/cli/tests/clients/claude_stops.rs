//! The stops of Claude Code: a sub-agent is let go when its record is whole, and however it ends, its step is judged.

use serde_json::Value;
use serde_json::json;

use crate::model::MAIN;
use crate::model::Model;
use crate::model::script::Line;
use crate::model::script::Script;
use crate::model::script::call;
use crate::model::script::refuse;
use crate::model::script::say;
use crate::project::background;
use crate::project::foreground;
use crate::project::record_all;
use crate::stage::Stage;

fn bash(command: &str) -> Line {
    call("Bash", json!({"command": command}))
}

/// The agent was sent back once, and let go when all phases were on record.
#[track_caller]
fn assert_sent_back_once(stage: &Stage, model: &Model) {
    let asks = model.asks_of(1);
    assert_eq!(asks.len(), 3, "{:#?}", asks.last().map(|ask| &ask.texts));
    asks[1].assert_reads("You cannot stop yet");
    asks[1].assert_reads("PREPARE");
    let stops = stage.events("SubagentStop");
    assert_eq!(stops.len(), 2);
    assert_eq!((&stops[0]["stop_hook_active"], &stops[1]["stop_hook_active"]), (&json!(false), &json!(true)));
    assert_eq!(stage.phases(), vec!["EXECUTED"; 14], "{}", asks[2].result());
    let verdicts = stage.audited("SUBAGENT_STOP_VALIDATION");
    let verdicts: Vec<&Value> = verdicts.iter().map(|verdict| &verdict["status"]).collect();
    assert_eq!(verdicts, ["error", "success"]);
}

/// DS-40, DS-48, DS-76: whoever did nothing is sent back.
#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn ds_48_an_agent_that_did_nothing_is_sent_back_until_its_record_is_whole() {
    let stage = Stage::guarded("claude");
    let model = Model::start(Script::main([foreground(&stage.prompt()), say("Done.")]).sub([
        say("All is done."),
        bash(&record_all()),
        say("Now it is."),
    ]));
    stage.claude(&model, &[]).ended();
    assert_sent_back_once(&stage, &model);
    assert!(model.asks_of(MAIN)[1].result().contains("Now it is."));
}

/// DS-70: the same for agents in the background, which is the default of this client.
#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn ds_70_an_agent_in_the_background_is_verified_too() {
    let stage = Stage::guarded("claude");
    let model =
        Model::start(Script::main([background(&stage.prompt()), say("It is at work."), say("Done.")]).sub([
            say("All is done."),
            bash(&record_all()),
            say("Now it is."),
        ]));
    stage.claude(&model, &[]).ended();
    assert_eq!(stage.events("PostToolUse")[0]["tool_response"]["status"], "async_launched");
    assert_sent_back_once(&stage, &model);
}

/// DS-67: an agent that cannot be moved is let go in the end, and its step has failed.
#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn ds_67_an_agent_that_stays_silent_is_let_go_and_its_step_has_failed() {
    let stage = Stage::guarded("claude");
    let model =
        Model::start(Script::main([foreground(&stage.prompt()), say("Done.")]).sub([say("All is done.")]));
    stage.claude(&model, &[]).ended();
    assert!(model.asks_of(1).len() > 1);
    assert_eq!(stage.step()["state"]["status"], "FAILED");
    assert_eq!(stage.audited("SILENT_COMPLETION_DETECTED").len(), 1);
    model.asks_of(MAIN)[1].assert_reads("is not complete");
}

/// No stop is told of an agent that reached its turn limit; the end of its call tells.
#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn ds_65_an_agent_that_reached_its_turn_limit_is_verified_all_the_same() {
    let stage = Stage::guarded("claude");
    let input = json!({
        "description": "A piece of work", "prompt": stage.prompt(), "subagent_type": "brief",
        "run_in_background": false,
    });
    let begin = "seriatim phase start 01-01 PREPARE";
    let model = Model::start(Script::main([call("Agent", input), say("Done.")]).sub([
        bash(begin),
        bash("true"),
        bash("true"),
    ]));
    let agents =
        json!({"brief": {"description": "Is brief", "prompt": "Be brief.", "maxTurns": 2}}).to_string();
    stage.claude(&model, &["--agents", &agents]).ended();
    assert_eq!(stage.events("SubagentStop"), Vec::<Value>::new());
    assert_eq!(stage.audited("SUBAGENT_STOP_VALIDATION")[0]["status"], "error");
    let told = &model.asks_of(MAIN)[1];
    told.assert_reads("Phase PREPARE left IN_PROGRESS (abandoned)");
}

/// DS-64: nor is one told of an agent whose model could not be reached.
#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn ds_64_an_agent_that_the_service_refused_is_verified_all_the_same() {
    let stage = Stage::guarded("claude");
    let begin = "seriatim phase start 01-01 PREPARE";
    let model = Model::start(
        Script::main([foreground(&stage.prompt()), say("Done.")])
            .sub([bash(begin), refuse(400, "out of order")]),
    );
    stage.claude(&model, &[]).ended();
    assert_eq!(stage.events("SubagentStop"), Vec::<Value>::new());
    assert!(!stage.audited("SUBAGENT_STOP_VALIDATION").is_empty());
    assert_eq!(stage.step()["state"]["status"], "FAILED");
    let prepare = &stage.step()["tdd_cycle"]["phase_execution_log"][0];
    assert_eq!(
        (&prepare["status"], &prepare["history"][0]["status"]),
        (&json!("NOT_EXECUTED"), &json!("CRASHED"))
    );
}
