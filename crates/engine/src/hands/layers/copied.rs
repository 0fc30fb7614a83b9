//! A full copy of a view: made where nothing can be mounted, and turned into a layer when its process has ended.
//!
//! What was copied is remembered by inode, size, change time and mode. Whatever differs from that afterwards is the
//! change, and becomes an upper layer that means the same as one that an overlay wrote.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::fs;
use std::fs::DirBuilder;
use std::fs::File;
use std::fs::FileTimes;
use std::fs::Metadata;
use std::fs::Permissions;
use std::io;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use rustix::fs::OFlags;
use serde::Deserialize;
use serde::Serialize;

use super::LayerError;
use super::LayerStack;
use super::access::Access;
use super::change::changed_at;
use super::inside;
use super::look::Merged;
use super::look::Seen;
use super::look::metadata;
use super::look::names_of;
use super::look::names_of_real;
use super::node::MERGED_BITS;
use crate::hands::files::FileError;
use crate::hands::paths::encode_name;

/// How often the clock of the file system is looked at, a millisecond apart. The coarsest ones have steps of two seconds.
const TICKS_MAX: usize = 3_000;

/// What a copy holds, and what of the folders below the view's own layer it does not show. Paths are in the form of
/// [`encode_name`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyListing {
    pub(super) entries: BTreeMap<String, Listed>,
    pub(super) hidden: BTreeSet<String>,
}

/// One entry as it was copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Listed {
    inode: u64,
    size: u64,
    changed: (i64, i64),
    /// With the kind.
    mode: u32,
    /// Whether it comes from the view's own layer, to which it belongs whatever happens to the copy.
    pub(super) own: bool,
}

impl Listed {
    fn of(found: &Metadata, own: bool) -> Listed {
        let (inode, size, changed, mode) = (found.ino(), found.len(), changed_at(found), found.mode());
        Listed { inode, size, changed, mode, own }
    }

    /// Returns whether an entry of the copy is what was copied. A folder is known by its mode: what is in it is looked
    /// at by itself.
    pub(super) fn is_still(&self, found: &Metadata) -> bool {
        let now = Listed::of(found, self.own);
        if found.is_dir() { now.mode == self.mode } else { now == *self }
    }
}

impl LayerStack {
    /// Copies the view into the new folder `to`, files by their content and never by links. `below` is the same view
    /// without its own layers. Paths for which `apart` returns true are left out, and so are pipes, sockets, devices, and
    /// files of the real folder that this user cannot read.
    pub fn copy_out(
        &self,
        below: &LayerStack,
        to: &Path,
        apart: &dyn Fn(&Path) -> bool,
    ) -> Result<CopyListing, LayerError> {
        let own: Vec<PathBuf> =
            self.uppers.iter().filter(|upper| !below.uppers.contains(upper)).cloned().collect();
        let mut copying = Copying {
            access: Access::default(),
            to,
            apart,
            layers: self.uppers.clone(),
            own,
            copied: vec![],
            modes: vec![],
            hidden: BTreeSet::new(),
        };
        make_folder(to)?;
        let root = metadata(&self.lower)?.map_or(0o755, |found| found.mode());
        copying.modes.push((to.to_owned(), root));
        copying.folder(Path::new(""), &self.root(), Some(&below.root()))?;
        set_modes(&mut copying.modes)?;
        let mut listing = CopyListing { entries: BTreeMap::new(), hidden: copying.hidden };
        let mut newest = (0, 0);
        let access = Access::default();
        for (path, own) in &copying.copied {
            let place = to.join(path);
            if let Some(folder) = place.parent().filter(|folder| *folder != to)
                && let Some(found) = metadata(folder)?
            {
                access.open_folder(folder, &found)?;
            }
            let Some(found) = metadata(&place)? else { continue };
            newest = newest.max(changed_at(&found));
            listing.entries.insert(encode_name(path.as_os_str()), Listed::of(&found, *own));
        }
        drop(access);
        wait_past(to, newest)?;
        Ok(listing)
    }
}

struct Copying<'c> {
    access: Access,
    to: &'c Path,
    apart: &'c dyn Fn(&Path) -> bool,
    layers: Vec<PathBuf>,
    /// The layers that the view wrote itself.
    own: Vec<PathBuf>,
    /// Parents before their children.
    copied: Vec<(PathBuf, bool)>,
    modes: Vec<(PathBuf, u32)>,
    hidden: BTreeSet<String>,
}

