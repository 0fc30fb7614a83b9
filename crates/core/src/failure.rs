//! Failures have a class, and the class decides what happens next. Never a bare string.

pub mod claim;

use std::fmt;

use serde::Deserialize;
use serde::Serialize;

/// What kind of failure it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// The way to the agent failed: network, rate limit, a tool that is briefly away.
    Transport,
    /// The agent did not finish within its time.
    AgentDeadline,
    /// The agent, or the engine while the agent worked, ended without a result.
    Crash,
    /// The agent ended as if all were well and reported nothing.
    Silent,
    /// The report is not JSON, or not what the step asked for.
    Invalid,
    /// Something that was promised is not there.
    MissingArtifact,
    /// Something outside the permitted scope was touched.
    Scope,
    /// The task cannot be done as it stands; trying again would not help.
    Contract,
    /// Refused by a person or a rule.
    Denied,
    /// Stopped from outside.
    Cancelled,
    /// The disk is full, a directory cannot be written, a file cannot be read.
    Storage,
}

/// What the engine does about a class before it asks a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Try again after a pause that doubles each time.
    Backoff,
    /// Try again at once, with what was wrong as feedback.
    Correct,
    /// Try again at once: the attempt never had its chance.
    Again,
    /// A person decides.
    Ask,
    /// Nothing can be done within the run.
    Stop,
}

impl Class {
    /// The rule of the house for this class.
    pub fn policy(self) -> Policy {
        match self {
            Class::Transport => Policy::Backoff,
            Class::Invalid | Class::Silent => Policy::Correct,
            Class::AgentDeadline
            | Class::Crash
            | Class::MissingArtifact
            | Class::Scope
            | Class::Contract
            | Class::Denied
            | Class::Storage => Policy::Ask,
            Class::Cancelled => Policy::Stop,
        }
    }

