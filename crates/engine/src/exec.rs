//! Commands that the engine runs itself: checks in views of their own, and others in the workspace.

use std::path::Path;

use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::hash::Hash;
use seriatim_core::world::Isolation;
use seriatim_flows::request::Check;
use seriatim_flows::request::Command;
use seriatim_flows::request::Ran;

use crate::agents::command::found_from;
use crate::agents::command::printed;
use crate::check_output::CHECK_OUTPUT_BYTES_MAX;
use crate::check_output::ReportsBefore;
use crate::check_output::read_whole;
use crate::hands::process::DEFAULT_ENVIRONMENT;
use crate::hands::process::How;
use crate::hands::process::Input;
use crate::hands::process::Spawn;
use crate::hands::process::Watch;
use crate::hands::process::environment;
use crate::job::Job;
use crate::perform::Hands;
use crate::perform::file_failure;
use crate::views;

/// Runs a command. Where it is a check it has a view of its own, and all of its output is read before a part is kept.
pub(crate) fn exec(hands: &Hands, job: &Job, command: &Command, watch: &dyn Watch) -> Result<Ran, Failure> {
    let mut spawn = spawn_of(hands, job, command)?;
    let place = if command.cwd.is_empty() { hands.workspace.root().to_owned() } else { spawn.cwd.clone() };
    let files = hands.files.as_ref();
    let may_be_written = command.check.as_ref().map(|check| check.reports.as_slice()).unwrap_or_default();
    let before = ReportsBefore::of(files, &place, may_be_written);
    let isolation = match &command.check {
        Some(check) => {
            let is_set_up = set_up(hands, job, check, &place, &spawn, watch)?;
            views::enter_check(hands, job, check, &place, !is_set_up, &mut spawn)?
        }
        None => Isolation::None,
    };
    let ended = hands
        .processes
        .run(&spawn, watch)
        .map_err(|e| Failure::new(Class::Contract, e.to_string()).because(e.cause()))?;
    let code = match ended.how {
        How::Exited(code) => Some(code),
        How::Signaled(_) | How::Stopped => None,
        How::Deadline => {
            let what = format!("`{}` did not finish in time", command.argv.join(" "));
            watch.printed(&printed(hands, &ended));
            return Err(Failure {
                output: ended.last_words().to_owned(),
                ..Failure::new(Class::AgentDeadline, what)
            });
        }
    };
    let reports = match &command.check {
        Some(check) if isolation != Isolation::None => views::reports_of_check(hands, job, check, &place)?,
        Some(_) => before.written(files),
        None => vec![],
    };
    let query = command.check.as_ref().and_then(|check| check.query.as_ref());
    let reading = query.map(|query| read_whole(files, query, &ended, code, &reports));
    Ok(Ran {
        reports: Some(reports).filter(|reports| !reports.is_empty()),
        reading,
        code,
        cut: ended.cut(),
        file: printed(hands, &ended).file,
        output: Some(Hash::of_parts(&[ended.stdout.as_bytes(), ended.stderr.as_bytes()])),
        stdout: ended.stdout,
        stderr: ended.stderr,
        duration_ms: ended.duration_ms,
    })
}

/// The process of a command, without a view.
fn spawn_of(hands: &Hands, job: &Job, command: &Command) -> Result<Spawn, Failure> {
    let cwd = if command.cwd.is_empty() { "." } else { &command.cwd };
    let cwd = hands.resolve(cwd).map_err(|e| file_failure(&e))?;
    let mut names: Vec<&str> = DEFAULT_ENVIRONMENT.to_vec();
    names.extend(command.env.iter().map(String::as_str));
    let argv = match command.cwd.is_empty() {
        true => command.argv.clone(),
        false => found_from(hands, &command.argv, &cwd),
    };
    let mut spawn = Spawn::new(argv, cwd, job.marker());
    spawn.env = environment(&names);
    spawn.stdin = if command.stdin.is_empty() {
        Input::Nothing
    } else {
        Input::Bytes(command.stdin.clone().into_bytes())
    };
    spawn.deadline_ms = command.timeout_ms;
    spawn.overflow = Some(hands.outputs.join(format!("{}.log", job.file_name())));
    if command.check.is_some() {
        spawn.overflow_bytes = CHECK_OUTPUT_BYTES_MAX;
    }
    Ok(spawn)
}

/// Runs what a check needs before it, in the view of the check. Returns whether there was anything to run.
fn set_up(
    hands: &Hands,
    job: &Job,
    check: &Check,
    place: &Path,
    main: &Spawn,
    watch: &dyn Watch,
) -> Result<bool, Failure> {
    if check.setup.is_empty() {
        return Ok(false);
    }
    let mut spawn = Spawn { argv: check.setup.clone(), stdin: Input::Nothing, ..main.clone() };
    views::enter_check(hands, job, check, place, true, &mut spawn)?;
    let ended = hands.processes.run(&spawn, watch);
    let ended = ended.map_err(|e| Failure::new(Class::Contract, e.to_string()).because(e.cause()))?;
    match ended.how.in_words() {
        None => Ok(true),
        Some(how) => {
            let what = format!("its set-up `{}` {how}", check.setup.join(" "));
            Err(Failure { output: ended.last_words().to_owned(), ..Failure::new(Class::Contract, what) })
        }
    }
}
