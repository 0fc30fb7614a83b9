//! An old file as plain data from which things are taken; what is left at the end is kept.

use serde_json::Map;
use serde_json::Value as Json;

/// Takes the value at a path out, where there is one that says something.
pub(super) fn take(root: &mut Json, path: &[&str]) -> Option<Json> {
    let (last, way) = path.split_last()?;
    let holder = way.iter().try_fold(root, |node, key| match node {
        Json::Object(map) => map.get_mut(*key),
        Json::Array(items) => items.get_mut(key.parse::<usize>().ok()?),
        _ => None,
    })?;
    let map = holder.as_object_mut()?;
    if map.get(*last).is_none_or(Json::is_null) {
        return None;
    }
    map.shift_remove(*last)
}

/// Takes the first of several fields.
pub(super) fn take_first(map: &mut Map<String, Json>, names: &[&str]) -> Option<Json> {
    let name = names.iter().find(|name| map.get(**name).is_some_and(|value| !value.is_null()))?;
    map.shift_remove(*name)
}

/// Takes the entries of a list; what is no list stays where it is.
pub(super) fn take_list(map: &mut Map<String, Json>, name: &str) -> Vec<Json> {
    match map.get_mut(name).map(Json::take) {
        Some(Json::Array(items)) => {
            map.shift_remove(name);
            items
        }
        Some(other) => {
            map.insert(name.to_owned(), other);
            vec![]
        }
        None => vec![],
    }
}

/// What is left without the shells of what was taken: empty collections and nulls say nothing.
pub(super) fn pruned(value: Json) -> Option<Json> {
    match value {
        Json::Null => None,
        Json::Object(map) => {
            let map: Map<String, Json> =
                map.into_iter().filter_map(|(key, value)| Some((key, pruned(value)?))).collect();
            (!map.is_empty()).then_some(Json::Object(map))
        }
        Json::Array(items) => {
            let items: Vec<Json> = items.into_iter().filter_map(pruned).collect();
            (!items.is_empty()).then_some(Json::Array(items))
        }
        other => Some(other),
    }
}

/// The names of fields, for a report.
pub(super) fn keys(fields: &Json) -> String {
    let names = fields.as_object().into_iter().flat_map(Map::keys).map(String::as_str);
    names.collect::<Vec<_>>().join(", ")
}
