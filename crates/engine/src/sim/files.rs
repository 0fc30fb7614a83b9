//! Files in memory, with what happens to real ones: crashes between two steps, power cuts, a disk without room.

use std::path::Path;
use std::path::PathBuf;
use std::sync::Mutex;

use seriatim_core::hash::Hash;

use super::fate::Fate;
use super::lock;
use super::objects::Blob;
use super::objects::Listing;
use super::rng::Rng;
use super::tree::Node;
use super::tree::Tree;
use crate::hands::files::Entry;
use crate::hands::files::Expect;
use crate::hands::files::FileBytes;
use crate::hands::files::FileError;
use crate::hands::files::Files;
use crate::hands::files::Links;
use crate::hands::files::Lock;
use crate::hands::files::Stamp;
use crate::hands::files::TEMPORARY_PREFIX;
use crate::hands::files::Write;
use crate::hands::paths::encode_name;

const LINKS_MAX: usize = 40;

/// Why the disk refuses to take anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    NoSpace,
    ReadOnly,
}

/// A disk of which everything is known.
#[derive(Debug)]
pub struct SimFiles {
    disk: Mutex<Disk>,
    fate: Fate,
    /// What lies below does not outlive a power cut, as in the system's folder for temporary files.
    volatile: PathBuf,
}

#[derive(Debug, Default)]
struct Disk {
    tree: Tree,
    /// Which life of the engine writes: temporary files carry it, so that those of a dead one can be told.
    life: u64,
    temporaries: u64,
    writes: u64,
    trouble: Option<(u64, Trouble)>,
}

impl Disk {
    /// A write begins: the disk may refuse it.
    fn take_write(&mut self, path: &Path) -> Result<(), FileError> {
        let number = self.writes;
        self.writes += 1;
        let path = path.to_owned();
        match self.trouble {
            Some((from, Trouble::NoSpace)) if number >= from => Err(FileError::NoSpace { path }),
            Some((from, Trouble::ReadOnly)) if number >= from => Err(FileError::ReadOnly { path }),
            _ => Ok(()),
        }
    }

    /// The path that is meant by `path` when links in its last part are followed.
    fn follow(&self, path: &Path) -> Result<PathBuf, FileError> {
        let mut place = path.to_owned();
        for _ in 0..LINKS_MAX {
            let Some(Node::Link { target }) = self.tree.get(&place) else { return Ok(place) };
            place = place.parent().unwrap_or(Path::new("/")).join(target);
        }
        Err(FileError::Io { path: path.to_owned(), reason: "too many symbolic links".to_owned() })
    }

    fn file(&self, path: &Path) -> Result<&Vec<u8>, FileError> {
        let place = self.follow(path)?;
        match self.tree.get(&place) {
            Some(Node::File { bytes, .. }) => Ok(bytes),
            Some(Node::Directory { .. }) => Err(FileError::IsDirectory { path: path.to_owned() }),
            Some(Node::Link { .. }) | None => Err(FileError::NotFound { path: path.to_owned() }),
        }
    }

    fn check(&self, path: &Path, expect: Expect) -> Result<(), FileError> {
        if let Some(Node::Directory { .. }) = self.tree.get(path) {
            return Err(FileError::IsDirectory { path: path.to_owned() });
        }
        let found = self.file(path).ok().map(|bytes| Hash::of(bytes));
        let changed = |expected| Err(FileError::Changed { path: path.to_owned(), expected, found });
        match expect {
            Expect::Absent if self.tree.get(path).is_some() => changed(None),
            Expect::Hash(expected) if found != Some(expected) => changed(Some(expected)),
            Expect::Any | Expect::Absent | Expect::Hash(_) => Ok(()),
        }
    }

    fn mode(&self, path: &Path, how: Write) -> u32 {
        match self.tree.get(path) {
            Some(Node::File { mode, .. }) => how.mode.unwrap_or(*mode),
            _ => how.mode.unwrap_or(0o644),
        }
    }
}

impl SimFiles {
    pub fn new(fate: Fate, volatile: impl Into<PathBuf>) -> SimFiles {
        SimFiles { disk: Mutex::default(), fate, volatile: volatile.into() }
    }

    /// After `writes` more writes the disk refuses all others, until there is room again.
    pub fn refuse_after(&self, writes: u64, trouble: Trouble) {
        let mut disk = lock(&self.disk);
        disk.trouble = Some((disk.writes + writes, trouble));
    }

    /// There is room again.
    pub fn relieve(&self) {
        lock(&self.disk).trouble = None;
    }

