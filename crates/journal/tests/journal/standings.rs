//! A writer remembers where its runs stand, and never takes what it remembers for what is there.

use seriatim_journal::Append;
use seriatim_journal::Committed;
use seriatim_journal::Flaw;

use crate::support::House;
use crate::support::begin;
use crate::support::holder;
use crate::support::park;
use crate::support::step;

#[test]
fn a_lease_that_passed_on_between_two_appends_is_noticed() {
    let house = House::new();
    let (mut mine, mut theirs) = (house.open(), house.open());
    let me = holder(&mine);
    let lease = begin(&mut mine, &me, "run");
    step(&mut mine, &lease, "first", "{}");
    step(&mut mine, &lease, "second", "{}");
    drop(me);
    let they = holder(&theirs);
    let taken = theirs.acquire(&[lease.run], &they, crate::support::NOON).unwrap().remove(0).unwrap();
    step(&mut theirs, &taken, "third", "{}");
    let refused = mine.commit(&[Append::to(&lease)]).unwrap().remove(0);
    assert_eq!(refused, Committed::Fenced { holder: Some(they.info().clone()) });
    assert!(theirs.verify().is_sound());
}

#[test]
fn a_row_that_was_changed_between_two_appends_is_noticed() {
    let house = House::new();
    let mut store = house.open();
    let holder = holder(&store);
    let lease = begin(&mut store, &holder, "run");
    step(&mut store, &lease, "first", "{}");
    house.outsider().execute("UPDATE run SET title = title, waiting_for = 'nobody'", []).unwrap();
    let refused = store.commit(&[Append::to(&lease)]).unwrap().remove(0);
    assert_eq!(refused, Committed::Broken { flaw: Flaw::Row });
}

#[test]
fn a_lease_of_the_same_process_outdates_its_older_one() {
    let house = House::new();
    let mut store = house.open();
    let holder = holder(&store);
    let first = begin(&mut store, &holder, "run");
    step(&mut store, &first, "first", "{}");
    park(&mut store, &first, "approve", "Shall it?");
    let second = store.acquire(&[first.run], &holder, crate::support::NOON).unwrap().remove(0).unwrap();
    let refused = store.commit(&[Append::to(&first)]).unwrap().remove(0);
    assert!(matches!(refused, Committed::Fenced { .. }), "{refused:?}");
    assert_eq!(step(&mut store, &second, "second", "{}").entries, 6);
    assert!(store.verify().is_sound());
}

#[test]
fn appends_to_one_run_in_one_batch_follow_each_other() {
    let house = House::new();
    let mut store = house.open();
    let holder = holder(&store);
    let lease = begin(&mut store, &holder, "run");
    let append = |key: &str| Append {
        entries: vec![crate::support::entry(&store, seriatim_journal::Kind::Fact, key, "{}")],
        ..Append::to(&lease)
    };
    let batch = [append("first"), append("second")];
    let done = store.commit(&batch).unwrap();
    assert!(matches!(&done[1], Committed::Done(done) if done.entries == 3), "{done:?}");
    assert!(store.verify().is_sound());
}

#[test]
fn a_commit_tells_whether_others_have_written_and_who_has_mail() {
    let house = House::new();
    let (mut store, mut other) = (house.open(), house.open());
    let holder = holder(&store);
    let (busy, waiting) = (begin(&mut store, &holder, "busy"), begin(&mut store, &holder, "waiting"));
    let id = park(&mut store, &waiting, "approve", "Shall it?");
    step(&mut store, &busy, "first", "{}");
    assert!(!store.met_others());
    assert!(store.signalled_runs().unwrap().is_empty());
    other.signal(&crate::calls::answer(&other, &id, "Shall it?", "approve", "ada")).unwrap();
    step(&mut store, &busy, "second", "{}");
    assert!(store.met_others() && store.changed().unwrap() && !store.met_others());
    assert_eq!(store.signalled_runs().unwrap(), [waiting.run]);
}
