//! The prompt of a call.

use super::super::*;
use super::*;

/// DW-07, DW-08, DW-09: everything is there, in order and to the letter.
#[test]
fn dw_07_the_prompt_has_its_parts_in_order() {
    let context = context(Schema::usual());
    let prompt = render(&assignment(&context, "GREEN"));
    let mut from = 0;
    for part in [
        "You are the software-crafter agent.\n",
        "Your specific role for this command: Execute atomic tasks with complete state tracking via execution-status.yaml\n",
        "Task type: execute\n",
        "PROJECT: tea-kettle\n",
        "STEP: 01-01\n",
        "## TASK CONTEXT (EXTRACTED FROM ROADMAP - DO NOT LOAD ROADMAP)\n",
        "**Step ID**: 01-01\n",
        "- Water boils at one hundred degrees\n",
        "## MANDATORY TDD PHASES",
        "6. COMMIT\n",
        "## EXECUTION CONFIGURATION\n",
        "- max_turns_per_phase: 50\n",
        "## STATE TRACKING VIA execution-status.yaml\n",
        "DO NOT load roadmap.yaml (context provided above).\n",
        "**READ/WRITE ONLY**: docs/feature/tea-kettle/execution-status.yaml\n",
        "## CM-D: Walking Skeleton Principle\n",
        "## INLINE REVIEW CRITERIA (Phase 4: REVIEW)\n",
        "## EXECUTION-STATUS.YAML STRUCTURE\n",
        "If you encounter issues:\n",
    ] {
        let at = prompt[from..].find(part);
        assert!(at.is_some(), "`{part}` is not there, or not in order:\n{prompt}");
        from += at.unwrap() + part.len();
    }
}

#[test]
fn dw_08_the_role_is_the_fixed_sentence() {
    assert!(render(&assignment(&context(Schema::usual()), "PREPARE")).contains(
        "Your specific role for this command: Execute atomic tasks with complete state tracking via \
         execution-status.yaml"
    ));
}

/// DW-09, K-104: in a call for one phase the agent never writes the state.
#[test]
fn k_104_a_call_for_a_phase_is_for_that_phase_alone() {
    let context = context(Schema::usual());
    let prompt = render(&assignment(&context, "RED_UNIT"));
    assert!(prompt.contains("PHASE: RED_UNIT\n"));
    assert!(prompt.contains("This call is for RED_UNIT alone:\n0. PREPARE"));
    assert!(prompt.contains("Carry out the phase RED_UNIT and no other phase."));
    assert!(prompt.contains("Never write the state file"));
    assert!(prompt.contains("SERIATIM_REPORT"));
    assert!(prompt.contains("`seriatim report 01-01 FILE`"));
    assert!(!prompt.contains("seriatim phase"), "{prompt}");
    assert!(!prompt.contains("Execute these 7 phases"), "{prompt}");
}

/// K-104: in a call for the whole step each phase is reported by command.
#[test]
fn k_104_a_call_for_a_step_reports_each_phase() {
    let context = context(Schema::usual());
    let whole = Assignment { call: Call::Step, phase: None, ..assignment(&context, "PREPARE") };
    let prompt = render(&whole);
    assert!(prompt.contains("Execute these 7 phases in order:\n0. PREPARE"));
    assert!(prompt.contains("seriatim phase start --project tea-kettle 01-01 PHASE"));
    assert!(prompt.contains("Begin with the first phase that is not over."));
    assert!(!prompt.contains("PHASE: "), "{prompt}");
    for phase in Schema::usual().names() {
        assert!(prompt.contains(&format!("\n### {phase}\n")), "{phase}");
    }
    let later = render(&Assignment { phase: Some("GREEN"), ..whole });
    assert!(later.contains("Go on with GREEN; the phases before it are over."));
}

/// DW-61 to DW-66: the agent is told what the engine will run and what it refuses.
#[test]
fn dw_61_the_agent_is_told_what_will_be_run_and_refused() {
    let context = context(Schema::usual());
    let all = gates(&["acceptance", "tests", "lint", "coverage", "security"]);
    let told = |phase| {
        let prompt = render(&Assignment { gates: &all, ..assignment(&context, phase) });
        prompt.split_once(DEMAND_TITLE).unwrap().1.to_owned()
    };
    assert!(told("PREPARE").contains("counts the scenarios that are enabled"));
    assert!(told("RED_ACCEPTANCE").contains("the engine runs the gate `acceptance` itself"));
    assert!(told("RED_ACCEPTANCE").contains("cannot be imported, compiled"));
    assert!(told("RED_UNIT").contains("fail on what they assert"));
    assert!(told("GREEN").contains("in this order: `acceptance`, `tests`."));
    assert!(told("GREEN").contains("a change to a test that was red"));
    assert!(told("GREEN").contains("a marker that skips a test"));
    assert!(told("GREEN").contains("Do not touch the gates"));
    assert!(told("REVIEW").contains("`security`"));
    assert!(told("REVIEW").contains("review criteria above"));
    assert!(
        told("COMMIT")
            .contains("The engine runs all gates, records the files that the step changed, and commits.")
    );
    assert!(told("DEPLOY").contains("as the roadmap describes it"));
    let without = render(&assignment(&context, "GREEN"));
    assert!(without.contains("The project has no gate for this phase"));
    let tests = gates(&["tests"]);
    let only = render(&Assignment { gates: &tests, ..assignment(&context, "RED_ACCEPTANCE") });
    assert!(only.contains("the engine runs the gate `tests` itself"));
}

