//! What the tables of the configuration mean.

use std::collections::BTreeMap;
use std::ops::Range;

use regex::Regex;
use serde_json::Value as Json;
use toml::Spanned;
use toml::de::DeTable;
use toml::de::DeValue;

use super::AGENT_GRACE_MS;
use super::AGENT_TIMEOUT_MS;
use super::Actions;
use super::Agent;
use super::Budget;
use super::Comparator;
use super::Config;
use super::Cycle;
use super::Gate;
use super::Guard;
use super::Kind;
use super::Process;
use super::Roadmap;
use super::Worlds;
use super::kebab;
use super::reader::Found;
use super::reader::Reader;
use super::reader::Section;
use super::reader::did_you_mean;
use crate::world::Isolation;
use crate::world::Network;

const TABLES: [&str; 10] =
    ["agents", "gates", "redact", "process", "roadmap", "cycle", "actions", "guard", "worlds", "paths"];
const AGENT_FIELDS: [&str; 11] = [
    "kind",
    "argv",
    "script",
    "timeout",
    "grace",
    "env",
    "model",
    "fallback",
    "budget",
    "isolation",
    "network",
];
const GATE_FIELDS: [&str; 13] = [
    "command",
    "subset",
    "timeout",
    "ok_exit",
    "expect",
    "within",
    "env",
    "value",
    "threshold",
    "comparator",
    "isolation",
    "network",
    "setup",
];
/// Endings of report files.
const REPORTS: [&str; 6] = ["xml", "json", "info", "lcov", "txt", "html"];
const KINDS: [&str; 7] = ["command", "claude", "codex", "gemini", "opencode", "scripted", "human"];

/// The whole file.
pub(super) fn config(reader: &mut Reader<'_>, table: &DeTable<'_>, others: &[&str]) -> Config {
    let mut config = Config::default();
    for (key, value) in table {
        let name: &str = key.get_ref();
        if others.contains(&name) && !TABLES.contains(&name) {
            config.others.insert(name.to_owned(), json_of(value.get_ref()));
            continue;
        }
        if !TABLES.contains(&name) {
            let message = format!("unknown table [{name}]");
            reader.warning("unknown-table", &key.span(), message, did_you_mean(name, &TABLES));
            continue;
        }
        let Some(section) = reader.section(format!("[{name}]"), key.span(), value) else { continue };
        match name {
            "agents" => config.agents = agents(reader, &section),
            "gates" => {
                for (name, section) in named(reader, &section, "gates") {
                    config.gates.extend(gate(reader, &section).map(|gate| (name, gate)));
                }
            }
            "redact" => config.redact = redact(reader, &section),
            "process" => config.process = process(reader, &section),
            "cycle" => config.cycle = cycle(reader, &section),
            "guard" => config.guard = guard(reader, &section),
            "roadmap" => config.roadmap = roadmap(reader, &section),
            "actions" => config.actions = actions(reader, &section),
            "worlds" => config.worlds = worlds(reader, &section),
            // The rooms of the dialects read these themselves.
            _ => {}
        }
    }
    config
}

/// A value as data.
fn json_of(value: &DeValue<'_>) -> Json {
    match value {
        DeValue::String(text) => Json::from(text.as_ref()),
        DeValue::Integer(number) => number.to_string().parse::<i64>().map_or(Json::Null, Json::from),
        DeValue::Float(number) => number.to_string().parse::<f64>().map_or(Json::Null, Json::from),
        DeValue::Boolean(flag) => Json::from(*flag),
        DeValue::Datetime(moment) => Json::from(moment.to_string()),
        DeValue::Array(list) => list.iter().map(|value| json_of(value.get_ref())).collect(),
        DeValue::Table(table) => {
            let fields =
                table.iter().map(|(key, value)| (key.get_ref().to_string(), json_of(value.get_ref())));
            Json::Object(fields.collect())
        }
    }
}

