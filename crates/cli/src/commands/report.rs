//! `seriatim report`

use std::io::Read;
use std::path::Path;

use serde_json::Value;
use serde_json::json;
use seriatim_core::question::Answer;
use seriatim_engine::agents::REPORT;
use seriatim_engine::agents::REPORT_BYTES_MAX;
use seriatim_engine::agents::from_report;
use seriatim_engine::hands::disk::Disk;
use seriatim_engine::hands::files::Files;
use seriatim_engine::hands::files::Write;
use seriatim_engine::inside::Claim;
use seriatim_flows::request::Assignment;
use seriatim_flows::request::HANDED_IN;
use seriatim_journal::Call;
use seriatim_journal::NewSignal;
use seriatim_journal::Open;
use seriatim_journal::OpenFilter;
use seriatim_journal::SignalKind;
use seriatim_journal::Signalled;
use seriatim_journal::Store;
use seriatim_journal::Target;

use super::run::Asking;
use crate::args::Context;
use crate::assignments;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::inside;
use crate::inside::Reads;
use crate::inside::Spoken;
use crate::render::run::View;
use crate::session::Session;
use crate::workspace::Workspace;
use crate::workspace::now;

/// The file name that stands for the standard input.
const STDIN: &str = "-";

/// Hand in a report for an assignment of a run that was started with --attach, and go on with the run
///
/// The report is checked at once: where it cannot be used, everything that is wrong with it is said and nothing is
/// taken. Otherwise the run goes on, and either the next assignment is shown or the result. Exit codes are those of
/// `resume`; 1 also means that the report was not taken.
#[derive(clap::Args, Debug)]
pub(crate) struct Report {
    /// The assignment as `inbox` names it (a1, a2 ...), or its step where only one is open for it
    assignment: String,
    /// The report, one JSON object; `-` reads it from the standard input
    file: String,
    /// Who hands it in; by default the user of this machine
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// Only record it; `resume` goes on with the run later
    #[arg(long)]
    no_resume: bool,
    #[command(flatten)]
    asking: Asking,
}

impl Report {
    /// Returns what it reads: a file of its own, which a process outside of a world would look for elsewhere.
    pub(crate) fn reads(&self) -> Reads {
        match self.file.as_str() {
            STDIN => Reads::Stdin,
            path => Reads::File(path.into()),
        }
    }
}

pub(crate) fn run(context: &Context, command: &Report) -> Result<Exit> {
    if let Some(spoken) = context.caller.spoken() {
        return hand_in(context, spoken, command);
    }
    let answers = command.asking.answers(context)?;
    let workspace = Workspace::open(context)?;
    let Some(store) = workspace.store_to_read()? else {
        return Err(CommandError::usage("nothing has run in this workspace yet"));
    };
    let (row, assignment) = find(&store, &workspace, &command.assignment)?;
    drop(store);
    let text = read(&command.file)?;
    if let Err(problems) = from_report(&assignment, &text) {
        return Ok(not_taken(context, &row, &problems));
    }
    let mut store = workspace.store()?;
    let by = command.by.clone().unwrap_or_else(crate::session::whoami);
    record(&mut store, &row, &with_origin(&text, &command.file, &workspace.root), by)?;
    let info = store.run(row.run)?;
    let (held, there) = (info.holder.is_some(), workspace.elsewhere(&store, &info)?);
    let _ = store.close();
    let taken = json!({
        "assignment": row.id, "step": assignment.brief.step, "phase": assignment.phase, "run": row.run_name,
    });
    let named = match assignment.phase.as_str() {
        "" => format!("step {}", assignment.brief.step),
        phase => format!("step {}, {phase}", assignment.brief.step),
    };
    context.ui.say(format!("Taken: the report for {named} ({}).", row.id));
    if held || command.no_resume || there.is_some() {
        context.ui.document(&json!({"taken": taken}));
        let next = if held {
            "The process that holds the run goes on with it.".to_owned()
        } else {
            let there = there.map(|folder| format!("--workspace {} ", folder.display())).unwrap_or_default();
            format!("Continue with:  seriatim {there}resume {}", row.run_name)
        };
        context.ui.tell(next);
        return Ok(Exit::Good);
    }
    let mut session = Session::open(context)?;
    let info = session.store.run(row.run)?;
    let lease = session.acquire(&info)?;
    let face = session.face(&context.ui, answers, command.asking.no_input);
    let mut face = face.compares(command.asking.config);
    let outcome = session.drive(lease, &mut face)?;
    let view = View::after(context.registry, &session.store, outcome)?;
    let exit = tell(context, &view, taken, &session.workspace);
    session.close();
    Ok(exit)
}

