//! Comments of a hand-edited file: they cannot keep their places, so they stand at the head of the new one (E-57).

use super::Source;

/// The comments of a YAML file. A `#` inside a text may be taken for one; then it is there twice, which loses nothing.
pub(super) fn of(source: &Source<'_>) -> Vec<String> {
    if source.text.trim_start().starts_with('{') {
        return vec![];
    }
    source.text.lines().filter_map(comment).map(str::to_owned).collect()
}

fn comment(line: &str) -> Option<&str> {
    let line = line.trim();
    let at = if line.starts_with('#') { 0 } else { line.find(" #").map(|at| at + 1)? };
    let text = line.get(at..)?.trim_start_matches('#').trim();
    let says_something = text.chars().any(char::is_alphanumeric);
    says_something.then_some(text)
}

/// The head of the new file.
pub(super) fn head(comments: &[String]) -> String {
    comments.iter().map(|comment| format!("# {comment}\n")).collect()
}
