//! Reads the blocks of all generations that are found in real documents.
//!
//! A block begins with a heading outside of any code fence: what is quoted in a fence, such as a diff, signals
//! nothing (E-36). Its keys follow, as bullets or in bold; what cannot be understood is a finding and never
//! makes the rest unreadable.

use crate::closest::closest;
use crate::cycle::document::fences;
use crate::finding::Finding;
use crate::finding::Place;
use crate::finding::Severity;

use super::Mark;
use super::Refused;
use super::Role;
use super::is_key_char;
use super::permitted;

/// Longer words before a colon are sentences.
pub(super) const KEY_LEN_MAX: usize = 40;

/// The forms in which blocks were written over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// One line: `Agent=Actor | Step=2 | Next=Judge`.
    A,
    /// Four bullets, then a signature: the form of the seed, and the one that is written here.
    B,
    /// Bullets with a summary of the loop or goal, confidence and context.
    C,
    /// Keys in bold, or bare, without bullets.
    Drift,
}

/// A block as it was found.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundBlock {
    /// From the heading to the last line of the keys.
    pub place: Place,
    pub generation: Generation,
    pub role: Option<Role>,
    /// The result as it was written; empty where there is none.
    pub result: String,
    pub mark: Option<Mark>,
    pub summary: String,
    pub next: Option<Role>,
    pub confidence: Option<u32>,
    pub risk: Option<String>,
    pub signature: Option<String>,
    /// The other keys, in order.
    pub extra: Vec<(String, String)>,
    pub findings: Vec<Finding>,
}

/// One line of the text, without its line break.
#[derive(Clone, Copy)]
struct Line<'t> {
    text: &'t str,
    start: usize,
    /// Inside a code fence, or its border.
    fenced: bool,
}

/// A key with its value.
struct Entry<'t> {
    key: &'t str,
    value: &'t str,
    bullet: bool,
    /// The number of its line, from 0.
    line: usize,
}

/// All blocks of a document, in order.
pub fn read_all(text: &str) -> Vec<FoundBlock> {
    scan(text).into_iter().map(|(block, _)| block).collect()
}

/// The block that ends a stage. One that is followed by anything but its signature does not count.
pub fn tail_block(stage_text: &str) -> Option<FoundBlock> {
    let (block, end) = scan(stage_text).pop()?;
    let rest = lines(stage_text);
    rest[end..].iter().all(|line| is_blank_or_rule(line.text)).then_some(block)
}

/// Whether a line outside of a fence would begin a block.
pub(in crate::cycle) fn reads_as_block(line: &str) -> bool {
    is_heading(line) || one_line(line).is_some()
}

/// The blocks, each with the number of the first line behind it and its signature.
fn scan(text: &str) -> Vec<(FoundBlock, usize)> {
    let lines = lines(text);
    let mut found = vec![];
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        if line.fenced {
            at += 1;
        } else if let Some(pairs) = one_line(line.text) {
            found.push((finish_one_line(line, at, &pairs), at + 1));
            at += 1;
        } else if is_heading(line.text) {
            let (block, end) = finish_block(&lines, at);
            found.push((block, end));
            at += 1;
        } else {
            at += 1;
        }
    }
    found
}

fn lines(text: &str) -> Vec<Line<'_>> {
    let mut start = 0;
    let fenced = fences(text);
    let split = text.split_inclusive('\n').zip(fenced).map(|(whole, fenced)| {
        let line = Line { text: whole.trim_end_matches(['\n', '\r']), start, fenced };
        start += whole.len();
        line
    });
    split.collect()
}

