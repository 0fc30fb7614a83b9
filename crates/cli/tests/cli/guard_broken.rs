//! Events that are broken, strange or from elsewhere: shut where it matters, open where it does not (DS-33, DS-122).

use std::fs;

use serde_json::Value;
use serde_json::json;

use crate::guard::AGENT;
use crate::guard::BARE;
use crate::guard::CALL;
use crate::guard::Guarded;
use crate::guard::THREE;
use crate::guard::holds;
use crate::guard::step;
use crate::support::Env;

/// What a hook ended with. Nothing but these two codes means anything to a client.
#[track_caller]
fn exit(guarded: &Guarded, bytes: &[u8]) -> i32 {
    let said = guarded.send_bytes(bytes).0;
    assert!(matches!(said.exit, Some(0 | 2)), "{}", said.snapshot());
    assert!(!said.stderr.contains("panicked"), "{}", said.snapshot());
    said.exit.unwrap()
}

#[test]
fn k_91_a_payload_that_cannot_be_read_is_refused_at_doors_and_stops_alone() {
    let guarded = Guarded::new();
    for (bytes, expected) in [
        (b"".as_slice(), 2),
        (b"   ", 2),
        (b"no json", 2),
        (b"[]", 2),
        (b"{}", 2),
        (b"\xff\xfe\x00", 2),
        (b"{\"hook_event_name\": \"PreToolUse\", \"tool_name\": \"Agent\"", 2),
        (b"{\"hook_event_name\": \"PreToolUse\"}", 2),
        (b"{\"hook_event_name\": \"PreToolUse\", \"tool_name\": \"Agent\", \"tool_input\": {\"prompt\": 7}}", 2),
        (b"{\"hook_event_name\": \"SubagentStop\", ", 2),
        (b"{\"hook_event_name\": \"Stop\", \"agent_id\": ", 2),
        (b"{\"hook_event_name\": \"BeforeTool\", ", 2),
        (b"{\"hook_event_name\": \"SessionStart\", ", 0),
        (b"{\"hook_event_name\": \"PostToolUse\", \"x\": ", 0),
        (b"{\"hook_event_name\": \"SomethingNew\", ", 0),
    ] {
        assert_eq!(exit(&guarded, bytes), expected, "{}", String::from_utf8_lossy(bytes));
    }
    // Each is on record, without what it held.
    let trail = guarded.project_trail();
    assert_eq!(trail.len(), 15);
    assert!(trail.iter().all(|line| line["event"] == "INTEGRITY_INCIDENT"), "{trail:?}");
    guarded.env.run(&["verify"]).exits(0);
}

#[test]
fn events_that_are_not_known_and_tools_of_others_pass_in_silence() {
    let guarded = Guarded::new();
    for name in ["MessageDisplay", "CwdChanged", "Invented", "BeforeModel", "PreCompact", "SessionStart"] {
        guarded.send(name, json!({"anything": [1, {"deep": null}]})).passes();
    }
    for tool in ["Read", "mcp__server__spawn_agent", "Invented"] {
        guarded.send("PreToolUse", json!({"tool_name": tool, "tool_input": {"prompt": BARE}})).passes();
    }
    guarded.send("UserPromptSubmit", json!({"prompt": BARE})).passes();
    assert!(guarded.project_trail().is_empty());
}

#[test]
fn a_huge_payload_is_read_or_refused_and_never_waved_through() {
    let guarded = Guarded::new();
    let huge = "x".repeat(20 << 20);
    guarded.spawn(&huge).passes();
    holds(&guarded.spawn(&format!("{BARE}{huge}")).denied(), &["MISSING: Mandatory section"]);
    let event = guarded.event(
        "PreToolUse",
        json!({"tool_name": "Agent", "tool_input": {"prompt": format!("{BARE}{huge}")}}),
    );
    let bytes = event.to_string().into_bytes();
    assert_eq!(exit(&guarded, &bytes[..bytes.len() - 10]), 2);
    // Depth that would break a careless reader is passed over where the field does not matter.
    let deep = |name: &str| {
        let (open, close) = ("[".repeat(100_000), "]".repeat(100_000));
        let input = format!("{{\"prompt\": {open}{close}}}");
        format!("{{\"hook_event_name\": \"{name}\", \"tool_name\": \"Agent\", \"tool_input\": {input}}}")
    };
    assert_eq!(exit(&guarded, deep("Stop").as_bytes()), 0);
    assert_eq!(exit(&guarded, deep("PreToolUse").as_bytes()), 2);
}

#[test]
fn ds_33_older_clients_that_say_less_are_understood() {
    let guarded = Guarded::new();
    let prompt = guarded.prompt();
    let old = |name: &str, more: Value| {
        let mut event = json!({"hook_event_name": name});
        for (key, value) in more.as_object().unwrap() {
            event[key] = value.clone();
        }
        guarded.send_bytes(event.to_string().as_bytes())
    };
    // Neither folder nor session nor ids: the folder of the hook counts.
    holds(
        &old("PreToolUse", json!({"tool_name": "Task", "tool_input": {"prompt": BARE}})).denied(),
        &["MISSING"],
    );
    old("PreToolUse", json!({"tool_name": "Task", "tool_input": {"prompt": prompt}})).passes();
    old("SubagentStart", json!({})).passes();
    assert_eq!(guarded.status(), "IN_PROGRESS");
    // Without an id nobody knows whose stop it is; the transcript tells, else the only step at work is meant.
    holds(&old("SubagentStop", json!({})).blocked(), &["Phase RED NOT_EXECUTED"]);
    let path = guarded.agent_transcript("x", &prompt);
    holds(
        &old("SubagentStop", json!({"agent_transcript_path": path})).blocked(),
        &["Phase RED NOT_EXECUTED"],
    );
    holds(&old("Stop", json!({"background_tasks": []})).blocked(), &["Phase RED NOT_EXECUTED"]);
}

