//! The world of a roadmap: one step that writes a module and the test of it, a repository, state files and a runner of
//! tests that reads the sources.

use std::hash::DefaultHasher;
use std::hash::Hash as _;
use std::hash::Hasher;

use serde_json::Value;
use serde_json::json;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::gate::Gate;
use seriatim_core::hash::Hash;
use seriatim_core::roadmap::state::StepState;
use seriatim_core::time::Utc;
use seriatim_flows::Request;
use seriatim_flows::request::Assignment;
use seriatim_flows::request::BookCall;
use seriatim_flows::request::Committed;
use seriatim_flows::request::Done;
use seriatim_flows::request::GitCall;
use seriatim_flows::request::Post;
use seriatim_flows::request::Posted;
use seriatim_flows::request::Text;
use seriatim_flows::roadmap::Start;

use crate::hands;
use crate::hands::Deed;
use crate::hands::How;
use crate::hands::body;
use crate::hands::refused;
use crate::ledger::Ledger;
use crate::repository::Files;
use crate::repository::Repository;
use crate::runner;
use crate::search;
use crate::stage::Reply;

const STATUS: &str = "docs/feature/calc/execution-status.yaml";
const ROADMAP: &str = "docs/feature/calc/roadmap.yaml";
const TEST: &str = "from src.add import RESULT\n\n\ndef test_add():\n    assert RESULT == 5\n";
const PLAN: &str = "project_id: calc\nschema_version: \"2.0\"\ntdd_phases: [RED, GREEN, COMMIT]\nphases:\n  \
    - phase_id: \"01\"\n    name: all\n    steps:\n      - step_id: \"01-01\"\n        name: \"Function add\"\n        \
    description: \"Write add\"\n        acceptance_criteria: [\"add is right\"]\n        \
    suggested_agent: software-crafter\n        dependencies: []\n        estimated_hours: 1\n        \
    test_file: tests/test_add.py\n        files_to_create: [\"src/add.py\"]\n";

pub(crate) struct World {
    start: Start,
    repository: Repository,
    now: Utc,
}

fn outcome(reply: Reply) -> Vec<u8> {
    match reply {
        Reply::Outcome(outcome) => outcome,
        Reply::Cancel => panic!("a hand cancels nothing"),
    }
}

impl World {
    /// One step with three phases, and these gates.
    pub(crate) fn with(gates: &[&str]) -> World {
        let files = [("seriatim.toml", "[gates.tests]\n"), (ROADMAP, PLAN), ("src/__init__.py", "")];
        let files: Files = files.map(|(path, text)| (path.to_owned(), text.to_owned())).into();
        let mut repository = Repository::of(files);
        repository.user_commits();
        let gate =
            |name: &&str| ((*name).to_owned(), Gate { command: vec![(*name).to_owned()], ..Gate::default() });
        World {
            start: Start {
                project: "calc".to_owned(),
                roadmap: ROADMAP.to_owned(),
                state: STATUS.to_owned(),
                only: Some("01-01".to_owned()),
                parallel: 1,
                gates: gates.iter().map(gate).collect(),
                ..Start::default()
            },
            repository,
            now: Utc::parse("2026-01-18T15:00:00Z").unwrap(),
        }
    }

    fn write(&mut self, path: &str, text: &str) {
        self.repository.files("").insert(path.to_owned(), text.to_owned());
    }

    fn attempt(&mut self, given: &Assignment, deed: Deed, ledger: &mut Ledger) -> Vec<u8> {
        let phase = given.phase.as_str();
        match (phase, deed) {
            ("RED", Deed::Honest | Deed::Partial | Deed::Strays | Deed::SaysNo) => {
                self.write("tests/test_add.py", TEST);
                self.write("src/add.py", "RESULT = 0\n");
            }
            ("GREEN", Deed::Honest | Deed::Partial | Deed::Strays | Deed::SaysNo) => {
                self.write("src/add.py", "RESULT = 5\n");
            }
            ("GREEN", Deed::Cheats) => self.write("tests/test_add.py", &TEST.replace("== 5", "== 0")),
            _ => {}
        }
        if deed == Deed::Strays {
            self.write("src/other.py", "X = 1\n");
        } else if deed == Deed::Honest {
            // An honest agent takes back what it was told does not belong there.
            self.repository.files("").remove("src/other.py");
        }
        if phase == "GREEN" && deed == Deed::Honest {
            self.write("tests/test_add.py", TEST);
        }
        let outputs = match deed {
            Deed::SaysNo => json!({"review_request": {"from": "architect", "reason": "look"}}),
            _ => json!({}),
        };
        let result = search::World::result(self);
        // To ask for a review is lawful, and where the work is there nobody has to do it again.
        let there =
            |path: &str, text: &str| self.repository.seen().get(path).is_some_and(|found| found == text);
        let nothing_left = match phase {
            "RED" => there("tests/test_add.py", TEST),
            "GREEN" => there("src/add.py", "RESULT = 5\n"),
            _ => true,
        };
        let lawful = deed == Deed::SaysNo || (deed == Deed::Lies && nothing_left);
        let counts = if lawful { Deed::Honest } else { deed };
        ledger.reported(phase, counts, result);
        body(&hands::report(deed, json!({"outputs": outputs})))
    }

