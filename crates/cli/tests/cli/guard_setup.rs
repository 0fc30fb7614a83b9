//! The guard is put into a project and taken out again: what is there is kept, to the byte (DS-32, K-30).

use std::fs;

use serde_json::Value;
use serde_json::json;

use crate::guard_stage::Stage;
use crate::guard_stage::mode;

const ALL: [&str; 3] = ["claude", "codex", "gemini"];
/// Settings as somebody may have written them: tabs, no end of line, hooks of their own.
const CLAUDE: &str = "{\n\t\"model\": \"opus\",\n\t\"hooks\": {\n\t\t\"PreToolUse\": [\n\t\t\t{\"matcher\": \"Bash\", \"hooks\": \
                      [{\"type\": \"command\", \"command\": \"lint.sh\"}]}\n\t\t]\n\t}\n}";
const CODEX: &str = "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"bell\"}]}]}}\n";
const GEMINI: &str = "{\r\n  // mine\r\n  \"theme\": \"dark\"\r\n}\r\n";

fn lived_in() -> Stage {
    let stage = Stage::new();
    stage.put(".claude/settings.json", 0o640, CLAUDE);
    stage.put(".codex/hooks.json", 0o600, CODEX);
    stage.put(".gemini/settings.json", 0o664, GEMINI);
    stage.put(".git/hooks/pre-commit", 0o750, "#!/bin/sh\necho \"theirs at commit\" >>said\n");
    stage.put(".git/hooks/pre-push", 0o755, "#!/bin/sh\nread line; echo \"$1 $line\" >>said\n");
    stage
}

/// DS-32, DS-117: the configuration is delivered, and it can be taken back.
#[test]
fn ds_32_what_was_there_comes_back_to_the_byte_with_its_modes() {
    let stage = lived_in();
    stage.put(".claude/settings.json", 0o640, &CLAUDE.replacen("\t]", "\t],\n\t\t\"Stop\": []", 1));
    let before = stage.tree();
    stage.install(&ALL).says("done: This project is guarded.");
    let between = stage.tree();
    assert_ne!(before, between);
    assert_eq!(mode(&stage.env.path(".claude/settings.json")), 0o640);
    assert!(
        stage.env.read(".gemini/settings.json").contains("// mine\r\n"),
        "comments and ends of line stay"
    );
    assert_eq!(mode(&stage.env.path(".git/hooks/pre-commit.before-seriatim")), 0o750);
    assert_eq!(mode(&stage.env.stored("guard.json")), 0o600, "settings may hold secrets");
    stage.uninstall();
    assert_eq!(stage.tree(), before);
    assert!(!stage.env.store().exists());
}

#[test]
fn ds_32_after_work_only_the_record_stays() {
    let stage = lived_in();
    stage.install(&ALL);
    let before = lived_in().tree();
    stage.run(&["doctor"]);
    stage.env.file("bread", "flour\n");
    stage.git(&["add", "bread"]).exits(0);
    stage.git(&["commit", "-qm", "Bread"]).exits(0);
    stage.uninstall();
    let mut after = stage.tree_without_record();
    assert_eq!(after.remove("said").unwrap().1, "theirs at commit\\n");
    after.remove("bread");
    assert_eq!(after, before);
    stage.run(&["verify"]).exits(0);
    let ignored = stage.git(&["status", "--short", "--untracked-files=all"]);
    ignored.says_nothing_of("seriatim/");
}

#[test]
fn a_project_without_settings_is_empty_again() {
    let stage = Stage::new();
    let before = stage.tree();
    stage.install(&ALL);
    assert!(stage.env.path(".codex/hooks.json").is_file());
    stage.uninstall();
    assert_eq!(stage.tree(), before);
    for folder in [".claude", ".codex", ".gemini", ".seriatim", ".git/seriatim"] {
        assert!(!stage.env.path(folder).exists(), "{folder}");
    }
}

/// K-30: of the two documented forms of the hook, the one with matcher and time.
#[test]
fn k_30_the_stop_hook_is_for_all_agents_and_has_a_time() {
    let stage = Stage::new();
    stage.run(&["guard", "install", "--client", "claude", "--local", "--yes"]).exits(0);
    assert!(!stage.env.path(".claude/settings.json").exists());
    let settings: Value = serde_json::from_str(&stage.env.read(".claude/settings.local.json")).unwrap();
    let stop = &settings["hooks"]["SubagentStop"][0];
    assert_eq!(stop["matcher"], "*");
    let hook = json!({"type": "command", "command": "seriatim hook --client claude", "timeout": 30});
    assert_eq!(stop["hooks"], json!([hook]));
    stage
        .run(&["guard", "install", "--client", "claude", "--yes"])
        .exits(2)
        .says("settings.local.json already");
    stage.run(&["guard", "install", "--client", "codex", "--local", "--yes"]).exits(2);
}

