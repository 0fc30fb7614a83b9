//! Jobs in virtual time: what is under way ends in an order that the seed decides.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::Mutex;

use seriatim_core::redact::Redactor;
use seriatim_core::time::Utc;
use seriatim_flows::Request;

use super::clock::SimClock;
use super::fate::Fate;
use super::lock;
use super::processes::SimProcesses;
use super::rng::Rng;
use crate::hands::clock::Clock;
use crate::hands::process::Printed;
use crate::hands::process::Stream;
use crate::hands::process::Watch;
use crate::job::Address;
use crate::job::Job;
use crate::perform::Hands;
use crate::perform::Stuck;
use crate::perform::clear;
use crate::perform::perform;
use crate::schedule::Event;
use crate::schedule::Schedule;

/// What is no process takes less than this.
const EFFECT_MS_MAX: u64 = 20;
/// Somebody sets the clock by less than this.
const JUMP_MS_MAX: u64 = 7_200_000;

/// A job that was begun.
struct Working {
    address: Address,
    /// When it goes on: it begins its work, or it is over.
    at_ms: u64,
    stage: Stage,
}

enum Stage {
    Waits(Box<Job>),
    Over { result: Result<Vec<u8>, Stuck>, lines: Vec<String>, printed: Option<Printed> },
}

/// What somebody else does at some time, while the engine works.
type Outside<'a> = Box<dyn FnOnce() + 'a>;

/// Performs jobs one after the other in virtual time. Dropping it ends everything that is under way, as the end of
/// the engine does.
pub struct SimSchedule<'a> {
    hands: Hands,
    clock: Arc<SimClock>,
    processes: Arc<SimProcesses>,
    fate: Fate,
    rng: Rng,
    /// Of a hundred waits, this many see the clock set.
    jumps: u64,
    /// Whether it is set to a time of the same day at most.
    jumps_stay: bool,
    working: Vec<Working>,
    interrupt_at_ms: Option<u64>,
    outside: Vec<(u64, Outside<'a>)>,
}

/// Hears what a job prints.
struct Ear {
    redactor: Redactor,
    lines: Mutex<Vec<String>>,
    printed: Mutex<Option<Printed>>,
}

impl Watch for Ear {
    fn line(&self, _stream: Stream, line: &str) {
        lock(&self.lines).push(line.to_owned());
    }

    fn printed(&self, printed: &Printed) {
        *lock(&self.printed) = Some(printed.clone());
    }

    fn clean<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.redactor.clean(text)
    }
}

/// What happens next.
enum Next {
    Job(usize),
    Interrupt,
    Outside(usize),
}

impl<'a> SimSchedule<'a> {
    /// `hands` must be made of the same clock and processes.
    pub fn new(
        hands: Hands,
        clock: Arc<SimClock>,
        processes: Arc<SimProcesses>,
        fate: Fate,
        rng: Rng,
    ) -> SimSchedule<'a> {
        SimSchedule {
            hands,
            clock,
            processes,
            fate,
            rng,
            jumps: 0,
            jumps_stay: false,
            working: vec![],
            interrupt_at_ms: None,
            outside: vec![],
        }
    }

    /// Of a hundred waits, `percent` see somebody set the clock forward or back (E-88).
    #[must_use]
    pub fn with_jumps(mut self, percent: u64) -> SimSchedule<'a> {
        self.jumps = percent;
        self
    }

    /// Nobody sets the clock to another day.
    #[must_use]
    pub fn within_the_day(mut self) -> SimSchedule<'a> {
        self.jumps_stay = true;
        self
    }

    /// Somebody wants the engine to stop, `ms` from now.
    pub fn interrupt_in(&mut self, ms: u64) {
        self.interrupt_at_ms = Some(self.clock.monotonic_ms() + ms);
    }

    /// Somebody else does something, `ms` from now.
    pub fn meanwhile(&mut self, ms: u64, act: impl FnOnce() + 'a) {
        self.outside.push((self.clock.monotonic_ms() + ms, Box::new(act)));
    }

    fn ear(&self) -> Ear {
        Ear { redactor: self.hands.redactor.clone(), lines: Mutex::default(), printed: Mutex::default() }
    }

    /// The next thing that happens up to `end_ms`, and when. Which of several at the same time is by chance.
    fn next(&mut self, end_ms: u64) -> Option<(u64, Next)> {
        let jobs = self.working.iter().enumerate().map(|(i, w)| (w.at_ms, Next::Job(i)));
        let outside = self.outside.iter().enumerate().map(|(i, (at, _))| (*at, Next::Outside(i)));
        let interrupt = self.interrupt_at_ms.map(|at| (at, Next::Interrupt));
        let mut soonest: Vec<(u64, Next)> = Vec::new();
        for (at, next) in jobs.chain(outside).chain(interrupt).filter(|(at, _)| *at <= end_ms) {
            if soonest.first().is_some_and(|(first, _)| at < *first) {
                soonest.clear();
            }
            if soonest.first().is_none_or(|(first, _)| at == *first) {
                soonest.push((at, next));
            }
        }
        let chosen = self.rng.index(soonest.len());
        soonest.into_iter().nth(chosen)
    }

    /// The job begins its work. Its effects are made now; that it is over is heard later.
    fn work(&mut self, address: Address, job: &Job) {
        let ear = self.ear();
        let result = perform(&self.hands, job, &ear);
        let took_ms = self.processes.took_ms(&job.marker()).unwrap_or_else(|| self.rng.below(EFFECT_MS_MAX));
        let lines = lock(&ear.lines).clone();
        let printed = lock(&ear.printed).take();
        let at_ms = self.clock.monotonic_ms() + took_ms;
        self.working.push(Working { address, at_ms, stage: Stage::Over { result, lines, printed } });
    }

    fn happen(&mut self, next: Next, events: &mut Vec<Event>) {
        match next {
            Next::Interrupt => {
                self.interrupt_at_ms = None;
                events.push(Event::Interrupt);
            }
            Next::Outside(index) => self.outside.remove(index).1(),
            Next::Job(index) => {
                let Working { address, stage, .. } = self.working.remove(index);
                match stage {
                    Stage::Waits(job) => self.work(address, &job),
                    Stage::Over { result, lines, printed } => {
                        let heard =
                            lines.into_iter().map(|line| Event::Line { address: address.clone(), line });
                        events.extend(heard);
                        let printed =
                            printed.map(|printed| Event::Printed { address: address.clone(), printed });
                        events.extend(printed);
                        events.push(Event::Finished { address, result });
                    }
                }
            }
        }
    }
}

