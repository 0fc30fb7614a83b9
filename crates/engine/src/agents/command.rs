//! The `command` agent: a program in its own session, a brief in, a report out.

use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;
use seriatim_core::config::Agent;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::failure::FailureCause;
use seriatim_core::failure::claim::claimed;
use seriatim_core::forbidden;
use seriatim_core::report;
use seriatim_core::report::Brief;
use seriatim_core::report::Report;
use seriatim_core::report::Status;
use seriatim_core::time::span_in_words;
use seriatim_core::world::Isolation;
use seriatim_flows::request::Assignment;
use seriatim_flows::request::FORBIDDEN;

use super::REPORT_BYTES_MAX;
use super::demand;
use super::judge;
use super::rehearsal;
use crate::hands::files::Entry;
use crate::hands::files::FileError;
use crate::hands::files::Kind;
use crate::hands::files::Write;
use crate::hands::process::DEFAULT_ENVIRONMENT;
use crate::hands::process::Ended;
use crate::hands::process::How;
use crate::hands::process::Input;
use crate::hands::process::Printed;
use crate::hands::process::Spawn;
use crate::hands::process::SpawnError;
use crate::hands::process::Watch;
use crate::hands::process::environment;
use crate::inside;
use crate::inside::Asked;
use crate::inside::Claim;
use crate::job::Job;
use crate::perform::Hands;
use crate::perform::Stuck;
use crate::perform::file_failure;
use crate::perform::lift;
use crate::perform::remove_all;
use crate::views;
use crate::views::Apart;

/// The view of an agent that only rehearses.
const REHEARSAL: &str = "@rehearsal";

struct Desk {
    folder: PathBuf,
    brief: PathBuf,
    report: PathBuf,
}

impl Desk {
    fn of(hands: &Hands, job: &Job) -> Desk {
        let folder = hands.scratch.join(job.file_name());
        Desk { brief: folder.join("brief.json"), report: folder.join("report.json"), folder }
    }
}

pub(super) fn attempt(
    hands: &Hands,
    job: &Job,
    assignment: &Assignment,
    agent: &Agent,
    argv: &[String],
    watch: &dyn Watch,
) -> Result<Result<Report, Failure>, Stuck> {
    let desk = Desk::of(hands, job);
    let result = lift(lay(hands, job, assignment, agent, &desk)).and_then(|laid| {
        let brief = match laid {
            Ok(brief) => brief,
            Err(failure) => return Ok(Err(failure)),
        };
        let spawn = spawn(hands, job, &brief, agent, argv, &desk);
        let work = Work { hands, job, assignment, agent, desk: &desk, watch };
        match assignment.rehearsal {
            true => work.rehearse(spawn),
            false => Ok(work.carry_out(brief, spawn)),
        }
    });
    // The desk may hold what must not be kept (a token in a report): it is cleared whatever happened.
    let _ = remove_all(hands.files.as_ref(), &desk.folder);
    result
}

/// One attempt under way.
struct Work<'a> {
    hands: &'a Hands,
    job: &'a Job,
    assignment: &'a Assignment,
    agent: &'a Agent,
    desk: &'a Desk,
    watch: &'a dyn Watch,
}

