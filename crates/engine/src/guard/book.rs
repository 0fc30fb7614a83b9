//! The book of the guard: every event in one chain, memos of open steps, and the audit files made from it.
//!
//! One [`Desk`] is one transaction. What has to be seen outside (state files, lines of the audit trail) is written
//! after it is durable and before anybody else writes, so that the files never run ahead of the record.

mod memory;
mod writes;

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use seriatim_core::hash::Hash;
use seriatim_core::question::Answer;
use seriatim_core::question::Question;
use seriatim_core::redact::Redactor;
use seriatim_core::roadmap::audit;
use seriatim_core::roadmap::audit::Event;
use seriatim_core::roadmap::audit::Happening;
use seriatim_core::time::Utc;
use seriatim_journal::Door;
use seriatim_journal::Kind;
use seriatim_journal::NewEntry;
use seriatim_journal::NewRun;
use seriatim_journal::OpenCall;
use seriatim_journal::OpenKind;
use seriatim_journal::Page;
use seriatim_journal::RunRef;
use seriatim_journal::Store;

use super::GuardError;
use super::project::Project;
use super::step;
use super::step::OpenStep;
use crate::hands::files::Links;
use crate::hands::files::Write;
use crate::ports::Stores;

/// The name under which the book stands among the runs.
pub const FLOW: &str = "guard";
/// What belongs to no step is told here, in the store.
const PROJECT_TRAIL: &str = ".seriatim/guard";
const TRAIL: &str = "audit:";
/// Steps that a passed gate has closed.
const FINISHED: &str = "finished:";

pub struct Book {
    store: Store,
    /// The open steps as they were last read, until anybody writes.
    steps: RefCell<Option<Vec<OpenStep>>>,
}

/// How far an audit file was written.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Written {
    bytes: u64,
}

/// One transaction of the book.
pub struct Desk<'d, 'p> {
    pub(super) project: &'d Project,
    pub(super) now: Utc,
    page: &'d mut Page<'p>,
    door: Door,
    trails: BTreeMap<String, Trail>,
    files: Vec<(String, String)>,
}

/// What is to be added to one audit file.
struct Trail {
    written: Written,
    add: String,
    /// The whole text, where the file was not as it was left.
    restore: Option<String>,
}

/// What has to be written once the transaction is durable.
struct Outside {
    trails: Vec<(String, Trail)>,
    files: Vec<(String, String)>,
}

impl Book {
    /// Opens the book for a process that lives for a moment.
    pub fn open(project: &Project, stores: &dyn Stores, redactor: Redactor) -> Result<Book, GuardError> {
        let mut home = project.place();
        // A hook has no person to tell about a move; the next command finds the store where it belongs.
        home.settle()?;
        let store = stores.open(home.store(), redactor)?.at(&home.key());
        Ok(Book::over(store))
    }

    /// Makes a book of a store that is open already.
    pub fn over(store: Store) -> Book {
        Book { store, steps: RefCell::default() }
    }

    /// The steps that are open. One hook asks for them several times, and hardly ever has anybody written in between.
    pub fn steps(&self) -> Result<Vec<OpenStep>, GuardError> {
        let mut known = self.steps.borrow_mut();
        if self.store.changed()? {
            *known = None;
        }
        if let Some(steps) = &*known {
            return Ok(steps.clone());
        }
        let Some(book) = self.store.book(FLOW)? else { return Ok(vec![]) };
        let steps = read_steps(self.store.memos(book, step::PREFIX)?);
        *known = Some(steps.clone());
        Ok(steps)
    }

    /// The steps that a passed gate has closed.
    pub fn finished(&self) -> Result<Vec<OpenStep>, GuardError> {
        let Some(book) = self.store.book(FLOW)? else { return Ok(vec![]) };
        Ok(read_steps(self.store.memos(book, FINISHED)?))
    }

