//! The engine commits in a guarded repository: the guard's own hook is not asked about it, every other one is.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::roadmap_support::Project;
use crate::support::Env;

/// A project whose guard is installed as a person does it, over a hook of their own.
fn guarded(earlier: &str) -> Project {
    guard(Project::short(), earlier)
}

fn guard(project: Project, earlier: &str) -> Project {
    if !earlier.is_empty() {
        hook(&project.env, earlier);
    }
    project.env.run(&["guard", "install", "--yes", "--client", "claude"]).exits(0);
    project.env.git(&["add", "--all"]);
    project.env.git(&["commit", "--quiet", "--no-verify", "--message", "Guard"]);
    project
}

fn hook(env: &Env, text: &str) {
    env.file(".git/hooks/pre-commit", text);
    fs::set_permissions(env.path(".git/hooks/pre-commit"), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn the_engine_commits_in_a_guarded_repository() {
    for in_worlds in [false, true] {
        let project = Project::short();
        if in_worlds {
            project.in_worlds();
        }
        let project = guard(project, "");
        project.step("01-01").exits(0);
        assert_eq!(project.subjects(), ["feat(01-01): GREEN", "feat(01-01): DONE"], "in worlds: {in_worlds}");
    }
}

#[test]
fn a_hook_that_was_there_before_the_guard_still_has_its_say() {
    let project = guarded("#!/bin/sh\necho 'no commits on a Sunday' >&2\nexit 1\n");
    let said = project.step("01-01");
    assert_ne!(said.exit, Some(0), "{}", said.stderr);
    said.says("no commits on a Sunday");
    assert_eq!(project.subjects(), Vec::<String>::new());
}

#[test]
fn the_other_lines_of_a_composed_hook_are_run() {
    for (line, commits) in [("test -f src/add.py || exit 1", 2), ("test -f src/nothing.py || exit 1", 0)] {
        let project = guarded("");
        hook(&project.env, &format!("#!/bin/sh\nseriatim commit-gate || exit $?\n{line}\n"));
        project.step("01-01");
        assert_eq!(project.subjects().len(), commits, "{line}");
    }
}

// What an agent can set in its own environment is no proof that the engine commits.
#[test]
fn nothing_in_the_environment_switches_the_gate_of_a_commit_off() {
    let guarded = crate::guard::Guarded::new().with_git_hooks().at_work();
    guarded.env.file("src/greet.sh", "echo good morning\n");
    guarded.git(&["add", "--all"]);
    for name in ["SERIATIM_ATTEMPT_ID", "SERIATIM_RUN", "SERIATIM_CHECKPOINT", "SERIATIM_COMMIT"] {
        let said = guarded.sh(&format!("{name}=run-1 git commit --message=Past"));
        assert_ne!(said.exit, Some(0), "{name}: {}", said.stderr);
    }
}