/// The tables below `section`, such as `default` and `judge` of `[agents]`. Two names that would be taken for
/// the same when they are looked up are a mistake.
fn named<'a>(reader: &mut Reader<'_>, section: &Section<'a>, group: &str) -> Vec<(String, Section<'a>)> {
    let mut entries: Vec<(&'a Spanned<_>, &'a Spanned<DeValue<'a>>)> = section.table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let mut tables: Vec<(String, Section<'a>)> = vec![];
    for (key, value) in entries {
        let name = key.get_ref().to_string();
        if let Some((first, _)) = tables.iter().find(|(known, _)| kebab(known) == kebab(&name)) {
            let message = format!("[{group}.{name}] and [{group}.{first}] are the same name");
            reader.error("duplicate-name", &key.span(), message, Some("rename one of the two".to_owned()));
            continue;
        }
        let label = format!("[{group}.{name}]");
        tables.extend(reader.section(label, key.span(), value).map(|table| (name, table)));
    }
    tables
}

fn agents(reader: &mut Reader<'_>, section: &Section<'_>) -> BTreeMap<String, Agent> {
    let tables = named(reader, section, "agents");
    let names: Vec<&str> = tables.iter().map(|(name, _)| name.as_str()).collect();
    let mut agents = BTreeMap::new();
    for (name, section) in &tables {
        let fallback = fallback(reader, section, name, &names);
        if let Some(agent) = agent(reader, section) {
            agents.insert(name.clone(), Agent { fallback, ..agent });
        }
    }
    agents
}

fn agent(reader: &mut Reader<'_>, section: &Section<'_>) -> Option<Agent> {
    reader.only(section, &AGENT_FIELDS);
    // Everything is read before anything is given up, so that all findings come at once.
    let kind = kind(reader, section);
    let timeout = reader.deadline(section, "timeout");
    let timeout_ms = timeout.unwrap_or(AGENT_TIMEOUT_MS);
    let has_timeout = timeout.is_some();
    let grace_ms = reader.span(section, "grace").map_or(AGENT_GRACE_MS, |grace| grace.value);
    let env = reader.variables(section, "env");
    let model = reader.text(section, "model").map(|model| model.value);
    let budget = budget(reader, section);
    let isolation = isolation(reader, section);
    let network = network(reader, section);
    let fallback = None;
    let agent = |kind| Agent {
        kind,
        timeout_ms,
        has_timeout,
        grace_ms,
        env,
        model,
        fallback,
        budget,
        isolation,
        network,
    };
    kind.map(agent)
}

fn isolation(reader: &mut Reader<'_>, section: &Section<'_>) -> Option<Isolation> {
    let words = Isolation::ALL.map(|isolation| (isolation.word(), isolation));
    one_of(reader, section, "isolation", &words)
}

fn network(reader: &mut Reader<'_>, section: &Section<'_>) -> Network {
    let words = Network::ALL.map(|network| (network.word(), network));
    one_of(reader, section, "network", &words).unwrap_or_default()
}

/// A field that has one of a few words.
fn one_of<T: Copy>(
    reader: &mut Reader<'_>,
    section: &Section<'_>,
    field: &str,
    words: &[(&str, T)],
) -> Option<T> {
    let Found { value, span } = reader.text(section, field)?;
    if let Some((_, known)) = words.iter().find(|(word, _)| *word == value) {
        return Some(*known);
    }
    let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    let message = format!("unknown {field} `{value}` in {}", section.label);
    let help = did_you_mean(&value, &known).unwrap_or_else(|| format!("one of {}", known.join(", ")));
    reader.error("unknown-value", &span, message, Some(help));
    None
}

