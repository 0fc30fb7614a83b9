//! Events from payloads of the shapes that the clients send, and from everything else.

use proptest::prelude::*;
use serde_json::json;

use super::*;

macro_rules! fixture {
    ($name:literal) => {
        include_bytes!(concat!("../fixtures/", $name, ".json"))
    };
}

fn event(bytes: &[u8]) -> Event {
    Event::parse(None, bytes).unwrap()
}

fn broken(bytes: &[u8]) -> Broken {
    Event::parse(None, bytes).unwrap_err()
}

fn spawn(bytes: &[u8]) -> Spawn {
    match event(bytes).kind {
        Kind::Spawn(spawn) => spawn,
        other => panic!("{other:?}"),
    }
}

/// DS-33: the eight fields of a stop event.
#[test]
fn ds_33_a_stop_event_has_its_eight_fields() {
    let event = event(fixture!("claude.SubagentStop"));
    assert_eq!(
        event,
        Event {
            client: Client::Claude,
            name: "SubagentStop".into(),
            session_id: Some("session-1".into()),
            transcript_path: Some("/home/dev/cc/session-1.jsonl".into()),
            cwd: Some("/home/dev/project".into()),
            // DS-35: the id that is matched to the invocation.
            agent_id: Some("agent-1".into()),
            agent_type: Some("general-purpose".into()),
            permission_mode: Some("default".into()),
            kind: Kind::SubStop(Stopping {
                stop_hook_active: false,
                agent_transcript_path: Some("/home/dev/cc/session-1/subagents/agent-1.jsonl".into()),
                last_message: Some("DONE".into()),
                background_tasks: Some(vec![]),
            }),
        }
    );
}

#[test]
fn a_call_of_a_sub_agent_shows_its_prompt() {
    let seen = spawn(fixture!("claude.PreToolUse.Agent"));
    assert_eq!(seen.prompts, ["PROMPT of the step"]);
    assert_eq!(seen.tool_use_id.as_deref(), Some("call-1"));
    assert_eq!(seen.agent_type.as_deref(), Some("general-purpose"));
    assert!(!seen.background && !seen.opaque);

    let nested = event(fixture!("claude.PreToolUse.Agent-nested"));
    assert_eq!(nested.agent_id.as_deref(), Some("agent-1"));
    // Claude runs sub-agents in the background unless it is told not to.
    assert!(matches!(nested.kind, Kind::Spawn(Spawn { background: true, .. })));

    let codex = spawn(fixture!("codex.PreToolUse.spawn_agent"));
    assert_eq!((codex.prompts, codex.background), (vec!["PROMPT of the step".to_owned()], true));

    let gemini = spawn(fixture!("gemini.BeforeTool.invoke_agent"));
    assert_eq!(gemini.prompts, ["PROMPT of the step"]);
    assert_eq!((gemini.agent_type.as_deref(), gemini.background), (Some("generalist"), false));
}

#[test]
fn the_old_name_of_the_tool_is_the_same_door() {
    let payload =
        json!({"hook_event_name": "PreToolUse", "tool_name": "Task", "tool_input": {"prompt": "p"}});
    assert_eq!(spawn(payload.to_string().as_bytes()).prompts, ["p"]);
}

#[test]
fn the_second_door_shows_its_message() {
    for (bytes, tool) in [
        (&fixture!("claude.PreToolUse.SendMessage")[..], "SendMessage"),
        (&fixture!("codex.PreToolUse.send_input")[..], "multi_agent_v1send_input"),
    ] {
        let Kind::Message(message) = event(bytes).kind else { panic!("{tool}") };
        assert_eq!((message.to.as_deref(), message.text.as_str()), (Some("agent-1"), "MORE work"));
        assert_eq!(message.tool, tool);
    }
}

#[test]
fn a_workflow_shows_the_prompts_in_its_script() {
    let seen = spawn(fixture!("claude.PreToolUse.Workflow"));
    assert_eq!((seen.prompts, seen.opaque), (vec!["PROMPT in a script".to_owned()], false));
    let of = |script: &str| {
        let seen = script::prompts(script);
        (seen.prompts, seen.opaque)
    };
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    assert_eq!(of("agent(\"a\\nb\"); agent ( `c` )"), (texts(&["a\nb", "c"]), false));
    assert_eq!(of("// agent('no')\n/* agent('no') */ log('x')"), (vec![], false));
    assert_eq!(
        of("const p = '<!-- DES-ORIGIN: x -->'; agent(p)"),
        (texts(&["<!-- DES-ORIGIN: x -->"]), true)
    );
    assert_eq!(of("agent(`do ${x}`)"), (texts(&["do ${x}"]), true));
    assert_eq!(of("agent('do ' + x)"), (texts(&["do "]), true));
    assert_eq!(of("reagent('x'); agents('y')"), (vec![], false));
    let named =
        json!({"hook_event_name": "PreToolUse", "tool_name": "Workflow", "tool_input": {"name": "w"}});
    assert!(spawn(named.to_string().as_bytes()).opaque);
}

