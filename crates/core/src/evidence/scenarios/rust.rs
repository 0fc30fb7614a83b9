//! Tests in Rust: functions with an attribute that makes them tests.

use super::Marker;
use super::Scenario;
use super::Source;
use super::mask::Syntax;
use super::mask::mask;

pub(super) fn read(text: &str) -> Source {
    let masked = mask(text, Syntax::Rust);
    let mut source = Source::default();
    let mut attributes: Vec<(u32, &str)> = vec![];
    let mut line = 1_u32;
    let mut rest = masked.as_str();
    while let Some(c) = rest.chars().next() {
        let mut taken = c.len_utf8();
        match c {
            '\n' => line = line.saturating_add(1),
            '#' => {
                let (inside, length) = attribute(rest);
                attributes.extend(inside.map(|inside| (line, inside)));
                taken = length;
            }
            ';' | '{' | '}' => attributes.clear(),
            c if c.is_alphabetic() || c == '_' => {
                taken = word(rest).len();
                if word(rest) == "fn" {
                    let name = word(rest.get(taken..).unwrap_or_default().trim_start());
                    function(&mut source, name, line, &attributes);
                    attributes.clear();
                }
            }
            _ => {}
        }
        let (passed, left) = rest.split_at(taken);
        if taken > 1 {
            line = line.saturating_add(passed.bytes().filter(|byte| *byte == b'\n').count() as u32);
        }
        rest = left;
    }
    source
}

fn word(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// An attribute that is not closed by then is not one.
const ATTRIBUTE_MAX: usize = 2048;

/// The inside of `#[...]` and how much of the text it takes; a lone `#` takes itself.
fn attribute(text: &str) -> (Option<&str>, usize) {
    if !text.starts_with("#[") {
        return (None, 1);
    }
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate().take(ATTRIBUTE_MAX) {
        match byte {
            b'[' => depth += 1,
            b']' => {
                depth -= 1;
                if depth == 0 {
                    return (text.get(2..at), at + 1);
                }
            }
            _ => {}
        }
    }
    (None, 1)
}

fn function(source: &mut Source, name: &str, line: u32, attributes: &[(u32, &str)]) {
    if !attributes.iter().any(|(_, inside)| makes_test(inside)) {
        return;
    }
    let mut enabled = true;
    for (line, inside) in attributes {
        let put_off = path(inside) == "ignore" || never_compiled(inside);
        let sometimes = path(inside) == "cfg_attr" && inside.contains("ignore");
        enabled &= !put_off;
        if put_off || sometimes {
            let word = format!("#[{}]", path(inside));
            source.markers.push(Marker { line: *line, word, test: Some(name.to_owned()) });
        }
    }
    source.scenarios.push(Scenario { name: name.to_owned(), line, enabled });
}

/// `tokio::test(flavor = "...")` as `tokio::test`.
fn path(attribute: &str) -> &str {
    attribute.split(['(', '=']).next().unwrap_or(attribute).trim()
}

fn makes_test(attribute: &str) -> bool {
    let last = path(attribute).rsplit("::").next().unwrap_or_default();
    matches!(last, "test" | "rstest" | "test_case" | "quickcheck" | "wasm_bindgen_test" | "test_log")
}

fn never_compiled(attribute: &str) -> bool {
    let plain: String = attribute.chars().filter(|c| !c.is_whitespace()).collect();
    matches!(plain.as_str(), "cfg(any())" | "cfg(false)" | "cfg(FALSE)")
}
