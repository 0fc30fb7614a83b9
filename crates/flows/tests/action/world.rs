//! A world in memory for actions: files with copies and snapshots, a clock, and roles, people and commands that follow a
//! script. What a script does not say does not happen: an unexpected question fails the test.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
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
use seriatim_flows::action::Gate;
use seriatim_flows::action::Start;
use seriatim_flows::request::Assignment;
use seriatim_flows::request::Comparison;
use seriatim_flows::request::Done;
use seriatim_flows::request::Ran;
use seriatim_flows::request::SceneCall;
use seriatim_flows::request::SceneChange;
use seriatim_flows::request::SceneKind;
use seriatim_flows::request::SealOf;
use seriatim_flows::request::Surveyed;
use seriatim_flows::request::Taken;
use seriatim_flows::request::Text;
use seriatim_flows::request::TreePlace;
use seriatim_flows::request::WriteFile;

use crate::stage::Reply;
use crate::stage::Stage;
use crate::story::Story;

pub(crate) type Files = BTreeMap<String, String>;
type Act = Box<dyn Fn(&mut Files) -> Done<Report>>;
type Happening = Box<dyn Fn(&mut World)>;

/// Where copies of the workspace lie.
const COPIES: &str = ".seriatim/copies";

/// What a person answers.
struct Word {
    /// Part of the header.
    about: String,
    choice: String,
    text: Option<String>,
    meanwhile: Option<Happening>,
}

/// The script of one run, and what lies outside of it.
#[derive(Default)]
pub(crate) struct World {
    pub(crate) files: Files,
    pub(crate) start: Start,
    pub(crate) now: Utc,
    copies: BTreeMap<String, Files>,
    marks: BTreeMap<String, Files>,
    snapshots: BTreeMap<String, Files>,
    acts: BTreeMap<(String, u32), Act>,
    pub(crate) called: BTreeMap<String, u32>,
    people: Vec<Word>,
    /// People who have no word for a question take these options, where they are offered.
    usual: Vec<&'static str>,
    commands: BTreeMap<String, VecDeque<Done<Ran>>>,
    /// A person cancels the run when this is asked, or when this role is at work.
    cancel_at: Option<String>,
    /// Kinds of requests about the scene that fail.
    broken: BTreeSet<&'static str>,
    pub(crate) slept_ms: Vec<u64>,
    pub(crate) prompts: Vec<(String, Vec<String>)>,
}

const MAP: &str = "agents:
  architect: {skill: agents/architect/SKILL.md, writes: [planning-mds/design.md]}
  backend-developer: {skill: agents/backend-developer/SKILL.md, writes: [engine/api.md]}
  frontend-developer: {skill: agents/frontend-developer/SKILL.md, writes: [experience/app.md]}
  quality-engineer: {skill: agents/quality-engineer/SKILL.md, writes: [tests/plan.md], optional: true}
  security: {skill: agents/security/SKILL.md, writes: [planning-mds/security/], review: true}
actions:
  build:
    doc: agents/actions/build.md
    description: Build it
";

/// A report that the work is done.
pub(crate) fn done(outputs: Value) -> Done<Report> {
    Ok(serde_json::from_value(json!({"status": "done", "summary": "as asked", "outputs": outputs})).unwrap())
}

/// A report with one finding.
pub(crate) fn found(severity: &str) -> Done<Report> {
    done(json!({"findings": [{"severity": severity, "title": "weak hash", "file": "engine/api.md"}]}))
}

/// A command that ended.
pub(crate) fn exit(code: i32, stdout: &str) -> Done<Ran> {
    let output = Some(Hash::of(stdout.as_bytes()));
    Ok(Ran { code: Some(code), stdout: stdout.to_owned(), output, duration_ms: 10, ..Ran::default() })
}

/// What a role does where no script says otherwise.
pub(crate) fn work(role: &str, files: &mut Files, call: u32) -> Done<Report> {
    let path = match role {
        "architect" => "planning-mds/design.md",
        "backend-developer" => "engine/api.md",
        "frontend-developer" => "experience/app.md",
        "quality-engineer" => "tests/plan.md",
        "security" => "planning-mds/security/review.md",
        other => panic!("no work for {other}"),
    };
    files.insert(path.to_owned(), format!("# Work\n\nCall {call}.\n"));
    done(json!({"findings": []}))
}

