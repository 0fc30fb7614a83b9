//! The world of a process: one step that writes, one that validates, one in which a person decides, and criteria at the
//! beginning and at the end.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::json;
use seriatim_core::doc;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::hash::Hash;
use seriatim_core::projection;
use seriatim_core::time::Utc;
use seriatim_flows::Request;
use seriatim_flows::process::Start;
use seriatim_flows::registry;
use seriatim_flows::request::Assignment;
use seriatim_flows::request::Computed;
use seriatim_flows::request::Done;
use seriatim_flows::request::EditFile;
use seriatim_flows::request::Edited;
use seriatim_flows::request::FreshIds;
use seriatim_flows::request::Signal;
use seriatim_flows::request::Text;

use crate::build;
use crate::hands;
use crate::hands::Deed;
use crate::hands::How;
use crate::hands::body;
use crate::hands::refused;
use crate::ledger::Ledger;
use crate::search;

const MEASURED: &str = "outputs.lines > 0";

pub(crate) struct World {
    start: Start,
    files: BTreeMap<String, String>,
    now: Utc,
    projector: Box<dyn projection::Projector>,
}

/// Writes, validates, and is decided upon by a person.
fn definition() -> Value {
    let write = build::with(
        build::alone("5.1.1", "Write", "Generate"),
        json!({"completion_criteria": [{"criterion": "It has lines", "when": MEASURED}, "It is readable"]}),
    );
    let validate = build::with(
        build::alone("5.1.2", "Validate", "Validate"),
        json!({"completion_criteria": ["The work is right"]}),
    );
    let decide = build::step("5.1.3", "Decide", "Decide", "Human-Only");
    let mut made = build::definition(vec![write, validate, decide]);
    made["quality"] =
        json!({"entry_criteria": ["There is a wish"], "exit_criteria": ["The wish is fulfilled"]});
    made
}

impl World {
    pub(crate) fn new() -> World {
        let start = Start {
            instance: build::INSTANCE.into(),
            actor: "ai:claude".into(),
            progress_every: 3,
            ..Start::default()
        };
        let input = serde_json::to_value(&start).unwrap();
        let files = [(build::DEFINITION, definition()), (build::INSTANCE, build::instance())];
        World {
            start,
            files: files.map(|(path, tree)| (path.to_owned(), doc::write(&tree))).into(),
            now: Utc::parse("2026-01-18T15:00:00Z").unwrap(),
            projector: (registry::newest("process").unwrap().projector)(&input),
        }
    }

    fn attempt(&mut self, given: &Assignment, deed: Deed, ledger: &mut Ledger) -> Vec<u8> {
        let brief = &given.brief;
        let name = match brief.step.as_str() {
            "5.1.1" => "Write",
            "5.1.2" => "Validate",
            "entry-criteria" => "There is a wish",
            _ => "The wish is fulfilled",
        };
        let sure = if deed == Deed::Unsure { 10 } else { 95 };
        let met = deed != Deed::SaysNo;
        let judged: Vec<Value> = brief
            .criteria
            .iter()
            .map(|text| json!({"criterion": text, "met": met, "confidence": sure, "reason": "seen"}))
            .collect();
        ledger.reported(name, deed, 0);
        let mut report = json!({"criteria": judged, "confidence": sure, "outputs": {"lines": 3}});
        if given.verdict.is_some() {
            report["verdict"] = json!(if met { "PASS" } else { "FAIL" });
        }
        body(&hands::report(deed, report))
    }

    fn edit(&mut self, edit: &EditFile) -> Done<Edited> {
        let mut text = self.files[&edit.path].clone();
        let before = Hash::of(text.as_bytes());
        for set in &edit.set {
            let way: Vec<&str> = set.path.iter().map(String::as_str).collect();
            text = doc::edit::set(&text, &way, &set.value)
                .map_err(|e| Failure::new(Class::Storage, e.to_string()))?;
        }
        let hash = Hash::of(text.as_bytes());
        self.files.insert(edit.path.clone(), text);
        Ok(Edited { hash, foreign: edit.believed.is_some_and(|believed| believed != before) })
    }

