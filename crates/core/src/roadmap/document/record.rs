//! The records of phases, in the forms in which files carry them.

use serde_json::Value as Json;

use super::below;
use super::edit::AtPath;
use super::edit::Draft;
use crate::doc::Node;
use crate::doc::Value;
use crate::doc::edit::EditError;
use crate::finding::Finding;
use crate::roadmap::phases::Schema;
use crate::roadmap::state::Outcome;
use crate::roadmap::state::PhaseRecord;
use crate::roadmap::state::PhaseStatus;
use crate::roadmap::state::TestResults;
use crate::roadmap::verdict;

/// What a record without a name is called (DS-39).
const UNKNOWN: &str = "UNKNOWN";

/// Names that one and the same field has in files, the preferred one first.
const ALIASES: [(&str, &[&str]); 12] = [
    ("phase_name", &["phase_name", "name", "phase"]),
    ("status", &["status"]),
    ("started_at", &["started_at", "timestamp"]),
    ("ended_at", &["ended_at", "completed_at"]),
    ("duration_minutes", &["duration_minutes"]),
    ("turn_count", &["turn_count"]),
    ("outcome", &["outcome", "result"]),
    ("outcome_details", &["outcome_details"]),
    ("artifacts_created", &["artifacts_created", "artifacts"]),
    ("test_results", &["test_results"]),
    ("notes", &["notes"]),
    ("blocked_by", &["blocked_by", "skip_reason"]),
];

