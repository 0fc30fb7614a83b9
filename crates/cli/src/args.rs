//! What was typed, and which command it means.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::ArgMatches;
use clap::CommandFactory;
use clap::FromArgMatches;
use clap::Parser;
use clap::Subcommand;
use seriatim_flows::registry::Registry;

use crate::commands;
use crate::error::Result;
use crate::exit::Exit;
use crate::inside::Caller;
use crate::inside::Reads;
use crate::inside::Standing;
use crate::ui::Ui;

/// Executes multi-step work of agents and people: no step is skipped, no result is faked, no approval is stretched,
/// and anyone can check it offline.
#[derive(Parser, Debug)]
#[command(name = "seriatim", version, propagate_version = true, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    global: Global,
}

/// What every command takes.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct Global {
    /// Print one JSON document on stdout, and nothing else there
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// The workspace; by default the nearest folder upwards with seriatim.toml, .seriatim or .git
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Say only what was asked for
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Say more
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

#[derive(Subcommand, Debug)]
enum Command {
    Init(commands::init::Init),
    Check(commands::check::Check),
    Run(commands::run::Run),
    Resume(commands::resume::Resume),
    Cancel(commands::cancel::Cancel),
    Inbox(commands::inbox::Inbox),
    Answer(commands::answer::Answer),
    Report(commands::report::Report),
    Status(commands::status::Status),
    Show(commands::show::Show),
    Log(commands::log::Log),
    Process(commands::process::Process),
    Cycle(commands::cycle::Cycle),
    Roadmap(commands::roadmap::Roadmap),
    Metrics(commands::metrics::Metrics),
    Prompt(commands::prompt_text::Prompt),
    Decide(commands::decide::Decide),
    Observe(commands::observe::Observe),
    Guard(commands::guard::Guard),
    Doctor(commands::doctor::Doctor),
    Phase(commands::phase::Phase),
    Hook(commands::hook::Hook),
    CommitGate(commands::commit_gate::CommitGate),
    Watchdog(commands::watchdog::Watchdog),
    Gates(commands::gates::Gates),
    Snapshot(commands::snapshot::Snapshot),
    World(commands::world::World),
    Conform(commands::conform::Conform),
    Verify(commands::verify::Verify),
    Bench(commands::bench::Bench),
    Completions(commands::completions::Completions),
    Man(commands::man::Man),
}

/// Everything a command needs to know about how it was called.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) ui: Ui,
    /// The dialects of this program.
    pub(crate) registry: &'static Registry,
    pub(crate) workspace: Option<PathBuf>,
    pub(crate) caller: Caller,
}

impl Command {
    /// Returns what the command is to a process of an attempt. Each new command has to say it.
    fn standing(&self) -> Standing {
        match self {
            Command::Phase(_)
            | Command::Decide(_)
            | Command::Observe(_)
            | Command::Report(_)
            | Command::Hook(_)
            | Command::CommitGate(_) => Standing::Claim,
            // A shell in a view and the removal of layers change what a flow may still take.
            Command::Answer(_) | Command::Cancel(_) | Command::World(_) => Standing::Decision,
            Command::Guard(command) => command.standing(),
            Command::Roadmap(command) => command.standing(),
            Command::Snapshot(command) => command.standing(),
            Command::Run(_) | Command::Resume(_) => Standing::Work,
            Command::Init(_)
            | Command::Check(_)
            | Command::Inbox(_)
            | Command::Status(_)
            | Command::Show(_)
            | Command::Log(_)
            | Command::Process(_)
            | Command::Cycle(_)
            | Command::Metrics(_)
            | Command::Prompt(_)
            | Command::Doctor(_)
            | Command::Watchdog(_)
            | Command::Gates(_)
            | Command::Conform(_)
            | Command::Verify(_)
            | Command::Bench(_)
            | Command::Completions(_)
            | Command::Man(_) => Standing::Other,
        }
    }

    /// Returns what the command reads, so that it can be passed on with it.
    fn reads(&self) -> Reads {
        match self {
            Command::Hook(_) => Reads::Stdin,
            Command::CommitGate(command) => command.reads(),
            Command::Report(command) => command.reads(),
            _ => Reads::Nothing,
        }
    }
}

