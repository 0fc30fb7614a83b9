//! Gates of the configuration, run when an agent says that its step is done and before its commit: evidence beside its
//! claim. The whole output counts, and of reports only what the gate wrote in this run.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use seriatim_core::gate;
use seriatim_core::gate::Gate;
use seriatim_core::gate::GateEnd;
use seriatim_core::gate::GateRun;
use seriatim_core::gate::OutputReading;
use seriatim_core::guard::client::Client;
use seriatim_core::guard::event::Event;
use seriatim_core::guard::settings;
use seriatim_core::hash::Hash;
use seriatim_core::roadmap::state::StepState;
use seriatim_core::roadmap::state::StepStatus;
use seriatim_core::roadmap::verdict::AT_STOP;
use seriatim_core::roadmap::verdict::Evidence;
use seriatim_core::roadmap::verdict::Shown;
use seriatim_core::roadmap::verdict::demand;

use super::GuardError;
use super::project::Project;
use super::rules::Rules;
use super::scope;
use super::scope::Repository;
use super::state;
use super::step::Checked;
use super::step::OpenStep;
use crate::check_output::CHECK_OUTPUT_BYTES_MAX;
use crate::check_output::ReportsBefore;
use crate::check_output::read_whole;
use crate::hands::clock::Clock;
use crate::hands::process::DEFAULT_ENVIRONMENT;
use crate::hands::process::How;
use crate::hands::process::Spawn;
use crate::hands::process::Unwatched;
use crate::hands::process::environment;
use crate::ports::Ports;

/// What a hook needs beside its gates: to look at the files before, to end what is left of a gate, and to put all of it
/// on record.
const RESERVE: Duration = Duration::from_secs(5);
/// How long a gate whose time is up may take to end by itself.
const GRACE_MS: u64 = 1_000;
/// With less than this no gate is begun.
const SHORTEST: Duration = Duration::from_millis(500);
/// No client waits for a commit, so that every gate can be run to its end; a person does.
const COMMIT: Duration = Duration::from_secs(1_800);

/// How long a client waits for the hook, from the moment at which the hook began. All gates share it, those of several
/// steps that are judged at once included: a hook that takes longer is not listened to.
pub(super) struct Patience {
    began_ms: u64,
    limit: Duration,
    at: At,
}

/// Where gates are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// A client waits. What does not fit is not run, told, and left to the commit.
    Stop,
    /// The last place at which they can be run: what does not fit says nothing, and that holds the commit.
    Commit,
}

impl At {
    fn word(self) -> &'static str {
        match self {
            At::Stop => "a stop",
            At::Commit => "a commit",
        }
    }

    /// The evidence of a gate for which there was no time.
    fn without_time(self, gate: &str, why: String) -> Evidence {
        match self {
            At::Stop => Evidence::not_run(gate, format!("{why}; the commit gate runs it")),
            At::Commit => Evidence::broken(gate, why),
        }
    }
}

impl Patience {
    fn from_now(clock: &dyn Clock, seconds: Option<u32>) -> Patience {
        let limit = Duration::from_secs(seconds.unwrap_or_default().into());
        Patience { began_ms: clock.monotonic_ms(), limit, at: At::Stop }
    }

    /// What the settings that `guard install` writes give the hook of an event; the least that any hook of the client
    /// has where they do not name the event.
    pub(super) fn with(event: &Event, clock: &dyn Clock) -> Patience {
        let hooks = settings::hooks(event.client);
        let named = hooks.iter().filter(|hook| hook.event == event.name).map(|hook| hook.timeout_s).max();
        Patience::from_now(clock, named.or_else(|| hooks.iter().map(|hook| hook.timeout_s).min()))
    }

    /// Where no client waits, as long as the most patient one would.
    pub(super) fn most(clock: &dyn Clock) -> Patience {
        let all = Client::ALL.into_iter().flat_map(settings::hooks);
        Patience::from_now(clock, all.map(|hook| hook.timeout_s).max())
    }

