//! The check of whole files: kinds, order of findings, records, and honesty about what is not checked.

use proptest::prelude::*;

use seriatim_core::check;
use seriatim_core::check::Checked;
use seriatim_core::doc;
use seriatim_core::doc::Limits;
use seriatim_core::finding::Place;
use seriatim_core::kind::Kind;
use seriatim_core::process::Definition;

use crate::documents::line;
use crate::instances::INSTANCE;
use crate::process_rules::REVIEW;

fn checked(name: &str, text: &str) -> (String, Vec<String>) {
    let Checked { kind, findings, .. } = check::file(name, text.as_bytes(), None);
    let lines = findings.iter().map(|f| format!("{} {}", f.severity, line(f))).collect();
    (kind.map(|kind| kind.to_string()).unwrap_or_default(), lines)
}

#[test]
fn kinds_are_told_by_content_first() {
    for (name, text, kind) in [
        ("x.yaml", REVIEW, "process-definition"),
        ("PINST-1.yaml", REVIEW, "process-definition"),
        ("x.yaml", INSTANCE, "process-instance"),
        ("x.json", "{\"execution\": {}}", "execution-log"),
        ("x.yaml", "id: DEC-20260118-143052\n", "decision"),
        ("x.yaml", "id: OBS-20260118-143052\n", "observation"),
        ("x.yaml", "project_id: p\nphases: []\n", "roadmap"),
        ("x.yaml", "execution_status: {}\n", "execution-status"),
        ("x.json", "{\"project_id\": \"p\", \"events\": []}", "execution-log-tdd"),
        ("01-01.json", "{\"tdd_cycle\": {}}", "step"),
        ("audit-2026-01-18.log", "{\"event\": \"X\"}\n", "audit-log"),
        ("x.md", "# Cycle\n### SIGNAL BLOCK\n- Agent: Actor\n", "cycle"),
        ("SETUP.yaml", "loop: {}\nagents: {}\n", "automation"),
        ("plan.md", "# Action: Plan\n", "action"),
        ("x.md", "---\nname: a\ndescription: b\n---\n", "role"),
        ("x.yaml", "current_stage: a\nstages: {}\ngates: {}\n", "lifecycle"),
        ("x.md", "<!-- DES-VALIDATION: required -->\n", "prompt"),
        ("x.template.md", "hello {{name}}\n", "template"),
        ("seriatim.toml", "", "config"),
        ("process-x.yaml", "a: [\n", "process-definition"),
        ("x.yaml", "definition:\n  id: [\n", "process-definition"),
        ("x.yaml", "a: 1\n", ""),
    ] {
        assert_eq!(checked(name, text).0, kind, "{name} {text}");
    }
}

#[test]
fn every_kind_has_a_name_that_reads_back() {
    for kind in Kind::ALL {
        assert_eq!(kind.name().parse::<Kind>(), Ok(kind));
    }
    let error = "proces-definition".parse::<Kind>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "`proces-definition` is not a kind of file; did you mean `process-definition`?"
    );
    assert_eq!("zebra".parse::<Kind>().unwrap_err().to_string(), "`zebra` is not a kind of file");
}

#[test]
fn what_is_not_checked_is_said() {
    let built_later = "warning not-checked 1:1 this kind of file is recognised but its rules are not built in yet; only its syntax was checked";
    let cycle_in_yaml = check::file("x.yaml", b"a: 1\n", Some(Kind::Cycle)).findings;
    assert_eq!(
        cycle_in_yaml.iter().map(|f| format!("{} {}", f.severity, line(f))).collect::<Vec<_>>(),
        [built_later]
    );
    assert_eq!(
        checked("x.yaml", "a: 1\n").1,
        [
            "warning not-checked 1:1 this is no kind of file that is known here; only its syntax was checked | name the kind with --kind"
        ]
    );
    let broken = checked("roadmap.yaml", "phases: [\n").1;
    assert_eq!(broken.len(), 1);
    assert!(broken[0].starts_with("error yaml 1:9"), "{broken:?}");
}

#[test]
fn px_99_findings_of_all_sorts_come_together_sorted_by_place() {
    let text = REVIEW
        .replace("formal: 60", "formal: 61")
        .replace("  version: \"1.0\"\n", "  version: \"1.0\"\n  name: Twice\n")
        .replace("        severity: HIGH\n", "")
        .replace("quality:", "qualitty:");
    let rules: Vec<String> =
        check::file("p.yaml", text.as_bytes(), None).findings.into_iter().map(|f| f.rule).collect();
    assert_eq!(rules, ["duplicate-key", "V1", "V5", "unknown-field"]);
}

#[test]
fn a_given_kind_wins_over_detection() {
    let checked = check::file("x.yaml", REVIEW.as_bytes(), Some(Kind::ProcessInstance));
    assert_eq!(checked.kind, Some(Kind::ProcessInstance));
    assert_eq!(
        checked.findings.iter().map(line).collect::<Vec<_>>(),
        ["missing-field 2:1 a process instance needs the field `instance` | add `instance:` here"]
    );
}

