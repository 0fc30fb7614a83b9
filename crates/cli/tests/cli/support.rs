//! A workspace of its own for every test, the built program in it, and what the program said.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;

use regex::Regex;
use serde_json::Value;
use tempfile::TempDir;

use crate::process::Fifo;
use crate::process::Running;

/// A folder with a workspace, a home and a place for temporary files, so that leftovers can be listed.
pub(crate) struct Env {
    dir: TempDir,
    pub(crate) root: PathBuf,
    variables: Vec<(String, String)>,
    program: PathBuf,
    /// Another user than the one of the tests, to whom all of it belongs.
    user: Option<u32>,
}

/// What one call of the program left behind.
pub(crate) struct Output {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) exit: Option<i32>,
    filters: Vec<(Regex, String)>,
}

impl Env {
    pub(crate) fn new() -> Env {
        let dir = tempfile::Builder::new().prefix("seriatim-cli-").tempdir().unwrap();
        Env::within(dir)
    }

    fn within(dir: TempDir) -> Env {
        // The program names its workspace by the canonical path.
        let top = dir.path().canonicalize().unwrap();
        for folder in ["work", "tmp", "home", "shared"] {
            fs::create_dir(top.join(folder)).unwrap();
        }
        let program = env!("CARGO_BIN_EXE_seriatim").into();
        Env { root: top.join("work"), dir, variables: vec![], program, user: None }
    }

    /// Another program with the same face, which is built as an example.
    pub(crate) fn program(mut self, name: &str) -> Env {
        self.program = Path::new(env!("CARGO_BIN_EXE_seriatim")).with_file_name("examples").join(name);
        self
    }

