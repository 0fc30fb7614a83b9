//! The stops: an agent comes to an end, by itself or not, and its step is judged (DS-32 to DS-48, DS-64 to DS-67).

use seriatim_core::guard::event::Event;
use seriatim_core::guard::event::SpawnDone;
use seriatim_core::guard::event::SpawnStatus;
use seriatim_core::guard::event::Stopping;
use seriatim_core::guard::reply::Reply;
use seriatim_core::prompt::origin::Head;
use seriatim_core::prompt::origin::Marker;
use seriatim_core::roadmap::audit::Happening;
use seriatim_core::roadmap::state::StepState;
use seriatim_core::roadmap::state::StepStatus;
use seriatim_core::roadmap::verdict;
use seriatim_core::roadmap::verdict::FailureMode;
use seriatim_core::roadmap::verdict::Recovered;
use seriatim_core::roadmap::verdict::StopVerdict;

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
use super::step;
use super::step::LastStop;
use super::step::OpenStep;
use super::transcript;

/// How often in a row an agent is sent back. The client would let it go after eight, without a word.
pub(super) const SENT_BACK_MAX: u32 = 5;

/// How an agent came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// It wants to stop and can be sent back.
    Wants,
    /// It is over, whatever is said now.
    Over,
    /// It was ended by an error.
    Crashed,
}

