//! The commit is exactly the change that was checked, on the commit where the work began: whatever hooks do, whatever the
//! user has staged, and whichever way files are stored.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::cycle;
use crate::roadmap_support::Project as Roadmap;
use crate::support::Env;

fn hook(env: &Env, path: &str, script: &str) {
    env.file(path, format!("#!/bin/sh\n{script}\n"));
    assert!(fs::set_permissions(env.path(path), fs::Permissions::from_mode(0o755)).is_ok());
}

/// A hook as formatters are: it looks at what is staged, changes it, and stages it again.
const FORMATTER: &str = r#"
for file in $(git diff --cached --name-only --diff-filter=ACM -- '*.sh' '*.py'); do
    grep -q '^# formatted$' "$file" || { echo '# formatted' >>"$file"; git add "$file"; }
done"#;

/// A cycle whose Actor works in a view, or in the workspace itself.
fn cycles() -> [cycle::Project; 2] {
    ["none", "world"].map(|isolation| {
        let project = cycle::Project::new();
        let config = project
            .env
            .read("seriatim.toml")
            .replace("isolation = \"none\"", &format!("isolation = \"{isolation}\""));
        if isolation == "none" {
            return project;
        }
        // In a world the desk of the roles has to be shared, to be seen by the test.
        let config = format!("{config}\n[worlds]\nshare = [\".git/desk/\"]\n");
        project.with("seriatim.toml", &config)
    })
}

#[test]
fn what_a_hook_changes_is_shown_checked_and_committed() {
    for project in cycles() {
        hook(&project.env, ".git/hooks/pre-commit", FORMATTER);
        hook(&project.env, ".git/hooks/commit-msg", "sed -i '1s/^/[ready] /' \"$1\"");
        project.run(&[]).exits(3).says("Approval").says("+# formatted").says("changed greet.sh");
        assert_eq!(project.commits().last().unwrap(), "Begin");
        project.resume(&[("Approval", "commit", "")]).exits(0);
        assert_eq!(project.git_says(&["show", "HEAD:greet.sh"]), "echo good morning\n# formatted\n");
        assert_eq!(project.env.read("greet.sh"), "echo good morning\n# formatted\n");
        assert_eq!(project.commits()[0], "[ready] Greet politely");
        assert_eq!(project.git_says(&["status", "--porcelain", "greet.sh"]), "");
    }
}

// What git would commit of it, nobody was shown; what was shown, the hook did not let pass.
#[test]
fn a_hook_that_stages_something_else_than_the_files_hold_is_named_and_nothing_is_committed() {
    let swap = "blob=$(echo evil | git hash-object -w --stdin); \
                git update-index --cacheinfo 100644,$blob,greet.sh 2>/dev/null; true";
    for trick in [swap, "git reset -q -- greet.sh"] {
        for project in cycles() {
            hook(&project.env, ".git/hooks/pre-commit", trick);
            project.run(&[("Approval", "commit", "")]).exits(3).says("Paused");
            let told = project.prompt("planner", 2);
            assert!(told.contains("it stages something else than the files hold:\ngreet.sh"), "{told}");
            assert_eq!(project.git_says(&["show", "HEAD:greet.sh"]), "echo hello\n");
        }
    }
    let roadmap = Roadmap::short();
    hook(&roadmap.env, ".git/hooks/pre-commit", &swap.replace("greet.sh", "src/add.py"));
    roadmap.step("01-01").exits(1).says("it stages something else than the files hold");
    assert!(!roadmap.git(&["log", "--format=%B", "-p"]).contains("evil"));
}

// A hook may take a new file away: then it is in no commit.
#[test]
fn a_new_file_that_a_hook_removes_is_not_committed() {
    let plan = "say '{\"kind\": \"step\", \"step\": {\"title\": \"Greet politely\", \"instructions\": \"Do it.\", \
                \"files\": [\"greet.sh\"], \"creates\": [\"extra.txt\"], \"loc\": 2, \"risk\": \"low\", \
                \"success_criteria\": [\"it greets\"], \"commands\": []}}'";
    for project in cycles() {
        let project = project.planner(plan).actor("echo secret >extra.txt; greet; done_well");
        hook(&project.env, ".git/hooks/pre-commit", "git rm -q -f --ignore-unmatch extra.txt");
        project.run(&[("Approval", "commit", "")]).exits(0);
        assert_eq!(
            project.git_says(&["ls-tree", "--name-only", "HEAD", "extra.txt"]),
            "",
            "{}",
            project.env.read("seriatim.toml")
        );
        assert_eq!(project.git_says(&["show", "HEAD:greet.sh"]), "echo good morning\n");
        assert!(!project.env.path("extra.txt").exists());
    }
}

