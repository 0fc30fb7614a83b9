//! Documents and reports for tests: small pieces that are put together and written as YAML.

use serde_json::Value;
use serde_json::json;

pub(crate) const DEFINITION: &str = "processes/process-work.yaml";
pub(crate) const INSTANCE: &str = ".dialogue/processes/PINST-20260118-143052.yaml";

/// A step with the roles that its pattern wants.
pub(crate) fn step(id: &str, name: &str, capability: &str, pattern: &str) -> Value {
    let human = if pattern == "AI-Only" { "None" } else { "Says what is right" };
    let ai = if pattern == "Human-Only" { "None" } else { "worker" };
    json!({
        "id": id, "name": name, "capability": capability, "pattern": pattern, "human_role": human, "ai_role": ai,
    })
}

/// A step that an agent does alone.
pub(crate) fn alone(id: &str, name: &str, capability: &str) -> Value {
    step(id, name, capability, "AI-Only")
}

/// A trigger.
pub(crate) fn trigger(condition: &str, action: &str, severity: &str) -> Value {
    json!({"condition": condition, "action": action, "severity": severity})
}

/// `base` with the fields of `more` set.
pub(crate) fn with(mut base: Value, more: Value) -> Value {
    let Value::Object(more) = more else { panic!("fields to set are a mapping: {more}") };
    for (key, value) in more {
        base[key] = value;
    }
    base
}

/// A step with triggers.
pub(crate) fn watching(step: Value, triggers: Vec<Value>) -> Value {
    with(step, json!({"escalation_triggers": triggers}))
}

/// A definition of little engagement: nearly all of its knowledge is written down.
pub(crate) fn definition(steps: Vec<Value>) -> Value {
    json!({
        "definition": {
            "id": "PROC-5.1",
            "name": "Handle a change",
            "version": "1.0",
            "information_composition": {"formal": 90, "tacit": 10, "emergent": 0},
        },
        "steps": steps,
        "flow": "flowchart TD\n  A --> B\n",
    })
}

/// The shares of formal, tacit and emergent information.
pub(crate) fn shares(mut definition: Value, formal: u32, tacit: u32, emergent: u32) -> Value {
    definition["definition"]["information_composition"] =
        json!({"formal": formal, "tacit": tacit, "emergent": emergent});
    definition
}

/// Two steps of which the second sends the run back to the first when the change does not build.
pub(crate) fn returning(severity: &str, fix: Option<&str>) -> Value {
    let back = with(trigger("The build is red", "RETURN", severity), json!({"target": "5.1.1"}));
    let steps =
        vec![alone("5.1.1", "Write", "Generate"), watching(alone("5.1.2", "Build", "Analyse"), vec![back])];
    let mut definition = definition(steps);
    if let Some(mode) = fix {
        let fix = alone("5.1.2a", "Mend", "Transform");
        let fix = with(
            fix,
            json!({"trigger_from": "5.1.2", "invocation": mode, "description": "Repair what is red"}),
        );
        definition["control_flow"] = json!({"fix_steps": [fix]});
    }
    definition
}

/// An instance that has not run yet.
pub(crate) fn instance() -> Value {
    json!({
        "instance": {
            "id": "PINST-20260118-143052",
            "created": "2026-01-18T14:30:52Z",
            "created_by": "human:ada",
            "plain_english_description": "Get the change into the release",
            "definition_source": {"type": "WELL_KNOWN", "definition_path": DEFINITION},
            "context": {"trigger": "asked for", "inputs": {}, "parameters": {}},
            "status": "PLANNED",
            "run_count": 0,
        }
    })
}

/// A report of work that is done.
pub(crate) fn done(summary: &str) -> Value {
    json!({"status": "done", "summary": summary, "confidence": 95})
}

/// A report that says that a condition holds.
pub(crate) fn holds(condition: &str) -> Value {
    with(done("Looked at it"), json!({"triggers": [condition]}))
}

/// A report that judges every criterion alike.
pub(crate) fn judged(criteria: &[&str], met: bool, confidence: u32, reason: &str) -> Value {
    let criteria: Vec<Value> = criteria
        .iter()
        .map(|c| json!({"criterion": c, "met": met, "confidence": confidence, "reason": reason}))
        .collect();
    json!({"status": "done", "criteria": criteria})
}