    /// Does `work` in one transaction; then its files are written. When it fails, nothing happened.
    pub fn write<T>(
        &mut self,
        project: &Project,
        now: Utc,
        work: impl FnOnce(&mut Desk<'_, '_>) -> Result<T, GuardError>,
    ) -> Result<T, GuardError> {
        self.steps.take();
        write(&mut self.store, project, now, work)
    }

    /// Writes again what a process did not come to write that died after its transaction.
    pub(super) fn complete_writes(&mut self, project: &Project, now: Utc) -> Result<(), GuardError> {
        match writes::any_missing(&self.store, project)? {
            true => self.write(project, now, |_| Ok(())),
            false => Ok(()),
        }
    }

    /// Ends the use of the book by a process that ends itself at once.
    pub(super) fn leave(self, stores: &dyn Stores) {
        stores.leave(self.store);
    }

    /// Ends the use of the book when nobody is in a hurry: what hooks left in the write-ahead log is moved into the
    /// database.
    pub(super) fn tidy(self) -> Result<(), GuardError> {
        Ok(self.store.tidy()?)
    }
}

/// Does `work` in one transaction of the book in `store`; then its files are written. When it fails, nothing happened.
pub(crate) fn write<T>(
    store: &mut Store,
    project: &Project,
    now: Utc,
    work: impl FnOnce(&mut Desk<'_, '_>) -> Result<T, GuardError>,
) -> Result<T, GuardError> {
    if writes::any_missing(store, project)? {
        let written = transact(store, project, now, |desk| desk.write_missing())?;
        writes::clear_folders(project, &written);
    }
    transact(store, project, now, |desk| {
        desk.forget_written()?;
        work(desk)
    })
}

fn transact<T>(
    store: &mut Store,
    project: &Project,
    now: Utc,
    work: impl FnOnce(&mut Desk<'_, '_>) -> Result<T, GuardError>,
) -> Result<T, GuardError> {
    let door = store.door().clone();
    let new = NewRun {
        name: FLOW.to_owned(),
        flow: FLOW.to_owned(),
        flow_version: 1,
        title: "The guard of live sessions".to_owned(),
        subject: String::new(),
        at: now,
    };
    let mut trouble = Ok(());
    let written = store.write_book(
        &new,
        |page| {
            let mut desk = Desk { project, now, page, door, trails: BTreeMap::new(), files: vec![] };
            let value = work(&mut desk)?;
            let outside = desk.finish()?;
            Ok::<_, GuardError>((value, outside))
        },
        |(_, outside)| trouble = outside.write(project),
    )?;
    let (value, _) = written?;
    trouble.map(|()| value)
}

