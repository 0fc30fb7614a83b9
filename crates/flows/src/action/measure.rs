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
use seriatim_core::evidence;
use seriatim_core::evidence::coverage;
use seriatim_core::evidence::coverage::Coverage;
use seriatim_core::hash::Hash;

use super::Gate as Configured;
use super::course::Course;
use super::course::Leave;
use super::stage::After;
use crate::Cx;
use crate::request::Check;
use crate::request::Command;

/// What one command showed.
struct Ran {
    name: String,
    argv: Vec<String>,
    ok: bool,
    output: String,
    hash: Option<Hash>,
    /// The report that it wrote itself; absent where it had no view of its own.
    reports: Option<Vec<Option<String>>>,
}

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
            let broken = ran.iter().find(|one| !one.ok && !is_measured(&one.name, &limits, &measured));
            let evidence =
                Some(Hash::of(ran.iter().map(|one| one.output.as_str()).collect::<String>().as_bytes()));
            if let Some(broken) = broken {
                let question =
                    quality::command_question(&gate.name, &broken.argv, &broken.output, broken.hash);
                let feedback = vec![format!("The gate {} failed:\n{}", broken.name, broken.output)];
                match self.after_question(cx, stage, gate, question, feedback).await? {
                    Some(after) => return Ok(after),
                    None => continue,
                }
            }
            if shortfalls.is_empty() {
                let words: Vec<String> =
                    measured.iter().map(|(name, value)| format!("{name} {value}")).collect();
                let at = cx.now().await;
                self.put_decision(cx, &gate.name, "passed", at, "engine", &words.join(", "));
                self.end_gate(cx, stage.number, gate, GateResult::Passed);
                return Ok(After::Next);
            }
            let text = quality::text(&shortfalls);
            cx.record(&ActionFact::GateFailed { gate: gate.name.clone(), text });
            let question = quality::question(&gate.name, &shortfalls, evidence);
            let (choice, answer) = self.choose(cx, &gate.name, question).await;
            if self.restored_meanwhile(cx).await {
                return Ok(After::Anew);
            }
            let words = answer.text.clone().unwrap_or_default();
            match choice {
                AfterShortfall::Fix => self.rework(cx, stage.number, &quality::feedback(&shortfalls)).await?,
                AfterShortfall::Lower => {
                    self.lowered.insert(gate.name.clone(), quality::lowered(&limits, &shortfalls));
                    self.notes.push(format!("{} lowered the gate {}: {words}", answer.by, gate.name));
                }
                AfterShortfall::Override => {
                    self.notes.push(format!(
                        "{} let the gate {} pass though it failed: {words}",
                        answer.by, gate.name
                    ));
                    self.end_gate(cx, stage.number, gate, GateResult::Overridden);
                    return Ok(After::Next);
                }
                AfterShortfall::Retry => {}
                AfterShortfall::Cancel => self.cancel(cx, &answer.by).await?,
            }
        }
    }

    /// A command decides by its exit code: the gate's own, else the one that is configured under its name.
    pub(super) async fn command_gate(&mut self, cx: &Cx, stage: &Stage, gate: &Gate) -> Result<After, Leave> {
        loop {
            self.adopt(cx);
            let configured =
                self.start.gates.get(&gate.name).or_else(|| self.start.gates.get(gate.kind.word())).cloned();
            let command = match (gate.command.is_empty(), configured) {
                (false, _) => Configured { argv: script(&gate.command), ..Configured::default() },
                (true, Some(configured)) => configured,
                (true, None) => {
                    self.notes
                        .push(format!("The gate {} has no command, so that a person decides.", gate.name));
                    return self.approve(cx, stage, gate).await;
                }
            };
            let ran = self.run(cx, &gate.name, &command).await;
            if ran.ok {
                let at = cx.now().await;
                self.put_decision(
                    cx,
                    &gate.name,
                    "passed",
                    at,
                    "engine",
                    &format!("`{}`", ran.argv.join(" ")),
                );
                self.end_gate(cx, stage.number, gate, GateResult::Passed);
                return Ok(After::Next);
            }
            let question = quality::command_question(&gate.name, &ran.argv, &ran.output, ran.hash);
            let feedback = vec![format!("The gate {} failed:\n{}", gate.name, ran.output)];
            if let Some(after) = self.after_question(cx, stage, gate, question, feedback).await? {
                return Ok(after);
            }
        }
    }

    /// What a person says about a command that failed. Nothing means that it is run again.
    async fn after_question(
        &mut self,
        cx: &Cx,
        stage: &Stage,
        gate: &Gate,
        question: seriatim_core::question::Question,
        feedback: Vec<String>,
    ) -> Result<Option<After>, Leave> {
        let (choice, answer) = self.choose(cx, &gate.name, question).await;
        if self.restored_meanwhile(cx).await {
            return Ok(Some(After::Anew));
        }
        match choice {
            AfterCommand::Fix => self.rework(cx, stage.number, &feedback).await?,
            AfterCommand::Retry => {}
            AfterCommand::Cancel => self.cancel(cx, &answer.by).await?,
        }
        Ok(None)
    }

    /// What is demanded: what a person lowered it to, else what the gate says, else the usual.
    fn limits(&self, gate: &Gate) -> Vec<Limit> {
        if let Some(lowered) = self.lowered.get(&gate.name) {
            return lowered.clone();
        }
        // A quality gate that says nothing demands the usual, unless the configuration says something else.
        let usual = gate.limits.is_empty() || gate.limits == [Limit::coverage()];
        let Some(coverage) = self.start.gates.get(COVERAGE).filter(|_| usual) else {
            return gate.limits.clone();
        };
        let given = coverage.threshold.as_deref().and_then(|text| Limit::parse(COVERAGE, text).ok());
        let limit = given.unwrap_or_else(Limit::coverage);
        vec![Limit { comparator: coverage.comparator.unwrap_or(limit.comparator), ..limit }]
    }

    /// Runs every gate of the configuration, and reads what they measured.
    async fn measure(&mut self, cx: &Cx) -> (Vec<Ran>, BTreeMap<String, Coverage>) {
        self.adopt(cx);
        let gates: Vec<(String, Configured)> =
            self.start.gates.iter().map(|(name, gate)| (name.clone(), gate.clone())).collect();
        let mut all = vec![];
        let mut measured = BTreeMap::new();
        for (name, gate) in gates {
            let ran = self.run(cx, &name, &gate).await;
            if name == COVERAGE || gate.value.is_some() {
                let report = match &gate.value {
                    Some(value) => {
                        let written = match &ran.reports {
                            Some(written) => written.iter().flatten().next().cloned(),
                            None => cx.read(value).await.ok().map(|text| text.text),
                        };
                        written.and_then(|text| coverage::in_report(&text))
                    }
                    None => None,
                };
                let by_value =
                    || gate.value.as_deref().and_then(|value| coverage::by_expression(&ran.output, value));
                let found = report.or_else(by_value).or_else(|| coverage::in_output(&ran.output));
                for known in [name.as_str(), "unit_coverage_pct", "coverage_pct"] {
                    measured.extend(found.map(|value| (known.to_owned(), value)));
                }
            }
            if name == "tests" {
                let exit = if ran.ok { Some(0) } else { Some(1) };
                let counts = evidence::read(&ran.output, exit, None).counts;
                let rate = counts.as_ref().and_then(quality::pass_rate);
                for known in ["pass_rate_pct", "pass_rate"] {
                    measured.extend(rate.map(|value| (known.to_owned(), value)));
                }
            }
            all.push(ran);
        }
        (all, measured)
    }

    /// Runs one command; what it showed is evidence, with where it ran and for which stage (OC-98, OC-99, OC-123).
    async fn run(&mut self, cx: &Cx, name: &str, gate: &Configured) -> Ran {
        let at = cx.now().await;
        let argv: Vec<String> = gate.within.iter().chain(&gate.argv).cloned().collect();
        let command = Command {
            argv: argv.clone(),
            env: gate.env.clone(),
            timeout_ms: gate.timeout_ms,
            check: Some(Check { reports: gate.value.iter().cloned().collect(), ..gate.check.under(name) }),
            ..Command::default()
        };
        let (exit, output, duration_ms, hash, reports) = match cx.exec(command).await {
            Ok(ran) => {
                (ran.code, format!("{}{}", ran.stdout, ran.stderr), ran.duration_ms, ran.output, ran.reports)
            }
            Err(failure) => (None, format!("{}\n{}", failure.message, failure.output), 0, None, None),
        };
        let stage = self.proof.stage.clone();
        self.proof.commands.push(CommandRun {
            at,
            argv: gate.argv.clone(),
            within: gate.within.clone(),
            exit,
            duration_ms,
            stage,
        });
        let code = exit.map_or("no exit code".to_owned(), |code| format!("exit code {code}"));
        self.shown.retain(|(known, _)| known != name);
        self.shown.push((name.to_owned(), format!("`{}`, {code}", argv.join(" "))));
        cx.record(&ActionFact::GateRan {
            gate: name.to_owned(),
            command: argv.join(" "),
            exit,
            output: tail(&output),
            output_hash: hash,
            stage: self.proof.stage.clone(),
            within: gate.within.clone(),
        });
        Ran { name: name.to_owned(), argv, ok: exit == Some(0), output: tail(&output), hash, reports }
    }
}

const COVERAGE: &str = "coverage";
/// How much of an output people and roles are shown.
const OUTPUT_BYTES_MAX: usize = 4000;

fn tail(text: &str) -> String {
    let from = text.ceil_char_boundary(text.len().saturating_sub(OUTPUT_BYTES_MAX));
    text.get(from..).unwrap_or_default().trim().to_owned()
}

/// Whether a limit speaks about what this gate measured, so that its exit code is not asked as well.
fn is_measured(name: &str, limits: &[Limit], measured: &BTreeMap<String, Coverage>) -> bool {
    let about = |limit: &Limit| match name {
        "coverage" => limit.measure.contains("coverage"),
        "tests" => limit.measure.contains("pass_rate"),
        other => limit.measure == other,
    };
    limits.iter().any(|limit| about(limit) && measured.contains_key(&limit.measure))
}

/// The words of a gate's own command; a script is started by what runs it.
fn script(command: &[String]) -> Vec<String> {
    match command {
        [only] => GateKind::script_command(only),
        words => words.to_vec(),
    }
}
