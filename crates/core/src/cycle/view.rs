//! A cycle as `show` presents it, finished or not: folded from its facts.

mod sections;
#[cfg(test)]
mod tests;

use serde::Serialize;
use serde_json::Value;

use super::choices::UncheckedChoice;
use super::facts::BlockerClass;
use super::facts::CheckResult;
use super::facts::CycleEnd;
use super::facts::CycleFact;
use super::facts::DeliveredHow;
use super::facts::Opinion;
use super::facts::read_facts;
use super::plan::Risk;
use crate::ledger::LedgerEntry;
use crate::projection::Fact;
use crate::sentence::Sentence;
use crate::sentence::Telling;
use crate::verdict::Verdict;
use crate::view::RunView;

/// Returns what `show` has to say about a run of cycles.
pub fn view(facts: &[Fact]) -> RunView {
    let facts = read_facts(facts);
    let cycles = fold_cycles(&facts);
    let mut view = RunView { alerts: alerts(&facts), ..RunView::default() };
    let several = cycles.len() > 1;
    view.sections = cycles.iter().flat_map(|cycle| sections::of_cycle(cycle, several)).collect();
    if !cycles.is_empty() {
        let told: Vec<Value> = cycles.iter().map(sections::json_of_cycle).collect();
        view.fields.insert("cycles".to_owned(), Value::Array(told));
    }
    view
}

/// Returns the alerts among some facts, each once.
fn alerts(facts: &[CycleFact]) -> Vec<String> {
    let mut alerts = vec![];
    for fact in facts {
        if let CycleFact::Alert { alert, why, .. } = fact {
            let text = format!("{alert}: {why}");
            if !alerts.contains(&text) {
                alerts.push(text);
            }
        }
    }
    alerts
}

/// One cycle of a run.
#[derive(Default)]
struct CycleStory {
    number: u32,
    project: String,
    goal: String,
    criteria: Vec<String>,
    documents: Vec<String>,
    iterations: Vec<Iteration>,
    decisions: Vec<DecisionLine>,
    delivery: Option<DeliveryLine>,
    archives: Vec<String>,
    /// What went wrong beside the work.
    remarks: Vec<Sentence>,
    /// Checks that the project has not configured.
    not_checked: Vec<String>,
    /// What people accepted unchecked, one line each.
    accepted: Vec<String>,
    findings: Vec<LedgerEntry>,
    end: Option<CycleEnd>,
}

/// One round: a plan, and how far it came.
#[derive(Default, Serialize)]
struct Iteration {
    plan: Option<PlanLine>,
    /// Why earlier plans of this round could not be used.
    rejected: Vec<String>,
    work: Option<WorkLine>,
    checks: Vec<CheckLine>,
    verdict: Option<VerdictLine>,
}

#[derive(Serialize)]
struct PlanLine {
    title: String,
    risk: Risk,
    files: Vec<String>,
    creates: Vec<String>,
    lines: u32,
    success_criteria: Vec<String>,
}

#[derive(Serialize)]
#[serde(tag = "result", rename_all = "snake_case")]
enum WorkLine {
    Done { summary: String, files: Vec<String>, lines: u64 },
    Failed { blocker: BlockerClass, why: String },
}

#[derive(Serialize)]
struct CheckLine {
    check: String,
    result: CheckResult,
    words: String,
}

#[derive(Serialize)]
struct VerdictLine {
    pass: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
    opinion: Opinion,
    reasons: Vec<String>,
}

#[derive(Serialize)]
struct DecisionLine {
    by: String,
    what: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    words: String,
}

#[derive(Serialize)]
struct DeliveryLine {
    how: DeliveredHow,
    commit: String,
    branch: Option<String>,
    pushed: bool,
    files: Vec<String>,
    #[serde(skip)]
    text: String,
}

/// Returns the cycles of a run in their order. Facts before the first cycle count to it.
fn fold_cycles(facts: &[CycleFact]) -> Vec<CycleStory> {
    let mut cycles: Vec<CycleStory> = vec![];
    for fact in facts {
        let opens = matches!(fact, CycleFact::CycleBegan { .. });
        let fresh = cycles.last().is_none_or(|last| opens && last.number != 0);
        if fresh {
            cycles.push(CycleStory::default());
        }
        if let Some(cycle) = cycles.last_mut() {
            cycle.take(fact);
        }
    }
    cycles
}

impl CycleStory {
    /// The round that is under way. One with a verdict or failed work is over once a new plan comes.
    fn round(&mut self) -> &mut Iteration {
        if self.iterations.is_empty() {
            self.iterations.push(Iteration::default());
        }
        let last = self.iterations.len() - 1;
        &mut self.iterations[last]
    }

