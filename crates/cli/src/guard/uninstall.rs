//! Planning to take the guard out.

use std::path::Path;

use seriatim_core::guard::client::Client;
use seriatim_core::guard::settings;
use seriatim_core::guard::settings::Original;
use seriatim_core::guard::settings::Removed;
use seriatim_core::hash::Hash;
use seriatim_engine::guard::Kept;
use seriatim_engine::guard::Mark;
use seriatim_engine::guard::Project;
use seriatim_engine::hands::files::Expect;

use super::change::Act;
use super::clients;
use super::clients::Settings;
use super::git_hooks;
use super::git_hooks::Place;
use super::plan;
use super::plan::Change;
use super::plan::Marked;
use super::plan::Plan;
use super::plan::named;
use crate::error::CommandError;
use crate::error::Result;

/// A settings file with hooks of ours.
struct Held {
    client: Client,
    path: String,
    /// Absent where nothing is known of what was before.
    kept: Option<Kept>,
}

/// Reads everything, and says what would have to be changed for these clients, or all, to be without the guard.
pub(crate) fn plan(root: &Path, clients: &[Client]) -> Result<Plan> {
    let mut planned = Plan::default();
    let place = Place::of(root);
    let (mark, before) = match Marked::read(root) {
        Marked::No => return Ok(planned),
        Marked::Yes { mark, hash } => (mark, Expect::Hash(hash)),
        Marked::Unreadable => {
            planned.warnings.push(
                "the mark of the guard cannot be read, so the hooks are taken out by what they look like"
                    .to_owned(),
            );
            (Mark::default(), Expect::Any)
        }
    };
    let unreadable = before == Expect::Any;
    let held = if unreadable { discover(root) } else { of_mark(&mark) };
    let wanted = |held: &Held| clients.is_empty() || clients.contains(&held.client);
    let mut broken = vec![];
    for held in held.iter().filter(|held| wanted(held)) {
        match of_settings(root, held)? {
            Ok(change) => planned.changes.extend(change),
            Err(mistake) => broken.push(mistake),
        }
    }
    if !broken.is_empty() {
        return Err(CommandError::usage(format!("{}; nothing was changed", broken.join("; "))).hint(
            "mend the file, or take the entries that call `seriatim hook` out by hand; then try again",
        ));
    }
    if held.iter().any(|held| !wanted(held)) {
        let mut rest = mark.clone();
        rest.clients.retain(|installed| !clients.contains(&installed.client));
        if rest != mark {
            let act = plan::write_mark(root, &rest, before);
            planned.changes.push(mark_change(root, "~ forgets the client", vec![act]));
        }
        return Ok(planned);
    }
    let hooks = match &place {
        Some(place) if unreadable => git_hooks::discover(root, place),
        _ => mark.git_hooks,
    };
    let (changes, warnings) = git_hooks::uninstall(root, &hooks, place.as_ref());
    planned.changes.extend(changes);
    planned.warnings.extend(warnings);
    let mut acts = vec![Act::Remove { path: Project::mark_path(root) }];
    acts.extend(state_folder(root));
    planned.changes.push(mark_change(root, "- the project is guarded no longer; its record stays", acts));
    Ok(planned)
}

fn mark_change(root: &Path, line: &str, acts: Vec<Act>) -> Change {
    Change { path: named(root, &Project::mark_path(root)), lines: vec![line.to_owned()], acts }
}

fn of_mark(mark: &Mark) -> Vec<Held> {
    let held = |installed: &seriatim_engine::guard::Installed| Held {
        client: installed.client,
        path: installed.settings.path.clone(),
        kept: Some(installed.settings.clone()),
    };
    mark.clients.iter().map(held).collect()
}

/// Every settings file that has hooks of ours in it.
fn discover(root: &Path) -> Vec<Held> {
    let mut found = vec![];
    for client in Client::ALL {
        for path in clients::places(client) {
            if Settings::read(root, path).is_ok_and(|settings| settings.has_any(client)) {
                found.push(Held { client, path: path.to_owned(), kept: None });
            }
        }
    }
    found
}

fn of_settings(root: &Path, held: &Held) -> Result<std::result::Result<Option<Change>, String>> {
    let settings = Settings::read(root, &held.path)?;
    let Some(text) = &settings.text else { return Ok(Ok(None)) };
    let removed = match without_ours(held, text) {
        Ok(removed) => removed,
        Err(error) => return Ok(Err(clients::broken(&held.path, &error))),
    };
    let expect = Expect::Hash(Hash::of(text.as_bytes()));
    let (line, mut acts) = match removed.text {
        Some(rest) if rest == *text => return Ok(Ok(None)),
        Some(rest) => {
            let line = if removed.restored {
                "< as it was before, to the byte"
            } else {
                "- the guard's hooks alone"
            };
            let bytes = rest.into_bytes();
            (line, vec![Act::Write { path: settings.file.clone(), bytes, mode: None, expect }])
        }
        None => ("- removed; it was not there before", vec![Act::Remove { path: settings.file.clone() }]),
    };
    let folders = held.kept.iter().flat_map(|kept| kept.folders.iter().rev());
    acts.extend(folders.map(|folder| Act::RemoveFolder { path: root.join(folder) }));
    Ok(Ok(Some(Change { path: held.path.clone(), lines: vec![line.to_owned()], acts })))
}

fn without_ours(held: &Held, text: &str) -> std::result::Result<Removed, settings::SettingsError> {
    let Some(kept) = &held.kept else { return settings::uninstall(text, held.client, None) };
    // As we left it: then it becomes what it was, whatever another version of the hooks looks like.
    if kept.ours == Hash::of(text.as_bytes()) {
        return Ok(Removed { text: kept.original.clone(), restored: true });
    }
    let original = kept.original.as_deref().map_or(Original::Absent, Original::Text);
    settings::uninstall(text, held.client, Some(original))
}

/// The folder of the store goes when nothing was recorded in it.
fn state_folder(root: &Path) -> Vec<Act> {
    let mark = Project::mark_path(root);
    let Some(folder) = mark.parent() else { return vec![] };
    let nothing_else =
        std::fs::read_dir(folder).is_ok_and(|entries| entries.flatten().all(|entry| entry.path() == mark));
    if nothing_else { vec![Act::RemoveFolder { path: folder.to_owned() }] } else { vec![] }
}
