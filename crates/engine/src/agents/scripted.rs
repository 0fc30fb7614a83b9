//! The `scripted` agent: answers from a file, for tests, demos and rehearsals. The same protocol without a process.

use std::path::Path;
use std::path::PathBuf;

use serde_json::Value;
use seriatim_core::config::PinnedConfig;
use seriatim_core::config::PinnedScript;
use seriatim_core::doc;
use seriatim_core::doc::Node;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::finding::Finding;
use seriatim_core::finding::Place;
use seriatim_core::report;
use seriatim_core::report::Report;
use seriatim_flows::request::Assignment;

use super::demand;
use super::judge;
use super::rehearsal;
use crate::hands::files::Write;
use crate::job::CallOf;
use crate::job::Job;
use crate::perform::Hands;
use crate::perform::Stuck;
use crate::perform::file_failure;
use crate::perform::lift;

/// A script that is longer than this is not read.
pub(crate) const SCRIPT_BYTES_MAX: u64 = 16 << 20;

/// The script of an agent: the recorded content, or the file where that is not recorded.
pub(super) struct Script<'s> {
    path: &'s str,
    pinned: Option<&'s PinnedScript>,
}

impl<'s> Script<'s> {
    pub(super) fn of(config: &'s PinnedConfig, agent: &str, path: &'s str) -> Script<'s> {
        Script { path, pinned: config.scripts.get(agent) }
    }

    fn read(&self, hands: &Hands) -> Result<Vec<u8>, Failure> {
        if let Some(text) = self.pinned.and_then(|pinned| pinned.text.as_ref()) {
            return Ok(text.clone().into_bytes());
        }
        let path = hands.resolve(self.path).map_err(|e| file_failure(&e))?;
        let found = hands.files.read(&path, SCRIPT_BYTES_MAX).map_err(|e| file_failure(&e))?;
        match self.pinned.and_then(|pinned| pinned.hash) {
            Some(hash) if hash != found.hash => {
                let what = format!("the script {} changed since the run recorded it", self.path);
                Err(Failure::new(Class::Contract, what))
            }
            _ => Ok(found.bytes),
        }
    }
}

/// One line of the script.
pub(crate) struct Line {
    step: Option<String>,
    role: Option<String>,
    phase: Option<String>,
    report: Value,
    write: Vec<(String, String)>,
    repeat: bool,
}

/// Fields of a line that choose it.
const CHOOSING: [&str; 3] = ["step", "role", "phase"];

/// Understands a script, or says everything that is wrong with it: a line that nobody understands is never passed over.
pub(crate) fn understand_script(bytes: &[u8]) -> Result<Vec<Line>, Vec<Finding>> {
    let document = doc::read(bytes, &doc::Limits::default())?;
    let mut findings = vec![];
    let Some(nodes) = document.root.as_seq() else {
        let message = format!("a script is a list of lines, but this is {}", document.root.in_words());
        let finding = Finding::error("type", document.root.place, message);
        return Err(vec![finding.help("write each line as `- {step: \"1.1\", report: {status: done}}`")]);
    };
    let lines: Vec<Line> = nodes.iter().filter_map(|node| Line::read(node, &mut findings)).collect();
    if findings.is_empty() { Ok(lines) } else { Err(findings) }
}

impl Line {
    /// Reads one line; everything that is wrong with it is a finding.
    fn read(node: &Node, findings: &mut Vec<Finding>) -> Option<Line> {
        let mut wrong = |place: Place, message: String, help: &str| {
            findings.push(Finding::error("script", place, message).help(help));
        };
        let mut text = |name: &str| {
            let given = node.get(name)?;
            let text = given.scalar_text();
            if text.is_none() {
                wrong(
                    given.place,
                    format!("`{name}` must be a text, but this is {}", given.in_words()),
                    "name one",
                );
            }
            text
        };
        let [step, role, phase] = CHOOSING.map(&mut text);
        let report = node.get("report").filter(|report| report.as_map().is_some());
        if report.is_none() {
            let place = node.get("report").map_or(node.place, |report| report.place);
            wrong(place, "a line needs `report`, a mapping".to_owned(), "write `report: {status: done}`");
        }
        let mut write = vec![];
        if let Some(files) = node.get("write") {
            for (path, content) in files.as_map().unwrap_or_default() {
                match content.scalar_text() {
                    Some(content) => write.push((path.text.clone(), content)),
                    None => {
                        wrong(content.place, format!("`{}` must be a text", path.text), "write it as a text");
                    }
                }
            }
            if files.as_map().is_none() {
                wrong(
                    files.place,
                    "`write` must be a mapping of paths to texts".to_owned(),
                    "write `path: text`",
                );
            }
        }
        let repeat = match node.get("repeat").map(|given| (given.place, given.to_json())) {
            None => false,
            Some((_, Value::Bool(repeat))) => repeat,
            Some((place, _)) => {
                wrong(place, "`repeat` must be true or false".to_owned(), "write `repeat: true`");
                false
            }
        };
        Some(Line { step, role, phase, report: report?.to_json(), write, repeat })
    }

