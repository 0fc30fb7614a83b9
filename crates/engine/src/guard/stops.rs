//! The stops: an agent comes to an end, by itself or not, and its step is judged (DS-32 to DS-48, DS-64 to DS-67).

mod settle;
mod stopped;
mod unknown;
mod whose;

use std::path::Path;

use seriatim_core::guard::event::Event;
use seriatim_core::guard::event::Kind;
use seriatim_core::guard::event::SpawnDone;
use seriatim_core::guard::event::SpawnStatus;
use seriatim_core::guard::event::Stopping;
use seriatim_core::guard::reply::Reply;
use seriatim_core::guard::scope::Violation;
use seriatim_core::roadmap::audit::Happening;
use seriatim_core::roadmap::machine;
use seriatim_core::roadmap::machine::End;
use seriatim_core::roadmap::verdict::Objection;
use seriatim_core::roadmap::verdict::StopVerdict;

use self::settle::settle;
use self::stopped::Stopped;
use self::whose::Whose;
use self::whose::called;
use self::whose::called_by;
use self::whose::prompted;
use super::Guard;
use super::GuardError;
use super::book::Desk;
use super::doors::owner;
use super::evidence;
use super::reconcile;
use super::rules::Rules;
use super::scope;
use super::sightings;
use super::state;
use super::state::Loaded;
use super::state::Synced;
use super::step::OpenStep;
use super::step::worktree;
use super::transcript;

