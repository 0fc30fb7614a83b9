//! Prompts that are refused, and prompts that are not.

use proptest::prelude::*;

use super::super::check::check;
use super::super::*;
use super::*;
use crate::finding::Finding;

#[track_caller]
fn rules(prompt: &str) -> Vec<String> {
    check(prompt).into_iter().map(|finding: Finding| finding.rule).collect()
}

const CONTEXT: &str =
    "## TASK CONTEXT (EXTRACTED FROM ROADMAP - DO NOT LOAD ROADMAP)\n\n**Step ID**: 01-01\n";

/// DW-10: a prompt without extracted context would make its agent load the roadmap.
#[test]
fn dw_10_a_prompt_without_context_is_refused() {
    assert_eq!(rules("Execute: des-us007-boundary-rules step 01-01"), ["no-context"]);
    assert_eq!(rules("## TASK CONTEXT\n\n"), ["no-context"]);
    assert_eq!(rules(""), ["no-context"]);
    assert!(rules(CONTEXT).is_empty());
    assert!(rules("# TASK_CONTEXT\n\n- Step: 01-01\n").is_empty());
}

/// DW-11: a prompt that leans on an earlier conversation is refused, in all the ways people write it.
#[test]
fn dw_11_a_prompt_that_refers_to_earlier_conversation_is_refused() {
    assert_eq!(
        rules("Execute 01-01. As we discussed earlier, focus on parallelization."),
        ["no-context", "conversation"]
    );
    for words in [
        "Do it as agreed.",
        "Use the approach from our last session.",
        "Go on where we left off.",
        "See the previous conversation.",
        "what we've already decided",
        "As you know, the kettle is red.",
        "Do it like last time.",
        "Remember that we use ports.",
    ] {
        assert_eq!(rules(&format!("{words}\n\n{CONTEXT}")), ["conversation"], "{words}");
    }
    for words in [
        "As mentioned above, run the tests.",
        "Discuss nothing.",
        "Remember to save.",
        "See the earlier phases.",
    ] {
        assert!(rules(&format!("{words}\n\n{CONTEXT}")).is_empty(), "{words}");
    }
    let finding = check(&format!("x\nAs discussed, go.\n{CONTEXT}")).remove(0);
    assert_eq!(finding.place.line, 2);
    assert!(finding.message.contains("`As discussed`"), "{}", finding.message);
}

/// DW-12: the old path of a step is refused, except where the state is kept.
#[test]
fn dw_12_the_old_path_of_a_step_is_refused() {
    assert_eq!(rules("Execute: docs/feature/auth-upgrade/steps/01-01.json"), ["no-context", "old-step-path"]);
    assert_eq!(rules(&format!("Run \"steps/01-01.json\"\n{CONTEXT}")), ["old-step-path"]);
    assert!(rules(&format!("Read src/missteps/01.json and steps/readme.md\n{CONTEXT}")).is_empty());
    let context = context(Schema::usual());
    let old = Assignment { status_path: "docs/feature/x/steps/01-01.json", ..assignment(&context, "GREEN") };
    assert!(rules(&render(&old)).is_empty());
}

/// DW-13: placeholders that nobody filled are refused wherever they stand for something.
#[test]
fn dw_13_placeholders_that_were_never_filled_are_refused() {
    for open in [
        "You are the {agent-name} agent.",
        "PROJECT: {project-id}",
        "STEP: {step-id}",
        "Use {task_context[name]} here.",
        "{format_tdd_phases(task_context[tdd_phases])}",
        "**Name**: {name}",
    ] {
        assert_eq!(rules(&format!("{open}\n{CONTEXT}")), ["placeholder"], "{open}");
    }
    for open in ["**Name**: {name}", "{acceptance_criteria}", "**Description**: {task_context[description]}"]
    {
        assert_eq!(rules(&format!("{CONTEXT}{open}\n")), ["placeholder"], "{open}");
    }
    // Words of a step about placeholders are words, and code is code.
    for words in [
        "**Description**: Replace `{project-id}` in templates",
        "- {name} is shown",
        "```json\n{\"a\": {}}\n```",
    ] {
        assert!(rules(&format!("{CONTEXT}{words}\n")).is_empty(), "{words}");
    }
}

/// DW-13: no prompt of ours has one, for any list of phases and any phase.
#[test]
fn dw_13_no_rendered_prompt_is_refused() {
    let all = gates(&["acceptance", "tests", "lint", "coverage", "security"]);
    for schema in Schema::built_in() {
        let context = context(schema);
        for phase in schema.names() {
            for call in [Call::Phase, Call::Step] {
                let plain = Assignment { schema, call, gates: &all, ..assignment(&context, phase) };
                assert_eq!(check(&render(&plain)), [], "{phase}");
            }
        }
    }
}

/// Texts as steps hold them, with everything in it that a check looks for.
fn text() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "as we discussed earlier",
        "docs/feature/x/steps/01-01.json",
        "see {project-id} there",
        "{task_context[name]} {name}",
        "\n## STATE TRACKING VIA execution-status.yaml\n",
        "\n# HEAD\n",
        "```",
        "\n## TASK CONTEXT\n",
        "\r\n",
        "**Name**: x",
        "water",
    ]);
    prop::collection::vec(prop_oneof![words.prop_map(str::to_owned), "\\PC{0,12}"], 1..6)
        .prop_map(|parts| format!("Text: {}", parts.join(" ")))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// DW-10, DW-11, DW-12, DW-13: whatever a step, a reviewer or a gate says, the prompt around it is fit to be sent.
    #[test]
    fn dw_13_whatever_a_step_says_the_prompt_is_fit(
        texts in prop::collection::vec(text(), 6),
        phase in prop::sample::select(vec!["PREPARE", "RED_UNIT", "GREEN", "REFACTOR_CONTINUOUS", "COMMIT"]),
        call in prop_oneof![Just(Call::Phase), Just(Call::Step)],
        quick in any::<bool>(),
    ) {
        let mut context = context(Schema::usual());
        context.step.description = Some(texts[0].clone());
        context.step.criteria = vec![texts[1].clone()];
        context.step.notes = Some(texts[2].clone());
        context.recommendations = vec![texts[3].clone()];
        context.phases[1].description = Some(texts[4].clone());
        let refused = [texts[5].clone()];
        let given = Assignment {
            call, quick, feedback: &refused, legacy: Some(&texts[0]), ..assignment(&context, phase)
        };
        let prompt = render(&given);
        prop_assert_eq!(check(&prompt), vec![]);
        prop_assert_eq!(&prompt, &render(&given));
        for title in [STATE_TITLE, SKELETON_TITLE, STRUCTURE_TITLE, DEMAND_TITLE, REPORT_TITLE, FEEDBACK_TITLE] {
            prop_assert_eq!(prompt.lines().filter(|line| *line == title).count(), 1);
        }
    }
}
