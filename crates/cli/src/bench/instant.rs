//! A schedule whose work is nothing: what remains is what the engine itself costs.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;

use seriatim_core::time::Utc;
use seriatim_engine::hands::clock::Clock;
use seriatim_engine::hands::clock::SystemClock;
use seriatim_engine::job::Address;
use seriatim_engine::job::Job;
use seriatim_engine::perform::Stuck;
use seriatim_engine::schedule::Event;
use seriatim_engine::schedule::Schedule;
use seriatim_flows::request::Done;
use seriatim_flows::request::Ran;

/// The outcome of a command that ended well and said nothing.
pub(crate) fn nothing_done() -> Vec<u8> {
    let ran: Done<Ran> = Ok(Ran { code: Some(0), ..Ran::default() });
    serde_json::to_vec(&ran).unwrap_or_default()
}

/// Who is told when a step begins. Whatever the step before it led to is durable by then.
pub(crate) trait Witness {
    fn begins(&mut self, key: &str);
}

/// Ends every job in the moment it begins.
pub(crate) struct Instantly<'a> {
    clock: SystemClock,
    events: Vec<Event>,
    outcome: Vec<u8>,
    witness: &'a mut dyn Witness,
    interrupted: Arc<AtomicBool>,
}

impl<'a> Instantly<'a> {
    pub(crate) fn new(witness: &'a mut dyn Witness, interrupted: Arc<AtomicBool>) -> Instantly<'a> {
        Instantly {
            clock: SystemClock::default(),
            events: vec![],
            outcome: nothing_done(),
            witness,
            interrupted,
        }
    }
}

impl Schedule for Instantly<'_> {
    fn now(&mut self) -> Utc {
        self.clock.now()
    }

    /// Commands have effects: each is in the journal before it begins.
    fn inline(&mut self, _job: &Job) -> Option<Result<Vec<u8>, Stuck>> {
        None
    }

    fn start(&mut self, job: Job) {
        self.witness.begins(&job.address.key);
        self.events.push(Event::Finished { address: job.address, result: Ok(self.outcome.clone()) });
    }

    fn stop(&mut self, _address: &Address) {}

    fn clear(&mut self, _job: &Job) {}

    fn busy(&self) -> usize {
        self.events.len()
    }

    fn wait(&mut self, _wait_ms: u64) -> Vec<Event> {
        if self.interrupted.load(Ordering::Relaxed) {
            self.events.push(Event::Interrupt);
        }
        std::mem::take(&mut self.events)
    }
}
