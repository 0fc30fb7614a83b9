//! Findings: what a check has to say, with the place and the remedy.

use std::fmt;

use serde::Deserialize;
use serde::Serialize;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Note,
    Warning,
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

/// A place in a text: 1-based line and column (in characters), and the bytes it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    pub line: u32,
    pub column: u32,
    pub start: u32,
    pub end: u32,
}

impl Place {
    /// Line 1, column 1: where findings about a whole document point.
    pub const TOP: Place = Place { line: 1, column: 1, start: 0, end: 0 };
}

/// One thing that a check found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The rule's name: that of the seed where it has one (`V1`, `C3`), else a short word (`unknown-field`).
    pub rule: String,
    pub severity: Severity,
    pub message: String,
    pub place: Place,
    /// How to mend it.
    pub help: Option<String>,
}

impl Finding {
    pub fn error(rule: &str, place: Place, message: impl Into<String>) -> Finding {
        Finding {
            rule: rule.to_owned(),
            severity: Severity::Error,
            message: message.into(),
            place,
            help: None,
        }
    }

    pub fn warning(rule: &str, place: Place, message: impl Into<String>) -> Finding {
        Finding { severity: Severity::Warning, ..Finding::error(rule, place, message) }
    }

    pub fn note(rule: &str, place: Place, message: impl Into<String>) -> Finding {
        Finding { severity: Severity::Note, ..Finding::error(rule, place, message) }
    }

    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Finding {
        self.help = Some(help.into());
        self
    }
}

/// True when at least one finding is an error.
pub fn has_errors(findings: &[Finding]) -> bool {
    findings.iter().any(|f| f.severity == Severity::Error)
}
