//! Agents that work apart from the project's own files, in a worktree of its repository.

use std::fs;

use serde_json::Value;
use serde_json::json;

use crate::guard::AGENT;
use crate::guard::Answer;
use crate::guard::Guarded;
use crate::guard::STEP;
use crate::guard::THREE;
use crate::guard::holds;

/// A worktree for an agent, and events from there.
struct Apart {
    guarded: Guarded,
    folder: &'static str,
}

impl Apart {
    fn new(folder: &'static str) -> Apart {
        let guarded = Guarded::new();
        guarded.git(&["worktree", "add", "--quiet", "--detach", folder]).exits(0);
        guarded.spawn(&guarded.prompt()).passes();
        Apart { guarded, folder }
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.guarded.env.path(self.folder).canonicalize().unwrap().join(path)
    }

    fn send(&self, name: &str, more: Value) -> Answer {
        let mut more = more;
        more["cwd"] = json!(self.path(""));
        more["agent_id"] = json!(AGENT);
        self.guarded.send(name, more)
    }

    fn write(&self, path: &str) -> Answer {
        let input = json!({"file_path": self.path(path), "content": "x"});
        self.send("PreToolUse", json!({"tool_name": "Write", "tool_input": input}))
    }

    fn runs_ls(&self) {
        self.send("PreToolUse", json!({"tool_name": "Bash", "tool_input": {"command": "ls"}})).passes();
    }

    /// What the violations are called that lie in the worktree.
    fn shown(&self, path: &str) -> String {
        match self.folder.starts_with("..") {
            true => format!("Unexpected modification: {}", self.path(path).display()),
            false => format!("Unexpected modification: {}/{path}", self.folder),
        }
    }

    fn all_done(&self) {
        for phase in THREE {
            let line = format!(
                "cd {} && seriatim phase start 01-01 {phase} && seriatim phase done 01-01 {phase} --outcome PASS",
                self.folder
            );
            self.guarded.sh(&line).exits(0);
        }
    }
}

const FOLDERS: [&str; 2] = [".claude/worktrees/agent-1", "../beside"];

#[test]
fn ds_66_an_agent_in_a_worktree_is_held_to_its_files_there() {
    for folder in FOLDERS {
        for start_is_there in [true, false] {
            let apart = Apart::new(folder);
            match start_is_there {
                true => apart.send("SubagentStart", json!({})).passes(),
                // Some clients tell where the session is, and only later where the agent is.
                false => apart.guarded.sub_start(AGENT).passes(),
            }
            apart.write("src/greet.sh").passes();
            holds(&apart.write("README.md").denied(), &["Unexpected modification: README.md"]);
            apart.runs_ls();
            fs::write(apart.path("src/greet.sh"), "echo good morning\n").unwrap();
            fs::write(apart.path("README.md"), "Changed by the shell.\n").unwrap();
            fs::write(apart.path("new.rs"), "x\n").unwrap();
            apart.all_done();
            // The record is the project's, from wherever it was written.
            assert_eq!(apart.guarded.status(), "DONE");
            let reason = apart.send("SubagentStop", json!({})).blocked();
            holds(&reason, &[&apart.shown("README.md"), &apart.shown("new.rs")]);
            assert_eq!(reason.matches("Unexpected modification").count(), 2, "{folder}: {reason}");
            apart.guarded.env.run(&["commit-gate"]).exits(1).says("README.md");
            // Committed there past the hooks, it is still not as it was.
            let line = format!("cd {folder} && git add --all && git commit --quiet --no-verify -m Out");
            apart.guarded.sh(&line).exits(0);
            holds(&apart.send("SubagentStop", json!({})).blocked(), &[&apart.shown("README.md")]);
            apart
                .guarded
                .sh(&format!("cd {folder} && git checkout -q HEAD~1 -- README.md && rm new.rs"))
                .exits(0);
            apart.send("SubagentStop", json!({})).passes();
        }
    }
}

#[test]
fn ds_27_the_copy_of_the_record_in_a_worktree_is_not_the_record() {
    let apart = Apart::new(FOLDERS[0]);
    apart.send("SubagentStart", json!({})).passes();
    holds(&apart.write(STEP).denied(), &["is a copy that nobody reads", "seriatim phase start 01-01"]);
    // By the shell it can be written, and then it is found.
    let mut forged = apart.guarded.step();
    for index in 0..3 {
        forged["tdd_cycle"]["phase_execution_log"][index]["status"] = json!("EXECUTED");
        forged["tdd_cycle"]["phase_execution_log"][index]["outcome"] = json!("PASS");
    }
    forged["state"]["status"] = json!("DONE");
    fs::write(apart.path(STEP), format!("{forged:#}\n")).unwrap();
    let reason = apart.send("SubagentStop", json!({})).blocked();
    holds(&reason, &["Phase RED NOT_EXECUTED", &apart.shown(STEP)]);
    // A copy that says the same as the record does no harm.
    apart.all_done();
    fs::copy(apart.guarded.env.path(STEP), apart.path(STEP)).unwrap();
    apart.send("SubagentStop", json!({})).passes();
}

#[test]
fn ds_37_an_agent_without_a_step_in_a_worktree_is_left_alone() {
    let guarded = Guarded::new().at_work();
    guarded.git(&["worktree", "add", "--quiet", "--detach", FOLDERS[0]]).exits(0);
    let cwd = guarded.env.path(FOLDERS[0]);
    let call = json!({"prompt": "Look around", "isolation": "worktree", "run_in_background": false});
    guarded.spawn_as("toolu_2", call, json!({})).passes();
    for (name, more) in [
        ("SubagentStart", json!({})),
        ("PreToolUse", json!({"tool_name": "Write", "tool_input": {"file_path": cwd.join("README.md")}})),
        ("SubagentStop", json!({})),
    ] {
        let mut event = more;
        event["agent_id"] = json!("b1");
        event["cwd"] = json!(cwd);
        guarded.send(name, event).passes();
    }
    fs::write(cwd.join("README.md"), "Changed.\n").unwrap();
    guarded.all_done();
    guarded.sub_stop(AGENT).passes();
}
