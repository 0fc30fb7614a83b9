//! The course of one action: its plan, what was done so far, and what people decided.

use std::collections::BTreeMap;

use seriatim_core::action::Action;
use seriatim_core::action::evidence::Change;
use seriatim_core::action::evidence::CommandRun;
use seriatim_core::action::evidence::Evidence;
use seriatim_core::action::evidence::GateDecision;
use seriatim_core::action::facts::ActionFact;
use seriatim_core::action::facts::GateResult;
use seriatim_core::action::gate::Gate;
use seriatim_core::action::severity::Concern;
use seriatim_core::choices::Choices;
use seriatim_core::evidence::Counts;
use seriatim_core::ledger::Closing;
use seriatim_core::ledger::FindingLedger;
use seriatim_core::question::Answer;
use seriatim_core::question::Question;
use seriatim_core::redact::Redactor;
use seriatim_core::time::Utc;
use seriatim_core::verdict::Verdict;

use super::Start;
use crate::Cx;

pub(super) struct Course {
    pub(super) start: Start,
    pub(super) action: Action,
    /// The text of the action file.
    pub(super) contract: String,
    /// What the action was given.
    pub(super) inputs: Vec<(String, String)>,
    /// The snapshot that was taken before anything was done.
    pub(super) snapshot: Option<String>,
    pub(super) proof: Evidence,
    /// The number of the run, for the names of papers.
    pub(super) id: String,
    /// Every file that a role wrote, and what became of it.
    pub(super) written: BTreeMap<String, (Change, String)>,
    /// What reviewers found, until it is closed by name.
    pub(super) findings: FindingLedger,
    /// What is known about the work of each role and about each gate.
    pub(super) verdicts: BTreeMap<String, Verdict>,
    /// What people accepted unchecked or overrode, one line each. Nothing takes one away again.
    pub(super) waived: Vec<String>,
    /// The tests that ran before the first role began.
    pub(super) floor: Option<Counts>,
    /// What was let pass or loosened, for the next approval.
    pub(super) notes: Vec<String>,
    /// One line for each role's work since the last decision, by the title of the role.
    pub(super) work: Vec<(String, String)>,
    /// What gates showed since the last decision, by the name of the gate.
    pub(super) shown: Vec<(String, String)>,
    /// Questions that roles raised.
    pub(super) raised: Vec<String>,
    /// How often each gate was shown.
    pub(super) rounds: BTreeMap<String, u32>,
    /// How often each role was called.
    pub(super) calls: BTreeMap<String, u32>,
    pub(super) decisions: Vec<ActionFact>,
    /// Limits that a person lowered, by the name of the gate.
    pub(super) lowered: BTreeMap<String, Vec<seriatim_core::action::gate::Limit>>,
    /// Until when restorations from outside were taken notice of.
    pub(super) looked_at: Utc,
    /// Failures of which no file could be named.
    pub(super) unexplained: usize,
    /// Guides that were read, by their paths.
    pub(super) guides: BTreeMap<String, String>,
    /// Takes personal data out of evidence and reports; compiled once.
    pub(super) redactor: Option<Redactor>,
}

/// Why an action ends before its time.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Leave {
    Cancelled { by: String },
    RolledBack { by: String, words: String, undo: String },
    Broken { why: String },
}

/// What one role did.
#[derive(Clone, Debug, Default)]
pub(super) struct Did {
    pub(super) role: String,
    pub(super) title: String,
    pub(super) written: Vec<(String, Change)>,
    pub(super) concerns: Vec<Concern>,
    /// Findings that the reviewer calls closed.
    pub(super) closings: Vec<Closing>,
    /// The person who did it, where one did.
    pub(super) person: Option<String>,
    /// What is known about the work; absent where nothing came of it.
    pub(super) verdict: Option<Verdict>,
    pub(super) raised: Vec<String>,
    pub(super) notes: Vec<String>,
    pub(super) summary: String,
    pub(super) commands: Vec<CommandRun>,
    /// What people decided about its failures, as it goes on record and into the evidence.
    pub(super) decisions: Vec<(ActionFact, GateDecision)>,
    pub(super) reads: Vec<String>,
    /// Files that its contract names.
    pub(super) owes: Vec<String>,
    pub(super) guide: (String, String),
    pub(super) calls: u32,
    pub(super) skipped: bool,
    pub(super) review: bool,
    /// Failures of which no file could be named.
    pub(super) unexplained: usize,
    /// Why it failed at first, if it did.
    pub(super) failures: Vec<String>,
}

