//! What must be true of a world: after every life of the engine, and at the end.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use seriatim_core::doc;
use seriatim_core::failure::Failure;
use seriatim_core::process::log::EXECUTIONS;
use seriatim_core::projection::Fact;
use seriatim_engine::drive::History;
use seriatim_engine::drive::images_of;
use seriatim_engine::drive::replay;
use seriatim_engine::hands::files::Files;
use seriatim_engine::hands::files::TEMPORARY_PREFIX;
use seriatim_engine::sim::Play;
use seriatim_journal::Kind;
use seriatim_journal::RunInfo;
use seriatim_journal::Store;

use crate::aside;
use crate::people::Counts;
use crate::people::Known;
use crate::world::ROOT;
use crate::world::SCRATCH;
use crate::world::STATE;
use crate::world::World;

/// Where actions report failures.
const ERRORS: &str = "logs/errors/";
const FILE_BYTES_MAX: u64 = 64 << 20;

/// How a world ended, byte for byte but for what [`aside`] puts aside.
#[derive(Debug, PartialEq)]
pub(crate) struct Ends {
    /// By run everything that was asked, answered and put on record, in the order of the flow.
    pub(crate) runs: BTreeMap<String, Vec<String>>,
    /// By run the projections.
    pub(crate) images: BTreeMap<String, Vec<(String, String)>>,
    /// The other files of the workspace.
    pub(crate) files: Vec<(String, String)>,
    /// By branch every commit, with its message and its files.
    pub(crate) history: BTreeMap<String, Vec<String>>,
    pub(crate) played: Counts,
    pub(crate) answered: Counts,
    /// Lines of audit files about writes that a dead process did not come to. They are in none of the above.
    pub(crate) incidents: Vec<String>,
}

impl Ends {
    /// Shows the first difference alone: the whole is too long for anybody to read.
    pub(crate) fn assert_same(&self, expected: &Ends, world: &World) {
        let crashes: Vec<String> = world.crashes.iter().map(ToString::to_string).collect();
        let was_cut_off = !Known::of(&world.store()).cut_off.is_empty();
        let is_side_by_side = world.plan.iter().any(|run| run.input["parallel"].as_u64() > Some(1));
        let number = |text: &String| {
            let text = if was_cut_off { aside::attempts(&without_cut_off(text)) } else { text.clone() };
            match (is_side_by_side, self.incidents.is_empty()) {
                (true, _) => aside::order_of_steps(&aside::growth_of_trails(&text)),
                (false, false) => aside::growth_of_trails(&text),
                (false, true) => text,
            }
        };
        let same = |found: &[String], expected: &[String], what: &str| {
            for (found, expected) in found.iter().zip(expected) {
                let (found, expected) = (number(found), number(expected));
                assert!(found == expected, "{what} after {crashes:?}:\n{}", differ(&found, &expected));
            }
            let more = found.get(expected.len()).or_else(|| expected.get(found.len()));
            assert!(more.is_none(), "{what} after {crashes:?}: only one has {more:?}");
        };
        for (run, lines) in &expected.runs {
            same(&self.runs[run], lines, run);
        }
        let flat = |pairs: &[(String, String)]| -> Vec<String> {
            pairs.iter().map(|(path, text)| format!("{path}\n{text}")).collect()
        };
        for (run, images) in &expected.images {
            same(&flat(&self.images[run]), &flat(images), &format!("the projections of {run}"));
        }
        same(&flat(&self.files), &flat(&expected.files), "the files");
        for (branch, commits) in expected.history.iter().filter(|_| !is_side_by_side) {
            let found = self.history.get(branch).cloned().unwrap_or_default();
            same(&found, commits, &format!("the branch {branch}"));
        }
        assert_eq!(self.history.len(), expected.history.len(), "branches after {crashes:?}");
        assert_eq!(self.played, expected.played, "attempts after {crashes:?}");
        assert_eq!(self.answered, expected.answered, "answers after {crashes:?}");
    }
}

/// How work that is done side by side ended: in which order it came home is a matter of time, and its documents and
/// commits are in that order. What was made, how often somebody worked or answered, and that every commit was made once
/// is not.
#[derive(Debug, PartialEq)]
pub(crate) struct Work {
    statuses: Vec<String>,
    files: Vec<(String, String)>,
    commits: BTreeMap<String, Vec<String>>,
    further_trees: usize,
    played: Counts,
}

