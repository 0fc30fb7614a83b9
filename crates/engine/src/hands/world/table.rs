//! The mounts of this process as the kernel lists them.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::path::PathBuf;

use rustix::mount::MountFlags;

/// One mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mounted {
    pub id: u64,
    pub point: PathBuf,
    /// Flags that a change of the mount must repeat, or the kernel takes the change as an attempt to clear them.
    pub kept: MountFlags,
    pub read_only: bool,
}

/// Returns all mounts of this mount namespace.
pub(super) fn read() -> io::Result<Vec<Mounted>> {
    Ok(parse(&fs::read("/proc/self/mountinfo")?))
}

/// Returns the mount points below a folder, without itself. A folder with mount points below it cannot be covered as
/// an ordinary user, and as root only where each of them is shared, shown or hidden.
pub fn mounts_below(at: &Path) -> Vec<PathBuf> {
    let below =
        |mounted: Mounted| (mounted.point != at && mounted.point.starts_with(at)).then_some(mounted.point);
    read().unwrap_or_default().into_iter().filter_map(below).collect()
}

fn parse(table: &[u8]) -> Vec<Mounted> {
    table.split(|byte| *byte == b'\n').filter_map(parse_line).collect()
}

fn parse_line(line: &[u8]) -> Option<Mounted> {
    let mut fields = line.split(|byte| *byte == b' ');
    let id = std::str::from_utf8(fields.next()?).ok()?.parse().ok()?;
    let point = unescape(fields.nth(3)?);
    let options = fields.next()?;
    let mut kept = MountFlags::empty();
    let mut read_only = false;
    for option in options.split(|byte| *byte == b',') {
        match option {
            b"ro" => read_only = true,
            b"nosuid" => kept |= MountFlags::NOSUID,
            b"nodev" => kept |= MountFlags::NODEV,
            b"noexec" => kept |= MountFlags::NOEXEC,
            b"nosymfollow" => kept |= MountFlags::NOSYMFOLLOW,
            // The kernel keeps the settings for access times by itself when none is given.
            _ => {}
        }
    }
    Some(Mounted { id, point, kept, read_only })
}

/// Blanks, tabs, line ends and backslashes are written as `\` and three octal digits.
fn unescape(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let octal =
            after.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(3..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_names_and_flags_are_read() {
        let table = b"36 35 98:0 /mnt1 /a\\040b\\012c\\134d\\ rw,nosuid,noexec,relatime master:1 - ext3 /dev/root rw\n\
            garbage\n7 1 0:1 / / ro - tmpfs x rw\n";
        let mounts = parse(table);
        assert_eq!(mounts.len(), 2);
        assert_eq!(mounts[0].point, Path::new("/a b\nc\\d\\"));
        assert_eq!((mounts[0].id, mounts[0].read_only), (36, false));
        assert_eq!(mounts[0].kept, MountFlags::NOSUID | MountFlags::NOEXEC);
        assert!(mounts[1].read_only);
    }

    #[test]
    fn this_machine_has_a_root() {
        assert!(read().unwrap().iter().any(|mounted| mounted.point == Path::new("/")));
        assert!(mounts_below(Path::new("/")).contains(&PathBuf::from("/proc")));
    }
}
