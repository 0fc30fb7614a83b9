//! What an action leaves behind: five files, error logs without secrets, and a seal by which damage is found.

use std::collections::BTreeSet;

use crate::action_support::RELEASE;
use crate::action_support::Workshop;

const ALONE: &str = "- backend-developer\n- {gate: approval, name: release}\n";
const ROLE: &str = "backend-developer";

/// OC-97: the action, its roles, what was read and written, and who decided what.
#[test]
fn oc_97_five_files_tell_what_was_done() {
    let workshop = Workshop::of(
        "- {agent: backend-developer, reads: [planning-mds/BLUEPRINT.md], writes: [\"engine/**\"]}\n\
         - {gate: script, name: smoke, command: [sh, engine/api.sh]}\n- {gate: approval, name: release}\n",
    );
    workshop.env.file("engine/old.sh", "echo\n").file("engine/api.sh", "echo before\n");
    workshop.table(&[(ROLE, 0, "usual; rm engine/old.sh; put engine/new.sh 'echo\\n'; finish")]);
    workshop.build(&[(RELEASE.0, "approve", "as it was agreed")]).exits(0);
    let files = workshop.env.files_below("planning-mds/operations/evidence");
    let names: BTreeSet<&str> =
        files.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    let five = [
        "action-context.md",
        "artifact-trace.md",
        "commands.log",
        "gate-decisions.md",
        "lifecycle-gates.log",
    ];
    assert_eq!(names, BTreeSet::from(five));
    let context = workshop.evidence("action-context.md");
    for words in [
        "- Action: build",
        "- Mode: automated",
        "- Operator: tester",
        "- planning-mds/BLUEPRINT.md: planning-mds/BLUEPRINT.md",
        "- Backend Developer: agents/backend-developer/SKILL.md",
        "The action build is done: 3 files written.",
    ] {
        assert!(context.contains(words), "{words}:\n{context}");
    }
    assert!(!context.contains("Ended (UTC): not yet"), "{context}");
    let trace = workshop.evidence("artifact-trace.md");
    for words in [
        "## Read\n\n- planning-mds/BLUEPRINT.md\n",
        "## Created\n\n- engine/new.sh (backend-developer)\n",
        "## Updated\n\n- engine/api.sh (backend-developer)\n",
        "## Deleted\n\n- engine/old.sh (backend-developer)\n",
    ] {
        assert!(trace.contains(words), "{words}:\n{trace}");
    }
    let decisions = workshop.evidence("gate-decisions.md");
    assert!(
        decisions.contains("## smoke\n- Decision: passed")
            && decisions.contains("- Rationale: as it was agreed"),
        "{decisions}"
    );
    assert!(workshop.evidence("lifecycle-gates.log").contains("There is no lifecycle-stage.yaml"));
    workshop.verify();
}

/// OC-97: while it is under way, too.
#[test]
fn oc_02_evidence_is_there_while_the_action_waits() {
    let workshop = Workshop::of(ALONE);
    workshop.build(&[]).exits(3);
    assert!(workshop.evidence("action-context.md").contains("- Ended (UTC): not yet"));
    assert!(workshop.evidence("artifact-trace.md").contains("- engine/api.sh (backend-developer)"));
}

/// OC-72, OC-115: all fields of an error report, and nothing that is secret or personal in any file.
#[test]
fn oc_73_no_secret_and_nothing_personal_is_in_any_file() {
    let workshop = Workshop::of(ALONE);
    let key = ["AKIA", "IOSFODNN7EXAMPLE"].concat();
    workshop.configure("[redact]\npatterns = [\"HARBOUR-[0-9]+\"]\n");
    let words = format!("key {key} of ann.lee@mail.example.org, call +49 30 1234567, pass HARBOUR-42");
    let script = format!("echo '{words}' >&2; failed permanent 'refused: {words}'");
    workshop.table(&[(ROLE, 0, script.as_str())]);
    workshop
        .build(&[("Failure", "retry", &words), ("Failure", "cancel", ""), ("^Cancel", "keep", &words)])
        .exits(1);
    let error = workshop.errors().remove(0);
    let fields: BTreeSet<&str> = error.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = [
        "action",
        "step",
        "agent",
        "failed_at",
        "duration_ms",
        "error_type",
        "nature",
        "message",
        "errors",
        "impacted_artifacts",
        "tried",
        "suggested_remediation",
        "options",
        "stack_trace",
        "kept",
        "agent_input",
        "agent_output",
    ];
    assert_eq!(fields, BTreeSet::from(expected));
    assert_eq!(error["impacted_artifacts"][0]["path"], "engine/api.sh");
    assert!(error["agent_input"]["text"].as_str().unwrap().contains("The guide of backend-developer"));
    let mut searched = 0;
    for folder in ["logs", "planning-mds", ".snapshots"] {
        for path in workshop.env.files_below(folder) {
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            for secret in [key.as_str(), "ann.lee@mail.example.org", "+49 30 1234567", "HARBOUR-42"] {
                assert!(!text.contains(secret), "{secret} is in {}:\n{text}", path.display());
            }
            searched += 1;
        }
    }
    assert!(searched >= 8, "{searched}");
    // The journal holds no key either.
    for path in workshop.env.stored_below("") {
        let bytes = std::fs::read(&path).unwrap();
        assert!(!bytes.windows(key.len()).any(|part| part == key.as_bytes()), "{}", path.display());
    }
    workshop.verify();
}

