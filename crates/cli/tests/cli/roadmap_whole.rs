//! A roadmap of three steps, carried out from its beginning to its end: commits, state, trail, evidence.

use std::process::Command;

use serde_json::Value;

use crate::roadmap_support::Project;
use crate::roadmap_support::SEVEN;
use crate::roadmap_support::STATUS;
use crate::roadmap_support::texts;

/// Whether a program is there; what a test needs and a machine lacks is told on its output.
fn has(program: &str) -> bool {
    let there = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !there {
        println!("{program} is not there: nothing is tested");
    }
    there
}

/// DW-72: three commits for each step, with subjects to the letter and marks by which they are found again.
fn assert_commits(project: &Project) {
    let all: Vec<String> = ["01-01", "01-02", "01-03"].into_iter().flat_map(Project::commits_of).collect();
    assert_eq!(project.subjects(), all);
    let run = project.env.newest();
    let (document, _) = project.env.json(&["show", &run, "--events"]);
    let hashes: Vec<&str> =
        document["events"].as_array().unwrap().iter().filter_map(|event| event["hash"].as_str()).collect();
    let format = "--format=%(trailers:key=Step,valueonly,separator=)|%(trailers:key=Run,valueonly,separator=)|\
                  %(trailers:key=Chain-Head,valueonly,separator=)";
    let marks = project.git(&["log", "--reverse", "-9", format]);
    for (line, step) in marks.lines().zip(["01-01", "01-02", "01-03"].iter().flat_map(|step| [step; 3])) {
        let [of, by, head] = line.split('|').collect::<Vec<_>>()[..] else { panic!("{line}") };
        assert_eq!((of, by), (*step, run.as_str()), "{marks}");
        assert!(hashes.contains(&head), "{head} is no entry of the journal");
    }
}

/// What the state file says about a step that is done.
fn assert_recorded(project: &Project, id: &str, word: &str) {
    let checkpoint = project.checkpoint(id);
    let phases = checkpoint["phases"].as_array().unwrap();
    let names: Vec<&str> = phases.iter().filter_map(|phase| phase["phase_name"].as_str()).collect();
    assert_eq!(names, SEVEN);
    for phase in phases {
        assert_eq!((&phase["status"], &phase["outcome"]), (&"COMPLETED".into(), &"PASS".into()), "{phase:#}");
        assert!(phase["started_at"].is_string() && phase["completed_at"].is_string(), "{phase:#}");
    }
    let green = project.phase(id, "GREEN");
    assert_eq!(green["turn_count"], 2, "{green:#}");
    assert_eq!(green["test_results"]["failed"], 0, "{green:#}");
    let result = &checkpoint["execution_result"];
    assert_eq!(result["success"], true, "{checkpoint:#}");
    let met = &result["acceptance_criteria_met"][0];
    assert_eq!(met["criterion"], format!("{word} of two numbers is right"));
    assert_eq!((&met["met"], &met["evidence"]), (&true.into(), &"tested".into()));
    assert_eq!(result["metrics"]["tokens_used"], 90);
    assert_eq!(result["agent_notes"], "REFACTOR_CONTINUOUS passed, all is well");
    let metrics = &checkpoint["execution_metrics"];
    assert_eq!(metrics["attempts"], 1);
    assert_eq!(metrics["rework_count"], 0);
    assert_eq!(metrics["tokens"], serde_json::json!({"input": 60, "output": 30, "total": 90}));
    let state = &checkpoint["state"];
    assert_eq!((&state["status"], &state["assigned_to"]), (&"DONE".into(), &"software-crafter".into()));
    assert!(state["started_at"].is_string() && state["completed_at"].is_string(), "{state:#}");
    let history: Vec<String> = checkpoint["state_history"].as_array().unwrap().iter().map(changed).collect();
    assert_eq!(history, ["IN_PROGRESS @software-crafter", "DONE system"]);
}

fn changed(entry: &Value) -> String {
    assert!(entry["timestamp"].is_string(), "{entry}");
    format!("{} {}", entry["status"].as_str().unwrap(), entry["actor"].as_str().unwrap())
}

