//! Holders: processes that hold leases, and whether they still live.
//!
//! Each holder has one file under `holders/` and keeps it locked for as long as it lives. The kernel releases
//! the lock when the process ends, however it ends, so that death is noticed at once and never guessed from time.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::fs;
use std::fs::File;
use std::fs::OpenOptions;
use std::hash::BuildHasher;
use std::hash::Hasher;
use std::io;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::path::PathBuf;

use rustix::fs::FlockOperation;
use serde::Deserialize;
use serde::Serialize;
use seriatim_core::time::Utc;

use crate::error::At;
use crate::error::Error;
use crate::lock::flock;
use crate::private;
use crate::store::Store;

/// Who holds a lease, in terms that a person can act on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HolderInfo {
    /// The name of its file under `holders/`.
    pub file: String,
    pub pid: u32,
    /// When the process started, in the kernel's own count; zero where that is not known.
    pub process_start: u64,
    pub host: String,
    pub command: String,
    pub since: Utc,
}

impl fmt::Display for HolderInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let HolderInfo { pid, command, host, since, .. } = self;
        write!(f, "process {pid} (`{command}`) on {host} since {}", since.seconds())
    }
}

/// This process as a holder of leases. Its leases are free for others once it is dropped.
#[derive(Debug)]
pub struct Holder {
    info: HolderInfo,
    path: PathBuf,
    /// Open and locked for as long as this lives.
    _file: File,
}

impl Holder {
    /// Makes this process known beside the store. `command` is what people see; secrets are taken out of it.
    pub fn register(store: &Store, command: &str, since: Utc) -> Result<Holder, Error> {
        let dir = holders_dir(store.dir());
        private::make_folder(&dir)?;
        sweep(&dir);
        let pid = std::process::id();
        // Random, so that a name is never used twice: pids are, also between containers.
        let nonce = RandomState::new().build_hasher().finish();
        let info = HolderInfo {
            file: format!("{pid}-{nonce:016x}.lock"),
            pid,
            process_start: process_start().unwrap_or(0),
            host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            command: store.door().clean_text(command),
            since,
        };
        // Locked before it gets its name: whoever sees the name finds it locked.
        let unnamed = dir.join(format!(".{}.new", info.file));
        let path = dir.join(&info.file);
        let mut file =
            OpenOptions::new().create_new(true).write(true).mode(0o600).open(&unnamed).at(&unnamed)?;
        let named = flock(&file, FlockOperation::NonBlockingLockExclusive)
            .map_err(io::Error::from)
            .and_then(|()| file.write_all(serde_json::to_string(&info)?.as_bytes()))
            .and_then(|()| fs::rename(&unnamed, &path));
        if named.is_err() {
            // The failure itself is what the caller hears of.
            let _ = fs::remove_file(&unnamed);
        }
        named.at(&path)?;
        Ok(Holder { info, path, _file: file })
    }

    pub fn info(&self) -> &HolderInfo {
        &self.info
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // A file that stays behind is unlocked, and swept by the next holder.
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether the holder still lives. In doubt it does: taking over from a living one would be worse.
pub(crate) fn is_alive(store_dir: &Path, info: &HolderInfo) -> bool {
    if info.file.contains('/') {
        return false;
    }
    let path = holders_dir(store_dir).join(&info.file);
    if private::check_file_to_read(&path).is_err() {
        return true;
    }
    match File::open(path) {
        Ok(file) => is_locked(&file),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// Whether any holder of the store lives.
pub(crate) fn is_any_alive(store_dir: &Path) -> bool {
    let Ok(files) = fs::read_dir(holders_dir(store_dir)) else { return false };
    files.flatten().any(|file| File::open(file.path()).is_ok_and(|file| is_locked(&file)))
}

/// A shared lock is asked for, so that two who look at the same time do not take each other for the holder.
fn is_locked(file: &File) -> bool {
    flock(file, FlockOperation::NonBlockingLockShared).is_err()
}

/// Removes the files of the dead. Best effort: they do no harm.
fn sweep(dir: &Path) {
    let Ok(files) = fs::read_dir(dir) else { return };
    for path in files.flatten().map(|file| file.path()) {
        if path.extension().is_none_or(|extension| extension != "lock") {
            continue;
        }
        if File::open(&path).is_ok_and(|file| !is_locked(&file)) {
            let _ = fs::remove_file(&path);
        }
    }
}

fn holders_dir(store_dir: &Path) -> PathBuf {
    store_dir.join("holders")
}

/// Field 22 of `/proc/self/stat`, counted after the command, which may itself hold blanks and brackets.
fn process_start() -> Option<u64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(19)?.parse().ok()
}
