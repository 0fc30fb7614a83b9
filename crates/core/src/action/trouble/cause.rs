//! What a failure was, by its class and the cause that was set where it was made.

use serde::Deserialize;
use serde::Serialize;

use crate::failure::Class;
use crate::failure::Failure;
use crate::failure::FailureCause;

/// The three sorts of failure (OC-19).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Nature {
    /// It may be over in a moment.
    Transient,
    /// It would fail again.
    Permanent,
    /// A part of the work failed, and the rest stands.
    Partial,
}

/// Where it happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scene {
    /// Beside others that work at the same time.
    Parallel,
    /// On its own, with stages before it that stand.
    Sequence,
    /// On its own, with nothing before it.
    First,
    /// At a gate that sends work back.
    Gate,
}

/// What it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Too many calls; the other side may say how long to wait.
    RateLimit {
        retry_after_ms: Option<u64>,
    },
    /// The way to the agent failed.
    Network,
    /// Something is away for the moment: a lock, a service.
    Unavailable,
    /// The agent ended without a result.
    Crash,
    /// The engine died while the agent worked.
    Interrupted,
    /// The product is not what was asked for, and can be corrected.
    Invalid,
    /// It ended as if all were well and reported nothing.
    Silent,
    /// Something that was promised is not there.
    MissingArtifact,
    /// It did not finish within its time.
    Timeout,
    /// It wrote where it must not.
    Scope,
    /// The program of the agent cannot be started (K-105).
    NoProgram,
    /// It lacks a permission.
    Unauthorised,
    /// The task cannot be done as it stands: a broken action, a missing guide.
    Contract,
    /// Refused by a person or a rule.
    Denied,
    Cancelled,
    /// The disk is full, or a file cannot be read or written.
    Storage,
}

impl Cause {
    /// Reads the types of a failure: its class, and the cause that was set where the failure was made. Its words decide
    /// nothing.
    pub fn of(failure: &Failure) -> Cause {
        if failure.interrupted {
            return Cause::Interrupted;
        }
        match failure.class {
            Class::Transport => known(failure.cause).unwrap_or(Cause::Network),
            Class::Crash => known(failure.cause).unwrap_or(Cause::Crash),
            Class::Contract => known(failure.cause).unwrap_or(Cause::Contract),
            Class::AgentDeadline => Cause::Timeout,
            Class::Silent => Cause::Silent,
            Class::Invalid => Cause::Invalid,
            Class::MissingArtifact => Cause::MissingArtifact,
            Class::Scope => Cause::Scope,
            Class::Denied => Cause::Denied,
            Class::Cancelled => Cause::Cancelled,
            Class::Storage => Cause::Storage,
        }
    }

    /// What sort of failure it is. What happened beside or behind work that stands is partial, unless it would fail
    /// again anyway.
    pub fn nature(self, scene: Scene) -> Nature {
        match self {
            Cause::NoProgram | Cause::Unauthorised | Cause::Contract | Cause::Denied | Cause::Cancelled => {
                Nature::Permanent
            }
            Cause::MissingArtifact | Cause::Storage => match scene {
                Scene::Parallel | Scene::Sequence | Scene::Gate => Nature::Partial,
                Scene::First => Nature::Permanent,
            },
            Cause::RateLimit { .. }
            | Cause::Network
            | Cause::Unavailable
            | Cause::Crash
            | Cause::Interrupted
            | Cause::Invalid
            | Cause::Silent
            | Cause::Timeout
            | Cause::Scope => match scene {
                Scene::Parallel | Scene::Sequence | Scene::Gate => Nature::Partial,
                Scene::First => Nature::Transient,
            },
        }
    }

    /// What reports call it.
    pub fn name(self) -> &'static str {
        match self {
            Cause::RateLimit { .. } => "RateLimitError",
            Cause::Network => "NetworkError",
            Cause::Unavailable => "UnavailableError",
            Cause::Crash => Class::Crash.name(),
            Cause::Interrupted => "Interrupted",
            Cause::Invalid => Class::Invalid.name(),
            Cause::Silent => Class::Silent.name(),
            Cause::MissingArtifact => Class::MissingArtifact.name(),
            Cause::Timeout => Class::AgentDeadline.name(),
            Cause::Scope => Class::Scope.name(),
            Cause::NoProgram => "ProgramNotFound",
            Cause::Unauthorised => "AuthorizationError",
            Cause::Contract => Class::Contract.name(),
            Cause::Denied => Class::Denied.name(),
            Cause::Cancelled => Class::Cancelled.name(),
            Cause::Storage => Class::Storage.name(),
        }
    }
}

/// What a cause that was set means for a role.
fn known(cause: Option<FailureCause>) -> Option<Cause> {
    Some(match cause? {
        FailureCause::NoProgram => Cause::NoProgram,
        FailureCause::RateLimit { retry_after_ms } => Cause::RateLimit { retry_after_ms },
        FailureCause::Unavailable => Cause::Unavailable,
        FailureCause::Unauthorised => Cause::Unauthorised,
    })
}
