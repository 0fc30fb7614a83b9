//! A runner of tests in memory: it reads the sources and prints as pytest does.

use crate::repository::Files;

/// Runs all tests and returns the exit code and the output.
pub(crate) fn run(files: &Files) -> (i32, String) {
    let (mut passed, mut failed, mut errors, mut skipped) = (0, 0, 0, 0);
    let mut summary = String::new();
    for (path, text) in files.iter().filter(|(path, _)| path.starts_with("tests/test_")) {
        let module =
            text.lines().find_map(|line| line.strip_prefix("from src.")?.strip_suffix(" import RESULT"));
        let Some(code) = module.and_then(|module| files.get(&format!("src/{module}.py"))) else {
            errors += 1;
            summary.push_str(&format!("ERROR {path} - ModuleNotFoundError: No module named 'src'\n"));
            continue;
        };
        let result = code.lines().find_map(|line| line.strip_prefix("RESULT = ")).unwrap_or_default();
        let mut marked = false;
        let mut test = "";
        for line in text.lines().map(str::trim) {
            if line.starts_with("@pytest.mark.skip") {
                marked = true;
            } else if let Some(name) = line.strip_prefix("def ") {
                test = name.split('(').next().unwrap_or_default();
                skipped += u32::from(marked);
                test = if std::mem::take(&mut marked) { "" } else { test };
            } else if let Some(wanted) = line.strip_prefix("assert RESULT == ").filter(|_| !test.is_empty()) {
                match wanted == result {
                    true => passed += 1,
                    false => {
                        failed += 1;
                        summary.push_str(&format!("FAILED {path}::{test} - assert {result} == {wanted}\n"));
                    }
                }
            }
        }
    }
    let parts = [(failed, "failed"), (passed, "passed"), (skipped, "skipped"), (errors, "error")];
    let counts: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    if counts.is_empty() {
        return (5, "==== no tests ran in 0.01s ====\n".to_owned());
    }
    let heading = if summary.is_empty() { "" } else { "=== short test summary info ===\n" };
    let code = if errors > 0 { 2 } else { i32::from(failed > 0) };
    (code, format!("{heading}{summary}==== {} in 0.01s ====\n", counts.join(", ")))
}
