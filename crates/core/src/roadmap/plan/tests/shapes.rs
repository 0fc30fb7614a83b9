//! The shapes and names in which roadmaps come.

use serde_json::json;

use super::OFFICIAL;
use super::PLAN;
use super::ids;
use super::lines;
use super::read;
use crate::check;
use crate::finding::Finding;
use crate::kind::Kind;
use crate::roadmap::plan::Form;
use crate::roadmap::plan::Roadmap;
use crate::roadmap::plan::is_sound;

/// DW-02, DW-03, DW-04: every field of a step, with its type, and the head that all steps share.
#[test]
fn dw_02_dw_03_dw_04_all_fields_of_schema_two_are_read() {
    assert_eq!(lines(PLAN), Vec::<String>::new());
    let roadmap = read(PLAN);
    assert_eq!((roadmap.project_id.as_str(), roadmap.form), ("tea-kettle", Form::Free));
    assert_eq!(ids(&roadmap), ["01-01", "01-02", "02-01"]);
    let step = roadmap.step("01-01").unwrap();
    assert_eq!(step.name, "Heat the water");
    assert!(step.description.as_deref().unwrap().starts_with("The kettle heats water."));
    assert_eq!(step.criteria, ["Water boils at one hundred degrees", "Power is cut when it boils"]);
    assert_eq!(step.agent.as_deref(), Some("software-crafter"));
    assert_eq!(step.test_file.as_deref(), Some("tests/acceptance/test_kettle.py"));
    assert_eq!((step.scenario_line, step.estimated_hours), (Some(48), Some(2.0)));
    assert_eq!(step.scenario.as_deref(), Some("test_water_boils"));
    let gates = json!({"acceptance_test_must_fail_first": true, "refactor_level": 4});
    assert_eq!(step.quality_gates, Some(gates));
    assert_eq!(step.notes.as_deref(), Some("The thermostat is a port."));
    assert_eq!(step.allowed_files().unwrap(), ["src/kettle.py", "tests/acceptance/test_kettle.py"]);
    assert_eq!(roadmap.execution_config.max_turns_per_phase, Some(50));
    assert_eq!(roadmap.execution_config.timeout_thresholds, [30, 60, 90]);
    assert_eq!(roadmap.execution_config.timeout_budget_minutes, Some(120));
    assert_eq!(roadmap.schema().unwrap().version, crate::roadmap::Schema::usual().version);
}

/// The official form: counts in a header, defaults of a phase, and dependencies that follow from them.
#[test]
fn dw_43_the_official_form_is_read_with_the_defaults_of_its_phases() {
    let (roadmap, findings) = Roadmap::read("roadmap.json", OFFICIAL);
    assert_eq!(findings, []);
    let roadmap = roadmap.unwrap();
    assert_eq!(roadmap.form, Form::Official);
    assert_eq!(roadmap.validation.as_ref().unwrap().value, "approved");
    assert_eq!(roadmap.step("01-02").unwrap().agent.as_deref(), Some("software-crafter"));
    assert_eq!(roadmap.step("02-01").unwrap().agent.as_deref(), Some("devop"));
    assert_eq!(roadmap.step("01-01").unwrap().scenario.as_deref(), Some("boils"));
    assert_eq!(roadmap.needs("01-02"), ["01-01"], "the phase says sequential");
    assert_eq!(roadmap.needs("02-01"), ["01-01", "01-02"], "the phase depends on the first");
}

/// Field names and shapes that occur: flat steps, maps instead of lists, a wrapper, and other words for one field.
#[test]
fn dw_02_other_shapes_and_names_mean_the_same() {
    for (text, expected) in [
        (
            "project_id: p\nsteps:\n- {id: 01-01, title: A, criteria: [x], deps: []}\n- {id: 01-02, title: B, criteria: [y], depends_on: [01-01]}\n",
            "flat",
        ),
        (
            "project_id: p\nphases:\n  '01':\n    title: One\n    steps:\n      01-01: {title: A, acceptance_criteria: [x]}\n      01-02: {title: B, acceptance_criteria: [y], requires: [01-01]}\n",
            "maps",
        ),
        (
            "project_id: p\nroadmap:\n  phases:\n  - phase_id: '01'\n    name: One\n    steps:\n    - {step_id: 01-01, name: A, acceptance_criteria: [x]}\n    - {step_id: 01-02, name: B, acceptance_criteria: [y], requires: 01-01}\n",
            "wrapper",
        ),
        (
            "feature: p\nphases:\n- number: 1\n  name: One\n  steps:\n  - {number: 1, name: A, acceptance_criteria: [x]}\n  - {number: 2, name: B, acceptance_criteria: [y], dependencies: [{step_id: 01-01}]}\n",
            "numbers",
        ),
        (
            "feature_id: p\nphases:\n- id: 01\n  name: One\n  steps:\n  - {id: 01-01, name: A, criteria: [x], dependencies: none}\n  - {id: 01-02, name: B, criteria: [y], dependencies: '01-01'}\n",
            "texts",
        ),
    ] {
        let (roadmap, findings) = Roadmap::read("roadmap.yaml", text);
        let errors: Vec<&Finding> =
            findings.iter().filter(|f| f.severity == crate::finding::Severity::Error).collect();
        assert_eq!(errors, Vec::<&Finding>::new(), "{expected}");
        let roadmap = roadmap.unwrap();
        assert_eq!(roadmap.project_id, "p", "{expected}");
        assert_eq!(ids(&roadmap), ["01-01", "01-02"], "{expected}");
        assert_eq!(roadmap.needs("01-02"), ["01-01"], "{expected}");
        assert_eq!(roadmap.needs("01-01"), Vec::<&str>::new(), "{expected}");
        let names: Vec<&str> = roadmap.steps.iter().map(|step| step.name.as_str()).collect();
        assert_eq!(names, ["A", "B"], "{expected}");
        assert_eq!(check::file("x.yaml", text.as_bytes(), None).kind, Some(Kind::Roadmap), "{expected}");
    }
}

