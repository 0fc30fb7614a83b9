//! One run under way: its coroutine, its open calls, and one step after the other.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use seriatim_core::config::PinnedConfig;
use seriatim_core::failure::Failure;
use seriatim_core::hash::Hash;
use seriatim_core::projection::Fact;
use seriatim_core::projection::Image;
use seriatim_core::projection::Projector;
use seriatim_core::question::Question;
use seriatim_core::time::Utc;
use seriatim_flows::Call;
use seriatim_flows::Halt;
use seriatim_flows::Request;
use seriatim_flows::Run;
use seriatim_flows::Turn;
use seriatim_flows::registry::End;
use seriatim_flows::registry::Ended;
use seriatim_flows::registry::Flow;
use seriatim_journal::Append;
use seriatim_journal::Door;
use seriatim_journal::Kind;
use seriatim_journal::Lease;
use seriatim_journal::NewEntry;
use seriatim_journal::OpenCall;
use seriatim_journal::OpenKind;
use seriatim_journal::Status;

use crate::job::Address;
use crate::job::CallOf;
use crate::job::Job;
use crate::job::Told;
use crate::perform::Stuck;

/// An open call, and who has it.
#[derive(Clone, Debug)]
pub(super) struct Opened {
    pub(super) request: Request,
    pub(super) hash: Hash,
    pub(super) at: Utc,
    pub(super) place: Where,
    /// How many agent calls the run had made before this one.
    pub(super) calls_before: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Where {
    /// Not begun yet.
    New,
    /// With the hands.
    AtWork,
    /// The hands have it and were told to stop.
    Stopping,
    /// The hands had it and gave it back without a result.
    Stopped,
    /// With a person, or waiting for a signal.
    Parked,
    /// Until that time.
    Timer(Utc),
}

/// A run that this process holds.
pub(super) struct Live {
    pub(super) lease: Lease,
    pub(super) name: String,
    /// The configuration that the run recorded, or that a person put in its place.
    pub(super) config: Arc<PinnedConfig>,
    /// The dialect's program, and what it was started with.
    pub(super) flow: &'static Flow,
    pub(super) input: Value,
    pub(super) run: Run<Ended>,
    pub(super) projector: Box<dyn Projector>,
    /// Entries that wait for the next commit: outcomes that have come, and marks of the engine.
    pub(super) entries: Vec<NewEntry>,
    /// Keys of open rows to close with the next commit.
    pub(super) close: Vec<String>,
    /// Signals that the next commit uses up.
    pub(super) consumed: Vec<i64>,
    pub(super) open: BTreeMap<String, Opened>,
    /// Step and role of every agent call so far.
    pub(super) agents: Vec<AgentCall>,
    /// Something has come since the last turn.
    pub(super) news: bool,
    /// How it stands in the journal, and what it waits for there.
    pub(super) told: (Status, String),
    /// It ended before this process took it up.
    pub(super) ended: Option<Ended>,
}

/// What one step of a run leads to.
pub(super) struct Step {
    pub(super) images: Vec<Image>,
    pub(super) facts: Vec<Fact>,
    pub(super) ended: Option<Ended>,
    /// The run has nothing at work and is given back with this commit.
    pub(super) parked: bool,
}

/// Why a step cannot be made.
#[derive(Debug)]
pub(super) enum NoStep {
    Halted(Halt),
    Stuck(Stuck),
}

/// Answers what needs no journal entry before it is done.
pub(super) type Inline<'a> = dyn FnMut(&Job) -> Option<Result<Vec<u8>, Stuck>> + 'a;

impl Live {
    pub(super) fn address(&self, key: &str) -> Address {
        Address { run: self.lease.run, key: key.to_owned() }
    }

    pub(super) fn job(&self, key: &str, opened: &Opened) -> Job {
        Job {
            address: self.address(key),
            run_name: self.name.clone(),
            config: self.config.clone(),
            request: opened.request.clone(),
            at: opened.at,
            earlier: self
                .agents
                .iter()
                .take(opened.calls_before)
                .filter(|call| !call.cut_off)
                .map(|call| call.call.clone())
                .collect(),
            told: Told::default(),
        }
    }