impl Work<'_> {
    /// Lets the agent work in the view of its work.
    fn carry_out(&self, mut brief: Brief, mut spawn: Spawn) -> Result<Report, Failure> {
        place(self.hands, self.assignment, &mut spawn)?;
        let isolation = self.enter(&self.assignment.view, &mut spawn)?;
        if isolation == Isolation::Copy {
            tell_of_copy(self.hands, &mut brief, self.desk, &mut spawn)?;
        }
        self.run(spawn)
    }

    /// Lets the agent work where nothing of it stays, and tells what it would have written: in a view that is dropped, or
    /// in a copy where there are no views.
    fn rehearse(&self, mut spawn: Spawn) -> Result<Result<Report, Failure>, Stuck> {
        let Work { hands, job, .. } = self;
        spawn.env.push(("SERIATIM_TEST_MODE".to_owned(), "1".to_owned()));
        let isolation = match self.enter(REHEARSAL, &mut spawn) {
            Ok(isolation) => isolation,
            Err(failure) => return Ok(Err(failure)),
        };
        if isolation != Isolation::None {
            let report = self.run(spawn);
            let paths = views::rehearsed(hands, job, REHEARSAL);
            return Ok(report.and_then(|report| Ok(rehearsal::tell(report, paths?))));
        }
        let copy = self.desk.folder.join("workspace");
        let (files, root) = (hands.files.as_ref(), hands.workspace.root());
        if let Err(failure) = lift(rehearsal::copy(files, root, &copy, hands.workspace.store()))? {
            return Ok(Err(failure));
        }
        spawn.cwd.clone_from(&copy);
        Ok(self.run(spawn).and_then(|report| {
            let paths = rehearsal::changes(files, root, &copy).map_err(|e| storage(&e))?;
            Ok(rehearsal::tell(report, paths))
        }))
    }

    fn run(&self, mut spawn: Spawn) -> Result<Report, Failure> {
        let Work { hands, job, assignment, watch, .. } = self;
        let asked = Arc::new(Asked::default());
        let claim = Claim::new(job, assignment, &self.desk.report);
        let answers = inside::answers(hands, job, claim, &spawn.cwd, &asked);
        let listening = hands.views.listen(&mut spawn, answers).map_err(views::failure)?;
        let ended = hands.processes.run(&spawn, *watch).map_err(|e| not_started(&e))?;
        // What it asked for ends with it, before anybody judges what came of it.
        drop(listening);
        let mut printed = printed(hands, &ended);
        asked.tell(&mut printed);
        if !printed.is_empty() {
            watch.printed(&printed);
        }
        let mut report = judge_attempt(hands, assignment, self.agent, self.desk, &ended)?;
        tell_forbidden(&mut report, &assignment.forbidden, &ended);
        Ok(report)
    }

    /// Puts the agent into a view.
    fn enter(&self, view: &str, spawn: &mut Spawn) -> Result<Isolation, Failure> {
        let apart = Apart {
            isolation: self.agent.isolation,
            network: self.agent.network,
            worlds: &self.job.config.config.worlds,
            share: vec![self.desk.folder.clone()],
            on: self.assignment.on.clone(),
        };
        let place = spawn.cwd.clone();
        views::enter(self.hands, self.job, view, &place, apart, spawn)
    }
}

/// Says in the prompt that the workspace of the agent is a copy: paths that documents give in full mean the real one.
fn tell_of_copy(hands: &Hands, brief: &mut Brief, desk: &Desk, spawn: &mut Spawn) -> Result<(), Failure> {
    brief.prompt.push_str(&format!(
        "\n\nYou work in a copy of the workspace: {}. Use paths relative to it. The workspace itself ({}) is read-only \
         for you; your changes in the copy are merged into it later.\n",
        spawn.cwd.display(),
        hands.workspace.root().display()
    ));
    let json = serde_json::to_vec_pretty(&brief).unwrap_or_default();
    let written = hands.files.write(&desk.brief, &json, Write::REBUILDABLE.mode(0o600));
    written.map_err(|e| file_failure(&e))?;
    spawn.stdin = Input::Bytes(brief.prompt.clone().into_bytes());
    Ok(())
}

/// Puts the agent where it works, which is another working tree for branches that run side by side. A program or a
/// script that only the workspace itself has is still found there.
fn place(hands: &Hands, assignment: &Assignment, spawn: &mut Spawn) -> Result<(), Failure> {
    if !assignment.phase.is_empty() {
        spawn.env.push(("SERIATIM_PHASE".to_owned(), assignment.phase.clone()));
    }
    if assignment.cwd.is_empty() {
        return Ok(());
    }
    spawn.cwd = hands.resolve(&assignment.cwd).map_err(|e| file_failure(&e))?;
    spawn.argv = found_from(hands, &spawn.argv, &spawn.cwd);
    Ok(())
}

