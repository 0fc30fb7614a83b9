//! Columns that line up.

use crate::ui::Tone;
use crate::ui::tone;

/// A table with a heading; the last column is as long as it is.
pub(crate) fn table(heading: &[&str], rows: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = heading.iter().map(|h| h.chars().count()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: &[String]| {
        let last = cells.len().saturating_sub(1);
        let mut out = String::new();
        for (i, (cell, width)) in cells.iter().zip(&widths).enumerate() {
            out.push_str(cell);
            if i < last {
                out.push_str(&" ".repeat(width.saturating_sub(cell.chars().count()) + 2));
            }
        }
        out
    };
    let heads: Vec<String> = heading.iter().map(|h| (*h).to_owned()).collect();
    let mut out = vec![tone(Tone::Faint, line(&heads))];
    out.extend(rows.iter().map(|row| line(row)));
    out.join("\n")
}

/// A text cut to a width, with a mark where it was cut.
pub(crate) fn cut(text: &str, width: usize) -> String {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if one_line.chars().count() <= width {
        return one_line;
    }
    let mut kept: String = one_line.chars().take(width.saturating_sub(1)).collect();
    kept.push('…');
    kept
}

/// A size as people read it.
pub(crate) fn size_in_words(bytes: u64) -> String {
    let mut size = bytes as f64;
    if bytes < 1_024 {
        return format!("{bytes} bytes");
    }
    for unit in ["KiB", "MiB"] {
        size /= 1_024.0;
        if size < 1_024.0 {
            return format!("{size:.1} {unit}");
        }
    }
    format!("{:.1} GiB", size / 1_024.0)
}

/// A number with its noun, which agrees with it.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        number => format!("{number} {noun}s"),
    }
}