/// `### SIGNAL BLOCK` with two to four signs and any words behind it, but not `SIGNAL BLOCKS`.
fn is_heading(line: &str) -> bool {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    (2..=4).contains(&level)
        && title
            .trim_start()
            .strip_prefix("SIGNAL BLOCK")
            .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

/// The pairs of a block of one line. A signature begins with the project instead.
fn one_line(line: &str) -> Option<Vec<(&str, &str)>> {
    let line = line.trim().trim_matches(['`', '*']);
    if !line.starts_with("Agent") || !line.contains('|') {
        return None;
    }
    let pairs: Vec<(&str, &str)> = line
        .split('|')
        .filter_map(|part| part.split_once('='))
        .map(|(key, value)| (key.trim(), value.trim()))
        .collect();
    let has = |wanted: &str| pairs.iter().any(|(key, _)| *key == wanted);
    (has("Agent") && has("Next")).then_some(pairs)
}

fn finish_one_line(line: Line<'_>, number: usize, pairs: &[(&str, &str)]) -> FoundBlock {
    let place = place(number, line.start, line.start + line.text.len());
    let entries: Vec<Entry<'_>> =
        pairs.iter().map(|(key, value)| Entry { key, value, bullet: false, line: number }).collect();
    let mut block = FoundBlock { generation: Generation::A, ..understood(&entries, place) };
    check(&mut block, &entries);
    block
}

/// Reads the block whose heading is the line `at`.
fn finish_block(lines: &[Line<'_>], at: usize) -> (FoundBlock, usize) {
    let (entries, end) = entries(lines, at + 1);
    let last = lines[end.saturating_sub(1).max(at)];
    let place = place(at, lines[at].start, last.start + last.text.len());
    let (signature, behind) = signature(lines, end);
    let generation = generation(&entries);
    let mut block = FoundBlock { generation, signature, ..understood(&entries, place) };
    check(&mut block, &entries);
    (block, behind)
}

/// The keys below a heading, and the number of the first line that is no longer theirs.
fn entries<'t>(lines: &[Line<'t>], from: usize) -> (Vec<Entry<'t>>, usize) {
    let mut entries: Vec<Entry<'t>> = vec![];
    let mut end = from;
    // Some write the keys into a fence of their own, right below the heading.
    let first = lines[from..].iter().position(|line| !line.text.trim().is_empty()).map(|i| from + i);
    let in_fence = first.is_some_and(|i| lines[i].fenced);
    for (number, line) in lines.iter().enumerate().skip(from) {
        let text = line.text.trim_end();
        if text.is_empty() {
            continue;
        }
        if in_fence && line.fenced {
            entries.extend(entry(text, number));
            end = number + 1;
            continue;
        }
        if in_fence || line.fenced || text.starts_with('#') || is_blank_or_rule(text) || is_signature(text) {
            break;
        }
        let found = entry(text, number);
        let goes_on = text.starts_with([' ', '\t', '-', '*', '+']);
        if found.is_none() && !goes_on {
            break;
        }
        entries.extend(found);
        end = number + 1;
    }
    (entries, end)
}

/// `- Key: value`, `**Key**: value`, or a bare key of those that every block has.
fn entry(line: &str, number: usize) -> Option<Entry<'_>> {
    let (bullet, rest) = match line.strip_prefix("- ") {
        Some(rest) => (true, rest.trim_start()),
        None => (false, line.trim_end()),
    };
    let bare = rest.trim_start_matches('*');
    let opened = rest.len() > bare.len();
    let (head, value) = bare.split_once(':')?;
    let key = head.trim_end().trim_end_matches('*').trim_end();
    let closed_late = opened && !head.contains('*');
    let value = if closed_late { value.trim_start_matches('*') } else { value };
    let fits = key.len() <= KEY_LEN_MAX
        && key.starts_with(|c: char| c.is_ascii_alphabetic())
        && key.chars().all(is_key_char)
        && !line.starts_with([' ', '\t']);
    let known = matches!(key, "Agent" | "Result" | "Next" | "Confidence" | "Risk") || is_summary(key);
    (fits && (bullet || opened || known)).then_some(Entry { key, value: value.trim(), bullet, line: number })
}

