//! This program inside of an attempt: what it passes on to the engine, what it refuses, and what it carries out for it.

use std::fmt;
use std::fs::File;
use std::io;
use std::io::Read;
use std::io::Write;
use std::path::Path;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use seriatim_engine::hands::inside::AskError;
use seriatim_engine::hands::inside::INPUT_BYTES_MAX;
use seriatim_engine::hands::inside::InsideReply;
use seriatim_engine::hands::inside::InsideRequest;
use seriatim_engine::hands::inside::Line;
use seriatim_engine::hands::inside::SOCKET;
use seriatim_engine::hands::process::MARKER;
use seriatim_engine::inside::Claim;
use seriatim_engine::inside::ClaimOrder;
use seriatim_flows::registry::Registry;
use seriatim_journal::OpenFilter;
use seriatim_journal::OpenKind;
use seriatim_journal::RunInfo;
use seriatim_journal::Store;

use crate::args;
use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;

/// Who calls.
#[derive(Clone)]
pub(crate) enum Caller {
    /// A person, or a program of theirs.
    Person,
    /// A process of an attempt that works in the workspace itself. It can take this mark off: a fence, and no wall.
    Attempt,
    /// An attempt in a world, for which the engine started this process.
    World(Arc<Spoken>),
}

/// A request of an attempt.
#[derive(Debug)]
pub(crate) struct Spoken {
    pub(crate) claim: Claim,
    /// Where it was typed, as the attempt sees it.
    cwd: PathBuf,
    /// What it would have read.
    pub(crate) input: Vec<u8>,
}

/// What a command is to a process of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// What an attempt says about its own work.
    Claim,
    /// A decision about work, or about what guards it.
    Decision,
    /// It begins or continues work.
    Work,
    /// It shows or prepares something.
    Other,
}

/// What a command reads besides its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    Nothing,
    Stdin,
    File(PathBuf),
}

impl Caller {
    /// Reads from the environment who calls.
    pub(crate) fn of_process() -> Caller {
        let is_set = |name| std::env::var_os(name).is_some();
        if is_set(MARKER) || is_set(SOCKET) { Caller::Attempt } else { Caller::Person }
    }

    /// Returns what an attempt in a world asks for.
    pub(crate) fn spoken(&self) -> Option<&Spoken> {
        match self {
            Caller::World(spoken) => Some(spoken),
            Caller::Person | Caller::Attempt => None,
        }
    }

    /// Refuses what an attempt must not do.
    pub(crate) fn may(&self, standing: Standing, command: &str) -> Result<()> {
        let refused = match (self, standing) {
            (Caller::Person, _) | (_, Standing::Claim) => return Ok(()),
            (Caller::Attempt, Standing::Work | Standing::Other) => return Ok(()),
            (Caller::Attempt | Caller::World(_), Standing::Decision) => Refused::Decision,
            (Caller::World(_), Standing::Work) => Refused::Work,
            (Caller::World(_), Standing::Other) => Refused::Other,
        };
        Err(self.refuse(refused, command))
    }

    /// Refuses to decide for people.
    pub(crate) fn may_decide(&self, command: &str) -> Result<()> {
        self.may(Standing::Decision, command)
    }

    fn refuse(&self, refused: Refused, command: &str) -> CommandError {
        let whose = match self {
            Caller::World(spoken) => Whose::of(&spoken.claim),
            Caller::Person | Caller::Attempt => Whose::of_process(),
        };
        let error =
            CommandError::usage(format!("`{command}` is refused inside an attempt ({whose}): {refused}"));
        error.hint(refused.way_out(command))
    }

    /// Returns the folder that a request is about, and refuses another one.
    pub(crate) fn workspace(&self, named: Option<PathBuf>) -> Result<Option<PathBuf>> {
        let (Caller::World(spoken), Some(named)) = (self, &named) else { return Ok(named) };
        let place = std::env::current_dir().and_then(|place| place.canonicalize());
        let wanted = spoken.cwd.join(named).canonicalize();
        match (place, wanted) {
            (Ok(place), Ok(wanted)) if place == wanted => Ok(None),
            _ => Err(self.refuse(Refused::Elsewhere, "--workspace")),
        }
    }
}

