//! Markdown as far as contracts need it: headings, sections, lists and links. Code fences are passed over.

use crate::finding::Place;
use crate::prompt::outline::Line;
use crate::prompt::outline::lines;

/// A heading: its level, its words and its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Heading<'t> {
    pub(super) level: usize,
    pub(super) title: &'t str,
    pub(super) line: Line<'t>,
}

/// A link: its words, where it leads, and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link<'t> {
    pub(super) words: &'t str,
    pub(super) target: &'t str,
    pub(super) line: u32,
}

pub(super) fn headings(text: &str) -> Vec<Heading<'_>> {
    lines(text).filter(|line| !line.fenced).filter_map(heading).collect()
}

fn heading(line: Line<'_>) -> Option<Heading<'_>> {
    let rest = line.text.trim_start_matches('#');
    let level = line.text.len() - rest.len();
    let title = rest.trim().trim_end_matches('#').trim_end().trim_matches('*');
    let is_one = (1..=6).contains(&level) && rest.starts_with([' ', '\t']) && !title.is_empty();
    is_one.then_some(Heading { level, title, line })
}

/// What stands under a heading, up to the next one of the same or a higher level.
pub(super) fn section<'t>(text: &'t str, title: &str) -> Option<Section<'t>> {
    let headings = headings(text);
    let at = headings.iter().position(|heading| heading.title.eq_ignore_ascii_case(title))?;
    let own = headings.get(at)?;
    let next = headings.get(at + 1..)?.iter().find(|heading| heading.level <= own.level);
    let end = next.map_or(text.len(), |heading| heading.line.start);
    Some(Section { place: own.line.place(), body: text.get(own.line.end..end)? })
}

/// A section's body, and the place of its heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Section<'t> {
    pub(super) place: Place,
    pub(super) body: &'t str,
}

/// The entries of the lists in a text, without their marks and boxes.
pub(super) fn bullets(text: &str) -> Vec<&str> {
    lines(text).filter(|line| !line.fenced).filter_map(|line| bullet(line.text)).collect()
}

/// What stands behind the mark of a list; nothing where the line is none.
pub(super) fn bullet(line: &str) -> Option<&str> {
    let line = line.trim();
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = (digits.len() < line.len()).then(|| digits.strip_prefix(['.', ')'])).flatten();
    let rest = line.strip_prefix(['-', '*', '+']).or(numbered)?.strip_prefix([' ', '\t'])?.trim();
    let unboxed = ["[ ]", "[x]", "[X]"].iter().find_map(|mark| rest.strip_prefix(mark));
    Some(unboxed.unwrap_or(rest).trim()).filter(|rest| !rest.is_empty())
}

/// The first paragraph of a text, on one line.
pub(super) fn paragraph(text: &str) -> String {
    let words = text.trim_start().lines().take_while(|line| !line.trim().is_empty());
    words.map(str::trim).collect::<Vec<_>>().join(" ")
}

/// The links of a text, `[words](target)`. Code spans and images count too: a picture has to be there as well.
pub(super) fn links(text: &str) -> Vec<Link<'_>> {
    let mut found = vec![];
    for line in lines(text).filter(|line| !line.fenced) {
        let mut rest = line.text;
        while let Some((before, after)) = rest.split_once("](") {
            let words = before.rsplit('[').next().unwrap_or(before);
            let Some((target, behind)) = after.split_once(')') else { break };
            // `(file.md "a title")`
            let target = target.split_whitespace().next().unwrap_or_default().trim_matches(['<', '>']);
            if !is_code(before) {
                found.push(Link { words, target, line: line.number });
            }
            rest = behind;
        }
    }
    found
}

/// Whether what follows stands inside a code span.
fn is_code(before: &str) -> bool {
    before.matches('`').count() % 2 == 1
}

/// The line of a code fence that is never closed.
pub(super) fn open_fence(text: &str) -> Option<u32> {
    crate::prompt::outline::Outline::read(text, []).open_fence.map(|line| line.number)
}

/// The anchor that a heading gets: `## 3.2 Personas` is `#32-personas`.
pub(super) fn anchor(title: &str) -> String {
    let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "# Top\n\n## One\nfirst\nsecond\n\nthird\n### Below\n- [ ] box\n2. two\n```\n## not\n- no\n```\n## Two ##\n* a [x](y.md \"t\") ![p](p.png) `[c](d)`\n";

    #[test]
    fn sections_end_at_the_next_of_their_level() {
        let titles: Vec<&str> = headings(TEXT).iter().map(|heading| heading.title).collect();
        assert_eq!(titles, ["Top", "One", "Below", "Two"]);
        let one = section(TEXT, "one").unwrap();
        assert_eq!(one.place.line, 3);
        assert_eq!(paragraph(one.body), "first second");
        assert_eq!(bullets(one.body), ["box", "two"]);
        assert!(section(TEXT, "three").is_none());
    }

    #[test]
    fn links_are_found_outside_of_code() {
        let targets: Vec<&str> = links(TEXT).iter().map(|link| link.target).collect();
        assert_eq!(targets, ["y.md", "p.png"]);
        assert_eq!(open_fence("a\n```\nb\n"), Some(2));
        assert_eq!(open_fence(TEXT), None);
        assert_eq!(anchor("3.2 Personas & more"), "32-personas--more");
    }

    proptest! {
        #[test]
        fn nothing_is_too_strange_to_read(text in "[#\\[\\]()`*\n a-z.-]{0,120}") {
            links(&text);
            bullets(&text);
            for heading in headings(&text) {
                section(&text, heading.title);
            }
        }
    }
}