    /// How many writes were asked for so far.
    pub fn writes(&self) -> u64 {
        lock(&self.disk).writes
    }

    /// The engine is dead; the next one is another process.
    pub fn outlive(&self) {
        lock(&self.disk).life += 1;
    }

    /// The engine is dead and the machine with it.
    pub fn cut_power(&self, rng: &mut Rng) {
        let mut disk = lock(&self.disk);
        disk.life += 1;
        disk.tree.cut_power(rng, &self.volatile);
    }

    /// Somebody else writes a file: an agent, or a person. The disk has it for sure.
    pub fn put(&self, path: &Path, bytes: &[u8]) {
        let mut disk = lock(&self.disk);
        disk.tree.make_parents(path);
        disk.tree.set(path, Some(Node::File { bytes: bytes.to_vec(), mode: 0o644 }), true);
    }

    /// Lists what git would see below a folder: files and links, by path from there.
    pub(super) fn below(&self, root: &Path) -> Listing {
        let disk = lock(&self.disk);
        let blob = |node: &Node| match node {
            Node::File { bytes, mode } => Some(Blob::file(bytes, *mode)),
            Node::Link { target } => Some(Blob::link(encode_name(target.as_os_str()))),
            Node::Directory { .. } => None,
        };
        let seen = disk.tree.below(root);
        seen.filter_map(|(path, node)| {
            Some((encode_name(path.strip_prefix(root).ok()?.as_os_str()), blob(node)?))
        })
        .collect()
    }

    /// Another program changes a file, and does not wait for the disk.
    pub(super) fn set(&self, path: &Path, blob: Option<&Blob>) {
        let mut disk = lock(&self.disk);
        let node = blob.map(|blob| match blob.is_link() {
            true => Node::Link { target: String::from_utf8_lossy(&blob.bytes).into_owned().into() },
            false => Node::File { bytes: blob.bytes.clone(), mode: blob.permissions() },
        });
        if node.is_some() {
            disk.tree.make_parents(path);
        }
        disk.tree.set(path, node, false);
    }

    /// Another program removes a folder in which nothing but folders is left.
    pub(super) fn remove_folders(&self, path: &Path) {
        let mut disk = lock(&self.disk);
        let folders: Vec<PathBuf> = disk.tree.below(path).map(|(path, _)| path.to_owned()).collect();
        for folder in folders.iter().map(PathBuf::as_path).chain([path]) {
            disk.tree.set(folder, None, true);
        }
    }

    pub(super) fn is_folder(&self, path: &Path) -> bool {
        matches!(lock(&self.disk).tree.get(path), Some(Node::Directory { .. }))
    }

    fn add(&self, path: &Path, bytes: &[u8], durable: bool) -> Result<(), FileError> {
        let mut disk = lock(&self.disk);
        let path = disk.follow(path)?;
        let mut all = match disk.file(&path) {
            Ok(bytes) => bytes.clone(),
            Err(FileError::NotFound { .. }) => vec![],
            Err(error) => return Err(error),
        };
        disk.take_write(&path)?;
        all.extend_from_slice(bytes);
        disk.tree.make_parents(&path);
        let mode = disk.mode(&path, Write::REBUILDABLE);
        disk.tree.set(&path, Some(Node::File { bytes: all, mode }), durable);
        Ok(())
    }

    /// Every file with its content.
    pub fn all(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let disk = lock(&self.disk);
        let files = disk.tree.seen().filter_map(|(path, node)| match node {
            Node::File { bytes, .. } => Some((path.to_owned(), bytes.clone())),
            Node::Directory { .. } | Node::Link { .. } => None,
        });
        files.collect()
    }
}

impl Files for SimFiles {
    fn read(&self, path: &Path, limit_bytes: u64) -> Result<FileBytes, FileError> {
        let disk = lock(&self.disk);
        let bytes = disk.file(path)?;
        let size_bytes = bytes.len() as u64;
        if size_bytes > limit_bytes {
            return Err(FileError::TooLarge { path: path.to_owned(), size_bytes, limit_bytes });
        }
        Ok(FileBytes::new(bytes.clone()))
    }

    fn read_from(&self, path: &Path, offset: u64, limit_bytes: u64) -> Result<Vec<u8>, FileError> {
        let disk = lock(&self.disk);
        let place = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let rest = disk.file(path)?.get(place(offset)..).unwrap_or_default();
        Ok(rest.get(..place(limit_bytes)).unwrap_or(rest).to_vec())
    }

