//! The rules V1 to V8 and C1 to C4: messages to the letter, and their places.

use std::collections::BTreeSet;

use proptest::prelude::*;

use seriatim_core::doc;
use seriatim_core::finding::Finding;
use seriatim_core::process::Definition;
use seriatim_core::process::rules;

use crate::documents::line;

/// A valid definition; tests replace parts of it.
pub(crate) const REVIEW: &str = r#"---
definition:
  id: "PROC-5.1"
  name: Code review
  description: Looks at a change before it is merged
  version: "1.0"
  phase: 5
  information_composition:
    formal: 60
    tacit: 30
    emergent: 10
interfaces:
  inputs:
    - type: change
      required: true
      description: What is reviewed
    - type: focus
      required: false
  outputs:
    - type: report
steps:
  - id: "5.1.1"
    name: Gather
    capability: Elicit
    pattern: AI-Only
    human_role: None
    ai_role: Collector
  - id: "5.1.2"
    name: Analyse
    capability: Analyse
    pattern: AI-Led
    human_role: Reviewer
    ai_role: Analyst
    escalation_triggers:
      - condition: A secret was found
        action: RETURN
        severity: HIGH
        target: "5.1.1"
    completion_criteria: Every file was read
control_flow:
  retry_policy:
    on_validation_failure:
      return_to: "5.1.1"
      max_iterations: 3
  fix_steps:
    - id: "5.1.2a"
      name: Mend
      trigger_from: "5.1.2"
      invocation: ON_RETRY
      capability: Transform
      pattern: AI-Led
      human_role: None
      ai_role: Mender
quality:
  entry_criteria:
    - A change exists
    - {criterion: It builds, when: "inputs.built == true"}
  exit_criteria: [A report exists]
  sla: {expected_duration_minutes: 30, timeout_minutes: 0.5}
flow: |
  ```mermaid
  flowchart TD
    A --> B
  ```
---
"#;

/// Everything that reading and the rules say, in their own order.
fn found(text: &str) -> Vec<String> {
    let (definition, mut findings) = Definition::parse(text.as_bytes());
    if let Some(definition) = definition {
        findings.extend(rules::check(&definition, &BTreeSet::from(["PROC-5.2".to_owned()])));
    }
    findings.iter().map(line).collect()
}

/// The valid definition with one piece replaced.
fn with(old: &str, new: &str) -> String {
    assert!(REVIEW.contains(old), "{old}");
    REVIEW.replacen(old, new, 1)
}

#[track_caller]
fn says(old: &str, new: &str, expected: &[&str]) {
    let all = found(&with(old, new));
    let without_help: Vec<&str> = all.iter().map(|l| l.split(" | ").next().unwrap_or(l)).collect();
    assert_eq!(without_help, expected);
}

#[test]
fn px_99_a_valid_definition_has_no_findings_at_all() {
    assert_eq!(found(REVIEW), Vec::<String>::new());
}

#[test]
fn e_01_px_100_v1_sums_exactly() {
    let shares = "formal: 60\n    tacit: 30\n    emergent: 10";
    says(shares, "formal: 33.3\n    tacit: 33.3\n    emergent: 33.4", &[]);
    says(
        shares,
        "formal: 33\n    tacit: 33\n    emergent: 33",
        &["V1 8:3 Information composition must sum to 100 (got 99)"],
    );
    says(
        shares,
        "formal: 33.3\n    tacit: 33.3\n    emergent: 33.3",
        &["V1 8:3 Information composition must sum to 100 (got 99.9)"],
    );
}

#[test]
fn e_02_each_share_lies_between_0_and_100() {
    says(
        "formal: 60\n    tacit: 30\n    emergent: 10",
        "formal: 150\n    tacit: -50\n    emergent: 0",
        &[
            "share 9:13 the share `formal` must be between 0 and 100 (got 150)",
            "share 10:12 the share `tacit` must be between 0 and 100 (got -50)",
        ],
    );
}

