//! Files that decide which tests are run and what their results count for. Whoever changes one of them can turn red into
//! green without touching a test.

use toml::Table;
use toml::Value as Toml;

use super::scenarios;

/// Files that do nothing else.
const NAMES: [&str; 13] = [
    "conftest.py",
    "pytest.ini",
    ".pytest.ini",
    "tox.ini",
    ".coveragerc",
    "sitecustomize.py",
    "usercustomize.py",
    "nextest.toml",
    "jasmine.json",
    ".rspec",
    "phpunit.xml",
    "phpunit.xml.dist",
    "vitest.workspace.json",
];
/// Beginnings of their names, whatever follows.
const STEMS: [&str; 9] = [
    "jest.config.",
    "jest.setup.",
    "vitest.config.",
    "vitest.setup.",
    "vitest.workspace.",
    ".mocharc",
    "karma.conf.",
    "ava.config.",
    "playwright.config.",
];

/// Returns the part of a file that decides how tests are loaded, run or judged; nothing where the file has no say in it.
/// Of a manifest, which changes for other reasons too, it is the tables about tests.
pub fn loading_part(path: &str, text: &str) -> Option<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_loader =
        NAMES.contains(&name) || STEMS.iter().any(|stem| name.starts_with(stem)) || name.ends_with(".pth");
    let is_cargo = path.ends_with(".cargo/config.toml") || path.ends_with(".cargo/config");
    if is_loader || is_cargo {
        return Some(text.to_owned());
    }
    match name {
        "pyproject.toml" => toml_part(text, &[&["tool", "pytest"], &["tool", "coverage"], &["tool", "tox"]]),
        "Cargo.toml" => {
            toml_part(text, &[&["test"], &["profile"], &["lib"], &["package", "autotests"], &["lints"]])
        }
        "package.json" => json_part(text, &["scripts", "jest", "mocha", "ava", "nyc", "c8", "vitest", "tap"]),
        "setup.cfg" => ini_part(text, &["tool:pytest", "coverage:", "aliases"]),
        _ => None,
    }
}

/// Returns whether a file may have a say in how tests are run, by its name alone.
pub fn may_load_tests(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    const MANIFESTS: [&str; 4] = ["pyproject.toml", "Cargo.toml", "package.json", "setup.cfg"];
    MANIFESTS.contains(&name) || loading_part(path, "").is_some()
}

/// Returns whether a file may be loaded with tests: what decides how they run, and what lies beside them.
pub fn may_be_loaded_with_tests(path: &str) -> bool {
    may_load_tests(path) || is_beside_tests(path)
}

/// Returns the part of a file that tests are loaded with; nothing where there is none. Tests themselves are compared as
/// such.
pub fn loaded_part(path: &str, text: &str) -> Option<String> {
    let helper = || {
        let is_helper = is_beside_tests(path) && scenarios::tests_in(text, path).is_empty();
        is_helper.then(|| text.to_owned())
    };
    loading_part(path, text).or_else(helper)
}

/// Returns whether a file lies where tests do: helpers, fixtures and packages there are loaded with them.
fn is_beside_tests(path: &str) -> bool {
    const FOLDERS: [&str; 9] =
        ["tests", "test", "__tests__", "spec", "specs", "testing", "fixtures", "testdata", "__mocks__"];
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    folder.split('/').any(|part| FOLDERS.contains(&part))
}

/// Returns whether a file is code that an interpreter runs in place of its source.
pub fn is_byte_code(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    path.split('/').any(|folder| folder == "__pycache__") || name.ends_with(".pyc") || name.ends_with(".pyo")
}

/// A file that cannot be read as what it claims to be counts as a whole.
fn toml_part(text: &str, ways: &[&[&str]]) -> Option<String> {
    let Ok(table) = text.parse::<Table>() else { return Some(text.to_owned()) };
    let mut found: Vec<String> = vec![];
    for way in ways {
        let mut at: Option<&Toml> = None;
        for key in *way {
            at = match at {
                None => table.get(*key),
                Some(value) => value.get(*key),
            };
            if at.is_none() {
                break;
            }
        }
        if let Some(value) = at {
            found.push(format!("{} = {value:?}", way.join(".")));
        }
    }
    (!found.is_empty()).then(|| found.join("\n"))
}

