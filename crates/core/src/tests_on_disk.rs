//! Which files hold tests, and which decide how tests are run, by their names.

/// Files that decide which tests are run and what counts as a pass.
const RUNNERS: [&str; 14] = [
    "conftest.py",
    "pytest.ini",
    "tox.ini",
    "setup.cfg",
    "noxfile.py",
    "sitecustomize.py",
    "usercustomize.py",
    ".coveragerc",
    "nextest.toml",
    ".mocharc.json",
    ".mocharc.js",
    ".mocharc.yml",
    "phpunit.xml",
    "karma.conf.js",
];
/// The first part of names that decide the same.
const RUNNER_STEMS: [&str; 5] =
    ["jest.config.", "vitest.config.", "playwright.config.", "cypress.config.", "ava.config."];

/// Returns whether a file decides how tests are run.
pub fn is_runner_configuration(path: &str) -> bool {
    let name = name_of(path);
    RUNNERS.contains(&name)
        || RUNNER_STEMS.iter().any(|stem| name.starts_with(stem))
        || path.ends_with(".config/nextest.toml")
}

/// Returns whether a file holds tests, by its name or its folder.
pub fn is_test(path: &str) -> bool {
    let name = name_of(path).to_lowercase();
    let stem = name.split('.').next().unwrap_or_default();
    let named = stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("_tests")
        || stem.ends_with("_spec")
        || stem == "tests"
        || name.contains(".test.")
        || name.contains(".spec.");
    let in_folder =
        path.split('/').rev().skip(1).any(|part| matches!(part, "tests" | "test" | "__tests__" | "spec"));
    named || (in_folder && !name.ends_with(".md"))
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_load_or_hold_tests_are_known_by_name() {
        for path in ["conftest.py", "a/conftest.py", "jest.config.ts", "web/vitest.config.mjs", "pytest.ini"]
        {
            assert!(is_runner_configuration(path), "{path}");
        }
        for path in
            ["tests/a.py", "src/test_a.py", "a_test.go", "a.test.ts", "__tests__/a.js", "src/tests.rs"]
        {
            assert!(is_test(path), "{path}");
        }
        for path in ["src/latest.rs", "tests/plan.md", "contest.py", "src/attestation.py"] {
            assert!(!is_test(path) && !is_runner_configuration(path), "{path}");
        }
    }
}
