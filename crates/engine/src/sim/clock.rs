//! A clock that moves when it is told to, and that somebody sets forward and back.

use std::sync::Mutex;

use seriatim_core::time::Utc;

use super::lock;
use crate::hands::clock::Clock;

/// Time as the simulation makes it.
#[derive(Debug)]
pub struct SimClock {
    hands: Mutex<Moment>,
}

#[derive(Clone, Copy, Debug)]
struct Moment {
    wall: Utc,
    monotonic_ms: u64,
}

impl SimClock {
    pub fn at(wall: Utc) -> SimClock {
        SimClock { hands: Mutex::new(Moment { wall, monotonic_ms: 0 }) }
    }

    /// Lets time pass.
    pub fn advance(&self, ms: u64) {
        let mut moment = lock(&self.hands);
        moment.wall = moment.wall.plus_ms(ms);
        moment.monotonic_ms = moment.monotonic_ms.saturating_add(ms);
    }

    /// Somebody sets the clock. No time passes (E-88).
    pub fn jump(&self, ms: i64) {
        let mut moment = lock(&self.hands);
        moment.wall = Utc(moment.wall.0.saturating_add(ms));
    }
}

impl Clock for SimClock {
    fn now(&self) -> Utc {
        lock(&self.hands).wall
    }

    fn monotonic_ms(&self) -> u64 {
        lock(&self.hands).monotonic_ms
    }
}
