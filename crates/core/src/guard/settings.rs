//! The hooks in a client's settings file: put in, found, and taken out again, with no other byte touched (DS-32).
//!
//! An edit is made on the text, at the places that a tree of it knows. What is put in can be told by its command,
//! so that it is found again whatever else was changed in between.

mod edit;
mod ours;
#[cfg(test)]
mod tests;
mod tree;

pub use ours::Hook;
pub use ours::command;
pub use ours::hooks;
pub use tree::SettingsError;
pub use tree::Why;

use serde_json::Map;
use serde_json::Value as Json;

use super::client::Client;
use edit::Blanks;
use edit::Change;
use edit::Style;
use tree::Node;
use tree::Tree;

/// A settings file after an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    pub text: String,
    pub notes: Vec<Note>,
}

/// A settings file after the hooks were taken out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Absent when the file was not there before, and nothing else is in it now: then it goes.
    pub text: Option<String>,
    /// True when the file is what it was before, to the byte.
    pub restored: bool,
}

/// What was done, for whoever asked for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    Unchanged,
    Added {
        event: &'static str,
    },
    /// It was there, but not as it should be.
    Repaired {
        event: &'static str,
    },
}

/// What the file was before the hooks were put in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Original<'a> {
    Absent,
    Text(&'a str),
}

/// Whether one of our hooks is where it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Presence {
    pub event: &'static str,
    pub state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    There,
    /// It is there, but with another matcher, time or option.
    Altered,
    Missing,
}

/// Puts the hooks in. `text` is absent where there is no file yet.
pub fn install(text: Option<&str>, client: Client) -> Result<Edited, SettingsError> {
    let given = text.filter(|text| !blank(text)).unwrap_or("{}\n");
    let mut edited = given.to_owned();
    let mut notes = vec![];
    for hook in hooks(client) {
        // Each edit moves what comes behind it, so the text is read anew for each.
        let tree = Tree::parse(&edited, client)?;
        let next = match state(&tree, hook)? {
            State::There => continue,
            State::Missing => {
                notes.push(Note::Added { event: hook.event });
                added(&tree, hook, client)?
            }
            State::Altered => {
                notes.push(Note::Repaired { event: hook.event });
                added(&Tree::parse(&cut(&tree, Some(hook.event), client)?, client)?, hook, client)?
            }
        };
        edited = next;
    }
    if notes.is_empty() {
        notes.push(Note::Unchanged);
    }
    Ok(Edited { text: edited, notes })
}

/// Takes the hooks out. A file that is still as [`install`] left it becomes what it was before; out of any other,
/// ours alone are cut.
pub fn uninstall(
    text: &str,
    client: Client,
    original: Option<Original<'_>>,
) -> Result<Removed, SettingsError> {
    if let Some(original) = original {
        let before = match original {
            Original::Absent => None,
            Original::Text(before) => Some(before),
        };
        if install(before, client).is_ok_and(|left| left.text == text) {
            return Ok(Removed { text: before.map(str::to_owned), restored: true });
        }
    }
    if blank(text) {
        return Ok(Removed { text: Some(text.to_owned()), restored: false });
    }
    let rest = cut(&Tree::parse(text, client)?, None, client)?;
    let empty = Tree::parse(&rest, client)?.root.members().is_some_and(<[_]>::is_empty);
    let gone = empty && original == Some(Original::Absent);
    Ok(Removed { text: (!gone).then_some(rest), restored: false })
}

/// Which of the hooks are there.
pub fn present(text: Option<&str>, client: Client) -> Result<Vec<Presence>, SettingsError> {
    let tree = Tree::parse(text.filter(|text| !blank(text)).unwrap_or("{}"), client)?;
    let presence = |hook: &Hook| Ok(Presence { event: hook.event, state: state(&tree, hook)? });
    hooks(client).iter().map(presence).collect()
}

