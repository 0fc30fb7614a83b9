//! A world in memory for cycles: files, a clock, a repository, agents, checks and people that follow a script.

use std::collections::BTreeMap;
use std::collections::VecDeque;

use serde_json::Value;
use serde_json::json;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::hash::Hash;
use seriatim_core::question::Answer;
use seriatim_core::question::Question;
use seriatim_core::report::Report;
use seriatim_core::time::Utc;
use seriatim_flows::Request;
use seriatim_flows::cycle::Gate;
use seriatim_flows::cycle::Start;
use seriatim_flows::request::Command;
use seriatim_flows::request::Delivered;
use seriatim_flows::request::Delivery;
use seriatim_flows::request::Difference;
use seriatim_flows::request::Done;
use seriatim_flows::request::FORBIDDEN;
use seriatim_flows::request::FileChange;
use seriatim_flows::request::GitCall;
use seriatim_flows::request::Hooked;
use seriatim_flows::request::Ran;
use seriatim_flows::request::Stand;
use seriatim_flows::request::Surveyed;
use seriatim_flows::request::Text;
use seriatim_flows::request::WriteFile;

pub(crate) use crate::deeds::greet;
use crate::deeds::lines;
use crate::deeds::usual;
use crate::stage;
use crate::stage::body;
use crate::story::Story;

/// Eight words and something to check.
pub(crate) const GOAL: &str = "Make greet.sh say good morning so that the tests pass";

pub(crate) type Files = BTreeMap<String, String>;

/// What lies outside of the run and may change while it goes on.
pub(crate) struct Outside {
    pub(crate) files: Files,
    pub(crate) now: Utc,
}

impl Outside {
    pub(crate) fn write(&mut self, path: &str, text: &str) {
        self.files.insert(path.to_owned(), text.to_owned());
    }

    pub(crate) fn minutes_pass(&mut self, minutes: u64) {
        self.now = self.now.plus_ms(minutes * 60_000);
    }
}

pub(crate) type Happening = Box<dyn FnOnce(&mut Outside)>;

/// What a role does when it is called.
struct Turn {
    role: &'static str,
    reply: Done<Value>,
    happens: Option<Happening>,
}

/// What a person answers to the next question with this header.
struct Word {
    header: &'static str,
    choice: &'static str,
    text: Option<String>,
    happens: Option<Happening>,
}