    fn plan_round(&mut self) -> &mut Iteration {
        if self.iterations.last().is_some_and(|round| round.plan.is_some()) {
            self.iterations.push(Iteration::default());
        }
        self.round()
    }

    fn decide(&mut self, by: &str, words: &str, fact: &CycleFact) {
        let what = fact.sentence().text;
        self.decisions.push(DecisionLine { by: by.to_owned(), what, words: words.to_owned() });
    }

    fn take(&mut self, fact: &CycleFact) {
        match fact {
            CycleFact::CycleBegan { cycle, project } => {
                self.number = *cycle;
                self.project.clone_from(project);
            }
            CycleFact::GoalTaken { goal, criteria, documents, .. } => {
                (self.goal, self.criteria) = (goal.clone(), criteria.clone());
                self.documents.clone_from(documents);
            }
            CycleFact::PlanRejected { why, .. } => self.plan_round().rejected.extend(why.iter().cloned()),
            CycleFact::PlanMade { title, risk, files, creates, lines, success_criteria, .. } => {
                self.plan_round().plan = Some(PlanLine {
                    title: title.clone(),
                    risk: *risk,
                    files: files.clone(),
                    creates: creates.clone(),
                    lines: *lines,
                    success_criteria: success_criteria.clone(),
                });
            }
            CycleFact::WorkDone { summary, files, lines, .. } => {
                self.round().work =
                    Some(WorkLine::Done { summary: summary.clone(), files: files.clone(), lines: *lines });
            }
            CycleFact::WorkFailed { blocker, why, .. } => {
                self.round().work = Some(WorkLine::Failed { blocker: *blocker, why: why.clone() });
            }
            CycleFact::CheckRan { check, result, words, .. } => {
                let (check, words) = (check.clone(), words.clone());
                self.check_round().checks.push(CheckLine { check, result: *result, words });
            }
            CycleFact::Judged { pass, verdict, opinion, reasons, .. } => {
                let (verdict, opinion, reasons) = (verdict.clone(), opinion.clone(), reasons.clone());
                self.round().verdict = Some(VerdictLine { pass: *pass, verdict, opinion, reasons });
            }
            CycleFact::NotChecked { checks, .. } => self.not_checked.clone_from(checks),
            CycleFact::FindingsNoted { findings, .. } => self.findings.clone_from(findings),
            CycleFact::UncheckedDecided { choice, matters, by, words, .. } => {
                self.take_accepted(*choice, matters, by, words);
                self.decide(by, words, fact);
            }
            CycleFact::RiskDecided { by, words, .. }
            | CycleFact::Approval { by, words, .. }
            | CycleFact::Decided { by, words, .. } => self.decide(by, words, fact),
            CycleFact::Delivered { how, commit, branch, pushed, files, .. } => {
                self.delivery = Some(DeliveryLine {
                    how: *how,
                    commit: commit.clone(),
                    branch: branch.clone(),
                    pushed: *pushed,
                    files: files.clone(),
                    text: fact.sentence().text,
                });
            }
            CycleFact::Archived { path, .. } | CycleFact::Paused { archive: path, .. } => {
                if !self.archives.contains(path) {
                    self.archives.push(path.clone());
                }
            }
            CycleFact::CycleEnded { end, .. } => self.end = Some(*end),
            CycleFact::AutomationFindings { .. }
            | CycleFact::DocumentsRefused { .. }
            | CycleFact::FloorTaken { .. }
            | CycleFact::OpinionRejected { .. }
            | CycleFact::WorkPutBack { .. }
            | CycleFact::ApprovalVoid { .. }
            | CycleFact::DocumentTampered { .. }
            | CycleFact::Error { .. } => self.remarks.push(fact.sentence()),
            // Alerts are shown apart, and what a role asked is beside the decision about it.
            CycleFact::PlannerAsked { .. } | CycleFact::ContextPack { .. } | CycleFact::Alert { .. } => {}
        }
    }

    fn take_accepted(&mut self, choice: UncheckedChoice, matters: &[String], by: &str, words: &str) {
        if choice == UncheckedChoice::Accept {
            let told = |matter: &String| format!("{matter} (accepted by {by}: {words})");
            self.accepted.extend(matters.iter().map(told));
        }
    }

    /// The round whose checks these are: a battery after a verdict is that of work that changed meanwhile.
    fn check_round(&mut self) -> &mut Iteration {
        if self.iterations.last().is_some_and(|round| round.verdict.is_some()) {
            self.iterations.push(Iteration::default());
        }
        self.round()
    }
}
