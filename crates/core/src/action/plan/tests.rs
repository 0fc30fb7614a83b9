//! Tests of resolved plans.

use proptest::prelude::*;

use super::*;
use crate::action::AgentMap;
use crate::action::document::ActionFile;
use crate::action::matrix;

const MAP: &str = "agents:\n  backend-developer:\n    skill: '{PRODUCT_ROOT}/guides/backend.md'\n    writes: ['{PRODUCT_ROOT}/engine/']\n  \
                   code-reviewer: {}\n  auditor: {review: true, writes: []}\n  product-manager: {writes: [planning-mds/**]}\nactions:\n  \
                   build:\n    prerequisites: [planning-mds/BLUEPRINT.md]\n    steps:\n      - agent: product-manager\n      \
                   - gate: approval\n        name: plans\n      - agent: architect\n      - gate: self-review\n      \
                   - parallel: [backend-developer, {agent: frontend-developer, writes: [web/], optional: true}]\n      \
                   - agent: code-reviewer\n      - gate: approval\n      - agent: auditor\n      - gate: approval\n";

fn map() -> AgentMap {
    let (map, findings) = AgentMap::read(MAP);
    assert!(findings.is_empty(), "{findings:?}");
    map
}

fn file(text: &str) -> ActionFile {
    ActionFile::read("agents/actions/build.md", text).0
}

fn roles<'d>(duties: &[&'d Duty]) -> Vec<&'d str> {
    duties.iter().map(|duty| duty.role.as_str()).collect()
}

#[test]
fn oc_11_gates_stand_behind_the_stage_before_them() {
    let action = resolve("build", None, Some(&map())).unwrap();
    let shape: Vec<(u32, Vec<&str>, Vec<&str>)> = action
        .stages
        .iter()
        .map(|stage| {
            let duties: Vec<&Duty> = stage.duties.iter().collect();
            (stage.number, roles(&duties), stage.gates.iter().map(|gate| gate.name.as_str()).collect())
        })
        .collect();
    assert_eq!(
        shape,
        [
            (1, vec!["product-manager"], vec!["plans"]),
            (2, vec!["architect"], vec!["self-review"]),
            (3, vec!["backend-developer", "frontend-developer"], vec![]),
            (4, vec!["code-reviewer"], vec!["approval"]),
            (5, vec!["auditor"], vec!["approval-2"]),
        ]
    );
    assert_eq!(action.origin, Origin::Map);
    assert!(action.stages[2].is_parallel());
    assert_eq!(action.doc, "agents/actions/build.md");
}

#[test]
fn oc_08_a_duty_has_the_terms_of_its_step_its_role_and_the_table() {
    let action = resolve("build", None, Some(&map())).unwrap();
    let duty = |role: &str| action.duties().find(|duty| duty.role == role).unwrap();
    let backend = duty("backend-developer");
    assert_eq!((backend.guide.as_str(), &backend.writes), ("guides/backend.md", &vec!["engine/".to_owned()]));
    assert_eq!(backend.timeout_ms, 30 * 60_000);
    let frontend = duty("frontend-developer");
    assert!(frontend.optional && frontend.writes == ["web/"]);
    assert_eq!(frontend.guide, "agents/frontend-developer/SKILL.md");
    assert!(duty("code-reviewer").review && duty("auditor").review && !backend.review);
    // A role that the map does not declare has what the table knows of it.
    assert_eq!(duty("architect").writes, ["planning-mds/**"]);
    assert!(backend.may_write("engine/src/a.rs") && !backend.may_write("web/a.ts"));
}

#[test]
fn oc_41_a_reviewer_owes_its_findings_and_the_files_that_are_named() {
    let review = resolve("review", None, None).unwrap();
    assert!(review.duties().all(|duty| duty.missing(&BTreeSet::new()).is_empty()));
    let named =
        Duty { review: true, writes: vec!["report.md".to_owned(), "a/**".to_owned()], ..Duty::default() };
    assert_eq!(named.missing(&BTreeSet::new()), ["report.md"]);
    let maker = Duty { review: false, ..named };
    assert_eq!(maker.missing(&BTreeSet::new()), ["report.md", "a/**"]);
}

#[test]
fn k_52_a_snapshot_covers_planning_and_everything_that_may_be_written() {
    let action = resolve("build", None, Some(&map())).unwrap();
    assert_eq!(action.snapshot_scope(), ["engine/", "planning-mds/", "planning-mds/**", "web/"]);
}

