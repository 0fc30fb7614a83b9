//! `run step @AGENT PROJECT STEP`: what its parameters must be, and the sentences that are said when they are not.
//!
//! Everything here happens before any file is touched (E-45). The sentences are contracts, to the letter.

mod agents;
#[cfg(test)]
mod tests;

use std::fmt;

use serde_json::Value as Json;
use serde_json::json;

pub use self::agents::Availability;
pub use self::agents::Registry;
use super::extract::NotFound;
use super::plan::is_step_id;
use crate::redact;

/// The folder of all projects.
const FEATURES: &str = "docs/feature";
/// Ids are shorter than this (DW-34).
const ID_LENGTH: usize = 100;
/// How many parameters there are.
const COUNT: usize = 3;

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// Without the at-sign (DW-16). It is asked for by name, so it wins over the agent that the step suggests (DW-23).
    pub agent: String,
    pub target: Target,
}

/// What is to be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    Step {
        project: String,
        step: String,
    },
    /// A step in a file of its own, where the project opted in to that (K-13).
    File {
        path: String,
    },
}

/// One of the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    Agent,
    Project,
    Step,
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Parameter::Agent => "agent name",
            Parameter::Project => "project id",
            Parameter::Step => "step id",
        })
    }
}

/// Why a step is not carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Message {
    #[error("Too many parameters. Expected {COUNT}, got {got}")]
    TooMany { got: usize },
    #[error("Too few parameters. Expected {COUNT}, got {got}")]
    TooFew { got: usize },
    #[error("The {which} is empty")]
    Empty { which: Parameter },
    #[error("The {which} still has quotes around it: {given}")]
    Quoted { which: Parameter, given: String },
    #[error("The {which} has {length} characters; it must have fewer than {ID_LENGTH}")]
    TooLong { which: Parameter, length: usize },
    /// The value itself is not repeated.
    #[error("The {which} looks like a secret ({kind}) and is refused")]
    Secret { which: Parameter, kind: String },
    #[error("Invalid agent name: {name}. Must be one of: {}", .known.join(", "))]
    InvalidAgent { name: String, known: Vec<String> },
    #[error("Agent '{name}' is not currently available. Available agents: {}", .available.join(", "))]
    AgentUnavailable { name: String, available: Vec<String> },
    #[error("Invalid project id: {given}. It must be kebab-case, such as auth-upgrade")]
    InvalidProject { given: String },
    #[error("Invalid step id: {given}. It must be two digits, a hyphen and two digits, such as 01-01")]
    InvalidStep { given: String },
    #[error(
        "The path of a step file is no longer a parameter: {path}. Use: seriatim run step @{agent} {project} {step}"
    )]
    Deprecated { path: String, agent: String, project: String, step: String },
    #[error("Roadmap not found at {}", roadmap_path(.project))]
    RoadmapNotFound { project: String },
    #[error("Execution status not found at {}", status_path(.project))]
    StatusNotFound { project: String },
    #[error("Step {step} not found in roadmap. Available steps: {}", .available.join(", "))]
    StepNotFound { step: String, available: Vec<String> },
    #[error("{CANNOT}: step {step} waits for {}", .blocking.join(", "))]
    DependencyNotMet { step: String, blocking: Vec<String> },
    #[error("Step {step} lacks what an agent needs to know: {}", .missing.join(", "))]
    InsufficientContext { step: String, missing: Vec<String> },
    #[error("Step {step} is not ready for execution: the review{} says so", .reviewer.as_ref().map(|by| format!(" by {by}")).unwrap_or_default())]
    NotReady { step: String, reviewer: Option<String> },
}

/// The sentence for people about open dependencies (DW-87).
const CANNOT: &str = "Cannot execute until dependencies complete";

impl Message {
    /// Whether the request was right and only the time is not: the step is blocked. Everything else is a slip in the
    /// request or in the project's files.
    pub fn is_blocked(&self) -> bool {
        matches!(
            self,
            Message::DependencyNotMet { .. } | Message::InsufficientContext { .. } | Message::NotReady { .. }
        )
    }