#[test]
fn commands_and_edits_are_told() {
    let shell = |bytes: &[u8], wanted: &str| {
        assert_eq!(event(bytes).kind, Kind::Shell { command: wanted.into() });
    };
    shell(fixture!("claude.PreToolUse.Bash"), "git commit -m x");
    shell(fixture!("codex.PreToolUse.Bash"), "echo hi");
    shell(fixture!("gemini.BeforeTool.run_shell_command"), "echo hi");
    let words = json!({"hook_event_name": "PreToolUse", "tool_name": "shell",
        "tool_input": {"command": ["bash", "-lc", "echo 'x'"]}});
    shell(words.to_string().as_bytes(), r"'bash' '-lc' 'echo '\''x'\'''");

    let edited = |bytes: &[u8]| match event(bytes).kind {
        Kind::Edit { paths, .. } => paths,
        other => panic!("{other:?}"),
    };
    assert_eq!(edited(fixture!("claude.PreToolUse.Write")), ["/home/dev/project/x.txt"]);
    assert_eq!(edited(fixture!("gemini.BeforeTool.write_file")), ["x.txt"]);
    assert_eq!(edited(fixture!("codex.PreToolUse.apply_patch")), ["src/a.rs", "src/b.rs", "src/c.rs"]);
}

#[test]
fn what_does_not_matter_is_known_as_such() {
    for bytes in [&fixture!("claude.PreToolUse.Read")[..], fixture!("claude.TaskCreated")] {
        assert!(!event(bytes).matters());
    }
    assert_eq!(event(fixture!("claude.PostToolUse.Bash")).kind, Kind::Other);
    assert!(event(fixture!("claude.PreToolUse.Agent")).matters());
}

#[test]
fn answers_of_calls_tie_the_agent_to_the_call() {
    let done = |bytes: &[u8]| match event(bytes).kind {
        Kind::SpawnDone(done) => done,
        other => panic!("{other:?}"),
    };
    let claude = done(fixture!("claude.PostToolUse.Agent"));
    assert_eq!(claude.tool_use_id.as_deref(), Some("call-1"));
    assert_eq!(claude.agent_id.as_deref(), Some("agent-1"));
    assert_eq!((claude.status, claude.tokens), (SpawnStatus::Completed, Some(20)));
    assert_eq!(claude.usage, Some(Usage { input: 10, output: 5, cache_read: 3, cache_creation: 2 }));

    let background = done(fixture!("claude.PostToolUse.Agent-background"));
    assert_eq!((background.status, background.agent_id.as_deref()), (SpawnStatus::Launched, Some("agent-2")));

    let codex = done(fixture!("codex.PostToolUse.spawn_agent"));
    assert_eq!((codex.status, codex.agent_id.as_deref()), (SpawnStatus::Launched, Some("agent-1")));

    let gemini = done(fixture!("gemini.AfterTool.invoke_agent"));
    assert_eq!((gemini.status, gemini.agent_id), (SpawnStatus::Completed, None));

    assert_eq!(
        event(fixture!("claude.PostToolUseFailure.Agent")).kind,
        Kind::SpawnFailed {
            tool: "Agent".into(),
            tool_use_id: Some("call-1".into()),
            error: Some("Agent terminated early".into()),
            interrupted: false,
        }
    );
}

#[test]
fn the_other_events_of_a_session() {
    assert_eq!(event(fixture!("claude.SubagentStart")).kind, Kind::SubStart);
    let Kind::SubStop(again) = event(fixture!("claude.SubagentStop.again")).kind else { panic!() };
    assert!(again.stop_hook_active);
    let Kind::Stop(stop) = event(fixture!("claude.Stop.background")).kind else { panic!() };
    let tasks = stop.background_tasks.unwrap();
    assert!(tasks.iter().all(BackgroundTask::is_running_agent) && tasks.len() == 1);
    let Kind::Stop(gemini) = event(fixture!("gemini.AfterAgent")).kind else { panic!() };
    assert_eq!((gemini.last_message.as_deref(), gemini.background_tasks), (Some("FINAL"), None));
    assert!(matches!(event(fixture!("claude.StopFailure")).kind, Kind::StopFailure { error: Some(_), .. }));
    assert_eq!(event(fixture!("gemini.BeforeTool.complete_task")).kind, Kind::CompleteTask);
    let Kind::ConfigChange { source, file_path } = event(fixture!("claude.ConfigChange")).kind else {
        panic!()
    };
    assert_eq!(source.as_deref(), Some("project_settings"));
    assert!(file_path.unwrap().ends_with("/.claude/settings.json"));
    assert_eq!(
        event(fixture!("claude.SessionStart")).kind,
        Kind::SessionStart { source: Some("startup".into()) }
    );
    assert_eq!(event(fixture!("claude.SessionEnd")).kind, Kind::SessionEnd { reason: Some("other".into()) });
    // DS-70: the end of a background agent is told by way of a prompt.
    let Kind::Prompt { notification: Some(news), .. } =
        event(fixture!("claude.UserPromptSubmit.notification")).kind
    else {
        panic!()
    };
    assert_eq!((news.task_id.as_str(), news.tool_use_id.as_deref()), ("agent-2", Some("call-1")));
    assert_eq!(news.status.as_deref(), Some("completed"));
}

