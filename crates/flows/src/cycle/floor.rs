//! The tests are kept honest: none fewer than before the work, and nothing under them changes unplanned.

use seriatim_core::cycle::facts::CycleFact;
use seriatim_core::cycle::plan::PlanStep;
use seriatim_core::evidence::Counts;
use seriatim_core::evidence::lost;
use seriatim_core::evidence::lost::LostTest;
use seriatim_core::evidence::lost::TouchedFile;
use seriatim_core::gate::CheckEvidence;
use seriatim_core::gate::Gate;
use seriatim_core::gate::GateEnd;
use seriatim_core::gate::Standing;
use seriatim_core::gate::find_standing;
use seriatim_core::verdict::Verdict;

use super::act::Done;
use super::act::paths;
use super::battery::Battery;
use super::battery::compared;
use super::course::Course;
use crate::gate::GateCall;
use crate::gate::run_gate;
use crate::request::GitCall;
use crate::request::Shown;

/// How many tests run on the base, and with which gate they were counted.
pub(super) struct Floor {
    gate: Gate,
    counts: Option<Counts>,
}

/// What a change does to the tests and to what they stand on.
pub(super) struct TestChange {
    /// Tests that go without a word of the plan or of a person.
    pub(super) unsaid: Vec<LostTest>,
    /// Tests that go because the plan or a person says so.
    pub(super) said: Vec<LostTest>,
    /// Files under the checks that change unplanned.
    pub(super) under: Vec<String>,
    /// What a person should know of them at the approval.
    pub(super) remarks: Vec<String>,
}

impl Course<'_> {
    /// The tests of the base as the configured gate counts them.
    pub(super) fn floor(&self) -> Option<Counts> {
        let gate = self.start.gates.get(Battery::Tests.key())?;
        self.floors.iter().find(|floor| floor.gate == *gate).and_then(|floor| floor.counts)
    }

    /// Counts the tests of the base, once for each gate. Returns whether it ran anything.
    pub(super) async fn take_floor(&mut self) -> bool {
        self.adopt();
        let Some(gate) = self.start.gates.get(Battery::Tests.key()).cloned() else { return false };
        if self.floors.iter().any(|floor| floor.gate == gate) {
            return false;
        }
        let timeout_ms = gate.timeout_ms.or(self.rules.test_timeout_ms);
        let call = GateCall {
            name: Battery::Tests.key().to_owned(),
            label: Battery::Tests.name().to_owned(),
            // A part of the suite is no measure for all of it.
            gate: Gate { subset: vec![], timeout_ms, ..gate.clone() },
            ours: Some(vec![]),
            ..GateCall::default()
        };
        let evidence = run_gate(self.cx, &call).await.evidence;
        let ended =
            evidence.end.as_ref().is_some_and(|end| matches!(end, GateEnd::Exit(_)) && !end.is_crash());
        let counts = evidence.counts().filter(|counts| ended && counts.ran() > 0);
        self.fact(CycleFact::FloorTaken { cycle: self.number, tests: counts, words: evidence.words });
        self.floors.push(Floor { gate, counts });
        true
    }

    /// Counts the tests of the base before the Actor begins. What that leaves behind without a view is no work.
    pub(super) async fn take_floor_before_work(&mut self) {
        let before = self.cx.stand().await;
        if !self.take_floor().await {
            return;
        }
        // Where the repository cannot tell, the Actor's turn finds that out and ends.
        if let Ok(before) = before
            && let Ok(left) = self.cx.changes(&before.tree, self.state_files(), 0).await
        {
            self.by_products.extend(paths(&left));
        }
    }

    /// Compares the tests, and what the checks stand on, with how they were before the work.
    pub(super) async fn compare_tests(&self, step: &PlanStep, work: &Done) -> TestChange {
        let mut change = TestChange { unsaid: vec![], said: vec![], under: vec![], remarks: vec![] };
        let planned = step.targets();
        for path in &work.paths {
            let Some(standing) = find_standing(path, &self.start.gates) else { continue };
            match (standing, planned.contains(path)) {
                (_, true) => {
                    change.remarks.push(format!("The checks stand on {path}, which the plan changes."));
                }
                (Standing::Runner, false) => {
                    change
                        .under
                        .push(format!("{path} decides what the tests do, and the plan does not name it"));
                }
                (Standing::Named(gate), false) => change
                    .under
                    .push(format!("the check `{gate}` runs {path}, and the plan does not name it")),
                (Standing::Manifest, false) => {
                    change.remarks.push(format!("{path} changed, which the plan does not name."));
                }
            }
        }
        let words = self.words_about_removal(step);
        for lost in lost::find_lost(&self.touched_files(work).await) {
            match lost::is_named_as_removed(&lost, &words) {
                true => change.said.push(lost),
                false => change.unsaid.push(lost),
            }
        }
        change
    }

    /// Files of the change as they were before the work and as they are now.
    async fn touched_files(&self, work: &Done) -> Vec<TouchedFile> {
        let Some(base) = self.base.clone() else { return vec![] };
        let is_test = |path: &&String| {
            lost::is_test_path(path) || seriatim_core::evidence::scenarios::is_readable(path)
        };
        let paths: Vec<String> = work.paths.iter().filter(is_test).cloned().collect();
        if paths.is_empty() {
            return vec![];
        }
        let show = |at: String| GitCall::Show { at, paths: paths.clone(), tree: String::new() };
        let before: Shown = self.cx.git(show(base)).await.unwrap_or_default();
        let after: Shown = self.cx.git(show(self.tree().await)).await.unwrap_or_default();
        // Where the repository cannot tell, the count of executed tests still does.
        if before.len() != paths.len() || after.len() != paths.len() {
            return vec![];
        }
        let text = |shown: Option<crate::request::Text>| shown.map(|text| text.text);
        let pairs = paths.into_iter().zip(before.into_iter().zip(after));
        pairs
            .map(|(path, (before, after))| TouchedFile { path, before: text(before), after: text(after) })
            .collect()
    }

    /// The words of the step and of people, in which the removal of tests may be named.
    fn words_about_removal(&self, step: &PlanStep) -> Vec<String> {
        let mut words = vec![step.title.clone(), step.instructions.clone(), self.goal.text.clone()];
        words.extend(step.success_criteria.iter().chain(&self.goal.criteria).cloned());
        words.extend(self.talk.iter().map(|(_, answer)| answer.clone()));
        words.extend(self.guidance.iter().cloned());
        words
    }
}

