//! The guard in Codex: the same doors and stops under other names.

use serde_json::Value;
use serde_json::json;

use crate::model::Ask;
use crate::model::MAIN;
use crate::model::Model;
use crate::model::script::Line;
use crate::model::script::Script;
use crate::model::script::call;
use crate::model::script::find;
use crate::model::script::say;
use crate::project::LEFT_OUT;
use crate::project::TRUSTED;
use crate::project::incomplete;
use crate::project::record_all;
use crate::project::send_input;
use crate::project::spawn;
use crate::project::wait;
use crate::stage::Stage;

fn shell(command: &str) -> Line {
    call("exec_command", json!({"cmd": command}))
}

#[track_caller]
fn assert_refused(ask: &Ask) {
    let read = ask.result();
    assert!(read.contains("Cannot invoke Task - validation failed:"), "{read}");
    for section in LEFT_OUT {
        let missing = format!("MISSING: Mandatory section '{section}' not found");
        assert!(read.contains(&missing), "{section} is not named:\n{read}");
    }
}

/// DS-31, DS-74
#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn ds_31_an_incomplete_prompt_starts_no_agent_and_the_model_reads_why() {
    let stage = Stage::guarded("codex");
    let items = json!({"items": [{"type": "text", "text": incomplete()}]});
    let model = Model::start(
        Script::main([spawn(&incomplete()), call("multi_agent_v1.spawn_agent", items), say("Done.")])
            .sub([say("I was started.")]),
    );
    stage.codex(&model, &TRUSTED).ended();
    assert_eq!(model.subs(), 0);
    assert_eq!(stage.events("SubagentStart"), Vec::<Value>::new());
    assert_refused(&model.asks_of(MAIN)[1]);
    assert_refused(&model.asks_of(MAIN)[2]);
}

/// DS-03, DS-48: a complete prompt starts an agent, which is sent back until its record is whole.
#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn ds_48_an_agent_that_did_nothing_is_sent_back_until_its_record_is_whole() {
    let stage = Stage::guarded("codex");
    let prompt = stage.prompt();
    let model = Model::start(Script::main([spawn(&prompt), find(wait), say("Done.")]).sub([
        say("All is done."),
        shell(&record_all()),
        say("Now it is."),
    ]));
    stage.codex(&model, &TRUSTED).ended();
    let asks = model.asks_of(1);
    asks[0].assert_reads(prompt.trim());
    asks[1].assert_reads("You cannot stop yet");
    assert_eq!((asks.len(), stage.events("SubagentStop").len()), (3, 2));
    assert_eq!(stage.phases(), vec!["EXECUTED"; 14], "{}", asks[2].result());
}

/// DS-08
#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn ds_08_ad_hoc_agents_are_not_touched() {
    let stage = Stage::guarded("codex");
    let model =
        Model::start(Script::main([spawn("Look around."), find(wait), say("Done.")]).sub([say("A readme.")]));
    stage.codex(&model, &TRUSTED).ended();
    assert_eq!((model.subs(), model.asks_of(1).len()), (1, 1));
    assert!(model.asks_of(MAIN)[2].result().contains("A readme."));
}

#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn a_message_passes_the_same_door() {
    let stage = Stage::guarded("codex");
    let model = Model::start(
        Script::main([
            spawn("Look around."),
            find(wait),
            find(|ask| send_input(ask, &incomplete())),
            say("Done."),
        ])
        .sub([say("A readme."), say("I was woken.")]),
    );
    stage.codex(&model, &TRUSTED).ended();
    assert_refused(&model.asks_of(MAIN)[3]);
    assert_eq!(model.asks_of(1).len(), 1);
}
