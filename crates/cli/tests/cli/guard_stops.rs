//! An agent comes to its end: whether it may, and what becomes of its step (DS-32 to DS-48, DS-64 to DS-67).

use serde_json::Value;
use serde_json::json;

use crate::guard::AGENT;
use crate::guard::CALL;
use crate::guard::Guarded;
use crate::guard::STEP;
use crate::guard::holds;
use crate::guard::step;
use crate::phases::FOURTEEN;

fn phase(step: &mut Value, index: usize) -> &mut Value {
    &mut step["tdd_cycle"]["phase_execution_log"][index]
}

// DS-67, DS-62.
#[test]
fn ds_67_ds_62_who_did_nothing_is_sent_back_and_after_five_times_let_go_as_a_silent_completion() {
    let guarded = Guarded::fourteen().at_work();
    assert_eq!(guarded.status(), "IN_PROGRESS");
    for _ in 0..5 {
        let reason = guarded.sub_stop(AGENT).blocked();
        holds(&reason, &["You cannot stop yet", "Phase PREPARE NOT_EXECUTED", "seriatim phase start 01-01"]);
    }
    guarded.sub_stop(AGENT).passes();
    let state = guarded.step()["state"].clone();
    assert_eq!(state["status"], "FAILED");
    assert_eq!(state["failure_reason"], "Agent completed without updating step file");
    assert_eq!(state["can_retry"], true);
    // DS-81: what can be done about it.
    let suggestions = [
        "Check agent transcript for errors",
        "Verify prompt contained all required instructions",
        "Retry with more explicit phase update requirements",
    ];
    assert_eq!(state["recovery_suggestions"], json!(suggestions));
    assert_eq!(guarded.last("SILENT_COMPLETION_DETECTED")["recovery_action"], "marked_as_failed");
    // DS-48: the caller is not left with the agent's own word.
    let done = guarded.spawn_done(CALL, json!({"status": "completed", "agentId": AGENT}));
    holds(&done.blocked(), &["step 01-01", "is not complete", "seriatim inbox"]);
    guarded.stop(json!({"background_tasks": []})).passes();
}

#[test]
fn a_step_that_stays_incomplete_waits_for_a_person_whose_answer_lifts_the_hold() {
    let guarded = Guarded::new().at_work();
    for _ in 0..5 {
        guarded.sub_stop(AGENT).blocked();
    }
    guarded.sub_stop(AGENT).passes();
    guarded.env.run(&["inbox"]).exits(0).says("A step is held").says("sent back 5 times");
    // DS-48: nothing goes on before that.
    holds(&guarded.spawn(&guarded.prompt()).denied(), &["is held until a person has decided"]);
    let words = json!({"tool_name": "SendMessage", "tool_input": {"to": AGENT, "message": "Go on."}});
    holds(&guarded.send("PreToolUse", words).denied(), &["is held until a person has decided"]);
    guarded.env.run(&["answer", "q1", "retry"]).exits(0).says("Try it again");
    guarded.env.run(&["inbox"]).exits(0).says("Nothing waits for you");
    guarded.spawn(&guarded.prompt()).passes();
    guarded.sub_start("a2").passes();
    assert_eq!(guarded.status(), "IN_PROGRESS");
    // The count begins anew, and so does the question.
    for _ in 0..5 {
        guarded.sub_stop("a2").blocked();
    }
    guarded.sub_stop("a2").passes();
    guarded.env.run(&["inbox"]).exits(0).says("A step is held");
    guarded.env.run(&["answer", "q2", "cancel"]).exits(0);
    assert_eq!(guarded.step()["state"]["can_retry"], false);
    holds(&guarded.spawn(&guarded.prompt()).denied(), &["not to be tried again"]);
    guarded.env.run(&["verify"]).exits(0);
}

#[test]
fn ds_76_a_whole_record_passes_in_silence() {
    let guarded = Guarded::fourteen().at_work();
    guarded.all_done();
    assert_eq!(guarded.status(), "DONE");
    guarded.sub_stop(AGENT).passes();
    // DS-47, DS-58: the verdict is on the trail.
    let line = guarded.last("SUBAGENT_STOP_VALIDATION");
    assert_eq!(
        (line["status"].as_str(), line["errors"].as_array().map(Vec::len)),
        (Some("success"), Some(0))
    );
    guarded.spawn_done(CALL, json!({"status": "completed", "agentId": AGENT})).passes();
    guarded.stop(json!({})).passes();
    // DS-54, DS-55, DS-79: every phase left its traces.
    let events = guarded.events();
    let count = |name: &str| events.iter().filter(|event| *event == name).count();
    assert_eq!((count("PHASE_STARTED"), count("PHASE_COMPLETED")), (14, 14));
}

