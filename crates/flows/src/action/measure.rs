//! Gates that run something: what is measured, what is demanded, and what a person may do about the difference.

use std::collections::BTreeMap;

use seriatim_core::action::Stage;
use seriatim_core::action::evidence::CommandRun;
use seriatim_core::action::facts::ActionFact;
use seriatim_core::action::facts::GateResult;
use seriatim_core::action::gate::Gate;
use seriatim_core::action::gate::GateKind;
use seriatim_core::action::gate::Limit;
use seriatim_core::action::quality;
use seriatim_core::action::quality::AfterCommand;
use seriatim_core::action::quality::AfterShortfall;
use seriatim_core::action::quality::Shortfall;
use seriatim_core::config::Comparator;
use seriatim_core::evidence::TestVerdict;
use seriatim_core::evidence::coverage::Coverage;
use seriatim_core::gate;
use seriatim_core::gate::CheckEvidence;
use seriatim_core::gate::Demand;
use seriatim_core::gate::Gate as Declared;
use seriatim_core::hash::Hash;
use seriatim_core::verdict::PersonWord;
use seriatim_core::verdict::Verdict;

use super::course::Course;
use super::course::Leave;
use super::stage::After;
use crate::Cx;
use crate::gate::GateCall;
use crate::gate::run_gate;

impl Course {
    /// Measures, and compares with what is demanded (OC-57).
    pub(super) async fn quality(&mut self, cx: &Cx, stage: &Stage, gate: &Gate) -> Result<After, Leave> {
        self.adopt(cx);
        if self.start.gates.is_empty() {
            // Where nothing can be measured a person decides: no gate is passed by.
            self.notes.push(format!("Nothing is configured that the gate {} could measure.", gate.name));
            return self.approve(cx, stage, gate).await;
        }
        loop {
            let (ran, measured) = self.measure(cx).await;
            let limits = self.limits(gate);
            let shortfalls = quality::judge(&limits, &measured);
            let broken =
                ran.iter().find(|one| !one.verdict.closes() && !is_explained(one, &shortfalls)).cloned();
            if let Some(broken) = broken {
                match self.after_failure(cx, stage, gate, &broken).await? {
                    Some(after) => return Ok(after),
                    None => continue,
                }
            }
            if shortfalls.is_empty() {
                let words: Vec<String> =
                    measured.iter().map(|(name, value)| format!("{name} {value}")).collect();
                self.pass(
                    cx,
                    stage,
                    gate,
                    &words.join(", "),
                    Verdict::join(ran.into_iter().map(|one| one.verdict)),
                )
                .await;
                return Ok(After::Next);
            }
            if let Some(after) = self.after_shortfall(cx, stage, gate, &ran, &limits, &shortfalls).await? {
                return Ok(after);
            }
        }
    }

    /// A gate whose checks are good is left.
    async fn pass(&mut self, cx: &Cx, stage: &Stage, gate: &Gate, words: &str, verdict: Verdict) {
        let at = cx.now().await;
        self.put_decision(cx, &gate.name, "passed", at, "engine", words);
        self.settle(cx, &format!("gate {}", gate.name), verdict);
        self.end_gate(cx, stage.number, gate, GateResult::Passed);
    }

    /// What a person says about values that are not what is demanded. Nothing means that they are measured again.
    async fn after_shortfall(
        &mut self,
        cx: &Cx,
        stage: &Stage,
        gate: &Gate,
        ran: &[CheckEvidence],
        limits: &[Limit],
        shortfalls: &[Shortfall],
    ) -> Result<Option<After>, Leave> {
        let text = quality::text(shortfalls);
        cx.record(&ActionFact::GateFailed { gate: gate.name.clone(), text: text.clone() });
        let evidence = Hash::of(ran.iter().map(|one| one.tail.as_str()).collect::<String>().as_bytes());
        let question = quality::question(&gate.name, shortfalls, Some(evidence));
        let (choice, answer) = self.choose(cx, &gate.name, question).await;
        if self.restored_meanwhile(cx).await {
            return Ok(Some(After::Anew));
        }
        let words = answer.text.clone().unwrap_or_default();
        match choice {
            AfterShortfall::Fix => self.rework(cx, stage.number, &quality::feedback(shortfalls)).await?,
            AfterShortfall::Lower => {
                self.lowered.insert(gate.name.clone(), quality::lowered(limits, shortfalls));
                let lines: Vec<String> = shortfalls.iter().map(Shortfall::line).collect();
                let about = format!("threshold lowered: {words} ({})", lines.join("; "));
                let verdict = Verdict::decided(&answer.by, PersonWord::Overridden, about);
                self.settle(cx, &format!("threshold of gate {}", gate.name), verdict);
            }
            AfterShortfall::Override => {
                let lines: Vec<String> = shortfalls.iter().map(Shortfall::line).collect();
                let verdict = Verdict::Bad(lines).accepted(&answer.by, &words);
                self.settle(cx, &format!("gate {}", gate.name), verdict);
                self.end_gate(cx, stage.number, gate, GateResult::Overridden);
                return Ok(Some(After::Next));
            }
            AfterShortfall::Retry => {}
            AfterShortfall::Cancel => self.cancel(cx, &answer.by).await?,
        }
        Ok(None)
    }

