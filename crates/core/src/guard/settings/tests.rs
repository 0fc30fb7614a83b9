//! Edits of settings files, byte by byte.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn installed(text: &str, client: Client) -> String {
    install(Some(text), client).unwrap().text
}

fn cut_out(text: &str, client: Client) -> String {
    uninstall(text, client, None).unwrap().text.unwrap()
}

#[test]
fn ds_32_a_new_file_has_all_hooks() {
    let text = install(None, Client::Claude).unwrap().text;
    let settings: Json = serde_json::from_str(&text).unwrap();
    assert_eq!(
        settings["hooks"]["SubagentStop"],
        json!([{"matcher": "*", "hooks": [
            {"type": "command", "command": "seriatim hook --client claude", "timeout": 30}]}])
    );
    assert_eq!(
        settings["hooks"]["PreToolUse"][0]["hooks"],
        json!([{"type": "command", "command": "seriatim hook --client claude", "timeout": 10,
            "onFailure": "block"}])
    );
    let events: Vec<&String> = settings["hooks"].as_object().unwrap().keys().collect();
    let wanted = [
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "SubagentStart",
        "SubagentStop",
        "Stop",
        "StopFailure",
        "SessionStart",
        "SessionEnd",
        "ConfigChange",
    ];
    assert_eq!(events, wanted);
    assert!(text.starts_with("{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n") && text.ends_with("}\n"));
}

#[test]
fn gemini_counts_in_thousandths_and_codex_asks_at_all_tools() {
    let gemini: Json = serde_json::from_str(&install(None, Client::Gemini).unwrap().text).unwrap();
    assert_eq!(
        gemini["hooks"]["AfterTool"],
        json!([{"matcher": "invoke_agent", "hooks": [{"name": "seriatim", "type": "command",
            "command": "seriatim hook --client gemini", "timeout": 30000}]}])
    );
    let codex: Json = serde_json::from_str(&install(None, Client::Codex).unwrap().text).unwrap();
    assert_eq!(
        codex["hooks"]["PreToolUse"],
        json!([{"hooks": [{"type": "command", "command": "seriatim hook --client codex", "timeout": 10}]}])
    );
}

const THEIRS: &str = "{\n\t\"model\": \"x\",\n\t\"hooks\": {\n\t\t\"PreToolUse\": [\n\t\t\t{\n\t\t\t\t\"matcher\": \
    \"Bash\",\n\t\t\t\t\"hooks\": [{\"type\": \"command\", \"command\": \"lint\"}]\n\t\t\t}\n\t\t],\n\t\t\"Stop\": \
    [{\"hooks\": [{\"type\": \"command\", \"command\": \"bell\"}]}]\n\t},\n\t\"env\": {\"A\": \"1\"}\n}\n";

#[test]
fn hooks_of_others_stay_and_the_layout_is_kept() {
    let text = installed(THEIRS, Client::Claude);
    let settings: Json = serde_json::from_str(&text).unwrap();
    assert_eq!(settings["hooks"]["PreToolUse"].as_array().unwrap().len(), 2);
    assert_eq!(settings["hooks"]["PreToolUse"][0]["matcher"], "Bash");
    assert_eq!(settings["env"], json!({"A": "1"}));
    assert!(text.contains("\n\t\t\t},\n\t\t\t{\n\t\t\t\t\"matcher\": \"Agent|Task|"), "{text}");
    // What was on one line stays on one line.
    assert!(text.contains("\"command\": \"bell\"}]}, {\"hooks\":[{"), "{text}");
    assert_eq!(cut_out(&text, Client::Claude), THEIRS);
}

#[test]
fn a_second_time_changes_nothing() {
    for client in Client::ALL {
        for text in [None, Some("{}"), Some(THEIRS)] {
            let once = install(text, client).unwrap().text;
            let twice = install(Some(&once), client).unwrap();
            assert_eq!(twice, Edited { text: once, notes: vec![Note::Unchanged] });
        }
    }
}

#[test]
fn what_is_empty_or_missing_comes_back_as_it_was() {
    let left = install(None, Client::Claude).unwrap().text;
    let gone = uninstall(&left, Client::Claude, Some(Original::Absent)).unwrap();
    assert_eq!(gone, Removed { text: None, restored: true });
    for text in
        ["", "\n", "{}", "{ }", "{\n}\n", "\u{feff}{}", "{\"hooks\": {}}", "{\"hooks\": {\"Stop\": []}}"]
    {
        let left = installed(text, Client::Claude);
        let back = uninstall(&left, Client::Claude, Some(Original::Text(text))).unwrap();
        assert_eq!(back, Removed { text: Some(text.to_owned()), restored: true }, "{text:?}");
    }
    // Somebody added something meanwhile: then theirs stays.
    let mut settings: Json = serde_json::from_str(&left).unwrap();
    settings["model"] = json!("x");
    let edited = serde_json::to_string_pretty(&settings).unwrap();
    let back = uninstall(&edited, Client::Claude, Some(Original::Absent)).unwrap();
    assert_eq!(back, Removed { text: Some("{\n  \"model\": \"x\"\n}".into()), restored: false });
    // Or only laid it out anew: then nothing is left of it.
    settings.as_object_mut().unwrap().shift_remove("model");
    let back = uninstall(&settings.to_string(), Client::Claude, Some(Original::Absent)).unwrap();
    assert_eq!(back, Removed { text: None, restored: false });
}

