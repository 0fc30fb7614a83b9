//! Opening: by many at once, without writing, and what is not ours.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use rusqlite::Connection;
use seriatim_journal::Error;
use seriatim_journal::Filter;
use seriatim_journal::Store;

use crate::support::*;

#[test]
fn many_who_come_first_at_once_all_find_a_store() {
    for _ in 0..10 {
        let house = House::new();
        std::thread::scope(|scope| {
            for name in ["a", "b", "c", "d", "e", "f", "g", "h"] {
                let house = &house;
                scope.spawn(move || {
                    let mut store = house.open();
                    let holder = holder(&store);
                    begin(&mut store, &holder, name);
                    store.close().unwrap();
                });
            }
        });
        let report = house.open().verify();
        assert_eq!((report.runs, report.problems), (8, vec![]));
    }
}

#[test]
fn looking_for_a_store_creates_none() {
    let house = House::new();
    assert!(Store::open_read_only(&house.dir(), redactor()).unwrap().is_none());
    assert!(!house.dir().exists());
}

#[test]
fn a_reader_sees_what_writers_do_and_cannot_write() {
    let house = House::new();
    let mut store = house.open();
    let holder = holder(&store);
    let mut reader = Store::open_read_only(&house.dir(), redactor()).unwrap().unwrap();
    let lease = begin(&mut store, &holder, "run");
    step(&mut store, &lease, "build", "{}");
    assert!(reader.changed().unwrap());
    assert_eq!(reader.load(lease.run, |_| {}).unwrap().entries, 3);
    assert!(reader.verify().is_sound());
    assert!(matches!(reader.acquire(&[lease.run], &holder, NOON), Err(Error::ReadOnly { .. })));
}

#[test]
fn a_closed_store_leaves_one_database_and_is_read_where_nothing_can_be_written() {
    let house = House::new();
    let mut store = house.open();
    let we = holder(&store);
    furnish(&mut store, &we);
    drop(we);
    store.close().unwrap();
    let mut files =
        std::fs::read_dir(house.dir()).unwrap().map(|f| f.unwrap().file_name()).collect::<Vec<_>>();
    files.sort();
    assert_eq!(files, ["holders", "journal.db", "journal.lock", "journal.next"]);
    std::fs::set_permissions(house.dir(), Permissions::from_mode(0o500)).unwrap();
    let reader = Store::open_read_only(&house.dir(), redactor()).unwrap().unwrap();
    assert_eq!(reader.runs(&Filter::default()).unwrap().runs.len(), 3);
    assert!(reader.verify().is_sound());
    std::fs::set_permissions(house.dir(), Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_hook_leaves_the_log_to_others() {
    let house = House::new();
    house.open().close().unwrap();
    let mut store = Store::open_for_hook(&house.dir(), redactor()).unwrap();
    let holder = holder(&store);
    begin(&mut store, &holder, "hook");
    store.close().unwrap();
    assert!(house.dir().join("journal.db-wal").metadata().unwrap().len() > 0);
    house.open().close().unwrap();
    assert!(!house.dir().join("journal.db-wal").exists());
    assert_eq!(house.open().verify().runs, 1);
}

#[test]
fn what_is_not_ours_is_left_alone() {
    let house = House::new();
    std::fs::create_dir_all(house.dir()).unwrap();
    std::fs::write(
        house.database(),
        "notes of somebody else, long enough to be looked at as a header\n".repeat(9),
    )
    .unwrap();
    assert!(matches!(Store::open(&house.dir(), redactor()), Err(Error::NotADatabase { .. })));
    assert!(matches!(Store::open_read_only(&house.dir(), redactor()), Err(Error::NotADatabase { .. })));
    std::fs::remove_file(house.database()).unwrap();
    Connection::open(house.database()).unwrap().execute_batch("CREATE TABLE t(x)").unwrap();
    assert!(matches!(Store::open(&house.dir(), redactor()), Err(Error::Foreign { .. })));
}

#[test]
fn a_store_of_a_newer_version_is_not_touched() {
    let house = House::new();
    house.open().close().unwrap();
    Connection::open(house.database()).unwrap().execute_batch("PRAGMA user_version = 999").unwrap();
    let Err(Error::Newer { found, supported, .. }) = Store::open(&house.dir(), redactor()) else { panic!() };
    assert_eq!((found, supported), (999, 3));
}