    /// Another variable in the environment of the program.
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Env {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// The folder of the store: in the git folder where there is one.
    pub(crate) fn store(&self) -> PathBuf {
        let git = self.path(".git");
        if git.is_dir() { git.join("seriatim") } else { self.path(".seriatim") }
    }

    /// A path in the store.
    pub(crate) fn stored(&self, path: &str) -> PathBuf {
        self.store().join(path)
    }

    /// Puts a file into the store, which is private as the program itself makes it.
    pub(crate) fn store_file(&self, path: &str, text: impl AsRef<[u8]>) -> &Env {
        seriatim_journal::private::make_folder(&self.store()).unwrap();
        let path = self.stored(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    #[track_caller]
    pub(crate) fn read_stored(&self, path: &str) -> String {
        fs::read_to_string(self.stored(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
    }

    /// All files below a folder of the store.
    pub(crate) fn stored_below(&self, folder: &str) -> Vec<PathBuf> {
        files_below(&self.stored(folder))
    }

    /// A path in the workspace as the program names it.
    pub(crate) fn relative(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap().display().to_string()
    }

    /// The folder for temporary files that the program is given.
    pub(crate) fn scratch(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("tmp")
    }

    pub(crate) fn file(&self, path: &str, text: impl AsRef<[u8]>) -> &Env {
        let text = match path {
            "seriatim.toml" => self.without_worlds(text.as_ref()),
            _ => text.as_ref().to_vec(),
        };
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// A configuration whose agents and gates work in the workspace itself, where tests see what they do as they do it. What worlds
    /// change is the matter of the `world` tests, which say so with `isolation = "world"`.
    fn without_worlds(&self, text: &[u8]) -> Vec<u8> {
        let Ok(text) = std::str::from_utf8(text) else { return text.to_vec() };
        if in_worlds() {
            return self.with_shared(text).into();
        }
        let mut patched = String::new();
        let mut lines = text.split_inclusive('\n').peekable();
        while let Some(line) = lines.next() {
            patched.push_str(line);
            let works =
                line == "kind = \"command\"\n" || (line.starts_with("[gates.") && line.ends_with("]\n"));
            if works && !lines.peek().is_some_and(|next| next.starts_with("isolation = ")) {
                patched.push_str("isolation = \"none\"\n");
            }
        }
        patched.into()
    }

    /// A configuration whose worlds share the folders by which the test and its agents speak.
    fn with_shared(&self, text: &str) -> String {
        let folders = ["home", "tmp", "shared"].map(|name| format!("{:?}, ", self.root.with_file_name(name)));
        let missing: String = folders.into_iter().filter(|folder| !text.contains(folder.as_str())).collect();
        match text.split_once("share = [") {
            Some((before, after)) => format!("{before}share = [{missing}{after}"),
            None if text.contains("[worlds]\n") => {
                text.replace("[worlds]\n", &format!("[worlds]\nshare = [{missing}]\n"))
            }
            None if text.contains("kind = \"command\"") => format!("{text}\n[worlds]\nshare = [{missing}]\n"),
            None => text.to_owned(),
        }
    }

    #[track_caller]
    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
    }

    /// A shell script as the agent for everything. `finish WORDS` in it reports that the step is done.
    pub(crate) fn agent_sh(&self, script: &str) -> &Env {
        self.agent_with("timeout = \"5m\"\n", script)
    }

    /// The same with further lines for its table in the configuration.
    pub(crate) fn agent_with(&self, lines: &str, script: &str) -> &Env {
        let env = if lines.contains("env = ") { "" } else { "env = [\"PATH\"]\n" };
        let table = "[agents.default]\nkind = \"command\"\nargv = [\"sh\", \"agent.sh\"]\n";
        self.file("seriatim.toml", format!("{table}{env}{lines}"));
        if in_worlds() && self.path("trace").symlink_metadata().is_err() {
            self.link("trace");
        }
        self.file("agent.sh", format!("{AGENT}{script}\n"))
    }

    /// Puts a link to a place beside the workspace into it, which is the same in every world.
    fn link(&self, name: &str) -> PathBuf {
        let place = self.root.with_file_name("shared").join(name.replace('/', "-"));
        std::os::unix::fs::symlink(&place, self.path(name)).unwrap();
        let exclude = self.path(".git/info/exclude");
        if exclude.exists() {
            let rules = fs::read_to_string(&exclude).unwrap();
            fs::write(exclude, format!("{rules}/{name}\n")).unwrap();
        }
        place
    }

    /// A definition with these steps and an instance of it. A step whose name begins with a capital `P:` is a
    /// person's.
    pub(crate) fn bakery(&self, steps: &[&str]) -> &Env {
        let mut definition = DEFINITION.to_owned();
        for (i, name) in steps.iter().enumerate() {
            let (name, capability, pattern, human, agent) = match name.strip_prefix("P:") {
                Some(name) => (name, "Decide", "Human-Only", "The cook has the last word", "None"),
                None => (*name, "Generate", "AI-Only", "None", "Baker"),
            };
            let _ = write!(
                definition,
                "  - id: \"5.1.{}\"\n    name: \"{name}\"\n    description: \"How shall it be?\"\n    capability: \"{capability}\"\n    \
                 pattern: \"{pattern}\"\n    human_role: \"{human}\"\n    ai_role: \"{agent}\"\n    \
                 escalation_triggers: []\n    completion_criteria:\n      - \"It is done\"\n",
                i + 1
            );
        }
        definition.push_str("flow: |\n  ```mermaid\n  flowchart LR\n    first --> last\n  ```\n---\n");
        self.file("process.yaml", definition).file("instance.yaml", INSTANCE_TEXT)
    }

    /// Gives everything that is there to an ordinary user, who runs the program and git from now on.
    pub(crate) fn hand_over(&mut self, uid: u32) {
        let owner = format!("{uid}:{uid}");
        let done = Command::new("chown").args(["-R", "-h", &owner]).arg(self.dir.path()).status().unwrap();
        assert!(done.success());
        self.user = Some(uid);
    }

    /// A program as the user of the workspace starts it.
    pub(crate) fn as_user(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let Some(uid) = self.user else { return Command::new(program) };
        let mut command = Command::new("setpriv");
        command.args([format!("--reuid={uid}"), format!("--regid={uid}"), "--clear-groups".to_owned()]);
        command.arg("--").arg(program);
        command
    }

    /// The program with `args`, not started yet.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.as_user(&self.program);
        command.args(args);
        self.furnish(&mut command);
        command
    }

    /// Puts a command into the workspace with a clean environment.
    pub(crate) fn furnish(&self, command: &mut Command) {
        command.current_dir(&self.root).env_clear().stdin(Stdio::null());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.root.with_file_name("home")).env("TMPDIR", self.scratch());
        command.env("SERIATIM_USER", "tester");
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
    }

    /// Runs the program to its end.
    #[track_caller]
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.start(args).output()
    }

    /// Starts the program and leaves it running.
    #[track_caller]
    pub(crate) fn start(&self, args: &[&str]) -> Running {
        self.start_command(self.command(args))
    }

    #[track_caller]
    pub(crate) fn start_command(&self, command: Command) -> Running {
        Running::start(command, self.dir.path(), self.filters())
    }

    /// Runs and reads the one JSON document on stdout.
    #[track_caller]
    pub(crate) fn json(&self, args: &[&str]) -> (Value, Option<i32>) {
        let output = self.run(&[args, &["--json"]].concat());
        (output.document(), output.exit)
    }

    /// The newest run of the workspace.
    #[track_caller]
    pub(crate) fn newest(&self) -> String {
        let (document, _) = self.json(&["status"]);
        document["runs"][0]["run"].as_str().unwrap_or_else(|| panic!("no run: {document}")).to_owned()
    }

    /// A pipe with a name, by which the test and an agent wait for each other. A pipe in a view is another one, so that in worlds
    /// a link leads to one beside the workspace.
    pub(crate) fn fifo(&self, name: &str) -> Fifo {
        Fifo::new(&if in_worlds() { self.link(name) } else { self.path(name) })
    }

    #[track_caller]
    pub(crate) fn git(&self, args: &[&str]) {
        let mut command = self.as_user("git");
        command.args(args);
        self.furnish(&mut command);
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "Ada").env(format!("GIT_{who}_EMAIL"), "ada@example.org");
            command.env(format!("GIT_{who}_DATE"), "2026-01-01T12:00:00Z");
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// All files below `folder` of the workspace.
    pub(crate) fn files_below(&self, folder: &str) -> Vec<PathBuf> {
        files_below(&self.path(folder))
    }

    /// Processes that work in this workspace or were started from it; the dead that nobody has reaped do not count.
    pub(crate) fn living(&self) -> Vec<String> {
        let top = self.dir.path().canonicalize().unwrap();
        let mark = top.display().to_string();
        let mut living = vec![];
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let here = fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(&top));
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            if here || line.contains(&mark) {
                living.push(format!("{}: {line}", entry.file_name().display()));
            }
        }
        living
    }

