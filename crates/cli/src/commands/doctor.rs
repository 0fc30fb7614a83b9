//! `seriatim doctor`

use crate::args::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::guard::doctor;
use crate::ui::Tone;
use crate::ui::tone;
use crate::workspace::Workspace;

/// Try out whether the guard of this project guards, and say what it does not protect
///
/// Calls the hooks with a prompt that they must refuse; the refusal goes on record, and nothing else is changed. Exit
/// codes: 0 every check holds, 1 something is not protected that could be.
#[derive(clap::Args, Debug)]
pub(crate) struct Doctor {}

pub(crate) fn run(context: &Context, _command: &Doctor) -> Result<Exit> {
    let root = Workspace::find(context.workspace.as_deref())?;
    let health = doctor::examine(&root);
    let ui = &context.ui;
    ui.document(&health);
    for check in &health.checks {
        let word = if check.ok { tone(Tone::Good, "✓ good") } else { tone(Tone::Bad, "✗ bad ") };
        ui.say(format!("{word}  {}: {}", check.name, check.detail));
        check.help.iter().for_each(|help| ui.say(format!("        {} {help}", tone(Tone::Faint, "help:"))));
    }
    if !health.not_protected.is_empty() {
        ui.say(format!("\n{}", tone(Tone::Strong, "Not protected")));
        health.not_protected.iter().for_each(|sentence| ui.say(format!("  - {sentence}")));
    }
    let bad = health.checks.iter().filter(|check| !check.ok).count();
    ui.say(match bad {
        0 => "\nEvery check holds.".to_owned(),
        bad => format!("\n{bad} of {} checks do not hold.", health.checks.len()),
    });
    Ok(if health.ok { Exit::Good } else { Exit::NotGood })
}