/// The script of one run.
pub(crate) struct World {
    pub(crate) start: Start,
    pub(crate) outside: Outside,
    /// Minutes that each call of an agent takes.
    pub(crate) agent_minutes: u64,
    /// Reads that fail, by number from 1.
    pub(crate) bad_reads: Vec<u32>,
    /// Files that cannot be written.
    pub(crate) bad_writes: Vec<&'static str>,
    /// Snapshots cannot be taken.
    pub(crate) no_snapshots: bool,
    pub(crate) remote: bool,
    /// Credentials that a change brings in.
    pub(crate) leaks: Vec<String>,
    turns: VecDeque<Turn>,
    people: Vec<Word>,
    /// What commands do, by their first word.
    commands: Vec<(&'static str, Done<Ran>)>,
    /// What the tests do before the work.
    pub(crate) floor: Done<Ran>,
    failed_deliveries: VecDeque<Failure>,
    cancel_at: Option<&'static str>,
    /// What every question without a word of its own is answered with, the approval aside.
    otherwise: Option<&'static str>,
    trees: Vec<Files>,
    snapshots: Vec<Files>,
    reads: u32,
    /// How often the Actor was called.
    acts: u32,
    seen: Seen,
}

/// What the world saw.
#[derive(Default)]
pub(crate) struct Seen {
    /// The briefs of the roles.
    pub(crate) briefs: Vec<(String, String)>,
    pub(crate) commands: Vec<Vec<String>>,
    /// Runs of tests before the work.
    pub(crate) floors: Vec<Vec<String>>,
    pub(crate) deliveries: Vec<Delivery>,
    pub(crate) slept_ms: Vec<u64>,
}

/// A step as the Planner reports it, with some fields set otherwise.
pub(crate) fn step(other: Value) -> Value {
    let mut step = json!({
        "title": "Greet politely", "instructions": "Change greet.sh.", "files": ["greet.sh"], "creates": [], "loc": 1,
        "risk": "low", "success_criteria": ["it says good morning"], "commands": [],
    });
    for (key, value) in other.as_object().unwrap() {
        step[key] = value.clone();
    }
    json!({"kind": "step", "step": step})
}

pub(crate) fn ran(code: i32, stdout: &str) -> Done<Ran> {
    let output = Some(Hash::of(stdout.as_bytes()));
    Ok(Ran { code: Some(code), stdout: stdout.to_owned(), output, ..Ran::default() })
}

impl World {
    /// A Planner that plans one small step, an Actor that does it, a Judge that finds it good, and green tests.
    pub(crate) fn new() -> World {
        let tests = Gate { command: vec!["tests".to_owned()], ..Gate::default() };
        World {
            start: Start {
                project: "work".to_owned(),
                goal: Some(GOAL.to_owned()),
                gates: [("tests".to_owned(), tests)].into(),
                ..Start::default()
            },
            outside: Outside {
                files: [("greet.sh".to_owned(), "echo hello\n".to_owned())].into(),
                now: Utc::parse("2026-01-18T15:00:00Z").unwrap(),
            },
            agent_minutes: 0,
            bad_reads: vec![],
            bad_writes: vec![],
            no_snapshots: false,
            remote: false,
            leaks: vec![],
            turns: VecDeque::new(),
            people: vec![],
            commands: vec![],
            floor: ran(0, "test result: ok. 1 passed; 0 failed; 0 ignored\n"),
            failed_deliveries: VecDeque::new(),
            cancel_at: None,
            otherwise: None,
            trees: vec![],
            snapshots: vec![],
            reads: 0,
            acts: 0,
            seen: Seen::default(),
        }
    }

    /// Sets some of the fields.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut World)) -> World {
        change(&mut self);
        self
    }

    /// The next time this role is called, it reports these outputs.
    pub(crate) fn reports(mut self, role: &'static str, outputs: Value) -> World {
        self.turns.push_back(Turn { role, reply: Ok(json!({"outputs": outputs})), happens: None });
        self
    }

    /// The same, after it did something to the files.
    pub(crate) fn does(
        mut self,
        role: &'static str,
        outputs: Value,
        happens: impl FnOnce(&mut Outside) + 'static,
    ) -> World {
        let happens: Option<Happening> = Some(Box::new(happens));
        self.turns.push_back(Turn { role, reply: Ok(json!({"outputs": outputs})), happens });
        self
    }

    /// The next time this role is called, its output shows a forbidden command.
    pub(crate) fn shows(mut self, role: &'static str, command: &str) -> World {
        let reply = json!({"outputs": {"result": "SUCCESS"}, "unknown": {FORBIDDEN: [command]}});
        self.turns.push_back(Turn { role, reply: Ok(reply), happens: Some(Box::new(greet)) });
        self
    }

    /// The next time this role is called, this is its whole report.
    pub(crate) fn replies(mut self, role: &'static str, report: Value) -> World {
        self.turns.push_back(Turn { role, reply: Ok(report), happens: None });
        self
    }

    pub(crate) fn fails(mut self, role: &'static str, class: Class, message: &str) -> World {
        self.turns.push_back(Turn { role, reply: Err(Failure::new(class, message)), happens: None });
        self
    }

    /// So many steps in a row that the Judge does not find sufficient.
    pub(crate) fn insufficient(self, times: u32) -> World {
        let report = json!({"result": "INSUFFICIENT", "diagnostics": "too curt"});
        (0..times).fold(self, |world, _| world.reports("judge", report.clone()))
    }

