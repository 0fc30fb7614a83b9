//! Questions, assignments, and the signals that answer them.

use seriatim_core::hash::Hash;
use seriatim_journal::Append;
use seriatim_journal::Call;
use seriatim_journal::Error;
use seriatim_journal::Kind;
use seriatim_journal::NewSignal;
use seriatim_journal::OpenCall;
use seriatim_journal::OpenFilter;
use seriatim_journal::OpenKind;
use seriatim_journal::SignalKind;
use seriatim_journal::Signalled;
use seriatim_journal::Status;
use seriatim_journal::Store;
use seriatim_journal::Target;

use crate::support::*;

/// An answer to the question that was shown as `shown`.
pub(crate) fn answer(store: &Store, id: &str, shown: &str, answer: &str, by: &str) -> NewSignal {
    NewSignal {
        to: Target::Call(id.into()),
        kind: SignalKind::Answer,
        body: store.clean(answer.into()),
        by: by.into(),
        at: NOON.plus_ms(5),
        digest: Hash::of(shown.as_bytes()),
    }
}

#[test]
fn ids_are_short_unique_and_never_used_again() {
    let house = House::new();
    let mut store = house.open();
    let holder = holder(&store);
    let (one, two) = (begin(&mut store, &holder, "one"), begin(&mut store, &holder, "two"));
    let mut append = Append::to(&one);
    append.entries =
        vec![entry(&store, Kind::Intent, "work", "{}"), entry(&store, Kind::Intent, "ask", "{}")];
    let assignment = OpenCall { kind: OpenKind::Assignment, ..question(&store, "work", "{}") };
    append.open = vec![assignment.clone(), question(&store, "ask", "a?")];
    assert_eq!(commit(&mut store, append.clone()).opened, ["a1", "q1"]);
    append.entries.clear();
    assert_eq!(commit(&mut store, append.clone()).opened, ["a1", "q1"], "a call that is open stays open");
    append.open = vec![question(&store, "ask", "changed?")];
    assert_eq!(commit(&mut store, append).opened, ["q2"], "another question is another call");
    assert_eq!(park(&mut store, &two, "ask", "b?"), "q3");
    let ids = |filter: &OpenFilter| {
        store.open_calls(filter).unwrap().into_iter().map(|call| call.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(&OpenFilter::default()), ["q2", "q3", "a1"]);
    assert_eq!(ids(&OpenFilter { run: Some(two.run), ..OpenFilter::default() }), ["q3"]);
    assert_eq!(ids(&OpenFilter { kind: Some(OpenKind::Assignment), ..OpenFilter::default() }), ["a1"]);
    let of_one = OpenFilter { run: Some(one.run), ..OpenFilter::default() };
    assert_eq!(ids(&of_one), ["q2", "a1"]);
    assert_eq!(ids(&OpenFilter { kind: Some(OpenKind::Assignment), ..of_one }), ["a1"]);
    assert!(matches!(store.call("q1").unwrap(), Call::Closed(_)));
    assert!(store.verify().is_sound());
}

#[test]
fn an_open_question_is_shown_with_all_that_is_needed_to_answer_it() {
    let house = House::new();
    let mut store = house.open();
    let holder = holder(&store);
    let lease = begin(&mut store, &holder, "run");
    park(&mut store, &lease, "approve", "Shall it go out?");
    let Call::Open(open) = store.call(" Q1 ").unwrap() else { panic!() };
    assert_eq!(store.call("1").unwrap(), Call::Open(open.clone()));
    assert_eq!(open.body, b"Shall it go out?");
    assert_eq!((open.run_name.as_str(), open.title.as_str()), ("run", "Title of run"));
    assert_eq!((open.key.as_str(), open.since, open.answered), ("approve", NOON.plus_ms(1), None));
}

#[test]
fn e_85_the_first_answer_wins_and_the_second_is_told_what_it_was() {
    let house = House::new();
    let (mut store, mut other) = (house.open(), house.open());
    let holder = holder(&store);
    let lease = begin(&mut store, &holder, "run");
    let id = park(&mut store, &lease, "approve", "Shall it?");
    assert!(!store.changed().unwrap());
    let first = answer(&other, &id, "Shall it?", "approve", "ada");
    let Signalled::Recorded { id: signal, run } = other.signal(&first).unwrap() else { panic!() };
    assert_eq!(run, lease.run);
    assert!(store.changed().unwrap() && !store.changed().unwrap());
    let Signalled::Already(said) = store.signal(&answer(&store, &id, "Shall it?", "reject", "bob")).unwrap()
    else {
        panic!()
    };
    assert_eq!((said.body.as_deref(), said.by.as_str()), (Some(b"approve".as_slice()), "ada"));
    let pending = store.signals(lease.run).unwrap();
    assert_eq!(pending.len(), 1);
    assert_eq!((pending[0].key.as_deref(), pending[0].call.as_deref()), (Some("approve"), Some("q1")));

    let lease = store.acquire(&[lease.run], &holder, NOON).unwrap().remove(0).unwrap();
    let mut append = Append::to(&lease);
    append.entries = vec![entry(&store, Kind::Outcome, "approve", "the answer")];
    append.close = vec!["approve".into()];
    append.consumed = vec![signal];
    commit(&mut store, append);
    assert!(store.signals(lease.run).unwrap().is_empty());
    let Signalled::Closed(closed) = other.signal(&first).unwrap() else { panic!() };
    assert_eq!(closed.outcome.as_deref(), Some(b"the answer".as_slice()));
    assert_eq!(closed.answered.unwrap().by, "ada");
    assert!(store.verify().is_sound());
}

#[test]
fn an_answer_to_what_is_not_asked_any_more_is_refused() {
    let house = House::new();
    let mut store = house.open();
    let holder = holder(&store);
    let lease = begin(&mut store, &holder, "run");
    let id = park(&mut store, &lease, "approve", "Shall it?");
    let refused = store.signal(&answer(&store, &id, "Shall something else?", "approve", "ada")).unwrap();
    assert_eq!(refused, Signalled::Changed { digest: Hash::of(b"Shall it?") });
    let unknown = answer(&store, "q7", "Shall it?", "approve", "ada");
    let Err(Error::NoSuchCall { given, closest }) = store.signal(&unknown) else { panic!() };
    assert_eq!((given.as_str(), closest.as_deref()), ("q7", Some("q1")));
    for nonsense in ["", "q", "approve", "q-1", "qé", "99999999999999999999"] {
        assert!(matches!(store.call(nonsense), Err(Error::NoSuchCall { .. })), "{nonsense}");
    }
    assert!(store.signals(lease.run).unwrap().is_empty());
}

#[test]
fn a_run_that_ends_waits_for_nobody() {
    let house = House::new();
    let mut store = house.open();
    let holder = holder(&store);
    let lease = begin(&mut store, &holder, "run");
    park(&mut store, &lease, "approve", "Shall it?");
    let cancel = NewSignal {
        to: Target::Run(lease.run),
        kind: SignalKind::Cancel,
        body: store.clean(b"enough".to_vec()),
        by: "ada".into(),
        at: NOON,
        digest: Hash::ZERO,
    };
    let Signalled::Recorded { id, .. } = store.signal(&cancel).unwrap() else { panic!() };
    assert_eq!(store.signals(lease.run).unwrap()[0].body, b"enough");
    let lease = store.acquire(&[lease.run], &holder, NOON).unwrap().remove(0).unwrap();
    let mut append = Append::to(&lease);
    append.consumed = vec![id];
    append.status = Some((Status::Cancelled, String::new()));
    commit(&mut store, append);
    assert!(store.open_calls(&OpenFilter::default()).unwrap().is_empty());
    let Call::Closed(closed) = store.call("q1").unwrap() else { panic!() };
    assert_eq!((closed.outcome, closed.answered), (None, None));
    assert_eq!(store.signal(&cancel).unwrap(), Signalled::Over { status: Status::Cancelled });
    assert!(store.verify().is_sound());
}
