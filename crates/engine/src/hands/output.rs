//! What is kept of a process's output: cleaned of secrets, in bounded memory, the rest in a bounded file.

use std::fs;
use std::fs::File;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::path::PathBuf;

use crate::hands::process::Spawn;
use crate::hands::process::Stream;
use crate::hands::process::Watch;

/// A line that is longer than this is handled in pieces.
const PIECE_BYTES: usize = 64 << 10;
/// No secret is longer than this. So much stays behind when a long line is cut, so that a secret at the border
/// is seen whole with the next piece.
const SECRET_BYTES_MAX: usize = 8 << 10;
/// How much of the end is kept in any case.
const TAIL_BYTES: usize = 4 << 10;

/// Takes the output of one process in.
pub(super) struct Collector<'w> {
    watch: &'w dyn Watch,
    stdout: Gathering,
    stderr: Gathering,
    keep_left: usize,
    overflow: Overflow,
    tail: String,
}

/// What is left when the output has ended.
pub(super) struct Collected {
    pub stdout: String,
    pub stderr: String,
    pub tail: String,
    pub stderr_tail: String,
    pub overflow: Option<PathBuf>,
    pub dropped_bytes: u64,
}

#[derive(Default)]
struct Gathering {
    /// Bytes that wait for the end of their line.
    pending: Vec<u8>,
    /// A secret ran into the end of a piece: what follows it without a break belongs to it and is dropped.
    inside_secret: bool,
    kept: String,
    /// The end of it.
    tail: String,
}

impl<'w> Collector<'w> {
    pub(super) fn new(spawn: &Spawn, watch: &'w dyn Watch) -> Collector<'w> {
        Collector {
            watch,
            stdout: Gathering::default(),
            stderr: Gathering::default(),
            keep_left: spawn.keep_bytes,
            overflow: Overflow::new(spawn.overflow.clone(), spawn.overflow_bytes),
            tail: String::new(),
        }
    }

    pub(super) fn push(&mut self, stream: Stream, bytes: &[u8]) {
        let gathering = self.gathering(stream);
        gathering.pending.extend_from_slice(bytes);
        if let Some(end) = gathering.pending.iter().rposition(|byte| *byte == b'\n') {
            let rest = gathering.pending.split_off(end + 1);
            let lines = std::mem::replace(&mut gathering.pending, rest);
            // All complete lines are cleaned together, so that a secret of several lines is seen too.
            self.accept(stream, &lines);
        }
        while self.gathering(stream).pending.len() > PIECE_BYTES + SECRET_BYTES_MAX {
            self.accept_piece(stream);
        }
    }

    pub(super) fn finish(mut self) -> Collected {
        for stream in [Stream::Stdout, Stream::Stderr] {
            let rest = std::mem::take(&mut self.gathering(stream).pending);
            self.accept(stream, &rest);
        }
        let dropped_bytes = self.overflow.dropped_bytes;
        Collected {
            stdout: self.stdout.kept,
            stderr: self.stderr.kept,
            tail: self.tail,
            stderr_tail: self.stderr.tail,
            overflow: self.overflow.finish(),
            dropped_bytes,
        }
    }

    fn gathering(&mut self, stream: Stream) -> &mut Gathering {
        match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        }
    }

    /// Takes whole lines in.
    fn accept(&mut self, stream: Stream, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        let text = self.gathering(stream).after_secret(&text);
        if !text.is_empty() {
            let watch = self.watch;
            self.keep(stream, &watch.clean(text));
        }
    }

    /// Takes the front of a very long line in. A cut is safe when cleaning both sides of it apart gives the same
    /// as cleaning the whole.
    fn accept_piece(&mut self, stream: Stream) {
        let pending = std::mem::take(&mut self.gathering(stream).pending);
        let text = String::from_utf8_lossy(&pending);
        let text = self.gathering(stream).after_secret(&text).to_owned();
        let watch = self.watch;
        let whole = watch.clean(&text);
        let latest = text.len().saturating_sub(SECRET_BYTES_MAX);
        for back in 0..4 {
            let cut = text.floor_char_boundary(latest.saturating_sub(back * SECRET_BYTES_MAX));
            let (front, rest) = text.split_at(cut);
            let (front, clean_rest) = (watch.clean(front), watch.clean(rest));
            if whole.strip_prefix(front.as_ref()) == Some(clean_rest.as_ref()) {
                self.keep(stream, &front);
                self.gathering(stream).pending = rest.as_bytes().to_vec();
                return;
            }
        }
        // Secrets everywhere: the cleaned text is kept, and what belongs to the last of them must not follow.
        self.keep(stream, &whole);
        self.gathering(stream).inside_secret = true;
    }

