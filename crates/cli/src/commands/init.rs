//! `seriatim init`

use std::path::Path;

use serde_json::json;

use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::ui::Tone;
use crate::ui::tone;
use crate::workspace::CONFIG;

/// Agent programs that people commonly have.
const CLIENTS: [&str; 4] = ["claude", "codex", "gemini", "opencode"];

/// Set up a workspace: seriatim.toml; nothing that exists is overwritten
///
/// The record of runs needs no setting up: it is kept in the git folder (.git/seriatim), where no commit and no `git
/// clean` reaches it; without git in .seriatim/. Commit seriatim.toml; there is nothing to ignore.
#[derive(clap::Args, Debug)]
pub(crate) struct Init {}

pub(crate) fn run(context: &Context, _command: &Init) -> Result<Exit> {
    let root = match &context.workspace {
        Some(dir) => {
            std::fs::create_dir_all(dir).map_err(|e| fail(dir, &e))?;
            dir.canonicalize().map_err(|e| fail(dir, &e))?
        }
        None => std::env::current_dir().map_err(|e| fail(Path::new("."), &e))?,
    };
    let found: Vec<&str> = CLIENTS.into_iter().filter(|name| on_path(name)).collect();
    let wanted = [(root.join(CONFIG), scaffold(&found))];
    let (mut created, mut kept) = (vec![], vec![]);
    for (path, text) in wanted {
        let name = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
        match write_new(&path, &text) {
            Ok(()) => created.push(name),
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => kept.push(name),
            Err(e) => return Err(fail(&path, &e)),
        }
    }
    let ui = &context.ui;
    ui.document(&json!({"workspace": root, "created": created, "kept": kept, "agents_found": found}));
    created.iter().for_each(|name| ui.say(format!("{} {name}", tone(Tone::Good, "created:"))));
    kept.iter().for_each(|name| ui.say(format!("{} {name} (left as it is)", tone(Tone::Faint, "kept:   "))));
    if !found.is_empty() {
        ui.tell(format!("Agent programs on this machine: {}", found.join(", ")));
    }
    ui.tell(format!("Next: name an agent in {CONFIG}, then `seriatim run process FILE`."));
    ui.tell("Guard live sessions of Claude Code, Codex or Gemini here with `seriatim guard install`.");
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

fn on_path(program: &str) -> bool {
    let Some(path) = std::env::var_os("PATH") else { return false };
    std::env::split_paths(&path).any(|dir| dir.join(program).is_file())
}

fn scaffold(found: &[&str]) -> String {
    let seen = if found.is_empty() {
        String::new()
    } else {
        format!("# Agent programs that were found on this machine: {}\n", found.join(", "))
    };
    format!(
        "# seriatim: who does the work, and which checks are run.\n\
         {seen}\n\
         # The agent for every role without one of its own. A `command` agent reads its brief on stdin and writes\n\
         # one JSON object to the file that SERIATIM_REPORT names.\n\
         # [agents.default]\n\
         # kind = \"command\"            # command | scripted | human\n\
         # argv = [\"sh\", \"agent.sh\"]\n\
         # timeout = \"30m\"\n\
         # env = [\"PATH\", \"HOME\"]      # passed on; everything else is withheld\n\
         \n\
         # Secrets that only this workspace knows, as regular expressions.\n\
         # [redact]\n\
         # patterns = [\"ACME-[0-9a-f]{{32}}\"]\n"
    )
}
