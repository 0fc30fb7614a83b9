//! What a phase shows: the agent's claim on one side, what the engine saw itself on the other.

use seriatim_core::evidence::loading;
use seriatim_core::evidence::lost::says_removal;
use seriatim_core::evidence::scenarios;
use seriatim_core::guard::scope::Allowed;
use seriatim_core::report::Report;
use seriatim_core::report::Status;
use seriatim_core::roadmap::facts::Claim;
use seriatim_core::roadmap::facts::GateEvidence;
use seriatim_core::roadmap::facts::PhaseEnd;
use seriatim_core::roadmap::facts::PhaseOutcome;
use seriatim_core::roadmap::facts::Refusal;
use seriatim_core::roadmap::facts::RoadmapFact;
use seriatim_core::roadmap::plan::Step;
use seriatim_core::roadmap::proof;
use seriatim_core::roadmap::proof::Earlier;
use seriatim_core::roadmap::proof::LoaderFile;
use seriatim_core::roadmap::proof::Objection;
use seriatim_core::roadmap::proof::Rule;
use seriatim_core::roadmap::proof::Sort;
use seriatim_core::roadmap::proof::TestFile;
use seriatim_core::roadmap::state::StepStatus;
use seriatim_core::roadmap::state::TestResults;

use super::gates::Shown;
use super::tests_kept::plain;
use super::work::Stop;
use super::work::Work;
use crate::Cx;
use crate::request::Difference;

/// What was found about one try of a phase.
#[derive(Default)]
pub(super) struct Proof {
    pub(super) objections: Vec<Objection>,
    /// What the gates showed, as it goes on record.
    pub(super) gates: Vec<GateEvidence>,
    pub(super) tests: Option<TestResults>,
    /// In a few words: what the phase closed on.
    pub(super) words: String,
    pub(super) notes: Vec<String>,
}

