//! Planning to put the guard in.

use std::path::Path;

use seriatim_core::guard::client::Client;
use seriatim_core::guard::settings;
use seriatim_core::guard::settings::Edited;
use seriatim_core::guard::settings::Note;
use seriatim_core::hash::Hash;
use seriatim_engine::guard::Installed;
use seriatim_engine::guard::Kept;
use seriatim_engine::guard::Mark;
use seriatim_engine::guard::Project;
use seriatim_engine::hands::files::Expect;

use super::change;
use super::change::Act;
use super::clients;
use super::clients::CLAUDE_LOCAL;
use super::clients::Settings;
use super::git_hooks::Place;
use super::plan;
use super::plan::Change;
use super::plan::Marked;
use super::plan::Plan;
use super::plan::named;
use crate::error::CommandError;
use crate::error::Result;

/// Reads everything, and says what would have to be changed for the project to be guarded.
pub(crate) fn plan(root: &Path, chosen: &[Client], local: bool) -> Result<(Vec<Client>, Plan)> {
    let clients = if chosen.is_empty() { clients::detected(root) } else { chosen.to_vec() };
    if local && !clients.contains(&Client::Claude) {
        return Err(CommandError::usage("--local is about claude, which is not among the clients"));
    }
    let (mark, before) = match Marked::read(root) {
        Marked::No => (Mark::default(), Expect::Absent),
        Marked::Yes { mark, hash } => (mark, Expect::Hash(hash)),
        Marked::Unreadable => {
            let mark = named_mark(root);
            return Err(CommandError::usage(format!("the mark of the guard, {mark}, cannot be read"))
                .hint("`seriatim guard uninstall` takes out what it finds; then install again"));
        }
    };
    let mut after = Mark { version: plan::VERSION, ..mark.clone() };
    let mut planned = Plan::default();
    let mut broken = vec![];
    for client in &clients {
        let path = if local && *client == Client::Claude { CLAUDE_LOCAL } else { client.settings_path() };
        match one_client(root, *client, path, &mark, &mut planned)? {
            Ok(installed) => {
                after.clients.retain(|known| known.client != *client);
                after.clients.push(installed);
            }
            Err(mistake) => broken.push(mistake),
        }
    }
    if !broken.is_empty() {
        return Err(CommandError::usage(format!("{}; nothing was changed", broken.join("; ")))
            .hint("mend the file, then run the command again"));
    }
    after.clients.sort_by_key(|installed| installed.client);
    match Place::of(root) {
        Some(place) => {
            let (changes, kept) = place.install(root, &mark.git_hooks)?;
            if place.tracked && !changes.is_empty() {
                let folder = named(root, &place.folder);
                planned.warnings.push(format!(
                    "the hooks of this repository are in {folder}, which is tracked: the files named above will show up \
                     as changes to commit"
                ));
            }
            planned.changes.extend(changes);
            after.git_hooks = kept;
        }
        None => planned.warnings.push(
            "this is no git repository: commits are not protected; install again after `git init`".to_owned(),
        ),
    }
    if after != mark {
        let lines =
            vec!["+ marks the project as guarded, and keeps what the files above were before".to_owned()];
        let path = named_mark(root);
        planned.changes.push(Change { path, lines, acts: vec![plan::write_mark(root, &after, before)] });
    }
    Ok((clients, planned))
}

fn named_mark(root: &Path) -> String {
    named(root, &Project::mark_path(root))
}

/// One client: what is kept of its settings, or what is wrong with them.
fn one_client(
    root: &Path,
    client: Client,
    path: &str,
    mark: &Mark,
    planned: &mut Plan,
) -> Result<std::result::Result<Installed, String>> {
    let known = mark.clients.iter().find(|known| known.client == client);
    if let Some(known) = known.filter(|known| known.settings.path != path) {
        return Err(CommandError::usage(format!(
            "the hooks of {client} are in {} already",
            known.settings.path
        ))
        .hint(format!("`seriatim guard uninstall --client {client}` first, to have them in {path}")));
    }
    let settings = Settings::read(root, path)?;
    let edited = match settings::install(settings.text.as_deref(), client) {
        Ok(edited) => edited,
        Err(error) => return Ok(Err(clients::broken(path, &error))),
    };
    if settings.switched_off(client) {
        planned.warnings.push(format!("{path} switches all hooks off, so these will not run"));
    }
    let folders = change::missing_folders(&settings.file).iter().map(|folder| named(root, folder)).collect();
    let kept = Kept {
        path: path.to_owned(),
        original: original(client, &settings, known.map(|known| &known.settings)),
        ours: Hash::of(edited.text.as_bytes()),
        folders: known.map_or(folders, |known| known.settings.folders.clone()),
    };
    planned.changes.extend(of_settings(client, path, &settings, &edited));
    Ok(Ok(Installed { client, settings: kept }))
}

/// What the file was before the guard. Where it has our hooks in it already, and something else is not as we left
/// it, that is the file without them: whatever somebody wrote meanwhile is theirs and has to stay.
fn original(client: Client, settings: &Settings, known: Option<&Kept>) -> Option<String> {
    let text = settings.text.as_deref()?;
    match known {
        Some(known) if known.ours == Hash::of(text.as_bytes()) => known.original.clone(),
        _ if settings.has_any(client) => {
            let without = settings::uninstall(text, client, None).ok().and_then(|removed| removed.text);
            Some(without.unwrap_or_else(|| text.to_owned()))
        }
        _ => Some(text.to_owned()),
    }
}

fn of_settings(client: Client, path: &str, settings: &Settings, edited: &Edited) -> Option<Change> {
    let line = |sign: char, event: &str| {
        let matcher =
            settings::hooks(client).iter().find(|hook| hook.event == event).and_then(|hook| hook.matcher);
        let matcher = matcher.map(|matcher| format!(" ({matcher})")).unwrap_or_default();
        format!("{sign} {event}{matcher}: {}", settings::command(client))
    };
    let lines: Vec<String> = edited
        .notes
        .iter()
        .filter_map(|note| match note {
            Note::Unchanged => None,
            Note::Added { event } => Some(line('+', event)),
            Note::Repaired { event } => Some(line('~', event)),
        })
        .collect();
    if lines.is_empty() {
        return None;
    }
    let seen = settings.text.as_ref().map_or(Expect::Absent, |text| Expect::Hash(Hash::of(text.as_bytes())));
    let bytes = edited.text.clone().into_bytes();
    let act = Act::Write { path: settings.file.clone(), bytes, mode: None, expect: seen };
    Some(Change { path: path.to_owned(), lines, acts: vec![act] })
}
