//! What the simulated disk holds: what is seen now, and what would still be there after a power cut.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::Path;
use std::path::PathBuf;

use super::rng::Rng;
use crate::hands::files::Entry;
use crate::hands::files::Kind;
use crate::hands::files::Stamp;
use crate::hands::paths::encode_name;

/// Something at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    File { bytes: Vec<u8>, mode: u32 },
    Directory { mode: u32 },
    Link { target: PathBuf },
}

impl Node {
    pub(super) fn entry(&self) -> Entry {
        match self {
            Node::File { bytes, mode } => {
                Entry { kind: Kind::File, mode: *mode, size_bytes: bytes.len() as u64 }
            }
            Node::Directory { mode } => Entry { kind: Kind::Directory, mode: *mode, size_bytes: 0 },
            Node::Link { target } => {
                Entry { kind: Kind::Symlink(encode_name(target.as_os_str())), mode: 0o777, size_bytes: 0 }
            }
        }
    }
}

/// What was at a path since the disk last had it for sure; the last one is what is seen.
type Versions = Vec<Option<Node>>;

/// All files. Directories are there for good as soon as they are made: none of the engine's promises rests on one.
#[derive(Debug, Default)]
pub(super) struct Tree {
    paths: BTreeMap<PathBuf, Versions>,
    /// The number of the last change of each path: it stands for the time of the change.
    changes: BTreeMap<PathBuf, i64>,
    changed: i64,
}

impl Tree {
    pub(super) fn get(&self, path: &Path) -> Option<&Node> {
        self.paths.get(path)?.last()?.as_ref()
    }

    /// Changes a path. Until it is durable, a power cut may bring back what was there before.
    pub(super) fn set(&mut self, path: &Path, node: Option<Node>, durable: bool) {
        let versions = self.paths.entry(path.to_owned()).or_insert_with(|| vec![None]);
        if durable {
            versions.clear();
        }
        versions.push(node);
        self.changed += 1;
        self.changes.insert(path.to_owned(), self.changed);
    }

    pub(super) fn stamp(&self, path: &Path) -> Option<Stamp> {
        let Entry { size_bytes, .. } = self.get(path)?.entry();
        let changed = self.changes.get(path).copied().unwrap_or_default();
        let inode = u64::try_from(changed).unwrap_or_default();
        Some(Stamp { size_bytes, inode, modified_ns: changed, changed_ns: changed })
    }

    pub(super) fn make_parents(&mut self, path: &Path) {
        for above in path.ancestors().skip(1) {
            if self.get(above).is_none() {
                self.set(above, Some(Node::Directory { mode: 0o755 }), true);
            }
        }
    }

    /// Every path that is seen, in order.
    pub(super) fn seen(&self) -> impl Iterator<Item = (&Path, &Node)> {
        self.paths.iter().filter_map(|(path, versions)| Some((path.as_path(), versions.last()?.as_ref()?)))
    }

    /// Everything below a directory, in order.
    pub(super) fn below<'t>(&'t self, directory: &'t Path) -> impl Iterator<Item = (&'t Path, &'t Node)> {
        // Paths are ordered part by part, so that what is below stands together.
        let from = (Bound::Excluded(directory), Bound::Unbounded);
        let below =
            self.paths.range::<Path, _>(from).take_while(move |(path, _)| path.starts_with(directory));
        below.filter_map(|(path, versions)| Some((path.as_path(), versions.last()?.as_ref()?)))
    }

    /// What lies directly in a directory.
    pub(super) fn children<'t>(&'t self, directory: &'t Path) -> Vec<(&'t Path, &'t Node)> {
        self.below(directory).filter(|(path, _)| path.parent() == Some(directory)).collect()
    }

    /// Everything that is seen is on the disk for sure.
    pub(super) fn settle(&mut self) {
        for versions in self.paths.values_mut() {
            versions.drain(..versions.len().saturating_sub(1));
        }
    }

    /// The power goes: of each path one of its versions is left, whole. What lies below `volatile` is gone.
    pub(super) fn cut_power(&mut self, rng: &mut Rng, volatile: &Path) {
        for (path, versions) in &mut self.paths {
            let left = if path.starts_with(volatile) { None } else { rng.pick(versions).cloned().flatten() };
            *versions = vec![left];
        }
    }
}
