//! How an action begins.

use std::collections::BTreeMap;

use seriatim_core::config::Config;

use super::Gate;
use super::Start;
use crate::entrance::Argument;
use crate::entrance::Entrance;
use crate::entrance::Ground;
use crate::entrance::NoStart;
use crate::entrance::Prepared;
use crate::entrance::Shape;
use crate::entrance::Words;

pub(crate) const ENTRANCES: &[Entrance] = &[Entrance {
    word: "action",
    about: "Carry out an action: roles in stages, with gates behind them",
    more: "The action is named, or meant by words: `seriatim run action \"document the new feature\"`. Actions are \
           wired in agents/agent-map.yaml or in the front matter of agents/actions/NAME.md; the nine of the contract \
           are built in.",
    usage: "",
    arguments: &[
        Argument {
            name: "intent",
            help: "The name of an action, or words that mean one",
            shape: Shape::Place { value: "NAME|INTENT" },
        },
        Argument {
            name: "manual",
            help: "A person does the steps; gates and evidence are the same",
            shape: Shape::Flag,
        },
        Argument {
            name: "input",
            help: "An input of the action, like: --input \"project name=Atlas\"",
            shape: Shape::Texts { value: "NAME=TEXT" },
        },
    ],
    prepare,
}];

fn prepare(words: &Words, ground: &mut dyn Ground) -> Result<Prepared, NoStart> {
    let intent = words.one("intent").unwrap_or_default().trim().to_owned();
    if intent.is_empty() {
        return Err(
            NoStart::usage("no action was named").hint("seriatim run action NAME, or words that mean one")
        );
    }
    let start = Start {
        intent: intent.clone(),
        manual: words.has("manual"),
        operator: ground.user(),
        inputs: words.all("input").iter().map(|text| input(text)).collect::<Result<_, _>>()?,
        ..configured(ground.config())
    };
    Prepared::new(format!("action {intent}"), format!("agents/actions#{intent}"), &start)
}

fn input(text: &str) -> Result<(String, String), NoStart> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(NoStart::usage(format!("`--input {text}` is not NAME=TEXT"))),
    }
}

/// What the configuration gives to an action; pinned at its start.
fn configured(config: &Config) -> Start {
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