#[test]
fn a_missing_composition_or_share_is_named_at_its_parent() {
    says(
        "  information_composition:\n    formal: 60\n    tacit: 30\n    emergent: 10\n",
        "",
        &["missing-field 3:3 the section `definition` needs the field `information_composition`"],
    );
    says(
        "    formal: 60\n",
        "",
        &[
            "missing-field 9:5 `information_composition` needs the field `formal`",
            "V1 8:3 Information composition must sum to 100 (got 40)",
        ],
    );
}

#[test]
fn e_04_px_101_px_103_human_only_with_an_ai_role_breaks_c1_and_c3() {
    says(
        "pattern: AI-Led\n    human_role: Reviewer\n    ai_role: Analyst",
        "pattern: Human-Only\n    human_role: Reviewer\n    ai_role: advisor",
        &[
            "C1 33:14 C1 violated in step 5.1.2: Human-Only pattern cannot have AI role",
            "C3 31:14 C3 violated in step 5.1.2: AI role defined but pattern is Human-Only",
        ],
    );
}

#[test]
fn px_102_px_104_ai_only_with_a_human_role_breaks_c2_and_c4() {
    says(
        "human_role: None\n    ai_role: Collector",
        "human_role: Owner\n    ai_role: Collector",
        &[
            "C2 26:17 C2 violated in step 5.1.1: AI-Only pattern cannot have human role",
            "C4 25:14 C4 violated in step 5.1.1: Human role defined but pattern is AI-Only",
        ],
    );
    for none in
        ["human_role: none", "human_role: ~", "human_role: \"NONE\"", "human_role: ''", "when: \"true\""]
    {
        says("human_role: None\n    ai_role: Collector", &format!("{none}\n    ai_role: Collector"), &[]);
    }
}

/// The ids of the steps as a definition of its own.
fn v3(ids: &[&str]) -> Vec<String> {
    let head = REVIEW.split("steps:\n").next().unwrap_or_default();
    let steps: String = ids
        .iter()
        .map(|id| format!("  - {{id: \"{id}\", name: n, capability: Decide, pattern: Partnership}}\n"))
        .collect();
    let all = found(&format!("{head}steps:\n{steps}flow: x\n"));
    all.iter().map(|l| l.split(" | ").next().unwrap_or(l).to_owned()).collect()
}

#[test]
fn e_05_e_06_px_105_v3_is_numeric_and_per_process() {
    let nothing: Vec<String> = vec![];
    assert_eq!(
        v3(&["5.1.1", "5.1.2", "5.1.10"]),
        ["V3 24:10 Step IDs must be sequential (found 5.1.1, 5.1.2, 5.1.10)"]
    );
    let ten: Vec<String> = (1..=10).map(|n| format!("5.1.{n}")).collect();
    assert_eq!(v3(&ten.iter().map(String::as_str).collect::<Vec<_>>()), nothing);
    assert_eq!(v3(&["5.1.1", "5.2.2"]), ["V3 23:10 Step IDs must be sequential (found 5.1.1, 5.2.2)"]);
    assert_eq!(v3(&["5.1.1", "5.2.1", "5.2.2"]), nothing);
    for bad in [
        &["5.1.2"][..],
        &["5.1"],
        &["5.1.1.1"],
        &["5.1.1", "5.1.1"],
        &["5.1.1a"],
        &["5.1.+1"],
        &["D.1"],
        &["5.1.2", "5.1.1"],
        &["5..1"],
    ] {
        let all = v3(bad);
        assert_eq!(
            all,
            [format!("V3 {} Step IDs must be sequential (found {})", &all[0][3..8], bad.join(", "))]
        );
    }
}

#[test]
fn e_07_px_106_v4_return_targets_are_steps() {
    let target = "target: \"5.1.1\"";
    says(target, "target: \"5.1.9\"", &["V4 38:17 RETURN target '5.1.9' does not exist in step 5.1.2"]);
    says(target, "target: \"5.1.2a\"", &["V4 38:17 RETURN target '5.1.2a' does not exist in step 5.1.2"]);
    says(target, "target: PROC-5.2", &["V4 38:17 RETURN hands over to the process PROC-5.2"]);
    says(
        target,
        "target: PROC-9.9",
        &["V4 38:17 RETURN hands over to the process PROC-9.9, which is not known here"],
    );
    says(
        "action: RETURN\n        severity: HIGH\n        target: \"5.1.1\"",
        "action: DEFER\n        severity: HIGH",
        &[],
    );
    // Without a target of its own a trigger takes that of the retry policy.
    says("        target: \"5.1.1\"\n", "", &[]);
    let neither = with("        target: \"5.1.1\"\n", "").replace("      return_to: \"5.1.1\"\n", "");
    assert_eq!(
        found(&neither),
        ["V4 35:9 RETURN target '' does not exist in step 5.1.2 | the steps are `5.1.1`, `5.1.2`"]
    );
}

