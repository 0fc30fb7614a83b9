//! What the guard tells about steps and projects, and a step that stops in the middle.

use serde_json::json;

use crate::guard::AGENT;
use crate::guard::Guarded;
use crate::guard::STEP;
use crate::guard::answer;
use crate::guard::step;

// DS-86, DS-118, DS-123: over steps and projects, with what their agents used.
#[test]
fn ds_123_a_summary_over_steps_and_projects() {
    let guarded = Guarded::new();
    guarded.state("steps/01-02.json", &step("01-02", &["RED", "GREEN", "COMMIT"]));
    guarded.committed("Another step");
    let guarded = guarded.at_work();
    guarded.done("RED");
    guarded.sub_stop(AGENT).blocked();
    let (summary, exit) = guarded.env.json(&["status", "--summary"]);
    assert_eq!(exit, Some(0));
    let rows = summary["steps"].as_array().unwrap();
    assert_eq!(rows.len(), 2, "{summary}");
    assert_eq!(rows[0]["step"], "01-01");
    assert_eq!((&rows[0]["phases_closed"], &rows[0]["phases"]), (&json!(1), &json!(3)));
    assert_eq!((&rows[0]["last_stop"], &rows[0]["guarded"]), (&json!("error"), &json!(true)));
    assert_eq!(rows[0]["invocations"], 1);
    assert_eq!((&rows[1]["status"], &rows[1]["last_stop"]), (&json!("TODO"), &json!(null)));
    let project = rows[0]["project"].as_str().unwrap().to_owned();
    assert_eq!(summary["projects"][&project]["steps"], 2, "{summary}");
    assert_eq!(summary["projects"][&project]["open"], 1, "{summary}");
    guarded.env.run(&["status", "--summary"]).exits(0).says("0 of 2 steps done, 1 open under the guard");
    // The book of the guard is no run that anybody waits for.
    guarded.env.run(&["status"]).exits(0).says("Nothing has run in this workspace yet.");
}

// DS-65, DS-83, E-81: what is left is said, the agent may stop, and the step can be resumed.
#[test]
fn ds_83_a_step_that_stops_in_the_middle_says_what_is_left() {
    let guarded = Guarded::new().at_work();
    guarded.done("RED");
    guarded
        .phase(&["partial", "01-01", "--suggest", "Make the test green"])
        .exits(0)
        .says("step 01-01: PARTIAL");
    guarded.sub_stop(AGENT).passes();
    assert_eq!(guarded.status(), "PARTIAL");
    let told = guarded.step();
    assert!(told.to_string().contains("Make the test green"), "{told}");
    guarded.phase(&["start", "01-01", "GREEN"]).exits(0);
    assert_eq!(guarded.status(), "IN_PROGRESS");
    guarded.phase(&["partial", "nowhere", "--suggest", "x"]).exits(2).says("no state file of this workspace");
}

// DS-71: what a prompt and its refusal cost is on the trail.
#[test]
fn ds_71_the_cost_of_validation_is_on_record() {
    let guarded = Guarded::new();
    guarded.spawn(crate::guard::BARE).denied();
    let began = guarded.last("TASK_INVOCATION_STARTED");
    let refused = guarded.last("TASK_INVOCATION_REJECTED");
    assert!(began["prompt_tokens"].as_u64().unwrap() > 10, "{began}");
    assert!(refused["answer_tokens"].as_u64().unwrap() > 10, "{refused}");
}

// DS-63: whoever changes the trail is found.
#[test]
fn ds_63_a_changed_trail_is_found_by_verify() {
    let guarded = Guarded::new().at_work();
    let trail = guarded
        .env
        .files_below("steps")
        .into_iter()
        .find(|path| path.to_string_lossy().contains("audit-"))
        .unwrap();
    guarded.env.run(&["verify"]).exits(0);
    let text = std::fs::read_to_string(&trail).unwrap();
    std::fs::write(&trail, text.replacen("VALIDATED", "REJECTED", 1)).unwrap();
    guarded.env.run(&["verify"]).exits(1).says("is not what the record makes it, from line 2 on");
    std::fs::write(&trail, text.lines().skip(1).map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    guarded.env.run(&["verify"]).exits(1).says("from line 1 on");
}

// DS-86: tokens and turns of the whole transcript; its first answer is there from the beginning.
#[test]
fn ds_86_tokens_and_turns_come_from_the_transcript() {
    let guarded = Guarded::new().at_work();
    let transcript = guarded.agent_transcript(AGENT, &guarded.prompt());
    let mut text = std::fs::read_to_string(&transcript).unwrap();
    text.push_str(&format!("{}\n{}\n", answer("m1", 100, 20), answer("m2", 10, 5)));
    std::fs::write(&transcript, text).unwrap();
    guarded.all_done();
    let stop = json!({"agent_id": AGENT, "agent_type": "dev", "stop_hook_active": false, "agent_transcript_path": transcript});
    guarded.send("SubagentStop", stop).passes();
    let (summary, _) = guarded.env.json(&["status", "--summary"]);
    assert_eq!(summary["steps"][0]["turns"], 3, "{summary}");
    assert_eq!(summary["steps"][0]["tokens"]["total"], 150, "{summary}");
    assert_eq!(summary["steps"][0]["file"], STEP);
}

// DS-97: a phase that leaves all tests green cannot pass with a red one.
#[test]
fn ds_97_a_green_phase_has_no_red_test() {
    let guarded = Guarded::fourteen().at_work();
    for phase in ["PREPARE", "RED_ACCEPTANCE", "RED_UNIT", "GREEN_UNIT", "CHECK_ACCEPTANCE"] {
        guarded.done(phase);
    }
    guarded.phase(&["start", "01-01", "GREEN_ACCEPTANCE"]).exits(0);
    let done = ["done", "01-01", "GREEN_ACCEPTANCE", "--outcome", "PASS"];
    guarded
        .phase(&[&done[..], &["--tests", "5,4,1"]].concat())
        .exits(1)
        .says("GREEN_ACCEPTANCE ends with all tests green, and 1 failed");
    guarded.phase(&[&done[..], &["--tests", "5,5,0"]].concat()).exits(0);
}

// DS-63: a record that was taken away leaves lines behind that nobody else can have written.
#[test]
fn ds_63_a_record_that_is_gone_is_found() {
    let guarded = Guarded::new().at_work();
    for file in ["journal.db", "journal.db-wal", "journal.db-shm"] {
        let _ = std::fs::remove_file(guarded.env.stored(file));
    }
    guarded.spawn(crate::guard::BARE).denied();
    guarded.env.run(&["verify"]).exits(1).says("the record that made them is gone");
}
