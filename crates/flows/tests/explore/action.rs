//! The world of an action: a maker, a reviewer, a quality gate, an approval and a gate of the lifecycle.

use std::collections::BTreeMap;
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
use seriatim_flows::action::Gate;
use seriatim_flows::action::Start;
use seriatim_flows::request::Assignment;
use seriatim_flows::request::Comparison;
use seriatim_flows::request::Done;
use seriatim_flows::request::SceneCall;
use seriatim_flows::request::SceneChange;
use seriatim_flows::request::SceneKind;
use seriatim_flows::request::SealOf;
use seriatim_flows::request::Surveyed;
use seriatim_flows::request::Taken;
use seriatim_flows::request::Text;

use crate::hands;
use crate::hands::Deed;
use crate::hands::How;
use crate::hands::body;
use crate::hands::refused;
use crate::ledger::Ledger;
use crate::repository::Files;
use crate::search;

const COPIES: &str = ".seriatim/copies";
const API: &str = "engine/api.md";
const MAP: &str = "agents:
  backend-developer: {skill: agents/backend-developer/SKILL.md, writes: [engine/api.md]}
  security: {skill: agents/security/SKILL.md, writes: [planning-mds/security/], review: true}
actions:
  build:
    doc: agents/actions/build.md
    description: Build it
    steps:
";
const LIFECYCLE: &str =
    "current_stage: a\nstages:\n  a:\n    required_gates: [docs]\ngates:\n  docs:\n    command: [docs]\n";

#[derive(Default)]
pub(crate) struct World {
    files: Files,
    copies: BTreeMap<String, Files>,
    marks: BTreeMap<String, Files>,
    snapshots: BTreeMap<String, Files>,
    start: Start,
    now: Utc,
    /// Every work is another one than that before.
    turn: bool,
}

impl World {
    pub(crate) fn with(steps: &str) -> World {
        let steps: String = steps.lines().map(|line| format!("      {line}\n")).collect();
        let guide =
            |role: &str| format!("---\nname: {role}\ndescription: Works\n---\n# {role}\n\nThe guide.\n");
        let files = [
            ("agents/agent-map.yaml", format!("{MAP}{steps}")),
            ("agents/actions/build.md", "# Action: build\n\n## User Intent\n\nBuild it.\n".to_owned()),
            ("agents/backend-developer/SKILL.md", guide("backend-developer")),
            ("agents/security/SKILL.md", guide("security")),
            ("lifecycle-stage.yaml", LIFECYCLE.to_owned()),
        ];
        let tests = Gate { command: vec!["tests".to_owned()], ..Gate::default() };
        World {
            files: files.map(|(path, text)| (path.to_owned(), text)).into(),
            start: Start {
                intent: "build".to_owned(),
                operator: "ada".to_owned(),
                gates: [("tests".to_owned(), tests)].into(),
                ..Start::default()
            },
            now: Utc::parse("2026-02-07T10:30:00Z").unwrap(),
            ..World::default()
        }
    }

    fn place(&mut self, copy: &str) -> &mut Files {
        match copy.is_empty() {
            true => &mut self.files,
            false => self.copies.get_mut(copy).unwrap(),
        }
    }

    fn attempt(&mut self, given: &Assignment, deed: Deed, ledger: &mut Ledger) -> Vec<u8> {
        let role = given.brief.role.clone();
        let copy = given.cwd.strip_prefix(&format!("{COPIES}/")).unwrap_or_default().to_owned();
        self.turn = !self.turn;
        let text = format!("# Work\n\nTurn {}.\n", self.turn);
        let path = if role == "security" { "planning-mds/security/review.md" } else { API };
        let files = self.place(&copy);
        if matches!(deed, Deed::Honest | Deed::Partial | Deed::SaysNo | Deed::Strays) {
            files.insert(path.to_owned(), text);
        }
        if deed == Deed::Strays {
            files.insert("secrets.md".to_owned(), "# Mine\n".to_owned());
        }
        let findings = match deed {
            Deed::SaysNo => json!([{"severity": "critical", "title": "weak hash", "file": API}]),
            _ => json!([]),
        };
        if role == "security" {
            match deed {
                Deed::SaysNo => _ = ledger.marks.insert("critical".to_owned()),
                Deed::Honest | Deed::Strays => _ = ledger.marks.remove("critical"),
                _ => {}
            }
        }
        let counts = if deed == Deed::SaysNo { Deed::Honest } else { deed };
        let result = search::World::result(self);
        ledger.reported(&role, counts, result);
        let open = given.brief.parameters["open_findings"].as_array().cloned().unwrap_or_default();
        let closed: Vec<Value> = match deed {
            Deed::Honest | Deed::Strays => {
                open.iter().map(|one| json!({"id": one["id"], "reason": "fixed"})).collect()
            }
            _ => vec![],
        };
        body(&hands::report(deed, json!({"outputs": {"findings": findings, "closed": closed}})))
    }

