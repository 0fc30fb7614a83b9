//! The doors to a sub-agent: what a prompt must have before anybody is called (DS-08 to DS-31).

use std::fs;

use serde_json::Value;
use serde_json::json;

use crate::guard::AGENT;
use crate::guard::BARE;
use crate::guard::CALL;
use crate::guard::Guarded;
use crate::guard::STEP;
use crate::guard::THREE;
use crate::guard::holds;
use crate::guard::step;
use crate::phases::FOURTEEN;

// DS-74, DS-22.
#[test]
fn ds_74_ds_22_an_incomplete_prompt_calls_nobody_and_all_that_is_missing_is_said_at_once() {
    let guarded = Guarded::fourteen();
    let reason = guarded.spawn(BARE).denied();
    assert!(reason.starts_with("Cannot invoke Task - validation failed:\n"), "{reason}");
    for section in [
        "TASK_CONTEXT",
        "TDD_14_PHASES",
        "QUALITY_GATES",
        "OUTCOME_RECORDING",
        "BOUNDARY_RULES",
        "TIMEOUT_INSTRUCTION",
    ] {
        let missing = format!("MISSING: Mandatory section '{section}' not found");
        let mend = format!("To mend it: add a heading `# {section}`");
        holds(&reason, &[&missing, &mend]);
    }
    holds(&reason, &["MISSING: No timeout/turn-limit instruction found"]);
    // DS-51, DS-53: both are on the trail, the reasons too.
    assert_eq!(guarded.events(), ["TASK_INVOCATION_STARTED", "TASK_INVOCATION_REJECTED"]);
    let errors = guarded.last("TASK_INVOCATION_REJECTED")["errors"].clone();
    assert_eq!(errors.as_array().unwrap().len(), 7, "{errors}");
    assert_eq!(guarded.status(), "TODO");
}

// DS-51, DS-52.
#[test]
fn ds_51_ds_52_a_complete_prompt_passes_in_silence_and_is_on_the_trail() {
    let guarded = Guarded::fourteen();
    guarded.spawn(&guarded.prompt()).passes();
    assert_eq!(guarded.events(), ["TASK_INVOCATION_STARTED", "TASK_INVOCATION_VALIDATED"]);
    let line = guarded.last("TASK_INVOCATION_VALIDATED");
    assert_eq!((line["step_file"].as_str(), line["step_id"].as_str()), (Some(STEP), Some("01-01")));
    assert_eq!(line["command"], "command:/nw:execute");
    // DS-50: the file of the day, beside the step file; DS-79: it verifies.
    let day = line["timestamp"].as_str().unwrap()[..10].to_owned();
    assert!(guarded.env.path(&format!("steps/audit-{day}.log")).is_file());
    guarded.env.run(&["verify"]).exits(0);
}

// DS-08, DS-73.
#[test]
fn ds_08_ds_73_a_prompt_without_markers_is_nobodys_concern_and_leaves_a_sighting_alone() {
    let guarded = Guarded::new();
    let before = guarded.env.files_below("");
    guarded.spawn("Look around and tell me what you see.").passes();
    let mut after = guarded.env.files_below("");
    after.retain(|path| !before.contains(path));
    assert_eq!(after, [guarded.env.stored("guard/seen/s1")]);
    assert!(guarded.trail().is_empty());
}

#[test]
fn e_71_markers_that_are_quoted_in_the_body_count_for_nothing() {
    let guarded = Guarded::new();
    let quoted = format!("Explain what these lines are for:\n\n{BARE}");
    guarded.spawn(&quoted).passes();
    assert!(guarded.trail().is_empty());
    // And a whole prompt may quote others' markers without meaning them.
    let prompt = guarded.prompt();
    let quoting = prompt.replace("Greet politely", "Greet <!-- DES-ORIGIN: command:/nw:split --> politely");
    guarded.spawn(&quoting).passes();
    assert_eq!(guarded.last("TASK_INVOCATION_VALIDATED")["command"], "command:/nw:execute");
}

