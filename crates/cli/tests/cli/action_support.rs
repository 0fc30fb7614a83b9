//! A workspace with an agent map, role guides and a catalogue of actions, and agents of shell that do per role and call
//! what a table in the test says.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::Value;

use crate::process::Fifo;
use crate::process::Running;
use crate::support::Env;
use crate::support::Output;

/// Three roles side by side, a reviewer behind them, and a person at the end.
pub(crate) const BUILD: &str = "- parallel: [backend-developer, frontend-developer, quality-engineer]\n\
                                - agent: security\n- {gate: approval, name: release}\n";

/// Who approves at the end of the usual action.
pub(crate) const RELEASE: (&str, &str, &str) = ("Gate release", "approve", "");

/// One line of the table: a role, its how many-th call (0 for all that have no line of their own), and what it does.
pub(crate) type Act<'a> = (&'a str, usize, &'a str);

pub(crate) struct Workshop {
    pub(crate) env: Env,
}

impl Workshop {
    /// The usual action `build`.
    pub(crate) fn new() -> Workshop {
        Workshop::of(BUILD)
    }

    /// The action `build` with these steps.
    pub(crate) fn of(steps: &str) -> Workshop {
        let workshop = Workshop::bare();
        workshop.wire(steps);
        workshop
            .env
            .file("agents/actions/README.md", CATALOGUE)
            .file("planning-mds/BLUEPRINT.md", "# Blueprint\n");
        workshop
            .env
            .file("agents/actions/build.md", "# Action: build\n\n## User Intent\n\nBuild the product.\n");
        workshop
    }

    /// Only the guides of the roles, and the agents: nothing is wired, and nothing is planned.
    pub(crate) fn bare() -> Workshop {
        let env = Env::new();
        let home = env.root.with_file_name("home");
        for folder in ["stage", "briefs", "acts"] {
            std::fs::create_dir(home.join(folder)).unwrap();
        }
        std::fs::write(home.join("agent.sh"), AGENT).unwrap();
        // Scripts of gates speak with the test through files of the home folder, also from their views.
        let share = format!("[worlds]\nshare = [{:?}]\n\n", home.display().to_string());
        let agent = command(&home.join("agent.sh"), "");
        env.file("seriatim.toml", format!("{share}[agents.default]\n{agent}"));
        for role in ROLES {
            let guide = format!(
                "---\nname: {role}\ndescription: The work of {role}\n---\n# {role}\n\nThe guide of {role}.\n"
            );
            env.file(&format!("agents/{role}/SKILL.md"), guide);
        }
        Workshop { env }
    }

    /// Other steps for the action `build`.
    pub(crate) fn wire(&self, steps: &str) -> &Workshop {
        let mut map =
            format!("{MAP}actions:\n  build:\n    doc: agents/actions/build.md\n    description: Build it\n");
        map.push_str("    prerequisites: [planning-mds/BLUEPRINT.md]\n    steps:\n");
        for line in steps.lines() {
            let _ = writeln!(map, "      {line}");
        }
        self.env.file("agents/agent-map.yaml", map);
        self
    }