impl Schedule for SimSchedule<'_> {
    fn now(&mut self) -> Utc {
        self.clock.now()
    }

    fn inline(&mut self, job: &Job) -> Option<Result<Vec<u8>, Stuck>> {
        let harmless = matches!(job.request, Request::Now | Request::Read(_));
        harmless.then(|| perform(&self.hands, job, &self.ear()))
    }

    fn start(&mut self, job: Job) {
        self.fate.pass("before a job starts");
        let at_ms = self.clock.monotonic_ms() + self.rng.below(EFFECT_MS_MAX);
        self.working.push(Working {
            address: job.address.clone(),
            at_ms,
            stage: Stage::Waits(Box::new(job)),
        });
    }

    fn stop(&mut self, address: &Address) {
        let now_ms = self.clock.monotonic_ms();
        for working in self.working.iter_mut().filter(|w| w.address == *address) {
            working.at_ms = now_ms;
            if let Stage::Waits(_) = working.stage {
                let result = Err(Stuck("it was stopped before it began".to_owned()));
                working.stage = Stage::Over { result, lines: vec![], printed: None };
            }
        }
    }

    fn clear(&mut self, job: &Job) {
        self.fate.pass("before a desk is cleared");
        clear(&self.hands, job);
    }

    fn busy(&self) -> usize {
        self.working.len()
    }

    fn wait(&mut self, wait_ms: u64) -> Vec<Event> {
        self.fate.pass("before a wait");
        if self.rng.chance(self.jumps) {
            let forward = i64::try_from(self.rng.below(2 * JUMP_MS_MAX)).unwrap_or(0);
            let by_ms = forward - i64::try_from(JUMP_MS_MAX).unwrap_or(0);
            let now = self.clock.now();
            let leaves = Utc(now.0.saturating_add(by_ms)).day() != now.day();
            self.clock.jump(if leaves && self.jumps_stay { -by_ms } else { by_ms });
        }
        let end_ms = self.clock.monotonic_ms().saturating_add(wait_ms);
        let mut events = Vec::new();
        while let Some((at_ms, next)) = self.next(end_ms) {
            let heard_something = !events.is_empty();
            // What happens at the same time is often heard together, and sometimes not.
            if heard_something && (at_ms > self.clock.monotonic_ms() || self.rng.chance(30)) {
                break;
            }
            self.clock.advance(at_ms.saturating_sub(self.clock.monotonic_ms()));
            self.happen(next, &mut events);
        }
        if events.is_empty() {
            self.clock.advance(end_ms.saturating_sub(self.clock.monotonic_ms()));
        } else {
            self.fate.pass("something was heard");
        }
        events
    }
}
