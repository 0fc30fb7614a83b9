//! What the roles of the world in memory do when the script says nothing else.

use serde_json::Value;
use serde_json::json;
use seriatim_flows::request::Done;

use crate::world::Happening;
use crate::world::Outside;
use crate::world::step;

/// The change that is asked for.
pub(crate) fn greet(outside: &mut Outside) {
    outside.write("greet.sh", "echo good morning\n");
}

/// The same in other words each time: what was sent back is changed.
fn greet_for_the(outside: &mut Outside, time: u32) {
    match time {
        0 | 1 => greet(outside),
        time => outside.write("greet.sh", &format!("echo good morning # {time}\n")),
    }
}

/// What a role does without a script.
pub(crate) fn usual(role: &str, prompt: &str, acts: u32) -> (Done<Value>, Option<Happening>) {
    match role {
        "planner" => (Ok(json!({"outputs": step(json!({}))})), None),
        "actor" => (
            Ok(json!({"outputs": {"result": "SUCCESS"}})),
            Some(Box::new(move |outside: &mut Outside| greet_for_the(outside, acts))),
        ),
        "judge" => {
            let closed = closings(prompt);
            (Ok(json!({"outputs": {"result": "PASS", "closed": closed}})), None)
        }
        other => panic!("a cycle has no role `{other}`"),
    }
}

/// Closes every open finding of a brief by name.
pub(crate) fn closings(prompt: &str) -> Vec<Value> {
    let open = prompt.split("## Open findings").nth(1).unwrap_or_default();
    let open = open.split("##").next().unwrap_or_default();
    let ids = open.lines().filter_map(|line| line.strip_prefix("- ")?.split(' ').next());
    ids.map(|id| json!({"id": id, "reason": "it is fixed"})).collect()
}

/// The lines of a file that may be absent.
pub(crate) fn lines(text: Option<&String>) -> Vec<&str> {
    text.map(|text| text.lines().collect()).unwrap_or_default()
}