/// Which attempt this is.
struct Whose {
    run: Option<String>,
    step: Option<String>,
}

impl Whose {
    fn of(claim: &Claim) -> Whose {
        Whose { run: Some(claim.run.clone()), step: Some(claim.assignment.brief.step.clone()) }
    }

    fn of_process() -> Whose {
        let variable = |name| std::env::var(name).ok().filter(|text: &String| !text.is_empty());
        Whose { run: variable("SERIATIM_RUN"), step: variable("SERIATIM_STEP") }
    }
}

impl fmt::Display for Whose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.run, &self.step) {
            (Some(run), Some(step)) => write!(f, "run {run}, step {step}"),
            (Some(run), None) => write!(f, "run {run}"),
            (None, _) => f.write_str("its run is not named"),
        }
    }
}

/// Why an attempt must not do something.
enum Refused {
    Decision,
    Work,
    Other,
    Asked,
    Elsewhere,
    NoStep,
    ForeignStep { own: String },
    ForeignProject { own: String },
    ForeignPhase { own: String },
    ForeignAssignment { own: String },
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Decision => f.write_str("only a person's process decides about work"),
            Refused::Work => {
                f.write_str("the record is not in its world, and an attempt starts no other work")
            }
            Refused::Other => f.write_str("the record is not in its world"),
            Refused::Asked => f.write_str("the run waits for a person's answer"),
            Refused::Elsewhere => f.write_str("an attempt speaks about its own workspace only"),
            Refused::NoStep => f.write_str("it does not work on a step of a roadmap"),
            Refused::ForeignStep { own } => write!(f, "it works on step {own} and reports no other step"),
            Refused::ForeignProject { own } => {
                write!(f, "it works on project {own} and reports no other one")
            }
            Refused::ForeignPhase { own } => write!(f, "it works on phase {own} and reports no other phase"),
            Refused::ForeignAssignment { own } => {
                write!(f, "it works on step {own} and hands in no other report")
            }
        }
    }
}

impl Refused {
    fn way_out(&self, command: &str) -> String {
        match self {
            Refused::Decision | Refused::Work | Refused::Other => format!(
                "a person can run `{command}` in a terminal of their own; an agent asks for it in its report"
            ),
            Refused::Asked => "a person answers it; `seriatim inbox` shows the question".to_owned(),
            Refused::Elsewhere => "leave --workspace out".to_owned(),
            Refused::NoStep => "leave the result in the report".to_owned(),
            Refused::ForeignStep { own } | Refused::ForeignAssignment { own } => format!("name step {own}"),
            Refused::ForeignProject { own } => format!("leave --project out, or name {own}"),
            Refused::ForeignPhase { own } => format!("name phase {own}"),
        }
    }
}

/// Returns the project that `seriatim phase` is about for this caller, and refuses what is not the attempt's own.
pub(crate) fn own_phase(
    caller: &Caller,
    step: &str,
    project: Option<&str>,
    phase: Option<&str>,
) -> Result<Option<String>> {
    let Some(spoken) = caller.spoken() else { return Ok(project.map(str::to_owned)) };
    let (claim, no) = (&spoken.claim, |refused| Err(caller.refuse(refused, "seriatim phase")));
    let Some(own) = claim.project.clone() else { return no(Refused::NoStep) };
    let (own_step, own_phase) = (&claim.assignment.brief.step, &claim.assignment.phase);
    if step != own_step {
        return no(Refused::ForeignStep { own: own_step.clone() });
    }
    if project.is_some_and(|project| project != own) {
        return no(Refused::ForeignProject { own });
    }
    // An attempt at the whole step reports each of its phases.
    if phase.is_some_and(|phase| !own_phase.is_empty() && phase != own_phase) {
        return no(Refused::ForeignPhase { own: own_phase.clone() });
    }
    Ok(Some(own))
}

/// Refuses a report that is not for the step of this attempt.
pub(crate) fn own_report(caller: &Caller, spoken: &Spoken, assignment: &str) -> Result<()> {
    let own = &spoken.claim.assignment.brief.step;
    if assignment == own {
        return Ok(());
    }
    Err(caller.refuse(Refused::ForeignAssignment { own: own.clone() }, "seriatim report"))
}

