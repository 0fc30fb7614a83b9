//! Tests of the agent map.

use proptest::prelude::*;

use super::*;
use crate::finding::has_errors;

/// In the form in which such maps are published: placeholders without quotes.
const MAP: &str = "\
version: 1
agents:
  product-manager:
    skill: agents/product-manager/SKILL.md
    reads:
      - {PRODUCT_ROOT}/planning-mds/**
    writes:
      - {PRODUCT_ROOT}/planning-mds/BLUEPRINT.md   # sections 3.x only
  backend-developer:
    writes: [engine/**, {PRODUCT_ROOT}/docs/api.md]
    timeout: 45m
  frontend-developer:
    writes: [experience/]
    optional: true
  auditor:
    review: true
    timeout: 5
    sections: [Findings]
actions:
  plan:
    doc: agents/actions/plan.md
    description: Requirements
    prerequisites: [{PRODUCT_ROOT}/planning-mds/BLUEPRINT.md exists, tests passing]
    steps:
      - agent: product-manager
        phase: A
      - gate: approval
        name: phase-a-review
      - parallel:
          - backend-developer
          - agent: frontend-developer
            mode: draft
            timeout: 10m
      - auditor
      - gate: quality
        thresholds: {unit_coverage_pct: 80, pass_rate_pct: '> 99.5'}
      - gate: ontology-sync
        script: {PRODUCT_ROOT}/scripts/validate.py --all
      - gate: release-notes
        command: [notes, --check]
boundary:
  rules: [keep them apart]
lifecycle:
  config: lifecycle-stage.yaml
  gates: [docs]
";

fn said(text: &str) -> Vec<String> {
    AgentMap::read(text)
        .1
        .iter()
        .map(|f| format!("{} {} {}: {}", f.severity, f.place.line, f.rule, f.message))
        .collect()
}

/// A map with these steps, and a role beside them.
fn steps(steps: &str) -> Vec<String> {
    said(&format!("agents:\n  architect:\n    writes: [a.md]\nactions:\n  x:\n    steps: {steps}\n"))
}

#[test]
fn oc_109_a_published_map_reads_without_a_finding() {
    let (map, findings) = AgentMap::read(MAP);
    assert!(findings.is_empty(), "{findings:?}");
    assert_eq!(map.roles.len(), 4);
    let pm = map.role("Product Manager").unwrap();
    assert_eq!(pm.terms.writes.as_ref().unwrap()[0].value, "{PRODUCT_ROOT}/planning-mds/BLUEPRINT.md");
    assert_eq!(pm.terms.writes.as_ref().unwrap()[0].place.line, 8);
    assert_eq!(map.role("backend-developer").unwrap().terms.timeout_ms, Some(45 * 60_000));
    let auditor = map.role("auditor").unwrap();
    assert_eq!((auditor.terms.review, auditor.terms.timeout_ms), (Some(true), Some(300_000)));
    assert_eq!(auditor.terms.sections, [(String::new(), vec!["Findings".to_owned()])]);
    assert_eq!(map.boundary, ["keep them apart"]);
    assert_eq!(map.lifecycle.as_deref(), Some("lifecycle-stage.yaml"));
}

// OC-11
#[test]
fn oc_11_steps_keep_their_order_and_shape() {
    let (map, _) = AgentMap::read(MAP);
    let plan = map.action("plan").unwrap();
    let shape: Vec<String> = plan
        .steps
        .iter()
        .map(|step| match step {
            Step::Work { parts, .. } => {
                let parts: Vec<String> =
                    parts.iter().map(|part| format!("{}[{}]", part.role, part.purpose)).collect();
                parts.join("+")
            }
            Step::Gate { gate, .. } => format!("{}:{}", gate.kind.word(), gate.command.join(" ")),
        })
        .collect();
    assert_eq!(
        shape,
        [
            "product-manager[phase A]",
            "approval:",
            "backend-developer[]+frontend-developer[draft]",
            "auditor[]",
            "quality:",
            "ontology-sync:python3 {PRODUCT_ROOT}/scripts/validate.py --all",
            "script:notes --check",
        ]
    );
    let Step::Gate { gate, .. } = &plan.steps[4] else { panic!("no gate") };
    let limits: Vec<String> = gate.limits.iter().map(|limit| format!("{} {limit}", limit.measure)).collect();
    assert_eq!(limits, ["unit_coverage_pct 80%", "pass_rate_pct above 99.5%"]);
}

// OC-21: a malformed action is found before anything runs.
#[test]
fn oc_21_what_is_wrong_with_a_map_is_told_with_its_line() {
    assert_eq!(
        steps("[{agent: architekt}]"),
        ["error 6 unknown-role: the role `architekt` is not declared under `agents`"]
    );
    assert_eq!(
        steps("[{gate: approval}]"),
        ["error 6 no-work: the action has no step in which a role works"]
    );
    assert_eq!(
        steps("[{agent: architect, gate: approval}]"),
        ["error 6 step: a step has only one of `agent`, `parallel` and `gate`"]
    );
    assert_eq!(steps("[{name: x}]"), ["error 6 step: a step needs one of `agent`, `parallel` and `gate`"]);
    assert_eq!(steps("[{parallel: []}]"), ["error 6 step: a parallel step needs at least one role"]);
    assert_eq!(
        steps("[{parallel: [architect, architect]}]"),
        ["error 6 duplicate-role: `architect` stands twice in one parallel step"]
    );
    assert_eq!(
        steps("[architect, {gate: blessing}]"),
        ["error 6 unknown-value: `blessing` is not a known sort of gate"]
    );
    assert_eq!(steps("[{agent: architect, timeout: soon}]").len(), 1);
    assert_eq!(steps("[architect, {gate: quality, thresholds: {a: 120}}]").len(), 1);
    assert_eq!(said("a: 1\n").len(), 3);
    assert_eq!(said("- a\n"), ["error 1 type: an agent map must be a mapping, but this is a list"]);
}

// OC-16
#[test]
fn oc_16_writes_into_the_framework_and_out_of_the_workspace_are_told() {
    let writes = |path: &str| said(&format!("agents:\n  a:\n    writes: [{path}]\nactions: {{}}\n"));
    assert_eq!(
        writes("agents/templates/**"),
        ["warning 3 boundary: `agents/templates/**` lies in the framework, which is no place for a solution"]
    );
    assert!(writes("../x")[0].starts_with("error 3 outside: `../x` cannot be written"));
    assert!(writes("/etc/x")[0].starts_with("error 3 outside"));
    assert_eq!(writes("docs/**"), Vec::<String>::new());
}

#[test]
fn oc_44_two_roles_at_the_same_time_do_not_owe_the_same_file() {
    let text = "agents:\n  a: {writes: [x.md]}\n  b: {writes: [x.md, y/**]}\n  c: {writes: [y/**]}\nactions:\n  z:\n    \
                steps: [{parallel: [a, b, c]}]\n";
    assert_eq!(said(text), ["warning 7 overlap: `b` and `a` write `x.md` at the same time"]);
}

proptest! {
    #[test]
    fn any_text_can_be_read(text in "[a-z:{}\\[\\], \n-]{0,120}") {
        AgentMap::read(&text);
    }

    #[test]
    fn oc_11_names_and_order_survive(names in proptest::collection::vec("[a-z]{3,8}", 1..6)) {
        let mut roles = names.clone();
        roles.sort();
        roles.dedup();
        let agents: String = roles.iter().map(|name| format!("  r-{name}:\n    writes: [\"{name}/\"]\n")).collect();
        let steps: String = names.iter().map(|name| format!("      - agent: r-{name}\n")).collect();
        let (map, findings) = AgentMap::read(&format!("agents:\n{agents}actions:\n  x:\n    steps:\n{steps}"));
        prop_assert!(!has_errors(&findings), "{:?}", findings);
        let read: Vec<String> = map.actions[0].steps.iter().map(|step| match step {
            Step::Work { parts, .. } => parts[0].role.value.clone(),
            Step::Gate { .. } => String::new(),
        }).collect();
        prop_assert_eq!(read, names.iter().map(|name| format!("r-{name}")).collect::<Vec<_>>());
    }
}