/// What was remembered under a key in the book of `store`, if it can still be read.
pub(crate) fn memo<T: DeserializeOwned>(store: &Store, key: &str) -> Result<Option<T>, GuardError> {
    let Some(book) = store.book(FLOW)? else { return Ok(None) };
    let bytes = store.memo(book, key)?;
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

fn read_steps(memos: Vec<(String, Vec<u8>)>) -> Vec<OpenStep> {
    memos.into_iter().filter_map(|(_, bytes)| serde_json::from_slice(&bytes).ok()).collect()
}

impl Desk<'_, '_> {
    pub fn steps(&self) -> Result<Vec<OpenStep>, GuardError> {
        Ok(read_steps(self.page.memos(step::PREFIX)?))
    }

    pub fn step(&self, step_file: &str, task_id: &str) -> Result<Option<OpenStep>, GuardError> {
        let bytes = self.page.memo(&step::key(step_file, task_id))?;
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }

    /// Remembers a step as it is now.
    pub fn keep(&mut self, step: &OpenStep) -> Result<(), GuardError> {
        let value = self.door.clean(json_of(step)?);
        Ok(self.page.set(&step.key(), &value)?)
    }

    /// A passed gate closed the step. What it cost is still known.
    pub fn close(&mut self, step: &OpenStep) -> Result<(), GuardError> {
        let finished = OpenStep { base: None, ..step.clone() };
        let value = self.door.clean(json_of(&finished)?);
        self.page.set(&format!("{FINISHED}{}", step.key()), &value)?;
        Ok(self.page.forget(&step.key())?)
    }

    /// Asks a person about something, once.
    pub(super) fn ask(&mut self, key: &str, question: &Question) -> Result<String, GuardError> {
        let bytes = json_of(question)?;
        let digest = Hash::of(&bytes);
        let body = self.door.clean(bytes);
        let call = OpenCall { key: key.to_owned(), kind: OpenKind::Question, digest, body };
        Ok(self.page.ask(&call, self.now)?)
    }

    /// Takes notice of what a person answered.
    pub(super) fn answered(&mut self, key: &str, answer: &Answer) -> Result<(), GuardError> {
        let body = self.door.clean(json_of(answer)?);
        Ok(self.page.answer(key, body, self.now)?)
    }

    /// An event of a step, or of the project when it names no file.
    pub fn event(&self, happening: Happening, step_file: &str) -> Event {
        Event::new(self.now, happening, step_file)
    }

    /// Puts an event into the book and onto the trail.
    pub fn happened(&mut self, event: &Event) -> Result<(), GuardError> {
        let file = match event.step_file.is_empty() {
            true => format!("{PROJECT_TRAIL}/{}", event.file_name()),
            false => audit::trail_of(&event.step_file, event.at),
        };
        self.record_line(&file, &event.line())
    }

    /// Puts a line into the book and onto a trail.
    pub(crate) fn record_line(&mut self, file: &str, line: &str) -> Result<(), GuardError> {
        if !self.trails.contains_key(file) {
            let trail = self.open_trail(file)?;
            self.trails.insert(file.to_owned(), trail);
        }
        self.add_line(file, line)
    }

    fn add_line(&mut self, file: &str, line: &str) -> Result<(), GuardError> {
        let body = self.door.clean(line.as_bytes().to_vec());
        let line = String::from_utf8_lossy(body.as_bytes()).into_owned();
        let key = format!("{TRAIL}{file}");
        self.page.add(NewEntry { kind: Kind::Fact, key, request: Hash::ZERO, at: self.now, body })?;
        if let Some(trail) = self.trails.get_mut(file) {
            trail.add.push_str(&line);
            trail.add.push('\n');
        }
        Ok(())
    }

    /// Looks whether an audit file is as it was left. If not, that is an incident, and the file is made anew from the
    /// book (DS-63, E-78).
    fn open_trail(&mut self, file: &str) -> Result<Trail, GuardError> {
        let key = format!("{TRAIL}{file}");
        let path = self.project.file(file);
        let memo = self.page.memo(&key)?.and_then(|bytes| serde_json::from_slice::<Written>(&bytes).ok());
        let length = self.project.files.stamp(&path, Links::Follow)?.map_or(0, |found| found.size_bytes);
        match memo {
            Some(written) if written.bytes == length => {
                return Ok(Trail { written, add: String::new(), restore: None });
            }
            // The first line of the day; what another tool wrote before stays in front.
            None if length == 0 => {
                return Ok(Trail { written: Written::default(), add: String::new(), restore: None });
            }
            _ => {}
        }
        let found = self.project.read(file)?.unwrap_or_default();
        let lines = expected(&self.page.bodies(&key)?);
        if lines.is_empty() {
            self.adopt(file, &found)?;
            let written = Written { bytes: length };
            return Ok(Trail { written, add: String::new(), restore: None });
        }
        let expected = format!("{}{lines}", self.adopted_part(file, &found)?);
        let what = damage(&expected, &found);
        let trail = Trail { written: Written::default(), add: String::new(), restore: Some(expected) };
        self.trails.insert(file.to_owned(), trail);
        let incident = self.event(Happening::IntegrityIncident, "").with("file", file).with(
            "what",
            format!("the audit trail was not as it was left: {what}; it was made anew from the record"),
        );
        self.add_line(file, &incident.line())?;
        self.trails.remove(file).ok_or_else(|| GuardError::Refused(format!("{file} cannot be restored")))
    }

    /// The part of a file that was there before the guard, if it is still as it was.
    fn adopted_part(&self, file: &str, found: &str) -> Result<String, GuardError> {
        let Some(body) = self.page.last_body(&format!("adopted:{file}"))? else { return Ok(String::new()) };
        let Some((bytes, hash)) = adoption(&body) else { return Ok(String::new()) };
        let part = usize::try_from(bytes).ok().and_then(|bytes| found.get(..bytes)).unwrap_or_default();
        Ok(if Hash::of(part.as_bytes()) == hash { part.to_owned() } else { String::new() })
    }

    /// Lines that another tool wrote before are covered from now on. Lines that only we can have written since the
    /// project is guarded should be in the book: that they are not is put on record (DS-63).
    fn adopt(&mut self, file: &str, found: &str) -> Result<(), GuardError> {
        let since = self.project.guarded_since();
        let ours = |entry: &audit::Entry| {
            entry.happening.is_some() && since.is_some_and(|since| entry.at.is_some_and(|at| at > since))
        };
        if audit::read(found).entries.iter().any(ours) {
            let what = format!(
                "{file} has lines that are younger than the guard, and the record that made them is gone"
            );
            let event = self.event(Happening::IntegrityIncident, "").with("file", file).with("what", what);
            let key = format!("incident:{file}");
            let body = self.door.clean(event.line().into_bytes());
            self.page.add(NewEntry { kind: Kind::Fact, key, request: Hash::ZERO, at: self.now, body })?;
        }
        let adopted = json!({"adopted": {"bytes": found.len(), "sha256": Hash::of(found.as_bytes())}});
        let body = self.door.clean(adopted.to_string().into_bytes());
        let key = format!("adopted:{file}");
        self.page.add(NewEntry { kind: Kind::Note, key, request: Hash::ZERO, at: self.now, body })?;
        Ok(())
    }

    /// A state file as it shall be, once this transaction is durable. The text goes into the book as well, so that a
    /// crash in between loses nothing.
    pub fn write_state(&mut self, path: &str, text: String) -> Result<Hash, GuardError> {
        let hash = Hash::of(text.as_bytes());
        self.saw_state(path, &text)?;
        self.expect_write(path, hash)?;
        self.files.push((path.to_owned(), text));
        Ok(hash)
    }

    /// A state file as it was found: later edits by other hands are compared with it.
    pub fn saw_state(&mut self, path: &str, text: &str) -> Result<(), GuardError> {
        self.note_state(&format!("state:{path}"), path, text)
    }

    /// What another hand wrote and was not taken over: nothing that anybody wrote is lost.
    pub(super) fn refused_state(&mut self, path: &str, text: &str) -> Result<(), GuardError> {
        self.note_state(&format!("refused:{path}"), path, text)
    }

    fn note_state(&mut self, key: &str, path: &str, text: &str) -> Result<(), GuardError> {
        let body = self.door.clean(json!({"state": path, "text": text}).to_string().into_bytes());
        let entry =
            NewEntry { kind: Kind::Fact, key: key.to_owned(), request: Hash::ZERO, at: self.now, body };
        self.page.add(entry)?;
        Ok(())
    }

    /// The text that was last written to a state file, if any.
    pub fn last_state(&self, path: &str) -> Result<Option<String>, GuardError> {
        let body = self.page.last_body(&format!("state:{path}"))?;
        let text = body.and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok());
        Ok(text.and_then(|value| value["text"].as_str().map(str::to_owned)))
    }

    fn finish(self) -> Result<Outside, GuardError> {
        let Desk { page, door, trails, files, .. } = self;
        for (file, trail) in &trails {
            let before = trail.restore.as_ref().map_or(trail.written.bytes, |text| text.len() as u64);
            let written = Written { bytes: before + trail.add.len() as u64 };
            let value = door.clean(json_of(&written)?);
            page.set(&format!("{TRAIL}{file}"), &value)?;
        }
        Ok(Outside { trails: trails.into_iter().collect(), files })
    }
}

