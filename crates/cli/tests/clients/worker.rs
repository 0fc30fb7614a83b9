//! A client as the worker of a run: it works in a world, with the home of its user, as root and as an ordinary user.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use crate::model::Model;
use crate::stage::Output;
use crate::stage::Stage;
use crate::stage::client;

/// An ordinary user, who need not be known to this machine.
const ORDINARY: u32 = 12345;

/// A process with one step, of an agent.
pub(crate) const DEFINITION: &str = r#"definition:
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

pub(crate) const CONFIG: &str = r#"[agents.default]
kind = "command"
argv = ["sh", "agent.sh"]
timeout = "40s"
isolation = "world"
env = ["PATH", "HOME"]
"#;

/// Begins every script of a worker.
const BEGIN: &str =
    "finish() { printf '{\"status\": \"done\", \"summary\": \"made\"}' >\"$SERIATIM_REPORT\"; }\n";

/// Runs a test as the user of this process, and as an ordinary user where that is root.
pub(crate) fn for_each_user(test: impl Fn(Stage)) {
    let user = |args: &[&str]| {
        let id = ["--reuid=12345", "--regid=12345", "--clear-groups"];
        Command::new("setpriv").args(id).args(args).current_dir("/").output()
    };
    test(Stage::new());
    let is_root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
    if !is_root {
        println!("SKIPPED as root: these tests run as an ordinary user");
        return;
    }
    let programs = [PathBuf::from(env!("CARGO_BIN_EXE_seriatim")), client("claude"), client("codex")];
    for program in programs {
        let reaches = user(&["test", "-x", program.to_str().unwrap()]);
        if !reaches.is_ok_and(|output| output.status.success()) {
            println!("SKIPPED as an ordinary user, who does not reach {}", program.display());
            return;
        }
    }
    test(Stage::new().of_user(ORDINARY));
}

impl Stage {
    /// A file of the user's home.
    pub(crate) fn at_home(&self, path: &str, text: &str) -> &Stage {
        let path = self.home().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
        self
    }

    #[track_caller]
    pub(crate) fn read_home(&self, path: &str) -> String {
        fs::read_to_string(self.home().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
    }

    /// The provider of Codex in the home of the user: the scripted model.
    pub(crate) fn codex_config(&self, model: &Model, more: &str) -> &Stage {
        let config = format!(
            "model = \"scripted\"\nmodel_provider = \"scripted\"\ncheck_for_update_on_startup = false\n\
             chatgpt_base_url = \"{url}\"\n{more}\n\
             [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{url}/v1\"\nwire_api = \"responses\"\n\
             requires_openai_auth = true\n[projects.\"{}\"]\ntrust_level = \"trusted\"\n",
            self.project().display(),
            url = model.url(),
        );
        self.at_home(".codex/config.toml", &config).at_home(".codex/auth.json", KEY)
    }

    /// Runs the process of one step whose worker is this script, and returns how it ended.
    #[track_caller]
    pub(crate) fn work(&self, config: &str, script: &str) -> Output {
        self.file("seriatim.toml", config).file("agent.sh", &format!("{BEGIN}{script}\n"));
        self.file("process-make.yaml", DEFINITION).settle();
        self.run(self.seriatim_command().args(["run", "process", "process-make.yaml", "--no-input"]))
    }

    /// The same, and it has to end well.
    #[track_caller]
    pub(crate) fn works(&self, script: &str) {
        self.works_with(CONFIG, script);
    }

    #[track_caller]
    pub(crate) fn works_with(&self, config: &str, script: &str) {
        let ended = self.work(config, script);
        assert_eq!(ended.exit, Some(0), "{}{}{}", ended.stdout, ended.stderr, self.account());
    }

    /// Commits what is there.
    #[track_caller]
    pub(crate) fn settle(&self) {
        self.hand_over();
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", "Process"]);
    }

    /// What the newest run did and printed.
    pub(crate) fn account(&self) -> String {
        let status = self.run(self.seriatim_command().args(["status", "--json"])).stdout;
        let status: serde_json::Value = serde_json::from_str(&status).unwrap_or_default();
        let run = status["runs"][0]["run"].as_str().unwrap_or_default().to_owned();
        self.run(self.seriatim_command().args(["log", &run, "-v"])).stdout
            + &self.run(self.seriatim_command().args(["show", &run, "--json"])).stdout
    }

    /// What the newest commits are called.
    pub(crate) fn subjects(&self) -> String {
        self.run(self.as_user("git").args(["log", "--format=%s"])).stdout
    }

    pub(crate) fn seriatim_command(&self) -> Command {
        self.as_user(env!("CARGO_BIN_EXE_seriatim"))
    }
}

/// A log-in of Codex by a key.
const KEY: &str = "{\"auth_mode\": \"apikey\", \"OPENAI_API_KEY\": \"sk-of-ada\", \"tokens\": null, \"last_refresh\": null}";

/// How a script starts Claude Code, with further arguments. What it prints is for the record.
pub(crate) fn claude(model: &Model, args: &str) -> String {
    format!(
        "ANTHROPIC_BASE_URL='{}' DISABLE_TELEMETRY=1 DISABLE_AUTOUPDATER=1 \
         CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 '{}' -p 'Begin.' --output-format stream-json --verbose {args} \
         </dev/null >&2 || exit 9\n",
        model.url(),
        client("claude").display(),
    )
}

/// How a script starts Codex, with further arguments.
pub(crate) fn codex(args: &str) -> String {
    format!("'{}' exec --json {args} 'Begin.' </dev/null >&2 || exit 9\n", client("codex").display())
}
