//! A store in a directory of its own, and short words for what tests do with it.

use std::path::Path;
use std::path::PathBuf;

use rusqlite::Connection;
use seriatim_core::hash::Hash;
use seriatim_core::redact::Redactor;
use seriatim_core::time::Utc;
use seriatim_journal::Append;
use seriatim_journal::Committed;
use seriatim_journal::Done;
use seriatim_journal::Holder;
use seriatim_journal::Kind;
use seriatim_journal::Lease;
use seriatim_journal::NewEntry;
use seriatim_journal::NewRun;
use seriatim_journal::OpenCall;
use seriatim_journal::OpenKind;
use seriatim_journal::Status;
use seriatim_journal::Store;
use tempfile::TempDir;

pub(crate) const NOON: Utc = Utc(1_790_000_000_000);

pub(crate) const SECRET: &str = "correct-horse-battery";

pub(crate) fn redactor() -> Redactor {
    Redactor::new(&[], &[SECRET.to_owned()]).unwrap()
}

/// A workspace's state directory.
pub(crate) struct House {
    temp: TempDir,
}

impl House {
    pub(crate) fn new() -> House {
        House { temp: TempDir::new().unwrap() }
    }

    pub(crate) fn dir(&self) -> PathBuf {
        self.temp.path().join(".seriatim")
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.dir().join("journal.db")
    }

    pub(crate) fn open(&self) -> Store {
        Store::open(&self.dir(), redactor()).unwrap()
    }

    /// As an outsider would look at it, with the guards of the tables taken away.
    pub(crate) fn outsider(&self) -> Connection {
        let conn = Connection::open(self.database()).unwrap();
        conn.execute_batch(
            "DROP TRIGGER entry_is_kept; DROP TRIGGER entry_is_fixed; DROP TRIGGER ledger_is_kept;
             DROP TRIGGER ledger_is_fixed;",
        )
        .unwrap();
        conn
    }

    /// All files of the store, as one text in which bytes can be looked for.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut all = Vec::new();
        collect(&self.dir(), &mut all);
        all
    }
}

fn collect(dir: &Path, all: &mut Vec<u8>) {
    for file in std::fs::read_dir(dir).unwrap() {
        let path = file.unwrap().path();
        if path.is_dir() {
            collect(&path, all);
        } else {
            all.extend(std::fs::read(path).unwrap());
        }
    }
}

pub(crate) fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}

pub(crate) fn holder(store: &Store) -> Holder {
    Holder::register(store, "seriatim run process release.yaml", NOON).unwrap()
}

pub(crate) fn new_run(name: &str) -> NewRun {
    NewRun {
        name: name.into(),
        flow: "process".into(),
        flow_version: 3,
        title: format!("Title of {name}"),
        subject: String::new(),
        at: NOON,
    }
}

pub(crate) fn entry(store: &Store, kind: Kind, key: &str, body: &str) -> NewEntry {
    let request = if kind == Kind::Intent { Hash::of(key.as_bytes()) } else { Hash::ZERO };
    NewEntry { kind, key: key.into(), request, at: NOON.plus_ms(1), body: store.clean(body.into()) }
}

/// A run that has begun.
pub(crate) fn begin(store: &mut Store, holder: &Holder, name: &str) -> Lease {
    let start = entry(store, Kind::Start, "", "{\"inputs\":{}}");
    store.create(vec![(new_run(name), vec![start])], holder).unwrap().remove(0)
}

pub(crate) fn commit(store: &mut Store, append: Append) -> Done {
    match store.commit(&[append]).unwrap().remove(0) {
        Committed::Done(done) => done,
        other => panic!("{other:?}"),
    }
}

/// Adds an intent and its outcome.
pub(crate) fn step(store: &mut Store, lease: &Lease, key: &str, body: &str) -> Done {
    let mut append = Append::to(lease);
    append.entries = vec![entry(store, Kind::Intent, key, body), entry(store, Kind::Outcome, key, body)];
    commit(store, append)
}

pub(crate) fn question(store: &Store, key: &str, body: &str) -> OpenCall {
    OpenCall {
        key: key.into(),
        kind: OpenKind::Question,
        digest: Hash::of(body.as_bytes()),
        body: store.clean(body.into()),
    }
}

/// Asks a question, waits for its answer and gives the lease back; the question's id.
pub(crate) fn park(store: &mut Store, lease: &Lease, key: &str, body: &str) -> String {
    let mut append = Append::to(lease);
    append.entries = vec![entry(store, Kind::Intent, key, body)];
    append.open = vec![question(store, key, body)];
    append.status = Some((Status::Waiting, "a person".into()));
    append.release = true;
    commit(store, append).opened.remove(0)
}

pub(crate) fn finish(store: &mut Store, lease: &Lease) {
    let mut append = Append::to(lease);
    append.entries = vec![entry(store, Kind::End, "", "{\"outcome\":\"good\"}")];
    append.status = Some((Status::Completed, String::new()));
    append.release = true;
    commit(store, append);
}

/// One of everything: a finished run, a waiting one with a question and an answer, one that is under way.
pub(crate) fn furnish(store: &mut Store, holder: &Holder) {
    let done = begin(store, holder, "run-done");
    step(store, &done, "build", "{\"argv\":[\"make\"]}");
    step(store, &done, "long", &"x".repeat(9_000));
    finish(store, &done);
    let waiting = begin(store, holder, "run-waiting");
    let mut append = Append::to(&waiting);
    append.projections = vec![("docs/log.yaml".into(), Hash::of(b"log"))];
    commit(store, append);
    let id = park(store, &waiting, "approve", "{\"question\":\"Shall it go out?\"}");
    let answer = crate::calls::answer(store, &id, "{\"question\":\"Shall it go out?\"}", "approve", "ada");
    store.signal(&answer).unwrap();
    let under_way = begin(store, holder, "run-under-way");
    step(store, &under_way, "first", "{}");
    step(store, &under_way, "second", "{}");
}
