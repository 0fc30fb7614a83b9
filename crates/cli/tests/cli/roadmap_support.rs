//! A small repository with a roadmap, a runner of tests and an agent, both of shell, for the tests of that dialect.
//!
//! Each step writes one module whose `RESULT` has to be 5, and one test that compares it. The sources are Python to the
//! letter, so that the real tool can run them, too; the bundled runner only reads the numbers and prints as it does.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::Value;
use seriatim_core::doc;

use crate::process::Running;
use crate::support::Env;
use crate::support::Output;

/// The state file of the project.
pub(crate) const STATUS: &str = "docs/feature/calc/execution-status.yaml";
pub(crate) const ROADMAP: &str = "docs/feature/calc/roadmap.yaml";

/// The seven phases of a step.
pub(crate) const SEVEN: [&str; 7] =
    ["PREPARE", "RED_ACCEPTANCE", "RED_UNIT", "GREEN", "REVIEW", "REFACTOR_CONTINUOUS", "COMMIT"];

/// The shortest list of phases, for tests to which the others make no difference.
pub(crate) const SHORT: &str = "tdd_phases: [RED, GREEN, COMMIT]\n";

/// The test of the first step, for projects in which it is there already.
pub(crate) const TEST: &str = "from src.add import RESULT\n\n\ndef test_add():\n    assertEqual(RESULT, 5)\n";

/// One step of the roadmap.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    id: String,
    word: String,
    lines: String,
}

/// The step that writes the module `word`, and what it needs.
pub(crate) fn step(id: &str, word: &str, needs: &[&str]) -> Step {
    let needs: Vec<String> = needs.iter().map(|need| format!("\"{need}\"")).collect();
    let lines = format!(
        "name: \"Function {word}\"\ndescription: \"Write the function {word} for two numbers\"\n\
         acceptance_criteria: [\"{word} of two numbers is right\"]\nsuggested_agent: software-crafter\n\
         dependencies: [{}]\nestimated_hours: 1\ntest_file: tests/test_{word}.py\n\
         files_to_create: [\"src/{word}.py\"]\n",
        needs.join(", ")
    );
    Step { id: id.to_owned(), word: word.to_owned(), lines }
}

impl Step {
    /// A field of it with another value, or one more field.
    pub(crate) fn with(mut self, field: &str, value: &str) -> Step {
        let begins = format!("{field}:");
        let kept: Vec<&str> = self.lines.lines().filter(|line| !line.starts_with(&begins)).collect();
        self.lines = format!("{}\n{field}: {value}\n", kept.join("\n"));
        self
    }

    /// The step without a field.
    pub(crate) fn without(mut self, field: &str) -> Step {
        let begins = format!("{field}:");
        let kept: Vec<&str> = self.lines.lines().filter(|line| !line.starts_with(&begins)).collect();
        self.lines = format!("{}\n", kept.join("\n"));
        self
    }
}

/// One step that needs nothing.
pub(crate) fn add() -> Step {
    step("01-01", "add", &[])
}

/// A roadmap of steps, with further lines at its head.
pub(crate) fn roadmap(head: &str, steps: &[Step]) -> String {
    let mut text = format!("project_id: calc\nschema_version: \"2.0\"\n{head}");
    text.push_str("phases:\n  - phase_id: \"01\"\n    name: all\n    steps:\n");
    for step in steps {
        let _ = writeln!(text, "      - step_id: \"{}\"", step.id);
        for line in step.lines.lines() {
            let _ = writeln!(text, "        {line}");
        }
    }
    text
}

pub(crate) struct Project {
    pub(crate) env: Env,
}

impl Project {
    /// Three steps with all seven phases: two need the first one.
    pub(crate) fn new() -> Project {
        let steps = [add(), step("01-02", "sub", &["01-01"]), step("01-03", "mul", &["01-01"])];
        Project::of("", &steps)
    }

    /// One step with all seven phases.
    pub(crate) fn single() -> Project {
        Project::of("", &[add()])
    }

    /// One step with the shortest list of phases.
    pub(crate) fn short() -> Project {
        Project::of(SHORT, &[add()])
    }

    pub(crate) fn of(head: &str, steps: &[Step]) -> Project {
        let env = Env::new();
        for folder in ["stage", "briefs"] {
            std::fs::create_dir(env.root.with_file_name("home").join(folder)).unwrap();
        }
        env.git(&["init", "--quiet", "--initial-branch=main"]);
        env.git(&["config", "user.name", "Ada"]);
        env.git(&["config", "user.email", "ada@example.org"]);
        let agent = env.root.with_file_name("home").join("agent.sh");
        let config = CONFIG.replace("AGENT", &agent.display().to_string());
        env.file("seriatim.toml", config).file("check.sh", CHECK).file(".gitignore", "__pycache__/\n");
        env.file("src/__init__.py", "").file("tests/__init__.py", "");
        env.file(ROADMAP, roadmap(head, steps)).file(STATUS, FRESH);
        let project = Project { env };
        for step in steps {
            std::fs::write(project.stage(&format!("word-{}", step.id)), &step.word).unwrap();
        }
        project.agent("usual; finish").commit("Begin");
        project
    }