/// DW-69, DW-70, DW-84, DW-90 and DW-49 on the state file; DW-111 and DW-113: it is told as done, too.
#[test]
fn dw_72_a_roadmap_of_three_steps_leaves_nine_commits_and_a_record_of_each_step() {
    let project = Project::new();
    project.all(&[]).exits(0).says("3 of 3 steps are done");
    assert_commits(&project);
    for (id, word) in [("01-01", "add"), ("01-02", "sub"), ("01-03", "mul")] {
        assert_recorded(&project, id, word);
    }
    let status = project.status();
    for (entry, word) in status["completed_steps"].as_array().unwrap().iter().zip(["add", "sub", "mul"]) {
        let files = &entry["files_modified"];
        assert_eq!(texts(&files["implementation"]), [format!("src/{word}.py")], "{entry:#}");
        assert_eq!(texts(&files["tests"]), [format!("tests/test_{word}.py")], "{entry:#}");
        assert_eq!((&entry["phases_executed"], &entry["commit_sha"]), (&7.into(), &Value::Null));
    }
    project.assert_done(&["01-01", "01-02", "01-03"]);
    assert_eq!(project.env.living(), Vec::<String>::new());
    project.env.assert_tidy();

    let shown = project.shown();
    let steps = shown["outcome"]["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 3);
    for step in steps {
        assert_eq!(step["status"], "DONE");
        // DW-98 to DW-105, and DW-106 to DW-113: every item of both reports holds.
        for list in ["coordinator_checklist", "agent_checklist"] {
            let items = step[list].as_array().unwrap();
            assert_eq!(items.len(), 8, "{step:#}");
            assert!(items.iter().all(|item| item["met"] == true), "{step:#}");
        }
    }
    // The tests really ran: what they printed is evidence.
    let evidence = shown["evidence"].as_array().unwrap();
    let red = evidence.iter().find(|e| e["step"] == "01-02" && e["phase"] == "RED_UNIT").unwrap();
    assert!(red["output"].as_str().unwrap().contains("AssertionError: 0 != 5"), "{red:#}");
    let green = evidence.iter().find(|e| e["step"] == "01-03" && e["phase"] == "GREEN").unwrap();
    assert!(green["output"].as_str().unwrap().ends_with("Ran 3 tests in 0.001s\n\nOK"), "{green:#}");
}

/// DW-94 and DW-40: each phase is on the trail when it begins and when it ends, and the log of the step says the same.
#[test]
fn dw_94_the_trail_and_the_log_of_a_step_are_in_its_last_commit() {
    let project = Project::single();
    project
        .step("01-01")
        .exits(0)
        .says("Step 01-01 (Function add) is done: 7 phases, committed as feat(01-01): GREEN");
    let committed = project.git(&["show", "--name-only", "--format=", "HEAD"]);
    let path = |part: &str| committed.lines().find(|line| line.contains(part)).unwrap().to_owned();
    assert!(committed.contains(STATUS), "{committed}");

    let log = project.env.read(&path("docs/feature/calc/logs/"));
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines[..2], ["step 01-01: Function add", "agent @software-crafter"]);
    for (line, phase) in lines[2..].iter().zip(SEVEN) {
        assert!(line.contains(&format!("Z {phase} COMPLETED PASS")), "{log}");
    }

    let trail = project.env.read(&path("docs/feature/calc/audit-"));
    let events: Vec<Value> = trail.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |name: &str| {
        let of = events.iter().filter(|event| event["event"] == name);
        of.filter_map(|event| event["phase"].as_str()).collect::<Vec<_>>()
    };
    assert_eq!(of("PHASE_STARTED"), SEVEN);
    assert_eq!(of("PHASE_COMPLETED"), SEVEN);
    let levels: Vec<&str> = events
        .iter()
        .filter(|event| event["event"] == "COMMIT_VALIDATION_PASSED")
        .filter_map(|event| event["level"].as_str())
        .collect();
    assert_eq!(levels, ["checkpoint", "checkpoint", "final"]);
    assert!(events.iter().all(|event| event["step_file"] == STATUS), "{trail}");
    project.assert_done(&["01-01"]);
}

/// DW-73, E-50 and E-51: the commits in between hold the state with what is pending, and GREEN's files are the step's
/// although the last commit has none of them.
#[test]
fn dw_73_a_checkpoint_marks_what_is_to_come_as_pending_and_commits_the_state_with_the_work() {
    let project = Project::single();
    project.agent("[ $SERIATIM_PHASE = REFACTOR_CONTINUOUS ] || usual; finish");
    project.step("01-01").exits(0);
    let at_green = project.git(&["show", &format!("HEAD~2:{STATUS}")]);
    let reason = "CHECKPOINT_PENDING: after feat(01-01): GREEN";
    assert_eq!(at_green.matches(reason).count(), 3, "{at_green}");
    assert!(!at_green.contains("DEFERRED"), "{at_green}");
    let files = project.git(&["show", "--name-only", "--format=", "HEAD~2"]);
    assert!(files.contains("src/add.py\n") && files.contains("tests/test_add.py\n"), "{files}");
    let last = project.git(&["show", "--name-only", "--format=", "HEAD"]);
    assert!(!last.contains("src/add.py"), "{last}");
    let status = project.status();
    assert_eq!(texts(&status["completed_steps"][0]["files_modified"]["implementation"]), ["src/add.py"]);
    assert!(!project.env.read(STATUS).contains("CHECKPOINT_PENDING"));
}