/// Whether a change of the settings takes any of the hooks away, alters one, or switches all hooks off. A file
/// that cannot be read any more has no hooks.
pub fn touches_ours(before: Option<&str>, after: Option<&str>, client: Client) -> bool {
    let found = |text: Option<&str>| -> Option<(Vec<Json>, bool)> {
        let tree = Tree::parse(text.filter(|text| !blank(text)).unwrap_or("{}"), client).ok()?;
        let mut groups = vec![];
        for hook in hooks(client) {
            let of_event = groups_of(&tree, hook.event).ok()?;
            groups
                .extend(of_event.iter().filter(|group| is_ours(&tree, group)).map(|group| tree.json(group)));
        }
        Some((groups, switched_off(&tree)))
    };
    let Some((before, was_off)) = found(before) else { return false };
    let Some((after, is_off)) = found(after) else { return !before.is_empty() };
    before.iter().any(|group| !after.contains(group)) || (is_off && !was_off)
}

fn blank(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim().is_empty()
}

/// Whether a settings file switches off all hooks, ours included. One that cannot be read does not.
pub fn switches_off(text: &str, client: Client) -> bool {
    !blank(text) && Tree::parse(text, client).is_ok_and(|tree| switched_off(&tree))
}

/// Whether the file switches off all hooks, ours included.
fn switched_off(tree: &Tree<'_>) -> bool {
    let is = |path: &[&str], value: Json| tree.at(path).is_some_and(|node| tree.json(node) == value);
    is(&["disableAllHooks"], Json::Bool(true)) || is(&["hooksConfig", "enabled"], Json::Bool(false))
}

/// The groups of an event. What has another shape than the client would take is an error.
fn groups_of<'t>(tree: &'t Tree<'_>, event: &str) -> Result<&'t [Node], SettingsError> {
    let Some(events) = tree.root.get("hooks") else { return Ok(&[]) };
    events.members().ok_or_else(|| tree.error(events, Why::NotAnObject { key: "hooks".to_owned() }))?;
    let Some(groups) = events.get(event) else { return Ok(&[]) };
    groups.items().ok_or_else(|| tree.error(groups, Why::NotAList { key: event.to_owned() }))
}

/// Whether a group has one of our commands in it.
fn is_ours(tree: &Tree<'_>, group: &Node) -> bool {
    handlers(group).iter().any(|handler| is_our_handler(tree, handler))
}

fn handlers(group: &Node) -> &[Node] {
    group.get("hooks").and_then(Node::items).unwrap_or_default()
}

fn is_our_handler(tree: &Tree<'_>, handler: &Node) -> bool {
    let command = handler.get("command").map(|node| tree.json(node));
    command.as_ref().and_then(Json::as_str).is_some_and(ours::is_command)
}

fn state(tree: &Tree<'_>, hook: &Hook) -> Result<State, SettingsError> {
    let ours: Vec<Json> = groups_of(tree, hook.event)?
        .iter()
        .filter(|group| is_ours(tree, group))
        .map(|group| tree.json(group))
        .collect();
    Ok(match ours.as_slice() {
        [] => State::Missing,
        [one] if *one == hook.group() => State::There,
        _ => State::Altered,
    })
}

/// The text with one more group.
fn added(tree: &Tree<'_>, hook: &Hook, client: Client) -> Result<String, SettingsError> {
    groups_of(tree, hook.event)?;
    let style = Style::of(tree);
    let group = hook.group();
    let list = Json::Array(vec![group.clone()]);
    let change: Vec<Change> = match tree.root.get("hooks") {
        None => {
            let all = Json::Object(std::iter::once((hook.event.to_owned(), list)).collect());
            edit::append(tree, &style, &tree.root, Some("hooks"), &all)
        }
        Some(events) => match events.get(hook.event) {
            None => edit::append(tree, &style, events, Some(hook.event), &list),
            Some(groups) => edit::append(tree, &style, groups, None, &group),
        },
    };
    let mut expected = tree.json(&tree.root);
    if let Some(root) = expected.as_object_mut() {
        let events = root.entry("hooks").or_insert_with(|| Json::Object(Map::new()));
        if let Some(events) = events.as_object_mut() {
            let groups = events.entry(hook.event).or_insert_with(|| Json::Array(vec![]));
            groups.as_array_mut().into_iter().for_each(|groups| groups.push(group.clone()));
        }
    }
    proved(tree, [edit::apply(tree.text, change)], &expected, client)
}

