//! Front matter: YAML between two `---` lines at the head of a Markdown file.

use std::ops::Range;

use crate::finding::Finding;
use crate::finding::Place;

/// The bytes of the YAML and the byte where the body begins, or `None` where there is no front matter.
pub fn front_matter(text: &str) -> Option<(Range<usize>, usize)> {
    let head = text.len() - text.strip_prefix('\u{FEFF}').unwrap_or(text).len();
    let first_end = line_end(text, head);
    if text[head..first_end].trim_end() != "---" {
        return None;
    }
    let mut start = first_end;
    while start < text.len() {
        let end = line_end(text, start);
        if matches!(text[start..end].trim_end(), "---" | "...") {
            return Some((first_end..start, end));
        }
        start = end;
    }
    None
}

/// Returns what is wrong with a text that begins front matter and never ends it: nobody can tell it from the body.
pub fn unclosed_front_matter(text: &str) -> Option<Finding> {
    let begins =
        text.trim_start_matches('\u{FEFF}').lines().next().is_some_and(|line| line.trim_end() == "---");
    let message = "the front matter that begins here has no end";
    (begins && front_matter(text).is_none()).then(|| {
        Finding::error("front-matter", Place::TOP, message).help("end it with a line that holds `---` alone")
    })
}

/// The byte after the line that begins at `start`, its line break included.
fn line_end(text: &str, start: usize) -> usize {
    text[start..].find('\n').map_or(text.len(), |at| start + at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_found_with_any_line_ending_and_never_guessed() {
        let text = "---\r\nname: x\r\n---\r\n# Body\r\n";
        let (yaml, body) = front_matter(text).unwrap();
        assert_eq!(&text[yaml], "name: x\r\n");
        assert_eq!(&text[body..], "# Body\r\n");
        let marked = "\u{FEFF}---\na: 1\n---";
        assert_eq!(
            front_matter(marked).map(|(yaml, body)| (&marked[yaml], body)),
            Some(("a: 1\n", marked.len()))
        );
        assert_eq!(front_matter("---\n---\n"), Some((4..4, 8)));
        assert_eq!(front_matter("# Title\n---\n---\n"), None);
        assert_eq!(front_matter("---\nnever closed\n"), None);
        assert_eq!(front_matter("----\n---\n"), None);
    }

    #[test]
    fn front_matter_without_an_end_is_an_error_and_never_taken_for_prose() {
        let found = unclosed_front_matter("---\nsteps: []\n# Action: x\n").unwrap();
        assert_eq!(found.message, "the front matter that begins here has no end");
        assert_eq!(unclosed_front_matter("---\na: 1\n---\n"), None);
        assert_eq!(unclosed_front_matter("# Title\n---\n"), None);
    }
}