#[test]
fn a_step_that_is_done_is_not_done_again() {
    let project = Project::short();
    project.step("01-01").exits(0);
    let (head, calls) = (project.git(&["rev-parse", "HEAD"]), project.calls());
    project.step("01-01").exits(0).says("Step 01-01 is done already; there is nothing to do.");
    project.all(&[]).exits(0).says("1 of 1 steps are done; there was nothing to do.");
    assert_eq!((project.git(&["rev-parse", "HEAD"]), project.calls()), (head, calls));
}

#[test]
fn a_step_goes_through_its_phases_with_the_real_unittest_of_python() {
    if !has("python3") {
        return;
    }
    let project = Project::single();
    let config = project.env.read("seriatim.toml");
    let command = r#"["python3", "-m", "unittest", "discover", "-s", "tests", "-t", ".", "-v"]"#;
    project.with("seriatim.toml", &config.replace(r#"["sh", "check.sh"]"#, command));
    project.step("01-01").exits(0);
    project.assert_done(&["01-01"]);
    let red = &project.tries("01-01", "RED_ACCEPTANCE")[0]["evidence"][0];
    assert!(red["words"].as_str().unwrap().starts_with("1 test ran, 1 failed: test_add"), "{red:#}");
}

/// A crate with a function, tested by a test of its own; its target folder is out of the way of everything else.
#[test]
fn a_step_goes_through_its_phases_in_a_cargo_project_and_a_compile_error_is_not_red() {
    if !has("cargo") {
        return;
    }
    let project = Project::single();
    let roadmap = project.env.read(crate::roadmap_support::ROADMAP);
    let roadmap = roadmap.replace("tests/test_add.py", "tests/add.rs").replace("src/add.py", "src/lib.rs");
    let config = project.env.read("seriatim.toml");
    let target = project.stage("target").display().to_string();
    let command = format!(r#"["cargo", "test", "--offline", "--quiet", "--target-dir", "{target}"]"#);
    let config = config.replace(r#"["sh", "check.sh"]"#, &command);
    let names: Vec<&str> = ["CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"]
        .into_iter()
        .filter(|name| std::env::var_os(name).is_some())
        .collect();
    let env = if names.is_empty() { String::new() } else { format!("env = {names:?}\n") };
    project
        .with(crate::roadmap_support::ROADMAP, &roadmap)
        .with("seriatim.toml", &format!("{config}{env}"))
        .with(
            "Cargo.toml",
            "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n",
        )
        .with(".gitignore", "Cargo.lock\n")
        .with("src/lib.rs", "//! Sums.\n");
    project.agent(
        r#"lib() { printf '//! Sums.\npub fn add(a: i32, b: i32) -> i32 {\n    %s\n}\n' "$1" >src/lib.rs; }
        case "$SERIATIM_PHASE $number" in
        "RED_ACCEPTANCE 1")
            printf '#[test]\nfn adds() {\n    assert_eq!(calc::add(3, 2), 5);\n}\n' >tests/add.rs ;;
        "RED_ACCEPTANCE 2") lib 'a - b' ;;
        "GREEN 1") lib 'a + b' ;;
        esac
        finish"#,
    );
    let homes = names.iter().map(|name| (*name, std::env::var_os(name).unwrap()));
    let mut command =
        project.env.command(&["run", "step", "@software-crafter", "calc", "01-01", "--no-input", "-q"]);
    command.envs(homes);
    project.env.start_command(command).output().exits(0);
    project.assert_done(&["01-01"]);
    let red = project.tries("01-01", "RED_ACCEPTANCE");
    assert_eq!((&red[0]["outcome"], &red[1]["outcome"]), (&"FAIL".into(), &"PASS".into()), "{red:#?}");
    assert_eq!(red[0]["objections"][0]["rule"], "red-is-broken", "{red:#?}");
    let files = &project.status()["completed_steps"][0]["files_modified"];
    assert_eq!(
        (texts(&files["implementation"]), texts(&files["tests"])),
        (vec!["src/lib.rs".into()], vec!["tests/add.rs".into()])
    );
}
