//! The search: every sequence of outcomes with a few deviations from the good one.
//!
//! At each request there is a list of possible outcomes, the good one first. A path is the sequence of choices from these
//! lists. The path without deviation comes first, then all with one, then all with two: each path is carried out from its
//! beginning, since a flow is deterministic, and nothing has to be cloned. Where a path comes to a state that an earlier
//! path has been in with as many deviations left, it is cut off there. A state is what is pending without counters and
//! times, the kinds of the last facts, the files, and what the [`Ledger`] knows; counters inside of a flow are not seen,
//! so that the search finds less than a full one would, and never anything that cannot happen.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::collections::VecDeque;
use std::hash::DefaultHasher;
use std::hash::Hash;
use std::hash::Hasher;

use serde_json::Value;
use seriatim_core::question::Answer;
use seriatim_flows::Past;
use seriatim_flows::Request;
use seriatim_flows::Run;
use seriatim_flows::Turn;
use seriatim_flows::registry;
use seriatim_flows::registry::Ended;
use seriatim_flows::registry::Flow;

use crate::graph::Graph;
use crate::hands;
use crate::hands::How;
use crate::ledger::Ledger;
use crate::properties;
use crate::properties::Class;
use crate::properties::Property;
use crate::stage::bare_views;

/// Everything outside of a run.
pub(crate) trait World {
    fn input(&self) -> Value;

    /// What may come of a request, the good outcome first.
    fn menu(&self, request: &Request) -> Vec<How>;

    /// Does what a request asks for, in one of the ways of its menu.
    fn perform(&mut self, request: &Request, how: How, ledger: &mut Ledger) -> Vec<u8>;

    /// Sees a fact.
    fn witness(&mut self, _fact: &Value) {}

    /// Somebody else changes a file that the run works on.
    fn meddle(&mut self);

    /// Stands for the files that are the result of the work.
    fn result(&self) -> u64;

    /// The gates that have to be green at a good end, by the names under which the ledger has them.
    fn required(&self) -> Vec<String>;

    /// What is wrong with a good end beyond what the ledger knows, each in a few stable words.
    fn wrong(&self, ledger: &Ledger) -> Vec<String>;
}

/// How far the search goes.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    /// Deviations from the good outcome in one path.
    pub(crate) deviations: i32,
    /// Of those, troubles of disk and git.
    pub(crate) faults: i32,
    /// From the second deviation on, troubles of disk and git and what is much like something else are left out.
    pub(crate) reduced: bool,
    /// Requests between two words of a person.
    pub(crate) alone: usize,
    /// Paths in one world.
    pub(crate) paths: usize,
    /// Requests in one path.
    pub(crate) requests: usize,
}

/// A choice that a path had.
struct Point {
    menu: Vec<How>,
    /// Which of them are troubles of disk and git.
    faults: Vec<bool>,
    left: i32,
    faults_left: i32,
}

/// How a path ended.
enum Close {
    Ended(Ended),
    /// A person cancelled from outside.
    Cancelled(Ended),
    /// An earlier path went on from here.
    Cut,
    /// The path is longer than anything that is looked at.
    Long,
    /// It goes on and on without a person.
    Endless,
    /// Nothing can happen any more.
    Stuck(String),
}

/// One path under way.
struct Walk<'s> {
    world: Box<dyn World>,
    ledger: Ledger,
    prefix: &'s [u8],
    points: Vec<Point>,
    lines: Vec<String>,
    requests: usize,
    alone: usize,
    left: i32,
    faults_left: i32,
    last: Option<(u64, How)>,
    /// The questions that were asked.
    asked: BTreeSet<u64>,
}

/// What was found.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) paths: usize,
    pub(crate) prunes: usize,
    pub(crate) long: usize,
    /// Paths that were known and not taken any more.
    pub(crate) left_over: usize,
    pub(crate) states: usize,
    /// How many good ends there were.
    pub(crate) good: usize,
    pub(crate) classes: BTreeMap<Class, Vec<String>>,
}

pub(crate) struct Search<'m> {
    flow: &'static Flow,
    make: &'m dyn Fn() -> Box<dyn World>,
    bounds: Bounds,
    /// States, with the deviations and faults that were left there, and the path that was first.
    seen: BTreeMap<u64, (i32, i32, usize)>,
    graph: Graph,
    found: Found,
}

