//! Instances: sources, old forms, inputs against the interface, inline definitions.

use std::collections::BTreeSet;

use seriatim_core::process::Definition;
use seriatim_core::process::Instance;
use seriatim_core::process::instance::Source;
use seriatim_core::process::rules;

use crate::documents::line;
use crate::process_rules::REVIEW;

pub(crate) const INSTANCE: &str = r#"---
instance:
  id: "PINST-20260118-143052"
  created: "2026-01-18T14:30:52Z"
  created_by: ai:claude
  plain_english_description: Review the authentication change
  definition_source:
    type: WELL_KNOWN
    definition_path: processes/process-code-review.yaml
  context:
    trigger: asked for
    inputs:
      change: {files: [a.rs], lines: 12}
    parameters: {strict_mode: true, max_file_size: 1000, focus_areas: [security]}
  status: PENDING
  approval:
    definition_approved: true
    trust_level: TRUST_APPROVED
    run_count: 2
---
"#;

fn instance(text: &str) -> (Option<Instance>, Vec<String>) {
    let (instance, findings) = Instance::parse(text.as_bytes());
    (instance, findings.iter().map(line).collect())
}

#[test]
fn px_09_px_16_an_instance_keeps_types_and_reads_old_forms() {
    let (read, findings) = instance(INSTANCE);
    assert_eq!(findings, Vec::<String>::new());
    let read = read.unwrap();
    assert_eq!(read.run_count, 2);
    assert_eq!(read.status.to_string(), "PLANNED");
    assert_eq!(
        serde_json::Value::Object(read.parameters.clone()),
        serde_json::json!({"strict_mode": true, "max_file_size": 1000, "focus_areas": ["security"]})
    );
    let beside = INSTANCE.replace("    run_count: 2\n", "  run_count: 5\n");
    assert_eq!(instance(&beside).0.unwrap().run_count, 5);
}

#[test]
fn px_12_an_unusable_source_is_named() {
    let (_, findings) = instance(&INSTANCE.replace("WELL_KNOWN", "MAGIC"));
    assert_eq!(
        findings,
        ["unknown-value 8:11 `MAGIC` is not a source of a definition | known are `WELL_KNOWN`, `DYNAMIC`"]
    );
    let (_, findings) =
        instance(&INSTANCE.replace("    definition_path: processes/process-code-review.yaml\n", ""));
    assert_eq!(
        findings,
        [
            "missing-field 8:5 `definition_source` needs the field `definition_path` | add `definition_path:` here"
        ]
    );
    let (_, findings) = instance(&INSTANCE.replace("WELL_KNOWN", "DYNAMIC"));
    assert_eq!(
        findings,
        [
            "missing-field 8:5 `definition_source` needs the field `inline_definition` | add `inline_definition:` here"
        ]
    );
    let (_, findings) = instance(&INSTANCE.replace(
        "plain_english_description: Review the authentication change",
        "plain_english_description: ' '",
    ));
    assert_eq!(
        findings,
        ["missing-field 6:30 the field `plain_english_description` of the section `instance` is empty"]
    );
}

#[test]
fn e_09_px_111_px_112_v8_compares_inputs_with_the_interface() {
    let definition = Definition::parse(REVIEW.as_bytes()).0.unwrap();
    let v8 = |inputs: &str| {
        let text = INSTANCE.replace("      change: {files: [a.rs], lines: 12}\n", inputs);
        let instance = Instance::parse(text.as_bytes()).0.unwrap();
        rules::inputs(&definition, &instance)
            .iter()
            .map(|f| format!("{} {}", f.severity, line(f)))
            .collect::<Vec<_>>()
    };
    assert_eq!(v8("      change: x\n"), Vec::<String>::new());
    let missing =
        "Required input 'change' not provided in instance context | add `change:` under `context.inputs`";
    assert_eq!(v8("      change: null\n"), [format!("error V8 13:7 {missing}")]);
    assert_eq!(v8(""), [format!("error V8 12:5 {missing}")]);
    assert_eq!(
        v8("      change: x\n      fokus: y\n"),
        ["warning V8 14:7 Input 'fokus' provided but not in interface definition | did you mean `focus`?"]
    );
}

#[test]
fn px_11_an_inline_definition_is_held_to_the_relaxed_rules() {
    let inline = "    type: DYNAMIC\n    inline_definition:\n      definition: {name: Ad hoc, information_composition: {formal: 50, tacit: 25, emergent: 25}}\n      steps:\n        - {id: D.1, name: One, capability: Decide, pattern: AI-Led, ai_role: x}\n        - {id: D.2, name: Two, capability: Decide, pattern: Human-Only, ai_role: y}\n";
    let well_known = "    type: WELL_KNOWN\n    definition_path: processes/process-code-review.yaml\n";
    let text = INSTANCE.replace(well_known, inline);
    let (read, findings) = instance(&text);
    assert_eq!(findings, Vec::<String>::new());
    let Some(Source::Dynamic { definition }) = read.unwrap().source else {
        panic!("no inline definition");
    };
    assert_eq!(*definition.id, "PROC-DYNAMIC");
    let broken = rules::check(&definition, &BTreeSet::new());
    assert_eq!(broken.iter().map(|f| f.rule.as_str()).collect::<Vec<_>>(), ["C1", "C3"]);
    let flat = text
        .replace("definition: {name: Ad hoc, information", "name: Ad hoc\n      information")
        .replace("emergent: 25}}", "emergent: 25}");
    assert_eq!(instance(&flat).1, Vec::<String>::new());
}

#[test]
fn paths_of_definitions_stay_inside_the_workspace() {
    for path in ["/etc/x.yaml", "../x.yaml", "a/../../x.yaml", "~/x.yaml", "C:\\x.yaml", "a\\..\\x.yaml"] {
        let (read, findings) = instance(&INSTANCE.replace("processes/process-code-review.yaml", path));
        assert_eq!(
            findings,
            [format!(
                "path 9:22 the path `{path}` leads out of the workspace | write it relative to the workspace, without `..`"
            )]
        );
        assert_eq!(read.unwrap().source, None);
    }
    let (_, findings) = instance(&INSTANCE.replace("processes/process", "pro..cesses/..process"));
    assert_eq!(findings, Vec::<String>::new());
}

#[test]
fn drifted_flags_and_counts_are_understood_with_a_warning() {
    let text = INSTANCE
        .replace("definition_approved: true", "definition_approved: yes")
        .replace("run_count: 2", "run_count: \"2\"");
    let (read, findings) = instance(&text);
    assert_eq!(
        findings,
        [
            "type 19:16 the text `2` is read as `2` | write 2 without quotes",
            "type 17:26 the text `yes` is read as `true` | write true without quotes",
        ]
    );
    let read = read.unwrap();
    assert_eq!((read.approval.unwrap().definition_approved, read.run_count), (true, 2));
}
