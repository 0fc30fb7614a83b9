//! The gates: commands that the engine runs itself, and what they showed.

use seriatim_core::config::Comparator;
use seriatim_core::evidence::coverage;
use seriatim_core::evidence::coverage::Coverage;
use seriatim_core::evidence::coverage::Threshold;
use seriatim_core::gate::CheckEvidence;
use seriatim_core::gate::Gate;
use seriatim_core::process::Decimal;
use seriatim_core::roadmap::facts::GateEvidence;
use seriatim_core::roadmap::facts::RoadmapFact;
use seriatim_core::roadmap::proof;
use seriatim_core::roadmap::proof::Objection;
use seriatim_core::roadmap::proof::Seen;
use seriatim_core::roadmap::proof::Sort;

use super::work::Work;
use crate::Cx;
use crate::gate::GateCall;
use crate::gate::run_gate;

/// The share that is enough where the configuration does not say (DW-64).
const THRESHOLD_PERCENT: i64 = 80;
/// The name of the gate that measures.
const COVERAGE: &str = "coverage";

/// What one gate showed, with everything that belongs to it.
pub(super) struct Shown {
    pub(super) seen: Seen,
    pub(super) evidence: GateEvidence,
    pub(super) value: Option<Coverage>,
}

impl Shown {
    fn of(gate: &Gate, evidence: &CheckEvidence) -> Shown {
        let seen = proof::see(evidence);
        let recorded = GateEvidence::of(&seen, evidence.exit(), evidence.output, &gate.within);
        Shown { seen, evidence: recorded, value: evidence.value }
    }
}

impl Work<'_> {
    /// The gates that are run at the end of a phase, by their names: those that are configured.
    pub(super) fn gates_of(&self, sort: Sort) -> Vec<String> {
        let gates = &self.gates;
        let mut names: Vec<String> = vec![];
        for wanted in sort.gates() {
            let found = Some(*wanted)
                .filter(|name| gates.contains_key(*name))
                .or_else(|| proof::fallback(wanted).filter(|name| gates.contains_key(*name)));
            if let Some(name) = found.filter(|name| !names.iter().any(|known| known == name)) {
                names.push(name.to_owned());
            }
        }
        names
    }

    /// Runs the gates of a phase one after the other; each is evidence, whatever it says.
    pub(super) async fn run_gates(&self, cx: &Cx, phase: &str, names: &[String]) -> Vec<Shown> {
        let mut shown = vec![];
        for name in names {
            if let Some(gate) = self.gates.get(name) {
                let one = self.run_gate(cx, name, gate).await;
                cx.record(&RoadmapFact::GateRan {
                    step: self.step.id.clone(),
                    phase: phase.to_owned(),
                    gate: name.clone(),
                    exit: one.evidence.exit,
                    verdict: one.evidence.verdict,
                    words: one.evidence.words.clone(),
                });
                shown.push(one);
            }
        }
        shown
    }

    async fn run_gate(&self, cx: &Cx, name: &str, gate: &Gate) -> Shown {
        let fill = |words: &[String]| words.iter().map(|word| self.filled(word)).collect::<Vec<_>>();
        let filled = Gate {
            command: fill(&gate.command),
            within: fill(&gate.within),
            subset: fill(&gate.subset),
            ..gate.clone()
        };
        let call = GateCall {
            name: name.to_owned(),
            gate: filled,
            cwd: self.place.tree.clone(),
            // In a working tree of its own there is nothing of the user.
            ours: (!self.place.is_beside()).then(|| self.ours.clone()),
            ..GateCall::default()
        };
        Shown::of(gate, &run_gate(cx, &call).await.evidence)
    }

    /// A word of a gate's command with what it stands for.
    fn filled(&self, word: &str) -> String {
        let test_file = self.step.test_file.clone().unwrap_or_default();
        let scenario = self.step.scenario.clone().unwrap_or_default();
        let project = &self.project.start.project;
        word.replace("{test_file}", &test_file)
            .replace("{scenario}", &scenario)
            .replace("{step}", &self.step.id)
            .replace("{project}", project)
    }

    /// The share of covered code that the gate measured; nothing where there is no such gate.
    pub(super) fn covered(&self, shown: &[Shown]) -> Option<Option<Coverage>> {
        self.gates.get(COVERAGE)?;
        shown.iter().find(|shown| shown.seen.gate == COVERAGE).map(|shown| shown.value)
    }

    /// What is wrong with the coverage, if anything (K-51).
    pub(super) fn coverage_objection(&self, value: Option<Coverage>) -> Option<Objection> {
        let gate = self.gates.get(COVERAGE)?;
        // Where nothing is said, this dialect wants more than the threshold.
        let usual = Comparator::MoreThan;
        let threshold = gate.limit(usual).unwrap_or_else(|| Threshold {
            comparator: gate.comparator.unwrap_or(usual),
            percent: Decimal::whole(THRESHOLD_PERCENT),
        });
        proof::coverage(value, &threshold, self.coverage_base)
    }

    /// Measures the coverage before anything is changed, so that the step cannot lower it unseen.
    pub(super) async fn measure_base(&mut self, cx: &Cx) {
        self.adopt(cx).await;
        if let Some(known) = &self.memory.coverage {
            self.coverage_base = coverage::by_expression(known, "[0-9.]+");
            return;
        }
        let Some(gate) = self.gates.get(COVERAGE) else { return };
        let shown = [self.run_gate(cx, COVERAGE, gate).await];
        self.coverage_base = self.covered(&shown).flatten();
        self.memory.coverage = self.coverage_base.map(|share| share.to_string());
        cx.record(&RoadmapFact::CoverageBase {
            step: self.step.id.clone(),
            value: self.memory.coverage.clone(),
            evidence: shown.into_iter().map(|shown| shown.evidence).collect(),
        });
    }
}
