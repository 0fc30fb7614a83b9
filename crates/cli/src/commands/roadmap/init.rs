//! `seriatim roadmap init`

use serde_json::json;
use seriatim_core::roadmap::command;
use seriatim_core::roadmap::document::new_status;
use seriatim_engine::hands::disk::Disk;
use seriatim_engine::hands::files::Expect;
use seriatim_engine::hands::files::FileError;
use seriatim_engine::hands::files::Files;
use seriatim_engine::hands::files::Write;

use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::render;
use crate::roadmaps;
use crate::ui::Tone;
use crate::ui::tone;
use crate::workspace::Workspace;
use crate::workspace::now;

/// Create the state file of a project, in which no step has begun
///
/// The roadmap is checked first, and what is wrong with it is shown. A state file of any generation is left alone.
/// Exit codes: 0 created, 1 the roadmap has errors, 2 there is no roadmap, or there is a state file already.
#[derive(clap::Args, Debug)]
pub(crate) struct Init {
    /// The project, whose files are in docs/feature/PROJECT
    project: String,
}

pub(super) fn run(context: &Context, given: &Init) -> Result<Exit> {
    let workspace = Workspace::open(context)?;
    let project = command::project(&given.project)?;
    let path = roadmaps::find_roadmap(&workspace, &project)?;
    if let Some(there) = roadmaps::state_files(&workspace, &project).first() {
        return Err(exists(&project, there));
    }
    let (roadmap, findings) = roadmaps::read_with_findings(&workspace, &path)?;
    let target = command::status_path(&project);
    let text = new_status(&project, now());
    let how = Write::DURABLE.expecting(Expect::Absent);
    Disk.write(&workspace.root.join(&target), text.as_bytes(), how).map_err(|error| match error {
        FileError::Changed { .. } => exists(&project, &target),
        FileError::NoSpace { .. } => CommandError::not_good(format!("{target} cannot be written: {error}")),
        error => CommandError::usage(format!("{target} cannot be written: {error}")),
    })?;
    let ui = &context.ui;
    let plain: Vec<_> = findings.iter().map(|f| render::findings::Plain::of(f, Some(&path))).collect();
    let steps = roadmap.steps.len();
    ui.document(&json!({
        "project": project, "roadmap": path, "created": target, "steps": steps, "findings": plain,
    }));
    ui.say(format!("{} {target} ({steps} {})", tone(Tone::Good, "created:"), steps_word(steps)));
    if !findings.is_empty() {
        ui.tell(format!("{path} has {} warning(s) or note(s); see `seriatim check {path}`.", findings.len()));
    }
    if let Some(first) = roadmap.steps.first() {
        let agent = first.agent.as_deref().unwrap_or(seriatim_flows::roadmap::USUAL_AGENT);
        ui.tell(format!(
            "Next:  seriatim run roadmap {project}   or   seriatim run step @{agent} {project} {}",
            first.id
        ));
    }
    Ok(Exit::Good)
}

fn steps_word(number: usize) -> &'static str {
    if number == 1 { "step" } else { "steps" }
}

fn exists(project: &str, path: &str) -> CommandError {
    CommandError::usage(format!("{path} holds the state of {project} already; it was left as it is")).hint(format!(
        "`seriatim roadmap show {project}` shows it, `seriatim roadmap migrate {project}` brings an older one forward"
    ))
}
