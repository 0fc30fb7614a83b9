//! The machine of steps, as the guard of live sessions uses it: an agent that works on phases, stops or dies, gates that
//! show something, a person who decides, and a commit. Everything is pure, so every state is gone through.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::collections::VecDeque;

use seriatim_core::choices::Choices;
use seriatim_core::roadmap::Outcome;
use seriatim_core::roadmap::PhaseStatus;
use seriatim_core::roadmap::Schema;
use seriatim_core::roadmap::StepState;
use seriatim_core::roadmap::StepStatus;
use seriatim_core::roadmap::change;
use seriatim_core::roadmap::change::Act;
use seriatim_core::roadmap::change::Change;
use seriatim_core::roadmap::machine;
use seriatim_core::roadmap::machine::AfterStop;
use seriatim_core::roadmap::machine::Beside;
use seriatim_core::roadmap::machine::End;
use seriatim_core::roadmap::machine::HoldChoice;
use seriatim_core::roadmap::verdict::Evidence;
use seriatim_core::roadmap::verdict::LastStop;
use seriatim_core::roadmap::verdict::Objection;
use seriatim_core::time::Utc;

use crate::properties::Class;
use crate::properties::Property;
use crate::report::Dialect;

const PHASES: [&str; 3] = ["RED", "GREEN", "COMMIT"];

/// A step in a session.
#[derive(Clone)]
struct Session {
    state: StepState,
    last_stop: Option<LastStop>,
    holds: Vec<Objection>,
    sent_back: u32,
    /// The agent is gone.
    ended: bool,
    /// A person took it as it is.
    overridden: bool,
    /// What became of it in the end.
    over: Option<&'static str>,
    lines: Vec<String>,
}

impl Session {
    fn begin(schema: &Schema) -> Session {
        Session {
            state: StepState::fresh("docs/steps.yaml", "calc", "01-01", schema),
            last_stop: None,
            holds: vec![],
            sent_back: 0,
            ended: false,
            overridden: false,
            over: None,
            lines: vec![],
        }
    }

    /// What it is, without history and times.
    fn key(&self) -> String {
        let phase = |name: &&str| {
            let record = self.state.phase(name).unwrap();
            format!("{:?} {:?} {:?}", record.status, record.outcome, record.blocked_by)
        };
        let phases: Vec<String> = PHASES.iter().map(phase).collect();
        let objections = self.last_stop.as_ref().map(|stop| format!("{:?}", stop.objections));
        format!(
            "{:?} {} {objections:?} {:?} {} {} {} {:?} {} {}",
            self.state.status,
            phases.join(" "),
            self.holds,
            self.sent_back,
            self.ended,
            self.overridden,
            self.over,
            self.state.partial_completion,
            self.state.recovery_suggestions.is_empty(),
        )
    }

    fn next(&self, line: String) -> Session {
        let mut next = self.clone();
        next.lines.push(line);
        next
    }

    /// Everything that can happen now.
    fn moves(&self, schema: &Schema, now: Utc) -> Vec<Session> {
        if self.over.is_some() {
            return vec![];
        }
        let mut moves = vec![];
        if !self.holds.is_empty() {
            moves.extend(HoldChoice::ALL.iter().map(|choice| self.decide(*choice)));
        } else if self.ended {
            // Another agent is called for it.
            let mut next = self.next("another agent is called for the step".to_owned());
            next.ended = false;
            next.sent_back = 0;
            moves.push(next);
        } else {
            moves.extend(self.reports(schema, now));
            for gate in [None, Some(false)] {
                moves.push(self.stop(End::Wants, gate, schema, now));
            }
            moves.push(self.stop(End::Crashed, None, schema, now));
        }
        moves.push(self.commit(schema));
        moves
    }

    fn reports(&self, schema: &Schema, now: Utc) -> Vec<Session> {
        let mut moves = vec![];
        for phase in PHASES {
            let done = |outcome: Outcome| Change { outcome: Some(outcome), ..Change::new(Act::Done, phase) };
            let skip =
                |reason: &str| Change { reason: Some(reason.to_owned()), ..Change::new(Act::Skip, phase) };
            let changes = [
                ("started", Change::new(Act::Start, phase)),
                ("done, PASS", done(Outcome::Pass)),
                ("done, FAIL", done(Outcome::Fail)),
                ("failed", Change { outcome: Some(Outcome::Fail), ..Change::new(Act::Fail, phase) }),
                ("skipped as not applicable", skip("NOT_APPLICABLE: nothing to test")),
                ("skipped as deferred", skip("DEFERRED: later")),
                ("reopened", Change { note: Some("again".to_owned()), ..Change::new(Act::Reopen, phase) }),
            ];
            for (word, wanted) in changes {
                if let Ok((state, _)) = change::change(&self.state, schema, &wanted, now) {
                    let mut next = self.next(format!("{phase}: {word}"));
                    next.state = state;
                    moves.push(next);
                }
            }
        }
        moves
    }

