//! Ends at which nobody asks: crashes, limits, background work, and agents that no hook has seen.

use std::fmt::Write as _;
use std::fs;
use std::fs::OpenOptions;
use std::io::Write;

use serde_json::Value;
use serde_json::json;

use crate::guard::AGENT;
use crate::guard::CALL;
use crate::guard::Guarded;
use crate::guard::STEP;
use crate::guard::THREE;
use crate::guard::answer;
use crate::guard::holds;
use crate::guard::step;

#[test]
fn ds_65_an_agent_that_reached_its_limit_is_judged_when_its_call_comes_back() {
    // At the limit of turns there is no SubagentStop.
    let guarded = Guarded::new().at_work();
    guarded.done("RED");
    guarded.phase(&["start", "01-01", "GREEN"]).exits(0);
    let reason = guarded.spawn_done(CALL, json!({"status": "completed", "agentId": AGENT})).blocked();
    holds(&reason, &["step 01-01", "Phase GREEN left IN_PROGRESS (abandoned)", "can be tried again"]);
    let step = guarded.step();
    assert_eq!(step["state"]["can_retry"], true);
    holds(&step.to_string(), &["Continue with phase GREEN"]);
    assert_eq!(guarded.phases()[0].1, "COMPLETED");
    // It is resumed where it stopped, and then it may end.
    guarded.spawn(&guarded.prompt()).passes();
    guarded.sub_start("a2").passes();
    guarded.phase(&["done", "01-01", "GREEN", "--outcome", "PASS"]).exits(0);
    guarded.done("COMMIT");
    guarded.sub_stop("a2").passes();
    assert_eq!(guarded.status(), "DONE");
}

// DS-64, DS-02.
#[test]
fn ds_64_ds_02_a_crash_is_recorded_with_its_history_and_can_be_tried_again() {
    for failure in ["PostToolUseFailure", "StopFailure", "SessionEnd"] {
        let guarded = Guarded::new().at_work();
        guarded.phase(&["start", "01-01", "RED"]).exits(0);
        let event = match failure {
            "PostToolUseFailure" => {
                json!({"tool_name": "Agent", "tool_use_id": CALL, "tool_input": {}, "error": "API Error: 500"})
            }
            "StopFailure" => json!({"agent_id": AGENT, "error": "unknown"}),
            _ => json!({"reason": "other"}),
        };
        let said = guarded.send(failure, event);
        if failure == "PostToolUseFailure" {
            holds(&said.told(), &["step 01-01", "can be tried again"]);
        } else {
            said.passes();
        }
        let step = guarded.step();
        assert_eq!(step["state"]["failure_reason"], "Agent crashed", "{failure}");
        assert_eq!((&step["state"]["status"], &step["state"]["can_retry"]), (&json!("FAILED"), &json!(true)));
        let record = &step["tdd_cycle"]["phase_execution_log"][0];
        assert_eq!(
            (&record["status"], &record["history"][0]["status"]),
            (&json!("NOT_EXECUTED"), &json!("CRASHED"))
        );
        assert_eq!(record["history"][0]["notes"], "Agent crashed during execution");
        // Another try keeps what the first one left.
        guarded.spawn(&guarded.prompt()).passes();
        guarded.sub_start("a2").passes();
        guarded.phase(&["start", "01-01", "RED"]).exits(0);
        assert_eq!(guarded.step()["tdd_cycle"]["phase_execution_log"][0]["history"][0]["status"], "CRASHED");
        assert_eq!(guarded.last("PHASE_STARTED")["attempt"], 2);
    }
}

#[test]
fn a_session_that_ends_after_the_work_is_done_is_no_crash() {
    let guarded = Guarded::new().at_work();
    guarded.all_done();
    guarded.send("SessionEnd", json!({"reason": "other"})).passes();
    assert_eq!(guarded.status(), "DONE");
    // And one that was called but never began has nothing to crash.
    let guarded = Guarded::new();
    guarded.spawn(&guarded.prompt()).passes();
    guarded.send("SessionEnd", json!({"reason": "other"})).passes();
    assert_eq!(guarded.status(), "TODO");
}

