//! What a failure was, as far as its class and its words tell.

use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;
use serde::Serialize;

use crate::failure::Class;
use crate::failure::Failure;
use crate::time::parse_span;

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

static RATE_LIMIT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b429\b|rate.?limit|too many requests|quota exceeded|overloaded|\b529\b").ok()
});
static RETRY_AFTER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?i)retry[-_ ]?after(?:_s|_seconds)?["']?\s*[:=]?\s*["']?([0-9]+)\s*(ms|milliseconds|s|sec|seconds|m|min|minutes)?\b"#,
    )
    .ok()
});
static AGAIN_IN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:try|retry) again in ([0-9]+)\s*(ms|milliseconds|s|sec|seconds|m|min|minutes)\b").ok()
});
static UNAUTHORISED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b40[13]\b|unauthori[sz]ed|forbidden|permission denied|invalid api key|authentication (?:failed|error)|not logged in").ok()
});
static UNAVAILABLE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)\b50[234]\b|unavailable|file is locked|lock(?:ed)? by|busy").ok());
static NO_PROGRAM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)exit code 12[67]\b|no program named|cannot be executed|command not found").ok()
});

fn says(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

impl Cause {
    /// Reads a failure. The class decides; its words tell apart what the class leaves open.
    pub fn of(failure: &Failure) -> Cause {
        let words = format!("{}\n{}", failure.message, failure.output);
        match failure.class {
            _ if failure.interrupted => Cause::Interrupted,
            Class::Transport => Cause::of_transport(&words),
            Class::Crash if says(&NO_PROGRAM, &failure.message) => Cause::NoProgram,
            Class::Crash if says(&RATE_LIMIT, &words) => Cause::of_transport(&words),
            Class::Crash => Cause::Crash,
            Class::Contract if says(&NO_PROGRAM, &failure.message) => Cause::NoProgram,
            Class::Contract if says(&UNAUTHORISED, &failure.message) => Cause::Unauthorised,
            Class::Contract => Cause::Contract,
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

    fn of_transport(words: &str) -> Cause {
        match () {
            () if says(&RATE_LIMIT, words) => Cause::RateLimit { retry_after_ms: retry_after_ms(words) },
            () if says(&UNAUTHORISED, words) => Cause::Unauthorised,
            () if says(&UNAVAILABLE, words) => Cause::Unavailable,
            () => Cause::Network,
        }
    }

    /// What sort of failure it is. What happened beside or behind work that stands is partial, unless it would fail
    /// again anyway.
    pub fn nature(self, scene: Scene) -> Nature {
        match self {
            Cause::NoProgram | Cause::Unauthorised | Cause::Contract | Cause::Denied | Cause::Cancelled => {
                Nature::Permanent
            }
            _ if matches!(scene, Scene::Parallel | Scene::Sequence | Scene::Gate) => Nature::Partial,
            Cause::MissingArtifact | Cause::Storage => Nature::Permanent,
            _ => Nature::Transient,
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

/// How long the other side asks to wait; a bare number counts seconds, as in the header of that name.
fn retry_after_ms(words: &str) -> Option<u64> {
    let captures = [&RETRY_AFTER, &AGAIN_IN]
        .into_iter()
        .find_map(|pattern| pattern.as_ref().and_then(|pattern| pattern.captures(words)))?;
    let number = captures.get(1)?.as_str();
    let unit = match captures.get(2).map(|unit| unit.as_str().to_ascii_lowercase()) {
        Some(unit) if unit.starts_with("ms") || unit.starts_with("milli") => "ms",
        Some(unit) if unit.starts_with('m') => "m",
        _ => "s",
    };
    parse_span(&format!("{number}{unit}"))
}
