//! Waiting for several things at once without looking again and again.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;
use std::time::Instant;

use rustix::event::PollFd;
use rustix::event::PollFlags;
use rustix::event::Timespec;
use rustix::event::poll;
use rustix::io::Errno;

/// Waits until one of `sources` can be read (or has ended) or until the moment has come, and says which are
/// ready. An absent source is never ready.
pub(super) fn ready<const N: usize>(
    sources: [Option<BorrowedFd<'_>>; N],
    until: Option<Instant>,
) -> io::Result<[bool; N]> {
    let mut polled: Vec<PollFd<'_>> =
        sources.iter().flatten().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
    loop {
        let left = until.map(self::until);
        match poll(&mut polled, left.as_ref()) {
            Ok(_) => break,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let mut events = polled.iter().map(|fd| !fd.revents().is_empty());
    Ok(sources.map(|source| source.is_some() && events.next().unwrap_or(false)))
}

/// The time that is left until a moment.
pub(super) fn until(moment: Instant) -> Timespec {
    let span = moment.saturating_duration_since(Instant::now());
    Timespec {
        tv_sec: i64::try_from(span.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(span.subsec_nanos()),
    }
}

/// The moment `ms` from now. One that lies beyond what the clock can express never comes.
pub(super) fn in_ms(ms: u64) -> Option<Instant> {
    Instant::now().checked_add(Duration::from_millis(ms))
}
