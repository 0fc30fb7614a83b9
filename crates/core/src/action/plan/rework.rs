//! Who does what again when a gate sends work back (OC-54, OC-58).

use super::Action;
use super::Duty;
use super::Stage;
use crate::action::gate::Does;

/// Who works again: those who made something, then those who judged it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rework<'a> {
    pub makers: Vec<&'a Duty>,
    pub reviewers: Vec<&'a Duty>,
}

impl Action {
    /// Those who hear what a person said at a gate behind the stage `number`: the roles since the last gate at which a
    /// person decided. Where these only judged, the work itself lies further back, and so do those who hear of it.
    pub fn rework(&self, number: u32) -> Rework<'_> {
        let mut concerned: Vec<&Stage> = vec![];
        for stage in self.stages.iter().filter(|stage| stage.number <= number).rev() {
            let decides = stage.gates.iter().any(|gate| gate.kind.does() == Does::Decide);
            let made = concerned.iter().flat_map(|stage| &stage.duties).any(|duty| !duty.review);
            if made && decides && stage.number < number {
                break;
            }
            concerned.push(stage);
        }
        concerned.reverse();
        let duties = concerned.iter().flat_map(|stage| &stage.duties);
        let (reviewers, makers) = duties.partition(|duty| duty.review);
        Rework { makers, reviewers }
    }

    /// Who mends a file that a finding names: the role whose contract holds it, and the most recent of several. Where
    /// nobody's does, all makers of the rework; an action in which everybody judges has none.
    pub fn menders(&self, file: &str, number: u32) -> Vec<&Duty> {
        let before = self.stages.iter().filter(|stage| stage.number <= number);
        let mut makers = before.rev().flat_map(|stage| &stage.duties).filter(|duty| !duty.review);
        match makers.find(|duty| duty.may_write(file)) {
            Some(duty) => vec![duty],
            None => self.rework(number).makers,
        }
    }
}
