//! A project in memory: a repository, state files, a clock, gates that read the sources, and agents and people that
//! follow a script.
//!
//! Each step writes one module whose `RESULT` has to be 5, and one test that compares it.

use std::collections::VecDeque;

use serde_json::Value;
use serde_json::json;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::gate::Gate;
use seriatim_core::hash::Hash;
use seriatim_core::question::Answer;
use seriatim_core::question::Question;
use seriatim_core::report;
use seriatim_core::report::Demand;
use seriatim_core::report::Report;
use seriatim_core::roadmap::Outcome;
use seriatim_core::roadmap::Schema;
use seriatim_core::roadmap::StepState;
use seriatim_core::roadmap::change;
use seriatim_core::roadmap::change::Act;
use seriatim_core::roadmap::change::Change;
use seriatim_core::roadmap::document;
use seriatim_core::roadmap::document::Record;
use seriatim_core::roadmap::store::StateFile;
use seriatim_core::time::Utc;
use seriatim_flows::Past;
use seriatim_flows::Request;
use seriatim_flows::Run;
use seriatim_flows::request::Assignment;
use seriatim_flows::request::Command;
use seriatim_flows::request::Done;
use seriatim_flows::request::GitCall;
use seriatim_flows::request::Ran;
use seriatim_flows::request::Text;
use seriatim_flows::request::WriteFile;
use seriatim_flows::roadmap::Start;

use crate::repository::Files;
use crate::repository::Repository;
use crate::runner;
use crate::stage::Reply;
use crate::stage::Stage;
use crate::state;
use crate::state::Book;
use crate::story::Story;

pub(crate) const STATUS: &str = "docs/feature/calc/execution-status.yaml";
pub(crate) const ROADMAP: &str = "docs/feature/calc/roadmap.yaml";
/// The shortest list of phases.
pub(crate) const SHORT: &str = "tdd_phases: [RED, GREEN, COMMIT]\n";

type Deed = Box<dyn FnOnce(&mut Repository, &str)>;

/// What an agent does the next time it is called for a phase.
struct Line {
    step: String,
    phase: String,
    deed: Deed,
    reply: Result<Value, Failure>,
}

/// What a person answers to the next question with these words in it, and does before that.
struct Word {
    about: String,
    choice: String,
    text: Option<String>,
    deed: Deed,
}

/// The script of one run, and what was seen of it.
pub(crate) struct World {
    pub(crate) start: Start,
    pub(crate) repository: Repository,
    pub(crate) book: Book,
    now: Utc,
    agents: VecDeque<Line>,
    people: Vec<Word>,
    gates: VecDeque<(String, Done<Ran>)>,
    /// A person cancels the run when this agent is called (`01-01 GREEN`), this is asked, or this is committed.
    cancel_at: Option<String>,
    pub(crate) called: Vec<Assignment>,
    pub(crate) answered: Vec<String>,
}

/// A step of the roadmap that writes the module `word`.
pub(crate) fn step(id: &str, word: &str, needs: &[&str]) -> String {
    let needs: Vec<String> = needs.iter().map(|need| format!("\"{need}\"")).collect();
    format!(
        "      - step_id: \"{id}\"\n        name: \"Function {word}\"\n        description: \"Write {word}\"\n        \
         acceptance_criteria: [\"{word} is right\"]\n        suggested_agent: software-crafter\n        \
         dependencies: [{}]\n        estimated_hours: 1\n        test_file: tests/test_{word}.py\n        \
         files_to_create: [\"src/{word}.py\"]\n",
        needs.join(", ")
    )
}

/// The module that a step writes, by its id.
pub(crate) fn word_of(step: &str) -> &'static str {
    match step {
        "01-01" => "add",
        "01-02" => "sub",
        "01-03" => "mul",
        other => panic!("no step {other}"),
    }
}

pub(crate) fn test_of(word: &str) -> String {
    format!("from src.{word} import RESULT\n\n\ndef test_{word}():\n    assert RESULT == 5\n")
}

fn nothing(_: &mut Repository, _: &str) {}