/// What happened to a trail that is not as it was left. A last line without its end is what a loss of power leaves
/// behind, and nobody's doing (E-78).
fn damage(expected: &str, found: &str) -> &'static str {
    // The cut may have gone through a character.
    let found = found.trim_end_matches(['\u{fffd}', '\0']);
    match found.strip_prefix(expected) {
        Some(more) if !more.contains('\n') => "its last line was not written to its end",
        None if expected.starts_with(found) => "its last lines were missing or not written to their end",
        _ => "it was altered",
    }
}

/// The text that the book makes of a trail.
fn expected(bodies: &[Vec<u8>]) -> String {
    bodies.iter().map(|body| format!("{}\n", String::from_utf8_lossy(body))).collect()
}

/// How much of a file was there before the guard, and its hash.
fn adoption(body: &[u8]) -> Option<(u64, Hash)> {
    let value: serde_json::Value = serde_json::from_slice(body).ok()?;
    let adopted = value.get("adopted")?;
    Some((adopted["bytes"].as_u64()?, serde_json::from_value(adopted["sha256"].clone()).ok()?))
}

impl Outside {
    /// Writes the trails first, and where a state file comes with them as durably as that. So whoever finds the state
    /// file as it shall be knows that no line of its trail is missing, and whoever does not, writes both.
    fn write(&self, project: &Project) -> Result<(), GuardError> {
        let files = project.files.as_ref();
        let durable = !self.files.is_empty();
        for (file, trail) in &self.trails {
            let path = project.file(file);
            match &trail.restore {
                Some(text) => {
                    let whole = format!("{text}{}", trail.add);
                    let how = if durable { Write::DURABLE } else { Write::REBUILDABLE };
                    files.write(&path, whole.as_bytes(), how)?;
                }
                None if trail.add.is_empty() => {}
                None => files.append(&path, trail.add.as_bytes(), durable)?,
            }
        }
        for (path, text) in &self.files {
            files.write(&project.file(path), text.as_bytes(), Write::DURABLE)?;
        }
        Ok(())
    }
}

