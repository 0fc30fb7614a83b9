//! The context of a step, and nothing of the rest.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::doc;
use crate::doc::Limits;

const PLAN: &str = include_str!("../plan/tests/plan.yaml");

fn roadmap(text: &str) -> Roadmap {
    Roadmap::read("roadmap.yaml", text).0.unwrap()
}

#[track_caller]
fn context(text: &str, id: &str) -> Context {
    Context::of(&roadmap(text), id, Schema::usual()).unwrap()
}

/// DW-02, DW-04, DW-07: all fields of the step, the phases and the configuration, under titles that are looked for.
#[test]
fn dw_02_dw_04_dw_07_the_text_has_everything_of_the_step_in_order() {
    let text = context(PLAN, "01-01").text();
    let expected = "\
## TASK CONTEXT (EXTRACTED FROM ROADMAP - DO NOT LOAD ROADMAP)

**Step ID**: 01-01
**Name**: Heat the water
**Description**: The kettle heats water. Mind that the text `step_id: \"02-01\"` occurs here, too.

**Acceptance Criteria**:
- Water boils at one hundred degrees
- Power is cut when it boils

**Test File**: tests/acceptance/test_kettle.py
**Scenario Line**: 48
**Acceptance Test Scenario**: test_water_boils

**Quality Gates**:
- acceptance_test_must_fail_first: true
- refactor_level: 4

**Deliverables**:
- src/kettle.py
- tests/acceptance/test_kettle.py

**Implementation Notes**:
The thermostat is a port.

**Dependencies** (must be complete before execution):
none

**Estimated Hours**: 2
**Suggested Agent**: software-crafter

## MANDATORY TDD PHASES (from roadmap)

Execute these 7 phases in order:
0. PREPARE - Take the skip off one scenario
1. RED_ACCEPTANCE - See it fail
2. RED_UNIT
3. GREEN
4. REVIEW
5. REFACTOR_CONTINUOUS
6. COMMIT

## EXECUTION CONFIGURATION

- max_turns_per_phase: 50
- timeout_thresholds:
  - 30
  - 60
  - 90
- timeout_budget_minutes: 120
";
    assert_eq!(text, expected);
}

/// DW-01, DW-06, E-46: the step is found by its exact id, and nothing of any other one comes along.
#[test]
fn dw_01_dw_06_e_46_the_step_is_found_by_its_id_and_nothing_else_is_in_the_text() {
    let second = context(PLAN, "02-01");
    assert_eq!(second.step.name, "Whistle when it boils");
    assert!(second.text().contains("marmalade secret"));
    for id in ["01-01", "01-02"] {
        let text = context(PLAN, id).text();
        assert!(!text.contains("marmalade"), "{text}");
        assert!(!text.contains("src/whistle.py"), "{text}");
    }
    let missing = Context::of(&roadmap(PLAN), "03-01", Schema::usual()).unwrap_err();
    assert_eq!(missing.to_string(), "Step 03-01 not found in roadmap. Available steps: 01-01, 01-02, 02-01");
    assert_eq!(missing.meant.as_deref(), Some("01-01"));
}

/// DW-05, K-88: what the context costs is measured against the whole roadmap.
#[test]
fn dw_05_k_88_the_saving_is_measured() {
    let filler = "A sentence that belongs to another step and costs tokens. ".repeat(40);
    let steps: String = (2..=99)
        .map(|n| format!("- {{id: 09-{n:02}, name: S{n}, criteria: [x], description: \"{filler}\"}}\n"))
        .collect();
    let text =
        format!("project_id: p\nsteps:\n- {{id: 01-01, name: A, criteria: [x], description: y}}\n{steps}");
    let size = context(&text, "01-01").size();
    assert_eq!(size.roadmap_tokens, text.chars().count().div_ceil(4));
    assert!(size.context_tokens < 200, "{size:?}");
    assert!(size.saved_percent() >= 94, "{size:?}");
    let said = Size { roadmap_tokens: 102_000, context_tokens: 5_000 };
    assert_eq!(said.to_string(), "5000 of 102k tokens; 97k saved (95%)");
    assert_eq!(Size { roadmap_tokens: 0, context_tokens: 9 }.saved_percent(), 0);
}