#[test]
fn carriage_returns_and_missing_newlines_are_kept() {
    for text in ["{\r\n    \"a\": 1\r\n}\r\n", "{\n  \"a\": 1\n}", "{\"a\":1}", "{ \"a\" : 1 }\n\n"] {
        let left = installed(text, Client::Claude);
        assert_eq!(left.contains("\r\n"), text.contains("\r\n"));
        assert!(!left.replace("\r\n", "").contains('\r'));
        assert_eq!(cut_out(&left, Client::Claude), text);
    }
}

#[test]
fn comments_stay_where_the_client_takes_them() {
    for text in [
        "// top\n{\n  // about a\n  \"a\": 1 // one\n}\n",
        "{\n  \"a\": 1 /* one */ // two\n  // below\n}\n",
        "{\n  \"a\": 1 /* over\n lines */\n}\n",
        "{\n  \"hooks\": {\n    // mine\n    \"BeforeTool\": [\n      { \"hooks\": [] } // last\n    ]\n  }\n}\n",
    ] {
        let left = installed(text, Client::Gemini);
        assert_eq!(cut_out(&left, Client::Gemini), text);
        let error = install(Some(text), Client::Claude).unwrap_err();
        assert_eq!(error.why, Why::Comment);
    }
    // A comment in front of ours needs its line break when ours is gone.
    let tight = "{ // c\n\"hooks\": {\"AfterAgent\": [{\"hooks\": [{\"command\": \"seriatim hook\"}]}]} }";
    assert_eq!(cut_out(tight, Client::Gemini), "{ // c\n }");
}

#[test]
fn what_cannot_be_read_is_left_alone_and_its_place_is_named() {
    for (text, line, column, why) in [
        ("[]", 1, 1, Why::NoObject),
        ("{\n  \"a\": 1,\n}", 3, 1, Why::NoKey),
        ("{\"a\" 1}", 1, 6, Why::Missing { wanted: ':' }),
        ("{\"a\": }", 1, 7, Why::NoValue),
        ("{\"a\": tru}", 1, 7, Why::BadValue),
        ("{} x", 1, 4, Why::Trailing),
        ("{\"a\": \"b", 1, 7, Why::Missing { wanted: '"' }),
        ("{\"é\": 1, \"é\": 2}", 1, 10, Why::Twice { key: "é".into() }),
        ("{\"hooks\": []}", 1, 11, Why::NotAnObject { key: "hooks".into() }),
        ("{\"hooks\": {\"Stop\": {}}}", 1, 20, Why::NotAList { key: "Stop".into() }),
        ("{", 1, 2, Why::NoKey),
    ] {
        let error = install(Some(text), Client::Claude).unwrap_err();
        assert_eq!(error, SettingsError { line, column, why }, "{text}");
    }
    let deep = format!("{{\"a\": {}{}}}", "[".repeat(5_000), "]".repeat(5_000));
    assert_eq!(install(Some(&deep), Client::Claude).unwrap_err().why, Why::TooDeep);
}

fn states(text: &str) -> Vec<State> {
    present(Some(text), Client::Claude).unwrap().into_iter().map(|presence| presence.state).collect()
}

#[test]
fn hooks_are_found_missing_or_altered() {
    assert_eq!(states("{}"), [State::Missing; 10]);
    let text = installed(THEIRS, Client::Claude);
    assert_eq!(states(&text), [State::There; 10]);
    let weaker = text.replace(",\n\t\t\t\t\t\t\"onFailure\": \"block\"", "");
    assert_ne!(weaker, text);
    let seen = states(&weaker);
    assert_eq!((seen[0], seen[1]), (State::Altered, State::There));
    let repaired = install(Some(&weaker), Client::Claude).unwrap();
    assert_eq!(states(&repaired.text), [State::There; 10]);
    assert!(repaired.notes.contains(&Note::Repaired { event: "PreToolUse" }));
    // A program at a path, or of another version, is ours all the same.
    assert!(ours::is_command("/opt/bin/seriatim hook --client claude --strict"));
    assert!(!ours::is_command("seriatim-like hook") && !ours::is_command("echo seriatim hook"));
}

#[test]
fn only_ours_is_cut_out_of_a_group_that_somebody_joined() {
    let text =
        "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"command\": \"bell\"}, {\"command\": \"seriatim hook\"}]}]}}";
    assert_eq!(
        cut_out(text, Client::Claude),
        "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"command\": \"bell\"}]}]}}"
    );
}