/// Takes the report of an attempt that is under way: checked at once, and read by the engine when the attempt ends.
fn hand_in(context: &Context, spoken: &Spoken, command: &Report) -> Result<Exit> {
    inside::own_report(&context.caller, spoken, &command.assignment)?;
    let Claim { run, assignment, report, .. } = &spoken.claim;
    let step = &assignment.brief.step;
    let text = std::str::from_utf8(&spoken.input)
        .map_err(|_| CommandError::usage(format!("the report {} is not text in UTF-8", command.file)))?;
    if let Err(problems) = from_report(assignment, text) {
        context.ui.document(&json!({"step": step, "run": run, "taken": null, "problems": problems}));
        context.ui.note(format!("not taken: the report for step {step} cannot be used"));
        problems.iter().for_each(|problem| context.ui.note(format!("  - {problem}")));
        return Ok(Exit::NotGood);
    }
    let place = report.as_ref().map(Path::new);
    let place = place.ok_or_else(|| CommandError::usage("the path of the report is not UTF-8"))?;
    // The file is replaced, never followed: the attempt may have put a link there.
    Disk.write(place, text.as_bytes(), Write::REBUILDABLE.mode(0o600))
        .map_err(|error| CommandError::usage(format!("the report cannot be written: {error}")))?;
    context.ui.document(&json!({"taken": {"step": step, "phase": assignment.phase, "run": run}}));
    context.ui.say(format!("Taken: the report for step {step}."));
    Ok(Exit::Good)
}

/// How the run went on.
fn tell(context: &Context, view: &View, taken: Value, workspace: &Workspace) -> Exit {
    if !context.ui.json {
        return view.show(&context.ui, workspace);
    }
    let mut document = view.document();
    if let Some(map) = document.as_object_mut() {
        map.insert("taken".to_owned(), taken);
    }
    context.ui.document(&document);
    view.exit
}

/// The assignment that is meant.
fn find(store: &Store, workspace: &Workspace, wanted: &str) -> Result<(Open, Assignment)> {
    let mut open = assignments::open(store, workspace.open_calls())?;
    if open.is_empty() {
        // A session may hand its report in from the working tree of its step.
        open = assignments::open(store, OpenFilter::default())?;
    }
    let at = open.iter().position(|(row, _)| row.id == wanted);
    let of_step = |(_, assignment): &(Open, Assignment)| assignment.brief.step == wanted;
    let at = match (at, open.iter().filter(|one| of_step(one)).count()) {
        (Some(at), _) => Some(at),
        (None, 0) => None,
        (None, 1) => open.iter().position(of_step),
        (None, _) => {
            let ids: Vec<&str> =
                open.iter().filter(|one| of_step(one)).map(|(row, _)| row.id.as_str()).collect();
            let message = format!("several assignments of step {wanted} are open: {}", ids.join(", "));
            return Err(
                CommandError::usage(message).hint("say which one is meant; `seriatim inbox` shows them")
            );
        }
    };
    let Some(at) = at else { return Err(not_open(store, wanted, &open)) };
    let (row, assignment) = open.swap_remove(at);
    if !assignment.attach {
        return Err(CommandError::usage(format!("`{}` is a person's work and takes no report", row.id))
            .hint(format!("say how it went with `seriatim answer {} done`", row.id)));
    }
    Ok((row, assignment))
}

