//! Programs of the simulation that go by the files: agents that recite a script, and checks that look at the work.

use std::path::Path;

use serde_json::Value;
use seriatim_core::doc;

use super::files::SimFiles;
use crate::hands::files::Files;

const FILE_BYTES_MAX: u64 = 16 << 20;

/// The program that plays an agent from a script, `reciter SCRIPT`.
pub(super) const RECITER: &str = "reciter";
/// The program that is green when a file holds some words, `check FILE WORDS`.
pub(super) const CHECK: &str = "check";

/// The program that runs the tests of a small project in Python.
pub(super) const UNITTEST: &str = "unittest";

/// What an agent does in one attempt, by its script.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) write: Vec<(String, String)>,
    /// What is reported: JSON, or a text as it is. Nothing where it is silent.
    pub(super) report: Option<Vec<u8>>,
    pub(super) exit: i32,
}

/// Finds the line for the `turn`-th attempt at a matter; the last line that fits holds for all later ones.
pub(super) fn line(files: &SimFiles, script: &str, (step, phase): (&str, &str), turn: u32) -> Option<Line> {
    let found = files.read(Path::new(script), FILE_BYTES_MAX).ok()?;
    let document = doc::read(&found.bytes, &doc::Limits::default()).ok()?.root.to_json();
    let same = |line: &&Value, key: &str, wanted: &str| line[key].as_str().is_none_or(|said| said == wanted);
    let lines = document.as_array()?.iter();
    let fitting: Vec<&Value> =
        lines.filter(|line| same(line, "step", step) && same(line, "phase", phase)).collect();
    let last = fitting.len().checked_sub(1)?;
    let line = fitting.get(last.min(turn as usize))?;
    let write = line["write"].as_object().into_iter().flatten();
    let report = match &line["report"] {
        Value::Null => None,
        Value::String(text) => Some(text.clone().into_bytes()),
        report => serde_json::to_vec(report).ok(),
    };
    let exit = line["exit"].as_i64().and_then(|code| i32::try_from(code).ok()).unwrap_or(0);
    Some(Line {
        write: write
            .map(|(path, text)| (path.clone(), text.as_str().unwrap_or_default().to_owned()))
            .collect(),
        report,
        exit,
    })
}

/// What a check says: its exit code and its output, as a test runner would put it.
pub(super) fn check(files: &SimFiles, cwd: &Path, words: &[String]) -> (i32, String) {
    let [file, wanted @ ..] = words else { return (2, "nothing to check".to_owned()) };
    let wanted = wanted.join(" ");
    let text = files.read(&cwd.join(file), FILE_BYTES_MAX).map(|found| found.bytes).unwrap_or_default();
    let green = !text.is_empty() && String::from_utf8_lossy(&text).contains(&wanted);
    let name = file.replace(['/', '.'], "_");
    let (word, passed, failed) = if green { ("ok", 1, 0) } else { ("FAILED", 0, 1) };
    let more = if green { "" } else { "thread panicked at assertion failed: the words are not there\n" };
    let output = format!(
        "running 1 test\ntest {name} ... {word}\n{more}\ntest result: {word}. {passed} passed; {failed} failed; \
         0 ignored; 0 measured; 0 filtered out\n"
    );
    (if green { 0 } else { 101 }, output)
}

/// What a runner of the tests in `tests/` says: each compares the `RESULT` of a module in `src/` with a number.
pub(super) fn unittest(files: &SimFiles, cwd: &Path) -> (i32, String) {
    let text = |path: &str| {
        let found = files.read(&cwd.join(path), FILE_BYTES_MAX).ok()?;
        String::from_utf8(found.bytes).ok()
    };
    let after = |text: &str, mark: &str, end: &str| {
        let (_, rest) = text.split_once(mark)?;
        Some(rest.split(end).next().unwrap_or_default().trim().to_owned())
    };
    let listed = files.list(&cwd.join("tests")).unwrap_or_default();
    let (mut output, mut ran, mut failures, mut errors) = (String::new(), 0, 0, 0);
    let (thick, thin) = ("=".repeat(70), "-".repeat(70));
    for (name, _) in listed.into_iter().filter(|(name, _)| name.starts_with("test_") && name.ends_with(".py"))
    {
        let file = format!("tests/{name}");
        let source = text(&file).unwrap_or_default();
        let module = after(&source, "from src.", " ").unwrap_or_default();
        let test = after(&source, "def ", "(").unwrap_or_default();
        let wanted = after(&source, "assertEqual(RESULT, ", ")").unwrap_or_default();
        ran += 1;
        let code = text(&format!("src/{module}.py"));
        match code.and_then(|code| after(&code, "RESULT = ", "\n")) {
            None => {
                errors += 1;
                output.push_str(&format!(
                    "{thick}\nERROR: {file} (unittest.loader._FailedTest.{file})\n{thin}\nImportError: Failed to import \
                     test module: {file}\nTraceback (most recent call last):\n  File \"loader.py\", line 1, in load\n    \
                     x\nModuleNotFoundError: No module named 'src.{module}'\n\n"
                ));
            }
            Some(result) if result == wanted => output.push_str(&format!("{test} ({file}) ... ok\n")),
            Some(result) => {
                failures += 1;
                output.push_str(&format!(
                    "{thick}\nFAIL: {test} ({file})\n{thin}\nTraceback (most recent call last):\n  File \"{file}\", \
                     line 7, in {test}\n    x\nAssertionError: {result} != {wanted}\n\n"
                ));
            }
        }
    }
    let word = if ran == 1 { "test" } else { "tests" };
    output.push_str(&format!("{thin}\nRan {ran} {word} in 0.001s\n\n"));
    let (code, end) = match (ran, failures + errors) {
        (0, _) => (5, "NO TESTS RAN".to_owned()),
        (_, 0) => (0, "OK".to_owned()),
        _ => (1, format!("FAILED (failures={failures}, errors={errors})")),
    };
    (code, format!("{output}{end}\n"))
}

#[cfg(test)]
mod tests {
    use super::super::fate::Fate;
    use super::*;

    #[test]
    fn a_check_is_green_when_the_words_are_there() {
        let files = SimFiles::new(Fate::default(), "/volatile");
        let words = ["a.txt", "good", "morning"].map(str::to_owned);
        assert_eq!(check(&files, Path::new("/w"), &words).0, 101);
        files.put(Path::new("/w/a.txt"), b"say good morning\n");
        let (code, said) = check(&files, Path::new("/w"), &words);
        assert_eq!(code, 0);
        assert!(said.contains("test result: ok. 1 passed; 0 failed"), "{said}");
    }

    #[test]
    fn the_last_line_that_fits_is_said_again() {
        let files = SimFiles::new(Fate::default(), "/volatile");
        let script = "- {step: a, report: one}\n- {step: b, report: other}\n- {step: a, exit: 3}\n";
        files.put(Path::new("/s.yaml"), script.as_bytes());
        let said = |turn| line(&files, "/s.yaml", ("a", ""), turn).unwrap();
        assert_eq!(said(0).report.as_deref(), Some(b"one".as_slice()));
        assert_eq!((said(1).report, said(1).exit, said(7).exit), (None, 3, 3));
        assert!(line(&files, "/s.yaml", ("c", ""), 0).is_none());
    }
}