/// A reviewer that looks again and finds everything fixed.
fn closings(parameters: &Value) -> Value {
    let open = parameters["open_findings"].as_array().cloned().unwrap_or_default();
    open.iter().map(|finding| json!({"id": finding["id"], "reason": "fixed"})).collect()
}

impl World {
    /// An action `build` with these steps.
    pub(crate) fn new(steps: &str) -> World {
        let mut world = World {
            now: Utc::parse("2026-02-07T10:30:00Z").unwrap(),
            start: Start { intent: "build".to_owned(), operator: "ada".to_owned(), ..Start::default() },
            ..World::default()
        };
        let steps: String = steps.lines().map(|line| format!("      {line}\n")).collect();
        world = world.file("agents/agent-map.yaml", &format!("{MAP}    steps:\n{steps}"));
        world = world.file("agents/actions/build.md", "# Action: build\n\n## User Intent\n\nBuild it.\n");
        for role in ["architect", "backend-developer", "frontend-developer", "quality-engineer", "security"] {
            let guide = format!("---\nname: {role}\ndescription: Works\n---\n# {role}\n\nThe guide.\n");
            world = world.file(&format!("agents/{role}/SKILL.md"), &guide);
        }
        world
    }

    pub(crate) fn file(mut self, path: &str, text: &str) -> World {
        self.files.insert(path.to_owned(), text.to_owned());
        self
    }

    /// Further lines of the action's entry in the map, such as prerequisites.
    pub(crate) fn map_line(mut self, line: &str) -> World {
        let map = self.files.get_mut("agents/agent-map.yaml").unwrap();
        *map = map.replace("    steps:\n", &format!("    {line}\n    steps:\n"));
        self
    }

    pub(crate) fn starting(mut self, change: impl FnOnce(&mut Start)) -> World {
        change(&mut self.start);
        self
    }

    /// A configured check.
    pub(crate) fn gate(self, name: &str, argv: &str, value: Option<&str>, threshold: Option<&str>) -> World {
        self.starting(|start| {
            let argv = argv.split(' ').map(str::to_owned).collect();
            let own = |text: Option<&str>| text.map(str::to_owned);
            let threshold = threshold.map(|text| text.parse().unwrap());
            let gate = Gate { command: argv, value: own(value), threshold, ..Gate::default() };
            start.gates.insert(name.to_owned(), gate);
        })
    }

    /// What a role does at one of its calls, counted from 1.
    pub(crate) fn act(
        mut self,
        role: &str,
        call: u32,
        act: impl Fn(&mut Files) -> Done<Report> + 'static,
    ) -> World {
        self.acts.insert((role.to_owned(), call), Box::new(act));
        self
    }

    pub(crate) fn fails(self, role: &str, call: u32, failure: Failure) -> World {
        self.act(role, call, move |_| Err(failure.clone()))
    }

    /// A reviewer finds something of this severity.
    pub(crate) fn finds(self, call: u32, severity: &'static str) -> World {
        self.act("security", call, move |files| {
            work("security", files, call)?;
            found(severity)
        })
    }

    /// The results of a command, one after the other; then it succeeds.
    pub(crate) fn command(mut self, words: &str, results: Vec<Done<Ran>>) -> World {
        self.commands.insert(words.to_owned(), results.into());
        self
    }

    /// The next question with this header is answered like this.
    pub(crate) fn says(mut self, about: &str, choice: &str, text: &str) -> World {
        let text = Some(text.to_owned()).filter(|text| !text.is_empty());
        self.people.push(Word { about: about.into(), choice: choice.into(), text, meanwhile: None });
        self
    }

    /// The same, and something happens while the question is open.
    pub(crate) fn says_while(self, about: &str, choice: &str, what: impl Fn(&mut World) + 'static) -> World {
        let mut world = self.says(about, choice, "");
        world.people.last_mut().unwrap().meanwhile = Some(Box::new(what));
        world
    }

