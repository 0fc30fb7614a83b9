//! Transcripts of both kinds, whole, in pieces and damaged.

use proptest::prelude::*;

use super::*;

const MAIN: &[u8] = include_bytes!("../fixtures/claude.transcript.jsonl");
const SUB: &[u8] = include_bytes!("../fixtures/claude.transcript.subagent.jsonl");
const ROLLOUT: &[u8] = include_bytes!("../fixtures/codex.rollout.jsonl");

fn scanned(bytes: &[u8]) -> Scan {
    let mut scan = Scan::default();
    let done = scan.feed(bytes);
    scan.ended(&bytes[done..])
}

/// DS-36, DS-68: the prompt comes from the first line of type user, which need not be the first line.
#[test]
fn ds_36_the_prompt_is_that_of_the_first_user_line() {
    assert_eq!(scanned(MAIN).first_prompt(), Ok("MAIN prompt"));
}

#[test]
fn e_74_blocks_are_joined_and_requests_are_no_prompts() {
    let scan = scanned(SUB);
    assert_eq!(scan.first_prompt(), Ok("<!-- DES-VALIDATION: required -->\nSUB prompt"));
    assert_eq!(scan.agent_id.as_deref(), Some("agent-1"));
    assert!(scan.agents.is_empty());
}

#[test]
fn ds_37_without_a_user_line_there_is_a_reason() {
    assert_eq!(scanned(b"").first_prompt(), Err(NoPrompt::Empty));
    assert_eq!(scanned(b"\n\n").first_prompt(), Err(NoPrompt::Empty));
    assert_eq!(scanned(b"{\"type\":\"system\"}\n").first_prompt(), Err(NoPrompt::NoUserLine));
    let torn = Err(NoPrompt::Unreadable { unreadable: 1, lines: 1 });
    assert_eq!(scanned(b"{\"type\":\"user\",\"mess").first_prompt(), torn);
    assert_eq!(scanned(b"[\"user\"]\n").first_prompt(), torn);
}

/// DS-86: one message stands on several lines, and counts once, with the last that was known of it.
#[test]
fn ds_86_tokens_are_counted_once_for_each_message() {
    let scan = scanned(MAIN);
    assert_eq!(scan.usage, Usage { input: 30, output: 13, cache_read: 300, cache_creation: 21 });
    assert_eq!((scan.turns, scan.model.as_deref()), (3, Some("claude-opus-5-5")));
    assert_eq!(scan.usage.total(), 364);
}

#[test]
fn sub_agents_are_named_with_their_calls() {
    let scan = scanned(MAIN);
    let named = |call: &str, tokens| Named {
        tool_use_id: Some(call.into()),
        status: Some("completed".into()),
        tokens,
    };
    let wanted =
        [("agent-1".to_owned(), named("call-1", Some(20))), ("agent-2".to_owned(), named("call-2", None))];
    assert_eq!(scan.agents, wanted.into());
    // The last call has no answer yet.
    assert_eq!(scan.calls, [("call-3".to_owned(), "Agent".to_owned())].into());
}

#[test]
fn a_rollout_of_codex_says_the_same() {
    let scan = scanned(ROLLOUT);
    assert_eq!(scan.first_prompt(), Ok("SUB prompt"));
    assert_eq!(scan.agent_id.as_deref(), Some("thread-2"));
    assert_eq!(scan.model.as_deref(), Some("gpt-5-codex"));
    assert_eq!(scan.usage, Usage { input: 30, output: 9, cache_read: 60, cache_creation: 0 });
    assert_eq!(scan.turns, 2);
    assert_eq!(scan.agents["agent-7"].tool_use_id.as_deref(), Some("call-1"));
    assert!(scan.calls.is_empty());
}

#[test]
fn e_74_a_long_transcript_is_read_only_where_it_is_new() {
    let mut scan = Scan::default();
    assert_eq!(scan.feed(MAIN), MAIN.len());
    let before = scan.clone();
    assert_eq!(scan.feed(b""), 0);
    assert_eq!(scan, before);
    // The state survives being stored.
    let stored = serde_json::to_string(&scan).unwrap();
    let mut restored: Scan = serde_json::from_str(&stored).unwrap();
    assert_eq!(restored, scan);
    let more = br#"{"type":"assistant","message":{"id":"msg-3","usage":{"output_tokens":9}}}
"#;
    assert_eq!(restored.feed(more), more.len());
    assert_eq!(restored.offset, (MAIN.len() + more.len()) as u64);
    // The last message was known: only what is new of it counts.
    assert_eq!((restored.usage.output, restored.turns), (20, 3));
}

#[test]
fn a_line_that_is_too_long_is_passed_over_whole_or_in_pieces() {
    let mut long = br#"{"type":"user","message":{"content":""#.to_vec();
    long.resize(LINE_BYTES_MAX + 10, b'x');
    long.extend_from_slice(b"\"}}\n");
    let end = b"{\"type\":\"user\",\"message\":{\"content\":\"short\"}}\n";
    let mut whole = Scan::default();
    whole.feed(&[&long[..], end].concat());
    let mut pieces = Scan::default();
    let (head, tail) = long.split_at(LINE_BYTES_MAX + 1);
    assert_eq!(pieces.feed(head), head.len());
    assert_eq!(pieces.feed(&tail[..4]), 4);
    pieces.feed(&[&tail[4..], end].concat());
    assert_eq!(whole.first_prompt(), Ok("short"));
    assert_eq!((whole.lines, whole.unreadable), (2, 1));
    assert_eq!(whole, pieces);
}

#[test]
fn the_file_beside_a_transcript_names_the_call() {
    let meta = Meta::parse(include_bytes!("../fixtures/claude.transcript.subagent.meta.json")).unwrap();
    assert_eq!((meta.tool_use_id.as_deref(), meta.finished), (Some("call-1"), Some(true)));
    assert_eq!(Meta::parse(b"[]"), None);
    assert_eq!(Meta::agent_of("agent-a1.meta.json"), Some("a1"));
    assert_eq!(Meta::agent_of("agent-a1.jsonl"), Some("a1"));
    assert_eq!(Meta::agent_of("journal.jsonl"), None);
}

proptest! {
    /// In whatever pieces a transcript comes, it says the same.
    #[test]
    fn pieces_make_no_difference(cuts in proptest::collection::vec(0_usize..4000, 0..12)) {
        for file in [MAIN, SUB, ROLLOUT] {
            let mut ends: Vec<usize> = cuts.iter().map(|cut| cut % file.len()).chain([file.len()]).collect();
            ends.sort_unstable();
            let mut scan = Scan::default();
            for end in ends {
                let from = usize::try_from(scan.offset).unwrap();
                scan.feed(&file[from.min(end)..end]);
            }
            let mut whole = Scan::default();
            whole.feed(file);
            prop_assert_eq!(scan, whole);
        }
    }

    #[test]
    fn any_bytes_can_be_scanned(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        scanned(&bytes);
    }

    #[test]
    fn a_damaged_transcript_can_be_scanned(at in 0_usize..3000, with in any::<u8>()) {
        for file in [MAIN, SUB, ROLLOUT] {
            let mut bytes = file.to_vec();
            if let Some(byte) = bytes.get_mut(at) {
                *byte = with;
            }
            scanned(&bytes);
        }
    }
}
