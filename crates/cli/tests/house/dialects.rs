//! No dialect is known by name to what all of them share.

use crate::support::sources;

/// Rooms that belong to a dialect or to the guard: commands with a dialect in their name, and what serves them.
const OF_A_DIALECT: [&str; 21] = [
    "crates/cli/src/commands/commit_gate.rs",
    "crates/cli/src/commands/conform.rs",
    "crates/cli/src/commands/cycle.rs",
    "crates/cli/src/commands/decide.rs",
    "crates/cli/src/commands/gates",
    "crates/cli/src/commands/guard.rs",
    "crates/cli/src/commands/observe.rs",
    "crates/cli/src/commands/phase.rs",
    "crates/cli/src/commands/process.rs",
    "crates/cli/src/commands/prompt_text.rs",
    "crates/cli/src/commands/roadmap",
    "crates/cli/src/commands/summary.rs",
    "crates/cli/src/commands/watchdog.rs",
    "crates/cli/src/conform/",
    "crates/cli/src/guard/",
    "crates/cli/src/record.rs",
    "crates/cli/src/render/process.rs",
    "crates/cli/src/roadmaps.rs",
    "crates/cli/src/steps.rs",
    "crates/engine/src/guard/",
    "crates/engine/src/rollback",
];

/// The command `prompt` reads the templates of prompts.
const TEMPLATES: &str = "crates/cli/src/templates.rs";

#[test]
fn shared_commands_and_the_engine_name_no_dialect() {
    let rooms = ["process", "cycle", "roadmap", "action"];
    let banned: Vec<String> = rooms
        .iter()
        .flat_map(|room| {
            [
                format!("seriatim_core::{room}::"),
                format!("seriatim_flows::{room}::"),
                format!("flow == \"{room}\""),
            ]
        })
        .collect();
    let is_shared = |path: &str| {
        (path.starts_with("crates/cli/src/") || path.starts_with("crates/engine/src/"))
            && path != TEMPLATES
            && !OF_A_DIALECT.iter().any(|room| path.starts_with(room))
    };
    for (path, text) in sources().into_iter().filter(|(path, _)| is_shared(path)) {
        for (number, line) in text.lines().enumerate() {
            let found = banned.iter().find(|name| line.contains(name.as_str()));
            assert!(found.is_none(), "{path}:{}: {} (ask the registry)", number + 1, line.trim());
        }
    }
}
