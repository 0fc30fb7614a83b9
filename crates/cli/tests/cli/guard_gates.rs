//! Gates at a stop, what is advised when something is refused, and what else a guard must not be silent about.

use std::fs;

use serde_json::Value;
use serde_json::json;

use crate::guard::AGENT;
use crate::guard::Guarded;
use crate::guard::STEP;
use crate::guard::THREE;
use crate::guard::holds;
use crate::guard::step;

/// A gate as the configuration has it.
fn gate(name: &str, script: &str, more: &str) -> String {
    format!("[gates.{name}]\ncommand = [\"sh\", \"-c\", {script:?}]\n{more}")
}

fn with_gates(gates: &[String]) -> Guarded {
    let guarded = Guarded::new();
    guarded.env.file("seriatim.toml", gates.concat());
    guarded.committed("Gates");
    guarded.at_work()
}

/// What the gates showed at the last stop.
fn shown(guarded: &Guarded) -> Vec<(String, String)> {
    let evidence = guarded.last("SUBAGENT_STOP_VALIDATION")["evidence"].clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    evidence.as_array().unwrap().iter().map(|one| (text(&one["gate"]), text(&one["result"]))).collect()
}

fn pairs(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter().map(|(gate, result)| ((*gate).to_owned(), (*result).to_owned())).collect()
}

// DS-97, DS-101, DS-104: all five are run, and green ones are evidence, not warnings.
#[test]
fn ds_97_every_gate_that_is_configured_is_evidence_of_a_stop() {
    let guarded = with_gates(&[
        gate("security", "true", ""),
        gate(
            "tests",
            "echo 'test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out'",
            "",
        ),
        gate("lint", "true", ""),
        gate("acceptance", "true", ""),
        gate("coverage", "echo 'total: 81%'", "value = 'total: ([0-9.]+)%'\nthreshold = 80\n"),
        // One that is not meant for steps.
        gate("deploy", "false", ""),
    ]);
    guarded.all_done();
    guarded.sub_stop(AGENT).passes();
    let names = ["tests", "lint", "acceptance", "coverage", "security"];
    assert_eq!(shown(&guarded), pairs(&names.map(|name| (name, "green"))));
    let validated = guarded.last("SUBAGENT_STOP_VALIDATION");
    assert_eq!((&validated["status"], &validated["warnings"]), (&json!("success"), &json!([])));
    holds(&validated["evidence"].to_string(), &["3 tests ran, all passed", "81%"]);
    guarded.env.run(&["commit-gate"]).exits(0);
}

// DS-94: a red gate is an error with its name and its last words; one that could not do its work is told from it.
#[test]
fn ds_94_red_gates_and_broken_ones_are_told_apart_and_hold_the_commit() {
    let guarded = with_gates(&[
        gate("tests", "echo \"ImportError: no module named 'dough'\"; exit 1", ""),
        gate("lint", "echo 'greet.sh:1: trailing space'; exit 1", ""),
        gate("coverage", "echo 'total: 79.9%'", "value = 'total: ([0-9.]+)%'\nthreshold = 80\n"),
        gate("security", "exec no-such-scanner", ""),
    ]);
    guarded.all_done();
    let reason = guarded.sub_stop(AGENT).blocked();
    holds(
        &reason,
        &[
            "G6: `tests` is red: the tests failed; proves nothing: something could not be imported (exit code 1): \
             ImportError: no module named 'dough'",
            "Gate `lint` is red: it failed with exit code 1: greet.sh:1: trailing space",
            "Gate `coverage` is red: 79.9%, but at least 80% is demanded",
            "Gate `security` is broken: its command could not be run (exit code 127)",
        ],
    );
    assert_eq!(
        shown(&guarded),
        pairs(&[("tests", "red"), ("lint", "red"), ("coverage", "red"), ("security", "broken")])
    );
    guarded.env.run(&["commit-gate"]).exits(1).says("Gate `lint` is red").says("`security` is broken");
}

// A gate that does not end is not waited for, and nobody takes it for green: its own limit is the project's word about it.
#[test]
fn a_gate_that_does_not_end_within_its_own_time_is_broken_and_objects() {
    let guarded = with_gates(&[gate("tests", "sleep 60", "timeout = \"1s\"\n"), gate("lint", "true", "")]);
    guarded.all_done();
    let reason = guarded.sub_stop(AGENT).blocked();
    holds(&reason, &["G6: `tests` is broken: it did not end within its 1.0 s"]);
    assert_eq!(shown(&guarded), pairs(&[("tests", "broken"), ("lint", "green")]));
}

#[test]
fn oc_98_a_gate_is_run_within_the_command_that_it_names() {
    let guarded = with_gates(&[gate("lint", "test -f greet.sh", "within = [\"env\", \"-C\", \"src\"]\n")]);
    guarded.all_done();
    guarded.sub_stop(AGENT).passes();
    assert_eq!(shown(&guarded), pairs(&[("lint", "green")]));
    let validated = guarded.last("SUBAGENT_STOP_VALIDATION");
    holds(&validated.to_string(), &["env", "-C"]);
}

