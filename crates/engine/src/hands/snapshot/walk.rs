//! What is in the workspace now, within a scope. Links are seen and not followed.

use std::path::Path;
use std::path::PathBuf;

use crate::hands::files::Entry;
use crate::hands::files::FileError;
use crate::hands::files::Kind;
use crate::hands::files::TEMPORARY_PREFIX;
use crate::hands::paths::decode_name;
use crate::hands::pattern::Pattern;
use crate::hands::snapshot::Item;
use crate::hands::snapshot::SnapshotError;
use crate::hands::snapshot::Snapshots;
use crate::hands::snapshot::State;

impl Snapshots<'_> {
    /// All items of the scope sorted by path, each as `treat` returned it, and the special files that were met.
    pub(super) fn walk(
        &self,
        scope: &[Pattern],
        excludes: &[Pattern],
        treat: impl Fn(&Path, State) -> Result<State, SnapshotError>,
    ) -> Result<(Vec<Item>, Vec<String>), SnapshotError> {
        let mut items = Vec::new();
        let mut special = Vec::new();
        // An own stack, since the depth of the tree is not in our hands.
        let mut directories = vec![String::new()];
        while let Some(directory) = directories.pop() {
            for (name, entry) in self.entries(&directory)? {
                let path = if directory.is_empty() { name.clone() } else { format!("{directory}/{name}") };
                let place = self.place(&path)?;
                let ours = place.starts_with(&self.store) || name.starts_with(TEMPORARY_PREFIX);
                if ours || self.is_apart(&path) || excludes.iter().any(|pattern| pattern.excludes(&path)) {
                    continue;
                }
                let covered = scope.is_empty() || scope.iter().any(|pattern| pattern.covers(&path));
                if entry.kind == Kind::Directory
                    && (covered || scope.iter().any(|pattern| pattern.may_cover_below(&path)))
                {
                    directories.push(path.clone());
                }
                if !covered {
                    continue;
                }
                match self.state(&place, entry)? {
                    Seen::State(state) => items.push(Item { state: treat(&place, state)?, path }),
                    Seen::Special => special.push(path),
                    Seen::Gone => {}
                }
            }
        }
        items.sort_by(|one, other| one.path.cmp(&other.path));
        special.sort();
        Ok((items, special))
    }

    /// The place of a path of a manifest or of the tree; no link on the way is followed.
    pub(super) fn place(&self, path: &str) -> Result<PathBuf, FileError> {
        let name = decode_name(path).ok_or_else(|| FileError::BadName { path: path.into() })?;
        self.workspace.resolve_without_links(self.files, Path::new(&name))
    }

    fn entries(&self, directory: &str) -> Result<Vec<(String, Entry)>, FileError> {
        if directory.is_empty() {
            return self.files.list(self.workspace.root());
        }
        match self.files.list(&self.place(directory)?) {
            // It went, or became something else, after it had been seen.
            Err(FileError::NotFound { .. } | FileError::NotDirectory { .. }) => Ok(Vec::new()),
            listed => listed,
        }
    }

    fn state(&self, place: &Path, entry: Entry) -> Result<Seen, FileError> {
        Ok(Seen::State(match entry.kind {
            Kind::Special => return Ok(Seen::Special),
            Kind::Directory => State::Directory { mode: entry.mode },
            Kind::Symlink(target) => State::Symlink { target },
            Kind::File => match self.files.hash(place) {
                Ok(hash) => State::File { mode: entry.mode, size_bytes: entry.size_bytes, hash },
                Err(FileError::NotFound { .. }) => return Ok(Seen::Gone),
                Err(error) => return Err(error),
            },
        }))
    }
}

enum Seen {
    State(State),
    Special,
    /// It was listed and is there no more.
    Gone,
}
