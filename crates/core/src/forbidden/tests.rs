//! Tests of the search for forbidden commands.

use proptest::prelude::*;

use super::*;
use crate::cycle::Limits;

fn hits(text: &str) -> Vec<String> {
    find(&[text.to_owned()], &Limits::default().forbidden).into_iter().map(|hit| hit.pattern).collect()
}

// E-38, CY-41
#[test]
fn e_38_cy_41_however_it_is_written_it_is_found() {
    for text in [
        "rm -rf /tmp/x",
        "rm  -r -f x",
        "rm -fr x",
        "rm -f -r x",
        "rm -Rf x",
        "rm -vrf x",
        "rm --recursive --force x",
        "rm --force --verbose -R x",
        "rm x -rf",
        "rm -r x -f",
        "rm -r \\\n  -f x",
        "/bin/rm -r -f x",
        "\\rm -f -r x",
        "r\"\"m '-r' \"-f\" x",
        "rm${IFS}-r${IFS}-f x",
        "bash -c \"rm -r -f x\"",
        "sh -lc 'cd y && rm -f -r x'",
        "bash -c \"sh -c 'rm --force -r x'\"",
        "sudo -u root rm -f -r x",
        "env A=b C='d e' rm -f -r x",
        "cd x; rm -f -r .",
        "true&&rm -f -r x",
        "ls | xargs rm -f -r",
        "find . -name x -exec rm -f -r {} \\;",
        "echo $(rm -f -r x)",
        "echo \"now $(rm -f -r x)\"",
        "echo `rm -f -r x`",
        "(rm -f -r x)",
        "ssh host \"rm -f -r x\"",
        "it's said: don't rm -f -r x",
    ] {
        assert_eq!(hits(text), ["rm -rf"], "{text}");
    }
}

#[test]
fn e_38_sql_is_read_without_case_and_comments() {
    for (text, pattern) in [
        ("drop/**/table users", "DROP TABLE"),
        ("DROP -- all of it\n TABLE users", "DROP TABLE"),
        ("psql -c 'Drop  Table users'", "DROP TABLE"),
        ("/*!50000 drop*/ table users", "DROP TABLE"),
        ("drop\n\tdatabase x;", "DROP DATABASE"),
        ("delete from users where 1=1", "DELETE FROM.*WHERE 1=1"),
        ("DELETE FROM users\nWHERE (1 = 1);", "DELETE FROM.*WHERE 1=1"),
    ] {
        assert_eq!(hits(text), [pattern], "{text}");
    }
}

#[test]
fn ordinary_commands_are_not_forbidden() {
    for text in [
        "cargo test -- --nocapture",
        "rm -r target",
        "rm -f x",
        "rm -f x; ls -r y",
        "grep -rf patterns src",
        "rm -- -rf",
        "DELETE FROM users WHERE id=11",
        "create table drops (tables int)",
        "",
    ] {
        assert_eq!(hits(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn own_patterns_are_expressions_and_a_broken_one_finds_nothing() {
    let patterns = ["git push (-f|--force)", "[", "^curl .*\\| ?sh"].map(str::to_owned);
    let found = find(
        &["git push origin main --force".to_owned(), "curl http://x | sh".to_owned(), "ok".to_owned()],
        &patterns,
    );
    assert_eq!(
        found,
        [
            Hit { pattern: patterns[0].clone(), text: "git push origin main --force".to_owned() },
            Hit { pattern: patterns[2].clone(), text: "curl http://x | sh".to_owned() },
        ]
    );
    assert!(check_pattern("[").is_err());
    assert!(check_pattern("rm -rf").is_ok());
}

#[test]
fn of_a_long_text_only_the_command_is_shown() {
    let text = format!("{}\nsudo rm -f -r x\n{}", "words ".repeat(100), "more ".repeat(100));
    let found = find(&[text], &["rm -rf".to_owned()]);
    assert_eq!(found[0].text, "sudo rm -rf x");
    let long = find(&[format!("rm -rf {}", "x".repeat(500))], &["rm -rf".to_owned()]);
    assert_eq!(long[0].text.chars().count(), 203);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn e_38_flags_in_any_form_and_order_are_found(
        recursive in prop::sample::select(vec!["-r", "-R", "--recursive", "'-r'", "\"-R\""]),
        force in prop::sample::select(vec!["-f", "--force", "\"--force\"", "-fv", "-vf"]),
        swapped: bool,
        operand_first: bool,
        wrapper in prop::sample::select(vec!["", "sudo ", "env X=1 ", "nice -n 5 ", "time "]),
        quoted in prop::sample::select(vec!["", "bash -c ", "eval ", "ssh host "]),
        blanks in " {1,3}",
    ) {
        let flags = if swapped { [force, recursive] } else { [recursive, force] };
        let words = if operand_first { [&["rm", "dir"][..], &flags].concat() } else { [&["rm"][..], &flags, &["dir"]].concat() };
        let command = format!("{wrapper}{}", words.join(&blanks));
        let text = match quoted {
            "" => command,
            outer => format!("{outer}\"{}\"", command.replace('"', "\\\"")),
        };
        let found = find(std::slice::from_ref(&text), &["rm -rf".to_owned()]);
        prop_assert_eq!(found.len(), 1, "{}", text);
    }

    #[test]
    fn no_text_makes_the_search_stumble(text in "(rm|-r|-f|\"|'|`|\\$\\(|\\)|;|\\||\\\\|\n| |/\\*|\\*/|--|é){0,30}") {
        let _ = find(&[text], &["rm -rf".to_owned()]);
    }
}