pub(crate) fn work(world: &World) -> Work {
    let ends = ends(world);
    let store = world.store();
    let subjects = |commits: Vec<(String, BTreeMap<String, Vec<u8>>)>| {
        let mut subjects: Vec<String> = commits
            .into_iter()
            .map(|(message, _)| message.lines().next().unwrap_or_default().to_owned())
            .filter(|subject| !subject.starts_with("merge("))
            .collect();
        subjects.sort();
        subjects
    };
    let history = world.repositories.history().into_iter();
    Work {
        statuses: runs(world, &store).into_iter().map(|info| format!("{:?}", info.status)).collect(),
        files: ends.files.into_iter().filter(|(path, _)| !path.starts_with("docs/")).collect(),
        commits: history.map(|(branch, commits)| (branch, subjects(commits))).collect(),
        further_trees: world.repositories.further_trees().len(),
        played: ends.played,
    }
}

/// Where two texts part, with a little around it.
fn differ(found: &str, expected: &str) -> String {
    let at = found.bytes().zip(expected.bytes()).take_while(|(a, b)| a == b).count();
    let around = |text: &str| {
        let from = text.floor_char_boundary(at.saturating_sub(200));
        let to = text.floor_char_boundary((at + 200).min(text.len()));
        text[from..to].to_owned()
    };
    format!("found:    ...{}\nexpected: ...{}", around(found), around(expected))
}

/// True after every life: the chains hold, the flows agree with their journals, and no secret was written down.
pub(crate) fn sound(world: &World) {
    let store = world.store();
    let report = store.verify();
    assert!(report.is_sound(), "{:?}", report.problems);
    for info in runs(world, &store) {
        let history = History::read(&store, &info).unwrap();
        let (flow, input) = history.flow(&seriatim_flows::registry::STANDARD, &info).unwrap();
        replay(flow, input, history).unwrap_or_else(|why| panic!("replay of {}: {why}", info.name));
    }
    let markers: Vec<String> = world.processes.begun().into_iter().map(|begun| begun.marker).collect();
    let agents = Known::of(&store).agents;
    for begun in world.processes.begun().iter().filter(|begun| !begun.step.is_empty()) {
        assert!(agents.contains_key(&begun.marker), "{begun:?} began before it was in the journal");
        let times = markers.iter().filter(|marker| **marker == begun.marker).count();
        assert_eq!(times, 1, "{begun:?} was begun again");
    }
    drop(store);
    no_secret(world);
}

fn no_secret(world: &World) {
    if !world.processes.begun().iter().any(|begun| begun.play == Play::Leaks) {
        return;
    }
    let secret = world.processes.secret();
    let holds = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(&secret);
    for (path, bytes) in world.files.all() {
        assert!(path.starts_with(SCRATCH) || !holds(&bytes), "the secret is in {}", path.display());
    }
    for entry in std::fs::read_dir(world.dir.path().join(STATE)).unwrap() {
        let path = entry.unwrap().path();
        assert!(
            !path.is_file() || !holds(&std::fs::read(&path).unwrap()),
            "the secret is in {}",
            path.display()
        );
    }
}

fn runs(world: &World, store: &Store) -> Vec<RunInfo> {
    (0..world.plan.len()).filter_map(|index| world.info(store, index)).collect()
}

