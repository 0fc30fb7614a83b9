//! `seriatim doctor`

use crate::args::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::guard::doctor;
use crate::isolation;
use crate::isolation::Apart;
use crate::isolation::IsolationReport;
use crate::render::table::size_in_words;
use crate::ui::Tone;
use crate::ui::Ui;
use crate::ui::tone;
use crate::workspace::Workspace;

/// Test that the guard works here, and name what is not protected
///
/// Says how agents and gates are kept apart, and how to get a better isolation. Calls the hooks with a prompt that they must refuse; the refusal goes on record, and nothing else is changed. Makes a
/// world for a moment to see whether one can be made. Exit codes: 0 every check passed, 1 something is not protected
/// that could be.
#[derive(clap::Args, Debug)]
pub(crate) struct Doctor {}

pub(crate) fn run(context: &Context, _command: &Doctor) -> Result<Exit> {
    let root = Workspace::find(context.workspace.as_deref())?;
    let health = doctor::examine(&root);
    let isolation = isolation::examine(context, &root);
    let is_good = health.ok && isolation.ok;
    let ui = &context.ui;
    let mut document = serde_json::to_value(&health).unwrap_or_default();
    document["isolation"] = serde_json::to_value(&isolation).unwrap_or_default();
    document["ok"] = is_good.into();
    ui.document(&document);
    for check in &health.checks {
        ui.say(format!("{}  {}: {}", mark(check.ok), check.name, check.detail));
        check.help.iter().for_each(|help| ui.say(format!("        {} {help}", tone(Tone::Faint, "help:"))));
    }
    tell_isolation(ui, &isolation);
    if !health.not_protected.is_empty() {
        ui.say(format!("\n{}", tone(Tone::Strong, "Not protected")));
        health.not_protected.iter().for_each(|sentence| ui.say(format!("  - {sentence}")));
    }
    let bad = health.checks.iter().filter(|check| !check.ok).count() + usize::from(!isolation.ok);
    ui.say(match bad {
        0 => "\nEvery check holds.".to_owned(),
        bad => format!("\n{bad} of {} checks do not hold.", health.checks.len() + 1),
    });
    Ok(if is_good { Exit::Good } else { Exit::NotGood })
}

fn mark(ok: bool) -> String {
    if ok { tone(Tone::Good, "✓ good") } else { tone(Tone::Bad, "✗ bad ") }
}

/// Says how far agents and gates are kept apart, and how to get a better isolation.
fn tell_isolation(ui: &Ui, isolation: &IsolationReport) {
    ui.say(format!("\n{}", tone(Tone::Strong, "Isolation")));
    ui.say(format!("{}  worlds: {}", mark(isolation.world.works), isolation.world.words()));
    if let Some(help) = &isolation.world.help {
        ui.say(format!("        {} {}", tone(Tone::Faint, "help:"), help.replace('\n', "\n        ")));
    }
    isolation.agents.iter().for_each(|one| tell_apart(ui, "agent", one));
    isolation.gates.iter().for_each(|one| tell_apart(ui, "gate", one));
    if isolation.agents.is_empty() && isolation.gates.is_empty() {
        ui.say("        no agent and no gate is configured that runs a program");
    }
    ui.say(match isolation.landlock_abi {
        Some(abi) => format!("        Landlock: version {abi}"),
        None => "        Landlock: not available, so that there is no second wall".to_owned(),
    });
    let room = match isolation.layers.free_bytes {
        Some(bytes) => format!("{} free", size_in_words(bytes)),
        None => "its free room is not known".to_owned(),
    };
    ui.say(format!(
        "        layers: {} {}, {room}",
        isolation.layers.words(),
        isolation.layers.folder.display()
    ));
}

fn tell_apart(ui: &Ui, what: &str, one: &Apart) {
    let name = format!("{what} {}", one.name);
    match (one.isolation, &one.problem) {
        (Some(isolation), _) => {
            let weakness = one.weakness.map(|words| format!(" ({words})")).unwrap_or_default();
            let network = one.network.word();
            ui.say(format!(
                "        {name}: {}, network {network}{}",
                isolation.word(),
                tone(Tone::Attention, weakness)
            ));
        }
        (None, problem) => {
            let problem = problem.as_deref().unwrap_or("no isolation works here");
            ui.say(format!("        {name}: {} {problem}", tone(Tone::Bad, "does not start:")));
        }
    }
}
