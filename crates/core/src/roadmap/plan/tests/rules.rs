//! The rules about the form, by name, with the places where they are broken.

use super::OFFICIAL;
use super::PLAN;
use super::lines;
use super::read;
use crate::finding::Severity;
use crate::roadmap::plan::Roadmap;

/// The rules that a text breaks.
fn broken(path: &str, text: &str) -> Vec<(String, Severity)> {
    Roadmap::read(path, text).1.into_iter().map(|f| (f.rule, f.severity)).collect()
}

/// One change of the official roadmap, and the one rule that it breaks.
#[test]
fn dw_53_the_error_rules_have_their_names() {
    for (from, to, rule) in [
        ("\"project_id\": \"tea-kettle\", ", "", "MISSING_REQUIRED_FIELD"),
        ("\"created_at\": \"2026-03-01T00:00:00Z\", ", "", "MISSING_REQUIRED_FIELD"),
        ("\"total_steps\": 3, ", "", "MISSING_REQUIRED_FIELD"),
        ("\"name\": \"Keep it hot\", ", "", "MISSING_REQUIRED_FIELD"),
        ("\"criteria\": [\"It stays hot\"], ", "", "MISSING_REQUIRED_FIELD"),
        ("\"id\": \"02\"", "\"id\": \"2\"", "INVALID_PHASE_ID"),
        ("\"id\": \"02-01\"", "\"id\": \"whistle\"", "INVALID_STEP_ID"),
        ("\"id\": \"02-01\"", "\"id\": \"03-01\"", "STEP_PHASE_MISMATCH"),
        ("\"deps\": []", "\"deps\": [\"01-03\"]", "INVALID_DEP_REFERENCE"),
        ("\"total_steps\": 3", "\"total_steps\": 4", "TOTAL_STEPS_MISMATCH"),
        ("\"phases\": 2", "\"phases\": 3", "PHASES_COUNT_MISMATCH"),
    ] {
        assert!(OFFICIAL.contains(from), "{from}");
        let mut found = broken("roadmap.json", &OFFICIAL.replacen(from, to, 1));
        // A phase that is called otherwise is not found by those who depend on it.
        found.retain(|(found, _)| rule == "INVALID_DEP_REFERENCE" || found != "INVALID_DEP_REFERENCE");
        assert_eq!(found, [(rule.to_owned(), Severity::Error)], "{from} -> {to}");
    }
}

#[test]
fn e_47_a_duplicate_id_is_named_with_both_places() {
    let text = PLAN.replace("step_id: \"01-02\"", "step_id: \"01-01\"");
    let found = lines(&text);
    assert_eq!(
        found.first().unwrap(),
        "54:18 error DUPLICATE_STEP_ID the step id `01-01` is there twice; the first one is at line 34"
    );
}

/// One change of the official roadmap, and the one warning that follows.
#[test]
fn the_warning_rules_have_their_names() {
    let long = |words: usize| "word ".repeat(words);
    let name = format!("\"name\": \"{}\", \"criteria\": [\"It stays", long(11));
    let criterion = format!("[\"{}\"], \"files", long(31));
    let description = format!("\"description\": \"{}\", \"criteria\": [\"It stays", long(51));
    for (from, to, rule) in [
        ("\"name\": \"Keep it hot\", \"criteria\": [\"It stays", name.as_str(), "STEP_NAME_TOO_LONG"),
        ("[\"It stays hot\"], \"files", criterion.as_str(), "CRITERIA_TOO_LONG"),
        ("\"criteria\": [\"It stays", description.as_str(), "DESCRIPTION_TOO_LONG"),
        ("[\"It stays hot\"]", "[\"a\", \"b\", \"c\", \"d\", \"e\", \"f\"]", "TOO_MANY_CRITERIA"),
        ("[\"It stays hot\"]", "\"It stays hot\"", "LEGACY_CRITERIA_STRING"),
        ("\"devop\"", "\"devops\"", "UNKNOWN_AGENT"),
        (
            "  \"implementation_scope\": {\"source_directories\": [\"src\"]},\n",
            "",
            "MISSING_IMPLEMENTATION_SCOPE",
        ),
        ("{\"source_directories\": [\"src\"]}", "{}", "MISSING_SOURCE_DIRECTORIES"),
        ("\"02-01\"", "\"02-01-light\"", "INVALID_STEP_ID"),
        ("\"files_to_modify\"", "\"files_to_modfy\"", "unknown-field"),
        ("\"files_to_modify\": [\"src/kettle.py\"]", "\"size\": 3", "unknown-field"),
    ] {
        assert!(OFFICIAL.contains(from), "{from}");
        let found = broken("roadmap.json", &OFFICIAL.replacen(from, to, 1));
        assert_eq!(found, [(rule.to_owned(), Severity::Warning)], "{from} -> {to}");
    }
    let legacy = OFFICIAL.replace("[\"It stays hot\"]", "\"- hot\\n- warm; tepid\"");
    let roadmap = Roadmap::read("roadmap.json", &legacy).0.unwrap();
    assert_eq!(roadmap.step("01-02").unwrap().criteria, ["hot", "warm", "tepid"]);
}

