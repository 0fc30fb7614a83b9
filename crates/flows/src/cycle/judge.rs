//! The Judge: a battery that the engine runs, then an opinion; red evidence cannot be talked away (CY-50 to CY-65).

use seriatim_core::cycle::block::Block;
use seriatim_core::cycle::block::Mark;
use seriatim_core::cycle::block::Role;
use seriatim_core::cycle::bypass;
use seriatim_core::cycle::document;
use seriatim_core::cycle::facts::CheckResult;
use seriatim_core::cycle::facts::CheckSeen;
use seriatim_core::cycle::facts::CycleFact;
use seriatim_core::cycle::facts::Opinion;
use seriatim_core::cycle::limits::counted;
use seriatim_core::cycle::plan::PlanStep;
use seriatim_core::gate::CheckEvidence;
use seriatim_core::ledger::LedgerEntry;
use seriatim_core::verdict::Verdict;

use super::act::Done;
use super::battery::compared;
use super::battery::in_full;
use super::course::Course;
use super::course::one_line;
use super::deliver::Approved;
use super::floor::weigh_tests;
use super::opinion::Seen;
use super::opinion::weigh_opinion;
use super::unchecked::Unchecked;
use super::words;
use crate::registry::Ended;

/// The battery, the Judge's opinion, and the verdict that both join to.
pub(super) struct Judged {
    pub(super) evidence: Vec<CheckEvidence>,
    /// What counts beside the evidence: the opinion, open findings, and whether all stayed as it was.
    pub(super) parts: Vec<Verdict>,
    pub(super) verdict: Verdict,
    pub(super) opinion: Opinion,
    /// The tree that all this is about.
    pub(super) tree: String,
}

impl Judged {
    /// Why it is not sufficient, with what the checks printed, and what did well all the same (CY-73).
    fn diagnostics(&self) -> String {
        if self.verdict.is_good() {
            return String::new();
        }
        let goods: Vec<&str> =
            self.evidence.iter().filter(|e| e.verdict.is_good()).map(|e| e.gate.as_str()).collect();
        format!("{}\nGreen: {}.", self.reasons().join("\n"), goods.join(", "))
    }

    fn reasons(&self) -> Vec<String> {
        if self.verdict.is_good() {
            return vec![];
        }
        let is_bad = matches!(self.verdict, Verdict::Bad(_));
        let counts = |verdict: &Verdict| match verdict {
            Verdict::Bad(_) => true,
            Verdict::Unknown(_) => !is_bad,
            Verdict::Good(_) | Verdict::NotApplicable(_) => false,
        };
        let checks = self.evidence.iter().filter(|e| counts(&e.verdict));
        let checks = checks.map(|e| format!("{}: {}", e.gate, in_full(e)));
        checks.chain(self.parts.iter().filter(|part| counts(part)).flat_map(Verdict::reasons)).collect()
    }
}

