//! `--answers FILE`: answers prepared in a file, first match wins, each used once unless it says `repeat`.

use std::path::Path;

use regex::Regex;
use seriatim_core::doc;
use seriatim_core::doc::Node;
use seriatim_core::finding::Finding;
use seriatim_core::finding::has_errors;
use seriatim_engine::listen::Posed;
use seriatim_engine::listen::Said;

use crate::error::CommandError;
use crate::error::Result;
use crate::render;

const FIELDS: [&str; 5] = ["match", "choose", "text", "by", "repeat"];

#[derive(Debug)]
struct Line {
    pattern: Option<Regex>,
    choose: String,
    text: Option<String>,
    by: Option<String>,
    repeat: bool,
    used: bool,
}

/// The prepared answers, and how far they are used up.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    lines: Vec<Line>,
}

impl Answers {
    pub(crate) fn read(path: &Path) -> Result<Answers> {
        let name = path.display().to_string();
        let bytes = std::fs::read(path)
            .map_err(|e| CommandError::usage(format!("the answers in {name} cannot be read: {e}")))
            .map_err(|error| error.hint("name a file that is there and that you may read"))?;
        let (root, mut findings) = doc::parse(&bytes, &doc::Limits::default());
        let mut lines = Vec::new();
        if let Some(root) = &root {
            match root.as_seq() {
                Some(items) => lines = items.iter().filter_map(|item| line(item, &mut findings)).collect(),
                None => findings.push(
                    Finding::error(
                        "type",
                        root.place,
                        format!("expected a list of answers, found {}", root.in_words()),
                    )
                    .help("each entry is `- match: \"...\"` with `choose: ...`"),
                ),
            }
        }
        if has_errors(&findings) {
            render::findings::to_stderr(&name, &String::from_utf8_lossy(&bytes), &findings);
            return Err(CommandError::usage(format!("the answers in {name} cannot be used")));
        }
        Ok(Answers { lines })
    }

    /// The first answer that fits, and marks it as used.
    pub(crate) fn take(&mut self, posed: &Posed) -> Option<Said> {
        let question = &posed.question;
        let fits = |line: &Line| match &line.pattern {
            None => true,
            Some(pattern) => pattern.is_match(&question.header) || pattern.is_match(&question.question),
        };
        let line = self.lines.iter_mut().find(|l| !l.used && fits(l))?;
        line.used = !line.repeat;
        let by = line.by.clone().unwrap_or_else(crate::session::whoami);
        Some(Said { choice: line.choose.clone(), text: line.text.clone(), by })
    }

    pub(crate) fn left(&self) -> bool {
        self.lines.iter().any(|l| !l.used)
    }
}

fn line(item: &Node, findings: &mut Vec<Finding>) -> Option<Line> {
    let Some(entries) = item.as_map() else {
        let what = format!("expected an answer with `choose`, found {}", item.in_words());
        findings.push(Finding::error("type", item.place, what));
        return None;
    };
    for (key, _) in entries.iter().filter(|(k, _)| !FIELDS.contains(&k.text.as_str())) {
        let what = format!("unknown field `{}` in an answer", key.text);
        findings.push(
            Finding::error("unknown-field", key.place, what).help(format!("known: {}", FIELDS.join(", "))),
        );
    }
    wrong_types(item, findings);
    let text = |name: &str| item.get(name).and_then(Node::scalar_text);
    let pattern = match text("match").map(|p| Regex::new(&p)) {
        None => None,
        Some(Ok(pattern)) => Some(pattern),
        Some(Err(e)) => {
            let place = item.get("match").map_or(item.place, |n| n.place);
            findings.push(Finding::error("bad-pattern", place, format!("not a regular expression: {e}")));
            None
        }
    };
    let Some(choose) = text("choose") else {
        findings.push(Finding::error("missing-field", item.place, "an answer needs `choose`"));
        return None;
    };
    let repeat = item.get("repeat").and_then(Node::as_bool).unwrap_or(false);
    Some(Line { pattern, choose, text: text("text"), by: text("by"), repeat, used: false })
}

/// A field of the wrong type would count as absent, and an answer without `match` fits every question.
fn wrong_types(item: &Node, findings: &mut Vec<Finding>) {
    for name in ["match", "choose", "text", "by"] {
        if let Some(node) = item.get(name).filter(|node| node.scalar_text().is_none()) {
            let what = format!("`{name}` must be a text, but this is {}", node.in_words());
            findings.push(Finding::error("type", node.place, what).help("write it in quotes"));
        }
    }
    if let Some(node) = item.get("repeat").filter(|node| node.as_bool().is_none()) {
        let what = format!("`repeat` must be true or false, but this is {}", node.in_words());
        findings.push(Finding::error("type", node.place, what).help("write `repeat: true`"));
    }
}