/// A field without aliases has its own name alone.
fn aliases(field: &'static str) -> impl Iterator<Item = &'static str> {
    let names = ALIASES.iter().find(|(name, _)| *name == field).map(|(_, names)| *names);
    let own = [field].into_iter().filter(move |_| names.is_none());
    names.unwrap_or_default().iter().copied().chain(own)
}

fn get<'n>(node: &'n Node, field: &'static str) -> Option<&'n Node> {
    aliases(field).find_map(|name| node.get(name)).filter(|node| !node.is_null())
}

/// Texts are texts; what somebody wrote as a list or mapping is kept as its JSON.
fn text(node: &Node, field: &'static str) -> Option<String> {
    let value = get(node, field)?;
    value.scalar_text().or_else(|| Some(value.to_json().to_string())).filter(|text| !text.trim().is_empty())
}

/// A record, and where it stands.
pub(super) struct Located {
    pub(super) record: PhaseRecord,
    pub(super) path: Vec<String>,
    /// The status as it is written.
    raw: Option<String>,
}

/// The records of a list (or mapping) of phases, one for each name. A phase that is there twice counts as its last
/// entry says.
pub(super) fn records(container: &Node, path: &[String]) -> Vec<Located> {
    let mut found: Vec<Located> = vec![];
    for located in all(container, path) {
        match found.iter_mut().find(|known| known.record.name == located.record.name) {
            Some(known) => {
                *known =
                    Located { record: PhaseRecord { index: known.record.index, ..located.record }, ..located }
            }
            None => {
                let index = found.len();
                found.push(Located { record: PhaseRecord { index, ..located.record }, ..located });
            }
        }
    }
    found
}

/// The entries of a list or mapping of phases, as they are.
pub(super) fn all(container: &Node, path: &[String]) -> Vec<Located> {
    match &container.value {
        Value::Seq(items) => items
            .iter()
            .enumerate()
            .map(|(i, node)| located(node, None, below(path, &i.to_string())))
            .collect(),
        Value::Map(entries) => {
            entries.iter().map(|(key, node)| located(node, Some(&key.text), below(path, &key.text))).collect()
        }
        _ => vec![],
    }
}

/// The names of the entries alone.
pub(super) fn names(container: &Node) -> Vec<String> {
    match &container.value {
        Value::Seq(items) => {
            items.iter().map(|node| node.as_str().map_or_else(|| named(node, None), str::to_owned)).collect()
        }
        Value::Map(entries) => entries.iter().map(|(key, node)| named(node, Some(&key.text))).collect(),
        _ => vec![],
    }
}

/// The name that a record gives itself, else the one under which it stands.
fn named(node: &Node, name: Option<&str>) -> String {
    text(node, "phase_name").or_else(|| name.map(str::to_owned)).unwrap_or_else(|| UNKNOWN.to_owned())
}

fn located(node: &Node, name: Option<&str>, path: Vec<String>) -> Located {
    let record = match (&node.value, name) {
        // The bare name of a phase in a list; the bare status under its name in a mapping.
        (Value::Str(word), None) => PhaseRecord::new(word, 0),
        (Value::Str(word), Some(name)) => {
            PhaseRecord { status: PhaseStatus::read(Some(word), None, None), ..PhaseRecord::new(name, 0) }
        }
        _ => record(node, name),
    };
    let raw = match name {
        Some(_) if node.as_str().is_some() => node.scalar_text(),
        _ => get(node, "status").and_then(Node::scalar_text),
    };
    Located { record: PhaseRecord { place: Some(node.place), ..record }, path, raw }
}

fn record(node: &Node, name: Option<&str>) -> PhaseRecord {
    let outcome = text(node, "outcome").as_deref().and_then(Outcome::read);
    let blocked_by = text(node, "blocked_by");
    let status = text(node, "status");
    let name = named(node, name);
    let count = |node: Option<&Node>| node.and_then(Node::as_int).and_then(|n| u64::try_from(n).ok());
    let list = |field| match get(node, field) {
        Some(list) => {
            list.as_seq().unwrap_or(std::slice::from_ref(list)).iter().filter_map(Node::scalar_text).collect()
        }
        None => vec![],
    };
    PhaseRecord {
        status: PhaseStatus::read(status.as_deref(), outcome.as_ref(), blocked_by.as_deref()),
        started_at: text(node, "started_at"),
        ended_at: text(node, "ended_at"),
        duration_minutes: text(node, "duration_minutes").and_then(|minutes| minutes.parse().ok()),
        turn_count: count(get(node, "turn_count")),
        outcome,
        outcome_details: text(node, "outcome_details"),
        artifacts_created: list("artifacts_created"),
        test_results: get(node, "test_results").and_then(|results| {
            let field = |name| count(results.get(name));
            Some(TestResults { total: field("total")?, passed: field("passed")?, failed: field("failed")? })
        }),
        notes: text(node, "notes"),
        blocked_by,
        history: node
            .get("history")
            .and_then(Node::as_seq)
            .unwrap_or_default()
            .iter()
            .map(Node::to_json)
            .collect(),
        ..PhaseRecord::new(&name, 0)
    }
}

/// What is wrong with the records by themselves, whatever becomes of the step.
pub(super) fn findings(container: &Node, schema: &Schema) -> Vec<Finding> {
    let mut findings = vec![];
    let mut names: Vec<String> = vec![];
    for Located { record, raw, .. } in all(container, &[]) {
        let Some(place) = record.place else { continue };
        if record.name == UNKNOWN {
            findings.push(Finding::error("missing-field", place, "a phase needs the field `phase_name`"));
        } else if names.contains(&record.name) {
            let message = format!("the phase {} is there more than once; the last entry counts", record.name);
            findings.push(Finding::warning("duplicate-phase", place, message));
        } else if schema.phase(&record.name).is_none() {
            let message = format!("`{}` is not a phase of schema {}", record.name, schema.version);
            findings.push(Finding::warning("unknown-phase", place, message));
        }
        names.push(record.name.clone());
        findings.extend(raw.and_then(|raw| odd_word(&raw, &record, schema)));
        findings.extend(verdict::record_findings(&record, schema));
    }
    findings
}

/// A word that is understood, but is not how this generation writes it.
fn odd_word(raw: &str, record: &PhaseRecord, schema: &Schema) -> Option<Finding> {
    let usual = ["NOT_EXECUTED", "IN_PROGRESS", "EXECUTED", "COMPLETED", "SKIPPED", "FAILED"];
    let place = record.place?;
    if usual.contains(&raw) || matches!(record.status, PhaseStatus::Unknown(_)) {
        return None;
    }
    let word = record.status.word_in(schema);
    Some(
        Finding::warning("unknown-value", place, format!("`{raw}` is read as `{word}`"))
            .help(format!("write `{word}`")),
    )
}

/// The words in which a file writes statuses.
struct Words<'s> {
    schema: &'s Schema,
    /// The file's own word for a finished phase.
    done: String,
    lower: bool,
}

