//! A cycle with a clock and a disk that follow a script: what cannot be waited for on a real machine.

use std::collections::BTreeMap;
use std::collections::VecDeque;

use serde::Serialize;
use serde_json::Value;
use serde_json::json;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::hash::Hash;
use seriatim_core::report::Report;
use seriatim_core::time::Utc;
use seriatim_flows::Past;
use seriatim_flows::Request;
use seriatim_flows::Run;
use seriatim_flows::Turn;
use seriatim_flows::cycle::DOCUMENT;
use seriatim_flows::cycle::Start;
use seriatim_flows::registry;
use seriatim_flows::registry::Ended;
use seriatim_flows::request::Difference;
use seriatim_flows::request::Done;
use seriatim_flows::request::FileChange;
use seriatim_flows::request::GitCall;
use seriatim_flows::request::Ran;
use seriatim_flows::request::Stand;
use seriatim_flows::request::Surveyed;
use seriatim_flows::request::Text;

use crate::support::answer;

#[derive(Default)]
struct World {
    files: BTreeMap<String, String>,
    now: Utc,
    /// How long each call of an agent takes.
    agent_minutes: u64,
    /// Calls of agents that fail before any succeeds.
    agent_failures: VecDeque<Failure>,
    /// Reads of the document that fail, by number.
    bad_reads: Vec<u32>,
    reads: u32,
    /// The change that there is once the Actor was called.
    changed: bool,
    slept_ms: Vec<u64>,
    facts: Vec<Value>,
    calls: Vec<String>,
}

fn body(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap()
}

fn report(outputs: Value) -> Report {
    serde_json::from_value(json!({"status": "done", "summary": "as asked", "outputs": outputs})).unwrap()
}

impl World {
    fn run(&mut self) -> Ended {
        let start = Start {
            project: "work".into(),
            goal: Some("Make greet.sh say good morning so that the tests pass".into()),
            ..Start::default()
        };
        let input = serde_json::to_value(start).unwrap();
        let flow = registry::newest("cycle").unwrap();
        let mut run = Run::new(Past::default(), |cx| (flow.start)(cx, input.clone()));
        loop {
            let (calls, ended) = match run.turn() {
                Turn::Done(calls, ended) => (calls, Some(ended)),
                Turn::Waits(calls) => (calls, None),
                Turn::Halted(halt) => panic!("halted: {halt}"),
            };
            for call in calls {
                if let Request::Record { fact } = &call.request {
                    self.facts.push(fact.clone());
                }
                if !call.request.is_fact() {
                    run.put(&call.key, self.perform(&call.request));
                }
            }
            if let Some(ended) = ended {
                return ended;
            }
        }
    }

    fn perform(&mut self, request: &Request) -> Vec<u8> {
        match request {
            Request::Agent(assignment) => {
                self.now = self.now.plus_ms(self.agent_minutes * 60_000);
                self.calls.push(assignment.brief.role.clone());
                body(&self.attempt(&assignment.brief.role))
            }
            Request::Ask(question) => body(&answer(&question.options[0].id)),
            Request::Read(file) => body(&self.read(&file.path)),
            Request::Write(file) => {
                self.files.insert(file.path.clone(), file.text.clone());
                let hash: Done<Hash> = Ok(Hash::of(file.text.as_bytes()));
                body(&hash)
            }
            Request::Survey(wanted) => body(&Surveyed {
                folders: wanted.folders.iter().map(|_| vec![]).collect(),
                files: wanted.files.iter().map(|_| Some(1)).collect(),
            }),
            Request::Git(call) => self.git(call),
            Request::Exec(_) => body(&Done::Ok(Ran { code: Some(0), ..Ran::default() })),
            Request::Now => body(&self.now),
            Request::Sleep { ms } => {
                self.slept_ms.push(*ms);
                self.now = self.now.plus_ms(*ms);
                body(&self.now)
            }
            Request::Snapshot { .. } | Request::Restore { .. } => body(&Done::Ok("s1".to_owned())),
            other => panic!("nobody answers {}", other.name()),
        }
    }

    fn attempt(&mut self, role: &str) -> Done<Report> {
        if let Some(failure) = self.agent_failures.pop_front() {
            return Err(failure);
        }
        Ok(match role {
            "planner" => report(json!({"kind": "step", "step": {
                "title": "Greet politely", "instructions": "Change greet.sh.", "files": ["greet.sh"], "creates": [],
                "loc": 1, "risk": "low", "success_criteria": ["it says good morning"], "commands": []}})),
            "actor" => {
                self.changed = true;
                report(json!({"result": "SUCCESS"}))
            }
            _ => report(json!({"result": "PASS"})),
        })
    }

    fn read(&mut self, path: &str) -> Done<Text> {
        self.reads += 1;
        if self.bad_reads.contains(&self.reads) {
            return Err(Failure::new(Class::Storage, "the read timed out"));
        }
        let text = self.files.get(path).cloned();
        text.map(|text| Text { hash: Hash::of(text.as_bytes()), text })
            .ok_or_else(|| Failure::new(Class::MissingArtifact, "there is no such file"))
    }

    fn git(&mut self, call: &GitCall) -> Vec<u8> {
        match call {
            GitCall::Stand { .. } => {
                let tree = if self.changed { "after" } else { "before" };
                body(&Done::Ok(Stand { tree: tree.to_owned(), ..Stand::default() }))
            }
            GitCall::Changes { since, .. } => {
                let change =
                    FileChange { path: "greet.sh".into(), added: 1, deleted: 1, ..FileChange::default() };
                let files = if self.changed && since == "before" { vec![change] } else { vec![] };
                body(&Done::Ok(Difference { files, ..Difference::default() }))
            }
            GitCall::Deliver(_) => body(&json!({"Ok": {"commit": "c0ffee", "pushed": false}})),
            other => panic!("a cycle does not ask for {other:?}"),
        }
    }

    fn named(&self, fact: &str) -> Vec<&Value> {
        self.facts.iter().filter(|f| f["fact"] == fact).collect()
    }
}

#[test]
fn cy_86_more_than_thirty_minutes_without_a_person_is_an_alert_once() {
    let mut long = World { agent_minutes: 31, ..World::default() };
    assert!(long.run().good);
    let alerts = long.named("alert");
    assert_eq!(alerts.len(), 1, "{alerts:?}");
    assert_eq!(alerts[0]["alert"], "Duration Exceeded");
    let mut short = World { agent_minutes: 10, ..World::default() };
    assert!(short.run().good);
    assert!(short.named("alert").is_empty());
}

// A read that fails once is no foreign change of the document.
#[test]
fn cy_66_a_read_that_failed_is_tried_once_more() {
    for bad in 1..=6 {
        let mut world = World { bad_reads: vec![bad], ..World::default() };
        assert!(world.run().good, "{bad}");
        assert!(world.named("document_tampered").is_empty(), "{bad}");
        assert_eq!(world.files[DOCUMENT], "", "{bad}");
    }
}

#[test]
fn cy_67_a_network_error_is_retried_with_backoff() {
    let down = || Failure::new(Class::Transport, "the connection was reset");
    let mut world = World { agent_failures: vec![down(), down()].into(), ..World::default() };
    assert!(world.run().good);
    assert_eq!(world.calls, ["planner", "planner", "planner", "actor", "judge"]);
    assert_eq!(world.slept_ms, [1000, 2000]);
}
