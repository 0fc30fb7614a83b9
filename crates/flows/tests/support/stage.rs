//! A stage for flows: requests are answered by kind, and everything that was asked, recorded and written is kept.
//!
//! Every run is replayed over its own journal, whole and from its middle. A replay that makes another request, or comes
//! to another end, fails the test.

#[path = "bare_views.rs"]
pub(crate) mod bare_views;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use seriatim_core::question::Question;
use seriatim_flows::Call;
use seriatim_flows::Known;
use seriatim_flows::Past;
use seriatim_flows::Request;
use seriatim_flows::Run;
use seriatim_flows::Turn;
use seriatim_flows::registry;
use seriatim_flows::registry::Ended;
use seriatim_flows::registry::Flow;
use seriatim_flows::request::WriteFile;

/// What a hand does with a request.
pub(crate) enum Reply {
    /// The outcome, as the journal keeps it.
    Outcome(Vec<u8>),
    /// A person cancels the run here; the request never gets an outcome.
    Cancel,
}

impl Reply {
    pub(crate) fn of(outcome: &impl Serialize) -> Reply {
        Reply::Outcome(serde_json::to_vec(outcome).unwrap())
    }
}

type Hand<W> = Box<dyn Fn(&mut W, &Request) -> Reply>;

/// A run that is about to be played in a world `W`.
pub(crate) struct Stage<W> {
    pub(crate) flow: &'static Flow,
    pub(crate) input: Value,
    pub(crate) world: W,
    hands: BTreeMap<&'static str, Hand<W>>,
}

/// A run that was played to its end.
pub(crate) struct Played<W> {
    pub(crate) world: W,
    pub(crate) ended: Ended,
    pub(crate) calls: Vec<Call>,
}

/// What one program of a run did.
#[derive(Default)]
pub(crate) struct Acts {
    pub(crate) calls: Vec<Call>,
    pub(crate) outcomes: BTreeMap<String, Vec<u8>>,
    pub(crate) ended: Option<Ended>,
}

impl<W> Stage<W> {
    pub(crate) fn new(flow: &str, input: &impl Serialize, world: W) -> Stage<W> {
        let flow = registry::newest(flow).unwrap();
        Stage { flow, input: serde_json::to_value(input).unwrap(), world, hands: BTreeMap::new() }
    }

    /// Answers all requests of one kind. A request that nobody answers fails the test.
    pub(crate) fn on(
        mut self,
        kind: &'static str,
        hand: impl Fn(&mut W, &Request) -> Reply + 'static,
    ) -> Stage<W> {
        self.hands.insert(kind, Box::new(hand));
        self
    }

    /// Plays the run to its end, and what is left to do where a person cancels it.
    pub(crate) fn play(mut self) -> Played<W> {
        let (flow, input) = (self.flow, self.input.clone());
        let begin = |past: Past| Run::new(past, |cx| (flow.start)(cx, input.clone()));
        let acts = self.drive(begin(Past::default()));
        replay(&acts, &begin);
        let mut calls = acts.calls;
        let ended = match acts.ended {
            Some(ended) => ended,
            None => {
                let rest = |past: Past| Run::below("cancel", past, |cx| (flow.cancelled)(cx, input.clone()));
                let acts = self.drive(rest(Past::default()));
                replay(&acts, &rest);
                calls.extend(acts.calls);
                acts.ended.unwrap()
            }
        };
        Played { world: self.world, ended, calls }
    }

    /// Turn by turn until the flow ends, or until a hand cancels the run.
    pub(crate) fn drive(&mut self, mut run: Run<Ended>) -> Acts {
        let mut acts = Acts::default();
        loop {
            let (calls, ended) = match run.turn() {
                Turn::Done(calls, ended) => (calls, Some(ended)),
                Turn::Waits(calls) => (calls, None),
                Turn::Halted(halt) => panic!("halted: {halt}"),
            };
            assert!(ended.is_some() || !calls.is_empty(), "the flow waits for nothing");
            acts.calls.extend(calls.iter().cloned());
            // Outcomes are journalled with the turn that follows them: those beside a cancellation are lost.
            let mut arrived: Vec<(String, Vec<u8>)> = vec![];
            for call in calls.iter().filter(|call| !call.request.is_fact()) {
                if let Some(outcome) = bare_views::answer(&call.request) {
                    arrived.push((call.key.clone(), outcome));
                    continue;
                }
                let name = call.request.name();
                let hand = self.hands.get(name).unwrap_or_else(|| panic!("nobody answers `{name}`"));
                match hand(&mut self.world, &call.request) {
                    Reply::Cancel => return acts,
                    Reply::Outcome(outcome) => arrived.push((call.key.clone(), outcome)),
                }
            }
            for (key, outcome) in arrived {
                acts.outcomes.insert(key.clone(), outcome.clone());
                run.put(&key, outcome);
            }
            if ended.is_some() {
                acts.ended = ended;
                return acts;
            }
        }
    }
}

impl<W> Played<W> {
    /// The facts, in the order of the journal.
    pub(crate) fn facts(&self) -> Vec<Value> {
        let facts = self.calls.iter().filter_map(|call| match &call.request {
            Request::Record { fact } => Some(fact.clone()),
            _ => None,
        });
        facts.collect()
    }

    /// The questions, in the order in which they were asked.
    pub(crate) fn questions(&self) -> Vec<&Question> {
        let asked = self.calls.iter().filter_map(|call| match &call.request {
            Request::Ask(question) => Some(question),
            _ => None,
        });
        asked.collect()
    }

    /// The files that were written by the flow itself.
    pub(crate) fn writes(&self) -> Vec<&WriteFile> {
        let written = self.calls.iter().filter_map(|call| match &call.request {
            Request::Write(file) => Some(file),
            _ => None,
        });
        written.collect()
    }
}

/// What the journal knows after some of the calls.
fn past(acts: &Acts, calls: &[Call]) -> Past {
    let known = |call: &Call| match acts.outcomes.get(&call.key) {
        _ if call.request.is_fact() => Known::Fact,
        Some(outcome) => Known::Done(outcome.clone()),
        None => Known::Open,
    };
    Past(calls.iter().map(|call| (call.key.clone(), (call.hash, known(call)))).collect())
}

/// The same program over its own journal makes no other request, and comes to the same end: from the end, and from the
/// middle on.
fn replay(acts: &Acts, begin: &impl Fn(Past) -> Run<Ended>) {
    for half in [acts.calls.len(), acts.calls.len() / 2] {
        let mut run = begin(past(acts, &acts.calls[..half]));
        let mut made: Vec<Call> = vec![];
        let ended = loop {
            let (calls, ended) = match run.turn() {
                Turn::Done(calls, ended) => (calls, Some(ended)),
                Turn::Waits(calls) => (calls, None),
                Turn::Halted(halt) => panic!("the replay from call {half} halted: {halt}"),
            };
            let open: Vec<String> =
                run.open().into_iter().filter(|key| acts.outcomes.contains_key(key)).collect();
            made.extend(calls);
            if ended.is_some() || open.is_empty() {
                break ended;
            }
            for key in open {
                run.put(&key, acts.outcomes[&key].clone());
            }
        };
        assert_eq!(ended, acts.ended, "the replay from call {half} came to another end");
        let hashes = |calls: &[Call]| -> BTreeMap<String, seriatim_core::hash::Hash> {
            calls.iter().map(|call| (call.key.clone(), call.hash)).collect()
        };
        assert_eq!(
            hashes(&made),
            hashes(&acts.calls[half..]),
            "the replay from call {half} made other requests"
        );
    }
}
