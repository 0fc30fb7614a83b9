//! The stage of the product: its gates run at the end, its name is on all evidence, and no bar is lowered unseen.

use crate::action_support::RELEASE;
use crate::action_support::Workshop;

const CHECKED: &str = "- backend-developer\n- {gate: script, name: smoke, command: [sh, engine/api.sh]}\n\
                       - {gate: approval, name: release}\n";
const FILE: &str = "lifecycle-stage.yaml";

fn lifecycle(stage: &str, required: &str) -> String {
    format!(
        "current_stage: {stage}\nstages:\n  planning:\n    required_gates: []\n  implementation:\n    required_gates: \
         [{required}]\ngates:\n  docs:\n    command: [test, -f, docs/done]\n  links:\n    command: [echo, links are fine]\n"
    )
}

fn workshop(stage: &str) -> Workshop {
    let workshop = Workshop::of(CHECKED);
    workshop.env.file(FILE, lifecycle(stage, "docs, links"));
    workshop
}

/// OC-116, OC-119, OC-121, OC-123: all of them run, a failure asks, and what they show is stamped with the stage.
#[test]
fn oc_121_the_gates_of_the_stage_run_before_the_action_is_done() {
    let workshop = workshop("implementation");
    workshop.build(&[RELEASE]).exits(3).says("lifecycle (docs)");
    let question = workshop.question();
    assert_eq!(question.choices(), ["fix", "retry", "cancel"]);
    assert!(
        question.details().contains("links are fine"),
        "the gate behind the failed one ran: {}",
        question.details()
    );
    workshop.env.file("docs/done", "");
    workshop.resume(&[("lifecycle", "retry", "")]).exits(0);
    let log = workshop.evidence("lifecycle-gates.log");
    assert!(
        log.contains("implementation") && log.contains("docs") && log.contains("links are fine"),
        "{log}"
    );
    let commands = workshop.evidence("commands.log");
    assert!(commands.contains("$ sh engine/api.sh\n    exit code 0"), "{commands}");
    assert_eq!(commands.matches("on the host, stage implementation").count(), 5, "{commands}");
    assert!(workshop.evidence("action-context.md").contains("- Lifecycle stage: implementation"));
    let ran = workshop.facts("gate_ran");
    assert_eq!(ran[0]["stage"], "implementation");
    assert_eq!(workshop.facts("gate_round")[0]["round"]["stage"], "implementation");
    workshop.verify();
}

/// OC-121: the developers hear what failed.
#[test]
fn oc_121_a_failed_gate_of_the_stage_sends_the_work_back() {
    let workshop = workshop("implementation");
    workshop
        .build(&[RELEASE, ("lifecycle", "fix", ""), ("lifecycle", "cancel", ""), ("^Cancel", "keep", "")])
        .exits(1);
    assert!(workshop.feedback("backend-developer", 2)[0].starts_with("Lifecycle gates failed:\n"));
    assert_eq!(workshop.outcome()["result"], "CANCELLED");
}

/// OC-117, OC-118: a stage that requires nothing runs nothing.
#[test]
fn oc_118_planning_demands_no_runtime() {
    let workshop = workshop("planning");
    workshop.build(&[RELEASE]).exits(0);
    assert!(workshop.evidence("action-context.md").contains("- Lifecycle stage: planning"));
    assert_eq!(workshop.facts("lifecycle_gates")[0]["stage"], "planning");
}

/// OC-123: green evidence of one stage is worth nothing in another.
#[test]
fn e_68_evidence_of_another_stage_is_void_and_the_gate_runs_again() {
    let workshop = workshop("planning");
    workshop.build(&[]).exits(3);
    workshop.env.file(FILE, lifecycle("implementation", ""));
    workshop.resume(&[RELEASE]).exits(3).says("The lifecycle stage is implementation by now");
    let stages: Vec<String> =
        workshop.facts("gate_ran").iter().map(|fact| fact["stage"].to_string()).collect();
    assert_eq!(stages, ["\"planning\"", "\"implementation\""]);
    workshop.resume(&[RELEASE]).exits(0);
    assert_eq!(workshop.facts("gate_round").len(), 2);
    workshop.verify();
}

/// OC-122, OC-03: what was loosened since the last approval is shown at the next one.
#[test]
fn oc_122_lowering_a_bar_is_shown_at_the_next_approval() {
    let workshop = workshop("implementation");
    workshop.env.file("docs/done", "");
    workshop.build(&[RELEASE]).exits(0);
    workshop.env.file(FILE, lifecycle("implementation", "links"));
    workshop.build(&[]).exits(3);
    let details = workshop.question().details().to_owned();
    assert!(
        details
            .contains("In lifecycle-stage.yaml, the stage implementation no longer requires the gate docs."),
        "{details}"
    );
    // Once it is approved, it is no news any more.
    workshop.resume(&[RELEASE]).exits(0);
    workshop.build(&[]).exits(3).says_nothing_of("no longer requires");
}