    /// What the agent does: `usual` is what the phase needs, `finish` reports that it is done.
    pub(crate) fn agent(&self, script: &str) -> &Project {
        let path = self.env.root.with_file_name("home").join("agent.sh");
        std::fs::write(path, format!("{AGENT}{script}\n")).unwrap();
        self
    }

    /// A file beside the repository, by which the test and the agent know of each other.
    pub(crate) fn stage(&self, name: &str) -> PathBuf {
        self.env.root.with_file_name("home").join("stage").join(name)
    }

    /// Further lines of the configuration.
    pub(crate) fn configure(&self, lines: &str) -> &Project {
        let before = self.env.read("seriatim.toml");
        self.with("seriatim.toml", &format!("{before}{lines}"))
    }

    /// Lets the agents and gates work in worlds, in which they find the files that tests and agents share.
    pub(crate) fn in_worlds(&self) -> &Project {
        let config = self.env.read("seriatim.toml").replace("isolation = \"none\"", "isolation = \"world\"");
        let home = self.env.root.with_file_name("home").display().to_string();
        let worlds = format!("{config}\n[worlds]\nshare = [{home:?}]\n");
        // Under the tests that let everything work in worlds this is so already.
        if config.contains("[worlds]") { self } else { self.with("seriatim.toml", &worlds) }
    }

    /// A file that is committed.
    pub(crate) fn with(&self, path: &str, text: &str) -> &Project {
        self.env.file(path, text);
        self.commit(path)
    }

    /// Commits everything, as the user does.
    pub(crate) fn commit(&self, words: &str) -> &Project {
        self.env.git(&["add", "--all"]);
        self.env.git(&["commit", "--quiet", "--message", words]);
        self
    }

    /// Carries out one step.
    #[track_caller]
    pub(crate) fn step(&self, id: &str) -> Output {
        self.env.run(&["run", "step", "@software-crafter", "calc", id, "--no-input", "-q"])
    }

    /// The same with prepared answers, each `(question, choice, text)`.
    #[track_caller]
    pub(crate) fn step_answering(&self, id: &str, answers: &[(&str, &str, &str)]) -> Output {
        let file = self.answers(answers);
        let args = ["run", "step", "@software-crafter", "calc", id, "--no-input", "-q", "--answers", &file];
        self.env.run(&args)
    }

    pub(crate) fn start_step(&self, id: &str) -> Running {
        self.env.start(&["run", "step", "@software-crafter", "calc", id, "--no-input", "-q"])
    }

    /// Carries out the whole roadmap, with further arguments.
    #[track_caller]
    pub(crate) fn all(&self, args: &[&str]) -> Output {
        self.env.run(&[&["run", "roadmap", "calc", "--no-input", "-q"], args].concat())
    }

    #[track_caller]
    pub(crate) fn resume(&self, answers: &[(&str, &str, &str)]) -> Output {
        let file = self.answers(answers);
        self.env.run(&["resume", &self.env.newest(), "--no-input", "-q", "--answers", &file])
    }

