//! Tests in Python: pytest and unittest.

use super::Marker;
use super::Scenario;
use super::Source;
use super::mask::Syntax;
use super::mask::mask;

pub(super) fn read(text: &str) -> Source {
    let mut reader = Reader::default();
    for (number, line) in (1_u32..).zip(mask(text, Syntax::Python).lines()) {
        reader.line(number, line);
    }
    reader.end()
}

/// A class or a function that is open.
struct Block {
    indent: usize,
    name: String,
    put_off: bool,
    /// The test, for a function that is one.
    scenario: Option<usize>,
    is_class: bool,
    /// Known from the first line inside.
    body_indent: Option<usize>,
}

#[derive(Default)]
struct Reader {
    source: Source,
    blocks: Vec<Block>,
    /// The decorators above what comes next: their text, and where their markers stand in the list.
    decorators: Vec<String>,
    waiting: Vec<usize>,
    /// How many brackets are open at the start of the line.
    depth: usize,
    in_decorator: bool,
    file_put_off: bool,
}

impl Reader {
    fn line(&mut self, number: u32, line: &str) {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            return;
        }
        let continues = self.depth > 0;
        self.depth = line.bytes().fold(self.depth, |depth, byte| match byte {
            b'(' | b'[' | b'{' => depth + 1,
            b')' | b']' | b'}' => depth.saturating_sub(1),
            _ => depth,
        });
        if continues {
            if let Some(decorator) = self.decorators.last_mut().filter(|_| self.in_decorator) {
                decorator.push_str(trimmed);
            }
            self.markers(number, trimmed);
            return;
        }
        let indent = line.len() - line.trim_start().len();
        while self.blocks.last().is_some_and(|block| block.indent >= indent) {
            self.blocks.pop();
        }
        if let Some(block) = self.blocks.last_mut() {
            block.body_indent.get_or_insert(indent);
        }
        self.in_decorator = trimmed.starts_with('@');
        if self.in_decorator {
            self.decorators.push(trimmed.to_owned());
            self.markers(number, trimmed);
            return;
        }
        self.markers(number, trimmed);
        self.statement(number, indent, trimmed);
    }

    fn statement(&mut self, number: u32, indent: usize, line: &str) {
        let function = line.strip_prefix("async def ").or_else(|| line.strip_prefix("def "));
        if let Some(rest) = function.or_else(|| line.strip_prefix("class ")) {
            let name: String =
                rest.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            self.open(number, indent, name, function.is_none());
            return;
        }
        let at_top_of_body = self.blocks.last().is_none_or(|block| block.body_indent == Some(indent));
        if at_top_of_body && (stops(line) || line.starts_with("pytestmark") && puts_off(line)) {
            match self.blocks.last_mut() {
                Some(block) => {
                    block.put_off = true;
                    let scenario = block.scenario.and_then(|at| self.source.scenarios.get_mut(at));
                    scenario.into_iter().for_each(|scenario| scenario.enabled = false);
                }
                None => self.file_put_off = true,
            }
        }
        self.decorators.clear();
        self.waiting.clear();
    }

    fn open(&mut self, number: u32, indent: usize, name: String, is_class: bool) {
        let in_classes = self.blocks.iter().all(|block| block.is_class);
        let around = self.blocks.iter().any(|block| block.put_off);
        let put_off = around || self.decorators.iter().any(|decorator| puts_off(decorator));
        let mut path: Vec<&str> = self.blocks.iter().map(|block| block.name.as_str()).collect();
        path.push(&name);
        let full = path.join("::");
        for at in self.waiting.drain(..) {
            if let Some(marker) = self.source.markers.get_mut(at) {
                marker.test = Some(full.clone());
            }
        }
        self.decorators.clear();
        let is_test = !is_class && in_classes && name.starts_with("test");
        let scenario = is_test.then_some(self.source.scenarios.len());
        if is_test {
            self.source.scenarios.push(Scenario { name: full, line: number, enabled: !put_off });
        }
        self.blocks.push(Block { indent, name, put_off, scenario, is_class, body_indent: None });
    }

    fn markers(&mut self, number: u32, line: &str) {
        let decorator = self.in_decorator;
        let around: Vec<&str> = self.blocks.iter().map(|block| block.name.as_str()).collect();
        let around = (!around.is_empty()).then(|| around.join("::"));
        for word in words(line).filter(|word| is_marker(word, decorator)) {
            if decorator {
                self.waiting.push(self.source.markers.len());
            }
            let word = if decorator { format!("@{word}") } else { word.to_owned() };
            self.source.markers.push(Marker { line: number, word, test: around.clone() });
        }
    }

    fn end(mut self) -> Source {
        if self.file_put_off {
            self.source.scenarios.iter_mut().for_each(|scenario| scenario.enabled = false);
        }
        self.source
    }
}

/// Names with the dots between them.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.')))
        .map(|word| word.trim_matches('.'))
        .filter(|word| !word.is_empty())
}

fn is_marker(word: &str, decorator: bool) -> bool {
    let (before, last) = word.rsplit_once('.').unwrap_or(("", word));
    match last {
        "skipif" | "skipIf" | "skipUnless" | "expectedFailure" | "importorskip" | "skipTest" | "SkipTest" => {
            true
        }
        "skip" | "xfail" => decorator || before.ends_with("mark") || before.ends_with("pytest"),
        _ => false,
    }
}

/// Whether a decorator or a mark puts off without a condition. One whose condition is written out as true does.
fn puts_off(text: &str) -> bool {
    let argument = |word: &str| {
        let (_, rest) = text.split_once(word)?;
        rest.trim_start().strip_prefix('(')?.split([',', ')']).next().map(str::trim)
    };
    words(text).any(|word| match word.rsplit('.').next().unwrap_or(word) {
        "skip" | "xfail" | "expectedFailure" => true,
        "skipif" | "skipIf" => matches!(argument(word), Some("True" | "1")),
        "skipUnless" => matches!(argument(word), Some("False" | "0")),
        _ => false,
    })
}

/// Whether a statement ends the test, or the file, as skipped.
fn stops(line: &str) -> bool {
    const STARTS: [&str; 7] = [
        "pytest.skip(",
        "pytest.xfail(",
        "self.skipTest(",
        "raise unittest.SkipTest",
        "raise SkipTest",
        "raise pytest.skip",
        "__test__ = False",
    ];
    STARTS.iter().any(|start| line.starts_with(start))
}
