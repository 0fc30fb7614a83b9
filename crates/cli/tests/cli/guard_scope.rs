//! Which files a step changed, and whether it may have (DS-27, DS-66, K-33, K-97, E-82).

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::guard::AGENT;
use crate::guard::Guarded;
use crate::guard::STEP;
use crate::guard::THREE;
use crate::guard::holds;
use crate::guard::step;

/// What a stop says about files, when everything else is whole.
fn violations(guarded: &Guarded) -> Vec<String> {
    guarded.all_done();
    let said = guarded.sub_stop(AGENT).0.exits(0);
    let line = guarded.last("SUBAGENT_STOP_VALIDATION");
    let errors: Vec<String> =
        line["errors"].as_array().unwrap().iter().map(|error| error.as_str().unwrap().to_owned()).collect();
    // Each is told to the agent, and each is an event.
    for error in &errors {
        assert!(said.stdout.contains(&error.replace('"', "\\\"")), "{error} is not in {}", said.stdout);
        assert!(
            guarded.trail().iter().any(|line| line["event"] == "SCOPE_VIOLATION" && line["what"] == **error)
        );
    }
    errors
}

#[test]
fn ds_66_a_file_that_the_shell_wrote_outside_of_the_patterns_is_named() {
    let guarded = Guarded::new().at_work();
    guarded.sh("echo new >notes.txt; echo more >>README.md; echo fine >src/fine.sh; mkdir -p deep/er; echo x >deep/er/f").exits(0);
    assert_eq!(
        violations(&guarded),
        [
            "Unexpected modification: README.md",
            "Unexpected modification: deep/er/f",
            "Unexpected modification: notes.txt"
        ]
    );
    // Once it is put right, the agent may stop.
    guarded.sh("rm -r notes.txt deep; git checkout -q README.md").exits(0);
    guarded.sub_stop(AGENT).passes();
}

#[test]
fn ds_66_a_file_that_was_committed_past_the_hooks_still_counts() {
    let guarded = Guarded::new().at_work();
    guarded.env.file("README.md", "Changed.\n");
    guarded.committed("In passing");
    assert_eq!(violations(&guarded), ["Unexpected modification: README.md"]);
}

#[test]
fn a_rename_into_the_patterns_is_named() {
    let guarded = Guarded::new();
    guarded.env.file("docs/guide.md", "A guide that is long enough to be known again.\n".repeat(20));
    guarded.committed("A guide");
    let guarded = guarded.at_work();
    guarded.sh("git mv docs/guide.md src/guide.md").exits(0);
    let said = violations(&guarded);
    assert_eq!(said.len(), 1);
    holds(&said[0], &["Unexpected modification: src/guide.md", "moved from docs/guide.md"]);
}

#[test]
fn e_82_a_rename_of_letters_alone_is_named() {
    let guarded = Guarded::new().at_work();
    guarded.sh("git mv README.md Readme.md").exits(0);
    holds(&violations(&guarded).join("\n"), &["Unexpected modification: Readme.md"]);
}

#[test]
fn a_link_out_of_the_patterns_is_named() {
    let guarded = Guarded::new().at_work();
    symlink("/etc/passwd", guarded.env.path("src/link")).unwrap();
    symlink("../../outside", guarded.env.path("src/up")).unwrap();
    symlink("greet.sh", guarded.env.path("src/inside")).unwrap();
    let said = violations(&guarded);
    assert_eq!(said.len(), 2, "{said:?}");
    holds(&said[0], &["Unexpected modification: src/link", "a link to /etc/passwd"]);
    holds(&said[1], &["Unexpected modification: src/up", "a link to ../../outside"]);
}

