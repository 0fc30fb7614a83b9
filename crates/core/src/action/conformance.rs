//! What an orchestrator has to do to be compliant (sections 7.9 and 11 of the contract), point by point: the suite of
//! `seriatim conform` carries each of them out against a command and judges what comes of it.

mod points;
#[cfg(test)]
mod tests;

use serde::Deserialize;
use serde::Serialize;

pub use points::POINTS;

/// One point of the checklist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Point {
    /// Stable: what reports and scripts use.
    pub id: &'static str,
    /// The requirement of this product that it stands for.
    pub requirement: &'static str,
    pub list: List,
    /// What must hold.
    pub text: &'static str,
    pub probe: Probe,
    /// What is judged: what the suite lays out, and what it looks at afterwards.
    pub judged: &'static str,
}

/// The lists of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum List {
    /// 7.9: how failures are handled.
    FailureHandling,
    /// 7.9: what an orchestrator must never do.
    Forbidden,
    /// 11: the contract as a whole.
    Contract,
}

/// What is laid out for a point. Several points may be judged by what came of the same probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Probe {
    /// One role fails with a transient error, then with a permanent one.
    TransientAndPermanent,
    /// A role fails with a transient error every time.
    TransientForEver,
    /// A role hands in something invalid every time.
    InvalidForEver,
    /// Of three parallel roles one fails for ever.
    OneOfThree,
    /// A person rejects twice and then approves.
    RejectTwice,
    /// A reviewer has a critical finding every time, and a person tries to approve.
    Critical,
    /// A person rolls back after two stages.
    Rollback,
    /// A role does not write what it owes.
    MissingArtifact,
    /// Words that mean one action, and words that may mean several.
    Intent,
    /// A guide changes between two actions, and another one is missing.
    Guides,
    /// An action is started without its inputs.
    MissingInputs,
    /// A role writes where it should, and one where it must not.
    Locations,
    /// An action with every sort of gate.
    Gates,
}

/// How a point turned out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    pub point: String,
    pub compliant: bool,
    /// What was seen; where it is not compliant, only what was not as it should be.
    pub seen: String,
}

/// The whole result: compliant when every point is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conformance {
    pub judgements: Vec<Judgement>,
}

impl Conformance {
    /// Whether every point of the contract was judged and holds. A point that nobody judged does not.
    pub fn compliant(&self) -> bool {
        POINTS.iter().all(|point| self.holds(point))
    }

    /// Whether one point was judged and holds.
    pub fn holds(&self, point: &Point) -> bool {
        self.judgement(point.id).is_some_and(|judgement| judgement.compliant)
    }

    pub fn judgement(&self, id: &str) -> Option<&Judgement> {
        self.judgements.iter().find(|judgement| judgement.point == id)
    }

    /// These points, one by one, with what was seen and, where that is not compliant, what was expected; the last line is
    /// about all of them.
    pub fn in_words(&self, points: &[&Point]) -> String {
        let mut lines = vec![];
        for point in points {
            let holds = self.holds(point);
            let mark = if holds { "PASS" } else { "FAIL" };
            let seen =
                self.judgement(point.id).map_or("it was not judged", |judgement| judgement.seen.as_str());
            lines.push(format!("[{mark}] {} ({}): {}", point.id, point.requirement, point.text));
            lines.push(format!("       seen: {seen}"));
            if !holds {
                lines.push(format!("       expected: {}", point.judged));
            }
        }
        let held = points.iter().filter(|point| self.holds(point)).count();
        let word = if held == points.len() { "COMPLIANT" } else { "NOT COMPLIANT" };
        lines.push(format!("{word} ({held} of {})", points.len()));
        lines.join("\n")
    }
}

/// A point by its id.
pub fn point(id: &str) -> Option<&'static Point> {
    POINTS.iter().find(|point| point.id == id)
}