    /// The options that people take where they have no word for a question, the first that is offered.
    pub(crate) fn usually(mut self, options: &[&'static str]) -> World {
        self.usual = options.to_vec();
        self
    }

    pub(crate) fn cancelled_at(mut self, about: &str) -> World {
        self.cancel_at = Some(about.to_owned());
        self
    }

    /// Requests of this kind about files fail.
    pub(crate) fn breaks(mut self, kind: &'static str) -> World {
        self.broken.insert(kind);
        self
    }

    /// A person restores the snapshot of the run from outside.
    pub(crate) fn restored_outside(&mut self) {
        let snapshot = self.snapshots.values().next().unwrap().clone();
        self.files = snapshot;
        self.now = self.now.plus_ms(1000);
        let line = json!({"snapshot": "build-1", "at": self.now.to_string(), "by": "eve"});
        self.files.insert(".snapshots/restores.jsonl".to_owned(), format!("{line}\n"));
    }

    /// Carries the action out, and checks what holds for every run.
    pub(crate) fn play(self) -> Story {
        let start = self.start.clone();
        let mut stage = Stage::new("action", &start, self);
        for kind in KINDS {
            stage = stage.on(kind, |world: &mut World, request: &Request| world.perform(request));
        }
        Story::of(stage.play())
    }

    fn perform(&mut self, request: &Request) -> Reply {
        match request {
            Request::Agent(assignment) => self.attempt(assignment),
            Request::Ask(question) => self.ask(question),
            Request::Exec(command) => {
                let words = command.argv.join(" ");
                let next = self.commands.get_mut(&words).and_then(VecDeque::pop_front);
                Reply::of(&next.unwrap_or_else(|| exit(0, "fine\n")))
            }
            Request::Read(file) => Reply::of(&self.read(&file.path)),
            Request::Write(file) => Reply::of(&self.write(file)),
            Request::Survey(survey) => {
                let folders = survey.folders.iter().map(|folder| self.names(folder)).collect();
                Reply::of(&Surveyed { folders, files: vec![] })
            }
            Request::Now => {
                self.now = self.now.plus_ms(1000);
                Reply::of(&self.now)
            }
            Request::Sleep { ms } => {
                self.slept_ms.push(*ms);
                self.now = self.now.plus_ms(*ms);
                Reply::of(&self.now)
            }
            Request::Snapshot { .. } if self.broken.contains("snapshot") => Reply::of(&refused::<String>()),
            Request::Snapshot { label, .. } => {
                let id = format!("{label}-{}", self.snapshots.len() + 1);
                self.snapshots.insert(id.clone(), self.files.clone());
                Reply::of(&Done::Ok(id))
            }
            Request::Restore { id, .. } => Reply::of(&self.restore(id)),
            Request::Compare { id } => Reply::of(&self.compare(id)),
            Request::Scene(call) => self.scene(call),
            other => panic!("an action makes no request `{}`", other.name()),
        }
    }

    fn attempt(&mut self, assignment: &Assignment) -> Reply {
        let role = assignment.brief.role.clone();
        if self.cancel_at.as_ref() == Some(&role) {
            return Reply::Cancel;
        }
        let agent = assignment.agents.first().cloned().unwrap_or_default();
        self.prompts.push((agent, assignment.brief.feedback.clone()));
        let count = self.called.entry(role.clone()).or_default();
        *count += 1;
        let call = *count;
        let copy = assignment.cwd.strip_prefix(&format!("{COPIES}/"));
        let files = match copy {
            Some(copy) => self.copies.get_mut(copy).unwrap(),
            None => &mut self.files,
        };
        match self.acts.get(&(role.clone(), call)) {
            Some(act) => Reply::of(&act(files)),
            None if role == "security" => {
                let mut done = work(&role, files, call).unwrap();
                done.outputs.insert("closed".to_owned(), closings(&assignment.brief.parameters));
                Reply::of(&Done::Ok(done))
            }
            None => Reply::of(&work(&role, files, call)),
        }
    }

    /// No answer is given that the question does not offer.
    fn ask(&mut self, question: &Question) -> Reply {
        let header = &question.header;
        if self.cancel_at.as_ref().is_some_and(|at| header.contains(at)) {
            return Reply::Cancel;
        }
        let word = self.people.iter().position(|word| header.contains(&word.about));
        let (choice, text) = match word.map(|index| self.people.remove(index)) {
            Some(word) => {
                if let Some(happens) = &word.meanwhile {
                    happens(self);
                }
                (word.choice, word.text)
            }
            None => {
                let offered = |id: &&&str| question.options.iter().any(|option| option.id == **id);
                let taken = self.usual.iter().find(offered);
                let taken = taken.unwrap_or_else(|| panic!("nobody answers: {header}\n{question:#?}"));
                let needs = question.options.iter().any(|option| option.id == **taken && option.needs_text);
                ((*taken).to_owned(), needs.then(|| "as you like".to_owned()))
            }
        };
        let chosen = question.choose(&choice, text.as_deref());
        let choice = chosen.unwrap_or_else(|e| panic!("{e}: {header}")).id.clone();
        Reply::of(&Answer { choice, text, by: "ann".to_owned(), digest: question.digest() })
    }

    fn at<'w>(&'w self, path: &'w str) -> (&'w Files, &'w str) {
        let below = path.strip_prefix(&format!("{COPIES}/")).and_then(|rest| rest.split_once('/'));
        match below {
            Some((copy, rest)) => (&self.copies[copy], rest),
            None => (&self.files, path),
        }
    }

