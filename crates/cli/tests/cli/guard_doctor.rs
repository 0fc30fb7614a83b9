//! The doctor: what disarms a guard is found, and what is not protected is said (DS-34, K-91).

use serde_json::Value;

use crate::guard_stage::Stage;
use crate::guard_stage::open_step;

fn guarded(version: &str) -> Stage {
    let stage = Stage::new();
    stage.program("claude", &format!("echo '{version} (Claude Code)'"));
    stage.install(&["claude"]);
    stage
}

#[track_caller]
fn check(stage: &Stage, name: &str) -> (bool, String) {
    let (document, exit) = stage.env.json(&["doctor"]);
    assert_eq!(exit == Some(0), document["ok"] == Value::Bool(true), "{document}");
    let found = document["checks"].as_array().unwrap().iter().find(|check| check["name"] == name);
    let found = found.unwrap_or_else(|| panic!("no check `{name}`: {document}"));
    assert_eq!(
        found["ok"] == Value::Bool(false),
        found["help"].is_string(),
        "what is bad has a remedy: {found}"
    );
    (found["ok"].as_bool().unwrap(), found["detail"].as_str().unwrap().to_owned())
}

/// K-91: a refusal is one that the client takes as such, which the canary proves with the installed command.
#[test]
fn k_91_a_guard_that_guards_is_found_well_and_its_limits_are_said() {
    let stage = guarded("2.1.325");
    let before = stage.tree_without_record();
    let output = stage.run(&["doctor"]).exits(0).says("✓ good  canary of claude").says("Every check holds.");
    let output =
        output.says("Not protected").says("claude --bare").says("--no-verify").says("No gate is configured");
    output.says_nothing_of("✗");
    assert_eq!(stage.tree_without_record(), before, "only the record was written to");
    let trail = stage.env.stored_below("guard");
    let trail = trail.iter().find(|path| path.to_string_lossy().ends_with(".log")).unwrap();
    let trail = std::fs::read_to_string(trail).unwrap();
    assert!(trail.contains("TASK_INVOCATION_REJECTED") && trail.contains("seriatim-doctor"), "{trail}");
    let (status, _) = stage.env.json(&["guard", "status"]);
    assert_eq!(status["open_steps"], serde_json::json!([]));
    stage.run(&["verify"]).exits(0);
}

/// DS-34: the table of capabilities is read for the version that is there.
#[test]
fn ds_34_a_client_that_is_too_old_is_a_gap() {
    let stage = guarded("2.1.197");
    let (ok, detail) = check(&stage, "version of claude");
    assert!(!ok && detail.contains("2.1.295"), "{detail}");
    stage
        .run(&["doctor"])
        .exits(1)
        .says("update claude to 2.1.295 or later")
        .says("the tool runs all the same");
    let stage = guarded("3.0.0");
    let (ok, detail) = check(&stage, "version of claude");
    assert!(ok && detail.contains("newer than 2.1.325"), "{detail}");
}

#[test]
fn a_client_that_is_not_there_or_says_nothing_useful_is_said() {
    let stage = guarded("of unknown age");
    assert!(check(&stage, "version of claude").0);
    stage.run(&["doctor"]).says("Whether claude is new enough is not known");
}

#[test]
fn the_commands_explain_themselves() {
    let stage = Stage::bare();
    for args in
        [&["doctor"][..], &["guard"], &["guard", "install"], &["guard", "uninstall"], &["guard", "status"]]
    {
        stage.run(&[args, &["--help"]].concat()).exits(0).says("Usage: seriatim ");
    }
}

#[test]
fn a_project_without_a_guard_is_not_well() {
    Stage::new().run(&["doctor"]).exits(1).says("this project is not guarded").says("seriatim guard install");
}

