//! `seriatim run action`

use std::collections::BTreeMap;

use seriatim_core::config::Config;
use seriatim_flows::action::Gate;
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
    let mut session = Session::open(context)?;
    let start = Start {
        intent: intent.clone(),
        manual: command.manual,
        operator: whoami(),
        inputs: command.inputs.iter().cloned().collect(),
        ..start(&session.workspace.config)
    };
    let begin = Begin {
        flow: "action",
        title: format!("action {intent}"),
        subject: format!("agents/actions#{intent}"),
        input: serde_json::to_value(start).unwrap_or_default(),
    };
    let view = super::carry_out(context, &mut session, begin, answers, command.asking.no_input)?;
    let exit = view.show(&context.ui, &session.workspace);
    session.close();
    Ok(exit)
}

/// What the configuration gives to an action; pinned at its start.
fn start(config: &Config) -> Start {
    let gate = |gate: &seriatim_core::config::Gate| Gate {
        argv: gate.command.clone(),
        within: gate.within.clone(),
        timeout_ms: gate.timeout_ms,
        env: gate.env.clone(),
        expect: gate.expect.clone(),
        value: gate.value.clone(),
        threshold: gate.threshold.map(|threshold| threshold.to_string()),
        comparator: gate.comparator,
    };
    let agents = &config.agents;
    let fallbacks: BTreeMap<String, String> =
        agents.iter().filter_map(|(name, agent)| Some((name.clone(), agent.fallback.clone()?))).collect();
    let timed = agents.iter().filter(|(_, agent)| agent.has_timeout);
    Start {
        gates: config.gates.iter().map(|(name, configured)| (name.clone(), gate(configured))).collect(),
        fallbacks,
        timeouts: timed.map(|(name, agent)| (name.clone(), agent.timeout_ms)).collect(),
        syntax: config.actions.syntax.clone(),
        solution: config.actions.solution.clone(),
        pii_off: config.actions.pii_off.clone(),
        ..Start::default()
    }
}