    fn read(&self, path: &str) -> Done<Text> {
        let (files, path) = self.at(path);
        match files.get(path) {
            Some(text) => Ok(Text { text: text.clone(), hash: Hash::of(text.as_bytes()) }),
            None => Err(Failure::new(Class::MissingArtifact, format!("{path} does not exist"))),
        }
    }

    fn write(&mut self, file: &WriteFile) -> Done<Hash> {
        if self.broken.contains("write") {
            return refused();
        }
        let text = match self.files.get(&file.path) {
            Some(before) if file.append => format!("{before}{}", file.text),
            _ => file.text.clone(),
        };
        let hash = Hash::of(text.as_bytes());
        self.files.insert(file.path.clone(), text);
        Ok(hash)
    }

    fn names(&self, folder: &str) -> Vec<String> {
        let below = format!("{folder}/");
        let names = self.files.keys().filter_map(|path| path.strip_prefix(&below));
        names.filter(|name| !name.contains('/')).map(str::to_owned).collect()
    }

    fn restore(&mut self, id: &str) -> Done<String> {
        if self.broken.contains("restore") {
            return refused();
        }
        let undo = format!("undo-{}", self.snapshots.len());
        self.snapshots.insert(undo.clone(), self.files.clone());
        self.files = self.snapshots[id].clone();
        Ok(undo)
    }

    fn compare(&self, id: &str) -> Done<Comparison> {
        if self.broken.contains("compare") || !self.snapshots.contains_key(id) {
            return refused();
        }
        let paths: Vec<String> =
            changes(&self.snapshots[id], &self.files).map(|change| change.path).collect();
        let paths: Vec<String> = paths.into_iter().filter(|path| !path.contains("evidence")).collect();
        let words = format!("This will change {} files.", paths.len());
        let digest = Hash::of(paths.join("\n").as_bytes());
        Ok(Comparison { words, paths, conflicts: vec![], digest })
    }

