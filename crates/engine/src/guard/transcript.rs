//! Transcripts: read from where the last reading ended, and never as a whole.

use std::path::Path;
use std::path::PathBuf;

use seriatim_core::guard::event::Event;
use seriatim_core::guard::transcript::Meta;
use seriatim_core::guard::transcript::Scan;

use super::project::Project;
use super::step::Counted;
use super::step::OpenStep;
use crate::hands::files::Files;
use crate::hands::files::Links;
use crate::hands::files::exists;

/// How much is read at once.
const PIECE_BYTES: u64 = 1 << 20;
/// A line that is longer is not waited for.
const LINE_BYTES_MAX: usize = 64 << 20;
/// How much of what is new one hook reads: a transcript that is a hundred times longer must not hold a session up.
const NEW_BYTES_MAX: u64 = 8 << 20;
/// The first prompt stands near the top.
const HEAD_BYTES_MAX: u64 = 32 << 20;

/// The first prompt of a transcript.
pub(super) fn first_prompt(project: &Project, path: &str) -> Option<String> {
    let mut scan = Scan::default();
    feed(project.files.as_ref(), Path::new(path), &mut scan, HEAD_BYTES_MAX, |scan| scan.prompt.is_some());
    scan.prompt
}

/// The transcript of the sub-agent in which an event happened, where the client keeps it beside the main one.
pub(super) fn beside(project: &Project, event: &Event) -> Option<String> {
    of_agent(project, event, event.agent_id.as_deref()?)
}

pub(super) fn of_agent(project: &Project, event: &Event, agent: &str) -> Option<String> {
    let path = folder(event)?.join(format!("agent-{}.jsonl", named(agent)?));
    exists(project.files.as_ref(), &path).then(|| path.to_str().map(str::to_owned)).flatten()
}

/// The call from which the sub-agent came in which an event happened.
pub(super) fn call_of(project: &Project, event: &Event) -> Option<String> {
    let agent = named(event.agent_id.as_deref()?)?;
    let path = folder(event)?.join(format!("agent-{agent}.meta.json"));
    let bytes = project.hint(&path)?;
    Meta::parse(&bytes)?.tool_use_id
}

fn folder(event: &Event) -> Option<PathBuf> {
    Some(Path::new(event.transcript_path.as_deref()?).with_extension("").join("subagents"))
}

/// An id that is fit to be part of a file's name.
fn named(agent: &str) -> Option<&str> {
    (safe(agent) == agent).then_some(agent)
}

/// Goes on reading where the last reading ended, as far as a hook has time for; the next one goes on from there. What
/// cannot be read tells nothing.
pub(super) fn go_on(files: &dyn Files, path: &Path, scan: &mut Scan) {
    feed(files, path, scan, NEW_BYTES_MAX, |_| false);
}

/// The last part of a transcript, as far as a hook has time for it. Its first line may be torn.
pub(super) fn tail(files: &dyn Files, path: &Path) -> String {
    let length = files.stamp(path, Links::Follow).ok().flatten().map_or(0, |found| found.size_bytes);
    // What cannot be read tells nothing.
    let bytes =
        files.read_from(path, length.saturating_sub(NEW_BYTES_MAX), NEW_BYTES_MAX).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn feed(files: &dyn Files, path: &Path, scan: &mut Scan, bytes_max: u64, done: impl Fn(&Scan) -> bool) {
    let mut place = scan.offset;
    let mut buffer: Vec<u8> = vec![];
    let mut read_bytes = 0_u64;
    while read_bytes < bytes_max && !done(scan) {
        let piece = match files.read_from(path, place, PIECE_BYTES) {
            Ok(piece) if !piece.is_empty() => piece,
            Ok(_) | Err(_) => break,
        };
        place += piece.len() as u64;
        read_bytes += piece.len() as u64;
        buffer.extend(piece);
        let used = scan.feed(&buffer);
        buffer.drain(..used);
        if used == 0 && buffer.len() > LINE_BYTES_MAX {
            break;
        }
    }
    if !buffer.is_empty() && !done(scan) {
        let offset = scan.offset;
        *scan = scan.ended(&buffer);
        scan.offset = offset;
    }
}

/// Adds what an agent's transcript says about its cost to its step.
pub(super) fn count(project: &Project, step: &mut OpenStep, path: Option<&str>) {
    let (Some(path), Some(agent)) = (path, step.agent_id.clone()) else { return };
    let place = project.guard_dir().join("scans").join(safe(&agent));
    let known = project.hint(&place).and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let mut scan: Scan = known.unwrap_or_default();
    go_on(project.files.as_ref(), Path::new(path), &mut scan);
    let counted = step.counted.entry(agent).or_default();
    step.usage = step.usage.plus(scan.usage.minus(counted.usage));
    step.turns += scan.turns.saturating_sub(counted.turns);
    *counted = Counted { usage: scan.usage, turns: scan.turns };
    scan.prompt = None;
    // Only a help for the next reading: without it the transcript is read from its beginning.
    remember(project, &place, &scan);
}

/// Remembers how far a transcript was read.
pub(super) fn remember(project: &Project, place: &Path, scan: &Scan) {
    if let Ok(bytes) = serde_json::to_vec(scan) {
        project.leave_hint(place, &bytes);
    }
}

/// An id as the name of a file.
pub(super) fn safe(id: &str) -> String {
    id.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).take(100).collect()
}
