//! Taking a run up again from its journal.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Deserialize;
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use seriatim_core::config::PinnedConfig;
use seriatim_core::failure::Failure;
use seriatim_core::hash::Hash;
use seriatim_core::projection::Fact;
use seriatim_core::time::Utc;
use seriatim_flows::Known;
use seriatim_flows::Past;
use seriatim_flows::Request;
use seriatim_flows::Run;
use seriatim_flows::Switch;
use seriatim_flows::Turn;
use seriatim_flows::registry::Ended;
use seriatim_flows::registry::Flow;
use seriatim_flows::registry::Registry;
use seriatim_flows::request::FreshIds;
use seriatim_journal::EntryRef;
use seriatim_journal::Kind;
use seriatim_journal::Lease;
use seriatim_journal::NewEntry;
use seriatim_journal::OpenFilter;
use seriatim_journal::OpenKind;
use seriatim_journal::RunInfo;
use seriatim_journal::Store;

use super::Error;
use super::configuration::CONFIGURED;
use super::configuration::ConfigDecision;
use super::human;
use super::live::AgentCall;
use super::live::Live;
use super::live::Opened;
use super::live::Where;
use super::live::fact_data;
use super::live::note_agent;
use super::live::note_cut_off;
use crate::schedule::Schedule;

/// The body of a run's first entry: everything the flow is started with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Start {
    pub flow: String,
    pub flow_version: u32,
    pub input: Value,
    /// The configuration that the run is carried out with; runs from before it was recorded have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<PinnedConfig>,
}

/// What a request is, without the rest of it.
#[derive(Deserialize)]
pub(super) struct Head {
    #[serde(rename = "do")]
    pub(super) sort: Sort,
}

/// The requests that taking a run up needs to know before it needs their content.
#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Sort {
    Agent,
    Exec,
    Ids,
    #[serde(other)]
    Other,
}

/// What the journal says about one run.
#[derive(Default)]
pub struct History {
    pub start: Option<Start>,
    pub past: Past,
    pub facts: Vec<Fact>,
    pub ended: Option<Ended>,
    /// Intents without outcome: when they were made, and the request.
    pub open: BTreeMap<String, (Utc, Hash, Vec<u8>)>,
    agents: Vec<AgentCall>,
    /// Keys of calls of agents without outcome.
    at_work: BTreeSet<String>,
    /// Keys and requests of every call for fresh ids.
    ids: Vec<(String, Vec<u8>)>,
    /// Somebody cancelled the run; its epilogue may still be under way.
    pub cancelled: bool,
    /// It was ended without its program, so that nothing of its end can be replayed.
    ended_on_record: bool,
    /// The configuration that holds: the one of the start, or the last that a person put in its place.
    pub config: Option<PinnedConfig>,
    /// What people decided about configurations that differed, in order.
    pub decisions: Vec<ConfigDecision>,
    /// Configurations that took the place of the recorded one, and the calls made before each.
    switches: Vec<Switch>,
}

/// The key under which the epilogue of a cancelled run makes its calls.
pub(super) const EPILOGUE: &str = "!cancel";

impl History {
    /// Reads a run, its chain checked on the way.
    pub fn read(store: &Store, info: &RunInfo) -> Result<History, Error> {
        let mut history = History::default();
        let mut problem = None;
        store.load(info.id, |entry| {
            if problem.is_none()
                && let Err(what) = history.take(&entry)
            {
                problem = Some(Error::Unreadable { run: info.name.clone(), seq: entry.seq, what });
            }
        })?;
        if let Some(error) = problem {
            return Err(error);
        }
        // Only now: of most requests the outcome is known, and the past is long.
        let open = history.open.iter().map(|(key, (_, hash, _))| (key.clone(), (*hash, Known::Open)));
        history.past.0.extend(open);
        Ok(history)
    }

