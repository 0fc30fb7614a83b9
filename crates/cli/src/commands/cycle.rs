//! `seriatim cycle`

use std::path::Path;

use clap::Subcommand;
use serde_json::json;
use seriatim_flows::cycle::AGENT_DOCS;

use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::ui::Tone;
use crate::ui::tone;
use crate::workspace::Workspace;

/// The companion documents, in our own words.
const DOCUMENTS: [(&str, &str); 4] = [
    ("AGENTS.md", include_str!("../../assets/agent_docs/AGENTS.md")),
    ("AGENT_ROLES.md", include_str!("../../assets/agent_docs/AGENT_ROLES.md")),
    ("SETUP_AUTOMATION.md", include_str!("../../assets/agent_docs/SETUP_AUTOMATION.md")),
    ("SETUP_AUTOMATION.yaml", include_str!("../../assets/agent_docs/SETUP_AUTOMATION.yaml")),
];

/// Companions of the loop of Human, Planner, Actor and Judge
#[derive(clap::Args, Debug)]
pub(crate) struct Cycle {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Write the documents for the roles under docs/agent_docs/; nothing that exists is overwritten
    Init,
}

pub(crate) fn run(context: &Context, command: &Cycle) -> Result<Exit> {
    let What::Init = command.what;
    let root = Workspace::find(context.workspace.as_deref())?;
    let folder = root.join(AGENT_DOCS);
    std::fs::create_dir_all(&folder).map_err(|e| fail(&folder, &e))?;
    let (mut created, mut kept) = (vec![], vec![]);
    for (name, text) in DOCUMENTS {
        let shown = format!("{AGENT_DOCS}/{name}");
        match write_new(&folder.join(name), text) {
            Ok(()) => created.push(shown),
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => kept.push(shown),
            Err(e) => return Err(fail(&folder.join(name), &e)),
        }
    }
    let ui = &context.ui;
    ui.document(&json!({"created": created, "kept": kept}));
    created.iter().for_each(|name| ui.say(format!("{} {name}", tone(Tone::Good, "created:"))));
    kept.iter().for_each(|name| ui.say(format!("{} {name} (left as it is)", tone(Tone::Faint, "kept:   "))));
    Ok(Exit::Good)
}

fn fail(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::usage(format!("{} cannot be written: {error}", path.display()))
}

fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    use std::io::Write;
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())
}