    /// The name that error lists carry (PX-133).
    pub fn name(self) -> &'static str {
        match self {
            Class::Transport => "TransportError",
            Class::AgentDeadline => "TimeoutError",
            Class::Crash => "CrashError",
            Class::Silent => "SilentCompletion",
            Class::Invalid => "ValidationError",
            Class::MissingArtifact => "MissingArtifact",
            Class::Scope => "ScopeViolation",
            Class::Contract => "ContractError",
            Class::Denied => "DeniedError",
            Class::Cancelled => "Cancelled",
            Class::Storage => "StorageError",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why it failed, where the place that makes the failure knows more than its class says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureCause {
    /// The program cannot be found or cannot be executed: what a shell reports with exit code 127 or 126 (K-105).
    NoProgram,
    /// Too many calls; the other side may say how long to wait.
    RateLimit {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after_ms: Option<u64>,
    },
    /// A service or a lock is not available for the moment.
    Unavailable,
    /// A permission or a credential is missing.
    Unauthorised,
}

impl FailureCause {
    /// The exit codes by which a shell reports a program that it cannot start.
    pub fn of_exit_code(code: i32) -> Option<FailureCause> {
        matches!(code, 126 | 127).then_some(FailureCause::NoProgram)
    }
}
/// How many lines of output say why an attempt failed.
pub const REASON_LINES: usize = 5;

/// A classified failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{class}: {message}")]
pub struct Failure {
    pub class: Class,
    /// One or two sentences in plain words.
    pub message: String,
    /// What to tell the agent so that the next attempt can do better; one entry per problem.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub feedback: Vec<String>,
    /// The engine died while this was under way: not the agent's fault, so it may simply be tried again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// What is known about the attempt nevertheless: where its output and its partial work lie.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
    /// It said itself that it failed, and not in which way.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unclassed: bool,
    /// The last lines of what it printed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
    /// Why, where that is known; absent where the class says all there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<FailureCause>,
}

impl Failure {
    pub fn new(class: Class, message: impl Into<String>) -> Failure {
        Failure {
            class,
            message: message.into(),
            feedback: vec![],
            interrupted: false,
            kept: vec![],
            unclassed: false,
            output: String::new(),
            cause: None,
        }
    }

    /// The same failure with its cause.
    #[must_use]
    pub fn because(self, cause: Option<FailureCause>) -> Failure {
        Failure { cause, ..self }
    }

    /// The failure of an attempt that was under way when the engine died.
    pub fn interrupted() -> Failure {
        Failure {
            interrupted: true,
            ..Failure::new(Class::Crash, "the work was interrupted before it reported anything")
        }
    }

    /// Returns the last lines that the attempt printed, at most [`REASON_LINES`] of them, without blank ones.
    pub fn last_lines(&self) -> Vec<&str> {
        let mut lines: Vec<&str> =
            self.output.lines().rev().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        lines.truncate(REASON_LINES);
        lines.reverse();
        lines
    }

    /// Returns the message and the last lines of the output in one line.
    pub fn in_one_line(&self) -> String {
        let last = self.last_lines().into_iter().map(str::trim).collect::<Vec<_>>().join(" / ");
        if last.is_empty() {
            self.message.clone()
        } else {
            format!("{}; it last printed: {last}", self.message)
        }
    }

    /// Returns what people are told beside the message: the last lines of the output. Empty where nothing was printed.
    pub fn reason(&self) -> String {
        let last = self.last_lines();
        if last.is_empty() {
            return String::new();
        }
        let lines: Vec<String> = last.into_iter().map(|line| format!("  {line}")).collect();
        format!("The last lines of its output:\n{}", lines.join("\n"))
    }

    /// What the engine does about it before it asks a person.
    pub fn policy(&self) -> Policy {
        if self.interrupted { Policy::Again } else { self.class.policy() }
    }
}

/// The pause before attempt `attempt` (from 2 on): 1 s, 2 s, 4 s ... at most five minutes. It is journalled
/// by the flow that sleeps, never by a library.
pub fn backoff_ms(attempt: u32) -> u64 {
    let doublings = attempt.saturating_sub(2).min(20);
    (1000u64 << doublings).min(300_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_a_failure_is_in_the_last_lines_that_say_something() {
        let failure = Failure {
            output: "one\ntwo\n\nthree\nfour\nfive\nsix  \n\n".to_owned(),
            ..Failure::new(Class::Crash, "it ended with exit code 7")
        };
        assert_eq!(failure.last_lines(), ["two", "three", "four", "five", "six"]);
        assert_eq!(failure.reason(), "The last lines of its output:\n  two\n  three\n  four\n  five\n  six");
        assert_eq!(
            failure.in_one_line(),
            "it ended with exit code 7; it last printed: two / three / four / five / six"
        );
        let silent = Failure::new(Class::Crash, "it is gone");
        assert_eq!((silent.reason(), silent.in_one_line()), (String::new(), "it is gone".to_owned()));
    }

    #[test]
    fn e_60_backoff_is_one_two_four() {
        assert_eq!([2, 3, 4, 5].map(backoff_ms), [1000, 2000, 4000, 8000]);
        assert_eq!(backoff_ms(60), 300_000);
    }

    #[test]
    fn a_cause_is_journalled_where_it_is_known_and_left_out_otherwise() {
        let plain = Failure::new(Class::Crash, "it ended with exit code 1");
        assert_eq!(
            serde_json::to_string(&plain).unwrap(),
            r#"{"class":"crash","message":"it ended with exit code 1"}"#
        );
        let known = plain.because(Some(FailureCause::RateLimit { retry_after_ms: Some(7000) }));
        let text = serde_json::to_string(&known).unwrap();
        assert!(text.ends_with(r#""cause":{"rate_limit":{"retry_after_ms":7000}}}"#), "{text}");
        assert_eq!(serde_json::from_str::<Failure>(&text).unwrap(), known);
        assert_eq!(
            [0, 1, 126, 127].map(FailureCause::of_exit_code),
            [None, None, Some(FailureCause::NoProgram), Some(FailureCause::NoProgram)]
        );
    }

    #[test]
    fn a_deadline_is_asked_about_and_never_retried_alone() {
        assert_eq!(Class::AgentDeadline.policy(), Policy::Ask);
        assert_eq!(Class::Transport.policy(), Policy::Backoff);
        assert_eq!(Failure::interrupted().policy(), Policy::Again);
    }
}
