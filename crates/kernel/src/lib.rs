//! The gate: calls of the kernel that the compiler cannot check, each behind a function that can be called safely.
//!
//! Every other crate of the house forbids `unsafe`. This one exists so that the compiler holds that wall: what needs
//! the word is here, is short, and says why it is sound.

use std::fs;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::fd::RawFd;

use rustix::io::Errno;
use rustix::io::FdFlags;
pub use rustix::thread::UnshareFlags;

/// Why a process did not get namespaces of its own.
#[derive(Debug, thiserror::Error)]
pub enum UnshareError {
    #[error("the process has {count} threads and must have one")]
    Threads { count: usize },
    #[error("a table of descriptors cannot be unshared here")]
    Descriptors,
    #[error("the threads of this process cannot be counted: {0}")]
    Uncounted(io::Error),
    #[error("{0}")]
    Kernel(Errno),
}

impl UnshareError {
    /// Returns the number of the error where the kernel gave one.
    pub fn errno(&self) -> Option<i32> {
        match self {
            UnshareError::Kernel(errno) => Some(errno.raw_os_error()),
            UnshareError::Uncounted(error) => error.raw_os_error(),
            UnshareError::Threads { .. } | UnshareError::Descriptors => None,
        }
    }
}

/// Moves this process into new namespaces.
///
/// The process must have one thread: the kernel refuses some namespaces to a process with more, but not all, and a
/// thread that stays behind would still be in the old ones.
pub fn unshare(flags: UnshareFlags) -> Result<(), UnshareError> {
    if flags.contains(UnshareFlags::FILES) {
        return Err(UnshareError::Descriptors);
    }
    let count = fs::read_dir("/proc/self/task").map_err(UnshareError::Uncounted)?.count();
    if count != 1 {
        return Err(UnshareError::Threads { count });
    }
    #[expect(unsafe_code, reason = "rustix marks the call because of a flag that is refused above")]
    // SAFETY: the call is unsound only where threads stop sharing their descriptors. `FILES` is refused above, and
    // there is no second thread.
    let unshared = unsafe { rustix::thread::unshare_unsafe(flags) };
    unshared.map_err(UnshareError::Kernel)
}

/// Marks every open descriptor from `first` on, so that the next program that this process starts does not get it.
pub fn close_on_exec_from(first: RawFd) -> io::Result<()> {
    // The list is complete before the first descriptor is marked; the one that reads it is closed by then.
    let open: Vec<RawFd> = fs::read_dir("/proc/self/fd")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|number| *number >= first && *number >= 0)
        .collect();
    for number in open {
        #[expect(
            unsafe_code,
            reason = "the number comes from the kernel and belongs to no value of this program"
        )]
        // SAFETY: the number is not -1, and it is used for one call that neither reads, writes nor closes. If it is
        // closed by now the call fails with EBADF; if it was opened anew it gets the flag that Rust gives it anyway.
        let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
        match rustix::io::fcntl_setfd(descriptor, FdFlags::CLOEXEC) {
            Ok(()) | Err(Errno::BADF) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use rustix::io::fcntl_getfd;
    use rustix::io::fcntl_setfd;

    use super::*;

    #[test]
    fn a_process_with_threads_gets_no_namespaces() {
        // The harness has a thread of its own beside the one of this test.
        let refused = unshare(UnshareFlags::empty()).unwrap_err();
        assert!(matches!(refused, UnshareError::Threads { count } if count > 1), "{refused}");
        assert!(matches!(unshare(UnshareFlags::FILES), Err(UnshareError::Descriptors)));
        assert_eq!(refused.errno(), None);
    }

    #[test]
    fn descriptors_from_a_number_on_are_marked() {
        let (low, high) = (fs::File::open("/dev/null").unwrap(), fs::File::open("/dev/null").unwrap());
        for file in [&low, &high] {
            fcntl_setfd(file, FdFlags::empty()).unwrap();
        }
        close_on_exec_from(high.as_raw_fd().max(low.as_raw_fd())).unwrap();
        let marked = [&low, &high].map(|file| fcntl_getfd(file).unwrap().contains(FdFlags::CLOEXEC));
        assert_eq!(marked, [low.as_raw_fd() > high.as_raw_fd(), high.as_raw_fd() > low.as_raw_fd()]);
    }
}
