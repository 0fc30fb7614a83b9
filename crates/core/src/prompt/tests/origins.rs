//! Markers: what they say, where they count, and what happens to half a marker block.

use proptest::prelude::*;

use super::errors;
use super::fourteen;
use super::judged;
use super::step_prompt;
use crate::prompt::Library;
use crate::prompt::PhaseList;
use crate::prompt::Sender;
use crate::prompt::Standard;
use crate::prompt::origin::Head;
use crate::prompt::origin::Metadata;
use crate::prompt::origin::extract;
use crate::prompt::registry::Command;
use crate::prompt::registry::Level;
use crate::prompt::validate;
use crate::prompt::validate::SKIPPED;

const BLOCK: &str = "<!-- DES-ORIGIN: command:/nw:execute -->\n<!-- DES-STEP-FILE: steps/01-01.json -->\n\
                     <!-- DES-VALIDATION: required -->\n<!-- DES-VERSION: 1.0 -->\n";

// DS-04, DS-05, DS-06.
#[test]
fn ds_04_to_06_markers_are_read_by_the_fixed_expressions() {
    assert_eq!(
        extract(&format!("{BLOCK}\nYou are the baker.\n")),
        Metadata {
            origin: "command:/nw:execute".to_owned(),
            step_file: Some("steps/01-01.json".to_owned()),
            step_id: None,
            requires_validation: true,
            version: Some("1.0".to_owned()),
        }
    );
    let nothing = extract("Find the cause of the failing test.");
    assert_eq!(
        (nothing.origin.as_str(), nothing.step_file, nothing.requires_validation),
        ("ad-hoc", None, false)
    );
}

// DS-17: the four fields, and the fields of the metadata.
#[test]
fn ds_06_metadata_is_written_with_its_five_fields() {
    let verdict = judged("Find the cause.", &fourteen());
    assert_eq!(
        serde_json::to_value(&verdict).unwrap(),
        serde_json::json!({
            "valid": true,
            "errors": [],
            "warnings": [{
                "rule": "ad-hoc",
                "message": "Prompt not DES-tagged - validation skipped",
                "help": "nothing has to be done; a prompt that should be validated begins with the markers",
                "line": 1,
            }],
            "metadata": {
                "origin": "ad-hoc",
                "step_file": null,
                "step_id": null,
                "requires_validation": false,
                "version": null,
            },
        })
    );
}

#[test]
fn k_12_a_file_of_many_steps_needs_the_step_id() {
    let prompt = step_prompt().replace("steps/01-02.json", "execution-status.yaml");
    assert_eq!(errors(&prompt), Vec::<String>::new());
    assert_eq!(extract(&prompt).step_id.as_deref(), Some("01-02"));
    let prompt = prompt.replace("<!-- DES-STEP-ID: 01-02 -->\n", "");
    assert_eq!(errors(&prompt), ["MISSING: Mandatory section 'DES_METADATA' not found"]);
}

// DS-73.
#[test]
fn ds_08_and_ds_73_an_ad_hoc_prompt_passes_unvalidated_and_is_told_from_a_command() {
    for prompt in ["", "   \n", "Explore the code base.", "# AGENT_IDENTITY\n", "\u{FEFF}Explore."] {
        let verdict = judged(prompt, &fourteen());
        assert!(verdict.valid, "{prompt:?}");
        assert_eq!(verdict.warnings.first().map(|w| w.message.as_str()), Some(SKIPPED), "{prompt:?}");
    }
    let command = judged(BLOCK, &fourteen());
    assert!(!command.valid && command.metadata.origin != "ad-hoc");
}

// K-32 and E-71: quoted markers mean nothing, wherever they are quoted.
#[test]
fn e_71_markers_below_the_head_block_count_for_nothing() {
    for prompt in [
        format!("You are the baker.\n{BLOCK}"),
        format!("```\n{BLOCK}```\n"),
        format!("# TASK_CONTEXT\n{BLOCK}"),
        format!("<!-- SECTION: TASK_CONTEXT -->\n{BLOCK}"),
        format!("<!-- a comment\nover two lines -->\n{BLOCK}"),
        format!("<!-- note --> and words\n{BLOCK}"),
        format!("> {BLOCK}"),
    ] {
        let verdict = judged(&prompt, &fourteen());
        assert!(verdict.valid, "{prompt}");
        assert_eq!(verdict.metadata, extract(""), "{prompt}");
        assert!(Head::of(&prompt).found_in_body.is_some(), "{prompt}");
        assert_eq!(verdict.warnings.len(), 2, "{prompt}");
    }
}

