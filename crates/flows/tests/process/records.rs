//! What is on record: decisions, observations, step records, the audit, and the instance's own file.

use serde_json::Value;
use serde_json::json;
use seriatim_flows::registry::End;

use crate::build;
use crate::build::alone;
use crate::build::definition;
use crate::build::done;
use crate::build::step;
use crate::build::with;
use crate::story::has;
use crate::world::World;

/// PX-61, PX-95, K-81.
#[test]
fn px_61_px_95_k_81_the_capability_decides_what_a_step_leaves_behind() {
    let capabilities =
        ["Elicit", "Analyse", "Synthesise", "Transform", "Validate", "Generate", "Preserve", "Decide"];
    let steps = capabilities.iter().enumerate();
    let steps = steps.map(|(i, c)| alone(&format!("5.1.{}", i + 1), &format!("To {c}"), c)).collect();
    let story = World::new(definition(steps)).run();
    for record in story.step_records() {
        let (decisions, observations) = (&record["decisions"], &record["observations"]);
        let counts = (decisions.as_array().unwrap().len(), observations.as_array().unwrap().len());
        let expected = if record["capability"] == "Decide" { (1, 0) } else { (0, 1) };
        assert_eq!(counts, expected, "{record}");
    }
}

/// PX-96, PX-97.
#[test]
fn px_96_px_97_records_have_all_their_fields() {
    let report = with(
        done("Weighed both"),
        json!({
            "verdict": "APPROVED",
            "decisions": [{"subject": "Store", "outcome": "SQLite", "rationale": "one file\nanyone can open: \"yes\""}],
            "observations": [{"type": "MEASUREMENT", "subject": "Size", "value": 12}],
        }),
    );
    let story =
        World::new(definition(vec![alone("5.1.1", "Weigh", "Decide")])).reports("5.1.1", report).run();
    let mut decision = story.decisions().pop().unwrap();
    let id = decision["id"].as_str().unwrap().to_owned();
    decision.as_object_mut().unwrap().retain(|key, _| key != "id" && key != "timestamp");
    assert_eq!(
        decision,
        json!({
            "type": "OPERATIONAL", "actor": "ai:claude", "subject": "Store", "outcome": "SQLite",
            "rationale": "one file\nanyone can open: \"yes\"", "context": "Get the change into the release",
            "tags": ["process-execution"],
        })
    );
    let mut observation = story.observations().into_iter().find(|o| o["subject"] == "Size").unwrap();
    observation.as_object_mut().unwrap().retain(|key, _| key != "id" && key != "timestamp");
    assert_eq!(
        observation,
        json!({
            "type": "MEASUREMENT", "observer": "ai:claude", "subject": "Size", "value": 12,
            "context": "Get the change into the release", "tags": ["process-execution"],
        })
    );
    // PX-98: the step names what it caused.
    assert_eq!(story.step_records()[0]["decisions"], json!([id]));
    assert_eq!(story.step_records()[0]["observations"].as_array().unwrap().len(), 1);
}

#[test]
fn k_83_the_actor_is_the_runtime_that_did_it() {
    let mut world = World::new(definition(vec![alone("5.1.1", "Weigh", "Decide")]));
    world.start.actor = "ai:codex".into();
    assert_eq!(world.run().decisions()[0]["actor"], "ai:codex");
}

/// E-24, K-85.
#[test]
fn e_24_k_85_records_of_one_second_have_ids_of_their_own() {
    let report = with(
        done("Counted"),
        json!({"observations": [{"subject": "a", "value": 1}, {"subject": "b", "value": 2}, {"subject": "c", "value": 3}]}),
    );
    let mut world = World::new(definition(vec![alone("5.1.1", "Count", "Analyse")])).reports("5.1.1", report);
    world.tick_ms = 0;
    let story = world.file(".dialogue/logs/executions/EXEC-20260118-150000.yaml", EARLIER).run();
    assert_eq!(
        story.step_records()[0]["observations"],
        json!(["OBS-20260118-150000", "OBS-20260118-150001", "OBS-20260118-150002"])
    );
    assert_eq!(story.log()["execution"]["id"], "EXEC-20260118-150001");
}