impl Guard<'_> {
    /// A sub-agent has begun: its step is put to work, and the files are remembered as they are now.
    pub(super) fn sub_start(&mut self, event: &Event) -> Result<Reply, GuardError> {
        let agent: Vec<&str> = event.agent_id.as_deref().into_iter().collect();
        sightings::note(self.project, event.session_id.as_deref(), &agent);
        let steps = self.book()?.steps()?;
        let waiting = |step: &&OpenStep| {
            !step.ended && step.agent_id.is_none() && step.session == event.session_id
        };
        let mut waiting = steps.iter().filter(waiting);
        // Several at once are told apart when their calls come back.
        let (Some(step), None) = (waiting.next().cloned(), waiting.next()) else {
            return self.begin_all(&steps, event);
        };
        self.begin(step, event.agent_id.clone())
    }

    /// Several steps wait for their agents: all of them begin here.
    fn begin_all(&mut self, steps: &[OpenStep], event: &Event) -> Result<Reply, GuardError> {
        for step in steps.iter().filter(|step| step.base.is_none() && step.session == event.session_id) {
            self.begin(step.clone(), None)?;
        }
        Ok(Reply::Pass)
    }

    fn begin(&mut self, step: OpenStep, agent: Option<String>) -> Result<Reply, GuardError> {
        let base = match step.base.clone() {
            Some(base) => Some(base),
            None => scope::base(self.project)?,
        };
        let rules = Rules::read(self.project)?;
        self.transact(|desk| {
            let Some(mut step) = desk.step(&step.step_file, &step.task_id)? else { return Ok(()) };
            step.base = base;
            step.agent_id = agent.or(step.agent_id);
            if let Ok(Synced { loaded, .. }) = desk.sync(&rules, &mut step)? {
                put_to_work(desk, &mut step, &loaded)?;
            }
            desk.keep(&step)
        })?;
        Ok(Reply::Pass)
    }

    /// A sub-agent wants to stop.
    pub(super) fn sub_stop(&mut self, event: &Event, stopping: &Stopping) -> Result<Reply, GuardError> {
        let agent: Vec<&str> = event.agent_id.as_deref().into_iter().collect();
        sightings::note(self.project, event.session_id.as_deref(), &agent);
        let steps = self.book()?.steps()?;
        let transcript = stopping.agent_transcript_path.as_deref().or(event.transcript_path.as_deref());
        let found = match owner(&steps, event) {
            Some(step) => Some(step.clone()),
            None => self.by_transcript(&steps, event, transcript)?,
        };
        let Some(mut step) = found else { return Ok(Reply::Pass) };
        transcript::count(self.project, &mut step, transcript);
        self.judge(step, End::Wants, &[])
    }

    /// The step that the first prompt of a transcript names (DS-36, DS-68). A start that nobody saw is a warning.
    fn by_transcript(
        &mut self,
        steps: &[OpenStep],
        event: &Event,
        path: Option<&str>,
    ) -> Result<Option<OpenStep>, GuardError> {
        let Some(prompt) = path.and_then(transcript::first_prompt) else { return Ok(None) };
        let head = Head::of(&prompt);
        let Some(file) = head.value(Marker::StepFile).and_then(|named| step::inside(self.project, named)) else {
            return Ok(None);
        };
        let id = head.value(Marker::StepId);
        let known = steps.iter().find(|step| step.step_file == file && id.is_none_or(|id| id == step.task_id));
        if let Some(step) = known {
            let mut step = step.clone();
            step.agent_id = event.agent_id.clone();
            return Ok(Some(step));
        }
        let rules = Rules::read(self.project)?;
        let task_id = match state::load(self.project, &rules, &file, id)? {
            Ok(loaded) => loaded.state.task_id,
            Err(_) => id.unwrap_or_default().to_owned(),
        };
        Ok(Some(OpenStep {
            step_file: file,
            task_id,
            origin: head.metadata().origin,
            opened: self.now,
            session: event.session_id.clone(),
            agent_id: event.agent_id.clone(),
            ..OpenStep::default()
        }))
    }

    /// The call of a sub-agent came back.
    pub(super) fn spawn_done(&mut self, event: &Event, done: &SpawnDone) -> Result<Reply, GuardError> {
        let agent: Vec<&str> = done.agent_id.as_deref().into_iter().collect();
        sightings::note(self.project, event.session_id.as_deref(), &agent);
        let steps = self.book()?.steps()?;
        let Some(mut step) = called(&steps, done.tool_use_id.as_deref(), done.agent_id.as_deref()).cloned() else {
            return Ok(Reply::Pass);
        };
        if done.agent_id.is_some() {
            step.agent_id.clone_from(&done.agent_id);
        }
        if done.status == SpawnStatus::Launched {
            step.background = true;
            self.transact(|desk| desk.keep(&step))?;
            return Ok(Reply::Pass);
        }
        if let Some(usage) = done.usage {
            step.usage = step.usage.max(usage);
        }
        if step.ended && step.last_stop.as_ref().is_some_and(|last| last.status != "error") {
            self.transact(|desk| desk.keep(&step))?;
            return Ok(Reply::Pass);
        }
        self.judge(step, End::Over, &[])
    }

    pub(super) fn spawn_failed(
        &mut self,
        tool_use_id: Option<&str>,
        error: Option<&str>,
    ) -> Result<Reply, GuardError> {
        let steps = self.book()?.steps()?;
        match called(&steps, tool_use_id, None).cloned() {
            Some(step) => self.judge(step, End::Crashed, &[error.unwrap_or("the call failed").to_owned()]),
            None => Ok(Reply::Pass),
        }
    }

    /// A sub-agent of Gemini ends by a call. It has no name there, so the one that is at work is meant.
    pub(super) fn complete_task(&mut self, event: &Event) -> Result<Reply, GuardError> {
        let steps = self.book()?.steps()?;
        let mut at_work = steps.into_iter().filter(|step| step.session == event.session_id && !step.ended);
        match (at_work.next(), at_work.next()) {
            (Some(step), None) => self.judge(step, End::Wants, &[]),
            _ => Ok(Reply::Pass),
        }
    }

    /// A turn was ended by an error of the model's service.
    pub(super) fn stop_failure(&mut self, event: &Event, error: Option<&str>) -> Result<Reply, GuardError> {
        let steps = self.book()?.steps()?;
        let crashed: Vec<OpenStep> = match owner(&steps, event) {
            Some(step) => vec![step.clone()],
            // The main conversation ended; those that work on in the background are not concerned.
            None if event.agent_id.is_none() => steps
                .iter()
                .filter(|step| step.session == event.session_id && !step.ended && !step.background)
                .cloned()
                .collect(),
            None => vec![],
        };
        for step in crashed {
            self.judge(step, End::Crashed, &[error.unwrap_or("the model's service failed").to_owned()])?;
        }
        Ok(Reply::Pass)
    }

    /// The main conversation wants to end its turn: nothing that it called may be left unjudged.
    pub(super) fn stop(&mut self, event: &Event, stopping: &Stopping) -> Result<Reply, GuardError> {
        let unseen = reconcile::unseen(self.project, event)?;
        let steps = self.book()?.steps()?;
        let running = |step: &OpenStep| {
            let tasks = stopping.background_tasks.as_deref().unwrap_or_default();
            let by_id = |id: &String| tasks.iter().any(|t| t.is_running_agent() && t.id.as_ref() == Some(id));
            step.agent_id.as_ref().is_some_and(by_id)
                || (step.background && step.agent_id.is_none() && tasks.iter().any(|t| t.is_running_agent()))
        };
        let mine = steps.iter().filter(|step| step.session == event.session_id && !running(step));
        let mut reasons = vec![];
        for step in mine {
            let judged = step.last_stop.as_ref().is_some_and(|last| last.status != "error" && step.ended);
            if judged && unseen.is_empty() {
                continue;
            }
            // A main conversation can call the agent again, so that it is sent back like one.
            if let Reply::Block { reason } = self.judge_main(step.clone(), &unseen)? {
                reasons.push(reason);
            }
        }
        Ok(if reasons.is_empty() { Reply::Pass } else { Reply::Block { reason: reasons.join("\n\n") } })
    }

    fn judge_main(&mut self, step: OpenStep, unseen: &[String]) -> Result<Reply, GuardError> {
        let held: Vec<String> = unseen.iter().map(|id| reconcile::sentence(id)).collect();
        self.judge(step, End::Wants, &held)
    }

    /// Judges a step whose agent has stopped or wants to.
    fn judge(&mut self, step: OpenStep, end: End, trouble: &[String]) -> Result<Reply, GuardError> {
        let rules = Rules::read(self.project)?;
        let others = self.book()?.steps()?;
        let outside = scope_of(self.project, &rules, &step, &others)?;
        let ran = evidence::run(self.project, &rules, &step)?;
        self.transact(|desk| {
            let known = desk.step(&step.step_file, &step.task_id)?.is_some();
            let mut step = step;
            if !known && end == End::Wants {
                let unseen = desk
                    .event(Happening::IntegrityIncident, &step.step_file)
                    .with("step_id", step.task_id.as_str())
                    .with("what", "an agent of this step stopped whose start no hook has seen");
                desk.happened(&unseen)?;
            }
            let synced = match desk.sync(&rules, &mut step)? {
                Ok(synced) => synced,
                Err(findings) => {
                    let verdict = StopVerdict::of_findings(&step.step_file, &findings, desk.now);
                    return settle(desk, step, None, verdict, end);
                }
            };
            let Synced { loaded, refused } = synced;
            let mut verdict = verdict::stop(&loaded.state, &loaded.schema, desk.now);
            verdict.add_errors(refused);
            for (happening, text) in outside.events() {
                let event = desk
                    .event(happening, &step.step_file)
                    .with("step_id", step.task_id.as_str())
                    .with("what", text);
                desk.happened(&event)?;
            }
            verdict.add_errors(outside.errors);
            verdict.add_warnings(outside.warnings);
            verdict.add_errors(ran.errors);
            verdict.add_warnings(ran.notes);
            if end == End::Wants {
                verdict.add_errors(trouble.to_vec());
            } else {
                verdict.add_warnings(trouble.to_vec());
            }
            settle(desk, step, Some(&loaded), verdict, end)
        })
    }
}

