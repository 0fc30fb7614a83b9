//! Reconciliation: sub-agents that a transcript names and no hook has seen.

use std::path::Path;
use std::path::PathBuf;

use seriatim_core::guard::event::Event;
use seriatim_core::guard::transcript::Meta;
use seriatim_core::guard::transcript::Scan;
use seriatim_core::roadmap::verdict::Objection;

use super::GuardError;
use super::project::Project;
use super::sightings::Sightings;
use super::step::OpenStep;
use super::transcript;
use crate::hands::files::Files;

/// The objections to sub-agents of an event's session that no hook has seen.
pub(super) fn unseen(project: &Project, event: &Event) -> Result<Vec<Objection>, GuardError> {
    let Some(path) = event.transcript_path.as_deref() else { return Ok(vec![]) };
    Ok(objections(unseen_in(project, event.session_id.as_deref(), path)?))
}

/// The objections to sub-agents of a step's session that no hook has seen.
pub(super) fn unseen_beside(project: &Project, step: &OpenStep) -> Result<Vec<Objection>, GuardError> {
    let Some(path) = step.transcript.as_deref() else { return Ok(vec![]) };
    Ok(objections(unseen_in(project, step.session.as_deref(), path)?))
}

fn objections(agents: Vec<String>) -> Vec<Objection> {
    agents.into_iter().map(|agent| Objection::Unseen { agent }).collect()
}

fn unseen_in(project: &Project, session: Option<&str>, path: &str) -> Result<Vec<String>, GuardError> {
    let seen = Sightings::read(project, session)?;
    let mut scan = remembered(project, session);
    transcript::go_on(project.files.as_ref(), Path::new(path), &mut scan);
    scan.prompt = None;
    transcript::remember(project, &place(project, session), &scan);
    let mut found: Vec<String> = scan
        .agents
        .iter()
        .filter(|(id, named)| !seen.has(id) && named.tool_use_id.as_ref().is_none_or(|call| !seen.has(call)))
        .map(|(id, _)| id.clone())
        .collect();
    found.extend(
        beside(project.files.as_ref(), Path::new(path))
            .into_iter()
            .filter(|(id, call)| !seen.has(id) && call.as_ref().is_none_or(|call| !seen.has(call)))
            .map(|(id, _)| id),
    );
    found.sort();
    found.dedup();
    Ok(found)
}

/// Whether the transcript says that a call was refused, by a person or by another hook, so that it began nothing.
pub(super) fn was_refused(project: &Project, transcript: Option<&str>, call: Option<&str>) -> bool {
    let (Some(path), Some(call)) = (transcript, call) else { return false };
    let refuses = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
        let parts = line["message"]["content"].as_array().cloned().unwrap_or_default();
        parts.iter().any(|part| part["tool_use_id"] == call && part["is_error"] == true)
    };
    let tail = transcript::tail(project.files.as_ref(), Path::new(path));
    tail.lines().any(|line| line.contains(call) && refuses(line))
}

/// The sub-agents whose files lie beside a transcript, with the calls they came from.
fn beside(files: &dyn Files, transcript: &Path) -> Vec<(String, Option<String>)> {
    let folder = transcript.with_extension("").join("subagents");
    let Ok(entries) = files.list(&folder) else { return vec![] };
    let found = entries.into_iter().filter_map(|(name, _)| {
        let id = Meta::agent_of(&name).filter(|_| name.ends_with(".meta.json"))?.to_owned();
        let meta =
            files.read_from(&folder.join(&name), 0, u64::MAX).ok().and_then(|bytes| Meta::parse(&bytes));
        Some((id, meta.and_then(|meta| meta.tool_use_id)))
    });
    found.collect()
}

fn place(project: &Project, session: Option<&str>) -> PathBuf {
    project.guard_dir().join("scans").join(format!("main-{}", transcript::safe(session.unwrap_or("none"))))
}

fn remembered(project: &Project, session: Option<&str>) -> Scan {
    let bytes = project.hint(&place(project, session));
    bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}
