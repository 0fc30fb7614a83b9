//! How files look, and which of them there must be.

use std::fs;

use crate::support::root;
use crate::support::sources;

/// A file that cannot be held in mind is two files.
const LINES_MAX: usize = 500;

/// The one crate that may call what the compiler cannot check. It cannot take the lints of the house as they are: what is
/// forbidden there cannot be permitted anywhere below.
const GATE: &str = "crates/kernel/";

const LINTS: &str = "[lints]\nworkspace = true";

/// Words are put together here, so that this file does not find itself.
fn word(parts: [&str; 2]) -> String {
    parts.concat()
}

#[test]
fn every_file_can_be_held_in_mind() {
    for (path, text) in sources() {
        let lines = text.lines().count();
        assert!(lines < LINES_MAX, "{path} has {lines} lines");
    }
}

#[test]
fn every_module_says_what_it_is() {
    for (path, text) in sources() {
        assert!(text.starts_with("//! "), "{path} does not begin with `//! `");
    }
}

#[test]
fn nothing_is_left_for_later_and_no_lint_is_silenced_without_a_reason() {
    let banned = [
        word(["to", "do!("]),
        word(["unimpl", "emented!("]),
        word(["#[al", "low("]),
        word(["#![al", "low("]),
        word(["#[ig", "nore]"]),
        word(["#[should_", "panic]"]),
        word(["unsa", "fe {"]),
        word(["unsa", "fe fn"]),
        word(["unsa", "fe impl"]),
    ];
    let at_the_gate = word(["unsa", "fe {"]);
    for (path, text) in sources() {
        for (number, line) in text.lines().enumerate() {
            let may = |b: &&String| path.starts_with(GATE) && **b == at_the_gate;
            let found = banned.iter().find(|b| line.contains(b.as_str()) && !may(b));
            assert!(found.is_none(), "{path}:{}: {}", number + 1, line.trim());
        }
    }
}

#[test]
fn every_crate_takes_the_lints_of_the_house() {
    let workspace = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    assert!(workspace.contains(&word(["unsa", "fe_code = \"forbid\""])));
    for entry in fs::read_dir(root().join("crates")).unwrap().flatten() {
        let manifest = fs::read_to_string(entry.path().join("Cargo.toml")).unwrap();
        let is_gate = GATE == format!("crates/{}/", entry.file_name().display());
        let taken = if is_gate { word(["unsa", "fe_code = \"deny\""]) } else { LINTS.to_owned() };
        assert!(manifest.contains(&taken), "{}", entry.path().display());
        assert!(!manifest.contains("build = "), "{} has a build script", entry.path().display());
    }
}

#[test]
fn the_gate_is_small_and_each_of_its_calls_says_why_it_is_sound() {
    let gate: Vec<(String, String)> =
        sources().into_iter().filter(|(path, _)| path.starts_with(GATE)).collect();
    let count = |needle: &str| gate.iter().map(|(_, text)| text.matches(needle).count()).sum::<usize>();
    let calls = count(&word(["unsa", "fe {"]));
    assert_eq!(calls, 2, "another call is a decision");
    assert_eq!(count("// SAFETY: "), calls);
    // But for the lint that it is there for, it has the lints of the house.
    let lints = |manifest: &str, section: &str| -> Vec<String> {
        let rest = manifest.split(&format!("{section}]\n")).nth(1).unwrap_or_default();
        rest.lines().take_while(|line| !line.is_empty()).map(str::to_owned).collect()
    };
    let manifest = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let (house, own) = (manifest("Cargo.toml"), manifest("crates/kernel/Cargo.toml"));
    for section in ["lints.rust", "lints.clippy"] {
        let missing: Vec<String> = lints(&house, section)
            .into_iter()
            .filter(|line| !line.contains("_code") && !lints(&own, section).contains(line))
            .collect();
        assert_eq!(missing, Vec::<String>::new());
    }
}

#[test]
fn decisions_are_numbered_without_gaps_and_listed() {
    let folder = root().join("docs/decisions");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().into_string().unwrap())
        .filter(|name| name != "README.md")
        .collect();
    names.sort();
    let list = fs::read_to_string(folder.join("README.md")).unwrap();
    for (i, name) in names.iter().enumerate() {
        assert!(name.starts_with(&format!("{:04}-", i + 1)), "{name} is not number {}", i + 1);
        assert!(name.ends_with(".md"), "{name}");
        assert!(list.contains(name.as_str()), "README.md of the decisions does not list {name}");
    }
    assert!(!names.is_empty());
}

#[test]
fn the_change_log_has_a_place_for_what_is_not_released() {
    let log = fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
    assert!(
        log.lines().any(|line| line.trim_matches(['#', ' ', '[', ']']).eq_ignore_ascii_case("unreleased"))
    );
}

#[test]
fn the_books_of_the_house_are_there() {
    for name in [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "SECURITY.md",
        "deny.toml",
        ".ci/run",
    ] {
        assert!(root().join(name).is_file(), "{name}");
    }
}

#[test]
fn links_between_the_books_lead_somewhere() {
    let mut broken = vec![];
    for book in books(&root()) {
        let text = fs::read_to_string(&book).unwrap();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let path = target.split('#').next().unwrap_or_default();
            if path.is_empty() || path.contains("://") || path.contains(' ') {
                continue;
            }
            if !book.with_file_name(path).exists() {
                broken.push(format!("{}: {target}", book.display()));
            }
        }
    }
    assert_eq!(broken, Vec::<String>::new());
}

/// The Markdown files that belong to the project.
fn books(root: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut books = vec![];
    let mut folders = vec![root.to_owned(), root.join("docs"), root.join("examples")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() && folder != root {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                books.push(path);
            }
        }
    }
    books
}
