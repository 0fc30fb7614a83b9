//! The records of phases in the form of the new file.

use serde_json::Map;
use serde_json::Value as Json;
use serde_json::json;

use super::KEPT;
use super::old;
use crate::roadmap::phases::Schema;
use crate::roadmap::state::Outcome;
use crate::roadmap::state::PhaseRecord;
use crate::roadmap::state::PhaseStatus;

/// The fields of a record in the order of the new file, each with the names that it had before.
const FIELDS: [(&str, &[&str]); 12] = [
    ("started_at", &["started_at", "timestamp"]),
    ("completed_at", &["completed_at", "ended_at"]),
    ("duration_minutes", &["duration_minutes"]),
    ("turn_count", &["turn_count"]),
    ("outcome", &["outcome", "result"]),
    ("blocked_by", &["blocked_by", "skip_reason"]),
    ("notes", &["notes"]),
    ("outcome_details", &["outcome_details"]),
    ("artifacts_created", &["artifacts_created", "artifacts"]),
    ("test_results", &["test_results"]),
    ("history", &["history"]),
    (KEPT, &[KEPT]),
];

/// The fields that stand in every record of the new file, be they empty.
const ALWAYS: usize = 7;

/// The words that a status of the new file may have.
pub(super) const WORDS: [&str; 6] =
    ["NOT_EXECUTED", "IN_PROGRESS", "COMPLETED", "EXECUTED", "SKIPPED", "FAILED"];

/// A list (or mapping) of records in the form of the new file. A phase that was there more than once has its earlier
/// entries as history.
pub(super) fn records(list: Json, schema: &Schema) -> Vec<Json> {
    let entries: Vec<Map<String, Json>> = match list {
        Json::Array(items) => items.into_iter().map(|item| entry(None, item)).collect(),
        Json::Object(map) => map.into_iter().map(|(name, item)| entry(Some(name), item)).collect(),
        _ => vec![],
    };
    let mut found: Vec<(Option<String>, Map<String, Json>)> = vec![];
    for entry in entries {
        let name = ["phase_name", "name", "phase"].iter().find_map(|key| entry.get(*key)?.as_str());
        let name = name.map(str::to_owned);
        let known = found.iter_mut().find(|(known, _)| known.is_some() && *known == name);
        match known {
            Some((_, earlier)) => {
                let earlier_one = std::mem::replace(earlier, entry);
                let mut all = vec![Json::Object(earlier_one)];
                match earlier.shift_remove("history") {
                    Some(Json::Array(entries)) => all.extend(entries),
                    other => all.extend(other.filter(|other| !other.is_null())),
                }
                earlier.insert("history".to_owned(), Json::from(all));
            }
            None => found.push((name, entry)),
        }
    }
    found.into_iter().enumerate().map(|(index, (_, entry))| record(entry, index, schema)).collect()
}

/// An entry as a mapping: a bare name has no more to say, a bare word under a name is its status.
fn entry(name: Option<String>, item: Json) -> Map<String, Json> {
    let mut map = match (item, &name) {
        (Json::Object(map), _) => map,
        (Json::Null, _) => Map::new(),
        (other, Some(_)) => Map::from_iter([("status".to_owned(), other)]),
        (other, None) => Map::from_iter([("phase_name".to_owned(), other)]),
    };
    if let Some(name) = name
        && !["phase_name", "name", "phase"].iter().any(|key| map.contains_key(*key))
    {
        map.insert("phase_name".to_owned(), Json::from(name));
    }
    map
}

fn record(mut old: Map<String, Json>, index: usize, schema: &Schema) -> Json {
    let mut new = Map::new();
    let at = old::take_first(&mut old, &["phase_index", "index"]).unwrap_or_else(|| Json::from(index));
    new.insert("phase_index".to_owned(), at);
    let name = old::take_first(&mut old, &["phase_name", "name", "phase"]);
    new.insert("phase_name".to_owned(), name.unwrap_or(Json::Null));
    new.insert("status".to_owned(), status(&mut old, schema));
    for (position, (field, names)) in FIELDS.iter().enumerate() {
        let value = old::take_first(&mut old, names);
        if value.is_some() || position < ALWAYS {
            new.insert((*field).to_owned(), value.unwrap_or(Json::Null));
        }
    }
    if let Some(left) = old::pruned(Json::Object(old)) {
        keep(&mut new, left);
    }
    Json::Object(new)
}

/// The status in a word of the new file. A word that has to be changed stays behind as it was.
fn status(old: &mut Map<String, Json>, schema: &Schema) -> Json {
    let said = old.get("status").and_then(Json::as_str).map(str::to_owned);
    if said.as_deref().is_some_and(|word| WORDS.contains(&word)) {
        return old.shift_remove("status").unwrap_or(Json::Null);
    }
    let text = |names: &[&str]| names.iter().find_map(|name| old.get(*name)?.as_str()).map(str::to_owned);
    let outcome = text(&["outcome", "result"]).as_deref().and_then(Outcome::read);
    let blocked_by = text(&["blocked_by", "skip_reason"]);
    match PhaseStatus::read(said.as_deref(), outcome.as_ref(), blocked_by.as_deref()) {
        // What nobody understands is not made into something else.
        PhaseStatus::Unknown(_) => old.shift_remove("status").unwrap_or(Json::Null),
        read => Json::from(read.word_in(schema)),
    }
}

/// Puts what is left of an entry beside what was kept of it before.
fn keep(new: &mut Map<String, Json>, left: Json) {
    match (new.get_mut(KEPT), left) {
        (Some(Json::Object(kept)), Json::Object(left)) => kept.extend(left),
        (Some(kept), left) => *kept = json!([kept.take(), left]),
        (None, left) => {
            new.insert(KEPT.to_owned(), left);
        }
    }
}

/// A record that is known only as the step has it.
pub(super) fn of_phase(phase: &PhaseRecord, schema: &Schema) -> Json {
    let mut entry = Map::new();
    entry.insert("phase_index".to_owned(), Json::from(phase.index));
    entry.insert("phase_name".to_owned(), Json::from(phase.name.as_str()));
    entry.insert("status".to_owned(), Json::from(phase.status.word_in(schema)));
    entry.extend(phase.fields().map(|(name, value)| (name.to_owned(), value)));
    entry.retain(|_, value| !value.as_array().is_some_and(Vec::is_empty));
    record(entry, phase.index, schema)
}
