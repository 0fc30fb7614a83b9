//! Gates of an action: what sorts there are, and what a measured value has to reach (OC-17, OC-57, K-51).

mod kinds;
#[cfg(test)]
mod tests;

use std::fmt;

use serde::Deserialize;
use serde::Serialize;

use crate::config::Comparator;
use crate::evidence::coverage::Coverage;
use crate::evidence::coverage::Threshold;
use crate::process::Decimal;

pub use kinds::Does;
pub use kinds::GateKind;

/// The threshold that holds where none is given (OC-57).
pub const COVERAGE_PERCENT: i64 = 80;

/// A gate as a flow meets it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gate {
    pub kind: GateKind,
    /// Unique within the action.
    pub name: String,
    /// What it runs, if it runs something of its own; placeholders are filled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// What a quality gate demands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Limit>,
    /// What a role goes through when it looks at its own work again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checklist: Vec<String>,
}

/// A share that must be reached, or must not be passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// What is measured: `unit_coverage_pct`, `pass_rate_pct` ...
    pub measure: String,
    pub comparator: Comparator,
    pub percent: Decimal,
}

/// Why a threshold cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadLimit {
    #[error("`{written}` is not a number from 0 to 100")]
    NotAPercentage { written: String },
    #[error("`{written}` is not one of >=, >, <=, <")]
    NotAComparator { written: String },
}

impl Limit {
    /// The limit of a coverage gate where nothing is configured: at least 80 (K-51).
    pub fn coverage() -> Limit {
        Limit {
            measure: "coverage".to_owned(),
            comparator: Comparator::AtLeast,
            percent: Decimal::whole(COVERAGE_PERCENT),
        }
    }

    /// Reads `80`, `79.5%`, `> 80` or `<= 5`. A bare number is the least that will do.
    pub fn parse(measure: &str, text: &str) -> Result<Limit, BadLimit> {
        let text = text.trim();
        let number = text.trim_start_matches(['<', '>', '=']);
        let sign = text.get(..text.len() - number.len()).unwrap_or_default();
        let comparator = match sign {
            "" | ">=" => Comparator::AtLeast,
            ">" => Comparator::MoreThan,
            "<=" => Comparator::AtMost,
            "<" => Comparator::LessThan,
            other => return Err(BadLimit::NotAComparator { written: other.to_owned() }),
        };
        let bad = || BadLimit::NotAPercentage { written: text.to_owned() };
        let percent: Decimal = number.trim().trim_end_matches('%').trim_end().parse().map_err(|_| bad())?;
        if !(Decimal::ZERO..=Decimal::whole(100)).contains(&percent) {
            return Err(bad());
        }
        Ok(Limit { measure: measure.to_owned(), comparator, percent })
    }

    /// The limit that the configuration of a gate gives. The digits are those that were written.
    pub fn configured(
        measure: &str,
        threshold: f64,
        comparator: Option<Comparator>,
    ) -> Result<Limit, BadLimit> {
        let limit = Limit::parse(measure, &threshold.to_string())?;
        Ok(Limit { comparator: comparator.unwrap_or(Comparator::AtLeast), ..limit })
    }

    /// Whether a measured share will do, to the last digit.
    pub fn holds(&self, measured: Coverage) -> bool {
        measured.meets(&Threshold { comparator: self.comparator, percent: self.percent })
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.comparator {
            Comparator::AtLeast => write!(f, "{}%", self.percent),
            Comparator::MoreThan => write!(f, "above {}%", self.percent),
            Comparator::AtMost => write!(f, "at most {}%", self.percent),
            Comparator::LessThan => write!(f, "below {}%", self.percent),
        }
    }
}
