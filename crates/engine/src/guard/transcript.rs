//! Transcripts: read from where the last reading ended, and never as a whole.

use std::fs::File;
use std::io::Read;
use std::io::Seek;
use std::io::SeekFrom;
use std::path::Path;
use std::path::PathBuf;

use seriatim_core::guard::event::Event;
use seriatim_core::guard::transcript::Meta;
use seriatim_core::guard::transcript::Scan;

use super::project::Project;
use super::step::OpenStep;

/// How much is read at once.
const PIECE_BYTES: usize = 1 << 20;
/// How much of what is new one hook reads: a transcript that is a hundred times longer must not hold a session up.
const NEW_BYTES_MAX: u64 = 8 << 20;
/// The first prompt stands near the top.
const HEAD_BYTES_MAX: u64 = 32 << 20;

/// The first prompt of a transcript.
pub(super) fn first_prompt(path: &str) -> Option<String> {
    let mut scan = Scan::default();
    feed(Path::new(path), &mut scan, HEAD_BYTES_MAX, |scan| scan.prompt.is_some());
    scan.prompt
}

/// The transcript of the sub-agent in which an event happened, where the client keeps it beside the main one.
pub(super) fn beside(event: &Event) -> Option<String> {
    of_agent(event, event.agent_id.as_deref()?)
}

pub(super) fn of_agent(event: &Event, agent: &str) -> Option<String> {
    let path = folder(event)?.join(format!("agent-{}.jsonl", named(agent)?));
    path.is_file().then(|| path.to_str().map(str::to_owned)).flatten()
}

/// The call from which the sub-agent came in which an event happened.
pub(super) fn call_of(event: &Event) -> Option<String> {
    let agent = named(event.agent_id.as_deref()?)?;
    let bytes = std::fs::read(folder(event)?.join(format!("agent-{agent}.meta.json"))).ok()?;
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
pub(super) fn go_on(path: &Path, scan: &mut Scan) {
    feed(path, scan, NEW_BYTES_MAX, |_| false);
}

/// The last part of a transcript, as far as a hook has time for it. Its first line may be torn.
pub(super) fn tail(path: &Path) -> String {
    let mut bytes = vec![];
    if let Ok(mut file) = File::open(path) {
        let length = file.metadata().map_or(0, |found| found.len());
        let read = file
            .seek(SeekFrom::Start(length.saturating_sub(NEW_BYTES_MAX)))
            .and_then(|_| file.take(NEW_BYTES_MAX).read_to_end(&mut bytes));
        // What cannot be read tells nothing.
        let _ = read;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn feed(path: &Path, scan: &mut Scan, bytes_max: u64, done: impl Fn(&Scan) -> bool) {
    let Ok(mut file) = File::open(path) else { return };
    if file.seek(SeekFrom::Start(scan.offset)).is_err() {
        return;
    }
    let mut buffer: Vec<u8> = vec![];
    let mut read_bytes = 0_u64;
    while read_bytes < bytes_max && !done(scan) {
        let before = buffer.len();
        match file.by_ref().take(PIECE_BYTES as u64).read_to_end(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(read) => read_bytes += read as u64,
        }
        let used = scan.feed(&buffer);
        buffer.drain(..used);
        if buffer.len() > before + 2 * PIECE_BYTES && used == 0 && buffer.len() > 64 * PIECE_BYTES {
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
    let mut scan: Scan =
        std::fs::read(&place).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    let (usage, turns) = (scan.usage, scan.turns);
    go_on(Path::new(path), &mut scan);
    step.usage = step.usage.plus(scan.usage.minus(usage));
    step.turns += scan.turns.saturating_sub(turns);
    scan.prompt = None;
    // Only a help for the next reading: without it the transcript is read from its beginning.
    let _ = std::fs::create_dir_all(project.guard_dir().join("scans"));
    let _ = std::fs::write(place, serde_json::to_vec(&scan).unwrap_or_default());
}

/// An id as the name of a file.
pub(super) fn safe(id: &str) -> String {
    id.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).take(100).collect()
}
