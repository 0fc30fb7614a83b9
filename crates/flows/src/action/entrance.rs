//! How an action begins.

use std::collections::BTreeSet;

use seriatim_core::action::plan::Action;
use seriatim_core::action::routing::Routed;
use seriatim_core::reading::BrokenFile;

use super::Start;
use super::documents::Documents;
use super::documents::Unplanned;
use super::documents::broken_state;
use super::documents::names_in;
use super::documents::understand_guide;
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
    check_documents(ground, &intent)?;
    let mut start = Start {
        intent: intent.clone(),
        documents: names_in(ground),
        manual: words.has("manual"),
        operator: ground.user(),
        inputs: words.all("input").iter().map(|text| input(text)).collect::<Result<_, _>>()?,
        ..Start::default()
    };
    start.adopt(ground.config());
    Prepared::new(format!("action {intent}"), format!("agents/actions#{intent}"), &start)
}

/// Refuses where a file that the action rests on cannot be used. Which action is meant may have to be asked first; its own
/// file is then looked at after the answer.
fn check_documents(ground: &dyn Ground, intent: &str) -> Result<(), NoStart> {
    let documents = Documents::find(ground);
    let mut broken = documents.unreadable().err().unwrap_or_default();
    broken.extend(broken_state(ground));
    if let Routed::One(name) = documents.route(intent)
        && broken.is_empty()
    {
        match documents.resolve(&name) {
            Ok(action) => broken.extend(broken_guides(ground, &action)),
            Err(Unplanned::Broken(own)) => broken.extend(own),
            Err(Unplanned::Unresolved(error)) => {
                return Err(NoStart::usage(error.to_string()).hint("nothing was started"));
            }
        }
    }
    if broken.is_empty() { Ok(()) } else { Err(NoStart::broken(broken)) }
}

/// Returns the guides of the action's roles that are there and cannot be used. One that is not there is asked about when
/// its role has its turn.
fn broken_guides(ground: &dyn Ground, action: &Action) -> Vec<BrokenFile> {
    let paths: BTreeSet<&String> = action.duties().map(|duty| &duty.guide).collect();
    let read = |path: &&String| understand_guide(path, ground.text(path)).optional().err();
    paths.iter().filter_map(read).collect()
}

fn input(text: &str) -> Result<(String, String), NoStart> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(NoStart::usage(format!("`--input {text}` is not NAME=TEXT"))),
    }
}