/// Returns what a command line reads besides its words; nothing where it means no command.
pub(crate) fn reads(registry: &Registry, argv: &[String]) -> Reads {
    parse(registry, argv).map_or(Reads::Nothing, |(args, _)| args.command.reads())
}

fn parse<W: Into<OsString> + Clone>(
    registry: &Registry,
    words: impl IntoIterator<Item = W>,
) -> std::result::Result<(Args, String), clap::Error> {
    let name = OsString::from("seriatim");
    let words = std::iter::once(name).chain(words.into_iter().map(Into::into));
    let mut matches = program(registry).try_get_matches_from(words)?;
    let typed = typed(&matches);
    Args::from_arg_matches_mut(&mut matches).map(|args| (args, typed))
}

/// The command with the commands below it, as it is typed.
fn typed(matches: &ArgMatches) -> String {
    let mut words = "seriatim".to_owned();
    let mut at = matches;
    while let Some((name, below)) = at.subcommand() {
        words = format!("{words} {name}");
        at = below;
    }
    words
}

/// Returns the whole command line with the ways to begin work of these dialects.
pub(crate) fn program(registry: &Registry) -> clap::Command {
    commands::run::with_entrances(Args::command(), registry)
}

/// Parses what was typed and runs it, if this caller may.
pub(crate) fn run<W: Into<OsString> + Clone>(
    registry: &'static Registry,
    words: impl IntoIterator<Item = W>,
    caller: Caller,
) -> Exit {
    let (args, typed) = match parse(registry, words) {
        Ok(parsed) => parsed,
        Err(error) => {
            // Help and version are answers, everything else is a mistake in the words.
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Good };
            let _ = error.print();
            return exit;
        }
    };
    let Global { json, workspace, quiet, verbose } = args.global;
    let ui = Ui { json, quiet, verbose };
    let may = caller.may(args.command.standing(), &typed);
    let workspace = match may.and_then(|()| caller.workspace(workspace)) {
        Ok(workspace) => workspace,
        Err(error) => return ui.error(&error),
    };
    let context = Context { ui, registry, workspace, caller };
    let result = carry_out(&context, args.command);
    result.unwrap_or_else(|error| context.ui.error(&error))
}

fn carry_out(context: &Context, command: Command) -> Result<Exit> {
    match command {
        Command::Init(command) => commands::init::run(context, &command),
        Command::Check(command) => commands::check::run(context, &command),
        Command::Run(command) => commands::run::run(context, &command),
        Command::Resume(command) => commands::resume::run(context, &command),
        Command::Cancel(command) => commands::cancel::run(context, &command),
        Command::Inbox(command) => commands::inbox::run(context, &command),
        Command::Answer(command) => commands::answer::run(context, &command),
        Command::Report(command) => commands::report::run(context, &command),
        Command::Status(command) => commands::status::run(context, &command),
        Command::Show(command) => commands::show::run(context, &command),
        Command::Log(command) => commands::log::run(context, &command),
        Command::Process(command) => commands::process::run(context, &command),
        Command::Cycle(command) => commands::cycle::run(context, &command),
        Command::Roadmap(command) => commands::roadmap::run(context, &command),
        Command::Metrics(command) => commands::metrics::run(context, &command),
        Command::Prompt(command) => commands::prompt_text::run(context, &command),
        Command::Decide(command) => commands::decide::run(context, &command),
        Command::Observe(command) => commands::observe::run(context, &command),
        Command::Guard(command) => commands::guard::run(context, &command),
        Command::Doctor(command) => commands::doctor::run(context, &command),
        Command::Phase(command) => commands::phase::run(context, &command),
        Command::Hook(command) => commands::hook::run(context, &command),
        Command::CommitGate(command) => commands::commit_gate::run(context, &command),
        Command::Gates(command) => commands::gates::run(context, &command),
        Command::Snapshot(command) => commands::snapshot::run(context, &command),
        Command::Watchdog(command) => commands::watchdog::run(context, &command),
        Command::World(command) => commands::world::run(context, &command),
        Command::Conform(command) => commands::conform::run(context, &command),
        Command::Verify(command) => commands::verify::run(context, &command),
        Command::Bench(command) => commands::bench::run(context, &command),
        Command::Completions(command) => commands::completions::run(context, &command),
        Command::Man(command) => commands::man::run(context, &command),
    }
}