#[test]
fn e_79_two_phases_in_progress_both_go_into_the_history_with_one_warning() {
    let mut given = step("01-01", &THREE);
    given["state"]["status"] = json!("IN_PROGRESS");
    for index in 0..2 {
        given["tdd_cycle"]["phase_execution_log"][index]["status"] = json!("IN_PROGRESS");
        given["tdd_cycle"]["phase_execution_log"][index]["started_at"] = json!("2026-01-01T12:00:00Z");
    }
    let guarded = Guarded::of(&given);
    let path = guarded.agent_transcript(AGENT, &guarded.prompt());
    guarded.send("SubagentStop", json!({"agent_id": AGENT, "agent_transcript_path": path})).blocked();
    guarded.send("StopFailure", json!({"agent_id": AGENT, "error": "unknown"})).passes();
    let step = guarded.step();
    for index in 0..2 {
        let record = &step["tdd_cycle"]["phase_execution_log"][index];
        assert_eq!(record["history"][0]["status"], "CRASHED", "{record}");
    }
    let trail = guarded.trail();
    let warned = |line: &&Value| line["what"].to_string().contains("several phases were IN_PROGRESS at once");
    assert_eq!(trail.iter().filter(warned).count(), 1);
}

/// An agent in the background, as the client calls them by default.
fn in_background() -> Guarded {
    let guarded = Guarded::new();
    guarded.spawn_as(CALL, json!({"prompt": guarded.prompt()}), json!({})).passes();
    guarded.sub_start(AGENT).passes();
    guarded.spawn_done(CALL, json!({"status": "async_launched", "agentId": AGENT})).passes();
    guarded
}

#[test]
fn ds_70_the_main_conversation_may_end_while_an_agent_works_in_the_background() {
    let guarded = in_background();
    let running = json!([{"id": AGENT, "type": "subagent", "status": "running"}]);
    guarded.stop(json!({"background_tasks": running})).passes();
    // A client that does not say leaves it at work.
    guarded.stop(json!({})).passes();
    // A failure of the main conversation is not the agent's.
    guarded.send("StopFailure", json!({"error": "unknown"})).passes();
    assert_eq!(guarded.status(), "IN_PROGRESS");
    // It is judged when it stops, as all are.
    holds(&guarded.sub_stop(AGENT).blocked(), &["Phase RED NOT_EXECUTED"]);
    guarded.all_done();
    guarded.sub_stop(AGENT).passes();
    guarded.stop(json!({"background_tasks": []})).passes();
}

#[test]
fn ds_70_a_background_agent_that_is_gone_without_a_word_is_judged_when_the_conversation_ends() {
    let guarded = in_background();
    let reason = guarded.stop(json!({"background_tasks": []})).blocked();
    holds(&reason, &["step 01-01", "Phase RED NOT_EXECUTED"]);
    // And an end of the session is the end of all that works in it.
    let guarded = in_background();
    guarded.send("SessionEnd", json!({"reason": "other"})).passes();
    assert_eq!(guarded.step()["state"]["failure_reason"], "Agent crashed");
}

#[test]
fn another_session_is_not_held_by_the_steps_of_this_one() {
    let guarded = Guarded::new().at_work();
    guarded.stop(json!({"session_id": "s2"})).passes();
    guarded.send("SessionEnd", json!({"session_id": "s2", "reason": "other"})).passes();
    assert_eq!(guarded.status(), "IN_PROGRESS");
}

#[test]
fn a_sub_agent_that_no_hook_saw_holds_the_step_until_a_person_has_looked() {
    let guarded = Guarded::new().at_work();
    guarded.all_done();
    guarded.sub_stop(AGENT).passes();
    guarded.spawn_done(CALL, json!({"status": "completed", "agentId": AGENT})).passes();
    let line = |call: &str, agent: &str| {
        let result = json!({"agentId": agent, "status": "completed"});
        let content = json!([{"type": "tool_result", "tool_use_id": call, "content": "done"}]);
        json!({"type": "user", "message": {"role": "user", "content": content}, "toolUseResult": result})
    };
    fs::write(guarded.transcript(), format!("{}\n", line(CALL, AGENT))).unwrap();
    guarded.stop(json!({"background_tasks": []})).passes();
    let mut file = OpenOptions::new().append(true).open(guarded.transcript()).unwrap();
    writeln!(file, "{}", line("toolu_x", "ghost")).unwrap();
    for _ in 0..5 {
        let reason = guarded.stop(json!({"background_tasks": []})).blocked();
        holds(&reason, &["Sub-agent ghost was started without any hook seeing it"]);
    }
    holds(&guarded.last("INTEGRITY_INCIDENT")["what"].to_string(), &["Sub-agent ghost"]);
    let faults = guarded.env.run(&["commit-gate"]).exits(1);
    faults.says("Sub-agent ghost");
    // A record that is whole stays so; the person decides about the rest.
    guarded.stop(json!({"background_tasks": []})).passes();
    assert_eq!(guarded.status(), "DONE");
    guarded.env.run(&["answer", "q1", "retry"]).exits(0);
    guarded.stop(json!({"background_tasks": []})).passes();
    guarded.env.run(&["commit-gate"]).exits(0);
}