#[test]
fn the_client_is_told_from_the_payload() {
    for (bytes, client) in [
        (&fixture!("claude.PreToolUse.Agent")[..], Client::Claude),
        (fixture!("claude.SessionStart"), Client::Claude),
        (fixture!("codex.PreToolUse.Bash"), Client::Codex),
        (fixture!("codex.SubagentStop"), Client::Codex),
        (fixture!("codex.Stop"), Client::Codex),
        (fixture!("gemini.SessionStart"), Client::Gemini),
        (fixture!("gemini.AfterAgent"), Client::Gemini),
    ] {
        assert_eq!(event(bytes).client, client);
        assert_eq!(Event::parse(Some(Client::Gemini), bytes).unwrap().client, Client::Gemini);
    }
}

#[test]
fn ds_122_name_and_folder_are_verified() {
    let stop = event(fixture!("claude.SubagentStop"));
    assert_eq!(stop.verify(Some("SubagentStop"), "/home/dev/project"), Ok(()));
    assert_eq!(stop.verify(None, "/home/dev"), Ok(()));
    assert!(matches!(stop.verify(Some("Stop"), "/home/dev/project"), Err(Untrusted::Name { .. })));
    assert!(matches!(stop.verify(None, "/home/dev/proj"), Err(Untrusted::Elsewhere { .. })));
    let with = |cwd: serde_json::Value| {
        let payload = json!({"hook_event_name": "SubagentStop", "cwd": cwd}).to_string();
        event(payload.as_bytes()).verify(None, "/p")
    };
    assert_eq!(with(json!("/p/sub/..")), Ok(()));
    for cwd in [json!("/p/../q"), json!("p"), json!("/")] {
        assert!(matches!(with(cwd), Err(Untrusted::Elsewhere { .. })));
    }
    for cwd in [json!(""), json!(null), json!(["/p"])] {
        assert_eq!(with(cwd), Err(Untrusted::NoFolder));
    }
}

#[test]
fn fields_of_another_type_are_absent_and_unknown_ones_ignored() {
    let payload = json!({"hook_event_name": "Stop", "session_id": 7, "cwd": {"a": 1}, "stop_hook_active": "yes",
        "background_tasks": {"none": true}, "something": [[[{}]]], "permission_mode": null});
    let read = event(payload.to_string().as_bytes());
    assert_eq!((read.session_id, read.cwd, read.permission_mode), (None, None, None));
    assert_eq!(read.kind, Kind::Stop(Stopping::default()));
}

#[test]
fn what_is_broken_at_a_door_keeps_it_shut() {
    for (bytes, why) in [
        (&b""[..], Why::Empty),
        (b" \n", Why::Empty),
        (b"\xef\xbb\xbf", Why::Empty),
        (b"null", Why::NotAnObject),
        (b"[\"PreToolUse\"]", Why::NotAnObject),
        (b"{}", Why::Nameless),
        (b"{\"hook_event_name\": 3}", Why::Nameless),
        (b"{\"hook_event_name\": \"PreToolUse\"}", Why::ToolNameless),
        (b"{\"hook_event_name\": \"PreToolUse\", \"tool_name\": 1}", Why::ToolNameless),
        (b"{\"hook_event_name\": \"PreToolUse\", \"tool_", Why::Truncated),
        (b"{\"hook_event_name\": \"PreToolUse\", \"hook_event_name\": \"Stop\"}", Why::Shape),
        (b"{\"hook_event_name\": \"PreToolUse\"} {}", Why::Syntax { line: 1, column: 35 }),
        (b"{\"hook_event_name\": \"PreToolUse\"\0}", Why::Syntax { line: 1, column: 33 }),
    ] {
        let broken = broken(bytes);
        assert_eq!(broken.why, why, "{}", String::from_utf8_lossy(bytes));
        assert!(broken.blocks(), "{broken:?}");
    }
}