impl Search<'_> {
    /// Goes through all paths of a flow in a world.
    pub(crate) fn run(flow: &str, make: &dyn Fn() -> Box<dyn World>, bounds: Bounds) -> Found {
        let flow = registry::newest(flow).unwrap();
        let mut search = Search {
            flow,
            make,
            bounds,
            seen: BTreeMap::new(),
            graph: Graph::default(),
            found: Found::default(),
        };
        let mut queue: VecDeque<Vec<u8>> = VecDeque::from([vec![]]);
        while let Some(prefix) = queue.pop_front() {
            search.walk(&prefix, &mut queue);
            if search.found.paths == bounds.paths {
                break;
            }
        }
        search.found.left_over = queue.len();
        for (matter, lines) in search.graph.blocked() {
            search.found.classes.entry(Class::of(Property::Exit, matter)).or_insert(lines);
        }
        search.found.states = search.seen.len();
        search.found
    }

    fn walk(&mut self, prefix: &[u8], queue: &mut VecDeque<Vec<u8>>) {
        self.found.paths += 1;
        let mut walk = Walk {
            world: (self.make)(),
            ledger: Ledger::default(),
            prefix,
            points: vec![],
            lines: vec![],
            requests: 0,
            alone: 0,
            left: self.bounds.deviations,
            faults_left: self.bounds.faults,
            last: None,
            asked: BTreeSet::new(),
        };
        let close = self.follow(&mut walk);
        self.judge(&mut walk, &close);
        let mut taken: Vec<u8> = prefix.to_vec();
        for (at, point) in walk.points.iter().enumerate().skip(prefix.len()) {
            taken.resize(at, 0);
            for (index, how) in point.menu.iter().enumerate().skip(1) {
                let fault = point.faults[index];
                let first = point.left == self.bounds.deviations;
                let left_out = self.bounds.reduced && !first && (fault || hands::is_minor(*how));
                let within = point.left > 0 && !left_out && (!fault || point.faults_left > 0);
                // Every option of a question is tried, so that a way out is seen where there is one.
                let tried = point.left == 0 && matches!(how, How::Option(_));
                if within || tried {
                    let mut next = taken.clone();
                    next.push(u8::try_from(index).unwrap());
                    queue.push_back(next);
                }
            }
        }
    }

    /// Carries a path out.
    fn follow(&mut self, walk: &mut Walk<'_>) -> Close {
        let input = walk.world.input();
        let mut run = Run::new(Past::default(), |cx| (self.flow.start)(cx, input.clone()));
        loop {
            let calls = match run.turn() {
                Turn::Done(calls, ended) => {
                    walk.facts(&calls);
                    return Close::Ended(ended);
                }
                Turn::Waits(calls) => calls,
                Turn::Halted(halt) => return Close::Stuck(format!("halted: {halt}")),
            };
            if calls.iter().all(|call| call.request.is_fact()) {
                return Close::Stuck("the run waits for nothing".to_owned());
            }
            walk.facts(&calls);
            for call in calls.iter().filter(|call| !call.request.is_fact()) {
                let how = match self.choose(walk, &call.request) {
                    Ok(how) => how,
                    Err(close) => return *close,
                };
                if how == How::Cancel {
                    return Close::Cancelled(self.epilogue(walk, &input));
                }
                run.put(&call.key, walk.perform(&call.request, how));
            }
        }
    }

    /// The outcome of the next request: that of the prefix, or the good one.
    fn choose(&mut self, walk: &mut Walk<'_>, request: &Request) -> Result<How, Box<Close>> {
        walk.requests += 1;
        walk.alone += 1;
        if walk.alone > self.bounds.alone {
            return Err(Box::new(Close::Endless));
        }
        if walk.requests > self.bounds.requests {
            return Err(Box::new(Close::Long));
        }
        if let Some(how) = walk.ledger.lasting(request) {
            return Ok(how);
        }
        let menu =
            if matches!(request, Request::World(_)) { vec![How::Fine] } else { walk.world.menu(request) };
        if menu.len() < 2 {
            return Ok(menu.first().copied().unwrap_or(How::Fine));
        }
        let state = walk.state(request);
        self.graph.arrive(walk.last, state, request, &walk.lines);
        let at = walk.points.len();
        let taken = walk.prefix.get(at).copied().unwrap_or(0);
        if request.parks() && !walk.asked.insert(state) {
            // The same question in the same state: whether another answer leads on is for the graph to say.
            return Err(Box::new(Close::Cut));
        }
        if at >= walk.prefix.len() {
            let id = self.found.paths;
            match self.seen.get(&state) {
                Some((left, faults, first))
                    if *left >= walk.left && *faults >= walk.faults_left && *first != id =>
                {
                    self.found.prunes += 1;
                    return Err(Box::new(Close::Cut));
                }
                _ => _ = self.seen.insert(state, (walk.left, walk.faults_left, id)),
            }
        }
        let faults: Vec<bool> = menu.iter().map(|how| hands::is_fault(request, *how)).collect();
        let how = menu[usize::from(taken)];
        let fault = faults[usize::from(taken)];
        walk.points.push(Point { menu, faults, left: walk.left, faults_left: walk.faults_left });
        walk.left -= i32::from(taken > 0);
        walk.faults_left -= i32::from(fault);
        walk.last = Some((state, how));
        Ok(how)
    }

    /// What is left to do when a person cancels the run: all of it succeeds.
    fn epilogue(&self, walk: &mut Walk<'_>, input: &Value) -> Ended {
        walk.lines.push("a person cancels the run with `seriatim cancel`".to_owned());
        let mut run = Run::below("cancel", Past::default(), |cx| (self.flow.cancelled)(cx, input.clone()));
        loop {
            let calls = match run.turn() {
                Turn::Done(_, ended) => return ended,
                Turn::Waits(calls) => calls,
                Turn::Halted(halt) => panic!("the epilogue halted: {halt}"),
            };
            for call in calls.iter().filter(|call| !call.request.is_fact()) {
                assert!(!call.request.parks(), "an epilogue asks nobody");
                let answered = bare_views::answer(&call.request);
                let performed = || walk.world.perform(&call.request, How::Fine, &mut walk.ledger);
                run.put(&call.key, answered.unwrap_or_else(performed));
            }
        }
    }

    fn judge(&mut self, walk: &mut Walk<'_>, close: &Close) {
        let classes = match close {
            Close::Cut | Close::Long => {
                self.found.long += usize::from(matches!(close, Close::Long));
                return;
            }
            Close::Endless => {
                vec![Class::of(Property::Bound, walk.lines.last().cloned().unwrap_or_default())]
            }
            Close::Stuck(why) => vec![Class::of(Property::Exit, why.clone())],
            Close::Ended(ended) => {
                walk.lines.push(properties::in_words(ended));
                self.found.good += usize::from(ended.good);
                properties::at_end(&*walk.world, &walk.ledger, ended, false)
            }
            Close::Cancelled(ended) => {
                walk.lines.push(properties::in_words(ended));
                properties::at_end(&*walk.world, &walk.ledger, ended, true)
            }
        };
        if let (Close::Ended(_), Some(last)) = (close, walk.last) {
            self.graph.end(last);
        }
        for class in classes {
            self.found.classes.entry(class).or_insert_with(|| walk.lines.clone());
        }
    }
}