    /// The record of a blocked step (DW-87, DW-88).
    pub fn blocked(&self) -> Option<Json> {
        let blocked = match self {
            Message::DependencyNotMet { blocking, .. } => {
                json!({"reason": "dependency_not_met", "blocking_tasks": blocking, "message": CANNOT})
            }
            Message::InsufficientContext { missing, .. } => json!({
                "reason": "insufficient_context",
                "missing_information": missing,
                "resolution": "Update step file with missing context",
            }),
            Message::NotReady { .. } => {
                json!({"reason": "review_not_ready", "message": self.to_string()})
            }
            _ => return None,
        };
        Some(json!({"execution_blocked": blocked}))
    }

    /// What can be done about it, where the sentence does not say so itself.
    pub fn hint(&self) -> Option<String> {
        match self {
            Message::TooFew { .. } | Message::Empty { .. } | Message::TooMany { .. } => {
                Some("seriatim run step @AGENT PROJECT STEP".to_owned())
            }
            Message::StatusNotFound { project } => {
                Some(format!("create one with `seriatim roadmap init {project}`"))
            }
            Message::Secret { .. } => Some("parameters are written to logs; take the secret out".to_owned()),
            Message::DependencyNotMet { blocking, .. } => {
                blocking.first().map(|first| format!("carry out {first} first"))
            }
            Message::NotReady { .. } => Some("resolve the critiques and have it reviewed again".to_owned()),
            _ => None,
        }
    }
}

impl From<NotFound> for Message {
    fn from(error: NotFound) -> Message {
        Message::StepNotFound { step: error.step, available: error.known }
    }
}

/// Where the roadmap of a project is.
pub fn roadmap_path(project: &str) -> String {
    format!("{FEATURES}/{project}/roadmap.yaml")
}

/// Where the state of a project's steps is.
pub fn status_path(project: &str) -> String {
    format!("{FEATURES}/{project}/execution-status.yaml")
}

/// Where the log of one execution of a step is (DW-94). `stamp` is a time as file names carry it.
pub fn log_path(project: &str, stamp: &str, step: &str) -> String {
    format!("{FEATURES}/{project}/logs/{stamp}-{step}.log")
}

/// All places where a roadmap may be, the usual one first.
pub fn roadmap_paths(project: &str) -> Vec<String> {
    let names =
        ["roadmap.yaml", "roadmap.yml", "roadmap.json", "deliver/roadmap.json", "deliver/roadmap.yaml"];
    names.map(|name| format!("{FEATURES}/{project}/{name}")).into()
}

/// All places where the state of the steps may be, that of the current generation first (K-103). Step files are in
/// the folder `steps` beside them.
pub fn state_paths(project: &str) -> Vec<String> {
    let names = [
        "execution-status.yaml",
        "execution-status.yml",
        "execution-log.yaml",
        "execution-log.json",
        "deliver/execution-log.json",
        "deliver/execution-log.yaml",
    ];
    names.map(|name| format!("{FEATURES}/{project}/{name}")).into()
}

/// Reads the parameters.
pub fn parse<S: AsRef<str>>(args: &[S], registry: &Registry) -> Result<Invocation, Message> {
    let given: Vec<&str> = args.iter().map(|arg| unquoted(arg.as_ref())).collect();
    if given.len() > COUNT {
        return Err(Message::TooMany { got: given.len() });
    }
    let agent = given.first().copied().unwrap_or_default();
    let agent = agent.strip_prefix('@').unwrap_or(agent).trim();
    if let Some(path) = given.iter().skip(1).find(|arg| is_step_file(arg)) {
        check(Parameter::Agent, agent, registry)?;
        return step_file(agent, path, registry);
    }
    let [_, project, step] = given.as_slice() else {
        return Err(Message::TooFew { got: given.len() });
    };
    for (which, value) in
        [(Parameter::Agent, agent), (Parameter::Project, *project), (Parameter::Step, *step)]
    {
        check(which, value, registry)?;
    }
    let target = Target::Step { project: (*project).to_owned(), step: (*step).to_owned() };
    Ok(Invocation { agent: agent.to_owned(), target })
}