#[test]
fn changes_that_touch_ours_are_known() {
    let before = installed(THEIRS, Client::Claude);
    let touched = |after: Option<&str>| touches_ours(Some(&before), after, Client::Claude);
    assert!(!touched(Some(&before)));
    assert!(!touched(Some(&before.replace("\"x\"", "\"another\""))));
    assert!(!touched(Some(&before.replace("lint", "lint --fix"))));
    assert!(touched(Some("{}")));
    assert!(touched(None));
    assert!(touched(Some("{not json")));
    assert!(touched(Some(THEIRS)));
    assert!(touched(Some(&before.replace("\"timeout\": 10", "\"timeout\": 1"))));
    assert!(touched(Some(&before.replacen('{', "{\"disableAllHooks\": true,", 1))));
    // Where ours never were there is nothing to touch, but all hooks can be switched off from anywhere.
    assert!(!touches_ours(Some(THEIRS), Some("{}"), Client::Claude));
    assert!(touches_ours(None, Some("{\"disableAllHooks\": true}"), Client::Claude));
}

/// Settings of any content, as text of any layout.
fn settings() -> impl Strategy<Value = String> {
    let blanks = "[ \t\n]{0,3}";
    let scalar =
        prop_oneof![Just("1.50".to_owned()), Just("null".to_owned()), Just("\"a\\\"b\\u00e9\"".to_owned())];
    let value = scalar.prop_recursive(3, 16, 3, move |inner| {
        let items = proptest::collection::vec((blanks, inner.clone(), blanks), 0..3);
        let members = proptest::collection::vec((blanks, inner, blanks), 0..3);
        prop_oneof![
            items.prop_map(|items| {
                let items: Vec<String> = items.into_iter().map(|(a, v, b)| format!("{a}{v}{b}")).collect();
                format!("[{}]", items.join(","))
            }),
            members.prop_map(|members| {
                let members = members.into_iter().enumerate();
                let members: Vec<String> =
                    members.map(|(i, (a, v, b))| format!("{a}\"k{i}\":{b}{v}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    });
    let others = proptest::collection::vec((blanks, value.clone(), blanks), 0..4);
    let groups = proptest::collection::vec((blanks, value, blanks), 0..3);
    (others, proptest::option::of(groups), 0_usize..4, "[ \n]{0,2}").prop_map(|(others, groups, at, end)| {
        let mut members: Vec<String> =
            others.into_iter().enumerate().map(|(i, (a, v, b))| format!("{a}\"o{i}\"{b}:{v}{a}")).collect();
        if let Some(groups) = groups {
            let groups: Vec<String> = groups.into_iter().map(|(a, v, b)| format!("{a}{v}{b}")).collect();
            let hooks = format!(" \"hooks\" : {{ \"Stop\": [{}], \"Other\": [ ] }}", groups.join(","));
            members.insert(at.min(members.len()), hooks);
        }
        format!("{{{}{end}}}{end}", members.join(","))
    })
}

proptest! {
    // An edit reads the file once for each hook, so that a few dozen files make thousands of readings.
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn install_and_uninstall_are_the_identity(
        text in settings(),
        client in proptest::sample::select(Client::ALL.to_vec()),
    ) {
        let left = installed(&text, client);
        prop_assert!(present(Some(&left), client).unwrap().iter().all(|p| p.state == State::There));
        let back = uninstall(&left, client, Some(Original::Text(&text))).unwrap();
        prop_assert_eq!(back.text.as_deref(), Some(text.as_str()));
        // Without what was stored, ours alone are cut out; only what was empty may go with them.
        let cut: Json = serde_json::from_str(&cut_out(&left, client)).unwrap();
        let mut given: Json = serde_json::from_str(&text).unwrap();
        let empty = given["hooks"]["Stop"].as_array().is_some_and(Vec::is_empty);
        if empty && client != Client::Gemini {
            given["hooks"].as_object_mut().unwrap().shift_remove("Stop");
        }
        prop_assert_eq!(cut, given);
    }

    #[test]
    fn what_was_not_empty_comes_back_to_the_byte(text in settings()) {
        let given: Json = serde_json::from_str(&text).unwrap();
        let filled = !given.as_object().unwrap().is_empty();
        let stop_is_empty = given["hooks"]["Stop"].as_array().is_some_and(Vec::is_empty);
        if filled && !stop_is_empty {
            prop_assert_eq!(cut_out(&installed(&text, Client::Claude), Client::Claude), text);
        }
    }

    #[test]
    fn any_text_is_edited_or_refused(text in "[{}\\[\\],:\"a1 \n/*\\\\é]{0,40}") {
        for client in Client::ALL {
            if let Ok(edited) = install(Some(&text), client) {
                prop_assert!(uninstall(&edited.text, client, None).is_ok());
            }
            touches_ours(Some(&text), None, client);
        }
    }
}
