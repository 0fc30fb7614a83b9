//! Where words go: stdout is data, stderr is talk. Everything can be read without colour.

use std::fmt::Display;
use std::io::IsTerminal;
use std::io::Write;

use anstyle::AnsiColor;
use anstyle::Style;
use serde::Serialize;

use crate::error::CommandError;
use crate::exit::Exit;
use crate::inside::Caller;

/// How to talk to whoever called.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ui {
    pub(crate) json: bool,
    pub(crate) quiet: bool,
    pub(crate) verbose: bool,
}

/// What colours mean. Words carry the same meaning, so that nothing is lost without them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tone {
    Good,
    Bad,
    Attention,
    Faint,
    Strong,
}

impl Tone {
    fn style(self) -> Style {
        match self {
            Tone::Good => AnsiColor::Green.on_default(),
            Tone::Bad => AnsiColor::Red.on_default().bold(),
            Tone::Attention => AnsiColor::Yellow.on_default(),
            Tone::Faint => Style::new().dimmed(),
            Tone::Strong => Style::new().bold(),
        }
    }
}

/// Words in a tone; the stream decides whether colour is shown.
pub(crate) fn tone(tone: Tone, words: impl Display) -> String {
    let style = tone.style();
    format!("{style}{words}{style:#}")
}

impl Ui {
    /// A line for people, on stdout; nothing in JSON mode.
    pub(crate) fn say(&self, line: impl Display) {
        if !self.json {
            // A reader that has gone away (`| head`) is no error of ours.
            let _ = writeln!(anstream::stdout(), "{line}");
        }
    }

    /// The same, left out with `--quiet`.
    pub(crate) fn tell(&self, line: impl Display) {
        if !self.quiet {
            self.say(line);
        }
    }

    /// A line on stderr, as it is.
    pub(crate) fn note(&self, line: impl Display) {
        let _ = writeln!(anstream::stderr(), "{line}");
    }

    /// Talk, on stderr.
    pub(crate) fn warn(&self, line: impl Display) {
        let _ = writeln!(anstream::stderr(), "{} {line}", tone(Tone::Attention, "warning:"));
    }

    /// The one document of JSON mode.
    pub(crate) fn document(&self, document: &impl Serialize) {
        if self.json {
            self.line(document);
        }
    }

    /// One JSON value on a line.
    pub(crate) fn line(&self, value: &impl Serialize) {
        // In one piece: stdout itself would pass a long list on by the kilobyte.
        let Ok(mut text) = serde_json::to_vec(value) else { return };
        text.push(b'\n');
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(&text);
        let _ = out.flush();
    }

    /// An error: what, why, how to mend it.
    pub(crate) fn error(&self, error: &CommandError) -> Exit {
        let mut err = anstream::stderr();
        let _ = writeln!(err, "{} {}", tone(Tone::Bad, "error:"), error.message);
        for hint in &error.hints {
            let _ = writeln!(err, "{} {hint}", tone(Tone::Faint, "help:"));
        }
        if self.json {
            self.line(&serde_json::json!({
                "error": {"message": error.message, "help": error.hints, "exit": error.exit as u8}
            }));
        }
        error.exit
    }

    /// Whether a person sits at the other end of both streams. An agent may have a terminal too, and is none.
    pub(crate) fn interactive(&self) -> bool {
        let is_person = matches!(Caller::of_process(), Caller::Person);
        is_person && !self.json && std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }
}