#[test]
fn a_change_of_mode_alone_is_named() {
    let guarded = Guarded::new().at_work();
    fs::set_permissions(guarded.env.path("README.md"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(guarded.env.path("src/greet.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(violations(&guarded), ["Unexpected modification: README.md (only its mode changed)"]);
}

#[test]
fn an_untracked_binary_and_a_deleted_file_are_named() {
    let guarded = Guarded::new().at_work();
    guarded.env.file("tool", [0_u8, 1, 2, 3, 0, 255]);
    fs::remove_file(guarded.env.path("README.md")).unwrap();
    assert_eq!(
        violations(&guarded),
        [
            "Unexpected modification: README.md",
            "Unexpected modification: tool (a binary file that git does not know)"
        ]
    );
}

#[test]
fn e_82_a_repository_inside_of_this_one_is_named() {
    let guarded = Guarded::new();
    let inner = "git -C vendor -c user.name=Ada -c user.email=ada@example.org";
    guarded
        .sh(&format!("git init -q vendor && echo 1 >vendor/f && git -C vendor add f && {inner} commit -qm 1"))
        .exits(0);
    guarded.committed("With a repository inside");
    let guarded = guarded.at_work();
    guarded.sh(&format!("echo 2 >vendor/f && {inner} commit -qam 2")).exits(0);
    assert_eq!(violations(&guarded), ["Unexpected modification: vendor"]);
}

#[test]
fn e_82_a_change_inside_of_such_a_repository_is_named_unless_it_was_there_before() {
    for dirty in [false, true] {
        let guarded = Guarded::new();
        let inner = "git -C vendor -c user.name=Ada -c user.email=ada@example.org";
        let made =
            format!("git init -q vendor && echo 1 >vendor/f && git -C vendor add f && {inner} commit -qm 1");
        guarded.sh(&made).exits(0);
        guarded.committed("With a repository inside");
        if dirty {
            guarded.env.file("vendor/f", "by the user\n");
        }
        let guarded = guarded.at_work();
        guarded.all_done();
        guarded.sub_stop(AGENT).passes();
        guarded.env.file("vendor/f", "by the agent\n");
        holds(&guarded.sub_stop(AGENT).blocked(), &["Unexpected modification: vendor"]);
    }
}

#[test]
fn k_97_secrets_and_the_guard_itself_are_named_although_git_ignores_them() {
    let guarded = Guarded::new();
    guarded.env.file(".env", "KEY=old\n");
    let guarded = guarded.at_work();
    guarded.sh("echo KEY=new >.env; mkdir -p .claude; echo '{}' >.claude/settings.json").exits(0);
    guarded.sh("echo 'exit 0' >.git/hooks/pre-commit; echo '{ }' >.git/seriatim/guard.json").exits(0);
    let said = violations(&guarded).join("\n");
    let named = [
        "Unexpected modification: .env (ignored by git, but protected)",
        "Unexpected modification: .claude/settings.json",
        "Unexpected modification: .git/hooks/pre-commit",
        "Unexpected modification: .git/seriatim/guard.json",
    ];
    holds(&said, &named);
    assert_eq!(said.lines().count(), named.len(), "{said}");
}

#[test]
fn k_97_ignored_output_of_a_build_is_a_note() {
    let guarded = Guarded::new();
    guarded.env.file("old.o", "from before\n");
    let guarded = guarded.at_work();
    guarded.env.file("target/debug/out", "built\n").file("greet.o", "built\n");
    assert!(violations(&guarded).is_empty());
    let line = guarded.last("SUBAGENT_STOP_VALIDATION");
    assert_eq!(line["status"], "warning");
    let warnings = line["warnings"].to_string();
    holds(
        &warnings,
        &["target is ignored by git and was written", "greet.o is ignored by git and was written"],
    );
    assert!(!warnings.contains("old.o"), "{warnings}");
}

#[test]
fn what_the_user_changed_before_the_step_holds_nothing() {
    let guarded = Guarded::new();
    guarded.env.file("README.md", "I was here first.\n").file("scratch.txt", "mine\n");
    guarded.env.git(&["add", "README.md"]);
    let guarded = guarded.at_work();
    assert!(violations(&guarded).is_empty());
    // And what is edited after the agent has stopped is not its doing.
    guarded.env.file("README.md", "And last.\n");
    guarded.env.run(&["commit-gate"]).exits(0);
}

#[test]
fn ds_85_what_another_step_may_change_holds_nothing() {
    let guarded = Guarded::new();
    let mut other = step("01-02", &THREE);
    other["task_specification"]["allowed_file_patterns"] = json!(["docs/**"]);
    guarded.state("steps/01-02.json", &other).committed("Another step");
    guarded.spawn(&guarded.prompt()).passes();
    guarded.sub_start(AGENT).passes();
    let second = json!({"prompt": guarded.prompt_for("steps/01-02.json"), "run_in_background": false});
    guarded.spawn_as("toolu_2", second, json!({})).passes();
    guarded.sub_start("a2").passes();
    guarded.env.file("docs/guide.md", "Of the other step.\n").file("src/new.sh", "true\n");
    for phase in THREE {
        guarded.done_of("01-02", phase);
    }
    guarded.sub_stop("a2").passes();
    // The other one is finished and committed, and its files are still its own.
    guarded.git(&["add", "docs", "steps/01-02.json"]).exits(0);
    guarded.env.run(&["commit-gate"]).exits(0);
    assert!(violations(&guarded).is_empty());
}

#[test]
fn k_33_the_books_of_the_step_may_be_written() {
    let guarded = Guarded::new().at_work();
    guarded.all_done();
    guarded.sub_stop(AGENT).passes();
    let trail = guarded.env.files_below("steps");
    assert!(trail.iter().any(|path| path.to_string_lossy().contains("audit-")), "{trail:?}");
    assert!(trail.contains(&guarded.env.path(STEP)));
}

#[test]
fn without_patterns_the_scope_is_a_warning_and_the_guard_is_still_protected() {
    let mut none = step("01-01", &THREE);
    none["task_specification"].as_object_mut().unwrap().remove("allowed_file_patterns");
    let guarded = Guarded::of(&none).at_work();
    guarded.env.file("README.md", "Changed.\n").file(".env", "KEY=new\n");
    assert_eq!(violations(&guarded), ["Unexpected modification: .env (ignored by git, but protected)"]);
    let warnings = guarded.last("SUBAGENT_STOP_VALIDATION")["warnings"].to_string();
    holds(&warnings, &["no allowed file patterns are declared"]);
}

#[test]
fn a_project_without_git_has_no_scope_to_compare_and_is_guarded_all_the_same() {
    let guarded = Guarded::new();
    fs::remove_dir_all(guarded.env.path(".git")).unwrap();
    guarded.env.store_file("guard.json", "{}\n");
    let guarded = guarded.at_work();
    holds(&guarded.sub_stop(AGENT).blocked(), &["Phase RED NOT_EXECUTED"]);
    guarded.all_done();
    guarded.sub_stop(AGENT).passes();
    // An agent without a step that begins later does not put the step to work again.
    guarded.sub_start("b1").passes();
    assert_eq!(guarded.status(), "DONE");
}
