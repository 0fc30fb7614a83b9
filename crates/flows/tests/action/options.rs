//! Every option of every question once: what it leads to.

use crate::world::World;
use crate::world::exit;

/// What people take at later questions.
const USUAL: [&str; 5] = ["approve", "keep", "confirm", "provide_input", "retry"];

/// One line for each option that a question offers: the headers of the questions that follow, and the end.
fn rows(about: &str, world: impl Fn() -> World) -> Vec<String> {
    let offered = world().usually(&[]).cancelled_at(about).play().question(about).options;
    let lead = |id: &str, needs_text: bool| {
        let words = if needs_text { "ann's words" } else { "" };
        let story = world().says(about, id, words).usually(&USUAL).play();
        let asked = story.asked();
        let first = asked.iter().position(|header| header.contains(about)).unwrap();
        let then = asked.get(first + 1..).unwrap_or_default().join(", ");
        let result = story.ended().outcome["result"].as_str().unwrap_or("NOT STARTED").to_owned();
        format!("{id}: [{then}] {result}")
    };
    offered.iter().map(|option| lead(&option.id, option.needs_text)).collect()
}

fn plan() -> World {
    World::new("- architect\n- {gate: approval, name: release}")
}

#[test]
fn oc_52_every_option_of_an_approval() {
    assert_eq!(
        rows("Gate release", plan),
        [
            "approve: [] COMPLETED",
            "changes: [Gate release] COMPLETED",
            "reject: [Gate release] COMPLETED",
            "cancel: [Cancel] CANCELLED",
            "rollback: [Rollback] ROLLED_BACK"
        ]
    );
}

#[test]
fn oc_58_every_option_of_a_blocked_approval() {
    let blocked = || {
        let steps = "- backend-developer\n- security\n- {gate: approval, name: release}";
        (1..=3).fold(World::new(steps), |world, call| world.finds(call, "critical"))
    };
    assert_eq!(
        rows("Gate release", blocked),
        [
            "fix: [Gate release] COMPLETED",
            "changes: [Gate release] COMPLETED",
            "reject: [Gate release] COMPLETED",
            "cancel: [Cancel] CANCELLED",
            "rollback: [Rollback] ROLLED_BACK"
        ]
    );
}

#[test]
fn oc_17_every_option_of_a_condition_and_of_a_clarification() {
    let condition = || World::new("- {agent: architect, condition: the design changes}\n- backend-developer");
    assert_eq!(
        rows("needed", condition),
        ["yes: [] COMPLETED", "no: [] COMPLETED", "cancel: [Cancel] CANCELLED"]
    );
    let clarify = || World::new("- architect\n- {gate: clarification, name: points}");
    assert_eq!(
        rows("Clarification", clarify),
        ["approve: [] COMPLETED", "guide: [Clarification points] COMPLETED", "cancel: [Cancel] CANCELLED"]
    );
}

#[test]
fn oc_57_every_option_of_a_quality_gate() {
    let low = || {
        World::new("- backend-developer\n- {gate: quality, name: numbers}")
            .gate("coverage", "cov", Some("Coverage: ([0-9]+)%"), Some("80"))
            .command("cov", vec![exit(0, "Coverage: 65%\n"), exit(0, "Coverage: 65%\n")])
    };
    let lead = || low().command("cov", vec![exit(0, "Coverage: 65%\n"), exit(0, "Coverage: 85%\n")]);
    assert_eq!(
        rows("Quality gate", lead),
        [
            "fix: [] COMPLETED",
            "lower_threshold: [] COMPLETED",
            "override: [] COMPLETED",
            "retry: [] COMPLETED",
            "cancel: [Cancel] CANCELLED"
        ]
    );
    let lowered = low().says("Quality gate", "lower_threshold", "for now").play();
    lowered.completes();
    assert_eq!(lowered.asked(), ["Quality gate numbers"]);
}

#[test]
fn oc_18_every_option_of_a_failed_command_and_of_the_lifecycle_gates() {
    let red = || vec![exit(1, "1 error\n")];
    let script =
        || World::new("- architect\n- {gate: script, name: lint, command: [lint]}").command("lint", red());
    assert_eq!(
        rows("Gate lint", script),
        ["fix: [] COMPLETED", "retry: [] COMPLETED", "cancel: [Cancel] CANCELLED"]
    );
    let lifecycle = "current_stage: a\nstages:\n  a:\n    required_gates: [docs]\ngates:\n  docs:\n    command: [check-docs]\n";
    let world =
        || World::new("- architect").file("lifecycle-stage.yaml", lifecycle).command("check-docs", red());
    assert_eq!(
        rows("Gate lifecycle", world),
        ["fix: [] COMPLETED", "retry: [] COMPLETED", "cancel: [Cancel] CANCELLED"]
    );
}

#[test]
fn k_47_every_option_of_a_cancellation_and_of_a_rollback() {
    assert_eq!(
        rows("Cancel", || plan().says("Gate release", "cancel", "")),
        ["keep: [] CANCELLED", "rollback: [Rollback] ROLLED_BACK", "back: [Gate release] COMPLETED"]
    );
    assert_eq!(
        rows("Rollback", || plan().says("Gate release", "rollback", "")),
        ["confirm: [] ROLLED_BACK", "cancel: [Gate release] COMPLETED"]
    );
}

#[test]
fn oc_15_every_option_before_an_action_starts() {
    let input = || plan().map_line("prerequisites: [docs/x.md]");
    assert_eq!(
        rows("Missing input", input),
        [
            "retry: [Missing input, Gate release] COMPLETED",
            "provide_input: [Gate release] COMPLETED",
            "cancel: [] NOT STARTED"
        ]
    );
    let first = plan().says("Gate release", "approve", "").play();
    let sealed = first.world().files[".snapshots/sealed.json"].clone();
    assert_eq!(
        rows("Changed artifacts", || plan().file(".snapshots/sealed.json", &sealed)),
        ["keep: [Gate release] COMPLETED", "rollback: [] NOT STARTED", "cancel: [] NOT STARTED"]
    );
    let catalogue = "# Actions\n\n- [build](build.md): Build the product\n";
    let unclear = || {
        let world = plan().file("agents/actions/README.md", catalogue);
        world.starting(|start| start.intent = "what".to_owned())
    };
    assert_eq!(rows("Which action", unclear), ["build: [Gate release] COMPLETED", "cancel: [] NOT STARTED"]);
}
