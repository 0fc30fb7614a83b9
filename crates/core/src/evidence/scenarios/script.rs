//! Tests in JavaScript and TypeScript: jest, vitest, mocha and their like.

use super::Marker;
use super::Scenario;
use super::Source;
use super::mask::Syntax;
use super::mask::mask;

pub(super) fn read(text: &str) -> Source {
    let masked = mask(text, Syntax::Script);
    let groups = groups(&masked);
    let source = Source::default();
    let mut reader =
        Reader { text, masked: &masked, groups, source, suites: vec![], depth: 0, chosen: vec![] };
    reader.all();
    reader.end()
}

/// Nobody nests suites deeper; below that they are not told apart.
const SUITES_MAX: usize = 32;

/// An argument that is not a string is not kept where it is longer.
const SOURCE_MAX: usize = 200;

/// A `describe` that is open.
struct Suite {
    /// The bracket depth before its call.
    depth: usize,
    name: String,
    put_off: bool,
    chosen: bool,
}

struct Reader<'t> {
    text: &'t str,
    masked: &'t str,
    /// Where each bracket opens and closes, in the order of opening.
    groups: Vec<(usize, usize)>,
    source: Source,
    suites: Vec<Suite>,
    depth: usize,
    /// For each test, whether `only` was said of it or of a suite around it.
    chosen: Vec<bool>,
}

/// What a call says of its test or suite.
#[derive(Clone, Copy, Default)]
struct Call {
    suite: bool,
    put_off: bool,
    chosen: bool,
    /// `skipIf` and the like: a marker, but on a condition.
    sometimes: bool,
}

impl Reader<'_> {
    fn all(&mut self) {
        let mut at = 0;
        let mut line = 1_u32;
        let bytes = self.masked.as_bytes();
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'\n' => line = line.saturating_add(1),
                b'(' => self.depth += 1,
                b')' => {
                    self.depth = self.depth.saturating_sub(1);
                    while self.suites.last().is_some_and(|suite| suite.depth >= self.depth) {
                        self.suites.pop();
                    }
                }
                byte if is_name(*byte) => {
                    let end = at
                        + bytes.iter().skip(at).take_while(|byte| is_name(**byte) || **byte == b'.').count();
                    self.name(at, end, line);
                    at = end;
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// A name with its dots, which may be a call that declares a test.
    fn name(&mut self, start: usize, end: usize, line: u32) {
        let after_dot = start.checked_sub(1).and_then(|at| self.masked.as_bytes().get(at)) == Some(&b'.');
        let written = self.masked.get(start..end).unwrap_or_default();
        let Some(call) = Call::of(written).filter(|_| !after_dot) else { return };
        let Some(name) = self.argument(end, written) else { return };
        let path: Vec<&str> =
            self.suites.iter().map(|suite| suite.name.as_str()).chain([name.as_str()]).collect();
        let full = path.join(" > ");
        if call.put_off || call.chosen || call.sometimes {
            let word = written.to_owned();
            self.source.markers.push(Marker { line, word, test: Some(full.clone()) });
        }
        let put_off = call.put_off || self.suites.last().is_some_and(|suite| suite.put_off);
        let chosen = call.chosen || self.suites.last().is_some_and(|suite| suite.chosen);
        if call.suite && self.suites.len() < SUITES_MAX {
            self.suites.push(Suite { depth: self.depth, name, put_off, chosen });
        } else if !call.suite {
            self.source.scenarios.push(Scenario { name: full, line, enabled: !put_off });
            self.chosen.push(chosen);
        }
    }

    /// The first argument of the call whose name ends at `end`: the text of a string, or the source of anything else.
    fn argument(&self, end: usize, written: &str) -> Option<String> {
        let mut rest = self.masked.get(end..)?;
        // A table, or a condition, stands in brackets of its own before the name.
        if ["each", "for", "skipIf", "runIf"].contains(&written.rsplit('.').next().unwrap_or_default()) {
            rest = self.after_group(rest)?;
        }
        let inside = rest.trim_start().strip_prefix('(')?.trim_start();
        let from = self.masked.len() - inside.len();
        if let Some(quote) = inside.chars().next().filter(|c| matches!(c, '"' | '\'' | '`')) {
            let close = inside.get(1..)?.find(quote)?;
            return Some(self.text.get(from + 1..from + 1 + close)?.to_owned());
        }
        let length = inside.bytes().take(SOURCE_MAX).position(|byte| matches!(byte, b',' | b')' | b'\n'))?;
        let source = self.text.get(from..from + length)?.trim();
        (!source.is_empty()).then(|| source.to_owned())
    }

    /// What follows a group in brackets, or a template, at the beginning of a rest of the source.
    fn after_group<'r>(&self, rest: &'r str) -> Option<&'r str> {
        let rest = rest.trim_start();
        if let Some(template) = rest.strip_prefix('`') {
            return template.split_once('`').map(|(_, rest)| rest);
        }
        let start = self.masked.len() - rest.len();
        let at = self.groups.binary_search_by_key(&start, |(open, _)| *open).ok()?;
        let (open, close) = self.groups.get(at)?;
        rest.get(close - open + 1..)
    }

    fn end(mut self) -> Source {
        // Where one is chosen, the others do not run.
        if self.chosen.contains(&true) {
            for (scenario, chosen) in self.source.scenarios.iter_mut().zip(&self.chosen) {
                scenario.enabled &= chosen;
            }
        }
        self.source
    }
}

impl Call {
    fn of(written: &str) -> Option<Call> {
        let mut words = written.split('.');
        let mut call = match words.next()? {
            "it" | "test" | "specify" => Call::default(),
            "xit" | "xtest" | "xspecify" => Call { put_off: true, ..Call::default() },
            "fit" => Call { chosen: true, ..Call::default() },
            "describe" | "context" | "suite" => Call { suite: true, ..Call::default() },
            "xdescribe" | "xcontext" => Call { suite: true, put_off: true, ..Call::default() },
            "fdescribe" => Call { suite: true, chosen: true, ..Call::default() },
            _ => return None,
        };
        for word in words {
            match word {
                "skip" | "todo" | "failing" | "fails" | "fixme" => call.put_off = true,
                "only" => call.chosen = true,
                "skipIf" | "runIf" => call.sometimes = true,
                "describe" => call.suite = true,
                "each" | "for" | "concurrent" | "sequential" | "shuffle" | "parallel" | "serial" => {}
                _ => return None,
            }
        }
        Some(call)
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}

/// The brackets that close again.
fn groups(masked: &str) -> Vec<(usize, usize)> {
    let mut open = vec![];
    let mut groups = vec![];
    for (at, byte) in masked.bytes().enumerate() {
        match byte {
            b'(' => open.push(at),
            b')' => groups.extend(open.pop().map(|start| (start, at))),
            _ => {}
        }
    }
    groups.sort_unstable();
    groups
}
