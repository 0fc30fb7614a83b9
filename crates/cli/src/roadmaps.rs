//! Projects with a roadmap, for the commands that look at them.

use seriatim_engine::guard::Project;
use seriatim_engine::guard::rules::Rules;
use seriatim_engine::hands::disk::Disk;
use std::sync::Arc;

use seriatim_core::finding::Finding;
use seriatim_core::roadmap::Roadmap;
use seriatim_core::roadmap::command::Message;
use seriatim_core::roadmap::phases::Schema;
use seriatim_flows::roadmap::place;
use seriatim_flows::roadmap::place::ProjectFiles;

use crate::commands::run::OnDisk;
use crate::error::CommandError;
use crate::error::Result;
use crate::workspace::Workspace;

impl From<Message> for CommandError {
    fn from(message: Message) -> CommandError {
        seriatim_flows::entrance::NoStart::from(message).into()
    }
}

/// Refuses while any work on a project is not over.
pub(crate) fn refuse_unfinished(workspace: &Workspace, project: &str) -> Result<()> {
    Ok(place::refuse_unfinished(&OnDisk { workspace }, project)?)
}

/// Returns the roadmap of a project, or the sentence that says where it should be (DW-30).
pub(crate) fn find_roadmap(workspace: &Workspace, project: &str) -> std::result::Result<String, Message> {
    place::find_roadmap(&OnDisk { workspace }, project)
}

/// Returns every file that holds the state of a project's steps, that of the current generation first (K-103).
pub(crate) fn state_files(workspace: &Workspace, project: &str) -> Vec<String> {
    place::find_state_files(&OnDisk { workspace }, project)
}

/// Returns the files of a project, or says which one is missing (DW-30, DW-31, K-103).
pub(crate) fn find(workspace: &Workspace, project: &str) -> std::result::Result<ProjectFiles, Message> {
    place::find_project(&OnDisk { workspace }, project)
}

/// The phases that a project brings itself; a list that cannot be read is an error of the configuration.
pub(crate) fn own_phases(workspace: &Workspace) -> Result<Vec<Schema>> {
    let project = Project::new(&workspace.root, Arc::new(Disk));
    let rules = Rules::of(&project, workspace.config.clone());
    Ok(rules.map_err(|error| CommandError::usage(error.to_string()))?.own().to_vec())
}

/// Reads and checks the roadmap; its errors are shown, and nothing is begun (E-47).
pub(crate) fn read(workspace: &Workspace, path: &str) -> Result<Roadmap> {
    Ok(read_with_findings(workspace, path)?.0)
}

/// The same, with its warnings.
pub(crate) fn read_with_findings(workspace: &Workspace, path: &str) -> Result<(Roadmap, Vec<Finding>)> {
    Ok(place::read_roadmap(&OnDisk { workspace }, path)?)
}

/// Work of this dialect is measured and committed by git.
pub(crate) fn needs_git(workspace: &Workspace) -> Result<()> {
    Ok(place::needs_git(&OnDisk { workspace })?)
}
