//! `seriatim gates`: the documented output and exit codes.

use crate::support::Env;

const CONFIG: &str = "version: 1\ncurrent_stage: planning\nstages:\n  framework-bootstrap: {}\n  planning:\n    \
                      required_gates: [one, two, three]\n  implementation:\n    required_gates: [one]\ngates:\n  one:\n    \
                      command: [sh, -c, echo fine]\n  two:\n    command: [sh, -c, 'echo bad; exit 3']\n  three:\n    \
                      command: [sh, -c, 'test -f lifecycle-stage.yaml']\n";

// OC-121: every gate is run, also after a failure, and one failure fails the command.
#[test]
fn oc_121_all_gates_run_and_one_failure_fails() {
    let env = Env::new();
    env.file("lifecycle-stage.yaml", CONFIG);
    let ran = env.run(&["gates"]).exits(1);
    let expected = "Lifecycle stage: planning\n[GATE] one\n  command: sh -c echo fine\nfine\n[PASS] one\n[GATE] two\n  \
                    command: sh -c echo bad; exit 3\nbad\n[FAIL] two (exit code 3)\n[GATE] three\n  command: sh -c test -f \
                    lifecycle-stage.yaml\n[PASS] three\n[SUMMARY] FAILED (1 gate(s)): two\n";
    assert_eq!(ran.stdout, expected);
    let (document, exit) = env.json(&["gates"]);
    assert_eq!(exit, Some(1));
    assert_eq!(document["stage"], "planning");
    assert_eq!(document["gates"].as_array().unwrap().len(), 3);
}

// OC-116, OC-119
#[test]
fn oc_116_another_stage_and_a_list() {
    let env = Env::new();
    env.file("lifecycle-stage.yaml", CONFIG);
    let ran = env.run(&["gates", "--stage", "implementation"]).exits(0);
    assert!(ran.stdout.ends_with("[PASS] one\n[SUMMARY] PASSED (1 gate(s))\n"), "{}", ran.stdout);
    env.run(&["gates", "--stage", "framework-bootstrap"]).exits(0).says("[SUMMARY] PASSED (0 gate(s))");
    env.run(&["gates", "--list"])
        .exits(0)
        .says("Current stage: planning")
        .says("* planning: one, two, three");
}

#[test]
fn oc_116_what_cannot_be_used_runs_nothing() {
    let env = Env::new();
    env.run(&["gates"]).exits(2).says("[ERROR] Lifecycle config not found: lifecycle-stage.yaml");
    env.file("lifecycle-stage.yaml", CONFIG);
    env.run(&["gates", "--stage", "release"]).exits(2).says("[ERROR] Unknown stage 'release'.");
    let unknown = CONFIG.replace("[one, two, three]", "[one, four]").replace("echo fine", "touch ran");
    env.file("broken.yaml", unknown);
    env.run(&["gates", "--config", "broken.yaml"])
        .exits(2)
        .says("[ERROR] broken.yaml:6: Stage 'planning' references unknown gates: four");
    assert!(!env.path("ran").exists());
    let late = CONFIG.replace("[sh, -c, echo fine]", "[sh, -c, sleep 60]\n    timeout: 1s");
    env.file("late.yaml", late);
    let ran = env.run(&["gates", "--config", "late.yaml", "--stage", "implementation"]).exits(1);
    assert!(ran.stdout.contains("[FAIL] one (not finished within 1 s)"), "{}", ran.stdout);
}