/// DW-13: the values fill every placeholder that the template of a step has for them.
#[test]
fn dw_13_the_values_fill_the_template_of_a_step() {
    let context = context(PLAN, "01-01");
    let mut values = context.values("software-crafter");
    assert_eq!(values["step_id"], json!("01-01"));
    assert_eq!(values["scenario_line"], json!(48));
    assert_eq!(values["quality_gates"]["refactor_level"], json!(4));
    assert_eq!(values["tdd_phases"][0], json!("0. PREPARE - Take the skip off one scenario"));
    for (name, value) in [
        ("agent_specialty", json!("implementation")),
        ("step_file_path", json!("docs/feature/tea-kettle/execution-status.yaml")),
        ("turn_budget", json!(50)),
        ("minutes_budget", json!(120)),
    ] {
        values.entry(name.to_owned()).or_insert(value);
    }
    let library = crate::prompt::Library::standard();
    let phases = crate::prompt::PhaseList::from(Schema::usual());
    let prompt = crate::prompt::render(library, "execute-step", &values, &phases).unwrap();
    assert!(prompt.contains("Water boils at one hundred degrees"), "{prompt}");
    assert!(!prompt.contains("marmalade"));
}

/// DW-88: what is missing is named.
#[test]
fn dw_88_missing_context_is_named() {
    let text = "project_id: p\nsteps:\n- {id: 01-01}\n";
    assert_eq!(context(text, "01-01").missing(), ["name", "description", "acceptance_criteria"]);
    assert_eq!(context(PLAN, "01-01").missing(), Vec::<&str>::new());
}

/// DW-55: recommendations of reviewers are part of the context, and fields that nobody knows come along.
#[test]
fn dw_55_recommendations_and_further_fields_come_along() {
    let review = "reviews: [{ready_for_execution: true, recommendations: [Test by ear]}]\n";
    let text = PLAN.replace(
        "step_type: research",
        "step_type: research\n        architectural_constraints: [No new parts]",
    );
    let text = context(&format!("{text}{review}"), "01-02").text();
    assert!(text.contains("**Review Recommendations**:\n- Test by ear\n"), "{text}");
    assert!(text.contains("**Further Fields**:\n- architectural_constraints:\n  - No new parts\n"), "{text}");
}

/// DW-56: the fields of a step file of the first generation, in their order.
#[test]
fn dw_56_the_context_of_a_step_file_has_its_documented_order() {
    let file = json!({
        "self_contained_context": {
            "background": "Tea", "technical_context": "Python", "prerequisites_completed": ["01-01"],
            "relevant_files": ["a.py", "b.py"],
        },
        "task_specification": {
            "name": "Heat", "description": "It heats", "motivation": "Tea", "detailed_instructions": ["Plug in"],
            "acceptance_criteria": ["It boils"],
        },
    });
    let (root, _) = doc::parse(file.to_string().as_bytes(), &Limits::default());
    let expected = "Background: Tea\nTechnical Context: Python\nPrerequisites Completed: 01-01\nRelevant Files: a.py, b.py\n\n\
        TASK: Heat\nDescription: It heats\nMotivation: Tea\n\nINSTRUCTIONS:\n- Plug in\n\nACCEPTANCE CRITERIA:\n- It boils\n\n\
        Execute this task and provide outputs as specified.\n";
    assert_eq!(legacy(&root.unwrap()).unwrap(), expected);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// DW-46: the same step gives the same text wherever it stands, and no description makes a section of its own.
    #[test]
    fn dw_46_the_text_depends_on_the_step_alone(words in "[a-z# \n]{0,60}", before in 0_usize..4) {
        let step = json!({"id": "01-01", "name": "A", "criteria": ["x"], "description": words});
        let others = |n: usize| json!({"id": format!("02-{n:02}"), "name": "OTHER", "criteria": ["OTHER"]});
        let mut steps: Vec<Json> = (1..=before).map(others).collect();
        steps.push(step.clone());
        let many = json!({"project_id": "p", "steps": steps}).to_string();
        let one = json!({"project_id": "p", "steps": [step]}).to_string();
        let text = context(&many, "01-01").text();
        prop_assert_eq!(&text, &context(&one, "01-01").text());
        prop_assert!(!text.contains("OTHER"));
        let titles = text.lines().filter(|line| line.starts_with('#')).count();
        prop_assert_eq!(titles, 3);
    }
}
