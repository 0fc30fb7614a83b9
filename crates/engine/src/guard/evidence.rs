//! Gates of the configuration, run when an agent says that its step is done: evidence beside its claim.

#[cfg(test)]
mod tests;

use std::path::Path;
use std::time::Duration;

use seriatim_core::config::Gate;
use seriatim_core::guard::client::Client;
use seriatim_core::guard::event::Event;
use seriatim_core::guard::settings;
use seriatim_core::roadmap::state::StepStatus;
use seriatim_core::roadmap::verdict::AT_STOP;
use seriatim_core::roadmap::verdict::Evidence;
use seriatim_core::roadmap::verdict::Ran;

use super::GuardError;
use super::project::Project;
use super::rules::Rules;
use super::state;
use super::step::OpenStep;
use crate::hands::clock::Clock;
use crate::hands::files::Files;
use crate::hands::process::DEFAULT_ENVIRONMENT;
use crate::hands::process::Ended;
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
/// A report of coverage is a few megabytes at the most.
const REPORT_BYTES_MAX: u64 = 16 << 20;

/// How long a client waits for the hook, from the moment at which the hook began. All gates share it, those of several
/// steps that are judged at once included: a hook that takes longer is not listened to.
pub(super) struct Patience {
    began_ms: u64,
    limit: Duration,
}

impl Patience {
    fn from_now(clock: &dyn Clock, seconds: Option<u32>) -> Patience {
        let limit = Duration::from_secs(seconds.unwrap_or_default().into());
        Patience { began_ms: clock.monotonic_ms(), limit }
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

    fn left(&self, clock: &dyn Clock) -> Duration {
        let passed = Duration::from_millis(clock.monotonic_ms().saturating_sub(self.began_ms));
        self.limit.saturating_sub(RESERVE).saturating_sub(passed)
    }
}

/// Runs the gates of a step that is said to be done. Others have nothing to show yet.
pub(super) fn run(
    project: &Project,
    ports: &Ports,
    rules: &Rules,
    step: &OpenStep,
    patience: &Patience,
) -> Result<Vec<Evidence>, GuardError> {
    let configured = |name: &'static str| Some((name, rules.config.gates.get(name)?));
    let gates: Vec<(&str, &Gate)> = AT_STOP.into_iter().filter_map(configured).collect();
    if gates.is_empty() {
        return Ok(vec![]);
    }
    let Ok(loaded) = state::load(project, rules, &step.step_file, Some(&step.task_id))? else {
        return Ok(vec![]);
    };
    if loaded.state.status != StepStatus::Done {
        return Ok(vec![]);
    }
    let left = patience.left(ports.clock.as_ref());
    Ok(all(ports, &project.root, &gates, left))
}

/// Runs gates one after the other in the time that all of them have together.
fn all(ports: &Ports, root: &Path, gates: &[(&str, &Gate)], mut left: Duration) -> Vec<Evidence> {
    let mut found = vec![];
    for (name, gate) in gates {
        if left < SHORTEST {
            found.push(Evidence::not_run(name, "the gates before it used up the time that a stop has"));
            continue;
        }
        let (evidence, took) = one(ports, root, name, gate, left);
        found.push(evidence.ran_within(&gate.within));
        left = left.saturating_sub(took);
    }
    found
}

/// Runs one gate, and tells how long that took.
fn one(ports: &Ports, root: &Path, name: &str, gate: &Gate, left: Duration) -> (Evidence, Duration) {
    let argv = [gate.within.as_slice(), &gate.command].concat();
    let mut spawn = Spawn::new(argv, root, format!("guard-gate-{name}-{}", ports.environment.pid));
    spawn.env = environment(&DEFAULT_ENVIRONMENT);
    spawn.env.extend(environment(&gate.env));
    let left_ms = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
    let limit_ms = gate.timeout_ms.map_or(left_ms, |own| own.min(left_ms));
    spawn.deadline_ms = Some(limit_ms);
    spawn.grace_ms = GRACE_MS;
    let ended = match ports.processes.run(&spawn, &Unwatched) {
        Ok(ended) => ended,
        Err(error) => {
            return (Evidence::broken(name, format!("it could not be run: {error}")), Duration::ZERO);
        }
    };
    let took = Duration::from_millis(ended.duration_ms);
    if ended.how == How::Deadline {
        return (Evidence::not_run(name, too_long(gate, limit_ms, left_ms)), took);
    }
    let report = gate.value.as_deref().and_then(|path| report(ports.files.as_ref(), root, path));
    (Evidence::of(name, gate, &ran(&ended, &both(&ended), report.as_deref())), took)
}

/// Its own limit is the project's word about it; that of the stop is not.
fn too_long(gate: &Gate, limit_ms: u64, left_ms: u64) -> String {
    let seconds = Duration::from_millis(limit_ms).as_secs_f32();
    match gate.timeout_ms.is_some_and(|own| own <= left_ms) {
        true => format!("it did not end within its {seconds:.1} s, and says nothing"),
        false => {
            format!("it did not end within the {seconds:.1} s that a stop has left for it, and says nothing")
        }
    }
}

fn ran<'o>(ended: &Ended, output: &'o str, report: Option<&'o str>) -> Ran<'o> {
    let exit = match ended.how {
        How::Exited(code) => Some(code),
        How::Signaled(_) | How::Deadline | How::Stopped => None,
    };
    Ran { exit, output, report }
}

/// All that a command printed. Where the middle was cut, its last lines are still the last.
fn both(ended: &Ended) -> String {
    match ended.cut() {
        true => format!("{}\n{}\n{}", ended.stdout, ended.stderr, ended.tail),
        false => format!("{}\n{}", ended.stdout, ended.stderr),
    }
}

/// The report that the value of a gate stands in, if that is what its `value` names.
fn report(files: &dyn Files, root: &Path, path: &str) -> Option<String> {
    let path = root.join(path);
    files.read(&path, REPORT_BYTES_MAX).and_then(|found| found.into_text(&path)).ok()
}
