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
    transcript::go_on(Path::new(path), &mut scan);
    scan.prompt = None;
    remember(project, session, &scan);
    let mut found: Vec<String> = scan
        .agents
        .iter()
        .filter(|(id, named)| !seen.has(id) && named.tool_use_id.as_ref().is_none_or(|call| !seen.has(call)))
        .map(|(id, _)| id.clone())
        .collect();
    found.extend(
        beside(Path::new(path))
            .into_iter()
            .filter(|(id, call)| !seen.has(id) && call.as_ref().is_none_or(|call| !seen.has(call)))
            .map(|(id, _)| id),
    );
    found.sort();
    found.dedup();
    Ok(found)
}

/// Whether the transcript says that a call was refused, by a person or by another hook, so that it began nothing.
pub(super) fn was_refused(transcript: Option<&str>, call: Option<&str>) -> bool {
    let (Some(path), Some(call)) = (transcript, call) else { return false };
    let refuses = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
        let parts = line["message"]["content"].as_array().cloned().unwrap_or_default();
        parts.iter().any(|part| part["tool_use_id"] == call && part["is_error"] == true)
    };
    transcript::tail(Path::new(path)).lines().any(|line| line.contains(call) && refuses(line))
}

/// The sub-agents whose files lie beside a transcript, with the calls they came from.
fn beside(transcript: &Path) -> Vec<(String, Option<String>)> {
    let folder = transcript.with_extension("").join("subagents");
    let Ok(entries) = std::fs::read_dir(folder) else { return vec![] };
    entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let id = Meta::agent_of(&name).filter(|_| name.ends_with(".meta.json"))?.to_owned();
            let meta = std::fs::read(entry.path()).ok().and_then(|bytes| Meta::parse(&bytes));
            Some((id, meta.and_then(|meta| meta.tool_use_id)))
        })
        .collect()
}

fn place(project: &Project, session: Option<&str>) -> PathBuf {
    project.guard_dir().join("scans").join(format!("main-{}", transcript::safe(session.unwrap_or("none"))))
}

fn remembered(project: &Project, session: Option<&str>) -> Scan {
    let bytes = std::fs::read(place(project, session)).ok();
    bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

fn remember(project: &Project, session: Option<&str>, scan: &Scan) {
    // Only a help for the next reading.
    let _ = std::fs::create_dir_all(project.guard_dir().join("scans"));
    let _ = std::fs::write(place(project, session), serde_json::to_vec(scan).unwrap_or_default());
}
