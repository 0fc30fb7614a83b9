//! Erasing: the words are gone from every file, and the chain still holds.

use seriatim_journal::Call;
use seriatim_journal::Erased;
use seriatim_journal::Error;
use seriatim_journal::Kind;
use seriatim_journal::Lease;

use crate::support::*;

#[test]
fn an_erased_body_is_gone_from_the_files_and_the_chain_still_holds() {
    let house = House::new();
    let mut store = house.open();
    let holder = holder(&store);
    let lease = begin(&mut store, &holder, "run");
    let (small, large) = ("the small indiscretion", "the large indiscretion ".repeat(1_000));
    for i in 0..50 {
        step(&mut store, &lease, &format!("before:{i}"), "{}");
    }
    step(&mut store, &lease, "small", small);
    step(&mut store, &lease, "large", &large);
    for i in 0..50 {
        step(&mut store, &lease, &format!("after:{i}"), "{}");
    }
    for seq in [101, 102, 103, 104] {
        let why = store.clean(b"asked for by ada".to_vec());
        assert_eq!(store.erase(&lease, seq, why, NOON).unwrap(), Erased::Gone);
    }
    assert!(!contains(&house.bytes(), b"indiscretion"));
    assert!(store.verify().is_sound());
    let mut bodiless = Vec::new();
    let mut notes = Vec::new();
    let tip = store
        .load(lease.run, |entry| {
            if entry.body.is_none() {
                bodiless.push(entry.seq);
            }
            if entry.kind == Kind::Note {
                notes.push(entry.key.to_owned());
            }
        })
        .unwrap();
    assert_eq!(tip.entries, 209);
    assert_eq!(bodiless, [101, 102, 103, 104]);
    assert_eq!(notes, ["erased:101", "erased:102", "erased:103", "erased:104"]);
}

#[test]
fn question_and_answer_go_with_the_entry_that_they_belong_to() {
    let house = House::new();
    let mut store = house.open();
    let holder = holder(&store);
    let lease = begin(&mut store, &holder, "run");
    let id = park(&mut store, &lease, "approve", "a delicate question");
    let answer = crate::calls::answer(&store, &id, "a delicate question", "a delicate answer", "ada");
    store.signal(&answer).unwrap();
    let lease = store.acquire(&[lease.run], &holder, NOON).unwrap().remove(0).unwrap();
    store.erase(&lease, 1, seriatim_journal::Clean::empty(), NOON).unwrap();
    assert!(!contains(&house.bytes(), b"delicate"));
    let Call::Open(open) = store.call(&id).unwrap() else { panic!() };
    assert_eq!((open.body, open.answered.unwrap().body), (vec![], None));
    assert!(store.verify().is_sound());
}

#[test]
fn only_the_holder_erases_and_only_what_is_there() {
    let house = House::new();
    let mut store = house.open();
    let holder = holder(&store);
    let lease = begin(&mut store, &holder, "run");
    let erase = |store: &mut seriatim_journal::Store, lease: &Lease, seq| {
        store.erase(lease, seq, seriatim_journal::Clean::empty(), NOON)
    };
    assert!(matches!(erase(&mut store, &lease, 9), Err(Error::NoSuchEntry { seq: 9, .. })));
    let stale = Lease { token: lease.token + 1, ..lease };
    assert!(matches!(erase(&mut store, &stale, 0), Err(Error::Fenced { .. })));
}