    fn hash(&self, path: &Path) -> Result<Hash, FileError> {
        lock(&self.disk).file(path).map(|bytes| Hash::of(bytes))
    }

    fn write(&self, path: &Path, bytes: &[u8], how: Write) -> Result<Hash, FileError> {
        self.fate.pass("before a file is written");
        let temporary = {
            let mut disk = lock(&self.disk);
            disk.check(path, Expect::Any)?;
            disk.take_write(path)?;
            disk.tree.make_parents(path);
            disk.temporaries += 1;
            let name = format!("{TEMPORARY_PREFIX}{}-{}", disk.life, disk.temporaries);
            let temporary = path.with_file_name(name);
            let node = Node::File { bytes: bytes.to_vec(), mode: disk.mode(path, how) };
            disk.tree.set(&temporary, Some(node), false);
            temporary
        };
        self.fate.pass("a file is written and not in its place");
        {
            let mut disk = lock(&self.disk);
            let node = disk.tree.get(&temporary).cloned();
            disk.tree.set(&temporary, None, true);
            disk.check(path, how.expect)?;
            disk.tree.set(path, node, how.durable);
        }
        self.fate.pass("after a file is written");
        Ok(Hash::of(bytes))
    }

    fn copy(&self, from: &Path, to: &Path, how: Write) -> Result<Hash, FileError> {
        let bytes = lock(&self.disk).file(from)?.clone();
        self.write(to, &bytes, how)
    }

    fn append(&self, path: &Path, bytes: &[u8], durable: bool) -> Result<(), FileError> {
        self.fate.pass("before a file is appended to");
        let (half, rest) = bytes.split_at(bytes.len() / 2);
        self.add(path, half, false)?;
        // What is appended is not there all at once.
        self.fate.pass("a file is half appended to");
        self.add(path, rest, durable)?;
        self.fate.pass("after a file is appended to");
        Ok(())
    }

    fn remove(&self, path: &Path) -> Result<(), FileError> {
        self.fate.pass("before a file is removed");
        let mut disk = lock(&self.disk);
        if let Some(Node::Directory { .. }) = disk.tree.get(path)
            && !disk.tree.children(path).is_empty()
        {
            return Err(FileError::NotEmpty { path: path.to_owned() });
        }
        if disk.tree.get(path).is_some() {
            disk.tree.set(path, None, false);
        }
        Ok(())
    }

    fn look(&self, path: &Path) -> Result<Option<Entry>, FileError> {
        Ok(lock(&self.disk).tree.get(path).map(Node::entry))
    }

    fn stamp(&self, path: &Path, links: Links) -> Result<Option<Stamp>, FileError> {
        let disk = lock(&self.disk);
        let place = match links {
            Links::Follow => disk.follow(path)?,
            Links::Keep => path.to_owned(),
        };
        Ok(disk.tree.stamp(&place))
    }

    fn resolve(&self, path: &Path) -> Result<PathBuf, FileError> {
        let disk = lock(&self.disk);
        let place = disk.follow(path)?;
        match disk.tree.get(&place) {
            Some(_) => Ok(place),
            None => Err(FileError::NotFound { path: path.to_owned() }),
        }
    }

    fn list(&self, directory: &Path) -> Result<Vec<(String, Entry)>, FileError> {
        let disk = lock(&self.disk);
        match disk.tree.get(directory) {
            Some(Node::Directory { .. }) => {}
            Some(_) => return Err(FileError::NotDirectory { path: directory.to_owned() }),
            None => return Err(FileError::NotFound { path: directory.to_owned() }),
        }
        let children = disk.tree.children(directory).into_iter();
        Ok(children.filter_map(|(path, node)| Some((encode_name(path.file_name()?), node.entry()))).collect())
    }

    fn make_directory(&self, path: &Path) -> Result<(), FileError> {
        let mut disk = lock(&self.disk);
        match disk.tree.get(path) {
            Some(Node::Directory { .. }) => Ok(()),
            Some(_) => Err(FileError::NotDirectory { path: path.to_owned() }),
            None => {
                disk.take_write(path)?;
                disk.tree.make_parents(path);
                disk.tree.set(path, Some(Node::Directory { mode: 0o755 }), true);
                Ok(())
            }
        }
    }

    fn link(&self, path: &Path, target: &Path) -> Result<(), FileError> {
        self.fate.pass("before a link is made");
        let mut disk = lock(&self.disk);
        disk.check(path, Expect::Any)?;
        disk.take_write(path)?;
        disk.tree.make_parents(path);
        disk.tree.set(path, Some(Node::Link { target: target.to_owned() }), false);
        Ok(())
    }