#[test]
fn hooks_of_a_manager_format_the_files_of_a_step_and_head_is_what_the_last_gates_saw() {
    let roadmap = Roadmap::single();
    roadmap.env.git(&["config", "core.hooksPath", ".husky"]);
    hook(&roadmap.env, ".husky/pre-commit", FORMATTER);
    roadmap.env.git(&["add", "--all"]);
    roadmap.env.git(&["commit", "--quiet", "--no-verify", "--message=Hooks"]);
    roadmap.step("01-01").exits(0);
    assert_eq!(
        roadmap.git(&["show", "HEAD:src/add.py"]),
        "\"\"\"The function add.\"\"\"\n\nRESULT = 5\n# formatted\n"
    );
    roadmap.assert_done(&["01-01"]);
}

#[test]
fn a_post_commit_hook_runs_outside_and_one_that_moves_the_branch_is_an_error() {
    let project = cycle::Project::new();
    hook(&project.env, ".git/hooks/post-commit", "git log -1 --format=%s >heard.txt");
    project.run(&[("Approval", "commit", "")]).exits(0);
    assert_eq!(project.env.read("heard.txt"), "Greet politely\n");

    let project = cycle::Project::new();
    let amend = "[ -f .git/amended ] || { touch .git/amended; git commit -q --amend --no-verify -m Other; }";
    hook(&project.env, ".git/hooks/post-commit", amend);
    project.run(&[("Approval", "commit", "")]).exits(3).says("Not committed").says("the branch moved");
}

/// The user has begun on the file that the work touches, and has other things staged and changed.
fn dirty(project: &cycle::Project) {
    project.env.file("greet.sh", "echo hello\n# mine\n").file("notes.txt", "mine\n").file("check.sh", CHECK);
    project.env.git(&["add", "notes.txt", "greet.sh"]);
}

const CHECK: &str = "grep -q 'good morning' greet.sh && echo '1 passed'\n";

#[test]
fn uncommitted_changes_in_files_of_a_cycle_are_asked_about_before_the_work() {
    for project in cycles() {
        let project = project.actor("sed -i 's/hello/good morning/' greet.sh; done_well");
        dirty(&project);
        project
            .run(&[])
            .exits(3)
            .says("Your changes")
            .says("not committed in files that this step works on: greet.sh");
        assert_eq!(project.calls("actor"), 0);
        project.resume(&[("Your changes", "approve", ""), ("Approval", "commit", "")]).exits(0);
        assert_eq!(project.git_says(&["show", "HEAD:greet.sh"]), "echo good morning\n# mine\n");
        assert_eq!(project.git_says(&["show", "--name-only", "--format="]), "greet.sh\n");
        let status = project.git_says(&["status", "--porcelain", "--", "*.sh", "notes.txt"]);
        assert_eq!(status, " M check.sh\nA  notes.txt\n");
    }
}

#[test]
fn uncommitted_changes_that_shall_stay_out_are_in_no_commit_and_stay_where_they_are() {
    for project in cycles() {
        dirty(&project);
        project.run(&[("Your changes", "stop", "")]).exits(1);
        assert_eq!(project.calls("actor"), 0);
        assert_eq!(project.env.read("greet.sh"), "echo hello\n# mine\n");
        assert_eq!(project.git_says(&["show", ":greet.sh"]), "echo hello\n# mine\n");
        assert_eq!(project.git_says(&["log", "--format=%s", "-1", "--", "greet.sh"]), "Begin\n");
    }
}

#[test]
fn an_actor_that_strays_into_a_file_with_uncommitted_changes_is_asked_about_too() {
    for project in cycles() {
        let project = project
            .actor("echo 'echo good morning' >greet.sh; [ $n -gt 1 ] || echo agent >>notes.txt; done_well");
        let project = project.with("notes.txt", "theirs\n");
        project.env.file("notes.txt", "theirs\nmine\n");
        project.run(&[("Your changes", "changes", "leave my notes"), ("Approval", "commit", "")]).exits(0);
        assert!(project.prompt("planner", 2).contains("leave my notes"));
        assert_eq!(project.env.read("notes.txt"), "theirs\nmine\n");
        assert_eq!(project.git_says(&["show", "--name-only", "--format="]), "greet.sh\n");
    }
}

#[test]
fn nothing_is_committed_on_a_branch_that_moved_unless_a_person_says_so() {
    for project in cycles() {
        project.run(&[]).exits(3).says("Approval");
        project.env.git(&["commit", "--quiet", "--allow-empty", "--only", "--message=Meanwhile"]);
        let asked = project.resume(&[("Approval", "commit", "")]).exits(3);
        asked.says("The branch moved").says("git switch main");
        assert_eq!(project.commits()[0], "Meanwhile");
        let calls = project.calls("judge");
        project.resume(&[("The branch moved", "approve", ""), ("Approval", "commit", "")]).exits(0);
        assert_eq!(project.calls("judge"), calls + 1);
        assert_eq!(project.commits()[..2], ["Greet politely", "Meanwhile"]);
    }
}

