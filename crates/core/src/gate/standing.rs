//! Files that gates stand on: they load, configure or run the tests, so that a change to them changes what green means.

use std::collections::BTreeMap;

use super::Gate;
use crate::evidence::loading;

/// What a gate has to do with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It loads or configures tests, or is code that a runner loads without being asked.
    Runner,
    /// The command of this gate names it.
    Named(String),
    /// It describes the project, and tests among other things.
    Manifest,
}

/// Names that test tools read by themselves, beside those that [`loading`] knows.
const RUNNERS: [&str; 6] =
    ["noxfile.py", "cypress.config", "jest.setup", "spec_helper.rb", "test_helper.rb", ".nycrc"];

/// Names that say something about tests beside other things.
const MANIFESTS: [&str; 10] = [
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "package.json",
    "Cargo.toml",
    "Makefile",
    "justfile",
    "build.rs",
    "go.mod",
    "seriatim.toml",
];

/// Modules of test tools: a file of the project in their place is loaded instead of them.
const TOOLS: [&str; 7] = ["unittest", "pytest", "_pytest", "pluggy", "nose", "node_modules", "site-packages"];

/// Returns what gates have to do with a file; nothing where it is an ordinary one.
pub fn find_standing(path: &str, gates: &BTreeMap<String, Gate>) -> Option<Standing> {
    let named = gates.iter().find(|(_, gate)| named_words(gate).any(|word| word == path));
    if let Some((name, _)) = named {
        return Some(Standing::Named(name.clone()));
    }
    let file = path.rsplit('/').next().unwrap_or(path);
    let stem = file.split_once('.').filter(|(stem, _)| !stem.is_empty()).map_or(file, |(stem, _)| stem);
    let is = |name: &&str| {
        *name == file || file.strip_prefix(*name).is_some_and(|rest| rest.starts_with('.')) && stem != *name
    };
    let is_tool = path.split('/').any(|part| TOOLS.contains(&part.strip_suffix(".py").unwrap_or(part)));
    if MANIFESTS.contains(&file) {
        return Some(Standing::Manifest);
    }
    let is_loader = loading::may_load_tests(path) || loading::is_byte_code(path) || file.ends_with(".pth");
    (is_tool || is_loader || RUNNERS.iter().any(is)).then_some(Standing::Runner)
}

/// Returns the words of a gate's commands, as far as they can name files of the workspace.
pub fn named_words(gate: &Gate) -> impl Iterator<Item = &str> {
    let all = gate.within.iter().chain(&gate.command).chain(&gate.subset).chain(&gate.setup);
    all.map(|word| word.strip_prefix("./").unwrap_or(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_decide_what_green_means_are_known() {
        let gate = Gate { command: ["sh", "./check.sh"].map(str::to_owned).to_vec(), ..Gate::default() };
        let gates = BTreeMap::from([("tests".to_owned(), gate)]);
        for path in [
            "conftest.py",
            "tests/conftest.py",
            "pytest.ini",
            "jest.config.mjs",
            ".mocharc.json",
            "src/__pycache__/a.cpython-312.pyc",
            "evil.pth",
            ".config/nextest.toml",
            ".cargo/config.toml",
            "pytest.py",
            "unittest/__init__.py",
            "lib/_pytest/main.py",
        ] {
            assert_eq!(find_standing(path, &gates), Some(Standing::Runner), "{path}");
        }
        assert_eq!(find_standing("check.sh", &gates), Some(Standing::Named("tests".to_owned())));
        assert_eq!(find_standing("pyproject.toml", &gates), Some(Standing::Manifest));
        for path in ["src/config.py", "conftest.md", "tests/test_a.py", "other/check.sh", "config.toml"] {
            assert_eq!(find_standing(path, &gates), None, "{path}");
        }
    }
}
