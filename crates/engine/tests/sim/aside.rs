//! What may differ between a run that died and one that did not: times, and what is computed from them.
//!
//! Times of day, spans, ids made of times, and digests (of texts with times in them) are put aside, each by a word in
//! its place. Where attempts were cut off, their numbers are put aside as well. Where a process died between a
//! transaction of the book and the writing of its files, whoever comes next writes them and puts an incident on the
//! trail: exactly these lines are put aside, and by how many lines an audit file with such a line grew. Steps side by
//! side share a trail and a state file, and whichever is first commits first: in such worlds the order of the lines of
//! these two, how much they grew at one moment, and the order of commits are put aside. Everything else is compared
//! byte for byte.

use serde_json::Value;

/// How the outcome of a look at what one call of an agent changed is marked.
pub(crate) const CHANGES: &str = "What one call changed: ";

const GREW: &str = "<grew by ";
const STATE_ADDED: &str = "execution-status.yaml\",\"kind\":\"modified\",\"added";
const STATE_CHANGED: &str = "execution-status.yaml\",\"kind\":\"modified\",\"added\":";

/// How reports of failures are named. The second of one second has a number as well.
const REPORT: &str = "dddd-dd-dd-dd-dd-dd";

/// Puts times and digests aside.
pub(crate) fn times(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let (mut at, mut copied) = (0, 0);
    while at < bytes.len() {
        // The letter of an escaped character is no part of a word.
        if bytes[at] == b'\\' {
            at += 2;
            continue;
        }
        let length = bytes[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        if length == 0 {
            at += 1;
            continue;
        }
        if let Some((word, length)) = found(&bytes[at..], length) {
            out.push_str(&text[copied..at]);
            out.push_str(word);
            at += length;
            copied = at;
        } else {
            at += length;
        }
    }
    out.push_str(&text[copied..]);
    growth_of_states(&spans(&out))
}

/// How many lines of a state file git calls changed depends on whether two times happen to be the same. By how many
/// it grew does not.
fn growth_of_states(text: &str) -> String {
    let mut parts = text.split(STATE_CHANGED);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(STATE_CHANGED);
        let (added, rest) = number(part);
        match (added, rest.strip_prefix(",\"deleted\":").map(number)) {
            (Some(added), Some((Some(deleted), rest))) => {
                out.push_str(&format!("{GREW}{}>{rest}", added - deleted));
            }
            _ => out.push_str(part),
        }
    }
    out
}

fn number(text: &str) -> (Option<i64>, &str) {
    let (digits, rest) = text.split_at(text.bytes().take_while(u8::is_ascii_digit).count());
    (digits.parse().ok(), rest)
}

/// What a text begins with whose first word is that long, and how long it is.
fn found(text: &[u8], length: usize) -> Option<(&'static str, usize)> {
    let shapes: &[(&str, &str)] = match length {
        4 | 5 => &[
            ("<time>", "dddd-dd-ddTdd:dd:dd.dddZ"),
            ("<time>", "dddd-dd-ddTdd:dd:ddZ"),
            ("<time>", "dddd-dd-ddTdd:dd:dd+dd:dd"),
            ("<time>", "dddd-dd-dd dd:dd:dd"),
            ("<time>", REPORT),
            ("<time>", "dddd-dd-dd dd:dd"),
            ("<day>", "dddd-dd-dd"),
        ],
        8 => &[("<time>", "dddddddd-dddddd")],
        16 => &[("<time>", "ddddddddTddddddZ")],
        _ => &[],
    };
    let fits = |shape: &str| {
        text.len() >= shape.len()
            && shape.bytes().zip(text).all(|(wanted, byte)| match wanted {
                b'd' => byte.is_ascii_digit(),
                exact => exact == *byte,
            })
    };
    if let Some((word, shape)) = shapes.iter().find(|(_, shape)| fits(shape)) {
        let numbered = if *shape == REPORT { number_of_report(&text[shape.len()..]) } else { 0 };
        return Some((word, shape.len() + numbered));
    }
    let word = &text[..length];
    let is_hex = |byte: &u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte);
    let is_digest = length >= 8 && word.iter().all(is_hex) && word.iter().any(u8::is_ascii_digit);
    is_digest.then_some(("<digest>", length))
}