    /// What roles do; without a line in the table they do what is usual and report that it is done.
    pub(crate) fn table(&self, acts: &[Act<'_>]) -> &Workshop {
        for (role, call, script) in acts {
            let call = if *call == 0 { "each".to_owned() } else { call.to_string() };
            std::fs::write(self.home(&format!("acts/{role}-{call}")), format!("{script}\n")).unwrap();
        }
        self
    }

    /// From now on every role does what is usual.
    pub(crate) fn usual(&self) -> &Workshop {
        for act in crate::support::files_below(&self.home("acts")) {
            std::fs::remove_file(act).unwrap();
        }
        self
    }

    pub(crate) fn home(&self, path: &str) -> PathBuf {
        self.env.root.with_file_name("home").join(path)
    }

    /// Further lines of the configuration.
    pub(crate) fn configure(&self, lines: &str) -> &Workshop {
        let before = self.env.read("seriatim.toml");
        self.env.file("seriatim.toml", format!("{before}\n{lines}"));
        self
    }

    /// An agent of its own for a role; what it is called stands in the list of calls.
    pub(crate) fn agent(&self, name: &str, lines: &str) -> &Workshop {
        let own = command(&self.home("agent.sh"), name);
        self.configure(&format!("[agents.{name}]\n{own}{lines}"))
    }

    /// A pipe beside the workspace, which agents know as `$HOME/NAME`.
    pub(crate) fn fifo(&self, name: &str) -> Fifo {
        Fifo::new(&self.home(name))
    }

    /// Carries out `build` with these answers, each `(question, choice, text)` and each used once.
    #[track_caller]
    pub(crate) fn build(&self, answers: &[(&str, &str, &str)]) -> Output {
        self.run(&["build"], answers)
    }

    /// Carries out an action, by its name or words, with further arguments.
    #[track_caller]
    pub(crate) fn run(&self, action: &[&str], answers: &[(&str, &str, &str)]) -> Output {
        let file = self.answers(answers, false);
        self.env.run(&[&["run", "action"], action, &["--no-input", "-q", "--answers", &file]].concat())
    }

    /// The same where each answer holds as often as its question comes.
    #[track_caller]
    pub(crate) fn run_answering(&self, action: &[&str], answers: &[(&str, &str, &str)]) -> Output {
        let file = self.answers(answers, true);
        self.env.run(&[&["run", "action"], action, &["--no-input", "-q", "--answers", &file]].concat())
    }

    pub(crate) fn start(&self) -> Running {
        self.env.start(&["run", "action", "build", "--no-input", "-q"])
    }

    #[track_caller]
    pub(crate) fn resume(&self, answers: &[(&str, &str, &str)]) -> Output {
        let file = self.answers(answers, false);
        self.env.run(&["resume", &self.env.newest(), "--no-input", "-q", "--answers", &file])
    }

    fn answers(&self, answers: &[(&str, &str, &str)], repeat: bool) -> String {
        let mut text = String::from(if answers.is_empty() { "[]" } else { "" });
        for (pattern, choice, words) in answers {
            let words = if words.is_empty() { String::new() } else { format!("  text: \"{words}\"\n") };
            let _ = write!(text, "- match: '{pattern}'\n  choose: {choice}\n{words}  by: ada\n");
            if repeat {
                text.push_str("  repeat: true\n");
            }
        }
        let path = self.home("stage/answers.yaml");
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// The calls of agents so far, each the name of a role.
    pub(crate) fn calls(&self) -> Vec<String> {
        let calls = std::fs::read_to_string(self.home("stage/calls")).unwrap_or_default();
        calls.lines().map(str::to_owned).collect()
    }

    pub(crate) fn count(&self, role: &str) -> usize {
        self.calls().into_iter().filter(|call| call == role).count()
    }

    /// How often the usual roles were called: backend, frontend, quality, security.
    pub(crate) fn counts(&self) -> [usize; 4] {
        ["backend-developer", "frontend-developer", "quality-engineer", "security"]
            .map(|role| self.count(role))
    }

    /// The brief of a role's call.
    #[track_caller]
    pub(crate) fn brief(&self, role: &str, call: usize) -> Value {
        let path = self.home(&format!("briefs/{role}-{call}.json"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        serde_json::from_str(&text).unwrap()
    }

    /// What a role was told about the call before; the same words stand in its prompt.
    #[track_caller]
    pub(crate) fn feedback(&self, role: &str, call: usize) -> Vec<String> {
        let brief = self.brief(role, call);
        let feedback: Vec<String> = serde_json::from_value(brief["feedback"].clone()).unwrap_or_default();
        let prompt = brief["prompt"].as_str().unwrap();
        assert!(feedback.iter().all(|words| prompt.contains(words.as_str())), "{prompt}");
        feedback
    }

    /// The newest run, as machines read it.
    #[track_caller]
    pub(crate) fn shown(&self) -> Value {
        self.env.json(&["show", &self.env.newest()]).0
    }

    /// What the newest run came to.
    #[track_caller]
    pub(crate) fn outcome(&self) -> Value {
        self.shown()["outcome"].clone()
    }

    /// The question that is open.
    #[track_caller]
    pub(crate) fn question(&self) -> Question {
        let shown = self.shown();
        let questions = shown["questions"].as_array().unwrap();
        assert_eq!(questions.len(), 1, "{shown:#}");
        Question(questions[0].clone())
    }

    /// The bodies of the journal's entries of one kind.
    #[track_caller]
    pub(crate) fn entries(&self, kind: &str) -> Vec<Value> {
        let (events, _) = self.env.json(&["show", &self.env.newest(), "--events"]);
        let events = events["events"].as_array().unwrap().iter();
        events.filter(|event| event["kind"] == kind).map(|event| event["body"].clone()).collect()
    }

    /// The facts of one name that the newest run put on record.
    #[track_caller]
    pub(crate) fn facts(&self, name: &str) -> Vec<Value> {
        let facts = self.entries("fact").into_iter().map(|body| body["fact"].clone());
        facts.filter(|fact| fact["fact"] == name).collect()
    }

    /// The texts of such facts.
    #[track_caller]
    pub(crate) fn told(&self, name: &str) -> Vec<String> {
        self.facts(name).iter().map(|fact| fact["text"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// The pauses in the journal, in milliseconds.
    #[track_caller]
    pub(crate) fn pauses(&self) -> Vec<u64> {
        let intents = self.entries("intent").into_iter();
        intents.filter(|body| body["do"] == "sleep").filter_map(|body| body["ms"].as_u64()).collect()
    }

    /// What was decided, each `SUBJECT OUTCOME`.
    #[track_caller]
    pub(crate) fn decisions(&self) -> Vec<String> {
        let text = |fact: &Value, key: &str| fact[key].as_str().unwrap_or_default().to_owned();
        let facts = self.facts("decision");
        facts.iter().map(|fact| format!("{} {}", text(fact, "subject"), text(fact, "outcome"))).collect()
    }

    /// The reports of failures, the oldest first.
    pub(crate) fn errors(&self) -> Vec<Value> {
        let files = self.env.files_below("logs/errors").into_iter();
        let mut reports: Vec<Value> =
            files.map(|path| serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()).collect();
        reports.sort_by_key(|report| report["tried"].as_array().map_or(0, Vec::len));
        reports
    }

    /// The sorts of those failures.
    pub(crate) fn error_types(&self) -> Vec<String> {
        self.errors().iter().filter_map(|error| error["error_type"].as_str().map(str::to_owned)).collect()
    }

    /// One of the five files of the newest run's evidence.
    #[track_caller]
    pub(crate) fn evidence(&self, name: &str) -> String {
        let mut found = self.env.files_below("planning-mds/operations/evidence");
        found.retain(|path| path.ends_with(name));
        let newest = found.pop().unwrap_or_else(|| panic!("no {name}"));
        std::fs::read_to_string(newest).unwrap()
    }

    /// The journal holds, and replaying it leads to the same.
    #[track_caller]
    pub(crate) fn verify(&self) {
        self.env.run(&["verify"]).exits(0).says("sound");
    }
}

/// An open question.
pub(crate) struct Question(pub(crate) Value);

impl Question {
    pub(crate) fn id(&self) -> &str {
        self.0["id"].as_str().unwrap()
    }

    pub(crate) fn header(&self) -> &str {
        self.0["header"].as_str().unwrap()
    }

    pub(crate) fn details(&self) -> &str {
        self.0["details"].as_str().unwrap_or_default()
    }

    pub(crate) fn why(&self) -> &str {
        self.0["why"].as_str().unwrap_or_default()
    }

    fn options(&self) -> impl Iterator<Item = &Value> {
        self.0["options"].as_array().unwrap().iter()
    }

    pub(crate) fn choices(&self) -> Vec<&str> {
        self.options().filter_map(|option| option["id"].as_str()).collect()
    }

    pub(crate) fn labels(&self) -> Vec<&str> {
        self.options().filter_map(|option| option["label"].as_str()).collect()
    }

    /// The options that take words.
    pub(crate) fn with_words(&self) -> Vec<&str> {
        self.options()
            .filter(|option| option["needs_text"] == true)
            .filter_map(|o| o["id"].as_str())
            .collect()
    }

    /// Every option says what it leads to (OC-78).
    #[track_caller]
    pub(crate) fn every_option_has_its_consequence(&self) {
        for option in self.options() {
            let words = option["description"].as_str().unwrap_or_default();
            assert!(words.len() > 20 && words.ends_with('.'), "{option:#}");
        }
    }
}

fn command(script: &std::path::Path, name: &str) -> String {
    let name = if name.is_empty() { String::new() } else { format!(", \"{name}\"") };
    format!(
        "kind = \"command\"\nargv = [\"sh\", \"{}\"{name}]\nenv = [\"PATH\", \"HOME\"]\n",
        script.display()
    )
}

const ROLES: [&str; 11] = [
    "product-manager",
    "architect",
    "backend-developer",
    "frontend-developer",
    "ai-engineer",
    "quality-engineer",
    "devops",
    "code-reviewer",
    "security",
    "technical-writer",
    "blogger",
];

const CATALOGUE: &str = "# Actions\n\n- [build](build.md): Build the product\n";

const MAP: &str = "agents:
  backend-developer: {skill: agents/backend-developer/SKILL.md, writes: [engine/api.sh]}
  frontend-developer: {skill: agents/frontend-developer/SKILL.md, writes: [experience/app.md]}
  quality-engineer: {skill: agents/quality-engineer/SKILL.md, writes: [tests/plan.md]}
  security: {skill: agents/security/SKILL.md, writes: [planning-mds/security/]}
";

const AGENT: &str = r##"# The agent of a test: notes its call, then does what the table of the test says.
role=$SERIATIM_STEP
echo "$role" >>"$HOME/stage/calls"
echo "$role ${1:-default}" >>"$HOME/stage/agents"
number=$(grep -cx "$role" "$HOME/stage/calls")
cp "$SERIATIM_BRIEF" "$HOME/briefs/$role-$number.json"
put() { mkdir -p "$(dirname "$1")" && printf '%b' "$2" >"$1"; }
usual() {
    case $role in
    product-manager)
        put planning-mds/BLUEPRINT.md "# Blueprint\n\nCall $number.\n"
        put planning-mds/domain/glossary.md "# Glossary\n"
        put planning-mds/architecture/SOLUTION-PATTERNS.md "# Patterns\n" ;;
    architect) put planning-mds/architecture/design.md "# Design\n\nCall $number.\n" ;;
    backend-developer) put engine/api.sh "echo call $number\n" ;;
    frontend-developer) put experience/app.md "# App\n\nCall $number.\n" ;;
    ai-engineer) put neuron/model.md "# Model\n" ;;
    quality-engineer) put tests/plan.md "# Plan\n\nCall $number.\n" ;;
    devops) put deploy/notes.md "# Deployment\n" ;;
    code-reviewer) put planning-mds/reviews/review.md "# Review\n\nCall $number.\n" ;;
    security) put planning-mds/security/review.md "# Review\n\nCall $number.\n" ;;
    technical-writer) put docs/guide.md "# Guide\n\nCall $number.\n" ;;
    blogger) put blog/log.md "# Log\n\nCall $number.\n" ;;
    esac
}
report() { printf '%s' "$1" >"$SERIATIM_REPORT"; }
# Done, with these outputs.
finish() {
    [ $# -gt 0 ] || set -- '{"findings": []}'
    report "{\"status\": \"done\", \"summary\": \"$role, call $number\", \"outputs\": $1}"
}
# One finding: severity, title, file, line.
found() {
    finish "{\"findings\": [{\"severity\": \"$1\", \"title\": \"$2\", \"file\": \"$3\", \"line\": $4, \"remedy\": \"mend it\"}]}"
}
# No finding, and this one is closed by name.
closes() { finish "{\"findings\": [], \"closed\": [{\"id\": \"$1\", \"reason\": \"it is fixed\"}]}"; }
# It says itself that it failed: without a class, or with one and words.
fail() { report '{"status": "failed", "summary": "it broke"}'; }
failed() { report "{\"status\": \"failed\", \"summary\": \"$2\", \"error\": {\"class\": \"$1\", \"message\": \"$2\"}}"; }
# Markdown that is never closed.
bad() { put "$1" "# Bad $number\n\n\`\`\`sh\necho\n"; }
act="$HOME/acts/$role-$number"
[ -f "$act" ] || act="$HOME/acts/$role-each"
if [ -f "$act" ]; then . "$act"; else usual; finish; fi
"##;
