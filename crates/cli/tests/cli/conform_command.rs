//! `conform`: this program keeps every point of the contract, and whoever breaks one is found out.

use rustix::process::Signal;
use serde_json::Value;
use seriatim_core::action::conformance::POINTS;
use seriatim_core::action::conformance::point;

use crate::support::Env;

const BROKEN: &str = include_str!("broken_orchestrator.sh");
const PROGRAM: &str = env!("CARGO_BIN_EXE_seriatim");

/// A workspace with the broken orchestrator in it.
fn with_broken() -> Env {
    let env = Env::new();
    env.file("broken.sh", BROKEN);
    env
}

/// The points of the same probe as `of`, as options of the command.
fn points_beside(of: &str) -> Vec<&'static str> {
    let probe = point(of).unwrap().probe;
    POINTS.iter().filter(|point| point.probe == probe).flat_map(|point| ["--point", point.id]).collect()
}

/// Tries the orchestrator that breaks what `mode` says: of the points of its probe exactly these do not hold.
#[track_caller]
fn fails(points: &[&str], mode: &str) -> Value {
    let env = with_broken();
    let beside = points_beside(points[0]);
    // Only those that never end are stopped, and those need not be given a minute.
    let timeout = if mode == "hangs" { "2s" } else { "2m" };
    let words = ["conform", "sh", "broken.sh", mode, PROGRAM, "--timeout", timeout];
    let (document, exit) = env.json(&[&words[..], &beside].concat());
    assert_eq!(exit, Some(1), "{document:#}");
    let broken = |point: &&Value| point["compliant"] == false;
    let judged = document["points"].as_array().unwrap();
    let found: Vec<&str> = judged.iter().filter(broken).map(|point| point["id"].as_str().unwrap()).collect();
    assert_eq!(found, points, "{document:#}");
    assert_eq!(document["compliant"], false);
    assert_eq!(document["of"], beside.len() / 2);
    env.assert_tidy();
    document
}

/// What was seen of a point.
#[track_caller]
fn seen(document: &Value, id: &str) -> String {
    let points = document["points"].as_array().unwrap();
    let point = points.iter().find(|point| point["id"] == id).unwrap();
    point["seen"].as_str().unwrap().to_owned()
}

// OC-81 to OC-96, OC-110 to OC-115
#[test]
fn oc_81_this_program_is_compliant_at_every_point() {
    let env = Env::new();
    let output = env.run(&["conform", "--timeout", "2m"]).exits(0);
    let lines: Vec<&str> = output.stdout.lines().collect();
    assert_eq!(lines.last(), Some(&"COMPLIANT (22 of 22)"));
    for point in &POINTS {
        let line = format!("[PASS] {} ({}): {}", point.id, point.requirement, point.text);
        assert!(lines.contains(&line.as_str()), "{}", output.snapshot());
    }
    env.assert_tidy();
}

#[test]
fn every_point_is_broken_by_somebody() {
    let tests = include_str!("conform_command.rs");
    for point in &POINTS {
        let called = [format!("fails(&[\"{}\"", point.id), format!(", \"{}\"], \"", point.id)];
        assert!(called.iter().any(|call| tests.contains(call)), "{}", point.id);
    }
}

// Failure handling.

#[test]
fn oc_81_an_orchestrator_that_tries_everything_again() {
    fails(&["failure-classes"], "all-transient");
}

#[test]
fn oc_82_an_orchestrator_without_pauses() {
    let document = fails(&["backoff"], "no-pauses");
    assert!(seen(&document, "backoff").starts_with("the pauses do not grow from a second on: 0."));
}

#[test]
fn oc_83_an_orchestrator_that_does_not_say_what_was_wrong() {
    let document = fails(&["correction"], "forgetful");
    assert!(seen(&document, "correction").contains("`feedback` in brief 2 does not name engine/parts.json"));
}

#[test]
fn oc_84_an_orchestrator_that_lets_everybody_work_again() {
    fails(&["good-work-stays"], "everyone-again");
}

#[test]
fn oc_85_an_orchestrator_that_keeps_reasons_to_itself() {
    fails(&["rejection-feedback"], "forgetful");
}

#[test]
fn oc_86_an_orchestrator_that_takes_any_answer() {
    let document = fails(&["critical-blocks"], "takes-anything");
    assert_eq!(seen(&document, "critical-blocks"), "an answer that approves is taken");
}

#[test]
fn oc_87_an_orchestrator_that_rolls_back_by_half() {
    let document = fails(&["rollback"], "half-a-rollback");
    assert_eq!(seen(&document, "rollback"), "after the rollback: engine/tool.sh has the mode 600, not 755");
}

#[test]
fn oc_88_an_orchestrator_whose_reports_name_no_files() {
    fails(&["report"], "names-no-files");
}

#[test]
fn oc_89_an_orchestrator_that_leaves_no_way_out() {
    fails(&["escalation"], "no-way-out");
}

#[test]
fn oc_89_an_orchestrator_that_gives_up() {
    fails(&["backoff", "escalation"], "gives-up");
}

#[test]
fn oc_90_an_orchestrator_without_logs() {
    fails(&["error-log"], "no-logs");
}

