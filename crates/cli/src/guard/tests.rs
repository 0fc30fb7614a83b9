//! The parts that need no project: changes that are undone, scripts, and the trust that Codex keeps.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use seriatim_engine::hands::files::Expect;

use super::change::Act;
use super::change::carry_out;
use super::change::missing_folders;

fn write(path: &Path, text: &str) -> Act {
    Act::Write { path: path.to_owned(), bytes: text.into(), mode: None, expect: Expect::Any }
}

#[test]
fn what_fails_half_way_is_put_back_with_modes_and_folders() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("settings"), "before\n").unwrap();
    fs::write(at("hook"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(at("settings"), fs::Permissions::from_mode(0o640)).unwrap();
    fs::set_permissions(at("hook"), fs::Permissions::from_mode(0o750)).unwrap();
    fs::write(at("file"), "no folder\n").unwrap();
    let acts = [
        write(&at("settings"), "after\n"),
        write(&at("new/deep/er"), "new\n"),
        Act::Move { from: at("hook"), to: at("hook.before") },
        write(&at("hook"), "ours\n"),
        Act::Remove { path: at("file") },
        write(&at("hook/impossible"), "a file is in the way\n"),
    ];
    assert!(carry_out(&acts).is_err());
    let text = |name: &str| fs::read_to_string(at(name)).unwrap();
    let mode = |name: &str| fs::metadata(at(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((text("settings").as_str(), mode("settings")), ("before\n", 0o640));
    assert_eq!((text("hook").as_str(), mode("hook")), ("#!/bin/sh\n", 0o750));
    assert_eq!(text("file"), "no folder\n");
    assert!(!at("new").exists() && !at("hook.before").exists());
}

#[test]
fn a_file_that_changed_since_it_was_looked_at_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings");
    fs::write(&path, "theirs\n").unwrap();
    let act =
        Act::Write { path: path.clone(), bytes: b"ours\n".to_vec(), mode: None, expect: Expect::Absent };
    assert!(carry_out(&[act]).is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "theirs\n");
}

#[test]
fn a_move_replaces_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("one"), "1").unwrap();
    fs::write(at("two"), "2").unwrap();
    assert!(carry_out(&[Act::Move { from: at("one"), to: at("two") }]).is_err());
    assert_eq!(fs::read_to_string(at("two")).unwrap(), "2");
}

#[test]
fn missing_folders_are_named_from_the_outside_in() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/c");
    assert_eq!(missing_folders(&path), [folder.path().join("a"), folder.path().join("a/b")]);
    assert!(missing_folders(&folder.path().join("c")).is_empty());
}

#[test]
fn trust_is_a_hash_in_the_section_of_the_event_and_the_file() {
    let config = "[hooks.state.\"/p/.codex/hooks.json:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:1\"\n\
                  [hooks.state.\"/p/.codex/hooks.json:stop:0:0\"]\nenabled = true\n[other]\ntrusted_hash = \"x\"\n";
    let trusted = |file: &str, event: &str| super::doctor::is_trusted(config, file, event);
    assert!(trusted("/p/.codex/hooks.json", "PreToolUse"));
    assert!(!trusted("/p/.codex/hooks.json", "Stop"));
    assert!(!trusted("/q/.codex/hooks.json", "PreToolUse"));
    assert!(!trusted("/p/.codex/hooks.json", "SubagentStop"));
}
