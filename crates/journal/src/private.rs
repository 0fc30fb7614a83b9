//! Keeps the store private: its folders and files belong to this user, nobody else may use them, and none is a link.

use std::fs;
use std::fs::DirBuilder;
use std::fs::File;
use std::fs::Metadata;
use std::fs::OpenOptions;
use std::fs::Permissions;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::fs::OFlags;

use crate::error::At;
use crate::error::Error;

const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
/// What other users may do.
const OTHERS: u32 = 0o077;
const OTHERS_WRITE: u32 = 0o022;

/// How open a folder is to other users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Private,
    /// Others could read it, and could have changed nothing.
    Readable {
        mode: u32,
    },
}

/// Makes a folder that only this user can enter, whatever the umask. One that is there is checked, and tightened.
pub fn make_folder(path: &Path) -> Result<(), Error> {
    match DirBuilder::new().mode(FOLDER_MODE).create(path) {
        Ok(()) => return fs::set_permissions(path, Permissions::from_mode(FOLDER_MODE)).at(path),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let Some(parent) = path.parent() else { return Err(error).at(path) };
            fs::create_dir_all(parent).at(parent)?;
            return make_folder(path);
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error).at(path),
    }
    match look_at_folder(path)? {
        Access::Private => Ok(()),
        Access::Readable { .. } => tighten_folder(path),
    }
}

pub(crate) fn tighten_folder(path: &Path) -> Result<(), Error> {
    fs::set_permissions(path, Permissions::from_mode(FOLDER_MODE)).at(path)
}

/// Says who may use a folder that is there. A link, a folder of another user and one in which others can write are
/// refused: its content may be anybody's.
pub(crate) fn look_at_folder(path: &Path) -> Result<Access, Error> {
    let found = fs::symlink_metadata(path).at(path)?;
    refuse_foreign(path, &found)?;
    if !found.is_dir() {
        return Err(std::io::Error::from(ErrorKind::NotADirectory)).at(path);
    }
    let mode = found.mode() & 0o7777;
    if mode & OTHERS_WRITE != 0 {
        return Err(Error::Exposed { path: path.to_owned(), mode });
    }
    Ok(if mode & OTHERS == 0 { Access::Private } else { Access::Readable { mode } })
}

/// Opens a file for this user alone, and makes it where there is none. The mode of one that is there is tightened.
pub(crate) fn open_file(path: &Path) -> Result<File, Error> {
    let opened = OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .mode(FILE_MODE)
        .custom_flags(OFlags::NOFOLLOW.bits() as i32)
        .open(path);
    let file = match opened {
        // A link is told from a loop of links by looking.
        Err(error) => {
            check_file(path)?;
            return Err(error).at(path);
        }
        Ok(file) => file,
    };
    let found = file.metadata().at(path)?;
    refuse_foreign(path, &found)?;
    if found.mode() & OTHERS != 0 {
        file.set_permissions(Permissions::from_mode(FILE_MODE)).at(path)?;
    }
    Ok(file)
}

/// Checks a file that may be there, and tightens its mode.
pub(crate) fn check_file(path: &Path) -> Result<(), Error> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).at(path),
    };
    refuse_foreign(path, &found)?;
    if found.mode() & OTHERS != 0 && found.is_file() {
        return fs::set_permissions(path, Permissions::from_mode(FILE_MODE)).at(path);
    }
    Ok(())
}

/// Tightens the folders and files directly in `dir` that other programs and earlier versions left to the umask. The
/// folder itself is closed already, so that nothing depends on it.
pub(crate) fn tighten_below(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let Ok(found) = entry.metadata() else { continue };
        let mode = if found.is_dir() { FOLDER_MODE } else { FILE_MODE };
        if found.mode() & OTHERS != 0 && (found.is_dir() || found.is_file()) {
            let _ = fs::set_permissions(entry.path(), Permissions::from_mode(mode));
        }
    }
}

/// Like [`check_file`], for those who change nothing.
pub(crate) fn check_file_to_read(path: &Path) -> Result<(), Error> {
    match fs::symlink_metadata(path) {
        Ok(found) => refuse_foreign(path, &found),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error).at(path),
    }
}

fn refuse_foreign(path: &Path, found: &Metadata) -> Result<(), Error> {
    if found.is_symlink() {
        return Err(Error::Link { path: path.to_owned() });
    }
    let owner = found.uid();
    if owner != rustix::process::geteuid().as_raw() {
        return Err(Error::OtherOwner { path: path.to_owned(), owner });
    }
    Ok(())
}
