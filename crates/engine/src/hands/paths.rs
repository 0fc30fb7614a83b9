//! Paths from documents stay inside the workspace, and names that are not UTF-8 have a written form.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::ffi::OsStringExt;
use std::path::Component;
use std::path::Path;
use std::path::PathBuf;

use crate::hands::disk::Disk;
use crate::hands::files::Entry;
use crate::hands::files::FileBytes;
use crate::hands::files::FileError;
use crate::hands::files::Files;
use crate::hands::files::Kind;
use crate::home::Home;
use crate::home::PLAIN;
use crate::home::TREES;

/// What a path begins with that means a working tree or a copy in the store, wherever that is: `@trees/NAME/src`.
pub const TREES_PREFIX: &str = "@trees";

/// As many links as the kernel follows before it calls them a loop.
const LINKS_MAX: usize = 40;

/// The directory that a run works in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    /// Without links.
    root: PathBuf,
    /// As it was given; absolute paths may be written with either.
    given: PathBuf,
    /// The folder of its store, which may lie elsewhere.
    store: PathBuf,
    /// Where it lies in its repository; empty for the whole of it, and without one.
    part: PathBuf,
}

impl Workspace {
    pub fn new(root: impl AsRef<Path>) -> Result<Workspace, FileError> {
        Workspace::new_in(&Disk, root.as_ref())
    }

    /// Returns the workspace at `root` as the given files have it.
    pub fn new_in(files: &dyn Files, root: &Path) -> Result<Workspace, FileError> {
        let place = files.resolve(root)?;
        match files.look(&place)? {
            Some(Entry { kind: Kind::Directory, .. }) => {
                let home = Home::of(&place);
                let (store, part) = (home.store().to_owned(), home.part());
                Ok(Workspace { root: place, given: root.to_owned(), store, part })
            }
            _ => Err(FileError::NotDirectory { path: place }),
        }
    }

    /// A workspace that is not on this machine's disk. The path must be absolute and without links.
    pub fn simulated(root: impl Into<PathBuf>) -> Workspace {
        let root = root.into();
        Workspace { given: root.clone(), store: root.join(PLAIN), root, part: PathBuf::new() }
    }

    /// The same workspace with its store in another folder.
    #[must_use]
    pub fn with_store(self, store: &Path) -> Workspace {
        Workspace { store: store.to_owned(), ..self }
    }

    /// The folder of the store.
    pub fn store(&self) -> &Path {
        &self.store
    }

    /// Where the workspace lies in its repository; empty for the whole of it, and without one.
    pub fn part(&self) -> &Path {
        &self.part
    }

    /// The folder of a working tree or copy in the store.
    pub fn tree_top(&self, name: impl AsRef<Path>) -> PathBuf {
        self.store.join(TREES).join(name)
    }

    /// The folder of a working tree or copy that means what the workspace means in its own: the same part of it.
    pub fn tree_place(&self, name: impl AsRef<Path>) -> PathBuf {
        // Nothing is joined to the whole: a path with a slash at its end is another one to git.
        let top = self.tree_top(name);
        if self.part.as_os_str().is_empty() { top } else { top.join(&self.part) }
    }

    /// The top of the working tree that a path names by [`TREES_PREFIX`] and its name.
    pub fn top_of(&self, tree: &str) -> Result<PathBuf, FileError> {
        match self.tree(Path::new(tree))? {
            Some((_, name, _)) => Ok(self.tree_top(name)),
            None => Err(FileError::BadName { path: tree.into() }),
        }
    }