#[test]
fn k_101_agents_of_the_configuration_are_known() {
    let text = OFFICIAL.replace("\"devop\"", "\"@plumber\"");
    assert_eq!(broken("roadmap.json", &text), [("UNKNOWN_AGENT".to_owned(), Severity::Warning)]);
    assert_eq!(Roadmap::read_among("roadmap.json", &text, &["plumber".to_owned()]).1, []);
}

/// What is an error in the official form is a warning where nobody promised the form, and an id of the file is valid.
#[test]
fn k_102_other_forms_are_read_with_warnings() {
    let text = "project_id: p\nphases:\n- phase_id: setup\n  name: S\n  steps:\n  - {step_id: 01-01-light, name: A, criteria: [x]}\n  - {step_id: two, name: B, criteria: [y]}\n";
    assert_eq!(
        lines(text),
        [
            "3:13 warning INVALID_PHASE_ID the phase id `setup` is not two digits",
            "6:15 warning INVALID_STEP_ID the step id `01-01-light` is not two digits, a hyphen and two digits",
            "7:15 warning INVALID_STEP_ID the step id `two` is not two digits, a hyphen and two digits",
        ]
    );
    assert!(read(text).step("two").is_some());
}

/// DW-03: the types of the fields are enforced; what can be understood is, with a warning.
#[test]
fn dw_03_types_are_enforced() {
    let step = |fields: &str| {
        let text = format!("project_id: p\nsteps:\n- id: 01-01\n  name: A\n  criteria: [x]\n  {fields}\n");
        lines(&text).iter().map(|line| line.split_once(' ').unwrap().1.to_owned()).collect::<Vec<_>>()
    };
    for (fields, expected) in [
        (
            "scenario_line: soon",
            "error type `scenario_line` of a step must be a number, but this is the text `soon`",
        ),
        ("scenario_line: 4.5", "error type `scenario_line` must be a whole number, but this is 4.5"),
        ("scenario_line: '48'", "warning type the text `48` is read as `48`"),
        (
            "estimated_hours: [1]",
            "error type `estimated_hours` of a step must be a number, but this is a list",
        ),
        ("estimated_time: 3-4 hours", "warning type the text `3-4 hours` is read as `3`"),
        ("test_file: [a]", "error type `test_file` of a step must be a text, but this is a list"),
        (
            "acceptance_test_scenario: {a: 1}",
            "error type `acceptance_test_scenario` of a step must be a text, but this is a mapping",
        ),
        ("suggested_agent: [a]", "error type `suggested_agent` of a step must be a text, but this is a list"),
        (
            "quality_gates: yes please",
            "error type `quality_gates` of a step must be a mapping, but this is the text `yes please`",
        ),
        (
            "quality_gates: [a]",
            "warning type `quality_gates` is a list; it should be a mapping from gate to value",
        ),
        (
            "dependencies: {a: 1}",
            "error type `dependencies` of a step must be a list of ids, but this is a mapping",
        ),
        ("description: [a, b]", "warning type `description` is a list; it is read as a text"),
        (
            "deliverables: {a: 1}",
            "error type `deliverables` of a step must be a list of texts, but this is a mapping",
        ),
    ] {
        assert_eq!(step(fields), [expected], "{fields}");
    }
    let criteria = "project_id: p\nsteps:\n- {id: 01-01, name: A, criteria: {a: 1}}\n";
    assert_eq!(
        lines(criteria)[1],
        "3:34 error type `criteria` of a step must be a list of texts, but this is a mapping"
    );
}

#[test]
fn what_is_missing_is_said_where_it_is_missing() {
    assert_eq!(
        lines("steps:\n- name: A\n"),
        [
            "1:1 error MISSING_REQUIRED_FIELD a roadmap needs the field `project_id`",
            "2:3 error MISSING_REQUIRED_FIELD a step needs the field `step_id`",
            "2:3 error MISSING_REQUIRED_FIELD a step needs the field `acceptance_criteria`",
        ]
    );
    assert_eq!(
        lines("project_id: p\n"),
        ["1:1 error MISSING_REQUIRED_FIELD a roadmap needs the field `phases`"]
    );
    assert_eq!(lines("project_id: p\nphases: []\n"), ["2:9 warning empty the roadmap has no steps"]);
}

#[test]
fn a_plan_that_is_cut_too_fine_is_a_warning() {
    let steps: String = (1..=3)
        .map(|n| {
            format!("- {{id: 01-0{n}, name: A, criteria: [x], files_to_modify: [src/a.py, tests/b.py]}}\n")
        })
        .collect();
    let found = lines(&format!("project_id: p\nsteps:\n{steps}"));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("DECOMPOSITION_RATIO 3 steps for 1 production files is 3.0 steps for each"));
}
