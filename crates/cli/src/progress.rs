//! Progress while agents work: which step, since when, how long it may take, the last line of output.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::io::Write;
use std::time::Instant;

use seriatim_core::time::span_in_words;
use seriatim_engine::job::Address;
use seriatim_engine::job::Job;
use seriatim_flows::Request;

use crate::render::table::cut;
use crate::ui::Tone;
use crate::ui::tone;

struct Work {
    title: String,
    since: Instant,
    at_most_ms: Option<u64>,
    last: String,
}

/// What is under way, shown on one line that is drawn over and over.
pub(crate) struct Progress {
    work: BTreeMap<Address, Work>,
    live: bool,
    drawn: bool,
    silent: bool,
}

impl Progress {
    pub(crate) fn new(silent: bool) -> Progress {
        let live = !silent && std::io::stderr().is_terminal();
        Progress { work: BTreeMap::new(), live, drawn: false, silent }
    }

    pub(crate) fn began(&mut self, job: &Job) {
        let (title, at_most_ms) = match &job.request {
            Request::Agent(work) => {
                let agent = job.config.config.agent(&work.agents);
                (work.title.clone(), agent.map(|(_, a)| a.timeout_ms))
            }
            Request::Exec(command) => (command.argv.join(" "), command.timeout_ms),
            _ => return,
        };
        if !self.live && !self.silent {
            self.say(&format!("{} {title}\n", tone(Tone::Faint, "begun:")));
        }
        let work = Work { title, since: Instant::now(), at_most_ms, last: String::new() };
        self.work.insert(job.address.clone(), work);
    }

    pub(crate) fn line(&mut self, address: &Address, line: &str) {
        if let Some(work) = self.work.get_mut(address)
            && !line.trim().is_empty()
        {
            work.last = line.trim().to_owned();
        }
    }

    pub(crate) fn finished(&mut self, address: &Address) {
        let Some(work) = self.work.remove(address) else { return };
        let took = span_in_words(u64::try_from(work.since.elapsed().as_millis()).unwrap_or(u64::MAX));
        self.clear();
        if !self.silent {
            self.say(&format!(
                "{} {} {}\n",
                tone(Tone::Good, "ended:"),
                work.title,
                tone(Tone::Faint, format!("({took})"))
            ));
        }
    }

    pub(crate) fn draw(&mut self) {
        if !self.live || self.work.is_empty() {
            return;
        }
        let parts: Vec<String> = self.work.values().map(describe).collect();
        let line = cut(&parts.join("  |  "), 110);
        self.say(&format!("\r\x1b[2K{}", tone(Tone::Faint, line)));
        self.drawn = true;
    }

    /// Takes the line away, so that other words can be said.
    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            self.say("\r\x1b[2K");
        }
    }

    fn say(&self, text: &str) {
        let mut err = anstream::stderr();
        let _ = write!(err, "{text}");
        let _ = err.flush();
    }
}

fn describe(work: &Work) -> String {
    let seconds = work.since.elapsed().as_secs();
    let since = if seconds == 0 { "just begun".to_owned() } else { span_in_words(seconds * 1000) };
    let mut text = format!("{} · {since}", work.title);
    if let Some(at_most) = work.at_most_ms {
        text.push_str(&format!(", at most {}", span_in_words(at_most)));
    }
    if !work.last.is_empty() {
        text.push_str(&format!(" · {}", work.last));
    }
    text
}
