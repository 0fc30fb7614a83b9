//! Values that look like secrets, and those that only stand for one.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

/// Shorter values are words more often than secrets.
const LEN_MIN: usize = 12;

/// Bits for each character. Words of a language have fewer; a random text of this length has more.
const ENTROPY_MIN: f64 = 3.0;

/// `name = "value"`, `name: value`, `"name" => 'value'`. Always there: the tests hold that it is valid.
static ASSIGNED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)(?<name>[a-z0-9_.-]*(?:secret|token|passw(?:or)?d|pwd|api[_-]?key|access[_-]?key|private[_-]?key",
        r"|auth[_-]?key|signing[_-]?key|encryption[_-]?key|credential)[a-z0-9_.-]*)",
        r#"["'\]]{0,2}\s*(?::\s*&?(?:'static\s+)?(?:str|String|string)\s*)?(?::=|=>|=|:)\s*"#,
        r#"(?:"(?<double>[^"]*)"|'(?<single>[^']*)'|(?<bare>[^\s"'`,;]+))"#,
    ))
    .ok()
});

/// Parts of names that tell of something about a secret and not of the secret itself.
const ABOUT: [&str; 14] = [
    "url", "uri", "name", "path", "file", "type", "header", "field", "prefix", "endpoint", "length", "ttl",
    "expiry", "pattern",
];

/// What people write where a secret will be.
const PLACEHOLDERS: [&str; 15] = [
    "example",
    "changeme",
    "change_me",
    "change-me",
    "placeholder",
    "xxxx",
    "your_",
    "your-",
    "dummy",
    "fake",
    "redacted",
    "insert",
    "todo",
    "1234567",
    "sample",
];

/// The names of `line` to which something is assigned that looks like a secret.
pub(super) fn secret_names(line: &str) -> Vec<String> {
    let found = ASSIGNED.iter().flat_map(|pattern| pattern.captures_iter(line));
    found
        .filter_map(|found| {
            let name = found.name("name")?.as_str();
            let quoted = found.name("double").or(found.name("single"));
            let value = quoted.or(found.name("bare"))?.as_str();
            let literal = quoted.is_some() || !is_expression(value);
            (literal && !is_about(name) && looks_random(value) && !is_placeholder(value))
                .then(|| name.chars().take(60).collect())
        })
        .collect()
}

fn is_about(name: &str) -> bool {
    let last = name.rsplit(['_', '-', '.']).next().unwrap_or(name).to_ascii_lowercase();
    ABOUT.contains(&last.as_str())
}

/// Without quotes, a name or a call is not the secret itself.
fn is_expression(value: &str) -> bool {
    let name = |part: &str| part.starts_with(|c: char| c.is_alphabetic() || c == '_');
    value.contains(['(', ')', '[', ']', '{', '}', '<', '>'])
        || value.contains("::")
        || (value.contains('.') && value.split('.').all(name))
        || value.starts_with('&')
}

/// Long enough, of letters and digits, and without the repetition that words have.
fn looks_random(value: &str) -> bool {
    let has = |kind: fn(&char) -> bool| value.chars().any(|c| kind(&c));
    let is_path = value.contains('/')
        && value.split('/').all(|part| part.len() < 20 && !part.chars().any(char::is_uppercase));
    value.chars().count() >= LEN_MIN
        && has(char::is_ascii_digit)
        && has(char::is_ascii_alphabetic)
        && !value.contains(char::is_whitespace)
        && !value.contains("://")
        && !is_path
        && entropy(value) >= ENTROPY_MIN
}

/// Shannon's entropy: how many bits one character carries.
fn entropy(text: &str) -> f64 {
    let mut counts: BTreeMap<char, f64> = BTreeMap::new();
    let mut all = 0.0;
    for c in text.chars() {
        *counts.entry(c).or_default() += 1.0;
        all += 1.0;
    }
    counts.values().map(|count| -(count / all) * f64::log2(count / all)).sum()
}

/// Whether a value only stands for a secret: a variable, a word such as `changeme`, or one character over and over.
pub(super) fn is_placeholder(value: &str) -> bool {
    let plain = value.to_ascii_lowercase();
    let marked = ["${", "$(", "{{", "<", "%(", "process.env", "os.environ", "getenv", "env["];
    let word = ["password", "passwd", "pass", "secret", "token", "user", "test"];
    let few = plain.chars().collect::<std::collections::BTreeSet<_>>().len() <= 3;
    few || plain.starts_with('$')
        || marked.iter().any(|mark| plain.contains(mark))
        || PLACEHOLDERS.iter().any(|mark| plain.contains(mark))
        || word.contains(&plain.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_tells_words_from_random_text() {
        assert_eq!(entropy("aaaaaaaa"), 0.0);
        assert_eq!(entropy("abcdefgh"), 3.0);
        assert!(entropy("mississippi river") < 3.0);
    }
}