    /// The check that is configured for a gate without a command of its own.
    pub(super) fn configured(&self, gate: &Gate) -> Option<&Declared> {
        self.start.gates.get(&gate.name).or_else(|| self.start.gates.get(gate.kind.word()))
    }

    /// A command decides: the gate's own, else the one that is configured under its name.
    pub(super) async fn command_gate(&mut self, cx: &Cx, stage: &Stage, gate: &Gate) -> Result<After, Leave> {
        loop {
            self.adopt(cx);
            let declared = match (gate.command.is_empty(), self.configured(gate).cloned()) {
                (false, _) => Declared { command: script(&gate.command), ..Declared::default() },
                (true, Some(configured)) => configured,
                (true, None) => {
                    self.notes
                        .push(format!("The gate {} has no command, so that a person decides.", gate.name));
                    return self.approve(cx, stage, gate).await;
                }
            };
            let is_tests = gate.command.is_empty() && self.is_tests(gate);
            let name = if is_tests { gate::TESTS } else { &gate.name };
            let threshold = declared.limit(Comparator::AtLeast);
            let demand = Demand { threshold, ..self.demand(name, &declared) };
            let (evidence, _) = self.execute(cx, name, &declared, demand).await;
            if evidence.verdict.closes() {
                let words = format!("`{}`", evidence.argv.join(" "));
                self.pass(cx, stage, gate, &words, evidence.verdict).await;
                return Ok(After::Next);
            }
            if let Some(after) = self.after_failure(cx, stage, gate, &evidence).await? {
                return Ok(after);
            }
        }
    }

    /// What a person says about a check that is not good. Nothing means that it is run again.
    async fn after_failure(
        &mut self,
        cx: &Cx,
        stage: &Stage,
        gate: &Gate,
        evidence: &CheckEvidence,
    ) -> Result<Option<After>, Leave> {
        let fell = self.fell(evidence);
        let question = quality::check_question(&gate.name, evidence, fell);
        let shown = if evidence.tail.is_empty() { &evidence.words } else { &evidence.tail };
        let feedback = vec![format!("The gate {} failed:\n{shown}", evidence.gate)];
        let (choice, answer) = self.choose(cx, &gate.name, question).await;
        if self.restored_meanwhile(cx).await {
            return Ok(Some(After::Anew));
        }
        match choice {
            AfterCommand::Fix => self.rework(cx, stage.number, &feedback).await?,
            AfterCommand::Retry => {}
            AfterCommand::FewerTests => {
                let words = answer.text.clone().unwrap_or_default();
                let verdict = evidence.verdict.clone().accepted(&answer.by, &words);
                self.settle(cx, "number of tests", verdict);
                self.floor = evidence.counts();
            }
            AfterCommand::Cancel => self.cancel(cx, &answer.by).await?,
        }
        Ok(None)
    }

