//! The folder of one merge: its plan, how far it is, and the files that it displaced.

use std::collections::BTreeSet;
use std::fs;
use std::fs::DirBuilder;
use std::fs::File;
use std::io;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::path::PathBuf;

use rustix::io::Errno;
use serde::Deserialize;
use serde::Serialize;

use super::super::LayerError;
use super::super::node::digest;
use super::super::writes;
use super::plan::Plan;
use super::plan::VERSION;
use super::root::Entry;

const PLAN: &str = "plan.json";
const PHASE: &str = "phase.json";
const DISPLACED: &str = "displaced";
/// Files that have no place of their own below `displaced`.
const MORE: &str = "more";
/// A copy that is not whole yet.
const PART: &str = "part";
const MORE_MAX: usize = 10_000;

/// How far a merge is. It is written down before the first deed of the phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Phase {
    /// New contents are written beside their places; nothing of the real folder is changed yet.
    Staging,
    /// Every new content is beside its place.
    Applying,
    /// A path was neither as before nor as wanted, or a deed failed: everything goes back.
    Undoing {
        conflicts: Vec<String>,
    },
    /// Everything is merged; displaced files are moved out of the real folder.
    Finishing,
    /// Folders get their modes.
    Closing,
    Done,
}

pub(super) struct Kept {
    path: PathBuf,
}

impl Kept {
    pub(super) fn open(path: &Path) -> Result<Kept, LayerError> {
        make_private(path).map_err(|error| LayerError::of(path, &error))?;
        Ok(Kept { path: path.to_owned() })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the plan that a call before this one wrote, and how far it came.
    pub(super) fn read(&self) -> Result<Option<(Plan, Phase)>, LayerError> {
        let Some(plan) = self.parse::<Plan>(PLAN)? else { return Ok(None) };
        if plan.version != VERSION {
            let reason = format!("it has version {}, and {VERSION} is known", plan.version);
            return Err(LayerError::BadPlan { path: self.path.join(PLAN), reason });
        }
        Ok(Some((plan, self.parse(PHASE)?.unwrap_or(Phase::Staging))))
    }

    fn parse<T: for<'de> Deserialize<'de>>(&self, name: &str) -> Result<Option<T>, LayerError> {
        let path = self.path.join(name);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(LayerError::of(&path, &error)),
        };
        serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|error| LayerError::BadPlan { path, reason: error.to_string() })
    }

    /// Writes a new plan. A phase that an earlier one left is removed first: without a plan it means nothing.
    pub(super) fn begin(&self, plan: &Plan) -> Result<(), LayerError> {
        writes::forget_durably(&self.path, PHASE).map_err(|error| LayerError::of(&self.path, &error))?;
        self.write(PLAN, plan)
    }

    pub(super) fn enter(&self, phase: &Phase) -> Result<(), LayerError> {
        self.write(PHASE, phase)
    }

    /// Removes the plan: the next call begins anew.
    pub(super) fn forget(&self) -> Result<(), LayerError> {
        for name in [PLAN, PHASE] {
            writes::forget_durably(&self.path, name).map_err(|error| LayerError::of(&self.path, &error))?;
        }
        Ok(())
    }

    fn write(&self, name: &str, value: &impl Serialize) -> Result<(), LayerError> {
        let path = self.path.join(name);
        let text = serde_json::to_vec(value)
            .map_err(|error| LayerError::BadPlan { path: path.clone(), reason: error.to_string() })?;
        writes::replace_durably(&self.path, name, &text).map_err(|error| LayerError::of(&path, &error))
    }

    /// Moves a displaced file out of the real folder and returns the folder that it is in now.
    pub(super) fn take(&self, entry: &Entry, place: &Path) -> Result<PathBuf, LayerError> {
        let wanted = self.path.join(DISPLACED).join(place);
        match self.try_take(entry, &wanted) {
            // Another version of the file is there already, or the path cannot be made here.
            Err(Errno::EXIST | Errno::NOTDIR | Errno::NAMETOOLONG) => self.take_aside(entry),
            Err(errno) => Err(entry.error(errno)),
            Ok(()) => Ok(parent_of(&wanted)),
        }
    }

    /// Moves a file out of the real folder that is an older version of one there.
    pub(super) fn take_aside(&self, entry: &Entry) -> Result<PathBuf, LayerError> {
        for number in 0..MORE_MAX {
            match self.try_take(entry, &self.path.join(MORE).join(number.to_string())) {
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(entry.error(errno)),
                Ok(()) => return Ok(self.path.join(MORE)),
            }
        }
        Err(entry.error(Errno::EXIST))
    }

    fn try_take(&self, entry: &Entry, wanted: &Path) -> rustix::io::Result<()> {
        make_private(&parent_of(wanted)).map_err(errno_of)?;
        let spot = entry.spot();
        // The same node is kept where that can be: a program that still has it open then writes into the kept file.
        match writes::move_out(spot, wanted) {
            Err(Errno::XDEV | Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                copy_new(&spot.path(), &self.path.join(PART), wanted).map_err(errno_of)?;
                writes::unlink(spot)
            }
            renamed => renamed,
        }
    }

    /// Waits until the disk holds the names in the folders.
    pub(super) fn sync(&self, folders: &BTreeSet<PathBuf>) -> Result<(), LayerError> {
        for folder in folders {
            File::open(folder)
                .and_then(|folder| folder.sync_all())
                .map_err(|error| LayerError::of(folder, &error))?;
        }
        Ok(())
    }
}

fn parent_of(path: &Path) -> PathBuf {
    path.parent().unwrap_or(Path::new("/")).to_owned()
}

fn make_private(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn errno_of(error: io::Error) -> Errno {
    Errno::from_io_error(&error).unwrap_or(Errno::IO)
}

/// Copies a file or a link to a name that must be free, by way of `part`, so that it is always whole.
fn copy_new(from: &Path, part: &Path, to: &Path) -> io::Result<()> {
    if to.symlink_metadata().is_ok() {
        return Err(ErrorKind::AlreadyExists.into());
    }
    let found = from.symlink_metadata()?;
    if found.is_symlink() {
        return std::os::unix::fs::symlink(fs::read_link(from)?, to);
    }
    if !found.is_file() {
        return Err(ErrorKind::CrossesDevices.into());
    }
    let mut file = File::create(part)?;
    digest(&mut File::open(from)?, |piece| writes::write(&mut file, piece))?;
    file.set_permissions(found.permissions())?;
    file.sync_all()?;
    writes::rename_path(part, to)
}