impl TestChange {
    /// Returns whether all tests that go are named as removed by the step or by a person, so that fewer may run.
    pub(super) fn is_lawful_fall(&self) -> bool {
        self.unsaid.is_empty() && !self.said.is_empty()
    }

    fn gone(&self) -> Vec<String> {
        self.unsaid.iter().map(ToString::to_string).collect()
    }

    /// Tests that go unsaid and that no number tells of.
    fn hidden(&self) -> impl Iterator<Item = &LostTest> {
        self.unsaid.iter().filter(|lost| lost.how.is_hidden())
    }
}

/// Returns the evidence about what the checks stand on, and adds what a person should know. Tests that go unsaid are
/// named where fewer ran, and are bad by themselves where nobody counts or where no number can tell: put off, or emptied.
pub(super) fn weigh_tests(
    evidence: &mut [CheckEvidence],
    floor: Option<Counts>,
    change: &mut TestChange,
) -> CheckEvidence {
    let mut problems = change.under.clone();
    let gone = change.gone();
    if let Some(tests) = evidence.iter_mut().find(|e| e.gate == Battery::Tests.name()) {
        let now = tests.counts();
        let is_counted = floor.is_some_and(|floor| now.is_some_and(|now| now.ran() >= floor.ran()));
        match (&tests.verdict, tests.end.is_some()) {
            (_, false) => {}
            (Verdict::Bad(_), true) if !gone.is_empty() => {
                tests.words = format!("{}; {}", tests.words, gone.join("; "));
                tests.verdict = Verdict::bad(format!("{}: {}", tests.gate, tests.words));
            }
            (Verdict::Good(_), true) => {
                let unsaid = |gone: &str| format!("{gone}, and neither the plan nor a person says so");
                match is_counted {
                    true => problems.extend(change.hidden().map(|lost| unsaid(&lost.to_string()))),
                    false => problems.extend(gone.iter().map(|gone| unsaid(gone))),
                }
            }
            (Verdict::Bad(_) | Verdict::Unknown(_) | Verdict::NotApplicable(_), true) => {}
        }
    }
    change.remarks.extend(gone.iter().map(|gone| format!("{gone}.")));
    change.remarks.extend(change.said.iter().map(|said| format!("{said}, as the step says.")));
    compared("Test files", &problems, "nothing that the checks stand on changed unplanned")
}
