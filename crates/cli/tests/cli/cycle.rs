//! A small repository with a Planner, an Actor and a Judge of shell, for the tests of the cycle dialect.

use std::fs;
use std::path::PathBuf;

use regex::Regex;
use serde_json::Value;
use seriatim_core::cycle::block;

use crate::support::Env;
use crate::support::Output;
use crate::support::in_worlds;

/// Eight words and something to check.
pub(crate) const GOAL: &str = "Make greet.sh say good morning so that the tests pass";

/// Scripts, briefs and answers lie below `.git`, where they are no part of the files that are measured.
const DESK: &str = ".git/desk";

const AGENT: &str = r#"# Calls the script of a role; `n` tells how often it was called.
desk=.git/desk
n=$(($(cat $desk/$SERIATIM_STEP.n 2>/dev/null || echo 0) + 1))
echo $n >$desk/$SERIATIM_STEP.n
cp "$SERIATIM_BRIEF" $desk/$SERIATIM_STEP.$n.json
say() { printf '{"status": "done", "summary": "as asked", "outputs": %s}' "$1" >"$SERIATIM_REPORT"; }
# step RISK COMMANDS LINES: a step that changes greet.sh.
step() {
    say "{\"kind\": \"step\", \"step\": {\"title\": \"Greet politely\", \"instructions\": \"Change greet.sh.\", \
        \"files\": [\"greet.sh\"], \"creates\": [], \"loc\": ${3:-1}, \"risk\": \"${1:-low}\", \
        \"success_criteria\": [\"greet.sh says good morning\"], \"commands\": [${2:-}]}}"
}
# pass: the Judge finds it good, and closes every open finding of its brief by name.
pass() {
    closed=$(grep -o '\\n- F[0-9]* [A-Z]' "$SERIATIM_BRIEF" | grep -o 'F[0-9]*' | sort -u |
        sed 's/.*/{"id": "&", "reason": "it is fixed"}/' | paste -sd, -)
    say "{\"result\": \"PASS\", \"closed\": [$closed]}"
}
# greet: the change that is asked for, in other words each time.
greet() { if [ $n = 1 ]; then echo 'echo good morning'; else echo "echo good morning # $n"; fi >greet.sh; }
done_well() { say '{"result": "SUCCESS"}'; }
# lines FILE COUNT: a file of so many lines.
lines() { mkdir -p "$(dirname "$1")"; awk -v n="$2" 'BEGIN { for (i = 1; i <= n; i++) print "line", i }' >"$1"; }
. $desk/$SERIATIM_STEP.sh
"#;

const CONFIG: &str = r#"[agents.default]
kind = "command"
argv = ["sh", ".git/desk/agent.sh"]
env = ["PATH"]

[gates.tests]
command = ["sh", "check.sh"]
"#;

const CHECK: &str =
    "grep -q 'good morning' greet.sh && echo '1 passed' || { echo '1 failed: no good morning'; exit 1; }\n";

/// The repository and what its roles do.
pub(crate) struct Project {
    pub(crate) env: Env,
}

impl Project {
    /// A Planner that plans one small step, an Actor that does it, and a Judge that finds it good.
    pub(crate) fn new() -> Project {
        let env = Env::new();
        env.file("seriatim.toml", CONFIG).file("greet.sh", "echo hello\n").file("check.sh", CHECK);
        env.git(&["init", "--quiet", "--initial-branch=main"]);
        env.git(&["config", "user.name", "Ada"]);
        env.git(&["config", "user.email", "ada@example.org"]);
        env.git(&["add", "."]);
        env.git(&["commit", "--quiet", "--message=Begin"]);
        if in_worlds() {
            let desk = env.root.with_file_name("shared").join("desk");
            fs::create_dir(&desk).unwrap();
            std::os::unix::fs::symlink(desk, env.path(DESK)).unwrap();
        }
        env.file(&format!("{DESK}/agent.sh"), AGENT);
        let project = Project { env };
        project.planner("step").actor("greet; done_well").judge("pass")
    }

    fn role(self, role: &str, script: &str) -> Project {
        self.env.file(&format!("{DESK}/{role}.sh"), format!("{script}\n"));
        self
    }

    pub(crate) fn planner(self, script: &str) -> Project {
        self.role("planner", script)
    }

    pub(crate) fn actor(self, script: &str) -> Project {
        self.role("actor", script)
    }

    pub(crate) fn judge(self, script: &str) -> Project {
        self.role("judge", script)
    }

    /// A file that is part of the repository from the beginning.
    pub(crate) fn with(self, path: &str, text: &str) -> Project {
        self.env.file(path, text);
        self.env.git(&["add", path]);
        self.env.git(&["commit", "--quiet", "--message=More"]);
        self
    }

