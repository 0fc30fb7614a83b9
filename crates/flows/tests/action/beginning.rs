//! Before the first stage: which action is meant, what it needs, and whether it can begin.

use seriatim_core::action::facts::ActionFact;
use seriatim_flows::registry::End;

use crate::world::World;

const PLAN: &str = "- architect\n- {gate: approval, name: release}";

/// OC-10: words that fit no action clearly are asked about before anything else.
#[test]
fn oc_10_an_unclear_intent_is_asked_about_and_nothing_runs_before() {
    let world = World::new(PLAN).starting(|start| start.intent = "do something".to_owned());
    let story = world.says("Which action", "cancel", "").play();
    story.ends(End::Cancelled, "No action was started.").tells(&[]);
    assert!(story.written().is_empty());
    let world = World::new(PLAN).starting(|start| start.intent = "do something".to_owned());
    let story = world.says("Which action", "build", "").says("Gate release", "approve", "").play();
    story.completes();
}

/// OC-15: what is missing is asked for and never guessed.
#[test]
fn oc_15_a_missing_input_is_looked_for_given_or_the_action_does_not_start() {
    let needs = || World::new(PLAN).map_line("prerequisites: [planning-mds/BLUEPRINT.md]");
    let story = needs().says("Missing input", "cancel", "").play();
    story
        .ends(End::Cancelled, "The action build was not started: planning-mds/BLUEPRINT.md is missing.")
        .tells(&["ann decided on Missing input: cancel."]);
    let story = needs()
        .says_while("Missing input", "retry", |world| {
            world.files.insert("planning-mds/BLUEPRINT.md".to_owned(), "# Blueprint\n".to_owned());
        })
        .says("Gate release", "approve", "")
        .play();
    story.completes();
    let story =
        needs().says("Missing input", "provide_input", "a shop").says("Gate release", "approve", "").play();
    story.completes().tells(&[
        "ann decided on Missing input: provide_input.",
        "Stage 1 began: Architect.",
        "Architect called, attempt 1.",
        "Architect finished: 1 file written.",
        "ann decided on release: approve.",
        "Round 1 at gate release: approve by ann.",
        "Gate release approved.",
    ]);
}

/// OC-109: an action whose map has errors does not start, and nothing is asked.
#[test]
fn oc_109_a_malformed_map_keeps_the_action_from_starting() {
    let story = World::new("- nobody-knows-this-role").play();
    assert_eq!(story.ended().status, End::Failed);
    assert!(story.asked().is_empty() && story.facts.is_empty());
}

/// OC-64: without a snapshot there is no action.
#[test]
fn oc_64_an_action_without_a_snapshot_does_not_start() {
    let story = World::new(PLAN).breaks("snapshot").play();
    story.ends(
        End::Failed,
        "The action build was not started, since no snapshot could be taken: the disk refuses it",
    );
    assert_eq!(story.calls("architect"), 0);
}

/// OC-67: files that changed since the last action are decided upon before the next one starts.
#[test]
fn oc_67_files_that_changed_outside_of_any_run_are_found_before_the_next_action() {
    let first = World::new(PLAN).says("Gate release", "approve", "").play();
    let sealed = first.world().files[".snapshots/sealed.json"].clone();
    let again = || {
        World::new(PLAN).file(".snapshots/sealed.json", &sealed).file("planning-mds/design.md", "# Other\n")
    };
    let story = again().says("Changed artifacts", "cancel", "").play();
    story
        .ends(End::Cancelled, "No action was started.")
        .tells(&["ann decided on Changed artifacts: cancel."]);
    let story = again().says("Changed artifacts", "keep", "").says("Gate release", "approve", "").play();
    story.completes();
    assert!(story.question("Gate release").details.contains(
        "ann kept files that changed outside of a run: planning-mds/design.md (changed outside of any run)"
    ));
}

/// OC-01: in manual mode a person does the work; gates and evidence are the same.
#[test]
fn oc_01_manual_mode_has_the_same_gates_and_facts() {
    let story =
        World::new(PLAN).starting(|start| start.manual = true).says("Gate release", "approve", "").play();
    story.completes().tells(&[
        "Stage 1 began: Architect.",
        "Architect called, attempt 1.",
        "Architect finished: 1 file written.",
        "ann decided on release: approve.",
        "Round 1 at gate release: approve by ann.",
        "Gate release approved.",
    ]);
    assert!(story.log.contains(&"The action build began for ada in manual mode.".to_owned()));
    let began = story.facts.iter().any(|fact| matches!(fact, ActionFact::ActionBegan { .. }));
    assert!(began);
}

/// A role is needed only under a condition: a person says whether it holds.
#[test]
fn a_condition_in_words_is_answered_by_a_person() {
    let steps = "- {agent: architect, condition: the design changes}\n- backend-developer\n\
                 - {gate: approval, name: release}";
    let story = World::new(steps)
        .says("Architect needed", "no", "nothing to design")
        .says("Gate release", "approve", "")
        .play();
    story.completes().tells(&[
        "Stage 1 began: Architect.",
        "ann decided on Architect needed: no.",
        "Architect is not needed.",
        "Stage 2 began: Backend Developer.",
        "Backend Developer called, attempt 1.",
        "Backend Developer finished: 1 file written.",
        "ann decided on release: approve.",
        "Round 1 at gate release: approve by ann.",
        "Gate release approved.",
    ]);
    assert_eq!(story.calls("architect"), 0);
    assert!(story.question("Gate release").details.contains("Architect: not needed"));
}
