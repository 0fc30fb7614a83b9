//! What a reader of one tool's output found, before anything is concluded from it.

use super::Counts;
use super::FAILURES_MAX;
use super::Failed;
use super::Kind;
use super::Tool;
use super::text;

/// What was found in an output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) tool: Option<Tool>,
    pub(super) counts: Option<Counts>,
    pub(super) failures: Vec<Failed>,
    /// The tool said in so many words that there was nothing to run.
    pub(super) nothing: bool,
    /// Tests passed, though the tool did not say how many.
    pub(super) passed_some: bool,
}

impl Found {
    pub(super) fn by(tool: Tool) -> Found {
        Found { tool: Some(tool), ..Found::default() }
    }

    pub(super) fn add_counts(&mut self, counts: Counts) {
        self.counts = Some(self.counts.unwrap_or_default().plus(counts));
    }

    pub(super) fn push(&mut self, failed: Failed) {
        if self.failures.len() < FAILURES_MAX {
            self.failures.push(failed);
        }
    }

    /// Both, for an output in which several tools spoke one after the other.
    pub(super) fn and(mut self, other: Found) -> Found {
        if other.tool.is_none() {
            return self;
        }
        if self.tool.is_none() {
            return other;
        }
        if let Some(counts) = other.counts {
            self.add_counts(counts);
        }
        for failed in other.failures {
            self.push(failed);
        }
        self.nothing &= other.nothing;
        self.passed_some |= other.passed_some;
        self
    }
}

impl Failed {
    pub(super) fn new(name: &str, kind: Kind, message: &str) -> Failed {
        Failed { name: text::short(name), file: None, line: None, kind, message: text::short(message) }
    }

    pub(super) fn at(mut self, place: Option<(&str, u32)>) -> Failed {
        if let Some((file, line)) = place {
            self.file = Some(text::short(file));
            self.line = Some(line);
        }
        self
    }
}
