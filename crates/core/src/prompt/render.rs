//! Rendering: a template, values and a list of phases become a prompt, or everything that is missing is said at once.
//!
//! A value is put in as it is and never looked at again: braces in it stay braces. What would change the outline of
//! the prompt (a title of a section at the start of a line, a code fence that is not closed) is made harmless, so
//! that no task description can weaken the rules around it (DS-03).

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use serde_json::Value;

use super::boundary;
use super::boundary::Boundary;
use super::library::Library;
use super::outline::Fence;
use super::outline::lines;
use super::outline::names;
use super::outline::title;
use super::phases::PhaseList;
use super::placeholder::Piece;
use super::placeholder::pieces;
use super::placeholder::placeholders;
use super::sections::CONTEXT;
use super::sections::PHASES;
use super::template::PHASE_SECTION;
use super::template::Template;
use crate::closest::closest;
use crate::finding::Finding;
use crate::finding::Place;

/// What placeholders are filled with: `task_id`, or `task_specification.name` as a name or inside a mapping.
pub type Values = BTreeMap<String, Value>;

/// Placeholders that the renderer fills itself. No value can take their place.
pub(super) const COMPUTED: [&str; 10] = [
    PHASE_SECTION,
    "phase_count",
    "phase_table",
    "gate_list",
    "turn_checkpoints",
    "review_checklists",
    "last_phase",
    "schema_version",
    "boundary_rules",
    "allowed_files",
];

/// Renders a template of the library.
pub fn render(
    library: &Library,
    name: &str,
    values: &Values,
    phases: &PhaseList,
) -> Result<String, Vec<Finding>> {
    let template = library.resolve(name)?;
    if template.is_abstract {
        let message = format!("`{}` is only there to be extended", template.name);
        let known = library.names().collect::<Vec<_>>().join(", ");
        return Err(vec![
            Finding::error("template-extends", Place::TOP, message)
                .help(format!("prompts are made from: {known}")),
        ]);
    }
    let mut filler = Filler {
        template: &template,
        values,
        phases,
        titles: library.titles(phases),
        known: library.placeholders(),
        said: BTreeSet::new(),
        findings: vec![],
    };
    let mut whole = template.clone();
    whole.head = filler.fill(&template.head, Where::Head);
    for part in &mut whole.parts {
        if part.inherited {
            filler.left_open(&part.name);
        }
        let place = if part.name == CONTEXT { Where::Context } else { Where::Section };
        part.text = filler.fill(&part.text, place);
    }
    whole.closing = template.closing.as_ref().map(|closing| filler.fill(closing, Where::Section));
    if filler.findings.is_empty() { Ok(whole.text()) } else { Err(filler.findings) }
}

/// Where a value lands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    /// Among the markers.
    Head,
    /// In the words of the task, which may hold anything.
    Context,
    /// Among the rules.
    Section,
}

struct Filler<'a> {
    template: &'a Template,
    values: &'a Values,
    phases: &'a PhaseList,
    titles: Vec<&'a str>,
    known: BTreeSet<String>,
    said: BTreeSet<String>,
    findings: Vec<Finding>,
}

