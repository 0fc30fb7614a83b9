//! The doors of Claude Code: who may start a sub-agent, and what the model reads when it may not.

use serde_json::Value;
use serde_json::json;

use crate::model::Ask;
use crate::model::MAIN;
use crate::model::Model;
use crate::model::script::Line;
use crate::model::script::Reply;
use crate::model::script::Script;
use crate::model::script::call;
use crate::model::script::find;
use crate::model::script::say;
use crate::project::LEFT_OUT;
use crate::project::STEP;
use crate::project::agent_id;
use crate::project::background;
use crate::project::foreground;
use crate::project::incomplete;
use crate::stage::Stage;

/// The model reads everything that is missing at once, and nothing of how the hook is called.
#[track_caller]
fn assert_refused(ask: &Ask) {
    let read = ask.result();
    assert!(read.contains("Cannot invoke Task - validation failed:"), "{read}");
    for section in LEFT_OUT {
        let missing = format!("MISSING: Mandatory section '{section}' not found");
        assert!(read.contains(&missing), "{section} is not named:\n{read}");
    }
    assert!(!read.contains("seriatim hook"), "{read}");
}

/// DS-31, DS-74: what is not complete is not sent.
#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn ds_31_an_incomplete_prompt_starts_no_agent_and_the_model_reads_why() {
    let stage = Stage::guarded("claude");
    let model = Model::start(
        Script::main([foreground(&incomplete()), background(&incomplete()), say("Done.")])
            .sub([say("I was started.")]),
    );
    stage.claude(&model, &[]).ended();
    assert_eq!(model.subs(), 0);
    assert_eq!(stage.events("SubagentStart"), Vec::<Value>::new());
    assert_refused(&model.asks_of(MAIN)[1]);
    assert_refused(&model.asks_of(MAIN)[2]);
    assert_eq!(stage.audited("TASK_INVOCATION_REJECTED").len(), 2);
}

/// DS-03, DS-75: the rendered prompt is complete, and arrives as it was sent.
#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn ds_03_a_complete_prompt_starts_an_agent_and_arrives_whole() {
    let stage = Stage::guarded("claude");
    let prompt = stage.prompt();
    let model = Model::start(Script::main([foreground(&prompt), say("Done.")]).sub([say("I was started.")]));
    stage.claude(&model, &[]).ended();
    assert_eq!(model.subs(), 1);
    model.asks_of(1)[0].assert_reads(prompt.trim());
    assert_eq!(stage.audited("TASK_INVOCATION_VALIDATED").len(), 1);
}

/// DS-08: nobody asks anything of prompts without markers, even where they speak of markers.
#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn ds_08_ad_hoc_agents_are_not_touched() {
    let stage = Stage::guarded("claude");
    let quoting = "What does <!-- DES-VALIDATION: required --> mean at the head of a prompt?";
    let model = Model::start(
        Script::main([foreground("Look around."), background(quoting), say("It is at work."), say("Done.")])
            .sub([say("A readme.")])
            .sub([say("It asks for a check.")]),
    );
    stage.claude(&model, &[]).ended();
    assert_eq!((model.subs(), model.asks_of(1).len(), model.asks_of(2).len()), (2, 1, 1));
    assert!(model.asks_of(MAIN)[1].result().contains("A readme."));
    assert_eq!(stage.events("SubagentStop").len(), 2);
    assert_eq!(stage.step()["state"]["status"], "TODO");
}

#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn an_agent_of_an_agent_passes_the_same_door() {
    let stage = Stage::guarded("claude");
    let model = Model::start(
        Script::main([foreground("Look around."), say("Done.")])
            .sub([foreground(&incomplete()), say("I was not let.")])
            .sub([say("I was started.")]),
    );
    stage.claude(&model, &[]).ended();
    assert_eq!(model.subs(), 1);
    assert_refused(&model.asks_of(1)[1]);
}

#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn a_message_passes_the_same_door() {
    let stage = Stage::guarded("claude");
    let message = find(|ask| {
        let to = agent_id(&ask.results[0]);
        Reply::call("SendMessage", json!({"to": to, "summary": "more work", "message": incomplete()}))
    });
    let search = call("ToolSearch", json!({"query": "select:SendMessage"}));
    let model = Model::start(
        Script::main([foreground("Look around."), search, message, say("Done.")])
            .sub([say("A readme."), say("I was woken.")]),
    );
    stage.claude(&model, &[]).ended();
    assert_refused(&model.asks_of(MAIN)[3]);
    assert_eq!((model.asks_of(1).len(), stage.events("SubagentStart").len()), (1, 1));
}

fn workflow(agents: &str) -> Line {
    let script = format!("export const meta = {{name: 'work', description: 'Works'}}\n{agents}\n");
    call("Workflow", json!({"script": script}))
}

#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn a_workflow_passes_the_same_door() {
    let stage = Stage::guarded("claude");
    let plain = format!("return await agent({})", json!(incomplete()));
    let computed =
        format!("const step = '{STEP}'\nreturn await agent(`{}`)", incomplete().replace(STEP, "${step}"));
    let model = Model::start(
        Script::main([workflow(&plain), workflow(&computed), say("Done."), say("Done.")])
            .sub([say("I was started.")])
            .sub([say("I was started.")]),
    );
    stage.claude(&model, &[]).ended();
    assert_eq!(model.subs(), 0);
    assert_refused(&model.asks_of(MAIN)[1]);
    let computed = &model.asks_of(MAIN)[2];
    assert!(
        computed.result().contains("The prompts of this workflow cannot be seen"),
        "{}",
        computed.result()
    );
}

#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn a_workflow_in_a_file_passes_the_same_door() {
    let stage = Stage::guarded("claude");
    let script = format!(
        "export const meta = {{name: 'work', description: 'Works'}}\nreturn await agent({})\n",
        json!(incomplete())
    );
    stage.file("work.js", &script);
    let path = stage.project().join("work.js");
    let model = Model::start(
        Script::main([call("Workflow", json!({"scriptPath": path})), say("Done."), say("Done.")])
            .sub([say("I was started.")]),
    );
    stage.claude(&model, &[]).ended();
    assert_eq!(model.subs(), 0);
}

#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn a_workflow_of_ad_hoc_agents_is_not_touched() {
    let stage = Stage::guarded("claude");
    let model = Model::start(
        Script::main([workflow("return await agent('Look around.')"), say("Started."), say("Done.")])
            .sub([say("A readme.")]),
    );
    stage.claude(&model, &[]).ended();
    assert_eq!((model.subs(), model.asks_of(1).len()), (1, 1));
}
