//! Answers to the letter.

use proptest::prelude::*;

use super::*;
use crate::guard::event::Event;

fn answer(reply: &Reply, client: Client, event: &str) -> (String, String, u8) {
    let Answer { stdout, stderr, exit } = reply.answer(client, event);
    (stdout, stderr, exit)
}

fn deny() -> Reply {
    Reply::Deny { reason: "say \"why\"".into() }
}

fn block() -> Reply {
    Reply::Block { reason: "go on".into() }
}

#[test]
fn a_pass_is_silence() {
    for client in Client::ALL {
        for event in ["PreToolUse", "BeforeTool", "Stop", "ConfigChange", "Unheard"] {
            assert_eq!(Reply::Pass.answer(client, event), Answer::default());
        }
    }
}

#[test]
fn k_91_a_refusal_is_what_each_client_heeds() {
    let denied = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"say \"why\""}}"#;
    for client in [Client::Claude, Client::Codex] {
        assert_eq!(answer(&deny(), client, "PreToolUse"), (denied.into(), String::new(), 0));
        for event in ["SubagentStop", "Stop", "PostToolUse"] {
            let blocked = r#"{"decision":"block","reason":"go on"}"#;
            assert_eq!(answer(&block(), client, event), (blocked.into(), String::new(), 0));
        }
    }
    let gemini = r#"{"decision":"deny","reason":"go on"}"#;
    for event in ["BeforeTool", "AfterTool", "AfterAgent"] {
        assert_eq!(answer(&block(), Client::Gemini, event), (gemini.into(), String::new(), 0));
    }
    assert_eq!(answer(&block(), Client::Claude, "ConfigChange"), (String::new(), "go on".into(), 2));
}

#[test]
fn where_nothing_can_be_refused_it_is_said() {
    let told = r#"{"hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":"go on"}}"#;
    assert_eq!(answer(&block(), Client::Claude, "PostToolUseFailure"), (told.into(), String::new(), 0));
    assert_eq!(answer(&block(), Client::Claude, "SessionEnd"), (String::new(), "go on".into(), 0));
    let context = Reply::Context { text: "know this".into() };
    let told = r#"{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"know this"}}"#;
    for client in Client::ALL {
        assert_eq!(answer(&context, client, "SessionStart"), (told.into(), String::new(), 0));
    }
    // Context at the stop of a sub-agent would keep it going.
    assert_eq!(answer(&context, Client::Claude, "SubagentStop"), (String::new(), "know this".into(), 0));
}

#[test]
fn a_broken_payload_is_refused_at_doors_and_passes_elsewhere() {
    let at = |bytes: &[u8]| Answer::to_broken(&Event::parse(None, bytes).unwrap_err());
    assert_eq!(at(b"{\"hook_event_name\":\"PreToolUse\"").exit, 2);
    assert_eq!(at(b"").exit, 2);
    let elsewhere = at(b"{\"hook_event_name\":\"SessionStart\"");
    assert_eq!((elsewhere.stdout.as_str(), elsewhere.exit), ("", 0));
    assert!(elsewhere.stderr.starts_with("seriatim: "));
    assert_eq!(Answer::failed_closed("the disk is full").exit, 2);
}

proptest! {
    #[test]
    fn reasons_are_bounded_and_cut_between_characters(text in "[aé😀\n]{0,100}", times in 0_usize..120) {
        let text = text.repeat(times);
        let cut = bounded(&text);
        prop_assert!(cut.len() <= REASON_BYTES_MAX);
        if text.len() <= REASON_BYTES_MAX {
            prop_assert_eq!(cut, text);
        } else {
            let (kept, note) = cut.rsplit_once("\n... (").unwrap();
            prop_assert!(text.starts_with(kept));
            let left_out: usize = note.split(' ').next().unwrap().parse().unwrap();
            prop_assert_eq!(kept.len() + left_out, text.len());
        }
    }
}
