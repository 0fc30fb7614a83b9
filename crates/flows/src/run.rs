//! A run: the flow, what is known of its past, and one turn after the other.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::task::Context;
use std::task::Poll;
use std::task::Waker;

use seriatim_core::config::Config;
use seriatim_core::hash::Hash;

use crate::Cx;
use crate::Request;

/// A request that was made for the first time in this turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub key: String,
    pub hash: Hash,
    pub request: Request,
    /// The request as it is journalled; `hash` is taken over these bytes.
    pub bytes: Vec<u8>,
}

/// Why a run must stop. None of these is the flow's to handle.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Halt {
    #[error("not deterministic at {key}: the journal has request {expected}, the flow now makes {found}")]
    NonDeterminism { key: String, expected: Hash, found: Hash },
    #[error("not deterministic: the journal has {key}, which the flow no longer reaches")]
    Leftover { key: String },
    #[error("the outcome at {key} cannot be read: {error}")]
    Shape { key: String, error: String },
    #[error("two calls were open at once in one scope at {key}")]
    Overlap { key: String },
    #[error("the flow ended while its call at {key} was still open")]
    Abandoned { key: String },
    #[error("`{name}` cannot name a branch: names are unique, not empty, and have neither `/` nor `:`")]
    BranchName { name: String },
}

/// What the journal knows of one key.
#[derive(Clone, Debug, PartialEq)]
pub enum Known {
    /// An intent whose outcome has not come.
    Open,
    /// The same, and it is with somebody outside.
    Parked,
    /// An outcome, as journalled.
    Done(Vec<u8>),
    /// A fact.
    Fact,
}

/// The past of a run, by key, with the hash of each request.
#[derive(Clone, Debug, Default)]
pub struct Past(pub BTreeMap<String, (Hash, Known)>);

/// A configuration that a person put in place of the one before it, and the calls that were made by then.
#[derive(Clone, Debug)]
pub struct Switch {
    pub config: Arc<Config>,
    /// Keys of all requests and facts that were journalled before.
    pub before: BTreeSet<String>,
}

/// The configuration that took the place of the recorded one.
#[derive(Clone, Debug)]
pub struct Switched {
    /// How many took its place so far, this one included.
    pub number: u32,
    pub config: Arc<Config>,
}

#[derive(Default)]
pub(crate) struct Hub {
    /// Changes of the configuration, in order.
    switches: Vec<Switch>,
    /// What the journal knows and the flow has not reached yet.
    past: BTreeMap<String, (Hash, Known)>,
    /// New since the last turn.
    turn: Vec<Call>,
    /// Open calls; true when parked.
    pub(crate) waiting: BTreeMap<String, bool>,
    /// Outcomes that were put in and not yet taken.
    arrived: BTreeMap<String, Vec<u8>>,
    /// Keys whose outcome came since the last turn: only their branches need a poll.
    pub(crate) fresh: BTreeSet<String>,
    halt: Option<Halt>,
}

/// What meeting a key led to.
pub(crate) enum Met {
    /// The outcome is known.
    Known(Vec<u8>),
    /// It has to be waited for.
    Waits,
    /// The run must stop.
    Halted,
}

impl Hub {
    /// The configuration under which the call at `key` is made, where it is not the one of the start: a call that the
    /// journal knows is made again under the configuration of its time.
    pub(crate) fn switched(&self, key: &str) -> Option<Switched> {
        let holds = |switch: &Switch| !switch.before.contains(key);
        let index = self.switches.iter().rposition(holds)?;
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        self.switches.get(index).map(|switch| Switched { number, config: switch.config.clone() })
    }

    pub(crate) fn halt(&mut self, halt: Halt) {
        self.halt.get_or_insert(halt);
    }