/// The reading of a transcript as it is remembered.
fn scan(guarded: &Guarded) -> Value {
    serde_json::from_str(&guarded.env.read_stored(&format!("guard/scans/{AGENT}"))).unwrap()
}

#[test]
fn ds_86_a_transcript_is_read_from_where_the_last_reading_ended() {
    let guarded = Guarded::new().at_work();
    let path = guarded.agent_transcript(AGENT, &guarded.prompt());
    let event = json!({"agent_id": AGENT, "agent_transcript_path": path});
    guarded.send("SubagentStop", event.clone()).blocked();
    let length = fs::metadata(&path).unwrap().len();
    assert_eq!(scan(&guarded)["offset"], length);
    assert_eq!(scan(&guarded)["turns"], 1);
    // What was read before is not looked at again: it may be anything now.
    let head = guarded.prompt().len() + 200;
    let mut text = fs::read(&path).unwrap();
    for byte in &mut text[head..] {
        *byte = b'x';
    }
    let new = format!("{}\n{{\"half\": ", answer("msg_2", 7, 3));
    fs::write(&path, [text, new.clone().into_bytes()].concat()).unwrap();
    guarded.send("SubagentStop", event).blocked();
    let read = scan(&guarded);
    // The line that is not written to its end is left for the next time.
    let whole = new.find('\n').unwrap() as u64 + 1;
    assert_eq!((read["offset"].as_u64(), read["turns"].as_u64()), (Some(length + whole), Some(2)), "{read}");
    assert_eq!(read["usage"]["input"], 17, "{read}");
}

#[test]
fn e_74_the_prompt_of_a_transcript_may_be_a_list_of_blocks_behind_other_lines() {
    let guarded = Guarded::new();
    let path = guarded.agent_transcript(AGENT, "");
    let blocks = json!([{"type": "text", "text": guarded.prompt()}]);
    let user = json!({"type": "user", "message": {"role": "user", "content": blocks}});
    let noise = "x".repeat(1 << 20);
    let lines = format!(
        "{}\nno json\n{user}\n{}\n{{\"torn",
        json!({"type": "attachment", "text": noise}),
        answer("m", 1, 1)
    );
    fs::write(&path, lines).unwrap();
    let stop = guarded.send("SubagentStop", json!({"agent_id": AGENT, "agent_transcript_path": path}));
    holds(&stop.blocked(), &["step 01-01", "Phase RED NOT_EXECUTED"]);
}

#[test]
fn state_that_the_agent_wrote_by_hand_is_taken_over_phase_by_phase() {
    let guarded = Guarded::new().at_work();
    guarded.edit(|step| {
        step["tdd_cycle"]["phase_execution_log"][0]["status"] = json!("IN_PROGRESS");
        step["tdd_cycle"]["phase_execution_log"][0]["started_at"] = json!("2026-01-01T12:00:00Z");
    });
    holds(&guarded.sub_stop(AGENT).blocked(), &["Phase RED left IN_PROGRESS (abandoned)"]);
    let started = guarded.last("PHASE_STARTED");
    assert_eq!((&started["phase"], &started["source"]), (&json!("RED"), &json!("edited_by_hand")));
    assert!(guarded.events().contains(&"STATE_IMPORTED".to_owned()));
    // The end of one phase and the beginning of the next may share a save, and commands go on from there.
    guarded.edit(|step| {
        let log = &mut step["tdd_cycle"]["phase_execution_log"];
        log[0]["status"] = json!("EXECUTED");
        log[0]["outcome"] = json!("PASS");
        log[1]["status"] = json!("IN_PROGRESS");
    });
    guarded.phase(&["done", "01-01", "GREEN", "--outcome", "PASS"]).exits(0);
    guarded.done("COMMIT");
    guarded.sub_stop(AGENT).passes();
    assert_eq!(guarded.status(), "DONE");
}

#[test]
fn several_phases_in_one_save_are_refused_and_the_file_is_as_it_was() {
    let guarded = Guarded::new().at_work();
    let before = guarded.env.read(STEP);
    let cheat = |step: &mut Value| {
        step["state"]["status"] = json!("DONE");
        for index in 0..3 {
            let record = &mut step["tdd_cycle"]["phase_execution_log"][index];
            record["status"] = json!("EXECUTED");
            record["outcome"] = json!("PASS");
        }
    };
    guarded.edit(cheat);
    holds(
        &guarded.sub_stop(AGENT).blocked(),
        &["batching: 3 phases were changed in one save: RED, GREEN, COMMIT"],
    );
    assert_eq!(guarded.env.read(STEP), before);
    assert_eq!(guarded.last("STATE_IMPORTED")["recovery_action"], "restored");
    // The same by command and at the commit.
    guarded.edit(cheat);
    guarded.phase(&["start", "01-01", "RED"]).exits(1).says("batching");
    assert_eq!(guarded.env.read(STEP), before);
    guarded.edit(cheat);
    guarded.env.run(&["commit-gate"]).exits(1).says("batching");
    assert_eq!(guarded.env.read(STEP), before);
    guarded.env.run(&["verify"]).exits(0);
}

