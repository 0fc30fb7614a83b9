//! What a run over one step looks like, from its facts alone.

use serde_json::Value;
use serde_json::json;

use super::*;
use crate::time::Utc;

fn facts(list: &[Value]) -> Vec<projection::Fact> {
    let at = Utc::parse("2026-01-18T15:00:00Z").unwrap();
    list.iter().map(|data| projection::Fact { at, data: data.clone() }).collect()
}

fn refused() -> Value {
    json!({
        "fact": "phase_ended", "step": "01-01", "phase": "RED", "attempt": 1, "outcome": "FAIL",
        "claim": {"status": "done", "summary": "the test is there", "criteria": [], "artifacts": [], "usage": null},
        "evidence": [{
            "gate": "tests", "command": "pytest", "exit": 0, "verdict": "Green", "words": "1 test ran, all passed",
            "output": "1 passed", "output_hash": null,
        }],
        "objections": [{"rule": "red-is-green", "message": "RED needs a test that fails."}],
        "notes": ["coverage 80%"], "words": "tests: 1 test ran, all passed",
    })
}

/// The names and values of the fields are those that earlier versions wrote, so that runs of theirs are shown, too.
#[test]
fn facts_of_an_earlier_version_keep_their_fields_to_the_letter() {
    let committed = json!({
        "fact": "committed", "step": "01-01",
        "commit": {"subject": "feat(01-01): DONE", "commit": "0123456789abcdef", "files": ["src/a.py"]},
    });
    let context = json!({
        "fact": "context", "step": "01-01", "roadmap_tokens": 100, "context_tokens": 40, "saved_percent": 60,
        "words": "40 of 100 tokens; 60 saved (60%)", "unresolved_critiques": ["No rollback"],
    });
    let skipped = json!({
        "fact": "phase_ended", "step": "01-01", "phase": "GREEN", "outcome": "SKIPPED", "words": "APPROVED_SKIP: ok",
    });
    let view = view(&facts(&[context.clone(), refused(), skipped, committed, json!({"fact": "unheard_of"})]));
    let mut expected = refused();
    expected.as_object_mut().unwrap().shift_remove("fact");
    assert_eq!(view.fields["phases"][0], expected);
    assert_eq!(view.fields["phases"][1]["outcome"], "SKIPPED");
    assert_eq!(view.fields["phases"][1].get("attempt"), None);
    assert_eq!(
        view.fields["evidence"],
        json!([{
            "step": "01-01", "phase": "RED", "attempt": 1, "gate": "tests", "command": "pytest", "exit": 0,
            "verdict": "Green", "words": "1 test ran, all passed", "output": "1 passed", "output_hash": null,
        }])
    );
    assert_eq!(
        view.fields["commits"],
        json!([{
            "subject": "feat(01-01): DONE", "commit": "0123456789abcdef", "files": ["src/a.py"], "step": "01-01",
        }])
    );
    assert_eq!(view.fields["context"][0]["saved_percent"], context["saved_percent"]);
    assert_eq!(view.fields["queue"], Value::Null);
    let names: Vec<&str> = view.fields.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        ["phases", "evidence", "commits", "context", "queue", "coverage", "conflicts", "finalized"]
    );
}

#[test]
fn a_refused_phase_is_shown_with_its_claim_beside_its_evidence_and_why() {
    let view = view(&facts(&[refused()]));
    assert_eq!(view.sections.len(), 1);
    assert_eq!(view.sections[0].title, "Step 01-01");
    assert_eq!(
        view.sections[0].blocks,
        [
            Block::Table {
                heading: ["phase", "try", "outcome", "the agent said", "the engine saw"]
                    .map(str::to_owned)
                    .into(),
                rows: vec![vec![
                    "RED".to_owned(),
                    "1".to_owned(),
                    "FAIL".to_owned(),
                    "done: the test is there".to_owned(),
                    "tests: 1 test ran, all passed".to_owned(),
                ]],
            },
            Block::Line {
                label: "RED, try 1, refused (red-is-green)".to_owned(),
                text: "RED needs a test that fails.".to_owned(),
                mood: Mood::Bad,
            },
            Block::Line {
                label: "RED, try 1, note".to_owned(),
                text: "coverage 80%".to_owned(),
                mood: Mood::Neutral,
            },
            Block::Output {
                title: "RED, try 1".to_owned(),
                command: "pytest".to_owned(),
                exit: Some(0),
                text: "1 passed".to_owned(),
                brief: true,
            },
        ]
    );
}
