//! `seriatim run cycle`

use seriatim_flows::cycle::AGENT_DOCS;
use seriatim_flows::cycle::DOCUMENT;
use seriatim_flows::cycle::Start;

use super::Asking;
use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::session::Begin;
use crate::session::Session;

/// The roles that agents have.
const ROLES: [&str; 3] = ["planner", "actor", "judge"];

/// Run the loop of Human, Planner, Actor and Judge towards a goal
///
/// The agents are `planner`, `actor` and `judge` of seriatim.toml, the checks its gates `tests`, `lint` and `security`.
#[derive(clap::Args, Debug)]
pub(crate) struct Cycle {
    /// The goal; asked for when left out
    #[arg(long, value_name = "TEXT")]
    goal: Option<String>,
    #[command(flatten)]
    asking: Asking,
}

pub(super) fn run(context: &Context, command: &Cycle) -> Result<Exit> {
    let answers = command.asking.answers()?;
    let mut session = Session::open_with(context, command.asking.config)?;
    let root = session.workspace.root.clone();
    if !root.join(".git").exists() {
        return Err(CommandError::usage(format!("{} is not a git repository", root.display()))
            .hint("a cycle measures and commits changes by git: run `git init` first"));
    }
    for role in ROLES {
        if session.workspace.config.agent(&[role.to_owned()]).is_none() {
            return Err(CommandError::usage(format!("there is no agent for the {role}"))
                .hint(format!("add [agents.{role}] or [agents.default] to seriatim.toml")));
        }
    }
    let automation = format!("{AGENT_DOCS}/SETUP_AUTOMATION.yaml");
    let mut start = Start {
        project: root.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default(),
        goal: command.goal.clone(),
        automation: root.join(&automation).is_file().then_some(automation),
        ..Start::default()
    };
    start.adopt(&session.workspace.config);
    let begin = Begin {
        flow: "cycle",
        title: command.goal.clone().unwrap_or_else(|| "A cycle".to_owned()),
        subject: DOCUMENT.to_owned(),
        input: super::input(&start)?,
        calls: Some(ROLES.map(|role| vec![role.to_owned()]).to_vec()),
    };
    let view = super::carry_out(context, &mut session, begin, answers, &command.asking)?;
    let exit = view.show(&context.ui, &session.workspace);
    session.close();
    Ok(exit)
}