#[test]
fn v4_severities_of_findings_tell_errors_from_hints() {
    let (definition, _) = Definition::parse(with("target: \"5.1.1\"", "target: PROC-5.2").as_bytes());
    let definition = definition.unwrap();
    let severity = |known: &[&str]| {
        let known = known.iter().map(|s| (*s).to_owned()).collect();
        rules::check(&definition, &known).into_iter().map(|f| f.severity.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(severity(&["PROC-5.2"]), ["note"]);
    assert_eq!(severity(&[]), ["warning"]);
}

#[test]
fn px_107_v5_severity_is_needed() {
    says(
        "        severity: HIGH\n",
        "",
        &["V5 35:9 Escalation trigger in step 5.1.2 missing required severity"],
    );
    says(
        "severity: HIGH",
        "severity: ~",
        &["V5 35:9 Escalation trigger in step 5.1.2 missing required severity"],
    );
    says("severity: HIGH", "severity: high", &["unknown-value 37:19 `high` is read as `HIGH`"]);
    says("severity: HIGH", "severity: HUGE", &["unknown-value 37:19 `HUGE` is not a severity"]);
}

#[test]
fn e_08_px_108_px_109_v6_fix_steps() {
    says(
        "trigger_from: \"5.1.2\"",
        "trigger_from: \"5.1.7\"",
        &[
            "V6 48:21 Fix step 5.1.2a references non-existent step 5.1.7",
            "V6 46:11 Fix step ID must be parent step + 'a' suffix",
        ],
    );
    says("id: \"5.1.2a\"", "id: \"5.1.2b\"", &["V6 46:11 Fix step ID must be parent step + 'a' suffix"]);
    let second = "  fix_steps:\n    - {id: 5.1.2a, name: n, trigger_from: 5.1.2, capability: Decide, pattern: AI-Led}\n";
    says("  fix_steps:\n", second, &["V6 47:11 Fix step 5.1.2a is defined twice"]);
}

#[test]
fn px_110_v7_a_flow_diagram_is_needed() {
    let flow = REVIEW.split_once("flow: |").map(|(_, rest)| format!("flow: |{rest}")).unwrap();
    let message = "ProcessDefinition must include a flow diagram (Mermaid)";
    says(&flow, "", &[&format!("V7 2:1 {message}")]);
    says(&flow, "flow: \"  \"\n", &[&format!("V7 60:7 {message}")]);
    // The framework speaks of `definition.flow`; it may stand there as well.
    let inside = with(&flow, "").replace("  phase: 5\n", "  phase: 5\n  flow: A --> B\n");
    assert_eq!(found(&inside), Vec::<String>::new());
}

#[test]
fn all_findings_come_at_once_and_in_the_order_of_the_rules() {
    let text = REVIEW
        .replace("formal: 60", "formal: 61")
        .replace("human_role: None\n    ai_role: Collector", "human_role: X\n    ai_role: Collector")
        .replace("id: \"5.1.1\"", "id: \"5.1.3\"")
        .replace("        severity: HIGH\n", "");
    let rules: Vec<String> = found(&text).iter().map(|l| l[..2].to_owned()).collect();
    assert_eq!(rules, ["V1", "C2", "C4", "V3", "V4", "V4", "V5"]);
}

#[test]
fn px_61_px_63_unknown_words_and_fields_name_the_closest_known_one() {
    assert_eq!(
        found(&with("capability: Analyse", "capability: Analyze")),
        ["unknown-value 30:17 `Analyze` is not a capability | did you mean `Analyse`?"]
    );
    assert_eq!(
        found(&with("description: Looks", "descripton: Looks")),
        [
            "unknown-field 5:3 unknown field `descripton` in the section `definition` | did you mean `description`?"
        ]
    );
    assert_eq!(
        found(&with("pattern: AI-Led", "pattern: Robot")),
        [
            "unknown-value 31:14 `Robot` is not a pattern | known are `Human-Only`, `Human-Led`, `Partnership`, `AI-Led`, `AI-Only`"
        ]
    );
    assert_eq!(
        found(&with("name: Gather", "name: [a]")),
        ["type 23:11 `name` of a step must be a text, but this is a list"]
    );
}

#[test]
fn undocumented_sections_of_real_files_are_known() {
    let extra = "references: {rules: [a.md]}\nprogressive_disclosure:\n  initial_mode: QUICK\n  upgrade_triggers: [a, {condition: b}]\n  upgrade_prompt: More?\nflow: |";
    let text = with("flow: |", extra).replace(
        "control_flow:\n",
        "control_flow:\n  mode_variations:\n    QUICK: {skip_steps: [5.1.2], time_budget_minutes: 12.5, depth: shallow}\n    FULL: {skip_steps: []}\n",
    );
    assert_eq!(found(&text), Vec::<String>::new());
    let definition = Definition::parse(text.as_bytes()).0.unwrap();
    assert_eq!(definition.disclosure.unwrap().upgrade_triggers, ["a", "b"]);
    assert_eq!(definition.control_flow.modes[0].time_budget_minutes.unwrap().to_string(), "12.5");
    assert_eq!(definition.quality.sla.unwrap().warning_threshold_percent.to_string(), "80");
}

#[test]
fn the_digest_ignores_comments_and_layout_but_no_word() {
    let digest = |text: &str| Definition::parse(text.as_bytes()).0.unwrap().digest();
    let same = REVIEW.replace("\nsteps:\n", "\n# the steps\nsteps:\n\n").replace('\n', "\r\n");
    assert_eq!(digest(REVIEW), digest(&same));
    assert_ne!(digest(REVIEW), digest(&with("Reviewer", "Author")));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn px_100_v1_holds_exactly_when_the_shares_add_up(formal in 0..=100_000_u32, tacit in 0..=100_000_u32, off in -3..=3_i32) {
        prop_assume!(formal + tacit <= 100_000);
        let emergent = 100_000 - i64::from(formal) - i64::from(tacit) + i64::from(off);
        prop_assume!((0..=100_000).contains(&emergent));
        let share = |thousandths: i64| format!("{}.{:03}", thousandths / 1000, thousandths % 1000);
        let shares = [i64::from(formal), i64::from(tacit), emergent].map(share);
        let [formal, tacit, emergent] = shares;
        let text = with(
            "formal: 60\n    tacit: 30\n    emergent: 10",
            &format!("formal: {formal}\n    tacit: {tacit}\n    emergent: {emergent}"),
        );
        prop_assert_eq!(found(&text).len(), usize::from(off != 0));
    }

    #[test]
    fn px_105_v3_holds_exactly_for_the_numbers_in_order(numbers in Just((1..=12_u32).collect::<Vec<_>>()).prop_shuffle(), count in 1..=12_usize) {
        let chosen = &numbers[..count];
        let ids: Vec<String> = chosen.iter().map(|n| format!("5.1.{n}")).collect();
        let in_order = chosen.iter().copied().eq(1..=u32::try_from(count).unwrap_or(0));
        prop_assert_eq!(v3(&ids.iter().map(String::as_str).collect::<Vec<_>>()).is_empty(), in_order);
    }
}

#[test]
fn findings_can_be_sorted_by_place() {
    let (definition, mut findings) =
        Definition::parse(with("formal: 60", "formal: 61").replace("flow: |", "flov: |").as_bytes());
    findings.extend(rules::check(&definition.unwrap(), &BTreeSet::new()));
    doc::sort(&mut findings);
    let lines: Vec<u32> = findings.iter().map(|f: &Finding| f.place.line).collect();
    assert_eq!(lines, [2, 8, 60]);
}
