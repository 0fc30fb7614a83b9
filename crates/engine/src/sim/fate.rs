//! When the engine dies: at a call of a port that was chosen beforehand.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::panic::catch_unwind;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::Mutex;

use super::lock;

/// The end of the engine, in the middle of what it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crash {
    /// What it was about to do or had just done.
    pub point: &'static str,
    /// How many points it had passed.
    pub number: u64,
}

impl fmt::Display for Crash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "crash at point {} ({})", self.number, self.point)
    }
}

/// Counts the points at which the engine could die, and ends it at the one that was chosen. All ports of a world
/// share one. The points lie around everything that changes something outside, so that between two commits, and
/// between a commit and the next effect, there is always at least one.
#[derive(Clone, Debug, Default)]
pub struct Fate {
    thread: Arc<Mutex<Thread>>,
}

#[derive(Debug, Default)]
struct Thread {
    passed: u64,
    cut_at: Option<u64>,
}

impl Fate {
    /// The engine will die after `points` more points; `None` lets it live.
    pub fn crash_after(&self, points: Option<u64>) {
        let mut thread = lock(&self.thread);
        thread.cut_at = points.map(|points| thread.passed.saturating_add(points));
    }

    /// How many points were passed so far.
    pub fn passed(&self) -> u64 {
        lock(&self.thread).passed
    }

    /// A point at which the engine could die. If it does, this does not return: nothing polite happens on the
    /// way out, as nothing does when a process is killed.
    pub fn pass(&self, point: &'static str) {
        let number = {
            let mut thread = lock(&self.thread);
            let number = thread.passed;
            thread.passed += 1;
            if thread.cut_at.is_none_or(|at| at != number) {
                return;
            }
            thread.cut_at = None;
            number
        };
        resume_unwind(Box::new(Crash { point, number }));
    }
}

/// Lets the engine work until it is done or dies. A panic that is no crash goes on as it is.
pub fn survive<T>(work: impl FnOnce() -> T) -> Result<T, Crash> {
    // What the engine leaves behind is looked at from outside only: the store and the simulated files.
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| match payload.downcast::<Crash>() {
        Ok(crash) => *crash,
        Err(other) => resume_unwind(other),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_dies_where_it_was_told_to_and_only_there() {
        let fate = Fate::default();
        fate.pass("before");
        fate.crash_after(Some(1));
        let work = || ["one", "two", "three"].map(|point| fate.pass(point)).len();
        assert_eq!(survive(work), Err(Crash { point: "two", number: 2 }));
        assert_eq!((survive(work), fate.passed()), (Ok(3), 6));
    }
}
