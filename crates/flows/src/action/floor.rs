//! The tests before the work: fewer afterwards are not enough.

use seriatim_core::action::evidence::Change;
use seriatim_core::action::facts::ActionFact;
use seriatim_core::action::gate::Does;
use seriatim_core::evidence::Counts;
use seriatim_core::evidence::TestVerdict;
use seriatim_core::gate;
use seriatim_core::gate::CheckEvidence;
use seriatim_core::gate::Demand;
use seriatim_core::gate::Gate;
use seriatim_core::tests_on_disk;

use super::course::Course;
use super::course::Did;
use crate::Cx;

impl Course {
    /// Counts the tests once, before the first role, where a gate of this action will count them again.
    pub(super) async fn measure_base(&mut self, cx: &Cx) {
        let uses = |gate: &seriatim_core::action::gate::Gate| match gate.kind.does() {
            Does::Measure => true,
            Does::Run => gate.command.is_empty() && self.is_tests(gate),
            Does::Decide | Does::Clarify | Does::CallAgain => false,
        };
        let used = self.action.stages.iter().flat_map(|stage| &stage.gates).any(uses);
        let Some(tests) = self.start.gates.get(gate::TESTS).filter(|_| used).cloned() else { return };
        let (evidence, _) = self.execute(cx, gate::TESTS, &tests, Demand::default()).await;
        // Where the base cannot be built there is no floor; one that crashed counted only a part.
        let crashed = evidence.end.as_ref().is_none_or(|end| end.is_crash() || end.exit().is_none());
        self.floor = evidence.counts().filter(|counts| counts.ran() > 0 && !crashed);
        cx.record(&ActionFact::BaseTests {
            ran: self.floor.as_ref().map(Counts::ran),
            words: evidence.words.clone(),
        });
    }

    /// Returns whether a gate runs the tests that are configured.
    pub(super) fn is_tests(&self, gate: &seriatim_core::action::gate::Gate) -> bool {
        gate.name == gate::TESTS
            || (!self.start.gates.contains_key(&gate.name) && gate.kind.word() == gate::TESTS)
    }

    /// Returns what is demanded of a check beyond its declaration.
    pub(super) fn demand(&self, name: &str, _gate: &Gate) -> Demand {
        Demand { floor: self.floor.filter(|_| name == gate::TESTS), ..Demand::default() }
    }

    /// Returns whether nothing but the number of tests is wrong with a run.
    pub(super) fn fell(&self, evidence: &CheckEvidence) -> bool {
        let green = evidence.tests.as_ref().is_some_and(|tests| tests.verdict == TestVerdict::Green);
        let fewer = self.floor.zip(evidence.counts()).is_some_and(|(floor, now)| now.ran() < floor.ran());
        evidence.gate == gate::TESTS && green && fewer && evidence.exit() == Some(0)
    }

    /// Names what a role did to the tests, or to what loads them, although it does not owe that file.
    pub(super) fn name_test_changes(&mut self, did: &Did) {
        for (path, change) in &did.written {
            if did.owes.contains(path) {
                continue;
            }
            let note = match change {
                Change::Deleted if tests_on_disk::is_test(path) => {
                    format!("{} deleted the test file {path}.", did.title)
                }
                Change::Created | Change::Updated if tests_on_disk::is_runner_configuration(path) => {
                    format!("{} wrote {path}, which decides how tests are run.", did.title)
                }
                Change::Created | Change::Updated | Change::Deleted => continue,
            };
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }
}
