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
    env.run(&["gates", "--stage", "framework-bootstrap"])
        .exits(0)
        .says("[SUMMARY] NOTHING WAS CHECKED (0 gate(s) required)");
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

// OC-123: what is kept says for which stage it was made and when, and holds no secret.
#[test]
fn oc_123_evidence_is_stamped_with_the_stage() {
    let env = Env::new().variable("API_TOKEN", "wholly-secret-value");
    env.file("lifecycle-stage.yaml", CONFIG.replace("echo fine", "echo fine wholly-secret-value"));
    let ran = env.run(&["gates", "--evidence", "proof/gates.log"]).exits(1);
    let kept = env.read("proof/gates.log");
    assert!(kept.contains("fine [redacted:") && !kept.contains("wholly-secret-value"), "{kept}");
    let printed = |text: &str| text.lines().filter(|line| line.starts_with('[')).count();
    assert_eq!(printed(&kept), printed(&ran.stdout), "{kept}");
    let stamp = kept.lines().last().unwrap();
    assert!(stamp.starts_with("Recorded (UTC): 20") && stamp.ends_with("Z, for stage planning"), "{stamp}");
    env.run(&["gates", "--stage", "implementation", "--evidence", "proof/gates.log"]).exits(0);
    assert!(env.read("proof/gates.log").ends_with(", for stage implementation\n"));
    env.file("blocked", "");
    env.run(&["gates", "--stage", "implementation", "--evidence", "blocked/gates.log"])
        .exits(2)
        .says("the evidence cannot be written");
    let late = CONFIG.replace("[sh, -c, echo fine]", "[sh, -c, sleep 60]\n    timeout: 1s");
    env.file("late.yaml", late);
    env.run(&["gates", "--config", "late.yaml", "--stage", "implementation", "--evidence", "late.log"])
        .exits(1);
    assert!(
        env.read("late.log").contains("[FAIL] one (not finished within 1 s)"),
        "{}",
        env.read("late.log")
    );
}

// OC-122: a stage is changed by a commit. Until then the change is named, and the exit codes are as ever.
#[test]
fn oc_122_an_uncommitted_stage_is_not_valid_yet() {
    let env = Env::new();
    env.file("lifecycle-stage.yaml", CONFIG);
    let quiet = |output: crate::support::Output| assert_eq!(output.stderr, "", "{}", output.snapshot());
    quiet(env.run(&["gates"]).exits(1));
    assert_eq!(env.json(&["gates"]).0["committed"], serde_json::Value::Null);

    env.git(&["init", "-q"]);
    env.run(&["gates"]).exits(1).says("lifecycle-stage.yaml is not committed");
    env.git(&["add", "lifecycle-stage.yaml"]);
    env.git(&["commit", "-q", "-m", "stages"]);
    quiet(env.run(&["gates"]).exits(1));
    assert_eq!(env.json(&["gates"]).0["committed"], true);

    let forward = CONFIG.replace("current_stage: planning", "current_stage: implementation");
    env.file("lifecycle-stage.yaml", &forward);
    let said = env.run(&["gates"]).exits(0).says("Lifecycle stage: implementation");
    let words = "the stage `implementation` is not valid yet: the committed stage is `planning`";
    assert!(said.stderr.contains(words), "{}", said.snapshot());
    assert_eq!(env.json(&["gates"]).0["committed"], false);
    env.run(&["gates", "--list"]).exits(0).says(words);
    env.git(&["commit", "-q", "-a", "-m", "forward"]);
    quiet(env.run(&["gates"]).exits(0));

    env.file("lifecycle-stage.yaml", forward.replace("[sh, -c, echo fine]", "[true]"));
    env.run(&["gates"]).exits(0).says("lifecycle-stage.yaml differs from its committed version");
}
