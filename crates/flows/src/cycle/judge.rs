//! The Judge: a battery that the engine runs, then an opinion; red evidence cannot be talked away (CY-50 to CY-65).

use serde_json::Value;
use seriatim_core::cycle::block::Block;
use seriatim_core::cycle::block::Mark;
use seriatim_core::cycle::block::Role;
use seriatim_core::cycle::bypass;
use seriatim_core::cycle::facts::CheckResult;
use seriatim_core::cycle::facts::CheckSeen;
use seriatim_core::cycle::facts::CycleFact;
use seriatim_core::cycle::facts::Opinion;
use seriatim_core::cycle::limits::counted;
use seriatim_core::cycle::plan::PlanStep;
use seriatim_core::report::Report;

use super::act::Done;
use super::battery::Evidence;
use super::course::Course;
use super::course::one_line;
use super::deliver::Approved;
use super::plan::Called;
use super::words;
use crate::registry::Ended;

/// The battery, and the verdict that follows from it and the Judge's opinion.
pub(super) struct Judged {
    pub(super) evidence: Vec<Evidence>,
    pub(super) pass: bool,
    opinion: Opinion,
    /// Why it is not sufficient; none when it passes.
    reasons: Vec<String>,
    pub(super) diagnostics: String,
    /// The tree that all this is about.
    pub(super) tree: String,
}

impl Course<'_> {
    /// Battery, opinion, verdict; then the Planner again, a pause, or the person's approval.
    pub(super) async fn evaluate(&mut self, step: &PlanStep, mut work: Done) -> Approved {
        loop {
            self.iterations += 1;
            let judged = match self.judge(step, &work).await {
                Ok(judged) => judged,
                Err(end) => return Approved::Stopped(end),
            };
            self.record_verdict(&judged);
            self.count_loop().await;
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
        evidence.push(planned(step, work));
        evidence.push(leak_check(&work.leaks));
        let tell_tales = bypass::find(&work.diff);
        let told: Vec<String> =
            tell_tales.iter().map(|t| format!("{}:{} {}", t.file, t.line, t.why)).collect();
        evidence.push(Evidence::of("Authorization", told.is_empty(), told.join("; ")));
        let (lines, files) = (counted(work.lines, "line"), counted(work.paths.len() as u64, "file"));
        let size = format!("{lines} in {files}. {}", work.remarks.join(" ")).trim_end().to_owned();
        evidence.push(Evidence::of("Scope", true, size));
        self.record_checks(&evidence);
        let prompt = judge_prompt(step, &evidence, &work.diff);
        let opinion = match self.consult(Role::Judge, prompt).await {
            Called::Over(end) => return Err(end),
            Called::Report(report) => read_opinion(&report),
            Called::Failed(failure) => Opinion::Missing(failure.in_one_line()),
        };
        let intact = self.check_document().await;
        let changed = self.changed_since(&tree).await;
        let red: Vec<String> =
            evidence.iter().filter(|e| !e.lets_pass()).map(|e| format!("{}: {}", e.name, e.words)).collect();
        let mut reasons = red;
        reasons.extend(objection(&opinion, !reasons.is_empty()));
        if !intact {
            reasons.push(
                "The Judge changed earlier parts of the cycle document; they were restored.".to_owned(),
            );
        }
        if !changed.is_empty() {
            reasons.push(format!("Files changed while the Judge looked at them: {}.", changed.join(", ")));
        }
        let greens: Vec<&str> =
            evidence.iter().filter(|e| e.result == CheckResult::Green).map(|e| e.name.as_str()).collect();
        let pass = reasons.is_empty();
        let diagnostics = if pass {
            String::new()
        } else {
            format!("{}\nGreen: {}.", reasons.join("\n"), greens.join(", "))
        };
        Ok(Judged { evidence, pass, opinion, reasons, diagnostics, tree })
    }

    fn record_checks(&self, evidence: &[Evidence]) {
        for e in evidence {
            self.fact(CycleFact::CheckRan {
                cycle: self.number,
                check: e.name.clone(),
                result: e.result,
                words: e.words.clone(),
                hash: e.hash,
            });
        }
    }

    fn record_verdict(&self, judged: &Judged) {
        let seen = |e: &Evidence| CheckSeen { check: e.name.clone(), green: e.lets_pass(), hash: e.hash };
        self.fact(CycleFact::Judged {
            cycle: self.number,
            pass: judged.pass,
            evidence: judged.evidence.iter().map(seen).collect(),
            opinion: judged.opinion.clone(),
            reasons: judged.reasons.clone(),
        });
    }

    pub(super) async fn tree(&self) -> String {
        let tree = match self.isolated {
            true => self.tree_of_work().await,
            false => self.cx.stand().await.map(|stand| stand.tree),
        };
        tree.unwrap_or_default()
    }

    async fn write_verdict(&mut self, judged: &Judged, next: Role) {
        let mut body = String::from("| check | result | |\n|---|---|---|\n");
        for e in &judged.evidence {
            let words = one_line(&e.words).replace('|', "/");
            body.push_str(&format!("| {} | {} | {words} |\n", e.name, e.result.word()));
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

/// What the Judge says: PASS in so many letters, or it is not sufficient.
fn read_opinion(report: &Report) -> Opinion {
    if report.outputs.get("result").and_then(Value::as_str) == Some("PASS") {
        return Opinion::Pass;
    }
    let words = report.outputs.get("diagnostics").and_then(Value::as_str).unwrap_or(&report.summary);
    Opinion::Insufficient(words.to_owned())
}

/// What the opinion adds to the reasons. Without one the evidence alone decides (K-64).
fn objection(opinion: &Opinion, red: bool) -> Option<String> {
    match opinion {
        Opinion::Pass | Opinion::Unknown => None,
        Opinion::Insufficient(words) if words.is_empty() => {
            Some("The Judge says it is not sufficient.".to_owned())
        }
        Opinion::Insufficient(words) => Some(words.clone()),
        Opinion::Missing(why) => red.then(|| format!("The Judge gave no opinion: {why}")),
    }
}

/// Whether what was planned was attempted at all (CY-43). Without any change there is nothing to approve.
fn planned(step: &PlanStep, work: &Done) -> Evidence {
    let wanted = step.files.iter().chain(&step.creates);
    let untouched: Vec<&str> = wanted.filter(|path| !work.paths.contains(path)).map(String::as_str).collect();
    let words = match (work.paths.is_empty(), untouched.is_empty()) {
        (true, _) => "no file was changed".to_owned(),
        (false, true) => "all planned files were changed".to_owned(),
        (false, false) => format!("planned, but not changed: {}", untouched.join(", ")),
    };
    Evidence::of("Planned changes", !work.paths.is_empty(), words)
}

fn leak_check(leaks: &[String]) -> Evidence {
    Evidence::of("Credentials", leaks.is_empty(), leaks.join("; "))
}

fn judge_prompt(step: &PlanStep, evidence: &[Evidence], diff: &str) -> String {
    let mut text = format!("# Judge one step\n\n{}\n\n## What was run\n", words::step_text(step));
    for e in evidence {
        text.push_str(&format!("- {}: {} {}\n", e.name, e.result.word(), one_line(&e.words)));
    }
    text.push_str(&format!(
        "\n## The change\n{diff}\n\n## How to report\noutputs: {{\"result\": \"PASS\" or \"INSUFFICIENT\", \"diagnostics\": \"\"}} \
         or {{\"kind\": \"context_request\", \"need\": \"\"}}\n"
    ));
    text
}
