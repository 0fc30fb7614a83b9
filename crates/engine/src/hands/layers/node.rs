//! What lies at a path, in a form that can be compared, written down and read again.

use std::fs::File;
use std::io;
use std::io::ErrorKind;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::AtFlags;
use rustix::fs::FileType;
use rustix::fs::Mode;
use rustix::fs::OFlags;
use rustix::fs::fstat;
use rustix::fs::openat;
use rustix::fs::readlinkat;
use rustix::fs::statat;
use rustix::io::Errno;
use rustix::process::geteuid;
use serde::Deserialize;
use serde::Serialize;
use seriatim_core::hash::Hash;
use sha2::Digest;
use sha2::Sha256;

use super::LayerError;
use super::writes::descriptor_path;
use super::writes::set_mode;
use crate::hands::files::FileError;
use crate::hands::paths::encode_name;

const READ_BYTES: usize = 128 << 10;
const PERMISSION_BITS: u32 = 0o7777;
/// The bits that are merged. Set-user-id, set-group-id and sticky stay behind.
pub(super) const MERGED_BITS: u32 = 0o777;
/// How often an entry is looked at again that was replaced between two calls.
const LOOKS_MAX: usize = 100;

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Node {
    File {
        mode: u32,
        size: u64,
        hash: Hash,
    },
    /// The target is in the form of [`encode_name`].
    Link {
        target: String,
    },
    Folder {
        mode: u32,
    },
    /// A pipe, a socket or a device.
    Special,
}

impl Node {
    /// Returns whether both are the same once they are merged: modes count without the bits that stay behind.
    pub fn is_same(&self, other: &Node) -> bool {
        match (self, other) {
            (Node::File { mode, size, hash }, Node::File { mode: mode_2, size: size_2, hash: hash_2 }) => {
                (mode & MERGED_BITS, size, hash) == (mode_2 & MERGED_BITS, size_2, hash_2)
            }
            (Node::Folder { mode }, Node::Folder { mode: other }) => {
                mode & MERGED_BITS == other & MERGED_BITS
            }
            (Node::Link { .. } | Node::Special, _) => self == other,
            (Node::File { .. } | Node::Folder { .. }, _) => false,
        }
    }

    /// Returns whether it is a folder.
    pub fn is_folder(&self) -> bool {
        matches!(self, Node::Folder { .. })
    }

    /// Returns the same with another mode.
    pub(super) fn with_mode(self, mode: u32) -> Node {
        match self {
            Node::File { size, hash, .. } => Node::File { mode, size, hash },
            Node::Folder { .. } => Node::Folder { mode },
            Node::Link { .. } | Node::Special => self,
        }
    }
}

/// Returns whether two looks at a path found the same.
pub(super) fn same(one: Option<&Node>, other: Option<&Node>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one.is_same(other),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// Reads the entry `name` of a folder without following a link. `shown` is the path that errors name.
pub(super) fn read_node(
    folder: impl AsFd,
    name: impl AsRef<Path>,
    shown: &Path,
) -> Result<Option<Node>, LayerError> {
    let (folder, name) = (folder.as_fd(), name.as_ref());
    let of = |errno| LayerError::errno(shown, errno);
    for _ in 0..LOOKS_MAX {
        let found = match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => found,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
            Err(errno) => return Err(of(errno)),
        };
        let mode = found.st_mode & PERMISSION_BITS;
        let read = match FileType::from_raw_mode(found.st_mode) {
            FileType::Directory => return Ok(Some(Node::Folder { mode })),
            FileType::RegularFile => read_file(folder, name, shown),
            FileType::Symlink => match readlinkat(folder, name, Vec::new()) {
                Ok(target) => {
                    let target = encode_name(std::os::unix::ffi::OsStrExt::from_bytes(target.as_bytes()));
                    Ok(Some(Node::Link { target }))
                }
                Err(Errno::NOENT | Errno::INVAL) => Ok(None),
                Err(errno) => Err(of(errno)),
            },
            _ => return Ok(Some(Node::Special)),
        };
        // `None` here: it was replaced between the two calls, so look again.
        if let Some(node) = read? {
            return Ok(Some(node));
        }
    }
    let reason = "it was replaced again and again while it was read".to_owned();
    Err(FileError::Io { path: shown.to_owned(), reason }.into())
}

fn read_file(folder: impl AsFd, name: &Path, shown: &Path) -> Result<Option<Node>, LayerError> {
    let opened = match open_file(&folder, name) {
        Ok(opened) => opened,
        Err(Errno::NOENT | Errno::LOOP | Errno::NXIO) => return Ok(None),
        Err(Errno::ACCESS) => return read_closed_file(folder, name, shown),
        Err(errno) => return Err(LayerError::errno(shown, errno)),
    };
    let found = fstat(&opened).map_err(|errno| LayerError::errno(shown, errno))?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Ok(None);
    }
    let (size, hash) =
        digest(&mut File::from(opened), |_| Ok(())).map_err(|error| LayerError::of(shown, &error))?;
    Ok(Some(Node::File { mode: found.st_mode & PERMISSION_BITS, size, hash }))
}

fn open_file(folder: impl AsFd, name: &Path) -> rustix::io::Result<OwnedFd> {
    // Without NONBLOCK a pipe that was put there in between would block for ever.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    openat(folder, name, flags, Mode::empty())
}

/// Reads a file that is unreadable to its own owner: it is readable for the moment of opening it. Without this, a file
/// that an agent leaves so could be merged, but never compared again.
fn read_closed_file(folder: impl AsFd, name: &Path, shown: &Path) -> Result<Option<Node>, LayerError> {
    let of = |errno| LayerError::errno(shown, errno);
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let place = match openat(folder, name, flags, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(None),
        place => place.map_err(of)?,
    };
    let found = fstat(&place).map_err(of)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Ok(None);
    }
    let mode = found.st_mode & PERMISSION_BITS;
    if found.st_uid != geteuid().as_raw() || mode & 0o400 != 0 {
        return Err(of(Errno::ACCESS));
    }
    let io_error = |error: io::Error| LayerError::of(shown, &error);
    set_mode(&place, mode | 0o400).map_err(io_error)?;
    let opened = File::open(descriptor_path(&place));
    set_mode(&place, mode).map_err(io_error)?;
    let (size, hash) = digest(&mut opened.map_err(io_error)?, |_| Ok(())).map_err(io_error)?;
    Ok(Some(Node::File { mode, size, hash }))
}

/// Reads to the end, gives each piece to `each`, and returns size and digest.
pub(super) fn digest(
    from: &mut impl Read,
    mut each: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<(u64, Hash)> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0u8; READ_BYTES];
    let mut size = 0;
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok((size, Hash(hasher.finalize().into()))),
            Ok(count) => {
                hasher.update(&buffer[..count]);
                each(&buffer[..count])?;
                size += count as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
