//! How an action begins.

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
    let mut start = Start {
        intent: intent.clone(),
        manual: words.has("manual"),
        operator: ground.user(),
        inputs: words.all("input").iter().map(|text| input(text)).collect::<Result<_, _>>()?,
        ..Start::default()
    };
    start.adopt(ground.config());
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
