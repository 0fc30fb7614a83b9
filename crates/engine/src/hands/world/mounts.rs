//! Single mounts: how a place is found, how something is put there, and how the rest is closed.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::AsRawFd;
use std::os::fd::OwnedFd;
use std::path::Component;
use std::path::Path;

use rustix::fs::CWD;
use rustix::fs::Mode;
use rustix::fs::OFlags;
use rustix::fs::ResolveFlags;
use rustix::fs::mkdirat;
use rustix::fs::open;
use rustix::fs::openat;
use rustix::fs::openat2;
use rustix::io::Errno;
use rustix::mount::MountFlags;
use rustix::mount::MoveMountFlags;
use rustix::mount::OpenTreeFlags;
use rustix::mount::mount;
use rustix::mount::mount_remount;
use rustix::mount::move_mount;
use rustix::mount::open_tree;

use crate::hands::world::AtStep;
use crate::hands::world::WorldFault;
use crate::hands::world::WorldStep;
use crate::hands::world::leads_nowhere;
use crate::hands::world::table;

/// Opens a path as it is now. What is mounted over it later does not change what the descriptor means.
pub(super) fn hold(path: &Path) -> Result<OwnedFd, Errno> {
    open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
}

/// Takes a copy of what is at a path now, with everything that is mounted below it.
pub(super) fn clone_tree(path: &Path) -> Result<OwnedFd, Errno> {
    let flags =
        OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
    open_tree(CWD, path, flags)
}

/// Puts a copy at a place.
pub(super) fn attach(tree: &OwnedFd, place: &OwnedFd) -> Result<(), Errno> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(tree, "", place, "", flags)
}

/// Finds the place of a path in the view as it is so far, and makes what is missing of it: below a hidden or private
/// folder the path is not there yet. Links are not followed, for an agent may have put one into a layer.
pub(super) fn mount_point(path: &Path, is_folder: bool) -> Result<OwnedFd, Errno> {
    let mut here = open("/", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let names: Vec<_> = path.components().filter(|part| matches!(part, Component::Normal(_))).collect();
    let find = |folder: &OwnedFd, name: &Path| {
        let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        openat2(folder, name, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)
    };
    for (number, part) in names.iter().enumerate() {
        let name: &Path = part.as_ref();
        here = match find(&here, name) {
            Err(Errno::NOENT) => {
                if is_folder || number + 1 < names.len() {
                    mkdirat(&here, name, Mode::from_raw_mode(0o755))?;
                } else {
                    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
                    drop(openat(&here, name, flags, Mode::from_raw_mode(0o444))?);
                }
                find(&here, name)?
            }
            found => found?,
        };
    }
    Ok(here)
}

/// Returns the name under which a held path can be given to calls that want a path. It needs no escaping, whatever
/// the path is, and does not show in the list of mounts.
pub(super) fn name_of(held: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", held.as_raw_fd())
}

/// Mounts an empty folder. It is writable until [`close_rest`], so that places can be made in it.
pub(super) fn mount_empty(place: &OwnedFd) -> Result<(), Errno> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("tmpfs", name_of(place), "tmpfs", flags, c"size=64k,mode=0755")
}

/// Mounts an overlay. The lower folders are given from the topmost to the lowest.
pub(super) fn mount_overlay(
    place: &OwnedFd,
    lowers: &[OwnedFd],
    upper: &OwnedFd,
    work: &OwnedFd,
) -> io::Result<()> {
    let lowers: Vec<String> = lowers.iter().map(name_of).collect();
    let options = format!(
        "lowerdir={},upperdir={},workdir={},userxattr",
        lowers.join(":"),
        name_of(upper),
        name_of(work)
    );
    let options = CString::new(options)?;
    let flags = MountFlags::NODEV | MountFlags::NOSUID;
    mount("overlay", name_of(place), "overlay", flags, options.as_c_str())?;
    Ok(())
}

/// Makes every mount read-only that `may_write` does not name, as it lies in the view now. A mount that was forgotten
/// is closed and not open.
pub(super) fn close_rest(may_write: impl Fn(&Path) -> bool) -> Result<(), WorldFault> {
    let step = WorldStep::ReadOnly;
    for mounted in table::read().at(step)? {
        if mounted.read_only || may_write(&mounted.point) {
            continue;
        }
        let held = match hold(&mounted.point) {
            Ok(held) => held,
            // Nobody inside comes there either: the agent has the same user and fewer privileges.
            Err(error) if leads_nowhere(error) => continue,
            Err(error) => return Err(error).on(step, &mounted.point),
        };
        // Another mount lies over this one, so its path leads elsewhere.
        if mount_id(&held).on(step, &mounted.point)? != mounted.id {
            continue;
        }
        let flags = MountFlags::BIND | MountFlags::RDONLY | mounted.kept;
        mount_remount(name_of(&held), flags, "").on(step, &mounted.point)?;
    }
    Ok(())
}

/// The list of descriptors has the number of the mount. To ask for the state of the file instead would ask its file
/// system, which may refuse (one of another user's) or never answer (a dead network drive).
fn mount_id(held: &OwnedFd) -> io::Result<u64> {
    let info = fs::read_to_string(format!("/proc/self/fdinfo/{}", held.as_raw_fd()))?;
    let id = info.lines().find_map(|line| line.strip_prefix("mnt_id:")?.trim().parse().ok());
    id.ok_or_else(|| io::ErrorKind::InvalidData.into())
}