#[test]
fn oc_109_front_matter_wins_over_the_map_and_both_over_what_is_built_in() {
    let own = file(
        "---\ndescription: Mine\nagents:\n  painter: {writes: [art/]}\nsteps:\n  - agent: painter\n---\n# Action: Build\n",
    );
    let action = resolve("build", Some(&own), Some(&map())).unwrap();
    assert_eq!((action.origin, action.roles()), (Origin::FrontMatter, vec!["painter"]));
    assert_eq!(action.description, "Mine");
    assert_eq!(action.prerequisites, []);
    let plain = file("# Action: Build\n\n## User Intent\nBuild.\n");
    assert_eq!(resolve("build", Some(&plain), Some(&map())).unwrap().origin, Origin::Map);
    assert_eq!(resolve("build", Some(&plain), None).unwrap().origin, Origin::BuiltIn);
    let contract = file("# Action: Build\n## Output Contract\n- `docs/summary.md`\n");
    assert_eq!(resolve("build", Some(&contract), Some(&map())).unwrap().outputs, ["docs/summary.md"]);
    let drawn = file(
        "# Action: Paint\n## Agent Flow\nArchitect → (Backend Developer + AI Engineer*) → [APPROVAL GATE: art]\n",
    );
    let action = resolve("paint", Some(&drawn), None).unwrap();
    assert_eq!((action.origin, action.stages.len()), (Origin::AgentFlow, 2));
    assert_eq!(action.stages[1].gates[0].name, "art");
}

#[test]
fn oc_21_an_action_without_a_plan_is_permanent() {
    let error = resolve("dance", None, Some(&map())).unwrap_err();
    assert!(matches!(&error, Unresolved::NotWired { action, .. } if action == "dance"));
    assert!(
        error
            .to_string()
            .ends_with("is none of init, plan, build, feature, review, validate, test, document, blog")
    );
    let unknown = file("---\nsteps: [{agent: wizard}]\n---\n# Action: Build\n");
    assert!(matches!(resolve("build", Some(&unknown), None), Err(Unresolved::UnknownRole { .. })));
}

// OC-54, OC-58
#[test]
fn oc_54_feedback_goes_to_those_who_made_it() {
    let action = resolve("build", None, Some(&map())).unwrap();
    let at = |number| {
        let rework = action.rework(number);
        (roles(&rework.makers), roles(&rework.reviewers))
    };
    assert_eq!(at(1), (vec!["product-manager"], vec![]));
    assert_eq!(at(4), (vec!["architect", "backend-developer", "frontend-developer"], vec!["code-reviewer"]));
    // The auditor made nothing, so the words go to those before the gate in between.
    assert_eq!(
        at(5),
        (vec!["architect", "backend-developer", "frontend-developer"], vec!["code-reviewer", "auditor"])
    );
}

#[test]
fn oc_58_a_finding_goes_to_the_one_whose_file_it_is() {
    let action = resolve("build", None, Some(&map())).unwrap();
    assert_eq!(roles(&action.menders("engine/src/a.rs", 4)), ["backend-developer"]);
    assert_eq!(roles(&action.menders("web/a.ts", 5)), ["frontend-developer"]);
    assert_eq!(roles(&action.menders("planning-mds/x.md", 4)), ["architect"]);
    assert_eq!(roles(&action.menders("elsewhere", 4)).len(), 3);
    let review = resolve("review", None, None).unwrap();
    assert!(review.menders("engine/a", 1).is_empty());
}

#[test]
fn a_plan_survives_being_pinned() {
    for contract in &matrix::CONTRACTS {
        let action = resolve(contract.name, None, None).unwrap();
        let text = serde_json::to_string(&action).unwrap();
        assert_eq!(serde_json::from_str::<Action>(&text).unwrap(), action);
    }
}

proptest! {
    // OC-18: no step of a map is ever lost between the file and the plan.
    #[test]
    fn oc_18_no_gate_is_lost(shape in proptest::collection::vec(any::<bool>(), 0..10)) {
        let steps: String = shape
            .iter()
            .map(|work| if *work { "      - architect\n" } else { "      - gate: approval\n" })
            .collect();
        let (map, _) = AgentMap::read(&format!("agents: {{}}\nactions:\n  x:\n    steps:\n      - architect\n{steps}"));
        let action = resolve("x", None, Some(&map)).unwrap();
        let gates: Vec<&str> =
            action.stages.iter().flat_map(|stage| &stage.gates).map(|gate| gate.name.as_str()).collect();
        prop_assert_eq!(gates.len(), shape.iter().filter(|work| !**work).count());
        let mut unique = gates.clone();
        unique.sort_unstable();
        unique.dedup();
        prop_assert_eq!(unique.len(), gates.len());
        prop_assert_eq!(action.duties().count(), 1 + shape.iter().filter(|work| **work).count());
    }
}