impl Guard<'_> {
    /// A sub-agent has begun: its step is put to work, and the files are remembered as they are now.
    pub(super) fn sub_start(&mut self, event: &Event) -> Result<Reply, GuardError> {
        let agent: Vec<&str> = event.agent_id.as_deref().into_iter().collect();
        sightings::note(self.project, event.session_id.as_deref(), &agent);
        let steps = self.book()?.steps()?;
        // An agent that got more work begins again; one whose call is known to be another one is none of ours.
        match called_by(self.project, &steps, event) {
            Whose::Step(step) => return self.begin_at(*step, event),
            Whose::Nobodys => return Ok(Reply::Pass),
            Whose::Unknown => {}
        }
        let waits =
            |step: &&OpenStep| !step.ended && step.agent_id.is_none() && step.session == event.session_id;
        let waiting: Vec<OpenStep> = steps.iter().filter(waits).cloned().collect();
        match waiting.as_slice() {
            [only] => self.begin_at(only.clone(), event),
            // Several at once are told apart when they stop; all of them begin here.
            several => {
                for step in several.iter().filter(|step| step.base.is_none()) {
                    self.begin(step.clone(), None)?;
                }
                Ok(Reply::Pass)
            }
        }
    }

    /// An agent has begun with a step: in the project, or in a worktree of its own.
    fn begin_at(&mut self, mut step: OpenStep, event: &Event) -> Result<Reply, GuardError> {
        let root = event.cwd.as_deref().and_then(|cwd| worktree::of(self.project, Path::new(cwd)));
        if let Some(root) = root
            && let Some(name) = root.to_str().filter(|name| !step.worktrees.contains_key(*name))
            && let Some(base) = scope::base_in(self.repository(), &root)?
        {
            step.worktrees.insert(name.to_owned(), base);
        }
        self.begin(step, event.agent_id.clone())
    }

    pub(super) fn begin(&mut self, step: OpenStep, agent: Option<String>) -> Result<Reply, GuardError> {
        let base = match step.base.clone() {
            Some(base) => Some(base),
            None => scope::base(self.repository())?,
        };
        let rules = self.rules()?;
        let worktrees = step.worktrees.clone();
        self.transact(|desk| {
            let Some(mut step) = desk.step(&step.step_file, &step.task_id)? else { return Ok(()) };
            step.base = step.base.or(base);
            step.worktrees.extend(worktrees);
            step.agent_id = agent.or(step.agent_id);
            step.ended = false;
            if let Ok(Synced { loaded, .. }) = desk.sync(&rules, &mut step)? {
                put_to_work(desk, &mut step, &loaded)?;
            }
            desk.keep(&step)
        })?;
        Ok(Reply::Pass)
    }

    /// A sub-agent wants to stop.
    pub(super) fn sub_stop(&mut self, event: &Event, stopping: &Stopping) -> Result<Reply, GuardError> {
        let answer = self.stopping(event, stopping);
        // An agent that nobody knew before is known from now on, and nobody waits for one that may go.
        let (session, agent) = (event.session_id.as_deref(), event.agent_id.as_deref());
        sightings::note(self.project, session, &agent.into_iter().collect::<Vec<_>>());
        if matches!(answer, Ok(Reply::Pass)) {
            sightings::over(self.project, session, agent);
        }
        answer
    }

    fn stopping(&mut self, event: &Event, stopping: &Stopping) -> Result<Reply, GuardError> {
        let steps = self.book()?.steps()?;
        let path = stopping.agent_transcript_path.clone().or_else(|| transcript::beside(self.project, event));
        let found = match self.by_transcript(&steps, event, path.as_deref())? {
            Whose::Step(step) => *step,
            // Its first prompt was another one, but later it was given the step in so many words.
            Whose::Nobodys => match owner(&steps, event).filter(|step| step.tool_use_id.is_none()) {
                Some(step) => step.clone(),
                None => return self.let_loose(event),
            },
            Whose::Unknown => match owner(&steps, event) {
                Some(step) => step.clone(),
                None => return self.unknown_stop(&steps, event),
            },
        };
        let mut step = found;
        transcript::count(self.project, &mut step, path.as_deref());
        let unseen = reconcile::unseen(self.project, event)?;
        self.judge(step, &Stopped::Wants { unseen })
    }

    /// Gives a step whose beginning nobody saw what it has to be held against: the last commit.
    fn begin_unseen(&mut self, mut step: OpenStep, agent: Option<String>) -> Result<OpenStep, GuardError> {
        step.base = scope::last_commit(self.repository())?;
        self.begin(step.clone(), agent)?;
        Ok(step)
    }

    /// An agent without a step was taken for that of one, because they began at the same time.
    fn let_loose(&mut self, event: &Event) -> Result<Reply, GuardError> {
        let steps = self.book()?.steps()?;
        match owner(&steps, event) {
            Some(step) => self.unbind(step),
            None => Ok(Reply::Pass),
        }
    }

    fn unbind(&mut self, step: &OpenStep) -> Result<Reply, GuardError> {
        self.transact(|desk| match desk.step(&step.step_file, &step.task_id)? {
            Some(step) => desk.keep(&OpenStep { agent_id: None, ..step }),
            None => Ok(()),
        })?;
        Ok(Reply::Pass)
    }

    /// The call of a sub-agent came back.
    pub(super) fn spawn_done(&mut self, event: &Event, done: &SpawnDone) -> Result<Reply, GuardError> {
        sightings::came_back(self.project, event.session_id.as_deref(), done);
        let steps = self.book()?.steps()?;
        let call = done.tool_use_id.as_deref();
        let by_agent = || called(&steps, None, done.agent_id.as_deref());
        // The call itself says whose it was; which agent began first says nothing.
        let known = called(&steps, call, None)
            .or_else(|| prompted(self.project, &steps, event, done.prompt.as_deref()))
            .or_else(|| by_agent().filter(|step| call.is_none() || step.tool_use_id.is_none()));
        let Some(mut known) = known.cloned() else {
            return match by_agent().cloned() {
                Some(step) => self.unbind(&step),
                None => Ok(Reply::Pass),
            };
        };
        if done.agent_id.is_some() {
            known.agent_id.clone_from(&done.agent_id);
        }
        let launched = done.status == SpawnStatus::Launched;
        if !launched {
            let agent = done.agent_id.as_deref();
            let path = agent.and_then(|agent| transcript::of_agent(self.project, event, agent));
            transcript::count(self.project, &mut known, path.as_deref());
        }
        if !launched && known.base.is_none() {
            let agent = known.agent_id.clone();
            known = self.begin_unseen(known, agent)?;
        }
        let step = self.transact(|desk| {
            let mut step = current(desk, known)?;
            step.background |= launched;
            step.usage = step.usage.max(done.usage.unwrap_or_default());
            desk.keep(&step)?;
            Ok(step)
        })?;
        if launched {
            return Ok(Reply::Pass);
        }
        if step.ended && step.is_held() {
            // It was let go, and whoever called it has only its own word so far.
            return Ok(Reply::Block { reason: settle::let_go(&step) });
        }
        if step.has_passed() {
            return Ok(Reply::Pass);
        }
        self.judge(step, &Stopped::Over)
    }

    pub(super) fn spawn_failed(
        &mut self,
        event: &Event,
        tool_use_id: Option<&str>,
        error: Option<&str>,
    ) -> Result<Reply, GuardError> {
        sightings::over(self.project, event.session_id.as_deref(), tool_use_id);
        let steps = self.book()?.steps()?;
        match called(&steps, tool_use_id, None).cloned() {
            Some(step) if step.has_begun() => self.judge(step, &Stopped::crashed(error, "the call failed")),
            // Nobody began, so that nobody is left to be judged.
            Some(step) => self.over(&step),
            None => Ok(Reply::Pass),
        }
    }

    fn over(&mut self, step: &OpenStep) -> Result<Reply, GuardError> {
        self.transact(|desk| match desk.step(&step.step_file, &step.task_id)? {
            Some(step) => desk.keep(&OpenStep { ended: true, ..step }),
            None => Ok(()),
        })?;
        Ok(Reply::Pass)
    }

    /// A sub-agent of Gemini ends by a call. It has no name there, so the one that is at work is meant.
    pub(super) fn complete_task(&mut self, event: &Event) -> Result<Reply, GuardError> {
        let steps = self.book()?.steps()?;
        let mut at_work = steps.into_iter().filter(|step| step.session == event.session_id && !step.ended);
        match (at_work.next(), at_work.next()) {
            (Some(step), None) => self.judge(step, &Stopped::wants()),
            _ => Ok(Reply::Pass),
        }
    }

    /// A turn was ended by an error of the model's service, or the session ended and all that worked in it.
    pub(super) fn stop_failure(&mut self, event: &Event, error: Option<&str>) -> Result<Reply, GuardError> {
        let steps = self.book()?.steps()?;
        let all = matches!(event.kind, Kind::SessionEnd { .. });
        let at_work = |step: &&OpenStep| {
            // The main conversation ended; those that work on in the background are not concerned.
            step.session == event.session_id && step.has_begun() && !step.ended && (all || !step.background)
        };
        let crashed: Vec<OpenStep> = match owner(&steps, event) {
            Some(step) => vec![step.clone()],
            None if event.agent_id.is_none() => steps.iter().filter(at_work).cloned().collect(),
            None => vec![],
        };
        for step in crashed {
            self.judge(step, &Stopped::crashed(error, "the model's service failed"))?;
        }
        Ok(Reply::Pass)
    }

    /// The main conversation wants to end its turn: nothing that it called may be left unjudged.
    pub(super) fn stop(&mut self, event: &Event, stopping: &Stopping) -> Result<Reply, GuardError> {
        let unseen = reconcile::unseen(self.project, event)?;
        let steps = self.book()?.steps()?;
        let mut reasons = vec![];
        for step in steps.iter().filter(|step| step.session == event.session_id) {
            // One that is held waits for a person, whom nothing here could replace.
            let waits = step.ended && step.is_held();
            if is_running(step, stopping) || waits || (step.has_passed() && unseen.is_empty()) {
                continue;
            }
            let step = match step.has_begun() {
                true => step.clone(),
                false if unknown::never_began(self.project, step, event) => continue,
                false => self.begin_unseen(step.clone(), None)?,
            };
            // A main conversation can call the agent again, so that it is sent back like one.
            if let Reply::Block { reason } = self.judge(step, &Stopped::Wants { unseen: unseen.clone() })? {
                reasons.push(reason);
            }
        }
        Ok(if reasons.is_empty() { Reply::Pass } else { Reply::Block { reason: reasons.join("\n\n") } })
    }

    /// Judges a step whose agent has stopped or wants to.
    fn judge(&mut self, step: OpenStep, stopped: &Stopped) -> Result<Reply, GuardError> {
        let end = stopped.end();
        let rules = self.rules()?;
        let others = self.beside(&step)?;
        let outside = scope_of(self.repository(), &rules, &step, &others)?;
        state::follow(self.project, &step.step_file);
        let ran = evidence::run(self.project, self.ports, &rules, &step, &self.patience)?;
        self.transact(|desk| {
            if end == End::Wants && desk.step(&step.step_file, &step.task_id)?.is_none() {
                let what = "an agent of this step stopped whose start no hook has seen";
                desk.incident(&step, what)?;
            }
            let mut step = current(desk, step)?;
            step.checked = ran.checked;
            let synced = match desk.sync(&rules, &mut step)? {
                Ok(synced) => synced,
                Err(findings) => {
                    let verdict = StopVerdict::of_findings(&step.step_file, &findings, desk.now);
                    return settle(desk, step, None, verdict, end, &outside.changed);
                }
            };
            let Synced { loaded, refused } = synced;
            let mut verdict = machine::stop(&loaded.state, &loaded.schema, desk.now);
            verdict.add_errors(refused);
            for violation in &outside.violations {
                let event = desk
                    .event(Happening::ScopeViolation, &step.step_file)
                    .with("step_id", step.task_id.as_str())
                    .with("what", violation.to_string());
                desk.happened(&event)?;
            }
            verdict.add_errors(outside.violations.into_iter().map(Objection::Scope));
            verdict.add_warnings(outside.warnings);
            verdict.add_evidence(ran.evidence);
            verdict.nothing_checked = ran.nothing;
            match stopped {
                Stopped::Wants { unseen } => {
                    for objection in unseen {
                        desk.incident(&step, &objection.sentence())?;
                    }
                    verdict.add_errors(unseen.iter().cloned());
                }
                Stopped::Over => {}
                Stopped::Crashed { why } => verdict.add_warnings([why.clone()]),
            }
            settle(desk, step, Some(&loaded), verdict, end, &outside.changed)
        })
    }
}