impl Filler<'_> {
    fn fill(&mut self, text: &str, place: Where) -> String {
        let mut out = String::with_capacity(text.len());
        for line in lines(text) {
            let raw = text.get(line.start..line.end).unwrap_or_default();
            let ending = raw.get(line.text.len()..).unwrap_or_default();
            let alone = match pieces(line.text.trim()).as_slice() {
                [Piece::Placeholder(name)] if !line.fenced => Some((*name).to_owned()),
                _ => None,
            };
            let filled = match alone {
                Some(name) => self.block(&name, place),
                None => self.inline(line.text, place, line.fenced),
            };
            out.push_str(&filled);
            out.push_str(ending);
        }
        out
    }

    /// A placeholder alone on its line takes a text of several lines.
    fn block(&mut self, name: &str, place: Where) -> String {
        if let Some(text) = self.computed(name) {
            return text;
        }
        let Some(value) = self.value(name) else { return String::new() };
        let text = in_words(&value);
        self.inspect(name, &text, place);
        if text.trim().is_empty() { "None was given.".to_owned() } else { settled(&text, &self.titles) }
    }

    /// Placeholders inside a line take texts of one line.
    fn inline(&mut self, line: &str, place: Where, fenced: bool) -> String {
        let mut filled = String::with_capacity(line.len());
        for piece in pieces(line) {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Escaped(name) => filled.push_str(&format!("{{{name}}}")),
                Piece::Placeholder(name) => filled.push_str(&self.word(name, place)),
            }
        }
        let plain = title(line).is_some() || fenced;
        let pretends = !plain && (title(&filled).is_some() || Fence::default().step(&filled));
        if pretends { format!("> {filled}") } else { filled }
    }

    fn word(&mut self, name: &str, place: Where) -> String {
        if let Some(text) = self.computed(name) {
            return text;
        }
        // The title of a section that was left open is filled with the name of the section.
        if self.titles.contains(&name) {
            return if name == PHASES { self.phases.title().to_owned() } else { name.to_owned() };
        }
        let Some(value) = self.value(name) else { return String::new() };
        let text = one_line(&match &value {
            Value::Array(items) => items.iter().map(in_words).collect::<Vec<_>>().join("; "),
            other => in_words(other),
        });
        if text.is_empty() {
            self.say(name, format!("the value of `{name}` is empty"), "give it a text");
        }
        if place == Where::Head && (text.contains("--") && text.contains('>')) {
            self.say(
                name,
                format!("the value of `{name}` would end the marker it stands in"),
                "use a path or name without `-->`",
            );
        }
        self.inspect(name, &text, place);
        text
    }

    /// Among the rules a value that looks like a placeholder would pass for one that nobody filled.
    fn inspect(&mut self, name: &str, text: &str, place: Where) {
        if place == Where::Context {
            return;
        }
        if let Some(found) = placeholders(text).find(|found| self.known.contains(*found)) {
            self.say(
                name,
                format!(
                    "the value of `{name}` holds `{{{found}}}`, which would pass for an unfilled placeholder"
                ),
                "write the value itself",
            );
        }
    }

    fn computed(&mut self, name: &str) -> Option<String> {
        let phases = self.phases;
        Some(match name {
            PHASE_SECTION => phases.title().to_owned(),
            "phase_count" => phases.phases.len().to_string(),
            "phase_table" => phases.table(),
            "gate_list" => phases.gates(),
            "turn_checkpoints" => {
                let turns = self.budget("turn_budget");
                phases.checkpoints(turns)
            }
            "review_checklists" => phases.checklists(),
            "last_phase" => phases.last().to_owned(),
            "schema_version" => phases.version.clone(),
            "boundary_rules" => {
                let (task_id, step_file) =
                    (self.word("task_id", Where::Section), self.word("step_file_path", Where::Section));
                let patterns = self.patterns();
                let boundary =
                    Boundary { task_id: &task_id, step_file: &step_file, patterns: patterns.as_deref() };
                boundary::rules(&boundary, phases)
            }
            "allowed_files" => boundary::allowed_files(self.patterns().as_deref()),
            "turn_budget" | "minutes_budget" => self.budget(name).to_string(),
            _ => return None,
        })
    }

    /// A whole number above zero.
    fn budget(&mut self, name: &str) -> u64 {
        let Some(value) = self.value(name) else { return 1 };
        let number = match &value {
            Value::Number(number) => number.as_u64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        number.filter(|number| *number > 0 && *number <= BUDGET_MAX).unwrap_or_else(|| {
            let message = format!("the value of `{name}` is not a whole number from 1 to {BUDGET_MAX}");
            self.say(name, message, "write a number, such as 50");
            1
        })
    }

    /// The file patterns of the step, where it declares any.
    fn patterns(&mut self) -> Option<Vec<String>> {
        let declared = ["allowed_file_patterns", "task_specification.allowed_file_patterns"];
        let value = declared.into_iter().find_map(|name| lookup(self.values, name))?;
        let patterns: Vec<String> = match value {
            Value::Array(items) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            Value::String(one) => vec![one.clone()],
            _ => vec![],
        };
        if patterns.iter().all(|pattern| pattern.trim().is_empty()) {
            self.say(
                "allowed_file_patterns",
                "`allowed_file_patterns` is declared and empty, so that no file could be changed".to_owned(),
                "name the patterns of the files that this step may change, or leave the field out",
            );
        }
        Some(patterns)
    }

    fn value(&mut self, name: &str) -> Option<Value> {
        let found = lookup(self.values, name).or_else(|| self.template.defaults.get(name));
        if found.is_none() {
            let near = self.values.keys().map(String::as_str);
            let help = match closest(name, near).filter(|near| !self.known.contains(*near)) {
                Some(near) => format!("`{near}` was given; did you mean `{name}`?"),
                None => format!("give a value for `{name}`"),
            };
            self.say(name, format!("no value was given for `{{{name}}}`"), &help);
        }
        found.cloned()
    }

    fn left_open(&mut self, name: &str) {
        let message = format!("the section `{{{name}}}` is left open, and no template before has it");
        self.say(name, message, "write the section out, or extend a template that has it");
    }

    /// Each name is spoken of once, however often it occurs.
    fn say(&mut self, name: &str, message: String, help: &str) {
        if self.said.insert(name.to_owned()) {
            self.findings.push(Finding::error("value", Place::TOP, message).help(help));
        }
    }
}

/// No budget is larger than this, so that a slip in a number shows.
const BUDGET_MAX: u64 = 10_000;

/// A value by its whole name, or by the path that its points make. Null is the same as absent.
pub fn lookup<'v>(values: &'v Values, name: &str) -> Option<&'v Value> {
    let present = |value: &&Value| !value.is_null();
    if let Some(value) = values.get(name).filter(present) {
        return Some(value);
    }
    let mut keys = name.split('.');
    let first = values.get(keys.next()?)?;
    keys.try_fold(first, |value, key| value.get(key)).filter(present)
}

/// A value as text: lists become bullets.
fn in_words(value: &Value) -> String {
    let bullet = |text: String| format!("- {}", text.trim().replace('\n', "\n  "));
    match value {
        Value::String(text) => text.replace("\r\n", "\n"),
        Value::Array(items) => items.iter().map(|item| bullet(plain(item))).collect::<Vec<_>>().join("\n"),
        Value::Object(fields) => {
            let line = |(key, value): (&String, &Value)| bullet(format!("{key}: {}", plain(value)));
            fields.iter().map(line).collect::<Vec<_>>().join("\n")
        }
        other => plain(other),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Words in one line.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text without anything that would pass for a section of its own: such lines become quotations, and a fence that
/// was left open is closed.
fn settled(text: &str, titles: &[&str]) -> String {
    let mut fence = Fence::default();
    let mut out = vec![];
    for line in text.trim_end().lines() {
        let line = line.trim_start_matches('\u{FEFF}');
        let inside = fence.step(line);
        let pretends =
            !inside && title(line).is_some_and(|title| titles.iter().any(|known| names(title.words, known)));
        out.push(if pretends { format!("> {line}") } else { line.to_owned() });
    }
    out.extend(fence.closing());
    out.join("\n")
}
