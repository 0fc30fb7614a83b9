//! The engine reaches the outside through its ports.

use crate::support::sources;

/// Where the real implementations of the ports are, and the program that supervises agents.
const REAL: [&str; 2] = ["crates/engine/src/hands/", "crates/engine/src/bin/"];

/// Other files that may reach the outside, with what they may name and why.
const EXCEPTIONS: [(&str, &str, &str); 2] = [
    ("crates/engine/src/ports.rs", "hands::disk", "it gathers the real ports for the edge of the program"),
    ("crates/engine/src/ports.rs", "SystemClock", "it gathers the real ports for the edge of the program"),
];

/// What reaches the file system, the environment, other processes or the clock without a port.
const DIRECT: [&str; 14] = [
    "std::fs",
    "std::env",
    "std::process::",
    "process::id()",
    "SystemTime",
    "Instant::now",
    "File::open",
    "OpenOptions",
    ".canonicalize()",
    ".exists()",
    ".is_file()",
    ".is_dir()",
    "hands::disk",
    "SystemClock",
];

/// The part of a file that is built into the program.
fn production(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text)
}

#[test]
fn outside_of_its_hands_the_engine_takes_ports() {
    let is_ours = |path: &str| path.starts_with("crates/engine/src/") && !path.ends_with("/tests.rs");
    for (path, text) in sources() {
        if !is_ours(&path) || REAL.iter().any(|folder| path.starts_with(folder)) {
            continue;
        }
        for (number, line) in production(&text).lines().enumerate() {
            let is_comment = line.trim_start().starts_with("//");
            let may = |word: &str| EXCEPTIONS.iter().any(|(file, what, _)| path == *file && *what == word);
            let found = DIRECT.iter().find(|word| !is_comment && names(line, word) && !may(word));
            assert!(found.is_none(), "{path}:{}: {} (take a port instead)", number + 1, line.trim());
        }
    }
}

/// A word, and not the end or the beginning of another one.
fn names(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back().is_some_and(is_part);
        let after = line[at + word.len()..].chars().next().is_some_and(is_part);
        !(before && word.starts_with(is_part) || after && word.ends_with(is_part))
    })
}

#[test]
fn every_exception_is_used_and_has_a_reason() {
    for (file, what, why) in EXCEPTIONS {
        let text = sources().into_iter().find(|(path, _)| path == file).map(|(_, text)| text);
        assert!(text.is_some_and(|text| names(&text, what)), "{file} no longer names {what}");
        assert!(!why.is_empty(), "{file}");
    }
}