/// The words of a command, with files of the workspace named in full where another working tree lacks them.
pub(crate) fn found_from(hands: &Hands, argv: &[String], cwd: &Path) -> Vec<String> {
    let is_file = |path: &Path| hands.files.look(path).is_ok_and(|found| found.is_some());
    let word = |word: &String| {
        let there = hands.workspace.root().join(word);
        let only_there = !word.starts_with(['-', '/']) && is_file(&there) && !is_file(&cwd.join(word));
        if only_there { there.to_string_lossy().into_owned() } else { word.clone() }
    };
    argv.iter().map(word).collect()
}

/// The time that an attempt has: the agent's, or less where the brief says so.
fn time_ms(agent: &Agent, assignment: &Assignment) -> u64 {
    match assignment.brief.limits.timeout_ms {
        Some(limit) if assignment.own_time => limit,
        Some(limit) => limit.min(agent.timeout_ms),
        None => agent.timeout_ms,
    }
}

/// Looks for forbidden commands in all of the output that is kept, and tells those alone: the output itself is no
/// part of a report.
fn tell_forbidden(report: &mut Report, patterns: &[String], ended: &Ended) {
    if patterns.is_empty() {
        return;
    }
    let texts = [ended.stdout.clone(), ended.stderr.clone(), ended.tail.clone()];
    let mut shown: Vec<String> = forbidden::find(&texts, patterns).into_iter().map(|hit| hit.text).collect();
    shown.sort();
    shown.dedup();
    report.unknown.insert(FORBIDDEN.to_owned(), json!(shown));
}

fn storage(error: &FileError) -> Failure {
    Failure::new(Class::Storage, error.to_string())
}

fn not_started(error: &SpawnError) -> Failure {
    Failure::new(Class::Contract, format!("the agent could not be started: {error}")).because(error.cause())
}

/// Lays out the brief; a report of an earlier, interrupted attempt is taken away.
fn lay(
    hands: &Hands,
    job: &Job,
    assignment: &Assignment,
    agent: &Agent,
    desk: &Desk,
) -> Result<Brief, FileError> {
    remove_all(hands.files.as_ref(), &desk.folder)?;
    hands.files.make_directory(&desk.folder)?;
    hands.files.set_mode(&desk.folder, 0o700)?;
    let mut brief = assignment.brief.clone();
    brief.run = job.run_name.clone();
    brief.limits.timeout_ms = Some(time_ms(agent, assignment));
    let json = serde_json::to_vec_pretty(&brief).unwrap_or_default();
    hands.files.write(&desk.brief, &json, Write::REBUILDABLE.mode(0o600))?;
    Ok(brief)
}

fn spawn(hands: &Hands, job: &Job, brief: &Brief, agent: &Agent, argv: &[String], desk: &Desk) -> Spawn {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let mut spawn = Spawn::new(argv.to_vec(), hands.workspace.root(), job.marker());
    spawn.env =
        if agent.env.is_empty() { environment(&DEFAULT_ENVIRONMENT) } else { environment(&agent.env) };
    spawn.env.extend([
        ("SERIATIM_BRIEF".to_owned(), text(&desk.brief)),
        ("SERIATIM_REPORT".to_owned(), text(&desk.report)),
        ("SERIATIM_RUN".to_owned(), job.run_name.clone()),
        ("SERIATIM_STEP".to_owned(), brief.step.clone()),
        ("SERIATIM_ATTEMPT".to_owned(), brief.attempt.to_string()),
    ]);
    spawn.stdin = Input::Bytes(brief.prompt.clone().into_bytes());
    spawn.deadline_ms = brief.limits.timeout_ms;
    spawn.grace_ms = agent.grace_ms;
    spawn.overflow = Some(hands.outputs.join(format!("{}.log", job.file_name())));
    spawn
}

