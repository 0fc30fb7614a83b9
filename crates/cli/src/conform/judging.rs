//! Judging one point: what was seen, and everything about it that is not as it should be.

use seriatim_core::action::conformance::Judgement;

/// A point under judgement.
#[derive(Debug)]
pub(super) struct Judging {
    point: &'static str,
    seen: String,
    faults: Vec<String>,
}

impl Judging {
    pub(super) fn of(point: &'static str, seen: impl Into<String>) -> Judging {
        Judging { point, seen: seen.into(), faults: vec![] }
    }

    /// This must hold; otherwise `fault` is what was seen instead.
    #[must_use]
    pub(super) fn demand(mut self, holds: bool, fault: impl Into<String>) -> Judging {
        if !holds {
            self.faults.push(fault.into());
        }
        self
    }

    pub(super) fn close(self) -> Judgement {
        let compliant = self.faults.is_empty();
        let seen = if compliant { self.seen } else { self.faults.join("; ") };
        Judgement { point: self.point.to_owned(), compliant, seen }
    }
}