impl Course<'_> {
    /// Battery, opinion, verdict; then the Planner again, a pause, or the person's approval.
    pub(super) async fn evaluate(&mut self, step: &PlanStep, mut work: Done) -> Approved {
        loop {
            self.iterations += 1;
            work = match self.run_hooks(step, work).await {
                Ok(work) => work,
                Err(failure) => return Approved::Stopped(self.give_up(&failure.message).await),
            };
            let mut judged = match self.judge(step, &mut work).await {
                Ok(judged) => judged,
                Err(end) => return Approved::Stopped(end),
            };
            if let Verdict::Unknown(_) = judged.verdict {
                match self.decide_unchecked(step, &mut judged).await {
                    Unchecked::Accepted => {}
                    Unchecked::Again => {
                        work = match self.work(work.remarks, work.lines).await {
                            Ok(work) => work,
                            Err(failure) => return Approved::Stopped(self.give_up(&failure.message).await),
                        };
                        continue;
                    }
                    Unchecked::Back(words) => {
                        self.record_verdict(&judged);
                        self.write_verdict(&judged, Role::Planner).await;
                        let diagnostics = judged.diagnostics();
                        self.blockers.push(one_line(&diagnostics));
                        self.diagnostics = Some(format!("{diagnostics}\nA person says: {words}"));
                        return Approved::Again;
                    }
                    Unchecked::Over(end) => return Approved::Stopped(end),
                }
            }
            self.record_verdict(&judged);
            self.count_loop().await;
            if !judged.verdict.is_good() {
                self.insufficient += 1;
                let diagnostics = judged.diagnostics();
                self.blockers.push(one_line(&diagnostics));
                self.diagnostics = Some(diagnostics);
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

    async fn judge(&mut self, step: &PlanStep, work: &mut Done) -> Result<Judged, Ended> {
        let evidence = self.gather_evidence(step, work).await;
        let tree = self.tree().await;
        self.record_checks(&evidence);
        let prompt = self.judge_prompt(step, &evidence, &work.diff);
        let seen = Seen { tree: &tree, diff: &work.diff };
        let opinion = self.ask_judge(prompt, &seen).await?;
        let intact = self.check_document().await;
        let changed = self.changed_since(&tree).await;
        let mut parts = vec![weigh_opinion(&opinion)];
        // Who says INSUFFICIENT has said it all; otherwise what is still open counts by itself.
        if !matches!(opinion, Opinion::Insufficient(_)) {
            parts.extend(self.weigh_findings());
        }
        if !intact {
            let what = "The Judge changed earlier parts of the cycle document; they were restored.";
            parts.push(Verdict::bad(what));
        }
        if !changed.is_empty() {
            let what = format!("Files changed while the Judge looked at them: {}.", changed.join(", "));
            parts.push(Verdict::bad(what));
        }
        let all = evidence.iter().map(|e| e.verdict.clone()).chain(parts.iter().cloned());
        let verdict = Verdict::join(all);
        Ok(Judged { evidence, parts, verdict, opinion, tree })
    }

    /// Everything that the engine runs and compares itself.
    async fn gather_evidence(&mut self, step: &PlanStep, work: &mut Done) -> Vec<CheckEvidence> {
        let mut change = self.compare_tests(step, work).await;
        let mut evidence = self.battery_on(work, !change.is_lawful_fall()).await;
        let test_files = weigh_tests(&mut evidence, self.floor(), &mut change);
        let new: Vec<String> =
            change.remarks.iter().filter(|remark| !work.remarks.contains(remark)).cloned().collect();
        work.remarks.extend(new);
        let tree = self.tree().await;
        self.note_findings(work, &change, &Seen { tree: &tree, diff: &work.diff });
        evidence.extend(self.hooks.clone());
        evidence.push(planned(step, work));
        evidence.push(compared("Credentials", &work.leaks, ""));
        let tell_tales = bypass::find(&work.diff);
        let told: Vec<String> =
            tell_tales.iter().map(|t| format!("{}:{} {}", t.file, t.line, t.why)).collect();
        evidence.push(compared("Authorization", &told, ""));
        let (lines, files) = (counted(work.lines, "line"), counted(work.paths.len() as u64, "file"));
        let size = format!("{lines} in {files}. {}", work.remarks.join(" ")).trim_end().to_owned();
        evidence.push(compared("Scope", &[], &size));
        evidence.push(test_files);
        evidence
    }

    fn record_checks(&self, evidence: &[CheckEvidence]) {
        for e in evidence {
            self.fact(CycleFact::CheckRan {
                cycle: self.number,
                check: e.gate.clone(),
                result: CheckResult::of(&e.verdict),
                words: in_full(e),
                hash: e.output,
            });
        }
    }

    fn record_verdict(&self, judged: &Judged) {
        let seen = |e: &CheckEvidence| CheckSeen {
            check: e.gate.clone(),
            result: Some(CheckResult::of(&e.verdict)),
            hash: e.output,
        };
        self.fact(CycleFact::Judged {
            cycle: self.number,
            pass: judged.verdict.is_good(),
            verdict: Some(judged.verdict.clone()),
            evidence: judged.evidence.iter().map(seen).collect(),
            opinion: judged.opinion.clone(),
            reasons: judged.reasons(),
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
            let words = one_line(&in_full(e)).replace('|', "/");
            body.push_str(&format!("| {} | {} | {words} |\n", e.gate, CheckResult::of(&e.verdict).word()));
        }
        let findings: Vec<String> = self.ledger.entries().iter().map(LedgerEntry::told).collect();
        if !findings.is_empty() {
            body.push_str(&format!("\nFindings:\n{}\n", document::bullets(&findings)));
        }
        let diagnostics = judged.diagnostics();
        let (mark, summary) = match judged.verdict.is_good() {
            true => {
                body.push_str(&format!("\n{}\n", judged.footing()));
                let summary = format!("{} A person decides about the commit", judged.footing());
                (Mark::Pass, one_line(&summary))
            }
            false => {
                body.push_str(&format!("\n{diagnostics}\n"));
                (Mark::Insufficient, one_line(&diagnostics))
            }
        };
        let block = Block { role: Role::Judge, mark, summary, next, extra: vec![] };
        self.append("Verdict", &body, block).await;
    }

    fn judge_prompt(&self, step: &PlanStep, evidence: &[CheckEvidence], diff: &str) -> String {
        let mut text = format!("# Judge one step\n\n{}\n\n## What was run\n", words::step_text(step));
        for e in evidence {
            let word = CheckResult::of(&e.verdict).word();
            text.push_str(&format!("- {}: {word} {}\n", e.gate, one_line(&in_full(e))));
        }
        let open = self.closable();
        if !open.is_empty() {
            text.push_str(&format!(
                "\n## Open findings\n{}\nEach stays open until a report closes it by its id, after the thing changed.\n",
                document::bullets(&open)
            ));
        }
        text.push_str(&format!(
            "\n## The change\n{diff}\n\n## How to report\noutputs: {{\"result\": \"PASS\", \"closed\": [{{\"id\": \"F1\", \
             \"reason\": \"\"}}]}} or {{\"result\": \"INSUFFICIENT\", \"diagnostics\": \"\", \"findings\": [{{\"severity\": \
             \"critical|high|medium|low\", \"title\": \"\", \"file\": \"\"}}]}} or {{\"kind\": \"context_request\", \"need\": \
             \"\"}}. PASS goes without diagnostics.\n"
        ));
        text
    }
}

/// Whether what was planned was attempted at all (CY-43). Without any change there is nothing to approve.
fn planned(step: &PlanStep, work: &Done) -> CheckEvidence {
    let wanted = step.files.iter().chain(&step.creates);
    let untouched: Vec<&str> = wanted.filter(|path| !work.paths.contains(path)).map(String::as_str).collect();
    let words = match (work.paths.is_empty(), untouched.is_empty()) {
        (true, _) => "no file was changed".to_owned(),
        (false, true) => "all planned files were changed".to_owned(),
        (false, false) => format!("planned, but not changed: {}", untouched.join(", ")),
    };
    match work.paths.is_empty() {
        true => compared("Planned changes", &[words], ""),
        false => compared("Planned changes", &[], &words),
    }
}