    /// Nothing temporary is left, neither beside files nor where agents get their briefs.
    #[track_caller]
    pub(crate) fn assert_tidy(&self) {
        let temporary = |path: &PathBuf| path.to_string_lossy().contains(".seriatim-tmp-");
        let beside: Vec<PathBuf> = files_below(&self.root).into_iter().filter(temporary).collect();
        assert_eq!(beside, Vec::<PathBuf>::new(), "temporary files beside others");
        assert_eq!(files_below(&self.scratch()), Vec::<PathBuf>::new(), "files in the temporary folder");
        assert_eq!(self.stored_below("attempts"), Vec::<PathBuf>::new(), "briefs and reports");
    }

    /// What changes from one call to the next, and what stands for it.
    fn filters(&self) -> Vec<(Regex, String)> {
        let top = self.dir.path().canonicalize().unwrap();
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let quoted = |text: &str| regex::escape(text);
        [
            (quoted(&self.root.display().to_string()), "[WORK]"),
            (quoted(&top.display().to_string()), "[TOP]"),
            (r"\d{8}-\d{6}-[a-z2-9]{4}".to_owned(), "RUN"),
            (r"\b(PINST|EXEC|DEC|OBS)-\d{8}-\d{6}".to_owned(), "$1-ID"),
            (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z".to_owned(), "TIME"),
            (r"\b[0-9a-f]{64}\b".to_owned(), "HASH"),
            (r"\bprocess \d+".to_owned(), "process PID"),
            (format!("on {} since", quoted(host.trim())), "on HOST since"),
            (r"\((/[^()\s]+)+/sh\)".to_owned(), "(PROGRAM)"),
            (r"\(\d+ (ms|s)\)".to_owned(), "(SPAN)"),
            (r"waiting for \d+ (ms|s)".to_owned(), "waiting for SPAN"),
            (r"after \d+ (ms|s)\b".to_owned(), "after SPAN"),
            // Agents of tests work without a view unless a test is about views; that this is said is tested there.
            (r"\n\nIsolation: The agents? of [^\n]* without isolation\.".to_owned(), ""),
            (r"\nIsolation\n  Weaker than a world: [^\n]*\n".to_owned(), ""),
            (r" in the workspace itself, without isolation\b".to_owned(), ""),
        ]
        .into_iter()
        .map(|(pattern, name)| (Regex::new(&pattern).unwrap(), name.to_owned()))
        .collect()
    }
}

impl Output {
    pub(crate) fn new(
        stdout: String,
        stderr: String,
        exit: Option<i32>,
        filters: Vec<(Regex, String)>,
    ) -> Output {
        Output { stdout, stderr, exit, filters }
    }