#[test]
fn installing_twice_changes_nothing_and_says_so() {
    let stage = lived_in();
    stage.install(&ALL);
    let once = stage.tree();
    stage.install(&ALL).says("Everything is in place already; nothing was changed.");
    stage.run(&["guard", "install", "--client", "claude"]).exits(0).says("nothing was changed");
    assert_eq!(stage.tree(), once);
}

#[test]
fn without_a_terminal_consent_has_to_be_given_beforehand() {
    let stage = lived_in();
    let before = stage.tree();
    let output = stage.run(&["guard", "install", "--client", "claude"]).exits(2).says("add --yes");
    assert!(output.stdout.contains(".claude/settings.json\n  + PreToolUse (Agent|"), "{}", output.snapshot());
    output.says("> kept as pre-commit.before-seriatim, and run first");
    assert_eq!(stage.tree(), before);
    stage.install(&["claude"]);
    let guarded = stage.tree();
    stage.run(&["guard", "uninstall"]).exits(2).says("add --yes");
    assert_eq!(stage.tree(), guarded);
}

#[test]
fn what_others_wrote_meanwhile_stays() {
    let stage = lived_in();
    stage.install(&ALL);
    let path = ".claude/settings.json";
    let theirs = stage.env.read(path).replace("\"model\": \"opus\"", "\"model\": \"haiku\"");
    stage.env.file(path, theirs);
    stage.uninstall().says("- the guard's hooks alone");
    assert_eq!(stage.env.read(path), CLAUDE.replace("opus", "haiku"));
    assert_eq!(stage.env.read(".codex/hooks.json"), CODEX);
}

#[test]
fn what_others_wrote_stays_also_after_the_hooks_were_repaired() {
    let stage = lived_in();
    stage.install(&ALL);
    let path = ".claude/settings.json";
    let text = stage.env.read(path).replace("opus", "haiku").replace("\"timeout\": 30", "\"timeout\": 1");
    stage.env.file(path, text);
    stage.run(&["guard", "status"]).exits(1).says("SubagentStop altered");
    stage.install(&["claude"]).says("~ SubagentStop (*)");
    stage.run(&["guard", "status"]).exits(0);
    stage.uninstall();
    assert_eq!(stage.env.read(path), CLAUDE.replace("opus", "haiku"));
}

#[test]
fn broken_settings_keep_everything_as_it_was() {
    let stage = lived_in();
    stage.env.file(".gemini/settings.json", "{\n  \"theme\": \n}\n");
    let before = stage.tree();
    let output =
        stage.run(&["guard", "install", "--client", "claude", "--client", "gemini", "--yes"]).exits(2);
    output.says(".gemini/settings.json, line 3, column 1: ").says("nothing was changed");
    assert_eq!(stage.tree(), before);
    stage.install(&["claude", "codex"]);
    stage.env.file(".claude/settings.json", "{");
    let guarded = stage.tree();
    stage.run(&["guard", "uninstall", "--yes"]).exits(2).says(".claude/settings.json, line 1, column ");
    assert_eq!(stage.tree(), guarded);
}

#[test]
fn a_write_that_fails_puts_the_others_back() {
    let stage = lived_in();
    // The settings can be written, and after them the hooks of git cannot: a file is where their folder should be.
    fs::remove_dir_all(stage.env.path(".git/hooks")).unwrap();
    stage.env.file(".git/hooks", "");
    let before = stage.tree();
    let output = stage.run(&["guard", "install", "--client", "claude", "--yes"]).exits(2);
    output.says(".git/hooks").says("everything is as it was");
    assert_eq!(stage.tree(), before);
    assert!(!stage.env.store().exists());
}

#[test]
fn the_last_client_takes_the_hooks_of_git_with_it() {
    let stage = Stage::new();
    let before = stage.tree();
    stage.install(&["claude", "codex"]);
    let out = |client| stage.run(&["guard", "uninstall", "--yes", "--client", client]).exits(0);
    out("codex").says("The other clients stay guarded.");
    assert!(!stage.env.path(".codex").exists() && stage.env.path(".git/hooks/pre-commit").is_file());
    let (status, exit) = stage.env.json(&["guard", "status"]);
    assert_eq!(
        (exit, &status["clients"][0]["client"], &status["guarded"]),
        (Some(0), &json!("claude"), &json!(true))
    );
    out("claude").says("guarded no longer");
    assert_eq!(stage.tree(), before);
    out("claude").says("nothing was changed");
}

#[test]
fn a_mark_that_cannot_be_read_still_lets_the_hooks_be_taken_out() {
    let stage = lived_in();
    let before = stage.tree();
    stage.install(&ALL);
    stage.env.store_file("guard.json", "{\"clients\": 7}");
    stage.run(&["guard", "status"]).exits(1).says("cannot be read");
    stage.run(&["guard", "install", "--yes"]).exits(2).says("cannot be read");
    stage.uninstall().says("by what they look like");
    assert_eq!(stage.tree(), before, "ours are told from others by their command");
}