    /// What the gates have before a commit.
    pub(super) fn of_commit(clock: &dyn Clock) -> Patience {
        Patience { began_ms: clock.monotonic_ms(), limit: COMMIT.saturating_add(RESERVE), at: At::Commit }
    }

    fn left(&self, clock: &dyn Clock) -> Duration {
        let passed = Duration::from_millis(clock.monotonic_ms().saturating_sub(self.began_ms));
        self.limit.saturating_sub(RESERVE).saturating_sub(passed)
    }
}

/// What the gates of a stop showed.
#[derive(Default)]
pub(super) struct AtStop {
    pub(super) evidence: Vec<Evidence>,
    /// What was green, and on which files.
    pub(super) checked: Option<Checked>,
    /// The step is said to be done, and the project has no gate that could tell.
    pub(super) nothing: bool,
}

/// Runs the gates of a step that is said to be done. Others have nothing to show yet.
pub(super) fn run(
    project: &Project,
    ports: &Ports,
    rules: &Rules,
    step: &OpenStep,
    patience: &Patience,
) -> Result<AtStop, GuardError> {
    let Ok(loaded) = state::load(project, rules, &step.step_file, Some(&step.task_id))? else {
        return Ok(AtStop::default());
    };
    if loaded.state.status != StepStatus::Done {
        return Ok(AtStop::default());
    }
    let gates = configured(rules);
    if gates.is_empty() {
        return Ok(AtStop { nothing: true, ..AtStop::default() });
    }
    // The files as they are before the first gate: whatever is another one later was not looked at.
    let at = Repository { project, processes: ports.processes.as_ref() };
    let tree = tree(at)?;
    let left = patience.left(ports.clock.as_ref());
    let evidence = all(ports, &project.root, &gates, left, patience.at);
    let checked = tree.map(|tree| Checked { tree, green: green(&gates, &evidence) });
    Ok(AtStop { evidence, checked, nothing: false })
}

/// Runs gates before a commit.
pub(super) fn run_at_commit(project: &Project, ports: &Ports, gates: &[(&str, &Gate)]) -> Vec<Evidence> {
    let patience = Patience::of_commit(ports.clock.as_ref());
    all(ports, &project.root, gates, patience.left(ports.clock.as_ref()), patience.at)
}

/// The gates of the configuration that the guard runs, in their order.
pub(super) fn configured(rules: &Rules) -> Vec<(&'static str, &Gate)> {
    AT_STOP.into_iter().filter_map(|name| Some((name, rules.config.gates.get(name)?))).collect()
}

/// All files that git sees. A project without git has no evidence that lasts.
pub(super) fn tree(at: Repository<'_>) -> Result<Option<String>, GuardError> {
    scope::with_git(at, |git| match git.is_repository()? {
        true => git.tree().map(Some),
        false => Ok(None),
    })
}

/// Returns whether nothing is another one since, but what the guard itself writes for the step.
pub(super) fn is_unchanged(at: Repository<'_>, tree: &str, state: &StepState) -> Result<bool, GuardError> {
    let Ok(allowed) = scope::allowed(state) else { return Ok(false) };
    let changes = scope::with_git(at, |git| git.changes_since(Some(tree)))?;
    let is_own = |path: &String| allowed.is_own(path);
    Ok(changes.iter().all(|change| is_own(&change.path) && change.old_path.iter().all(is_own)))
}

/// Returns whether a gate was green, declared as it is now.
pub(super) fn was_green(checked: &Checked, name: &str, gate: &Gate) -> bool {
    declaration(gate).is_some_and(|now| checked.green.get(name) == Some(&now))
}

/// The gates that are green, each with a hash over its declaration.
pub(super) fn green(gates: &[(&str, &Gate)], evidence: &[Evidence]) -> BTreeMap<String, Hash> {
    let is_green = |name: &str| evidence.iter().any(|one| one.gate == name && one.result == Shown::Green);
    let named = gates.iter().filter(|(name, _)| is_green(name));
    named.filter_map(|(name, gate)| declared(name, gate)).collect()
}

