//! What needs a hand on the connection itself: a full disk, and a reader who will not go.

use std::time::Duration;

use rusqlite::Connection;
use seriatim_core::hash::Hash;
use seriatim_core::redact::Redactor;
use seriatim_core::time::Utc;
use tempfile::TempDir;

use super::Store;
use crate::Append;
use crate::Clean;
use crate::Committed;
use crate::Erased;
use crate::Error;
use crate::Holder;
use crate::Kind;
use crate::Lease;
use crate::NewEntry;
use crate::NewRun;

fn fact(store: &Store, len: usize) -> NewEntry {
    let body = store.clean(vec![b'x'; len]);
    NewEntry { kind: Kind::Fact, key: String::new(), request: Hash::ZERO, at: Utc(1), body }
}

fn begun() -> (TempDir, Store, Holder, Lease) {
    let dir = TempDir::new().unwrap();
    let mut store = Store::open(dir.path(), Redactor::new(&[], &[]).unwrap()).unwrap();
    let holder = Holder::register(&store, "test", Utc(0)).unwrap();
    let run = NewRun {
        name: "run".into(),
        flow: "process".into(),
        flow_version: 1,
        title: String::new(),
        subject: String::new(),
        at: Utc(0),
    };
    let entries = vec![fact(&store, 10)];
    let lease = store.create(vec![(run, entries)], &holder).unwrap().remove(0);
    (dir, store, holder, lease)
}

#[test]
fn e_87_a_full_disk_is_said_so_loses_nothing_and_is_overcome() {
    let (_dir, mut store, _holder, lease) = begun();
    let before = store.tip(lease.run).unwrap();
    let commits = store.commits();
    store.conn.query_row("PRAGMA max_page_count = 20", [], |_| Ok(())).unwrap();
    let mut append = Append::to(&lease);
    append.entries = vec![fact(&store, 10), fact(&store, 400_000)];
    assert!(matches!(store.commit(&[append.clone()]), Err(Error::NoSpace { .. })));
    assert_eq!(store.tip(lease.run).unwrap(), before);
    assert!(store.in_doubt);
    // The connection is opened anew for the next write; the limit was one of the old connection.
    let committed = store.commit(&[append]).unwrap().remove(0);
    assert!(matches!(committed, Committed::Done(done) if done.entries == before.entries + 2));
    assert!(!store.in_doubt);
    assert_eq!(store.commits(), commits + 1);
    assert!(store.verify().is_sound());
}

#[test]
fn a_reader_who_keeps_the_log_is_reported_when_a_body_is_erased() {
    let (_dir, mut store, _holder, lease) = begun();
    let reader = Connection::open(store.path()).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM entry;").unwrap();
    store.conn.busy_timeout(Duration::ZERO).unwrap();
    let erased = store.erase(&lease, 0, Clean::empty(), Utc(2)).unwrap();
    assert_eq!(erased, Erased::GoneButForTheLog);
    drop(reader);
    assert!(store.verify().is_sound());
}

#[test]
fn what_was_refused_for_a_reason_of_ours_leaves_the_connection_as_it_is() {
    let (_dir, mut store, holder, lease) = begun();
    let name = store.run(lease.run).unwrap().name;
    let again = NewRun {
        name,
        flow: "process".into(),
        flow_version: 1,
        title: String::new(),
        subject: String::new(),
        at: Utc(0),
    };
    assert!(matches!(store.create(vec![(again, vec![])], &holder), Err(Error::NameTaken { .. })));
    assert!(!store.in_doubt);
    assert!(store.conn.is_autocommit());
}