#[test]
fn the_clients_that_are_there_are_guarded_when_none_is_named() {
    let clients = |stage: &Stage| {
        let (document, exit) = stage.env.json(&["guard", "install", "--yes"]);
        assert_eq!(exit, Some(0), "{document}");
        document["clients"].clone()
    };
    assert_eq!(clients(&Stage::new()), json!(["claude"]));
    let stage = Stage::new();
    stage.program("codex", "echo codex-cli 0.166.0").env.file(".gemini/settings.json", "{}");
    assert_eq!(clients(&stage), json!(["codex", "gemini"]));
    stage.run(&["guard", "install", "--client", "emacs", "--yes"]).exits(2).says("claude, codex and gemini");
}

#[test]
fn links_to_settings_stay_links() {
    let stage = Stage::new();
    stage.env.file("dotfiles/claude.json", "{}\n").file(".claude/keep", "");
    std::os::unix::fs::symlink("../dotfiles/claude.json", stage.env.path(".claude/settings.json")).unwrap();
    stage.install(&["claude"]);
    assert!(stage.env.path(".claude/settings.json").is_symlink());
    assert!(stage.env.read("dotfiles/claude.json").contains("seriatim hook"));
    stage.uninstall();
    assert_eq!(stage.env.read("dotfiles/claude.json"), "{}\n");
}

#[test]
fn the_hooks_of_the_plugin_are_those_of_the_settings() {
    let stage = Stage::new();
    stage.install(&["claude"]);
    let installed: Value = serde_json::from_str(&stage.env.read(".claude/settings.json")).unwrap();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plugin/seriatim/hooks/hooks.json");
    let plugin: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(plugin["hooks"], installed["hooks"]);
}

/// The plugin is installed per user, so that its hooks are called everywhere.
#[test]
fn where_nothing_is_guarded_a_hook_says_and_writes_nothing() {
    let stage = Stage::new();
    stage.run(&["guard", "status"]).exits(1).says("not guarded");
    let before = stage.tree();
    let payload = json!({
        "session_id": "s", "cwd": stage.env.root, "hook_event_name": "PreToolUse", "tool_name": "Agent",
        "tool_input": {"prompt": "<!-- DES-VALIDATION: required -->\n"}, "tool_use_id": "1",
    });
    stage.env.file("payload", payload.to_string()).file("broken", "{");
    for file in ["payload", "broken"] {
        let mut command = stage.env.command(&["hook", "--client", "claude"]);
        command.stdin(fs::File::open(stage.env.path(file)).unwrap());
        let output = stage.env.start_command(command).output().exits(0);
        assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("", ""), "{file}");
        fs::remove_file(stage.env.path(file)).unwrap();
    }
    assert_eq!(stage.tree(), before);
}

#[test]
fn on_a_terminal_it_asks_and_no_is_the_default() {
    let stage = lived_in();
    let before = stage.tree();
    for (keys, exit) in [("\n", 1), ("perhaps\n", 1), ("y\n", 0)] {
        assert_eq!(stage.tree(), before);
        let mut script = std::process::Command::new("script");
        let line = "seriatim guard install --client claude";
        script.args(["-qef", "--echo", "never", "-c", line, "/dev/null"]);
        stage.env.furnish(&mut script);
        script.env("TERM", "dumb").env("SHELL", "/bin/sh");
        let typed = stage.env.root.with_file_name("keys");
        fs::write(&typed, keys).unwrap();
        script.stdin(fs::File::open(typed).unwrap());
        let Ok(output) = script.output() else {
            println!("SKIPPED: there is no `script` of util-linux to play a terminal");
            return;
        };
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("Make these changes? [y/N]"), "{said}");
        assert_eq!(output.status.code(), Some(exit), "{said}");
        assert_eq!(stage.env.store().exists(), exit == 0, "{keys:?}");
    }
}

/// DS-121, K-93: the documented scripts are a table of commands, each of which exists.
#[test]
fn k_93_every_documented_script_has_its_command() {
    let stage = Stage::bare();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/documented-scripts.md");
    let table = fs::read_to_string(path).unwrap();
    for script in [
        "nWave/hooks/pre_task_validation.py",
        "nWave/hooks/validate_prompt_template.py",
        "nWave/hooks/post_subagent_validation.py",
        "nWave/hooks/pre_commit_tdd_phases.py",
        "nWave/tools/execution_watchdog.py",
        "nWave/utils/audit.py",
    ] {
        let row = table.lines().find(|line| line.starts_with(&format!("| `{script}`")));
        let row = row.unwrap_or_else(|| panic!("{script} is not in the table"));
        let commands: Vec<&str> =
            row.split('`').filter_map(|word| word.strip_prefix("seriatim ")?.split(' ').next()).collect();
        assert!(!commands.is_empty(), "{row}");
        commands.iter().for_each(|command| drop(stage.run(&[command, "--help"]).exits(0)));
    }
}
