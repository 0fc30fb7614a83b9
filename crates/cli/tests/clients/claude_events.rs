//! What Claude Code tells its hooks, and when. The guard relies on it: when one of these fails with a new client, the
//! client has changed, and the rules of the guard have to follow.

use std::fs;

use serde_json::Value;
use serde_json::json;

use crate::model::MAIN;
use crate::model::Model;
use crate::model::script::Line;
use crate::model::script::Reply;
use crate::model::script::Script;
use crate::model::script::call;
use crate::model::script::find;
use crate::model::script::refuse;
use crate::model::script::say;
use crate::project::agent_id;
use crate::project::background;
use crate::project::foreground;
use crate::stage::Stage;

fn bash(command: &str) -> Line {
    call("Bash", json!({"command": command}))
}

#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn an_agent_in_the_foreground_stops_before_its_call_is_over() {
    let model = Model::start(
        Script::main([foreground("Look around."), say("Done.")])
            .sub([bash("command -v seriatim"), say("There is a readme.")]),
    );
    let stage = Stage::new();
    stage.claude(&model, &[]).ended();
    assert_eq!(
        stage.event_names(),
        [
            "SessionStart",
            "UserPromptSubmit",
            "PreToolUse Agent",
            "SubagentStart",
            "PreToolUse Bash",
            "PostToolUse Bash",
            "SubagentStop",
            "PostToolUse Agent",
            "Stop",
            "SessionEnd",
        ]
    );
    // The program is found by its name, and its answer is read by the agent that asked.
    assert!(model.asks_of(1)[1].result().ends_with("/bin/seriatim"));
    assert!(model.asks_of(MAIN)[1].result().contains("There is a readme."));
    // Nothing but the model was asked for anything.
    assert_eq!(model.astray(), Vec::<String>::new());
}

#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn an_agent_in_the_background_stops_after_its_call_is_over() {
    let model = Model::start(
        Script::main([background("Look around."), say("It is at work."), say("Done.")])
            .sub([say("There is a readme.")]),
    );
    let stage = Stage::new();
    stage.claude(&model, &[]).ended();
    let call = &stage.events("PostToolUse")[0]["tool_response"];
    assert_eq!(call["status"], "async_launched");
    assert_eq!(stage.events("SubagentStop")[0]["agent_id"], call["agentId"]);
    model.asks_of(MAIN)[2].assert_reads("<task-notification>");
}

#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn no_stop_is_told_of_an_agent_that_reached_its_turn_limit() {
    let call = call(
        "Agent",
        json!({"description": "Look", "prompt": "Look.", "subagent_type": "brief", "run_in_background": false}),
    );
    let model =
        Model::start(Script::main([call, say("Done.")]).sub([bash("true"), bash("true"), bash("true")]));
    let stage = Stage::new();
    let agents =
        json!({"brief": {"description": "Is brief", "prompt": "Be brief.", "maxTurns": 2}}).to_string();
    stage.claude(&model, &["--agents", &agents]).ended();
    assert_eq!(stage.events("SubagentStop"), Vec::<Value>::new());
    let calls = stage.events("PostToolUse");
    assert_eq!(calls.last().unwrap()["tool_response"]["status"], "completed");
}

#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn no_stop_is_told_of_an_agent_that_the_service_refused() {
    let model =
        Model::start(Script::main([foreground("Look."), say("Done.")]).sub([refuse(400, "out of order")]));
    let stage = Stage::new();
    stage.claude(&model, &[]).ended();
    assert_eq!(stage.events("SubagentStop"), Vec::<Value>::new());
    let failed = stage.events("StopFailure");
    assert_eq!(failed[0]["agent_id"], stage.events("SubagentStart")[0]["agent_id"]);
    assert_eq!(stage.events("PostToolUseFailure")[0]["tool_name"], "Agent");
}

#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn an_agent_of_an_agent_is_called_at_the_same_door() {
    let model = Model::start(
        Script::main([foreground("Look."), say("Done.")])
            .sub([foreground("Look closer."), say("Seen.")])
            .sub([say("A readme.")]),
    );
    let stage = Stage::new();
    stage.claude(&model, &[]).ended();
    let calls = stage.events("PreToolUse");
    let started = stage.events("SubagentStart");
    assert_eq!((&calls[0]["agent_id"], &calls[1]["agent_id"]), (&Value::Null, &started[0]["agent_id"]));
    assert_eq!(model.subs(), 2);
}

#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn a_message_wakes_an_agent_that_had_stopped() {
    let message = find(|ask| {
        let to = agent_id(&ask.results[0]);
        Reply::call("SendMessage", json!({"to": to, "summary": "more to see", "message": "Look again."}))
    });
    let search = call("ToolSearch", json!({"query": "select:SendMessage"}));
    let model = Model::start(
        Script::main([foreground("Look."), search, message, say("Sent."), say("Done.")])
            .sub([say("A readme."), say("Still a readme.")]),
    );
    let stage = Stage::new();
    stage.claude(&model, &[]).ended();
    let (started, stopped) = (stage.events("SubagentStart"), stage.events("SubagentStop"));
    assert_eq!((started.len(), stopped.len()), (2, 2));
    assert_eq!(started[0]["agent_id"], started[1]["agent_id"]);
    model.asks_of(1)[1].assert_reads("Look again.");
}

#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn agents_of_a_workflow_pass_one_door_together() {
    let script =
        "export const meta = {name: 'look', description: 'Looks'}\nreturn await agent('Look around.')\n";
    let model = Model::start(
        Script::main([call("Workflow", json!({"script": script})), say("Started."), say("Done.")])
            .sub([say("A readme.")]),
    );
    let stage = Stage::new();
    stage.claude(&model, &[]).ended();
    let doors = stage.events("PreToolUse");
    assert_eq!(doors.iter().map(|door| &door["tool_name"]).collect::<Vec<_>>(), ["Workflow"]);
    assert_eq!(stage.events("SubagentStop")[0]["agent_type"], "workflow-subagent");
    model.asks_of(1)[0].assert_reads("Look around.");
}

/// The danger that the guard is there for: without anybody who objects, hooks can be taken away in mid-session.
#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn settings_that_nobody_defends_are_taken_over_in_mid_session() {
    let stage = Stage::new();
    let refusing = json!([{"matcher": "Agent", "hooks": [{"type": "command", "command": "exit 2"}]}]);
    let settings = ".claude/settings.json";
    stage.file(settings, &json!({"hooks": {"PreToolUse": refusing}}).to_string());
    let (path, wait) = (stage.project().join(settings), stage.settings_noticed());
    let disarm = find(move |_| {
        fs::write(&path, "{}\n").unwrap();
        wait();
        Reply::call("Bash", json!({"command": "true"}))
    });
    let model = Model::start(
        Script::main([foreground("Look."), disarm, bash("true"), foreground("Look."), say("Done.")])
            .sub([say("A readme.")]),
    );
    stage.claude(&model, &[]).ended();
    assert_eq!(stage.events("PreToolUse").iter().filter(|door| door["tool_name"] == "Agent").count(), 2);
    assert_eq!(stage.events("SubagentStart").len(), 1);
    assert_eq!(stage.events("ConfigChange")[0]["source"], "project_settings");
}
