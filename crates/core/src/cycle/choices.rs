//! The options of every question that a cycle asks. Their labels and consequences are where the questions are built.

use crate::choices;

choices! {
    /// What becomes of an earlier cycle that the document still holds.
    pub enum OccupiedChoice {
        /// It goes to the archive as incomplete.
        Approve = "approve",
        Cancel = "cancel",
    }
}

choices! {
    /// What a person does when a goal is asked for.
    pub enum GoalChoice {
        ProvideInput = "provide_input",
        Cancel = "cancel",
    }
}

choices! {
    /// What a person answers to questions of the Planner.
    pub enum ClarifyChoice {
        ProvideInput = "provide_input",
        /// The Planner uses its judgement.
        Approve = "approve",
        Stop = "stop",
    }
}

choices! {
    /// What a person answers to a role that lacks context.
    pub enum ContextChoice {
        ProvideInput = "provide_input",
        /// There is none; the role goes on without.
        Approve = "approve",
        Stop = "stop",
    }
}

choices! {
    /// Whether a risky step is carried out.
    pub enum RiskChoice {
        Approve = "approve",
        /// It is planned differently.
        Changes = "changes",
        Stop = "stop",
    }
}

choices! {
    /// How it goes on after work that needs a person's word.
    pub enum BlockedChoice {
        Approve = "approve",
        /// The Planner finds another way.
        Changes = "changes",
        Stop = "stop",
    }
}

choices! {
    /// What a person does about matters that nobody knows (K-114).
    pub enum UncheckedChoice {
        /// They count as good on this person's word.
        Accept = "accept",
        /// The checks are run and the Judge is asked once more.
        Retry = "retry",
        /// The Planner plans again.
        Changes = "changes",
        Stop = "stop",
    }
}

choices! {
    /// What happens with work that passed (CY-07).
    pub enum ApprovalChoice {
        Commit = "commit",
        Merge = "merge",
        Squash = "squash",
        Changes = "changes",
        Stop = "stop",
    }
}

choices! {
    /// How it goes on after a delivery that failed.
    pub enum UndeliveredChoice {
        Retry = "retry",
        /// The Planner plans again.
        Changes = "changes",
        Stop = "stop",
    }
}

choices! {
    /// What happens with uncommitted changes of the user in files of the work.
    pub enum OwnChangesChoice {
        /// They become part of the commit.
        Approve = "approve",
        /// The Planner plans without these files.
        Changes = "changes",
        Stop = "stop",
    }
}

choices! {
    /// How it goes on when the repository is no longer where the work began.
    pub enum MovedChoice {
        /// What is checked out now counts, and everything is judged on it.
        Approve = "approve",
        /// It is looked at again, after the user went back.
        Retry = "retry",
        Stop = "stop",
    }
}

choices! {
    /// How it goes on after a pause (CY-77).
    pub enum PauseChoice {
        /// The Planner goes on with instructions.
        Guide = "guide",
        /// Another cycle begins.
        NewGoal = "new_goal",
        Stop = "stop",
    }
}

choices! {
    /// How it goes on without a usable plan.
    pub enum PlanlessChoice {
        Retry = "retry",
        Stop = "stop",
    }
}