fn json_part(text: &str, keys: &[&str]) -> Option<String> {
    let Ok(serde_json::Value::Object(object)) = serde_json::from_str(text) else {
        return Some(text.to_owned()).filter(|text| !text.trim().is_empty());
    };
    let found: serde_json::Map<String, serde_json::Value> =
        keys.iter().filter_map(|key| Some(((*key).to_owned(), object.get(*key)?.clone()))).collect();
    (!found.is_empty()).then(|| serde_json::Value::Object(found).to_string())
}

fn ini_part(text: &str, sections: &[&str]) -> Option<String> {
    let mut inside = false;
    let mut lines = vec![];
    for line in text.lines() {
        if let Some(name) = line.trim().strip_prefix('[') {
            inside = sections.iter().any(|section| name.starts_with(section));
        }
        if inside && !line.trim().is_empty() {
            lines.push(line.trim_end());
        }
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loader_counts_as_a_whole() {
        for path in ["conftest.py", "tests/conftest.py", "jest.config.ts", "x/sitecustomize.py", "a.pth"] {
            assert_eq!(loading_part(path, "hooks\n").as_deref(), Some("hooks\n"), "{path}");
            assert!(may_load_tests(path));
        }
        assert_eq!(loading_part("src/main.py", "x"), None);
        assert!(!may_load_tests("src/main.py") && may_load_tests("package.json"));
    }

    #[test]
    fn of_a_manifest_only_what_is_about_tests_counts() {
        let one = "[project]\nname = \"a\"\n[tool.pytest.ini_options]\naddopts = \"-q\"\n";
        let other =
            "[project]\nname = \"b\"\ndependencies = [\"x\"]\n[tool.pytest.ini_options]\naddopts = \"-q\"\n";
        assert_eq!(loading_part("pyproject.toml", one), loading_part("pyproject.toml", other));
        let changed = one.replace("-q", "--deselect tests/test_a.py");
        assert_ne!(loading_part("pyproject.toml", one), loading_part("pyproject.toml", &changed));
        let package = |dependency: &str, test: &str| {
            format!(r#"{{"dependencies": {{"{dependency}": "1"}}, "scripts": {{"test": "{test}"}}}}"#)
        };
        let part = |text: &str| loading_part("package.json", text);
        assert_eq!(part(&package("a", "jest")), part(&package("b", "jest")));
        assert_ne!(part(&package("a", "jest")), part(&package("a", "true")));
        assert_eq!(loading_part("Cargo.toml", "[dependencies]\nserde = \"1\"\n"), None);
        assert!(loading_part("Cargo.toml", "[[test]]\nname = \"a\"\nharness = false\n").is_some());
        let cfg = "[metadata]\nname = a\n[tool:pytest]\naddopts = -x\n";
        assert_eq!(loading_part("setup.cfg", cfg).as_deref(), Some("[tool:pytest]\naddopts = -x"));
        // What cannot be read may say anything.
        assert_eq!(loading_part("pyproject.toml", "[").as_deref(), Some("["));
    }

    #[test]
    fn helpers_of_tests_count_and_tests_of_their_own_do_not() {
        let patch = "import unittest\nunittest.TestCase.assertEqual = lambda *a: None\n";
        for path in ["tests/__init__.py", "tests/helper.py", "a/__tests__/setup.js", "tests/fixtures/in.txt"]
        {
            assert!(may_be_loaded_with_tests(path) && loaded_part(path, patch).is_some(), "{path}");
        }
        assert_eq!(loaded_part("tests/test_more.py", "def test_more():\n    assert f() == 1\n"), None);
    }

    #[test]
    fn byte_code_is_known_by_its_place_and_name() {
        assert!(is_byte_code("__pycache__/calc.cpython-312.pyc") && is_byte_code("calc.pyc"));
        assert!(!is_byte_code("calc.py"));
    }
}