    fn keep(&mut self, stream: Stream, text: &str) {
        for line in text.lines() {
            self.watch.line(stream, line);
        }
        remember_tail(&mut self.tail, text);
        remember_tail(&mut self.gathering(stream).tail, text);
        let fits = text.floor_char_boundary(self.keep_left.min(text.len()));
        let (kept, rest) = text.split_at(fits);
        self.gathering(stream).kept.push_str(kept);
        self.keep_left -= kept.len();
        if !rest.is_empty() {
            // Once something has not fitted, nothing later may stand before it.
            self.keep_left = 0;
            self.overflow.take(rest);
        }
    }
}

/// Appends to the end of an output, and drops from its front what is too much.
fn remember_tail(tail: &mut String, text: &str) {
    let from = text.ceil_char_boundary(text.len().saturating_sub(TAIL_BYTES));
    tail.push_str(&text[from..]);
    let excess = tail.ceil_char_boundary(tail.len().saturating_sub(TAIL_BYTES));
    tail.drain(..excess);
}

impl Gathering {
    /// The text without the remainder of a secret that was cut off.
    fn after_secret<'t>(&mut self, text: &'t str) -> &'t str {
        if !self.inside_secret {
            return text;
        }
        match text.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | ';' | '}' | ')')) {
            Some(end) => {
                self.inside_secret = false;
                &text[end..]
            }
            None => "",
        }
    }
}

/// The file for what memory does not hold. It comes into being with its first byte.
struct Overflow {
    path: Option<PathBuf>,
    file: Option<File>,
    left: u64,
    dropped_bytes: u64,
}

impl Overflow {
    fn new(path: Option<PathBuf>, limit: u64) -> Overflow {
        let left = if path.is_some() { limit } else { 0 };
        Overflow { path, file: None, left, dropped_bytes: 0 }
    }

    fn take(&mut self, text: &str) {
        let fits = usize::try_from(self.left).unwrap_or(usize::MAX).min(text.len());
        let fits = text.floor_char_boundary(fits);
        let written = if fits > 0 && self.write(&text.as_bytes()[..fits]) { fits } else { 0 };
        self.left -= written as u64;
        if written < text.len() {
            self.left = 0;
            self.dropped_bytes += (text.len() - written) as u64;
        }
    }

    /// Output that cannot be written, be it that the disk is full, counts as dropped and stops nobody.
    fn write(&mut self, bytes: &[u8]) -> bool {
        if self.file.is_none() {
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(true).mode(0o600);
            // Its folder comes into being with the first output that is too long for memory.
            let made = |path: &Path| path.parent().is_none_or(|folder| fs::create_dir_all(folder).is_ok());
            self.file = self.path.as_ref().filter(|path| made(path)).and_then(|path| options.open(path).ok());
        }
        self.file.as_mut().is_some_and(|file| file.write_all(bytes).is_ok())
    }