// E-72, E-73.
#[test]
fn e_72_e_73_a_section_that_is_empty_and_a_phase_that_is_left_out_are_named() {
    let guarded = Guarded::fourteen();
    let prompt = guarded.prompt();
    let start = prompt.find("# QUALITY_GATES").unwrap();
    let end = prompt.find("# OUTCOME_RECORDING").unwrap();
    let empty = format!("{}# QUALITY_GATES\n\n{}", &prompt[..start], &prompt[end..]);
    holds(&guarded.spawn(&empty).denied(), &["QUALITY_GATES"]);
    let row = prompt.lines().find(|line| line.contains("| REVIEW |")).unwrap();
    let without = prompt.replace(&format!("{row}\n"), "");
    holds(&guarded.spawn(&without).denied(), &["INCOMPLETE: TDD phase 'REVIEW' not mentioned"]);
}

#[test]
fn k_31_a_command_of_the_partial_level_needs_its_sections_and_no_step_file() {
    let guarded = Guarded::new();
    let head = "<!-- DES-ORIGIN: command:/nw:baseline -->\n<!-- DES-VALIDATION: required -->\n<!-- DES-VERSION: 1.0 -->\n";
    let reason = guarded.spawn(&format!("{head}\n# AGENT_IDENTITY\n\nYou measure.\n")).denied();
    holds(&reason, &["MISSING: Mandatory section 'TASK_CONTEXT' not found"]);
    assert!(!reason.contains("PHASES") && !reason.contains("Step file"), "{reason}");
    let mut args = vec!["prompt", "render", "--template", "baseline-create"];
    for pair in [
        "agent_name=meter",
        "project_id=greeting",
        "self_contained_context.background=It greets.",
        "task_specification.description=How fast is it?",
    ] {
        args.extend(["--set", pair]);
    }
    let prompt = guarded.env.run(&args).exits(0).stdout;
    guarded.spawn(&prompt).passes();
    // It belongs to no step, so its line is on the trail of the project.
    let trail = guarded.project_trail();
    assert_eq!(trail.last().unwrap()["event"], "TASK_INVOCATION_VALIDATED");
}

#[test]
fn ds_18_a_step_file_that_is_not_there_or_lies_outside_is_refused() {
    let guarded = Guarded::new();
    let prompt = guarded.prompt();
    for (named, said) in [
        ("steps/09-09.json", "Step file not found: steps/09-09.json"),
        ("../elsewhere.json", "Step file not found: ../elsewhere.json"),
        ("/etc/passwd", "Step file not found: /etc/passwd"),
        ("steps/link.json", "Step file not found: steps/link.json"),
    ] {
        if named.ends_with("link.json") {
            let outside = guarded.env.root.with_file_name("outside.json");
            fs::write(&outside, step("01-01", &THREE).to_string()).unwrap();
            std::os::unix::fs::symlink(outside, guarded.env.path(named)).unwrap();
        }
        let marker = format!("<!-- DES-STEP-FILE: {named} -->");
        let altered = prompt.replacen("<!-- DES-STEP-FILE: steps/01-01.json -->", &marker, 1);
        holds(&guarded.spawn(&altered).denied(), &[said]);
    }
}

// DS-19, DS-20, DS-21.
#[test]
fn ds_19_ds_20_ds_21_a_step_file_that_is_broken_or_incomplete_is_refused() {
    let guarded = Guarded::fourteen();
    let prompt = guarded.prompt();
    guarded.env.file(STEP, "{\"task_id\": ");
    holds(&guarded.spawn(&prompt).denied(), &["Step file invalid JSON: "]);
    let mut thirteen = step("01-01", &FOURTEEN);
    thirteen["tdd_cycle"]["phase_execution_log"].as_array_mut().unwrap().pop();
    guarded.state(STEP, &thirteen);
    holds(&guarded.spawn(&prompt).denied(), &["Step file has 13 phases, expected 14"]);
    let mut nameless = step("01-01", &FOURTEEN);
    nameless.as_object_mut().unwrap().remove("project_id");
    guarded.state(STEP, &nameless);
    holds(&guarded.spawn(&prompt).denied(), &["Step file missing field: project_id"]);
}

