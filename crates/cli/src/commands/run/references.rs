//! What the configuration names has to be there before work begins.

use seriatim_core::config;
use seriatim_core::finding::Finding;
use seriatim_core::reading::BrokenFile;
use seriatim_core::reading::Flaw;
use seriatim_engine::hands::disk::Disk;
use seriatim_engine::hands::paths::Workspace as Paths;
use seriatim_engine::reading::broken_scripts;
use seriatim_engine::reading::read_file;
use seriatim_flows::entrance::NoStart;

use crate::error::CommandError;
use crate::error::Result;
use crate::workspace::CONFIG;
use crate::workspace::Workspace;

/// Refuses where a file that the configuration names is not there or cannot be used.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let paths = Paths::new(&workspace.root).map_err(|error| CommandError::usage(error.to_string()))?;
    let mut broken: Vec<BrokenFile> = vec![];
    for (agent, script) in broken_scripts(&Disk, &paths, &workspace.config) {
        match script.flaw {
            Flaw::Unreadable => broken.push(named_at(workspace, &["agents", agent, "script"], &script)),
            Flaw::Content => broken.push(script),
        }
    }
    let guard = &workspace.config.guard;
    let named = [
        (["guard", "phases"], guard.phases.as_deref()),
        (["process", "principles"], workspace.config.process.principles.as_deref()),
    ];
    for (way, path) in named.into_iter().filter_map(|(way, path)| Some((way, path?))) {
        let help = format!("write the file, or take `{}` out of [{}]", way[1], way[0]);
        if let Err(file) = read_file(&Disk, &paths, path).required(path, &help) {
            broken.push(named_at(workspace, &way, &file));
        }
    }
    if let Some(folder) = &guard.templates {
        let place = paths.resolve(folder);
        if !place.as_ref().is_ok_and(|place| place.is_dir()) {
            let why = place.err().map_or_else(|| "it is not a folder".to_owned(), |error| error.to_string());
            let help = "make the folder, or take `templates` out of [guard]";
            broken.push(named_at(
                workspace,
                &["guard", "templates"],
                &BrokenFile::unreadable(folder, &why, help),
            ));
        }
    }
    if broken.is_empty() { Ok(()) } else { Err(NoStart::broken(broken).into()) }
}

/// Returns the line of the configuration that names a file which cannot be used.
fn named_at(workspace: &Workspace, way: &[&str], file: &BrokenFile) -> BrokenFile {
    let place = config::place_of(&workspace.source, way);
    let finding = Finding::error("unknown-file", place, file.headline()).help(file.remedy());
    BrokenFile::of(CONFIG, workspace.source.clone(), vec![finding])
}
