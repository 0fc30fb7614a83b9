//! Patterns against an oracle, and changes against patterns.

use proptest::prelude::*;

use super::glob::BadPattern;
use super::glob::Pattern;
use super::*;

fn matches(pattern: &str, path: &str) -> bool {
    Pattern::parse(pattern).unwrap().matches(path)
}

#[test]
fn patterns_mean_what_people_expect() {
    for (pattern, path, fits) in [
        ("src/**", "src/a.rs", true),
        ("src/**", "src/a/b.rs", true),
        ("src/**", "srcs/a.rs", false),
        ("src/*", "src/a/b.rs", false),
        ("src/*.rs", "src/.rs", true),
        ("**/*.rs", "a.rs", true),
        ("**/*.rs", "x/y/a.rs", true),
        ("src/**/test_*.py", "src/test_a.py", true),
        ("src/**/test_*.py", "src/x/y/test_a.py", true),
        ("src/", "src/a/b.rs", true),
        ("src/", "src", false),
        ("./", "any/file", true),
        ("src", "src/a.rs", false),
        ("a?c", "abc", true),
        ("a?c", "a/c", false),
        ("[a-c]x", "bx", true),
        ("[!a-c]x", "bx", false),
        ("[^a-c]x", "dx", true),
        ("[]]", "]", true),
        ("[a-]", "-", true),
        ("{src,tests}/**/*.{rs,md}", "tests/a/b.md", true),
        ("{src,tests}/**/*.{rs,md}", "docs/b.md", false),
        ("a{b,{c,d}e}f", "adef", true),
        ("a{,b}", "a", true),
        ("{src/a,b}/c", "src/a/c", true),
        ("./src/a", "src//a", true),
        ("src/A.rs", "src/a.rs", false),
        (r"\*.rs", "*.rs", true),
        (r"\*.rs", "a.rs", false),
        (r"\{a,b\}", "{a,b}", true),
        ("é*", "éa", true),
        ("**", "a/b/c", true),
        ("**/a/**/b/**", "x/a/y/a/b/z", true),
        ("src/**", "src/../secrets", false),
        ("**", "../x", false),
    ] {
        assert_eq!(matches(pattern, path), fits, "{pattern} on {path}");
    }
}

#[test]
fn patterns_that_are_none_are_refused() {
    for (pattern, why) in [
        ("", BadPattern::Empty),
        ("/etc", BadPattern::Absolute),
        ("../x", BadPattern::Upwards),
        ("src/../x", BadPattern::Upwards),
        ("[a", BadPattern::Unclosed),
        ("{a", BadPattern::Unclosed),
        (&"{a,b}".repeat(20), BadPattern::TooMany),
    ] {
        assert_eq!(Pattern::parse(pattern), Err(why), "{pattern}");
    }
}

#[test]
fn a_pattern_of_many_stars_takes_no_time() {
    let pattern = "*a".repeat(60) + "b";
    assert!(!matches(&pattern, &"a".repeat(5_000)));
    let pattern = "**/a/".repeat(60) + "b";
    assert!(!matches(&pattern, &"a/".repeat(3_000)));
}

fn texts(patterns: &[&str]) -> Vec<String> {
    patterns.iter().map(|pattern| (*pattern).to_owned()).collect()
}

fn allowed(patterns: &[&str]) -> Allowed {
    let own = texts(&[".seriatim/log/**"]);
    Allowed::new(Some(&texts(patterns)), true, Some("steps/01-02.json"), &own).unwrap()
}

fn verdict(changed: &[Changed]) -> Verdict {
    judge(&allowed(&["src/**"]), changed)
}

#[test]
fn ds_66_what_no_pattern_allows_is_a_violation() {
    let seen = verdict(&[
        Changed::new("src/a.rs", Status::Modified),
        Changed::new("Cargo.toml", Status::Modified),
        Changed::new("docs/x.md", Status::Deleted),
    ]);
    let messages: Vec<String> = seen.violations.iter().map(Violation::message).collect();
    assert_eq!(messages, ["Unexpected modification: Cargo.toml", "Unexpected modification: docs/x.md"]);
    assert!(!seen.undeclared);
}