#[test]
fn ds_27_a_step_that_is_done_in_review_or_given_up_is_not_begun_again() {
    for (state, said) in [
        (json!({"status": "DONE"}), "Step 01-01 is complete"),
        (json!({"status": "IN_REVIEW"}), "Step 01-01 is in review"),
        (
            json!({"status": "FAILED", "failure_reason": "no way", "can_retry": false}),
            "failed and is marked as not to be tried again",
        ),
    ] {
        let mut given = step("01-01", &THREE);
        given["state"] = state;
        let guarded = Guarded::of(&given);
        holds(&guarded.spawn(&guarded.prompt()).denied(), &[said]);
    }
}

#[test]
fn k_33_an_empty_list_of_patterns_is_refused_and_none_is_a_warning() {
    let guarded = Guarded::new();
    let prompt = guarded.prompt();
    let mut empty = step("01-01", &THREE);
    empty["task_specification"]["allowed_file_patterns"] = json!([]);
    guarded.state(STEP, &empty);
    holds(&guarded.spawn(&prompt).denied(), &["its list of allowed file patterns is empty"]);
    let mut none = step("01-01", &THREE);
    none["task_specification"].as_object_mut().unwrap().remove("allowed_file_patterns");
    guarded.state(STEP, &none);
    guarded.spawn(&guarded.prompt()).passes();
    let warnings = guarded.last("TASK_INVOCATION_VALIDATED")["warnings"].to_string();
    holds(&warnings, &["declares no allowed file patterns"]);
}

/// An event inside of an agent.
fn inside(agent: &str) -> Value {
    json!({"agent_id": agent, "agent_type": "general-purpose"})
}

#[test]
fn ds_27_an_agent_of_a_step_starts_no_other_command_and_no_other_step() {
    let guarded = Guarded::new();
    guarded.state("steps/01-02.json", &step("01-02", &THREE)).committed("Another step");
    let guarded = guarded.at_work();
    let other = json!({"prompt": guarded.prompt_for("steps/01-02.json")});
    let reason = guarded.spawn_as("toolu_2", other.clone(), inside(AGENT)).denied();
    holds(&reason, &["works on step 01-01", "may not work on step 01-02"]);
    let command = "<!-- DES-ORIGIN: command:/nw:review -->\n\nReview all of it.\n";
    let reason = guarded.spawn_as("toolu_3", json!({"prompt": command}), inside(AGENT)).denied();
    holds(&reason, &["may not start `command:/nw:review`"]);
    // What has no markers is its own affair, and somebody else may begin the other step.
    guarded.spawn_as("toolu_4", json!({"prompt": "Count the lines."}), inside(AGENT)).passes();
    guarded.spawn_as("toolu_5", other, json!({})).passes();
}

#[test]
fn ds_27_the_agents_that_an_agent_calls_belong_to_its_step() {
    let guarded = Guarded::new();
    guarded.state("steps/01-02.json", &step("01-02", &THREE)).committed("Another step");
    let guarded = guarded.at_work();
    guarded.spawn_as("toolu_7", json!({"prompt": "Help me."}), inside(AGENT)).passes();
    let folder = guarded.transcript().with_extension("").join("subagents");
    fs::create_dir_all(&folder).unwrap();
    let meta = json!({"toolUseId": "toolu_7", "spawnDepth": 2});
    fs::write(folder.join("agent-a7.meta.json"), meta.to_string()).unwrap();
    let other = json!({"prompt": guarded.prompt_for("steps/01-02.json")});
    holds(&guarded.spawn_as("toolu_8", other, inside("a7")).denied(), &["may not work on step 01-02"]);
    let write = json!({"tool_name": "Write", "tool_input": {"file_path": "README.md", "content": "x"}, "agent_id": "a7"});
    holds(&guarded.send("PreToolUse", write).denied(), &["Unexpected modification: README.md"]);
}

