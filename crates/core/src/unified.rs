//! Two texts as a unified diff, in full: no attribute and no setting has a say.

use std::ops::Range;

use crate::merge::Edit;
use crate::merge::edits;
use crate::merge::lines;

/// How many equal lines are shown around a change.
const CONTEXT: usize = 3;

/// Returns the hunks of a unified diff, without the lines that name the files; nothing where the texts are equal.
/// Bytes that are no UTF-8 are replaced by a mark.
pub fn hunks(old: &[u8], new: &[u8]) -> Vec<String> {
    let (old, new) = (lines(old), lines(new));
    let edits = edits(&old, &new);
    let mut out = vec![];
    for group in groups(&edits) {
        write_hunk(&old, &new, group, &mut out);
    }
    out
}

/// Edits whose surroundings touch belong to one hunk.
fn groups(edits: &[Edit]) -> Vec<&[Edit]> {
    edits.chunk_by(|one, next| next.base.start - one.base.end <= 2 * CONTEXT).collect()
}

fn write_hunk(old: &[&[u8]], new: &[&[u8]], edits: &[Edit], out: &mut Vec<String>) {
    let (Some(first), Some(last)) = (edits.first(), edits.last()) else { return };
    let before = first.base.start.min(CONTEXT);
    let after = (old.len() - last.base.end).min(CONTEXT);
    let whole_old = first.base.start - before..last.base.end + after;
    let whole_new = first.side.start - before..last.side.end + after;
    out.push(format!("@@ -{} +{} @@", span(&whole_old), span(&whole_new)));
    let mut at = whole_old.start;
    for edit in edits {
        put(out, ' ', &old[at..edit.base.start]);
        put(out, '-', &old[edit.base.clone()]);
        put(out, '+', &new[edit.side.clone()]);
        at = edit.base.end;
    }
    put(out, ' ', &old[at..whole_old.end]);
}

/// Lines are counted from 1; an empty part is named by the line before it.
fn span(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => (lines.start + 1).to_string(),
        count => format!("{},{count}", lines.start + 1),
    }
}

fn put(out: &mut Vec<String>, sign: char, lines: &[&[u8]]) {
    for line in lines {
        let text = String::from_utf8_lossy(line);
        match text.strip_suffix('\n') {
            Some(text) => out.push(format!("{sign}{text}")),
            None => {
                out.push(format!("{sign}{text}"));
                out.push("\\ No newline at end of file".to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_shown_with_their_surroundings() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\n";
        let new = old.replace("c\n", "C\n").replace("l\n", "l\nm");
        assert_eq!(
            hunks(old.as_bytes(), new.as_bytes()).join("\n"),
            "@@ -1,6 +1,6 @@\n a\n b\n-c\n+C\n d\n e\n f\n@@ -10,3 +10,4 @@\n j\n k\n l\n+m\n\\ No newline at end of file"
        );
    }

    #[test]
    fn new_and_emptied_files_are_shown_whole() {
        assert_eq!(hunks(b"", b"one\n").join("\n"), "@@ -0,0 +1 @@\n+one");
        assert_eq!(hunks(b"one\ntwo\n", b"").join("\n"), "@@ -1,2 +0,0 @@\n-one\n-two");
        assert!(hunks(b"same\n", b"same\n").is_empty());
    }
}