#[test]
fn k_33_the_books_are_always_allowed() {
    let seen = verdict(&[
        Changed::new("steps/01-02.json", Status::Modified),
        Changed::new("steps/audit-2026-01-31.log", Status::Added),
        Changed::new(".seriatim/log/x", Status::Added),
    ]);
    assert_eq!(seen, Verdict::default());
    let others = [
        Changed::new("steps/01-03.json", Status::Modified),
        Changed::new("audit-2026-01-31.log", Status::Added),
        Changed { ignored: true, ..Changed::new(".seriatim/journal.db", Status::Modified) },
    ];
    assert_eq!(verdict(&others).violations.len(), 3);
}

#[test]
fn k_33_declarations_are_judged_before_files() {
    assert_eq!(Allowed::new(Some(&[]), true, None, &[]), Err(vec![Undeclared::Empty]));
    assert!(Allowed::new(Some(&[]), false, None, &[]).is_ok());
    let bad = Allowed::new(Some(&texts(&["/x", "ok", "[y"])), true, None, &[]).unwrap_err();
    assert_eq!(bad.len(), 2);
    let undeclared = Allowed::new(None, true, None, &[]).unwrap();
    let seen = judge(&undeclared, &[Changed::new("anything", Status::Added)]);
    assert_eq!(seen, Verdict { undeclared: true, ..Verdict::default() });
    assert_eq!(
        judge(&undeclared, &[Changed::new(".claude/settings.json", Status::Modified)]).violations.len(),
        1
    );
}

#[test]
fn k_97_ignored_files_are_a_note_unless_they_protect_something() {
    let ignored =
        |path: &str| Changed { ignored: true, untracked: true, ..Changed::new(path, Status::Added) };
    let seen =
        verdict(&[ignored("target/x.o"), ignored(".env.local"), ignored("app/.env"), ignored(".claude/x")]);
    assert_eq!(seen.ignored, ["target/x.o"]);
    let whys: Vec<&Why> = seen.violations.iter().map(|violation| &violation.why).collect();
    assert_eq!(whys, [&Why::Sensitive; 3]);
    assert!(is_sensitive(".git/hooks/pre-commit") && !is_sensitive("environment.rs"));
}

#[test]
fn e_82_each_way_out_is_named() {
    let changes = [
        Changed { from: Some("lib/a.rs".into()), ..Changed::new("src/a.rs", Status::Renamed) },
        Changed { from: Some("src/B.rs".into()), ..Changed::new("src/b.rs", Status::Renamed) },
        Changed { symlink_target: Some("../../etc".into()), ..Changed::new("src/link", Status::TypeChange) },
        Changed { symlink_target: Some("../docs".into()), ..Changed::new("src/inner", Status::Added) },
        Changed::new("run.sh", Status::Mode),
        Changed { untracked: true, binary: true, ..Changed::new("tool", Status::Added) },
        Changed::new("src/../secrets", Status::Modified),
        Changed::new("../outside", Status::Modified),
        Changed::new("vendor/module", Status::TypeChange),
    ];
    let said: Vec<String> = verdict(&changes).violations.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "Unexpected modification: src/a.rs (moved from lib/a.rs, which may not be touched)",
            "Unexpected modification: src/link (a link to ../../etc, which is outside of what is allowed)",
            "Unexpected modification: src/inner (a link to ../docs, which is outside of what is allowed)",
            "Unexpected modification: run.sh (only its mode changed)",
            "Unexpected modification: tool (a binary file that git does not know)",
            "Unexpected modification: secrets",
            "Unexpected modification: ../outside (outside of the project)",
            "Unexpected modification: vendor/module",
        ]
    );
}

#[test]
fn e_82_a_rename_of_case_alone_is_seen() {
    let exact = Allowed::new(Some(&texts(&["src/a.rs"])), true, None, &[]).unwrap();
    let renamed = Changed { from: Some("src/A.rs".into()), ..Changed::new("src/a.rs", Status::Renamed) };
    assert_eq!(judge(&exact, &[renamed]).violations.len(), 1);
}

