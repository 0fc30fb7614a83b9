//! What the user has not committed: untouched, in no commit of a step, and asked about where the step works on it.

use crate::roadmap_support::Project;
use crate::roadmap_support::SHORT;
use crate::roadmap_support::add;
use crate::roadmap_support::texts;

#[test]
fn staged_unstaged_and_untracked_changes_of_the_user_are_untouched_and_in_no_commit() {
    let project = Project::single();
    project.with("notes.txt", "one\n").with("plan.txt", "one\n").with("old.txt", "x\n");
    project.env.file("notes.txt", "one\ntwo\n").file("plan.txt", "staged\n").file("src/draft.py", "draft\n");
    project.env.git(&["add", "plan.txt"]);
    project.env.file("plan.txt", "staged\nand then more\n");
    std::fs::remove_file(project.env.path("old.txt")).unwrap();
    let before = project.git(&["status", "--porcelain"]);
    let staged = project.git(&["diff", "--cached"]);

    project.step("01-01").exits(0);
    assert_eq!(project.git(&["status", "--porcelain"]), before);
    assert_eq!(project.git(&["diff", "--cached"]), staged);
    assert_eq!(project.env.read("notes.txt"), "one\ntwo\n");
    assert_eq!(project.env.read("plan.txt"), "staged\nand then more\n");
    assert_eq!(project.env.read("src/draft.py"), "draft\n");
    let ours = project.git(&["log", "-3", "--name-only", "--format="]);
    for theirs in ["notes.txt", "plan.txt", "old.txt", "src/draft.py"] {
        assert!(!ours.contains(theirs), "{ours}");
    }
    let files = &project.status()["completed_steps"][0]["files_modified"];
    assert_eq!(texts(&files["implementation"]), ["src/add.py"], "{files:#}");
    project.assert_done_beside(&["01-01"]);
}

/// The user has begun on the very file that the step is to write.
fn overlapping() -> Project {
    let project = Project::short();
    project.env.file("src/add.py", "RESULT = 1\n").file("notes.txt", "mine\n");
    project
}

#[test]
fn changes_of_the_user_where_the_step_works_are_asked_about_before_anything_is_done() {
    let project = overlapping();
    let asked = project.step("01-01").exits(3).asked();
    let words = "You have changes that are not committed in files that step 01-01 works on: src/add.py. May they become \
                 part of its commits?";
    assert!(asked.contains(words), "{asked}");
    assert_eq!(project.calls(), Vec::<String>::new());

    project.resume(&[("your changes", "approve", "")]).exits(0);
    project.assert_done_beside(&["01-01"]);
    let ours = project.git(&["log", "-2", "--name-only", "--format="]);
    assert!(ours.contains("src/add.py") && !ours.contains("notes.txt"), "{ours}");
    assert_eq!(project.git(&["status", "--porcelain"]), "?? notes.txt\n");
}

#[test]
fn changes_of_the_user_that_shall_stay_out_keep_the_step_from_beginning() {
    let project = overlapping();
    let head = project.git(&["rev-parse", "HEAD"]);
    project.step_answering("01-01", &[("your changes", "cancel", "")]).exits(1);
    assert_eq!(project.calls(), Vec::<String>::new());
    assert_eq!(project.env.read("src/add.py"), "RESULT = 1\n");
    assert_eq!(project.git(&["rev-parse", "HEAD"]), head);
}

/// E-52: the first commit of a repository, with names that are not plain; DW-44: what is named is there for the agent.
#[test]
fn e_52_a_repository_without_commits_and_files_with_odd_names_work() {
    let project = Project::of(
        SHORT,
        &[add()
            .with("files_to_create", "[\"src/add.py\", \"src/ä ö.py\", \"src/new name.py\"]")
            .with("files_to_modify", "[\"src/old name.py\", \"src/gone.py\"]")],
    );
    project.env.file("src/old name.py", "A = 1\nB = 2\nC = 3\n").file("src/gone.py", "D = 4\n");
    // The same files, in a repository that has no commit yet but the user's own.
    project.commit("Files");
    project.agent(
        r#"usual
        if [ $SERIATIM_PHASE = RED ]; then
            cat "src/old name.py" >"$stage/seen"
        else
            echo 'E = 5' >"src/ä ö.py"; mv "src/old name.py" "src/new name.py"; rm -f src/gone.py
        fi
        finish"#,
    );
    project.step("01-01").exits(0);
    project.assert_done(&["01-01"]);
    let files = &project.status()["completed_steps"][0]["files_modified"];
    assert_eq!(texts(&files["implementation"]), ["src/add.py", "src/new name.py", "src/ä ö.py"], "{files:#}");
    assert_eq!(std::fs::read_to_string(project.stage("seen")).unwrap(), "A = 1\nB = 2\nC = 3\n");
    let expected = texts(&project.brief("01-01", "RED", 1)["outputs_expected"]);
    assert!(expected.contains(&"src/old name.py".to_owned()), "{expected:?}");
}

#[test]
fn e_52_the_first_commit_of_a_repository_is_that_of_a_step() {
    let project = Project::short();
    std::fs::remove_dir_all(project.env.path(".git")).unwrap();
    project.env.git(&["init", "--quiet", "--initial-branch=main"]);
    project.env.git(&["config", "user.name", "Ada"]);
    project.env.git(&["config", "user.email", "ada@example.org"]);
    project.step("01-01").exits(0);
    assert_eq!(project.subjects(), ["feat(01-01): GREEN", "feat(01-01): DONE"]);
    let files = &project.status()["completed_steps"][0]["files_modified"];
    assert_eq!(texts(&files["implementation"]), ["src/add.py"], "{files:#}");
    assert_eq!(project.git(&["ls-files", "check.sh"]), "");
}

/// The user's hooks run on the user's branch, and what they refuse is not done.
#[test]
fn a_hook_of_the_user_that_refuses_a_commit_fails_the_step_and_it_goes_on_when_that_is_mended() {
    let project = Project::short();
    let hook = ".git/hooks/pre-commit";
    project.env.file(hook, "#!/bin/sh\necho 'no commits on Sundays' >&2\nexit 1\n");
    std::process::Command::new("chmod").arg("+x").arg(project.env.path(hook)).status().unwrap();
    project
        .step("01-01")
        .exits(1)
        .says("`feat(01-01): GREEN` could not be committed")
        .says("no commits on Sundays");
    assert_eq!(project.subjects(), Vec::<String>::new());
    assert_eq!(project.checkpoint("01-01")["execution_result"]["can_retry"], true);
    std::fs::remove_file(project.env.path(hook)).unwrap();
    project.step("01-01").exits(0);
    assert_eq!((project.count("01-01", "RED"), project.count("01-01", "GREEN")), (1, 1));
    assert!(project.subjects().contains(&"feat(01-01): DONE".to_owned()));
    project.assert_done(&["01-01"]);
}
