//! Writing YAML that every reader understands the same way, those of YAML 1.1 included.
//!
//! Keys keep their order. A text is quoted whenever some reader might take it for something else (`no`,
//! `5.1.1`, a date); texts of several lines become literal blocks where that is exact.

use std::fmt::Write as _;

use serde_json::Value as Json;

/// Longer keys need the explicit form `? key`.
const IMPLICIT_KEY_MAX: usize = 1000;

/// A whole document in block style, ending with a line break.
pub fn write(value: &Json) -> String {
    let mut out = String::new();
    node(value, 0, &mut out);
    out
}

/// Writes a collection or scalar whose first line begins where `out` ends, at column `indent`.
pub(super) fn node(value: &Json, indent: usize, out: &mut String) {
    match value {
        Json::Object(map) if !map.is_empty() => {
            for (index, (key, value)) in map.iter().enumerate() {
                if index > 0 {
                    pad(indent, out);
                }
                entry(key, value, indent, out);
            }
        }
        Json::Array(items) if !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    pad(indent, out);
                }
                out.push_str("- ");
                match literal(item, indent + 2) {
                    Some(block) => out.push_str(&block),
                    None => node(item, indent + 2, out),
                }
            }
        }
        _ => {
            out.push_str(&inline(value));
            out.push('\n');
        }
    }
}

/// Writes one `key: value` of a mapping at column `indent`.
pub(super) fn entry(key: &str, value: &Json, indent: usize, out: &mut String) {
    let key = text(key);
    if key.len() > IMPLICIT_KEY_MAX {
        let _ = write!(out, "? {key}\n{:indent$}:", "");
    } else {
        out.push_str(&key);
        out.push(':');
    }
    if let Some(block) = literal(value, indent + 2) {
        out.push(' ');
        out.push_str(&block);
    } else if is_block(value) {
        out.push('\n');
        pad(indent + 2, out);
        node(value, indent + 2, out);
    } else {
        out.push(' ');
        node(value, indent + 2, out);
    }
}

/// True for collections that take lines of their own.
pub(super) fn is_block(value: &Json) -> bool {
    match value {
        Json::Object(map) => !map.is_empty(),
        Json::Array(items) => !items.is_empty(),
        _ => false,
    }
}

fn pad(indent: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', indent));
}

/// A value on one line. Collections take JSON's form, which is YAML too.
pub(super) fn inline(value: &Json) -> String {
    match value {
        Json::String(string) => text(string),
        other => flow(other),
    }
}

