//! Takes a command line apart: simple commands, their words, what is substituted, and where output goes.

/// One simple command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Command {
    /// How many subshells it is in.
    pub(super) depth: usize,
    /// Without quotes; variables stay as they are written.
    pub(super) words: Vec<String>,
    /// Files that output is sent to.
    pub(super) written: Vec<String>,
    /// Command lines whose output is put in.
    pub(super) substituted: Vec<String>,
    /// Texts that the command is fed with: here-documents and here-strings.
    pub(super) fed: Vec<String>,
}

/// The simple commands of a text, in their order. A text that no shell would take is taken as far as it goes.
pub(super) fn commands(text: &str) -> Vec<Command> {
    let mut splitter = Splitter { rest: text, ..Splitter::default() };
    splitter.run();
    splitter.commands
}

/// Where the next word belongs.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Target {
    #[default]
    Words,
    Written,
    Read,
    Fed,
    /// The word that ends a here-document; with `true` the tabs in front of its lines do not count.
    HereEnd(bool),
}

#[derive(Default)]
struct Splitter<'t> {
    rest: &'t str,
    commands: Vec<Command>,
    command: Command,
    word: String,
    /// A word has begun, though it may be empty (`''`).
    open: bool,
    target: Target,
    depth: usize,
    /// Here-documents whose text begins with the next line: the command it belongs to, the end, and the tabs.
    pending: Vec<(usize, String, bool)>,
}

impl<'t> Splitter<'t> {
    fn run(&mut self) {
        while let Some(c) = self.rest.chars().next() {
            self.rest = &self.rest[c.len_utf8()..];
            match c {
                '\\' => self.escape(),
                '\'' => self.single(),
                '"' => self.double(),
                '$' => self.dollar(),
                '`' => self.backticks(),
                '#' if !self.open => self.comment(),
                '\n' => {
                    self.end_command();
                    self.here_documents();
                }
                ';' | '|' => self.end_command(),
                '&' => self.ampersand(),
                '(' => {
                    self.end_command();
                    self.depth += 1;
                }
                ')' => {
                    self.end_command();
                    self.depth = self.depth.saturating_sub(1);
                }
                '<' | '>' => self.redirect(c),
                '{' | '}' if !self.open && self.at_word_end() => self.end_command(),
                c if c.is_whitespace() => self.end_word(),
                c => self.push(c),
            }
        }
        self.end_command();
    }

    fn push(&mut self, c: char) {
        self.open = true;
        self.word.push(c);
    }

    fn at_word_end(&self) -> bool {
        self.rest.chars().next().is_none_or(|c| c.is_whitespace() || matches!(c, ';' | '&' | '|' | ')'))
    }

    fn escape(&mut self) {
        let mut chars = self.rest.chars();
        match chars.next() {
            // A line that goes on.
            Some('\n') | None => {}
            Some(c) => self.push(c),
        }
        self.rest = chars.as_str();
    }

    fn single(&mut self) {
        self.open = true;
        let (text, rest) = self.rest.split_once('\'').unwrap_or((self.rest, ""));
        self.word.push_str(text);
        self.rest = rest;
    }

    fn double(&mut self) {
        self.open = true;
        while let Some(c) = self.rest.chars().next() {
            self.rest = &self.rest[c.len_utf8()..];
            match c {
                '"' => return,
                '\\' => {
                    let next = self.rest.chars().next();
                    if !matches!(next, Some('"' | '\\' | '$' | '`' | '\n')) {
                        self.word.push('\\');
                    }
                    self.word.extend(next.filter(|c| *c != '\n'));
                    self.rest = self.rest.get(next.map_or(0, char::len_utf8)..).unwrap_or_default();
                }
                '$' => self.dollar(),
                '`' => self.backticks(),
                c => self.word.push(c),
            }
        }
    }

    fn dollar(&mut self) {
        if let Some(inner) = self.rest.strip_prefix('(') {
            let (inside, behind) = bracketed(inner);
            self.command.substituted.push(inside.to_owned());
            self.open = true;
            self.word.push_str("$()");
            self.rest = behind;
        } else if self.rest.starts_with('\'') && !self.open {
            // `$'...'` has escapes of its own; the common ones matter little here.
            self.rest = &self.rest[1..];
            self.single();
        } else {
            self.push('$');
        }
    }

    fn backticks(&mut self) {
        let (inside, behind) = self.rest.split_once('`').unwrap_or((self.rest, ""));
        self.command.substituted.push(inside.to_owned());
        self.open = true;
        self.rest = behind;
    }

    fn comment(&mut self) {
        self.rest = self.rest.find('\n').and_then(|end| self.rest.get(end..)).unwrap_or_default();
    }

    fn ampersand(&mut self) {
        if self.rest.starts_with('>') {
            // `&>` sends both outputs to a file.
            return;
        }
        self.end_command();
    }

    fn redirect(&mut self, c: char) {
        if let Some(inner) = self.rest.strip_prefix('(') {
            let (inside, behind) = bracketed(inner);
            self.command.substituted.push(inside.to_owned());
            self.rest = behind;
            return;
        }
        // A number in front says which output it is; it is no word.
        if self.open && self.word.chars().all(|c| c.is_ascii_digit()) {
            self.word.clear();
            self.open = false;
        }
        self.end_word();
        let mut strip = |mark: &str| self.rest.strip_prefix(mark).map(|rest| self.rest = rest).is_some();
        self.target = if c == '>' {
            if strip("&") {
                Target::Read
            } else {
                let _appends = strip(">") || strip("|");
                Target::Written
            }
        } else if strip("<<") {
            Target::Fed
        } else if strip("<-") {
            Target::HereEnd(true)
        } else if strip("<") {
            Target::HereEnd(false)
        } else {
            strip("&");
            Target::Read
        };
    }

    fn end_word(&mut self) {
        if !std::mem::take(&mut self.open) {
            return;
        }
        let word = std::mem::take(&mut self.word);
        match std::mem::take(&mut self.target) {
            Target::Words => self.command.words.push(word),
            Target::Written => self.command.written.push(word),
            Target::Fed => self.command.fed.push(word),
            Target::Read => {}
            Target::HereEnd(tabs) => self.pending.push((self.commands.len(), word, tabs)),
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.target = Target::Words;
        let waits = self.pending.iter().any(|(owner, ..)| *owner == self.commands.len());
        let command = std::mem::take(&mut self.command);
        if waits || command != Command::default() {
            self.commands.push(Command { depth: self.depth, ..command });
        }
    }

    /// Takes the texts of the here-documents that were begun on the line before.
    fn here_documents(&mut self) {
        for (owner, end, tabs) in std::mem::take(&mut self.pending) {
            let mut body = String::new();
            while !self.rest.is_empty() {
                let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
                self.rest = rest;
                let line = if tabs { line.trim_start_matches('\t') } else { line };
                if line.trim_end_matches('\r') == end {
                    break;
                }
                body.push_str(line);
                body.push('\n');
            }
            if let Some(command) = self.commands.get_mut(owner) {
                command.fed.push(body);
            }
        }
    }
}

/// What stands before the bracket that closes, and what behind it. Brackets in quotes do not count.
fn bracketed(text: &str) -> (&str, &str) {
    let mut depth = 0_u32;
    let mut quote: Option<char> = None;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (Some('\''), '\'') => quote = None,
            (Some('\''), _) => {}
            (_, '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') if depth == 0 => return (&text[..at], &text[at + 1..]),
            (None, ')') => depth -= 1,
            _ => {}
        }
    }
    (text, "")
}