    fn set_mode(&self, path: &Path, mode: u32) -> Result<(), FileError> {
        let mut disk = lock(&self.disk);
        let node = match disk.tree.get(path) {
            None => return Err(FileError::NotFound { path: path.to_owned() }),
            Some(Node::Link { .. }) => return Ok(()),
            Some(Node::Directory { .. }) => Node::Directory { mode },
            Some(Node::File { bytes, .. }) => Node::File { bytes: bytes.clone(), mode },
        };
        disk.tree.set(path, Some(node), false);
        Ok(())
    }

    fn sync(&self, _directory: &Path) -> Result<(), FileError> {
        lock(&self.disk).tree.settle();
        Ok(())
    }

    fn lock(&self, _path: &Path) -> Result<Lock, FileError> {
        Ok(Lock::default())
    }

    fn clear_temporary(&self, directory: &Path) -> Result<Vec<PathBuf>, FileError> {
        self.fate.pass("before temporary files are cleared");
        let mut disk = lock(&self.disk);
        let ours = format!("{TEMPORARY_PREFIX}{}-", disk.life);
        let is_dead = |path: &Path| {
            let name = path.file_name().map(encode_name).unwrap_or_default();
            name.starts_with(TEMPORARY_PREFIX) && !name.starts_with(&ours)
        };
        let children = disk.tree.children(directory).into_iter();
        let dead: Vec<PathBuf> =
            children.map(|(path, _)| path.to_owned()).filter(|path| is_dead(path)).collect();
        for path in &dead {
            disk.tree.set(path, None, true);
        }
        Ok(dead)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fate::survive;
    use super::*;

    fn files() -> (SimFiles, Fate) {
        let fate = Fate::default();
        (SimFiles::new(fate.clone(), "/volatile"), fate)
    }

    fn text(files: &SimFiles, path: &str) -> Option<String> {
        let found = files.read(Path::new(path), 100).ok()?;
        Some(String::from_utf8(found.bytes).unwrap())
    }

    #[test]
    fn a_power_cut_leaves_the_old_or_the_new_and_never_something_else() {
        let path = Path::new("/w/a");
        let mut left = std::collections::BTreeSet::new();
        for seed in 0..50 {
            let (files, _) = files();
            files.write(path, b"sure", Write::DURABLE).unwrap();
            files.write(path, b"perhaps", Write::REBUILDABLE).unwrap();
            files.write(Path::new("/volatile/b"), b"x", Write::DURABLE).unwrap();
            files.cut_power(&mut Rng::new(seed));
            assert_eq!(text(&files, "/volatile/b"), None);
            left.insert(text(&files, "/w/a").unwrap());
        }
        assert_eq!(left.into_iter().collect::<Vec<_>>(), ["perhaps", "sure"]);
    }

    #[test]
    fn a_crash_in_the_middle_of_a_write_leaves_a_temporary_file_that_the_next_life_clears() {
        let (files, fate) = files();
        fate.crash_after(Some(1));
        assert!(survive(|| files.write(Path::new("/w/a"), b"new", Write::DURABLE)).is_err());
        assert_eq!(text(&files, "/w/a"), None);
        assert_eq!(files.clear_temporary(Path::new("/w")).unwrap().len(), 0, "its writer still lives");
        files.outlive();
        assert_eq!(files.clear_temporary(Path::new("/w")).unwrap().len(), 1);
        assert_eq!(files.all(), vec![]);
    }

    #[test]
    fn expectations_and_refusals_change_nothing() {
        let (files, _) = files();
        let path = Path::new("/w/a");
        files.write(path, b"1", Write::DURABLE.expecting(Expect::Absent)).unwrap();
        let changed = files.write(path, b"2", Write::DURABLE.expecting(Expect::Absent));
        assert!(matches!(changed, Err(FileError::Changed { .. })));
        files.refuse_after(0, Trouble::NoSpace);
        assert!(matches!(files.write(path, b"2", Write::DURABLE), Err(FileError::NoSpace { .. })));
        files.refuse_after(0, Trouble::ReadOnly);
        assert!(matches!(files.append(path, b"2", true), Err(FileError::ReadOnly { .. })));
        files.relieve();
        assert_eq!(text(&files, "/w/a").as_deref(), Some("1"));
        files.append(path, b"2", true).unwrap();
        assert_eq!(text(&files, "/w/a").as_deref(), Some("12"));
        assert_eq!(files.all().len(), 1);
    }
}