impl World {
    /// A project with these steps, committed by the user.
    pub(crate) fn of(head: &str, steps: &[String]) -> World {
        let roadmap = format!(
            "project_id: calc\nschema_version: \"2.0\"\n{head}phases:\n  - phase_id: \"01\"\n    name: all\n    \
             steps:\n{}",
            steps.concat()
        );
        let files =
            [("seriatim.toml", "[gates.tests]\n"), (ROADMAP, roadmap.as_str()), ("src/__init__.py", "")];
        let files: Files = files.map(|(path, text)| (path.to_owned(), text.to_owned())).into();
        let mut repository = Repository::of(files);
        repository.user_commits();
        let start = Start {
            project: "calc".to_owned(),
            roadmap: ROADMAP.to_owned(),
            state: STATUS.to_owned(),
            parallel: 1,
            gates: [("tests".to_owned(), gate("tests"))].into(),
            ..Start::default()
        };
        World {
            start,
            repository,
            book: Book::default(),
            now: Utc::parse("2026-01-18T15:00:00Z").unwrap(),
            agents: VecDeque::new(),
            people: vec![],
            gates: VecDeque::new(),
            cancel_at: None,
            called: vec![],
            answered: vec![],
        }
    }

    /// One step with the shortest list of phases, and that step alone.
    pub(crate) fn one() -> World {
        let mut world = World::of(SHORT, &[step("01-01", "add", &[])]);
        world.start.only = Some("01-01".to_owned());
        world
    }

