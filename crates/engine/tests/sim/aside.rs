//! What may differ between a run that died and one that did not: times, and what is computed from them.
//!
//! Times of day, ids made of times, and digests (of texts with times in them) are put aside, each by a word in its place;
//! spans, and numbers of lines of texts with times in them, by a zero. Where attempts were cut off, their numbers are put aside as well. Everything else is compared byte for
//! byte.

/// How the outcome of a look at what one call of an agent changed is marked.
pub(crate) const CHANGES: &str = "What one call changed: ";

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
    // Of files that are made in the same second the later ones are numbered.
    let out = (2..9).fold(out, |text, number| text.replace(&format!("<time>-{number}."), "<time>."));
    spans(&out)
}

/// What a text begins with whose first word is that long, and how long it is.
fn found(text: &[u8], length: usize) -> Option<(&'static str, usize)> {
    let shapes: &[(&str, &str)] = match length {
        4 | 5 => &[
            ("<time>", "dddd-dd-ddTdd:dd:dd.dddZ"),
            ("<time>", "dddd-dd-ddTdd:dd:ddZ"),
            ("<time>", "dddd-dd-ddTdd:dd:dd+dd:dd"),
            ("<time>", "dddd-dd-dd dd:dd:dd"),
            ("<time>", "dddd-dd-dd-dd-dd-dd"),
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
        return Some((word, shape.len()));
    }
    let word = &text[..length];
    let is_hex = |byte: &u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte);
    let is_digest = length >= 8 && word.iter().all(is_hex) && word.iter().any(u8::is_ascii_digit);
    is_digest.then_some(("<digest>", length))
}

/// Numbers after a name that ends in `_ms` or says how long something took.
fn spans(text: &str) -> String {
    let mut out = text.to_owned();
    for unit in ["_ms", "_seconds", "_minutes", "_hours", "_time", "duration"] {
        // In JSON, in JSON that people read, in JSON within JSON, and in YAML.
        for end in ["\":", "\": ", "\\\": ", ": "] {
            out = without_number_after(&out, &format!("{unit}{end}"), "0");
        }
    }
    // How many lines of a document with times in it differ depends on the times.
    for name in ["added\":", "deleted\":"] {
        out = without_number_after(&out, name, "0");
    }
    out = without_words_between(&out, "Duration:", "│");
    // How many minutes each phase took.
    while let Some((front, rest)) = out.split_once("minutes_by_phase\":{")
        && let Some((_, back)) = rest.split_once('}')
    {
        out = format!("{front}minutes\":null{back}");
    }
    if out.contains("minutes_by_phase:\n") { without_minutes(&out) } else { out }
}

/// The same in YAML.
fn without_minutes(text: &str) -> String {
    let mut within = None;
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let indent = line.len() - line.trim_start().len();
        if within.is_some_and(|of| indent > of) {
            out.push_str(&without_number_after(line, ": ", "<span>"));
            continue;
        }
        within = (line.trim() == "minutes_by_phase:").then_some(indent);
        out.push_str(line);
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
    let names = [
        "attempt\":",
        "iteration\":",
        "attempts\":",
        "rework_count\":",
        "attempt: ",
        "iteration: ",
        "attempt ",
        "Attempt ",
        "calls\":",
        "added\":",
        "deleted\":",
    ];
    let text = names.iter().fold(text.to_owned(), |text, name| without_number_after(&text, name, "<number>"));
    // What a later attempt is compared with has a name of its own.
    let text = text.replace("-again", "");
    // Names of calls are numbered as well: each attempt is one.
    let runs = ["-sim", "-cyc", "-act", "-map"];
    runs.iter().fold(text, |text, run| without_call_after(&text, run))
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

fn without_words_between(text: &str, from: &str, to: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((front, back)) = rest.split_once(from) {
        out.push_str(front);
        out.push_str(from);
        rest = back;
        if let Some(at) = back.find(to) {
            out.push_str("0");
            rest = &back[at..];
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
        ("\"duration_ms\":17,\"n\":3", "\"duration_ms\":0,\"n\":3"),
        ("tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904.", "tree <digest>."),
        ("deadbeef defaced 12345678x", "deadbeef defaced 12345678x"),
    ] {
        assert_eq!(times(text), expected);
    }
    assert_eq!(attempts("\"attempt\":12,\"x\":3"), "\"attempt\":<number>,\"x\":3");
}