    fn stop(&self, end: End, gate: Option<bool>, schema: &Schema, now: Utc) -> Session {
        let mut verdict = machine::stop(&self.state, schema, now);
        if gate == Some(false) {
            verdict.add_evidence(vec![Evidence::broken("tests", "it is red")]);
        }
        let what = match (end, gate) {
            (End::Crashed, _) => "the agent crashes",
            (_, Some(false)) => "the agent stops; gate tests: broken",
            _ => "the agent stops",
        };
        let after = machine::after_stop(Some(&self.state), &verdict, end, self.sent_back, false, now);
        let mut next = self.next(format!("{what}: {}", in_words(&after)));
        next.last_stop = Some(LastStop::of(&verdict, now));
        next.overridden = false;
        match after {
            AfterStop::SendBack => next.sent_back += 1,
            AfterStop::LetGo { .. } => next.ended = true,
            AfterStop::Recover { recovered, holds } => {
                next.ended = true;
                if let Some(recovered) = recovered {
                    next.state = recovered.state;
                }
                if holds {
                    next.holds = vec![Objection::Held { step: "01-01".to_owned(), errors: verdict.errors }];
                }
            }
        }
        next
    }

    fn decide(&self, choice: HoldChoice) -> Session {
        let decided = machine::decided(choice, self.last_stop.clone());
        let mut next = self.next(format!("asked about the step that is held: {}", choice.id()));
        next.holds.clear();
        next.last_stop = decided.last_stop;
        next.overridden = choice == HoldChoice::Override;
        next.over = decided.closes.then_some("given up");
        next
    }

    fn commit(&self, schema: &Schema) -> Session {
        let beside = Beside { last_stop: self.last_stop.as_ref(), holds: &self.holds, ..Beside::default() };
        let known = (&self.state, schema);
        let verdict = machine::governed(known, known, &beside);
        let mut next = self.next(match verdict.passed() {
            true => "commit: passes".to_owned(),
            false => format!("commit: refused: {}", verdict.sentences().join("; ")),
        });
        next.over = verdict.passed().then_some("committed");
        next
    }

    /// What is wrong with a commit that passed.
    fn wrong(&self) -> Vec<String> {
        let mut words = vec![];
        for record in &self.state.phases {
            let (name, passed) = (&record.name, record.outcome == Some(Outcome::Pass));
            match record.status {
                PhaseStatus::Done if passed => {}
                PhaseStatus::Skipped
                    if record.blocked_by.as_deref().is_some_and(|why| !why.starts_with("DEF")) => {}
                _ if name == "COMMIT" => {}
                _ => words.push(format!("a commit passes while a phase is {}", record.status.word())),
            }
        }
        if !self.holds.is_empty() {
            words.push("a commit passes while the step is held".to_owned());
        }
        let broken = |objection: &Objection| matches!(objection, Objection::Gate(_));
        if self.last_stop.as_ref().is_some_and(|stop| stop.objections.iter().any(broken)) && !self.overridden
        {
            words.push("a commit passes while a gate is broken".to_owned());
        }
        if self.state.status == StepStatus::Failed {
            words.push("a commit passes while the step is FAILED".to_owned());
        }
        words
    }
}

fn in_words(after: &AfterStop) -> &'static str {
    match after {
        AfterStop::LetGo { .. } => "let go",
        AfterStop::SendBack => "sent back",
        AfterStop::Recover { holds: true, .. } => "held for a person",
        AfterStop::Recover { holds: false, .. } => "recovered",
    }
}

/// Goes through all states, and then backwards from the ends: whatever they do not reach has no way out.
pub(crate) fn explore(dialect: &mut Dialect) {
    let schema = Schema::detect(PHASES).unwrap();
    let now = Utc::parse("2026-01-18T15:00:00Z").unwrap();
    let begin = Session::begin(schema);
    let mut before: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut known: BTreeMap<String, Vec<String>> = BTreeMap::from([(begin.key(), vec![])]);
    let mut leading: BTreeSet<String> = BTreeSet::new();
    let mut queue = VecDeque::from([begin]);
    while let Some(session) = queue.pop_front() {
        for next in session.moves(schema, now) {
            dialect.paths += 1;
            before.entry(next.key()).or_default().insert(session.key());
            if next.over == Some("committed") {
                for words in next.wrong() {
                    dialect.add("one step", Class::of(Property::Gate, words), next.lines.clone());
                }
            }
            if known.contains_key(&next.key()) {
                dialect.prunes += 1;
                continue;
            }
            if next.over.is_some() {
                leading.insert(next.key());
            }
            assert!(next.sent_back <= machine::SENT_BACK_MAX, "{:#?}", next.lines);
            known.insert(next.key(), next.lines.clone());
            queue.push_back(next);
        }
    }
    let mut reached: VecDeque<String> = leading.iter().cloned().collect();
    while let Some(key) = reached.pop_front() {
        for earlier in before.get(&key).into_iter().flatten() {
            if leading.insert(earlier.clone()) {
                reached.push_back(earlier.clone());
            }
        }
    }
    dialect.states += known.len();
    for (key, lines) in known.iter().filter(|(key, _)| !leading.contains(*key)) {
        let status = key.split(' ').next().unwrap_or_default().to_owned();
        let words = format!("no way from a step that is {status} to a commit or an end");
        dialect.add("one step", Class::of(Property::Exit, words), lines.clone());
    }
}
