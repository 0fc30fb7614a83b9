//! Keeps what the journal could not take, when the store vanished or was replaced while a run was at work.

use std::fs::DirBuilder;
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::path::PathBuf;

use seriatim_engine::drive::Unrecorded;

use crate::error::CommandError;
use crate::workspace::now;

/// What helps once the store is gone.
pub(crate) const WHAT_TO_DO: &str = "put the store back as it was, then `seriatim verify` and `seriatim resume`; no agent of this run is at work";
/// As many files of one second are kept.
const TRIES_MAX: u32 = 1000;

/// Writes the entries aside and says what happened.
pub(crate) fn keep(store: &Path, unrecorded: &[Unrecorded]) -> CommandError {
    let what = format!(
        "the store {} was removed or replaced while this run was at work; the run was stopped",
        store.display()
    );
    if unrecorded.is_empty() {
        return CommandError::not_good(format!("{what}, and all it did before is in that store"))
            .hint(WHAT_TO_DO);
    }
    let count = unrecorded.len();
    match write(unrecorded) {
        Ok(path) => {
            let kept = format!("{what}. Entries that it could not record ({count}): {}", path.display());
            CommandError::not_good(kept).hint(WHAT_TO_DO)
        }
        Err(error) => {
            CommandError::not_good(format!("{what}, and {count} entries could not be kept anywhere: {error}"))
                .hint(WHAT_TO_DO)
        }
    }
}

/// The folder for state of this user that belongs to no repository.
fn folder() -> std::io::Result<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = set("XDG_STATE_HOME").or_else(|| Some(set("HOME")?.join(".local/state")));
    let state =
        state.ok_or_else(|| std::io::Error::other("neither XDG_STATE_HOME nor HOME names a folder"))?;
    Ok(state.join("seriatim"))
}

fn write(unrecorded: &[Unrecorded]) -> std::io::Result<PathBuf> {
    let folder = folder()?;
    DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    let time = now().compact();
    for n in 0..TRIES_MAX {
        let path = folder.join(format!("unrecorded-{time}-{n}.jsonl"));
        let mut file = match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
        };
        for entry in unrecorded {
            serde_json::to_writer(&mut file, entry)?;
            file.write_all(b"\n")?;
        }
        file.sync_all()?;
        return Ok(path);
    }
    Err(std::io::Error::from(ErrorKind::AlreadyExists))
}