impl Walk<'_> {
    fn facts(&mut self, calls: &[seriatim_flows::Call]) {
        for call in calls {
            if let Request::Record { fact } = &call.request {
                self.world.witness(fact);
                self.ledger.witness(fact);
            }
        }
    }

    fn state(&self, request: &Request) -> u64 {
        let mut hasher = DefaultHasher::new();
        hands::pending(request).hash(&mut hasher);
        self.ledger.hash(&mut hasher);
        self.world.result().hash(&mut hasher);
        hasher.finish()
    }

    fn perform(&mut self, request: &Request, how: How) -> Vec<u8> {
        if matches!(request, Request::Ask(_) | Request::Wait { .. }) {
            self.alone = 0;
        }
        if let Some(line) = hands::in_words(request, how)
            && self.lines.last() != Some(&line)
        {
            self.lines.push(line);
        }
        self.ledger.begin(request, how);
        if matches!(how, How::Changed) || (how == How::Foreign && matches!(request, Request::Git(_))) {
            self.world.meddle();
        }
        match request {
            Request::Ask(question) => {
                let index = if let How::Option(index) = how { index } else { 0 };
                let option = &question.options[index];
                let text = option.needs_text.then(|| hands::WORDS.to_owned());
                self.ledger.answered(question, &option.id, self.world.result());
                let answer = Answer {
                    choice: option.id.clone(),
                    text,
                    by: "ada".to_owned(),
                    digest: question.digest(),
                };
                serde_json::to_vec(&answer).unwrap()
            }
            request => bare_views::answer(request)
                .unwrap_or_else(|| self.world.perform(request, how, &mut self.ledger)),
        }
    }
}
