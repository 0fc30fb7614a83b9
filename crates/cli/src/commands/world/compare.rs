//! One file of a view beside that of the workspace, as lines.

use std::io::Read;
use std::path::Path;

use seriatim_core::unified::hunks;
use seriatim_engine::hands::views::ViewDifference;
use seriatim_engine::hands::views::ViewSide;

use crate::render::table::size_in_words;

/// Larger files are compared by name and size alone.
const TEXT_BYTES_MAX: u64 = 8 << 20;
/// Longer lines are cut where people see them.
const LINE_CHARS_MAX: usize = 2_000;

/// How a file differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Shape {
    Text,
    Binary,
    Mode,
    Link,
    Removed,
    Special,
    TooLarge,
    Unreadable,
}

/// A file with its difference.
pub(super) struct Compared {
    pub(super) shape: Shape,
    /// Whole, one line each.
    pub(super) lines: Vec<String>,
}

/// Compares both sides of a file.
pub(super) fn compare(difference: &ViewDifference) -> Compared {
    let path = &difference.file.path;
    let told = |shape, line: String| Compared { shape, lines: vec![line] };
    match (&difference.before, &difference.after) {
        (_, None) => told(Shape::Removed, format!("removed: {path}")),
        (_, Some(ViewSide::Special)) => {
            told(Shape::Special, format!("pipe, socket or device, never merged: {path}"))
        }
        (_, Some(ViewSide::Folder)) => {
            told(Shape::Special, format!("a folder in the place of a file: {path}"))
        }
        (before, Some(ViewSide::Link { target })) => {
            let was = before.as_ref().map(|side| format!(" (was {})", kind_of(side))).unwrap_or_default();
            told(Shape::Link, format!("link: {path} -> {target}{was}"))
        }
        (before, Some(ViewSide::File { mode, bytes, at })) => {
            let old = match before {
                Some(ViewSide::File { mode, bytes, at }) => Some((*mode, *bytes, at.as_path())),
                _ => None,
            };
            let mut compared = contents(path, old, (*mode, *bytes, at.as_path()));
            if let Some(side) = before.as_ref().filter(|side| !matches!(side, ViewSide::File { .. })) {
                compared.lines.insert(0, format!("was {}: {path}", kind_of(side)));
            }
            compared
        }
    }
}

fn kind_of(side: &ViewSide) -> String {
    match side {
        ViewSide::File { .. } => "a file".to_owned(),
        ViewSide::Link { target } => format!("a link to {target}"),
        ViewSide::Folder => "a folder".to_owned(),
        ViewSide::Special => "a pipe, a socket or a device".to_owned(),
    }
}

fn contents(path: &str, old: Option<(u32, u64, &Path)>, new: (u32, u64, &Path)) -> Compared {
    let mut lines = vec![];
    let (mode, bytes, at) = new;
    if let Some((was, ..)) = old.filter(|(was, ..)| was & 0o777 != mode & 0o777) {
        lines.push(format!("mode {:o} -> {:o}: {path}", was & 0o777, mode & 0o777));
    }
    let sizes = match old {
        Some((_, was, _)) => format!("{} -> {}", size_in_words(was), size_in_words(bytes)),
        None => format!("new, {}", size_in_words(bytes)),
    };
    if bytes > TEXT_BYTES_MAX || old.is_some_and(|(_, was, _)| was > TEXT_BYTES_MAX) {
        lines.push(format!("too large to compare by lines ({sizes}): {path}"));
        return Compared { shape: Shape::TooLarge, lines };
    }
    let before = old.map_or(Some(vec![]), |(.., at)| read(at));
    let (Some(before), Some(after)) = (before, read(at)) else {
        lines.push(format!("cannot be read ({sizes}): {path}"));
        return Compared { shape: Shape::Unreadable, lines };
    };
    if before.contains(&0) || after.contains(&0) {
        lines.push(format!("binary ({sizes}): {path}"));
        return Compared { shape: Shape::Binary, lines };
    }
    let found = hunks(&before, &after);
    let shape = if found.is_empty() && old.is_some() { Shape::Mode } else { Shape::Text };
    if shape == Shape::Text {
        lines.push(if old.is_some() { format!("--- a/{path}") } else { "--- /dev/null".to_owned() });
        lines.push(format!("+++ b/{path}"));
        lines.extend(found);
    }
    Compared { shape, lines }
}

fn read(at: &Path) -> Option<Vec<u8>> {
    let mut bytes = vec![];
    let file = std::fs::File::open(at).ok()?;
    file.take(TEXT_BYTES_MAX + 1).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Returns a line as a terminal can show it: nothing in it moves the cursor, and its length is bounded.
pub(super) fn shown(line: &str) -> String {
    let length = line.chars().count();
    let kept: String = line.chars().take(LINE_CHARS_MAX).collect();
    let visible: Vec<String> = kept.split('\t').map(crate::render::story::visible).collect();
    match length.saturating_sub(LINE_CHARS_MAX) {
        0 => visible.join("\t"),
        more => format!("{}… and {more} more characters", visible.join("\t")),
    }
}
