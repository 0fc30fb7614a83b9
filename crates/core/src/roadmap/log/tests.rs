//! Execution logs of all generations: read, checked, folded, and appended to.

mod appends;
mod folds;

use crate::finding::Finding;
use crate::roadmap::log::Log;
use crate::roadmap::log::check;

/// The second schema: strings, with the quirks of real files.
pub(super) const BARS: &str = include_str!("tests/bars.yaml");

#[track_caller]
fn read(text: &str) -> Log {
    Log::read("execution-log.yaml", text).unwrap()
}

/// The findings of a check, one line each.
fn lines(text: &str) -> Vec<String> {
    let line =
        |f: &Finding| format!("{}:{} {} {} {}", f.place.line, f.place.column, f.severity, f.rule, f.message);
    check("execution-log.yaml", text).iter().map(line).collect()
}