impl Work<'_> {
    /// Looks for itself whether a phase is over. All objections come at once, so that one more try can mend them all.
    pub(super) async fn prove(
        &mut self,
        cx: &Cx,
        phase: &str,
        sort: Sort,
        report: Option<&Report>,
    ) -> Result<Proof, Stop> {
        let mut proof = Proof::default();
        let since = self.memory.base_tree.clone();
        let difference = self.changes(cx, &since, 0).await?;
        self.leave_to_others(cx, &difference).await;
        let permitted = difference.files.iter().filter(|file| self.permits(file));
        let changed = permitted.flat_map(|file| std::iter::once(&file.path).chain(&file.old_path));
        self.ours = changed.chain(&self.may_take).cloned().collect();
        proof.objections.extend(self.out_of_scope(&difference));
        let tests = self.test_files(cx, &difference).await;
        proof.objections.extend(proof::cheats(sort, &tests));
        if sort.is_red() {
            let lost = proof::losses(&tests);
            match says_removal(&self.words_of_step()) {
                true => proof.notes.extend(lost.into_iter().map(|loss| loss.message)),
                false => proof.objections.extend(lost),
            }
        }
        let loaders = self.loader_files(cx, &difference).await;
        let held: Vec<_> = loaders.iter().filter(|file| self.holds_loader(sort, file)).cloned().collect();
        let byte_code = difference.files.iter().map(|file| file.path.clone());
        let byte_code: Vec<String> = byte_code.filter(|path| loading::is_byte_code(path)).collect();
        let mut edits = proof::gate_edits(&self.gate_files(cx).await);
        edits.extend(proof::loader_edits(&held, &byte_code));
        let edited = !edits.is_empty();
        proof.objections.extend(edits);
        self.look_at_scenario(sort, &tests, &mut proof);
        self.look_at_claim(sort, report, &mut proof);
        self.keep_findings(cx, sort, report, &mut proof).await?;
        // A gate that was edited shows nothing.
        if !edited {
            self.look_at_gates(cx, phase, sort, (&tests, &loaders), &mut proof).await?;
        }
        if matches!(sort, Sort::Green | Sort::GreenUnit) && proof.objections.is_empty() {
            // Neither tests nor the state files of the step are code that could be refactored.
            let is_test = |path: &str| tests.iter().any(|test| test.path == path);
            let is_code = |path: &str| !is_test(path) && !self.allowed.is_own(path);
            let code = difference.files.iter().filter(|file| is_code(&file.path));
            self.memory.green_lines = code.map(|file| file.added).sum();
        }
        Ok(proof)
    }

    /// Files that belong to another step which somebody carries out here at the same time are none of this one's.
    async fn leave_to_others(&mut self, cx: &Cx, difference: &Difference) {
        let outside: Vec<String> = difference
            .files
            .iter()
            .filter(|file| !self.permits(file))
            .map(|file| file.path.clone())
            .collect();
        if outside.is_empty() || self.place.is_beside() {
            return;
        }
        let Ok(file) = self.project.state(cx, &self.step.id).await else { return };
        let (path, project) = (&self.path, &self.project.start.project);
        let at_work = |step: &&Step| {
            let state = file.step(path, project, &step.id, &self.schema);
            step.id != self.step.id && state.status == StepStatus::InProgress
        };
        for step in self.project.roadmap.steps.iter().filter(at_work) {
            let Some(files) = step.allowed_files() else { continue };
            let Ok(allowed) = Allowed::new(Some(&files), true, None, &[]) else { continue };
            let theirs = outside.iter().filter(|path| allowed.permits(path)).cloned();
            self.memory.apart.extend(theirs);
        }
    }

    /// Files that the step may not change are named, never staged and never deleted.
    fn out_of_scope(&self, difference: &Difference) -> Vec<Objection> {
        let apart = &self.memory.apart;
        let outside =
            difference.files.iter().filter(|file| !self.permits(file) && !apart.contains(&file.path));
        let outside = outside.map(|file| &file.path).chain(&self.kept);
        let objection = |path: &String| Objection {
            rule: Rule::Scope,
            message: format!(
                "Unexpected modification: {path} is not among the files that step {} may change. Put it back as it \
                 was, or have it added to the step's files.",
                self.step.id
            ),
            output: String::new(),
        };
        outside.map(objection).collect()
    }

    /// G1 and the walking skeleton, when there is a test to look at (DW-59, DW-60).
    fn look_at_scenario(&self, sort: Sort, tests: &[TestFile], proof: &mut Proof) {
        let at_begin = matches!(sort, Sort::Prepare);
        if !at_begin && !matches!(sort, Sort::RedAcceptance | Sort::Red) {
            return;
        }
        let Some(path) = self.step.test_file.as_deref().map(plain) else { return };
        let Some((_, text)) = tests.iter().find(|test| test.path == path).and_then(|test| test.now.as_ref())
        else {
            if !at_begin {
                proof.objections.push(Objection {
                    rule: Rule::TestFileMissing,
                    message: format!(
                        "The test file {path} is not there. Write the one scenario of this step into it."
                    ),
                    output: String::new(),
                });
            }
            return;
        };
        let base = tests.iter().find(|test| test.path == path).and_then(|test| test.base.as_deref());
        match proof::one_scenario(path, base, text, self.step.scenario.as_deref()) {
            Ok(note) => proof.notes.extend(note),
            // The scenarios of steps that are done stay enabled; this step's own is written in RED_ACCEPTANCE.
            Err(_) if at_begin && base == Some(text) && enabled(text, path) <= self.sharing => {
                proof
                    .notes
                    .push(format!("{path} holds no scenario of this step yet; it is looked at after RED."));
            }
            Err(objection) => proof.objections.push(objection),
        }
        let components = self.step.files.to_create.iter().chain(&self.step.files.to_modify).flatten();
        let components: Vec<String> = components.cloned().collect();
        match proof::walking_skeleton(path, text, self.project.start.entry_point.as_deref(), &components) {
            Ok(note) => proof.notes.extend(note),
            Err(objection) => proof.objections.push(objection),
        }
    }

    /// What the agent itself says against its work.
    fn look_at_claim(&mut self, sort: Sort, report: Option<&Report>, proof: &mut Proof) {
        let Some(report) = report else { return };
        if report.status == Status::Partial {
            let message = format!("The report says that the phase is only partly done: {}", report.summary);
            proof.objections.push(Objection { rule: Rule::Partial, message, output: String::new() });
        }
        if !report.criteria.is_empty() {
            self.judged.clone_from(&report.criteria);
        }
        self.artifacts.extend(report.artifacts.iter().cloned());
        if !report.summary.trim().is_empty() {
            self.notes = Some(report.summary.clone());
        }
        if let Some(wanted) = report.outputs.get("review_request").filter(|wanted| wanted.is_object()) {
            let text = |key: &str| wanted[key].as_str().unwrap_or_default().to_owned();
            let from = Some(text("from")).filter(|from| !from.is_empty());
            self.review = Some((from.unwrap_or_else(|| "solution-architect".to_owned()), text("reason")));
        }
        if sort != Sort::Review {
            return;
        }
        for judged in report.criteria.iter().filter(|judged| !judged.met) {
            let message = format!("The criterion \"{}\" is not met: {}", judged.criterion, judged.reason);
            proof.objections.push(Objection { rule: Rule::Criteria, message, output: String::new() });
        }
    }

    /// Runs the gates of the phase and judges them.
    async fn look_at_gates(
        &mut self,
        cx: &Cx,
        phase: &str,
        sort: Sort,
        (tests, loaders): (&[TestFile], &[LoaderFile]),
        proof: &mut Proof,
    ) -> Result<(), Stop> {
        self.adopt(cx).await;
        let names = self.gates_of(sort);
        if names.is_empty() {
            if !sort.gates().is_empty() {
                self.on_claim.push(phase.to_owned());
                proof.notes.push(format!("No gate is configured for {phase}: it rests on the agent's word."));
            }
            "closed on the agent's claim".clone_into(&mut proof.words);
            return Ok(());
        }
        let before = self.stand(cx).await?.tree;
        let shown = self.run_gates(cx, phase, &names).await;
        self.set_apart(cx, &before).await?;
        let earlier = Earlier { red: self.memory.red_counts.clone() };
        let seen: Vec<_> = shown.iter().map(|shown| shown.seen.clone()).collect();
        let objections = proof::judge(phase, sort, &seen, &earlier);
        if sort.is_red() && objections.is_empty() {
            for seen in &seen {
                if let Some(counts) = &seen.counts {
                    self.memory.red_counts.insert(seen.gate.clone(), *counts);
                }
            }
            self.remember_red(tests, loaders);
        }
        proof.objections.extend(objections);
        if let Some(value) = self.covered(&shown) {
            proof.objections.extend(self.coverage_objection(value));
            proof.notes.extend(value.map(|value| format!("coverage {value}")));
        }
        proof.tests = results(&shown);
        let words: Vec<String> =
            shown.iter().map(|shown| format!("{}: {}", shown.seen.gate, shown.seen.words)).collect();
        proof.words = words.join("; ");
        proof.gates = shown.into_iter().map(|shown| shown.evidence).collect();
        Ok(())
    }

    /// What checks leave behind is nobody's work.
    async fn set_apart(&mut self, cx: &Cx, before: &str) -> Result<(), Stop> {
        let left = self.changes(cx, before, 0).await?;
        let since = self.memory.base_tree.clone();
        if left.files.is_empty() {
            return Ok(());
        }
        let (tree, paths) =
            (self.place.tree.clone(), left.files.iter().map(|f| f.path.clone()).collect::<Vec<_>>());
        let call = crate::request::GitCall::Show { at: since, paths, tree };
        let known: crate::request::Shown = cx.git(call).await.unwrap_or_default();
        let mut known = known.into_iter();
        for file in left.files {
            let is_new = known.next().flatten().is_none();
            if is_new && !self.is_named(&file.path) {
                self.memory.apart.insert(file.path);
            }
        }
        Ok(())
    }

    /// What the step says about itself.
    fn words_of_step(&self) -> String {
        let Step { name, description, criteria, .. } = self.step;
        format!("{name} {} {}", description.as_deref().unwrap_or_default(), criteria.join(" "))
    }

    /// Whether the step names exactly this file as its own.
    pub(super) fn is_named(&self, path: &str) -> bool {
        self.step.allowed_files().unwrap_or_default().iter().any(|file| plain(file) == path)
    }
}

