//! Process definitions and principles of a workspace: where they are looked for.

use std::path::Path;
use std::path::PathBuf;

use seriatim_core::process::Definition;
use seriatim_core::process::Instance;
use seriatim_core::process::Pattern;
use seriatim_core::process::Purpose;
use seriatim_core::process::definition::Step;
use seriatim_core::process::instance::Source;
use seriatim_core::process::result;

/// Folders that never hold definitions, or hold too much to look through.
const PASSED_OVER: [&str; 6] = [".git", ".seriatim", "target", "node_modules", "vendor", ".dialogue"];
/// How deep definitions are looked for.
const DEPTH_MAX: usize = 6;
/// Larger files are not definitions.
const BYTES_MAX: u64 = 1 << 20;
/// Where the principles are when the configuration does not say.
const PRINCIPLES: [&str; 4] = [
    "references/ref_project-principles.md",
    "claude-plugin-evo/references/ref_project-principles.md",
    "plugin/references/ref_project-principles.md",
    ".dialogue/references/ref_project-principles.md",
];

/// A definition that was found.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// Relative to the workspace.
    pub(crate) path: String,
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) steps: usize,
    pub(crate) phase: Option<u32>,
    pub(crate) purpose: Purpose,
}

/// The names by which agents of a run of this instance are looked up; nothing where its definition cannot be read.
pub(crate) fn roles(root: &Path, instance: &Instance) -> Option<Vec<Vec<String>>> {
    match instance.source.as_ref()? {
        Source::Dynamic { definition } => Some(roles_of(definition)),
        Source::WellKnown { path, .. } => {
            let bytes = std::fs::read(root.join(&path.value)).ok()?;
            Some(roles_of(&Definition::parse(&bytes).0?))
        }
    }
}

/// The names by which agents are looked up for the steps and criteria of a definition.
pub(crate) fn roles_of(definition: &Definition) -> Vec<Vec<String>> {
    let fixes = definition.control_flow.fix_steps.iter().map(|fix| &fix.step);
    let steps = definition.steps.iter().chain(fixes);
    let by_agents = steps.filter(|step| step.pattern.value != Pattern::HumanOnly);
    let role = |step: &Step| vec![step.ai_role.as_ref().map(|role| role.value.clone()).unwrap_or_default()];
    let mut calls: Vec<Vec<String>> = by_agents.map(role).collect();
    let quality = &definition.quality;
    let criteria = [("entry-criteria", &quality.entry_criteria), ("exit-criteria", &quality.exit_criteria)];
    for (step, criteria) in criteria {
        if criteria.iter().any(|criterion| criterion.when.is_none()) {
            calls.push(vec![step.to_owned(), "judge".to_owned()]);
        }
    }
    calls
}

/// Every definition in the workspace, by path: `process-*.yaml` anywhere, and all YAML in folders named `processes`.
pub(crate) fn find(root: &Path) -> Vec<Found> {
    let mut found = Vec::new();
    let mut folders = vec![(root.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        let in_processes = folder.file_name().is_some_and(|n| n == "processes");
        for entry in entries.flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && depth < DEPTH_MAX && !PASSED_OVER.contains(&name.as_str()) {
                folders.push((path, depth + 1));
            } else if kind.is_file() && is_yaml(&path) && (in_processes || name.starts_with("process-")) {
                found.extend(read(root, &path));
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "yaml" || e == "yml")
}

fn read(root: &Path, path: &PathBuf) -> Option<Found> {
    if std::fs::metadata(path).ok()?.len() > BYTES_MAX {
        return None;
    }
    let definition = Definition::parse(&std::fs::read(path).ok()?).0?;
    Some(Found {
        steps: definition.steps.len(),
        phase: definition.phase.as_ref().map(|p| p.value),
        purpose: result::purpose(&definition),
        path: path.strip_prefix(root).ok()?.to_string_lossy().into_owned(),
        id: definition.id.value,
        name: definition.name.value,
    })
}

/// The document with the project's principles: as configured, under the plugin's root, or in the usual places.
pub(crate) fn principles(root: &Path, configured: Option<&str>) -> Option<String> {
    if let Some(path) = configured {
        return Some(path.to_owned());
    }
    let plugin = std::env::var_os("CLAUDE_PLUGIN_ROOT")
        .map(|dir| Path::new(&dir).join("references/ref_project-principles.md"))
        .and_then(|path| Some(path.strip_prefix(root).ok()?.to_string_lossy().into_owned()));
    let usual = PRINCIPLES.iter().map(|p| (*p).to_owned());
    plugin.into_iter().chain(usual).find(|path| root.join(path).is_file())
}