#[test]
fn a_branch_that_was_switched_gets_no_commit_of_a_cycle_or_a_step() {
    let project = cycle::Project::new();
    project.run(&[]).exits(3).says("Approval");
    project.env.git(&["switch", "--quiet", "--create", "elsewhere"]);
    project.resume(&[("Approval", "commit", "")]).exits(3).says("The branch moved");
    project.env.git(&["switch", "--quiet", "main"]);
    project.resume(&[("The branch moved", "retry", ""), ("Approval", "commit", "")]).exits(0);
    assert_eq!(project.git_says(&["log", "--format=%s", "-1", "elsewhere"]).trim(), "Begin");
    assert_eq!(project.git_says(&["log", "--format=%s", "-1", "main"]).trim(), "Greet politely");

    let roadmap = Roadmap::short();
    roadmap.agent("usual; [ $SERIATIM_PHASE = RED ] || git switch --quiet --create elsewhere; finish");
    roadmap.step("01-01").exits(3);
    assert_eq!(roadmap.subjects(), Vec::<String>::new());
    roadmap.env.git(&["switch", "--quiet", "main"]);
    roadmap.resume(&[("the branch moved", "retry", "")]).exits(0);
    assert_eq!(roadmap.git(&["log", "--format=%s", "-1", "elsewhere"]).trim(), "Begin");
    roadmap.assert_done(&["01-01"]);
}

#[test]
fn line_ends_and_large_file_filters_commit_the_blob_that_they_make() {
    for project in cycles() {
        let attributes = "*.txt text eol=crlf\n*.bin filter=store -text\n";
        let project = project.with(".gitattributes", attributes).actor(
            "echo 'echo good morning' >greet.sh; printf 'one\\r\\ntwo\\r\\n' >lines.txt; echo content >big.bin; done_well",
        );
        project.env.git(&["config", "filter.store.clean", "sed 's/^/pointer to /'"]);
        project.env.git(&["config", "filter.store.smudge", "sed 's/^pointer to //'"]);
        project.env.git(&["config", "filter.store.required", "true"]);
        project.run(&[("Approval", "commit", "")]).exits(0);
        assert_eq!(project.git_says(&["show", "HEAD:lines.txt"]), "one\ntwo\n");
        assert_eq!(project.git_says(&["show", "HEAD:big.bin"]), "pointer to content\n");
        assert_eq!(project.env.read("lines.txt"), "one\r\ntwo\r\n");
        assert_eq!(project.env.read("big.bin"), "content\n");
        let status = project.git_says(&["status", "--porcelain", "--", "*.txt", "*.bin", "*.sh"]);
        assert_eq!(status, "");
    }
}

#[test]
fn attributes_excludes_and_marks_hide_nothing_of_a_change() {
    for project in cycles() {
        let project = project.with("long.txt", "short\n").actor(
            "echo 'echo good morning # seen' >greet.sh; head -c 5000000 /dev/zero | tr '\\0' x >long.txt; done_well",
        );
        project
            .env
            .file(".git/info/attributes", "* -diff\n*.sh binary\n")
            .file(".git/info/exclude", "*.sh\n*.txt\n");
        project.env.git(&["update-index", "--assume-unchanged", "greet.sh", "long.txt"]);
        project.run(&[]).exits(3).says("Approval").says("+echo good morning # seen").says("in 2 files");
        project.resume(&[("Approval", "commit", "")]).exits(0);
        assert_eq!(project.git_says(&["show", "HEAD:greet.sh"]), "echo good morning # seen\n");
        assert_eq!(project.git_says(&["cat-file", "-s", "HEAD:long.txt"]).trim(), "5000000");
    }
}

/// A hook that breaks the work before a checkpoint: nothing is committed as GREEN that the checks call red.
#[test]
fn a_checkpoint_whose_files_a_hook_changed_is_checked_again() {
    let roadmap = Roadmap::single();
    let breaks = "[ ! -f src/add.py ] || { echo 'RESULT = 4' >src/add.py; git add src/add.py; }";
    hook(&roadmap.env, ".git/hooks/pre-commit", breaks);
    roadmap.step("01-01").exits(1).says("hooks of the repository changed its files, and");
    assert!(!roadmap.git(&["log", "--format=%s"]).contains("GREEN"));
}

/// Hooks that cannot be found in the view of the change did not let it pass.
#[test]
fn hooks_that_are_not_in_the_view_are_no_consent() {
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let refuses = folder.path().join("pre-commit");
    fs::write(&refuses, "#!/bin/sh\nexit 1\n").unwrap();
    std::process::Command::new("chmod").arg("+x").arg(&refuses).status().unwrap();
    for project in cycles() {
        project.env.git(&["config", "core.hooksPath", &folder.path().display().to_string()]);
        let head = project.git_says(&["rev-parse", "HEAD"]);
        project.run(&[("Approval", "commit", "")]);
        assert_eq!(project.git_says(&["rev-parse", "HEAD"]), head);
    }
}