    /// The question with which a run comes to rest.
    #[track_caller]
    pub(crate) fn asked(&self) -> String {
        let Some(end) = self.stdout.find("\nAnswer with:") else {
            panic!("nothing is asked:\n{}", self.snapshot())
        };
        self.filtered(self.stdout[..end].trim_matches('\n').to_owned())
    }

    /// Everything that was said, with placeholders for what changes from one call to the next.
    pub(crate) fn snapshot(&self) -> String {
        let mut text = String::new();
        for (name, said) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !said.is_empty() {
                let _ = writeln!(text, "--- {name}\n{}", said.trim_end_matches('\n'));
            }
        }
        let exit = self.exit.map_or_else(|| "ended by a signal".to_owned(), |code| format!("exit {code}"));
        let _ = write!(text, "--- {exit}");
        self.filtered(text)
    }

    fn filtered(&self, text: String) -> String {
        let hide =
            |text: String, (pattern, name): &(Regex, String)| pattern.replace_all(&text, name).into_owned();
        self.filters.iter().fold(text, hide)
    }

    /// The exit code is the one that is promised.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Output {
        assert_eq!(self.exit, Some(code), "{}", self.snapshot());
        self
    }

    /// Some words stand in what was said, on either stream.
    #[track_caller]
    pub(crate) fn says(self, words: &str) -> Output {
        let found = self.stdout.contains(words) || self.stderr.contains(words);
        assert!(found, "`{words}` is not in:\n{}", self.snapshot());
        self
    }

    #[track_caller]
    pub(crate) fn says_nothing_of(self, words: &str) -> Output {
        let found = self.stdout.contains(words) || self.stderr.contains(words);
        assert!(!found, "`{words}` is in:\n{}", self.snapshot());
        self
    }

    #[track_caller]
    pub(crate) fn document(&self) -> Value {
        let one = serde_json::from_str(&self.stdout);
        one.unwrap_or_else(|e| panic!("not one JSON document: {e}\n{}", self.snapshot()))
    }
}

/// All files below a folder, in order; empty when there is no such folder.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![];
    let Ok(entries) = fs::read_dir(folder) else { return found };
    for entry in entries.flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|t| t.is_dir()) {
            found.extend(files_below(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Whether agents and gates work in worlds also where a test does not say so.
pub(crate) fn in_worlds() -> bool {
    std::env::var_os("SERIATIM_TEST_WORLDS").is_some()
}

/// Whether the tests run as the superuser, whom permissions do not stop.
pub(crate) fn is_root() -> bool {
    rustix::process::getuid().is_root()
}

const AGENT: &str = r#"# The agent of a test.
finish() {
    printf '{"status": "done", "summary": "%s", "confidence": 100, "criteria": [%s]}' "$1" \
        '{"criterion": "It is done", "met": true, "confidence": 100, "reason": "seen"}' >"$SERIATIM_REPORT"
}
echo "$SERIATIM_STEP attempt $SERIATIM_ATTEMPT" >>trace
"#;

const DEFINITION: &str = r#"---
definition:
  id: "PROC-5.1"
  name: "Bake bread"
  description: "Bake a loaf of bread."
  version: "1.0"
  phase: 5
  information_composition:
    formal: 90
    tacit: 10
    emergent: 0
interfaces:
  inputs: []
  outputs: []
steps:
"#;

const INSTANCE_TEXT: &str = r#"---
instance:
  id: "PINST-20260101-000000"
  created: "2026-01-01T00:00:00Z"
  created_by: "human:tester"
  plain_english_description: "Bake bread for the evening"
  definition_source:
    type: WELL_KNOWN
    definition_id: "PROC-5.1"
    definition_path: "process.yaml"
  context:
    trigger: "hunger"
    inputs: {}
    parameters: {}
  status: PLANNED
  execution_log_id: null
  run_count: 0
  started: null
  completed: null
  outcome: null
---
"#;