/// The name of a gate with a hash over its declaration.
pub(super) fn declared(name: &str, gate: &Gate) -> Option<(String, Hash)> {
    Some((name.to_owned(), declaration(gate)?))
}

fn declaration(gate: &Gate) -> Option<Hash> {
    serde_json::to_vec(gate).ok().map(|bytes| Hash::of(&bytes))
}

/// Runs gates one after the other in the time that all of them have together.
fn all(ports: &Ports, root: &Path, gates: &[(&str, &Gate)], mut left: Duration, at: At) -> Vec<Evidence> {
    let mut found = vec![];
    for (name, gate) in gates {
        if left < SHORTEST {
            let why = format!("the gates before it used up the time that {} has", at.word());
            found.push(at.without_time(name, why));
            continue;
        }
        let (evidence, took) = one(ports, root, name, gate, left, at);
        found.push(evidence.ran_within(&gate.within));
        left = left.saturating_sub(took);
    }
    found
}

/// Runs one gate, and tells how long that took.
fn one(ports: &Ports, root: &Path, name: &str, gate: &Gate, left: Duration, at: At) -> (Evidence, Duration) {
    let argv: Vec<String> = gate.words().cloned().collect();
    let mut spawn = Spawn::new(argv.clone(), root, format!("guard-gate-{name}-{}", ports.environment.pid));
    spawn.env = environment(&DEFAULT_ENVIRONMENT);
    spawn.env.extend(environment(&gate.env));
    let left_ms = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
    let limit_ms = gate.timeout_ms.map_or(left_ms, |own| own.min(left_ms));
    spawn.deadline_ms = Some(limit_ms);
    spawn.grace_ms = GRACE_MS;
    // All of it is kept here instead of in a file that others could write to.
    spawn.keep_bytes = usize::try_from(CHECK_OUTPUT_BYTES_MAX).unwrap_or(usize::MAX);
    let files = ports.files.as_ref();
    let reports: Vec<String> = gate.value.iter().cloned().collect();
    let before = ReportsBefore::of(files, root, &reports);
    let ended = ports.processes.run(&spawn, &Unwatched);
    let took = Duration::from_millis(ended.as_ref().map_or(0, |ended| ended.duration_ms));
    let is_own_limit = gate.timeout_ms.is_some_and(|own| own <= left_ms);
    let end = match ended.as_ref().map(|ended| ended.how) {
        Ok(How::Deadline) if !is_own_limit => {
            let why =
                format!("it did not end within the {} that {} has left for it", seconds(limit_ms), at.word());
            return (at.without_time(name, why), took);
        }
        // Its own limit is the project's word about it.
        Ok(How::Deadline) => GateEnd::Deadline(format!("it did not end within its {}", seconds(limit_ms))),
        Ok(How::Exited(code)) => GateEnd::Exit(code),
        Ok(How::Signaled(_)) => GateEnd::Signal,
        Ok(How::Stopped) => GateEnd::NotRun("it was stopped from outside".to_owned()),
        Err(error) => GateEnd::NotRun(format!("it could not be run: {error}")),
    };
    let (reading, tail) = match &ended {
        Ok(ended) => {
            let query = gate::query(name, gate);
            let reading = read_whole(files, &query, ended, end.exit(), &before.written(files));
            (reading, gate::tail(&format!("{}{}", ended.stdout, ended.stderr)))
        }
        Err(_) => (OutputReading::default(), String::new()),
    };
    let (gate_name, good) = (name.to_owned(), gate.good_exits());
    let run = GateRun { gate: gate_name, argv, end, good, reading, tail, output: None };
    (Evidence::of(&gate::judge(run, &demand(gate))), took)
}

fn seconds(ms: u64) -> String {
    format!("{:.1} s", Duration::from_millis(ms).as_secs_f32())
}