#[test]
fn k_32_the_head_block_may_have_blanks_comments_and_its_own_title() {
    for prompt in [
        format!("\n\n  \n{BLOCK}"),
        format!("\u{FEFF}{BLOCK}"),
        BLOCK.replace('\n', "\r\n"),
        format!("# DES_METADATA\n\n{BLOCK}"),
        format!("<!-- SECTION: DES_METADATA -->\n{BLOCK}"),
        format!("<!-- made by the build -->\n\t{BLOCK}"),
        BLOCK.replace('\n', " "),
    ] {
        let found = extract(&prompt);
        assert!(found.requires_validation, "{prompt}");
        assert_eq!(found.origin, "command:/nw:execute", "{prompt}");
    }
}

#[test]
fn ds_07_the_registry_says_level_and_step_file_of_each_command() {
    let registry = &Library::standard().registry;
    let entries: Vec<_> = registry.iter().map(|c| (c.name.as_str(), c.level, c.step_file)).collect();
    assert_eq!(
        entries,
        [
            ("/nw:baseline", Level::Partial, false),
            ("/nw:develop", Level::Full, true),
            ("/nw:execute", Level::Full, true),
            ("/nw:research", Level::None, false),
            ("/nw:review", Level::None, false),
            ("/nw:roadmap", Level::Partial, false),
            ("/nw:split", Level::Partial, false),
        ]
    );
}

#[test]
fn ds_07_a_command_that_is_not_validated_passes() {
    for command in ["/nw:review", "/nw:research"] {
        let prompt = BLOCK.replace("/nw:execute", command);
        assert!(judged(&prompt, &fourteen()).valid, "{command}");
    }
}

#[test]
fn ds_07_a_project_can_add_commands() {
    let mut library = Library::standard().clone();
    library.registry.insert(Command {
        name: "/acme:bake".to_owned(),
        level: Level::Partial,
        step_file: false,
        template: None,
        sections: Some("baseline_create".to_owned()),
    });
    let prompt = "<!-- DES-ORIGIN: command:/acme:bake -->\n\nBake.\n";
    let phases = fourteen();
    let standing = |library| validate(prompt, Sender::Foreign, &Standard { library, phases: &phases }).valid;
    assert!(standing(Library::standard()), "unknown and not tagged for validation");
    assert!(!standing(&library));
}

// K-32: a command prompt that lost its marker is a mistake, not a way around the rules.
#[test]
fn k_32_a_validated_command_without_the_validation_marker_is_refused() {
    let prompt = step_prompt().replace("<!-- DES-VALIDATION: required -->\n", "");
    let verdict = judged(&prompt, &fourteen());
    assert!(!verdict.metadata.requires_validation);
    let [error] = verdict.errors.as_slice() else { panic!("{:?}", verdict.errors) };
    assert_eq!(error.message, "MISSING: Mandatory section 'DES_METADATA' not found");
    assert!(error.help.ends_with("\n<!-- DES-VALIDATION: required -->"), "{}", error.help);
}

#[test]
fn k_32_each_missing_marker_is_named() {
    for (line, named) in [
        ("<!-- DES-STEP-FILE: docs/feature/bakery/steps/01-02.json -->\n", "<!-- DES-STEP-FILE: {path} -->"),
        ("<!-- DES-VERSION: 1.0 -->\n", "<!-- DES-VERSION: 1.0 -->"),
        ("<!-- DES-ORIGIN: command:/nw:execute -->\n", "<!-- DES-ORIGIN: command:/nw:execute -->"),
    ] {
        let prompt = step_prompt().replace(line, "");
        let verdict = judged(&prompt, &fourteen());
        let [error] = verdict.errors.as_slice() else { panic!("{:?}", verdict.errors) };
        assert!(error.help.ends_with(named), "{}", error.help);
        // With a title of its own the block is spoken of marker by marker.
        let titled = judged(&format!("# DES_METADATA\n{prompt}"), &fourteen());
        let all: Vec<_> = titled.errors.iter().chain(&titled.warnings).map(|p| p.message.clone()).collect();
        assert_eq!(all, [format!("MISSING: Marker '{named}' not found")]);
    }
}

