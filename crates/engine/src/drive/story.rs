//! A run as a story: everything that happened in it, from its first to its last entry, in order.
//!
//! [`History`](super::History) is what a run is continued from; a story is what people read. It is made from the same
//! entries, whatever the dialect, and an entry that cannot be read spoils that entry alone.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use seriatim_core::config::Kind as AgentKind;
use seriatim_core::config::PinnedConfig;
use seriatim_core::failure::Failure;
use seriatim_core::projection::Fact;
use seriatim_core::question::Answer;
use seriatim_core::question::Question;
use seriatim_core::report::Report;
use seriatim_core::time::Utc;
use seriatim_core::world::Isolation;
use seriatim_flows::Request;
use seriatim_flows::registry::Ended;
use seriatim_flows::request::Assignment;
use seriatim_flows::request::Done;
use seriatim_flows::request::Ran;
use seriatim_flows::request::Signal;
use seriatim_journal::EntryRef;
use seriatim_journal::Kind;
use seriatim_journal::RunInfo;
use seriatim_journal::Store;

use super::ConfigDecision;
use super::Error;
use super::configuration::CONFIGURED;
use super::live::fact_data;
use super::load::EPILOGUE;
use super::load::Start;

/// Everything that happened in a run.
#[derive(Debug, Default)]
pub struct Story {
    pub start: Option<Start>,
    pub events: Vec<StoryEvent>,
    pub ended: Option<(Utc, Ended)>,
    /// How many entries could not be read.
    pub unreadable: u64,
    open: BTreeMap<String, (Utc, Opened)>,
    /// The configuration that holds at the entry that is read.
    config: Option<PinnedConfig>,
}

/// One event.
#[derive(Debug)]
pub struct StoryEvent {
    pub at: Utc,
    /// The entry of the journal that tells it.
    pub entry: u64,
    pub what: Happening,
}

/// What happened.
#[derive(Debug)]
pub enum Happening {
    /// The dialect put a fact on record.
    Fact(Value),
    /// An agent or a person was given work.
    Called(AgentWork),
    Reported {
        work: AgentWork,
        began: Utc,
        report: Box<Report>,
    },
    Failed {
        work: AgentWork,
        began: Utc,
        failure: Box<Failure>,
    },
    Asked(Box<Question>),
    Answered {
        question: Box<Question>,
        answer: Answer,
    },
    /// The engine ran a command itself.
    Ran {
        command: Vec<String>,
        began: Utc,
        result: Box<Done<Ran>>,
    },
    /// The run waits for a signal of this name.
    Suspended {
        signal: String,
    },
    Resumed(Signal),
    Cancelled {
        by: String,
    },
    /// A person decided which configuration the run goes on with.
    Configured(Box<ConfigDecision>),
}

/// The work that an agent was given, in a few words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentWork {
    pub title: String,
    pub step: String,
    pub role: String,
    pub phase: String,
    pub attempt: u32,
    /// A person or a live session does it.
    pub by_hand: bool,
    /// A program does it in the workspace itself, by the word of the configuration.
    pub bare: bool,
}

enum Opened {
    Agent(AgentWork),
    Ask(Box<Question>),
    Exec(Vec<String>),
    Wait,
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Opened::Agent(_) => "Agent",
            Opened::Ask(_) => "Ask",
            Opened::Exec(_) => "Exec",
            Opened::Wait => "Wait",
        })
    }
}

#[derive(Deserialize)]
struct CancelledBy {
    cancelled_by: String,
}

impl Story {
    /// Reads a run, its chain checked on the way.
    pub fn read(store: &Store, info: &RunInfo) -> Result<Story, Error> {
        let mut story = Story::default();
        store.load(info.id, |entry| {
            if story.take(&entry).is_none() {
                story.unreadable += 1;
            }
        })?;
        Ok(story)
    }

    /// Returns the facts of the dialect.
    pub fn facts(&self) -> Vec<Fact> {
        let facts = self.events.iter().filter_map(|event| match &event.what {
            Happening::Fact(data) => Some(Fact { at: event.at, data: data.clone() }),
            _ => None,
        });
        facts.collect()
    }

