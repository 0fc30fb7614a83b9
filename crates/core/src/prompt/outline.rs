//! The outline of a prompt: its lines, which of them are inside code, and which sections there are.

use std::ops::Range;

use crate::finding::Place;

/// One line, without its line break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'t> {
    pub text: &'t str,
    /// From 1.
    pub number: u32,
    /// The byte where it begins.
    pub start: usize,
    /// The byte after its line break.
    pub end: usize,
    /// Inside a code fence, or one of its borders.
    pub fenced: bool,
}

impl Line<'_> {
    pub fn place(&self) -> Place {
        let byte = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Place {
            line: self.number,
            column: 1,
            start: byte(self.start),
            end: byte(self.start + self.text.trim_end().len()),
        }
    }
}

/// The lines of a text; a byte order mark at its head belongs to no line.
pub fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut fence = Fence::default();
    let mut start = text.len() - text.trim_start_matches('\u{FEFF}').len();
    let mut number = 0;
    text.trim_start_matches('\u{FEFF}').split_inclusive('\n').map(move |raw| {
        let line = raw.strip_suffix('\n').unwrap_or(raw);
        let line = line.strip_suffix('\r').unwrap_or(line);
        let begin = start;
        start += raw.len();
        number += 1;
        Line { text: line, number, start: begin, end: start, fenced: fence.step(line) }
    })
}

/// Whether a code fence is open, line by line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fence {
    open: Option<(char, usize)>,
}

impl Fence {
    /// Takes one line; true when it is inside a fence or one of its borders.
    pub(super) fn step(&mut self, line: &str) -> bool {
        let border = border(line);
        let Some((sign, least)) = self.open else {
            self.open =
                border.filter(|(sign, _, info)| *sign == '~' || !info.contains('`')).map(|(s, n, _)| (s, n));
            return self.open.is_some();
        };
        // A closing border has at least as many signs as the opening one, and nothing behind them.
        if border.is_some_and(|(s, n, info)| s == sign && n >= least && info.trim().is_empty()) {
            self.open = None;
        }
        true
    }

    /// The line that closes the fence which is open.
    pub(super) fn closing(self) -> Option<String> {
        self.open.map(|(sign, count)| sign.to_string().repeat(count))
    }
}

/// A line that may begin or end a fence: its sign, how often, and what follows. More than three blanks make
/// it code of another sort, as Markdown has it.
fn border(line: &str) -> Option<(char, usize, &str)> {
    let bare = line.trim_start_matches(' ');
    let sign = bare.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = bare.trim_start_matches(sign);
    let count = bare.len() - info.len();
    (line.len() - bare.len() <= 3 && count >= 3).then_some((sign, count, info))
}

/// A line that can be the title of a section, in one of the four notations (DS-13, K-23).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Title<'t> {
    /// Without number signs, emphasis and braces.
    pub words: &'t str,
    /// `## {SECTION}`: a place that was left open for a section.
    pub open: bool,
}

/// Reads a line as a title: a heading of level 1 to 3 at the line's start, or `<!-- SECTION: NAME -->`.
pub fn title(line: &str) -> Option<Title<'_>> {
    let words = heading(line).or_else(|| comment_title(line))?;
    let words = words.trim_matches(['*', '`', ' ', '\t']);
    let inner = words.strip_prefix('{').and_then(|rest| rest.split_once('}')).map(|(inner, _)| inner.trim());
    Some(Title { words: inner.unwrap_or(words), open: inner.is_some() })
}

fn heading(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    let words = rest.trim_matches([' ', '\t']);
    let spaced = rest.starts_with([' ', '\t']);
    ((1..=3).contains(&level) && spaced && !words.is_empty()).then(|| words.trim_end_matches('#').trim_end())
}

fn comment_title(line: &str) -> Option<&str> {
    let inner = line.trim_end().strip_prefix("<!--")?.strip_suffix("-->")?;
    Some(inner.trim().strip_prefix("SECTION:")?.trim()).filter(|words| !words.is_empty())
}

