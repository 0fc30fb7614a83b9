//! The doors: a sub-agent is about to be called, gets more work, runs a command or writes a file (DS-08 to DS-31).

mod files;

use seriatim_core::finding::Severity;
use seriatim_core::guard::beyond;
use seriatim_core::guard::beyond::Asked;
use seriatim_core::guard::client::Client;
use seriatim_core::guard::event::Event;
use seriatim_core::guard::event::Message;
use seriatim_core::guard::event::Spawn;
use seriatim_core::guard::reply::Reply;
use seriatim_core::guard::shell;
use seriatim_core::prompt::PhaseList;
use seriatim_core::prompt::Sender;
use seriatim_core::prompt::Standard;
use seriatim_core::prompt::Validation;
use seriatim_core::prompt::origin::Head;
use seriatim_core::prompt::origin::Marker;
use seriatim_core::prompt::registry::Level;
use seriatim_core::prompt::tokens;
use seriatim_core::prompt::validate;
use seriatim_core::roadmap::audit::Happening;
use seriatim_core::roadmap::machine;
use seriatim_core::roadmap::machine::Actor;
use seriatim_core::roadmap::machine::Closed;
use seriatim_core::roadmap::state::StepStatus;
use seriatim_core::roadmap::verdict::sentences;

use super::Guard;
use super::GuardError;
use super::project::Project;
use super::rules::Rules;
use super::scope;
use super::sightings;
use super::state;
use super::state::Loaded;
use super::step;
use super::step::OpenStep;
use super::transcript;

/// How work is given to a sub-agent.
#[derive(Default)]
struct Call<'c> {
    id: Option<&'c str>,
    background: bool,
    agent_type: Option<&'c str>,
    /// The agent, where it exists already.
    to: Option<&'c str>,
}

/// A prompt that claims to be a command's, and everything that is wrong with it.
struct Examined {
    origin: String,
    step_file: Option<String>,
    loaded: Option<Loaded>,
    /// What is wrong, and how to mend it.
    errors: Vec<(String, String)>,
    warnings: Vec<String>,
}

impl Examined {
    /// What the agent that asked is told.
    fn reason(&self) -> String {
        let mut text = String::from("Cannot invoke Task - validation failed:");
        for (error, help) in &self.errors {
            text.push_str(&format!("\n{error}"));
            if !help.is_empty() {
                text.push_str(&format!("\n  To mend it: {}", help.replace('\n', "\n    ")));
            }
        }
        text
    }
}

impl Examined {
    /// A step that waits for a person is not begun again before that (DS-48).
    fn held(&self, steps: &[OpenStep]) -> Option<(String, String)> {
        let (file, state) = (self.step_file.as_ref()?, &self.loaded.as_ref()?.state);
        let is_this = |step: &&OpenStep| step.step_file == *file && step.task_id == state.task_id;
        let step = steps.iter().find(is_this).filter(|step| step.is_held())?;
        Some((held(step), "wait for the answer, and go on with other work meanwhile".to_owned()))
    }
}