/// How long the number of a report is, if it has one.
fn number_of_report(text: &[u8]) -> usize {
    let digits = text.iter().skip(1).take_while(|byte| byte.is_ascii_digit()).count();
    if text.first() == Some(&b'-') && digits > 0 { 1 + digits } else { 0 }
}

/// Numbers that are the value of a name that says how long something took.
fn spans(text: &str) -> String {
    let names = ["_ms", "_seconds", "_minutes", "_hours", "_time", "duration"];
    let mut out = text.to_owned();
    for name in names {
        out = without_value_of(&out, name, "<span>");
    }
    durations_of_failures(&minutes_of_phases(&out))
}

/// How long an agent worked before it failed, in the box that people see.
fn durations_of_failures(text: &str) -> String {
    const LINE: &str = "│ Duration: ";
    let mut parts = text.split(LINE);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.find('│').map_or(part, |end| &part[end..]);
        out.push_str(&format!("{LINE}<span>{rest}"));
    }
    out
}

/// How many minutes each phase took: `minutes_by_phase` has a number for each name of a phase.
fn minutes_of_phases(text: &str) -> String {
    let mut parts = text.split("minutes_by_phase");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str("minutes_by_phase");
        let mut rest = part;
        loop {
            let name = rest.trim_start_matches(|c: char| " \n\\\":{,n".contains(c));
            let value = name.trim_start_matches(|c: char| c.is_ascii_uppercase() || c == '_');
            let number = value.trim_start_matches(['\\', '"', ':', ' ']);
            let after = number.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
            if value.len() == name.len() || after.len() == number.len() {
                break;
            }
            out.push_str(&rest[..rest.len() - number.len()]);
            out.push_str("<span>");
            rest = after;
        }
        out.push_str(rest);
    }
    out
}

/// Puts the numbers of attempts aside: one that was cut off has one as well. So are the numbers of lines that
/// documents change by, since they tell of such attempts.
pub(crate) fn attempts(text: &str) -> String {
    // What one call changed is less where the call before it, which was cut off, had done a part.
    if text.starts_with(CHANGES) {
        return CHANGES.to_owned();
    }
    let names = ["attempt", "iteration", "attempts", "rework_count", "calls", "added", "deleted"];
    let text = names.iter().fold(text.to_owned(), |text, name| without_value_of(&text, name, "<number>"));
    let words = ["attempt ", "Attempt "];
    let text = words.iter().fold(text, |text, word| without_number_after(&text, word, "<number>"));
    let text = without_growth(&text);
    // What a later attempt is compared with has a name of its own.
    let text = text.replace("-again", "");
    // Names of calls are numbered as well: each attempt is one.
    let runs = ["-sim", "-cyc", "-act", "-map"];
    runs.iter().fold(text, |text, run| without_call_after(&text, run))
}

/// Puts aside by how many lines state files grew: an attempt that was cut off is in their history.
fn without_growth(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((front, back)) = rest.split_once(" more>") {
        let kept = front.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-');
        out.push_str(kept);
        out.push_str("some more>");
        rest = back;
    }
    out.push_str(rest);
    out
}

/// Whether a line of an audit file tells of a write that a dead process did not come to.
pub(crate) fn is_of_interrupted_write(line: &str) -> bool {
    let line: Value = serde_json::from_str(line).unwrap_or_default();
    let what = line["what"].as_str().unwrap_or_default();
    line["event"] == "INTEGRITY_INCIDENT"
        && (what.starts_with("the state file was not written to its end")
            || what.starts_with("the audit trail was not as it was left: its last line"))
}