impl Copying<'_> {
    fn folder(&mut self, path: &Path, merged: &Merged, below: Option<&Merged>) -> Result<(), LayerError> {
        let mut names = names_in(merged)?;
        if let Some(below) = below {
            names.append(&mut names_in(below)?);
        }
        for name in names {
            let path = path.join(&name);
            if (self.apart)(&path) {
                continue;
            }
            let seen = merged.step(&self.access, &name)?;
            let under = match below {
                Some(below) => below.step(&self.access, &name)?,
                None => Seen::Nothing,
            };
            if matches!(seen, Seen::Nothing) && !matches!(under, Seen::Nothing) {
                self.hidden.insert(encode_name(path.as_os_str()));
            }
            match (&seen, &under) {
                (Seen::Folder(merged), Seen::Folder(below)) => {
                    self.put_folder(&path, merged, Some(below))?;
                }
                (Seen::Folder(merged), _) => self.put_folder(&path, merged, None)?,
                (Seen::Entry { place, found, .. }, _) => self.put_entry(&path, place, found)?,
                (Seen::Nothing, _) => {}
            }
            if let (Seen::Nothing | Seen::Entry { .. }, Seen::Folder(below)) = (&seen, &under) {
                self.hide(&path, below)?;
            }
        }
        Ok(())
    }

    /// Remembers everything below a folder that the view does not show: a folder that a process puts there is empty.
    fn hide(&mut self, path: &Path, below: &Merged) -> Result<(), LayerError> {
        for name in names_in(below)? {
            let path = path.join(&name);
            match below.step(&self.access, &name)? {
                Seen::Nothing => continue,
                Seen::Entry { .. } => {}
                Seen::Folder(below) => self.hide(&path, &below)?,
            }
            self.hidden.insert(encode_name(path.as_os_str()));
        }
        Ok(())
    }

    fn put_folder(&mut self, path: &Path, merged: &Merged, below: Option<&Merged>) -> Result<(), LayerError> {
        let Some(place) = merged.place() else { return Ok(()) };
        let Some(found) = metadata(&place)? else { return Ok(()) };
        let to = self.to.join(path);
        make_folder(&to)?;
        self.modes.push((to, self.access.mode(&place, found.mode())));
        self.copied.push((path.to_owned(), self.is_own(&place)));
        match self.folder(path, merged, below) {
            // Nobody who works as this user can look into it, in the copy or elsewhere.
            Err(LayerError::File(FileError::Permission { .. })) => Ok(()),
            done => done,
        }
    }

    fn put_entry(&mut self, path: &Path, place: &Path, found: &Metadata) -> Result<(), LayerError> {
        let (to, own) = (self.to.join(path), self.is_own(place));
        let done = if found.is_symlink() {
            fs::read_link(place).and_then(|target| symlink(target, &to))
        } else if found.is_file() {
            if self.layers.iter().any(|upper| place.starts_with(upper)) {
                self.access.open_file(place, found)?;
            }
            copy_file(place, &to, self.access.mode(place, found.mode()))
        } else {
            return Ok(());
        };
        match done {
            Ok(()) => self.copied.push((path.to_owned(), own)),
            // People may remove a file at any time, and one that this user cannot read is in no copy.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied) => {}
            Err(error) => return Err(LayerError::of(&to, &error)),
        }
        Ok(())
    }

    fn is_own(&self, place: &Path) -> bool {
        self.own.iter().any(|upper| place.starts_with(upper))
    }
}

fn names_in(merged: &Merged) -> Result<BTreeSet<std::ffi::OsString>, LayerError> {
    let mut names = names_of(&merged.uppers)?;
    if let Some(real) = &merged.real {
        names.append(&mut names_of_real(real)?);
    }
    Ok(names)
}

pub(super) fn make_folder(path: &Path) -> Result<(), LayerError> {
    DirBuilder::new().mode(0o700).create(path).map_err(|error| LayerError::of(path, &error))
}

/// Gives folders their modes, the deepest first: nothing can be written below a read-only one afterwards.
pub(super) fn set_modes(modes: &mut [(PathBuf, u32)]) -> Result<(), LayerError> {
    modes.sort_by(|one, other| other.0.cmp(&one.0));
    for (folder, mode) in modes {
        fs::set_permissions(&*folder, Permissions::from_mode(*mode & MERGED_BITS))
            .map_err(|error| LayerError::of(folder, &error))?;
    }
    Ok(())
}

/// Copies a file with its mode, and with its times: a build takes it for what it knows.
pub(super) fn copy_file(from: &Path, to: &Path, mode: u32) -> io::Result<()> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let mut source = File::options().read(true).custom_flags(flags).open(from)?;
    let found = source.metadata()?;
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(to)?;
    io::copy(&mut source, &mut file)?;
    file.set_times(FileTimes::new().set_modified(found.modified()?).set_accessed(found.accessed()?))?;
    file.set_permissions(Permissions::from_mode(mode & MERGED_BITS))
}

/// Waits until a file that is changed from now on gets a later time than those in the listing have: the clock of a file
/// system has steps.
fn wait_past(copy: &Path, newest: (i64, i64)) -> Result<(), LayerError> {
    let tick = copy.with_extension("tick");
    let of = |error| LayerError::of(&tick, &error);
    for _ in 0..TICKS_MAX {
        fs::write(&tick, "").map_err(of)?;
        let now = fs::symlink_metadata(&tick).map_err(of)?;
        if changed_at(&now) > newest {
            break;
        }
        thread::sleep(Duration::from_millis(1));
    }
    fs::remove_file(&tick).map_err(of)
}

/// Returns a listed path as it is joined to folders.
pub(super) fn decoded(path: &str) -> Result<PathBuf, LayerError> {
    inside(path)
}