/// The signature of the block whose keys end before line `from`: the first before the next block. The second
/// answer is the number of the first line behind the block and, where it follows at once, the signature.
fn signature(lines: &[Line<'_>], from: usize) -> (Option<String>, usize) {
    let mut adjacent = true;
    for (number, line) in lines.iter().enumerate().skip(from) {
        if line.fenced {
            adjacent = false;
            continue;
        }
        if reads_as_block(line.text) {
            break;
        }
        if is_blank_or_rule(line.text) {
            continue;
        }
        if !is_signature(line.text) {
            adjacent = false;
            continue;
        }
        let (text, end) = signature_text(lines, number);
        return (text, if adjacent { end } else { from });
    }
    (None, from)
}

/// What is signed: on the line itself, or on the one below its heading.
fn signature_text(lines: &[Line<'_>], number: usize) -> (Option<String>, usize) {
    let words = lines[number].text.trim_start_matches(['#', ' ', '*', '-']);
    let own = words.trim_start_matches("Signature").trim_matches([':', '*', ' ', '`']);
    if !own.is_empty() {
        return (Some(own.to_owned()), number + 1);
    }
    let below = lines.iter().enumerate().skip(number + 1).find(|(_, line)| !line.text.trim().is_empty());
    match below.filter(|(_, line)| !line.fenced && !line.text.starts_with('#')) {
        Some((below, line)) => (Some(line.text.trim().to_owned()), below + 1),
        None => (None, number + 1),
    }
}

fn is_signature(line: &str) -> bool {
    let words = line.trim_start_matches(['#', ' ', '*', '-']);
    let marked = words.len() < line.len() || line.starts_with("Signature:");
    marked && words.strip_prefix("Signature").is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

fn is_blank_or_rule(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || (line.len() >= 3 && line.bytes().all(|b| b == b'-'))
}

fn is_summary(key: &str) -> bool {
    matches!(key, "Step Summary" | "Loop Summary" | "Goal Summary" | "Summary")
}

fn generation(entries: &[Entry<'_>]) -> Generation {
    let is = |wanted: &str| entries.iter().any(|entry| entry.key == wanted);
    let bullets = entries.iter().filter(|e| matches!(e.key, "Agent" | "Result" | "Next")).all(|e| e.bullet);
    match () {
        () if !bullets => Generation::Drift,
        () if is("Step Summary") || !(entries.iter().any(|e| is_summary(e.key)) || is("Confidence")) => {
            Generation::B
        }
        () => Generation::C,
    }
}

/// The block that the keys make, without findings; its generation is left to the caller.
fn understood(entries: &[Entry<'_>], place: Place) -> FoundBlock {
    let value = |wanted: &dyn Fn(&str) -> bool| {
        entries.iter().find(|entry| wanted(entry.key)).map(|entry| entry.value.to_owned())
    };
    let named = |name: &'static str| value(&|key: &str| key == name);
    let result = named("Result").map(|text| plain(&text).to_owned()).unwrap_or_default();
    let digits = |text: String| text.chars().take_while(char::is_ascii_digit).collect::<String>();
    let main = ["Agent", "Result", "Next", "Confidence"];
    FoundBlock {
        place,
        generation: Generation::B,
        role: named("Agent").and_then(|text| role(first_word(&text))),
        mark: mark(first_word(&result)),
        result,
        summary: value(&is_summary).unwrap_or_default(),
        next: named("Next").and_then(|text| role(first_word(&text))),
        confidence: named("Confidence").and_then(|text| digits(text).parse().ok()),
        risk: named("Risk").or_else(|| named("Risk Level")).map(|text| first_word(&text).to_lowercase()),
        signature: None,
        extra: entries
            .iter()
            .filter(|entry| !main.contains(&entry.key) && !is_summary(entry.key))
            .map(|entry| (entry.key.to_owned(), entry.value.to_owned()))
            .collect(),
        findings: vec![],
    }
}

/// A value without the marks of emphasis and code.
fn plain(value: &str) -> &str {
    value.trim_matches(['*', '`', ' '])
}

/// `Planner` of `Planner (for Loop 2)`.
fn first_word(value: &str) -> &str {
    let value = plain(value);
    let end = value.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(value.len());
    &value[..end]
}

fn role(word: &str) -> Option<Role> {
    Role::ALL.into_iter().find(|role| role.word().eq_ignore_ascii_case(word))
}

fn mark(word: &str) -> Option<Mark> {
    Mark::ALL.into_iter().find(|mark| mark.word().eq_ignore_ascii_case(word))
}

/// Says what is wrong with a block.
fn check(block: &mut FoundBlock, entries: &[Entry<'_>]) {
    let place = block.place;
    let has = |wanted: &dyn Fn(&str) -> bool| entries.iter().any(|entry| wanted(entry.key));
    let mut findings = vec![];
    let one_line = block.generation == Generation::A;
    for key in ["Agent", "Result", "Next"] {
        let excused = one_line && key == "Result";
        if !excused && !has(&|k: &str| k == key) {
            let message = format!("the block has no line `{key}`");
            findings.push(Finding::error("signal-block", place, message).help(format!("add `- {key}: ...`")));
        }
    }
    if !one_line && !has(&is_summary) {
        let finding = Finding::error("signal-block", place, "the block has no line `Step Summary`");
        findings.push(finding.help("add `- Step Summary: ...` on one line"));
    }
    findings.extend(unknown(block, entries));
    if let (Some(role), Some(mark), Some(next)) = (block.role, block.mark, block.next)
        && let Err(refused) = permitted(role, mark, next)
    {
        // Other generations had other ways from one role to the next; who may give a result never changed.
        let own = matches!(block.generation, Generation::A | Generation::B);
        let severity = match refused {
            Refused::Next { .. } if !own => Severity::Warning,
            _ => Severity::Error,
        };
        findings.push(Finding { severity, ..Finding::error("not-permitted", place, refused.to_string()) });
    }
    if block.generation == Generation::B && !in_a_row(entries) && findings.is_empty() {
        let message = "the lines Agent, Result, Step Summary and Next do not follow one another";
        let finding = Finding::warning("signal-block", place, message);
        findings.push(finding.help("put further lines behind `Next`"));
    }
    if block.generation == Generation::B && block.role == Some(Role::Human) && block.signature.is_none() {
        let finding = Finding::warning("signature", place, "the block of the Human is not signed");
        findings.push(finding.help("add `# Signature` and `Project=... | Agent=Human | Step=...`"));
    }
    block.findings = findings;
}

/// Words that no role and no result has.
fn unknown(block: &FoundBlock, entries: &[Entry<'_>]) -> Vec<Finding> {
    let said = |key: &str| entries.iter().find(|entry| entry.key == key).map(|entry| plain(entry.value));
    let roles = Role::ALL.map(Role::word);
    let marks = Mark::ALL.map(Mark::word);
    let warn = |what: &str, given: &str, known: &[&str]| {
        let finding = Finding::warning("unknown-value", block.place, format!("`{given}` is not {what}"));
        match closest(first_word(given), known.iter().copied()) {
            Some(word) => finding.help(format!("did you mean `{word}`?")),
            None => finding.help(format!("known are {}", known.join(", "))),
        }
    };
    let mut findings = vec![];
    if let Some(given) = said("Agent").filter(|_| block.role.is_none()) {
        findings.push(warn("one of the four roles", given, &roles));
    }
    if let Some(given) = said("Result").filter(|_| block.mark.is_none()) {
        findings.push(warn("a result of the loop", given, &marks));
    }
    if let Some(given) = said("Next").filter(|_| block.next.is_none()) {
        findings.push(warn("one of the four roles", given, &roles));
    }
    findings
}

/// Whether the four lines stand in the seed's order with nothing between them.
fn in_a_row(entries: &[Entry<'_>]) -> bool {
    let wanted = ["Agent", "Result", "Step Summary", "Next"];
    entries.len() >= wanted.len()
        && entries
            .iter()
            .zip(wanted)
            .enumerate()
            .all(|(i, (entry, key))| entry.key == key && entry.line == entries[0].line + i)
}

fn place(line: usize, start: usize, end: usize) -> Place {
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Place { line: number(line + 1), column: 1, start: number(start), end: number(end) }
}