#[test]
fn ds_27_files_outside_of_the_patterns_are_refused_where_a_tool_names_them() {
    let guarded = Guarded::new().at_work();
    let write = |path: &str, agent: Option<&str>| {
        let mut event = json!({"tool_name": "Write", "tool_input": {"file_path": guarded.env.path(path), "content": "x"}});
        if let Some(agent) = agent {
            event["agent_id"] = json!(agent);
        }
        guarded.send("PreToolUse", event)
    };
    write("src/new.sh", Some(AGENT)).passes();
    write(STEP, Some(AGENT)).passes();
    holds(&write("README.md", Some(AGENT)).denied(), &["Unexpected modification: README.md"]);
    holds(&write("src/../README.md", Some(AGENT)).denied(), &["Unexpected modification: README.md"]);
    // Others may, but nobody writes into the guard itself.
    write("README.md", None).passes();
    write("README.md", Some("somebody")).passes();
    for own in [".seriatim/guard.json", ".git/seriatim/guard.json", ".git/seriatim/journal.db"] {
        holds(&write(own, None).denied(), &["belongs to the guard"]);
    }
    holds(&write(".git/hooks/pre-commit", None).denied(), &["belongs to the guard"]);
}

#[test]
fn the_old_name_of_the_tool_is_a_door_too() {
    let guarded = Guarded::new();
    let event = json!({"tool_name": "Task", "tool_use_id": CALL, "tool_input": {"prompt": BARE}});
    holds(&guarded.send("PreToolUse", event).denied(), &["MISSING: Mandatory section"]);
}

#[test]
fn more_work_for_an_agent_that_exists_is_held_to_the_same_rules() {
    let guarded = Guarded::new().at_work();
    let message = |text: &str| {
        let input = json!({"to": AGENT, "summary": "more", "message": text});
        guarded.send(
            "PreToolUse",
            json!({"tool_name": "SendMessage", "tool_use_id": "toolu_9", "tool_input": input}),
        )
    };
    holds(&message(BARE).denied(), &["MISSING: Mandatory section"]);
    message("Go on, please.").passes();
    guarded.sub_start(AGENT).passes();
    message(&guarded.prompt()).passes();
    // Its client starts it again, and it is judged as before.
    guarded.spawn_done("toolu_9", json!({"success": true})).passes();
    guarded.sub_start(AGENT).passes();
    holds(&guarded.sub_stop(AGENT).blocked(), &["Phase RED NOT_EXECUTED"]);
    // DS-27: when the step is over, there is nothing more to do for its agent.
    guarded.all_done();
    guarded.sub_stop(AGENT).passes();
    holds(&message("One more thing.").denied(), &["step 01-01", "is complete"]);
}

#[test]
fn a_step_that_is_given_to_an_agent_without_one_is_judged_when_that_stops() {
    let guarded = Guarded::new();
    guarded.spawn_as("toolu_5", json!({"prompt": "Look around"}), json!({})).passes();
    guarded.sub_start("b1").passes();
    let path = guarded.agent_transcript("b1", "Look around");
    fs::write(path.with_extension("meta.json"), json!({"toolUseId": "toolu_5"}).to_string()).unwrap();
    guarded.sub_stop("b1").passes();
    let input = json!({"to": "b1", "message": guarded.prompt()});
    let message = json!({"tool_name": "SendMessage", "tool_use_id": "toolu_6", "tool_input": input});
    guarded.send("PreToolUse", message).passes();
    guarded.sub_start("b1").passes();
    assert_eq!(guarded.status(), "IN_PROGRESS");
    holds(&guarded.sub_stop("b1").blocked(), &["Phase RED NOT_EXECUTED"]);
}