    fn read(&self, path: &str) -> Done<Text> {
        let below = path.strip_prefix(&format!("{COPIES}/")).and_then(|rest| rest.split_once('/'));
        let (files, path) = match below {
            Some((copy, rest)) => (&self.copies[copy], rest),
            None => (&self.files, path),
        };
        match files.get(path) {
            Some(text) => Ok(Text { text: text.clone(), hash: Hash::of(text.as_bytes()) }),
            None => Err(Failure::new(Class::MissingArtifact, format!("{path} does not exist"))),
        }
    }

    fn names(&self, folder: &String) -> Vec<String> {
        let below = format!("{folder}/");
        let names = self.files.keys().filter_map(|path| path.strip_prefix(&below));
        names.filter(|name| !name.contains('/')).map(str::to_owned).collect()
    }

    fn copied(&mut self, request: &Request, how: How) -> Vec<u8> {
        match request {
            _ if how == How::Fails => body(&refused::<String>()),
            Request::Snapshot { label, .. } => {
                let id = format!("{label}-{}", self.snapshots.len() + 1);
                self.snapshots.insert(id.clone(), self.files.clone());
                body(&Done::Ok(id))
            }
            Request::Restore { id, .. } => {
                let undo = format!("undo-{}", self.snapshots.len());
                let before = std::mem::replace(&mut self.files, self.snapshots[id].clone());
                self.snapshots.insert(undo.clone(), before);
                body(&Done::Ok(undo))
            }
            Request::Compare { id } => {
                let paths: Vec<String> =
                    changes(&self.snapshots[id], &self.files).map(|found| found.path).collect();
                let paths: Vec<String> =
                    paths.into_iter().filter(|path| !path.contains("evidence")).collect();
                let words = format!("This will change {} files.", paths.len());
                let digest = Hash::of(paths.join("\n").as_bytes());
                body(&Done::Ok(Comparison { words, paths, conflicts: vec![], digest }))
            }
            other => panic!("no copy: {}", other.name()),
        }
    }

    fn scene(&mut self, call: &SceneCall, how: How) -> Vec<u8> {
        if how == How::Fails {
            return body(&refused::<()>());
        }
        match call {
            SceneCall::Files { copy } => {
                body(&Done::Ok(self.place(copy).keys().cloned().collect::<Vec<_>>()))
            }
            SceneCall::Mark { name } => {
                self.marks.insert(name.clone(), self.files.clone());
                body(&Done::Ok(()))
            }
            SceneCall::Copy { copy } => {
                self.copies.insert(copy.clone(), self.files.clone());
                self.marks.insert(copy.clone(), self.files.clone());
                body(&Done::Ok(format!("{COPIES}/{copy}")))
            }
            SceneCall::Changes { name, copy } => {
                let before = self.marks.get(name).cloned().unwrap_or_default();
                body(&Done::Ok(changes(&before, self.place(copy)).collect::<Vec<_>>()))
            }
            SceneCall::Take { copy, paths } => body(&Done::Ok(self.take(copy, paths))),
            SceneCall::PutBack { name, copy, paths } => {
                let before = self.marks.get(name).cloned().unwrap_or_default();
                put(self.place(copy), &before, paths);
                body(&Done::Ok(()))
            }
            SceneCall::Keep { copy, paths } => {
                let from = self.place(copy).clone();
                for (path, to) in paths {
                    self.files.insert(to.clone(), from[path].clone());
                }
                body(&Done::Ok(()))
            }
            SceneCall::Drop { copy } => {
                self.copies.remove(copy);
                body(&Done::Ok(()))
            }
            SceneCall::Forget => body(&Done::Ok(())),
            SceneCall::Seals { paths } => {
                let seal = |text: &String| SealOf { hash: Hash::of(text.as_bytes()), mode: 0o644 };
                let seals: Vec<Option<SealOf>> =
                    paths.iter().map(|path| self.files.get(path).map(seal)).collect();
                body(&Done::Ok(seals))
            }
        }
    }