/// A value inside brackets or braces: the form of JSON, so that a JSON file stays one.
pub(super) fn flow(value: &Json) -> String {
    match value {
        Json::Null => "null".to_owned(),
        Json::Bool(value) => value.to_string(),
        Json::Number(number) => self::number(number),
        Json::String(string) => quoted(string),
        Json::Array(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Json::Object(map) => {
            let entries = map.iter().map(|(key, value)| format!("{}: {}", quoted(key), flow(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}

/// A number. Readers of YAML 1.1 want a point and a signed exponent in a float.
fn number(number: &serde_json::Number) -> String {
    let text = number.to_string();
    let Some((mantissa, exponent)) = text.split_once(['e', 'E']) else { return text };
    let point = if mantissa.contains('.') { "" } else { ".0" };
    let sign = if exponent.starts_with(['-', '+']) { "" } else { "+" };
    format!("{mantissa}{point}e{sign}{exponent}")
}

/// A text on one line: as it is where nothing can be mistaken, else in double quotes.
fn text(string: &str) -> String {
    if is_plain(string) { string.to_owned() } else { quoted(string) }
}

/// True when no reader takes the unquoted text for anything but itself.
fn is_plain(string: &str) -> bool {
    let Some(first) = string.chars().next() else { return false };
    // Numbers, dates, versions and document marks of all YAML versions begin with one of these.
    let starts_well =
        first.is_alphabetic() || matches!(first, '_' | '/' | '(' | '$' | '^' | ';') || first as u32 >= 0xA1;
    starts_well
        && !string.ends_with([' ', ':'])
        && !string.contains(": ")
        && !string.contains(" #")
        && string.chars().all(|c| is_safe(c) && c != '\t')
        && !is_word_of_yaml(string)
}

/// Words that mean null or a truth value in some version of YAML.
fn is_word_of_yaml(string: &str) -> bool {
    let lower = string.to_lowercase();
    matches!(lower.as_str(), "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n")
}

/// Characters that may stand in a file as they are and break no line.
fn is_safe(c: char) -> bool {
    matches!(c, '\t' | ' '..='\u{7E}' | '\u{A0}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
        && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{FEFF}')
}

/// In double quotes, with the escapes that JSON knows too.
fn quoted(string: &str) -> String {
    let mut out = String::with_capacity(string.len() + 2);
    out.push('"');
    for c in string.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_safe(c) => out.push(c),
            c => {
                let _ = write!(out, "\\u{:04X}", c as u32);
            }
        }
    }
    out.push('"');
    out
}

/// A text of several lines as a literal block whose lines begin at column `indent`, with its line break.
/// `None` for everything that such a block would not carry exactly, or would carry invisibly.
pub(super) fn literal(value: &Json, indent: usize) -> Option<String> {
    let string = value.as_str().filter(|string| string.contains('\n'))?;
    let body = string.trim_end_matches('\n');
    let blank_ends = string.len() - body.len();
    let fits =
        |line: &str| !line.starts_with('\t') && !line.ends_with([' ', '\t']) && line.chars().all(is_safe);
    if body.is_empty() || body.starts_with('\n') || !body.split('\n').all(fits) {
        return None;
    }
    let indentation = if body.starts_with(' ') { "2" } else { "" };
    let chomping = match blank_ends {
        0 => "-",
        1 => "",
        _ => "+",
    };
    let mut out = format!("|{indentation}{chomping}\n");
    for line in body.split('\n') {
        if !line.is_empty() {
            pad(indent, &mut out);
            out.push_str(line);
        }
        out.push('\n');
    }
    out.extend(std::iter::repeat_n('\n', blank_ends.saturating_sub(1)));
    Some(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::doc::Limits;
    use crate::doc::read;

    fn read_back(yaml: &str) -> Json {
        match read(yaml.as_bytes(), &Limits::default()) {
            Ok(document) => document.root.to_json(),
            Err(findings) => panic!("{yaml}\n{findings:?}"),
        }
    }

    #[test]
    fn what_could_be_mistaken_is_quoted() {
        let value = json!({
            "id": "5.1.1", "flag": "no", "at": "2026-01-18T14:30:52Z", "note": "plain words, with a comma",
            "colon": "a: b", "hash": "a #b", "blank": " x ", "empty": "", "tilde": "~", "star": "*x",
            "number": 1e30, "small": 0.5, "null": null, "bell": "\u{7}", "break": "\u{85}",
            "list": [], "map": {}, "text": "one\n\n  two\n", "steps": [{"id": 1, "name": "x"}, ["a", ["b"]], "c\nd"],
        });
        let expected = "id: \"5.1.1\"\nflag: \"no\"\nat: \"2026-01-18T14:30:52Z\"\nnote: plain words, with a comma\n\
            colon: \"a: b\"\nhash: \"a #b\"\nblank: \" x \"\nempty: \"\"\ntilde: \"~\"\nstar: \"*x\"\n\
            number: 1.0e+30\nsmall: 0.5\n\"null\": null\nbell: \"\\u0007\"\nbreak: \"\\u0085\"\n\
            list: []\nmap: {}\ntext: |\n  one\n\n    two\n\
            steps:\n  - id: 1\n    name: x\n  - - a\n    - - b\n  - |-\n    c\n    d\n";
        assert_eq!(write(&value), expected);
        assert_eq!(read_back(expected), value);
    }

    #[test]
    fn blocks_carry_leading_blanks_and_trailing_lines() {
        let value =
            json!({"a": "  lead\nx", "b": "x\n\n\n", "c": "\nx", "d": "x \ny", "e": "\tx\ny", "f": 1});
        let expected =
            "a: |2-\n    lead\n  x\nb: |+\n  x\n\n\nc: \"\\nx\"\nd: \"x \\ny\"\ne: \"\\tx\\ny\"\nf: 1\n";
        assert_eq!(write(&value), expected);
        assert_eq!(read_back(expected), value);
    }

    fn any_json() -> impl Strategy<Value = Json> {
        let string = prop_oneof![
            any::<String>(),
            "[ -~]{0,12}",
            "[a-z \n\t#:\\-'\"|>&*!%@`{}\\[\\],?~0-9.]{0,16}",
            "( {0,3}[a-z]{0,3}\n{0,3}){0,4}",
            prop::sample::select(vec![
                "no", "~", "1_000", "12:30", "0x1F", "---", "...", "<<", "=", "- a", "null", ".inf", "1e5"
            ])
            .prop_map(str::to_owned),
        ];
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::from),
            any::<i64>().prop_map(Json::from),
            any::<u64>().prop_map(Json::from),
            any::<f64>().prop_filter("finite", |f| f.is_finite()).prop_map(Json::from),
            string.clone().prop_map(Json::from),
        ];
        leaf.prop_recursive(5, 48, 6, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Json::from),
                prop::collection::vec((string.clone(), inner), 0..6)
                    .prop_map(|entries| Json::Object(entries.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_value_is_read_back_as_it_was(value in any_json().prop_filter("null is an empty file", |v| !v.is_null())) {
            prop_assert_eq!(read_back(&write(&value)), value);
        }

        #[test]
        fn the_form_on_one_line_is_read_back_too(value in any_json()) {
            let line = flow(&value);
            prop_assert!(!line.contains('\n'));
            prop_assert_eq!(read_back(&format!("[{line}]")), Json::Array(vec![value]));
        }
    }

    #[test]
    fn long_keys_take_the_explicit_form() {
        let value = json!({"k".repeat(3000): {"a": [1]}, "b": {"é".repeat(900): "x\ny\n"}});
        assert_eq!(read_back(&write(&value)), value);
    }
}
