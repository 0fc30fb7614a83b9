//! Asking in place: a question on the terminal, an answer by number or word.

use std::io::BufRead;
use std::io::Write;

use rustix::event::PollFd;
use rustix::event::PollFlags;
use rustix::event::Timespec;
use rustix::event::poll;
use seriatim_core::question::Question;
use seriatim_engine::listen::Posed;
use seriatim_engine::listen::Said;

use crate::error::CommandError;
use crate::error::Result;
use crate::render;
use crate::ui::Tone;
use crate::ui::Ui;
use crate::ui::tone;

/// How often the prompt looks whether somebody else has answered.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 300_000_000 };

fn say(text: &str) {
    let mut err = anstream::stderr();
    let _ = write!(err, "{text}");
    let _ = err.flush();
}

/// Puts the question. `None` when the person leaves it for later, or it was answered elsewhere.
pub(crate) fn ask(
    posed: &Posed,
    isolation: Option<&str>,
    elsewhere: &mut dyn FnMut() -> bool,
) -> Option<Said> {
    let question = &posed.question;
    let body = render::question::body(question, isolation);
    say(&format!("\n{body}\n\n{}\n\n", render::question::numbered(question)));
    loop {
        say(&format!("{} ", tone(Tone::Strong, "Your choice (number or word, empty to decide later):")));
        let typed = read_line(elsewhere)?;
        let typed = typed.trim();
        if typed.is_empty() {
            return None;
        }
        let Some(choice) = chosen(question, typed) else {
            say(&format!("`{typed}` is not one of the options.\n"));
            continue;
        };
        let needs = question.options.iter().any(|o| o.id == choice && o.needs_text);
        let mut text = None;
        if needs || question.free_text {
            let ask = if needs { "In a few words:" } else { "A few words (empty for none):" };
            say(&format!("{} ", tone(Tone::Strong, ask)));
            text = Some(read_line(elsewhere)?.trim().to_owned()).filter(|t| !t.is_empty());
        }
        return Some(Said { choice, text, by: crate::session::whoami() });
    }
}

fn chosen(question: &Question, typed: &str) -> Option<String> {
    if let Ok(n) = typed.parse::<usize>() {
        return question.options.get(n.checked_sub(1)?).map(|o| o.id.clone());
    }
    let same = |s: &str| s.eq_ignore_ascii_case(typed);
    question.options.iter().find(|o| same(&o.id) || same(&o.label)).map(|o| o.id.clone())
}

/// Asks whether something shall be done. Where nobody can be asked, the answer has to be given beforehand.
pub(crate) fn agreed(ui: &Ui, question: &str) -> Result<bool> {
    if !ui.interactive() {
        return Err(CommandError::usage("nobody can be asked here, so nothing was changed")
            .hint("add --yes to agree to the changes above beforehand"));
    }
    say(&format!("{} ", tone(Tone::Strong, format!("{question} [y/N]"))));
    let mut typed = String::new();
    // An end of the input is no consent.
    let _ = std::io::stdin().lock().read_line(&mut typed);
    Ok(matches!(typed.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// A line from the terminal, unless the input ends or the question is answered elsewhere first.
fn read_line(elsewhere: &mut dyn FnMut() -> bool) -> Option<String> {
    let stdin = std::io::stdin();
    loop {
        let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
        match poll(&mut fds, Some(&LOOK)) {
            Ok(0) => {
                if elsewhere() {
                    say("\nThis was answered elsewhere.\n");
                    return None;
                }
            }
            Ok(_) => break,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
        }
    }
    let mut line = String::new();
    match stdin.lock().read_line(&mut line) {
        Ok(n) if n > 0 => Some(line),
        _ => None,
    }
}