/// What follows from a verdict: it is on record, and the agent is let go, sent back or recovered from.
fn settle(
    desk: &mut Desk<'_, '_>,
    mut step: OpenStep,
    loaded: Option<&Loaded>,
    verdict: StopVerdict,
    end: End,
) -> Result<Reply, GuardError> {
    let event = verdict.event(&step.task_id, desk.now);
    desk.happened(&event)?;
    step.last_stop =
        Some(LastStop { at: desk.now, status: verdict.word().to_owned(), errors: verdict.errors.clone() });
    if !verdict.is_error() && end != End::Crashed {
        step.sent_back = 0;
        step.ended = true;
        desk.keep(&step)?;
        return Ok(Reply::Pass);
    }
    if end == End::Wants && step.sent_back < SENT_BACK_MAX {
        step.sent_back += 1;
        desk.keep(&step)?;
        return Ok(Reply::Block { reason: send_back(&step, &verdict) });
    }
    step.ended = true;
    if let Some(loaded) = loaded {
        let recovered = recover(&loaded.state, &verdict, end, desk.now);
        desk.recover(&mut step, loaded, &recovered)?;
    }
    let asked = format!("{} ended with errors: {}", step.in_words(), verdict.errors.join("; "));
    if end == End::Wants {
        desk.hold(&mut step, asked, &verdict)?;
    }
    desk.keep(&step)?;
    Ok(match end {
        End::Wants => Reply::Pass,
        End::Over | End::Crashed => Reply::Block { reason: afterwards(&step, &verdict) },
    })
}

