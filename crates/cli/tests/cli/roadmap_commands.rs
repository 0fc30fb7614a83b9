//! The commands around roadmaps: the state file is made, shown, brought forward, and live sessions hand reports in.

use serde_json::Value;
use serde_json::json;

use crate::roadmap_support::Project;
use crate::roadmap_support::ROADMAP;
use crate::roadmap_support::SEVEN;
use crate::roadmap_support::STATUS;
use crate::support::Env;

/// A project whose roadmap has no state file yet.
fn unbegun() -> Project {
    let project = Project::new();
    std::fs::remove_file(project.env.path(STATUS)).unwrap();
    project.commit("Without a state");
    project
}

/// Steps as `roadmap show` has them: id, status, the open phase.
#[track_caller]
fn steps(env: &Env) -> Vec<(String, String, String)> {
    let (document, _) = env.json(&["roadmap", "show", "calc"]);
    let text = |step: &Value, key: &str| step[key].as_str().unwrap_or("-").to_owned();
    let steps = document["steps"].as_array().unwrap().iter();
    steps.map(|step| (text(step, "step"), text(step, "status"), text(step, "phase"))).collect()
}

// DW-30, DW-31: what is missing is named by its path.
#[test]
fn k_103_init_makes_the_state_file_once() {
    let Project { env } = unbegun();
    env.run(&["roadmap", "init", "soup"])
        .exits(2)
        .says("Roadmap not found at docs/feature/soup/roadmap.yaml");
    env.run(&["roadmap", "init", "No Name"]).exits(2).says("Invalid project id");
    let step = ["run", "step", "@software-crafter", "calc", "01-01"];
    env.run(&step)
        .exits(2)
        .says(&format!("Execution status not found at {STATUS}"))
        .says("seriatim roadmap init calc");
    let (document, exit) = env.json(&["roadmap", "init", "calc"]);
    assert_eq!((exit, &document["created"], &document["steps"]), (Some(0), &json!(STATUS), &json!(3)));
    env.run(&["check", STATUS]).exits(0);
    let text = env.read(STATUS);
    env.run(&["roadmap", "init", "calc"]).exits(2).says(&format!("{STATUS} holds the state of calc already"));
    assert_eq!(env.read(STATUS), text);
    // A state file of any generation counts.
    std::fs::remove_file(env.path(STATUS)).unwrap();
    env.file("docs/feature/calc/steps/01-01.json", "{}");
    env.run(&["roadmap", "init", "calc"]).exits(2).says("docs/feature/calc/steps/01-01.json holds the state");
    assert!(!env.path(STATUS).exists());
}

#[test]
fn e_47_a_roadmap_with_errors_gets_no_state_file() {
    let Project { env } = unbegun();
    let text = env.read(ROADMAP).replace("dependencies: []", "dependencies: [\"01-03\"]");
    env.file(ROADMAP, text);
    env.run(&["roadmap", "init", "calc"]).exits(2).says("01-03").says("roadmap.yaml:");
    assert!(!env.path(STATUS).exists());
}

