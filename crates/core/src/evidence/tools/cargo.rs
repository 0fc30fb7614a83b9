//! `cargo test`: the output of the compiler and of one test binary after the other.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use super::panics;
use super::panics::Panic;
use super::panics::Panics;
use crate::evidence::Counts;
use crate::evidence::Failed;
use crate::evidence::Kind;
use crate::evidence::Tool;
use crate::evidence::found::Found;
use crate::evidence::text;

pub(super) fn read(lines: &[&str]) -> Found {
    let mut reader = Reader::default();
    for line in lines {
        reader.line(line);
    }
    reader.begins(0);
    let mut found = reader.found;
    for failed in compile_errors(lines).into_iter().chain(refusal(lines)) {
        found.tool = Some(Tool::CargoTest);
        found.push(failed);
    }
    found
}

#[derive(Default)]
struct Reader {
    found: Found,
    panics: Panics,
    /// By thread, for output that was not captured.
    seen: BTreeMap<String, Panic>,
    /// The failures of the binary that is being read.
    named: BTreeSet<String>,
    /// The failure whose block is being read; settled once its first panic has come.
    block: Option<Failed>,
    settled: bool,
    /// Whether the list of names at the end of a binary is being read.
    listing: bool,
    /// So many tests were announced, and their result has not come yet.
    awaited: u64,
    /// Tests that failed among them, by their own lines.
    failing: Vec<String>,
}

impl Reader {
    fn line(&mut self, line: &str) {
        if let Some(name) = line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----")) {
            self.close();
            self.named.insert(name.to_owned());
            self.block = Some(Failed::new(name, Kind::Error, ""));
            self.settled = false;
            return;
        }
        match line {
            "failures:" => {
                self.close();
                self.listing = true;
                return;
            }
            _ if self.listing && line.starts_with("    ") => self.listed(line.trim()),
            _ if !line.is_empty() => self.listing = false,
            _ => {}
        }
        if let Some(result) = line.strip_prefix("test result: ") {
            self.close();
            self.result(result);
        } else if let Some((number, _)) =
            line.strip_prefix("running ").and_then(text::counted).filter(|(_, w)| w.starts_with("test"))
        {
            self.begins(number);
            self.found.tool = Some(Tool::CargoTest);
        } else if line.trim_start().starts_with("process didn't exit successfully: ") {
            self.close();
            self.died(line);
        } else if let Some(name) =
            line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED"))
        {
            self.failing.push(name.to_owned());
        } else {
            self.inside(line);
        }
    }

    /// A binary announces its tests. One before it that gave no result ended in the middle: what it would have said is not
    /// known, and what failed until then has failed.
    fn begins(&mut self, number: u64) {
        let failing = std::mem::take(&mut self.failing);
        let awaited = std::mem::replace(&mut self.awaited, number);
        if awaited > 0 {
            let failed = failing.len() as u64;
            failing.iter().for_each(|name| self.found.push(Failed::new(name, Kind::Error, "")));
            self.found.add_counts(Counts::of(0, failed, 0, 0));
            let said = format!("{awaited} tests were begun and no result was given");
            self.found.push(Failed::new("cargo test", Kind::Crash, &said));
        }
        self.named.clear();
    }

    /// A line in the block of a failure, or between blocks.
    fn inside(&mut self, line: &str) {
        if let Some(panic) = self.panics.line(line) {
            if let Some(failed) = self.block.as_mut().filter(|_| !self.settled) {
                settle(failed, &panic);
                self.settled = true;
            }
            self.seen.entry(panic.thread.clone()).or_insert(panic);
            return;
        }
        let Some(failed) = self.block.as_mut().filter(|_| !self.settled) else { return };
        let judged = line.strip_prefix("note: ").filter(|note| {
            note.starts_with("test did not panic as expected")
                || note.starts_with("panic did not contain expected string")
        });
        if let Some(note) = judged {
            failed.kind = Kind::Assertion;
            failed.message = text::short(note);
            self.settled = true;
        } else if line.starts_with("error[E") || line == "Couldn't compile the test." {
            failed.kind = Kind::Compile;
            failed.message = text::short(line);
            self.settled = true;
        } else if let Some(error) = line.strip_prefix("Error: ") {
            failed.message = text::short(error);
        }
    }

    /// A name in the list at the end: it has no block where the output was not captured.
    fn listed(&mut self, name: &str) {
        if !self.named.insert(name.to_owned()) {
            return;
        }
        let mut failed = Failed::new(name, Kind::Error, "");
        if let Some(panic) = self.seen.get(name) {
            settle(&mut failed, panic);
        }
        self.found.push(failed);
    }

    /// `FAILED. 1 passed; 11 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.10s`
    fn result(&mut self, result: &str) {
        let Some((_, items)) = result.split_once(". ") else { return };
        self.awaited = 0;
        let number = |wanted: &str| {
            items.split(';').filter_map(text::counted).find(|(_, word)| *word == wanted).map_or(0, |(n, _)| n)
        };
        self.found.tool = Some(Tool::CargoTest);
        self.found.add_counts(Counts::of(number("passed"), number("failed"), 0, number("ignored")));
        // A line of a test and the result of its binary that say different things leave open what happened.
        let failing = std::mem::take(&mut self.failing);
        if number("failed") == 0 {
            failing.iter().for_each(|name| self.found.push(Failed::new(name, Kind::Error, "")));
        }
    }

    fn died(&mut self, line: &str) {
        let by_signal = line.contains("(signal: ") || line.contains("0xc000") || line.contains("0xC000");
        if by_signal {
            let binary = line.split('`').nth(1).unwrap_or_default();
            let name = binary.rsplit(['/', '\\']).next().unwrap_or(binary);
            let why = line.rsplit_once('(').map_or("", |(_, why)| why.trim_end_matches(')'));
            self.found.tool = Some(Tool::CargoTest);
            self.found.push(Failed::new(name, Kind::Crash, why));
        }
    }

    fn close(&mut self) {
        if let Some(failed) = self.block.take() {
            self.found.push(failed);
        }
    }
}