/// Reads the id of a project alone.
pub fn project(given: &str) -> Result<String, Message> {
    let project = unquoted(given);
    check(Parameter::Project, project, &Registry::default())?;
    Ok(project.to_owned())
}

/// Reads a whole line, with or without the name of the command at its head.
pub fn parse_line(line: &str, registry: &Registry) -> Result<Invocation, Message> {
    let mut words = words(line);
    if words.first().is_some_and(|first| first.starts_with('/')) {
        words.remove(0);
    }
    parse(&words, registry)
}

/// The words of a line; what stands in quotes is one word, quotes included.
fn words(line: &str) -> Vec<String> {
    let mut found = vec![];
    let mut word = String::new();
    let mut quote: Option<char> = None;
    for c in line.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            None if matches!(c, '"' | '\'') => quote = Some(c),
            None if c.is_whitespace() => {
                if !word.is_empty() {
                    found.push(std::mem::take(&mut word));
                }
                continue;
            }
            _ => {}
        }
        word.push(c);
    }
    found.extend(Some(word).filter(|word| !word.is_empty()));
    found
}

/// Without blanks around it, and without one pair of plain quotes (DW-18).
fn unquoted(text: &str) -> &str {
    let text = text.trim();
    let inner = |quote: char| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
    inner('"').or_else(|| inner('\'')).map_or(text, str::trim)
}

/// Quotes of all sorts; those of word processors among them.
const QUOTES: [char; 10] = ['"', '\'', '`', '“', '”', '‘', '’', '„', '«', '»'];

/// The checks of one parameter, the harmless ones first.
fn check(which: Parameter, value: &str, registry: &Registry) -> Result<(), Message> {
    if value.is_empty() {
        return Err(Message::Empty { which });
    }
    if let Some(shape) = redact::known_shapes(value).into_iter().next() {
        return Err(Message::Secret { which, kind: shape.kind });
    }
    if value.starts_with(QUOTES) || value.ends_with(QUOTES) {
        return Err(Message::Quoted { which, given: value.to_owned() });
    }
    let length = value.chars().count();
    if length >= ID_LENGTH {
        return Err(Message::TooLong { which, length });
    }
    match which {
        Parameter::Agent => registry.check(value),
        Parameter::Project if !is_kebab(value) => Err(Message::InvalidProject { given: value.to_owned() }),
        Parameter::Step if !is_id(value) => Err(Message::InvalidStep { given: value.to_owned() }),
        _ => Ok(()),
    }
}

/// Small letters and digits in groups, with a hyphen between them (DW-28).
fn is_kebab(text: &str) -> bool {
    let plain = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    text.split('-').all(plain)
}

/// Two digits, a hyphen, two digits; or another word that a roadmap can have as an id (DW-29, K-102). What could lead
/// out of a folder is none.
fn is_id(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    is_step_id(text)
        || (text.bytes().all(plain)
            && text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && !text.contains(".."))
}

fn is_step_file(arg: &str) -> bool {
    arg.to_ascii_lowercase().ends_with(".json") || arg.contains("steps/")
}

/// The old form names a file. It is refused with the new form in its place, unless the project opted in (K-13,
/// DW-93).
fn step_file(agent: &str, path: &str, registry: &Registry) -> Result<Invocation, Message> {
    if registry.step_files {
        let target = Target::File { path: path.to_owned() };
        return Ok(Invocation { agent: agent.to_owned(), target });
    }
    let parts: Vec<&str> = path.split('/').collect();
    let before_steps =
        parts.iter().position(|part| *part == "steps").and_then(|at| parts.get(at.checked_sub(1)?));
    let project = before_steps.filter(|part| is_kebab(part)).map_or("PROJECT", |part| part);
    let stem =
        parts.last().and_then(|name| name.split('.').next()).filter(|stem| is_id(stem)).unwrap_or("STEP");
    Err(Message::Deprecated {
        path: path.to_owned(),
        agent: agent.to_owned(),
        project: project.to_owned(),
        step: stem.to_owned(),
    })
}