#[test]
fn the_prompts_of_a_workflow_are_looked_at_and_those_that_cannot_be_seen_are_refused() {
    let guarded = Guarded::new();
    let workflow = |input: Value| {
        guarded.send("PreToolUse", json!({"tool_name": "Workflow", "tool_use_id": CALL, "tool_input": input}))
    };
    let quoted = |prompt: &str| json!(prompt).to_string();
    let bare = quoted(BARE);
    workflow(json!({"script": "return await agent('Look around')"})).passes();
    let reason = workflow(json!({"script": format!("return await agent({bare})")})).denied();
    holds(&reason, &["MISSING: Mandatory section"]);
    let reason =
        workflow(json!({"script": format!("const p = {bare}; return await agent(p + more)")})).denied();
    holds(&reason, &["cannot be seen"]);
    holds(&workflow(json!({"path": "flow.js"})).denied(), &["cannot be seen"]);
    // One prompt that is refused keeps the others from being opened.
    let good = quoted(&guarded.prompt());
    workflow(json!({"script": format!("await agent({good}); await agent({bare})")})).denied();
    guarded.sub_start(AGENT).passes();
    assert_eq!(guarded.status(), "TODO");
    workflow(json!({"script": format!("return await agent({good})")})).passes();
}

#[test]
fn the_doors_of_codex_are_the_same() {
    let guarded = Guarded::new();
    let codex = |tool: &str, input: Value| {
        let mut event = guarded
            .event("PreToolUse", json!({"tool_name": tool, "tool_use_id": "call_1", "tool_input": input}));
        event.as_object_mut().unwrap().remove("prompt_id");
        event["turn_id"] = json!("t1");
        event["model"] = json!("gpt-5-codex");
        guarded.send_bytes(event.to_string().as_bytes())
    };
    codex("spawn_agent", json!({"message": "Look around"})).passes();
    holds(&codex("spawn_agent", json!({"message": BARE})).denied(), &["MISSING: Mandatory section"]);
    let input = json!({"target": "x", "message": BARE});
    holds(&codex("multi_agent_v1send_input", input).denied(), &["MISSING: Mandatory section"]);
    codex("spawn_agent", json!({"message": guarded.prompt()})).passes();
    assert_eq!(guarded.events().last().unwrap(), "TASK_INVOCATION_VALIDATED");
}

#[test]
fn gemini_calls_and_ends_its_agents_through_doors_as_well() {
    let guarded = Guarded::new();
    let gemini = |name: &str, more: Value| {
        let mut event = guarded.event(name, more);
        event.as_object_mut().unwrap().remove("prompt_id");
        event["timestamp"] = json!("2026-01-01T12:00:00Z");
        guarded.send_bytes(event.to_string().as_bytes())
    };
    let invoke = |prompt: &str| json!({"tool_name": "invoke_agent", "tool_input": {"agent_name": "g", "prompt": prompt}});
    gemini("BeforeTool", invoke("Look around")).passes();
    holds(&gemini("BeforeTool", invoke(BARE)).blocked(), &["MISSING: Mandatory section"]);
    gemini("BeforeTool", invoke(&guarded.prompt())).passes();
    // This client does not say when an agent begins, so the step is at work from here on.
    assert_eq!(guarded.status(), "IN_PROGRESS");
    guarded.env.file("README.md", "Changed.\n");
    let complete =
        || gemini("BeforeTool", json!({"tool_name": "complete_task", "tool_input": {"result": "ok"}}));
    let reason = complete().blocked();
    holds(&reason, &["Phase RED NOT_EXECUTED", "Unexpected modification: README.md"]);
    // Should it end all the same, the call that comes back tells.
    let mut back = invoke(&guarded.prompt());
    back["tool_response"] = json!({"llmContent": "done"});
    holds(&gemini("AfterTool", back.clone()).blocked(), &["is not complete", "Phase RED NOT_EXECUTED"]);
    assert_eq!(guarded.status(), "FAILED");
    // Whole, it may end.
    guarded.env.file("README.md", "Greets.\n");
    gemini("BeforeTool", invoke(&guarded.prompt())).passes();
    guarded.all_done();
    complete().passes();
    gemini("AfterTool", back).passes();
    // The next agent has no step.
    complete().passes();
}