/// The JSON of something that goes into the book. Nothing is recorded in the place of what cannot be written.
fn json_of(value: &impl Serialize) -> Result<Vec<u8>, GuardError> {
    serde_json::to_vec(value).map_err(|error| GuardError::Refused(format!("it cannot be recorded: {error}")))
}

/// What the book says an audit file must hold: its lines, and how much of the file was there before.
pub struct Expected {
    pub file: String,
    pub adopted: Option<(u64, Hash)>,
    pub text: String,
}

/// The audit files that a book makes, for those who verify it.
pub fn trails(store: &Store, book: RunRef) -> Result<Vec<Expected>, seriatim_journal::Error> {
    let mut files: BTreeMap<String, Expected> = BTreeMap::new();
    store.load(book, |entry| {
        let body = String::from_utf8_lossy(entry.body.unwrap_or_default()).into_owned();
        let of = |file: &str| Expected { file: file.to_owned(), adopted: None, text: String::new() };
        if let Some(file) = entry.key.strip_prefix(TRAIL) {
            let trail = files.entry(file.to_owned()).or_insert_with(|| of(file));
            trail.text.push_str(&body);
            trail.text.push('\n');
        } else if let Some(file) = entry.key.strip_prefix("adopted:") {
            files.entry(file.to_owned()).or_insert_with(|| of(file)).adopted = adoption(body.as_bytes());
        }
    })?;
    Ok(files.into_values().collect())
}

/// What the book says about records that are gone: sentences for those who verify it.
pub fn losses(store: &Store, book: RunRef) -> Result<Vec<String>, seriatim_journal::Error> {
    let mut found = vec![];
    store.load(book, |entry| {
        let line = entry.body.filter(|_| entry.key.starts_with("incident:"));
        let line = line.and_then(|body| serde_json::from_slice::<serde_json::Value>(body).ok());
        found.extend(line.and_then(|line| line["what"].as_str().map(str::to_owned)));
    })?;
    Ok(found)
}
