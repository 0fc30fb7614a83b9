//! What happens while an agent is at work: edits of its record by hand, agents that cannot be told, and steps of a
//! roadmap.

use std::fs;

use serde_json::Value;
use serde_json::json;

use crate::guard::AGENT;
use crate::guard::Answer;
use crate::guard::CALL;
use crate::guard::Guarded;
use crate::guard::STEP;
use crate::guard::THREE;
use crate::guard::holds;
use crate::guard::step;

/// A state file for many steps, and the roadmap beside it.
const STATUS: &str = "docs/feature/greeting/execution-status.yaml";
const ROADMAP: &str = "docs/feature/greeting/roadmap.yaml";

/// The agent is about to run a harmless command.
fn looks_around(guarded: &Guarded) -> Answer {
    inside(guarded, "PreToolUse", json!({"tool_name": "Bash", "tool_input": {"command": "ls"}}))
}

/// An event inside of the agent.
fn inside(guarded: &Guarded, name: &str, more: Value) -> Answer {
    let mut event = json!({"agent_id": AGENT, "agent_type": "general-purpose", "tool_use_id": "toolu_9"});
    for (key, value) in more.as_object().unwrap() {
        event[key] = value.clone();
    }
    guarded.send(name, event)
}

/// Saves a phase as it begins, or as it is over.
fn save(guarded: &Guarded, index: usize, status: &str) {
    guarded.edit(|step| {
        let record = &mut step["tdd_cycle"]["phase_execution_log"][index];
        record["status"] = json!(status);
        if status == "EXECUTED" {
            record["outcome"] = json!("PASS");
        }
    });
}

fn imports(guarded: &Guarded) -> usize {
    guarded.events().iter().filter(|event| *event == "STATE_IMPORTED").count()
}

