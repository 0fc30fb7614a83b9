//! A stage for one test: a project under git, a home of its own, and the clients that were installed.

use std::ffi::OsStr;
use std::fs;
use std::fs::File;
use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;

use serde_json::Value;
use serde_json::json;
use tempfile::TempDir;

use crate::model::Model;
use crate::session::Session;

/// Everything of a session that hooks are told and that these tests look at.
const CLAUDE_EVENTS: [&str; 12] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "StopFailure",
    "ConfigChange",
    "TaskCompleted",
    "SessionEnd",
];

const CODEX_EVENTS: [&str; 8] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "SessionEnd",
];

pub(crate) struct Stage {
    top: PathBuf,
    /// The user who runs programs here, where it is another one.
    user: Option<u32>,
    /// The folders of the project and for temporary files, seen from the top.
    project: &'static str,
    temporary: &'static str,
    /// Whether programs are told where their home is.
    names_home: bool,
    /// Both ends of a pipe by which a hook says that it was told of changed settings. Held open, so that nobody
    /// blocks on opening it.
    changed: File,
    _dir: TempDir,
}

/// What a program said that was run to its end.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) exit: Option<i32>,
}

impl Stage {
    pub(crate) fn new() -> Stage {
        let dir = tempfile::Builder::new().prefix("seriatim-clients-").tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        for folder in ["work", "home", "bin", "claude", "codex", "tmp"] {
            fs::create_dir(top.join(folder)).unwrap();
        }
        // Hooks and agents call the program by its name.
        symlink(env!("CARGO_BIN_EXE_seriatim"), top.join("bin/seriatim")).unwrap();
        let pipe = top.join("changed");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let changed = OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
        let stage = Stage {
            changed,
            _dir: dir,
            top,
            user: None,
            project: "work",
            temporary: "tmp",
            names_home: true,
        };
        // Login shells, which Codex starts, begin with a search path of their own.
        fs::write(stage.top.join("home/.profile"), format!("PATH='{}'\n", stage.search_path())).unwrap();
        stage.record();
        stage.git(&["init", "--quiet", "--initial-branch", "main"]);
        stage.file("README.md", "# A project\n");
        stage.git(&["add", "--all"]);
        stage.git(&["commit", "--quiet", "--message", "Begin"]);
        stage
    }

    /// Gives all that is there to another user, who runs programs from now on.
    pub(crate) fn of_user(mut self, uid: u32) -> Stage {
        self.user = Some(uid);
        self.hand_over();
        self
    }

    /// Gives what was added since to the user of this stage.
    pub(crate) fn hand_over(&self) {
        let Some(uid) = self.user else { return };
        let owner = format!("{uid}:{uid}");
        let done = Command::new("chown").args(["-R", "-h", &owner]).arg(&self.top).status().unwrap();
        assert!(done.success());
    }

    /// A program as the user of this stage starts it.
    pub(crate) fn as_user(&self, program: impl AsRef<OsStr>) -> Command {
        let Some(uid) = self.user else { return Command::new(program) };
        let mut command = Command::new("setpriv");
        command.args([format!("--reuid={uid}"), format!("--regid={uid}"), "--clear-groups".to_owned()]);
        command.arg("--").arg(program);
        command
    }

    /// True where the user of this stage is root.
    pub(crate) fn is_root(&self) -> bool {
        self.user.is_none() && Command::new("id").arg("-u").output().unwrap().stdout == b"0\n"
    }

    /// The folder in which everything lies.
    pub(crate) fn top(&self) -> &Path {
        &self.top
    }

    /// The home of the user.
    pub(crate) fn home(&self) -> PathBuf {
        self.top.join("home")
    }

    /// The folder of the project.
    pub(crate) fn project(&self) -> PathBuf {
        self.top.join(self.project)
    }

    /// The project was moved there, seen from the top.
    pub(crate) fn move_project(&mut self, to: &'static str) {
        self.project = to;
    }

    /// Temporary files lie there from now on, seen from the top.
    pub(crate) fn move_temporary(&mut self, to: &'static str) {
        self.temporary = to;
    }

    /// Programs are not told where their home is from now on.
    pub(crate) fn forget_home(&mut self) {
        self.names_home = false;
    }

    pub(crate) fn file(&self, path: &str, text: &str) -> &Stage {
        let path = self.project().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    #[track_caller]
    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.project().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
    }

    /// Runs seriatim in the project; it must say that all is well.
    #[track_caller]
    pub(crate) fn seriatim(&self, args: &[&str]) -> Output {
        let output = self.run(Command::new(env!("CARGO_BIN_EXE_seriatim")).args(args));
        assert_eq!(output.exit, Some(0), "seriatim {args:?}: {}{}", output.stdout, output.stderr);
        output
    }

    /// Runs a program in the project to its end.
    pub(crate) fn run(&self, command: &mut Command) -> Output {
        self.furnish(command);
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Output { stdout: text(&output.stdout), stderr: text(&output.stderr), exit: output.status.code() }
    }

    #[track_caller]
    pub(crate) fn git(&self, args: &[&str]) {
        let output = self.run(self.as_user("git").args(args));
        assert_eq!(output.exit, Some(0), "git {args:?}: {}", output.stderr);
    }