    /// Another check of the battery.
    pub(crate) fn gate(self, name: &str, script: &str) -> Project {
        let config = self.env.read("seriatim.toml");
        let gate = format!("\n[gates.{name}]\ncommand = [\"sh\", \"-c\", '''{script}''']\n");
        self.with("seriatim.toml", &format!("{config}{gate}"))
    }

    /// Runs a cycle towards the goal; what the answers do not say is left open.
    pub(crate) fn run(&self, answers: &[(&str, &str, &str)]) -> Output {
        self.run_for(GOAL, answers)
    }

    pub(crate) fn run_for(&self, goal: &str, answers: &[(&str, &str, &str)]) -> Output {
        let file = self.answers(answers);
        self.env.run(&["run", "cycle", "--goal", goal, "--no-input", "--answers", &file])
    }

    /// Goes on with the newest run.
    pub(crate) fn resume(&self, answers: &[(&str, &str, &str)]) -> Output {
        let file = self.answers(answers);
        self.env.run(&["resume", &self.env.newest(), "--no-input", "--answers", &file])
    }

    fn answers(&self, answers: &[(&str, &str, &str)]) -> String {
        let line = |(header, choose, text): &(&str, &str, &str)| {
            let text = if text.is_empty() { String::new() } else { format!("  text: {text:?}\n") };
            format!("- match: {header:?}\n  choose: {choose:?}\n{text}")
        };
        let list: String = answers.iter().map(line).collect();
        let path = format!("{DESK}/answers.yaml");
        self.env.file(&path, if list.is_empty() { "[]\n".to_owned() } else { list });
        path
    }

    /// How often a role was called.
    pub(crate) fn calls(&self, role: &str) -> u32 {
        let count = fs::read_to_string(self.env.path(&format!("{DESK}/{role}.n"))).unwrap_or_default();
        count.trim().parse().unwrap_or(0)
    }

    /// What a role was told at one of its calls.
    #[track_caller]
    pub(crate) fn prompt(&self, role: &str, call: u32) -> String {
        let brief: Value =
            serde_json::from_str(&self.env.read(&format!("{DESK}/{role}.{call}.json"))).unwrap();
        brief["prompt"].as_str().unwrap().to_owned()
    }

    /// The document of the cycle that is open.
    pub(crate) fn document(&self) -> String {
        self.env.read("docs/context/current_cycle.md")
    }

    /// The endings of the names in the archive, without the day: `cycle-001.md`.
    pub(crate) fn archive(&self) -> Vec<String> {
        let name = |path: PathBuf| path.file_name().unwrap().to_string_lossy()[11..].to_owned();
        self.env.files_below("docs/context/archive").into_iter().map(name).collect()
    }

    /// The text of an archived cycle.
    #[track_caller]
    pub(crate) fn archived(&self, name: &str) -> String {
        let files = self.env.files_below("docs/context/archive");
        let found = files.iter().find(|path| path.to_string_lossy().ends_with(name));
        fs::read_to_string(found.unwrap_or_else(|| panic!("{name} is not in {files:?}"))).unwrap()
    }

    /// What the journal of the newest run holds of one kind of fact.
    #[track_caller]
    pub(crate) fn facts(&self, kind: &str) -> Vec<Value> {
        let log = self.env.run(&["log", &self.env.newest(), "--json"]).exits(0).stdout;
        let facts = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["fact"].take());
        facts.filter(|fact| fact["fact"] == kind).collect()
    }

    /// The subjects of the commits, newest first.
    pub(crate) fn commits(&self) -> Vec<String> {
        self.git_says(&["log", "--format=%s"]).lines().map(str::to_owned).collect()
    }

    #[track_caller]
    pub(crate) fn git_says(&self, args: &[&str]) -> String {
        let mut command = self.env.as_user("git");
        command.args(args);
        self.env.furnish(&mut command);
        let output = command.output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

/// The blocks of a document by the seed's own pattern, as `Agent Result > Next`. Each must be permitted (CY-81, CY-82).
#[track_caller]
pub(crate) fn blocks(document: &str) -> Vec<String> {
    let pattern = Regex::new(
        "(?m)^### SIGNAL BLOCK\n- Agent: (Human|Planner|Actor|Judge)\n\
         - Result: (INIT|PLAN_CREATED|PLAN_UPDATED|SUCCESS|FAIL|PASS|INSUFFICIENT)\n\
         - Step Summary: (.+)\n- Next: (Planner|Actor|Judge|Human)$",
    )
    .unwrap();
    let found: Vec<String> =
        pattern.captures_iter(document).map(|c| format!("{} {} > {}", &c[1], &c[2], &c[4])).collect();
    let read = block::read_all(document);
    assert_eq!(read.len(), found.len(), "{document}");
    for block in read {
        assert!(block.findings.is_empty(), "{block:?}\n{document}");
    }
    found
}
