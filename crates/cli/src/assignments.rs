//! Work that a live session takes: what is open, and the brief that belongs to it.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::json;
use seriatim_engine::drive::History;
use seriatim_engine::hands::paths;
use seriatim_flows::Request;
use seriatim_flows::request::Assignment;
use seriatim_journal::Open;
use seriatim_journal::OpenFilter;
use seriatim_journal::OpenKind;
use seriatim_journal::Store;

use crate::error::Result;
use crate::workspace::Workspace;

/// The open assignments of the runs that are meant, the longest waiting first. One whose record cannot be read is left out here;
/// `verify` names it.
pub(crate) fn open(store: &Store, of: OpenFilter) -> Result<Vec<(Open, Assignment)>> {
    let filter = OpenFilter { kind: Some(OpenKind::Assignment), ..of };
    let rows = store.open_calls(&filter)?;
    let mut histories: BTreeMap<String, Option<History>> = BTreeMap::new();
    let mut found = vec![];
    for row in rows {
        let history = histories.entry(row.run_name.clone()).or_insert_with(|| {
            let info = store.run(row.run).ok()?;
            History::read(store, &info).ok()
        });
        let request = history.as_ref().and_then(|history| history.open.get(&row.key));
        let request = request.and_then(|(_, _, body)| serde_json::from_slice(body).ok());
        if let Some(Request::Agent(assignment)) = request {
            found.push((row, *assignment));
        }
    }
    Ok(found)
}

/// What machines read about an assignment, beside the question that it is.
pub(crate) fn fields(
    row: &Open,
    assignment: &Assignment,
    workspace: &Workspace,
) -> [(&'static str, Value); 4] {
    let mut brief = serde_json::to_value(&assignment.brief).unwrap_or_default();
    if let Some(brief) = brief.as_object_mut() {
        // The engine fills the run in for whoever gets the brief.
        brief.insert("run".to_owned(), json!(row.run_name));
    }
    [
        ("step", json!(assignment.brief.step)),
        ("phase", json!(assignment.phase)),
        ("folder", json!(folder(workspace, &assignment.cwd))),
        ("brief", brief),
    ]
}

/// Where the work is done: a folder that requests call by another name is shown where it is.
fn folder(workspace: &Workspace, cwd: &str) -> String {
    if cwd.is_empty() {
        return String::new();
    }
    let root = paths::Workspace::new(&workspace.root).map(|root| root.with_store(workspace.home.store()));
    let place = root.and_then(|root| root.resolve(cwd));
    place.map_or_else(|_| cwd.to_owned(), |place| workspace.home.shown(&place))
}