const EARLIER: &str = "execution:\n  id: EXEC-20260118-150000\n  instance_id: PINST-20260118-143052\n  started: \
                       \"2026-01-18T15:00:00Z\"\n  status: IN_PROGRESS\n  executor: {agent: process-executor}\n";

/// PX-40, PX-41, PX-42, PX-43.
#[test]
fn px_40_px_41_px_42_px_43_the_log_from_its_first_line_to_its_last() {
    let story =
        World::new(definition(vec![alone("5.1.1", "Look", "Analyse"), alone("5.1.2", "Tell", "Generate")]))
            .meanwhile("5.1.1", |outside| {
                // Before the first step: the log is there and the instance names it.
                let (path, log) = outside.files.iter().find(|(p, _)| p.contains("/EXEC-")).unwrap();
                assert!(path.starts_with(".dialogue/logs/executions/EXEC-20260118-"), "{path}");
                assert!(log.contains("status: IN_PROGRESS") && log.contains("step_executions: []"), "{log}");
                let instance = &outside.files[build::INSTANCE];
                assert!(
                    instance.contains("status: IN_PROGRESS") && instance.contains("execution_log_id: EXEC-")
                );
            })
            .meanwhile("5.1.2", |outside| {
                // After each step, and not only at the end (PX-42).
                let (_, log) = outside.files.iter().find(|(p, _)| p.contains("/EXEC-")).unwrap();
                assert!(log.contains("step_id: \"5.1.1\"") || log.contains("step_id: 5.1.1"), "{log}");
            })
            .run();
    let log = story.log();
    let keys: Vec<&str> = log.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["execution", "step_executions", "audit_summary", "control_flow_events", "errors"]);
    assert_eq!(log["execution"]["instance_id"], "PINST-20260118-143052");
    assert_eq!(log["execution"]["executor"]["agent"], "process-executor");
    let record = &log["step_executions"][0];
    let keys: Vec<&str> = record.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "step_id",
            "step_name",
            "capability",
            "pattern",
            "started",
            "completed",
            "duration_ms",
            "status",
            "outcome_summary",
            "decisions",
            "observations",
            "iteration",
        ]
    );
    assert!(record["duration_ms"].as_u64().unwrap() > 0);
}

#[test]
fn px_123_the_audit_summary_counts_what_the_steps_name() {
    let steps = vec![alone("5.1.1", "Look", "Analyse"), step("5.1.2", "Sign", "Decide", "Human-Only")];
    let story = World::new(definition(steps)).run();
    let audit = &story.log()["audit_summary"];
    assert_eq!((&audit["total_decisions"], &audit["total_observations"]), (&json!(1), &json!(1)));
    // What belongs to no step is on record and not in the summary.
    assert_eq!(story.observations().len(), 2);
}

/// E-25, PX-124.
#[test]
fn e_25_px_124_a_record_that_is_gone_is_a_warning_and_the_run_finishes() {
    let story =
        World::new(definition(vec![alone("5.1.1", "Look", "Analyse"), alone("5.1.2", "Tell", "Generate")]))
            .meanwhile("5.1.2", |outside| {
                let path = outside.files.keys().find(|p| p.contains("/OBS-")).unwrap().clone();
                outside.files.remove(&path);
            })
            .run();
    assert_eq!(story.ended.status, End::Completed);
    let gone = story.step_records()[0]["observations"][0].as_str().unwrap().to_owned();
    has(
        &story.observed(),
        &format!("EVENT Warning: audit summary: {gone} is named but its file is not there"),
    );
}

/// An instance as people have them: with remarks, fields that nobody knows, and the count in its old place.
const BY_HAND: &str = r#"# kept by hand
---
instance:
  id: PINST-20260118-143052   # do not change
  plain_english_description: "Get the change into the release"
  definition_source: {type: WELL_KNOWN, definition_path: processes/process-work.yaml}
  context:
    inputs: {}
  status: PLANNED
  approval:
    trust_level: TRUST_APPROVED
    run_count: 4
  team: platform              # nobody but us knows this