    fn scene(&mut self, call: &SceneCall) -> Reply {
        if let SceneCall::Files { copy } | SceneCall::Changes { copy, .. } | SceneCall::Take { copy, .. } =
            call
            && !copy.is_empty()
            && !self.copies.contains_key(copy)
        {
            return Reply::of(&refused::<()>());
        }
        let place = |copy: &String| if copy.is_empty() { &self.files } else { &self.copies[copy] };
        match call {
            SceneCall::Files { copy } => Reply::of(&Done::Ok(place(copy).keys().collect::<Vec<_>>())),
            SceneCall::Mark { .. } if self.broken.contains("mark") => Reply::of(&refused::<()>()),
            SceneCall::Mark { name } => {
                self.marks.insert(name.clone(), self.files.clone());
                Reply::of(&Done::Ok(()))
            }
            SceneCall::Copy { .. } if self.broken.contains("copy") => Reply::of(&refused::<TreePlace>()),
            SceneCall::Copy { copy } => {
                self.copies.insert(copy.clone(), self.files.clone());
                self.marks.insert(copy.clone(), self.files.clone());
                let place = format!("{COPIES}/{copy}");
                Reply::of(&Done::Ok(TreePlace { name: place.clone(), path: place, resumed: false }))
            }
            SceneCall::Changes { name, copy } => {
                let found: Vec<SceneChange> = changes(&self.marks[name], place(copy)).collect();
                Reply::of(&Done::Ok(found))
            }
            SceneCall::Take { copy, paths } => Reply::of(&self.take(copy, paths)),
            SceneCall::PutBack { .. } if self.broken.contains("put_back") => Reply::of(&refused::<()>()),
            SceneCall::PutBack { name, copy, paths } => {
                let before = self.marks[name].clone();
                let files = match copy.is_empty() {
                    true => &mut self.files,
                    false => self.copies.get_mut(copy).unwrap(),
                };
                for path in paths {
                    match before.get(path) {
                        Some(text) => files.insert(path.clone(), text.clone()),
                        None => files.remove(path),
                    };
                }
                Reply::of(&Done::Ok(()))
            }
            SceneCall::Keep { copy, paths } => {
                let from = place(copy).clone();
                for (path, to) in paths {
                    self.files.insert(to.clone(), from[path].clone());
                }
                Reply::of(&Done::Ok(()))
            }
            SceneCall::Drop { copy } => {
                self.copies.remove(copy);
                Reply::of(&Done::Ok(()))
            }
            SceneCall::Forget => Reply::of(&Done::Ok(())),
            SceneCall::Seals { .. } if self.broken.contains("seals") => Reply::of(&refused::<Vec<SealOf>>()),
            SceneCall::Seals { paths } => {
                let seal = |text: &String| SealOf { hash: Hash::of(text.as_bytes()), mode: 0o644 };
                let seals: Vec<Option<SealOf>> =
                    paths.iter().map(|path| self.files.get(path).map(seal)).collect();
                Reply::of(&Done::Ok(seals))
            }
        }
    }

    fn take(&mut self, copy: &str, paths: &[String]) -> Done<Taken> {
        let (mine, before) = (&self.copies[copy], &self.marks[copy]);
        let changed = |path: &&String| self.files.get(*path) != before.get(*path);
        let conflicts: Vec<String> = paths.iter().filter(changed).cloned().collect();
        if conflicts.is_empty() {
            for path in paths {
                match mine.get(path) {
                    Some(text) => self.files.insert(path.clone(), text.clone()),
                    None => self.files.remove(path),
                };
            }
        }
        Ok(Taken { conflicts })
    }
}

const KINDS: [&str; 12] = [
    "agent", "ask", "exec", "read", "write", "survey", "now", "sleep", "snapshot", "restore", "compare",
    "scene",
];

fn refused<T>() -> Done<T> {
    Err(Failure::new(Class::Storage, "the disk refuses it"))
}

fn changes<'f>(before: &'f Files, now: &'f Files) -> impl Iterator<Item = SceneChange> + 'f {
    let of =
        |path: &String, kind: SceneKind| SceneChange { path: path.clone(), kind, ..SceneChange::default() };
    let written = now.iter().filter_map(move |(path, text)| match before.get(path) {
        None => Some(of(path, SceneKind::Added)),
        Some(old) if old != text => Some(of(path, SceneKind::Modified)),
        Some(_) => None,
    });
    let gone =
        before.keys().filter(|path| !now.contains_key(*path)).map(move |path| of(path, SceneKind::Deleted));
    written.chain(gone)
}
