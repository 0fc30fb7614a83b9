//! Verdicts: what a prompt lacks, in the fixed words, all at once, and how it is mended.

use proptest::prelude::*;

use super::errors;
use super::fourteen;
use super::judged;
use super::rendered;
use super::step_prompt;
use super::without_section;
use crate::prompt::PhaseList;
use crate::prompt::sections::METADATA;
use crate::prompt::tokens::Cost;
use crate::prompt::tokens::estimate;
use crate::prompt::validate::description;

const SECTIONS: [&str; 7] = [
    "AGENT_IDENTITY",
    "TASK_CONTEXT",
    "TDD_14_PHASES",
    "QUALITY_GATES",
    "OUTCOME_RECORDING",
    "BOUNDARY_RULES",
    "TIMEOUT_INSTRUCTION",
];

// DS-14, DS-74, E-72.
#[test]
fn ds_11_each_mandatory_section_that_is_missing_is_named_in_the_fixed_words() {
    for section in SECTIONS {
        let errors = errors(&without_section(&step_prompt(), section));
        assert_eq!(errors.first(), Some(&format!("MISSING: Mandatory section '{section}' not found")));
        // Without its section the budget is not said anywhere either.
        assert_eq!(errors.len(), if section == "TIMEOUT_INSTRUCTION" { 2 } else { 1 }, "{errors:?}");
    }
}

#[test]
fn ds_12_optional_sections_may_be_left_out() {
    for section in ["REVIEW_CRITERIA", "RECOVERY_INSTRUCTIONS"] {
        assert_eq!(errors(&without_section(&step_prompt(), section)), Vec::<String>::new(), "{section}");
    }
}

#[test]
fn e_72_a_section_without_content_is_refused() {
    for section in SECTIONS {
        let prompt = without_section(&step_prompt(), section);
        let errors =
            errors(&prompt.replace("# REVIEW_CRITERIA", &format!("# {section}\n\n---\n\n# REVIEW_CRITERIA")));
        assert_eq!(errors.first(), Some(&format!("EMPTY: Mandatory section '{section}' has no content")));
    }
}

#[test]
fn ds_22_all_errors_come_in_one_pass() {
    let block: String = step_prompt().lines().take(5).map(|line| format!("{line}\n")).collect();
    let mut wanted: Vec<String> =
        SECTIONS.iter().map(|s| format!("MISSING: Mandatory section '{s}' not found")).collect();
    wanted.push("MISSING: No timeout/turn-limit instruction found".to_owned());
    assert_eq!(errors(&format!("{block}\nBake.\n")), wanted);
}

#[test]
fn ds_15_each_phase_that_is_missing_is_named() {
    let phases = fourteen();
    for name in phases.names() {
        let row =
            step_prompt().lines().find(|line| line.contains(&format!("| {name} |"))).unwrap().to_owned();
        let prompt = step_prompt().replace(&format!("{row}\n"), "");
        assert_eq!(errors(&prompt), [format!("INCOMPLETE: TDD phase '{name}' not mentioned")]);
    }
}

// K-26: `POST_REFACTOR_REVIEW` does not stand for `REVIEW`, and a word elsewhere in the prompt does not either.
#[test]
fn e_73_a_phase_is_a_whole_word_of_its_section() {
    let prompt = step_prompt().replace("| 6 | REVIEW |", "| 6 | MY_REVIEW |");
    assert!(prompt.contains("(REVIEW)"), "named outside its section");
    assert_eq!(errors(&prompt), ["INCOMPLETE: TDD phase 'REVIEW' not mentioned"]);
}

#[test]
fn k_26_phases_out_of_order_are_one_error() {
    let prompt = step_prompt()
        .replace("| 1 | RED_ACCEPTANCE |", "| 1 | SWAPPED |")
        .replace("| 2 | RED_UNIT |", "| 2 | RED_ACCEPTANCE |")
        .replace("| 1 | SWAPPED |", "| 1 | RED_UNIT |");
    assert_eq!(errors(&prompt), ["OUT OF ORDER: TDD phase 'RED_UNIT' does not come after 'RED_ACCEPTANCE'"]);
    let first_last = step_prompt()
        .replace("| 0 | PREPARE |", "| 0 | - |")
        .replace("| 13 | COMMIT |", "| 13 | COMMIT | PREPARE |");
    assert_eq!(errors(&first_last).len(), 1);
}

#[test]
fn k_26_a_phase_may_be_spoken_of_before_the_list() {
    let prompt = step_prompt().replace("none left out:", "from PREPARE to COMMIT, REVIEW included:");
    assert_eq!(errors(&prompt), Vec::<String>::new());
}