#[test]
fn files_are_found_under_all_their_names_and_nothing_is_not_an_empty_list() {
    let step = |fields: &str| {
        let text = format!("project_id: p\nsteps:\n- id: 01-01\n  name: A\n  criteria: [x]\n{fields}");
        read(&text).step("01-01").unwrap().allowed_files()
    };
    assert_eq!(step(""), None, "K-33: nothing is said");
    assert_eq!(step("  files_to_modify: []\n"), Some(vec![]), "K-33: an empty list is said");
    assert_eq!(step("  files_to_create: [a.py]\n  test_files: [b.py, a.py]\n").unwrap(), ["a.py", "b.py"]);
    assert_eq!(
        step("  allowed_file_patterns: ['src/**']\n  deliverables: one.md\n").unwrap(),
        ["src/**", "one.md"]
    );
    assert_eq!(step("  deliverables: [{path: x.md, why: y}]\n").unwrap(), ["x.md"]);
    assert_eq!(step("  implementation_notes: {files_to_create: [n.py], how: well}\n").unwrap(), ["n.py"]);
}

#[test]
fn dw_68_k_07_k_10_phases_are_pre_set_by_kind_and_by_the_roadmap() {
    let schema = crate::roadmap::Schema::usual();
    let roadmap = read(PLAN);
    assert_eq!(roadmap.step("01-01").unwrap().presets(schema), []);
    let presets = roadmap.step("01-02").unwrap().presets(schema);
    let names: Vec<&str> = presets.iter().map(|(phase, _)| phase.as_str()).collect();
    assert_eq!(names, ["RED_ACCEPTANCE", "RED_UNIT", "GREEN"]);
    assert!(presets.iter().all(|(_, reason)| reason == "NOT_APPLICABLE: preset for research"));
    let stated = PLAN.replace(
        "step_type: research",
        "step_type: research\n        skip_phases: {REVIEW: 'APPROVED_SKIP: a table'}",
    );
    let presets = read(&stated).step("01-02").unwrap().presets(schema);
    assert_eq!(presets.last().unwrap(), &("REVIEW".to_owned(), "APPROVED_SKIP: a table".to_owned()));
}

#[test]
fn an_own_list_of_phases_is_its_own_schema() {
    let text = "project_id: p\ntdd_phases: [PREPARE, GREEN, SHIP, COMMIT]\nsteps:\n- {id: 01-01, name: A, criteria: [x]}\n";
    let schema = read(text).schema().unwrap();
    assert_eq!(schema.names().collect::<Vec<_>>(), ["PREPARE", "GREEN", "SHIP", "COMMIT"]);
    assert_eq!(schema.phases.iter().map(|phase| phase.index).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(read("project_id: p\nsteps: []\n").schema(), None);
}

#[test]
fn dw_53_what_cannot_be_read_says_so() {
    let (roadmap, findings) = Roadmap::read("roadmap.json", "{\"phases\": [}");
    assert_eq!((roadmap, findings.len()), (None, 1));
    assert!(findings[0].message.starts_with("this is not JSON"), "{findings:?}");
    assert_eq!(Roadmap::read("roadmap.yaml", "- a\n").0, None);
    assert!(!is_sound(&Roadmap::read("roadmap.yaml", "phases: [\n")));
    assert!(is_sound(&Roadmap::read("roadmap.yaml", PLAN)));
    // A pair of surrogates is JSON, but not YAML.
    let emoji = OFFICIAL.replace("Whistle\", \"criteria", "Whistle \\ud83d\\ude00\", \"criteria");
    let (roadmap, findings) = Roadmap::read("roadmap.json", &emoji);
    assert_eq!((roadmap.unwrap().step("02-01").unwrap().name.as_str(), findings), ("Whistle 😀", vec![]));
}

/// Words about phases in a step do not make a roadmap a state file, and records of phases do.
#[test]
fn a_roadmap_is_told_from_a_state_file() {
    let kind = |phases: &str| {
        let text = format!(
            "project_id: p\nphases:\n- phase_id: '01'\n  name: A\n  steps:\n  - {{step_id: 01-01, name: A, acceptance_criteria: [x], tdd_phases: {phases}}}\n"
        );
        check::file("x.yaml", text.as_bytes(), None).kind
    };
    assert_eq!(kind("All 14 phases required"), Some(Kind::Roadmap));
    assert_eq!(kind("[{name: RED, status: completed}]"), Some(Kind::ExecutionStatus));
}