/// The first of some edits that holds what it should, and nothing else.
fn proved(
    tree: &Tree<'_>,
    edits: impl IntoIterator<Item = String>,
    expected: &Json,
    client: Client,
) -> Result<String, SettingsError> {
    let holds =
        |text: &String| Tree::parse(text, client).is_ok_and(|edited| edited.json(&edited.root) == *expected);
    edits.into_iter().find(holds).ok_or_else(|| tree.error(&tree.root, Why::Entangled))
}

/// The text without our hooks: of one event, or of all that there are, known or not.
fn cut(tree: &Tree<'_>, only: Option<&str>, client: Client) -> Result<String, SettingsError> {
    let Some(events) = tree.root.get("hooks") else { return Ok(tree.text.to_owned()) };
    if events.members().is_none() {
        return Err(tree.error(events, Why::NotAnObject { key: "hooks".to_owned() }));
    }
    let expected = without(tree.json(&tree.root), only);
    let edit = |blanks| edit::apply(tree.text, cuts(tree, events, only, blanks));
    proved(tree, [Blanks::Cut, Blanks::Keep].map(edit), &expected, client)
}

fn cuts(tree: &Tree<'_>, events: &Node, only: Option<&str>, blanks: Blanks) -> Vec<Change> {
    let keeps = |group: &Node| -> Vec<bool> {
        handlers(group).iter().map(|handler| !is_our_handler(tree, handler)).collect()
    };
    let mut changes = vec![];
    let mut kept_events = vec![];
    for member in events.members().unwrap_or_default() {
        let concerned = only.is_none_or(|only| only == member.key);
        let groups = member.node.items().filter(|_| concerned).unwrap_or_default();
        let stays = |kept: &[bool]| kept.is_empty() || kept.contains(&true);
        let kept: Vec<bool> = groups.iter().map(|group| stays(&keeps(group))).collect();
        kept_events.push(stays(&kept));
        if !stays(&kept) {
            continue;
        }
        changes.extend(edit::remove(tree, &member.node, &kept, blanks));
        // A group that somebody else's command joined loses ours alone.
        for (group, _) in groups.iter().zip(&kept).filter(|(_, kept)| **kept) {
            let list = group.get("hooks");
            changes.extend(list.into_iter().flat_map(|list| edit::remove(tree, list, &keeps(group), blanks)));
        }
    }
    if kept_events.contains(&false) && !kept_events.contains(&true) {
        let members = tree.root.members().unwrap_or_default();
        let keeps: Vec<bool> = members.iter().map(|member| member.key != "hooks").collect();
        return edit::remove(tree, &tree.root, &keeps, blanks);
    }
    changes.extend(edit::remove(tree, events, &kept_events, blanks));
    changes
}

/// The same on plain data: what has to be left.
fn without(mut settings: Json, only: Option<&str>) -> Json {
    let Some(events) = settings.get_mut("hooks").and_then(Json::as_object_mut) else { return settings };
    let is_ours =
        |handler: &Json| handler.get("command").and_then(Json::as_str).is_some_and(ours::is_command);
    let mut cut_any = false;
    events.retain(|event, groups| {
        let Some(groups) = groups.as_array_mut().filter(|_| only.is_none_or(|only| only == event)) else {
            return true;
        };
        let had = !groups.is_empty();
        groups.retain_mut(|group| {
            let Some(handlers) = group.get_mut("hooks").and_then(Json::as_array_mut) else { return true };
            let had = !handlers.is_empty();
            handlers.retain(|handler| !is_ours(handler));
            !had || !handlers.is_empty()
        });
        cut_any |= had && groups.is_empty();
        !had || !groups.is_empty()
    });
    if cut_any && events.is_empty() {
        settings.as_object_mut().into_iter().for_each(|root| {
            root.shift_remove("hooks");
        });
    }
    settings
}
