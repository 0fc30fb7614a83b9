//! The marks that an overlay leaves in an upper layer: whiteouts and `user.overlay.*` attributes.

use std::fs::Metadata;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::lgetxattr;
use rustix::fs::llistxattr;
use rustix::io::Errno;

use super::LayerError;

const PREFIX: &str = "user.overlay.";
/// The mark of what was copied from a layer below.
pub(super) const ORIGIN: &str = "user.overlay.origin";
/// The most that Linux gives for one file.
const NAMES_BYTES_MAX: usize = 64 << 10;

/// The marks of one entry of an upper layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    /// Nothing of the layers below is seen through this folder.
    pub(super) opaque: bool,
    /// It was copied from a layer below.
    pub(super) copied: bool,
}

/// Returns whether the entry means "removed": a character device 0:0.
pub(super) fn is_whiteout(found: &Metadata) -> bool {
    found.file_type().is_char_device() && found.rdev() == 0
}

/// Reads the marks of a file or folder. Attributes that move content elsewhere are refused: views are mounted without
/// them, so whoever set them wants to be misread.
pub(super) fn marks(path: &Path, found: &Metadata) -> Result<Marks, LayerError> {
    let mut marks = Marks::default();
    if !found.is_dir() && !found.is_file() {
        return Ok(marks);
    }
    for name in names(path)?.split(|byte| *byte == 0) {
        let Some(mark) = name.strip_prefix(PREFIX.as_bytes()) else { continue };
        match mark {
            b"opaque" => marks.opaque = opaque(path)?,
            b"origin" => marks.copied = true,
            b"redirect" | b"metacopy" | b"whiteout" => return Err(refused(path, mark)),
            _ => {}
        }
    }
    Ok(marks)
}

/// Returns whether a file has any attribute that an overlay gives a meaning to.
pub(super) fn has_marks(path: &Path) -> Result<bool, LayerError> {
    Ok(names(path)?.split(|byte| *byte == 0).any(|name| name.starts_with(PREFIX.as_bytes())))
}

fn refused(path: &Path, mark: &[u8]) -> LayerError {
    let name = format!("{PREFIX}{}", String::from_utf8_lossy(mark));
    LayerError::Attribute { path: path.to_owned(), name }
}

fn names(path: &Path) -> Result<Vec<u8>, LayerError> {
    let mut buffer = vec![0; 512];
    loop {
        match llistxattr(path, buffer.as_mut_slice()) {
            Ok(length) => {
                buffer.truncate(length);
                return Ok(buffer);
            }
            Err(Errno::RANGE) if buffer.len() < NAMES_BYTES_MAX => buffer.resize(NAMES_BYTES_MAX, 0),
            Err(Errno::OPNOTSUPP) => return Ok(Vec::new()),
            Err(errno) => return Err(LayerError::errno(path, errno)),
        }
    }
}

fn opaque(path: &Path) -> Result<bool, LayerError> {
    let mut value = [0; 8];
    match lgetxattr(path, format!("{PREFIX}opaque"), value.as_mut_slice()) {
        Ok(1) if value[0] == b'y' => Ok(true),
        // `x` announces whiteouts of another form.
        Ok(_) | Err(Errno::RANGE) => Err(refused(path, b"opaque")),
        Err(Errno::NODATA) => Ok(false),
        Err(errno) => Err(LayerError::errno(path, errno)),
    }
}
