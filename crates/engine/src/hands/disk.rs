//! The real files.

use std::fs;
use std::fs::File;
use std::fs::OpenOptions;
use std::fs::Permissions;
use std::io;
use std::io::ErrorKind;
use std::io::Read;
use std::io::Seek;
use std::io::SeekFrom;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;

use rustix::fs::CWD;
use rustix::fs::OFlags;
use rustix::fs::RenameFlags;
use rustix::fs::renameat_with;
use rustix::fs::syncfs;
use rustix::io::Errno;
use seriatim_core::hash::Hash;
use sha2::Digest;
use sha2::Sha256;

use crate::hands::alive::Process;
use crate::hands::files::Entry;
use crate::hands::files::Expect;
use crate::hands::files::FileBytes;
use crate::hands::files::FileError;
use crate::hands::files::Files;
use crate::hands::files::Kind;
use crate::hands::files::Links;
use crate::hands::files::Lock;
use crate::hands::files::MERGE_PREFIX;
use crate::hands::files::Stamp;
use crate::hands::files::TEMPORARY_PREFIX;
use crate::hands::files::Write;
use crate::hands::paths::encode_name;

const COPY_BYTES: usize = 64 << 10;
const PERMISSION_BITS: u32 = 0o7777;

/// The files of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path, limit_bytes: u64) -> Result<FileBytes, FileError> {
        let (file, size_bytes) = open(path)?;
        let too_large = |size_bytes| FileError::TooLarge { path: path.to_owned(), size_bytes, limit_bytes };
        if size_bytes > limit_bytes {
            return Err(too_large(size_bytes));
        }
        let mut bytes = Vec::new();
        // The file may grow while it is read.
        let mut limited = file.take(limit_bytes.saturating_add(1));
        limited.read_to_end(&mut bytes).map_err(|error| FileError::of(path, &error))?;
        if bytes.len() as u64 > limit_bytes {
            return Err(too_large(bytes.len() as u64));
        }
        Ok(FileBytes::new(bytes))
    }

    fn read_from(&self, path: &Path, offset: u64, limit_bytes: u64) -> Result<Vec<u8>, FileError> {
        let of = |error| FileError::of(path, &error);
        let (mut file, size_bytes) = open(path)?;
        if offset > 0 {
            file.seek(SeekFrom::Start(offset)).map_err(of)?;
        }
        let expected = size_bytes.saturating_sub(offset).min(limit_bytes);
        let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or_default());
        file.take(limit_bytes).read_to_end(&mut bytes).map_err(of)?;
        Ok(bytes)
    }

    fn hash(&self, path: &Path) -> Result<Hash, FileError> {
        let (mut file, _) = open(path)?;
        copy_hashing(&mut file, &mut io::sink()).map_err(|error| FileError::of(path, &error))
    }

    fn write(&self, path: &Path, bytes: &[u8], how: Write) -> Result<Hash, FileError> {
        replace(path, how, |file| {
            file.write_all(bytes).map_err(|error| FileError::of(path, &error))?;
            Ok(Hash::of(bytes))
        })
    }

    fn copy_time(&self, from: &Path, to: &Path) -> Result<(), FileError> {
        let changed = fs::metadata(from).and_then(|found| found.modified());
        let changed = changed.map_err(|error| FileError::of(from, &error))?;
        let given = OpenOptions::new().write(true).open(to).and_then(|file| file.set_modified(changed));
        given.map_err(|error| FileError::of(to, &error))
    }

    fn copy(&self, from: &Path, to: &Path, how: Write) -> Result<Hash, FileError> {
        let (mut source, _) = open(from)?;
        replace(to, how, |file| copy_hashing(&mut source, file).map_err(|error| FileError::of(to, &error)))
    }

    fn append(&self, path: &Path, bytes: &[u8], durable: bool) -> Result<(), FileError> {
        let of = |error| FileError::of(path, &error);
        let is_new = self.look(path)?.is_none();
        let made = make_parents(path)?;
        let flags = nonblocking();
        let mut file =
            OpenOptions::new().append(true).create(true).custom_flags(flags).open(path).map_err(of)?;
        if !file.metadata().map_err(of)?.is_file() {
            return Err(FileError::Special { path: path.to_owned() });
        }
        file.write_all(bytes).map_err(of)?;
        if durable {
            file.sync_data().map_err(of)?;
            if is_new {
                sync_directories(path, &made)?;
            }
        }
        Ok(())
    }

    fn remove(&self, path: &Path) -> Result<(), FileError> {
        let removed = match self.look(path)? {
            None => Ok(()),
            Some(Entry { kind: Kind::Directory, .. }) => fs::remove_dir(path),
            Some(_) => fs::remove_file(path),
        };
        match removed {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(FileError::of(path, &error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn look(&self, path: &Path) -> Result<Option<Entry>, FileError> {
        let meta = match fs::symlink_metadata(path) {
            Ok(meta) => meta,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => return Err(FileError::of(path, &error)),
        };
        let kind = if meta.is_file() {
            Kind::File
        } else if meta.is_dir() {
            Kind::Directory
        } else if meta.is_symlink() {
            let target = fs::read_link(path).map_err(|error| FileError::of(path, &error))?;
            Kind::Symlink(encode_name(target.as_os_str()))
        } else {
            Kind::Special
        };
        Ok(Some(Entry { kind, mode: meta.permissions().mode() & PERMISSION_BITS, size_bytes: meta.len() }))
    }

    fn stamp(&self, path: &Path, links: Links) -> Result<Option<Stamp>, FileError> {
        let found = match links {
            Links::Follow => fs::metadata(path),
            Links::Keep => fs::symlink_metadata(path),
        };
        match found {
            Ok(found) => Ok(Some(stamp_of(&found))),
            Err(error) => match FileError::of(path, &error) {
                absent if absent.is_absence() => Ok(None),
                error => Err(error),
            },
        }
    }

    fn resolve(&self, path: &Path) -> Result<PathBuf, FileError> {
        fs::canonicalize(path).map_err(|error| FileError::of(path, &error))
    }

    fn list(&self, directory: &Path) -> Result<Vec<(String, Entry)>, FileError> {
        let of = |error| FileError::of(directory, &error);
        let mut found = Vec::new();
        for entry in fs::read_dir(directory).map_err(of)? {
            let entry = entry.map_err(of)?;
            // What has gone since the directory was read is not there.
            if let Some(seen) = self.look(&entry.path())? {
                found.push((encode_name(&entry.file_name()), seen));
            }
        }
        found.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(found)
    }

    fn make_directory(&self, path: &Path) -> Result<(), FileError> {
        match fs::create_dir_all(path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                Err(FileError::NotDirectory { path: path.to_owned() })
            }
            made => made.map_err(|error| FileError::of(path, &error)),
        }
    }

    fn link(&self, path: &Path, target: &Path) -> Result<(), FileError> {
        if let Some(Entry { kind: Kind::Directory, .. }) = self.look(path)? {
            return Err(FileError::IsDirectory { path: path.to_owned() });
        }
        make_parents(path)?;
        let temporary = Temporary::unused(path, |name| symlink(target, name))?;
        temporary.put_in_place(path, Expect::Any)
    }

    fn set_mode(&self, path: &Path, mode: u32) -> Result<(), FileError> {
        match self.look(path)? {
            None => Err(FileError::NotFound { path: path.to_owned() }),
            Some(Entry { kind: Kind::Symlink(_), .. }) => Ok(()),
            Some(_) => fs::set_permissions(path, Permissions::from_mode(mode & PERMISSION_BITS))
                .map_err(|error| FileError::of(path, &error)),
        }
    }

    fn sync(&self, directory: &Path) -> Result<(), FileError> {
        let opened = File::open(directory).map_err(|error| FileError::of(directory, &error))?;
        syncfs(opened).map_err(|error| FileError::of(directory, &error.into()))
    }

    fn lock(&self, path: &Path) -> Result<Lock, FileError> {
        let of = |error| FileError::of(path, &error);
        make_parents(path)?;
        let file = OpenOptions::new().append(true).create(true).open(path).map_err(of)?;
        file.lock().map_err(of)?;
        Ok(Lock::holding(file))
    }

    fn clear_temporary(&self, directory: &Path) -> Result<Vec<PathBuf>, FileError> {
        let mut cleared = Vec::new();
        for (name, entry) in self.list(directory)? {
            let is_ours =
                name.starts_with(TEMPORARY_PREFIX) && matches!(entry.kind, Kind::File | Kind::Symlink(_));
            if is_ours && !name.starts_with(MERGE_PREFIX) && !writer_lives(&name) {
                let path = directory.join(&name);
                self.remove(&path)?;
                cleared.push(path);
            }
        }
        if let Some(path) = cleared.first() {
            // A power cut must not bring them back when nobody looks for them any more.
            sync_directories(path, &[])?;
        }
        Ok(cleared)
    }
}

/// Opens a regular file and gives its size. Without the flag a pipe that somebody put there would block for ever.
fn open(path: &Path) -> Result<(File, u64), FileError> {
    let of = |error| FileError::of(path, &error);
    let file = OpenOptions::new().read(true).custom_flags(nonblocking()).open(path).map_err(of)?;
    let meta = file.metadata().map_err(of)?;
    if meta.is_dir() {
        Err(FileError::IsDirectory { path: path.to_owned() })
    } else if meta.is_file() {
        Ok((file, meta.len()))
    } else {
        Err(FileError::Special { path: path.to_owned() })
    }
}

fn stamp_of(found: &fs::Metadata) -> Stamp {
    let nanoseconds = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
    Stamp {
        size_bytes: found.size(),
        inode: found.ino(),
        modified_ns: nanoseconds(found.mtime(), found.mtime_nsec()),
        changed_ns: nanoseconds(found.ctime(), found.ctime_nsec()),
    }
}

fn nonblocking() -> i32 {
    // The flag is a small positive number on every platform.
    i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or(0)
}

fn copy_hashing(from: &mut impl Read, to: &mut impl io::Write) -> io::Result<Hash> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0u8; COPY_BYTES];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(Hash(hasher.finalize().into())),
            Ok(count) => {
                hasher.update(&buffer[..count]);
                to.write_all(&buffer[..count])?;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Writes beside the path and then takes its place.
fn replace(
    path: &Path,
    how: Write,
    fill: impl FnOnce(&mut File) -> Result<Hash, FileError>,
) -> Result<Hash, FileError> {
    let of = |error| FileError::of(path, &error);
    let mode = match Disk.look(path)? {
        Some(Entry { kind: Kind::Directory, .. }) => {
            return Err(FileError::IsDirectory { path: path.to_owned() });
        }
        Some(Entry { kind: Kind::File, mode, .. }) => how.mode.or(Some(mode)),
        Some(_) | None => how.mode,
    };
    let made = make_parents(path)?;
    let mut file = None;
    let temporary = Temporary::unused(path, |name| {
        // Never more readable than the file will be in the end, not even for a moment.
        let mode = mode.map_or(0o666, |mode| mode & 0o700);
        file = Some(OpenOptions::new().write(true).create_new(true).mode(mode).open(name)?);
        Ok(())
    })?;
    let Some(mut file) = file else { return Err(of(ErrorKind::NotFound.into())) };
    let hash = fill(&mut file)?;
    if let Some(mode) = mode {
        file.set_permissions(Permissions::from_mode(mode & PERMISSION_BITS)).map_err(of)?;
    }
    if how.durable {
        file.sync_all().map_err(of)?;
    }
    temporary.put_in_place(path, how.expect)?;
    if how.durable {
        sync_directories(path, &made)?;
    }
    Ok(hash)
}

fn parent(path: &Path) -> Result<&Path, FileError> {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Ok(Path::new(".")),
        Some(parent) => Ok(parent),
        None => Err(FileError::IsDirectory { path: path.to_owned() }),
    }
}

/// Makes the directories above the path and returns those that were missing.
fn make_parents(path: &Path) -> Result<Vec<PathBuf>, FileError> {
    let parent = parent(path)?;
    let missing: Vec<PathBuf> =
        parent.ancestors().take_while(|above| !above.exists()).map(Path::to_owned).collect();
    if !missing.is_empty() {
        Disk.make_directory(parent)?;
    }
    Ok(missing)
}

/// Makes the names durable: that of the file, and those of directories which were made for it.
fn sync_directories(path: &Path, made: &[PathBuf]) -> Result<(), FileError> {
    let made = made.iter().map(PathBuf::as_path);
    for named in std::iter::once(path).chain(made) {
        let directory = parent(named)?;
        let synced = File::open(directory).and_then(|directory| directory.sync_all());
        synced.map_err(|error| FileError::of(directory, &error))?;
    }
    Ok(())
}

/// A name beside the file to be written. What is there goes away unless it is put in place.
struct Temporary {
    name: PathBuf,
}

impl Temporary {
    /// Finds a name that nobody uses. It tells who writes, so that it can be cleared when the writer is dead.
    fn unused(path: &Path, create: impl FnMut(&Path) -> io::Result<()>) -> Result<Temporary, FileError> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        static STARTED: LazyLock<u64> =
            LazyLock::new(|| Process::find(std::process::id()).map_or(0, |process| process.started));
        let directory = parent(path)?;
        let mut create = create;
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let writer = std::process::id();
            let name = directory.join(format!("{TEMPORARY_PREFIX}{writer}-{}-{count}", *STARTED));
            match create(&name) {
                Ok(()) => return Ok(Temporary { name }),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(FileError::of(path, &error)),
            }
        }
    }

    fn put_in_place(self, path: &Path, expect: Expect) -> Result<(), FileError> {
        let of = |error: io::Error| FileError::of(path, &error);
        if let Expect::Hash(expected) = expect {
            let found = match Disk.hash(path) {
                Ok(found) => Some(found),
                Err(FileError::NotFound { .. }) => None,
                Err(error) => return Err(error),
            };
            if found != Some(expected) {
                return Err(FileError::Changed { path: path.to_owned(), expected: Some(expected), found });
            }
        }
        if expect != Expect::Absent {
            return fs::rename(&self.name, path).map_err(of);
        }
        let exists =
            || FileError::Changed { path: path.to_owned(), expected: None, found: Disk.hash(path).ok() };
        match renameat_with(CWD, &self.name, CWD, path, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(()),
            Err(Errno::EXIST) => Err(exists()),
            // Some file systems cannot do it in one step.
            Err(Errno::INVAL | Errno::NOSYS) if Disk.look(path)?.is_some() => Err(exists()),
            Err(Errno::INVAL | Errno::NOSYS) => fs::rename(&self.name, path).map_err(of),
            Err(error) => Err(of(error.into())),
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // After it was put in place there is nothing here any more.
        let _ = fs::remove_file(&self.name);
    }
}

fn writer_lives(name: &str) -> bool {
    let mut parts = name.trim_start_matches(TEMPORARY_PREFIX).split('-');
    let pid = parts.next().and_then(|part| part.parse().ok());
    let started: Option<u64> = parts.next().and_then(|part| part.parse().ok());
    pid.and_then(Process::find).is_some_and(|writer| Some(writer.started) == started)
}
