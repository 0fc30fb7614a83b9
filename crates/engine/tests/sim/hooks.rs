//! A guarded session in a world from one seed: its hooks, the commands of its agent, and what they leave behind.

use std::collections::BTreeMap;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;

use serde_json::Value;
use serde_json::json;
use seriatim_core::prompt;
use seriatim_core::prompt::Library;
use seriatim_core::prompt::Standard;
use seriatim_core::redact::Redactor;
use seriatim_core::roadmap::change::Act as PhaseAct;
use seriatim_core::roadmap::change::Change;
use seriatim_core::roadmap::phases::Schema;
use seriatim_core::roadmap::state::Outcome;
use seriatim_core::time::Utc;
use seriatim_engine::guard;
use seriatim_engine::guard::Guard;
use seriatim_engine::guard::Project;
use seriatim_engine::guard::book;
use seriatim_engine::hands::environment::Environment;
use seriatim_engine::hands::files::Files;
use seriatim_engine::hands::files::TEMPORARY_PREFIX;
use seriatim_engine::hands::process::Ended;
use seriatim_engine::hands::process::How;
use seriatim_engine::hands::process::Processes;
use seriatim_engine::hands::process::Spawn;
use seriatim_engine::hands::process::SpawnError;
use seriatim_engine::hands::process::Watch;
use seriatim_engine::ports::Ports;
use seriatim_engine::ports::Stores;
use seriatim_engine::sim::Fate;
use seriatim_engine::sim::Rng;
use seriatim_engine::sim::SimClock;
use seriatim_engine::sim::SimFiles;
use seriatim_journal::Error as JournalError;
use seriatim_journal::Moment;
use seriatim_journal::Observer;
use seriatim_journal::Store;
use tempfile::TempDir;

use crate::aside::is_of_interrupted_write;
use crate::world;

const ROOT: &str = "/simulated/workspace";
const TRANSCRIPT: &str = "/simulated/home/s1.jsonl";
const PHASES: [&str; 3] = ["RED", "GREEN", "COMMIT"];
/// Between two acts of a script.
const PAUSE_MS: u64 = 60_000;

/// One thing that happens in a session.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// The client calls a hook.
    Hook(Value),
    /// The agent records a phase by the command.
    Phase { step: usize, change: Change },
    /// The agent edits a phase in the state file by hand.
    Edit { step: usize, phase: usize, status: &'static str },
    /// Git asks whether a commit may be made.
    CommitGate,
}

/// The state file of a step.
fn step_file(step: usize) -> String {
    format!("steps/01-0{}.json", step + 1)
}

fn step_id(step: usize) -> String {
    format!("01-0{}", step + 1)
}

fn agent(step: usize) -> String {
    format!("a{}", step + 1)
}

fn call(step: usize) -> String {
    format!("toolu_{}", step + 1)
}

fn fresh_step(step: usize) -> Value {
    let phase = |(index, name): (usize, &&str)| json!({"phase_name": name, "phase_index": index, "status": "NOT_EXECUTED"});
    json!({
        "task_id": step_id(step),
        "project_id": "greeting",
        "self_contained_context": {"background": "A program that greets whoever calls it."},
        "task_specification": {
            "name": "Greet politely",
            "description": "The greeting names the person.",
            "acceptance_criteria": ["Ada is greeted by her name"],
            "allowed_file_patterns": [format!("src/{step}/**")],
        },
        "state": {"status": "TODO"},
        "tdd_cycle": {"phase_execution_log": PHASES.iter().enumerate().map(phase).collect::<Vec<_>>()},
    })
}

/// The whole prompt for a step, as the template makes it.
fn whole_prompt(step: usize) -> &'static str {
    static PROMPTS: OnceLock<[String; 2]> = OnceLock::new();
    &PROMPTS.get_or_init(|| [0, 1].map(render_prompt))[step]
}

fn render_prompt(step: usize) -> String {
    let Value::Object(fields) = fresh_step(step) else { unreachable!() };
    let mut values: prompt::Values = fields.into_iter().collect();
    let given = [("agent_name", "crafter"), ("agent_specialty", "small steps")];
    values.insert("step_file_path".to_owned(), json!(step_file(step)));
    values.extend(given.map(|(name, value)| (name.to_owned(), json!(value))));
    let phases = Schema::detect(PHASES).unwrap().into();
    prompt::prepare("execute-step", &values, &Standard { library: Library::standard(), phases: &phases })
        .unwrap()
}

