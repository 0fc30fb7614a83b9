//! Patterns for paths: `*`, `?`, `[a-z]` and `{a,b}` within a part of a path, `**` for any number of parts.
//!
//! Letters count with their case. A pattern that ends with `/` means everything below that folder. Matching takes
//! time in proportion to pattern and path, whatever they are: there is no backtracking but to the last star.

use super::path;

/// How many patterns the alternatives of one may come to.
const ALTERNATIVES_MAX: usize = 256;

/// A pattern that is ready to be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Without alternatives; each is a list of parts.
    ways: Vec<Vec<Part>>,
}

/// Why a text is no pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPattern {
    #[error("it is empty")]
    Empty,
    #[error("it begins with `/`; patterns start at the root of the project")]
    Absolute,
    #[error("it goes up with `..`")]
    Upwards,
    #[error("a `[` or `{{` is not closed")]
    Unclosed,
    #[error("its alternatives come to more than {ALTERNATIVES_MAX}")]
    TooMany,
}

/// One part of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// Any number of parts, or none.
    Any,
    Glyphs(Vec<Glyph>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Glyph {
    Star,
    One,
    Char(char),
    Class { negated: bool, ranges: Vec<(char, char)> },
}

impl Pattern {
    pub fn parse(text: &str) -> Result<Pattern, BadPattern> {
        let ways = alternatives(text)?.iter().map(|way| parts(way)).collect::<Result<Vec<_>, _>>()?;
        Ok(Pattern { ways })
    }

    /// The pattern of one path, whatever characters it has.
    pub fn literal(text: &str) -> Pattern {
        let part = |part: &str| Part::Glyphs(part.chars().map(Glyph::Char).collect());
        let parts = text.split('/').filter(|part| !matches!(*part, "" | ".")).map(part);
        Pattern { ways: vec![parts.collect()] }
    }

    /// The daily audit logs in a folder.
    pub(super) fn audit_logs(folder: &str) -> Pattern {
        let mut pattern = Pattern::literal(folder);
        let glyphs = |text: &'static str| text.chars().map(Glyph::Char);
        let name = glyphs("audit-").chain([Glyph::Star]).chain(glyphs(".log")).collect();
        for way in &mut pattern.ways {
            way.push(Part::Glyphs(Vec::clone(&name)));
        }
        pattern
    }

    /// Whether a relative path fits. `./` and the like do not count; a path that leads out fits nothing.
    pub fn matches(&self, path: &str) -> bool {
        let Some(path) = path::relative(path) else { return false };
        let path: Vec<Vec<char>> = path.split('/').map(|part| part.chars().collect()).collect();
        self.ways.iter().any(|way| {
            wild(
                way,
                &path,
                |part| *part == Part::Any,
                |part, chars| match part {
                    Part::Any => true,
                    Part::Glyphs(glyphs) => {
                        wild(glyphs, chars, |glyph| *glyph == Glyph::Star, |glyph, c| glyph.fits(*c))
                    }
                },
            )
        })
    }
}

impl Glyph {
    fn fits(&self, c: char) -> bool {
        match self {
            Glyph::Star | Glyph::One => true,
            Glyph::Char(wanted) => *wanted == c,
            Glyph::Class { negated, ranges } => {
                ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *negated
            }
        }
    }
}

/// Matches a sequence with stars against another one. Only the last star is ever tried again with more: whatever an
/// earlier one could take, the last one can take as well.
fn wild<P, T>(
    pattern: &[P],
    given: &[T],
    is_star: impl Fn(&P) -> bool,
    fits: impl Fn(&P, &T) -> bool,
) -> bool {
    let (mut p, mut g) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while let Some(item) = given.get(g) {
        match pattern.get(p) {
            Some(star) if is_star(star) => {
                retry = Some((p + 1, g));
                p += 1;
            }
            Some(wanted) if fits(wanted, item) => {
                p += 1;
                g += 1;
            }
            _ => {
                let Some((after_star, from)) = retry else { return false };
                retry = Some((after_star, from + 1));
                p = after_star;
                g = from + 1;
            }
        }
    }
    pattern.get(p..).unwrap_or_default().iter().all(is_star)
}

fn parts(text: &str) -> Result<Vec<Part>, BadPattern> {
    if text.trim().is_empty() {
        return Err(BadPattern::Empty);
    }
    if text.starts_with('/') {
        return Err(BadPattern::Absolute);
    }
    let mut parts = vec![];
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." => return Err(BadPattern::Upwards),
            "**" => parts.push(Part::Any),
            part => parts.push(Part::Glyphs(glyphs(part)?)),
        }
    }
    if text.ends_with('/') {
        // Everything below, but not the folder itself, which is no file.
        parts.extend([Part::Any, Part::Glyphs(vec![Glyph::Star])]);
    }
    if parts.is_empty() { Err(BadPattern::Empty) } else { Ok(parts) }
}

