//! The options of the questions of a process, as types.

use seriatim_core::choices;

choices! {
    /// Before a step.
    pub(in crate::process) enum BeforeStep { Approve = "approve", Guide = "guide", Skip = "skip", Cancel = "cancel" }
}

choices! {
    /// After a step, and where its result is uncertain.
    pub(in crate::process) enum AfterStep { Approve = "approve", Guide = "guide", Cancel = "cancel" }
}

choices! {
    /// Whether to go on.
    pub(in crate::process) enum GoOn { Approve = "approve", Cancel = "cancel" }
}

choices! {
    /// Whether the direction is right.
    pub(in crate::process) enum Direction { Approve = "approve", Guide = "guide", Cancel = "cancel" }
}

choices! {
    /// A trigger that wants a person's word.
    pub(in crate::process) enum Escalated {
        Approve = "approve",
        Details = "details",
        Defer = "defer",
        Guide = "guide",
        Skip = "skip",
        Cancel = "cancel",
    }
}

choices! {
    /// The approval before a run.
    pub(in crate::process) enum Approval { Approve = "approve", Trust = "trust", Reject = "reject" }
}

choices! {
    /// Whether a criterion is met.
    pub(in crate::process) enum Criterion { Met = "approve", NotMet = "reject" }
}

choices! {
    /// How much of the work is done.
    pub(in crate::process) enum Extent { Full = "full", Quick = "quick" }
}

choices! {
    /// An input that is missing.
    pub(in crate::process) enum MissingInput { Provide = "provide_input", Skip = "skip" }
}

choices! {
    /// A serious failure, or one with a correction.
    pub(in crate::process) enum Correction { Approve = "approve", Fix = "fix", Retry = "retry", Cancel = "cancel" }
}

choices! {
    /// A failure that will come again.
    pub(in crate::process) enum Persistent { Provide = "provide_input", Skip = "skip", Cancel = "cancel" }
}

choices! {
    /// Work of another process, and an error that nothing deals with.
    pub(in crate::process) enum AfterFailure { Retry = "retry", Skip = "skip", Cancel = "cancel" }
}

choices! {
    /// What a person says of a step of their own. Triggers of the definition are further options, as data.
    pub(in crate::process) enum OwnStep {
        Approve = "approve",
        Changes = "changes",
        Reject = "reject",
        Done = "done",
        Pass = "pass",
        Fail = "fail",
        Skip = "skip",
        Cancel = "cancel",
    }
}

impl OwnStep {
    /// Returns how records say what was chosen.
    pub(in crate::process) fn label(self) -> &'static str {
        match self {
            OwnStep::Approve => "Approved",
            OwnStep::Changes => "Changes asked for",
            OwnStep::Reject => "Refused",
            OwnStep::Done => "Done",
            OwnStep::Pass => "Passed",
            OwnStep::Fail => "Not passed",
            OwnStep::Skip => "Left out",
            OwnStep::Cancel => "Stopped",
        }
    }
}
