//! Coverage, findings of a review, and the lists that a review and a refactoring are held against.

use serde_json::Map;
use serde_json::Value as Json;
use serde_json::json;

use super::Objection;
use super::Rule;
use crate::action::severity::Severity;
use crate::config::Comparator;
use crate::evidence::coverage::Coverage;
use crate::evidence::coverage::Threshold;

/// From so many lines on that GREEN added, a refactoring is done in full (DW-65, E-55).
pub const QUICK_LINES: u64 = 30;

/// Whether a quick look is enough of a refactoring.
pub fn is_quick(lines_added_at_green: u64) -> bool {
    lines_added_at_green < QUICK_LINES
}

/// What a review looks at (DW-64, DS-100 to DS-106).
pub const REVIEW_LIST: [&str; 7] = [
    "the SOLID principles are followed",
    "test coverage is above 80%, or what the gate demands",
    "every acceptance criterion of the step is met, and a test shows it",
    "somebody else can read and maintain the code",
    "there is no security vulnerability",
    "no secret and no credential stands in the code",
    "the language of the business is used throughout",
];

/// What has to hold after a refactoring (K-11, DS-107 to DS-112).
pub const POST_REFACTOR_LIST: [&str; 6] = [
    "no test that existed before is broken",
    "the code is better than it was: names, structure",
    "no new duplication came in",
    "patterns of the architecture are applied correctly",
    "all tests still pass",
    "no mocks came in inside the hexagon",
];

/// The list as it goes into the brief of a refactoring and into the record of the review (K-11).
pub fn post_refactor_list() -> [&'static str; 6] {
    POST_REFACTOR_LIST
}

/// What is wrong with the coverage that was measured (K-51): it was not found, is not enough, or fell since the step
/// began.
pub fn coverage(value: Option<Coverage>, threshold: &Threshold, base: Option<Coverage>) -> Option<Objection> {
    let Some(value) = value else {
        let message = "The gate `coverage` ran, but no value was found in what it printed or wrote. Nothing is known \
                       about the coverage then: see that the report is written.";
        return Some(Objection::new(Rule::CoverageUnknown, message));
    };
    if !value.meets(threshold) {
        let message = format!(
            "Coverage is {value}, and it has to be {} {}%. Write tests for what is not reached, or take out what \
             nothing needs.",
            match threshold.comparator {
                Comparator::AtLeast => "at least",
                Comparator::MoreThan => "above",
                Comparator::AtMost => "at most",
                Comparator::LessThan => "below",
            },
            threshold.percent
        );
        return Some(Objection::new(Rule::Coverage, message));
    }
    let base = base.filter(|base| value.percent() < base.percent())?;
    let message = format!(
        "Coverage fell to {value}; it was {base} when the step began. Write tests for what this step added."
    );
    Some(Objection::new(Rule::CoverageFell, message))
}

/// How bad a reviewer finds something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReviewSeverity {
    Low,
    Medium,
    High,
    Critical,
}

impl ReviewSeverity {
    /// Reviewers use many words; one that nobody knows is taken for a medium one.
    fn of(word: &str) -> ReviewSeverity {
        match Severity::of_word(word) {
            Some(Severity::Critical) => ReviewSeverity::Critical,
            Some(Severity::High) => ReviewSeverity::High,
            Some(Severity::Medium) | None => ReviewSeverity::Medium,
            Some(Severity::Low) => ReviewSeverity::Low,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            ReviewSeverity::Low => "low",
            ReviewSeverity::Medium => "medium",
            ReviewSeverity::High => "high",
            ReviewSeverity::Critical => "critical",
        }
    }
}

/// One thing that a review found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewFinding {
    pub severity: ReviewSeverity,
    pub title: String,
    pub file: Option<String>,
    /// From 1.
    pub line: Option<u64>,
    pub remedy: Option<String>,
    /// The reviewer says that it was mended in the same phase.
    pub resolved: bool,
}

impl ReviewFinding {
    fn of(given: &Json) -> Option<ReviewFinding> {
        let text = |keys: &[&str]| {
            let value = keys.iter().find_map(|key| given.get(key).filter(|value| !value.is_null()))?;
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            Some(text.trim().to_owned()).filter(|text| !text.is_empty())
        };
        let title = match given {
            Json::String(title) => Some(title.trim().to_owned()).filter(|title| !title.is_empty()),
            Json::Object(_) => text(&["title", "message", "finding", "issue", "description", "summary"]),
            _ => None,
        }?;
        let file = text(&["file", "path", "location"]);
        let line = text(&["line", "line_number"]).and_then(|line| line.parse().ok());
        let (file, line) = match file.as_deref().and_then(|file| file.rsplit_once(':')) {
            Some((path, at)) if line.is_none() && at.parse::<u64>().is_ok() => {
                (Some(path.to_owned()), at.parse().ok())
            }
            _ => (file, line),
        };
        let is_true = |key: &str| given.get(key).and_then(Json::as_bool).unwrap_or(false);
        let status = text(&["status"]).unwrap_or_default().to_ascii_lowercase();
        Some(ReviewFinding {
            severity: text(&["severity", "level", "priority"])
                .map_or(ReviewSeverity::Medium, |word| ReviewSeverity::of(&word)),
            title,
            file,
            line: line.filter(|line| *line > 0),
            remedy: text(&["remedy", "fix", "suggestion", "recommendation", "help"]),
            resolved: is_true("resolved")
                || is_true("fixed")
                || ["resolved", "fixed"].contains(&status.as_str()),
        })
    }

    /// As the record of the review carries it.
    pub fn to_json(&self) -> Json {
        json!({
            "severity": self.severity.word(),
            "title": self.title,
            "file": self.file,
            "line": self.line,
            "remedy": self.remedy,
            "resolved": self.resolved,
        })
    }
}

/// The findings in what a phase reported: `review.findings`, a bare list under `review`, or `findings`. Entries without
/// a title say nothing and are left out.
pub fn review_findings(outputs: &Map<String, Json>) -> Vec<ReviewFinding> {
    let review = outputs.get("review");
    let list = [review.and_then(|review| review.get("findings")), review, outputs.get("findings")];
    let list = list.into_iter().flatten().find_map(Json::as_array);
    list.into_iter().flatten().filter_map(ReviewFinding::of).collect()
}