    pub(crate) fn answers(&self, answers: &[(&str, &str, &str)]) -> String {
        let mut text = String::from("[]");
        for (at, (pattern, choice, words)) in answers.iter().enumerate() {
            if at == 0 {
                text.clear();
            }
            let words = if words.is_empty() { String::new() } else { format!("  text: \"{words}\"\n") };
            let _ = write!(text, "- match: '{pattern}'\n  choose: {choice}\n{words}  by: ada\n");
        }
        let path = self.stage("answers.yaml");
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// What git says.
    #[track_caller]
    pub(crate) fn git(&self, args: &[&str]) -> String {
        let mut command = self.env.as_user("git");
        command.args(args);
        self.env.furnish(&mut command);
        let output = command.output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The subjects of the commits that came after those of the user, the oldest first.
    pub(crate) fn subjects(&self) -> Vec<String> {
        let log =
            self.git(&["log", "--reverse", "--format=%s%x09%(trailers:key=Step,valueonly,separator=%x2C)"]);
        let ours = log.lines().filter_map(|line| line.split_once('\t'));
        ours.filter(|(_, step)| !step.is_empty()).map(|(subject, _)| subject.to_owned()).collect()
    }

    /// The commits of one step with these subjects.
    pub(crate) fn commits_of(id: &str) -> Vec<String> {
        vec![format!("feat({id}): GREEN"), format!("review({id})"), format!("feat({id}): DONE")]
    }

    /// The state file.
    #[track_caller]
    pub(crate) fn status(&self) -> Value {
        self.yaml(STATUS)["execution_status"].clone()
    }

    #[track_caller]
    pub(crate) fn yaml(&self, path: &str) -> Value {
        let text = self.env.read(path);
        let (root, findings) = doc::parse(text.as_bytes(), &doc::Limits::default());
        root.unwrap_or_else(|| panic!("{path}: {findings:?}\n{text}")).to_json()
    }

    /// The checkpoint of a step in the state file.
    #[track_caller]
    pub(crate) fn checkpoint(&self, id: &str) -> Value {
        let status = self.status();
        let all = status.as_object().unwrap().iter();
        let mut found = all.filter(|(key, _)| key.starts_with("step_checkpoint")).map(|(_, value)| value);
        found.find(|value| value["step_id"] == id).unwrap_or_else(|| panic!("{id}: {status:#}")).clone()
    }

    /// One phase of a step in the state file.
    #[track_caller]
    pub(crate) fn phase(&self, id: &str, name: &str) -> Value {
        let checkpoint = self.checkpoint(id);
        let phases = checkpoint["phases"].as_array().unwrap();
        let found = phases.iter().find(|phase| phase["phase_name"] == name);
        found.unwrap_or_else(|| panic!("{name}: {checkpoint:#}")).clone()
    }

    /// The newest run, as machines read it.
    #[track_caller]
    pub(crate) fn shown(&self) -> Value {
        self.env.json(&["show", &self.env.newest()]).0
    }

    /// The tries of a phase on record, with claim and evidence.
    #[track_caller]
    pub(crate) fn tries(&self, id: &str, name: &str) -> Vec<Value> {
        let shown = self.shown();
        let phases = shown["phases"].as_array().unwrap_or_else(|| panic!("{shown:#}")).iter();
        phases.filter(|ended| ended["step"] == id && ended["phase"] == name).cloned().collect()
    }

    /// The calls of agents so far, each `STEP PHASE`.
    pub(crate) fn calls(&self) -> Vec<String> {
        let calls = std::fs::read_to_string(self.stage("calls")).unwrap_or_default();
        calls.lines().map(str::to_owned).collect()
    }

    /// How often the agent was called for a phase.
    pub(crate) fn count(&self, id: &str, phase: &str) -> usize {
        self.calls().into_iter().filter(|call| *call == format!("{id} {phase}")).count()
    }

    /// The brief of a call.
    #[track_caller]
    pub(crate) fn brief(&self, id: &str, phase: &str, number: usize) -> Value {
        let path = self.env.root.with_file_name("home").join(format!("briefs/{id}-{phase}-{number}.json"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        serde_json::from_str(&text).unwrap()
    }

    #[track_caller]
    pub(crate) fn prompt(&self, id: &str, phase: &str, number: usize) -> String {
        self.brief(id, phase, number)["prompt"].as_str().unwrap().to_owned()
    }

    /// The steps are done, everything of them is committed, and the journal holds.
    #[track_caller]
    pub(crate) fn assert_done(&self, ids: &[&str]) {
        assert_eq!(self.git(&["status", "--porcelain"]), "");
        self.assert_done_beside(ids);
    }

    /// The same, beside changes of the user.
    #[track_caller]
    pub(crate) fn assert_done_beside(&self, ids: &[&str]) {
        let status = self.status();
        let done: Vec<&str> = status["completed_steps"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|s| s["step_id"].as_str())
            .collect();
        assert_eq!(done, ids, "{status:#}");
        assert_eq!(self.git(&["status", "--porcelain", "--", "docs"]), "");
        self.env.run(&["verify"]).exits(0);
    }
}

/// A list of texts, for comparisons.
pub(crate) fn texts(values: &Value) -> Vec<String> {
    let list = values.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned)).collect()
}

const CONFIG: &str = r#"[agents.default]
kind = "command"
argv = ["sh", "AGENT"]
env = ["PATH", "HOME"]
timeout = "5m"

[gates.tests]
command = ["sh", "check.sh"]
timeout = "2m"
"#;

const FRESH: &str = r#"execution_status:
  schema_version: "1.0"
  project_id: calc
  current: {step_id: null}
  completed_steps: []
  step_checkpoint: null
"#;

const AGENT: &str = r#"# The agent of a test: notes its call, then does what the test says.
stage="$HOME/stage"
echo "$SERIATIM_STEP $SERIATIM_PHASE" >>"$stage/calls"
pwd >>"$stage/places-$SERIATIM_STEP"
number=$(grep -cx "$SERIATIM_STEP $SERIATIM_PHASE" "$stage/calls")
cp "$SERIATIM_BRIEF" "$HOME/briefs/$SERIATIM_STEP-$SERIATIM_PHASE-$number.json"
word=$(cat "$stage/word-$SERIATIM_STEP" 2>/dev/null)
code=src/$word.py
test=tests/test_$word.py
write_code() { echo "RESULT = $1" >"$code"; }
write_test() {
    cat >"$test" <<END
import unittest
from src.$word import RESULT


class Test(unittest.TestCase):
    def test_$word(self):
        self.assertEqual(RESULT, ${1:-5})
END
}
usual() {
    case "$SERIATIM_PHASE" in
    RED | RED_ACCEPTANCE) write_code 0; write_test ;;
    GREEN*) write_code 5 ;;
    REFACTOR_CONTINUOUS) printf '"""The function %s."""\n\nRESULT = 5\n' "$word" >"$code" ;;
    esac
}
report() { printf '%s' "$1" >"$SERIATIM_REPORT"; }
finish() {
    report "{\"status\": \"done\", \"summary\": \"$SERIATIM_PHASE passed, all is well\", \"usage\": {\"turns\": 2, \
        \"input_tokens\": 10, \"output_tokens\": 5}, \"outputs\": ${1:-{\}}, \"criteria\": [{\"criterion\": \
        \"$word of two numbers is right\", \"met\": true, \"reason\": \"tested\"}]}"
}
"#;