#[test]
fn hooks_that_are_gone_or_switched_off_are_found() {
    let stage = guarded("2.1.325");
    let path = ".claude/settings.json";
    let whole = stage.env.read(path);
    stage.env.file(path, whole.replace("\"PreToolUse\"", "\"PreToolUsed\""));
    let (ok, detail) = check(&stage, "hooks of claude");
    assert!(!ok && detail.contains("PreToolUse is missing"), "{detail}");
    stage.env.file(path, "{");
    assert!(!check(&stage, "hooks of claude").0);
    stage.env.file(path, whole.replacen('{', "{\"disableAllHooks\": true, ", 1));
    assert!(check(&stage, "hooks of claude").0);
    assert!(!check(&stage, "claude runs hooks").0);
    stage.env.file(path, whole).file(".claude/settings.local.json", "{\"disableAllHooks\": true}");
    let (ok, detail) = check(&stage, "claude runs hooks");
    assert!(!ok && detail.contains("settings.local.json"), "{detail}");
    std::fs::remove_file(stage.env.path(".claude/settings.local.json")).unwrap();
    let home = stage.env.root.with_file_name("home").join(".claude");
    std::fs::create_dir(&home).unwrap();
    std::fs::write(home.join("settings.json"), "{\"disableAllHooks\": true}").unwrap();
    assert!(!check(&stage, "claude runs hooks").0);
}

#[test]
fn another_program_of_the_name_is_found_and_so_is_a_hook_that_says_yes() {
    let stage = guarded("2.1.325");
    stage.program("seriatim", "echo 'seriatim 9.9.9'");
    let mut command = stage.env.command(&["doctor"]);
    command.arg("--json");
    let document = stage.env.start_command(command).output().exits(1).document();
    let bad: Vec<&str> = document["checks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|check| check["ok"] == Value::Bool(false))
        .filter_map(|check| check["name"].as_str())
        .collect();
    assert_eq!(bad, ["program", "canary of claude"]);
    stage.without("seriatim");
    let (ok, detail) = check(&stage, "program");
    assert!(!ok && detail.contains("not on PATH"), "{detail}");
}

#[test]
fn codex_has_to_be_told_to_trust() {
    let stage = Stage::new();
    stage.program("codex", "echo codex-cli 0.166.0");
    stage.install(&["codex"]).says("type /hooks");
    let (ok, detail) = check(&stage, "trust of codex");
    assert!(!ok && detail.contains("skips these hooks without a word"), "{detail}");
    let file = stage.env.path(".codex/hooks.json");
    let events = [
        "pre_tool_use",
        "post_tool_use",
        "subagent_start",
        "subagent_stop",
        "stop",
        "session_start",
        "session_end",
    ];
    let section = |event: &&str| {
        format!("[hooks.state.\"{}:{event}:0:0\"]\ntrusted_hash = \"sha256:0\"\n", file.display())
    };
    let home = stage.env.root.with_file_name("home").join(".codex");
    std::fs::create_dir(&home).unwrap();
    std::fs::write(home.join("config.toml"), events.iter().map(section).collect::<String>()).unwrap();
    assert!(check(&stage, "trust of codex").0);
    stage.run(&["doctor"]).exits(0).says_nothing_of("✗");
}

#[test]
fn a_record_that_was_altered_is_found() {
    let stage = guarded("2.1.325");
    stage.run(&["doctor"]).exits(0);
    let trail = stage.env.stored_below("guard");
    let trail = trail.iter().find(|path| path.to_string_lossy().ends_with(".log")).unwrap();
    let text = std::fs::read_to_string(trail).unwrap();
    std::fs::write(trail, text.replacen("REJECTED", "ACCEPTED", 1)).unwrap();
    let (ok, detail) = check(&stage, "record");
    assert!(!ok && detail.contains("audit files were altered"), "{detail}");
}

#[test]
fn a_record_at_the_old_place_that_could_be_committed_is_found() {
    let stage = guarded("2.1.325");
    std::fs::rename(stage.env.store(), stage.env.path(".seriatim")).unwrap();
    let (ok, detail) = check(&stage, "store");
    assert!(!ok && detail.contains("could be committed"), "{detail}");
}

#[test]
fn all_is_said_in_json_too() {
    let stage = guarded("2.1.325");
    stage
        .env
        .file("seriatim.toml", "[gates.tests]\ncommand = [\"true\"]\n[gates.lint]\ncommand = [\"true\"]\n");
    stage.env.file("steps/01-01.json", open_step());
    let (document, exit) = stage.env.json(&["doctor"]);
    assert_eq!((exit, &document["ok"]), (Some(0), &Value::Bool(true)), "{document}");
    assert!(document["not_protected"].as_array().is_some_and(|sentences| sentences.len() >= 4), "{document}");
    let (ok, detail) = check(&stage, "gates");
    assert!(ok && detail.contains("are run"), "{detail}");
}
