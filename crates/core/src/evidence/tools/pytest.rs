//! pytest: long reports under banners, a short summary, and a last line with the counts.

use std::collections::BTreeMap;

use super::kinds;
use crate::evidence::Counts;
use crate::evidence::FAILURES_MAX;
use crate::evidence::Failed;
use crate::evidence::Kind;
use crate::evidence::Tool;
use crate::evidence::found::Found;
use crate::evidence::text;

/// The command line could not be used.
const EXIT_USAGE: i32 = 4;
/// There was nothing to run.
const EXIT_NOTHING: i32 = 5;

pub(super) fn read(lines: &[&str], exit: Option<i32>) -> Found {
    let mut reader = Reader::default();
    for line in lines {
        reader.line(line);
    }
    reader.end(exit)
}

/// Which part of the output is being read.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Section {
    #[default]
    Other,
    /// The long reports, of failures and errors alike.
    Reports,
    Summary,
}

/// The long report of one failure.
#[derive(Default)]
struct Report {
    title: String,
    /// The lines with an `E` before them, of the last exception: the others led to it.
    said: Vec<String>,
    after_said: bool,
    place: Option<(String, u32)>,
    exception: Option<Kind>,
}

#[derive(Default)]
struct Reader {
    spoke: bool,
    found: Found,
    section: Section,
    report: Option<Report>,
    /// From the long reports, by what the short summary calls them.
    reported: Vec<Failed>,
    summed: Vec<Failed>,
    refused: Option<Failed>,
}

impl Reader {
    fn line(&mut self, line: &str) {
        if let Some(banner) = inside(line, '=') {
            self.close();
            self.banner(banner);
        } else if let Some(counts) = counts_of(line) {
            self.close();
            self.section = Section::Other;
            self.counted(counts);
        } else if let Some(said) = line.strip_prefix("INTERNALERROR> ") {
            self.refuse(Kind::Crash, said);
        } else if line.starts_with("Fatal Python error: ") {
            self.refuse(Kind::Crash, line);
        } else if line.starts_with("ImportError while loading conftest") {
            self.spoke = true;
            self.refuse(Kind::Import, line);
        } else if let Some(said) = line.strip_prefix("ERROR: ") {
            self.refuse(Kind::Collection, said);
        } else {
            match self.section {
                Section::Reports => self.reports(line),
                Section::Summary => self.summary(line),
                Section::Other => {}
            }
        }
    }

    fn banner(&mut self, banner: &str) {
        self.section = match banner {
            "FAILURES" | "ERRORS" => Section::Reports,
            "short test summary info" => Section::Summary,
            _ => Section::Other,
        };
        self.spoke |= self.section != Section::Other || banner == "test session starts";
        if let Some(counts) = counts_of(banner) {
            self.counted(counts);
        }
    }

    fn counted(&mut self, counts: Counts) {
        self.spoke = true;
        self.found.add_counts(counts);
    }

    fn refuse(&mut self, kind: Kind, said: &str) {
        self.refused.get_or_insert_with(|| Failed::new("pytest", kind, said));
    }

    fn reports(&mut self, line: &str) {
        if let Some(title) = inside(line, '_') {
            self.close();
            self.report = Some(Report { title: title.to_owned(), ..Report::default() });
            return;
        }
        let Some(report) = &mut self.report else { return };
        if let Some(said) = line.strip_prefix("E  ").or_else(|| (line == "E").then_some("")) {
            if !report.after_said {
                report.said.clear();
            }
            report.after_said = true;
            // The exception of invalid source stands below the source.
            if report.said.len() < 50 {
                report.said.push(said.trim().to_owned());
            }
            return;
        }
        report.after_said = false;
        if let Some((place, rest)) = text::place(line) {
            report.place = Some((place.0.to_owned(), place.1));
            report.exception =
                rest.strip_prefix(": ").filter(|rest| !rest.starts_with("in ")).and_then(kinds::of_exception);
        }
    }

    /// `FAILED test_greet.py::test_x - AssertionError: ...` and `ERROR test_greet.py`.
    fn summary(&mut self, line: &str) {
        let (error, rest) = match line.split_once(' ') {
            Some(("FAILED", rest)) => (false, rest),
            Some(("ERROR", rest)) => (true, rest),
            _ => return,
        };
        let (id, said) = rest.split_once(" - ").unwrap_or((rest, ""));
        let (file, name) = id.split_once("::").map_or((id, None), |(file, name)| (file, Some(name)));
        let said_kind = kinds::of_exception(said);
        let kind = match (error, name) {
            (false, _) => said_kind.unwrap_or(Kind::Error),
            (true, Some(_)) => Kind::Setup,
            (true, None) => collection(said_kind),
        };
        let mut failed = Failed::new(name.unwrap_or(file), kind, said);
        failed.file = Some(text::short(file));
        if self.summed.len() <= FAILURES_MAX {
            self.summed.push(failed);
        }
    }