    /// Returns a folder inside of this one as a workspace of its own, such as a further working tree. The place must
    /// come from [`Workspace::resolve_in`] or be joined to the root without links.
    pub fn inside(&self, place: impl Into<PathBuf>) -> Workspace {
        Workspace::simulated(place).with_store(&self.store)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The place that a path of a document means: absolute, free of links and of `..`, and inside the workspace.
    /// It need not exist. A path that leaves the workspace at any point is refused, even if it comes back.
    pub fn resolve(&self, path: impl AsRef<Path>) -> Result<PathBuf, FileError> {
        self.resolve_in(&Disk, path.as_ref())
    }

    /// The same on other files than those of this machine.
    pub fn resolve_in(&self, files: &dyn Files, path: &Path) -> Result<PathBuf, FileError> {
        if path.as_os_str().is_empty() || path.as_os_str().as_bytes().contains(&0) {
            return Err(FileError::BadName { path: path.to_owned() });
        }
        if let Some((tree, _, inside)) = self.tree(path)? {
            return tree.resolve_in(files, inside);
        }
        let outside = || FileError::Outside { path: path.to_owned(), root: self.root.clone() };
        let mut todo = self.parts_inside(path).ok_or_else(outside)?;
        let mut place = self.root.clone();
        let mut links = 0;
        while let Some(part) = todo.pop_front() {
            if part == OsStr::new("..") {
                if place == self.root || !place.pop() {
                    return Err(outside());
                }
                continue;
            }
            let next = place.join(&part);
            let Some(target) = link_target(files, &next)? else {
                place = next;
                continue;
            };
            links += 1;
            if links > LINKS_MAX {
                return Err(FileError::Io {
                    path: path.to_owned(),
                    reason: "too many symbolic links".to_owned(),
                });
            }
            if target.is_absolute() {
                place.clone_from(&self.root);
            }
            let mut parts = self.parts_inside(&target).ok_or_else(outside)?;
            parts.append(&mut todo);
            todo = parts;
        }
        Ok(place)
    }

    /// Reads a file of the workspace. A link that leads nowhere is an error of its own: its name is there, so that nobody
    /// may take the file for absent.
    pub fn read(&self, files: &dyn Files, path: &Path, limit_bytes: u64) -> Result<FileBytes, FileError> {
        let place = self.resolve_in(files, path)?;
        match files.read(&place, limit_bytes) {
            Err(error) if error.is_absence() => Err(self.dead_link(files, path)?.unwrap_or(error)),
            other => other,
        }
    }

    /// Returns the error of the first link on the way to `path` that leads nowhere.
    fn dead_link(&self, files: &dyn Files, path: &Path) -> Result<Option<FileError>, FileError> {
        if let Some((tree, _, inside)) = self.tree(path)? {
            return tree.dead_link(files, inside);
        }
        let mut place = self.root.clone();
        for part in self.parts_inside(path).into_iter().flatten() {
            place.push(part);
            let target = match link_target(files, &place) {
                Ok(Some(target)) => target,
                Ok(None) => continue,
                Err(_) => return Ok(None),
            };
            if files.resolve(&place).is_err() {
                return Ok(Some(FileError::DeadLink { path: place, target }));
            }
        }
        Ok(None)
    }

    /// The working tree or copy that a path names by [`TREES_PREFIX`], its name, and the path inside of it.
    fn tree<'p>(&self, path: &'p Path) -> Result<Option<(Workspace, &'p OsStr, &'p Path)>, FileError> {
        let Ok(named) = path.strip_prefix(TREES_PREFIX) else { return Ok(None) };
        let mut parts = named.components();
        let (Some(Component::Normal(name)), inside) = (parts.next(), parts.as_path()) else {
            return Err(FileError::BadName { path: path.to_owned() });
        };
        let inside = if inside.as_os_str().is_empty() { Path::new(".") } else { inside };
        Ok(Some((Workspace::simulated(self.tree_place(name)), name, inside)))
    }

    /// Like `resolve_in`, but a link on the way is refused wherever it leads: for work on the tree itself.
    pub fn resolve_without_links(&self, files: &dyn Files, path: &Path) -> Result<PathBuf, FileError> {
        let outside = || FileError::Outside { path: path.to_owned(), root: self.root.clone() };
        let mut place = self.root.clone();
        let mut parts = path.components().peekable();
        while let Some(part) = parts.next() {
            let Component::Normal(name) = part else { return Err(outside()) };
            place.push(name);
            let is_last = parts.peek().is_none();
            if !is_last && link_target(files, &place)?.is_some() {
                return Err(outside());
            }
        }
        if place == self.root {
            return Err(FileError::BadName { path: path.to_owned() });
        }
        Ok(place)
    }

