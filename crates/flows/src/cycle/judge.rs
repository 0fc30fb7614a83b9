//! The Judge: a battery that the engine runs, then an opinion; red evidence cannot be talked away (CY-50 to CY-65).

use serde_json::Value;
use serde_json::json;
use seriatim_core::cycle::block::Block;
use seriatim_core::cycle::block::Mark;
use seriatim_core::cycle::block::Role;
use seriatim_core::cycle::bypass;
use seriatim_core::cycle::plan::PlanStep;
use seriatim_core::hash::Hash;

use super::Gate;
use super::act::Done;
use super::course::Course;
use super::course::one_line;
use super::deliver::Approved;
use super::plan::Called;
use super::words;
use crate::Cx;
use crate::registry::Ended;
use crate::request::Command;

/// How much of a red check goes to the Planner.
const OUTPUT_BYTES_MAX: usize = 4000;

/// One check and what it found.
#[derive(Clone)]
pub(super) struct Evidence {
    pub(super) name: String,
    pub(super) green: bool,
    pub(super) words: String,
    pub(super) hash: Option<Hash>,
    /// There is no such check in this project.
    pub(super) absent: bool,
}

impl Evidence {
    fn of(name: &str, green: bool, words: String) -> Evidence {
        Evidence { name: name.to_owned(), green, words, hash: None, absent: false }
    }

    /// The result in one word.
    fn result(&self) -> &'static str {
        match (self.absent, self.green) {
            (true, _) => "none",
            (false, true) => "green",
            (false, false) => "red",
        }
    }
}

/// The battery, and the verdict that follows from it and the Judge's opinion.
pub(super) struct Judged {
    pub(super) evidence: Vec<Evidence>,
    pub(super) pass: bool,
    pub(super) diagnostics: String,
    /// The tree that all this is about.
    pub(super) tree: String,
}

impl Course<'_> {
    /// Battery, opinion, verdict; then the Planner again, a pause, or the person's approval.
    pub(super) async fn evaluate(&mut self, step: &PlanStep, mut work: Done) -> Approved {
        loop {
            self.iterations += 1;
            self.loops_since_human += 1;
            let judged = match self.judge(step, &work).await {
                Ok(judged) => judged,
                Err(end) => return Approved::Stopped(end),
            };
            self.fact(json!({
                "fact": "judged", "cycle": self.number, "pass": judged.pass,
                "evidence": judged.evidence.iter().map(|e| json!({"check": e.name, "green": e.green, "hash": e.hash})).collect::<Vec<_>>(),
            }));
            if self.loops_since_human >= 3 {
                self.alert("Stuck Cycles", "three loops or more without a person");
            }
            if !judged.pass {
                self.insufficient += 1;
                self.blockers.push(one_line(&judged.diagnostics));
                self.diagnostics = Some(judged.diagnostics.clone());
                let pause = self.insufficient >= self.limits.insufficient;
                self.write_verdict(&judged, if pause { Role::Human } else { Role::Planner }).await;
                return if pause { Approved::Pause } else { Approved::Again };
            }
            self.insufficient = 0;
            self.write_verdict(&judged, Role::Human).await;
            if let Some(approved) = self.approve(step, &work, &judged).await {
                return approved;
            }
            // The files are others than those that were judged: all of them are looked at again (E-43).
            work = match self.work(work.remarks, work.lines).await {
                Ok(work) => work,
                Err(failure) => return Approved::Stopped(self.give_up(&failure.message).await),
            };
        }
    }

    async fn judge(&mut self, step: &PlanStep, work: &Done) -> Result<Judged, Ended> {
        let mut evidence = self.battery_on(work).await;
        let tree = self.tree().await;
        evidence.push(leak_check(&work.leaks));
        let tell_tales = bypass::find(&work.diff);
        let told: Vec<String> =
            tell_tales.iter().map(|t| format!("{}:{} {}", t.file, t.line, t.why)).collect();
        evidence.push(Evidence::of("Authorization", told.is_empty(), told.join("; ")));
        let size = format!("{} lines in {} files. {}", work.lines, work.paths.len(), work.remarks.join(" "));
        evidence.push(Evidence::of("Scope", true, size));
        let prompt = judge_prompt(step, &evidence, &work.diff);
        let opinion = match self.consult(Role::Judge, prompt).await {
            Called::Over(end) => return Err(end),
            Called::Report(report) => Ok(*report),
            Called::Failed(why) => Err(why),
        };
        let intact = self.check_document().await;
        let changed = self.changed_since(&tree).await;
        let red: Vec<String> =
            evidence.iter().filter(|e| !e.green).map(|e| format!("{}: {}", e.name, e.words)).collect();
        let (said_pass, said) = match &opinion {
            Ok(report) => {
                let result = report.outputs.get("result").and_then(Value::as_str).unwrap_or_default();
                let words =
                    report.outputs.get("diagnostics").and_then(Value::as_str).unwrap_or(&report.summary);
                (result == "PASS", words.to_owned())
            }
            // Without an opinion the evidence alone decides (K-64).
            Err(why) => (red.is_empty(), format!("The Judge gave no opinion: {why}")),
        };
        let mut reasons = red;
        if !said_pass {
            reasons.push(if said.is_empty() {
                "The Judge says it is not sufficient.".to_owned()
            } else {
                said
            });
        }
        if !intact {
            reasons.push(
                "The Judge changed earlier parts of the cycle document; they were restored.".to_owned(),
            );
        }
        if !changed.is_empty() {
            reasons.push(format!("Files changed while the Judge looked at them: {}.", changed.join(", ")));
        }
        let greens: Vec<&str> =
            evidence.iter().filter(|e| e.green && !e.absent).map(|e| e.name.as_str()).collect();
        let pass = reasons.is_empty();
        let diagnostics = if pass {
            String::new()
        } else {
            format!("{}\nGreen: {}.", reasons.join("\n"), greens.join(", "))
        };
        Ok(Judged { evidence, pass, diagnostics, tree })
    }

    async fn tree(&self) -> String {
        self.cx.stand().await.map(|s| s.tree).unwrap_or_default()
    }

    /// Runs the battery. What it leaves behind is no part of the work; a check that changes the work itself is red,
    /// since what was checked is then not what would be committed.
    async fn battery_on(&mut self, work: &Done) -> Vec<Evidence> {
        let before = self.tree().await;
        let mut evidence = self.battery().await;
        let (touched, left): (Vec<String>, Vec<String>) =
            self.changed_since(&before).await.into_iter().partition(|path| work.paths.contains(path));
        self.by_products.extend(left);
        if !touched.is_empty() {
            let words = format!("a check changed files of the step: {}", touched.join(", "));
            evidence.push(Evidence::of("Checks", false, words));
        }
        evidence
    }

    /// The checks of the configuration, side by side; each is run by the engine.
    async fn battery(&mut self) -> Vec<Evidence> {
        let names =
            [("tests", "Existing Tests"), ("lint", "Linter/Formatter"), ("security", "Security Scans")];
        let mut found = Vec::new();
        let mut branches = Vec::new();
        for (key, name) in names {
            match self.start.gates.get(key) {
                Some(gate) => {
                    let mut gate = gate.clone();
                    if key == "tests" {
                        gate.timeout_ms = gate.timeout_ms.or(self.rules.test_timeout_ms);
                    }
                    branches.push((key.to_owned(), (name.to_owned(), gate)));
                }
                None => {
                    let words = "no such check is configured".to_owned();
                    found.push(Evidence { absent: true, ..Evidence::of(name, true, words) });
                }
            }
        }
        found.extend(
            self.cx.par(3, branches, |cx, (name, gate)| async move { run_gate(&cx, name, gate).await }).await,
        );
        found.sort_by_key(|e| names.iter().position(|(_, name)| *name == e.name));
        found
    }

    async fn write_verdict(&mut self, judged: &Judged, next: Role) {
        let mut body = String::from("| check | result | |\n|---|---|---|\n");
        for e in &judged.evidence {
            let words = one_line(&e.words).replace('|', "/");
            body.push_str(&format!("| {} | {} | {words} |\n", e.name, e.result()));
        }
        if !judged.diagnostics.is_empty() {
            body.push_str(&format!("\n{}\n", judged.diagnostics));
        }
        let (mark, summary) = if judged.pass {
            (Mark::Pass, "All checks are green; a person decides about the commit".to_owned())
        } else {
            (Mark::Insufficient, one_line(&judged.diagnostics))
        };
        let block = Block { role: Role::Judge, mark, summary, next, extra: vec![] };
        self.append("Verdict", &body, block).await;
    }
}

