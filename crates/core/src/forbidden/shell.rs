//! Takes a text apart as a shell would, far enough to see which commands are in it.

/// Commands inside of commands: `bash -c "sh -c '...'"`.
const DEPTH_MAX: u32 = 5;

/// Flags that come later than this are not moved to the front: no command in use hides them so far behind.
const WORDS_MAX: usize = 16;

/// Shows the commands of `text` in plain writing.
pub(super) fn each_command(text: &str, see: &mut dyn FnMut(&str)) {
    look(text, 0, see);
}

fn look(text: &str, depth: u32, see: &mut dyn FnMut(&str)) {
    if depth > DEPTH_MAX {
        return;
    }
    for words in simple_commands(text) {
        see(&words.join(" "));
        // Any word may begin the command that counts: behind `sudo`, `env A=b`, `xargs`, `find -exec` and the like.
        for start in 0..words.len() {
            for spelling in spellings(&words[start..words.len().min(start + WORDS_MAX)]) {
                see(&spelling);
            }
        }
        for word in words.iter().filter(|word| word.contains(char::is_whitespace)) {
            look(word, depth + 1, see);
        }
    }
}

/// A command with its flags in front, before or behind its first operand (`git push`): as they were given, and as
/// one group with `r` and `f` first, both ways round. Nothing where there are no flags.
fn spellings(words: &[String]) -> Vec<String> {
    let Some((program, rest)) = words.split_first().filter(|(program, _)| !program.starts_with('-')) else {
        return vec![];
    };
    let program = program.rsplit('/').next().unwrap_or(program);
    let flags_end = rest.iter().position(|word| word == "--").unwrap_or(rest.len());
    let is_flag = |word: &&String| word.len() > 1 && word.starts_with('-');
    let (flags, mut operands): (Vec<&String>, Vec<&String>) = rest[..flags_end].iter().partition(is_flag);
    if flags.is_empty() {
        return vec![];
    }
    operands.extend(rest[flags_end..].iter().skip(1));
    let (mut letters, long) = grouped(program, &flags);
    let mut orders: Vec<Vec<String>> = vec![flags.iter().map(|flag| (*flag).clone()).collect()];
    for first in [['r', 'f'], ['f', 'r']] {
        letters.sort_by_key(|letter| first.iter().position(|f| f == letter).unwrap_or(first.len()));
        let group = (!letters.is_empty()).then(|| format!("-{}", letters.iter().collect::<String>()));
        let apart = letters.iter().map(|letter| format!("-{letter}"));
        orders.push(group.into_iter().chain(long.iter().cloned()).collect());
        orders.push(apart.chain(long.iter().cloned()).collect());
    }
    let mut ways = vec![];
    for flags in &orders {
        for before in 0..=operands.len().min(1) {
            let (first, last) = operands.split_at(before);
            let words = first.iter().copied().chain(flags).chain(last.iter().copied());
            ways.push([program].into_iter().chain(words.map(String::as_str)).collect::<Vec<_>>().join(" "));
        }
    }
    ways
}

/// The letters of all short flags, each once, and the long flags. Those of `rm` that have letters become letters.
fn grouped(program: &str, flags: &[&String]) -> (Vec<char>, Vec<String>) {
    let mut letters = vec![];
    let mut long = vec![];
    for flag in flags {
        match (program, flag.as_str()) {
            ("rm", "--recursive" | "-R") => letters.push('r'),
            ("rm", "--force") => letters.push('f'),
            (_, flag) if flag.starts_with("--") => long.push(flag.to_owned()),
            (_, flag) => letters
                .extend(flag.chars().skip(1).map(|c| if program == "rm" && c == 'R' { 'r' } else { c })),
        }
    }
    letters.sort_unstable();
    letters.dedup();
    (letters, long)
}

/// The simple commands of a text, as words without quotes. What is substituted is a command of its own; what stands
/// in quotes is a word, which is looked at in turn.
fn simple_commands(text: &str) -> Vec<Vec<String>> {
    let text = text.replace("\\\r\n", " ").replace("\\\n", " ").replace("${IFS}", " ").replace("$IFS", " ");
    let mut splitter = Splitter::default();
    let mut rest = text.as_str();
    while let Some(c) = rest.chars().next() {
        let behind = &rest[c.len_utf8()..];
        rest = match c {
            '\\' => {
                let mut chars = behind.chars();
                splitter.word.extend(chars.next());
                chars.as_str()
            }
            '\'' | '"' => match closing(behind, c) {
                Some(end) => {
                    splitter.word.push_str(&unescaped(&behind[..end], c));
                    &behind[end + 1..]
                }
                // An apostrophe in a sentence quotes nothing.
                None => behind,
            },
            '$' if behind.starts_with(['\'', '"']) => behind,
            '$' if behind.starts_with('(') => {
                splitter.end_command();
                &behind[1..]
            }
            '`' | '(' | ')' | '{' | '}' | ';' | '&' | '|' | '\n' | '<' | '>' => {
                splitter.end_command();
                behind
            }
            c if c.is_whitespace() => {
                splitter.end_word();
                behind
            }
            c => {
                splitter.word.push(c);
                behind
            }
        };
    }
    splitter.end_command();
    splitter.commands
}

#[derive(Default)]
struct Splitter {
    commands: Vec<Vec<String>>,
    words: Vec<String>,
    word: String,
}

impl Splitter {
    fn end_word(&mut self) {
        if !self.word.is_empty() {
            self.words.push(std::mem::take(&mut self.word));
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        if !self.words.is_empty() {
            self.commands.push(std::mem::take(&mut self.words));
        }
    }
}

/// Where the quotation ends that begins before `text`.
fn closing(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quote == '"' => escaped = true,
            c if c == quote => return Some(at),
            _ => {}
        }
    }
    None
}

/// Within double quotes a backslash protects a quote or another backslash.
fn unescaped(text: &str, quote: char) -> String {
    if quote == '"' { text.replace("\\\"", "\"").replace("\\\\", "\\") } else { text.to_owned() }
}