/// Which of the four ways of going wrong it was, and what it makes of the step.
fn recover(
    state: &StepState,
    verdict: &StopVerdict,
    end: End,
    now: seriatim_core::time::Utc,
) -> Recovered {
    if end == End::Crashed {
        return verdict::crash(state, now);
    }
    if let Some(silent) = verdict::silent(state, now) {
        return silent;
    }
    if verdict.errors.iter().any(|error| error.starts_with("Unexpected modification:")) {
        return verdict::runaway(state, now);
    }
    verdict::partial(state, &FailureMode::Stuck.suggestions().map(str::to_owned), now)
}

/// What an agent is told that wants to stop too early.
fn send_back(step: &OpenStep, verdict: &StopVerdict) -> String {
    let mut text = format!("You cannot stop yet: {} is not whole.", step.in_words());
    for error in &verdict.errors {
        text.push_str(&format!("\n- {error}"));
    }
    text.push_str(&format!(
        "\nRecord each phase as it is: `seriatim phase start {id} PHASE`, then `seriatim phase done {id} PHASE --outcome PASS`, \
         or `seriatim phase skip {id} PHASE --reason \"NOT_APPLICABLE: why\"`, or `seriatim phase fail {id} PHASE --note \"why\"`. \
         If you cannot finish, fail the phase you are in with a note that says what is left.",
        id = step.task_id
    ));
    text
}

/// What whoever called the agent is told when it is over.
fn afterwards(step: &OpenStep, verdict: &StopVerdict) -> String {
    let mut text = format!("The work on {} is not complete:", step.in_words());
    for error in &verdict.errors {
        text.push_str(&format!("\n- {error}"));
    }
    text.push_str("\nThe step can be tried again: call the sub-agent with a complete prompt for the same step.");
    text
}

/// A step whose agent began is in progress.
fn put_to_work(desk: &mut Desk<'_, '_>, step: &mut OpenStep, loaded: &Loaded) -> Result<(), GuardError> {
    match verdict::begin(&loaded.state, desk.now) {
        Some(begun) if loaded.state.status != StepStatus::InProgress => desk.recover(step, loaded, &begun),
        _ => Ok(()),
    }
}

/// The step that a call was for.
fn called<'s>(steps: &'s [OpenStep], call: Option<&str>, agent: Option<&str>) -> Option<&'s OpenStep> {
    let by_call = |step: &&OpenStep| call.is_some() && step.tool_use_id.as_deref() == call;
    let by_agent = |step: &&OpenStep| agent.is_some() && step.agent_id.as_deref() == agent;
    steps.iter().find(by_call).or_else(|| steps.iter().find(by_agent))
}

/// What lies outside of a step's patterns.
#[derive(Default)]
struct Outside {
    errors: Vec<String>,
    warnings: Vec<String>,
}

impl Outside {
    fn events(&self) -> Vec<(Happening, String)> {
        self.errors.iter().map(|error| (Happening::ScopeViolation, error.clone())).collect()
    }
}

fn scope_of(
    project: &super::Project,
    rules: &Rules,
    step: &OpenStep,
    others: &[OpenStep],
) -> Result<Outside, GuardError> {
    let Ok(loaded) = state::load(project, rules, &step.step_file, Some(&step.task_id))? else {
        return Ok(Outside::default());
    };
    let mut permitted = vec![];
    for other in others.iter().filter(|other| other.key() != step.key()) {
        if let Ok(loaded) = state::load(project, rules, &other.step_file, Some(&other.task_id))? {
            permitted.extend(scope::allowed(&loaded.state).ok());
        }
    }
    let verdict = scope::judge(project, step, &loaded.state, &permitted)?;
    let mut warnings: Vec<String> =
        verdict.ignored.iter().map(|path| format!("{path} is ignored by git and was written")).collect();
    if verdict.undeclared {
        warnings.push("no allowed file patterns are declared, so that the scope was not checked".to_owned());
    }
    Ok(Outside { errors: verdict.violations.iter().map(ToString::to_string).collect(), warnings })
}
