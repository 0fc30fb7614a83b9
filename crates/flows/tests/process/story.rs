//! What came of a run, in forms that tests can compare as a whole.

use std::collections::BTreeMap;

use serde_json::Value;
use seriatim_core::doc;
use seriatim_core::doc::Limits;
use seriatim_core::process::log;
use seriatim_core::question::Question;
use seriatim_flows::registry::Ended;
use seriatim_flows::request::Assignment;

use crate::build;
use crate::world::Seen;

pub(crate) struct Story {
    pub(crate) ended: Ended,
    pub(crate) seen: Seen,
    pub(crate) files: BTreeMap<String, String>,
}

impl Story {
    pub(crate) fn new(ended: Ended, seen: Seen, files: BTreeMap<String, String>) -> Story {
        Story { ended, seen, files }
    }

    /// A file as its tree.
    pub(crate) fn tree(&self, path: &str) -> Value {
        let (root, findings) = doc::parse(self.files[path].as_bytes(), &Limits::default());
        root.unwrap_or_else(|| panic!("{path}: {findings:?}")).to_json()
    }

    pub(crate) fn instance(&self) -> Value {
        self.tree(build::INSTANCE)["instance"].clone()
    }

    /// Where the execution logs are.
    pub(crate) fn logs(&self) -> Vec<String> {
        self.files.keys().filter(|path| path.starts_with(log::EXECUTIONS)).cloned().collect()
    }

    /// The execution log of this run: the newest one.
    pub(crate) fn log(&self) -> Value {
        self.tree(self.logs().last().unwrap())
    }

    /// `RETURN 5.1.2 > 5.1.1 LOW #2 fixed`, one for each change of the flow.
    pub(crate) fn events(&self) -> Vec<String> {
        let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        self.log()["control_flow_events"]
            .as_array()
            .unwrap()
            .iter()
            .map(|e| {
                let fixed = if e["fix_step_used"] == true { " fixed" } else { "" };
                let way = format!("{} > {}", word(&e["from_step"]), word(&e["to_step"]));
                format!("{} {way} {} #{}{fixed}", word(&e["type"]), word(&e["severity"]), e["iteration"])
            })
            .collect()
    }

    pub(crate) fn step_records(&self) -> Vec<Value> {
        self.log()["step_executions"].as_array().unwrap().clone()
    }

    /// `5.1.2 ESCALATED #1`, one for each record.
    pub(crate) fn steps(&self) -> Vec<String> {
        self.step_records()
            .iter()
            .map(|s| {
                let word = |key: &str| s[key].as_str().unwrap().to_owned();
                format!("{} {} #{}", word("step_id"), word("status"), s["iteration"])
            })
            .collect()
    }

    pub(crate) fn errors(&self) -> Vec<String> {
        strings(&self.log()["errors"])
    }

    pub(crate) fn test_log(&self) -> Vec<String> {
        strings(&self.log()["execution"]["test_log"])
    }

    /// `header: question`, and what was chosen.
    pub(crate) fn asked(&self) -> Vec<String> {
        let line = |(q, choice): &(Question, String)| format!("{}: {} -> {choice}", q.header, q.question);
        self.seen.questions.iter().map(line).collect()
    }

    /// The first question with these words.
    #[track_caller]
    pub(crate) fn question(&self, about: &str) -> &Question {
        let found = self.seen.questions.iter().find(|(q, _)| q.header == about || q.question.contains(about));
        &found.unwrap_or_else(|| panic!("nobody asked about `{about}`: {:?}", self.asked())).0
    }

    /// `step/attempt`, one for each call of an agent.
    pub(crate) fn called(&self) -> Vec<String> {
        self.seen.agents.iter().map(|a| format!("{}/{}", a.brief.step, a.brief.attempt)).collect()
    }

    /// The nth call for a step, from 0.
    #[track_caller]
    pub(crate) fn call(&self, step: &str, nth: usize) -> &Assignment {
        let mut calls = self.seen.agents.iter().filter(|a| a.brief.step == step);
        calls.nth(nth).unwrap_or_else(|| panic!("{step} was called {:?}", self.called()))
    }

    fn records(&self, folder: &str) -> Vec<Value> {
        let paths = self.files.keys().filter(|path| path.starts_with(folder));
        paths.map(|path| self.tree(path)).filter(|tree| !tree.is_null()).collect()
    }

    pub(crate) fn decisions(&self) -> Vec<Value> {
        self.records(log::DECISIONS)
    }

    pub(crate) fn observations(&self) -> Vec<Value> {
        self.records(log::OBSERVATIONS)
    }

    /// `TYPE subject: value`, in the order of their ids.
    pub(crate) fn observed(&self) -> Vec<String> {
        self.observations()
            .iter()
            .map(|o| {
                let value = o["value"].as_str().map_or_else(|| o["value"].to_string(), str::to_owned);
                format!("{} {}: {value}", o["type"].as_str().unwrap(), o["subject"].as_str().unwrap())
            })
            .collect()
    }

    pub(crate) fn outputs(&self) -> &Value {
        &self.ended.outcome["outputs"]
    }

    pub(crate) fn summary(&self) -> &str {
        self.ended.outcome["summary"].as_str().unwrap()
    }

    pub(crate) fn result(&self) -> &str {
        self.ended.outcome["process_result"].as_str().unwrap()
    }
}

fn strings(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|e| e.as_str().unwrap().to_owned()).collect()
}

/// Whether one of the lines is this one.
#[track_caller]
pub(crate) fn has(lines: &[String], line: &str) {
    assert!(lines.iter().any(|l| l == line), "no `{line}` in {lines:#?}");
}