fn event(name: &str, more: Value) -> Act {
    let mut event = json!({
        "session_id": "s1", "transcript_path": TRANSCRIPT, "cwd": ROOT, "prompt_id": "p1",
        "permission_mode": "default", "hook_event_name": name,
    });
    for (key, value) in more.as_object().unwrap() {
        event[key] = value.clone();
    }
    Act::Hook(event)
}

/// The main conversation is about to call a sub-agent.
pub(crate) fn spawn(call: &str, prompt: &str) -> Act {
    let input = json!({
        "prompt": prompt, "run_in_background": false, "description": "A piece of work",
        "subagent_type": "general-purpose",
    });
    event("PreToolUse", json!({"tool_name": "Agent", "tool_use_id": call, "tool_input": input}))
}

pub(crate) fn begin(step: usize) -> Act {
    spawn(&call(step), whole_prompt(step))
}

pub(crate) fn sub_start(step: usize) -> Act {
    event("SubagentStart", json!({"agent_id": agent(step), "agent_type": "general-purpose"}))
}

pub(crate) fn sub_stop(step: usize) -> Act {
    event("SubagentStop", json!({"agent_id": agent(step), "stop_hook_active": false}))
}

pub(crate) fn spawn_done(step: usize) -> Act {
    let response = json!({"status": "completed", "agentId": agent(step)});
    event(
        "PostToolUse",
        json!({"tool_name": "Agent", "tool_use_id": call(step), "tool_input": {}, "tool_response": response}),
    )
}

/// The agent of a step is about to write a file.
pub(crate) fn write(step: usize, path: &str) -> Act {
    let input = json!({"file_path": format!("{ROOT}/{path}"), "content": "echo hello"});
    let more =
        json!({"agent_id": agent(step), "tool_name": "Write", "tool_use_id": "toolu_w", "tool_input": input});
    event("PreToolUse", more)
}

pub(crate) fn stop() -> Act {
    event("Stop", json!({"stop_hook_active": false}))
}

pub(crate) fn start_phase(step: usize, phase: usize) -> Act {
    Act::Phase { step, change: Change::new(PhaseAct::Start, PHASES[phase]) }
}

pub(crate) fn end_phase(step: usize, phase: usize) -> Act {
    let change = Change {
        outcome: Some(Outcome::Pass),
        note: Some("seen".to_owned()),
        ..Change::new(PhaseAct::Done, PHASES[phase])
    };
    Act::Phase { step, change }
}

/// A session from a seed: two steps, one after the other or interleaved, with what agents do right and wrong.
pub(crate) fn script(seed: u64) -> Vec<Act> {
    let mut rng = Rng::of(seed, &["hooks"]);
    let mut acts = vec![];
    if rng.chance(50) {
        acts.push(spawn("toolu_9", "Look for a greeting."));
    }
    if rng.chance(60) {
        acts.push(spawn("toolu_8", &bare_prompt()));
    }
    acts.push(begin(0));
    acts.push(sub_start(0));
    let other = rng.chance(50);
    if other {
        acts.extend([begin(1), sub_start(1)]);
    }
    for phase in 0..PHASES.len() {
        if rng.chance(40) {
            acts.push(write(0, if rng.chance(70) { "src/0/greet.sh" } else { "README.md" }));
        }
        if rng.chance(50) {
            acts.extend([start_phase(0, phase), end_phase(0, phase)]);
        } else {
            for status in ["IN_PROGRESS", "EXECUTED"] {
                // The hook of the edit itself comes first, as with every edit by an agent.
                acts.push(write(0, &step_file(0)));
                acts.push(Act::Edit { step: 0, phase, status });
            }
        }
        if rng.chance(30) {
            acts.push(sub_stop(0));
        }
        if rng.chance(20) {
            acts.push(Act::CommitGate);
        }
    }
    if rng.chance(30) {
        // Against the rules: a phase that is over is begun again by hand.
        acts.extend([write(0, &step_file(0)), Act::Edit { step: 0, phase: 0, status: "NOT_EXECUTED" }]);
    }
    acts.extend([sub_stop(0), spawn_done(0)]);
    if other {
        acts.extend([start_phase(1, 0), sub_stop(1)]);
    }
    acts.extend([stop(), Act::CommitGate]);
    if rng.chance(50) {
        acts.push(event("SessionEnd", json!({"reason": "other"})));
    }
    // The last one is on record in the trail of the steps, whatever came before.
    acts.push(spawn("toolu_7", &bare_prompt()));
    acts
}