/// OC-73: a shape that finds too much can be switched off.
#[test]
fn oc_73_a_shape_of_personal_data_can_be_switched_off() {
    let workshop = Workshop::of(ALONE);
    workshop.configure("[actions]\npii_off = [\"email\"]\n");
    workshop.table(&[(ROLE, 0, "failed permanent 'mail ann@example.org or call +49 30 1234567'")]);
    workshop.build(&[]).exits(3);
    let message = workshop.errors()[0]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("ann@example.org") && !message.contains("1234567"), "{message}");
}

/// OC-01, OC-03, OC-04: a person does the steps; gates and evidence are the same.
#[test]
fn oc_02_in_manual_mode_gates_and_evidence_are_the_same() {
    let workshop = Workshop::new();
    workshop
        .run(&["build", "--manual"], &[])
        .exits(3)
        .says("Please do this and say how it went: build: Backend Developer");
    workshop.env.file("engine/api.sh", "echo by hand\n").file("notes.txt", "mine\n");
    // OC-03: the boundary holds as well, but nobody takes a person's files away.
    let stray = "notes.txt is not among the files that you may write";
    workshop.resume(&[("Backend Developer", "done", "I wrote it")]).exits(3).says(stray);
    assert_eq!(workshop.env.read("notes.txt"), "mine\n");
    std::fs::remove_file(workshop.env.path("notes.txt")).unwrap();
    workshop
        .resume(&[("Backend Developer", "done", "I wrote it")])
        .exits(3)
        .says("build: Frontend Developer");
    // What is owed is looked for as ever.
    workshop
        .resume(&[("Frontend Developer", "done", "I forgot it")])
        .exits(3)
        .says("- Expected: experience/app.md");
    workshop.env.file("experience/app.md", "# App\n").file("tests/plan.md", "# Plan\n");
    let rest = [
        ("Missing artifacts", "retry", ""),
        ("Frontend Developer", "done", "here it is"),
        ("Quality Engineer", "done", "planned"),
    ];
    workshop.resume(&rest).exits(3).says("build: Security");
    workshop.env.file("planning-mds/security/review.md", "# Review\n");
    workshop.resume(&[("build: Security", "done", "high: weak hash")]).exits(3);
    let question = workshop.question();
    assert_eq!(question.with_words(), ["approve", "changes", "reject"]);
    workshop.resume(&[(RELEASE.0, "approve", "inside only")]).exits(0);
    assert_eq!(workshop.calls(), Vec::<String>::new());
    assert!(workshop.evidence("action-context.md").contains("- Mode: manual"));
    assert!(workshop.evidence("artifact-trace.md").contains("- engine/api.sh (backend-developer)"));
    assert_eq!(workshop.outcome()["findings"][0]["severity"], "high");
    workshop.verify();
}

/// OC-64: files that changed outside of any run are found before the next action starts.
#[test]
fn oc_64_damage_is_found_before_the_next_action_and_offered_for_rollback() {
    let workshop = Workshop::of(ALONE);
    workshop.env.file("engine/api.sh", "echo before\n");
    workshop.build(&[RELEASE]).exits(0);
    workshop.env.file("engine/api.sh", "echo damaged\n");
    workshop.build(&[]).exits(3).says("engine/api.sh (changed outside of any run)");
    assert_eq!(workshop.question().choices(), ["keep", "rollback", "cancel"]);
    assert_eq!(workshop.count(ROLE), 1);
    workshop.resume(&[("Changed artifacts", "rollback", ""), ("^Rollback", "confirm", "")]).exits(1);
    assert_eq!(workshop.env.read("engine/api.sh"), "echo before\n");
    // It is no work on record, so it is asked about once more; kept, it is told at the next approval.
    workshop
        .build(&[("Changed artifacts", "keep", "")])
        .exits(3)
        .says("ada kept files that changed outside of a run");
    workshop.resume(&[RELEASE]).exits(0);
    // Nothing has changed since.
    workshop.build(&[]).exits(3).says("Gate release");
}

/// Two runs share the workspace, each with copies for its roles; neither takes the other's files for its own.
#[test]
fn two_actions_at_once_in_one_workspace() {
    let steps = "- parallel: [backend-developer, frontend-developer]\n- {gate: approval, name: release}\n";
    let workshop = Workshop::of(steps);
    let map = workshop.env.read("agents/agent-map.yaml");
    let plan = "  plan:\n    doc: agents/actions/plan.md\n    description: Plan it\n    steps:\n      - parallel: \
                [quality-engineer, security]\n";
    workshop.env.file("agents/agent-map.yaml", format!("{map}{plan}"));
    workshop.table(&[(ROLE, 0, r#"usual; echo ready >"$HOME/began"; read word <"$HOME/hold"; finish"#)]);
    let (mut began, mut hold) = (workshop.fifo("began"), workshop.fifo("hold"));
    let first = workshop.start();
    assert_eq!(began.line(&first), "ready");
    workshop.run(&["plan"], &[]).exits(0);
    let made = ["planning-mds/security/review.md", "tests/plan.md"];
    assert_eq!(workshop.outcome()["artifacts"], serde_json::json!(made));
    hold.send("go on");
    first.output().exits(3).says("- engine/api.sh").says_nothing_of("tests/plan.md");
    assert_eq!(workshop.env.read("tests/plan.md"), "# Plan\n\nCall 1.\n");
    assert_eq!(workshop.counts(), [1, 1, 1, 1]);
    workshop.verify();
}