/// True when all is over: every file is what the journal makes it, and nothing else was left behind.
pub(crate) fn tidy(world: &World) {
    let store = world.store();
    let mut logs = BTreeSet::new();
    for info in runs(world, &store) {
        assert!(info.status.is_finished(), "{info:?}");
        let history = History::read(&store, &info).unwrap();
        let (flow, input) = history.flow(&seriatim_flows::registry::STANDARD, &info).unwrap();
        for (path, text) in images_of(flow, &input, &history.facts) {
            let found = world.files.read(&Path::new(ROOT).join(&path), FILE_BYTES_MAX);
            let found = found.map(|found| String::from_utf8(found.bytes).unwrap());
            assert_eq!(found.as_deref(), Ok(text.as_str()), "{path} is not what the journal makes it");
            if path.starts_with(EXECUTIONS) {
                assert!(logs.insert(path.clone()), "{path} belongs to two runs");
            }
        }
    }
    let all = world.files.all();
    let found: BTreeSet<String> = all
        .iter()
        .filter_map(|(path, _)| Some(path.strip_prefix(ROOT).ok()?.to_str()?.to_owned()))
        .filter(|path| path.starts_with(EXECUTIONS))
        .collect();
    assert_eq!(found, logs, "one log for each run, and no other");
    for (path, bytes) in &all {
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(!name.starts_with(TEMPORARY_PREFIX), "{} was left behind", path.display());
        assert!(!path.starts_with(SCRATCH), "{} was left behind", path.display());
        assert!(!bytes.starts_with(b"# reserved by"), "{} was reserved and never used", path.display());
    }
    let desks = world.files.list(Path::new(SCRATCH)).unwrap_or_default();
    assert_eq!(desks, vec![], "desks were left behind");
}

/// Every attempt has an outcome: what came of it, or that it was cut off.
pub(crate) fn every_attempt_has_an_outcome(world: &World) {
    for (marker, has_outcome) in &Known::of(&world.store()).agents {
        assert!(has_outcome, "nothing is known about what became of {marker}");
    }
}

/// The same, and each that was cut off is a fact that people can read.
pub(crate) fn every_attempt_is_on_record(world: &World) {
    every_attempt_has_an_outcome(world);
    let store = world.store();
    let known = Known::of(&store);
    let mut cut_off = 0;
    for info in runs(world, &store) {
        let history = History::read(&store, &info).unwrap();
        let is_attempt = |data: &Value| data["failure"]["interrupted"] == Value::Bool(true);
        cut_off += history.facts.iter().filter(|fact| is_attempt(&fact.data)).count();
    }
    assert_eq!(
        cut_off,
        known.cut_off.values().sum::<u32>() as usize,
        "an attempt that was cut off is no fact"
    );
}

/// How the world ended.
pub(crate) fn ends(world: &World) -> Ends {
    let store = world.store();
    let known = Known::of(&store);
    let (mut ends, mut all) = (BTreeMap::new(), BTreeMap::new());
    let mut projected = BTreeSet::new();
    let reports = reports_of_cut_off(world);
    for info in runs(world, &store) {
        let history = History::read(&store, &info).unwrap();
        let (flow, input) = history.flow(&seriatim_flows::registry::STANDARD, &info).unwrap();
        projected.extend(images_of(flow, &input, &history.facts).into_keys());
        let mut ids = ids_of_cut_off(&history.facts);
        ids.extend(reports.iter().flat_map(|path| [path.clone(), path.replace(ERRORS, "")]));
        let mut facts = history.facts.clone();
        facts.retain(|fact| !is_cut_off(&fact.data));
        facts.iter_mut().for_each(|fact| without(&mut fact.data, &ids));
        let images = images_of(flow, &input, &facts).into_iter();
        let images = images.map(|(path, text)| (aside::times(&path), aside::times(&text)));
        all.insert(info.name.clone(), sorted(images));
        let ended = history.ended.unwrap();
        assert_eq!(ended.findings, vec![], "the plan of this world cannot be carried out");
        ends.insert(info.name.clone(), record(&store, &info, &ids));
    }
    let apart = [STATE, ".git"];
    let mut incidents = Vec::new();
    let mut told = |path: &str, bytes: &[u8]| {
        let text = without_incidents(path, &String::from_utf8_lossy(bytes), &mut incidents);
        (aside::times(path), aside::times(&text))
    };
    let files = world.files.all().into_iter().filter_map(|(path, bytes)| {
        let path = path.strip_prefix(ROOT).ok()?.to_str()?.to_owned();
        let is_apart = apart.iter().any(|folder| path.split('/').next() == Some(folder));
        (!is_apart && !projected.contains(&path) && !reports.contains(&path)).then(|| told(&path, &bytes))
    });
    let files = sorted(files);
    let mut history = BTreeMap::new();
    for (branch, commits) in world.repositories.history() {
        let mut lines = Vec::new();
        for (message, files) in commits {
            lines.push(aside::times(&message));
            // Names with times in them have another order once the times are put aside.
            let files = sorted(files.iter().map(|(path, bytes)| told(path, bytes)));
            lines.extend(files.into_iter().map(|(path, text)| format!("{path}\n{text}")));
        }
        history.insert(aside::times(&branch), lines);
    }
    Ends {
        runs: ends,
        images: all,
        files,
        history,
        played: known.played,
        answered: known.answered,
        incidents,
    }
}

