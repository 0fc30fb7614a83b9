//! The world of a cycle: a script that has to greet, a test that reads it, three roles and a repository.

use std::hash::DefaultHasher;
use std::hash::Hash as _;
use std::hash::Hasher;

use serde_json::Value;
use serde_json::json;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::hash::Hash;
use seriatim_core::time::Utc;
use seriatim_flows::Request;
use seriatim_flows::cycle::Gate;
use seriatim_flows::cycle::Start;
use seriatim_flows::request::Assignment;
use seriatim_flows::request::Delivered;
use seriatim_flows::request::Delivery;
use seriatim_flows::request::Difference;
use seriatim_flows::request::Done;
use seriatim_flows::request::GitCall;
use seriatim_flows::request::Surveyed;
use seriatim_flows::request::Text;

use crate::hands;
use crate::hands::Deed;
use crate::hands::How;
use crate::hands::body;
use crate::hands::refused;
use crate::ledger::Ledger;
use crate::repository::Files;
use crate::repository::Repository;
use crate::search;
use crate::stage::Reply;

const GOAL: &str = "Make greet.sh say good morning so that the tests pass";
const AUTOMATION: &str = "docs/agent_docs/automation.yaml";
/// What somebody else writes; the tests hold with it.
const OTHERS: &str = "echo good morning to all\n";

pub(crate) struct World {
    start: Start,
    repository: Repository,
    snapshots: Vec<Files>,
    now: Utc,
}

impl World {
    /// A project with these gates, each with a command of its name.
    pub(crate) fn with(gates: &[&str]) -> World {
        let files = [("greet.sh".to_owned(), "echo hello\n".to_owned())].into();
        let mut repository = Repository::of(files);
        repository.user_commits();
        let gate =
            |name: &&str| ((*name).to_owned(), Gate { command: vec![(*name).to_owned()], ..Gate::default() });
        World {
            start: Start {
                project: "work".to_owned(),
                goal: Some(GOAL.to_owned()),
                gates: gates.iter().map(gate).collect(),
                ..Start::default()
            },
            repository,
            snapshots: vec![],
            now: Utc::parse("2026-01-18T15:00:00Z").unwrap(),
        }
    }

    /// Where the suite crashes, a smaller one is run.
    pub(crate) fn with_subset(mut self) -> World {
        if let Some(gate) = self.start.gates.get_mut("tests") {
            gate.subset = vec!["quick".to_owned()];
        }
        self
    }

    /// A project with an automation file.
    pub(crate) fn automated(mut self, text: &str) -> World {
        self.start.automation = Some(AUTOMATION.to_owned());
        self.files().insert(AUTOMATION.to_owned(), text.to_owned());
        self.repository.user_commits();
        self
    }

    fn files(&mut self) -> &mut Files {
        self.repository.files("")
    }

    fn write(&mut self, path: &str, text: &str) {
        self.files().insert(path.to_owned(), text.to_owned());
    }

    fn is_green(&self) -> bool {
        self.repository.seen().get("greet.sh").is_some_and(|text| text.contains("good morning"))
    }

    fn attempt(&mut self, given: &Assignment, deed: Deed, ledger: &mut Ledger) -> Vec<u8> {
        let role = given.brief.role.as_str();
        let outputs = match (role, deed) {
            ("planner", Deed::SaysNo) => json!({"kind": "questions", "questions": ["To whom?"]}),
            ("planner", deed) => {
                let risk = if deed == Deed::Unsure { "high" } else { "low" };
                json!({"kind": "step", "step": {
                    "title": "Greet politely", "instructions": "Change greet.sh.", "files": ["greet.sh"], "creates": [],
                    "loc": 1, "risk": risk, "success_criteria": ["it says good morning"], "commands": [],
                }})
            }
            ("actor", Deed::Leaves) => json!({"result": "FAIL"}),
            ("judge", Deed::SaysNo) => json!({"result": "INSUFFICIENT", "diagnostics": "too curt"}),
            ("judge", _) => json!({"result": "PASS"}),
            _ => json!({"result": "SUCCESS"}),
        };
        match (role, deed) {
            ("actor", Deed::Honest | Deed::Partial) => self.write("greet.sh", "echo good morning\n"),
            ("actor", Deed::Strays) => {
                self.write("greet.sh", "echo good morning\n");
                self.write("other.sh", "echo\n");
            }
            ("actor", Deed::Leaves) => self.write("left.sh", "echo\n"),
            ("judge", Deed::Strays) => self.write("judged.sh", "echo\n"),
            _ => {}
        }
        let result = search::World::result(self);
        // Questions and a high risk are lawful ways of a Planner, and where the work is there nobody has to do it again.
        let lawful = role == "planner" && matches!(deed, Deed::SaysNo | Deed::Unsure);
        let nothing_left = role == "actor" && deed == Deed::Lies && self.is_green();
        let counts = if lawful || nothing_left { Deed::Honest } else { deed };
        ledger.reported(role, counts, result);
        body(&hands::report(deed, json!({"outputs": outputs})))
    }

    fn git(&mut self, call: &GitCall, how: How) -> Vec<u8> {
        match call {
            GitCall::Deliver(delivery) => body(&self.deliver(delivery, how)),
            _ if how == How::Fails => body(&Done::<()>::Err(Failure::new(Class::Contract, "git is gone"))),
            call => match self.repository.answer(call) {
                Reply::Outcome(outcome) => outcome,
                Reply::Cancel => panic!("git cancels nothing"),
            },
        }
    }

