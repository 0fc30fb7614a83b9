//! Command lines as agents write them.

use proptest::prelude::*;

use super::*;

fn uses(text: &str) -> Vec<GitUse> {
    look(text).git
}

fn one(text: &str) -> GitUse {
    let mut seen = uses(text);
    assert_eq!(seen.len(), 1, "{text}: {seen:?}");
    seen.remove(0)
}

fn plain(verb: Verb) -> GitUse {
    GitUse { verb, no_verify: false, hooks_path_override: None, dir: None }
}

#[test]
fn a_commit_is_seen_however_it_is_written() {
    for text in [
        "git commit -m y",
        "git -c user.name=a -c user.email=b commit -m y",
        "git --no-pager commit",
        "git --git-dir=.git --work-tree . commit",
        "/usr/bin/git commit",
        "command git commit",
        "env -i GIT_AUTHOR_NAME=a PATH=/bin git commit",
        "A=b C='d e' git commit",
        "sudo -u dev git commit",
        "time nice -n 5 git commit",
        "timeout -k 1 30 git commit",
        "xargs -n 1 git commit",
        "bash -c 'git commit -m \"x\"'",
        "sh -lc \"git commit\"",
        "bash -euo pipefail -c 'git commit'",
        "bash -c \"bash -c 'git commit'\"",
        "eval 'git commit'",
        "true && git commit || false",
        "if true; then git commit; fi",
        "{ git commit; }",
        "echo $(git commit)",
        "echo \"`git commit`\"",
        "cat <(git commit)",
        "bash <<'EOF'\ngit commit\nEOF\n",
        "bash <<< 'git commit'",
        "g\\it com'mit'",
        "git \\\n  commit",
        "echo x\ngit commit # done",
        "git -c alias.ci='commit -q' ci",
        "find . -name x -exec git commit ;",
        "! git commit",
        "git commit > log 2>&1 &",
    ] {
        assert_eq!(one(text).verb, Verb::Commit, "{text}");
    }
}

#[test]
fn what_only_speaks_of_a_commit_is_none() {
    for text in [
        "echo git commit",
        "echo 'x; git commit'",
        "git log --grep commit",
        "git status # git commit",
        "grep -r 'git commit' .",
        "cat <<EOF\ngit commit\nEOF",
        "gitk commit",
        "git",
        "git -c",
        "git help commit",
        "",
        "'",
        "$(",
        "<<",
    ] {
        assert_eq!(uses(text), vec![], "{text}");
    }
}

#[test]
fn pushes_and_other_verbs_are_told_apart() {
    assert_eq!(one("git push -n origin main"), plain(Verb::Push));
    assert_eq!(one("git cherry-pick abc").verb, Verb::CherryPick);
    assert_eq!(one("git update-ref refs/heads/main abc").verb, Verb::Plumbing);
    let seen = look("git add . && git commit -m x && git push");
    let verbs: Vec<Verb> = seen.commits_or_pushes().map(|seen| seen.verb).collect();
    assert_eq!(verbs, [Verb::Commit, Verb::Push]);
}

#[test]
fn leaving_out_the_hooks_is_seen() {
    for (text, skips) in [
        ("git commit --no-verify", true),
        ("git commit -n -m x", true),
        ("git commit -anm x", true),
        ("git commit --no-veri", true),
        ("git commit --no-verbose", false),
        ("git commit -mn", false),
        ("git commit -m -n", false),
        ("git commit --message --no-verify", false),
        ("git commit -- -n", false),
        ("git commit -Sn", false),
        ("git push --no-verify", true),
        ("git push -n", false),
    ] {
        assert_eq!(one(text).no_verify, skips, "{text}");
    }
}

#[test]
fn other_places_of_hooks_are_seen() {
    for text in [
        "git -c core.hooksPath=/dev/null commit",
        "git -c CORE.HOOKSPATH=/dev/null commit",
        "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=/dev/null git commit",
    ] {
        assert_eq!(one(text).hooks_path_override.as_deref(), Some("/dev/null"), "{text}");
    }
    assert!(one("git --config-env=core.hooksPath=X commit").hooks_path_override.is_some());
}