/// An audit file without its lines about writes that a dead process did not come to; any other file as it is.
fn without_incidents(path: &str, text: &str, incidents: &mut Vec<String>) -> String {
    if !path.contains("/audit-") {
        return text.to_owned();
    }
    let is_incident = |line: &&str| aside::is_of_interrupted_write(line);
    let (found, kept): (Vec<&str>, Vec<&str>) = text.split_inclusive('\n').partition(is_incident);
    incidents.extend(found.into_iter().map(str::to_owned));
    kept.concat()
}

/// Names made of times are put aside, so that what they name is in the order of its content.
fn sorted(files: impl Iterator<Item = (String, String)>) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = files.collect();
    files.sort();
    files
}

/// Whether a fact is about an attempt that was cut off.
fn is_cut_off(data: &Value) -> bool {
    let told = Failure::interrupted().message;
    data["failure"]["interrupted"] == Value::Bool(true)
        || ["text", "value"].iter().any(|key| data[key].as_str().is_some_and(|text| text.contains(&told)))
}

/// Asking for the time, or for ids and names that are made of it and free, says nothing else than the time.
fn is_about_time(request: &Value) -> bool {
    let names = request["do"] == "survey" && request["folders"][0] == ERRORS.trim_end_matches('/');
    names || ["now", "ids"].iter().any(|name| request["do"] == *name)
}

/// The content of a state file of a roadmap, or of a report in JSON.
fn state_file(text: &str) -> Option<Value> {
    if text.starts_with('{') {
        return serde_json::from_str(text).ok();
    }
    let is_one = text.starts_with("execution_status:");
    let document = is_one.then(|| doc::read(text.as_bytes(), &doc::Limits::default()).ok())?;
    document.map(|document| document.root.to_json())
}

/// A file, its path in the first line, without what it says about attempts that were cut off: entries of its lists
/// where it is a document, and lines where it is a log.
fn without_cut_off(file: &str) -> String {
    let told = Failure::interrupted().message;
    let Some((path, text)) = file.split_once('\n') else { return file.to_owned() };
    if let Some(mut document) = state_file(text) {
        without(&mut document, &BTreeSet::new());
        return format!("{path}\n{document:#}");
    }
    let kept: Vec<&str> = text.lines().filter(|line| !line.contains(&told[1..])).collect();
    format!("{path}\n{}", kept.join("\n"))
}

/// Takes what is about attempts that were cut off out of all lists: the ids of observations, and sentences. A state
/// file that stands in a string is looked into as well.
fn without(value: &mut Value, ids: &BTreeSet<String>) {
    if let Some(text) = value.as_str().filter(|text| text.starts_with("execution_status:"))
        && let Ok(document) = doc::read(text.as_bytes(), &doc::Limits::default())
    {
        *value = document.root.to_json();
    }
    match value {
        Value::Array(items) => {
            items.retain(|item| {
                let named = ["path", "notes"].iter().find_map(|key| item[key].as_str());
                let named = item.as_str().or(named);
                named.is_none_or(|text| !names(text, ids))
            });
            items.iter_mut().for_each(|item| without(item, ids));
        }
        Value::Object(fields) => fields.values_mut().for_each(|field| without(field, ids)),
        // A document within the document.
        Value::String(text) if text.starts_with('{') => {
            if let Ok(mut inner) = serde_json::from_str(text) {
                without(&mut inner, ids);
                *value = inner;
            }
        }
        _ => {}
    }
}

fn names(text: &str, ids: &BTreeSet<String>) -> bool {
    let told = Failure::interrupted().message;
    text.contains(&told[1..]) || ids.iter().any(|id| text.contains(id))
}