/// The same rules, in the plainest way: try everything.
fn oracle(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, rest) => rest.is_none(),
        (Some((&"**", more)), rest) => {
            oracle(more, path) || rest.is_some_and(|(_, tail)| oracle(pattern, tail))
        }
        (Some((part, more)), Some((name, tail))) => {
            let (part, name): (Vec<char>, Vec<char>) = (part.chars().collect(), name.chars().collect());
            part_fits(&part, &name) && oracle(more, tail)
        }
        (Some(_), None) => false,
    }
}

fn part_fits(part: &[char], name: &[char]) -> bool {
    match (part.split_first(), name.split_first()) {
        (None, rest) => rest.is_none(),
        (Some(('*', more)), rest) => {
            part_fits(more, name) || rest.is_some_and(|(_, tail)| part_fits(part, tail))
        }
        (Some((c, more)), Some((d, tail))) => (*c == '?' || c == d) && part_fits(more, tail),
        (Some(_), None) => false,
    }
}

proptest! {
    #[test]
    fn patterns_agree_with_the_oracle(
        pattern in proptest::collection::vec(prop_oneof![Just("**".to_owned()), "[ab*?]{1,4}"], 1..5),
        path in proptest::collection::vec("[ab]{1,3}", 1..5),
    ) {
        let parts: Vec<&str> = pattern.iter().map(String::as_str).collect();
        let names: Vec<&str> = path.iter().map(String::as_str).collect();
        let text = pattern.join("/");
        prop_assert_eq!(matches(&text, &path.join("/")), oracle(&parts, &names), "{} on {:?}", text, path);
    }

    #[test]
    fn braces_are_the_same_as_several_patterns(
        choices in proptest::collection::vec("[ab*]{1,3}", 1..4),
        path in "[ab]{1,4}",
    ) {
        let joined = format!("x/{{{}}}", choices.join(","));
        let path = format!("x/{path}");
        let any = choices.iter().any(|choice| matches(&format!("x/{choice}"), &path));
        prop_assert_eq!(matches(&joined, &path), any);
    }

    #[test]
    fn any_text_is_a_pattern_or_refused(text in "\\PC{0,30}", path in "\\PC{0,30}") {
        if let Ok(pattern) = Pattern::parse(&text) {
            pattern.matches(&path);
        }
    }

    #[test]
    fn a_literal_fits_itself(path in "[ -.0-~é]{1,12}(/[ -.0-~]{1,8}){0,3}") {
        prop_assume!(path::relative(&path).is_some_and(|clean| clean == path));
        prop_assert!(Pattern::literal(&path).matches(&path));
    }
}

#[test]
fn ds_66_what_another_hand_puts_below_our_folder_is_told_from_what_is_ours() {
    let journal = [".seriatim/journal.db", ".seriatim/journal.db-wal", ".seriatim/journal.lock"];
    let guard =
        [".seriatim/guard/seen/s1", ".seriatim/guard/scans/main-s1", ".seriatim/guard/audit-2026-01-01.log"];
    let folders = [".seriatim/git/objects/ab/cd", ".seriatim/outputs", ".seriatim/holders/1.lock"];
    for ours in journal.iter().chain(&guard).chain(&folders).chain(&[".seriatim/.seriatim-tmp-1-2"]) {
        assert!(is_written_by_us(ours), "{ours}");
        let in_git = ours.replacen(".seriatim/", ".git/seriatim/", 1);
        assert!(is_written_by_us(&in_git), "{in_git}");
    }
    for other in [
        ".seriatim",
        ".seriatim/foo",
        ".seriatim/guard",
        ".seriatim/guard/bar",
        ".seriatim/guard.json",
        ".seriatim/journal.db/x",
        ".seriatim/journal.evil",
        "src/journal.db",
        "sub/.seriatim/journal.db",
        ".git/seriatim/guard.json",
        ".git/seriatim/foo",
    ] {
        assert!(!is_written_by_us(other), "{other}");
    }
    for own in
        [".seriatim", ".seriatim/x", ".git/seriatim", ".git/seriatim/guard.json", ".git/seriatim/trees"]
    {
        assert!(is_of_the_store(own), "{own}");
    }
    for agents in [".git/seriatim/attempts/run-1/report.json", ".seriatim/trees/one/src/a", "seriatim/x"] {
        assert!(!is_of_the_store(agents), "{agents}");
    }
}
