//! From the facts of a run to the summaries that the metrics are computed from.

use std::collections::BTreeMap;

use super::CycleSummary;
use super::End;
use crate::cycle::facts::CycleEnd;
use crate::cycle::facts::CycleFact;
use crate::cycle::facts::Opinion;
use crate::cycle::facts::read_facts;
use crate::projection::Fact;

/// What the metrics take from one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunCycles {
    /// The cycles of the run by their numbers.
    pub cycles: Vec<CycleSummary>,
    /// Every alert, in the order of the journal.
    pub alerts: Vec<String>,
}

/// Folds the facts of one run, which may hold several cycles. A fact about a cycle that never began counts nowhere.
pub fn fold_run(facts: &[Fact]) -> RunCycles {
    let mut cycles: BTreeMap<u32, CycleSummary> = BTreeMap::new();
    let mut alerts = vec![];
    for fact in read_facts(facts) {
        match fact {
            CycleFact::CycleBegan { cycle, .. } => {
                cycles.entry(cycle).or_insert(CycleSummary {
                    number: cycle,
                    iterations: 0,
                    passes: 0,
                    passes_by_people: 0,
                    insufficients: 0,
                    paused: false,
                    end: End::Open,
                    approval_latency_ms: None,
                });
            }
            CycleFact::Judged { cycle, pass, opinion, .. } => {
                let by_person = matches!(opinion, Opinion::Person { .. });
                cycles.entry(cycle).and_modify(|c| {
                    c.iterations += 1;
                    match (pass, by_person) {
                        (true, true) => c.passes_by_people += 1,
                        (true, false) => c.passes += 1,
                        (false, _) => c.insufficients += 1,
                    }
                });
            }
            CycleFact::Approval { cycle, latency_ms, .. } => {
                cycles.entry(cycle).and_modify(|c| c.approval_latency_ms = Some(latency_ms));
            }
            CycleFact::Paused { cycle, .. } => {
                cycles.entry(cycle).and_modify(|c| c.paused = true);
            }
            CycleFact::CycleEnded { cycle, end } => {
                cycles.entry(cycle).and_modify(|c| {
                    c.end = match end {
                        CycleEnd::Completed => End::Completed,
                        CycleEnd::Incomplete => End::Incomplete,
                        CycleEnd::Failed => End::Failed,
                    };
                });
            }
            CycleFact::Alert { alert, why, .. } => alerts.push(format!("{alert}: {why}")),
            CycleFact::AutomationFindings { .. }
            | CycleFact::NotChecked { .. }
            | CycleFact::FloorTaken { .. }
            | CycleFact::OpinionRejected { .. }
            | CycleFact::FindingsNoted { .. }
            | CycleFact::UncheckedDecided { .. }
            | CycleFact::GoalTaken { .. }
            | CycleFact::DocumentsRefused { .. }
            | CycleFact::PlannerAsked { .. }
            | CycleFact::ContextPack { .. }
            | CycleFact::PlanRejected { .. }
            | CycleFact::PlanMade { .. }
            | CycleFact::RiskDecided { .. }
            | CycleFact::WorkDone { .. }
            | CycleFact::WorkFailed { .. }
            | CycleFact::WorkPutBack { .. }
            | CycleFact::CheckRan { .. }
            | CycleFact::ApprovalVoid { .. }
            | CycleFact::Delivered { .. }
            | CycleFact::Decided { .. }
            | CycleFact::DocumentTampered { .. }
            | CycleFact::Error { .. }
            | CycleFact::Archived { .. } => {}
        }
    }
    RunCycles { cycles: cycles.into_values().collect(), alerts }
}