    pub(crate) fn answers(self, header: &'static str, choice: &'static str) -> World {
        self.hears(header, choice, None, None)
    }

    pub(crate) fn says(self, header: &'static str, choice: &'static str, text: &str) -> World {
        self.hears(header, choice, Some(text.to_owned()), None)
    }

    /// While this question is open, something happens; then it is answered.
    pub(crate) fn meanwhile(
        self,
        header: &'static str,
        choice: &'static str,
        happens: impl FnOnce(&mut Outside) + 'static,
    ) -> World {
        self.hears(header, choice, None, Some(Box::new(happens)))
    }

    fn hears(
        mut self,
        header: &'static str,
        choice: &'static str,
        text: Option<String>,
        happens: Option<Happening>,
    ) -> World {
        self.people.push(Word { header, choice, text, happens });
        self
    }

    /// What the next run of a command does. Without a word it ends with 0.
    pub(crate) fn command(mut self, name: &'static str, outcome: Done<Ran>) -> World {
        self.commands.push((name, outcome));
        self
    }

    pub(crate) fn delivery_fails(mut self, class: Class, message: &str) -> World {
        self.failed_deliveries.push_back(Failure::new(class, message));
        self
    }

    /// The run is cancelled at this role's work, this command, or the question with this header.
    pub(crate) fn cancelled_at(mut self, point: &'static str) -> World {
        self.cancel_at = Some(point);
        self
    }

    /// Questions that the script does not foresee are answered with this.
    pub(crate) fn lenient(mut self, choice: &'static str) -> World {
        self.otherwise = Some(choice);
        self
    }

    pub(crate) fn file(mut self, path: &str, text: &str) -> World {
        self.outside.write(path, text);
        self
    }

    pub(crate) fn automation(mut self, text: &str) -> World {
        self.start.automation = Some("docs/agent_docs/automation.yaml".to_owned());
        self.file("docs/agent_docs/automation.yaml", text)
    }

    /// A further check of the project, with a command of the same name.
    pub(crate) fn gate(mut self, name: &str) -> World {
        let gate = Gate { command: vec![name.to_owned()], ..Gate::default() };
        self.start.gates.insert(name.to_owned(), gate);
        self
    }

    pub(crate) fn run(mut self) -> Story {
        let input = serde_json::to_value(&self.start).unwrap();
        let played = stage::play("cycle", &input, &mut self);
        let unused: Vec<&str> = self.people.iter().map(|word| word.header).collect();
        assert_eq!(unused, Vec::<&str>::new(), "questions that nobody asked");
        Story::new(played, self.seen, self.outside.files)
    }

    fn attempt(&mut self, role: &str, prompt: &str) -> Done<Report> {
        self.outside.minutes_pass(self.agent_minutes);
        self.acts += u32::from(role == "actor");
        let scripted = self.turns.iter().position(|turn| turn.role == role);
        let turn = scripted.and_then(|index| self.turns.remove(index));
        let (reply, happens) = match turn {
            Some(turn) => (turn.reply, turn.happens),
            None => usual(role, prompt, self.acts),
        };
        if let Some(happens) = happens {
            happens(&mut self.outside);
        }
        let mut report = reply?;
        let fields = report.as_object_mut().unwrap();
        fields.entry("status").or_insert(json!("done"));
        fields.entry("summary").or_insert(json!("as asked"));
        Ok(serde_json::from_value(report).unwrap())
    }

