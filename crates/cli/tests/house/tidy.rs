//! How files look, and which of them there must be.

use std::fs;

use crate::support::root;
use crate::support::sources;

/// A file that cannot be held in mind is two files.
const LINES_MAX: usize = 500;

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
    for (path, text) in sources() {
        for (number, line) in text.lines().enumerate() {
            let found = banned.iter().find(|b| line.contains(b.as_str()));
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
        assert!(manifest.contains("[lints]\nworkspace = true"), "{}", entry.path().display());
        assert!(!manifest.contains("build = "), "{} has a build script", entry.path().display());
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