    fn git(&mut self, call: &GitCall, how: How) -> Vec<u8> {
        match (call, how) {
            (_, How::Fails) => body(&Done::<()>::Err(Failure::new(Class::Contract, "git is gone"))),
            (GitCall::Commit(_), How::Nothing) => body(&Done::Ok(Committed::default())),
            _ => outcome(self.repository.answer(call)),
        }
    }

    /// Keeps the status of a step; a run reads nothing else of it again.
    fn save(&mut self, post: &Post, how: How) -> Vec<u8> {
        if how == How::Fails {
            return body(&refused::<Posted>());
        }
        let after: StepState = serde_json::from_value(post.change["after"].clone()).unwrap();
        let phases: Vec<String> =
            after.phases.iter().map(|phase| format!("{} {}", phase.name, phase.status.word())).collect();
        self.write(&post.path, &format!("{}\n{}\n", after.status.word(), phases.join("\n")));
        body(&Done::Ok(Posted { foreign: how == How::Foreign }))
    }
}

impl search::World for World {
    fn input(&self) -> Value {
        serde_json::to_value(&self.start).unwrap()
    }

    fn menu(&self, request: &Request) -> Vec<How> {
        match request {
            Request::Agent(given) if given.phase == "GREEN" => {
                hands::deeds(&[Deed::Lies, Deed::Cheats, Deed::Strays, Deed::SaysNo])
            }
            Request::Agent(_) => hands::deeds(&[Deed::Lies, Deed::Strays]),
            Request::Read(file) if !self.repository.seen().contains_key(&file.path) => vec![How::Fine],
            request => hands::menu(request),
        }
    }

    fn perform(&mut self, request: &Request, how: How, ledger: &mut Ledger) -> Vec<u8> {
        match request {
            Request::Agent(given) => {
                let How::Agent(deed) = how else { panic!("no deed: {how:?}") };
                self.attempt(given, deed, ledger)
            }
            Request::Exec(command) => {
                let (code, output) = match command.argv[0].as_str() {
                    "tests" => runner::run(self.repository.seen()),
                    _ => (0, "fine\n".to_owned()),
                };
                let red = "=== short test summary info ===\nFAILED tests/test_add.py::test_add - assert 0 == 5\n\
                           ==== 1 failed in 0.01s ====\n";
                let natural = code;
                let (code, output) = if how == How::Red { (1, red.to_owned()) } else { (code, output) };
                if natural == 1 && matches!(how, How::Fine | How::Red) {
                    // Red before the code is there is what the first phase is for.
                    ledger.marks.insert("shown red".to_owned());
                } else {
                    ledger.ran(&command.argv[0], code == 0, how, self.result());
                }
                body(&hands::ran(how, code, &output, "==== no tests ran in 0.01s ====\n"))
            }
            Request::Read(_) if how == How::Fails => body(&refused::<Text>()),
            Request::Read(file) => body(&match self.repository.seen().get(&file.path) {
                Some(text) => Ok(Text { text: text.clone(), hash: Hash::of(text.as_bytes()) }),
                None => Err(Failure::new(Class::MissingArtifact, "there is no such file")),
            }),
            Request::Write(_) if how == How::Fails => body(&refused::<Hash>()),
            Request::Write(file) => {
                self.write(&file.path, &file.text);
                body(&Done::Ok(Hash::of(file.text.as_bytes())))
            }
            Request::Git(call) => self.git(call, how),
            Request::Book(BookCall::Recall { .. }) => body(&Value::Null),
            Request::Book(BookCall::Post(post)) => self.save(post, how),
            Request::Now => {
                self.now = self.now.plus_ms(1000);
                body(&self.now)
            }
            Request::Sleep { ms } => {
                self.now = self.now.plus_ms(*ms);
                body(&self.now)
            }
            Request::Snapshot { .. } | Request::Restore { .. } if how == How::Fails => {
                body(&refused::<String>())
            }
            Request::Snapshot { .. } | Request::Restore { .. } => body(&Done::Ok("snapshot-1".to_owned())),
            other => panic!("a roadmap makes no request `{}`", other.name()),
        }
    }

    fn meddle(&mut self) {
        self.write("src/add.py", "RESULT = 4\n");
    }

    fn result(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let files = self.repository.seen().iter().filter(|(path, _)| !path.starts_with("docs/"));
        files.for_each(|file| file.hash(&mut hasher));
        hasher.finish()
    }

    fn required(&self) -> Vec<String> {
        self.start.gates.keys().filter(|name| *name == "tests").cloned().collect()
    }

    fn wrong(&self, ledger: &Ledger) -> Vec<String> {
        let mut words = vec![];
        let committed = self.repository.committed();
        if committed.get("src/add.py").map(String::as_str) != Some("RESULT = 5\n") {
            words.push("what is committed does not hold the code".to_owned());
        }
        if committed.get("tests/test_add.py").map(String::as_str) != Some(TEST) {
            words.push("what is committed does not hold the test that was red".to_owned());
        }
        if committed.contains_key("src/other.py") {
            words.push("a file outside of the step is committed".to_owned());
        }
        if !committed.get(STATUS).is_some_and(|text| text.contains("DONE")) {
            words.push("the step is not DONE in the file that is committed".to_owned());
        }
        if self.start.gates.is_empty() {
            words.push("no gate is configured, and the step is done on the agent's word".to_owned());
        } else if !ledger.marks.contains("shown red") && !ledger.accepted.contains("RED") {
            words.push("the test was never shown to be red".to_owned());
        }
        words
    }
}
