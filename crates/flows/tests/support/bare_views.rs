//! Answers of a machine without views: agents work in the workspace itself, and nothing waits to be merged.

use serde_json::Value;
use seriatim_core::world::ViewChange;
use seriatim_core::world::ViewMerged;
use seriatim_flows::Request;
use seriatim_flows::request::WorldCall;

/// Returns the outcome of a request about views; nothing for every other request.
pub(crate) fn answer(request: &Request) -> Option<Vec<u8>> {
    let outcome = match request {
        Request::World(WorldCall::Change { .. }) => serde_json::to_value(ViewChange::without_view()),
        Request::World(WorldCall::Merge { .. }) => serde_json::to_value(ViewMerged::default()),
        Request::World(
            WorldCall::Drop { .. }
            | WorldCall::Keep { .. }
            | WorldCall::Save { .. }
            | WorldCall::Reset { .. },
        ) => Ok(Value::Null),
        _ => return None,
    };
    Some(serde_json::to_vec(&Ok::<Value, ()>(outcome.unwrap())).unwrap())
}