    /// Claude Code in the project until it ends, with further arguments.
    #[track_caller]
    pub(crate) fn claude(&self, model: &Model, args: &[&str]) -> Session {
        let mut command = Command::new(client("claude"));
        command.args([
            "-p",
            "Begin.",
            "--output-format",
            "stream-json",
            "--verbose",
            "--include-hook-events",
        ]);
        command.args(["--forward-subagent-text", "--settings"]).arg(self.top.join("recorder.json"));
        command.args(["--allowedTools", "Agent", "Bash", "SendMessage", "Workflow", "ToolSearch"]).args(args);
        self.furnish(&mut command);
        command.env("ANTHROPIC_BASE_URL", model.url()).env("ANTHROPIC_API_KEY", "none");
        Session::of(command)
    }

    /// Codex in the project until it ends, with further arguments.
    #[track_caller]
    pub(crate) fn codex(&self, model: &Model, args: &[&str]) -> Session {
        let config = format!(
            "model = \"scripted\"\nmodel_provider = \"scripted\"\ncheck_for_update_on_startup = false\n\
             [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{}/v1\"\nwire_api = \"responses\"\n\
             [projects.\"{}\"]\ntrust_level = \"trusted\"\n",
            model.url(),
            self.project().display(),
        );
        fs::write(self.top.join("codex/config.toml"), config).unwrap();
        let mut command = Command::new(client("codex"));
        command.args(["exec", "--json", "--dangerously-bypass-approvals-and-sandbox"]);
        command.args(args).arg("Begin.");
        self.furnish(&mut command);
        Session::of(command)
    }

    /// Something that waits until a hook was told that settings have changed.
    pub(crate) fn settings_noticed(&self) -> impl Fn() + Send + Sync + 'static {
        let changed = self.changed.try_clone().unwrap();
        move || {
            let mut words = [0; "changed\n".len()];
            (&changed).read_exact(&mut words).unwrap();
        }
    }

    /// What hooks of this kind were told, in order.
    pub(crate) fn events(&self, name: &str) -> Vec<Value> {
        self.all_events().into_iter().filter(|event| event["hook_event_name"] == name).collect()
    }

    /// The names of everything that hooks were told, in order.
    pub(crate) fn event_names(&self) -> Vec<String> {
        let name = |event: Value| {
            let name = event["hook_event_name"].as_str().unwrap_or_default();
            event["tool_name"].as_str().map_or_else(|| name.to_owned(), |tool| format!("{name} {tool}"))
        };
        self.all_events().into_iter().map(name).collect()
    }

    fn all_events(&self) -> Vec<Value> {
        let lines = fs::read_to_string(self.events_path()).unwrap_or_default();
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn events_path(&self) -> PathBuf {
        self.top.join("events.jsonl")
    }

    /// Hooks of the user, beside those of the project, that write down what they are told. They are where an edit
    /// of the project's settings does not reach.
    fn record(&self) {
        let script = format!(
            "event=\"$(cat)\"\nprintf '%s\\n' \"$event\" >>'{}'\n\
             case \"$event\" in *'\"ConfigChange\"'*) echo changed >'{}' ;; esac\n",
            self.events_path().display(),
            self.top.join("changed").display(),
        );
        let path = self.top.join("recorder.sh");
        fs::write(&path, script).unwrap();
        let hook = json!([{"hooks": [{"type": "command", "command": format!("sh '{}'", path.display())}]}]);
        let hooks = |events: &[&str]| -> String {
            let each = events.iter().map(|event| ((*event).to_owned(), hook.clone()));
            json!({"hooks": Value::Object(each.collect())}).to_string()
        };
        fs::write(self.top.join("recorder.json"), hooks(&CLAUDE_EVENTS)).unwrap();
        fs::write(self.top.join("codex/hooks.json"), hooks(&CODEX_EVENTS)).unwrap();
    }

    fn search_path(&self) -> String {
        format!("{}:{}", self.top.join("bin").display(), std::env::var("PATH").unwrap())
    }

    /// Puts a command into the project, with nothing of the environment that the tests run in.
    fn furnish(&self, command: &mut Command) {
        command.current_dir(self.project()).env_clear().stdin(Stdio::null());
        command.env("PATH", self.search_path());
        if self.names_home {
            command.env("HOME", self.home());
        }
        command.env("TMPDIR", self.top.join(self.temporary)).env("LANG", "C.UTF-8");
        command.env("GIT_CONFIG_NOSYSTEM", "1");
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "Ada").env(format!("GIT_{who}_EMAIL"), "ada@example.org");
        }
        command.env("CLAUDE_CONFIG_DIR", self.top.join("claude")).env("CODEX_HOME", self.top.join("codex"));
        for quiet in ["DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"]
        {
            command.env(quiet, "1");
        }
    }
}

/// The program of a client where `.ci/clients` puts it.
#[track_caller]
pub(crate) fn client(name: &str) -> PathBuf {
    let folder = std::env::var_os("SERIATIM_CLIENTS");
    let folder =
        folder.unwrap_or_else(|| panic!("SERIATIM_CLIENTS names no folder: `.ci/run clients` sets it"));
    let path = Path::new(&folder).join("bin").join(name);
    assert!(path.exists(), "{name} is not installed: {}", path.display());
    path
}
