//! Templates: front matter, a head of markers, sections, and what one takes over from another.

use std::collections::BTreeMap;

use serde_json::Value;

use super::outline::Fence;
use super::outline::Line;
use super::outline::lines;
use super::outline::names;
use super::outline::title;
use super::sections::PHASES;
use crate::doc;
use crate::doc::At;
use crate::doc::Fields;
use crate::doc::Limits;
use crate::doc::Node;
use crate::doc::Sink;
use crate::finding::Finding;
use crate::finding::Place;

/// How the files of templates end.
pub const SUFFIX: &str = ".template.md";
/// The placeholder that stands for the title of the list of phases.
pub const PHASE_SECTION: &str = "phase_section";

/// A template as it was written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Template {
    /// The name of its file without the ending: `execute-step`.
    pub name: String,
    /// The template from which it takes what it does not say itself (DS-72).
    pub extends: Option<At<String>>,
    /// The command whose prompts are made from it.
    pub command: Option<String>,
    /// Only there to be extended.
    pub is_abstract: bool,
    /// The last line of the prompt (DS-114).
    pub closing: Option<String>,
    /// Values for placeholders that nobody fills.
    pub defaults: BTreeMap<String, Value>,
    /// Everything before the first section.
    pub head: String,
    pub parts: Vec<Part>,
}

/// One section of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The name of the section.
    pub name: String,
    /// `## {SECTION}` with nothing under it: the section of the parent is put here.
    pub inherited: bool,
    /// Title and body as they were written.
    pub text: String,
}

impl Template {
    /// Reads a template; `known` are the names of all sections there can be.
    pub fn parse(name: &str, text: &str, known: &[&str]) -> (Template, Vec<Finding>) {
        let text = text.trim_start_matches('\u{FEFF}');
        let mut template = Template { name: name.to_owned(), ..Template::default() };
        let mut findings = vec![];
        let body = match doc::front_matter(text) {
            Some((yaml, body)) => {
                findings = template.read_front(text.get(yaml).unwrap_or_default());
                text.get(body..).unwrap_or_default()
            }
            None => text,
        };
        template.read_body(body, known);
        (template, findings)
    }

    fn read_front(&mut self, yaml: &str) -> Vec<Finding> {
        let (root, mut findings) = doc::parse(yaml.as_bytes(), &Limits::default());
        let sink = Sink::default();
        if let Some(root) = root.filter(|root| !root.is_null())
            && let Some(mut fields) = Fields::of(&root, "the head of a template", &sink)
        {
            fields.ignore(&["name", "template", "version", "description"]);
            let plain = |text: Option<At<String>>| text.map(|text| text.value);
            self.extends =
                fields.text("extends").map(|parent| At::new(stem(&parent).to_owned(), parent.place));
            self.command = plain(fields.text("command"));
            self.closing = plain(fields.text("closing"));
            self.is_abstract = fields.flag("abstract").is_some_and(|flag| flag.value);
            for (key, node) in fields.node("defaults").and_then(Node::as_map).unwrap_or_default() {
                self.defaults.insert(key.text.clone(), node.to_json());
            }
            fields.finish();
        }
        findings.extend(sink.into_findings());
        // The YAML begins on the second line of the file.
        for finding in &mut findings {
            moved(&mut finding.place);
        }
        if let Some(extends) = &mut self.extends {
            moved(&mut extends.place);
        }
        findings
    }

    fn read_body(&mut self, body: &str, known: &[&str]) {
        let mut current: Option<Part> = None;
        for line in lines(body) {
            let raw = body.get(line.start..line.end).unwrap_or_default();
            if let Some((name, open)) = section_of(&line, known) {
                self.parts.extend(current.take());
                current = Some(Part { name, inherited: open, text: raw.to_owned() });
                continue;
            }
            match &mut current {
                Some(part) => {
                    part.inherited &= line.text.trim().is_empty() || is_rule(line.text);
                    part.text.push_str(raw);
                }
                None => self.head.push_str(raw),
            }
        }
        self.parts.extend(current);
    }

    /// This template over its parent: what it says replaces what the parent says, section by section. Sections
    /// that only this one has come behind the one before them.
    #[must_use]
    pub(super) fn over(&self, parent: &Template) -> Template {
        let mut whole = Template {
            name: self.name.clone(),
            extends: None,
            command: self.command.clone().or_else(|| parent.command.clone()),
            is_abstract: self.is_abstract,
            closing: self.closing.clone().or_else(|| parent.closing.clone()),
            defaults: parent.defaults.clone(),
            head: if self.head.trim().is_empty() { parent.head.clone() } else { self.head.clone() },
            parts: parent.parts.clone(),
        };
        whole.defaults.extend(self.defaults.iter().map(|(key, value)| (key.clone(), value.clone())));
        let mut next = 0;
        for part in &self.parts {
            let at = whole.parts.iter().position(|known| known.name == part.name);
            match at.and_then(|at| whole.parts.get_mut(at)) {
                Some(known) if !part.inherited => *known = part.clone(),
                Some(_) => {}
                None => whole.parts.insert(next.min(whole.parts.len()), part.clone()),
            }
            next = at.unwrap_or(next) + 1;
        }
        whole
    }

    /// The whole text: head, sections, and the closing line.
    pub fn text(&self) -> String {
        let mut text = self.head.trim_start_matches(['\r', '\n']).to_owned();
        for part in &self.parts {
            separate(&mut text);
            text.push_str(part.text.trim_end());
            text.push('\n');
        }
        if let Some(closing) = &self.closing {
            let body = text.trim_end().trim_end_matches("---").trim_end().len();
            text.truncate(body);
            text.push_str("\n\n---\n\n");
            text.push_str(closing);
            text.push('\n');
        }
        text
    }

    /// Whether a code fence is left open at the end of a section: it would swallow the next one.
    pub(super) fn open_fences(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(|part| {
            let mut fence = Fence::default();
            for line in lines(&part.text) {
                fence.step(line.text);
            }
            fence.closing().is_some()
        })
    }
}

/// The name of a template from that of its file.
pub fn stem(file: &str) -> &str {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    name.strip_suffix(SUFFIX).unwrap_or(name)
}

/// Exactly one blank line between two sections.
fn separate(text: &mut String) {
    let bare = text.trim_end().len();
    text.truncate(bare);
    if !text.is_empty() {
        text.push_str("\n\n");
    }
}

fn section_of(line: &Line<'_>, known: &[&str]) -> Option<(String, bool)> {
    let title = title(line.text).filter(|_| !line.fenced)?;
    if title.open && title.words == PHASE_SECTION {
        return Some((PHASES.to_owned(), false));
    }
    let name = known.iter().filter(|name| names(title.words, name)).max_by_key(|name| name.len())?;
    Some(((*name).to_owned(), title.open))
}

fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 3 && line.chars().all(|c| c == '-')
}

/// The place in the file of a place in its front matter.
fn moved(place: &mut Place) {
    const FIRST_LINE: u32 = 4;
    place.line += 1;
    place.start += FIRST_LINE;
    place.end += FIRST_LINE;
}
