//! A driver for tests: it keeps the journal as a list and answers what it is told to.

use std::collections::BTreeMap;

use seriatim_core::hash::Hash;
use seriatim_core::question::Answer;
use seriatim_core::question::Choice;
use seriatim_core::question::Question;
use seriatim_flows::Call;
use seriatim_flows::Known;
use seriatim_flows::Past;
use seriatim_flows::Run;
use seriatim_flows::Turn;

/// What the journal of a test holds: requests in the order they were made, and outcomes by key.
#[derive(Clone, Default, Debug)]
pub(crate) struct Journal {
    pub(crate) calls: Vec<Call>,
    pub(crate) outcomes: BTreeMap<String, Vec<u8>>,
}

impl Journal {
    pub(crate) fn past(&self) -> Past {
        let known = self.calls.iter().map(|c| {
            let known = match self.outcomes.get(&c.key) {
                _ if c.request.is_fact() => Known::Fact,
                Some(body) => Known::Done(body.clone()),
                None => Known::Open,
            };
            (c.key.clone(), (c.hash, known))
        });
        Past(known.collect())
    }

    pub(crate) fn keys(&self) -> Vec<&str> {
        self.calls.iter().map(|c| c.key.as_str()).collect()
    }

    /// Turns once and keeps the calls.
    pub(crate) fn turn<T: std::fmt::Debug>(&mut self, run: &mut Run<T>) -> Option<T> {
        match run.turn() {
            Turn::Done(calls, value) => {
                self.calls.extend(calls);
                Some(value)
            }
            Turn::Waits(calls) => {
                self.calls.extend(calls);
                None
            }
            Turn::Halted(halt) => panic!("halted: {halt}"),
        }
    }

    pub(crate) fn put<T>(&mut self, run: &mut Run<T>, key: &str, outcome: &impl serde::Serialize) {
        let body = serde_json::to_vec(outcome).unwrap();
        self.outcomes.insert(key.to_owned(), body.clone());
        run.put(key, body);
    }
}

pub(crate) fn question(words: &str) -> Question {
    Question {
        header: "Test".into(),
        question: words.into(),
        why: String::new(),
        tried: vec![],
        details: String::new(),
        options: vec![Choice::new("approve", "Yes", "Goes on."), Choice::new("cancel", "No", "Stops.")],
        free_text: false,
        about: vec![],
    }
}

pub(crate) fn answer(choice: &str) -> Answer {
    Answer { choice: choice.into(), text: None, by: "tester".into(), digest: Hash::ZERO }
}