#[test]
fn the_folder_is_followed() {
    for (text, dir) in [
        ("cd sub && git commit", Some("sub")),
        ("cd sub; cd deeper; git -C ../x commit", Some("sub/deeper/../x")),
        ("git -C /abs -C rel commit", Some("/abs/rel")),
        ("(cd sub && true); git commit", None),
        ("cd sub && bash -c 'cd in && git commit'", Some("sub/in")),
        ("cd \"$HOME/x y\" && git commit", Some("$HOME/x y")),
        ("pushd a && git commit", Some("a")),
    ] {
        assert_eq!(one(text).dir.as_deref(), dir, "{text}");
    }
}

#[test]
fn steps_against_the_guard_are_named() {
    let file = |path: &str| Disarm::File { path: path.into() };
    for (text, disarm) in [
        ("seriatim guard uninstall --yes", Disarm::Uninstall),
        ("./bin/seriatim --quiet guard uninstall", Disarm::Uninstall),
        ("git config core.hooksPath /dev/null", Disarm::HooksPath { value: Some("/dev/null".into()) }),
        ("git config --local --unset core.hookspath", Disarm::HooksPath { value: None }),
        ("git config set core.hooksPath x", Disarm::HooksPath { value: Some("x".into()) }),
        ("rm -rf .git/hooks", file(".git/hooks")),
        ("chmod -x .git/hooks/pre-commit", file(".git/hooks/pre-commit")),
        ("echo > .git/hooks/pre-commit", file(".git/hooks/pre-commit")),
        ("echo {} >| /p/.claude/settings.json", file("/p/.claude/settings.json")),
        ("sed -i s/x/y/ .claude/settings.local.json", file(".claude/settings.local.json")),
        ("rm -r .seriatim", file(".seriatim")),
        ("rm -r .git/seriatim", file(".git/seriatim")),
        ("cp old /p/.git/seriatim/journal.db", file("/p/.git/seriatim/journal.db")),
        ("rm .git/modules/part/seriatim/guard.json", file(".git/modules/part/seriatim/guard.json")),
        ("rm -r .git/seriatim/trees", file(".git/seriatim/trees")),
        ("rm -rf .claude/", file(".claude/")),
        ("cat x | tee .gemini/settings.json", file(".gemini/settings.json")),
        ("bash -c 'rm .codex/hooks.json'", file(".codex/hooks.json")),
    ] {
        assert_eq!(look(text).disarm, [disarm], "{text}");
    }
    for text in [
        "seriatim guard status",
        "git config core.hooksPath",
        "git config --get core.hooksPath",
        "cat .git/hooks/pre-commit",
        "sed -n 1p .claude/settings.json",
        "rm -rf target .github/hooks x.git/hooksy",
        "echo seriatim guard uninstall",
        "echo {} >/p/.git/seriatim/attempts/run-1/report.json",
        "touch /p/.git/seriatim/trees/calc-01-02/src/new.py",
        "touch seriatim/guard/mod.rs",
    ] {
        assert_eq!(look(text), Seen::default(), "{text}");
    }
}

#[test]
fn nesting_without_end_and_long_texts_come_to_an_end() {
    look(&"$(".repeat(20_000));
    look(&"(".repeat(20_000));
    look(&"bash -c '".repeat(1_000));
    look(&"git commit; ".repeat(20_000));
    look(&"cat <<A <<B\n".repeat(5_000));
}

proptest! {
    #[test]
    fn any_text_can_be_looked_at(text in "\\PC{0,80}") {
        look(&text);
    }

    #[test]
    fn anything_that_looks_like_a_shell_can_be_looked_at(text in "[git comsh\\-c'\"$(){}<>|&;#`\\\\\n=é]{0,60}") {
        look(&format!("git {text}"));
    }

    /// A commit is seen behind whatever harmless commands come first.
    #[test]
    fn a_commit_is_seen_behind_others(before in proptest::collection::vec("[a-z]{1,8}( [a-z0-9.]{1,8}){0,3}", 0..4)) {
        let harmless = ["find", "xargs", "env", "git", "eval", "exec", "if", "do", "then", "time", "nice", "sudo"];
        prop_assume!(before.iter().all(|c| !harmless.iter().any(|word| c.split(' ').any(|w| w == *word))));
        let text = before.iter().cloned().chain(["git commit".to_owned()]).collect::<Vec<_>>().join(" && ");
        prop_assert!(look(&text).commits_or_pushes().count() == 1, "{}", text);
    }
}