    /// Three steps; the last one needs the others.
    pub(crate) fn three() -> World {
        let steps =
            [step("01-01", "add", &[]), step("01-02", "sub", &[]), step("01-03", "mul", &["01-01", "01-02"])];
        World::of(SHORT, &steps)
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut World)) -> World {
        change(&mut self);
        self
    }

    /// A gate beside the tests.
    pub(crate) fn gate(self, name: &str) -> World {
        self.with(|world| {
            world.start.gates.insert(name.to_owned(), gate(name));
        })
    }

    /// The next time the agent of this step is called for this phase, it does its work, then this as well, and says so.
    pub(crate) fn also(self, place: &str, deed: impl FnOnce(&mut Files) + 'static) -> World {
        let (step, phase) = split(place);
        self.line(place, json!({"status": "done", "summary": "did it"}), move |repository, tree| {
            usual(repository.files(tree), &step, &phase);
            deed(repository.files(tree));
        })
    }

    /// The next time it does this instead of its work, and says that it is done.
    pub(crate) fn does(self, place: &str, deed: impl FnOnce(&mut Files) + 'static) -> World {
        self.does_and_reports(place, deed, json!({"status": "done", "summary": "did it"}))
    }

    /// The next time it does its work and reports this.
    pub(crate) fn reports(self, place: &str, report: Value) -> World {
        let (step, phase) = split(place);
        self.line(place, report, move |repository, tree| usual(repository.files(tree), &step, &phase))
    }

    /// The next time it does this and reports that.
    pub(crate) fn does_and_reports(
        self,
        place: &str,
        deed: impl FnOnce(&mut Files) + 'static,
        report: Value,
    ) -> World {
        self.line(place, report, move |repository, tree| deed(repository.files(tree)))
    }

    fn line(
        mut self,
        place: &str,
        report: Value,
        deed: impl FnOnce(&mut Repository, &str) + 'static,
    ) -> World {
        let (step, phase) = split(place);
        self.agents.push_back(Line { step, phase, deed: Box::new(deed), reply: Ok(report) });
        self
    }

    /// The next time the agent fails.
    pub(crate) fn fails(mut self, place: &str, failure: Failure) -> World {
        let (step, phase) = split(place);
        self.agents.push_back(Line { step, phase, deed: Box::new(nothing), reply: Err(failure) });
        self
    }

    /// The next time this gate is run, it shows this instead of what the sources say.
    pub(crate) fn shows(mut self, gate: &str, code: i32, output: &str) -> World {
        self.gates.push_back((gate.to_owned(), Ok(ran(code, output))));
        self
    }

    pub(crate) fn answers(self, about: &str, choice: &str, text: &str) -> World {
        self.answers_after(about, choice, text, nothing)
    }

    /// The person does something before answering.
    pub(crate) fn answers_after(
        mut self,
        about: &str,
        choice: &str,
        text: &str,
        deed: impl FnOnce(&mut Repository, &str) + 'static,
    ) -> World {
        let text = Some(text.to_owned()).filter(|text| !text.is_empty());
        let (about, choice) = (about.to_owned(), choice.to_owned());
        self.people.push(Word { about, choice, text, deed: Box::new(deed) });
        self
    }

    pub(crate) fn cancelled_at(mut self, place: &str) -> World {
        self.cancel_at = Some(place.to_owned());
        self
    }

    /// The next time git is asked for this, it fails.
    pub(crate) fn git_fails(mut self, call: &'static str, message: &str) -> World {
        let failure = Failure::new(Class::Contract, message);
        self.repository.troubles.entry(call).or_default().push_back(Some(failure));
        self
    }

    /// The next call of this name succeeds; those that are told to fail come after it.
    pub(crate) fn git_succeeds(mut self, call: &'static str) -> World {
        self.repository.troubles.entry(call).or_default().push_back(None);
        self
    }

    /// Changes a step in the state file, as another process does.
    pub(crate) fn edit_state(
        mut self,
        id: &str,
        edit: impl FnOnce(StepState, &Schema, Utc) -> StepState,
    ) -> World {
        let now = self.now;
        edit_state(self.repository.files(""), id, now, edit);
        self
    }

    pub(crate) fn file(mut self, path: &str, text: &str) -> World {
        self.repository.files("").insert(path.to_owned(), text.to_owned());
        self
    }

    /// Runs it until the place where it would be cancelled, as if the engine were killed there.
    pub(crate) fn killed_at(self, place: &str) -> World {
        let mut world = play_until_killed(self.cancelled_at(place).stage());
        world.forget();
        world
    }

    /// Forgets what was seen of a run, so that another one can follow in the same project.
    pub(crate) fn forget(&mut self) {
        self.cancel_at = None;
        self.called.clear();
        self.answered.clear();
        self.book.saves.clear();
    }

    /// Runs it to its end.
    pub(crate) fn run(self) -> Story {
        Story::new(self.stage().play())
    }

    fn stage(mut self) -> Stage<World> {
        let input = serde_json::to_value(&self.start).unwrap();
        self.book.input = input.clone();
        Stage::new("roadmap", &input, self)
            .on("now", |world, _| {
                world.now = world.now.plus_ms(1000);
                Reply::of(&world.now)
            })
            .on("sleep", |world, request| {
                let Request::Sleep { ms } = request else { panic!("no pause") };
                world.now = world.now.plus_ms(*ms);
                Reply::of(&world.now)
            })
            .on("read", |world, request| {
                let Request::Read(file) = request else { panic!("no reading") };
                Reply::of(&world.read(&file.path))
            })
            .on("write", |world, request| {
                let Request::Write(file) = request else { panic!("no writing") };
                Reply::of(&world.write(file))
            })
            .on("git", |world, request| {
                let Request::Git(call) = request else { panic!("no call of git") };
                match call {
                    GitCall::Commit(made) if world.cancel_at.as_deref() == made.message.lines().next() => {
                        Reply::Cancel
                    }
                    call => world.repository.answer(call),
                }
            })
            .on(state::KIND, |world, request| world.book.answer(world.repository.files(""), request))
            .on("exec", |world, request| {
                let Request::Exec(command) = request else { panic!("no command") };
                Reply::of(&world.exec(command))
            })
            .on("agent", |world, request| {
                let Request::Agent(assignment) = request else { panic!("no assignment") };
                world.attempt(assignment)
            })
            .on("ask", |world, request| {
                let Request::Ask(question) = request else { panic!("no question") };
                world.ask(question)
            })
            .on("snapshot", |_, _| Reply::of(&Done::Ok("snapshot-1".to_owned())))
            .on("restore", |_, _| Reply::of(&Done::Ok("snapshot-2".to_owned())))
    }

    fn read(&mut self, path: &str) -> Done<Text> {
        let (tree, rest) = self.repository.place(path);
        match self.repository.files(&tree).get(rest) {
            Some(text) => Ok(Text { text: text.clone(), hash: Hash::of(text.as_bytes()) }),
            None => Err(Failure::new(Class::MissingArtifact, format!("`{path}` does not exist"))),
        }
    }

    fn write(&mut self, file: &WriteFile) -> Done<Hash> {
        assert!(!file.append);
        self.repository.files("").insert(file.path.clone(), file.text.clone());
        Ok(Hash::of(file.text.as_bytes()))
    }

    fn exec(&mut self, command: &Command) -> Done<Ran> {
        let gate = command.argv[0].clone();
        if let Some(at) = self.gates.iter().position(|(name, _)| *name == gate) {
            return self.gates.remove(at).unwrap().1;
        }
        match gate.as_str() {
            "tests" | "acceptance" => {
                let (code, output) = runner::run(self.repository.files(&command.cwd));
                Ok(ran(code, &output))
            }
            "coverage" => Ok(ran(0, "TOTAL 10 1 90%\n")),
            _ => Ok(ran(0, "fine\n")),
        }
    }

    fn attempt(&mut self, assignment: &Assignment) -> Reply {
        let (step, phase) = (assignment.brief.step.clone(), assignment.phase.clone());
        self.called.push(assignment.clone());
        if self.cancel_at.as_deref() == Some(format!("{step} {phase}").as_str()) {
            return Reply::Cancel;
        }
        let at = self.agents.iter().position(|line| line.step == step && line.phase == phase);
        let value = match at.and_then(|at| self.agents.remove(at)) {
            Some(line) => {
                (line.deed)(&mut self.repository, &assignment.cwd);
                match line.reply {
                    Ok(report) => report,
                    Err(failure) => return Reply::of(&Done::<Report>::Err(failure)),
                }
            }
            None => {
                usual(self.repository.files(&assignment.cwd), &step, &phase);
                json!({"status": "done", "summary": format!("{phase} is done")})
            }
        };
        let demand = Demand { criteria: assignment.brief.criteria.clone(), ..Demand::default() };
        let mut report = report::read(value.to_string().as_bytes(), &demand).unwrap();
        if let Some(path) = value.get(seriatim_flows::request::HANDED_IN) {
            report.unknown.insert(seriatim_flows::request::HANDED_IN.to_owned(), path.clone());
        }
        Reply::of(&Done::Ok(report))
    }

    fn ask(&mut self, question: &Question) -> Reply {
        let asked = format!("{}\n{}", question.header, question.question);
        if self.cancel_at.as_ref().is_some_and(|at| asked.contains(at)) {
            return Reply::Cancel;
        }
        let at = self.people.iter().position(|word| asked.contains(&word.about));
        let word = self.people.remove(at.unwrap_or_else(|| panic!("nobody answers:\n{asked}")));
        (word.deed)(&mut self.repository, "");
        let choice = question.choose(&word.choice, word.text.as_deref()).unwrap().id.clone();
        self.answered.push(format!("{}: {choice}", question.header));
        Reply::of(&Answer { choice, text: word.text, by: "ada".to_owned(), digest: question.digest() })
    }
}