fn not_open(store: &Store, wanted: &str, open: &[(Open, Assignment)]) -> CommandError {
    let error = match store.call(wanted) {
        Ok(Call::Closed(_)) => CommandError::usage(format!("`{wanted}` is no longer open")),
        Ok(Call::Open(_)) => {
            return CommandError::usage(format!("`{wanted}` is a question, and no assignment"))
                .hint(format!("answer it with `seriatim answer {wanted} CHOICE`"));
        }
        Err(_) => CommandError::usage(format!("there is no open assignment `{wanted}`")),
    };
    let ids: Vec<String> =
        open.iter().map(|(row, assignment)| format!("{} (step {})", row.id, assignment.brief.step)).collect();
    match ids.is_empty() {
        true => error.hint("no assignment is open here; `seriatim status` lists the runs"),
        false => error.hint(format!("open are {}", ids.join(", "))),
    }
}

fn read(file: &str) -> Result<String> {
    let unread =
        |error: std::io::Error| CommandError::usage(format!("the report {file} cannot be read: {error}"));
    let limit = u64::try_from(REPORT_BYTES_MAX).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = vec![];
    match file {
        STDIN => std::io::stdin().lock().take(limit).read_to_end(&mut bytes),
        path => {
            std::fs::File::open(Path::new(path)).and_then(|file| file.take(limit).read_to_end(&mut bytes))
        }
    }
    .map_err(unread)?;
    String::from_utf8(bytes)
        .map_err(|_| CommandError::usage(format!("the report {file} is not text in UTF-8")))
}

/// The report with the name of its own file, where that lies in the workspace: it is no part of the work. What the report
/// itself says about that does not count.
fn with_origin(text: &str, file: &str, root: &Path) -> String {
    let Ok(Value::Object(mut report)) = serde_json::from_str::<Value>(text) else { return text.to_owned() };
    report.shift_remove(HANDED_IN);
    let place = Path::new(file).canonicalize().ok().filter(|_| file != STDIN);
    let inside = place.and_then(|place| Some(place.strip_prefix(root).ok()?.to_str()?.to_owned()));
    report.extend(inside.map(|path| (HANDED_IN.to_owned(), json!(path))));
    Value::Object(report).to_string()
}

fn not_taken(context: &Context, row: &Open, problems: &[String]) -> Exit {
    context
        .ui
        .document(&json!({"assignment": row.id, "run": row.run_name, "taken": null, "problems": problems}));
    context.ui.note(format!("not taken: the report for {} cannot be used", row.id));
    problems.iter().for_each(|problem| context.ui.note(format!("  - {problem}")));
    Exit::NotGood
}

/// Puts the report where the run finds it. The first one counts.
fn record(store: &mut Store, row: &Open, text: &str, by: String) -> Result<()> {
    let given =
        Answer { choice: REPORT.to_owned(), text: Some(text.to_owned()), by: by.clone(), digest: row.digest };
    let body = store.clean(serde_json::to_vec(&given).unwrap_or_default());
    let to = Target::Call(row.id.clone());
    let signal = NewSignal { to, kind: SignalKind::Answer, body, by, at: now(), digest: row.digest };
    let again = format!("go on with `seriatim resume {}`", row.run_name);
    match store.signal(&signal)? {
        Signalled::Recorded { .. } => Ok(()),
        Signalled::Already(answered) => {
            let message = format!(
                "a report for `{}` was handed in already, by {}; that one stands",
                row.id, answered.by
            );
            Err(CommandError::usage(message).hint(again))
        }
        Signalled::Closed(_) | Signalled::Over { .. } | Signalled::Changed { .. } => {
            Err(CommandError::usage(format!("`{}` is no longer open as it was shown", row.id))
                .hint("`seriatim inbox` lists what is open"))
        }
    }
}