fn incidents(guarded: &Guarded) -> Vec<String> {
    let trail = guarded.trail();
    let found = trail.iter().filter(|line| line["event"] == "INTEGRITY_INCIDENT");
    found.map(|line| line["what"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn k_86_saves_one_after_the_other_are_held_each_against_the_one_before() {
    let guarded = Guarded::new().at_work();
    for index in 0..3 {
        for status in ["IN_PROGRESS", "EXECUTED"] {
            save(&guarded, index, status);
            looks_around(&guarded).passes();
        }
    }
    assert_eq!(imports(&guarded), 6);
    let events = guarded.events();
    let count = |name: &str| events.iter().filter(|event| *event == name).count();
    assert_eq!((count("PHASE_STARTED"), count("PHASE_COMPLETED")), (3, 3));
    guarded.edit(|step| step["state"]["status"] = json!("DONE"));
    guarded.sub_stop(AGENT).passes();
    assert_eq!(guarded.last("SUBAGENT_STOP_VALIDATION")["errors"], json!([]));
    guarded.env.run(&["verify"]).exits(0);
}

#[test]
fn k_86_an_edit_is_seen_at_whatever_event_comes_next() {
    let edit = json!({"tool_name": "Edit", "tool_input": {"file_path": STEP}, "tool_response": {}});
    let read = json!({"tool_name": "Read", "tool_input": {"file_path": STEP}});
    for (name, more) in [("PostToolUse", edit), ("PreToolUse", read)] {
        let guarded = Guarded::new().at_work();
        save(&guarded, 0, "IN_PROGRESS");
        inside(&guarded, name, more).passes();
        assert_eq!(guarded.last("PHASE_STARTED")["source"], "edited_by_hand", "{name}");
        // Nothing was edited since, so nothing is taken over.
        looks_around(&guarded).passes();
        assert_eq!(imports(&guarded), 1);
    }
    // The main conversation of the session.
    let guarded = Guarded::new().at_work();
    save(&guarded, 0, "IN_PROGRESS");
    guarded.send("UserPromptSubmit", json!({"prompt": "How far are you?"})).passes();
    assert_eq!(imports(&guarded), 1);
}

#[test]
fn dw_40_several_phases_in_one_save_stay_a_violation_whatever_comes_between() {
    let guarded = Guarded::new().at_work();
    let before = guarded.env.read(STEP);
    guarded.edit(|step| {
        for index in 0..2 {
            let record = &mut step["tdd_cycle"]["phase_execution_log"][index];
            record["status"] = json!("EXECUTED");
            record["outcome"] = json!("PASS");
        }
    });
    let edited = guarded.env.read(STEP);
    looks_around(&guarded).passes();
    // Nobody has to decide yet: what is half done may still be put right.
    assert_eq!((guarded.env.read(STEP), imports(&guarded)), (edited, 0));
    holds(&guarded.sub_stop(AGENT).blocked(), &["batching: 2 phases were changed in one save: RED, GREEN"]);
    assert_eq!(guarded.env.read(STEP), before);
}

#[test]
fn an_edit_that_is_half_done_waits_until_it_is_whole() {
    let guarded = Guarded::new().at_work();
    save(&guarded, 0, "IN_PROGRESS");
    looks_around(&guarded).passes();
    guarded.edit(|step| step["tdd_cycle"]["phase_execution_log"][0]["status"] = json!("EXECUTED"));
    looks_around(&guarded).passes();
    let whole = guarded.env.read(STEP);
    fs::write(guarded.env.path(STEP), &whole[..whole.len() / 2]).unwrap();
    looks_around(&guarded).passes();
    assert_eq!(imports(&guarded), 1);
    guarded.env.file(STEP, whole);
    save(&guarded, 0, "EXECUTED");
    looks_around(&guarded).passes();
    assert_eq!((imports(&guarded), guarded.phases()[0].1.as_str()), (2, "EXECUTED"));
    let reason = guarded.sub_stop(AGENT).blocked();
    assert!(!reason.contains("RED"), "{reason}");
}

#[test]
fn edits_by_hand_and_commands_take_turns() {
    let guarded = Guarded::new().at_work();
    guarded.phase(&["start", "01-01", "RED"]).exits(0);
    looks_around(&guarded).passes();
    save(&guarded, 0, "EXECUTED");
    looks_around(&guarded).passes();
    guarded.phase(&["start", "01-01", "GREEN"]).exits(0);
    save(&guarded, 1, "EXECUTED");
    looks_around(&guarded).passes();
    guarded.done("COMMIT");
    guarded.sub_stop(AGENT).passes();
    guarded.env.run(&["verify"]).exits(0);
}

#[test]
fn ds_36_a_stop_without_a_name_is_that_of_the_only_step_at_work() {
    let guarded = Guarded::new().at_work();
    for (stop, what) in [
        (json!({}), "stopped without a name"),
        (json!({"agent_id": "z1", "agent_transcript_path": "/nowhere.jsonl"}), "no hook saw begin (z1)"),
    ] {
        holds(&guarded.send("SubagentStop", stop).blocked(), &["step 01-01", "Phase RED NOT_EXECUTED"]);
        holds(incidents(&guarded).last().unwrap(), &[what, "the only one at work"]);
    }
    // Once taken for it, it is: there is no way out by coming again.
    let known = incidents(&guarded).len();
    holds(&guarded.sub_stop("z1").blocked(), &["Phase RED NOT_EXECUTED"]);
    assert_eq!(incidents(&guarded).len(), known);
    guarded.all_done();
    guarded.env.file("README.md", "Changed by the shell.\n");
    holds(&guarded.send("SubagentStop", json!({})).blocked(), &["Unexpected modification: README.md"]);
    guarded.git(&["checkout", "-q", "README.md"]).exits(0);
    guarded.send("SubagentStop", json!({})).passes();
    assert_eq!(guarded.last("SUBAGENT_STOP_VALIDATION")["status"], "success");
}

#[test]
fn ds_36_an_agent_whose_start_nobody_saw_is_judged_by_the_state_and_the_files() {
    let guarded = Guarded::new();
    guarded.spawn(&guarded.prompt()).passes();
    guarded.env.file("README.md", "Changed by the shell.\n");
    let reason = guarded.sub_stop("z1").blocked();
    holds(&reason, &["Phase RED NOT_EXECUTED", "Unexpected modification: README.md"]);
    holds(&incidents(&guarded).join("\n"), &["no hook saw begin (z1)"]);
    assert_eq!(guarded.status(), "IN_PROGRESS");
}

#[test]
fn ds_37_agents_without_a_step_that_were_seen_are_left_alone() {
    let guarded = Guarded::new().at_work();
    let call = json!({"prompt": "Look around", "run_in_background": false});
    guarded.spawn_as("toolu_2", call, json!({})).passes();
    guarded.sub_start("b1").passes();
    guarded.sub_stop("b1").passes();
    guarded.spawn_done("toolu_2", json!({"status": "completed", "agentId": "b1"})).passes();
    assert_eq!(incidents(&guarded), [""; 0]);
    assert!(!guarded.events().iter().any(|event| event == "SUBAGENT_STOP_VALIDATION"));
    // With that call back, only the step can be meant.
    holds(&guarded.send("SubagentStop", json!({})).blocked(), &["Phase RED NOT_EXECUTED"]);
}

#[test]
fn ds_37_nobody_is_guessed_at_while_other_calls_are_open() {
    let launched = json!({"status": "async_launched", "agentId": "b1"});
    for response in [None, Some(launched)] {
        let guarded = Guarded::new().at_work();
        guarded.spawn_as("toolu_2", json!({"prompt": "Look around"}), json!({})).passes();
        if let Some(response) = &response {
            guarded.spawn_done("toolu_2", response.clone()).passes();
        }
        guarded.send("SubagentStop", json!({})).passes();
        holds(&incidents(&guarded).join("\n"), &["stopped without a name; other calls are open"]);
        assert!(!guarded.events().iter().any(|event| event == "SUBAGENT_STOP_VALIDATION"));
        if response.is_some() {
            // The one in the background ends, by its name.
            guarded.sub_stop("b1").passes();
            guarded.send("SubagentStop", json!({})).blocked();
        }
        // The step's own agent is known by its name all the same.
        guarded.sub_stop(AGENT).blocked();
    }
}

#[test]
fn ds_37_nobody_is_guessed_at_among_several_steps() {
    let guarded = Guarded::new();
    guarded.state("steps/01-02.json", &step("01-02", &THREE)).committed("Another step");
    guarded.spawn(&guarded.prompt()).passes();
    let second = json!({"prompt": guarded.prompt_for("steps/01-02.json"), "run_in_background": false});
    guarded.spawn_as("toolu_2", second, json!({})).passes();
    guarded.send("SubagentStop", json!({"agent_id": "z1"})).passes();
    let said = incidents(&guarded);
    assert_eq!(said.len(), 2, "{said:?}");
    holds(&said.join("\n"), &["several steps are at work, so that it was not judged"]);
    // The end of the turn decides about both.
    let reason = guarded.stop(json!({"background_tasks": []})).blocked();
    holds(&reason, &["step 01-01", "step 01-02", "Phase RED NOT_EXECUTED"]);
}

#[test]
fn ds_48_a_call_of_which_nothing_was_seen_again_is_judged_at_the_end_of_the_turn() {
    let guarded = Guarded::new();
    guarded.spawn(&guarded.prompt()).passes();
    guarded.env.file("README.md", "Changed by the shell.\n");
    let reason = guarded.stop(json!({"background_tasks": []})).blocked();
    holds(&reason, &["Phase RED NOT_EXECUTED", "Unexpected modification: README.md"]);
    guarded.git(&["checkout", "-q", "README.md"]).exits(0);
    guarded.all_done();
    guarded.stop(json!({"background_tasks": []})).passes();
    // One that works on in the background is judged at its own end.
    let guarded = Guarded::new();
    guarded
        .spawn_as(CALL, json!({"prompt": guarded.prompt(), "run_in_background": true}), json!({}))
        .passes();
    guarded.stop(json!({})).passes();
    let running = json!([{"id": "a1", "type": "subagent", "status": "running"}]);
    guarded.stop(json!({"background_tasks": running})).passes();
}

#[test]
fn a_call_that_somebody_else_refused_is_held_against_nobody() {
    let refused = json!({"type": "user", "message": {"role": "user", "content": [{
        "type": "tool_result", "tool_use_id": CALL, "is_error": true, "content": "The call was rejected."}]}});
    let guarded = Guarded::new();
    guarded.spawn(&guarded.prompt()).passes();
    fs::create_dir_all(guarded.transcript().parent().unwrap()).unwrap();
    fs::write(guarded.transcript(), format!("{refused}\n")).unwrap();
    guarded.stop(json!({"background_tasks": []})).passes();
    assert_eq!(guarded.status(), "TODO");
    // If something was done all the same, it does not get out.
    save(&guarded, 0, "IN_PROGRESS");
    guarded.env.run(&["commit-gate"]).exits(1).says("Phase RED left in progress");
    // The client itself says that the call failed.
    let guarded = Guarded::new();
    guarded.spawn(&guarded.prompt()).passes();
    let failed = json!({"tool_name": "Agent", "tool_use_id": CALL, "tool_input": {}, "error": "Rejected"});
    guarded.send("PostToolUseFailure", failed).passes();
    guarded.stop(json!({"background_tasks": []})).passes();
    assert_eq!(guarded.status(), "TODO");
}

/// A project with one state file for three steps, and a roadmap that has two of them.
fn planned(files: &str) -> Guarded {
    let guarded = Guarded::new();
    let mut text =
        "execution_status:\n  schema_version: \"1.0\"\n  project_id: greeting\n  completed_steps: []\n"
            .to_owned();
    for id in ["03-01", "03-02", "03-03"] {
        let key = id.replace('-', "_");
        text.push_str(&format!("  step_checkpoint_{key}:\n    step_id: \"{id}\"\n    phases:\n"));
        for (i, name) in THREE.iter().enumerate() {
            text.push_str(&format!("      - phase_index: {i}\n        phase_name: {name}\n"));
            text.push_str("        status: NOT_EXECUTED\n");
        }
    }
    let step = |id| {
        format!("      - step_id: {id}\n        name: s\n        acceptance_criteria: [x]\n        {files}\n")
    };
    let head = "project_id: greeting\nphases:\n  - phase_id: '03'\n    name: a\n    steps:\n";
    guarded.env.file(STATUS, text).file(ROADMAP, format!("{head}{}{}", step("03-01"), step("03-02")));
    guarded.committed("A roadmap");
    guarded
}

const IN_SRC: &str = "deliverables: ['src/**']";

/// The prompt for a step of that file.
fn prompt_of(guarded: &Guarded, id: &str) -> String {
    guarded.prompt().replace(STEP, STATUS).replace("01-01", id)
}

#[test]
fn ds_66_the_files_of_a_step_are_those_of_the_roadmap_beside_its_state() {
    let guarded = planned(IN_SRC);
    guarded.spawn(&prompt_of(&guarded, "03-01")).passes();
    guarded.sub_start(AGENT).passes();
    let write = |path: &str| {
        let input = json!({"file_path": guarded.env.path(path), "content": "x"});
        inside(&guarded, "PreToolUse", json!({"tool_name": "Write", "tool_input": input}))
    };
    write("src/new.sh").passes();
    holds(&write("README.md").denied(), &["Unexpected modification: README.md"]);
    guarded.env.file("src/new.sh", "true\n").file("README.md", "Changed by the shell.\n");
    let reason = guarded.sub_stop(AGENT).blocked();
    holds(&reason, &["Unexpected modification: README.md"]);
    assert!(!reason.contains("src/new.sh"), "{reason}");
    guarded.env.run(&["commit-gate"]).exits(1).says("Unexpected modification: README.md");
    guarded.env.run(&["doctor"]).exits(1).says_nothing_of("declares no allowed_file_patterns");
}

#[test]
fn ds_27_a_roadmap_that_is_changed_in_mid_step_frees_nobody() {
    let guarded = planned(IN_SRC);
    guarded.spawn(&prompt_of(&guarded, "03-01")).passes();
    guarded.sub_start(AGENT).passes();
    guarded.env.file(ROADMAP, guarded.env.read(ROADMAP).replace("src/**", "**"));
    guarded.env.file("README.md", "Changed by the shell.\n");
    let names =
        ["Unexpected modification: README.md", "Unexpected modification: docs/feature/greeting/roadmap.yaml"];
    holds(&guarded.sub_stop(AGENT).blocked(), &names);
    // Neither does a second call for the step, nor a roadmap without it.
    guarded.spawn_as("toolu_2", json!({"prompt": prompt_of(&guarded, "03-01")}), json!({})).passes();
    guarded.sub_start("a2").passes();
    guarded.env.file(ROADMAP, guarded.env.read(ROADMAP).replace("03-01", "03-09"));
    holds(&guarded.sub_stop("a2").blocked(), &names);
    guarded.env.run(&["commit-gate"]).exits(1).says(names[0]).says(names[1]);
}

#[test]
fn dw_06_a_step_that_the_roadmap_does_not_have_is_refused_with_those_it_has() {
    let guarded = planned(IN_SRC);
    let reason = guarded.spawn(&prompt_of(&guarded, "03-03")).denied();
    holds(&reason, &["Step 03-03 is not in the roadmap", ROADMAP, "did you mean 03-01? It has 03-01, 03-02"]);
    let reason = guarded.spawn(&prompt_of(&guarded, "77-88")).denied();
    holds(&reason, &["Step 77-88 is not in the roadmap", "it has 03-01, 03-02"]);
    guarded.phase(&["start", "77-88", "RED"]).exits(2);
    assert!(!guarded.env.read(STATUS).contains("77-88"));
    // One that cannot be read hides its steps.
    guarded.env.file(ROADMAP, "phases: [");
    holds(&guarded.spawn(&prompt_of(&guarded, "03-01")).denied(), &["the roadmap", "cannot be read"]);
    // Without a roadmap nobody knows better.
    fs::remove_file(guarded.env.path(ROADMAP)).unwrap();
    guarded.spawn(&prompt_of(&guarded, "03-03")).passes();
}

#[test]
fn k_33_deliverables_in_sentences_declare_no_files() {
    let guarded = planned("deliverables: ['People are greeted by name']");
    guarded.spawn(&prompt_of(&guarded, "03-01")).passes();
    let trail = guarded.trail_in("docs");
    holds(&format!("{trail:?}"), &["declares no allowed file patterns"]);
}
