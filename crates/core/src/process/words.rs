//! The closed sets of words of the process dialect.

use std::fmt;

use serde::Deserialize;
use serde::Serialize;

use crate::doc::Vocabulary;

/// Declares an enum whose variants are written as fixed words.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident, $what:literal, { $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name { $($(#[$vdoc])* #[serde(rename = $word)] $variant),+ }

        impl $name {
            /// The word as files carry it.
            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.word())
            }
        }

        impl Vocabulary for $name {
            const WHAT: &'static str = $what;
            const WORDS: &'static [(&'static str, $name)] = &[$(($word, $name::$variant)),+];
        }
    };
}

words!(
    /// What a step does (PX-61).
    Capability, "a capability", {
        Elicit = "Elicit",
        Analyse = "Analyse",
        Synthesise = "Synthesise",
        Transform = "Transform",
        Validate = "Validate",
        Decide = "Decide",
        Generate = "Generate",
        Preserve = "Preserve",
    }
);

words!(
    /// Who does a step, and who leads.
    Pattern, "a pattern", {
        HumanOnly = "Human-Only",
        HumanLed = "Human-Led",
        Partnership = "Partnership",
        AiLed = "AI-Led",
        AiOnly = "AI-Only",
    }
);

words!(
    /// What a trigger does when its condition holds (PX-63).
    Action, "an action of a trigger", {
        Escalate = "ESCALATE",
        Return = "RETURN",
        Block = "BLOCK",
        Defer = "DEFER",
    }
);

words!(
    /// How serious a trigger is.
    Severity, "a severity", {
        Low = "LOW",
        Medium = "MEDIUM",
        High = "HIGH",
    }
);

words!(
    /// When a fix step runs (PX-79).
    Invocation, "an invocation mode", {
        Always = "ALWAYS",
        OnRetry = "ON_RETRY",
        Ask = "ASK",
    }
);

words!(
    /// What a process is for; decides the words of its result.
    Purpose, "a type of process", {
        Validation = "validation",
        Review = "review",
        Analysis = "analysis",
        Generation = "generation",
    }
);

words!(
    /// Where an instance's definition comes from.
    SourceType, "a source of a definition", {
        WellKnown = "WELL_KNOWN",
        Dynamic = "DYNAMIC",
    }
);

words!(
    /// Where an instance stands (K-73).
    Status, "a status of an instance", {
        Planned = "PLANNED",
        InProgress = "IN_PROGRESS",
        Suspended = "SUSPENDED",
        Completed = "COMPLETED",
        Failed = "FAILED",
        Cancelled = "CANCELLED",
    }
);

words!(
    /// How far an approval reaches.
    Trust, "a trust level", {
        ReviewEach = "REVIEW_EACH",
        TrustApproved = "TRUST_APPROVED",
    }
);

words!(
    /// Where an execution stands.
    ExecutionStatus, "a status of an execution", {
        InProgress = "IN_PROGRESS",
        Suspended = "SUSPENDED",
        Completed = "COMPLETED",
        Failed = "FAILED",
        Blocked = "BLOCKED",
    }
);

words!(
    /// How a step ended.
    StepStatus, "a status of a step", {
        Completed = "COMPLETED",
        Failed = "FAILED",
        Escalated = "ESCALATED",
        Skipped = "SKIPPED",
    }
);

words!(
    /// How the flow left its straight line.
    FlowEvent, "a type of flow event", {
        Return = "RETURN",
        Block = "BLOCK",
        Defer = "DEFER",
        Resume = "RESUME",
    }
);

words!(
    /// How far a decision reaches.
    DecisionType, "a type of decision", {
        Operational = "OPERATIONAL",
        Tactical = "TACTICAL",
        Design = "DESIGN",
        Adr = "ADR",
    }
);

words!(
    /// What an observation records.
    ObservationType, "a type of observation", {
        Measurement = "MEASUREMENT",
        State = "STATE",
        Event = "EVENT",
    }
);
