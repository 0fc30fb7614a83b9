//! What attempts printed: journalled with their outcome, and read again for people.

use std::collections::BTreeMap;

use serde::Serialize;
use seriatim_core::failure::Failure;
use seriatim_core::report::Report;
use seriatim_core::time::Utc;
use seriatim_flows::Request;
use seriatim_flows::request::Ran;
use seriatim_journal::EntryRef;
use seriatim_journal::Kind;
use seriatim_journal::RunInfo;
use seriatim_journal::Store;

use super::Driver;
use super::Error;
use super::load::Head;
use super::load::Sort;
use super::note;
use crate::hands::process::Printed;
use crate::job::Address;

/// The key of the note about the output of an attempt begins with this; the key of its call follows.
const PRINTED: &str = "!printed";

impl Driver<'_> {
    /// Journals what an attempt printed, together with its outcome.
    pub(super) fn keep_printed(&mut self, address: &Address, printed: &Printed) {
        let now = self.schedule.now();
        let Some(live) = self.live.get_mut(&address.run) else { return };
        match note(&self.door, &format!("{PRINTED}{}", address.key), now, printed) {
            Ok(entry) => live.entries.push(entry),
            Err(error) => self.listener.warn(&format!("the output of an attempt cannot be kept: {error}")),
        }
    }
}

/// Who made an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Worker {
    Agent {
        step: String,
        role: String,
        phase: String,
        attempt: u32,
    },
    /// The engine itself: a gate, or another command.
    Command {
        argv: Vec<String>,
    },
}

/// One attempt of a run, and what it printed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KeptAttempt {
    #[serde(flatten)]
    pub worker: Worker,
    pub title: String,
    pub began: Utc,
    /// When it ended; absent while it is under way.
    pub ended: Option<Utc>,
    /// The exit code of a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    /// What the agent reported: a claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<Report>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    #[serde(skip_serializing_if = "Printed::is_empty")]
    pub printed: Printed,
}

/// Reads every attempt of a run: of its agents, and of the commands that the engine ran.
pub fn attempts(store: &Store, info: &RunInfo) -> Result<Vec<KeptAttempt>, Error> {
    let mut reading = Reading::default();
    let mut problem = None;
    store.load(info.id, |entry| {
        if problem.is_none()
            && let Err(error) = reading.take(&entry)
        {
            let what = error.to_string();
            problem = Some(Error::Unreadable { run: info.name.clone(), seq: entry.seq, what });
        }
    })?;
    match problem {
        Some(error) => Err(error),
        None => Ok(reading.attempts),
    }
}

#[derive(Default)]
struct Reading {
    attempts: Vec<KeptAttempt>,
    /// The place of each by its key.
    at: BTreeMap<String, usize>,
}

impl Reading {
    fn take(&mut self, entry: &EntryRef<'_>) -> Result<(), serde_json::Error> {
        // What was erased has nothing to tell any more.
        let Some(body) = entry.body else { return Ok(()) };
        match entry.kind {
            Kind::Intent => self.begin(entry, body),
            Kind::Outcome => self.end(entry, body),
            Kind::Note => {
                if let Some(attempt) = entry.key.strip_prefix(PRINTED).and_then(|key| self.find(key)) {
                    attempt.printed = serde_json::from_slice(body)?;
                }
                Ok(())
            }
            Kind::Start | Kind::Fact | Kind::End => Ok(()),
        }
    }

    fn find(&mut self, key: &str) -> Option<&mut KeptAttempt> {
        self.at.get(key).and_then(|index| self.attempts.get_mut(*index))
    }

    fn begin(&mut self, entry: &EntryRef<'_>, body: &[u8]) -> Result<(), serde_json::Error> {
        match serde_json::from_slice::<Head>(body)?.sort {
            Sort::Agent | Sort::Exec => {}
            Sort::Ids | Sort::Other => return Ok(()),
        }
        let (worker, title) = match serde_json::from_slice(body)? {
            Request::Agent(work) => {
                let worker = Worker::Agent {
                    step: work.brief.step,
                    role: work.brief.role,
                    phase: work.phase,
                    attempt: work.brief.attempt,
                };
                (worker, work.title)
            }
            Request::Exec(command) => {
                let title = command.argv.join(" ");
                (Worker::Command { argv: command.argv }, title)
            }
            _ => return Ok(()),
        };
        self.at.insert(entry.key.to_owned(), self.attempts.len());
        self.attempts.push(KeptAttempt {
            worker,
            title,
            began: entry.at,
            ended: None,
            exit: None,
            report: None,
            failure: None,
            printed: Printed::default(),
        });
        Ok(())
    }

    fn end(&mut self, entry: &EntryRef<'_>, body: &[u8]) -> Result<(), serde_json::Error> {
        let Some(attempt) = self.find(entry.key) else { return Ok(()) };
        attempt.ended = Some(entry.at);
        match &attempt.worker {
            Worker::Agent { .. } => match serde_json::from_slice::<Result<Report, Failure>>(body)? {
                Ok(report) => attempt.report = Some(report),
                Err(failure) => attempt.failure = Some(failure),
            },
            Worker::Command { .. } => match serde_json::from_slice::<Result<Ran, Failure>>(body)? {
                Ok(ran) => {
                    attempt.exit = ran.code;
                    let (stdout, stderr, file) = (ran.stdout, ran.stderr, ran.file);
                    attempt.printed = Printed { stdout, stderr, file, ..Printed::default() };
                }
                Err(failure) => attempt.failure = Some(failure),
            },
        }
        Ok(())
    }
}