---
"#;

/// PX-130, K-94.
#[test]
fn px_130_k_94_an_edit_keeps_every_other_byte_of_the_instance() {
    let story =
        World::new(definition(vec![alone("5.1.1", "Look", "Analyse")])).file(build::INSTANCE, BY_HAND).run();
    let text = &story.files[build::INSTANCE];
    for line in ["# kept by hand", "  id: PINST-20260118-143052   # do not change", "    run_count: 4"] {
        assert!(text.lines().any(|l| l == line), "{text}");
    }
    assert!(text.contains("  team: platform              # nobody but us knows this\n"), "{text}");
    assert!(text.ends_with("---\n"));
    let instance = story.instance();
    assert_eq!((&instance["status"], &instance["run_count"]), (&json!("COMPLETED"), &json!(5)));
    assert_eq!(instance["approval"], json!({"trust_level": "TRUST_APPROVED", "run_count": 4}));
}

#[test]
fn an_edit_by_somebody_else_during_the_run_is_noticed_and_kept() {
    let story = World::new(definition(vec![alone("5.1.1", "Look", "Analyse")]))
        .file(build::INSTANCE, BY_HAND)
        .meanwhile("5.1.1", |outside| outside.replace(build::INSTANCE, "team: platform", "team: tooling"))
        .run();
    let what = "The file of this run was changed by somebody else while it ran";
    assert_eq!(story.errors(), [format!("instance: ForeignEdit - {what}")]);
    has(&story.observed(), &format!("EVENT Foreign edit: {what}"));
    assert_eq!(story.instance()["team"], "tooling");
    assert_eq!(story.ended.status, End::Completed);
}

#[test]
fn k_73_a_run_that_is_over_can_be_run_again_with_a_log_of_its_own() {
    for status in ["COMPLETED", "FAILED", "CANCELLED", "IN_PROGRESS", "SUSPENDED"] {
        let mut world = World::new(definition(vec![alone("5.1.1", "Look", "Analyse")]));
        world.instance["instance"]["status"] = json!(status);
        world.instance["instance"]["run_count"] = json!(2);
        let old = json!({"execution_success": false, "process_result": "BLOCKED"});
        world.instance["instance"]["outcome"] = old;
        world.instance["instance"]["completed"] = json!("2026-01-17T10:00:00Z");
        let story = world
            .meanwhile("5.1.1", |outside| assert!(outside.files[build::INSTANCE].contains("completed: null")))
            .file(".dialogue/logs/executions/EXEC-20260118-150000.yaml", EARLIER)
            .run();
        assert_eq!(story.logs().len(), 2, "{status}");
        let instance = story.instance();
        assert_eq!((&instance["status"], &instance["run_count"]), (&json!("COMPLETED"), &json!(3)));
        assert_eq!(instance["outcome"]["execution_success"], true);
    }
}

#[test]
fn px_32_a_brief_is_all_that_an_agent_needs() {
    let steps = vec![alone("5.1.1", "Look", "Analyse"), alone("5.1.2", "Tell", "Generate")];
    let mut definition = definition(steps);
    definition["interfaces"] = json!({"inputs": [{"type": "change"}]});
    let story = World::new(definition)
        .inputs(json!({"change": "a.rs"}))
        .reports("5.1.1", with(done("Looked"), json!({"outputs": {"files": 3}})))
        .run();
    let brief = &story.call("5.1.2", 0).brief;
    for part in [
        "# Tell\n",
        "The work as a whole: Get the change",
        "- change: a.rs\n",
        "### 5.1.1 Look\n- files: 3\n",
    ] {
        assert!(brief.prompt.contains(part), "{}", brief.prompt);
    }
    assert_eq!(
        brief.inputs,
        json!({"inputs": {"change": "a.rs"}, "steps": {"5.1.1": {"files": 3}}, "answers": {}})
    );
    assert_eq!(brief.run, "", "the engine fills it in");
    assert_eq!(brief.scope, Value::Null);
}
