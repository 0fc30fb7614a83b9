//! Tests in Go.

use super::Marker;
use super::Scenario;
use super::Source;
use super::mask::Syntax;
use super::mask::mask;

pub(super) fn read(text: &str) -> Source {
    let masked = mask(text, Syntax::Go);
    let mut source = Source::default();
    let mut depth = 0_usize;
    for (number, line) in (1_u32..).zip(masked.lines()) {
        if let Some(name) = test_of(line) {
            source.scenarios.push(Scenario { name: name.to_owned(), line: number, enabled: true });
            depth = 0;
        }
        if let Some(word) = skip_of(line) {
            let test = source.scenarios.last_mut();
            let name = test.as_ref().map(|scenario| scenario.name.clone());
            // In the body itself it holds always; further in it stands under a condition.
            test.into_iter().filter(|_| depth <= 1).for_each(|scenario| scenario.enabled = false);
            source.markers.push(Marker { line: number, word: word.to_owned(), test: name });
        }
        for byte in line.bytes() {
            match byte {
                b'{' => depth += 1,
                b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
    }
    never_built(text, &mut source);
    source
}

fn test_of(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("func ")?;
    let (name, _) = rest.split_once('(')?;
    let name = name.trim();
    ["Test", "Fuzz", "Example"]
        .iter()
        .any(|start| name.starts_with(start))
        .then_some(name)
        .filter(|n| *n != "TestMain")
}

/// `t.Skip(`, `t.Skipf(` or `t.SkipNow(` without the bracket.
fn skip_of(line: &str) -> Option<&str> {
    line.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.')))
        .find(|word| matches!(word.rsplit_once('.'), Some((_, "Skip" | "Skipf" | "SkipNow"))))
}

/// A file that is never built holds no test that runs.
fn never_built(text: &str, source: &mut Source) {
    let head = text.lines().take_while(|line| !line.starts_with("package "));
    for (number, line) in (1_u32..).zip(head) {
        if matches!(line.trim(), "//go:build ignore" | "// +build ignore") {
            source.scenarios.iter_mut().for_each(|scenario| scenario.enabled = false);
            source.markers.push(Marker { line: number, word: line.trim().to_owned(), test: None });
        }
    }
}
