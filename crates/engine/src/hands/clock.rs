//! The clock: the one place where the engine learns the time.

use std::time::Instant;
use std::time::SystemTime;
use std::time::UNIX_EPOCH;

use seriatim_core::time::Utc;

/// Where time comes from.
pub trait Clock: Send + Sync {
    /// The time of day. It may jump when somebody sets the clock.
    fn now(&self) -> Utc;

    /// Milliseconds since some fixed moment. It never goes back, so spans are measured with it (E-88).
    fn monotonic_ms(&self) -> u64;
}

/// The clock of this machine.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    start: Instant,
}

impl Default for SystemClock {
    fn default() -> SystemClock {
        SystemClock { start: Instant::now() }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Utc {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Utc(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
    }

    fn monotonic_ms(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e_88_spans_never_go_back() {
        let clock = SystemClock::default();
        let first = clock.monotonic_ms();
        assert!(clock.monotonic_ms() >= first);
        assert!(clock.now() > Utc::parse("2020-01-01T00:00:00Z").unwrap());
    }
}