// DS-75: the list is that of the step's schema, with its own title.
#[test]
fn k_01_the_list_of_phases_is_that_of_the_schema() {
    for phases in PhaseList::built_in() {
        let version = &phases.version;
        let prompt = rendered("execute-step", &phases);
        assert_eq!(judged(&prompt, &phases).errors, [], "{version}");
        for title in &phases.titles {
            let retitled = prompt.replace(&format!("# {}\n", phases.title()), &format!("## {title}\n"));
            assert_eq!(judged(&retitled, &phases).errors, [], "{version} {title}");
        }
        for other in PhaseList::built_in().into_iter().filter(|other| other.version != *version) {
            let longer = other.names().any(|name| !phases.names().any(|known| known == name));
            assert!(!longer || !judged(&prompt, &other).valid, "{version} passes as {}", other.version);
        }
    }
}

#[test]
fn k_27_the_budget_is_a_number_of_turns_or_minutes() {
    let said =
        |budget: &str| {
            let prompt = without_section(&step_prompt(), "TIMEOUT_INSTRUCTION");
            errors(&prompt.replace(
                "# REVIEW_CRITERIA",
                &format!("# TIMEOUT_INSTRUCTION\n\n{budget}\n\n# REVIEW_CRITERIA"),
            ))
        };
    for budget in [
        "Finish within approximately 50 turns.",
        "complete within 30 minutes",
        "max_turns: 50",
        "Turn limit: **40**",
        "At most 1,000 model turns",
        "**50** turns",
        "You have a 45-minute budget",
        "TIMEOUT after 20 min.\nor 20 mins",
        "turn budget of 12",
    ] {
        assert_eq!(said(budget), Vec::<String>::new(), "{budget}");
    }
    for budget in [
        "TIMEOUT",
        "There is a turn limit; complete within it. max_turns applies.",
        "Finish soon, in a few turns.",
        "0 turns",
        "See chapter 12 for the turn-based rules.",
        "Up to 50 returns",
    ] {
        assert_eq!(said(budget), ["MISSING: No timeout/turn-limit instruction found"], "{budget}");
    }
}

// DS-16: where the section is missing, a budget anywhere keeps the second error away.
#[test]
fn ds_16_a_budget_outside_its_section_does_not_replace_the_section() {
    let prompt = without_section(&step_prompt(), "TIMEOUT_INSTRUCTION")
        .replace("Bread is baked", "Complete within 50 turns. Bread is baked");
    assert_eq!(errors(&prompt), ["MISSING: Mandatory section 'TIMEOUT_INSTRUCTION' not found"]);
}

#[test]
fn k_24_a_complete_marker_block_stands_for_the_metadata() {
    assert!(!step_prompt().contains(METADATA));
    assert_eq!(errors(&step_prompt()), Vec::<String>::new());
    assert_eq!(errors(&format!("# DES_METADATA\n\n{}", step_prompt())), Vec::<String>::new());
}

// K-31: markers and the sections of the command's own template; no state file, no list of phases.
#[test]
fn k_31_partial_prompts_need_their_own_sections_and_no_phases() {
    for template in ["baseline-create", "roadmap-create", "split-steps"] {
        let prompt = rendered(template, &fourteen());
        assert!(!prompt.contains("DES-STEP-FILE") && !prompt.contains("RED_UNIT"), "{template}");
        assert_eq!(errors(&prompt), Vec::<String>::new(), "{template}");
        assert_eq!(
            errors(&without_section(&prompt, "BOUNDARY_RULES")),
            ["MISSING: Mandatory section 'BOUNDARY_RULES' not found"]
        );
    }
}

#[test]
fn k_25_a_placeholder_that_was_not_filled_is_refused() {
    let prompt = step_prompt().replace("step **01-02**", "step **{task_id}**");
    assert_eq!(errors(&prompt), ["UNRENDERED: Placeholder '{task_id}' was not filled in"]);
    let marker = step_prompt().replace("docs/feature/bakery/steps/01-02.json -->", "{step_file_path} -->");
    assert_eq!(
        errors(&marker),
        ["UNRENDERED: Marker 'DES-STEP-FILE' still has the placeholder '{step_file_path}'"]
    );
    // The words of a task may speak of templates.
    let task = judged(&step_prompt().replace("Knead the dough.", "Fill {task_id} in."), &fourteen());
    assert!(task.valid && task.warnings.len() == 1, "{:?}", task.errors);
    assert_eq!(errors(&step_prompt().replace("Run tests", "Run {any} tests")), Vec::<String>::new());
}

