//! The layer that gates see: the real folder with the deliverable change and nothing else.

use std::fs;
use std::fs::DirBuilder;
use std::fs::File;
use std::fs::Metadata;
use std::fs::Permissions;
use std::io;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;
use std::time::SystemTime;
use std::time::UNIX_EPOCH;

use rustix::fs::CWD;
use rustix::fs::FileType;
use rustix::fs::Mode;
use rustix::fs::mknodat;
use rustix::io::Errno;

use super::HomeStep;
use super::LayerError;
use super::LayerStack;
use super::access::Access;
use super::change::changed_at;
use super::inside;
use super::look::Seen;
use super::look::metadata;
use super::node::MERGED_BITS;
use super::node::Node;
use crate::hands::paths::decode_name;

const FOLDER_MODE: u32 = 0o755;

impl LayerStack {
    /// Builds a layer in the new folder `out` that shows only these steps over the real folder: copies of the files of
    /// the layers, whiteouts for removed entries, and parents with the modes that the view shows. Folders are never
    /// opaque. Every file is as old as its last change by the clock of the kernel, not as old as the agent says: a
    /// build that goes by times would take new content for what it knows otherwise.
    pub fn gate_layer(&self, wanted: &[HomeStep], out: &Path) -> Result<(), LayerError> {
        let of = |error| LayerError::of(out, &error);
        DirBuilder::new().mode(0o700).create(out).map_err(of)?;
        let root = metadata(&self.lower)?.map_or(FOLDER_MODE, |found| found.permissions().mode());
        let mut steps = wanted
            .iter()
            .map(|step| Ok((inside(&step.path)?, step)))
            .collect::<Result<Vec<(PathBuf, &HomeStep)>, LayerError>>()?;
        // Parents come before their children, so a child finds out what its parent became.
        steps.sort_by(|one, other| one.0.cmp(&other.0));
        let mut gate = Gate { stack: self, out, access: Access::default(), modes: Vec::new() };
        for (path, step) in steps {
            gate.step(&path, step)?;
        }
        // At the end, so that nothing is kept from being written below a read-only folder.
        gate.modes.push((out.to_owned(), root & MERGED_BITS));
        gate.modes.sort_by(|one, other| other.0.cmp(&one.0));
        for (folder, mode) in &gate.modes {
            fs::set_permissions(folder, Permissions::from_mode(*mode))
                .map_err(|error| LayerError::of(folder, &error))?;
        }
        Ok(())
    }
}

struct Gate<'g> {
    stack: &'g LayerStack,
    out: &'g Path,
    access: Access,
    /// The folders that were made, with the modes that they get in the end.
    modes: Vec<(PathBuf, u32)>,
}

impl Gate<'_> {
    fn step(&mut self, path: &Path, step: &HomeStep) -> Result<(), LayerError> {
        let to = self.out.join(path);
        if !self.make_parents(path)? {
            // A parent is removed or is no folder in this layer, and that hides the entry.
            return Ok(());
        }
        let of = |error| LayerError::of(&to, &error);
        match &step.after {
            None => match mknodat(CWD, &to, FileType::CharacterDevice, Mode::empty(), 0) {
                Ok(()) | Err(Errno::EXIST) => Ok(()),
                Err(errno) => Err(LayerError::errno(&to, errno)),
            },
            Some(Node::Folder { mode }) => self.make_folder(&to, *mode),
            Some(Node::Link { target }) => {
                let target =
                    decode_name(target).ok_or_else(|| LayerError::BadPath { path: target.clone() })?;
                symlink(target, &to).map_err(of)
            }
            Some(Node::File { mode, .. }) => self.put_file(step, *mode, &to),
            Some(Node::Special) => Err(LayerError::Special { path: step.path.clone() }),
        }
    }

    fn make_folder(&mut self, to: &Path, mode: u32) -> Result<(), LayerError> {
        match DirBuilder::new().mode(0o700).create(to) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(LayerError::of(to, &error)),
            Ok(()) | Err(_) => {}
        }
        self.modes.push((to.to_owned(), mode & MERGED_BITS));
        Ok(())
    }

    /// Makes the folders above a path. Returns false if one of them is no folder in this layer.
    fn make_parents(&mut self, path: &Path) -> Result<bool, LayerError> {
        let mut above: Vec<&Path> = path.ancestors().skip(1).collect();
        above.reverse();
        for folder in above.into_iter().filter(|folder| !folder.as_os_str().is_empty()) {
            let to = self.out.join(folder);
            match metadata(&to)? {
                Some(found) if found.is_dir() => {}
                Some(_) => return Ok(false),
                None => {
                    let mode = self.shown_mode(folder)?;
                    self.make_folder(&to, mode)?;
                }
            }
        }
        Ok(true)
    }

    /// Returns the mode of a folder in the view, or in the real folder where the view has none.
    fn shown_mode(&self, folder: &Path) -> Result<u32, LayerError> {
        let place = match self.stack.look(&self.access, folder)? {
            Seen::Folder(folder) => folder.place(),
            Seen::Entry { .. } | Seen::Nothing => None,
        };
        let place = place.unwrap_or_else(|| self.stack.lower.join(folder));
        let found = metadata(&place)?.filter(Metadata::is_dir);
        Ok(found.map_or(FOLDER_MODE, |found| self.access.mode(&place, found.permissions().mode())))
    }

    fn put_file(&self, step: &HomeStep, mode: u32, to: &Path) -> Result<(), LayerError> {
        let of = |error| LayerError::of(to, &error);
        let origin = step.source().unwrap_or_default();
        let missing = || LayerError::Source { path: step.path.clone(), origin: origin.clone() };
        for upper in &self.stack.uppers {
            self.access.open_way(upper, &origin).map_err(|_| missing())?;
        }
        let found = metadata(&origin)?.filter(Metadata::is_file).ok_or_else(missing)?;
        copy(&origin, to, mode, &found).map_err(of)
    }
}

/// Copies a file with the time at which the kernel saw it change.
fn copy(from: &Path, to: &Path, mode: u32, found: &Metadata) -> io::Result<()> {
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(to)?;
    io::copy(&mut File::open(from)?, &mut file)?;
    file.set_modified(changed_time(found))?;
    file.set_permissions(Permissions::from_mode(mode & MERGED_BITS))
}

fn changed_time(found: &Metadata) -> SystemTime {
    let (seconds, nanoseconds) = changed_at(found);
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let whole = if seconds < 0 { UNIX_EPOCH - whole } else { UNIX_EPOCH + whole };
    whole + Duration::from_nanos(nanoseconds.unsigned_abs())
}
