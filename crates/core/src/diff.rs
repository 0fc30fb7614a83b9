//! The lines that a unified diff adds and removes, with their places.

/// Whether a line came or went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Added,
    Removed,
}

/// One added or removed line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DiffLine<'d> {
    pub(super) file: &'d str,
    /// From 1: in the new file for an added line, in the old one for a removed line.
    pub(super) line: u32,
    pub(super) side: Side,
    pub(super) text: &'d str,
}

/// Where the reader stands in a hunk.
#[derive(Default)]
struct Hunk {
    old_line: u32,
    new_line: u32,
    old_left: u32,
    new_left: u32,
}

/// The changed lines of `diff`. Inside of a hunk its counts decide what is a line: a removed line that begins with
/// `-- ` is not taken for a header.
pub(super) fn lines(diff: &str) -> Vec<DiffLine<'_>> {
    let mut found = vec![];
    let mut file = "";
    let mut hunk = Hunk::default();
    for raw in diff.split('\n') {
        let raw = raw.strip_suffix('\r').unwrap_or(raw);
        if hunk.old_left == 0 && hunk.new_left == 0 {
            if let Some(path) = raw.strip_prefix("--- ") {
                file = path_of(path, "a/");
            } else if let Some(path) = raw.strip_prefix("+++ ").filter(|path| !path.starts_with("/dev/null"))
            {
                file = path_of(path, "b/");
            } else if let Some(header) = raw.strip_prefix("@@ ") {
                hunk = hunk_of(header).unwrap_or_default();
            }
            continue;
        }
        match raw.as_bytes().first() {
            Some(b'+') => {
                found.push(DiffLine { file, line: hunk.new_line, side: Side::Added, text: &raw[1..] });
                hunk.new_line = hunk.new_line.saturating_add(1);
                hunk.new_left = hunk.new_left.saturating_sub(1);
            }
            Some(b'-') => {
                found.push(DiffLine { file, line: hunk.old_line, side: Side::Removed, text: &raw[1..] });
                hunk.old_line = hunk.old_line.saturating_add(1);
                hunk.old_left = hunk.old_left.saturating_sub(1);
            }
            // `\ No newline at end of file`
            Some(b'\\') => {}
            _ => {
                hunk.old_line = hunk.old_line.saturating_add(1);
                hunk.new_line = hunk.new_line.saturating_add(1);
                hunk.old_left = hunk.old_left.saturating_sub(1);
                hunk.new_left = hunk.new_left.saturating_sub(1);
            }
        }
    }
    found
}

fn path_of<'d>(written: &'d str, prefix: &str) -> &'d str {
    // A tab separates the path from a time in diffs that do not come from git.
    let path = written.split('\t').next().unwrap_or(written).trim_matches('"');
    path.strip_prefix(prefix).unwrap_or(path)
}

/// `-1,2 +3,4 @@ ...`
fn hunk_of(header: &str) -> Option<Hunk> {
    let mut parts = header.split(' ');
    let (old_line, old_left) = range_of(parts.next()?.strip_prefix('-')?)?;
    let (new_line, new_left) = range_of(parts.next()?.strip_prefix('+')?)?;
    Some(Hunk { old_line, new_line, old_left, new_left })
}

fn range_of(text: &str) -> Option<(u32, u32)> {
    match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_their_places_and_headers_are_no_lines() {
        let diff = "diff --git a/src/a.sql b/src/a.sql\nindex 1..2 100644\n--- a/src/a.sql\n+++ b/src/a.sql\n@@ -3,3 +3,3 @@ fn x\n ctx\n--- old\n+++ new\n ctx\n\\ No newline at end of file\n@@ -10 +10,2 @@\n-x\n+y\n+z\ndiff --git a/gone b/gone\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-bye\n";
        let found: Vec<String> = lines(diff)
            .into_iter()
            .map(|l| format!("{}:{} {:?} {}", l.file, l.line, l.side, l.text))
            .collect();
        assert_eq!(
            found,
            [
                "src/a.sql:4 Removed -- old",
                "src/a.sql:4 Added ++ new",
                "src/a.sql:10 Removed x",
                "src/a.sql:10 Added y",
                "src/a.sql:11 Added z",
                "gone:1 Removed bye",
            ]
        );
    }
}