/// Whether the words of a title name this section: they are the name, or begin with it as a whole word
/// (`TDD_14_PHASES (all of them)`).
pub fn names(words: &str, section: &str) -> bool {
    words.strip_prefix(section).is_some_and(|rest| !rest.starts_with(is_word))
}

/// Letters that make a word longer.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// One section of a text. A title that occurs again adds to the section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section<'t> {
    pub name: String,
    /// The line of its first title.
    pub title: Line<'t>,
    /// Only titles of the form `{SECTION}` name it.
    pub open: bool,
    /// What stands under its titles, up to the next title of a known section.
    pub bodies: Vec<Range<usize>>,
}

/// Which sections a text has.
#[derive(Clone, Debug)]
pub struct Outline<'t> {
    pub text: &'t str,
    pub sections: Vec<Section<'t>>,
    /// Titles that name no known section.
    pub others: Vec<(Line<'t>, &'t str)>,
    /// The line of a code fence that is never closed: everything behind it is code.
    pub open_fence: Option<Line<'t>>,
}

impl<'t> Outline<'t> {
    /// Reads the outline; `known` are the names of all sections there can be.
    pub fn read<'k>(text: &'t str, known: impl IntoIterator<Item = &'k str>) -> Outline<'t> {
        let known: Vec<&str> = known.into_iter().collect();
        let mut outline = Outline { text, sections: vec![], others: vec![], open_fence: None };
        let mut current: Option<(usize, usize)> = None;
        let mut opened: Option<Line<'t>> = None;
        let mut fence = Fence::default();
        for line in lines(text) {
            let was_open = fence.open.is_some();
            fence.step(line.text);
            opened = if fence.open.is_none() { None } else { opened.filter(|_| was_open).or(Some(line)) };
            let Some(title) = title(line.text).filter(|_| !line.fenced) else { continue };
            // The longest name wins, so that a name which begins like another is not taken for it.
            let name = known.iter().filter(|name| names(title.words, name)).max_by_key(|name| name.len());
            let Some(name) = name else {
                outline.others.push((line, title.words));
                continue;
            };
            outline.close(current, line.start);
            current = Some((outline.open(name, line, title.open), line.end));
        }
        outline.close(current, text.len());
        outline.open_fence = opened;
        outline
    }

    fn open(&mut self, name: &str, line: Line<'t>, open: bool) -> usize {
        if let Some(at) = self.sections.iter().position(|section| section.name == name) {
            if let Some(section) = self.sections.get_mut(at) {
                section.open &= open;
            }
            return at;
        }
        self.sections.push(Section { name: name.to_owned(), title: line, open, bodies: vec![] });
        self.sections.len() - 1
    }

    fn close(&mut self, current: Option<(usize, usize)>, end: usize) {
        if let Some((at, start)) = current
            && let Some(section) = self.sections.get_mut(at)
        {
            section.bodies.push(start..end.max(start));
        }
    }

    pub fn section(&self, name: &str) -> Option<&Section<'t>> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// What a section says, piece by piece.
    pub fn bodies<'s>(&'s self, section: &'s Section<'t>) -> impl Iterator<Item = &'t str> + 's {
        section.bodies.iter().filter_map(|range| self.text.get(range.clone()))
    }
}

/// Whether a body says anything: headings, rules and comments alone do not.
pub fn says_something(body: &str) -> bool {
    lines(body).any(|line| {
        let words = line.text.trim();
        let is_comment = words.starts_with("<!--") && words.ends_with("-->");
        (line.fenced || (title(line.text).is_none() && !is_comment))
            && words.chars().any(char::is_alphanumeric)
    })
}

/// Whether a text has this section.
pub fn has_section(text: &str, name: &str) -> bool {
    lines(text).any(|line| !line.fenced && title(line.text).is_some_and(|title| names(title.words, name)))
}