    /// What is demanded: what a person lowered it to, else what the gate says, else the usual. Checks of the
    /// configuration with a threshold demand it, too.
    fn limits(&self, gate: &Gate) -> Vec<Limit> {
        if let Some(lowered) = self.lowered.get(&gate.name) {
            return lowered.clone();
        }
        let given = |name: &String, declared: &Declared| {
            let limit = declared.limit(Comparator::AtLeast)?;
            Some(Limit { measure: name.clone(), comparator: limit.comparator, percent: limit.percent })
        };
        // A quality gate that says nothing demands the usual, unless the configuration says something else.
        let usual = gate.limits.is_empty() || gate.limits == [Limit::coverage()];
        let coverage = self.start.gates.get(gate::COVERAGE).filter(|_| usual);
        let mut limits = match coverage {
            Some(declared) => {
                vec![given(&gate::COVERAGE.to_owned(), declared).unwrap_or_else(Limit::coverage)]
            }
            None => gate.limits.clone(),
        };
        for (name, declared) in self.start.gates.iter().filter(|(name, _)| *name != gate::COVERAGE) {
            let known = limits.iter().any(|limit| limit.measure == *name);
            limits.extend(given(name, declared).filter(|_| !known));
        }
        limits
    }

    /// Runs every gate of the configuration, and reads what they measured.
    async fn measure(&mut self, cx: &Cx) -> (Vec<CheckEvidence>, BTreeMap<String, Coverage>) {
        self.adopt(cx);
        let gates: Vec<(String, Declared)> =
            self.start.gates.iter().map(|(name, gate)| (name.clone(), gate.clone())).collect();
        let mut all = vec![];
        let mut measured = BTreeMap::new();
        for (name, declared) in gates {
            let demand = self.demand(&name, &declared);
            let (evidence, _) = self.execute(cx, &name, &declared, demand).await;
            if name == gate::COVERAGE || declared.value.is_some() {
                for known in [name.as_str(), "unit_coverage_pct", "coverage_pct"] {
                    measured.extend(evidence.value.map(|value| (known.to_owned(), value)));
                }
            }
            if name == gate::TESTS {
                let rate = evidence.counts().as_ref().and_then(quality::pass_rate);
                for known in ["pass_rate_pct", "pass_rate"] {
                    measured.extend(rate.map(|value| (known.to_owned(), value)));
                }
            }
            all.push(evidence);
        }
        (all, measured)
    }

    /// Runs one check; what it showed is evidence, with where it ran and for which stage (OC-98, OC-99, OC-123). Returns
    /// what it printed beside it.
    pub(super) async fn execute(
        &mut self,
        cx: &Cx,
        name: &str,
        declared: &Declared,
        demand: Demand,
    ) -> (CheckEvidence, String) {
        let at = cx.now().await;
        let call = GateCall { name: name.to_owned(), gate: declared.clone(), demand, ..GateCall::default() };
        let done = run_gate(cx, &call).await;
        let evidence = done.evidence;
        self.proof.commands.push(CommandRun {
            at,
            argv: declared.command.clone(),
            within: declared.within.clone(),
            exit: evidence.exit(),
            duration_ms: done.duration_ms,
            stage: self.proof.stage.clone(),
        });
        let code = evidence.exit().map_or("no exit code".to_owned(), |code| format!("exit code {code}"));
        let argv = evidence.argv.join(" ");
        self.shown.retain(|(known, _)| known != name);
        self.shown.push((
            name.to_owned(),
            format!("`{argv}`, {code}, {}: {}", evidence.verdict.word(), evidence.words),
        ));
        cx.record(&ActionFact::GateRan {
            gate: name.to_owned(),
            command: argv,
            exit: evidence.exit(),
            output: evidence.tail.clone(),
            output_hash: evidence.output,
            stage: self.proof.stage.clone(),
            within: declared.within.clone(),
            verdict: Some(evidence.verdict.clone()),
        });
        (evidence, done.output)
    }
}

/// Whether the exit code of a check only repeats a value that is short, so that one question covers both. Red tests are
/// never explained by a number.
fn is_explained(evidence: &CheckEvidence, shortfalls: &[Shortfall]) -> bool {
    let about = |short: &Shortfall| match evidence.gate.as_str() {
        gate::COVERAGE => short.limit.measure.contains(gate::COVERAGE),
        other => short.limit.measure == other,
    };
    let short = shortfalls.iter().any(|short| about(short) && short.measured.is_some());
    let red = evidence.tests.as_ref().is_some_and(|tests| tests.verdict != TestVerdict::Green);
    matches!(evidence.verdict, Verdict::Bad(_)) && short && !red
}

/// The words of a gate's own command; a script is started by what runs it.
fn script(command: &[String]) -> Vec<String> {
    match command {
        [only] => GateKind::script_command(only),
        words => words.to_vec(),
    }
}
