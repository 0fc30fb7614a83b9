//! Process definitions and principles of a workspace: where they are looked for.

use seriatim_core::finding::has_errors;
use seriatim_core::process::Definition;
use seriatim_core::process::Instance;
use seriatim_core::process::Pattern;
use seriatim_core::process::Purpose;
use seriatim_core::process::definition::Step;
use seriatim_core::process::documents::conditions;
use seriatim_core::process::instance::Source;
use seriatim_core::process::result;
use seriatim_core::reading::BrokenFile;
use seriatim_core::reading::Reading;

use crate::entrance::Ground;
use crate::entrance::ListedKind;

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

/// What to do about a file that the configuration names and that is not there.
const NAMED_BY_CONFIGURATION: &str = "write the file, or take `principles` out of [process] in seriatim.toml";

/// A definition that was found.
#[derive(Clone, Debug)]
pub struct FoundDefinition {
    /// Relative to the workspace.
    pub path: String,
    pub id: String,
    pub name: String,
    pub steps: usize,
    pub phase: Option<u32>,
    pub purpose: Purpose,
}

/// Returns every definition in the workspace, by path: `process-*.yaml` anywhere, and all YAML in folders named
/// `processes`.
pub fn find_definitions(ground: &dyn Ground) -> Vec<FoundDefinition> {
    let mut found = Vec::new();
    let mut folders = vec![(String::new(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let in_processes = folder.rsplit('/').next() == Some("processes");
        for entry in ground.list(&folder) {
            let name = entry.name.as_str();
            let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
            match entry.kind {
                ListedKind::Folder if depth < DEPTH_MAX && !PASSED_OVER.contains(&name) => {
                    folders.push((path, depth + 1));
                }
                ListedKind::File
                    if is_yaml(name)
                        && (in_processes || name.starts_with("process-"))
                        && entry.size_bytes <= BYTES_MAX =>
                {
                    found.extend(read(ground, path));
                }
                ListedKind::Folder | ListedKind::File | ListedKind::Other => {}
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn is_yaml(name: &str) -> bool {
    name.ends_with(".yaml") || name.ends_with(".yml")
}

/// Reads a file that may be a definition. Many other things have such names, so that one which is none is passed over:
/// the list only says which processes a step can hand over to, and a process that is not on it is refused there.
fn read(ground: &dyn Ground, path: String) -> Option<FoundDefinition> {
    let bytes = match ground.read(&path) {
        Reading::Read(bytes) => bytes,
        Reading::Absent | Reading::Broken(_) => return None,
    };
    let definition = Definition::parse(&bytes).0?;
    Some(FoundDefinition {
        steps: definition.steps.len(),
        phase: definition.phase.as_ref().map(|p| p.value),
        purpose: result::purpose(&definition),
        path,
        id: definition.id.value,
        name: definition.name.value,
    })
}

/// Returns the document with the project's principles: as configured, under the plugin's root, or in the usual places.
/// One that is there and cannot be read, or that the configuration names and is not there, keeps the run from starting.
pub(super) fn find_principles(ground: &dyn Ground) -> Result<Option<String>, BrokenFile> {
    if let Some(path) = &ground.config().process.principles {
        ground.text(path).required(path, NAMED_BY_CONFIGURATION)?;
        return Ok(Some(path.clone()));
    }
    let plugin = ground.plugin_root().map(|root| format!("{root}/references/ref_project-principles.md"));
    let usual = PRINCIPLES.iter().map(|p| (*p).to_owned());
    for path in plugin.into_iter().chain(usual) {
        if ground.text(&path).optional()?.is_some() {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Returns the names by which agents of a run of this instance are looked up. Its definition has to be there: one that
/// cannot be had, or of which nothing can be made, keeps the run from starting.
pub(super) fn find_roles(
    ground: &dyn Ground,
    instance: &Instance,
) -> Result<Option<Vec<Vec<String>>>, BrokenFile> {
    match &instance.source {
        None => Ok(None),
        Some(Source::Dynamic { definition }) => Ok(Some(roles_of(definition))),
        Some(Source::WellKnown { path, .. }) => {
            let path = &path.value;
            let text =
                ground.text(path).required(path, "name the definition that is meant in the instance")?;
            let bad = ground.check_conditions(&conditions(text.as_bytes()));
            match Definition::parse(text.as_bytes()) {
                (Some(_), _) if has_errors(&bad) => Err(BrokenFile::of(path, text, bad)),
                (Some(definition), _) => Ok(Some(roles_of(&definition))),
                (None, findings) => Err(BrokenFile::of(path, text, findings)),
            }
        }
    }
}

/// Returns the names by which agents are looked up for the steps and criteria of a definition.
pub(super) fn roles_of(definition: &Definition) -> Vec<Vec<String>> {
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
