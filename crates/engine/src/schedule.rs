//! How jobs get done: on threads in the world, in a queue in the simulation. The driver knows neither.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc;
use std::sync::mpsc::Receiver;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::mpsc::Sender;
use std::time::Duration;

use seriatim_core::redact::Redactor;
use seriatim_core::time::Utc;
use seriatim_flows::Request;

use crate::hands::process::Printed;
use crate::hands::process::Stop;
use crate::hands::process::Stream;
use crate::hands::process::Watch;
use crate::job::Address;
use crate::job::Job;
use crate::perform::Hands;
use crate::perform::Stuck;
use crate::perform::clear;
use crate::perform::perform;

/// What the driver hears while it waits.
#[derive(Debug)]
pub enum Event {
    /// A job is over.
    Finished { address: Address, result: Result<Vec<u8>, Stuck> },
    /// A job printed a line.
    Line { address: Address, line: String },
    /// A job ended, and this is what it printed.
    Printed { address: Address, printed: Printed },
    /// Somebody wants the engine to stop.
    Interrupt,
}

/// Begins jobs and tells when they are over.
pub trait Schedule {
    /// The time.
    fn now(&mut self) -> Utc;
    /// Answers at once what has no effect outside (the time, a file's text), or leaves it to `start`.
    fn inline(&mut self, job: &Job) -> Option<Result<Vec<u8>, Stuck>>;
    /// Begins a job whose request is in the journal.
    fn start(&mut self, job: Job);
    /// Ends a job before its time; it still reports that it is over.
    fn stop(&mut self, address: &Address);
    /// Clears what an interrupted attempt left behind.
    fn clear(&mut self, job: &Job);
    /// How many jobs are under way.
    fn busy(&self) -> usize;
    /// Waits until something happens or `wait_ms` have passed; takes all that has happened.
    fn wait(&mut self, wait_ms: u64) -> Vec<Event>;
}

/// A thread per job, and a channel home.
pub struct Threads {
    hands: Arc<Hands>,
    sender: Sender<Event>,
    receiver: Receiver<Event>,
    stops: BTreeMap<Address, Stop>,
}

struct JobWatch {
    address: Address,
    sender: Sender<Event>,
    redactor: Redactor,
    stop: Option<Stop>,
}

impl Watch for JobWatch {
    fn line(&self, _stream: Stream, line: &str) {
        let line = line.to_owned();
        // Nobody listens any more when the driver is gone; the job then ends by itself.
        let _ = self.sender.send(Event::Line { address: self.address.clone(), line });
    }

    fn clean<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.redactor.clean(text)
    }

    fn printed(&self, printed: &Printed) {
        let printed = printed.clone();
        let _ = self.sender.send(Event::Printed { address: self.address.clone(), printed });
    }

    fn stop(&self) -> Option<&Stop> {
        self.stop.as_ref()
    }
}

impl Threads {
    pub fn new(hands: Arc<Hands>) -> Threads {
        let (sender, receiver) = mpsc::channel();
        Threads { hands, sender, receiver, stops: BTreeMap::new() }
    }

    /// For those who want to interrupt: a signal handler.
    pub fn sender(&self) -> Sender<Event> {
        self.sender.clone()
    }

    fn watch(&self, address: &Address, stop: Option<Stop>) -> JobWatch {
        JobWatch {
            address: address.clone(),
            sender: self.sender.clone(),
            redactor: self.hands.redactor.clone(),
            stop,
        }
    }
}

impl Schedule for Threads {
    fn now(&mut self) -> Utc {
        self.hands.clock.now()
    }

    fn inline(&mut self, job: &Job) -> Option<Result<Vec<u8>, Stuck>> {
        let harmless = matches!(
            job.request,
            Request::Now | Request::Read(_) | Request::Look { .. } | Request::Survey(_) | Request::Compute(_)
        );
        harmless.then(|| perform(&self.hands, job, &self.watch(&job.address, None)))
    }

    fn start(&mut self, job: Job) {
        let stop = Stop::new().ok();
        let watch = self.watch(&job.address, stop.clone());
        let (hands, sender, address) = (self.hands.clone(), self.sender.clone(), job.address.clone());
        let spawned = std::thread::Builder::new().name(job.file_name()).spawn(move || {
            let result = perform(&hands, &job, &watch);
            let _ = watch.sender.send(Event::Finished { address: job.address.clone(), result });
        });
        match spawned {
            Ok(_) => {
                if let Some(stop) = stop {
                    self.stops.insert(address, stop);
                }
            }
            Err(e) => {
                let result = Err(Stuck(format!("no thread could be started: {e}")));
                let _ = sender.send(Event::Finished { address: address.clone(), result });
            }
        }
    }

    fn stop(&mut self, address: &Address) {
        if let Some(stop) = self.stops.get(address) {
            stop.stop();
        }
    }

    fn clear(&mut self, job: &Job) {
        clear(&self.hands, job);
    }

    fn busy(&self) -> usize {
        self.stops.len()
    }

    fn wait(&mut self, wait_ms: u64) -> Vec<Event> {
        let mut events = match self.receiver.recv_timeout(Duration::from_millis(wait_ms)) {
            Ok(event) => vec![event],
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => vec![],
        };
        events.extend(self.receiver.try_iter());
        for event in &events {
            if let Event::Finished { address, .. } = event {
                self.stops.remove(address);
            }
        }
        events
    }
}