// DS-40, DS-77, DS-119.
#[test]
fn ds_40_ds_77_ds_119_a_phase_in_progress_is_named_and_the_count_ends_with_progress() {
    let guarded = Guarded::new().at_work();
    guarded.phase(&["start", "01-01", "RED"]).exits(0);
    for _ in 0..4 {
        let reason = guarded.sub_stop(AGENT).blocked();
        holds(&reason, &["Phase RED left IN_PROGRESS (abandoned)", "Phase GREEN NOT_EXECUTED"]);
    }
    // Somebody who gets on is not counted out.
    guarded.phase(&["done", "01-01", "RED", "--outcome", "PASS"]).exits(0);
    for _ in 0..5 {
        guarded.sub_stop(AGENT).blocked();
    }
    assert_eq!(guarded.status(), "IN_PROGRESS");
}

#[test]
fn ds_57_a_failed_phase_is_a_warning_only_when_the_step_says_so() {
    let guarded = Guarded::new().at_work();
    guarded.done("RED");
    guarded.phase(&["start", "01-01", "GREEN"]).exits(0);
    guarded.phase(&["fail", "01-01", "GREEN", "--note", "the library is missing"]).exits(0);
    assert_eq!(guarded.last("PHASE_FAILED")["phase"], "GREEN");
    holds(&guarded.sub_stop(AGENT).blocked(), &["Phase COMMIT NOT_EXECUTED"]);
}

/// A stop of an agent whose step was left like this.
fn left_like(change: impl FnOnce(&mut Value)) -> (Guarded, crate::guard::Answer) {
    let mut given = step("01-01", &FOURTEEN);
    given["state"]["status"] = json!("IN_PROGRESS");
    for index in 0..14 {
        let record = phase(&mut given, index);
        record["status"] = json!("EXECUTED");
        record["outcome"] = json!("PASS");
    }
    change(&mut given);
    let guarded = Guarded::of(&step("01-01", &FOURTEEN));
    let path = guarded.agent_transcript(AGENT, &guarded.prompt());
    guarded.state(STEP, &given);
    let event = json!({"agent_id": AGENT, "agent_transcript_path": path});
    let answer = guarded.send("SubagentStop", event);
    (guarded, answer)
}

// DS-42, DS-43, E-83.
#[test]
fn ds_42_ds_43_e_83_what_a_record_lacks_is_an_error() {
    let (_, answer) = left_like(|step| {
        phase(step, 2).as_object_mut().unwrap().remove("outcome");
    });
    holds(&answer.blocked(), &["Phase RED_UNIT EXECUTED without outcome"]);
    let (_, answer) = left_like(|step| phase(step, 6)["status"] = json!("SKIPPED"));
    holds(&answer.blocked(), &["Phase REVIEW SKIPPED without blocked_by"]);
    let (_, answer) = left_like(|step| phase(step, 6)["status"] = json!("WIP"));
    holds(&answer.blocked(), &["Phase REVIEW has the unknown status `WIP`"]);
}

// DS-41, DS-39.
#[test]
fn ds_41_ds_39_a_task_that_is_said_to_be_done_must_be() {
    let (_, answer) = left_like(|step| {
        step["state"]["status"] = json!("COMPLETED");
        phase(step, 3).as_object_mut().unwrap().remove("status");
    });
    holds(&answer.blocked(), &["Task marked DONE but phase GREEN_UNIT NOT_EXECUTED"]);
}

// DS-44, DS-45, DS-46.
#[test]
fn ds_44_ds_45_ds_46_what_is_put_off_is_a_warning_at_the_stop() {
    let (guarded, answer) = left_like(|step| {
        let record = phase(step, 10);
        record["status"] = json!("SKIPPED");
        record["blocked_by"] = json!("DEFERRED: some other day");
    });
    answer.passes();
    let line = guarded.last("SUBAGENT_STOP_VALIDATION");
    assert_eq!(line["status"], "warning");
    let warnings = line["warnings"].to_string();
    holds(
        &warnings,
        &["Phase REFACTOR_L4 has DEFERRED - blocks commit", "Task still IN_PROGRESS after agent stop"],
    );
}

// DS-36, DS-68.
#[test]
fn ds_36_ds_68_a_stop_whose_start_nobody_saw_is_an_incident_and_the_state_decides() {
    let (guarded, answer) = left_like(|step| step["state"]["status"] = json!("DONE"));
    answer.passes();
    let what = guarded.last("INTEGRITY_INCIDENT")["what"].to_string();
    holds(&what, &["whose start no hook has seen"]);
    assert_eq!(guarded.last("SUBAGENT_STOP_VALIDATION")["status"], "success");
    // Where the start was seen there is no incident.
    let guarded = Guarded::new().at_work();
    guarded.all_done();
    guarded.sub_stop(AGENT).passes();
    assert!(!guarded.events().iter().any(|event| event == "INTEGRITY_INCIDENT"));
}

