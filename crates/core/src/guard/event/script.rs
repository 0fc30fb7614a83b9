//! The prompts inside of a workflow script, which no hook shows one by one.

/// What can be seen of a script.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) prompts: Vec<String>,
    /// True when a call computes its prompt.
    pub(super) opaque: bool,
}

/// Finds the texts that are given to `agent(...)`, and every other text that holds a comment marker: it may be
/// given to one by way of a variable.
pub(super) fn prompts(script: &str) -> Seen {
    let mut seen = Seen::default();
    let mut rest = script;
    let mut called = false;
    while let Some(c) = rest.chars().next() {
        let behind = &rest[c.len_utf8()..];
        if rest.starts_with("//") || rest.starts_with("/*") {
            rest = after_comment(rest);
            continue;
        }
        match c {
            '\'' | '"' | '`' => {
                let (text, after) = literal(behind, c);
                let computed = c == '`' && text.contains("${");
                // A text that something is added to is not the whole prompt.
                let joined = after.trim_start().starts_with('+');
                seen.opaque |= called && (computed || joined);
                if called || text.contains("<!--") {
                    seen.prompts.push(text);
                }
                called = false;
                rest = after;
            }
            c if is_word(c) => {
                let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                let (word, after) = rest.split_at(end);
                seen.opaque |= called;
                called = false;
                rest = after;
                if word == "agent"
                    && let Some(arguments) = after.trim_start().strip_prefix('(')
                {
                    called = true;
                    rest = arguments;
                }
            }
            c if c.is_whitespace() => rest = behind,
            _ => {
                seen.opaque |= called && c != ')';
                called = false;
                rest = behind;
            }
        }
    }
    seen
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

fn after_comment(text: &str) -> &str {
    let end = if text.starts_with("//") { "\n" } else { "*/" };
    text.get(2..).and_then(|inner| inner.split_once(end)).map_or("", |(_, after)| after)
}

/// The text of a literal that begins before `text`, and what stands behind it. One that does not end goes to the
/// end of the script.
fn literal(text: &str, quote: char) -> (String, &str) {
    let mut value = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            c if c == quote => return (value, chars.as_str()),
            '\\' => match chars.next() {
                Some('n') => value.push('\n'),
                Some('t') => value.push('\t'),
                Some('r') => value.push('\r'),
                Some('\n') | None => {}
                Some(other) => value.push(other),
            },
            c => value.push(c),
        }
    }
    (value, "")
}