    /// The path as documents write it, if the place is inside.
    pub fn relative(&self, place: &Path) -> Option<String> {
        let inside = place.strip_prefix(&self.root).or_else(|_| place.strip_prefix(&self.given)).ok()?;
        Some(encode_name(inside.as_os_str()))
    }

    /// The components still to be walked, seen from the root (or from the present place for a relative path).
    fn parts_inside(&self, path: &Path) -> Option<VecDeque<OsString>> {
        let path = if path.is_absolute() {
            path.strip_prefix(&self.root).or_else(|_| path.strip_prefix(&self.given)).ok()?
        } else {
            path
        };
        path.components()
            .filter(|part| !matches!(part, Component::CurDir))
            .map(|part| match part {
                Component::Normal(name) => Some(name.to_owned()),
                Component::ParentDir => Some(OsString::from("..")),
                _ => None,
            })
            .collect()
    }
}

/// Where the link at `path` leads; `None` for everything that is not a link, also for nothing.
fn link_target(files: &dyn Files, path: &Path) -> Result<Option<PathBuf>, FileError> {
    match files.look(path)? {
        Some(Entry { kind: Kind::Symlink(target), .. }) => {
            let target = decode_name(&target).ok_or_else(|| FileError::BadName { path: path.to_owned() })?;
            Ok(Some(PathBuf::from(target)))
        }
        Some(_) | None => Ok(None),
    }
}

