//! Reports in JUnit's XML form, which many tools write.

use super::kinds;
use crate::evidence::Counts;
use crate::evidence::Failed;
use crate::evidence::Kind;
use crate::evidence::Tool;
use crate::evidence::found::Found;
use crate::evidence::text;
use crate::evidence::xml;
use crate::evidence::xml::Piece;

pub(super) fn read(report: &str) -> Found {
    let mut reader = Reader::default();
    for piece in xml::pieces(report) {
        reader.piece(piece);
    }
    reader.end()
}

/// A test case that is being read.
#[derive(Default)]
struct Case {
    name: String,
    file: Option<String>,
    line: Option<u32>,
    skipped: bool,
    fault: Option<Fault>,
}

/// What stands in a `failure` or an `error`.
#[derive(Default)]
struct Fault {
    error: bool,
    kind: String,
    message: String,
    /// The first lines of the text, and its last one.
    said: String,
}

#[derive(Default)]
struct Reader {
    suites: bool,
    declared: Option<Counts>,
    case: Option<Case>,
    /// Whether the text that comes belongs to the fault.
    in_fault: bool,
    passed: u64,
    failed: u64,
    errors: u64,
    skipped: u64,
    found: Found,
}

impl Reader {
    fn piece(&mut self, piece: Piece<'_>) {
        match piece {
            Piece::Open { name: "testsuite" | "testsuites", attributes, .. } => {
                self.suites = true;
                // The outermost element that has counts speaks for all within.
                if self.declared.is_none() {
                    self.declared = declared(attributes);
                }
            }
            Piece::Open { name: "testcase", attributes, empty } => {
                self.close();
                self.case = Some(case_of(attributes));
                if empty {
                    self.close();
                }
            }
            Piece::Open { name: name @ ("failure" | "error"), attributes, empty } => {
                if let Some(case) = self.case.as_mut().filter(|case| case.fault.is_none()) {
                    let value = |wanted| xml::attribute(attributes, wanted).unwrap_or_default();
                    let (kind, message) = (value("type"), value("message"));
                    case.fault = Some(Fault { error: name == "error", kind, message, said: String::new() });
                    self.in_fault = !empty;
                }
            }
            Piece::Open { name: "skipped", .. } => {
                if let Some(case) = &mut self.case {
                    case.skipped = true;
                }
            }
            Piece::Text(said) if self.in_fault => self.said(&xml::unescape(said)),
            Piece::Verbatim(said) if self.in_fault => self.said(said),
            Piece::Close { name: "failure" | "error" } => self.in_fault = false,
            Piece::Close { name: "testcase" } => self.close(),
            _ => {}
        }
    }

    fn said(&mut self, said: &str) {
        if let Some(fault) = self.case.as_mut().and_then(|case| case.fault.as_mut()) {
            fault.said.push_str(said);
        }
    }

    fn close(&mut self) {
        self.in_fault = false;
        let Some(case) = self.case.take() else { return };
        match &case.fault {
            Some(Fault { error: true, .. }) => self.errors += 1,
            Some(Fault { error: false, .. }) => self.failed += 1,
            None if case.skipped => self.skipped += 1,
            None => self.passed += 1,
        }
        if let Some(fault) = &case.fault {
            let said = if fault.message.is_empty() { &fault.said } else { &fault.message };
            let mut failed = Failed::new(&case.name, fault.kind(), said);
            let place = fault.said.lines().rev().find_map(|line| text::place(line.trim()));
            failed = failed.at(place.map(|(place, _)| place));
            failed.file = case.file.or(failed.file);
            failed.line = case.line.or(failed.line);
            self.found.push(failed);
        }
    }

    fn end(mut self) -> Found {
        self.close();
        if !self.suites {
            return Found::default();
        }
        self.found.tool = Some(Tool::Junit);
        self.found.nothing = true;
        let seen = Counts::of(self.passed, self.failed, self.errors, self.skipped);
        // Some tools list only what failed, or nothing.
        let declared = self.declared.filter(|declared| declared.total > seen.total);
        self.found.add_counts(declared.unwrap_or(seen));
        self.found
    }
}

impl Fault {
    /// By the definition of the format a `failure` is an assertion and an `error` is not, but tools differ: pytest
    /// writes every exception in a test as a failure. What is said decides where it says anything.
    fn kind(&self) -> Kind {
        let first = self.said.trim().lines().next().unwrap_or_default();
        let by_name = kinds::of_exception(&self.kind).filter(|_| !self.kind.is_empty());
        // The plainest of all types says less than the message does.
        let plain = matches!(self.kind.as_str(), "" | "Error" | "Exception");
        let by_said = kinds::of_exception(&self.message).or_else(|| kinds::of_exception(first));
        let kind = if plain { by_said.or(by_name) } else { by_name.or(by_said) };
        if !self.error {
            return match kind {
                None if self.said.contains("panic: ") => Kind::Error,
                None => Kind::Assertion,
                Some(Kind::Error) if self.said.contains("expect(") => Kind::Assertion,
                Some(kind) => kind,
            };
        }
        let collecting = self.message.starts_with("collection failure");
        if collecting {
            let cause =
                self.said.lines().filter_map(|line| line.strip_prefix("E  ")).find_map(kinds::of_exception);
            return cause
                .filter(|kind| matches!(kind, Kind::Import | Kind::Compile))
                .unwrap_or(Kind::Collection);
        }
        if self.message.starts_with("failed on setup") || self.message.starts_with("failed on teardown") {
            return Kind::Setup;
        }
        match kind {
            Some(Kind::Assertion) | None => Kind::Error,
            Some(kind) => kind,
        }
    }
}

fn case_of(attributes: &str) -> Case {
    let value = |wanted| xml::attribute(attributes, wanted);
    Case {
        name: value("name").unwrap_or_default(),
        file: value("file"),
        line: value("line").and_then(|line| line.parse().ok()),
        skipped: false,
        fault: None,
    }
}

fn declared(attributes: &str) -> Option<Counts> {
    let number =
        |wanted| xml::attribute(attributes, wanted).and_then(|value| value.trim().parse::<u64>().ok());
    let total = number("tests")?;
    let (failed, errors) = (number("failures").unwrap_or(0), number("errors").unwrap_or(0));
    let skipped = number("skipped").or_else(|| number("disabled")).unwrap_or(0);
    let others = failed.saturating_add(errors).saturating_add(skipped);
    Some(Counts::of(total.saturating_sub(others), failed, errors, skipped))
}