impl Course {
    /// Takes over what a role did.
    pub(super) async fn absorb(&mut self, cx: &Cx, did: Did) {
        self.note_calls(&did.role, did.calls);
        let title = did.title.clone();
        self.note_findings(cx, &did).await;
        let matter = if did.review { format!("review by {title}") } else { format!("work of {title}") };
        let verdict = did.verdict.clone().unwrap_or_else(|| Verdict::unknown("nothing came of it"));
        self.settle(cx, &matter, verdict);
        self.name_test_changes(&did);
        for (path, change) in did.written {
            let known = self.written.get(&path).map(|(change, _)| *change);
            // A file that this action made and then changed was still made by it.
            let change = match (known, change) {
                (Some(Change::Created), Change::Updated) => Change::Created,
                (_, change) => change,
            };
            self.written.insert(path, (change, did.role.clone()));
        }
        self.unexplained += did.unexplained;
        self.raised.extend(did.raised);
        self.notes.extend(did.notes);
        self.proof.commands.extend(did.commands);
        self.note_decisions(did.decisions);
        self.proof.reads.extend(did.reads);
        if !did.guide.0.is_empty() {
            self.guides.insert(did.guide.0.clone(), did.guide.1);
        }
        if !self.proof.roles.iter().any(|(role, _)| *role == title) {
            self.proof.roles.push((title.clone(), did.guide.0));
        }
        let line = if did.skipped { "skipped".to_owned() } else { first_line(&did.summary) };
        self.note_work(title, line);
    }

    pub(super) fn note_calls(&mut self, role: &str, calls: u32) {
        *self.calls.entry(role.to_owned()).or_default() += calls;
    }

    /// What people decided about the failures of a role, which is on record already.
    pub(super) fn note_decisions(&mut self, decisions: Vec<(ActionFact, GateDecision)>) {
        for (fact, decision) in decisions {
            self.decisions.push(fact);
            self.proof.decisions.push(decision);
        }
    }

    /// Keeps one line about a role's work; a later one replaces it.
    pub(super) fn note_work(&mut self, title: String, line: String) {
        self.work.retain(|(known, _)| *known != title);
        self.work.push((title, line));
    }

    /// Asks a person, and puts the decision on record (OC-80).
    pub(super) async fn choose<C: Choices>(
        &mut self,
        cx: &Cx,
        gate: &str,
        question: Question,
    ) -> (C, Answer) {
        let (choice, answer) = cx.choose::<C>(question).await;
        let at = cx.now().await;
        let rationale = answer.text.clone().unwrap_or_default();
        self.put_decision(cx, gate, choice.id(), at, &answer.by, &rationale);
        (choice, answer)
    }

    /// Puts on record that a gate is left, and how.
    pub(super) fn end_gate(&self, cx: &Cx, stage: u32, gate: &Gate, result: GateResult) {
        cx.record(&ActionFact::GateEnded { gate: gate.name.clone(), kind: gate.kind, stage, result });
    }

    pub(super) fn put_decision(
        &mut self,
        cx: &Cx,
        gate: &str,
        decision: &str,
        at: Utc,
        by: &str,
        rationale: &str,
    ) {
        let fact = decided(gate, decision, at, by, rationale);
        cx.record(&fact);
        self.decisions.push(fact);
        self.proof.decisions.push(GateDecision {
            gate: gate.to_owned(),
            decision: decision.to_owned(),
            at,
            by: by.to_owned(),
            rationale: rationale.to_owned(),
        });
    }
}

/// A decision as it goes on record.
pub(super) fn decided(gate: &str, decision: &str, at: Utc, by: &str, rationale: &str) -> ActionFact {
    ActionFact::Decision {
        id: gate.to_owned(),
        subject: gate.to_owned(),
        outcome: decision.to_owned(),
        actor: by.to_owned(),
        rationale: rationale.to_owned(),
        at,
    }
}

/// The lines of a list by name, as people read them.
pub(super) fn lines(named: &[(String, String)]) -> Vec<String> {
    named.iter().map(|(name, line)| format!("{name}: {line}")).collect()
}

pub(super) fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim().to_owned()
}