pub(super) fn settle(failed: &mut Failed, panic: &Panic) {
    failed.kind = match panics::kind_of(panic, &failed.name) {
        // A test in a document runs in the main thread of a file of its own.
        Kind::Error if document(&failed.name).is_some() && !panic.message.starts_with("called `") => {
            Kind::Assertion
        }
        kind => kind,
    };
    failed.message = text::short(&panic.message);
    let place = document(&failed.name).or(panic.place()).map(|(file, line)| (file.to_owned(), line));
    (failed.file, failed.line) = place.unzip();
}

/// `src/lib.rs - greet (line 1)`: the place of a test in a document, which was compiled elsewhere.
fn document(name: &str) -> Option<(&str, u32)> {
    let (file, rest) = name.split_once(" - ")?;
    let (_, line) = rest.rsplit_once("(line ")?;
    Some((file, line.strip_suffix(')')?.parse().ok()?))
}

/// What the compiler refused, where it did.
pub(super) fn compile_errors(lines: &[&str]) -> Vec<Failed> {
    let stopped = lines.iter().find_map(|line| line.strip_prefix("error: could not compile "));
    let Some(stopped) = stopped else { return vec![] };
    let mut errors = vec![];
    let mut message: Option<&str> = None;
    for line in lines {
        if let Some(error) = line.strip_prefix("error").filter(|rest| rest.starts_with(['[', ':'])) {
            message = error.split_once(": ").map(|(_, message)| message);
        } else if let Some(place) = line.trim_start().strip_prefix("--> ")
            && let Some(message) = message.take()
            && let Some(((file, line), _)) = text::place(place)
        {
            errors.push(Failed::new(file, Kind::Compile, message).at(Some((file, line))));
        }
    }
    if errors.is_empty() {
        let name = stopped.split('`').nth(1).unwrap_or(stopped);
        errors.push(Failed::new(name, Kind::Compile, stopped));
    }
    errors
}

/// What cargo itself refused before anything was built.
fn refusal(lines: &[&str]) -> Option<Failed> {
    const STARTS: [&str; 6] = [
        "could not find `Cargo.toml`",
        "no test target named",
        "failed to parse manifest",
        "failed to load manifest",
        "failed to select a version",
        "package ID specification",
    ];
    lines
        .iter()
        .filter_map(|line| line.strip_prefix("error: "))
        .find(|said| STARTS.iter().any(|start| said.starts_with(start)))
        .map(|said| Failed::new("cargo", Kind::Setup, said))
}
