//! The kinds of contract files, and how a file is recognised.

use std::fmt;
use std::str::FromStr;

use crate::closest::closest;
use crate::doc::Node;
use crate::prompt;
use crate::prompt::template::SUFFIX;
use crate::roadmap::document::is_tracker;
use crate::roadmap::plan::is_roadmap;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    ProcessDefinition,
    ProcessInstance,
    ExecutionLog,
    Decision,
    Observation,
    Roadmap,
    ExecutionStatus,
    ExecutionLogTdd,
    Step,
    AuditLog,
    Cycle,
    Automation,
    Action,
    AgentMap,
    Role,
    Lifecycle,
    Prompt,
    Template,
    Config,
}

impl Kind {
    pub const ALL: [Kind; 19] = [
        Kind::ProcessDefinition,
        Kind::ProcessInstance,
        Kind::ExecutionLog,
        Kind::Decision,
        Kind::Observation,
        Kind::Roadmap,
        Kind::ExecutionStatus,
        Kind::ExecutionLogTdd,
        Kind::Step,
        Kind::AuditLog,
        Kind::Cycle,
        Kind::Automation,
        Kind::Action,
        Kind::AgentMap,
        Kind::Role,
        Kind::Lifecycle,
        Kind::Prompt,
        Kind::Template,
        Kind::Config,
    ];

    /// The name that commands and reports use.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::ProcessDefinition => "process-definition",
            Kind::ProcessInstance => "process-instance",
            Kind::ExecutionLog => "execution-log",
            Kind::Decision => "decision",
            Kind::Observation => "observation",
            Kind::Roadmap => "roadmap",
            Kind::ExecutionStatus => "execution-status",
            Kind::ExecutionLogTdd => "execution-log-tdd",
            Kind::Step => "step",
            Kind::AuditLog => "audit-log",
            Kind::Cycle => "cycle",
            Kind::Automation => "automation",
            Kind::Action => "action",
            Kind::AgentMap => "agent-map",
            Kind::Role => "role",
            Kind::Lifecycle => "lifecycle",
            Kind::Prompt => "prompt",
            Kind::Template => "template",
            Kind::Config => "config",
        }
    }

    /// How its text is written.
    pub fn syntax(self) -> Syntax {
        match self {
            Kind::Cycle | Kind::Action | Kind::Role | Kind::Prompt | Kind::Template => Syntax::Markdown,
            Kind::AuditLog => Syntax::JsonLines,
            Kind::Config => Syntax::Toml,
            _ => Syntax::Yaml,
        }
    }
}

/// How a text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// YAML, and JSON as a part of it.
    Yaml,
    Toml,
    Markdown,
    JsonLines,
}

