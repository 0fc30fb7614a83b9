//! The people of a world: they watch, they answer in place or from another process, always as the seed wants it.

use std::collections::BTreeMap;

use seriatim_core::failure::Failure;
use seriatim_core::projection::Fact;
use seriatim_core::question::Question;
use seriatim_core::report::Report;
use seriatim_engine::job::Job;
use seriatim_engine::listen::Listener;
use seriatim_engine::listen::Posed;
use seriatim_engine::listen::Said;
use seriatim_engine::sim::Fate;
use seriatim_engine::sim::Rng;
use seriatim_engine::sim::matter;
use seriatim_flows::Request;
use seriatim_journal::Filter;
use seriatim_journal::Kind;
use seriatim_journal::OpenFilter;
use seriatim_journal::Store;

use crate::plan_cycle::GOAL;

/// How often something was answered or tried, by run and by header or step, as far as the journal knows.
pub(crate) type Counts = BTreeMap<(String, String), u32>;

/// What the journal knows of attempts and answers.
#[derive(Default)]
pub(crate) struct Known {
    /// Attempts that were not cut off.
    pub(crate) played: Counts,
    /// Attempts that were.
    pub(crate) cut_off: Counts,
    pub(crate) answered: Counts,
    /// The markers of all agent calls, with whether there is an outcome.
    pub(crate) agents: BTreeMap<String, bool>,
}

impl Known {
    pub(crate) fn of(store: &Store) -> Known {
        let mut known = Known::default();
        for run in store.runs(&Filter::default()).unwrap().runs {
            let mut requests = BTreeMap::new();
            store.load(run.id, |entry| known.take(&run.name, &mut requests, entry)).unwrap();
        }
        // An answer that waits for the engine is as good as one that it has taken notice of.
        for open in
            store.open_calls(&OpenFilter::default()).unwrap().iter().filter(|open| open.answered.is_some())
        {
            let question: Question = serde_json::from_slice(&open.body).unwrap();
            *known.answered.entry((open.run_name.clone(), question.header)).or_default() += 1;
        }
        known
    }

    fn take(
        &mut self,
        run: &str,
        requests: &mut BTreeMap<String, Request>,
        entry: seriatim_journal::EntryRef<'_>,
    ) {
        if entry.kind == Kind::Intent {
            let request: Request = serde_json::from_slice(entry.body.unwrap()).unwrap();
            if let Request::Agent(_) = request {
                self.agents.insert(format!("{run}{}", entry.key), false);
            }
            requests.insert(entry.key.to_owned(), request);
        }
        if entry.kind != Kind::Outcome {
            return;
        }
        let of = |name: &str| (run.to_owned(), name.to_owned());
        match requests.get(entry.key) {
            Some(Request::Agent(work)) => {
                self.agents.insert(format!("{run}{}", entry.key), true);
                let outcome: Result<Report, Failure> = serde_json::from_slice(entry.body.unwrap()).unwrap();
                let cut_off = outcome.is_err_and(|failure| failure.interrupted);
                let counts = if cut_off { &mut self.cut_off } else { &mut self.played };
                *counts.entry(of(&matter(&work.brief.step, &work.phase))).or_default() += 1;
            }
            Some(Request::Ask(question)) => *self.answered.entry(of(&question.header)).or_default() += 1,
            _ => {}
        }
    }
}

/// Answers after which the same is done once more.
const AGAIN: [&str; 8] = ["retry", "changes", "guide", "new_goal", "fix", "provide_input", "reject", "no"];
/// Answers after which nothing more is done.
const OVER: [&str; 5] = ["cancel", "stop", "rollback", "abort", "quit"];

/// What a person says to the `nth` question about one matter of a run.
pub(crate) fn say(seed: u64, run: &str, question: &Question, nth: u32) -> Said {
    let mut rng = Rng::of(seed, &["answer", run, &question.header, &nth.to_string()]);
    let all: Vec<&str> = question.options.iter().map(|option| option.id.as_str()).collect();
    let mut ids = all.clone();
    // People lose their patience, and most of them want the work to be done.
    if nth > 2 {
        ids.retain(|id| !AGAIN.contains(id));
    }
    // They do not say for ever that nothing helps.
    if nth < 6 && !rng.chance(20) {
        ids.retain(|id| !OVER.contains(id));
    }
    let choice = rng.pick(if ids.is_empty() { &all } else { &ids });
    let about_a_goal = question.header == "Goal" || choice == Some(&"new_goal");
    let text = if about_a_goal && rng.chance(70) { GOAL } else { "as I see it" };
    Said { choice: (*choice.unwrap()).to_owned(), text: Some(text.to_owned()), by: "ada".to_owned() }
}

/// Whoever sits at the terminal.
pub(crate) struct Onlooker {
    pub(crate) seed: u64,
    pub(crate) fate: Fate,
    pub(crate) attended: bool,
    pub(crate) answered: Counts,
}

impl Listener for Onlooker {
    fn attended(&self) -> bool {
        self.attended
    }

    fn answer(&mut self, posed: &Posed, _elsewhere: &mut dyn FnMut() -> bool) -> Option<Said> {
        self.fate.pass("a question is put to somebody");
        let nth = self.answered.entry((posed.run_name.clone(), posed.question.header.clone())).or_default();
        let said = say(self.seed, &posed.run_name, &posed.question, *nth);
        *nth += 1;
        Some(said)
    }

    fn refused(&mut self, posed: &Posed, why: &str) {
        panic!("an answer to {posed:?} was refused: {why}");
    }

    fn began(&mut self, _job: &Job) {
        self.fate.pass("a job is announced");
    }

    fn fact(&mut self, _run_name: &str, _fact: &Fact) {
        self.fate.pass("a fact is told");
    }

    fn warn(&mut self, words: &str) {
        panic!("nobody else edits files in this world, and yet: {words}");
    }
}
