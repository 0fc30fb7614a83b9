//! What holds for every run, whatever a test is about.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use serde_json::Value;
use seriatim_core::check;
use seriatim_core::doc;
use seriatim_core::doc::Limits;
use seriatim_core::kind::Kind;
use seriatim_core::plain;
use seriatim_core::plain::Words;
use seriatim_core::process::log;

use crate::build;
use crate::story::Story;

pub(crate) fn prove(story: &Story) {
    plain_words(story);
    valid_files(story);
    whole_audit(story);
}

/// PX-04 to PX-06, PX-148, E-21: every text that a person meets is free of ids, field names and numbers of rules, and
/// every question says what, why and what one can do.
fn plain_words(story: &Story) {
    let words = Words::new(known_ids(story));
    for (question, _) in &story.seen.questions {
        assert_eq!(words.question_faults(question), vec![], "{question:#?}");
        assert_eq!(plain::complete(question), vec![], "{question:#?}");
        no_rule_number(&question.question);
        no_rule_number(&question.why);
    }
    let summary = story.ended.outcome["summary"].as_str().unwrap_or_default();
    for text in [story.ended.message.as_str(), summary] {
        assert_eq!(words.faults(text), vec![], "{text}");
        no_rule_number(text);
    }
    assert!(!story.ended.message.trim().is_empty());
}

fn no_rule_number(text: &str) {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let number = words.into_iter().find(|w| {
        let mut chars = w.chars();
        matches!(chars.next(), Some('V' | 'C'))
            && matches!(chars.next(), Some('1'..='8'))
            && chars.next().is_none()
    });
    assert_eq!(number, None, "{text}");
}

/// The ids of the documents and of the log.
fn known_ids(story: &Story) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    let logs = story.logs();
    for path in [build::DEFINITION, build::INSTANCE].into_iter().chain(logs.iter().map(String::as_str)) {
        let Some(text) = story.files.get(path) else { continue };
        if let (Some(root), _) = doc::parse(text.as_bytes(), &Limits::default()) {
            gather(&root.to_json(), &mut ids);
        }
    }
    ids
}

fn gather(tree: &Value, ids: &mut BTreeSet<String>) {
    match tree {
        Value::Object(map) => {
            for (key, value) in map {
                match value.as_str() {
                    Some(id) if key == "id" => _ = ids.insert(id.to_owned()),
                    _ => gather(value, ids),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|value| gather(value, ids)),
        _ => {}
    }
}

/// What the run has written passes the checks that anybody can make.
fn valid_files(story: &Story) {
    for (path, text) in &story.files {
        let kind = match () {
            () if path.starts_with(log::EXECUTIONS) => Kind::ExecutionLog,
            () if path.starts_with(log::DECISIONS) => Kind::Decision,
            () if path.starts_with(log::OBSERVATIONS) => Kind::Observation,
            () => continue,
        };
        let found = check::file(path, text.as_bytes(), Some(kind)).findings;
        assert_eq!(found, vec![], "{path}\n{text}");
    }
}

/// PX-42, PX-93, PX-95, PX-98, PX-123: every step that was done has left a record, no id is named twice, the summary
/// counts what the steps name, and every change of the flow has its eight fields.
fn whole_audit(story: &Story) {
    let Some(path) = story.logs().pop() else { return };
    let log = story.tree(&path);
    let test = log["execution"]["test_mode"] == true;
    let mut named: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for step in log["step_executions"].as_array().unwrap() {
        let (decisions, observations) = (&step["decisions"], &step["observations"]);
        let count = decisions.as_array().unwrap().len() + observations.as_array().unwrap().len();
        assert!(test == (count == 0) || step["status"] == "SKIPPED", "{step}");
        named.entry("decision").or_default().extend(decisions.as_array().unwrap().clone());
        named.entry("observation").or_default().extend(observations.as_array().unwrap().clone());
    }
    for kind in ["decision", "observation"] {
        let ids = named.remove(kind).unwrap_or_default();
        assert_eq!(log["audit_summary"][format!("{kind}_ids")], Value::Array(ids.clone()));
        assert_eq!(log["audit_summary"][format!("total_{kind}s")], ids.len());
        let distinct: BTreeSet<&str> = ids.iter().map(|id| id.as_str().unwrap()).collect();
        assert_eq!(distinct.len(), ids.len(), "{ids:?}");
    }
    for event in log["control_flow_events"].as_array().unwrap() {
        let keys: Vec<&str> = event.as_object().unwrap().keys().map(String::as_str).collect();
        let all =
            ["timestamp", "type", "from_step", "to_step", "reason", "severity", "iteration", "fix_step_used"];
        assert_eq!(keys, all);
    }
}