fn worlds(reader: &mut Reader<'_>, section: &Section<'_>) -> Worlds {
    reader.only(section, &["share", "dir"]);
    let mut share = vec![];
    for found in reader.texts(section, "share").unwrap_or_default() {
        let leaves = found.value.split('/').any(|part| part == "..");
        if found.value.trim().is_empty() || leaves {
            let message = format!("`share` in {} cannot hold `{}`", section.label, found.value);
            let help = "name a folder of the workspace, or an absolute path without `..`";
            reader.error("bad-value", &found.span, message, Some(help.to_owned()));
            continue;
        }
        share.push(found.value);
    }
    let dir = reader.text(section, "dir").and_then(|found| {
        if found.value.starts_with('/') {
            return Some(found.value);
        }
        let message = format!("`dir` in {} must be an absolute path", section.label);
        let help = "layers lie outside of the workspace, on a disk with room for them";
        reader.error("bad-value", &found.span, message, Some(help.to_owned()));
        None
    });
    Worlds { share, dir }
}

fn kind(reader: &mut Reader<'_>, section: &Section<'_>) -> Option<Kind> {
    if !section.table.contains_key("kind") {
        let help = format!("add `kind = \"command\"`; known kinds: {}", KINDS.join(", "));
        reader.missing(section, "kind", "it says what sort of agent this is", &help);
    }
    let named = reader.text(section, "kind");
    let argv = reader.argv(section, "argv");
    let script = reader.text(section, "script");
    let Found { value: kind, span } = named?;
    for (field, belongs_to) in [("argv", "command"), ("script", "scripted")] {
        if let Some((key, _)) = section.table.get_key_value(field).filter(|_| kind != belongs_to) {
            let message = format!("`{field}` in {} is not used by agents of kind `{kind}`", section.label);
            let help = format!("it belongs to `kind = \"{belongs_to}\"`");
            reader.warning("unused-field", &key.span(), message, Some(help));
        }
    }
    match kind.as_str() {
        "command" => {
            if !section.table.contains_key("argv") {
                let why = "an agent of kind `command` is a program to start";
                reader.missing(section, "argv", why, "add `argv = [\"program\", \"argument\"]`");
            }
            argv.map(|argv| Kind::Command { argv })
        }
        "scripted" => {
            if !section.table.contains_key("script") {
                let why = "an agent of kind `scripted` answers from a file";
                reader.missing(section, "script", why, "add `script = \"rehearsal.yaml\"`");
            }
            script.map(|script| Kind::Scripted { script: script.value })
        }
        "human" => Some(Kind::Human),
        known if KINDS.contains(&known) => {
            let message = format!("agents of kind `{known}` are not built in yet; use kind = \"command\"");
            reader.error("not-built", &span, message, None);
            None
        }
        unknown => {
            let message = format!("unknown kind `{unknown}` in {}", section.label);
            reader.error("unknown-value", &span, message, did_you_mean(unknown, &KINDS));
            None
        }
    }
}

fn fallback(reader: &mut Reader<'_>, section: &Section<'_>, own: &str, names: &[&str]) -> Option<String> {
    let Found { value, span } = reader.text(section, "fallback")?;
    if kebab(&value) == kebab(own) {
        let message = format!("`fallback` in {} names the agent itself", section.label);
        reader.error("bad-value", &span, message, Some("name a different agent".to_owned()));
        return None;
    }
    if !names.iter().any(|name| kebab(name) == kebab(&value)) {
        let message =
            format!("`fallback` in {} names `{value}`, which is no agent of this file", section.label);
        reader.error("unknown-value", &span, message, did_you_mean(&value, names));
        return None;
    }
    Some(value)
}

fn budget(reader: &mut Reader<'_>, section: &Section<'_>) -> Budget {
    let Some((key, value)) = section.table.get_key_value("budget") else { return Budget::default() };
    let label = format!("`budget` of {}", section.label);
    let Some(section) = reader.section(label, key.span(), value) else { return Budget::default() };
    reader.only(&section, &["usd", "tokens", "turns"]);
    let usd = reader.number(&section, "usd");
    if let Some(usd) = usd.as_ref().filter(|usd| usd.value < 0.0) {
        let message = format!("`usd` in {} must not be negative", section.label);
        reader.error("bad-value", &usd.span, message, None);
    }
    Budget {
        usd: usd.map(|usd| usd.value).filter(|usd| *usd >= 0.0),
        tokens: reader.whole(&section, "tokens", 0),
        turns: reader.whole(&section, "turns", 1),
    }
}