#[test]
fn a_stop_whose_start_nobody_saw_is_held_to_the_scope_too() {
    let guarded = Guarded::new();
    let path = guarded.agent_transcript(AGENT, &guarded.prompt());
    guarded.all_done();
    guarded.env.file("README.md", "Changed by the shell.\n");
    let stop = guarded.send("SubagentStop", json!({"agent_id": AGENT, "agent_transcript_path": path}));
    holds(&stop.blocked(), &["Unexpected modification: README.md"]);
}

// DS-37, E-74.
#[test]
fn ds_37_e_74_an_agent_without_a_step_stops_as_it_likes() {
    let guarded = Guarded::new().at_work();
    for (agent, text) in
        [("b1", "Look around".to_owned()), ("b2", format!("Explain:\n{}", crate::guard::BARE))]
    {
        let path = guarded.agent_transcript(agent, &text);
        guarded.send("SubagentStop", json!({"agent_id": agent, "agent_transcript_path": path})).passes();
    }
    for agent in ["b3", "b4"] {
        guarded.sub_start(agent).passes();
    }
    guarded
        .send("SubagentStop", json!({"agent_id": "b3", "agent_transcript_path": "/nowhere.jsonl"}))
        .passes();
    guarded.send("SubagentStop", json!({"agent_id": "b4"})).passes();
    assert!(!guarded.events().iter().any(|event| event == "SUBAGENT_STOP_VALIDATION"));
}

#[test]
fn an_agent_without_a_step_that_begins_beside_one_is_not_taken_for_it() {
    let guarded = Guarded::new();
    guarded.spawn(&guarded.prompt()).passes();
    guarded.spawn_as("toolu_2", json!({"prompt": "Look around"}), json!({})).passes();
    // The one without a step begins first.
    guarded.sub_start("b1").passes();
    guarded.sub_start(AGENT).passes();
    guarded.agent_transcript("b1", "Look around");
    guarded.agent_transcript(AGENT, &guarded.prompt());
    guarded.sub_stop("b1").passes();
    holds(&guarded.sub_stop(AGENT).blocked(), &["Phase RED NOT_EXECUTED"]);
}

#[test]
fn ds_35_several_agents_at_once_are_told_apart_by_their_calls() {
    let guarded = Guarded::new();
    guarded.state("steps/01-02.json", &step("01-02", &["RED", "GREEN", "COMMIT"])).committed("Another step");
    guarded.spawn(&guarded.prompt()).passes();
    let second = json!({"prompt": guarded.prompt_for("steps/01-02.json"), "run_in_background": false});
    guarded.spawn_as("toolu_2", second, json!({})).passes();
    for agent in ["a2", AGENT] {
        guarded.sub_start(agent).passes();
    }
    for (agent, prompt) in [(AGENT, guarded.prompt()), ("a2", guarded.prompt_for("steps/01-02.json"))] {
        guarded.agent_transcript(agent, &prompt);
    }
    guarded.all_done();
    guarded.sub_stop(AGENT).passes();
    holds(&guarded.sub_stop("a2").blocked(), &["step 01-02", "Phase RED NOT_EXECUTED"]);
}

// K-17, E-81, DS-83.
#[test]
fn k_17_e_81_ds_83_a_partial_end_needs_suggestions_and_a_note() {
    let partial = |suggestions: &[&str], note: bool| {
        let guarded = Guarded::new().at_work();
        guarded.phase(&["start", "01-01", "RED"]).exits(0);
        guarded.edit(|step| {
            step["state"]["status"] = json!("PARTIAL");
            step["execution_result"] =
                json!({"partial_completion": true, "recovery_suggestions": suggestions});
            if note {
                phase(step, 0)["notes"] = json!("half of the tests are written");
            }
        });
        guarded
    };
    let guarded = partial(&["Write the other half of the tests"], true);
    guarded.sub_stop(AGENT).passes();
    let line = guarded.last("SUBAGENT_STOP_VALIDATION");
    assert_eq!(line["status"], "warning");
    holds(
        &line["warnings"].to_string(),
        &["Phase RED left IN_PROGRESS (can be resumed)", "still to do: GREEN, COMMIT"],
    );
    // It can be resumed, and what is done stays done.
    guarded.spawn(&guarded.prompt()).passes();
    guarded.sub_start("a2").passes();
    assert_eq!((guarded.status(), guarded.phases()[0].1.as_str()), ("IN_PROGRESS".to_owned(), "IN_PROGRESS"));
    holds(&partial(&[], true).sub_stop(AGENT).blocked(), &["Task is PARTIAL without recovery_suggestions"]);
    let unsaid = partial(&["Write the other half"], false).sub_stop(AGENT).blocked();
    holds(&unsaid, &["Phase RED left IN_PROGRESS (abandoned)"]);
}