const CHECK: &str = r#"# A tiny runner of tests that prints as unittest does: it compares RESULT with a number.
thick=======================================================================
thin=----------------------------------------------------------------------
ran=0 failures=0 errors=0 skipped=0
block() {
    printf '%s\n%s: %s (%s)\n%s\n' "$thick" "$1" "$2" "$file" "$thin"
    printf 'Traceback (most recent call last):\n  File "%s", line %s, in %s\n    x\n%s\n\n' "$file" "$at" "$2" "$3"
}
broken() { # The module cannot be loaded.
    ran=$((ran + 1)) errors=$((errors + 1))
    printf '%s\nERROR: %s (unittest.loader._FailedTest.%s)\n%s\n' "$thick" "$file" "$file" "$thin"
    printf 'ImportError: Failed to import test module: %s\nTraceback (most recent call last):\n' "$file"
    printf '  File "loader.py", line 1, in load\n    x\n%s\n\n' "$1"
}
[ $# -gt 0 ] || set -- tests/test_*.py
for file in "$@"; do
    [ -f "$file" ] || continue
    module=$(sed -n 's/^from src\.\([a-z]*\) import .*/\1/p' "$file")
    if [ ! -f "src/$module.py" ]; then
        broken "ModuleNotFoundError: No module named 'src.$module'"
        continue
    fi
    if grep -q '^RESULT = (' "src/$module.py"; then
        broken "SyntaxError: '(' was never closed"
        continue
    fi
    result=$(sed -n 's/^RESULT = \([0-9]*\).*/\1/p' "src/$module.py")
    at=0 name= skip=
    while IFS= read -r line; do
        at=$((at + 1))
        case $line in
        *@unittest.skip*) skip=yes ;;
        *"def test_"*)
            name=${line#*def } name=${name%%(*} ran=$((ran + 1))
            if [ -n "$skip" ]; then
                skipped=$((skipped + 1))
                echo "$name ($file) ... skipped 'later'"
                name=
            fi
            skip=
            ;;
        *assertEqual*)
            wanted=${line##*, } wanted=${wanted%)*}
            if [ -n "$name" ] && [ "$wanted" = "$result" ]; then
                echo "$name ($file) ... ok"
            elif [ -n "$name" ]; then
                failures=$((failures + 1))
                block FAIL "$name" "AssertionError: $result != $wanted"
            fi
            name=
            ;;
        esac
    done <"$file"
done
word=tests
[ $ran -ne 1 ] || word=test
printf '%s\nRan %s %s in 0.001s\n\n' "$thin" $ran $word
if [ $((failures + errors)) -gt 0 ]; then
    echo "FAILED (failures=$failures, errors=$errors)"
    exit 1
elif [ $ran -eq 0 ]; then
    echo "NO TESTS RAN"
    exit 5
elif [ $skipped -gt 0 ]; then
    echo "OK (skipped=$skipped)"
else
    echo OK
fi
"#;