fn gate(reader: &mut Reader<'_>, section: &Section<'_>) -> Option<Gate> {
    reader.only_rules(section, &GATE_FIELDS);
    if !section.table.contains_key("command") {
        let help = "add `command = [\"program\", \"argument\"]`";
        reader.missing(section, "command", "a gate is a command whose exit code counts", help);
    }
    let command = reader.argv(section, "command");
    let expect = reader.text(section, "expect");
    if let Some(expect) = &expect {
        compiles(reader, section, "expect", &expect.value, &expect.span);
    }
    let gate = Gate {
        command: vec![],
        subset: reader.argv(section, "subset").unwrap_or_default(),
        timeout_ms: reader.deadline(section, "timeout"),
        ok_exit: reader.exit_codes(section, "ok_exit"),
        expect: expect.map(|expect| expect.value),
        within: within(reader, section),
        env: reader.variables(section, "env"),
        value: value(reader, section),
        threshold: reader.number(section, "threshold").map(|threshold| threshold.value),
        comparator: comparator(reader, section),
        isolation: isolation(reader, section),
        network: network(reader, section),
        setup: reader.argv(section, "setup").unwrap_or_default(),
    };
    command.map(|command| Gate { command, ..gate })
}

/// Where a measured value stands. A pattern that does not compile would be looked for as a report file and never be there.
fn value(reader: &mut Reader<'_>, section: &Section<'_>) -> Option<String> {
    let Found { value, span } = reader.text(section, "value")?;
    let ending = value.rsplit_once('.').map(|(_, ending)| ending);
    let is_report = !value.contains(char::is_whitespace) && ending.is_some_and(|it| REPORTS.contains(&it));
    if !is_report {
        compiles(reader, section, "value", &value, &span);
    }
    Some(value)
}

/// The command in which a gate's own command runs.
fn within(reader: &mut Reader<'_>, section: &Section<'_>) -> Vec<String> {
    if let Some(value) = section.table.get("within").filter(|value| value.get_ref().is_str()) {
        let message = format!("`within` in {} must be a list of texts; got a text", section.label);
        let help =
            "write the command around it word by word, like [\"docker\", \"run\", \"--rm\", \"image\"]";
        reader.error("type", &value.span(), message, Some(help.to_owned()));
        return vec![];
    }
    reader.argv(section, "within").unwrap_or_default()
}

fn comparator(reader: &mut Reader<'_>, section: &Section<'_>) -> Option<Comparator> {
    let Found { value, span } = reader.text(section, "comparator")?;
    match value.trim() {
        ">=" => Some(Comparator::AtLeast),
        ">" => Some(Comparator::MoreThan),
        "<=" => Some(Comparator::AtMost),
        "<" => Some(Comparator::LessThan),
        unknown => {
            let message = format!("unknown comparator `{unknown}` in {}", section.label);
            let help = "one of \">=\", \">\", \"<=\", \"<\"";
            reader.error("unknown-value", &span, message, Some(help.to_owned()));
            None
        }
    }
}

fn redact(reader: &mut Reader<'_>, section: &Section<'_>) -> Vec<String> {
    reader.only(section, &["patterns"]);
    let mut patterns = vec![];
    for Found { value, span } in reader.texts(section, "patterns").unwrap_or_default() {
        let Some(regex) = compiles(reader, section, "patterns", &value, &span) else { continue };
        if regex.is_match("") {
            let message =
                format!("the pattern `{value}` of {} matches the empty text, so everywhere", section.label);
            let help = "make it match at least one character";
            reader.error("bad-value", &span, message, Some(help.to_owned()));
        } else {
            patterns.push(value);
        }
    }
    patterns
}