    /// The outcome of an open call has come: it is put in, and journalled with the next commit.
    pub(super) fn put(&mut self, door: &Door, key: &str, body: Vec<u8>, at: Utc) {
        let Some(opened) = self.open.remove(key) else { return };
        let clean = door.clean(body);
        self.run.put(key, clean.as_bytes().to_vec());
        if opened.place == Where::Parked {
            self.close.push(key.to_owned());
        }
        self.entries.push(NewEntry {
            kind: Kind::Outcome,
            key: key.to_owned(),
            request: opened.hash,
            at,
            body: clean,
        });
        self.news = true;
    }

    /// Journals how the agents ended that were stopped.
    pub(super) fn cut_off_agents(&mut self, door: &Door, failure: &Failure, at: Utc) {
        let outcome: Result<(), &Failure> = Err(failure);
        let body = serde_json::to_vec(&outcome).unwrap_or_default();
        let stopped = |o: &Opened| matches!(o.place, Where::Stopping | Where::Stopped);
        let agents: Vec<String> = self
            .open
            .iter()
            .filter(|(_, o)| stopped(o) && matches!(o.request, Request::Agent(_)))
            .map(|(key, _)| key.clone())
            .collect();
        for key in agents {
            self.put(door, &key, body.clone(), at);
        }
    }

    /// Turns the flow until it waits for something outside, and gathers all that has to be committed.
    pub(super) fn step(
        &mut self,
        door: &Door,
        now: Utc,
        attended: bool,
        is_human: &dyn Fn(&Request) -> Option<Question>,
        inline: &mut Inline<'_>,
    ) -> Result<(Append, Step), NoStep> {
        self.news = false;
        let (mut facts, mut rows, mut ended) = (vec![], vec![], None);
        loop {
            let (calls, done) = match self.run.turn() {
                Turn::Done(calls, value) => (calls, Some(value)),
                Turn::Waits(calls) => (calls, None),
                Turn::Halted(halt) => return Err(NoStep::Halted(halt)),
            };
            let mut answered = false;
            for call in calls {
                answered |= self.take(door, now, call, &mut facts, &mut rows, is_human, inline)?;
            }
            if done.is_some() {
                ended = done;
                break;
            }
            if !answered {
                break;
            }
        }
        for fact in &facts {
            self.projector.apply(fact);
        }
        let parked = ended.is_none() && !attended && self.is_parked();
        let append = self.append(door, now, rows, ended.as_ref(), parked);
        Ok((append, Step { images: self.projector.changed(), facts, ended, parked }))
    }

    /// One new call: an entry in any case; answered at once, opened for a person, or left for the hands.
    #[expect(clippy::too_many_arguments, reason = "the parts of one step, gathered by the only caller")]
    fn take(
        &mut self,
        door: &Door,
        now: Utc,
        call: Call,
        facts: &mut Vec<Fact>,
        rows: &mut Vec<OpenCall>,
        is_human: &dyn Fn(&Request) -> Option<Question>,
        inline: &mut Inline<'_>,
    ) -> Result<bool, NoStep> {
        let kind = if call.request.is_fact() { Kind::Fact } else { Kind::Intent };
        self.entries.push(NewEntry {
            kind,
            key: call.key.clone(),
            request: call.hash,
            at: now,
            body: door.clean(call.bytes),
        });
        if kind == Kind::Fact {
            if let Some(data) = fact_data(&call.request) {
                facts.push(Fact { at: now, data });
            }
            return Ok(false);
        }
        let calls_before = self.agents.len();
        let mut opened =
            Opened { request: call.request, hash: call.hash, at: now, place: Where::New, calls_before };
        let question = is_human(&opened.request);
        if let Some(row) = open_row(door, &call.key, &opened.request, question.as_ref()) {
            rows.push(row);
            self.run.park(&call.key);
            opened.place = Where::Parked;
        }
        if let Request::Sleep { ms } = &opened.request {
            opened.place = Where::Timer(now.plus_ms(*ms));
        }
        let job = self.job(&call.key, &opened);
        note_agent(&mut self.agents, &call.key, &opened.request);
        let idle = opened.place == Where::New;
        self.open.insert(call.key.clone(), opened);
        match idle.then(|| inline(&job)).flatten() {
            Some(Ok(body)) => {
                self.put(door, &call.key, body, now);
                Ok(true)
            }
            Some(Err(stuck)) => Err(NoStep::Stuck(stuck)),
            None => Ok(false),
        }
    }