/// The reports of failures that are about attempts that were cut off.
fn reports_of_cut_off(world: &World) -> BTreeSet<String> {
    let told = Failure::interrupted().message;
    let all = world.files.all().into_iter().filter_map(|(path, bytes)| {
        let path = path.strip_prefix(ROOT).ok()?.to_str()?.to_owned();
        let report: Value = path.starts_with(ERRORS).then(|| serde_json::from_slice(&bytes).ok())??;
        report["message"].as_str().is_some_and(|message| message.contains(&told[1..])).then_some(path)
    });
    all.collect()
}

fn ids_of_cut_off(facts: &[Fact]) -> BTreeSet<String> {
    let about = facts.iter().filter(|fact| is_cut_off(&fact.data));
    about.filter_map(|fact| fact.data["id"].as_str().map(str::to_owned)).collect()
}

/// A key in the form in which keys have the order of the flow.
type Ordered = Vec<(u64, String)>;

/// Everything that the journal has of a run, in the order of the flow, without attempts that were cut off (and what
/// the flow did about each until it called again) and without questions for the time.
fn record(store: &Store, info: &RunInfo, ids: &BTreeSet<String>) -> Vec<String> {
    let mut entries: Vec<(Ordered, Kind, String)> = Vec::new();
    let mut left_out: BTreeSet<Ordered> = BTreeSet::new();
    let mut cut_off: BTreeSet<Ordered> = BTreeSet::new();
    let mut of_calls: BTreeSet<Ordered> = BTreeSet::new();
    // Which files are there is answered by a list without names.
    let mut looked: BTreeMap<Ordered, Vec<bool>> = BTreeMap::new();
    store
        .load(info.id, |entry| {
            // What attempts printed is kept beside them, of those that were cut off as well.
            if entry.kind == Kind::Note && entry.key.starts_with("!printed") {
                return;
            }
            let key = aside::order(entry.key);
            let mut data: Value = serde_json::from_slice(entry.body.unwrap()).unwrap();
            match entry.kind {
                Kind::Outcome if data["Err"]["interrupted"] == Value::Bool(true) => {
                    cut_off.insert(key.clone());
                }
                Kind::Intent if is_about_time(&data) => {
                    left_out.insert(key.clone());
                }
                Kind::Intent if data["scene"] == "changes" => {
                    of_calls.insert(key.clone());
                }
                Kind::Fact if is_cut_off(&data["fact"]) => {
                    left_out.insert(key.clone());
                }
                _ => {}
            }
            if entry.kind == Kind::Intent && data["do"] == "look" {
                let paths = data["paths"].as_array().into_iter().flatten().filter_map(Value::as_str);
                looked.insert(key.clone(), paths.map(|path| !names(path, ids)).collect());
            }
            if let (Kind::Outcome, Some(kept), Some(found)) =
                (entry.kind, looked.get(&key), data.as_array_mut())
            {
                let mut kept = kept.iter();
                found.retain(|_| kept.next().is_none_or(|kept| *kept));
            }
            if let Some(state) = data["Ok"]["text"].as_str().and_then(state_file) {
                data["Ok"]["text"] = state;
            }
            without(&mut data, ids);
            entries.push((key, entry.kind, aside::times(&data.to_string())));
        })
        .unwrap();
    // The end has no key of its own, and is the last.
    entries.sort_by_key(|(key, kind, _)| (*kind == Kind::End, key.clone()));
    let mut until_called_again: Option<Vec<(u64, String)>> = None;
    entries.retain(|(key, kind, body)| {
        if let Some(scope) = &until_called_again {
            let is_call = *kind == Kind::Intent && body.starts_with(r#"{"do":"agent""#);
            if key.starts_with(scope) && !is_call && *kind != Kind::End {
                return false;
            }
            until_called_again = None;
        }
        if cut_off.contains(key) && *kind == Kind::Outcome {
            until_called_again = Some(key[..key.len() - 1].to_vec());
        }
        !left_out.contains(key) && !cut_off.contains(key)
    });
    let told = |(key, kind, body): (Vec<(u64, String)>, Kind, String)| {
        let word = if kind == Kind::Outcome && of_calls.contains(&key) { aside::CHANGES } else { "" };
        format!("{word}{kind:?} {body}")
    };
    entries.into_iter().map(told).collect()
}
