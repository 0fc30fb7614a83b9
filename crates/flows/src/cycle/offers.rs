//! What a person is offered who has one of the roles.

use serde_json::Value;
use serde_json::json;
use seriatim_core::cycle::block::Role;
use seriatim_core::question::Choice;

use crate::request::PersonChoice;

/// Returns the options that fit a role, each with what it reports. That it could not be done is always among them.
pub(super) fn of(role: Role) -> Vec<PersonChoice> {
    match role {
        Role::Human => vec![],
        Role::Planner => {
            let lines = "A title, then the instructions; lines `Files:`, `Creates:`, `Lines:`, `Risk:`, `Done when:`.";
            vec![reporting(Choice::new("plan", "Here is the plan", lines).with_text(), json!({}), "")]
        }
        Role::Actor => vec![
            reporting(
                Choice::new("done", "It is done", "The engine measures what changed in the files."),
                json!({"result": "SUCCESS"}),
                "",
            ),
            reporting(
                Choice::new("cannot", "It cannot be done so", "Say why; the Planner plans again.")
                    .with_text(),
                json!({"result": "FAIL", "blocker": {"class": "adjustable"}}),
                "",
            ),
        ],
        Role::Judge => vec![
            reporting(
                Choice::new("pass", "PASS", "You judge it as good, and your name stands for it."),
                json!({"result": "PASS"}),
                "",
            ),
            reporting(
                Choice::new("insufficient", "INSUFFICIENT", "Say why; the Planner plans again.").with_text(),
                json!({"result": "INSUFFICIENT"}),
                "diagnostics",
            ),
        ],
    }
}

fn reporting(choice: Choice, outputs: Value, words_as: &str) -> PersonChoice {
    let outputs = outputs.as_object().cloned().unwrap_or_default();
    PersonChoice { outputs, words_as: words_as.to_owned(), ..PersonChoice::new(choice) }
}
