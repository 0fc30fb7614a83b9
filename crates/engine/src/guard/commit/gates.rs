//! The gates of the project before a commit: those that have no good evidence for these files are run here, where there is
//! time for them.

use serde_json::json;
use seriatim_core::config;
use seriatim_core::roadmap::audit::Event;
use seriatim_core::roadmap::machine::is_whole;
use seriatim_core::roadmap::verdict::CommitVerdict;
use seriatim_core::roadmap::verdict::Evidence;
use seriatim_core::roadmap::verdict::NOTHING_CHECKED;
use seriatim_core::roadmap::verdict::Objection;

use super::Governing;
use super::Guard;
use super::GuardError;
use super::OpenStep;
use super::Rules;
use crate::guard::evidence;
use crate::guard::step::Accepted;
use crate::guard::step::Checked;

/// What is known of the gates at a commit.
#[derive(Default)]
pub(super) struct AtCommit {
    /// What those showed that were run for it.
    pub(super) evidence: Vec<Evidence>,
    /// The files on which they were run, and which of them were green; for the steps of this commit.
    checked: Option<Checked>,
    /// Work is finished by it, and the project has no gate.
    nothing: bool,
}

impl AtCommit {
    /// What counts for one step: a person's decision stands for the gates that it names, and for no other.
    pub(super) fn for_step(&self, accepted: Option<&Accepted>) -> Vec<Evidence> {
        let is_accepted =
            |one: &&Evidence| accepted.is_some_and(|accepted| accepted.gates.contains(&one.gate));
        self.evidence.iter().filter(|one| !is_accepted(one)).cloned().collect()
    }

    /// What is told where the commit may be made.
    pub(super) fn notes(&self) -> Option<String> {
        self.nothing.then(|| NOTHING_CHECKED.to_owned())
    }

    /// The line of the trail, with what was run.
    pub(super) fn told_in(&self, event: Event) -> Event {
        let event = if self.nothing { event.with("gates", NOTHING_CHECKED) } else { event };
        if self.evidence.is_empty() { event } else { event.with("evidence", json!(self.evidence)) }
    }

    /// Puts what was green into the step, for the next commit of the same files.
    pub(super) fn keep_in(&self, step: &mut OpenStep) {
        if let Some(checked) = &self.checked {
            step.checked = Some(checked.clone());
        }
    }
}

impl Guard<'_> {
    /// Runs the gates that are due: those of finished work that were not green on the files as they are now, and that no
    /// person accepted.
    pub(super) fn run_due_gates(
        &mut self,
        rules: &Rules,
        governing: &[Governing],
    ) -> Result<AtCommit, GuardError> {
        let whole: Vec<&Governing> = governing.iter().filter(|one| is_whole(one.committed())).collect();
        let gates = evidence::configured(rules);
        if whole.is_empty() || gates.is_empty() {
            return Ok(AtCommit { nothing: gates.is_empty() && !whole.is_empty(), ..AtCommit::default() });
        }
        let tree = evidence::tree(self.repository())?;
        let mut known = vec![];
        for one in &whole {
            known.push((self.checked(one)?, self.accepted(one)?));
        }
        let was_green = |name: &str, gate: &config::Gate, checked: Option<&Checked>| {
            checked.is_some_and(|checked| evidence::was_green(checked, name, gate))
        };
        let is_due = |(name, gate): &(&str, &config::Gate)| {
            known.iter().any(|(checked, accepted)| {
                let is_accepted = accepted.is_some_and(|one| one.gates.iter().any(|gate| gate == name));
                !is_accepted && !was_green(name, gate, *checked)
            })
        };
        let due: Vec<(&str, &config::Gate)> = gates.iter().copied().filter(is_due).collect();
        if due.is_empty() {
            return Ok(AtCommit::default());
        }
        let evidence = evidence::run_at_commit(self.project, self.ports, &due);
        let mut green = evidence::green(&due, &evidence);
        for (name, gate) in gates.iter().filter(|one| !due.contains(one)) {
            if known.iter().all(|(checked, _)| was_green(name, gate, *checked)) {
                green.extend(evidence::declared(name, gate));
            }
        }
        let checked = tree.map(|tree| Checked { tree, green });
        Ok(AtCommit { evidence, checked, nothing: false })
    }

    /// What was green at the last stop, if the files are still the same.
    fn checked<'g>(&self, one: &'g Governing) -> Result<Option<&'g Checked>, GuardError> {
        let Some(checked) = one.open.as_ref().and_then(|open| open.checked.as_ref()) else { return Ok(None) };
        let is_same = evidence::is_unchanged(self.repository(), &checked.tree, &one.state)?;
        Ok(is_same.then_some(checked))
    }

    /// What a person accepted, if the files are still those that they were asked about.
    pub(super) fn accepted<'g>(&self, one: &'g Governing) -> Result<Option<&'g Accepted>, GuardError> {
        let Some(accepted) = one.open.as_ref().and_then(|open| open.accepted.as_ref()) else {
            return Ok(None);
        };
        let Some(tree) = &accepted.tree else { return Ok(None) };
        let is_same = evidence::is_unchanged(self.repository(), tree, &one.state)?;
        Ok(is_same.then_some(accepted))
    }
}

/// Returns the gates that hold a commit.
pub(super) fn holding(verdict: &CommitVerdict) -> Vec<String> {
    let gate = |objection: &Objection| match objection {
        Objection::Gate(evidence) => Some(evidence.gate.clone()),
        Objection::Phase { .. }
        | Objection::Task { .. }
        | Objection::Scope(_)
        | Objection::Unseen { .. }
        | Objection::Edit { .. }
        | Objection::StateFile { .. }
        | Objection::Held { .. }
        | Objection::Other { .. } => None,
    };
    verdict.errors.iter().filter_map(gate).collect()
}