    fn take(&mut self, entry: &EntryRef<'_>) -> Option<()> {
        let body = entry.body?;
        match entry.kind {
            Kind::Start => {
                let start: Start = serde_json::from_slice(body).ok()?;
                self.config.clone_from(&start.config);
                self.start = Some(start);
            }
            Kind::Intent => self.open(entry, serde_json::from_slice(body).ok()?),
            Kind::Outcome => self.close(entry, body)?,
            Kind::Fact => {
                let request: Request = serde_json::from_slice(body).ok()?;
                if let Some(data) = fact_data(&request) {
                    self.tell(entry, Happening::Fact(data));
                }
            }
            Kind::Note if entry.key == EPILOGUE => {
                let note: CancelledBy = serde_json::from_slice(body).ok()?;
                self.tell(entry, Happening::Cancelled { by: note.cancelled_by });
            }
            Kind::Note if entry.key == CONFIGURED => {
                let decision: ConfigDecision = serde_json::from_slice(body).ok()?;
                if decision.config.is_some() {
                    self.config.clone_from(&decision.config);
                }
                self.tell(entry, Happening::Configured(Box::new(decision)));
            }
            Kind::Note => {}
            Kind::End => self.ended = Some((entry.at, serde_json::from_slice(body).ok()?)),
        }
        Some(())
    }

    fn tell(&mut self, entry: &EntryRef<'_>, what: Happening) {
        self.events.push(StoryEvent { at: entry.at, entry: entry.seq, what });
    }

    fn open(&mut self, entry: &EntryRef<'_>, request: Request) {
        let opened = match request {
            Request::Agent(assignment) => {
                let work = AgentWork::of(&assignment, self.config.as_ref());
                self.tell(entry, Happening::Called(work.clone()));
                Opened::Agent(work)
            }
            Request::Ask(question) => {
                self.tell(entry, Happening::Asked(Box::new(question.clone())));
                Opened::Ask(Box::new(question))
            }
            Request::Wait { signal } => {
                self.tell(entry, Happening::Suspended { signal });
                Opened::Wait
            }
            Request::Exec(command) => Opened::Exec(command.argv),
            _ => return,
        };
        self.open.insert(entry.key.to_owned(), (entry.at, opened));
    }

    fn close(&mut self, entry: &EntryRef<'_>, body: &[u8]) -> Option<()> {
        let Some((began, opened)) = self.open.remove(entry.key) else { return Some(()) };
        let what = match opened {
            Opened::Agent(work) => match serde_json::from_slice::<Done<Report>>(body).ok()? {
                Ok(report) => Happening::Reported { work, began, report: Box::new(report) },
                Err(failure) => Happening::Failed { work, began, failure: Box::new(failure) },
            },
            Opened::Ask(question) => {
                Happening::Answered { question, answer: serde_json::from_slice(body).ok()? }
            }
            Opened::Exec(command) => {
                Happening::Ran { command, began, result: Box::new(serde_json::from_slice(body).ok()?) }
            }
            Opened::Wait => Happening::Resumed(serde_json::from_slice(body).ok()?),
        };
        self.tell(entry, what);
        Some(())
    }
}

impl AgentWork {
    /// Describes the work of an assignment under a configuration.
    pub fn of(assignment: &Assignment, config: Option<&PinnedConfig>) -> AgentWork {
        let brief = &assignment.brief;
        let by_hand = assignment.by_hand || assignment.attach;
        // A dry run works in a copy that is thrown away.
        let agent = config.filter(|_| !by_hand && !assignment.rehearsal);
        let agent = agent.and_then(|pinned| pinned.config.agent(&assignment.agents));
        let bare = agent.is_some_and(|(_, agent)| {
            matches!(agent.kind, AgentKind::Command { .. }) && agent.isolation == Some(Isolation::None)
        });
        AgentWork {
            title: assignment.title.clone(),
            step: brief.step.clone(),
            role: brief.role.clone(),
            phase: assignment.phase.clone(),
            attempt: brief.attempt,
            by_hand,
            bare,
        }
    }
}