    fn take(&mut self, entry: &EntryRef<'_>) -> Result<(), String> {
        let body = || entry.body.ok_or_else(|| "its content was erased".to_owned());
        let words = |e: serde_json::Error| e.to_string();
        match entry.kind {
            Kind::Start => {
                let start: Start = serde_json::from_slice(body()?).map_err(words)?;
                self.config.clone_from(&start.config);
                self.start = Some(start);
            }
            Kind::Intent => {
                let body = body()?;
                match serde_json::from_slice::<Head>(body).map_err(words)?.sort {
                    Sort::Agent => {
                        let request = serde_json::from_slice(body).map_err(words)?;
                        note_agent(&mut self.agents, entry.key, &request);
                        self.at_work.insert(entry.key.to_owned());
                    }
                    Sort::Ids => self.ids.push((entry.key.to_owned(), body.to_vec())),
                    Sort::Exec | Sort::Other => {}
                }
                self.open.insert(entry.key.to_owned(), (entry.at, entry.request, body.to_vec()));
            }
            Kind::Outcome => {
                if self.at_work.remove(entry.key) && was_cut_off(body()?) {
                    note_cut_off(&mut self.agents, entry.key);
                }
                let begun = self.open.remove_entry(entry.key);
                let key = begun.map_or_else(|| entry.key.to_owned(), |(key, _)| key);
                self.past.0.insert(key, (entry.request, Known::Done(body()?.to_vec())));
            }
            Kind::Fact => {
                let request: Request = serde_json::from_slice(body()?).map_err(words)?;
                if let Some(data) = fact_data(&request) {
                    self.facts.push(Fact { at: entry.at, data });
                }
                self.past.0.insert(entry.key.to_owned(), (entry.request, Known::Fact));
            }
            Kind::Note if entry.key == EPILOGUE => {
                self.cancelled = true;
                let note: Value = serde_json::from_slice(body()?).map_err(words)?;
                self.ended_on_record = note["on_record"] == true;
            }
            Kind::Note if entry.key == CONFIGURED => {
                self.decide(serde_json::from_slice(body()?).map_err(words)?);
            }
            // What an attempt printed, and what was erased: nothing follows from either.
            Kind::Note => {}
            Kind::End => self.ended = Some(serde_json::from_slice(body()?).map_err(words)?),
        }
        Ok(())
    }

    /// Takes a decision about the configuration in: what is asked for from here on is asked for under it.
    pub(super) fn decide(&mut self, decision: ConfigDecision) {
        if let Some(config) = &decision.config {
            let before = self.past.0.keys().chain(self.open.keys()).cloned().collect();
            self.switches.push(Switch { config: Arc::new(config.config.clone()), before });
            self.config = Some(config.clone());
        }
        self.decisions.push(decision);
    }

    /// The flow that the run is pinned to.
    pub fn flow(&self, registry: &Registry, info: &RunInfo) -> Result<(&'static Flow, Value), Error> {
        let start = self.start.clone().ok_or_else(|| Error::Unreadable {
            run: info.name.clone(),
            seq: 0,
            what: "the run has no first entry".to_owned(),
        })?;
        let flow = registry.flow(&start.flow, start.flow_version).ok_or(Error::UnknownFlow {
            run: info.name.clone(),
            flow: start.flow,
            version: start.flow_version,
        })?;
        Ok((flow, start.input))
    }

    /// Every call for fresh ids, by the marker of its job.
    pub(super) fn reserved(&self, run_name: &str) -> Vec<(String, FreshIds)> {
        let calls = self.ids.iter().filter_map(|(key, body)| match serde_json::from_slice(body) {
            Ok(Request::Ids(wanted)) => Some((format!("{run_name}{key}"), wanted)),
            _ => None,
        });
        calls.collect()
    }

    /// The coroutine over this past: the flow itself, or its epilogue when it was cancelled.
    pub fn coroutine(&mut self, flow: &'static Flow, input: Value) -> Run<Ended> {
        let switches = std::mem::take(&mut self.switches);
        if !self.cancelled {
            let run = Run::new(std::mem::take(&mut self.past), |cx| (flow.start)(cx, input));
            return run.with_switches(switches);
        }
        let past = std::mem::take(&mut self.past);
        let prefix = format!("{EPILOGUE}/");
        let ours = past.0.into_iter().filter(|(key, _)| key.starts_with(&prefix)).collect();
        self.open.retain(|key, _| key.starts_with(&prefix));
        Run::below(EPILOGUE, Past(ours), |cx| (flow.cancelled)(cx, input)).with_switches(switches)
    }
}

/// Whether the engine's own end cut this attempt of an agent off.
fn was_cut_off(outcome: &[u8]) -> bool {
    serde_json::from_slice::<Result<IgnoredAny, Failure>>(outcome)
        .is_ok_and(|outcome| outcome.is_err_and(|failure| failure.interrupted))
}

/// A run that is about to be live: what the journal has of it, and the configuration that it goes on with.
pub(super) struct Begun {
    pub(super) lease: Lease,
    pub(super) history: History,
    pub(super) flow: &'static Flow,
    pub(super) input: Value,
    pub(super) config: Arc<PinnedConfig>,
}

/// A run that is live again, and what its files follow from.
pub(super) struct TakenUp {
    pub(super) live: Live,
    pub(super) flow: &'static Flow,
    pub(super) input: Value,
    pub(super) facts: Vec<Fact>,
    /// Ids that nothing will come of any more.
    pub(super) reserved: Vec<(String, FreshIds)>,
}