#[test]
fn an_edit_of_another_step_in_the_same_file_does_not_get_in_with_a_lawful_one() {
    let guarded = Guarded::new();
    let file = "docs/execution-status.yaml";
    let mut text =
        "execution_status:\n  schema_version: \"1.0\"\n  project_id: greeting\n  completed_steps: []\n"
            .to_owned();
    for id in ["03-01", "03-02"] {
        let _ =
            writeln!(text, "  step_checkpoint_{}:\n    step_id: \"{id}\"\n    phases:", id.replace('-', "_"));
        for (i, name) in THREE.iter().enumerate() {
            let _ = writeln!(
                text,
                "      - phase_index: {i}\n        phase_name: {name}\n        status: NOT_EXECUTED"
            );
        }
    }
    guarded.env.file(file, text);
    guarded.committed("A file for many steps");
    for (id, agent) in [("03-01", "a1"), ("03-02", "a2")] {
        let prompt = guarded.prompt().replace(STEP, file).replace("01-01", id);
        guarded.spawn_as(&format!("toolu_{id}"), json!({"prompt": prompt}), json!({})).passes();
        guarded.sub_start(agent).passes();
    }
    guarded.phase(&["start", "03-01", "RED"]).exits(0);
    let before = guarded.env.read(file);
    // All of the second step, and one lawful change of the first, in one save.
    let forged = before.replacen("status: IN_PROGRESS", "status: FAILED\n        outcome: FAIL", 1);
    let forged = forged.replace("status: NOT_EXECUTED", "status: COMPLETED\n        outcome: PASS");
    guarded.env.file(file, &forged);
    holds(&guarded.sub_stop("a1").blocked(), &["batching"]);
    assert_eq!(guarded.env.read(file), before);
    guarded.sub_stop("a2").blocked();
}

#[test]
fn ds_29_a_projects_own_phases_are_followed() {
    let phases = "version: \"9\"\nphases:\n  - name: PLAN\n  - name: BUILD\n";
    let guarded = Guarded::of(&step("01-01", &["PLAN", "BUILD"]));
    guarded.env.file("phases.yaml", phases).file("seriatim.toml", "[guard]\nphases = \"phases.yaml\"\n");
    guarded.committed("Own phases");
    let guarded = guarded.at_work();
    holds(&guarded.sub_stop(AGENT).blocked(), &["Phase PLAN NOT_EXECUTED", "Phase BUILD NOT_EXECUTED"]);
    guarded.all_done();
    guarded.sub_stop(AGENT).passes();
}

#[test]
fn a_state_file_that_is_gone_or_broken_is_written_again() {
    let guarded = Guarded::new().at_work();
    guarded.done("RED");
    let before = guarded.env.read(STEP);
    fs::remove_file(guarded.env.path(STEP)).unwrap();
    holds(&guarded.sub_stop(AGENT).blocked(), &["Phase GREEN NOT_EXECUTED"]);
    assert_eq!(guarded.env.read(STEP), before);
    holds(&guarded.last("INTEGRITY_INCIDENT")["what"].to_string(), &["the state file was removed"]);
    guarded.env.file(STEP, "{");
    holds(&guarded.sub_stop(AGENT).blocked(), &["Step file invalid JSON", "Phase GREEN NOT_EXECUTED"]);
    assert_eq!(guarded.env.read(STEP), before);
}

#[test]
fn what_was_forged_between_two_tries_is_undone_before_the_second_begins() {
    let guarded = Guarded::new().at_work();
    guarded.done("RED");
    guarded.spawn_done(CALL, json!({"status": "completed", "agentId": AGENT})).blocked();
    let before = guarded.env.read(STEP);
    guarded.edit(|step| {
        let record = &mut step["tdd_cycle"]["phase_execution_log"][1];
        record["status"] = json!("COMPLETED");
        record["outcome"] = json!("PASS");
    });
    guarded.spawn(&guarded.prompt()).passes();
    assert_eq!(guarded.env.read(STEP), before);
    holds(
        &guarded.last("STATE_IMPORTED")["refused"].to_string(),
        &["phase GREEN went from NOT_EXECUTED to EXECUTED"],
    );
}