    /// Nothing is answered that the question does not offer. Without a word only an approval is given.
    fn ask(&mut self, question: &Question) -> Option<Answer> {
        if self.cancel_at == Some(question.header.as_str()) {
            return None;
        }
        let word = self.people.iter().position(|word| word.header == question.header);
        let word = word.map(|index| self.people.remove(index));
        let otherwise = self.otherwise.filter(|_| question.header != "Approval");
        let unforeseen = otherwise.map(|choice| Word { header: "", choice, text: None, happens: None });
        let word = word.or(unforeseen).unwrap_or_else(|| {
            assert_eq!(question.header, "Approval", "nobody answers {question:#?}");
            Word { header: "Approval", choice: "commit", text: None, happens: None }
        });
        if let Some(happens) = word.happens {
            happens(&mut self.outside);
        }
        let choice = question.choose(word.choice, word.text.as_deref()).unwrap().id.clone();
        Some(Answer { choice, text: word.text, by: "ada".to_owned(), digest: question.digest() })
    }

    fn read(&mut self, path: &str) -> Done<Text> {
        self.reads += 1;
        if self.bad_reads.contains(&self.reads) {
            return Err(Failure::new(Class::Storage, "the read timed out"));
        }
        match self.outside.files.get(path) {
            Some(text) => Ok(Text { text: text.clone(), hash: Hash::of(text.as_bytes()) }),
            None => Err(Failure::new(Class::MissingArtifact, "there is no such file")),
        }
    }

    fn write(&mut self, file: &WriteFile) -> Done<Hash> {
        if self.bad_writes.iter().any(|path| file.path.starts_with(path)) {
            return Err(Failure::new(Class::Storage, "the disk is full"));
        }
        self.outside.write(&file.path, &file.text);
        Ok(Hash::of(file.text.as_bytes()))
    }

    fn exec(&mut self, command: &Command) -> Done<Ran> {
        let ours = command.check.as_ref().and_then(|check| check.ours.as_ref());
        if ours.is_some_and(Vec::is_empty) {
            self.seen.floors.push(command.argv.clone());
            return self.floor.clone();
        }
        self.seen.commands.push(command.argv.clone());
        let scripted = self.commands.iter().position(|(name, _)| *name == command.argv[0]);
        match scripted {
            Some(index) => self.commands.remove(index).1,
            None => ran(0, "test result: ok. 1 passed; 0 failed; 0 ignored\n"),
        }
    }

    /// The tree that the files make: trees are numbered by their content.
    fn tree(&mut self) -> String {
        let known = self.trees.iter().position(|tree| *tree == self.outside.files);
        let index = known.unwrap_or_else(|| {
            self.trees.push(self.outside.files.clone());
            self.trees.len() - 1
        });
        format!("tree{index}")
    }

    fn changes(&self, since: &str, apart: &[String]) -> Done<Difference> {
        let index = since.strip_prefix("tree").and_then(|number| number.parse::<usize>().ok());
        let Some(before) = index.and_then(|index| self.trees.get(index)) else {
            return Err(Failure::new(Class::MissingArtifact, format!("there is no tree `{since}`")));
        };
        let is_apart =
            |path: &str| apart.iter().any(|a| if a.ends_with('/') { path.starts_with(a) } else { path == a });
        let after = &self.outside.files;
        let paths: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        let mut difference = Difference { leaks: self.leaks.clone(), ..Difference::default() };
        for path in paths.into_iter().filter(|path| !is_apart(path)) {
            let (old, new) = (before.get(path), after.get(path));
            if old == new {
                continue;
            }
            let (old, new) = (lines(old), lines(new));
            let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
            let (gone, come) = (old.len() - same, new.len() - same);
            let hunk = format!("@@ -{},{gone} +{},{come} @@", same + 1, same + 1);
            difference.diff.push_str(&format!("--- a/{path}\n+++ b/{path}\n{hunk}\n"));
            difference.diff.extend(old[same..].iter().map(|line| format!("-{line}\n")));
            difference.diff.extend(new[same..].iter().map(|line| format!("+{line}\n")));
            difference.files.push(FileChange {
                path: path.clone(),
                added: come as u64,
                deleted: gone as u64,
                ..FileChange::default()
            });
        }
        Ok(difference)
    }