// DW-96: each step after what it needs.
#[test]
fn dw_97_show_tells_the_place_in_the_queue_and_when_a_step_begins() {
    let Project { env } = unbegun();
    env.run(&["roadmap", "show", "calc"]).exits(0).says("There is no state file yet");
    env.run(&["roadmap", "init", "calc"]).exits(0);
    insta::assert_snapshot!(env.run(&["roadmap", "show", "calc"]).snapshot(), @"
    --- stdout
    calc  [------------------------------] 0 of 3 steps done, 3 open

    step   status  phases  at  tries  agent              waits for  place  begins                name
    01-01  TODO    0/7     -   -      @software-crafter  -          1      TIME  Function add
    01-02  TODO    0/7     -   -      @software-crafter  01-01      2      TIME  Function sub
    01-03  TODO    0/7     -   -      @software-crafter  01-01      3      TIME  Function mul
    --- exit 0
    ");
    let (document, _) = env.json(&["roadmap", "show", "calc"]);
    let queue = &document["steps"][2]["execution_queue"];
    assert_eq!(queue["position"], 3);
    let time = |value: &Value| seriatim_core::time::Utc::parse(value.as_str().unwrap()).unwrap();
    let hours = time(&queue["estimated_start"]).since_ms(time(&queue["queued_at"])) / 3_600_000;
    assert_eq!((hours, &document["steps"][2]["waits_for"]), (2, &json!(["01-01"])));
    env.file(STATUS, "execution_status: [");
    env.run(&["roadmap", "show", "calc"]).exits(1).says("cannot be read");
}

fn step_file(id: &str, status: &str) -> String {
    let phase = |name: &str, index: usize| json!({"phase_name": name, "phase_index": index, "status": "EXECUTED", "outcome": "PASS", "mood": "good"});
    let phases: Vec<Value> = SEVEN.iter().enumerate().map(|(index, name)| phase(name, index)).collect();
    json!({
        "task_id": id, "project_id": "calc", "state": {"status": status},
        "tdd_cycle": {"phase_execution_log": phases}, "scribbles": "kept",
    })
    .to_string()
}

// DW-43, K-12: older files become one, and stay beside it.
#[test]
fn k_12_step_files_are_brought_forward_and_kept() {
    let Project { env } = unbegun();
    env.run(&["roadmap", "migrate", "calc"]).exits(2).says("no state file to bring forward");
    let (one, two) = ("docs/feature/calc/steps/01-01.json", "docs/feature/calc/steps/01-02.json");
    env.file(one, step_file("01-01", "DONE")).file(two, step_file("01-02", "DONE"));
    let (document, exit) = env.json(&["roadmap", "migrate", "calc", "--dry-run"]);
    assert_eq!(
        (exit, &document["changed"], &document["steps"]),
        (Some(0), &json!(false), &json!(["01-01", "01-02"]))
    );
    assert!(env.path(one).exists() && !env.path(STATUS).exists());
    env.run(&["roadmap", "migrate", "calc"]).exits(0).says("written:").says("01-01.json.before-migration");
    assert_eq!(env.read(&format!("{one}.before-migration")), step_file("01-01", "DONE"));
    assert!(!env.path(one).exists() && !env.path(two).exists());
    let text = env.read(STATUS);
    assert!(text.contains("scribbles") && text.contains("mood"), "{text}");
    let found = steps(&env);
    assert_eq!(found[1], ("01-02".to_owned(), "DONE".to_owned(), "-".to_owned()));
    env.run(&["roadmap", "migrate", "calc"]).exits(0).says("nothing was changed");
    assert_eq!(env.read(STATUS), text, "twice is as once");
    // Cut off before the old files were taken away: the same command ends it.
    env.file(one, step_file("01-01", "DONE"));
    env.run(&["roadmap", "migrate", "calc"]).exits(0);
    assert!(!env.path(one).exists());
    assert_eq!(env.read(STATUS), text);
}

#[test]
fn k_12_an_execution_log_is_brought_forward_and_broken_files_are_left_alone() {
    let Project { env } = unbegun();
    let log = "docs/feature/calc/execution-log.yaml";
    let events = "  - \"01-01|PREPARE|EXECUTED|PASS|2026-01-01T10:00:00Z\"\n  - \"01-01|RED_ACCEPTANCE|EXECUTED|PASS|2026-01-01T10:05:00Z\"\n";
    env.file(log, format!("schema_version: \"2.0\"\nproject_id: calc\nevents:\n{events}"));
    env.run(&["roadmap", "migrate", "calc"]).exits(0).says(STATUS);
    assert_eq!(steps(&env)[0], ("01-01".to_owned(), "IN_PROGRESS".to_owned(), "RED_UNIT".to_owned()));
    assert!(env.path(&format!("{log}.before-migration")).exists());
    // The same step in two files: nobody guesses which one counts.
    env.file("docs/feature/calc/steps/01-01.json", step_file("01-01", "DONE"));
    let before = env.read(STATUS);
    env.run(&["roadmap", "migrate", "calc"])
        .exits(1)
        .says("step 01-01 is both in")
        .says("nothing was changed");
    env.file("docs/feature/calc/steps/01-01.json", "{");
    env.run(&["roadmap", "migrate", "calc"]).exits(1).says("cannot be read");
    assert_eq!(env.read(STATUS), before);
}

// DW-14: the engine dispatches, whoever does the work.
#[test]
fn dw_45_a_live_session_takes_assignments_and_hands_its_reports_in() {
    let project = Project::new();
    let env = &project.env;
    env.run(&["report", "01-01", "report.json"]).exits(2).says("nothing has run in this workspace yet");
    let step = ["run", "step", "@software-crafter", "calc", "01-01", "--attach", "--no-input"];
    env.run(&step).exits(3).says("Hand in with:  seriatim report a1 FILE");
    env.run(&["roadmap", "migrate", "calc"]).exits(4).says("this work is unfinished");
    let (inbox, _) = env.json(&["inbox"]);
    let item = &inbox["questions"][0];
    assert_eq!(
        (&item["kind"], &item["step"], &item["phase"]),
        (&json!("assignment"), &json!("01-01"), &json!("PREPARE"))
    );
    assert_eq!(item["brief"]["criteria"], json!(["add of two numbers is right"]));
    assert_eq!(item["brief"]["run"], item["run"]);
    env.run(&["inbox"]).exits(0).says("Function add").says("Hand in with:  seriatim report a1 FILE");

    // What cannot be used is not taken, and everything that is wrong with it is said.
    env.file("report.json", r#"{"status": "fine", "confidence": 300}"#);
    env.run(&["report", "01-01", "report.json"]).exits(1).says("not taken").says("`status` must be");
    let (refused, exit) = env.json(&["report", "a1", "report.json"]);
    assert_eq!((exit, &refused["taken"]), (Some(1), &Value::Null));
    assert!(refused["problems"].as_array().is_some_and(|problems| problems.len() == 2), "{refused}");
    env.run(&["report", "01-02", "report.json"]).exits(2).says("open are a1 (step 01-01)");
    env.run(&["report", "a1", "nowhere.json"]).exits(2).says("cannot be read");
    assert_eq!(env.json(&["inbox"]).0["questions"][0]["id"], "a1");

    // The report lies among the files of the project, and is no part of the work all the same.
    env.file(
        "report.json",
        r#"{"status": "done", "summary": "all set", "handed_in_from": "src/other.json"}"#,
    );
    let (next, exit) = env.json(&["report", "01-01", "report.json", "--no-input"]);
    assert_eq!((exit, &next["taken"]["phase"]), (Some(3), &json!("PREPARE")));
    assert_eq!(next["questions"][0]["header"], "01-01 Function add: RED_ACCEPTANCE");
    env.run(&["report", "a1", "report.json"]).exits(2).says("`a1` is no longer open");

    // A claim is a claim: nothing is red.
    env.run(&["report", "01-01", "report.json", "--no-input"])
        .exits(3)
        .says("The test file tests/test_add.py is not there");
    let test = "from src.add import RESULT\n\n\ndef test_add(self):\n    self.assertEqual(RESULT, 5)\n";
    env.file("tests/test_add.py", test).file("src/add.py", "RESULT = 0\n");
    let recorded = env.run(&["report", "01-01", "report.json", "--no-resume"]).exits(0);
    let run = env.newest();
    recorded.says(&format!("seriatim resume {run}"));
    env.run(&["report", "01-01", "report.json"]).exits(2).says("handed in already");
    env.run(&["resume", &run, "--no-input"]).exits(3).says("01-01 Function add: RED_UNIT");
    env.run(&["log"])
        .exits(0)
        .says("Step 01-01, RED_ACCEPTANCE: refused.")
        .says("Step 01-01, RED_ACCEPTANCE: passed");
    env.run(&["status"]).exits(0).says("01-01 Function add: RED_UNIT");
    env.run(&["cancel", &run]).exits(0);
}

// DW-05, DW-61, DW-63, DW-84: what was said and what was seen, apart.
#[test]
fn dw_63_show_lays_what_the_agent_said_beside_what_the_engine_saw() {
    let project = Project::new();
    let env = &project.env;
    project.agent("[ $SERIATIM_PHASE = GREEN ] || usual; finish");
    project.step("01-01").exits(1).says("GREEN was refused 3 times");
    let run = env.newest();
    let shown = env.run(&["show", &run]).exits(0);
    let line = |phase: &str| {
        shown.stdout.lines().find(|line| line.trim_start().starts_with(phase)).unwrap().to_owned()
    };
    assert!(line("RED_UNIT").contains("done: RED_UNIT passed") && line("RED_UNIT").contains("1 failed"));
    assert!(
        line("GREEN ").contains("FAIL") && line("GREEN ").contains("done: GREEN passed"),
        "{}",
        line("GREEN ")
    );
    let shown = shown
        .says("context:")
        .says("tokens")
        .says("$ sh check.sh")
        .says("refused (")
        .says("FAILED (failures=1, errors=0)");
    shown.says_nothing_of("Traceback");
    env.run(&["show", &run, "-v"]).exits(0).says("Traceback").says("AssertionError: 0 != 5");
    let (document, _) = env.json(&["show", &run]);
    let phases = document["phases"].as_array().unwrap();
    let green: Vec<&Value> = phases.iter().filter(|phase| phase["phase"] == "GREEN").collect();
    assert_eq!(green.len(), 3);
    assert_eq!((&green[0]["outcome"], &green[0]["claim"]["status"]), (&json!("FAIL"), &json!("done")));
    let evidence = document["evidence"].as_array().unwrap();
    assert!(evidence.iter().any(|e| e["phase"] == "GREEN" && e["exit"] == 1 && e["gate"] == "tests"));
    assert_eq!(document["commits"], json!([]));
    assert!(
        document["context"][0]["roadmap_tokens"].as_u64() > document["context"][0]["context_tokens"].as_u64()
    );
    env.run(&["log", &run]).exits(0).says("Step 01-01, GREEN: refused.");
    env.run(&["roadmap", "show", "calc"]).exits(0).says("1 failed").says("FAILED 01-01: GREEN was refused");
}