#[test]
fn px_111_an_instance_is_checked_alone_or_with_its_definition() {
    let text = INSTANCE.replace("change:", "chance:");
    assert_eq!(checked("x.yaml", &text).1, Vec::<String>::new());
    assert_eq!(
        check::definition_path(text.as_bytes()).as_deref(),
        Some("processes/process-code-review.yaml")
    );
    let definition = Definition::parse(REVIEW.as_bytes()).0.unwrap();
    let findings = check::instance_with_definition(text.as_bytes(), &definition);
    assert_eq!(
        findings.iter().map(line).collect::<Vec<_>>(),
        [
            "V8 12:5 Required input 'change' not provided in instance context | add `change:` under `context.inputs`",
            "V8 13:7 Input 'chance' provided but not in interface definition | did you mean `change`?",
        ]
    );
}

#[test]
fn an_execution_log_must_count_what_it_lists() {
    let log = "---\nexecution:\n  id: EXEC-20260118-143055\n  instance_id: PINST-20260118-143052\n  started: \"2026-01-18T14:30:55Z\"\n  completed: \"2026-01-18T14:40:55Z\"\n  status: COMPLETED\n  executor: {agent: process-executor}\nstep_executions:\n  - {step_id: 5.1.1, status: COMPLETED, observations: [OBS-1, OBS-3]}\naudit_summary:\n  total_decisions: 0\n  total_observations: 3\n  decision_ids: []\n  observation_ids: [OBS-1, OBS-2]\ncontrol_flow_events: []\nerrors: []\n---\n";
    assert_eq!(
        checked("x.yaml", log),
        (
            "execution-log".to_owned(),
            vec![
                "warning audit-ids 12:3 a step names `OBS-3`, but `observation_ids` does not list it"
                    .to_owned(),
                "error audit-count 13:23 `total_observations` is 3, but `observation_ids` lists 2 | write 2"
                    .to_owned(),
            ]
        )
    );
    let mended = log.replace("[OBS-1, OBS-2]", "[OBS-1, OBS-2, OBS-3]");
    assert_eq!(checked("x.yaml", &mended).1, Vec::<String>::new());
}

#[test]
fn decisions_of_weight_need_their_reasons() {
    let decision = "id: DEC-20260118-143052\ntimestamp: \"2026-01-18T14:30:52Z\"\ntype: ADR\nactor: human:ann\nsubject: Store\noutcome: SQLite\n";
    assert_eq!(
        checked("x.yaml", decision).1,
        [
            "error missing-field 1:1 a decision needs the field `rationale` | add `rationale:` here",
            "error missing-field 1:1 a decision needs the field `context` | add `context:` here",
        ]
    );
    assert_eq!(checked("x.yaml", &decision.replace("ADR", "TACTICAL")).1, Vec::<String>::new());
    let observation =
        "id: OBS-20260118-143052\ntimestamp: soon\ntype: EVNT\nobserver: ai:x\nsubject: s\nvalue: 0\n";
    assert_eq!(
        checked("x.yaml", observation).1,
        [
            "warning timestamp 2:12 `soon` is not a point in time | write it as in \"2026-01-18T14:30:52Z\"",
            "error unknown-value 3:7 `EVNT` is not a type of observation | did you mean `EVENT`?",
        ]
    );
}

fn fits(place: Place, text: &str) -> bool {
    let (start, end) = (place.start as usize, place.end as usize);
    start <= end
        && end <= text.len()
        && text.is_char_boundary(start)
        && text.is_char_boundary(end)
        && place.line > 0
        && place.column > 0
}

fn nodes_fit(node: &doc::Node, text: &str) -> bool {
    let inside = match &node.value {
        doc::Value::Seq(items) => items.iter().all(|item| nodes_fit(item, text)),
        doc::Value::Map(entries) => {
            entries.iter().all(|(key, node)| fits(key.place, text) && nodes_fit(node, text))
        }
        _ => true,
    };
    inside && fits(node.place, text)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_the_reader_stumble_and_every_place_is_in_the_text(
        text in "(\u{FEFF})?([ \t\r\n]|a|é|: |- |\\? |#|\"|'|\\[|\\]|\\{|\\}|,|&x |\\*x|!t |!!int |\\||>|---\n|\\.\\.\\.\n|<<: |1|\\\\|\u{7}|%|@){0,24}"
    ) {
        let (root, findings) = doc::parse(text.as_bytes(), &Limits::default());
        prop_assert!(findings.iter().all(|f| fits(f.place, &text)), "{findings:?}");
        prop_assert!(root.is_some() || !findings.is_empty());
        prop_assert!(root.is_none_or(|root| nodes_fit(&root, &text)));
    }

    #[test]
    fn no_bytes_make_the_check_stumble(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let checked = check::file("x.yaml", &bytes, None);
        prop_assert!(checked.findings.iter().all(|f| fits(f.place, &checked.text)), "{:?}", checked.findings);
    }

    #[test]
    fn a_definition_damaged_anywhere_is_checked_to_the_end(at in 0..REVIEW.len(), cut in 0..40_usize) {
        let end = (at + cut).min(REVIEW.len());
        let text = format!("{}{}", &REVIEW[..at], &REVIEW[end..]);
        let checked = check::file("process-x.yaml", text.as_bytes(), None);
        prop_assert!(checked.findings.iter().all(|f| fits(f.place, &checked.text)));
    }
}