fn compiles(
    reader: &mut Reader<'_>,
    section: &Section<'_>,
    field: &str,
    pattern: &str,
    span: &Range<usize>,
) -> Option<Regex> {
    match Regex::new(pattern) {
        Ok(regex) => Some(regex),
        Err(error) => {
            // The first lines of the error draw the pattern; its last line says what is wrong.
            let said = error.to_string();
            let why = said.lines().last().unwrap_or_default().trim_start_matches("error: ");
            let message = format!("`{field}` in {} is not a valid regular expression: {why}", section.label);
            let help = "put a backslash before signs that mean themselves".to_owned();
            reader.error("bad-pattern", span, message, Some(help));
            None
        }
    }
}

fn cycle(reader: &mut Reader<'_>, section: &Section<'_>) -> Cycle {
    reader.only(section, &["alert"]);
    Cycle { alert: reader.argv(section, "alert").unwrap_or_default() }
}

fn actions(reader: &mut Reader<'_>, section: &Section<'_>) -> Actions {
    reader.only(section, &["syntax", "solution", "pii_off"]);
    let mut syntax = BTreeMap::new();
    if let Some((key, value)) = section.table.get_key_value("syntax")
        && let Some(table) = reader.section("[actions.syntax]".to_owned(), key.span(), value)
    {
        let endings: Vec<String> = table.table.keys().map(|key| key.get_ref().to_string()).collect();
        for ending in endings {
            let argv = reader.argv(&table, &ending).unwrap_or_default();
            syntax.insert(ending.trim_start_matches('.').to_owned(), argv);
        }
    }
    let texts = |reader: &mut Reader<'_>, key: &str| {
        reader.texts(section, key).unwrap_or_default().into_iter().map(|found| found.value).collect()
    };
    Actions { syntax, solution: texts(reader, "solution"), pii_off: texts(reader, "pii_off") }
}

fn roadmap(reader: &mut Reader<'_>, section: &Section<'_>) -> Roadmap {
    reader
        .only(section, &["call", "push", "entry_point", "mutation", "finalize", "step_files", "concurrency"]);
    let default = Roadmap::default();
    Roadmap {
        whole_steps: call(reader, section),
        push: reader.flag(section, "push").unwrap_or(default.push),
        entry_point: reader.text(section, "entry_point").map(|path| path.value),
        mutation: reader.argv(section, "mutation").unwrap_or_default(),
        finalize: reader.flag(section, "finalize").unwrap_or(default.finalize),
        step_files: reader.flag(section, "step_files").unwrap_or(default.step_files),
        concurrency: reader.whole(section, "concurrency", 1),
    }
}

/// Whether an agent is called once for a whole step.
fn call(reader: &mut Reader<'_>, section: &Section<'_>) -> bool {
    let Some(Found { value, span }) = reader.text(section, "call") else { return false };
    match value.as_str() {
        "phase" => false,
        "step" => true,
        other => {
            let message = format!("unknown word `{other}` for `call` in {}", section.label);
            let help = "\"phase\" for one call per phase, \"step\" for one per step";
            reader.error("unknown-value", &span, message, Some(help.to_owned()));
            false
        }
    }
}

fn guard(reader: &mut Reader<'_>, section: &Section<'_>) -> Guard {
    reader.only(section, &["phases", "templates", "stale"]);
    Guard {
        phases: reader.text(section, "phases").map(|path| path.value),
        templates: reader.text(section, "templates").map(|path| path.value),
        stale_ms: reader.deadline(section, "stale"),
    }
}

fn process(reader: &mut Reader<'_>, section: &Section<'_>) -> Process {
    reader.only(section, &["principles", "progress_every", "actor"]);
    let default = Process::default();
    Process {
        principles: reader.text(section, "principles").map(|path| path.value),
        progress_every: reader.whole(section, "progress_every", 1).unwrap_or(default.progress_every),
        actor: reader.text(section, "actor").map_or(default.actor, |actor| actor.value),
    }
}