/// Writes a name as text. UTF-8 stays as it is, except that a backslash is doubled; any other byte becomes `\xNN`.
pub fn encode_name(name: &OsStr) -> String {
    let mut text = String::with_capacity(name.len());
    for chunk in name.as_bytes().utf8_chunks() {
        text.push_str(&chunk.valid().replace('\\', "\\\\"));
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

/// Reads what [`encode_name`] wrote; `None` for what it cannot have written.
pub fn decode_name(text: &str) -> Option<OsString> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        bytes.extend_from_slice(rest.get(..at)?.as_bytes());
        let escaped = rest.get(at + 1..)?;
        if let Some(after) = escaped.strip_prefix('\\') {
            bytes.push(b'\\');
            rest = after;
        } else {
            let hex = escaped.strip_prefix('x')?;
            let digits = hex.get(..2).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = hex.get(2..)?;
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    Some(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use proptest::prelude::*;

    use super::*;

    fn workspace() -> (tempfile::TempDir, Workspace) {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir_all(directory.path().join("w/src/deep")).unwrap();
        fs::create_dir_all(directory.path().join("other")).unwrap();
        fs::write(directory.path().join("other/secret"), "s").unwrap();
        let workspace = Workspace::new(directory.path().join("w")).unwrap();
        (directory, workspace)
    }

    #[track_caller]
    fn inside(workspace: &Workspace, path: impl AsRef<Path>, place: &str) {
        assert_eq!(workspace.resolve(path), Ok(workspace.root().join(place)));
    }

    #[track_caller]
    fn outside(workspace: &Workspace, path: impl AsRef<Path>) {
        let refused = workspace.resolve(path.as_ref());
        assert!(matches!(refused, Err(FileError::Outside { .. })), "{refused:?}");
    }

    #[test]
    fn plain_paths_stay_inside() {
        let (_directory, workspace) = workspace();
        inside(&workspace, "src/main.rs", "src/main.rs");
        inside(&workspace, "./src//deep/../x", "src/x");
        inside(&workspace, "not/yet/there", "not/yet/there");
        inside(&workspace, ".", "");
        inside(&workspace, workspace.root().join("src/a"), "src/a");
        outside(&workspace, "..");
        outside(&workspace, "src/../../w/src");
        outside(&workspace, "new/../../x");
        outside(&workspace, "/etc/passwd");
        outside(&workspace, workspace.root().join("../other/secret"));
        outside(&workspace, format!("{}-sibling/x", workspace.root().display()));
    }

    #[test]
    fn names_that_cannot_be_are_refused() {
        let (_directory, workspace) = workspace();
        for bad in ["", "a\0b"] {
            assert!(matches!(workspace.resolve(bad), Err(FileError::BadName { .. })));
        }
    }

    #[test]
    fn e_39_links_that_lead_out_are_refused_also_dangling_ones() {
        let (directory, workspace) = workspace();
        let at = |name: &str| workspace.root().join(name);
        symlink(directory.path().join("other"), at("out")).unwrap();
        symlink("../other/secret", at("out-file")).unwrap();
        symlink("../nowhere", at("out-dangling")).unwrap();
        symlink("out", at("out-twice")).unwrap();
        symlink("loop", at("loop")).unwrap();
        for path in ["out/secret", "out/new", "out-file", "out-dangling", "out-twice/secret", "src/../out/x"]
        {
            outside(&workspace, path);
        }
        assert!(matches!(workspace.resolve("loop"), Err(FileError::Io { .. })));
    }

    #[test]
    fn links_that_stay_inside_lead_to_their_place() {
        let (_directory, workspace) = workspace();
        let at = |name: &str| workspace.root().join(name);
        symlink("src/deep", at("short")).unwrap();
        symlink("../short/x", at("src/file")).unwrap();
        symlink(at("src"), at("absolute")).unwrap();
        symlink("src/not-yet", at("dangling")).unwrap();
        inside(&workspace, "short/y", "src/deep/y");
        // `..` goes up from where the link leads, as it does for the kernel.
        inside(&workspace, "short/../y", "src/y");
        inside(&workspace, "src/file", "src/deep/x");
        inside(&workspace, "absolute/z", "src/z");
        inside(&workspace, "dangling", "src/not-yet");
        let without_links = |path: &str| workspace.resolve_without_links(&Disk, Path::new(path));
        assert_eq!(without_links("short"), Ok(at("short")));
        for path in ["short/y", "src/../x", "", "/etc"] {
            assert!(without_links(path).is_err(), "{path}");
        }
    }

    #[test]
    fn a_workspace_given_through_a_link_knows_both_of_its_names() {
        let (directory, workspace) = workspace();
        let alias = directory.path().join("alias");
        symlink(workspace.root(), &alias).unwrap();
        let through = Workspace::new(&alias).unwrap();
        assert_eq!(through.root(), workspace.root());
        assert_eq!(through.resolve(alias.join("src/a")), Ok(workspace.root().join("src/a")));
        assert_eq!(through.relative(&alias.join("src/a")), Some("src/a".to_owned()));
        assert_eq!(through.relative(Path::new("/etc")), None);
    }

    proptest! {
        #[test]
        fn names_round_trip(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let name = OsString::from_vec(bytes);
            prop_assert_eq!(decode_name(&encode_name(&name)), Some(name));
        }

        #[test]
        fn whatever_is_resolved_is_inside(path in "(\\.\\.|\\.|src|deep|out|back|x|/){1,8}(/(\\.\\.|src|out|back|x)){0,5}") {
            let (directory, workspace) = workspace();
            symlink(directory.path().join("other"), workspace.root().join("out")).unwrap();
            symlink("..", workspace.root().join("src/back")).unwrap();
            if let Ok(place) = workspace.resolve(&path) {
                prop_assert!(place.starts_with(workspace.root()));
                if let Ok(real) = fs::canonicalize(&place) {
                    prop_assert!(real.starts_with(workspace.root()), "{} is {}", path, real.display());
                }
            }
        }
    }

    #[test]
    fn damaged_names_are_not_read() {
        for text in ["\\", "\\x", "\\x0", "\\x+1", "\\q", "a\\xé"] {
            assert_eq!(decode_name(text), None, "{text}");
        }
    }
}
