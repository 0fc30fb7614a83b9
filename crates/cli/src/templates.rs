//! The rules for prompts of the workspace: what is built in, with the project's own files over it.

use seriatim_engine::hands::disk::Disk;
use std::path::Path;
use std::path::PathBuf;

use seriatim_core::prompt::Library;
use seriatim_core::prompt::PhaseList;
use seriatim_core::prompt::library::FOLDER;
use seriatim_core::prompt::library::InFile;
use seriatim_core::roadmap::Schema;
use seriatim_engine::guard::templates;
use seriatim_engine::guard::templates::OwnTemplates;

use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::render;
use crate::workspace::CONFIG;
use crate::workspace::Workspace;

/// Where the project's templates are.
#[derive(clap::Args, Debug)]
pub(crate) struct Place {
    /// The folder of the project's own templates; by default the one that seriatim.toml names, else
    /// nWave/templates/prompt-templates
    #[arg(long, value_name = "DIR")]
    templates: Option<PathBuf>,
}

/// What prompts of the workspace are made from and held against.
pub(crate) struct Rules {
    pub(crate) library: Library,
    /// The project's own list of phases.
    pub(crate) phases: Option<PhaseList>,
}

/// The rules of the workspace. A broken file of the project is a mistake in its configuration: it is shown, and
/// nothing is done with half of the rules.
pub(crate) fn load(context: &Context, place: &Place) -> Result<Rules> {
    let workspace = Workspace::open(context)?;
    let guard = &workspace.config.guard;
    let folder = match (&place.templates, &guard.templates) {
        (Some(folder), _) => Some(folder.clone()),
        (None, Some(folder)) => Some(inside(&workspace, folder)?),
        // A file or a dead link at the usual place is no reason to use what is built in.
        (None, None) => Some(workspace.root.join(FOLDER)).filter(|folder| folder.symlink_metadata().is_ok()),
    };
    let library = match folder {
        Some(folder) if !folder.is_dir() => {
            return Err(CommandError::usage(format!("{} is not a folder", folder.display())));
        }
        Some(folder) => own_library(&folder)?,
        None => Library::standard().clone(),
    };
    let phases = guard.phases.as_deref().map(|path| own_phases(&workspace, path)).transpose()?;
    Ok(Rules { library, phases })
}

/// A path of the configuration, which has to stay inside the workspace.
fn inside(workspace: &Workspace, path: &str) -> Result<PathBuf> {
    templates::inside(&Disk, &workspace.root, path)
        .map_err(|e| CommandError::usage(format!("{CONFIG}: `{path}` cannot be used: {e}")))
}

fn own_phases(workspace: &Workspace, path: &str) -> Result<PhaseList> {
    let text = templates::read_text(&Disk, &inside(workspace, path)?);
    let text = text.map_err(|e| CommandError::usage(format!("{path} cannot be read: {e}")))?;
    Schema::parse(&text).map(|schema| PhaseList::from(&schema)).map_err(|findings| {
        render::findings::to_stderr(path, &text, &findings);
        CommandError::usage(format!("the list of phases in {path} cannot be used"))
    })
}

fn own_library(folder: &Path) -> Result<Library> {
    let own = OwnTemplates::read(&Disk, folder)
        .map_err(|e| CommandError::usage(format!("{} cannot be read: {e}", folder.display())))?;
    for InFile { file, finding } in &own.findings {
        let shown = folder.join(file).display().to_string();
        let text = own.files.get(file).map_or("", String::as_str);
        render::findings::to_stderr(&shown, text, std::slice::from_ref(finding));
    }
    match own.errors().count() {
        0 => Ok(own.library),
        errors => {
            Err(CommandError::usage(format!("the templates in {} have {errors} error(s)", folder.display())))
        }
    }
}
