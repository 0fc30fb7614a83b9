//! What comes from people and other processes: answers, signals to go on, and the wish to stop.

use serde::Serialize;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::question::Answer;
use seriatim_core::question::Question;
use seriatim_core::time::Utc;
use seriatim_flows::Request;
use seriatim_flows::request::Signal;
use seriatim_journal::Kind;
use seriatim_journal::NewEntry;
use seriatim_journal::OpenFilter;
use seriatim_journal::RunRef;
use seriatim_journal::SignalKind;

use super::Driver;
use super::Error;
use super::Left;
use super::human;
use super::live::Where;
use super::load;
use super::note;
use crate::agents;
use crate::listen::Posed;

/// The body of the note that says who cancelled a run.
#[derive(Serialize)]
pub(super) struct CancelNote<'a> {
    pub(super) cancelled_by: &'a str,
    pub(super) at: Utc,
    /// The run was ended without its program: there is nothing to replay behind this.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) on_record: bool,
}

impl Driver<'_> {
    /// Takes in what other processes left for the runs that this one holds.
    pub(super) fn read_mail(&mut self) -> Result<(), Error> {
        let waits = self.live.values().any(|l| !l.open.is_empty() || l.news);
        // While one commit follows the other, each tells whether anybody else has written; asking costs more.
        let told = self.live.values().any(|l| l.news) && !self.store.met_others();
        if !waits || !(!told && self.store.changed()? || std::mem::take(&mut self.first_look)) {
            return Ok(());
        }
        let mut runs = self.store.signalled_runs()?;
        runs.retain(|run| self.live.contains_key(run));
        for run in runs {
            for mail in self.store.signals(run)? {
                self.take_mail(run, &mail)?;
            }
        }
        Ok(())
    }

    fn take_mail(&mut self, run: RunRef, mail: &seriatim_journal::Signal) -> Result<(), Error> {
        let now = self.schedule.now();
        let Some(live) = self.live.get_mut(&run) else { return Ok(()) };
        if live.consumed.contains(&mail.id) {
            return Ok(());
        }
        live.consumed.push(mail.id);
        live.news = true;
        match mail.kind {
            SignalKind::Answer => {
                let Some(key) = mail.key.clone() else { return Ok(()) };
                let Ok(answer) = serde_json::from_slice::<Answer>(&mail.body) else { return Ok(()) };
                self.settle(run, &key, answer, now);
            }
            SignalKind::Resume => {
                let signal = Signal { by: mail.by.clone(), text: None, at: mail.at };
                let waits: Vec<String> = live
                    .open
                    .iter()
                    .filter(|(_, o)| matches!(o.request, Request::Wait { .. }))
                    .map(|(key, _)| key.clone())
                    .collect();
                for key in waits {
                    let body = serde_json::to_vec(&signal).unwrap_or_default();
                    live.put(&self.door, &key, body, now);
                }
            }
            SignalKind::Cancel => self.cancel(run, &mail.by, now)?,
        }
        Ok(())
    }

    /// An answer becomes the outcome of its call, unless it was given to other words than those that are open.
    fn settle(&mut self, run: RunRef, key: &str, answer: Answer, now: Utc) -> bool {
        let Some(live) = self.live.get_mut(&run) else { return false };
        let Some(opened) = live.open.get(key).filter(|o| o.place == Where::Parked) else { return false };
        let body = match &opened.request {
            Request::Ask(question) if question.digest() == answer.digest => serde_json::to_vec(&answer),
            Request::Agent(work) => serde_json::to_vec(&agents::from_answer(work, &answer)),
            _ => return false,
        };
        live.put(&self.door, key, body.unwrap_or_default(), now);
        true
    }

    /// Drops the flow where it stands and goes on with its epilogue.
    fn cancel(&mut self, run: RunRef, by: &str, now: Utc) -> Result<(), Error> {
        let info = self.store.run(run)?;
        let mut history = load::History::read(self.store, &info)?;
        let said = |entry: &NewEntry| entry.kind == Kind::Note && entry.key == load::EPILOGUE;
        let said_just_now = self.live.get(&run).is_some_and(|live| live.entries.iter().any(said));
        if history.cancelled || said_just_now {
            // It is on its way out already, and must not be stopped in that.
            return Ok(());
        }
        self.stop_run(run);
        let Some(live) = self.live.get_mut(&run) else { return Ok(()) };
        history.cancelled = true;
        let stopped = Failure::new(Class::Cancelled, "it was stopped because the work was cancelled");
        live.cut_off_agents(&self.door, &stopped, now);
        let cancelled = CancelNote { cancelled_by: by, at: now, on_record: false };
        live.entries.push(note(&self.door, load::EPILOGUE, now, &cancelled)?);
        let parked = live.open.iter().filter(|(_, o)| o.place == Where::Parked).map(|(key, _)| key.clone());
        live.close.extend(parked);
        live.open.clear();
        let (flow, input) = history.flow(self.registry, &info)?;
        live.run = history.coroutine(flow, input);
        live.news = true;
        if let Err(trouble) = self.disk.release(&history.reserved(&info.name)) {
            self.let_go(run, Left::Stuck(trouble.to_string()))?;
        }
        Ok(())
    }

    /// Puts open questions to whoever is there. True when something was answered, here or elsewhere.
    pub(super) fn ask_in_place(&mut self) -> Result<bool, Error> {
        if !self.listener.attended() {
            return Ok(false);
        }
        for run in self.live.keys().copied().collect::<Vec<_>>() {
            for posed in self.posed(run)? {
                if self.ask_one(run, &posed)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn posed(&self, run: RunRef) -> Result<Vec<Posed>, Error> {
        let Some(live) = self.live.get(&run) else { return Ok(vec![]) };
        let rows = self.store.open_calls(&OpenFilter { run: Some(run), ..OpenFilter::default() })?;
        let posed = rows.into_iter().filter_map(|row| {
            let opened = live.open.get(&row.key)?;
            let question = question_of(&live.config.config, &opened.request)?;
            Some(Posed { id: row.id, run_name: live.name.clone(), key: row.key, question })
        });
        Ok(posed.collect())
    }

    fn ask_one(&mut self, run: RunRef, posed: &Posed) -> Result<bool, Error> {
        loop {
            let store = &mut *self.store;
            let mut came = false;
            let mut elsewhere = || {
                came = came || store.changed().unwrap_or(false);
                came
            };
            let said = self.listener.answer(posed, &mut elsewhere);
            if came {
                self.first_look = true;
                return Ok(true);
            }
            let Some(said) = said else { return Ok(false) };
            match posed.question.choose(&said.choice, said.text.as_deref()) {
                Ok(choice) => {
                    let answer = Answer {
                        choice: choice.id.clone(),
                        text: said.text,
                        by: said.by,
                        digest: posed.question.digest(),
                    };
                    let now = self.schedule.now();
                    return Ok(self.settle(run, &posed.key, answer, now));
                }
                Err(refused) => self.listener.refused(posed, &refused.to_string()),
            }
        }
    }
}

fn question_of(config: &seriatim_core::config::Config, request: &Request) -> Option<Question> {
    match request {
        Request::Ask(question) => Some(question.clone()),
        other => human(config, other),
    }
}