fn glyphs(part: &str) -> Result<Vec<Glyph>, BadPattern> {
    let mut glyphs = vec![];
    let mut chars = part.chars();
    while let Some(c) = chars.next() {
        glyphs.push(match c {
            '*' => Glyph::Star,
            '?' => Glyph::One,
            '\\' => Glyph::Char(chars.next().unwrap_or('\\')),
            '[' => {
                let (class, rest) = class(chars.as_str()).ok_or(BadPattern::Unclosed)?;
                chars = rest.chars();
                class
            }
            c => Glyph::Char(c),
        });
    }
    Ok(glyphs)
}

/// The class that begins behind `[`, and what stands behind it. A `]` in front stands for itself.
fn class(text: &str) -> Option<(Glyph, &str)> {
    let negated = text.starts_with(['!', '^']);
    let mut rest = if negated { &text[1..] } else { text };
    let mut ranges = vec![];
    loop {
        let mut chars = rest.chars();
        let low = chars.next()?;
        if low == ']' && !ranges.is_empty() {
            return Some((Glyph::Class { negated, ranges }, chars.as_str()));
        }
        rest = chars.as_str();
        let high = rest.strip_prefix('-').and_then(|rest| rest.chars().next()).filter(|c| *c != ']');
        if let Some(high) = high {
            rest = &rest[1 + high.len_utf8()..];
        }
        ranges.push((low, high.unwrap_or(low)));
    }
}

/// The pattern once for each choice that its braces leave.
fn alternatives(text: &str) -> Result<Vec<String>, BadPattern> {
    let mut done = vec![];
    let mut open = vec![text.to_owned()];
    while let Some(text) = open.pop() {
        let Some((head, choices, tail)) = braces(&text)? else {
            done.push(text);
            continue;
        };
        if done.len() + open.len() + choices.len() > ALTERNATIVES_MAX {
            return Err(BadPattern::TooMany);
        }
        open.extend(choices.iter().rev().map(|choice| format!("{head}{choice}{tail}")));
    }
    Ok(done)
}

/// What stands before the braces, the choices inside, and what stands behind.
type Braces<'t> = (&'t str, Vec<&'t str>, &'t str);

/// The first braces of a text, with nested ones left for later. Classes and escapes are passed over.
fn braces(text: &str) -> Result<Option<Braces<'_>>, BadPattern> {
    let mut depth = 0_u32;
    let (mut start, mut from) = (0, 0);
    let mut choices = vec![];
    let mut skip_to = 0;
    for (at, c) in text.char_indices() {
        if at < skip_to {
            continue;
        }
        match c {
            '\\' => skip_to = at + 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
            '[' => {
                let (_, rest) = class(&text[at + 1..]).ok_or(BadPattern::Unclosed)?;
                skip_to = text.len() - rest.len();
            }
            '{' => {
                depth += 1;
                if depth == 1 {
                    start = at;
                    from = at + 1;
                }
            }
            ',' if depth == 1 => {
                choices.push(&text[from..at]);
                from = at + 1;
            }
            '}' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    choices.push(&text[from..at]);
                    return Ok(Some((&text[..start], choices, &text[at + 1..])));
                }
            }
            _ => {}
        }
    }
    if depth > 0 { Err(BadPattern::Unclosed) } else { Ok(None) }
}