fn judge_attempt(
    hands: &Hands,
    assignment: &Assignment,
    agent: &Agent,
    desk: &Desk,
    ended: &Ended,
) -> Result<Report, Failure> {
    let fail = |class: Class, message: String| Failure {
        kept: kept(hands, ended),
        output: ended.last_words().to_owned(),
        ..Failure::new(class, message)
    };
    let crash = |message: String| {
        let known = exit_code(ended.how).and_then(FailureCause::of_exit_code);
        fail(Class::Crash, message)
            .because(known.or_else(|| claimed(Class::Crash, false, "", ended.last_words())))
    };
    match ended.how {
        How::Deadline => {
            let time = span_in_words(time_ms(agent, assignment));
            return Err(fail(
                Class::AgentDeadline,
                format!("it did not finish within {time} and was stopped"),
            ));
        }
        How::Stopped => return Err(fail(Class::Cancelled, "it was stopped from outside".to_owned())),
        How::Exited(_) | How::Signaled(_) => {}
    }
    let crashed = match (ended.how, ended.how.in_words()) {
        (How::Exited(_), Some(words)) => Some(format!("it {words} and no usable report")),
        (_, Some(words)) => Some(format!("it {words}")),
        (_, None) => None,
    };
    // A link would be followed outside of the agent's view, to files that are hidden from it.
    let is_link = |entry: Entry| matches!(entry.kind, Kind::Symlink(_));
    if hands.files.look(&desk.report).is_ok_and(|found| found.is_some_and(is_link)) {
        let message = "its report is a symbolic link, which is not read; write the report itself".to_owned();
        return Err(Failure { feedback: vec![message.clone()], ..fail(Class::Invalid, message) });
    }
    let bytes = match hands.files.read(&desk.report, REPORT_BYTES_MAX as u64) {
        Ok(found) => found.bytes,
        Err(FileError::NotFound { .. }) => {
            return Err(match crashed {
                Some(message) => crash(message),
                None => fail(Class::Silent, "it ended as if all were well and reported nothing".to_owned()),
            });
        }
        Err(FileError::TooLarge { .. }) => {
            let message =
                format!("its report is larger than {} MiB and was not read", REPORT_BYTES_MAX >> 20);
            return Err(Failure { feedback: vec![message.clone()], ..fail(Class::Invalid, message) });
        }
        Err(e) => return Err(fail(Class::Storage, e.to_string())),
    };
    match (report::read(&bytes, &demand(assignment)), crashed) {
        // A crash is a crash, unless the agent itself says how it failed.
        (Ok(report), Some(message)) if report.status != Status::Failed => Err(crash(message)),
        (Ok(report), _) => judge(report, ended.last_words()).map_err(|f| Failure {
            unclassed: f.unclassed,
            cause: f.cause,
            ..fail(f.class, f.message)
        }),
        (Err(_), Some(message)) => Err(crash(message)),
        (Err(problems), None) => {
            let message = format!("its report cannot be used: {}", problems.join("; "));
            Err(Failure { feedback: problems, ..fail(Class::Invalid, message) })
        }
    }
}

/// The exit code, where the process ended by itself.
fn exit_code(how: How) -> Option<i32> {
    match how {
        How::Exited(code) => Some(code),
        How::Signaled(_) | How::Deadline | How::Stopped => None,
    }
}

/// What a process printed, as it is kept.
pub(crate) fn printed(hands: &Hands, ended: &Ended) -> Printed {
    let shown = |path: &PathBuf| {
        let inside = hands.workspace.relative(path);
        inside.unwrap_or_else(|| path.display().to_string())
    };
    Printed {
        stdout: ended.stdout.clone(),
        stderr: ended.stderr.clone(),
        file: ended.overflow.as_ref().map(shown),
        dropped_bytes: ended.dropped_bytes,
        ..Printed::default()
    }
}

/// What there is to look at after a failure, for people.
fn kept(hands: &Hands, ended: &Ended) -> Vec<String> {
    let mut kept = Vec::new();
    if let Some(file) = printed(hands, ended).file {
        kept.push(format!("its long output is in {file}"));
    }
    if !ended.killed.is_empty() {
        let names: Vec<_> = ended.killed.iter().map(|l| l.command.as_str()).collect();
        kept.push(format!("processes that had to be ended: {}", names.join(", ")));
    }
    kept
}