impl Guard<'_> {
    /// A sub-agent is about to be called. Prompts without markers pass and cost nothing.
    pub(super) fn spawn(&mut self, event: &Event, spawn: &Spawn) -> Result<Reply, GuardError> {
        let tagged: Vec<&String> =
            spawn.prompts.iter().filter(|prompt| Head::of(prompt).is_tagged()).collect();
        let (session, call) = (event.session_id.as_deref(), spawn.tool_use_id.as_deref());
        // A script in a file cannot be seen at all; one that computes prompts may make a marker out of parts.
        let unseen = spawn.opaque
            && (spawn.prompts.is_empty() || spawn.prompts.iter().any(|prompt| prompt.contains("DES-")));
        if tagged.is_empty() && !unseen {
            sightings::waits(self.project, session, call);
            self.note_call(event, spawn)?;
            return Ok(Reply::Pass);
        }
        sightings::note(self.project, session, &call.into_iter().collect::<Vec<_>>());
        if spawn.opaque {
            return Ok(Reply::Deny {
                reason: "The prompts of this workflow cannot be seen, since its script computes them or lies in a file. \
                         Call the sub-agent by itself with the whole prompt in the call, or give the script with its \
                         prompts as plain texts."
                    .to_owned(),
            });
        }
        let call = Call {
            id: spawn.tool_use_id.as_deref(),
            background: spawn.background,
            agent_type: spawn.agent_type.as_deref(),
            to: None,
        };
        self.invoke(event, &tagged, &call)
    }

    /// A sub-agent of an agent of a step belongs to the step, whatever it is called for.
    fn note_call(&mut self, event: &Event, spawn: &Spawn) -> Result<(), GuardError> {
        let (Some(_), Some(call)) = (&event.agent_id, &spawn.tool_use_id) else { return Ok(()) };
        let steps = self.book()?.steps()?;
        let Some(open) = working(self.project, &steps, event) else { return Ok(()) };
        self.transact(|desk| match desk.step(&open.step_file, &open.task_id)? {
            Some(mut step) if step.calls.len() < step::CALLS_MAX => {
                step.calls.push(call.clone());
                desk.keep(&step)
            }
            _ => Ok(()),
        })
    }

    /// More work for a sub-agent that exists: the same rules hold for it.
    pub(super) fn message(&mut self, event: &Event, message: &Message) -> Result<Reply, GuardError> {
        let ids: Vec<&str> = message.tool_use_id.as_deref().into_iter().collect();
        sightings::note(self.project, event.session_id.as_deref(), &ids);
        if !Head::of(&message.text).is_tagged() {
            return self.words(message.to.as_deref());
        }
        let call = Call { background: true, to: message.to.as_deref(), ..Call::default() };
        self.invoke(event, &[&message.text], &call)
    }

    /// Words to an agent whose step is over would be work beyond it; those to one that is held are for a person.
    fn words(&mut self, to: Option<&str>) -> Result<Reply, GuardError> {
        let is_addressed = |step: &OpenStep| to.is_some() && step.agent_id.as_deref() == to;
        let complete = |step: &OpenStep| Reply::Deny {
            reason: format!(
                "{} is complete; nothing more is to be done for it. Call another sub-agent for other work.",
                step.in_words()
            ),
        };
        if let Some(step) = self.book()?.steps()?.iter().find(|step| is_addressed(step)) {
            if step.is_held() {
                return Ok(Reply::Deny { reason: held(step) });
            }
            return Ok(if self.is_complete(step) { complete(step) } else { Reply::Pass });
        }
        let finished = self.book()?.finished()?;
        Ok(finished.iter().find(|step| is_addressed(step)).map_or(Reply::Pass, complete))
    }

    /// Validates the tagged prompts of one call. Either all steps are opened, or none.
    fn invoke(&mut self, event: &Event, prompts: &[&String], call: &Call<'_>) -> Result<Reply, GuardError> {
        let rules = self.rules()?;
        self.watch(&rules)?;
        self.watch_named(&rules, prompts)?;
        self.look_again(&rules)?;
        let steps = self.book()?.steps()?;
        let mut all = vec![];
        for prompt in prompts {
            let mut examined = self.examine(&rules, prompt)?;
            self.stay_within(&steps, event, &mut examined);
            examined.errors.extend(examined.held(&steps));
            all.push((*prompt, examined));
        }
        let refused: Vec<String> =
            all.iter().filter(|(_, one)| !one.errors.is_empty()).map(|(_, one)| one.reason()).collect();
        for (prompt, examined) in all {
            if refused.is_empty() || !examined.errors.is_empty() {
                self.record(event, prompt, call, &examined)?;
            }
        }
        Ok(match refused.is_empty() {
            true => Reply::Pass,
            false => Reply::Deny { reason: refused.join("\n\n") },
        })
    }

    /// Puts an invocation on record, and opens its step if nothing was wrong with it.
    fn record(
        &mut self,
        event: &Event,
        prompt: &str,
        call: &Call<'_>,
        examined: &Examined,
    ) -> Result<(), GuardError> {
        let file = examined.step_file.clone().unwrap_or_default();
        let task = examined.loaded.as_ref().map(|loaded| loaded.state.task_id.clone());
        let session = event.session_id.clone();
        if examined.errors.is_empty() && examined.loaded.is_some() {
            // Before the step is open: whoever dies in between leaves no step whose edits go unseen.
            state::follow(self.project, &file);
        }
        let opened = self.transact(|desk| {
            let with = |happening| {
                let event = desk.event(happening, &file).with("command", examined.origin.as_str());
                match &task {
                    Some(task) => event.with("step_id", task.as_str()),
                    None => event,
                }
            };
            let began = with(Happening::TaskInvocationStarted)
                .with("session_id", session.clone().unwrap_or_default())
                .with("agent_type", call.agent_type.unwrap_or_default())
                .with("prompt_tokens", tokens::estimate(prompt));
            let ended = if examined.errors.is_empty() {
                let event = with(Happening::TaskInvocationValidated);
                if examined.warnings.is_empty() {
                    event
                } else {
                    event.with("warnings", examined.warnings.clone())
                }
            } else {
                let errors: Vec<&str> = examined.errors.iter().map(|(error, _)| error.as_str()).collect();
                with(Happening::TaskInvocationRejected)
                    .with("errors", errors)
                    // What the validation itself costs whoever asked (DS-71).
                    .with("answer_tokens", tokens::estimate(&examined.reason()))
            };
            desk.happened(&began)?;
            desk.happened(&ended)?;
            let (true, Some(loaded)) = (examined.errors.is_empty(), &examined.loaded) else {
                return Ok(None);
            };
            let before = desk.step(&file, &loaded.state.task_id)?;
            // The same agent goes on: the client knows it by the call from which it came.
            let resumed =
                before.as_ref().filter(|step| call.to.is_some() && step.agent_id.as_deref() == call.to);
            let mut opened = OpenStep {
                step_file: file.clone(),
                task_id: loaded.state.task_id.clone(),
                origin: examined.origin.clone(),
                opened: desk.now,
                session,
                transcript: event.transcript_path.clone(),
                tool_use_id: resumed
                    .map_or_else(|| call.id.map(str::to_owned), |step| step.tool_use_id.clone()),
                agent_id: call.to.map(str::to_owned),
                background: call.background,
                state: Some(loaded.hash()),
                ..OpenStep::after(before.as_ref(), resumed.is_some())
            };
            // What was planned when the step was opened first binds it until it is closed.
            let planned = opened.patterns.take().or_else(|| loaded.planned_patterns());
            opened.patterns = planned;
            // The book has the text already when an earlier call for the step saw the same.
            if before.and_then(|step| step.state) != opened.state {
                desk.saw_state(&file, &loaded.text)?;
            }
            desk.keep(&opened)?;
            Ok(Some(opened))
        })?;
        if opened.is_some() {
            state::follow(self.project, &file);
        }
        // This client does not tell when its sub-agent begins.
        if let (Some(opened), Client::Gemini) = (opened, event.client) {
            self.begin(opened, None)?;
        }
        Ok(())
    }

    /// Holds a prompt and its state file against all rules at once (DS-22).
    fn examine(&self, rules: &Rules, prompt: &str) -> Result<Examined, GuardError> {
        let head = Head::of(prompt);
        let metadata = head.metadata();
        let command = head.command().and_then(|name| rules.library().registry.get(name));
        let wants_file = command.map_or(metadata.requires_validation, |command| {
            command.step_file && command.level != Level::None
        });
        let mut errors = vec![];
        let mut warnings = vec![];
        let mut loaded = None;
        let mut step_file = None;
        if let Some(named) =
            head.value(Marker::StepFile).filter(|_| wants_file || metadata.requires_validation)
        {
            match step::inside(self.project, named) {
                Some(file) => {
                    match state::load_planned(self.project, rules, &file, head.value(Marker::StepId))? {
                        Ok(found) => loaded = Some(found),
                        Err(findings) => errors.extend(findings.iter().map(told)),
                    }
                    step_file = Some(file);
                }
                None => errors.push((
                    format!("Step file not found: {named}"),
                    "name a file inside of the project".to_owned(),
                )),
            }
        }
        if let Some(found) = &loaded {
            let broken = |f: &&seriatim_core::finding::Finding| f.severity == Severity::Error;
            errors.extend(found.document.findings().iter().filter(broken).map(told));
            check_step(found, &mut errors, &mut warnings);
        }
        let phases = match &loaded {
            Some(found) => PhaseList::from(&found.schema),
            None => PhaseList::of_prompt(prompt),
        };
        let validation: Validation =
            validate(prompt, Sender::Foreign, &Standard { library: rules.library(), phases: &phases });
        let problems = validation.errors.iter().map(|p| (p.message.clone(), p.help.clone()));
        let errors = problems.chain(errors).collect();
        warnings.extend(validation.warnings.iter().map(|p| p.message.clone()));
        Ok(Examined { origin: metadata.origin, step_file, loaded, errors, warnings })
    }

    /// An agent of a step may start nothing that goes beyond it (DS-27).
    fn stay_within(&self, steps: &[OpenStep], event: &Event, examined: &mut Examined) {
        let Some(open) = working(self.project, steps, event) else { return };
        let task = examined.loaded.as_ref().map(|loaded| loaded.state.task_id.clone());
        let asked = Asked {
            origin: Some(&examined.origin),
            step_file: examined.step_file.as_deref(),
            step_id: task.as_deref(),
            writes: &[],
        };
        let working = beyond::OpenStep {
            origin: &open.origin,
            step_file: &open.step_file,
            step_id: Some(&open.task_id),
            complete: self.is_complete(open),
            allowed: None,
        };
        if let Some(refusal) = beyond::beyond(&working, &asked) {
            examined.errors.push((refusal.to_string(), String::new()));
        }
    }

    /// A command line is about to run: commits of open work, and what would take the guard away, are refused early and
    /// in words. Git's own hooks are what holds.
    pub(super) fn shell(&mut self, command: &str) -> Result<Reply, GuardError> {
        let seen = shell::look(command);
        if let Some(disarm) = seen.disarm.first() {
            let what = match disarm {
                shell::Disarm::Uninstall => "uninstalling the guard".to_owned(),
                shell::Disarm::HooksPath { .. } => "setting core.hooksPath".to_owned(),
                shell::Disarm::File { path } => format!("changing {path}"),
            };
            return Ok(Reply::Deny {
                reason: format!(
                    "{what} would take the guard of this project away. That is for a person to do."
                ),
            });
        }
        if seen.git.is_empty() {
            return Ok(Reply::Pass);
        }
        let found = self.commit_faults()?;
        if !found.is_empty() {
            return Ok(Reply::Deny {
                reason: format!(
                    "There is open work, so nothing can be committed or pushed yet:\n{}",
                    found.join("\n")
                ),
            });
        }
        let bypass = seen.git.iter().find(|git| git.no_verify || git.hooks_path_override.is_some());
        Ok(match bypass {
            Some(_) => Reply::Deny {
                reason:
                    "Commits and pushes in this project go through its hooks; leave out what would skip them."
                        .to_owned(),
            },
            None => Reply::Pass,
        })
    }

    fn is_complete(&self, step: &OpenStep) -> bool {
        let Ok(rules) = self.rules() else { return false };
        let loaded = state::load(self.project, &rules, &step.step_file, Some(&step.task_id));
        matches!(loaded, Ok(Ok(loaded)) if loaded.state.status == StepStatus::Done)
    }
}

