//! Changes of files that are all made, or none of them.

use std::io;
use std::path::Path;
use std::path::PathBuf;

use seriatim_engine::hands::disk::Disk;
use seriatim_engine::hands::files::Entry;
use seriatim_engine::hands::files::Expect;
use seriatim_engine::hands::files::FileError;
use seriatim_engine::hands::files::Files;
use seriatim_engine::hands::files::Write;

/// No file that is changed here is larger.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// One change of one file or folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// Folders above it are made where they are missing.
    Write {
        path: PathBuf,
        bytes: Vec<u8>,
        mode: Option<u32>,
        expect: Expect,
    },
    Remove {
        path: PathBuf,
    },
    /// Bytes, mode and links go along; nothing is ever replaced by it.
    Move {
        from: PathBuf,
        to: PathBuf,
    },
    MakeFolder {
        path: PathBuf,
    },
    /// A folder that is still needed by others stays.
    RemoveFolder {
        path: PathBuf,
    },
}

/// Why nothing was changed.
#[derive(Debug, thiserror::Error)]
pub(super) enum ChangeError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{} cannot be moved to {}: {source}", from.display(), to.display())]
    Move { from: PathBuf, to: PathBuf, source: io::Error },
    #[error("{} cannot be made or removed: {source}", path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error("{why}; and not all could be put back: {}", left.join("; "))]
    HalfWay { why: Box<ChangeError>, left: Vec<String> },
}

/// Does all of it; or, when something fails, puts back what was done.
pub(super) fn carry_out<'a>(acts: impl IntoIterator<Item = &'a Act>) -> Result<(), ChangeError> {
    let mut back: Vec<Act> = vec![];
    for act in acts {
        match act.carry_out() {
            Ok(undo) => back.extend(undo),
            Err(why) => {
                let undone = back.iter().rev().map(Act::carry_out);
                let left: Vec<String> =
                    undone.filter_map(Result::err).map(|error| error.to_string()).collect();
                if left.is_empty() {
                    return Err(why);
                }
                return Err(ChangeError::HalfWay { why: Box::new(why), left });
            }
        }
    }
    Ok(())
}

/// The folders above a path that are not there, outermost first.
pub(super) fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let mut missing: Vec<PathBuf> =
        path.ancestors().skip(1).take_while(|folder| !folder.exists()).map(Path::to_owned).collect();
    missing.reverse();
    missing.retain(|folder| !folder.as_os_str().is_empty());
    missing
}

impl Act {
    /// Does it, and says what would undo it, to be done from the last to the first.
    fn carry_out(&self) -> Result<Vec<Act>, ChangeError> {
        match self {
            Act::Write { path, bytes, mode, expect } => {
                let mut undo: Vec<Act> =
                    missing_folders(path).into_iter().map(|path| Act::RemoveFolder { path }).collect();
                undo.push(restoring(path)?.unwrap_or_else(|| Act::Remove { path: path.clone() }));
                Disk.write(path, bytes, Write { expect: *expect, durable: true, mode: *mode })?;
                Ok(undo)
            }
            Act::Remove { path } => {
                let undo = restoring(path)?;
                Disk.remove(path)?;
                Ok(undo.into_iter().collect())
            }
            Act::Move { from, to } => {
                let failed = |source| ChangeError::Move { from: from.clone(), to: to.clone(), source };
                if to.symlink_metadata().is_ok() {
                    return Err(failed(io::ErrorKind::AlreadyExists.into()));
                }
                std::fs::rename(from, to).map_err(failed)?;
                Ok(vec![Act::Move { from: to.clone(), to: from.clone() }])
            }
            Act::MakeFolder { path } => match std::fs::create_dir(path) {
                Ok(()) => Ok(vec![Act::RemoveFolder { path: path.clone() }]),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(vec![]),
                Err(source) => Err(ChangeError::Folder { path: path.clone(), source }),
            },
            Act::RemoveFolder { path } => match std::fs::remove_dir(path) {
                Ok(()) => Ok(vec![Act::MakeFolder { path: path.clone() }]),
                Err(error) if stays(&error) => Ok(vec![]),
                Err(source) => Err(ChangeError::Folder { path: path.clone(), source }),
            },
        }
    }
}

fn stays(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotFound)
}

/// What puts a file back as it is now; nothing where there is none.
fn restoring(path: &Path) -> Result<Option<Act>, FileError> {
    let Some(Entry { mode, .. }) = Disk.look(path)? else { return Ok(None) };
    let bytes = Disk.read(path, FILE_BYTES_MAX)?.bytes;
    Ok(Some(Act::Write { path: path.to_owned(), bytes, mode: Some(mode), expect: Expect::Any }))
}
