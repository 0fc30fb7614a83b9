//! Ids in the form of the seeds (`EXEC-20260118-143052`): one second each, so the next free second is taken (K-85).
//!
//! An id is reserved by creating its file, which no other process can do again. Until the real content comes the
//! file holds a single comment with the call that reserved it, so that a call done again after a crash finds
//! its own ids and leaves no empty files behind.

use std::collections::BTreeSet;
use std::path::Path;

use seriatim_flows::request::FreshIds;

use crate::hands::files::Expect;
use crate::hands::files::FileError;
use crate::hands::files::Files;
use crate::hands::files::Write;
use crate::hands::paths::Workspace;
use crate::hands::paths::decode_name;
use crate::job::Job;
use crate::perform::Hands;

/// How far ahead of now a free second is looked for.
const SECONDS_MAX: u32 = 86_400;
const PLACEHOLDER_BYTES_MAX: u64 = 4096;

/// What a reserved file holds until its content comes.
pub(crate) fn placeholder(job_marker: &str) -> String {
    format!("# reserved by {job_marker}\n")
}

/// Whether these bytes are a reservation, and nothing else.
pub(crate) fn is_placeholder(bytes: &[u8]) -> bool {
    bytes.starts_with(b"# reserved by ") && bytes.iter().filter(|b| **b == b'\n').count() == 1
}

/// Reserves `wanted.count` ids.
pub(crate) fn reserve(hands: &Hands, job: &Job, wanted: &FreshIds) -> Result<Vec<String>, FileError> {
    let mark = placeholder(&job.marker());
    let mut at = job.at;
    let mut ids: Vec<String> = Vec::new();
    for _ in 0..SECONDS_MAX {
        if ids.len() >= wanted.count as usize {
            break;
        }
        let id = format!("{}-{}", wanted.prefix, at.compact());
        let path = hands.resolve(format!("{}/{id}.{}", wanted.folder, wanted.extension))?;
        at = at.plus_ms(1000);
        match hands.files.write(&path, mark.as_bytes(), Write::REBUILDABLE.expecting(Expect::Absent)) {
            Ok(_) => ids.push(id),
            Err(FileError::Changed { .. }) => {
                let ours = hands.files.read(&path, PLACEHOLDER_BYTES_MAX);
                if ours.is_ok_and(|found| found.bytes == mark.as_bytes()) {
                    ids.push(id);
                }
            }
            Err(e) => return Err(e),
        }
    }
    Ok(ids)
}

/// Gives back what these calls reserved and nothing came of, because the run was cancelled in between. A call goes by
/// the marker of its job.
pub(crate) fn release(
    files: &dyn Files,
    workspace: &Workspace,
    calls: &[(String, FreshIds)],
) -> Result<(), FileError> {
    let marks: BTreeSet<String> = calls.iter().map(|(marker, _)| placeholder(marker)).collect();
    let folders: BTreeSet<&str> = calls.iter().map(|(_, wanted)| wanted.folder.as_str()).collect();
    for folder in folders {
        let folder = workspace.resolve_in(files, Path::new(folder))?;
        if files.look(&folder)?.is_none() {
            continue;
        }
        for (name, entry) in files.list(&folder)? {
            let Some(name) = decode_name(&name).filter(|_| entry.size_bytes <= PLACEHOLDER_BYTES_MAX) else {
                continue;
            };
            let path = folder.join(name);
            let found = files.read(&path, PLACEHOLDER_BYTES_MAX);
            if found.is_ok_and(|found| marks.iter().any(|mark| found.bytes == mark.as_bytes())) {
                files.remove(&path)?;
            }
        }
    }
    Ok(())
}
