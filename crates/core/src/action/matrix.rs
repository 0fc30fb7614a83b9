//! The nine actions of the contract as data: what each needs and yields, who works in which order, and which gates
//! stand in between (OC-100 to OC-108). It serves actions that neither a map nor front matter wires.

mod actions;
#[cfg(test)]
mod tests;

use super::gate::GateKind;

pub use actions::CONTRACTS;

/// One action of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contract {
    pub name: &'static str,
    /// What it is for.
    pub purpose: &'static str,
    /// Words by which people mean it, beside its name.
    pub words: &'static [&'static str],
    pub inputs: &'static [Need],
    pub outputs: &'static [Yield],
    pub steps: &'static [BuiltIn],
    /// What holds at its gates.
    pub gates: GateRule,
}

/// A required input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    pub words: &'static str,
    /// Where it can lie; nothing where only a person can say it.
    pub any_of: &'static [&'static str],
}

/// A primary output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Yield {
    pub words: &'static str,
    /// Files that must be there when the action is done.
    pub must_exist: &'static [&'static str],
}

/// One step of the plan that is built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuiltIn {
    /// Roles with their purpose, at the same time.
    Work(&'static [(&'static str, &'static str)]),
    Gate(GateKind, &'static str),
}

/// What the contract says about an action's gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateRule {
    /// No approval; what is owed must exist.
    ArtifactsExist,
    /// Every approval that the action has is held.
    Approvals,
    /// Findings by severity: a critical one blocks, and nobody can override it.
    Severity,
    /// No point of the checklist may be skipped.
    Checklist,
    /// Thresholds decide between going on and stopping.
    Thresholds,
    /// A review where there is one, else a check that everything is there.
    ReviewOrCompleteness,
    /// Checks of quality before it ends.
    QualityChecks,
}

/// A contract by its name.
pub fn contract(name: &str) -> Option<&'static Contract> {
    CONTRACTS.iter().find(|contract| contract.name == name)
}
