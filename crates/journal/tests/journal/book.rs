//! Books: many short-lived writers, one chain, and memos that go with it.

use std::thread;

use seriatim_core::hash::Hash;
use seriatim_journal::Kind;
use seriatim_journal::NewEntry;
use seriatim_journal::NewRun;
use seriatim_journal::Store;

use crate::support::House;
use crate::support::NOON;
use crate::support::redactor;

fn guard() -> NewRun {
    NewRun {
        name: "guard".into(),
        flow: "guard".into(),
        flow_version: 1,
        title: "The guard".into(),
        subject: String::new(),
        at: NOON,
    }
}

/// Adds one entry and counts it in a memo, as a hook does.
fn note(store: &mut Store, text: &str) -> u64 {
    let body = store.clean(text.as_bytes().to_vec());
    let door = store.door().clone();
    store
        .write_book(
            &guard(),
            |page| {
                let count =
                    page.memo("count")?.map_or(0, |bytes| String::from_utf8(bytes).unwrap().parse().unwrap());
                let entry =
                    NewEntry { kind: Kind::Fact, key: String::new(), request: Hash::ZERO, at: NOON, body };
                page.add(entry)?;
                page.set("count", &door.clean((count + 1_u64).to_string().into_bytes()))?;
                Ok::<u64, seriatim_journal::Error>(count + 1)
            },
            |_| {},
        )
        .unwrap()
        .unwrap()
}

#[test]
fn ds_69_ds_85_fifty_writers_at_once_lose_nothing_and_the_chain_holds() {
    let house = House::new();
    let dir = house.dir();
    thread::scope(|scope| {
        for i in 0..50 {
            let dir = &dir;
            scope.spawn(move || {
                let mut store = Store::open_for_hook(dir, redactor()).unwrap();
                note(&mut store, &format!("{{\"writer\":{i}}}"));
            });
        }
    });
    let store = house.open();
    let book = store.book("guard").unwrap().unwrap();
    let mut bodies = vec![];
    let tip = store.load(book, |entry| bodies.push(entry.body.unwrap().to_vec())).unwrap();
    bodies.sort();
    bodies.dedup();
    assert_eq!((tip.entries, bodies.len()), (50, 50));
    assert_eq!(store.memo(book, "count").unwrap().unwrap(), b"50");
    assert!(store.verify().is_sound(), "{:?}", store.verify());
}

#[test]
fn what_fails_leaves_nothing_and_is_not_shown() {
    let house = House::new();
    let mut store = house.open();
    note(&mut store, "{}");
    let door = store.door().clone();
    let refused = store.write_book(
        &guard(),
        |page| {
            page.set("count", &door.clean(b"9".to_vec())).unwrap();
            Err::<(), &str>("no")
        },
        |()| panic!("shown"),
    );
    assert_eq!(refused.unwrap(), Err("no"));
    let book = store.book("guard").unwrap().unwrap();
    assert_eq!(store.memo(book, "count").unwrap().unwrap(), b"1");
    assert_eq!(store.tip(book).unwrap().entries, 1);
}

#[test]
fn a_memo_that_was_changed_from_outside_is_no_memo_and_is_found() {
    let house = House::new();
    let mut store = house.open();
    note(&mut store, "{}");
    let book = store.book("guard").unwrap().unwrap();
    house.outsider().execute("UPDATE memo SET value = x'37'", []).unwrap();
    assert_eq!(store.memo(book, "count").unwrap(), None);
    let problems = store.verify().problems;
    assert!(
        problems.iter().any(|p| p.flaw.to_string() == "the memo `count` was changed from outside"),
        "{problems:?}"
    );
}

#[test]
fn an_entry_that_was_cut_off_is_found_before_anything_is_added() {
    let house = House::new();
    let mut store = house.open();
    for _ in 0..3 {
        note(&mut store, "{}");
    }
    house.outsider().execute("DELETE FROM entry WHERE id & 0xffffffff = 2", []).unwrap();
    let written = store.write_book(&guard(), |_| Ok::<(), ()>(()), |()| {});
    assert!(written.is_err());
    assert!(!store.verify().is_sound());
}