fn enabled(text: &str, path: &str) -> usize {
    scenarios::list(text, path).iter().filter(|scenario| scenario.enabled).count()
}

/// The counts of the tests, as the record of a phase has them: those of the last gate that counted.
fn results(shown: &[Shown]) -> Option<TestResults> {
    let counts = shown.iter().rev().find_map(|shown| shown.seen.counts)?;
    Some(TestResults {
        total: counts.total,
        passed: counts.passed,
        failed: counts.failed.saturating_add(counts.errors),
    })
}

impl Proof {
    /// Returns the fact of the end of the phase: what was claimed, what was seen, and what is held against it.
    pub(super) fn fact(
        &self,
        step: &str,
        phase: &str,
        attempt: usize,
        report: Option<&Report>,
    ) -> RoadmapFact {
        let refusal =
            |objection: &Objection| Refusal { rule: objection.rule, message: objection.message.clone() };
        let passed = self.objections.is_empty();
        RoadmapFact::PhaseEnded(Box::new(PhaseEnd {
            step: step.to_owned(),
            phase: phase.to_owned(),
            attempt: Some(attempt),
            outcome: if passed { PhaseOutcome::Pass } else { PhaseOutcome::Fail },
            claim: report.map(Claim::from),
            evidence: self.gates.clone(),
            objections: self.objections.iter().map(refusal).collect(),
            notes: self.notes.clone(),
            words: self.words.clone(),
        }))
    }
}