    fn finish(mut self) -> Option<PathBuf> {
        let file = self.file.as_mut()?;
        if self.dropped_bytes > 0 {
            // The note is a courtesy: the number is in the result as well.
            let _ = writeln!(file, "\n[cut here: {} more bytes were not kept]", self.dropped_bytes);
        }
        self.path
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::sync::Mutex;

    use proptest::prelude::*;

    use super::*;

    const SECRET: &str = "hunter2hunter2";

    #[derive(Default)]
    struct Hider {
        lines: Mutex<Vec<String>>,
    }

    impl Watch for Hider {
        fn line(&self, _: Stream, line: &str) {
            self.lines.lock().unwrap().push(line.to_owned());
        }

        fn clean<'t>(&self, text: &'t str) -> Cow<'t, str> {
            if text.contains(SECRET) { Cow::Owned(text.replace(SECRET, "***")) } else { Cow::Borrowed(text) }
        }
    }

    fn spawn(keep_bytes: usize, overflow: Option<PathBuf>, overflow_bytes: u64) -> Spawn {
        Spawn { keep_bytes, overflow, overflow_bytes, ..Spawn::new(Vec::new(), "/", "m") }
    }

    fn collect(spawn: &Spawn, watch: &Hider, pieces: &[&[u8]]) -> Collected {
        let mut collector = Collector::new(spawn, watch);
        for piece in pieces {
            collector.push(Stream::Stdout, piece);
        }
        collector.finish()
    }

    #[test]
    fn lines_are_shown_whole_and_the_last_one_without_an_end_too() {
        let watch = Hider::default();
        let kept = collect(&spawn(100, None, 0), &watch, &[b"on", b"e\ntwo\nth", b"ree"]);
        assert_eq!(kept.stdout, "one\ntwo\nthree");
        assert_eq!(*watch.lines.lock().unwrap(), ["one", "two", "three"]);
    }

    #[test]
    fn what_does_not_fit_goes_to_the_file_and_then_is_counted() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("outputs/rest");
        let kept = collect(&spawn(4, Some(path.clone()), 6), &Hider::default(), &[b"abc\ndef\nghijkl\n"]);
        assert_eq!(kept.stdout, "abc\n");
        assert_eq!(kept.dropped_bytes, 5);
        assert_eq!(kept.tail, "abc\ndef\nghijkl\n");
        assert_eq!(kept.overflow, Some(path.clone()));
        let file = fs::read_to_string(path).unwrap();
        assert_eq!(file, "def\ngh\n[cut here: 5 more bytes were not kept]\n");
    }

    #[test]
    fn without_a_file_the_rest_is_dropped_and_none_is_named() {
        let kept = collect(&spawn(4, None, 6), &Hider::default(), &[b"abc\ndef\n"]);
        assert_eq!((kept.overflow, kept.dropped_bytes), (None, 4));
    }

    #[test]
    fn bytes_that_are_not_text_become_replacement_characters_even_when_split() {
        let kept = collect(&spawn(100, None, 0), &Hider::default(), &[b"\xc3", b"\xa9\xff\n"]);
        assert_eq!(kept.stdout, "é\u{fffd}\n");
    }

    #[test]
    fn a_secret_that_never_ends_is_not_continued_after_the_mark() {
        struct Token;
        impl Watch for Token {
            fn clean<'t>(&self, text: &'t str) -> Cow<'t, str> {
                match text.find("key=") {
                    Some(at) => Cow::Owned(format!("{}key=***", &text[..at])),
                    None => Cow::Borrowed(text),
                }
            }
        }
        let mut line = b"key=".to_vec();
        line.resize(3 * PIECE_BYTES, b'x');
        line.extend_from_slice(b" open\n");
        let spawn = spawn(1 << 20, None, 0);
        let mut collector = Collector::new(&spawn, &Token);
        for piece in line.chunks(4096) {
            collector.push(Stream::Stderr, piece);
        }
        let kept = collector.finish();
        assert!(kept.stderr.ends_with("*** open\n"), "{:?}", kept.tail);
        assert!(!kept.stderr.contains("xxx"));
    }

    proptest! {
        /// Wherever the pipe cuts and wherever a long line is cut, the result is that of cleaning the whole.
        #[test]
        fn a_secret_at_any_border_is_caught(
            before in PIECE_BYTES - 40..PIECE_BYTES + SECRET_BYTES_MAX + 40,
            after in 0usize..20_000,
            chunk in 1_000usize..40_000,
        ) {
            let text = format!("{}{SECRET}{}\n", "a".repeat(before), "b".repeat(after));
            let watch = Hider::default();
            let pieces: Vec<&[u8]> = text.as_bytes().chunks(chunk).collect();
            let kept = collect(&spawn(1 << 20, None, 0), &watch, &pieces);
            prop_assert_eq!(kept.stdout, text.replace(SECRET, "***"));
            prop_assert!(watch.lines.lock().unwrap().iter().all(|line| !line.contains("hunter2")));
        }

        #[test]
        fn nothing_is_lost_between_memory_file_and_count(
            lines in proptest::collection::vec("[a-zé]{0,12}", 0..40),
            keep in 0usize..200,
        ) {
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let kept = collect(&spawn(keep, None, 0), &Hider::default(), &[text.as_bytes()]);
            prop_assert!(kept.stdout.len() <= keep);
            prop_assert!(text.starts_with(&kept.stdout));
            prop_assert_eq!(kept.stdout.len() as u64 + kept.dropped_bytes, text.len() as u64);
        }
    }
}