    fn append(
        &mut self,
        door: &Door,
        now: Utc,
        open: Vec<OpenCall>,
        ended: Option<&Ended>,
        parked: bool,
    ) -> Append {
        let mut entries = std::mem::take(&mut self.entries);
        let status = match ended {
            Some(end) => {
                let body = serde_json::to_vec(end).unwrap_or_default();
                entries.push(NewEntry {
                    kind: Kind::End,
                    key: String::new(),
                    request: Hash::ZERO,
                    at: now,
                    body: door.clean(body),
                });
                Some((status_of(end.status), String::new()))
            }
            None => self.changed_standing(),
        };
        Append {
            run: self.lease.run,
            token: self.lease.token,
            entries,
            status,
            open,
            close: std::mem::take(&mut self.close),
            consumed: std::mem::take(&mut self.consumed),
            projections: vec![],
            release: parked || ended.is_some(),
        }
    }

    /// Nothing at work, no timer: only people or signals can bring it on.
    pub(super) fn is_parked(&self) -> bool {
        !self.open.is_empty() && self.open.values().all(|o| o.place == Where::Parked)
    }

    /// How the run stands from this commit on; nothing when that is how it stood before.
    fn changed_standing(&mut self) -> Option<(Status, String)> {
        let standing = self.standing();
        if standing == self.told {
            return None;
        }
        self.told.clone_from(&standing);
        Some(standing)
    }

    /// How the run stands between two commits, and what it waits for.
    pub(super) fn standing(&self) -> (Status, String) {
        if !self.is_parked() {
            return (Status::Running, String::new());
        }
        let waits = self.open.values().find_map(|o| match &o.request {
            Request::Ask(question) => Some((Status::Waiting, question.header.clone())),
            Request::Agent(work) => Some((Status::Waiting, work.title.clone())),
            _ => None,
        });
        waits.unwrap_or((Status::Suspended, "somebody to continue it".to_owned()))
    }
}

/// What projections see of a fact.
pub(super) fn fact_data(request: &Request) -> Option<Value> {
    match request {
        Request::Record { fact } => Some(fact.clone()),
        Request::Go(transition) => {
            let mut data = serde_json::to_value(transition).ok()?;
            data.as_object_mut()?.insert("fact".into(), "transition".into());
            Some(data)
        }
        _ => None,
    }
}

/// A call of an agent, as later calls need to know of it.
#[derive(Clone, Debug)]
pub(super) struct AgentCall {
    key: String,
    call: CallOf,
    /// The engine's own end cut it off: nothing came of it, so that the next call is in its place.
    cut_off: bool,
}

pub(super) fn note_agent(agents: &mut Vec<AgentCall>, key: &str, request: &Request) {
    if let Request::Agent(work) = request {
        agents.push(AgentCall { key: key.to_owned(), call: CallOf::new(work), cut_off: false });
    }
}

pub(super) fn note_cut_off(agents: &mut [AgentCall], key: &str) {
    agents.iter_mut().rev().filter(|call| call.key == key).for_each(|call| call.cut_off = true);
}

/// The row by which others find an open question, assignment or wait.
fn open_row(door: &Door, key: &str, request: &Request, human: Option<&Question>) -> Option<OpenCall> {
    let (what, digest, body) = match request {
        Request::Ask(question) => (OpenKind::Question, question.digest(), serde_json::to_vec(question)),
        Request::Agent(_) => {
            let question = human?;
            (OpenKind::Assignment, question.digest(), serde_json::to_vec(question))
        }
        Request::Wait { signal } => {
            (OpenKind::Signal, Hash::of(signal.as_bytes()), serde_json::to_vec(signal))
        }
        _ => return None,
    };
    Some(OpenCall { key: key.to_owned(), kind: what, digest, body: door.clean(body.unwrap_or_default()) })
}

pub(super) fn status_of(end: End) -> Status {
    match end {
        End::Completed => Status::Completed,
        End::Blocked => Status::Blocked,
        End::Failed => Status::Failed,
        End::Cancelled => Status::Cancelled,
    }
}