/// A step as the book has it now, with what is newly known about its agent. Others may have written since.
fn current(desk: &Desk<'_, '_>, known: OpenStep) -> Result<OpenStep, GuardError> {
    let OpenStep { agent_id, usage, turns, counted, .. } = known.clone();
    Ok(match desk.step(&known.step_file, &known.task_id)? {
        Some(now) => OpenStep {
            agent_id: agent_id.or(now.agent_id),
            usage: now.usage.max(usage),
            turns: now.turns.max(turns),
            counted: now.counted.into_iter().chain(counted).collect(),
            ..now
        },
        None => known,
    })
}

/// A step whose agent began is in progress.
fn put_to_work(desk: &mut Desk<'_, '_>, step: &mut OpenStep, loaded: &Loaded) -> Result<(), GuardError> {
    match machine::begin(&loaded.state, desk.now) {
        Some(begun) => desk.recover(step, loaded, &begun),
        None => Ok(()),
    }
}

/// Whether the agent of a step works on while the main conversation ends its turn. A client that does not say is
/// believed to leave it at work: it is judged when it stops.
fn is_running(step: &OpenStep, stopping: &Stopping) -> bool {
    let Some(tasks) = &stopping.background_tasks else { return step.background && !step.ended };
    let mut running = tasks.iter().filter(|task| task.is_running_agent());
    match &step.agent_id {
        Some(agent) => running.any(|task| task.id.as_ref() == Some(agent)),
        None => step.background && running.next().is_some(),
    }
}

/// What lies outside of a step's patterns.
#[derive(Default)]
struct Outside {
    violations: Vec<Violation>,
    warnings: Vec<String>,
    /// All that was changed since the step began.
    changed: Vec<String>,
}

fn scope_of(
    at: scope::Repository<'_>,
    rules: &Rules,
    step: &OpenStep,
    others: &[OpenStep],
) -> Result<Outside, GuardError> {
    let Ok(loaded) = state::load_open(at.project, rules, step)? else {
        return Ok(Outside::default());
    };
    let permitted = scope::of_others(at.project, rules, step, others)?;
    let scope::Judged { verdict, changed } = scope::judge(at, step, &loaded.state, &permitted)?;
    let mut warnings: Vec<String> =
        verdict.ignored.iter().map(|path| format!("{path} is ignored by git and was written")).collect();
    if verdict.undeclared {
        warnings.push("no allowed file patterns are declared, so that the scope was not checked".to_owned());
    }
    Ok(Outside { violations: verdict.violations, warnings, changed })
}