    fn deliver(&mut self, delivery: &Delivery, how: How) -> Done<Delivered> {
        if how == How::Fails {
            return Err(Failure::new(Class::Denied, "a hook refused it"));
        }
        let (since, apart) = (delivery.tree.clone(), delivery.apart.clone());
        let call = GitCall::Changes { since, apart, limit_bytes: 0, tree: String::new() };
        let Reply::Outcome(outcome) = self.repository.answer(&call) else { panic!("git cancels nothing") };
        let found: Done<Difference> = serde_json::from_slice(&outcome).unwrap();
        if !found?.files.is_empty() {
            return Err(Failure::new(Class::Contract, "the files are not those that were approved"));
        }
        Ok(Delivered { commit: "c0ffee".to_owned(), pushed: false })
    }

    fn survey(&self, wanted: &seriatim_flows::request::Survey) -> Surveyed {
        let files = self.repository.seen();
        let names = |folder: &String| {
            let inside = |path: &String| path.strip_prefix(&format!("{folder}/")).map(str::to_owned);
            files.keys().filter_map(inside).filter(|name| !name.contains('/')).collect()
        };
        Surveyed {
            folders: wanted.folders.iter().map(names).collect(),
            files: wanted
                .files
                .iter()
                .map(|path| files.get(path).map(|text| text.lines().count() as u64))
                .collect(),
        }
    }

    fn restore(&mut self, id: &str) -> Done<String> {
        let index: usize = id.strip_prefix('s').unwrap().parse().unwrap();
        let restored = self.snapshots[index - 1].clone();
        let before = std::mem::replace(self.files(), restored);
        self.snapshots.push(before);
        Ok(format!("s{}", self.snapshots.len()))
    }
}

impl search::World for World {
    fn input(&self) -> Value {
        serde_json::to_value(&self.start).unwrap()
    }

    fn menu(&self, request: &Request) -> Vec<How> {
        match request {
            Request::Agent(given) => match given.brief.role.as_str() {
                "planner" => hands::deeds(&[Deed::SaysNo, Deed::Unsure]),
                "actor" => hands::deeds(&[Deed::Lies, Deed::Strays, Deed::Leaves]),
                _ => hands::deeds(&[Deed::SaysNo, Deed::Strays]),
            },
            // Companion documents may be missing, and are.
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
                let green = how != How::Red && self.is_green();
                let (code, output) = match green {
                    true => (0, "test result: ok. 1 passed; 0 failed; 0 ignored\n"),
                    false => (101, "test result: FAILED. 0 passed; 1 failed; 0 ignored\n"),
                };
                ledger.ran(&command.argv[0], green, how, self.result());
                body(&hands::ran(how, code, output, "test result: ok. 0 passed; 0 failed; 0 ignored\n"))
            }
            Request::Read(_) if how == How::Fails => {
                ledger.marks.insert(hands::pending(request));
                body(&refused::<Text>())
            }
            Request::Read(file) => body(&match self.repository.seen().get(&file.path) {
                Some(text) => Ok(Text { text: text.clone(), hash: Hash::of(text.as_bytes()) }),
                None => Err(Failure::new(Class::MissingArtifact, "there is no such file")),
            }),
            Request::Write(_) if how == How::Fails => {
                ledger.marks.insert(hands::pending(request));
                body(&refused::<Hash>())
            }
            Request::Write(file) => {
                self.write(&file.path, &file.text);
                body(&Done::Ok(Hash::of(file.text.as_bytes())))
            }
            Request::Survey(wanted) => body(&self.survey(wanted)),
            Request::Git(call) => self.git(call, how),
            Request::Now => body(&self.now),
            Request::Sleep { ms } => {
                self.now = self.now.plus_ms(*ms);
                body(&self.now)
            }
            Request::Snapshot { .. } | Request::Restore { .. } if how == How::Fails => {
                body(&refused::<String>())
            }
            Request::Snapshot { .. } => {
                let files = self.files().clone();
                self.snapshots.push(files);
                body(&Done::Ok(format!("s{}", self.snapshots.len())))
            }
            Request::Restore { id, .. } => body(&self.restore(id)),
            other => panic!("a cycle makes no request `{}`", other.name()),
        }
    }

    fn meddle(&mut self) {
        self.write("greet.sh", OTHERS);
    }

    fn result(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let files = self.repository.seen().iter().filter(|(path, _)| !path.starts_with("docs/"));
        files.for_each(|file| file.hash(&mut hasher));
        hasher.finish()
    }

    fn required(&self) -> Vec<String> {
        self.start.gates.keys().cloned().collect()
    }

    fn wrong(&self, ledger: &Ledger) -> Vec<String> {
        let mut words = vec![];
        let files = self.repository.seen();
        for (path, what) in [
            ("other.sh", "a file outside of the plan is delivered"),
            ("left.sh", "a file that a failed Actor left is delivered"),
            ("judged.sh", "a file that the Judge left is delivered"),
        ] {
            if files.contains_key(path) {
                words.push(what.to_owned());
            }
        }
        let result = self.result();
        if ledger.roles.get("judge").is_none_or(|(_, seen)| *seen != result) {
            words.push("what is delivered is not what the Judge looked at".to_owned());
        }
        if ledger.answers.get("Approval").is_none_or(|(_, seen)| *seen != result) {
            words.push("what is delivered is not what was approved".to_owned());
        }
        if self.start.gates.is_empty() && ledger.marks.contains(crate::ledger::SAYS_GREEN) {
            words.push("no check is configured, and the approval says that all are green".to_owned());
        }
        if ledger.marks.contains(&format!("read {AUTOMATION}")) {
            words.push("an automation file that cannot be read means defaults".to_owned());
        }
        let demands = |text: &String| text.contains("required_checks");
        let accepted = ledger.answer("Not checked").is_some_and(|(choice, _)| choice == "accept");
        if files.get(AUTOMATION).is_some_and(demands) && !self.start.gates.contains_key("lint") && !accepted {
            words.push("a check that the automation file requires was never run".to_owned());
        }
        words
    }
}