impl Syntax {
    /// What the name of a file says about its text.
    pub fn of_name(name: &str) -> Syntax {
        match extension(name).as_str() {
            "toml" => Syntax::Toml,
            "md" | "markdown" | "txt" => Syntax::Markdown,
            "log" | "jsonl" => Syntax::JsonLines,
            _ => Syntax::Yaml,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a word names no kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not a kind of file{}", .meant.map(|kind| format!("; did you mean `{kind}`?")).unwrap_or_default())]
pub struct UnknownKind {
    pub given: String,
    pub meant: Option<Kind>,
}

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<Kind, UnknownKind> {
        let named = |name: &str| Kind::ALL.into_iter().find(|kind| kind.name() == name);
        named(text).ok_or_else(|| UnknownKind {
            given: text.to_owned(),
            meant: closest(text, Kind::ALL.map(Kind::name)).and_then(named),
        })
    }
}

/// Recognises a file: by its content first, then by its name. `tree` is there when the text is YAML or JSON
/// that could be read.
pub fn detect(name: &str, text: &str, tree: Option<&Node>) -> Option<Kind> {
    tree.and_then(of_tree).or_else(|| of_text(name, text)).or_else(|| of_name(name))
}

/// Whether the engine takes its orders or the state of work from a file as a document of this kind. Guesses that only help
/// `check` do not count: a file whose name or content is merely like that of a document is a file as any other.
pub fn steers(kind: Kind, name: &str, text: &str, tree: Option<&Node>) -> bool {
    let is_named = is_written_as(kind, name) && of_name(name) == Some(kind);
    let has_keys = || tree.and_then(of_tree) == Some(kind);
    match kind {
        // What the engine writes down and never reads again, and what a session is told.
        Kind::ExecutionLog | Kind::Decision | Kind::Observation | Kind::Prompt => false,
        // These are read where they are named so.
        Kind::Config | Kind::AuditLog | Kind::Action | Kind::Role | Kind::Template => is_named,
        // These are read under any name. One that cannot be read is no definition.
        Kind::ProcessDefinition => has_keys(),
        // Many documents have phases; only those with steps are a roadmap.
        Kind::Roadmap => {
            let is_plan = |tree: &Node| {
                is_roadmap(tree) || tree.get("roadmap").is_some_and(|plan| plan.as_map().is_some())
            };
            is_named || (has_keys() && tree.is_some_and(is_plan))
        }
        Kind::Cycle => is_named || (is_written_as(kind, name) && of_text(name, text) == Some(kind)),
        Kind::AgentMap => is_named || has_keys() || (tree.is_none() && of_text(name, text) == Some(kind)),
        Kind::ProcessInstance
        | Kind::ExecutionStatus
        | Kind::ExecutionLogTdd
        | Kind::Step
        | Kind::Automation
        | Kind::Lifecycle => is_named || has_keys(),
    }
}

/// Whether a file has one of the endings that documents of this kind have.
fn is_written_as(kind: Kind, name: &str) -> bool {
    match kind.syntax() {
        Syntax::Yaml => matches!(extension(name).as_str(), "yaml" | "yml" | "json"),
        Syntax::Toml => extension(name) == "toml",
        Syntax::Markdown => matches!(extension(name).as_str(), "md" | "markdown"),
        Syntax::JsonLines => matches!(extension(name).as_str(), "log" | "jsonl"),
    }
}

/// Recognises a document by its keys.
fn of_tree(root: &Node) -> Option<Kind> {
    let has = |key: &str| root.get(key).is_some();
    let starts =
        |prefix: &str| root.get("id").and_then(Node::as_str).is_some_and(|id| id.starts_with(prefix));
    let kind = match () {
        () if has("instance") => Kind::ProcessInstance,
        () if has("execution") || has("step_executions") => Kind::ExecutionLog,
        () if has("definition") => Kind::ProcessDefinition,
        () if starts("DEC-") => Kind::Decision,
        () if starts("OBS-") => Kind::Observation,
        () if has("execution_status") || has("step_checkpoint") || has("completed_steps") => {
            Kind::ExecutionStatus
        }
        () if has("events") && (has("project_id") || has("feature_id")) => Kind::ExecutionLogTdd,
        () if has("current_stage") || (has("stages") && has("gates")) => Kind::Lifecycle,
        () if has("loop") && has("agents") => Kind::Automation,
        () if has("tdd_cycle") || has("task_specification") => Kind::Step,
        () if is_roadmap(root) => Kind::Roadmap,
        () if is_tracker(root) => Kind::ExecutionStatus,
        () if has("roadmap") || has("phases") || (has("project_id") && has("steps")) => Kind::Roadmap,
        () if has("actions") && (has("agents") || has("roles")) => Kind::AgentMap,
        () if has("observer") => Kind::Observation,
        () if has("actor") && (has("outcome") || has("decision")) => Kind::Decision,
        () if has("steps") && root.get("information_composition").is_some() => Kind::ProcessDefinition,
        () => return None,
    };
    Some(kind)
}

/// Recognises Markdown and logs by their headings and first lines.
fn of_text(name: &str, text: &str) -> Option<Kind> {
    let text = text.trim_start_matches('\u{FEFF}');
    match Syntax::of_name(name) {
        Syntax::Markdown => of_markdown(name, text),
        Syntax::JsonLines => {
            let first = text.lines().find(|line| !line.trim().is_empty())?;
            let event: serde_json::Value = serde_json::from_str(first).ok()?;
            event.get("event").map(|_| Kind::AuditLog)
        }
        Syntax::Toml => Some(Kind::Config),
        Syntax::Yaml => of_broken_yaml(text),
    }
}

/// A document that cannot be read still shows by its first keys what it was meant to be.
fn of_broken_yaml(text: &str) -> Option<Kind> {
    // A map with placeholders is no YAML to the letter, and is read all the same.
    if ["agents:", "actions:"].iter().all(|key| text.lines().any(|line| line.trim_end() == *key)) {
        return Some(Kind::AgentMap);
    }
    text.lines().find_map(|line| match line.trim_end() {
        "definition:" => Some(Kind::ProcessDefinition),
        "instance:" => Some(Kind::ProcessInstance),
        "execution:" => Some(Kind::ExecutionLog),
        "execution_status:" => Some(Kind::ExecutionStatus),
        "roadmap:" => Some(Kind::Roadmap),
        line if line.contains("\"tdd_cycle\"") => Some(Kind::Step),
        _ => None,
    })
}

fn of_markdown(name: &str, text: &str) -> Option<Kind> {
    let heading = |words: &str| {
        text.lines().any(|line| {
            let title = line.trim_start_matches('#');
            title.len() < line.len() && title.trim_start().starts_with(words)
        })
    };
    if text.contains("<!-- DES-") || heading("DES_METADATA") {
        let is_template = name.ends_with(SUFFIX) || prompt::is_template(text);
        return Some(if is_template { Kind::Template } else { Kind::Prompt });
    }
    if heading("SIGNAL BLOCK") {
        return Some(Kind::Cycle);
    }
    if heading("Action:") || heading("Agent Flow") {
        return Some(Kind::Action);
    }
    let front = crate::doc::front_matter(text).map(|(yaml, _)| &text[yaml])?;
    let has = |key: &str| front.lines().any(|line| line.starts_with(key));
    (has("name:") && has("description:")).then_some(Kind::Role)
}

/// Recognises a file by its name alone.
fn of_name(name: &str) -> Option<Kind> {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let stem = file.split('.').next().unwrap_or(file);
    let kind = match () {
        () if file == "seriatim.toml" => Kind::Config,
        () if file == "SKILL.md" => Kind::Role,
        () if stem.starts_with("PINST-") => Kind::ProcessInstance,
        () if stem.starts_with("EXEC-") => Kind::ExecutionLog,
        () if stem.starts_with("DEC-") => Kind::Decision,
        () if stem.starts_with("OBS-") => Kind::Observation,
        () if stem.starts_with("process-") && is_yaml(file) => Kind::ProcessDefinition,
        () if stem == "roadmap" => Kind::Roadmap,
        () if stem == "execution-status" => Kind::ExecutionStatus,
        () if stem == "execution-log" => Kind::ExecutionLogTdd,
        () if stem.starts_with("audit-") && extension(file) == "log" => Kind::AuditLog,
        () if stem == "lifecycle-stage" => Kind::Lifecycle,
        () if stem == "agent-map" => Kind::AgentMap,
        () if name.contains("agents/actions/") && file.ends_with(".md") => Kind::Action,
        () if stem.eq_ignore_ascii_case("SETUP_AUTOMATION") && is_yaml(file) => Kind::Automation,
        () if stem.starts_with("current_cycle") || stem.contains("_cycle-") => Kind::Cycle,
        () if file.ends_with(SUFFIX) => Kind::Template,
        () if file.ends_with(".prompt.md") => Kind::Prompt,
        () => return None,
    };
    Some(kind)
}

fn is_yaml(file: &str) -> bool {
    matches!(extension(file).as_str(), "yaml" | "yml")
}

/// The part after the last point, in lower case.
fn extension(file: &str) -> String {
    file.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase()).unwrap_or_default()
}
