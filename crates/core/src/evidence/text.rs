//! The text of an output, made plain, and the small readers that all tools share.

/// A name or a message is not kept longer than this.
const CHARS_MAX: usize = 240;

/// Without colours, carriage returns and other control characters. A lone carriage return ends a line: that is how
/// progress is drawn.
pub(super) fn clean(output: &str) -> String {
    let mut plain = String::with_capacity(output.len());
    let mut chars = output.strip_prefix('\u{feff}').unwrap_or(output).chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => match chars.next_if(|c| !matches!(c, '\n' | '\r')) {
                // A control sequence ends with its first letter or similar.
                Some('[') => {
                    while chars.next_if(|c| matches!(c, '\u{20}'..='\u{3f}')).is_some() {}
                    chars.next_if(|c| matches!(c, '@'..='~'));
                }
                // A command to the terminal (a link, a title) ends with a bell or an escaped backslash.
                Some(']') => {
                    while chars.next_if(|c| !matches!(c, '\u{7}' | '\u{1b}' | '\n' | '\r')).is_some() {}
                    if chars.next_if_eq(&'\u{1b}').is_some() {
                        chars.next_if_eq(&'\\');
                    }
                }
                _ => {}
            },
            '\r' => {
                chars.next_if_eq(&'\n');
                plain.push('\n');
            }
            '\n' | '\t' => plain.push(c),
            c if c.is_control() => {}
            c => plain.push(c),
        }
    }
    plain
}

/// On one line and not too long to be read.
pub(super) fn short(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default().trim_end();
    match line.char_indices().nth(CHARS_MAX) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}

/// `12 passed` as `(12, "passed")`.
pub(super) fn counted(item: &str) -> Option<(u64, &str)> {
    let (number, word) = item.trim().split_once(' ')?;
    Some((number.parse().ok()?, word.trim()))
}

/// The file and the line at the beginning of `src/lib.rs:9:27: ...`, `test_greet.py:5: AssertionError` or
/// `C:\x\y.py:5`, and what follows the line number.
pub(super) fn place(text: &str) -> Option<((&str, u32), &str)> {
    // The colon of a drive letter is part of the path.
    let drive = text.as_bytes().get(1) == Some(&b':') && matches!(text.as_bytes().get(2), Some(b'\\' | b'/'));
    let start = if drive { 2 } else { 0 };
    let colon = start + text.get(start..)?.find(':')?;
    let file = text.get(..colon)?;
    let rest = text.get(colon + 1..)?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let line = rest.get(..digits)?.parse().ok().filter(|line| *line > 0)?;
    if file.trim().is_empty() || file.contains(char::is_whitespace) {
        return None;
    }
    Some(((file, line), rest.get(digits..)?))
}
