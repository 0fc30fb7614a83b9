//! The gates: commands that the engine runs itself, and what they showed.

use seriatim_core::config::Comparator;
use seriatim_core::evidence::coverage;
use seriatim_core::evidence::coverage::Coverage;
use seriatim_core::evidence::coverage::Threshold;
use seriatim_core::process::Decimal;
use seriatim_core::roadmap::facts::GateEvidence;
use seriatim_core::roadmap::facts::RoadmapFact;
use seriatim_core::roadmap::proof;
use seriatim_core::roadmap::proof::GateRun;
use seriatim_core::roadmap::proof::Objection;
use seriatim_core::roadmap::proof::Seen;
use seriatim_core::roadmap::proof::Sort;

use super::Gate;
use super::work::Work;
use crate::Cx;
use crate::request::Check;
use crate::request::Command;

/// The share that is enough where the configuration does not say (DW-64).
const THRESHOLD: &str = "80";
/// The name of the gate that measures.
const COVERAGE: &str = "coverage";

/// What one gate showed, with everything that belongs to it.
pub(super) struct Shown {
    pub(super) seen: Seen,
    pub(super) evidence: GateEvidence,
    /// What it printed, for values in it.
    output: String,
    /// The report that it wrote itself; absent where it had no view of its own.
    reports: Option<Vec<Option<String>>>,
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
        let argv: Vec<String> = gate.words().map(|word| self.filled(word)).collect();
        let command = Command {
            argv: argv.clone(),
            cwd: self.place.tree.clone(),
            env: gate.env.clone(),
            timeout_ms: gate.timeout_ms,
            check: Some(Check {
                reports: gate.value.iter().cloned().collect(),
                // In a working tree of its own there is nothing of the user.
                ours: (!self.place.is_beside()).then(|| self.ours.clone()),
                ..gate.check.under(name)
            }),
            ..Command::default()
        };
        let ran = cx.exec(command).await;
        let (output, exit, broke, hash, reports) = match ran {
            Ok(ran) => (format!("{}{}", ran.stdout, ran.stderr), ran.code, None, ran.output, ran.reports),
            Err(failure) => (failure.output, None, Some(failure.message), None, None),
        };
        let run = GateRun {
            gate: name.to_owned(),
            command: argv.join(" "),
            output,
            exit,
            expect: gate.expect.clone(),
            broke,
        };
        let seen = proof::see(&run);
        let evidence = GateEvidence::of(&seen, exit, hash, &gate.within);
        Shown { seen, evidence, output: run.output, reports }
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

    /// The share of covered code that the gate measured.
    pub(super) async fn covered(&self, cx: &Cx, shown: &[Shown]) -> Option<Option<Coverage>> {
        let gate = self.gates.get(COVERAGE)?;
        let shown = shown.iter().find(|shown| shown.seen.gate == COVERAGE)?;
        let Some(value) = &gate.value else { return Some(coverage::in_output(&shown.output)) };
        // A report file is told from a pattern by being there. In a view of its own only what the gate itself wrote is.
        let report = match &shown.reports {
            Some(written) => written.iter().flatten().next().cloned(),
            None => cx.read(&self.place.at(value)).await.ok().map(|report| report.text),
        };
        if let Some(report) = report {
            return Some(coverage::in_report(&report));
        }
        Some(coverage::by_expression(&shown.output, value))
    }

    /// What is wrong with the coverage, if anything (K-51).
    pub(super) fn coverage_objection(&self, value: Option<Coverage>) -> Option<Objection> {
        let gate = self.gates.get(COVERAGE)?;
        let comparator = match gate.comparator {
            // Where nothing is said, this dialect wants more than the threshold.
            None | Some(Comparator::MoreThan) => coverage::Comparator::Above,
            Some(_) => coverage::Comparator::AtLeast,
        };
        let given = gate.threshold.as_deref().unwrap_or(THRESHOLD);
        let percent: Decimal = given.parse().unwrap_or_else(|_| Decimal::whole(80));
        proof::coverage(value, &Threshold { comparator, percent }, self.coverage_base)
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
        self.coverage_base = self.covered(cx, &shown).await.flatten();
        self.memory.coverage = self.coverage_base.map(|share| share.to_string());
        cx.record(&RoadmapFact::CoverageBase {
            step: self.step.id.clone(),
            value: self.memory.coverage.clone(),
            evidence: shown.into_iter().map(|shown| shown.evidence).collect(),
        });
    }
}
