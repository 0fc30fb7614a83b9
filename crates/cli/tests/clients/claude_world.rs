//! Claude Code as the worker of a step: it works in a world, and what it does beside its work stays there.

use std::process::Command;

use serde_json::json;

use crate::model::Model;
use crate::model::script::Script;
use crate::model::script::call;
use crate::model::script::say;
use crate::stage::Stage;
use crate::stage::client;

const DEFINITION: &str = r#"definition:
  id: "PROC-1.1"
  name: "Make"
  description: "Make one file."
  version: "1.0"
  phase: 1
  information_composition:
    formal: 100
    tacit: 0
    emergent: 0
interfaces:
  inputs: []
  outputs: []
steps:
  - id: "1.1.1"
    name: "Make it"
    capability: "Generate"
    pattern: "AI-Only"
    human_role: "None"
    ai_role: "Maker"
    escalation_triggers: []
    completion_criteria: []
flow: |
  ```mermaid
  flowchart LR
    a[Make it]
  ```
"#;

const CONFIG: &str = r#"[agents.default]
kind = "command"
argv = ["sh", "agent.sh"]
timeout = "3m"
isolation = "world"
env = ["PATH", "HOME"]
"#;

#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn the_real_client_works_in_a_world_and_its_shell_stays_inside() {
    let stage = Stage::new();
    let shell = "echo made >made.txt; git add made.txt; git commit -qm inside; \
                 echo '#!/bin/sh' >.git/hooks/pre-commit; echo evil >>seriatim.toml";
    // One command of one word, since the client asks about every part of a longer one.
    stage.file("work.sh", &format!("{shell}\n"));
    let used = call("Bash", json!({"command": "sh work.sh", "description": "Make it"}));
    let model = Model::start(Script::main([used, say("Done.")]));
    let (claude, url) = (client("claude").display().to_string(), model.url());
    let agent = format!(
        "export ANTHROPIC_BASE_URL='{url}' ANTHROPIC_API_KEY=none\n\
         '{claude}' -p 'Begin.' --output-format stream-json --verbose --allowedTools Bash >&2 || exit 9\n\
         printf '{{\"status\": \"done\", \"summary\": \"made\"}}' >\"$SERIATIM_REPORT\"\n"
    );
    stage.file("seriatim.toml", CONFIG).file("agent.sh", &agent).file("process-make.yaml", DEFINITION);
    stage.git(&["add", "--all"]);
    stage.git(&["commit", "--quiet", "--message", "Process"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_seriatim"));
    command.args(["run", "process", "process-make.yaml", "--no-input"]);
    let ended = stage.run(&mut command);
    let shown = || stage.run(Command::new(env!("CARGO_BIN_EXE_seriatim")).args(["log", "-v"])).stdout;
    assert_eq!(ended.exit, Some(0), "{}{}{}", ended.stdout, ended.stderr, shown());
    let told = model.asks().last().map(|ask| ask.result().to_owned());
    assert!(stage.project().join("made.txt").exists(), "{told:#?}\n{}", shown());
    assert_eq!(stage.read("made.txt"), "made\n");
    assert_eq!(stage.read("seriatim.toml"), CONFIG);
    assert!(!stage.project().join(".git/hooks/pre-commit").exists());
    let log = stage.run(Command::new("git").args(["log", "--format=%s"]));
    assert_eq!(log.stdout, "Process\nBegin\n");
}