    fn fits(&self, call: &CallOf) -> bool {
        let same = |wanted: &Option<String>, given: &String| wanted.as_ref().is_none_or(|w| w == given);
        same(&self.step, &call.step) && same(&self.role, &call.role) && same(&self.phase, &call.phase)
    }
}

pub(super) fn attempt(
    hands: &Hands,
    job: &Job,
    assignment: &Assignment,
    script: &Script<'_>,
) -> Result<Result<Report, Failure>, Stuck> {
    let line = match find(hands, job, assignment, script) {
        Ok(line) => line,
        Err(failure) => return Ok(Err(failure)),
    };
    for (name, text) in line.write.iter().filter(|_| !assignment.rehearsal) {
        let target = hands.resolve(Path::new(&assignment.cwd).join(name));
        // The report counts as soon as it is in the journal, so what it is about must be on the disk before.
        let written = target.and_then(|path| hands.files.write(&path, text.as_bytes(), Write::DURABLE));
        if let Err(failure) = lift(written)? {
            return Ok(Err(failure));
        }
    }
    Ok(tell(assignment, &line))
}

/// The files that an attempt writes.
pub(super) fn writes(hands: &Hands, job: &Job, assignment: &Assignment, script: &Script<'_>) -> Vec<PathBuf> {
    let line = find(hands, job, assignment, script);
    let at = Path::new(&assignment.cwd);
    line.map(|line| line.write.into_iter().map(|(path, _)| at.join(path)).collect()).unwrap_or_default()
}

/// The line that this attempt is played from.
fn find(hands: &Hands, job: &Job, assignment: &Assignment, script: &Script<'_>) -> Result<Line, Failure> {
    let bytes = script.read(hands)?;
    let script = script.path;
    let mut lines = understand_script(&bytes).map_err(|findings| {
        let first =
            findings.first().map(|f| format!("line {}: {}", f.place.line, f.message)).unwrap_or_default();
        Failure::new(Class::Contract, format!("the script {script} cannot be read: {first}"))
    })?;
    match choose(&lines, &job.earlier, &CallOf::new(assignment)) {
        Some(index) => Ok(lines.swap_remove(index)),
        None => {
            let what = format!("the script {script} has no line left for `{}`", assignment.title);
            Err(Failure::new(Class::Contract, what))
        }
    }
}

/// What the line reports.
fn tell(assignment: &Assignment, line: &Line) -> Result<Report, Failure> {
    let bytes = serde_json::to_vec(&line.report).unwrap_or_default();
    let report = report::read(&bytes, &demand(assignment)).map_err(|problems| Failure {
        feedback: problems.clone(),
        ..Failure::new(Class::Invalid, format!("its report cannot be used: {}", problems.join("; ")))
    })?;
    let report = judge(report, "")?;
    if !assignment.rehearsal {
        return Ok(report);
    }
    Ok(rehearsal::tell(report, line.write.iter().map(|(path, _)| path.clone()).collect()))
}

/// The first line that fits and is not used up. What earlier calls used follows from the calls themselves, so a
/// later process comes to the same choice.
fn choose(lines: &[Line], earlier: &[CallOf], call: &CallOf) -> Option<usize> {
    let mut used = vec![false; lines.len()];
    let mut take = |call: &CallOf| {
        let i = lines.iter().zip(&used).position(|(l, used)| !used && l.fits(call))?;
        used[i] = !lines[i].repeat;
        Some(i)
    };
    for call in earlier {
        take(call);
    }
    take(call)
}
