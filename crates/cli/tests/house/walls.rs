//! `core` and `flows` cannot reach files, clocks, processes, the network or randomness, even by accident.

use std::collections::BTreeSet;

use crate::support::cargo;

/// Everything that the core is built from: text, numbers, hashes, and no way out. A new name here is a decision: it
/// must be a crate without input and output. Those of the macros run while the program is built and not in it.
const PURE: [&str; 39] = [
    "aho-corasick",
    "arraydeque",
    "block-buffer",
    "cfg-if",
    "cpufeatures",
    "crypto-common",
    "digest",
    "equivalent",
    "foldhash",
    "granit-parser",
    "hashbrown",
    "hybrid-array",
    "indexmap",
    "itoa",
    "jiff",
    "jiff-core",
    "memchr",
    "proc-macro2",
    "quote",
    "regex",
    "regex-automata",
    "regex-syntax",
    "serde",
    "serde_core",
    "serde_derive",
    "serde_json",
    "serde_spanned",
    "sha2",
    "smallvec",
    "syn",
    "thiserror",
    "thiserror-impl",
    "toml",
    "toml_datetime",
    "toml_parser",
    "typenum",
    "unicode-ident",
    "winnow",
    "zmij",
];

/// Crates that open a way out. They are not on the list above either; this one says so in so many words.
const WAYS_OUT: [&str; 26] = [
    "async-std",
    "errno",
    "fs-err",
    "getrandom",
    "hyper",
    "landlock",
    "libc",
    "libsqlite3-sys",
    "mio",
    "nix",
    "notify",
    "polling",
    "rand",
    "reqwest",
    "rusqlite",
    "rustix",
    "seriatim-engine",
    "seriatim-journal",
    "seriatim-kernel",
    "signal-hook",
    "smol",
    "socket2",
    "tempfile",
    "tokio",
    "ureq",
    "walkdir",
];

/// The crates that are part of `package` when it is built, without build scripts and tests. One target stands for
/// all: which crates are used must not depend on the machine that asks.
fn reachable(package: &str) -> BTreeSet<String> {
    let target = ["--target", "x86_64-unknown-linux-gnu"];
    let tree = cargo(&[&["tree", "-p", package, "-e", "normal", "--prefix", "none"][..], &target].concat());
    tree.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

fn names(lists: &[&[&str]]) -> BTreeSet<String> {
    lists.concat().into_iter().map(str::to_owned).collect()
}

#[test]
fn core_is_built_from_pure_crates_alone() {
    assert_eq!(reachable("seriatim-core"), names(&[&PURE, &["seriatim-core"]]));
}

#[test]
fn flows_add_nothing_to_core() {
    let own = ["seriatim-core", "seriatim-flows"];
    assert_eq!(reachable("seriatim-flows"), names(&[&PURE, &own]));
}

#[test]
fn no_way_out_is_reachable_from_core_or_flows() {
    for package in ["seriatim-core", "seriatim-flows"] {
        let found: Vec<String> = reachable(package).intersection(&names(&[&WAYS_OUT])).cloned().collect();
        assert!(found.is_empty(), "{package} reaches {found:?}");
    }
    // The same question finds what is there: the journal does reach its database.
    assert!(reachable("seriatim-journal").contains("libsqlite3-sys"));
}

#[test]
fn arrows_point_one_way() {
    let ours = |package: &str| -> Vec<String> {
        let mut ours: Vec<String> =
            reachable(package).into_iter().filter(|name| name.starts_with("seriatim-")).collect();
        ours.retain(|name| name != package);
        ours
    };
    assert_eq!(ours("seriatim-core"), Vec::<String>::new());
    assert_eq!(ours("seriatim-flows"), ["seriatim-core"]);
    assert_eq!(ours("seriatim-journal"), ["seriatim-core"]);
    assert_eq!(ours("seriatim-kernel"), Vec::<String>::new());
    let engine = ["seriatim-core", "seriatim-flows", "seriatim-journal", "seriatim-kernel"];
    assert_eq!(ours("seriatim-engine"), engine);
}

#[test]
fn core_and_flows_forbid_the_ways_out_of_the_standard_library() {
    for room in ["core", "flows"] {
        let rules =
            std::fs::read_to_string(crate::support::root().join(format!("crates/{room}/clippy.toml")))
                .unwrap();
        for forbidden in
            ["std::fs", "std::env", "std::process", "std::time::SystemTime", "std::collections::HashMap"]
        {
            assert!(rules.contains(forbidden), "crates/{room}/clippy.toml lets {forbidden} pass");
        }
    }
}