// DS-27: an agent that is sent back may mend what was found, though every phase is recorded; one that is not may not.
#[test]
fn who_is_sent_back_for_a_red_gate_can_mend_it() {
    let guarded = with_gates(&[gate("lint", "grep -q morning src/greet.sh", "")]);
    guarded.all_done();
    let edit = || {
        let path = guarded.env.path("src/greet.sh");
        let input = json!({"file_path": path, "old_string": "hello", "new_string": "good morning"});
        guarded.send("PreToolUse", json!({"tool_name": "Edit", "tool_input": input, "agent_id": AGENT}))
    };
    holds(&edit().denied(), &["is complete; stop and report"]);
    let reason = guarded.sub_stop(AGENT).blocked();
    holds(&reason, &["Gate `lint` is red", "Mend what the gate names"]);
    assert!(!reason.contains("seriatim phase"), "{reason}");
    edit().passes();
    guarded.env.file("src/greet.sh", "echo good morning\n");
    guarded.sub_stop(AGENT).passes();
    holds(&edit().denied(), &["is complete"]);
}

// DS-66: each refusal says what to do about it, and nothing else.
#[test]
fn ds_66_the_advice_fits_what_is_wrong() {
    let guarded = Guarded::new().with_git_hooks().at_work();
    let open = guarded.sub_stop(AGENT).blocked();
    holds(&open, &["seriatim phase start 01-01 PHASE", "seriatim phase partial 01-01"]);
    assert!(!open.contains("git restore"), "{open}");
    guarded.all_done();
    guarded.env.file("README.md", "Rewritten.\n");
    let outside = guarded.sub_stop(AGENT).blocked();
    holds(&outside, &["Unexpected modification: README.md", "git restore FILE"]);
    assert!(!outside.contains("seriatim phase"), "{outside}");
    guarded.git(&["add", "--all"]);
    let commit = guarded.git(&["commit", "--message=Out"]).exits(1);
    commit.says("git restore FILE");
    guarded.git(&["restore", "--staged", "--worktree", "README.md"]).exits(0);
    guarded.sub_stop(AGENT).passes();
}

/// A sub-agent whose files lie beside the transcript, and of which no hook knows.
fn ghost(guarded: &Guarded, id: &str) {
    let folder = guarded.transcript().with_extension("").join("subagents");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(format!("agent-{id}.meta.json")), "{\"toolUseId\": \"toolu_ghost\"}").unwrap();
}

// Reconciliation: at the stop of a sub-agent, too, with advice that fits, and in the summary.
#[test]
fn sub_agents_that_no_hook_saw_are_found_at_the_stop_of_another_one() {
    let guarded = Guarded::new().at_work();
    guarded.all_done();
    ghost(&guarded, "ghost1");
    let (summary, _) = guarded.env.json(&["status", "--summary"]);
    assert_eq!(summary["projects"]["greeting"]["held"], 1, "{summary}");
    holds(&summary["steps"][0]["holds"].to_string(), &["Sub-agent ghost1 was started without any hook"]);
    let reason = guarded.sub_stop(AGENT).blocked();
    holds(&reason, &["Sub-agent ghost1 was started without any hook seeing it", "seriatim inbox"]);
    assert!(!reason.contains("seriatim phase"), "{reason}");
    holds(&guarded.last("INTEGRITY_INCIDENT")["what"].to_string(), &["Sub-agent ghost1"]);
    for _ in 0..4 {
        guarded.sub_stop(AGENT).blocked();
    }
    guarded.sub_stop(AGENT).passes();
    let (summary, _) = guarded.env.json(&["status", "--summary"]);
    assert_eq!(summary["steps"][0]["holds"].as_array().unwrap().len(), 1, "{summary}");
    guarded.env.run(&["answer", "q1", "retry"]).exits(0);
    let (summary, _) = guarded.env.json(&["status", "--summary"]);
    assert_eq!(summary["projects"]["greeting"]["held"], 0, "{summary}");
    guarded.sub_stop(AGENT).passes();
}

// K-05: DONE is final, and nothing points to a way back that is none.
#[test]
fn k_05_a_finished_step_is_final_and_every_refusal_says_the_same() {
    let guarded = Guarded::new().at_work();
    guarded.all_done();
    guarded.sub_stop(AGENT).passes();
    let words = "what is still to be done needs a step of its own";
    let denied = guarded.spawn(&guarded.prompt()).denied();
    holds(&denied, &["Step 01-01 is complete", words]);
    assert!(!denied.contains("reopen"), "{denied}");
    let start = &["start", "01-01", "RED"][..];
    let reopen = &["reopen", "01-01", "RED", "--note", "again"];
    let done = &["done", "01-01", "RED", "--outcome", "PASS"];
    for args in [start, reopen, done] {
        let refused = guarded.phase(args).exits(1).says(words);
        assert!(!refused.stderr.contains("`reopen`"), "{}", refused.stderr);
    }
    // What is named works: a step of its own can be begun.
    guarded.state("steps/01-02.json", &step("01-02", &THREE));
    guarded.spawn(&guarded.prompt_for("steps/01-02.json")).passes();
}