impl<'s> Words<'s> {
    fn of(located: &[Located], schema: &'s Schema) -> Words<'s> {
        let done =
            located.iter().filter(|l| l.record.status == PhaseStatus::Done).find_map(|l| l.raw.clone());
        let any = located.iter().find_map(|l| l.raw.clone());
        let lower = any.is_some_and(|word| word.chars().any(|c| c.is_ascii_lowercase()));
        Words { schema, done: done.unwrap_or_else(|| schema.done.clone()), lower }
    }

    fn status(&self, status: &PhaseStatus) -> String {
        let same = self.schema.failed == self.schema.done;
        let word = match status {
            PhaseStatus::Done => self.done.as_str(),
            PhaseStatus::Failed if same => self.done.as_str(),
            other => other.word_in(self.schema),
        };
        if self.lower { word.to_ascii_lowercase() } else { word.to_owned() }
    }
}

/// How new records of a file are made.
pub(super) struct Form {
    /// Whether the end of a phase is called `completed_at`.
    pub(super) completed_at: bool,
}

impl Form {
    /// The name of a field in an entry: one of its aliases that is there, else the usual one.
    fn name(&self, entry: Option<&Node>, field: &'static str) -> &'static str {
        let there = aliases(field).find(|name| entry.is_some_and(|entry| entry.get(name).is_some()));
        match (there, field) {
            (Some(name), _) => name,
            (None, "ended_at") if self.completed_at => "completed_at",
            (None, field) => field,
        }
    }

    /// A whole record, as an entry of a list.
    fn entry(&self, record: &PhaseRecord, words: &Words<'_>) -> Json {
        let mut entry = serde_json::Map::new();
        entry.insert("phase_name".to_owned(), Json::from(record.name.as_str()));
        entry.insert("phase_index".to_owned(), Json::from(record.index));
        entry.insert("status".to_owned(), Json::from(words.status(&record.status)));
        for (field, value) in record.fields() {
            entry.insert(self.name(None, field).to_owned(), value);
        }
        Json::Object(entry)
    }
}

/// Writes the records that differ. Where the file has no list at `path` yet, it gets one.
pub(super) fn write(
    draft: &mut Draft,
    path: &[String],
    after: &[PhaseRecord],
    schema: &Schema,
    form: &Form,
) -> Result<(), EditError> {
    let keys: Vec<&str> = path.iter().map(String::as_str).collect();
    let root = draft.tree();
    let container = root.as_ref().and_then(|root| root.at_path(&keys)).filter(|node| !node.is_null());
    let located = container.map(|container| records(container, path)).unwrap_or_default();
    let words = Words::of(&located, schema);
    if located.is_empty() {
        if after.is_empty() {
            return Ok(());
        }
        let whole: Vec<Json> = after.iter().map(|record| form.entry(record, &words)).collect();
        return draft.set(path, &Json::from(whole));
    }
    for record in after {
        match located.iter().find(|known| known.record.name == record.name) {
            Some(known) => amend(draft, known, record, &words, form)?,
            None => draft.append(path, &form.entry(record, &words))?,
        }
    }
    Ok(())
}

/// Sets the fields of one record that differ.
fn amend(
    draft: &mut Draft,
    known: &Located,
    after: &PhaseRecord,
    words: &Words<'_>,
    form: &Form,
) -> Result<(), EditError> {
    let before = &known.record;
    if before.status == after.status && before.fields() == after.fields() {
        return Ok(());
    }
    let keys: Vec<&str> = known.path.iter().map(String::as_str).collect();
    let root = draft.tree();
    let entry = root.as_ref().and_then(|root| root.at_path(&keys));
    if entry.is_none_or(|entry| entry.as_map().is_none()) {
        // A bare name or status becomes a whole record.
        return draft.set(&known.path, &form.entry(after, words));
    }
    if before.status != after.status {
        draft.set(&below(&known.path, "status"), &Json::from(words.status(&after.status)))?;
    }
    for ((field, old), (_, new)) in before.fields().into_iter().zip(after.fields()) {
        if old == new {
            continue;
        }
        let path = below(&known.path, form.name(entry, field));
        let added = new.as_array().zip(old.as_array()).filter(|(new, old)| new.starts_with(old));
        match added {
            // What is kept of a list stays as it was written.
            Some((new, old)) => {
                for value in new.iter().skip(old.len()) {
                    draft.append(&path, value)?;
                }
            }
            None => draft.set(&path, &new)?,
        }
    }
    Ok(())
}