/// Runs a gate. One that crashed instead of failing is run once more (CY-68).
async fn run_gate(cx: &Cx, name: String, gate: Gate) -> Evidence {
    let command =
        Command { argv: gate.argv, env: gate.env, timeout_ms: gate.timeout_ms, ..Command::default() };
    let mut ran = cx.exec(command.clone()).await;
    let crashed = match &ran {
        Ok(ran) => ran.code.is_none() || ran.code.is_some_and(|c| c > 128),
        Err(_) => true,
    };
    if crashed {
        ran = cx.exec(command).await;
    }
    match ran {
        Ok(ran) => {
            let output = format!("{}{}", ran.stdout, ran.stderr);
            let code = ran.code.map_or("a signal".to_owned(), |c| format!("exit code {c}"));
            let green = ran.ok();
            let words = if green { last_line(&output) } else { format!("{code}\n{}", tail(&output)) };
            Evidence { hash: ran.output, ..Evidence::of(&name, green, words) }
        }
        Err(failure) => Evidence::of(&name, false, failure.message),
    }
}

fn leak_check(leaks: &[String]) -> Evidence {
    Evidence::of("Credentials", leaks.is_empty(), leaks.join("; "))
}

fn last_line(text: &str) -> String {
    text.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or("green").trim().to_owned()
}

fn tail(text: &str) -> String {
    let mut from = text.len().saturating_sub(OUTPUT_BYTES_MAX);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    text[from..].trim().to_owned()
}

fn judge_prompt(step: &PlanStep, evidence: &[Evidence], diff: &str) -> String {
    let mut text = format!("# Judge one step\n\n{}\n\n## What was run\n", words::step_text(step));
    for e in evidence {
        text.push_str(&format!("- {}: {} {}\n", e.name, e.result(), one_line(&e.words)));
    }
    text.push_str(&format!(
        "\n## The change\n{diff}\n\n## How to report\noutputs: {{\"result\": \"PASS\" or \"INSUFFICIENT\", \"diagnostics\": \"\"}} \
         or {{\"kind\": \"context_request\", \"need\": \"\"}}\n"
    ));
    text
}