#[test]
fn k_32_a_misspelt_marker_is_named_and_refused() {
    for (wrong, right) in [
        ("<!-- DES-VALIDATON: required -->", "<!-- DES-VALIDATION: required -->"),
        ("<!-- DES-ORGIN: command:/nw:execute -->", "<!-- DES-ORIGIN: command:/nw:execute -->"),
    ] {
        let verdict = judged(&format!("{wrong}\n\nBake.\n"), &fourteen());
        assert!(!verdict.valid);
        let error = verdict.errors.first().unwrap();
        assert!(error.message.starts_with("MALFORMED: Marker 'DES-"), "{}", error.message);
        assert_eq!(error.help, format!("write {right}"));
    }
}

#[test]
fn k_32_blanks_and_case_in_a_marker_are_understood_with_a_warning() {
    let exact = "<!-- DES-VALIDATION: required -->";
    for loose in [
        "<!--DES-VALIDATION: required-->",
        "<!-- DES-VALIDATION : required -->",
        "<!-- des-validation: required -->",
        "<!-- DES_VALIDATION:required -->",
    ] {
        let verdict = judged(&step_prompt().replace(exact, loose), &fourteen());
        assert!(verdict.valid && verdict.metadata.requires_validation, "{loose}: {:?}", verdict.errors);
        let [warning] = verdict.warnings.as_slice() else { panic!("{:?}", verdict.warnings) };
        assert_eq!(warning.help, format!("other tools look for {exact}"));
    }
}

#[test]
fn k_32_markers_that_contradict_each_other_are_refused() {
    let prompt = step_prompt();
    let twice = format!("<!-- DES-ORIGIN: command:/nw:develop -->\n{prompt}");
    assert_eq!(
        errors(&twice),
        ["CONFLICT: Marker 'DES-ORIGIN' is there more than once, with different values"]
    );
    // A mild origin in front does not hide a strict one.
    let hidden = format!("<!-- DES-ORIGIN: command:/nw:review -->\n{prompt}");
    assert_eq!(errors(&hidden), errors(&twice));
    let same = format!("<!-- DES-ORIGIN: command:/nw:execute -->\n{prompt}");
    assert_eq!(errors(&same), Vec::<String>::new());
}

#[test]
fn k_32_an_unknown_command_is_refused_where_a_known_one_was_meant() {
    let prompt = step_prompt().replace("command:/nw:execute", "command:/nw:exceute");
    let verdict = judged(&prompt, &fourteen());
    let [error] = verdict.errors.as_slice() else { panic!("{:?}", verdict.errors) };
    assert_eq!(error.message, "UNKNOWN: Command '/nw:exceute' is not registered");
    assert_eq!(error.help, "did you mean `/nw:execute`?");
    assert!(!judged("<!-- DES-ORIGIN: command:nw:execute -->\nBake.", &fourteen()).valid, "plainly meant");
    let other = judged("<!-- DES-ORIGIN: command:/acme:bake -->\nBake.", &fourteen());
    assert!(other.valid && other.warnings.len() == 1);
}

#[test]
fn k_32_for_calls_of_the_engine_the_registry_decides() {
    let phases = fourteen();
    let standard = Standard { library: Library::standard(), phases: &phases };
    let by = |prompt: &str, command| validate(prompt, Sender::Command(command), &standard);
    assert!(!by("Bake.", "/nw:execute").valid, "no marker is needed to be held to the rules");
    assert!(by("Bake.", "/nw:review").valid);
    assert!(!by("Bake.", "/nw:unheard-of").valid);
    assert!(by(&step_prompt(), "/nw:execute").valid);
    let errors = by(&step_prompt(), "/nw:develop").errors;
    assert_eq!(
        errors.first().map(|error| error.message.as_str()),
        Some(
            "MISMATCH: The prompt says it comes from 'command:/nw:execute', but it is sent by '/nw:develop'"
        )
    );
}

proptest! {
    // DS-08, E-71: whatever stands in front, markers behind it do not count.
    #[test]
    fn e_71_no_text_before_the_markers_lets_them_count(words in "[a-zA-Z][a-zA-Z .,:]{0,40}") {
        let prompt = format!("{words}\n{BLOCK}");
        prop_assert_eq!(extract(&prompt), extract(""));
    }

    #[test]
    fn ds_06_any_text_can_be_read(text in "\\PC{0,200}") {
        let _ = extract(&text);
        let _ = judged(&format!("{BLOCK}{text}"), &PhaseList::usual());
    }

    #[test]
    fn ds_06_values_come_back_as_they_were_written(path in "[A-Za-z0-9][A-Za-z0-9/._-]{0,30}[a-z0-9]") {
        let prompt = format!("<!-- DES-STEP-FILE: {path} -->\n");
        prop_assert_eq!(extract(&prompt).step_file, Some(path));
    }
}
