//! Moves a store to another folder: whole, once, and such that a crash leaves one of the two places whole.

use std::fs;
use std::fs::File;
use std::io;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rusqlite::Connection;
use rustix::io::Errno;

use crate::error::At;
use crate::error::Error;
use crate::holder;
use crate::lock::WriterLock;
use crate::private;
use crate::schema;
use crate::store::Mode;
use crate::store::connect;
use crate::store::database_path;
use crate::store::sync_folder;

/// What became of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relocated {
    Moved,
    /// A living process works with the store where it is.
    Busy,
    /// Another process moved it meanwhile, or there is a store at the new place already.
    Elsewhere,
}

/// Moves the store in `from` to `to`, which must not exist. `origin` is the workspace to which the runs belong that
/// name none.
pub fn relocate(from: &Path, to: &Path, origin: &str) -> Result<Relocated, Error> {
    private::look_at_folder(from).or_else(|error| match error {
        // Loose modes are what is put right here; whoever may enter the new place is decided by its own mode.
        Error::Exposed { .. } => Ok(private::Access::Private),
        other => Err(other),
    })?;
    let lock = WriterLock::open(from)?;
    let _turn = lock.turn()?;
    if !lock.is_in(from) || fs::symlink_metadata(to).is_ok() {
        return Ok(Relocated::Elsewhere);
    }
    if holder::is_any_alive(from) {
        return Ok(Relocated::Busy);
    }
    if origin != "." {
        set_origin(from, origin)?;
    }
    private::tighten_folder(from)?;
    match fs::rename(from, to) {
        Ok(()) => {
            sync_parents(from, to)?;
            Ok(Relocated::Moved)
        }
        Err(error) if matches!(error.raw_os_error(), Some(code) if code == Errno::XDEV.raw_os_error()) => {
            copy_across(from, to)?;
            Ok(Relocated::Moved)
        }
        Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty) => {
            Ok(Relocated::Elsewhere)
        }
        Err(error) => Err(error).at(to),
    }
}

/// Removes what a move to another file system left at the old place when it was cut off at its end: a store of which
/// every file is at the new place, to the byte. Anything else is somebody's record and stays; then the result is false.
pub fn finish_relocation(from: &Path, to: &Path) -> Result<bool, Error> {
    if private::look_at_folder(from).is_err() {
        return Ok(false);
    }
    match (id_of(from), id_of(to)) {
        (Some(old), Some(new)) if old == new => {}
        _ => return Ok(false),
    }
    if !is_copied(from, to).at(from)? {
        return Ok(false);
    }
    fs::remove_dir_all(from).at(from)?;
    Ok(true)
}

/// Whether every file below a folder has its like below another one.
fn is_copied(from: &Path, to: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (here, there) = (entry.path(), to.join(entry.file_name()));
        let same = if entry.file_type()?.is_dir() {
            is_copied(&here, &there)?
        } else {
            fs::read(&there).ok() == Some(fs::read(&here)?)
        };
        if !same {
            return Ok(false);
        }
    }
    Ok(true)
}

fn sync_parents(from: &Path, to: &Path) -> Result<(), Error> {
    for folder in [to.parent(), from.parent()].into_iter().flatten() {
        sync_folder(folder)?;
    }
    Ok(())
}

/// Brings the database forward and notes whose the runs without a workspace are. A database that cannot be opened is
/// moved as it is: `verify` tells what is wrong with it, there as here.
fn set_origin(dir: &Path, origin: &str) -> Result<(), Error> {
    let path = database_path(dir);
    let Some(conn) = open_forward(&path) else { return Ok(()) };
    conn.execute("UPDATE store SET origin = ?1 WHERE origin = '.'", [origin]).at(&path)?;
    Ok(())
}

fn open_forward(path: &Path) -> Option<Connection> {
    if fs::metadata(path).map_or(0, |found| found.len()) == 0 {
        return None;
    }
    let conn = connect(path, Mode::Writer).ok()?;
    let found = schema::inspect(&conn, path).ok()?;
    schema::migrate(&conn, path, found).ok()?;
    Some(conn)
}

fn id_of(dir: &Path) -> Option<String> {
    let path = database_path(dir);
    let conn = connect(&path, Mode::Reader).ok()?;
    conn.query_row("SELECT id FROM store", [], |row| row.get(0)).ok()
}

/// Copies first and gives the copy its name last: until then the old place is the store, and from then on the new one.
fn copy_across(from: &Path, to: &Path) -> Result<(), Error> {
    // By its id the old place is known as a copy when the removal at the end is cut off.
    drop(open_forward(&database_path(from)));
    let unfinished = to.with_extension("moving");
    if fs::symlink_metadata(&unfinished).is_ok() {
        fs::remove_dir_all(&unfinished).at(&unfinished)?;
    }
    copy_folder(from, &unfinished)?;
    fs::rename(&unfinished, to).at(to)?;
    sync_parents(from, to)?;
    fs::remove_dir_all(from).at(from)
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), Error> {
    private::make_folder(to)?;
    for entry in fs::read_dir(from).at(from)? {
        let entry = entry.at(from)?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let found = fs::symlink_metadata(&source).at(&source)?;
        if found.is_dir() {
            copy_folder(&source, &target)?;
        } else if found.is_symlink() {
            let link = fs::read_link(&source).at(&source)?;
            std::os::unix::fs::symlink(link, &target).at(&target)?;
        } else if found.is_file() {
            fs::copy(&source, &target).at(&target)?;
            File::open(&target).and_then(|file| file.sync_all()).at(&target)?;
        }
    }
    sync_folder(to)
}

/// The device and the number of a file: two names of the same one have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    device: u64,
    number: u64,
}

impl Node {
    /// The node that is at `path`, a link not followed; nothing when there is none.
    pub(crate) fn at(path: &Path) -> Option<Node> {
        fs::symlink_metadata(path).ok().map(|found| Node { device: found.dev(), number: found.ino() })
    }

    pub(crate) fn of(file: &File) -> Option<Node> {
        file.metadata().ok().map(|found| Node { device: found.dev(), number: found.ino() })
    }
}
