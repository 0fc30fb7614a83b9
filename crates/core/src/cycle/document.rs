//! The cycle document: what a stage looks like in it, and how a change of what was written before is found.

use serde::Deserialize;
use serde::Serialize;

use super::Block;
use super::block;
use crate::finding::Finding;
use crate::finding::Place;
use crate::hash::Hash;
use crate::time::Utc;

/// Where the document of the current cycle is.
pub const CURRENT: &str = "docs/context/current_cycle.md";

/// The sentence of every fresh document, by which a document without a goal is recognised.
const NOTICE: &str =
    "Entries are added at the end. What stands here already is not changed while the cycle is active.";

/// What one role adds to the document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage {
    /// One line.
    pub title: String,
    /// Markdown.
    pub body: String,
    pub block: Block,
}

/// The beginning of a fresh document.
pub fn header(project: &str, number: u32, day: &str) -> String {
    format!("# Cycle {number:03}: {}\n\nBegun on {day}. {NOTICE}\n", one_line(project))
}

/// One entry of the document, to be put at its end. Exactly one block is in it, whatever the body says.
pub fn render_stage(n: u32, at: Utc, stage: &Stage, project: &str) -> String {
    let Stage { title, body, block } = stage;
    let body = settled(body);
    let gap = if body.is_empty() { "" } else { "\n\n" };
    format!(
        "\n---\n\n## {n}. {}: {}\n\n*{}*\n\n{body}{gap}{}",
        block.role,
        one_line(title),
        at.seconds(),
        block.render(project, n)
    )
}

/// A text inside a code fence that nothing in it can end.
pub fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}")
}

/// A list, one bullet for each text; further lines of a text are indented below it.
pub fn bullets<T: AsRef<str>>(items: &[T]) -> String {
    let bullet = |item: &T| format!("- {}", item.as_ref().trim().replace('\n', "\n  "));
    items.iter().map(bullet).collect::<Vec<_>>().join("\n")
}

/// For each line of `text`, whether it is inside a code fence or one of its borders.
pub(super) fn fences(text: &str) -> Vec<bool> {
    let mut open = None;
    text.split_inclusive('\n').map(|line| step(&mut open, line)).collect()
}

/// The sign of a fence and how often it is repeated.
type Fence = (char, usize);

fn step(open: &mut Option<Fence>, line: &str) -> bool {
    let line = line.trim();
    let border = border(line);
    match (*open, border) {
        (None, Some(opening)) => {
            *open = Some(opening);
            true
        }
        (None, None) => false,
        (Some((sign, least)), found) => {
            // A closing border has at least as many signs and nothing behind them.
            if found.is_some_and(|(s, n)| s == sign && n >= least && line.chars().all(|c| c == sign)) {
                *open = None;
            }
            true
        }
    }
}

/// A line that may begin or end a fence.
fn border(line: &str) -> Option<Fence> {
    let sign = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let count = line.chars().take_while(|c| *c == sign).count();
    let info_is_plain = sign == '~' || !line[count..].contains('`');
    (count >= 3 && info_is_plain).then_some((sign, count))
}

/// `body` without anything that would pass for a block of its own: such lines become quotations, and a fence that
/// was left open is closed.
fn settled(body: &str) -> String {
    let mut open = None;
    let mut lines: Vec<String> = vec![];
    for line in body.trim_end().lines() {
        let line = line.trim_end_matches('\r');
        let inside = step(&mut open, line);
        let pretends = !inside && block::reads_as_block(line);
        lines.push(if pretends { format!("> {line}") } else { line.to_owned() });
    }
    if let Some((sign, count)) = open {
        lines.push(sign.to_string().repeat(count));
    }
    let first = lines.iter().position(|line| !line.trim().is_empty()).unwrap_or(lines.len());
    lines[first..].join("\n")
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a new cycle can begin in this document (CY-23): it is empty, or holds a header or a template and
/// nothing that anybody said yet.
pub fn is_clear(text: &str) -> bool {
    let text = text.trim_start_matches('\u{FEFF}');
    let blocks = block::read_all(text);
    let lives = |b: &block::FoundBlock| b.mark.is_some() && !is_placeholder(&b.summary);
    if blocks.iter().any(lives) {
        return false;
    }
    // Blocks that say nothing are those of a template.
    !blocks.is_empty() || says_nothing(text)
}

/// Everything that is wrong with a cycle document: its blocks, or that it has none although something is said.
pub fn check(text: &str) -> Vec<Finding> {
    let blocks = block::read_all(text);
    if blocks.is_empty() && !is_clear(text) {
        let finding = Finding::warning("signal-block", Place::TOP, "the document has no SIGNAL BLOCK");
        return vec![finding.help("end each entry with one, so that it is clear who comes next")];
    }
    blocks.into_iter().flat_map(|block| block.findings).collect()
}

/// Only headings, rules, comments, placeholders and our own notice.
fn says_nothing(text: &str) -> bool {
    let mut in_comment = false;
    text.lines().map(str::trim).all(|line| {
        let opens = line.starts_with("<!--");
        if in_comment || opens {
            in_comment = !line.contains("-->");
            return in_comment || line.ends_with("-->");
        }
        let bare = line.trim_start_matches(['-', '*', '+', '>', ' ']).trim_end_matches(['*', ' ']);
        let value = bare.split_once(':').map_or(bare, |(_, value)| value).trim_matches(['*', ' ']);
        line.starts_with('#') || value.is_empty() || is_placeholder(value) || line.ends_with(NOTICE)
    })
}

/// `[what to write here]`
fn is_placeholder(text: &str) -> bool {
    let text = text.trim();
    text.starts_with('[') && !text.contains("](")
}

/// How far the document was written, so that a change of what stands there is found (CY-17, E-27).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prefix {
    pub len: u64,
    pub hash: Hash,
    /// Four bytes of each line's digest: enough to say where a change is, once the hash said that there is one.
    lines: Vec<u32>,
}

/// Something that was written before is not there as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("what was written before has changed from line {at_line} on (byte {at_byte})")]
pub struct Tampered {
    /// The first line that differs, from 1.
    pub at_line: u32,
    /// Where that line begins, from 0.
    pub at_byte: u64,
}

impl Prefix {
    pub fn of(bytes: &[u8]) -> Prefix {
        let lines = bytes.split_inclusive(|b| *b == b'\n').map(line_digest).collect();
        Prefix { len: bytes.len() as u64, hash: Hash::of(bytes), lines }
    }

    /// Whether `bytes` begin with what was written; what follows is free.
    pub fn check(&self, bytes: &[u8]) -> Result<(), Tampered> {
        let len = usize::try_from(self.len).unwrap_or(usize::MAX);
        let kept = bytes.get(..len);
        if kept.is_some_and(|kept| Hash::of(kept) == self.hash) {
            return Ok(());
        }
        let mut at = Tampered { at_line: 1, at_byte: 0 };
        let mut known = self.lines.iter();
        for line in kept.unwrap_or(bytes).split_inclusive(|b| *b == b'\n') {
            if known.next() != Some(&line_digest(line)) {
                break;
            }
            at = Tampered { at_line: at.at_line.saturating_add(1), at_byte: at.at_byte + line.len() as u64 };
        }
        Err(at)
    }
}

fn line_digest(line: &[u8]) -> u32 {
    let Hash([a, b, c, d, ..]) = Hash::of(line);
    u32::from_be_bytes([a, b, c, d])
}

#[cfg(test)]
mod tests;
