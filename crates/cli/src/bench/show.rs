//! What is being measured, on one line of a terminal.

use std::io::IsTerminal;
use std::io::Write;

use crate::ui::Tone;
use crate::ui::Ui;
use crate::ui::tone;

/// A line that is drawn over; nothing where nobody sits.
pub(crate) struct Show {
    live: bool,
}

impl Show {
    pub(crate) fn new(ui: &Ui) -> Show {
        Show { live: !ui.quiet && std::io::stderr().is_terminal() }
    }

    pub(crate) fn now(&mut self, words: &str) {
        self.draw(&tone(Tone::Faint, format!("measuring {words} ...")));
    }

    pub(crate) fn clear(&mut self) {
        self.draw("");
    }

    fn draw(&self, line: &str) {
        if self.live {
            let mut err = anstream::stderr();
            let _ = write!(err, "\r\x1b[2K{line}");
            let _ = err.flush();
        }
    }
}
