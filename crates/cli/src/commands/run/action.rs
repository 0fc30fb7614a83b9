//! `seriatim run action`

use seriatim_flows::action::Start;

use super::Asking;
use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::session::Begin;
use crate::session::Session;
use crate::session::whoami;

/// Carry out an action: roles in stages, with gates behind them
///
/// The action is named, or meant by words: `seriatim run action "document the new feature"`. Actions are wired in
/// agents/agent-map.yaml or in the front matter of agents/actions/NAME.md; the nine of the contract are built in.
#[derive(clap::Args, Debug)]
pub(crate) struct Action {
    /// The name of an action, or words that mean one
    #[arg(value_name = "NAME|INTENT")]
    intent: String,
    /// A person does the steps; gates and evidence are the same
    #[arg(long)]
    manual: bool,
    /// An input of the action, like: --input "project name=Atlas"
    #[arg(long = "input", value_name = "NAME=TEXT", value_parser = input)]
    inputs: Vec<(String, String)>,
    #[command(flatten)]
    asking: Asking,
}

fn input(text: &str) -> std::result::Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("write NAME=TEXT".to_owned()),
    }
}

pub(super) fn run(context: &Context, command: &Action) -> Result<Exit> {
    let answers = command.asking.answers()?;
    let intent = command.intent.trim().to_owned();
    if intent.is_empty() {
        return Err(CommandError::usage("no action was named")
            .hint("seriatim run action NAME, or words that mean one"));
    }
    let mut session = Session::open_with(context, command.asking.config)?;
    let mut start = Start {
        intent: intent.clone(),
        manual: command.manual,
        operator: whoami(),
        inputs: command.inputs.iter().cloned().collect(),
        ..Start::default()
    };
    start.adopt(&session.workspace.config);
    let begin = Begin {
        flow: "action",
        title: format!("action {intent}"),
        subject: format!("agents/actions#{intent}"),
        input: super::input(&start)?,
        // Which roles it takes is found out when the action is resolved.
        calls: None,
    };
    let view = super::carry_out(context, &mut session, begin, answers, &command.asking)?;
    let exit = view.show(&context.ui, &session.workspace);
    session.close();
    Ok(exit)
}