/// Writes a step as an edit leaves it into the state file.
pub(crate) fn edit_state(
    files: &mut Files,
    id: &str,
    now: Utc,
    edit: impl FnOnce(StepState, &Schema, Utc) -> StepState,
) {
    let text = files.get(STATUS).cloned();
    let text = text.unwrap_or_else(|| document::new_for(STATUS, "calc", id, now));
    let file = StateFile::read(STATUS, &text, &[]).unwrap();
    let schema = Schema::detect(["RED", "GREEN", "COMMIT"]).unwrap();
    let after = edit(file.step(STATUS, "calc", id, schema), schema, now);
    files.insert(STATUS.to_owned(), file.write(&after, &Record::default(), now).unwrap());
}

/// Reports phases as an agent does that is called once for the whole step.
pub(crate) fn report_phases(files: &mut Files, id: &str, phases: &[&str]) {
    let now = Utc::parse("2026-01-18T16:00:00Z").unwrap();
    for phase in phases {
        edit_state(files, id, now, |state, schema, now| {
            let start = Change::new(Act::Start, phase);
            let (state, _) = change::change(&state, schema, &start, now).unwrap();
            let done = Change { outcome: Some(Outcome::Pass), ..Change::new(Act::Done, phase) };
            change::change(&state, schema, &done, now).unwrap().0
        });
    }
}

fn split(place: &str) -> (String, String) {
    let (step, phase) = place.split_once(' ').unwrap();
    (step.to_owned(), phase.to_owned())
}

fn gate(name: &str) -> Gate {
    Gate { command: vec![name.to_owned()], ..Gate::default() }
}

fn ran(code: i32, output: &str) -> Ran {
    Ran {
        code: Some(code),
        stdout: output.to_owned(),
        output: Some(Hash::of(output.as_bytes())),
        ..Ran::default()
    }
}

/// What an agent does in a phase where nothing else is said: a test that fails, then code that passes it.
pub(crate) fn usual(files: &mut Files, step: &str, phase: &str) {
    if step == "finalize" || phase.is_empty() {
        return;
    }
    let word = word_of(step);
    if phase.starts_with("RED") {
        files.insert(format!("tests/test_{word}.py"), test_of(word));
        files.insert(format!("src/{word}.py"), "RESULT = 0\n".to_owned());
    }
    if phase.starts_with("GREEN") {
        files.insert(format!("src/{word}.py"), "RESULT = 5\n".to_owned());
    }
}

/// Plays a run until a hand cancels it, as if the engine were killed there; nothing follows.
fn play_until_killed<W>(mut stage: Stage<W>) -> W {
    let (flow, input) = (stage.flow, stage.input.clone());
    let acts = stage.drive(Run::new(Past::default(), |cx| (flow.start)(cx, input.clone())));
    assert!(acts.ended.is_none(), "the run came to its end");
    stage.world
}