#[test]
fn ds_35_ids_that_are_missing_or_foreign_touch_nothing() {
    let guarded = Guarded::new().at_work();
    // Another call is open, so that any of them may come from it.
    guarded.spawn_as("toolu_2", json!({"prompt": "Look around"}), json!({})).passes();
    for event in [
        json!({"agent_id": "foreign"}),
        json!({"agent_id": ""}),
        json!({"agent_id": 7}),
        json!({"agent_id": "../../etc/passwd"}),
        json!({"agent_id": "a\u{0}b\n", "agent_transcript_path": "\u{0}"}),
        json!({}),
    ] {
        guarded.send("SubagentStop", event.clone()).passes();
        guarded
            .send("StopFailure", {
                let mut event = event;
                event["session_id"] = json!("s9");
                event
            })
            .passes();
    }
    guarded.spawn_done("toolu_other", json!({"status": "completed", "agentId": "foreign"})).passes();
    guarded.spawn_done("toolu_other", json!("no object")).passes();
    guarded.spawn_done("toolu_other", Value::Null).passes();
    assert_eq!(guarded.status(), "IN_PROGRESS");
    assert!(!guarded.events().contains(&"SUBAGENT_STOP_VALIDATION".to_owned()));
    // The right one is still judged.
    guarded.sub_stop(AGENT).blocked();
}

#[test]
fn ds_122_an_event_counts_for_the_project_in_which_it_happened() {
    let guarded = Guarded::new().at_work();
    let elsewhere = guarded.env.root.with_file_name("tmp");
    guarded.send("SubagentStop", json!({"agent_id": AGENT, "cwd": elsewhere})).passes();
    guarded.stop(json!({"cwd": "/"})).passes();
    assert!(!guarded.events().contains(&"SUBAGENT_STOP_VALIDATION".to_owned()));
    // A folder inside of the project is part of it, and so is one that does not exist any more.
    guarded.send("SubagentStop", json!({"agent_id": AGENT, "cwd": guarded.env.path("src")})).blocked();
    guarded.send("SubagentStop", json!({"agent_id": AGENT, "cwd": guarded.env.path("src/gone")})).blocked();
}

#[test]
fn a_project_without_guard_hears_nothing_and_nothing_is_written() {
    let env = Env::new();
    env.file("steps/01-01.json", step("01-01", &THREE).to_string());
    let guarded = Guarded { env };
    let before = guarded.env.files_below("");
    guarded.spawn(BARE).passes();
    guarded.sub_start(AGENT).passes();
    guarded.sub_stop(AGENT).passes();
    guarded.spawn_done(CALL, json!({"status": "completed", "agentId": AGENT})).passes();
    guarded.stop(json!({})).passes();
    let bash = json!({"tool_name": "Bash", "tool_input": {"command": "git commit --no-verify -m x"}});
    guarded.send("PreToolUse", bash).passes();
    guarded.send("SessionEnd", json!({})).passes();
    for bytes in [b"".as_slice(), b"{", b"no json", b"{\"hook_event_name\": \"PreToolUse\""] {
        guarded.send_bytes(bytes).passes();
    }
    assert_eq!(guarded.env.files_below(""), before);
}

#[test]
fn what_the_guard_cannot_decide_is_a_no_at_a_door_and_a_word_elsewhere() {
    let guarded = Guarded::new().at_work();
    guarded.env.file("seriatim.toml", "[guard\n");
    holds(&guarded.spawn(&guarded_prompt()).denied(), &["could not decide", "seriatim.toml has errors"]);
    holds(&guarded.sub_stop(AGENT).blocked(), &["could not decide"]);
    // What is nobody's business is not.
    guarded.spawn("Look around").passes();
    let said = guarded.spawn_done(CALL, json!({"status": "completed", "agentId": AGENT})).0.exits(0);
    said.says("seriatim.toml has errors");
    fs::remove_file(guarded.env.path("seriatim.toml")).unwrap();
    // The same when the record itself cannot be used.
    fs::write(guarded.env.stored("journal.db"), "no database, but long enough to be looked at").unwrap();
    for file in ["journal.db-wal", "journal.db-shm"] {
        let _ = fs::remove_file(guarded.env.stored(file));
    }
    holds(&guarded.spawn(&guarded_prompt()).denied(), &["could not decide"]);
    holds(&guarded.sub_stop(AGENT).blocked(), &["could not decide"]);
    guarded.spawn("Look around").passes();
    guarded.env.run(&["commit-gate"]).exits(1);
}

/// A whole prompt, made where nothing is broken.
fn guarded_prompt() -> String {
    Guarded::new().prompt()
}

#[test]
fn a_mark_that_is_damaged_still_is_one() {
    let guarded = Guarded::new();
    guarded.env.store_file("guard.json", "{ damaged");
    holds(&guarded.spawn(BARE).denied(), &["MISSING: Mandatory section"]);
}

#[test]
fn a_secret_in_an_event_does_not_reach_the_trail() {
    let guarded = Guarded::new();
    let secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let prompt = BARE.replace("/nw:execute", &format!("/nw:{secret}"));
    guarded.spawn(&prompt).denied();
    for path in guarded.env.files_below("") {
        let bytes = fs::read(&path).unwrap();
        let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(!found, "{}", path.display());
    }
}
