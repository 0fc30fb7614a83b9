//! Rules that an edit of a state file by hand can break.

use serde::Deserialize;
use serde::Serialize;

use super::PhaseFault;
use crate::finding::Finding;
use crate::finding::Place;
use crate::finding::Severity;

/// A rule that an edit by hand broke.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum Edit {
    PhaseAdded {
        phase: String,
    },
    PhaseRemoved {
        phase: String,
    },
    /// The files that the step may change were changed in the state file.
    Patterns,
    HistoryRewritten {
        phase: String,
    },
    EndRewritten {
        phase: String,
    },
    /// More phases than one were changed in one save.
    Batch {
        phases: Vec<String>,
    },
    PhaseWay {
        phase: String,
        from: String,
        to: String,
    },
    PendingByHand {
        phase: String,
    },
    OutOfTurn {
        phase: String,
        before: String,
    },
    StepWay {
        from: String,
        to: String,
    },
    DoneTooEarly {
        phase: String,
    },
    /// The record of a phase that the edit changed is not whole.
    Record {
        phase: String,
        fault: PhaseFault,
    },
}

impl Edit {
    pub(super) fn sentence(&self) -> String {
        match self {
            Edit::PhaseAdded { phase } => format!("phase {phase} was not there before"),
            Edit::PhaseRemoved { phase } => format!("phase {phase} was removed from the state file"),
            Edit::Patterns => {
                "the allowed file patterns of the step were changed while it is at work".to_owned()
            }
            Edit::HistoryRewritten { phase } => format!("the history of phase {phase} was rewritten"),
            Edit::EndRewritten { phase } => format!("phase {phase} was over, and how it ended was rewritten"),
            Edit::Batch { phases } => {
                format!("batching: {} phases were changed in one save: {}", phases.len(), phases.join(", "))
            }
            Edit::PhaseWay { phase, from, to } => {
                format!("phase {phase} went from {from} to {to}, which is not a lawful way")
            }
            Edit::PendingByHand { phase } => format!("phase {phase} was marked CHECKPOINT_PENDING by hand"),
            Edit::OutOfTurn { phase, before } => format!("phase {phase} began before {before} was over"),
            Edit::StepWay { from, to } => {
                format!("the step went from {from} to {to}, which is not a lawful way")
            }
            Edit::DoneTooEarly { phase } => {
                format!("the step was marked DONE while phase {phase} is not over")
            }
            Edit::Record { phase, fault } => fault.sentence(phase),
        }
    }

    /// Returns the name of the rule, as findings carry it.
    fn rule(&self) -> &'static str {
        match self {
            Edit::PhaseAdded { .. } | Edit::PhaseRemoved { .. } => "phase-list",
            Edit::Patterns => "patterns",
            Edit::HistoryRewritten { .. } => "history",
            Edit::EndRewritten { .. } => "rewritten",
            Edit::Batch { .. } => "batching",
            Edit::PhaseWay { .. }
            | Edit::PendingByHand { .. }
            | Edit::StepWay { .. }
            | Edit::DoneTooEarly { .. } => "transition",
            Edit::OutOfTurn { .. } => "order",
            Edit::Record { .. } => "phase",
        }
    }
}

/// A rule that an edit by hand broke, with where that is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unlawful {
    pub edit: Edit,
    pub severity: Severity,
    pub place: Place,
    pub help: Option<String>,
}

impl Unlawful {
    pub fn new(edit: Edit, place: Option<Place>) -> Unlawful {
        Unlawful { edit, severity: Severity::Error, place: place.unwrap_or(Place::TOP), help: None }
    }

    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Unlawful {
        Unlawful { help: Some(help.into()), ..self }
    }

    pub fn finding(&self) -> Finding {
        let finding = Finding::error(self.edit.rule(), self.place, self.edit.sentence());
        let finding = Finding { severity: self.severity, ..finding };
        match &self.help {
            Some(help) => finding.help(help.clone()),
            None => finding,
        }
    }
}
