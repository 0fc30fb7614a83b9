//! How a cycle begins.

use seriatim_core::reading::BrokenFile;

use super::AGENT_DOCS;
use super::DOCUMENT;
use super::Start;
use super::course::understand_automation;
use crate::entrance::Argument;
use crate::entrance::Entrance;
use crate::entrance::Ground;
use crate::entrance::NoStart;
use crate::entrance::Prepared;
use crate::entrance::Repository;
use crate::entrance::Shape;
use crate::entrance::Words;

/// The roles that need an agent.
const ROLES: [&str; 3] = ["planner", "actor", "judge"];

pub(crate) const ENTRANCES: &[Entrance] = &[Entrance {
    word: "cycle",
    about: "Run the loop of Human, Planner, Actor and Judge towards a goal",
    more: "The agents are `planner`, `actor` and `judge` of seriatim.toml, the checks its gates `tests`, `lint` and \
           `security`.",
    usage: "",
    arguments: &[Argument {
        name: "goal",
        help: "The goal; asked for when left out",
        shape: Shape::Text { value: "TEXT" },
    }],
    prepare,
}];

fn prepare(words: &Words, ground: &mut dyn Ground) -> Result<Prepared, NoStart> {
    if ground.repository() != Repository::Here {
        return Err(NoStart::usage("the workspace is not the top of a git repository")
            .hint("a cycle measures and commits changes by git: run `git init` first"));
    }
    for role in ROLES {
        if ground.config().agent(&[role.to_owned()]).is_none() {
            return Err(NoStart::usage(format!("there is no agent for the {role}"))
                .hint(format!("add [agents.{role}] or [agents.default] to seriatim.toml")));
        }
    }
    let automation = format!("{AGENT_DOCS}/SETUP_AUTOMATION.yaml");
    let readings = [
        understand_automation(&automation, ground.text(&automation)).map(|_| ()),
        ground.text(DOCUMENT).map(|_| ()),
    ];
    let broken: Vec<BrokenFile> =
        readings.into_iter().filter_map(|reading| reading.optional().err()).collect();
    if !broken.is_empty() {
        return Err(NoStart::broken(broken));
    }
    let goal = words.one("goal").map(str::to_owned);
    let mut start = Start {
        project: ground.folder_name(),
        goal: goal.clone(),
        automation: ground.exists(&automation).then_some(automation),
        ..Start::default()
    };
    start.adopt(ground.config());
    let calls = Some(ROLES.map(|role| vec![role.to_owned()]).to_vec());
    let title = goal.unwrap_or_else(|| "A cycle".to_owned());
    Ok(Prepared { calls, ..Prepared::new(title, DOCUMENT, &start)? })
}