    fn close(&mut self) {
        let Some(report) = self.report.take() else { return };
        let said_kind = report.said.iter().find_map(|said| kinds::of_exception(said)).or(report.exception);
        let message = report.said.first().map_or("", String::as_str);
        let failed = if let Some(file) = report.title.strip_prefix("ERROR collecting ") {
            self.not_collected(file, &report, said_kind);
            return;
        } else if let Some((_, test)) = setup(&report.title) {
            Failed::new(&test.replace('.', "::"), Kind::Setup, message)
        } else {
            Failed::new(&report.title.replace('.', "::"), said_kind.unwrap_or(Kind::Error), message)
        };
        let place = report.place.as_ref().map(|(file, line)| (file.as_str(), *line));
        self.reported(failed.at(place));
    }

    /// The frames of the loader say nothing; what counts is the place in the file itself.
    fn not_collected(&mut self, file: &str, report: &Report, said_kind: Option<Kind>) {
        let message = report.said.last().map_or("", String::as_str);
        let mut failed = Failed::new(file, collection(said_kind), message);
        let source =
            report.said.iter().find_map(|said| said.strip_prefix("File \"")?.split_once("\", line "));
        let in_source =
            source.filter(|(path, _)| path.ends_with(file)).and_then(|(_, line)| line.parse().ok());
        let in_frame = report.place.as_ref().filter(|(path, _)| path == file).map(|(_, line)| *line);
        failed.file = Some(text::short(file));
        failed.line = in_source.or(in_frame);
        self.reported(failed);
    }

    fn reported(&mut self, failed: Failed) {
        if self.reported.len() <= FAILURES_MAX {
            self.reported.push(failed);
        }
    }

    fn end(mut self, exit: Option<i32>) -> Found {
        self.close();
        if !self.spoke {
            return Found::default();
        }
        self.found.tool = Some(Tool::Pytest);
        self.found.nothing = exit == Some(EXIT_NOTHING);
        // An `ERROR:` line is also how a program under test may log; it counts where nothing could be started.
        let refused =
            self.refused.filter(|refused| refused.kind != Kind::Collection || exit == Some(EXIT_USAGE));
        refused.into_iter().for_each(|refused| self.found.push(refused));
        for failed in joined(self.summed, self.reported) {
            self.found.push(failed);
        }
        self.found
    }
}

/// The short summary in its order, with what the long reports know better; those alone where there is no summary.
fn joined(summed: Vec<Failed>, reported: Vec<Failed>) -> Vec<Failed> {
    if summed.is_empty() {
        return reported;
    }
    let key = |name: &str| name.replace("::", ".");
    let mut by_name: BTreeMap<String, Vec<Failed>> = BTreeMap::new();
    for failed in reported.into_iter().rev() {
        by_name.entry(key(&failed.name)).or_default().push(failed);
    }
    summed
        .into_iter()
        .map(|short| match by_name.get_mut(&key(&short.name)).and_then(Vec::pop) {
            Some(long) => Failed {
                file: if long.line.is_some() { long.file } else { short.file },
                line: long.line,
                kind: if long.kind == Kind::Error { short.kind } else { long.kind },
                message: if long.message.is_empty() { short.message } else { long.message },
                name: short.name,
            },
            None => short,
        })
        .collect()
}

fn collection(said: Option<Kind>) -> Kind {
    said.filter(|kind| matches!(kind, Kind::Import | Kind::Compile)).unwrap_or(Kind::Collection)
}

fn setup(title: &str) -> Option<(&str, &str)> {
    title.strip_prefix("ERROR at ")?.split_once(" of ")
}

/// The text of a banner that is drawn with `sign`: `=== FAILURES ===`, `___ test_x ___`.
fn inside(line: &str, sign: char) -> Option<&str> {
    let text = line.strip_prefix(sign)?.strip_suffix(sign)?.trim_matches(sign);
    let text = text.strip_prefix(' ')?.strip_suffix(' ')?.trim();
    (!text.is_empty()).then_some(text)
}

/// `7 failed, 2 passed, 1 skipped, 1 error in 0.07s`, and `no tests ran in 0.00s`.
fn counts_of(line: &str) -> Option<Counts> {
    let (items, time) = line.rsplit_once(" in ")?;
    if !time.starts_with(|c: char| c.is_ascii_digit()) || !time.contains('s') {
        return None;
    }
    if items == "no tests ran" {
        return Some(Counts::default());
    }
    let (mut passed, mut failed, mut errors, mut skipped) = (0_u64, 0_u64, 0_u64, 0_u64);
    let mut is_known = false;
    for item in items.split(", ") {
        let (number, word) = text::counted(item)?;
        let counter = match word {
            "passed" | "xpassed" => &mut passed,
            "failed" => &mut failed,
            "error" | "errors" => &mut errors,
            "skipped" | "xfailed" => &mut skipped,
            "subtests failed" => &mut failed,
            "deselected" | "warning" | "warnings" => {
                is_known = true;
                continue;
            }
            // Plugins count things of their own; that does not take back what stands beside them.
            _ => continue,
        };
        is_known = true;
        *counter = counter.saturating_add(number);
    }
    is_known.then(|| Counts::of(passed, failed, errors, skipped))
}
