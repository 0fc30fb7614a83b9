//! `seriatim verify`

use serde::Serialize;
use seriatim_core::hash::Hash;
use seriatim_engine::drive::Error as DriveError;
use seriatim_engine::drive::History;
use seriatim_engine::drive::images_of;
use seriatim_engine::drive::replay;
use seriatim_engine::guard::Project;
use seriatim_engine::guard::book;
use seriatim_engine::hands::disk::Disk;
use seriatim_flows::registry::Registry;
use seriatim_journal::RunInfo;
use seriatim_journal::Store;
use std::sync::Arc;

use crate::args::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::render::run::is_work;
use crate::ui::Tone;
use crate::ui::tone;
use crate::workspace::Workspace;

/// Prove that the record is whole: every chain, every file made from it, and the course of every run
///
/// Exit codes: 0 all is as it was written, 1 something differs (each place is named), 2 no such run.
#[derive(clap::Args, Debug)]
pub(crate) struct Verify {
    /// One run, or the beginning of its id; all of the store when left out
    run: Option<String>,
}

#[derive(Serialize)]
struct Fault {
    run: Option<String>,
    entry: Option<u64>,
    what: String,
}

#[derive(Serialize)]
struct Document {
    runs: u64,
    entries: u64,
    files: u64,
    replayed: u64,
    /// Runs of an earlier version of their dialect: their chains are checked, their course is not.
    #[serde(skip_serializing_if = "is_zero")]
    not_replayed: u64,
    problems: Vec<Fault>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

pub(crate) fn run(context: &Context, command: &Verify) -> Result<Exit> {
    let workspace = Workspace::open_to_look(context)?;
    let Some(store) = workspace.store_to_read()? else {
        context.ui.document(&Document {
            runs: 0,
            entries: 0,
            files: 0,
            replayed: 0,
            not_replayed: 0,
            problems: vec![],
        });
        context.ui.say("There is no record in this workspace yet.");
        return Ok(Exit::Good);
    };
    let (report, runs) = match &command.run {
        Some(prefix) => {
            let info = store.find(prefix)?;
            (store.verify_run(info.id)?, vec![info])
        }
        None => (store.verify(), store.runs(&workspace.runs()).map(|l| l.runs).unwrap_or_default()),
    };
    let problems =
        report.problems.iter().map(|p| Fault { run: p.run.clone(), entry: p.seq, what: p.flaw.to_string() });
    let mut document = Document {
        runs: report.runs,
        entries: report.entries,
        files: 0,
        replayed: 0,
        not_replayed: 0,
        problems: problems.collect(),
    };
    for info in &runs {
        let broken = document.problems.iter().any(|p| p.run.as_deref() == Some(&info.name));
        if !is_work(context.registry, info) {
            check_trails(&workspace, &store, info, &mut document);
        } else if !broken {
            check_course(context.registry, &workspace, &store, info, &mut document);
        }
    }
    context.ui.document(&document);
    say(context, &document);
    Ok(if document.problems.is_empty() { Exit::Good } else { Exit::NotGood })
}

/// The audit files beside the steps must be what the book of the guard makes them.
fn check_trails(workspace: &Workspace, store: &Store, info: &RunInfo, document: &mut Document) {
    let mut fault =
        |what: String| document.problems.push(Fault { run: Some(info.name.clone()), entry: None, what });
    let project = Project::new(workspace.home.folder_of(&info.workspace), Arc::new(Disk));
    let trails = match book::trails(store, info.id) {
        Ok(trails) => trails,
        Err(e) => return fault(e.to_string()),
    };
    for trail in &trails {
        let file = &trail.file;
        let found = match std::fs::read(project.file(file)) {
            Ok(found) => found,
            Err(e) => {
                fault(format!("the audit trail {file} is not there: {e}"));
                continue;
            }
        };
        let (bytes, hash) = trail.adopted.unwrap_or((0, Hash::of(b"")));
        let (before, ours) = found.split_at(usize::try_from(bytes).unwrap_or(0).min(found.len()));
        if Hash::of(before) != hash || ours != trail.text.as_bytes() {
            let line = first_difference(ours, trail.text.as_bytes());
            fault(format!("the audit trail {file} is not what the record makes it, from line {line} on"));
        }
    }
    match book::losses(store, info.id) {
        Ok(losses) => losses.into_iter().for_each(&mut fault),
        Err(e) => fault(e.to_string()),
    }
    document.files += trails.len() as u64;
}

/// The first line in which two texts differ, counted from one.
fn first_difference(found: &[u8], expected: &[u8]) -> usize {
    let same = found.iter().zip(expected).take_while(|(a, b)| a == b).count();
    found.iter().take(same).filter(|byte| **byte == b'\n').count() + 1
}

/// The flow over its journal must make the same requests, and the files must be what the facts make them.
fn check_course(
    registry: &Registry,
    workspace: &Workspace,
    store: &Store,
    info: &RunInfo,
    document: &mut Document,
) {
    let mut fault =
        |what: String| document.problems.push(Fault { run: Some(info.name.clone()), entry: None, what });
    let history = match History::read(store, info) {
        Ok(history) => history,
        Err(e) => return fault(e.to_string()),
    };
    // A body that was erased on purpose cannot be replayed; the chain still covers it.
    let (flow, input) = match history.flow(registry, info) {
        Ok(found) => found,
        Err(DriveError::UnknownFlow { .. }) => {
            document.not_replayed += 1;
            return;
        }
        Err(e) => return fault(e.to_string()),
    };
    let under_way = info.holder.is_some();
    let images = images_of(flow, &input, &history.facts);
    for (path, text) in images.iter().filter(|_| !under_way) {
        match std::fs::read(workspace.home.folder_of(&info.workspace).join(path)) {
            Ok(bytes) if Hash::of(&bytes) == Hash::of(text.as_bytes()) => {}
            Ok(_) => fault(format!("the file {path} is not what the record makes it: it was changed")),
            Err(e) => fault(format!("the file {path} is not there: {e}")),
        }
    }
    match replay(flow, input, history) {
        Ok(()) => document.replayed += 1,
        Err(what) => fault(what),
    }
    document.files += images.len() as u64;
}

fn say(context: &Context, document: &Document) {
    let ui = &context.ui;
    for problem in &document.problems {
        let place = match (&problem.run, problem.entry) {
            (Some(run), Some(entry)) => format!("run {run}, entry {entry}: "),
            (Some(run), None) => format!("run {run}: "),
            (None, _) => String::new(),
        };
        ui.say(format!("{} {place}{}", tone(Tone::Bad, "broken:"), problem.what));
    }
    let checked = format!(
        "{} run(s), {} entries, {} file(s), {} run(s) replayed",
        document.runs, document.entries, document.files, document.replayed
    );
    if document.not_replayed > 0 {
        ui.say(format!(
            "{} {} run(s) were recorded by an earlier version: their chains are checked, their course is not.",
            tone(Tone::Attention, "note:"),
            document.not_replayed
        ));
    }
    if document.problems.is_empty() {
        ui.say(format!("{} {checked}; all is as it was written.", tone(Tone::Good, "sound:")));
    } else {
        ui.say(format!("{checked}; {} problem(s).", document.problems.len()));
    }
}