/// The step whose agent an event happened in.
pub(super) fn owner<'s>(steps: &'s [OpenStep], event: &Event) -> Option<&'s OpenStep> {
    let agent = event.agent_id.as_deref()?;
    steps.iter().find(|step| step.agent_id.as_deref() == Some(agent))
}

/// The step that the agent works on in which an event happened: as its own agent, or as one that it called. What the
/// client itself wrote down about the agent counts more than the order in which agents began.
fn working<'s>(project: &Project, steps: &'s [OpenStep], event: &Event) -> Option<&'s OpenStep> {
    event.agent_id.as_deref()?;
    let call = transcript::call_of(project, event);
    let Some(call) = call.as_ref() else {
        let earlier = |step: &&OpenStep| step.agents.iter().any(|id| event.agent_id.as_ref() == Some(id));
        return owner(steps, event).or_else(|| steps.iter().find(earlier));
    };
    let of_call = |step: &&OpenStep| step.calls.contains(call) || step.tool_use_id.as_ref() == Some(call);
    let resumed = || owner(steps, event).filter(|step| step.tool_use_id.is_none());
    steps.iter().find(of_call).or_else(resumed)
}

/// Why nothing goes on with a step that is held.
fn held(step: &OpenStep) -> String {
    format!(
        "{} is held until a person has decided about it (`seriatim inbox`): {}",
        step.in_words(),
        sentences(&step.holds).join("; ")
    )
}

