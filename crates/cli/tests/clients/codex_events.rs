//! What Codex tells its hooks, and when. The guard relies on it, as with the other clients.

use serde_json::Value;
use serde_json::json;

use crate::model::MAIN;
use crate::model::Model;
use crate::model::script::Script;
use crate::model::script::call;
use crate::model::script::find;
use crate::model::script::say;
use crate::project::TRUSTED;
use crate::project::send_input;
use crate::project::spawn;
use crate::project::wait;
use crate::stage::Stage;

#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn an_agent_stops_after_its_call_is_over() {
    let model = Model::start(
        Script::main([spawn("Look around."), find(wait), say("Done.")])
            .sub([call("exec_command", json!({"cmd": "command -v seriatim"})), say("There is a readme.")]),
    );
    let stage = Stage::new();
    stage.codex(&model, &TRUSTED).ended();
    let names = stage.event_names();
    for name in ["PreToolUse spawn_agent", "PostToolUse spawn_agent", "SubagentStart", "SubagentStop", "Stop"]
    {
        assert_eq!(names.iter().filter(|told| *told == name).count(), 1, "{name} in {names:?}");
    }
    // The shell of an agent is told of as `Bash`, whatever the tool is called.
    assert!(names.contains(&"PreToolUse Bash".to_owned()), "{names:?}");
    assert!(model.asks_of(1)[1].result().contains("/bin/seriatim"));
    assert!(model.asks_of(MAIN)[2].result().contains("There is a readme."));
}

#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn a_message_is_a_door_of_its_own_and_wakes_an_agent_without_a_start() {
    let model = Model::start(
        Script::main([
            spawn("Look around."),
            find(wait),
            find(|ask| send_input(ask, "Look again.")),
            find(wait),
            say("Done."),
        ])
        .sub([say("A readme."), say("Still a readme.")]),
    );
    let stage = Stage::new();
    stage.codex(&model, &TRUSTED).ended();
    let doors = stage.events("PreToolUse");
    let door = doors.iter().find(|door| door["tool_name"] == "multi_agent_v1send_input").unwrap();
    assert_eq!(door["tool_input"]["message"], "Look again.");
    assert_eq!((stage.events("SubagentStart").len(), stage.events("SubagentStop").len()), (1, 2));
}

#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn a_prompt_may_come_as_a_list_of_items() {
    let items = json!({"items": [{"type": "text", "text": "Look around."}]});
    let model = Model::start(
        Script::main([call("multi_agent_v1.spawn_agent", items.clone()), find(wait), say("Done.")])
            .sub([say("A readme.")]),
    );
    let stage = Stage::new();
    stage.codex(&model, &TRUSTED).ended();
    assert_eq!(stage.events("PreToolUse")[0]["tool_input"], items);
    model.asks_of(1)[0].assert_reads("Look around.");
}

#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn hooks_that_nobody_trusts_are_passed_over_in_silence() {
    let model = Model::start(Script::main([say("Done.")]));
    let stage = Stage::new();
    stage.codex(&model, &[]).ended();
    assert_eq!(stage.event_names(), Vec::<String>::new());
    assert_eq!(stage.events("SessionStart"), Vec::<Value>::new());
}
