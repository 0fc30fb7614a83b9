//! How wide letters are and where lines break. No font is measured: every letter has one column, wide ones two.

/// Letters that change the direction of a text, or hide in it.
fn is_treacherous(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// A text on one line that neither a terminal nor a viewer can take for a command.
pub fn readable(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().map(|c| if is_treacherous(c) { '\u{fffd}' } else { c }).collect()
}

fn columns(c: char) -> usize {
    match u32::from(c) {
        0x0300..=0x036f | 0x1ab0..=0x1aff | 0x200b..=0x200d | 0x20d0..=0x20ff | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f
        | 0x2e80..=0x303e
        | 0x3041..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1faff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// The width of a text in columns.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

/// A text filled up with blanks.
pub(super) fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// The lines of a text: broken at blanks, at any letter where a word is too long, and cut with a mark after
/// `lines_max` lines. An empty text has no lines.
pub fn wrap(text: &str, columns_max: usize, lines_max: usize) -> Vec<String> {
    let columns_max = columns_max.max(2);
    let mut lines: Vec<String> = vec![];
    for word in readable(text).split(' ').filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= columns_max => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.extend(pieces(word, columns_max)),
        }
        if lines.len() > lines_max {
            lines.truncate(lines_max);
            if let Some(last) = lines.last_mut() {
                while width(last) >= columns_max {
                    last.pop();
                }
                last.push('…');
            }
            break;
        }
    }
    lines
}

/// A word in pieces that fit.
fn pieces(word: &str, columns_max: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut used = 0;
    for c in word.chars() {
        if used + columns(c) > columns_max {
            pieces.push(String::new());
            used = 0;
        }
        used += columns(c);
        if let Some(piece) = pieces.last_mut() {
            piece.push(c);
        }
    }
    pieces
}
