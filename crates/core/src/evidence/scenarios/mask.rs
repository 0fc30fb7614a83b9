//! A source with its comments and the insides of its strings blanked out, byte for byte, so that places stay.

/// How a language writes comments and strings.
#[derive(Clone, Copy)]
pub(super) enum Syntax {
    Python,
    Rust,
    Script,
    Go,
}

pub(super) fn mask(text: &str, syntax: Syntax) -> String {
    let mut masker = Masker { bytes: text.as_bytes(), at: 0, masked: Vec::with_capacity(text.len()) };
    while masker.at < masker.bytes.len() {
        masker.step(syntax);
    }
    String::from_utf8(masker.masked).unwrap_or_default()
}

struct Masker<'t> {
    bytes: &'t [u8],
    at: usize,
    masked: Vec<u8>,
}

impl Masker<'_> {
    fn starts(&self, with: &[u8]) -> bool {
        self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(with))
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn keep(&mut self, count: usize) {
        let end = (self.at + count).min(self.bytes.len());
        self.masked.extend_from_slice(self.bytes.get(self.at..end).unwrap_or_default());
        self.at = end;
    }

    fn blank(&mut self) {
        let byte = self.peek(0).unwrap_or(b' ');
        self.masked.push(if byte == b'\n' { b'\n' } else { b' ' });
        self.at += 1;
    }

    fn blank_until(&mut self, end: &[u8]) {
        while self.at < self.bytes.len() && !self.starts(end) {
            self.blank();
        }
    }

    fn step(&mut self, syntax: Syntax) {
        let Some(byte) = self.peek(0) else { return };
        let python = matches!(syntax, Syntax::Python);
        match byte {
            b'#' if python => self.blank_until(b"\n"),
            b'/' if !python && self.starts(b"//") => self.blank_until(b"\n"),
            b'/' if !python && self.starts(b"/*") => self.block_comment(matches!(syntax, Syntax::Rust)),
            b'"' | b'\'' if python && (self.starts(b"\"\"\"") || self.starts(b"'''")) => {
                self.string(&[byte; 3], true, true);
            }
            b'"' if matches!(syntax, Syntax::Rust) => self.string(b"\"", true, true),
            b'r' if matches!(syntax, Syntax::Rust) && self.raw_string() => {}
            b'\'' if matches!(syntax, Syntax::Rust) => self.character(),
            b'`' if matches!(syntax, Syntax::Script) => self.string(b"`", true, true),
            b'`' if matches!(syntax, Syntax::Go) => self.string(b"`", true, false),
            b'"' | b'\'' => self.string(&[byte], false, true),
            _ => self.keep(1),
        }
    }

    fn block_comment(&mut self, nested: bool) {
        let mut depth = 0_usize;
        while self.at < self.bytes.len() {
            if self.starts(b"/*") && (nested || depth == 0) {
                depth += 1;
                self.blank();
            } else if self.starts(b"*/") {
                depth -= 1;
                self.blank();
            }
            self.blank();
            if depth == 0 {
                return;
            }
        }
    }

    /// A string that begins here, with its marks kept. One that does not go over lines ends with its line, so that a
    /// lone quote does no harm further down.
    fn string(&mut self, end: &[u8], over_lines: bool, escapes: bool) {
        self.keep(end.len());
        while self.at < self.bytes.len() && !self.starts(end) {
            if !over_lines && self.peek(0) == Some(b'\n') {
                return;
            }
            if escapes && self.peek(0) == Some(b'\\') && self.peek(1).is_some() {
                self.blank();
            }
            self.blank();
        }
        self.keep(end.len());
    }

    /// `r"..."` and `r#"..."#` of Rust, where there is one.
    fn raw_string(&mut self) -> bool {
        let of_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let before = self.at.checked_sub(1).and_then(|at| self.bytes.get(at)).copied();
        if before.is_some_and(|byte| of_word(byte) && byte != b'b' && byte != b'c') {
            return false;
        }
        let hashes = self.bytes.iter().skip(self.at + 1).take_while(|byte| **byte == b'#').count();
        if self.peek(1 + hashes) != Some(b'"') {
            return false;
        }
        let mut end = vec![b'"'];
        end.resize(1 + hashes, b'#');
        self.keep(2 + hashes);
        self.blank_until(&end);
        self.keep(end.len());
        true
    }

    /// `'x'` and `'\n'` of Rust; a lifetime is left as it is.
    fn character(&mut self) {
        let length = match self.peek(1) {
            Some(b'\\') => {
                self.bytes.iter().skip(self.at + 3).take(10).position(|byte| *byte == b'\'').map(|n| n + 2)
            }
            Some(first) => {
                let width = match first {
                    0..0x80 => 1,
                    0x80..0xe0 => 2,
                    0xe0..0xf0 => 3,
                    _ => 4,
                };
                (self.peek(1 + width) == Some(b'\'')).then_some(width)
            }
            None => None,
        };
        self.keep(1);
        if let Some(length) = length {
            (0..length).for_each(|_| self.blank());
            self.keep(1);
        }
    }
}
