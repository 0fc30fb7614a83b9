//! The stage for mailbox suites: it drives a flow turn by turn against a world in memory, keeps every request and
//! outcome, and plays the run again over its own journal, at every question and at the end.

#[path = "bare_views.rs"]
mod bare_views;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use seriatim_core::question::Answer;
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

/// Everything outside of a run.
pub(crate) trait World {
    /// Returns the outcome of a request, or nothing where a person cancels the run while it is open.
    fn perform(&mut self, request: &Request) -> Option<Vec<u8>>;

    /// Sees a fact when it is recorded, before the requests of the same turn are performed.
    fn witness(&mut self, _fact: &Value) {}
}

/// A run as it was played.
pub(crate) struct Played {
    pub(crate) ended: Ended,
    /// Requests of the flow, then those of its epilogue where it was cancelled.
    pub(crate) calls: Vec<Call>,
    pub(crate) outcomes: BTreeMap<String, Vec<u8>>,
}

/// Plays the newest version of a flow to its end.
pub(crate) fn play(name: &str, input: &Value, world: &mut dyn World) -> Played {
    let flow = registry::newest(name).unwrap();
    let mut journal = Journal { flow, input, calls: vec![], outcomes: BTreeMap::new() };
    if let Some(ended) = journal.drive(world, Part::Flow) {
        return Played { ended, calls: journal.calls, outcomes: journal.outcomes };
    }
    let (calls, outcomes) = (std::mem::take(&mut journal.calls), std::mem::take(&mut journal.outcomes));
    let ended = journal.drive(world, Part::Epilogue).unwrap();
    let mut played = Played { ended, calls, outcomes };
    played.calls.extend(journal.calls);
    played.outcomes.extend(journal.outcomes);
    played
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Flow,
    Epilogue,
}

struct Journal<'i> {
    flow: &'static Flow,
    input: &'i Value,
    calls: Vec<Call>,
    outcomes: BTreeMap<String, Vec<u8>>,
}

impl Journal<'_> {
    fn start(&self, part: Part, past: Past) -> Run<Ended> {
        match part {
            Part::Flow => Run::new(past, |cx| (self.flow.start)(cx, self.input.clone())),
            Part::Epilogue => Run::below("cancel", past, |cx| (self.flow.cancelled)(cx, self.input.clone())),
        }
    }

    fn past(&self) -> Past {
        let known = |call: &Call| match self.outcomes.get(&call.key) {
            _ if call.request.is_fact() => Known::Fact,
            Some(body) => Known::Done(body.clone()),
            None => Known::Open,
        };
        Past(self.calls.iter().map(|call| (call.key.clone(), (call.hash, known(call)))).collect())
    }

    /// Turn by turn until the flow ends, or until the run is cancelled.
    fn drive(&mut self, world: &mut dyn World, part: Part) -> Option<Ended> {
        let mut run = self.start(part, Past::default());
        loop {
            let (calls, ended) = match run.turn() {
                Turn::Done(calls, ended) => (calls, Some(ended)),
                Turn::Waits(calls) => (calls, None),
                Turn::Halted(halt) => panic!("halted: {halt}"),
            };
            self.calls.extend(calls.iter().cloned());
            for call in &calls {
                if let Request::Record { fact } = &call.request {
                    world.witness(fact);
                }
            }
            if let Some(ended) = ended {
                self.play_again(part, Some(&ended));
                return Some(ended);
            }
            for call in calls.iter().filter(|call| !call.request.is_fact()) {
                if call.request.parks() {
                    self.play_again(part, None);
                }
                let answered = bare_views::answer(&call.request).or_else(|| world.perform(&call.request));
                let Some(outcome) = answered else {
                    self.play_again(part, None);
                    return None;
                };
                self.outcomes.insert(call.key.clone(), outcome.clone());
                run.put(&call.key, outcome);
            }
        }
    }

    /// Over its own past the flow asks for nothing new and comes to the same end.
    fn play_again(&self, part: Part, ended: Option<&Ended>) {
        let expected = match ended {
            Some(ended) => Turn::Done(vec![], ended.clone()),
            None => Turn::Waits(vec![]),
        };
        assert_eq!(self.start(part, self.past()).turn(), expected);
    }
}

impl Played {
    /// Every question, and the answer where one came.
    pub(crate) fn questions(&self) -> Vec<(Question, Option<Answer>)> {
        let asked = |call: &Call| match &call.request {
            Request::Ask(question) => {
                let answer = self.outcomes.get(&call.key).map(|body| serde_json::from_slice(body).unwrap());
                Some((question.clone(), answer))
            }
            _ => None,
        };
        self.calls.iter().filter_map(asked).collect()
    }
}

/// An outcome as the journal holds it.
pub(crate) fn body(outcome: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(outcome).unwrap()
}
