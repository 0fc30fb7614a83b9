//! `seriatim run cycle`

use std::collections::BTreeMap;

use seriatim_core::config::Config;
use seriatim_flows::cycle::AGENT_DOCS;
use seriatim_flows::cycle::DOCUMENT;
use seriatim_flows::cycle::Gate;
use seriatim_flows::cycle::Start;

use super::Asking;
use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::session::Begin;
use crate::session::Session;

/// The checks that the battery knows.
const BATTERY: [&str; 3] = ["tests", "lint", "security"];

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
    let mut session = Session::open(context)?;
    let root = session.workspace.root.clone();
    if !root.join(".git").exists() {
        return Err(CommandError::usage(format!("{} is not a git repository", root.display()))
            .hint("a cycle measures and commits changes by git: run `git init` first"));
    }
    for role in ["planner", "actor", "judge"] {
        if session.workspace.config.agent(&[role.to_owned()]).is_none() {
            return Err(CommandError::usage(format!("there is no agent for the {role}"))
                .hint(format!("add [agents.{role}] or [agents.default] to seriatim.toml")));
        }
    }
    let automation = format!("{AGENT_DOCS}/SETUP_AUTOMATION.yaml");
    let start = Start {
        project: root.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default(),
        goal: command.goal.clone(),
        gates: gates(&session.workspace.config),
        automation: root.join(&automation).is_file().then_some(automation),
        alert: session.workspace.config.cycle.alert.clone(),
    };
    let begin = Begin {
        flow: "cycle",
        title: command.goal.clone().unwrap_or_else(|| "A cycle".to_owned()),
        subject: DOCUMENT.to_owned(),
        input: serde_json::to_value(start).unwrap_or_default(),
    };
    let view = super::carry_out(context, &mut session, begin, answers, command.asking.no_input)?;
    let exit = view.show(&context.ui, &session.workspace);
    session.close();
    Ok(exit)
}

/// Gates are pinned at the start.
fn gates(config: &Config) -> BTreeMap<String, Gate> {
    let known = config.gates.iter().filter(|(name, _)| BATTERY.contains(&name.as_str()));
    known
        .map(|(name, gate)| {
            let gate = Gate {
                argv: gate.command.clone(),
                within: gate.within.clone(),
                subset: gate.subset.clone(),
                timeout_ms: gate.timeout_ms,
                env: gate.env.clone(),
            };
            (name.clone(), gate)
        })
        .collect()
}