/// A finding as it is told to an agent.
fn told(finding: &seriatim_core::finding::Finding) -> (String, String) {
    (finding.message.clone(), finding.help.clone().unwrap_or_default())
}

/// How it is told that no work can be begun for a step, and what to do instead.
fn refused_at_the_door(closed: Closed, id: &str) -> (String, String) {
    let (told, help) = match closed {
        Closed::Done => (
            format!("Step {id} is complete; nothing is left to do for it"),
            "choose a step that is not done; what is still to be done needs a step of its own",
        ),
        Closed::NotToBeRetried => (
            format!("Step {id} failed and is marked as not to be tried again"),
            "a person has to decide about it",
        ),
        Closed::InReview => (format!("Step {id} is in review"), closed.instead()),
        Closed::UnknownStatus => (format!("Step {id} has a status that is not known"), closed.instead()),
    };
    (told, help.to_owned())
}

/// Whether a step can be worked on at all.
fn check_step(found: &Loaded, errors: &mut Vec<(String, String)>, warnings: &mut Vec<String>) {
    let state = &found.state;
    if let Err(closed) = machine::way_to_work(state, Actor::Command) {
        errors.push(refused_at_the_door(closed, &state.task_id));
    }
    match scope::allowed(state) {
        Ok(allowed) if allowed.is_undeclared() => {
            warnings
                .push("the step declares no allowed file patterns, so its scope is not enforced".to_owned());
        }
        Ok(_) => {}
        Err(problems) => errors.extend(problems.into_iter().map(|problem| {
            (problem, "declare `task_specification.allowed_file_patterns` in the step file".to_owned())
        })),
    }
}