/// A prompt that says it is a command's, and has nothing else.
fn bare_prompt() -> String {
    format!("<!-- DES-ORIGIN: command:/nw:execute -->\n<!-- DES-STEP-FILE: {} -->\n", step_file(0))
}

/// Git is there and says that this is no repository.
struct NoRepository;

impl Processes for NoRepository {
    fn run(&self, _spawn: &Spawn, _watch: &dyn Watch) -> Result<Ended, SpawnError> {
        Ok(Ended {
            how: How::Exited(128),
            stdout: String::new(),
            stderr: "fatal: not a git repository".to_owned(),
            tail: String::new(),
            stderr_tail: String::new(),
            overflow: None,
            dropped_bytes: 0,
            killed: vec![],
            survived: vec![],
            duration_ms: 1,
        })
    }

    fn sweep(&self, _marker: &str) -> Vec<u32> {
        vec![]
    }
}

/// Opens the one store of the world, wherever the project is said to be.
struct OneStore {
    dir: PathBuf,
    observer: Observer,
}

impl Stores for OneStore {
    fn open(&self, _dir: &Path, redactor: Redactor) -> Result<Store, JournalError> {
        let mut store = Store::open_for_hook(&self.dir, redactor)?;
        store.observe(Arc::clone(&self.observer));
        Ok(store)
    }

    fn leave(&self, store: Store) {
        drop(store);
    }
}

/// What outlives every hook.
pub(crate) struct Session {
    dir: TempDir,
    pub(crate) fate: Fate,
    pub(crate) files: Arc<SimFiles>,
    /// How many transactions are durable.
    committed: Arc<AtomicU64>,
}

impl Session {
    pub(crate) fn new() -> Session {
        let fate = Fate::default();
        let files = Arc::new(SimFiles::new(fate.clone(), "/simulated/tmp"));
        let put = |path: &str, text: String| files.put(&Path::new(ROOT).join(path), text.as_bytes());
        put(".seriatim/guard.json", "{}\n".to_owned());
        put("src/0/greet.sh", "echo hello\n".to_owned());
        for step in 0..2 {
            put(&step_file(step), format!("{:#}\n", fresh_step(step)));
            let place = Path::new(TRANSCRIPT).with_extension("").join("subagents");
            let said = json!({"type": "user", "agentId": agent(step), "message": {"role": "user", "content": whole_prompt(step)}});
            let usage = json!({"input_tokens": 10, "output_tokens": 5});
            let answered = json!({"type": "assistant", "message": {"id": "msg_1", "model": "m", "usage": usage, "content": []}});
            files.put(
                &place.join(format!("agent-{}.jsonl", agent(step))),
                format!("{said}\n{answered}\n").as_bytes(),
            );
        }
        Session { dir: world::place(), fate, files, committed: Arc::default() }
    }

    pub(crate) fn committed(&self) -> u64 {
        self.committed.load(Ordering::SeqCst)
    }

    /// The ports of one process that lives at the time of an act.
    pub(crate) fn ports(&self, number: usize, also: Option<Observer>) -> Ports {
        let (fate, committed) = (self.fate.clone(), Arc::clone(&self.committed));
        let observer: Observer = Arc::new(move |moment| {
            if let Some(also) = &also {
                also(moment);
            }
            match moment {
                Moment::Before => fate.pass("before a transaction"),
                Moment::Committed => {
                    committed.fetch_add(1, Ordering::SeqCst);
                    fate.pass("after a transaction");
                }
            }
        });
        let start = Utc::parse("2026-03-01T10:00:00Z").unwrap();
        Ports {
            files: self.files.clone(),
            clock: Arc::new(SimClock::at(start.plus_ms(PAUSE_MS * number as u64))),
            processes: Arc::new(NoRepository),
            stores: Arc::new(OneStore { dir: self.dir.path().to_owned(), observer }),
            environment: Environment { temporary: PathBuf::from("/simulated/tmp"), ..Environment::default() },
        }
    }

