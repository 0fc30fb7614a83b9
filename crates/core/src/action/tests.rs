//! The documents of a workspace together: recognised, checked, and resolved to a plan.

use std::collections::BTreeSet;

use super::*;
use crate::check;
use crate::kind::Kind;

const CATALOGUE: &str = "# Actions\n\n- **[plan](./plan.md)** - Requirements, then architecture\n\
                         - **[ship](./ship.md)** - Publish a release\n";
const SHIP: &str =
    "# Action: Ship\n\n## User Intent\nBring a version to the customers.\n\n## Agent Flow\nDevOps\n";
const MAP: &str = "agents:\n  devops:\n    writes:\n      - {PRODUCT_ROOT}/deploy/release.md\nactions:\n  ship:\n    \
                   prerequisites: [{PRODUCT_ROOT}/CHANGES.md exists, the version]\n    steps:\n      - agent: devops\n      \
                   - gate: approval\n";

fn checked(name: &str, text: &str) -> (Option<Kind>, Vec<String>) {
    let checked = check::file(name, text.as_bytes(), None);
    let said = checked
        .findings
        .iter()
        .map(|f| format!("{} {}:{} {}", f.severity, f.place.line, f.place.column, f.rule));
    (checked.kind, said.collect())
}

#[test]
fn oc_109_every_document_of_the_dialect_is_recognised_and_checked() {
    let none = Vec::<String>::new;
    assert_eq!(checked("agents/agent-map.yaml", MAP), (Some(Kind::AgentMap), none()));
    assert_eq!(checked("wiring.yaml", MAP), (Some(Kind::AgentMap), none()));
    assert_eq!(checked("agents/actions/ship.md", SHIP), (Some(Kind::Action), none()));
    assert_eq!(checked("agents/actions/README.md", CATALOGUE), (Some(Kind::Action), none()));
    let guide = "---\nname: shipping\ndescription: Ships.\n---\n# DevOps\n";
    assert_eq!(checked("agents/devops/SKILL.md", guide), (Some(Kind::Role), none()));
    assert_eq!(
        checked("agents/agent-map.yaml", &MAP.replace("agent: devops", "agent: devobs")),
        (Some(Kind::AgentMap), vec!["error 9:16 unknown-role".to_owned()])
    );
    assert_eq!(checked("agents/actions/x.md", "words\n").1[0], "error 1:1 action-title");
    assert_eq!(checked("agents/devops/SKILL.md", "---\nname: x\n---\ntext\n").1, ["error 2:1 missing-field"]);
    let asked = check::file("any.yaml", MAP.as_bytes(), Some(Kind::Action));
    assert!(asked.findings.is_empty(), "{:?}", asked.findings);
}

#[test]
fn a_byte_order_mark_moves_no_place() {
    let marked = format!("\u{FEFF}{}", MAP.replace("agent: devops", "agent: devobs"));
    let checked = check::file("agent-map.yaml", marked.as_bytes(), None);
    let place = checked.findings[0].place;
    assert_eq!(marked.get(place.start as usize..place.end as usize), Some("devobs"));
}

// OC-05, OC-06, OC-09, OC-15: the whole way from words to a plan.
#[test]
fn oc_09_words_lead_to_a_plan_with_its_open_inputs() {
    let (catalogue, _) = Catalogue::read(CATALOGUE);
    let (file, _) = ActionFile::read("agents/actions/ship.md", SHIP);
    let (map, _) = AgentMap::read(MAP);
    let candidates = routing::candidates(Some(&catalogue), Some(&map), std::slice::from_ref(&file));
    let routing::Routed::One(name) = routing::route("publish a release", &candidates) else {
        panic!("unclear")
    };
    let action = resolve(&name, Some(&file), Some(&map)).unwrap();
    assert_eq!(action.roles(), ["devops"]);
    let there = BTreeSet::from(["CHANGES.md".to_owned()]);
    let open = inputs::missing(&action.prerequisites, &there, &BTreeSet::new());
    assert_eq!(open.iter().map(|input| input.words.as_str()).collect::<Vec<_>>(), ["the version"]);
    let duty = action.duties().next().unwrap();
    assert_eq!(
        output::missing_text(&duty.role, &duty.missing(&there)).lines().nth(1),
        Some("- Expected: deploy/release.md")
    );
}