    fn ids(&mut self, wanted: &FreshIds) -> Vec<String> {
        let mut at = self.now;
        let mut ids = vec![];
        while ids.len() < wanted.count as usize {
            let id = format!("{}-{}", wanted.prefix, at.compact());
            let path = format!("{}/{id}.{}", wanted.folder, wanted.extension);
            if let std::collections::btree_map::Entry::Vacant(free) = self.files.entry(path) {
                free.insert("# reserved\n".into());
                ids.push(id);
            }
            at = at.plus_ms(1000);
        }
        ids
    }
}

impl search::World for World {
    fn input(&self) -> Value {
        serde_json::to_value(&self.start).unwrap()
    }

    fn menu(&self, request: &Request) -> Vec<How> {
        match request {
            Request::Agent(_) => hands::deeds(&[Deed::SaysNo, Deed::Unsure]),
            Request::Read(file) if !self.files.contains_key(&file.path) => vec![How::Fine],
            request => hands::menu(request),
        }
    }

    fn witness(&mut self, fact: &Value) {
        self.projector.apply(&projection::Fact { at: self.now, data: fact.clone() });
        for image in self.projector.changed() {
            self.files.insert(image.path, image.text);
        }
    }

    fn perform(&mut self, request: &Request, how: How, ledger: &mut Ledger) -> Vec<u8> {
        match request {
            Request::Agent(given) => {
                let How::Agent(deed) = how else { panic!("no deed: {how:?}") };
                self.attempt(given, deed, ledger)
            }
            Request::Read(_) if how == How::Fails => body(&refused::<Text>()),
            Request::Read(file) => body(&match self.files.get(&file.path) {
                Some(text) => Ok(Text { text: text.clone(), hash: Hash::of(text.as_bytes()) }),
                None => Err(Failure::new(Class::MissingArtifact, format!("`{}` does not exist", file.path))),
            }),
            Request::Edit(_) if how == How::Fails => body(&refused::<Edited>()),
            Request::Edit(edit) => {
                body(&self.edit(edit).map(|edited| Edited { foreign: how == How::Foreign, ..edited }))
            }
            Request::Look { paths } => body(
                &paths.iter().map(|p| how == How::Fine && self.files.contains_key(p)).collect::<Vec<_>>(),
            ),
            Request::Compute(wanted) => {
                let compute = |_: &String| match how {
                    How::Fails => Computed::Unknown("nobody knows that word".into()),
                    how => Computed::Holds(how == How::Fine),
                };
                if how != How::Fine {
                    ledger.reported("Write", Deed::SaysNo, 0);
                }
                body(&wanted.conditions.iter().map(compute).collect::<Vec<_>>())
            }
            Request::Now => {
                self.now = self.now.plus_ms(1000);
                body(&self.now)
            }
            Request::Sleep { ms } => {
                self.now = self.now.plus_ms(*ms);
                body(&self.now)
            }
            Request::Ids(wanted) => body(&self.ids(wanted)),
            Request::Wait { .. } => body(&Signal { by: "grace".into(), text: None, at: self.now }),
            other => panic!("a process makes no request `{}`", other.name()),
        }
    }

    /// Somebody takes a criterion out of the definition.
    fn meddle(&mut self) {
        if let Some(text) = self.files.get_mut(build::DEFINITION) {
            *text = text.replace("The wish is fulfilled", "Nothing much");
        }
    }

    fn result(&self) -> u64 {
        u64::from(self.files.get(build::DEFINITION).is_some_and(|text| text.contains("Nothing much")))
    }

    fn required(&self) -> Vec<String> {
        vec![]
    }

    fn wrong(&self, ledger: &Ledger) -> Vec<String> {
        let mut words = vec![];
        for step in ["Write", "Validate", "The wish is fulfilled"] {
            if !ledger.roles.contains_key(step) {
                words.push(format!("{step} was never carried out"));
            }
        }
        for (header, (choice, _)) in &ledger.answers {
            if ["reject", "changes"].contains(&choice.as_str()) {
                words.push(format!("'{header}' was answered {choice}, and it ends well"));
            }
        }
        words
    }
}