#[test]
fn ds_31_the_error_names_every_error_and_the_reason_says_how_to_mend_them() {
    let prompt = without_section(&without_section(&step_prompt(), "QUALITY_GATES"), "AGENT_IDENTITY");
    let error = judged(&prompt, &fourteen()).into_result().unwrap_err();
    assert_eq!(
        error.to_string(),
        "Cannot invoke Task - validation failed:\nMISSING: Mandatory section 'AGENT_IDENTITY' not found\n\
         MISSING: Mandatory section 'QUALITY_GATES' not found"
    );
    insta::assert_snapshot!(error.reason(), @r"
    Cannot invoke Task - validation failed:
    MISSING: Mandatory section 'AGENT_IDENTITY' not found
      To mend it: add a heading `# AGENT_IDENTITY` at the start of a line, and under it: who the agent is, its specialty, the step and the project
    MISSING: Mandatory section 'QUALITY_GATES' not found
      To mend it: add a heading `# QUALITY_GATES` at the start of a line, and under it: what the gates G1 to G6 demand
    ");
    assert_eq!(description("01-02"), "Execute step 01-02");
    assert_eq!(judged(&step_prompt(), &fourteen()).into_result().unwrap().origin, "command:/nw:execute");
}

// DS-80: the help points at what was probably meant.
#[test]
fn ds_80_every_error_says_how_to_mend_it() {
    let prompt = step_prompt().replace("# QUALITY_GATES", "# Quality Gates");
    let verdict = judged(&prompt, &fourteen());
    let [error] = verdict.errors.as_slice() else { panic!("{:?}", verdict.errors) };
    let line = prompt.lines().position(|line| line == "# Quality Gates").unwrap() + 1;
    assert_eq!(
        error.help,
        format!("line {line} says `Quality Gates`; write `# QUALITY_GATES` there, to the letter")
    );
    assert_eq!(usize::try_from(error.line).unwrap(), line);
    let nothing = judged("<!-- DES-VALIDATION: required -->\n", &fourteen());
    assert!(nothing.errors.len() >= 8);
    assert!(nothing.errors.iter().all(|error| !error.help.is_empty()));
}

#[test]
fn ds_71_the_cost_in_tokens_is_estimated_before_and_after() {
    assert_eq!([estimate(""), estimate("abcd"), estimate("abcde"), estimate("äöüß")], [0, 1, 2, 1]);
    let cost = Cost::of("Knead the dough.", &step_prompt());
    assert_eq!(cost.before, 4);
    assert!(cost.added() > 1000 && cost.added() < 2500, "{cost:?}");
}

// What costs most: titles, fences, braces, markers, words of the phases. A megabyte of all of them is judged, and
// the reading of each grows with its length alone, or this test would not end.
#[test]
fn ds_22_huge_prompts_are_judged() {
    let pieces =
        ["# TASK_CONTEXT\n", "```\n", "{task_id}", "{{{{", "<!-- DES-X", "REVIEW ", "# x\n", "1 ", "äöü "];
    let alone = pieces.map(|piece| piece.repeat((1 << 16) / piece.len()));
    let mixed = pieces.concat().repeat((1 << 20) / pieces.concat().len());
    for filling in alone.iter().chain([&mixed]) {
        let prompt = step_prompt().replace("Knead the dough.", filling);
        let _ = judged(&prompt, &fourteen());
        let _ = judged(&format!("<!-- DES-VALIDATION: required -->\n{filling}"), &fourteen());
    }
}

proptest! {
    // DS-22: taking any set of sections out names exactly those.
    #[test]
    fn ds_14_exactly_the_missing_sections_are_named(gone in proptest::sample::subsequence(&SECTIONS[..6], 0..=6)) {
        let prompt = gone.iter().fold(step_prompt(), |prompt, section| without_section(&prompt, section));
        let wanted: Vec<String> =
            gone.iter().map(|section| format!("MISSING: Mandatory section '{section}' not found")).collect();
        prop_assert_eq!(errors(&prompt), wanted);
    }

    // K-26: any order but the right one is refused.
    #[test]
    fn k_26_only_the_right_order_passes(order in Just((0..14usize).collect::<Vec<_>>()).prop_shuffle()) {
        let phases = fourteen();
        let names: Vec<&str> = phases.names().collect();
        let list: String = order.iter().map(|i| format!("- {}\n", names[*i])).collect();
        let prompt = step_prompt().replace(&phases.table(), &list);
        prop_assert_eq!(errors(&prompt).is_empty(), order.is_sorted());
    }
}