    /// The flow makes a request: either the past knows it, or it is new.
    pub(crate) fn meet(&mut self, key: &str, request: Request) -> Met {
        let bytes = match serde_json::to_vec(&request) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.halt(Halt::Shape { key: key.to_owned(), error: error.to_string() });
                return Met::Halted;
            }
        };
        let hash = Hash::of(&bytes);
        match self.past.remove(key) {
            Some((expected, _)) if expected != hash => {
                self.halt(Halt::NonDeterminism { key: key.to_owned(), expected, found: hash });
                Met::Halted
            }
            Some((_, Known::Done(body))) => Met::Known(body),
            Some((_, Known::Fact)) => Met::Known(vec![]),
            Some((_, known @ (Known::Open | Known::Parked))) => {
                self.waiting.insert(key.to_owned(), known == Known::Parked || request.parks());
                Met::Waits
            }
            None => {
                if !request.is_fact() {
                    self.waiting.insert(key.to_owned(), request.parks());
                }
                self.turn.push(Call { key: key.to_owned(), hash, request, bytes });
                Met::Waits
            }
        }
    }

    /// Takes the outcome of an open call, if it has come.
    pub(crate) fn take(&mut self, key: &str) -> Option<Vec<u8>> {
        let body = self.arrived.remove(key)?;
        self.waiting.remove(key);
        Some(body)
    }

    /// Whether something at work (not parked) is open below `path`.
    pub(crate) fn busy_below(&self, path: &str) -> bool {
        let from = format!("{path}/");
        self.waiting
            .range(from.clone()..)
            .take_while(|(k, _)| k.starts_with(&from))
            .any(|(_, parked)| !parked)
    }
}

pub(crate) type Shared = Arc<Mutex<Hub>>;

/// A panic in flow code is caught by nobody, so a poisoned lock has no meaning of its own here.
pub(crate) fn lock(hub: &Shared) -> MutexGuard<'_, Hub> {
    hub.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What one turn of the flow led to. The calls are to be committed, together with the outcomes that were put in,
/// before anything of them is begun.
#[derive(Debug, PartialEq)]
pub enum Turn<T> {
    Done(Vec<Call>, T),
    Waits(Vec<Call>),
    Halted(Halt),
}

/// A flow under way.
pub struct Run<T> {
    hub: Shared,
    flow: Pin<Box<dyn Future<Output = T> + Send>>,
}

impl<T> Run<T> {
    /// Starts `flow` over its past (empty for a new run). Nothing happens before the first turn.
    pub fn new<F>(past: Past, flow: impl FnOnce(Cx) -> F) -> Run<T>
    where
        F: Future<Output = T> + Send + 'static,
    {
        Run::below("", past, flow)
    }

    /// The same, with every key below `scope`: a program that follows another one in the same journal.
    pub fn below<F>(scope: &str, past: Past, flow: impl FnOnce(Cx) -> F) -> Run<T>
    where
        F: Future<Output = T> + Send + 'static,
    {
        let hub = Arc::new(Mutex::new(Hub { past: past.0, ..Hub::default() }));
        let flow = Box::pin(flow(Cx::at(&hub, scope.to_owned())));
        Run { hub, flow }
    }

    /// Says which configurations took the place of the recorded one. To be called before the first turn.
    #[must_use]
    pub fn with_switches(self, switches: Vec<Switch>) -> Run<T> {
        lock(&self.hub).switches = switches;
        self
    }

    /// Puts the outcome of an open call in. It is seen at the next turn.
    pub fn put(&mut self, key: &str, body: Vec<u8>) {
        let mut hub = lock(&self.hub);
        if hub.waiting.contains_key(key) {
            hub.fresh.insert(key.to_owned());
            hub.arrived.insert(key.to_owned(), body);
        } else if let Some((_, known @ (Known::Open | Known::Parked))) = hub.past.get_mut(key) {
            // The flow has not come to this call yet; it will find it answered.
            *known = Known::Done(body);
        }
    }

    /// The call at `key` waits for somebody outside: its branch gives its place to the next one.
    pub fn park(&mut self, key: &str) {
        if let Some(parked) = lock(&self.hub).waiting.get_mut(key) {
            *parked = true;
        }
    }

    /// The keys of all open calls.
    pub fn open(&self) -> Vec<String> {
        lock(&self.hub).waiting.keys().cloned().collect()
    }

    /// Polls the flow once.
    pub fn turn(&mut self) -> Turn<T> {
        let polled = self.flow.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        let mut hub = lock(&self.hub);
        hub.fresh.clear();
        if let Some(halt) = &hub.halt {
            return Turn::Halted(halt.clone());
        }
        let calls = std::mem::take(&mut hub.turn);
        match polled {
            Poll::Pending => Turn::Waits(calls),
            Poll::Ready(value) => {
                if let Some(key) = hub.waiting.keys().next() {
                    return Turn::Halted(Halt::Abandoned { key: key.clone() });
                }
                if let Some(key) = hub.past.keys().next() {
                    return Turn::Halted(Halt::Leftover { key: key.clone() });
                }
                Turn::Done(calls, value)
            }
        }
    }
}