// What is forbidden.

#[test]
fn oc_91_an_orchestrator_to_whom_all_is_well() {
    fails(&["nothing-swallowed"], "all-is-well");
}

#[test]
fn oc_92_an_orchestrator_that_tries_once_more() {
    fails(&["correction", "no-endless-retry"], "once-more");
}

#[test]
fn oc_92_an_orchestrator_that_never_ends() {
    let document = fails(&["correction", "no-endless-retry"], "hangs");
    let said = "`run action build --no-input --json` did not end within 2 s";
    assert_eq!(seen(&document, "no-endless-retry"), said);
}

#[test]
fn oc_93_an_orchestrator_that_takes_good_work_back() {
    fails(&["no-rollback-of-good-work"], "takes-back");
}

#[test]
fn oc_94_an_orchestrator_that_ships_anyway() {
    fails(&["no-way-past-critical"], "ships-anyway");
}

#[test]
fn oc_95_an_orchestrator_without_snapshots() {
    fails(&["rollback-everywhere"], "no-snapshot");
}

#[test]
fn oc_96_an_orchestrator_whose_options_lead_nowhere() {
    fails(&["actionable"], "no-consequences");
}

// The contract as a whole.

#[test]
fn oc_110_an_orchestrator_that_guesses_what_is_meant() {
    fails(&["intent"], "guesses-intent");
}

#[test]
fn oc_111_an_orchestrator_that_remembers_old_guides() {
    fails(&["role-guides"], "old-guides");
}

#[test]
fn oc_112_an_orchestrator_that_makes_inputs_up() {
    fails(&["inputs"], "guesses-input");
}

#[test]
fn oc_113_an_orchestrator_that_writes_elsewhere() {
    fails(&["locations"], "writes-elsewhere");
}

#[test]
fn oc_114_an_orchestrator_that_forgets_a_gate() {
    let document = fails(&["gate-decisions"], "forgets-a-gate");
    assert_eq!(seen(&document, "gate-decisions"), "there is no decision of the gate \"tracker\"");
}

#[test]
fn oc_115_an_orchestrator_that_shows_no_files() {
    fails(&["next-steps"], "shows-no-files");
}

// Whatever an orchestrator does, the suite comes to an end.

#[test]
fn an_orchestrator_that_dies_or_says_nothing_is_not_compliant() {
    for (mode, said) in [("dies", "ended by signal 9, no JSON"), ("silent", "exit code 0, no JSON document")]
    {
        let document = fails(&["report", "actionable", "next-steps"], mode);
        assert!(seen(&document, "report").contains(said), "{document:#}");
    }
}

#[test]
fn a_point_that_fails_says_what_was_expected() {
    let env = with_broken();
    let words = ["conform", "--point", "next-steps", "sh", "broken.sh", "shows-no-files", PROGRAM];
    insta::assert_snapshot!(env.run(&words).snapshot(), @r#"
    --- stdout
    [FAIL] next-steps (OC-115): Failures name the files concerned and what to do next
           seen: nothing that is shown names engine/first.md
           expected: What is shown and what is logged both name the files and the next steps
    NOT COMPLIANT (0 of 1)
    --- exit 1
    "#);
}

#[test]
fn a_command_that_cannot_be_run_is_no_orchestrator() {
    let env = Env::new();
    env.file("notes.txt", "no program\n");
    env.run(&["conform", "no-such-program"]).exits(2).says("there is no program named `no-such-program`");
    env.run(&["conform", "./notes.txt"]).exits(2).says("`./notes.txt` is not a program");
    env.run(&["conform", "--point", "report", "--", "sh", "-c", "exit 127"])
        .exits(2)
        .says("the command cannot be run");
    env.run(&["conform", "--point", "everything"])
        .exits(2)
        .says("there is no such point; there are: failure-classes");
    env.run(&["conform", "--timeout", "soon"]).exits(2).says("write a time such as 30s or 2m");
    env.assert_tidy();
}

#[test]
fn workspaces_are_kept_when_that_is_wanted() {
    let env = Env::new();
    let (document, exit) = env.json(&["conform", "--keep", "--point", "report", PROGRAM]);
    assert_eq!((exit, &document["held"], &document["of"]), (Some(0), &1.into(), &1.into()), "{document:#}");
    let kept = std::path::PathBuf::from(document["kept"].as_str().unwrap());
    assert!(kept.starts_with(env.scratch()));
    for path in ["work/agents/agent-map.yaml", "agent.sh", "calls/1/brief.json", "said/1.out"] {
        assert!(kept.join("missing-artifact").join(path).is_file(), "{path}");
    }
}

#[test]
fn an_interrupted_suite_ends_the_command_and_leaves_nothing_behind() {
    let env = Env::new();
    let mut started = env.fifo("started");
    let script = format!("echo $$ >'{}'; exec sleep 1000", env.path("started").display());
    let running = env.start(&["conform", "--point", "report", "--", "sh", "-c", &script]);
    let command = started.process(&running);
    running.signal(Signal::INT);
    running.output().exits(1).says("interrupted");
    command.ends();
    env.assert_tidy();
}