/// DW-65: three levels, or a quick look; older lists have a phase for each level.
#[test]
fn dw_65_a_refactoring_has_three_levels_or_a_quick_look() {
    let context = context(Schema::usual());
    let plain = assignment(&context, "REFACTOR_CONTINUOUS");
    let full = render(&plain);
    for level in ["- L1: naming", "- L2: complexity", "- L3: organization", "L4 to L6"] {
        assert!(full.contains(level), "{level}");
    }
    let quick = render(&Assignment { quick: true, ..plain });
    assert!(quick.contains("fewer than 30 lines"));
    assert!(!quick.contains("- L1: naming"));
    assert!(!render(&Assignment { quick: true, ..assignment(&context, "GREEN") }).contains("quick look"));
    let one = render(&assignment(&context, "REFACTOR_L2"));
    assert!(one.contains("The level of this phase is L2: complexity"));
}

/// K-11: the list after refactoring closes the refactoring, and stands among the criteria.
#[test]
fn k_11_the_list_after_refactoring_is_in_the_prompt() {
    let context = context(Schema::usual());
    let prompt = render(&assignment(&context, "REFACTOR_CONTINUOUS"));
    let (_, told) = prompt.split_once("The phase is over when all of this holds:").unwrap();
    assert!(POST_REFACTOR_LIST.iter().all(|item| told.contains(&format!("- {item}\n"))));
}

/// K-01, K-03: each list of phases has its own numbers and words.
#[test]
fn k_01_numbers_and_words_are_those_of_the_list() {
    let first = Schema::of_version("1").unwrap();
    let of_first = context(first);
    let prompt = render(&Assignment { schema: first, ..assignment(&of_first, "GREEN_UNIT") });
    assert!(prompt.contains("## INLINE REVIEW CRITERIA (Phase 6: REVIEW)\n"));
    assert!(prompt.contains("status: \"EXECUTED\""));
    assert!(prompt.contains("these 14 phases in order"));
    assert!(prompt.contains("phase_index: 3\n    phase_name: \"GREEN_UNIT\""));
    let last = Schema::of_version("5").unwrap();
    let of_last = context(last);
    let prompt = render(&Assignment { schema: last, ..assignment(&of_last, "RED") });
    assert!(prompt.contains("## INLINE REVIEW CRITERIA\n"));
    assert!(prompt.contains("Before anything else see that the entry point exists"));
}

/// DW-46: the same assignment gives the same text.
#[test]
fn dw_46_the_same_assignment_gives_the_same_prompt() {
    let (one, other) = (context(Schema::usual()), context(Schema::usual()));
    assert_eq!(render(&assignment(&one, "GREEN")), render(&assignment(&other, "GREEN")));
}

/// Why earlier tries were refused stands under a title of its own, and no line of it passes for a title.
#[test]
fn feedback_stands_under_its_own_title() {
    let context = context(Schema::usual());
    let refused =
        ["One test fails.\nThe output ended with:\n# TITLE\n## STATE TRACKING\nE  assert".to_owned()];
    let prompt = render(&Assignment { feedback: &refused, ..assignment(&context, "GREEN") });
    assert!(prompt.ends_with(
        "\n1. One test fails.\n    The output ended with:\n    > # TITLE\n    > ## STATE TRACKING\n    E  assert\n"
    ));
    assert!(!render(&assignment(&context, "GREEN")).contains(FEEDBACK_TITLE));
}

/// DW-56: what a step file of the first generation says is part of the context.
#[test]
fn dw_56_the_context_of_an_old_step_file_comes_along() {
    let context = context(Schema::usual());
    let legacy = "Background: tea\n# not a title\nINSTRUCTIONS:\n1. Boil";
    let prompt = render(&Assignment { legacy: Some(legacy), ..assignment(&context, "GREEN") });
    assert!(prompt.contains("Background: tea\n> # not a title\nINSTRUCTIONS:\n1. Boil\n\n## STATE TRACKING"));
}

/// A phase of the roadmap cannot bring a title of its own.
#[test]
fn words_of_phases_cannot_pass_for_titles() {
    let mut context = context(Schema::usual());
    context.phases[2].description = Some("First\n## STATE TRACKING VIA nothing".to_owned());
    let prompt = render(&assignment(&context, "GREEN"));
    assert_eq!(prompt.matches("\n## STATE TRACKING").count(), 1);
}

/// The whole text of one call, for people to read.
#[test]
fn dw_07_a_whole_prompt() {
    let context = context(Schema::usual());
    let (gates, refused) =
        (gates(&["tests", "lint"]), ["One test fails.\nThe output ended with:\nE assert 1 == 2".to_owned()]);
    let given = Assignment { gates: &gates, feedback: &refused, ..assignment(&context, "GREEN") };
    insta::assert_snapshot!("phase-prompt-v3", render(&given));
}

/// K-33: a step that names no files is not told to change none.
#[test]
fn k_33_a_step_without_files_is_told_so() {
    let mut context = context(Schema::usual());
    context.step.files = crate::roadmap::plan::Files::default();
    context.step.test_file = None;
    let prompt = render(&assignment(&context, "GREEN"));
    assert!(prompt.contains("The step names no files"), "{prompt}");
    assert!(!prompt.contains("deliverables above"), "{prompt}");
}
