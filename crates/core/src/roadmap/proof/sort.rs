//! What sort of work a phase is.

/// What sort of work a phase is, whatever its generation calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sort {
    Prepare,
    RedAcceptance,
    RedUnit,
    /// Acceptance test and unit tests at once, as the shortest list has it.
    Red,
    GreenUnit,
    CheckAcceptance,
    Green,
    Review,
    Refactor,
    Final,
    Commit,
    /// A phase of a project's own, of which nothing is known.
    Other,
}

/// Names of gates, as configurations have them.
pub(super) const ACCEPTANCE: &str = "acceptance";
pub(super) const TESTS: &str = "tests";
pub(super) const LINT: &str = "lint";
pub(super) const COVERAGE: &str = "coverage";
pub(super) const SECURITY: &str = "security";

impl Sort {
    /// The sort of a phase by its name.
    pub fn of(phase: &str) -> Sort {
        let name = phase.trim().to_ascii_uppercase().replace([' ', '-'], "_");
        match name.as_str() {
            "RED_ACCEPTANCE" => Sort::RedAcceptance,
            "RED_UNIT" => Sort::RedUnit,
            "GREEN_UNIT" => Sort::GreenUnit,
            "CHECK_ACCEPTANCE" => Sort::CheckAcceptance,
            "POST_REFACTOR_REVIEW" => Sort::Review,
            "COMMIT" => Sort::Commit,
            _ => {
                let begins = |word: &str| {
                    name.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
                };
                match () {
                    () if begins("PREPARE") => Sort::Prepare,
                    () if begins("RED") => Sort::Red,
                    () if begins("GREEN") => Sort::Green,
                    () if begins("REVIEW") => Sort::Review,
                    () if begins("REFACTOR") => Sort::Refactor,
                    () if begins("FINAL") => Sort::Final,
                    () => Sort::Other,
                }
            }
        }
    }

    /// The gates that are run at its end, in order.
    pub fn gates(self) -> &'static [&'static str] {
        match self {
            Sort::Prepare | Sort::Other => &[],
            Sort::RedAcceptance | Sort::CheckAcceptance => &[ACCEPTANCE],
            Sort::RedUnit | Sort::GreenUnit => &[TESTS],
            Sort::Red | Sort::Green => &[ACCEPTANCE, TESTS],
            Sort::Refactor => &[ACCEPTANCE, TESTS, LINT, COVERAGE],
            Sort::Review | Sort::Final | Sort::Commit => &[ACCEPTANCE, TESTS, LINT, COVERAGE, SECURITY],
        }
    }

    /// Those of its gates that a project has, each once; where one is missing that another can stand in for, that one.
    pub fn gates_among(self, configured: &[String]) -> Vec<&'static str> {
        let has = |gate: &&str| configured.iter().any(|name| name == gate);
        let mut gates: Vec<&'static str> = vec![];
        for gate in self.gates() {
            let found = Some(*gate).filter(has).or_else(|| fallback(gate).filter(has));
            gates.extend(found.filter(|found| !gates.contains(found)));
        }
        gates
    }

    /// Tests have to fail at its end.
    pub fn is_red(self) -> bool {
        matches!(self, Sort::RedAcceptance | Sort::RedUnit | Sort::Red)
    }

    /// The tests that were red are fixed by now: it comes after RED.
    pub fn is_after_red(self) -> bool {
        match self {
            Sort::GreenUnit
            | Sort::CheckAcceptance
            | Sort::Green
            | Sort::Review
            | Sort::Refactor
            | Sort::Final
            | Sort::Commit => true,
            Sort::Prepare | Sort::RedAcceptance | Sort::RedUnit | Sort::Red | Sort::Other => false,
        }
    }
}

/// The gate that stands in for another where a project has none of that name.
pub fn fallback(gate: &str) -> Option<&'static str> {
    (gate == ACCEPTANCE).then_some(TESTS)
}