/// Refuses to continue a run that waits for a person, where no person calls.
pub(crate) fn may_go_on(context: &Context, store: &Store, run: &RunInfo) -> Result<()> {
    if matches!(context.caller, Caller::Person) {
        return Ok(());
    }
    let questions = OpenFilter { run: Some(run.id), kind: Some(OpenKind::Question), ..OpenFilter::default() };
    if store.open_calls(&questions)?.is_empty() {
        return Ok(());
    }
    Err(context.caller.refuse(Refused::Asked, &format!("seriatim resume {}", run.name)))
}

/// Returns what a command reads on its standard input.
pub(crate) fn input(context: &Context, limit: u64) -> io::Result<Vec<u8>> {
    if let Some(spoken) = context.caller.spoken() {
        return Ok(spoken.input.clone());
    }
    let mut bytes = vec![];
    io::stdin().lock().take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Passes what was typed on to the engine, where this is inside a world. Nothing where it is not, or where no engine
/// answers any more.
pub(crate) fn forward(registry: &Registry) -> Option<ExitCode> {
    let socket = std::env::var_os(SOCKET)?;
    let line = Line::open(Path::new(&socket)).ok()?;
    let reply = ask(registry, line).unwrap_or_else(|why| InsideReply {
        exit: Exit::Usage as u8,
        stdout: String::new(),
        stderr: format!("error: {why}\n"),
    });
    // Whoever closed the pipes does not want to know.
    let _ = io::stdout().write_all(reply.stdout.as_bytes()).and_then(|()| io::stdout().flush());
    let _ = io::stderr().write_all(reply.stderr.as_bytes());
    Some(ExitCode::from(reply.exit))
}

fn ask(registry: &Registry, line: Line) -> std::result::Result<InsideReply, String> {
    let typed: std::result::Result<Vec<String>, _> =
        std::env::args_os().skip(1).map(std::ffi::OsString::into_string).collect();
    let argv = typed.map_err(|_| "a word of the command is not UTF-8".to_owned())?;
    let cwd = std::env::current_dir().map_err(|error| format!("the folder cannot be read: {error}"))?;
    let input = match reads(registry, &argv) {
        Reads::Nothing => Ok(vec![]),
        Reads::Stdin => bounded(io::stdin().lock()),
        Reads::File(path) => File::open(&path)
            .and_then(bounded)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display()))),
    };
    let input = input.map_err(|error| format!("the input cannot be read: {error}"))?;
    let request = InsideRequest::new(env!("CARGO_PKG_VERSION"), argv, cwd);
    line.ask(request, &input).map_err(|error| match error {
        AskError::TooLong => {
            format!("{error}: inside an attempt {} MiB are the limit", INPUT_BYTES_MAX >> 20)
        }
        AskError::Closed(_) => format!("{error}; this attempt may be over"),
    })
}

fn bounded(from: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = vec![];
    from.take(INPUT_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn reads(registry: &Registry, argv: &[String]) -> Reads {
    // Hooks are many and must be quick: their words are not looked at here.
    match argv.first().map(String::as_str) {
        Some("hook") => Reads::Stdin,
        _ => args::reads(registry, argv),
    }
}

/// Carries out one request of an attempt, outside of its world.
pub(crate) fn carry_out(registry: &'static Registry) -> ExitCode {
    let mut bytes = vec![];
    let order = match io::stdin().lock().read_to_end(&mut bytes) {
        Ok(_) => ClaimOrder::read(&bytes),
        Err(_) => None,
    };
    drop(bytes);
    let Some((ClaimOrder { claim, request }, input)) = order else {
        let _ = writeln!(io::stderr(), "error: this is what the engine starts for a request of an attempt");
        return Exit::Usage.into();
    };
    let own = env!("CARGO_PKG_VERSION");
    if request.version != own {
        let _ = writeln!(
            io::stderr(),
            "error: this is seriatim {}, and the attempt was started by seriatim {own}; use that one here",
            request.version
        );
        return Exit::Usage.into();
    }
    let spoken = Spoken { claim, cwd: request.cwd, input };
    args::run(registry, request.argv, Caller::World(Arc::new(spoken))).into()
}
