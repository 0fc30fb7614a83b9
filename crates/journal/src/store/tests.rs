//! What needs a hand on the connection itself: a full disk, and a reader who will not go.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use seriatim_core::hash::Hash;
use seriatim_core::redact::Redactor;
use seriatim_core::time::Utc;
use tempfile::TempDir;

use super::LOG_PAGES_MAX;
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
use crate::Page;
use crate::Tip;

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

/// What a hook does to a store: it comes, adds to a book, and goes.
fn visit(dir: &Path) -> Tip {
    let mut store = Store::open_for_hook(dir, Redactor::new(&[], &[]).unwrap()).unwrap();
    let book = NewRun {
        name: "book".into(),
        flow: "book".into(),
        flow_version: 1,
        title: String::new(),
        subject: String::new(),
        at: Utc(0),
    };
    let entry = fact(&store, 100);
    let add = |page: &mut Page<'_>| page.add(entry).map(|_| page.tip());
    store.write_book(&book, add, |_| {}).unwrap().unwrap()
}

fn log_bytes(dir: &Path) -> u64 {
    dir.join("journal.db-wal").metadata().unwrap().len()
}

#[test]
fn the_log_that_hooks_leave_is_used_again_and_stays_short() {
    let dir = TempDir::new().unwrap();
    let longest = (0..100).map(|_| {
        visit(dir.path());
        log_bytes(dir.path())
    });
    let longest = longest.max().unwrap();
    // A commit is a few pages, and each has a short header.
    assert!(longest < 2 * LOG_PAGES_MAX as u64 * 4_120, "{longest}");
    assert_eq!(log_bytes(dir.path()), longest, "a log is written over, not cut");
    assert_eq!(visit(dir.path()).entries, 101);
}

#[test]
fn a_reader_who_will_not_go_keeps_no_hook_from_writing() {
    let dir = TempDir::new().unwrap();
    visit(dir.path());
    let reader = Connection::open(dir.path().join("journal.db")).unwrap();
    // The last one to go would take the log away.
    reader.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
    reader.execute_batch("BEGIN; SELECT * FROM entry").unwrap();
    for entries in 2..60 {
        assert_eq!(visit(dir.path()).entries, entries);
    }
    let seen: i64 = reader.query_row("SELECT count(*) FROM entry", [], |row| row.get(0)).unwrap();
    assert_eq!(seen, 1);
    let long = log_bytes(dir.path());
    reader.execute_batch("COMMIT").unwrap();
    drop(reader);
    for _ in 0..60 {
        visit(dir.path());
    }
    assert_eq!(log_bytes(dir.path()), long, "the log is begun anew once nobody reads it");
}
