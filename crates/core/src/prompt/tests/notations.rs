//! Sections: the four notations, and what only looks like one.

use super::errors;
use super::fourteen;
use super::step_prompt;
use crate::prompt::outline::Outline;
use crate::prompt::outline::says_something;

/// The step prompt with another title for its gates.
fn titled(title: &str) -> Vec<String> {
    errors(&step_prompt().replace("# QUALITY_GATES", title))
}

const MISSING: &str = "MISSING: Mandatory section 'QUALITY_GATES' not found";

#[test]
fn ds_13_and_k_23_a_section_is_found_in_each_notation() {
    for title in [
        "# QUALITY_GATES",
        "## QUALITY_GATES",
        "### QUALITY_GATES",
        "<!-- SECTION: QUALITY_GATES -->",
        "<!--SECTION: QUALITY_GATES-->",
        "#\tQUALITY_GATES",
        "## QUALITY_GATES ##",
        "## **QUALITY_GATES**",
        "## QUALITY_GATES: what must hold",
        "## QUALITY_GATES\t",
    ] {
        assert_eq!(titled(title), Vec::<String>::new(), "{title}");
    }
}

#[test]
fn k_23_what_only_looks_like_a_title_is_none() {
    for title in [
        "QUALITY_GATES",
        "#QUALITY_GATES",
        "#### QUALITY_GATES",
        " # QUALITY_GATES",
        "> # QUALITY_GATES",
        "see ## QUALITY_GATES",
        "## QUALITY_GATES_OLD",
        "## MY_QUALITY_GATES",
        "## Quality gates",
        "**QUALITY_GATES**",
        "```\n# QUALITY_GATES\n```",
        "~~~~ text\n# QUALITY_GATES\n~~~\n~~~~",
    ] {
        assert_eq!(titled(title), [MISSING], "{title}");
    }
}

#[test]
fn k_25_a_place_left_open_is_no_section_in_a_prompt() {
    assert_eq!(
        titled("## {QUALITY_GATES}"),
        [MISSING, "UNRENDERED: Placeholder '{QUALITY_GATES}' was not filled in"]
    );
}

#[test]
fn ds_13_line_endings_and_tabs_do_not_matter() {
    assert_eq!(errors(&step_prompt().replace('\n', "\r\n")), Vec::<String>::new());
    assert_eq!(errors(&format!("\u{FEFF}{}", step_prompt())), Vec::<String>::new());
}

#[test]
fn ds_13_a_title_that_comes_twice_adds_to_its_section() {
    let prompt = step_prompt().replace("# QUALITY_GATES", "<!-- SECTION: QUALITY_GATES -->\n# QUALITY_GATES");
    assert_eq!(errors(&prompt), Vec::<String>::new());
    let outline = Outline::read("# A\none\n# B\ntwo\n# A\nthree\n", ["A", "B"]);
    let bodies = |name| outline.bodies(outline.section(name).unwrap()).collect::<String>();
    assert_eq!((bodies("A").as_str(), bodies("B").as_str()), ("one\nthree\n", "two\n"));
}

#[test]
fn e_72_headings_rules_and_comments_alone_say_nothing() {
    for body in ["", "\n \n", "---\n", "## More\n", "<!-- later -->\n", "***\n- \n"] {
        assert!(!says_something(body), "{body:?}");
    }
    for body in ["x", "- item\n", "| a |\n", "```\n# code\n```\n", "Größe\n", "四十分\n"] {
        assert!(says_something(body), "{body:?}");
    }
}

#[test]
fn ds_13_a_fence_that_is_never_closed_is_named() {
    let prompt = step_prompt().replace("# QUALITY_GATES", "```\n# QUALITY_GATES");
    let verdict = super::judged(&prompt, &fourteen());
    assert!(!verdict.valid);
    assert!(verdict.warnings.iter().any(|w| w.rule == "code-fence"), "{:?}", verdict.warnings);
}