    /// Lets an act happen, and returns what whoever asked is answered.
    pub(crate) fn act(&self, act: &Act, ports: &Ports) -> String {
        let redactor = |_: &[String]| Redactor::new(&[], &[]);
        let project = Project::new(ROOT, self.files.clone());
        let answer = match act {
            Act::Hook(event) => {
                let answer =
                    guard::hook(None, event.to_string().as_bytes(), Path::new(ROOT), ports, &redactor);
                format!("{answer:?}")
            }
            Act::Phase { step, change } => {
                let mut guard = Guard::new(&project, ports, &redactor);
                let recorded = guard.phase(&step_file(*step), Some(&step_id(*step)), change);
                recorded.map_or_else(|error| error.to_string(), |state| state.status.word().to_owned())
            }
            Act::Edit { step, phase, status } => {
                self.edit(*step, *phase, status);
                String::new()
            }
            Act::CommitGate => {
                let gate = Guard::new(&project, ports, &redactor).commit_gate();
                gate.map_or_else(
                    |e| e.to_string(),
                    |gate| format!("{} {:?}", gate.lets_pass(), gate.reasons()),
                )
            }
        };
        self.fate.pass("before an answer is heard");
        answer
    }

    fn edit(&self, step: usize, phase: usize, status: &str) {
        let path = Path::new(ROOT).join(step_file(step));
        let bytes = self.files.read(&path, u64::MAX).unwrap().bytes;
        let mut state: Value = serde_json::from_slice(&bytes).unwrap();
        let record = &mut state["tdd_cycle"]["phase_execution_log"][phase];
        record["status"] = json!(status);
        if status == "EXECUTED" {
            record["outcome"] = json!("PASS");
        }
        self.files.put(&path, format!("{state:#}\n").as_bytes());
    }

    fn store(&self) -> Store {
        Store::open_for_hook(self.dir.path(), Redactor::new(&[], &[]).unwrap()).unwrap()
    }

    /// What is left of the session.
    pub(crate) fn picture(&self) -> Picture {
        let store = self.store();
        let mut picture = Picture::default();
        for (path, bytes) in self.files.all() {
            let name = path.strip_prefix(ROOT).map(|path| path.display().to_string()).unwrap_or_default();
            let text = String::from_utf8(bytes).unwrap();
            let is_record = name.starts_with("steps/") || name.contains("/audit-");
            assert!(!is_record || !name.contains(TEMPORARY_PREFIX), "{name} was left half written");
            if is_record {
                let (aside, kept): (Vec<&str>, Vec<&str>) =
                    text.lines().partition(|line| is_of_interrupted_write(line));
                picture.aside.extend(aside.into_iter().map(str::to_owned));
                picture.files.insert(name, kept.join("\n"));
            }
        }
        if let Some(run) = store.book(book::FLOW).unwrap() {
            store
                .load(run, |entry| {
                    let body = String::from_utf8_lossy(entry.body.unwrap_or_default()).into_owned();
                    if !is_of_interrupted_write(&body) {
                        picture.entries.push((entry.key.to_owned(), body));
                    }
                })
                .unwrap();
            for prefix in ["step:", "finished:"] {
                let memos = store.memos(run, prefix).unwrap().into_iter();
                picture.memos.extend(memos.map(|(key, value)| (key, String::from_utf8(value).unwrap())));
            }
        }
        let book = store.book(book::FLOW).unwrap();
        for trail in book.into_iter().flat_map(|book| book::trails(&store, book).unwrap()) {
            let file = Path::new(ROOT).join(&trail.file);
            let found = self.files.read(&file, u64::MAX).map(|found| found.bytes).unwrap_or_default();
            picture.trails.push((trail.file, trail.text, String::from_utf8(found).unwrap()));
        }
        assert!(store.verify().problems.is_empty());
        picture
    }
}

/// The records of a session, without the lines about interrupted writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Picture {
    /// State files and audit files.
    pub(crate) files: BTreeMap<String, String>,
    /// The entries of the book, by key.
    pub(crate) entries: Vec<(String, String)>,
    /// What is remembered of open and finished steps.
    pub(crate) memos: Vec<(String, String)>,
    /// Each audit file as the book has it, and as it is.
    pub(crate) trails: Vec<(String, String, String)>,
    pub(crate) aside: Vec<String>,
}

impl Picture {
    /// Every audit line of the book is in its file once, and nothing else is.
    #[track_caller]
    pub(crate) fn assert_whole(&self, what: &str) {
        for (file, book, found) in &self.trails {
            assert_eq!(book, found, "{what}: {file} is not what the book makes it");
        }
    }

    #[track_caller]
    pub(crate) fn assert_same(&self, expected: &Picture, what: &str) {
        assert_eq!(self.files, expected.files, "{what}");
        assert_eq!(self.entries, expected.entries, "{what}");
        assert_eq!(self.memos, expected.memos, "{what}");
    }
}