/// Builds the live run: finished calls are answered from the journal, interrupted ones are dealt with by what
/// they are.
pub(super) fn take_up(
    store: &Store,
    info: &RunInfo,
    begun: Begun,
    schedule: &mut dyn Schedule,
) -> Result<TakenUp, Error> {
    let Begun { lease, mut history, flow, input, config } = begun;
    let with_people = with_people(store, info)?;
    let mut projector = (flow.projector)(&input);
    for fact in &history.facts {
        projector.apply(fact);
    }
    let mut open = std::mem::take(&mut history.open);
    if history.cancelled {
        // What the flow wanted before it was cancelled is not done any more.
        open.retain(|key, _| key.starts_with(EPILOGUE));
    }
    let reserved = if history.cancelled { history.reserved(&info.name) } else { vec![] };
    let (mut opened, mut entries, mut close) = (BTreeMap::new(), vec![], vec![]);
    let now = schedule.now();
    for (key, (at, hash, body)) in open {
        let request: Request = serde_json::from_slice(&body).map_err(|e| Error::Unreadable {
            run: info.name.clone(),
            seq: 0,
            what: format!("the request at {key}: {e}"),
        })?;
        let with_person = with_people.contains(&key);
        let place = match &request {
            Request::Ask(_) | Request::Wait { .. } => Where::Parked,
            Request::Agent(_) if with_person && human(&config.config, &request).is_some() => Where::Parked,
            Request::Sleep { ms } => Where::Timer(at.plus_ms(*ms)),
            _ => Where::New,
        };
        if place == Where::Parked {
            history.past.0.insert(key.clone(), (hash, Known::Parked));
        }
        let crashed = place == Where::New && matches!(request, Request::Agent(_));
        if crashed {
            let outcome: Result<(), Failure> = Err(Failure::interrupted());
            let body = store.clean(serde_json::to_vec(&outcome).unwrap_or_default());
            history.past.0.insert(key.clone(), (hash, Known::Done(body.as_bytes().to_vec())));
            entries.push(NewEntry { kind: Kind::Outcome, key: key.clone(), request: hash, at: now, body });
            note_cut_off(&mut history.agents, &key);
            // A person had it under the earlier configuration; another agent has it now.
            close.extend(with_person.then(|| key.clone()));
        }
        let calls_before = history.agents.len();
        opened.insert(key, (Opened { request, hash, at, place, calls_before }, crashed));
    }
    let ended = history.ended.take();
    let run = history.coroutine(flow, input.clone());
    let mut live = Live {
        lease,
        name: info.name.clone(),
        flow,
        input: input.clone(),
        run,
        projector,
        entries,
        close,
        config,
        consumed: vec![],
        open: BTreeMap::new(),
        agents: history.agents,
        news: true,
        told: (info.status, info.waiting_for.clone()),
        ended,
    };
    for (key, (opened, crashed)) in opened {
        let job = live.job(&key, &opened);
        if opened.place == Where::New {
            schedule.clear(&job);
        }
        if !crashed {
            live.open.insert(key, opened);
        }
    }
    Ok(TakenUp { live, flow, input, facts: history.facts, reserved })
}

/// The keys of the assignments that wait for people.
fn with_people(store: &Store, info: &RunInfo) -> Result<BTreeSet<String>, Error> {
    let filter = OpenFilter { run: Some(info.id), kind: Some(OpenKind::Assignment), ..OpenFilter::default() };
    Ok(store.open_calls(&filter)?.into_iter().map(|open| open.key).collect())
}

/// Runs the flow over its journal again: it must make the same requests, no new ones, and end as it ended.
pub fn replay(flow: &'static Flow, input: Value, mut history: History) -> Result<(), String> {
    if history.ended_on_record {
        return Ok(());
    }
    let ended = history.ended.take();
    let mut run = history.coroutine(flow, input);
    match (run.turn(), ended) {
        (Turn::Halted(halt), _) => Err(halt.to_string()),
        (Turn::Done(calls, value), Some(ended)) if calls.is_empty() => {
            if value == ended {
                Ok(())
            } else {
                Err("the replay ends otherwise than the record says".to_owned())
            }
        }
        (Turn::Waits(calls), None) if calls.is_empty() => Ok(()),
        // The engine died after an outcome was journalled and before the flow went on: nothing is wrong.
        (Turn::Waits(_) | Turn::Done(..), None) => Ok(()),
        (Turn::Waits(_) | Turn::Done(..), Some(_)) => {
            Err("the replay does not come to the end that the record says".to_owned())
        }
    }
}