    fn take(&mut self, copy: &str, paths: &[String]) -> Taken {
        let (mine, before) = (self.copies[copy].clone(), &self.marks[copy]);
        let changed = |path: &&String| self.files.get(*path) != before.get(*path);
        let conflicts: Vec<String> = paths.iter().filter(changed).cloned().collect();
        if conflicts.is_empty() {
            put(&mut self.files, &mine, paths);
        }
        Taken { conflicts }
    }
}

/// Makes some files what they are elsewhere.
fn put(files: &mut Files, from: &Files, paths: &[String]) {
    for path in paths {
        match from.get(path) {
            Some(text) => files.insert(path.clone(), text.clone()),
            None => files.remove(path),
        };
    }
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

impl search::World for World {
    fn input(&self) -> Value {
        serde_json::to_value(&self.start).unwrap()
    }

    fn menu(&self, request: &Request) -> Vec<How> {
        match request {
            Request::Agent(given) if given.brief.role == "security" => {
                hands::deeds(&[Deed::SaysNo, Deed::Lies])
            }
            Request::Agent(_) => hands::deeds(&[Deed::Lies, Deed::Strays]),
            // A reading or a writing of the engine's own papers decides nothing.
            Request::Read(file) if self.read(&file.path).is_err() => vec![How::Fine],
            Request::Write(_)
            | Request::Scene(SceneCall::Forget | SceneCall::Keep { .. } | SceneCall::Drop { .. }) => {
                vec![How::Fine]
            }
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
                let red = how == How::Red;
                let output = if red {
                    "==== 1 failed, 9 passed in 0.1s ====\n"
                } else {
                    "==== 10 passed in 0.1s ====\n"
                };
                ledger.ran(&command.argv[0], !red, how, self.result());
                body(&hands::ran(how, i32::from(red), output, "==== no tests ran in 0.01s ====\n"))
            }
            Request::Read(_) if how == How::Fails => {
                ledger.marks.insert(hands::pending(request));
                body(&refused::<Text>())
            }
            Request::Read(file) => body(&self.read(&file.path)),
            Request::Write(file) => {
                let before = self.files.get(&file.path).filter(|_| file.append).cloned().unwrap_or_default();
                let text = format!("{before}{}", file.text);
                let hash = Hash::of(text.as_bytes());
                self.files.insert(file.path.clone(), text);
                body(&Done::Ok(hash))
            }
            Request::Survey(wanted) => {
                let folders = wanted.folders.iter().map(|folder| self.names(folder)).collect();
                body(&Surveyed { folders, files: vec![] })
            }
            Request::Now => {
                self.now = self.now.plus_ms(1000);
                body(&self.now)
            }
            Request::Sleep { ms } => {
                self.now = self.now.plus_ms(*ms);
                body(&self.now)
            }
            Request::Snapshot { .. } | Request::Restore { .. } | Request::Compare { .. } => {
                self.copied(request, how)
            }
            Request::Scene(call) => {
                if how == How::Fails {
                    ledger.marks.insert(hands::pending(request));
                }
                self.scene(call, how)
            }
            other => panic!("an action makes no request `{}`", other.name()),
        }
    }

    fn meddle(&mut self) {
        self.files.insert(API.to_owned(), "# Other\n".to_owned());
    }

    fn result(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let ours = |path: &str| path.starts_with("engine/") || path.starts_with("planning-mds/security/");
        self.files.iter().filter(|(path, _)| ours(path)).for_each(|file| file.hash(&mut hasher));
        hasher.finish()
    }

    fn required(&self) -> Vec<String> {
        vec!["tests".to_owned(), "docs".to_owned()]
    }

    fn wrong(&self, ledger: &Ledger) -> Vec<String> {
        let mut words = vec![];
        if !self.files.contains_key(API) {
            words.push("work that does not exist counts as done".to_owned());
        }
        if self.files.contains_key("secrets.md") {
            words.push("a file outside of the scope of its role stays".to_owned());
        }
        if ledger.marks.contains("critical") {
            words.push("a critical finding is open".to_owned());
        }
        let result = self.result();
        if ledger.answer("Gate release").is_none_or(|(choice, seen)| choice != "approve" || *seen != result) {
            words.push("what is there is not what was approved".to_owned());
        }
        words
    }
}