    fn deliver(&mut self, delivery: &Delivery) -> Done<Delivered> {
        self.seen.deliveries.push(delivery.clone());
        if let Some(failure) = self.failed_deliveries.pop_front() {
            return Err(failure);
        }
        assert_eq!(self.changes(&delivery.tree, &delivery.apart)?.files, vec![], "not what was approved");
        Ok(Delivered { commit: "c0ffee".to_owned(), pushed: self.remote && delivery.push })
    }

    fn git(&mut self, call: &GitCall) -> Vec<u8> {
        match call {
            GitCall::Stand { .. } => {
                let (tree, branch) = (self.tree(), Some("main".to_owned()));
                body(&Done::Ok(Stand { tree, branch, ..Stand::default() }))
            }
            GitCall::Changes { since, apart, .. } => body(&self.changes(since, apart)),
            GitCall::Show { at, paths, .. } => {
                let index = at.strip_prefix("tree").and_then(|number| number.parse::<usize>().ok());
                let files = index.and_then(|index| self.trees.get(index)).cloned().unwrap_or_default();
                let text = |path: &String| {
                    let text = files.get(path)?.clone();
                    Some(Text { hash: Hash::of(text.as_bytes()), text })
                };
                body(&Done::Ok(paths.iter().map(text).collect::<Vec<_>>()))
            }
            GitCall::Deliver(delivery) => body(&self.deliver(delivery)),
            GitCall::Hooks(_) => body(&Done::Ok(Hooked::default())),
            other => panic!("a cycle does not ask for {other:?}"),
        }
    }
}

impl stage::World for World {
    fn perform(&mut self, request: &Request) -> Option<Vec<u8>> {
        Some(match request {
            Request::Agent(assignment) => {
                let role = assignment.brief.role.clone();
                self.seen.briefs.push((role.clone(), assignment.brief.prompt.clone()));
                if self.cancel_at == Some(role.as_str()) {
                    return None;
                }
                body(&self.attempt(&role, &assignment.brief.prompt))
            }
            Request::Ask(question) => body(&self.ask(question)?),
            Request::Exec(command) if self.cancel_at == Some(command.argv[0].as_str()) => return None,
            Request::Exec(command) => body(&self.exec(command)),
            Request::Read(file) => body(&self.read(&file.path)),
            Request::Write(file) => body(&self.write(file)),
            Request::Survey(wanted) => {
                let names = |folder: &String| {
                    let inside = |path: &String| path.strip_prefix(&format!("{folder}/")).map(str::to_owned);
                    self.outside.files.keys().filter_map(inside).filter(|name| !name.contains('/')).collect()
                };
                let count =
                    |path: &String| self.outside.files.get(path).map(|text| text.lines().count() as u64);
                body(&Surveyed {
                    folders: wanted.folders.iter().map(names).collect(),
                    files: wanted.files.iter().map(count).collect(),
                })
            }
            Request::Git(call) => self.git(call),
            Request::Now => body(&self.outside.now),
            Request::Sleep { ms } => {
                self.seen.slept_ms.push(*ms);
                self.outside.now = self.outside.now.plus_ms(*ms);
                body(&self.outside.now)
            }
            Request::Snapshot { .. } if self.no_snapshots => {
                body(&Done::<String>::Err(Failure::new(Class::Storage, "the disk is full")))
            }
            Request::Snapshot { .. } => {
                self.snapshots.push(self.outside.files.clone());
                body(&Done::Ok(format!("s{}", self.snapshots.len())))
            }
            Request::Restore { id, .. } => {
                let index: usize = id.strip_prefix('s').unwrap().parse().unwrap();
                let restored = self.snapshots[index - 1].clone();
                self.snapshots.push(std::mem::replace(&mut self.outside.files, restored));
                body(&Done::Ok(format!("s{}", self.snapshots.len())))
            }
            other => panic!("a cycle makes no request `{}`", other.name()),
        })
    }
}