// DS-66: what another hand puts below the folder of the guard is named; what the guard writes there is not.
#[test]
fn ds_66_files_that_are_not_ours_below_the_state_folder_are_violations() {
    let guarded = Guarded::new().at_work();
    guarded.all_done();
    guarded.env.store_file("foo", "y\n").store_file("guard/bar", "y\n");
    let reason = guarded.sub_stop(AGENT).blocked();
    holds(
        &reason,
        &["Unexpected modification: .git/seriatim/foo", "Unexpected modification: .git/seriatim/guard/bar"],
    );
    assert_eq!(reason.matches("Unexpected modification").count(), 2, "{reason}");
    fs::remove_file(guarded.env.stored("foo")).unwrap();
    fs::remove_file(guarded.env.stored("guard/bar")).unwrap();
    guarded.sub_stop(AGENT).passes();
}

// DS-66: patterns of a wrong type bound nothing, so they are no declaration.
#[test]
fn ds_66_patterns_of_a_wrong_type_are_an_error_in_a_check_and_at_the_door() {
    for wrong in [json!("src/**"), json!(5), json!({"src": true}), json!(["src/**", 7])] {
        let mut given = step("01-01", &THREE);
        given["task_specification"]["allowed_file_patterns"] = wrong.clone();
        let guarded = Guarded::of(&given);
        let words = "`allowed_file_patterns` must be a list of texts";
        guarded.env.run(&["check", STEP]).exits(1).says(words);
        let reference = Guarded::new();
        holds(&guarded.spawn(&reference.prompt()).denied(), &[words]);
    }
    Guarded::new().env.run(&["check", STEP]).exits(0);
}

// E-78: a last line without its end is what a loss of power leaves behind; an altered one is somebody's doing.
#[test]
fn e_78_a_half_written_line_is_recorded_as_such_and_not_as_altered() {
    let guarded = Guarded::new().at_work();
    let trail = || {
        guarded.env.files_below("steps").into_iter().find(|path| path.to_string_lossy().contains("audit-"))
    };
    let path = trail().unwrap();
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{whole}{{\"event\":\"half")).unwrap();
    guarded.done("RED");
    let what = guarded.last("INTEGRITY_INCIDENT")["what"].as_str().unwrap().to_owned();
    holds(&what, &["its last line was not written to its end"]);
    assert!(!what.contains("altered"), "{what}");
    assert!(guarded.trail().iter().all(Value::is_object));
    guarded.env.run(&["verify"]).exits(0);
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, whole.replacen("VALIDATED", "REJECTED", 1)).unwrap();
    guarded.done("GREEN");
    holds(&guarded.last("INTEGRITY_INCIDENT")["what"].to_string(), &["it was altered"]);
}

#[test]
fn a_client_that_nobody_knows_is_named_with_those_that_are_known() {
    let guarded = Guarded::new();
    for args in [&["hook", "--client", "foo"][..], &["hook", "--client=foo"]] {
        let said = guarded.env.run(args).exits(2);
        said.says("foo").says("the clients are claude, codex and gemini");
    }
}

#[test]
fn a_watchdog_of_no_minutes_is_a_mistake_and_recovers_nothing() {
    let guarded = Guarded::new().at_work();
    guarded.phase(&["start", "01-01", "RED"]).exits(0);
    guarded.env.run(&["watchdog", "--minutes", "0"]).exits(2).says("0 is not in 1..");
    assert_eq!(guarded.status(), "IN_PROGRESS");
}

// Settings of the project, of one person in it, and of the user can each switch the guard off.
#[test]
fn guard_status_names_whatever_switches_all_hooks_off() {
    for (file, home) in [
        (".claude/settings.json", false),
        (".claude/settings.local.json", false),
        (".claude/settings.json", true),
    ] {
        let guarded = Guarded::new();
        guarded.sh("seriatim guard install --client claude --yes").exits(0);
        guarded.sh("seriatim guard status").exits(0);
        let path = match home {
            true => guarded.env.root.with_file_name("home").join(file),
            false => guarded.env.path(file),
        };
        let text = fs::read_to_string(&path).unwrap_or_else(|_| "{}".to_owned());
        let mut settings: Value = serde_json::from_str(&text).unwrap();
        settings["disableAllHooks"] = json!(true);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, settings.to_string()).unwrap();
        let said = guarded.sh("seriatim guard status").exits(1);
        said.says("guarded, with gaps").says(&format!("{file} switches all hooks off (`disableAllHooks`)"));
    }
}