/// Puts aside by how many lines audit files grew, in what git says about changes.
pub(crate) fn growth_of_trails(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((front, back)) = rest.split_once("/audit-<day>.log\"") {
        let (object, after) = back.split_at(back.find('}').unwrap_or(back.len()));
        out.push_str(front);
        out.push_str("/audit-<day>.log\"");
        out.push_str(&without_value_of(object, "added", "<lines>"));
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Puts aside in which order steps side by side wrote their lines, and how much others had written at one moment.
pub(crate) fn order_of_steps(text: &str) -> String {
    let is_shared =
        |path: &str| path.ends_with("/audit-<day>.log") || path.ends_with("/execution-status.yaml");
    let Some((path, lines)) = text.split_once('\n').filter(|(path, _)| is_shared(path)) else {
        return without_value_of(text, STATE_ADDED, "<lines>");
    };
    let mut lines: Vec<&str> = lines.lines().collect();
    lines.sort_unstable();
    format!("{path}\n{}", lines.join("\n"))
}

fn without_call_after(text: &str, run: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(run) {
        let (front, back) = rest.split_at(at + run.len());
        out.push_str(front);
        let call = back.bytes().take_while(|b| b.is_ascii_digit() || matches!(b, b'/' | b'-')).count();
        let has_number = back[..call].bytes().any(|b| b.is_ascii_digit());
        out.push_str(if has_number { "<call>" } else { &back[..call] });
        rest = &back[call..];
    }
    out.push_str(rest);
    out
}

/// Puts a number aside that a name has as its value: in YAML, in JSON, and in JSON that stands in a string of JSON.
fn without_value_of(text: &str, name: &str, word: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let (front, back) = rest.split_at(at + name.len());
        out.push_str(front);
        rest = back;
        let Some(value) = back.trim_start_matches('\\').trim_start_matches('"').strip_prefix(':') else {
            continue;
        };
        let value = value.trim_start_matches(' ');
        let digits = value.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
        let digits = if value.starts_with(GREW) { value.find('>').map_or(0, |end| end + 1) } else { digits };
        if digits > 0 {
            out.push_str(&back[..back.len() - value.len()]);
            out.push_str(word);
            rest = &value[digits..];
        }
    }
    out.push_str(rest);
    out
}

fn without_number_after(text: &str, name: &str, word: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let (front, back) = rest.split_at(at + name.len());
        out.push_str(front);
        let digits = back.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
        out.push_str(if digits > 0 { word } else { "" });
        rest = &back[digits..];
    }
    out.push_str(rest);
    out
}

/// The order of the flow, whatever came first: calls side by side are numbered below their branch.
pub(crate) fn order(key: &str) -> Vec<(u64, String)> {
    let part = |part: &str| {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        (part[..digits].parse().unwrap_or(u64::MAX), part[digits..].to_owned())
    };
    key.split(['/', ':']).map(part).collect()
}

#[test]
fn times_and_digests_are_put_aside_and_nothing_else() {
    for (text, expected) in [
        ("at 2026-01-01T00:00:01.250Z: 12 lines", "at <time>: 12 lines"),
        ("EXEC-20260101-000102.yaml", "EXEC-<time>.yaml"),
        ("day 2026-01-01, cycle-001", "day <day>, cycle-001"),
        ("\"duration_ms\":17,\"n\":3", "\"duration_ms\":<span>,\"n\":3"),
        (r#"{\"duration_ms\": 118,\"n\": 3}"#, r#"{\"duration_ms\": <span>,\"n\": 3}"#),
        ("│ Duration:     4 seconds   │\n│ Step: 4 │", "│ Duration: <span>│\n│ Step: 4 │"),
        ("execution_time_hours: 0.25\nphases: 3", "execution_time_hours: <span>\nphases: 3"),
        ("several items: 3, duration unknown: 4", "several items: 3, duration unknown: 4"),
        (
            r"minutes_by_phase:\n    RED: 72.6\n    GREEN: 0\n  n: 3",
            r"minutes_by_phase:\n    RED: <span>\n    GREEN: <span>\n  n: 3",
        ),
        (
            r#""minutes_by_phase":{"RED":72.6,"GREEN":0},"n":3"#,
            r#""minutes_by_phase":{"RED":<span>,"GREEN":<span>},"n":3"#,
        ),
        ("logs/errors/2026-02-07-10-45-23-2.json", "logs/errors/<time>.json"),
        (
            r#"{"path":"a/execution-status.yaml","kind":"modified","added":58,"deleted":3}"#,
            r#"{"path":"a/execution-status.yaml","kind":"modified","added":<grew by 55>}"#,
        ),
        ("tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904.", "tree <digest>."),
        ("deadbeef defaced 12345678x", "deadbeef defaced 12345678x"),
    ] {
        assert_eq!(times(text), expected);
    }
    assert_eq!(attempts("\"attempt\":12,\"x\":3"), "\"attempt\":<number>,\"x\":3");
    assert_eq!(
        growth_of_trails(r#"[{"path":"a/audit-<day>.log","added":5,"deleted":0},{"path":"b","added":2}]"#),
        r#"[{"path":"a/audit-<day>.log","added":<lines>,"deleted":0},{"path":"b","added":2}]"#
    );
}