#[test]
fn a_prompt_that_is_no_text_is_not_passed_over() {
    for input in
        [json!({"prompt": ["a"]}), json!({"description": "none"}), json!(["a"]), json!("a"), json!(null)]
    {
        let payload = json!({"hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_input": input});
        let broken = broken(payload.to_string().as_bytes());
        assert_eq!(broken, Broken { why: Why::Input { tool: "Agent".into() }, door: Door::Tool }, "{input}");
    }
    let twice =
        br#"{"hook_event_name":"PreToolUse","tool_name":"Agent","tool_input":{"prompt":"a","prompt":"b"}}"#;
    assert_eq!(broken(twice).why, Why::Input { tool: "Agent".into() });
}

#[test]
fn what_is_broken_elsewhere_passes() {
    let broken = broken(b"{\"hook_event_name\": \"SessionStart\", ");
    assert_eq!((broken.why.clone(), broken.door, broken.blocks()), (Why::Truncated, Door::Elsewhere, false));
}

#[test]
fn nothing_that_an_agent_wrote_names_the_door() {
    let quoted = json!({"hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_input":
        {"prompt": "\"hook_event_name\": \"SessionStart\""}});
    let mut bytes = quoted.to_string().into_bytes();
    bytes.pop();
    assert_eq!(broken(&bytes).door, Door::Tool);
    // A key of the same name further inside cannot open the door either.
    let inside = br#"{"tool_input": {"hook_event_name": "SessionStart"}, "hook_event_name": "Stop", "#;
    assert_eq!(broken(inside).door, Door::Stop);
}

#[test]
fn half_surrogates_and_foreign_bytes_are_no_reason_to_refuse() {
    let bytes =
        br#"{"hook_event_name":"PreToolUse","tool_name":"Agent","tool_input":{"prompt":"a\ud83d b"}}"#;
    assert_eq!(spawn(bytes).prompts, ["a\u{fffd} b"]);
    let mut bytes = b"\xef\xbb\xbf".to_vec();
    bytes.extend_from_slice(
        br#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":""#,
    );
    bytes.extend_from_slice(b"echo \xff\"}}");
    assert_eq!(event(&bytes).kind, Kind::Shell { command: "echo \u{fffd}".into() });
}

#[test]
fn a_payload_may_be_large_and_deep_but_not_without_end() {
    let large = json!({"hook_event_name": "PreToolUse", "tool_name": "Write",
        "tool_input": {"file_path": "x", "content": "y\n".repeat(1 << 18)}});
    assert!(matches!(event(large.to_string().as_bytes()).kind, Kind::Edit { .. }));
    let deep = format!(
        r#"{{"hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{}{}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert_eq!(event(deep.as_bytes()).kind, Kind::OtherTool { tool: "Read".into() });
    let mut endless = br#"{"hook_event_name":"PreToolUse","tool_name":""#.to_vec();
    endless.resize(PAYLOAD_BYTES_MAX + 1, b'x');
    let broken = broken(&endless);
    assert!(matches!(broken.why, Why::TooLarge { .. }));
    assert_eq!(broken.door, Door::Tool);
}

proptest! {
    #[test]
    fn any_bytes_are_an_event_or_broken(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _outcome = Event::parse(None, &bytes);
    }

    /// Whatever byte is damaged but those of the event's name, the door is still known as one.
    #[test]
    fn a_damaged_payload_never_opens_a_door(at in 0_usize..560, with in any::<u8>()) {
        let mut bytes = fixture!("claude.PreToolUse.Agent").to_vec();
        let name = b"\"hook_event_name\": \"PreToolUse\"";
        let start = bytes.windows(name.len()).position(|window| window == name).unwrap();
        if let Some(byte) = bytes.get_mut(at).filter(|_| !(start..start + name.len()).contains(&at)) {
            *byte = with;
        }
        match Event::parse(Some(Client::Claude), &bytes) {
            Ok(event) => prop_assert_eq!(event.door(), Door::Tool),
            Err(broken) => prop_assert!(broken.blocks()),
        }
    }

    #[test]
    fn a_payload_that_is_cut_off_is_broken_and_known_as_a_door(keep in 0_usize..560) {
        let bytes = fixture!("claude.PreToolUse.Agent");
        let end = bytes.trim_ascii_end().len();
        if keep < end {
            let broken = Event::parse(Some(Client::Claude), &bytes[..keep]).unwrap_err();
            prop_assert!(broken.blocks());
        }
    }

    #[test]
    fn any_script_is_looked_through(script in "[agent()'\"`$+/*\\\\\n{}a-z]{0,60}") {
        script::prompts(&script);
    }
}
