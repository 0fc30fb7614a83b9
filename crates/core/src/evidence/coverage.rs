//! How much of the code the tests reach, and whether that is enough (DW-64, DS-101, K-51). Everything is compared
//! exactly: 79.9, 80 and 80.1 are what they look like.

mod report;
mod table;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::fmt;

use regex::Regex;
use serde::Deserialize;
use serde::Serialize;

use crate::config::Comparator;
use crate::process::Decimal;

/// A share of covered code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Coverage {
    /// Counted, so that nothing was lost by rounding.
    Counted { covered: u64, total: u64 },
    /// A number of percent as it was written.
    Percent(Decimal),
}

/// Which shares are enough; whether exactly the threshold is, is a matter of the gate (K-51).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threshold {
    pub comparator: Comparator,
    pub percent: Decimal,
}

/// The value that a command printed, found by a pattern: its first group, or all of it where it has none. The last
/// match counts, because totals stand at the end.
pub fn by_pattern(output: &str, pattern: &Regex) -> Option<Coverage> {
    let clean = super::text::clean(output);
    let captures = pattern.captures_iter(&clean).last()?;
    let found = captures.get(1).or_else(|| captures.get(0))?;
    percent(found.as_str()).map(Coverage::Percent)
}

/// The same with the pattern as it is written in a configuration, which was checked when that was read.
pub fn by_expression(output: &str, expression: &str) -> Option<Coverage> {
    by_pattern(output, &Regex::new(expression).ok()?)
}

/// The value in what a tool printed: coverage.py, jest and vitest, llvm-cov, tarpaulin, go.
pub fn in_output(output: &str) -> Option<Coverage> {
    table::read(&super::text::clean(output))
}

/// The value in a report's text: Cobertura, JaCoCo and Clover XML, lcov, the JSON of coverage.py, istanbul, llvm-cov
/// and tarpaulin; or a printed table that was kept in a file.
pub fn in_report(text: &str) -> Option<Coverage> {
    let clean = super::text::clean(text);
    report::read(&clean).or_else(|| table::read(&clean))
}

impl Coverage {
    fn counted(covered: u64, total: u64) -> Option<Coverage> {
        (total > 0 && covered <= total).then_some(Coverage::Counted { covered, total })
    }

    /// In percent, cut off after nine places where it was counted. For showing, not for comparing.
    pub fn percent(self) -> Decimal {
        match self {
            Coverage::Percent(percent) => percent,
            Coverage::Counted { covered, total } => {
                let billionths = u128::from(covered) * 100_000_000_000 / u128::from(total.max(1));
                let (whole, rest) = (billionths / 1_000_000_000, billionths % 1_000_000_000);
                format!("{whole}.{rest:09}").parse().unwrap_or_default()
            }
        }
    }

    pub fn meets(self, threshold: &Threshold) -> bool {
        let order = self.compare(threshold.percent);
        match threshold.comparator {
            Comparator::AtLeast => order.is_ge(),
            Comparator::MoreThan => order.is_gt(),
            Comparator::AtMost => order.is_le(),
            Comparator::LessThan => order.is_lt(),
        }
    }

    fn compare(self, percent: Decimal) -> Ordering {
        match self {
            Coverage::Percent(own) => own.cmp(&percent),
            Coverage::Counted { covered, total } => {
                // A number cut off after nine places is equal to one of nine places only where nothing was cut.
                let exact = (u128::from(covered) * 100_000_000_000).is_multiple_of(u128::from(total.max(1)));
                match self.percent().cmp(&percent) {
                    Ordering::Equal if !exact => Ordering::Greater,
                    ordering => ordering,
                }
            }
        }
    }
}

impl fmt::Display for Coverage {
    /// `79.99%`, never rounded up: 79.999 is not shown as 80.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.percent().to_string();
        match text.split_once('.') {
            Some((whole, places)) => {
                let places = places.get(..2).unwrap_or(places).trim_end_matches('0');
                if places.is_empty() { write!(f, "{whole}%") } else { write!(f, "{whole}.{places}%") }
            }
            None => write!(f, "{text}%"),
        }
    }
}

/// `87%`, `87.5`, `87,5 %`: between 0 and 100.
fn percent(text: &str) -> Option<Decimal> {
    let plain = text.trim().trim_end_matches('%').trim_end();
    let plain = if plain.contains('.') { plain.to_owned() } else { plain.replace(',', ".") };
    let number: Decimal = cut(&plain).parse().ok()?;
    (Decimal::ZERO..=Decimal::whole(100)).contains(&number).then_some(number)
}

/// Without the places after the ninth, which a decimal does not hold.
fn cut(text: &str) -> &str {
    match text.split_once('.') {
        Some((whole, places)) if places.len() > 9 && places.is_ascii() => {
            text.get(..whole.len() + 10).unwrap_or(text)
        }
        _ => text,
    }
}