#[test]
fn ds_83_who_cannot_finish_says_so_by_command() {
    let guarded = Guarded::new().at_work();
    guarded.phase(&["start", "01-01", "RED"]).exits(0);
    guarded.phase(&["fail", "01-01", "RED", "--note", "the library is missing"]).exits(0);
    let reason = guarded.sub_stop(AGENT).blocked();
    holds(&reason, &["seriatim phase partial 01-01 --suggest"]);
    guarded.phase(&["partial", "01-01", "--suggest", "Install the library"]).exits(0);
    guarded.sub_stop(AGENT).passes();
    assert_eq!(guarded.status(), "PARTIAL");
    guarded.env.run(&["commit-gate"]).exits(1).says("Phase RED FAILED");
}

#[test]
fn ds_97_the_gates_of_the_project_are_run_when_a_step_is_said_to_be_done() {
    let guarded = Guarded::new();
    let gate = "[gates.tests]\ncommand = [\"sh\", \"-c\", \"grep -q morning src/greet.sh || { echo 1 failed; exit 1; }\"]\n";
    guarded.env.file("seriatim.toml", gate);
    guarded.committed("A gate");
    let guarded = guarded.at_work();
    // Nothing is said to be done yet, so nothing is run.
    assert!(!guarded.sub_stop(AGENT).blocked().contains("G6"));
    guarded.all_done();
    holds(
        &guarded.sub_stop(AGENT).blocked(),
        &[
            "G6: `tests` is red: the tests failed; proves nothing: the command failed, and its output does not say why (exit code 1): 1 failed",
        ],
    );
    guarded.env.run(&["commit-gate"]).exits(1).says("G6: `tests` is red");
    guarded.env.file("src/greet.sh", "echo good morning\n");
    guarded.sub_stop(AGENT).passes();
    let validated = guarded.last("SUBAGENT_STOP_VALIDATION");
    assert_eq!(validated["evidence"], json!([{"gate": "tests", "result": "green", "detail": ""}]));
    assert_eq!((&validated["status"], &validated["warnings"]), (&json!("success"), &json!([])));
    guarded.env.run(&["commit-gate"]).exits(0);
}

#[test]
fn k_96_a_part_of_the_phases_is_an_error_and_what_is_done_is_kept_when_it_is_let_go() {
    let guarded = Guarded::fourteen().at_work();
    for phase in &FOURTEEN[..3] {
        guarded.done(phase);
    }
    guarded.phase(&["start", "01-01", "GREEN_UNIT"]).exits(0);
    for _ in 0..5 {
        holds(&guarded.sub_stop(AGENT).blocked(), &["Phase COMMIT NOT_EXECUTED and task is IN_PROGRESS"]);
    }
    guarded.sub_stop(AGENT).passes();
    // DS-65: partial progress is saved, and what is left is listed.
    let step = guarded.step();
    assert_eq!(
        (step["state"]["status"].as_str(), step["state"]["can_retry"].as_bool()),
        (Some("PARTIAL"), Some(true))
    );
    let text = step.to_string();
    holds(
        &text,
        &["\"partial_completion\":true", "Continue with phase GREEN_UNIT", "Continue with phase COMMIT"],
    );
    let phases = guarded.phases();
    assert!(phases[..3].iter().all(|(_, status)| status == "EXECUTED"), "{phases:?}");
}

#[test]
fn e_80_work_that_nobody_recorded_is_named_and_kept() {
    let guarded = Guarded::new().at_work();
    guarded.env.file("src/greet.sh", "echo good morning\n").file("src/new.sh", "true\n");
    for _ in 0..5 {
        guarded.sub_stop(AGENT).blocked();
    }
    guarded.sub_stop(AGENT).passes();
    let line = guarded.last("SILENT_COMPLETION_DETECTED");
    assert_eq!(line["changed_files"], json!(["src/greet.sh", "src/new.sh"]));
    assert_eq!(guarded.env.read("src/greet.sh"), "echo good morning\n");
}

#[test]
fn ds_82_who_leaves_its_boundaries_fails_and_nothing_is_undone() {
    let guarded = Guarded::new().at_work();
    guarded.done("RED");
    guarded.env.file("README.md", "Rewritten.\n");
    for _ in 0..5 {
        holds(&guarded.sub_stop(AGENT).blocked(), &["Unexpected modification: README.md"]);
    }
    guarded.sub_stop(AGENT).passes();
    let state = guarded.step()["state"].clone();
    assert_eq!(state["failure_reason"], "Agent changed files outside of the step");
    assert_eq!(guarded.env.read("README.md"), "Rewritten.\n");
    assert_eq!(guarded.last("SCOPE_VIOLATION")["what"], "Unexpected modification: README.md");
}
