//! The layer that a copy becomes: what differs from its listing, with whiteouts for what was removed.

use std::collections::BTreeMap;
use std::fs;
use std::fs::Metadata;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::path::PathBuf;

use rustix::fs::CWD;
use rustix::fs::FileType;
use rustix::fs::Mode;
use rustix::fs::XattrFlags;
use rustix::fs::lsetxattr;
use rustix::fs::mknodat;
use rustix::io::Errno;

use super::LayerError;
use super::access::Access;
use super::attributes::ORIGIN;
use super::attributes::has_marks;
use super::copied::CopyListing;
use super::copied::copy_file;
use super::copied::decoded;
use super::copied::make_folder;
use super::copied::set_modes;
use super::look::metadata;
use super::look::names_of;
use crate::hands::paths::encode_name;

/// Builds the layer of a copy in the new folder `out`, which must be on the same file system. The copy itself stays as it
/// is, so that this can be done again after a crash. Paths for which `apart` returns true are skipped.
pub fn seal_copy(
    copy: &Path,
    listing: &CopyListing,
    out: &Path,
    apart: &dyn Fn(&Path) -> bool,
) -> Result<(), LayerError> {
    let mut sealing = Sealing {
        access: Access::default(),
        copy,
        listing,
        out,
        apart,
        present: BTreeMap::new(),
        modes: vec![],
    };
    make_folder(out)?;
    let Some(root) = metadata(copy)?.filter(Metadata::is_dir) else {
        return Err(LayerError::Link { path: copy.to_owned() });
    };
    sealing.access.open_folder(copy, &root)?;
    sealing.modes.push((out.to_owned(), sealing.access.mode(copy, root.mode())));
    sealing.folder(Path::new(""))?;
    sealing.removed()?;
    set_modes(&mut sealing.modes)
}

struct Sealing<'s> {
    access: Access,
    copy: &'s Path,
    listing: &'s CopyListing,
    out: &'s Path,
    apart: &'s dyn Fn(&Path) -> bool,
    /// What the copy has, and whether it is a folder.
    present: BTreeMap<String, bool>,
    modes: Vec<(PathBuf, u32)>,
}

impl Sealing<'_> {
    fn folder(&mut self, folder: &Path) -> Result<(), LayerError> {
        for name in names_of(&[self.copy.join(folder)])? {
            let path = folder.join(name);
            if (self.apart)(&path) {
                continue;
            }
            let place = self.copy.join(&path);
            let Some(found) = metadata(&place)? else { continue };
            let key = encode_name(path.as_os_str());
            let listed = self.listing.entries.get(&key);
            let is_seen_below = listed.is_some_and(|listed| !listed.own && listed.is_still(&found));
            let was_there = listed.is_some();
            self.present.insert(key, found.is_dir());
            if found.is_dir() {
                self.access.open_folder(&place, &found)?;
                if !is_seen_below {
                    self.make_parents(&path)?;
                    self.put_folder(&path)?;
                }
                self.folder(&path)?;
            } else if !is_seen_below {
                self.make_parents(&path)?;
                self.put(&path, &place, &found, was_there)?;
            }
        }
        Ok(())
    }

    /// Marks as removed what was copied and is gone, and what the view hid before and still has nothing for.
    fn removed(&mut self) -> Result<(), LayerError> {
        for key in self.listing.entries.keys().chain(&self.listing.hidden) {
            if self.present.contains_key(key) {
                continue;
            }
            let is_parent_there = match key.rsplit_once('/') {
                Some((parent, _)) => self.present.get(parent).copied().unwrap_or(false),
                None => true,
            };
            // Where the folder around it is gone or is none any more, that says it for all that it held.
            if is_parent_there {
                let path = decoded(key)?;
                self.make_parents(&path)?;
                let to = self.out.join(path);
                mknodat(CWD, &to, FileType::CharacterDevice, Mode::empty(), 0)
                    .map_err(|errno| LayerError::errno(&to, errno))?;
            }
        }
        Ok(())
    }

    fn make_parents(&mut self, path: &Path) -> Result<(), LayerError> {
        let mut above: Vec<&Path> = path.ancestors().skip(1).collect();
        above.reverse();
        for folder in above.into_iter().filter(|folder| !folder.as_os_str().is_empty()) {
            self.put_folder(folder)?;
        }
        Ok(())
    }

    fn put_folder(&mut self, folder: &Path) -> Result<(), LayerError> {
        let to = self.out.join(folder);
        if metadata(&to)?.is_some() {
            return Ok(());
        }
        make_folder(&to)?;
        let place = self.copy.join(folder);
        let mode = metadata(&place)?.map_or(0o755, |found| found.mode());
        self.modes.push((to, self.access.mode(&place, mode)));
        Ok(())
    }

    fn put(&self, path: &Path, place: &Path, found: &Metadata, was_there: bool) -> Result<(), LayerError> {
        let to = self.out.join(path);
        let of = |error| LayerError::of(&to, &error);
        let kind = found.file_type();
        if kind.is_symlink() {
            return fs::read_link(place).and_then(|target| symlink(target, &to)).map_err(of);
        }
        if !kind.is_file() {
            // No process may have made a device; whatever stands there is not merged, and is named as special.
            let kind = if kind.is_socket() { FileType::Socket } else { FileType::Fifo };
            return mknodat(CWD, &to, kind, Mode::RUSR | Mode::WUSR, 0)
                .map_err(|errno| LayerError::errno(&to, errno));
        }
        self.access.open_file(place, found)?;
        // A file with another name could still be written by that one, and marks of an overlay that a process set
        // itself would be believed.
        if found.nlink() > 1 || has_marks(place)? || fs::hard_link(place, &to).is_err() {
            copy_file(place, &to, self.access.mode(place, found.mode())).map_err(of)?;
        }
        if was_there {
            mark_as_copied(&to)?;
        }
        Ok(())
    }
}

/// Says that a file began as one of the folders below. An empty mark means to the kernel that its origin is not known.
fn mark_as_copied(file: &Path) -> Result<(), LayerError> {
    match lsetxattr(file, ORIGIN, b"", XattrFlags::empty()) {
        // Without the mark a file that people removed meanwhile looks like an addition, which is no more than that.
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::ACCESS | Errno::PERM | Errno::NOSPC) => Ok(()),
        Err(errno) => Err(LayerError::errno(file, errno)),
    }
}
