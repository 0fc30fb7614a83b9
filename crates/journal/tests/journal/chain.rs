//! Appending and reading: what goes in comes out, in order, chained, and in one durable write for many runs.

use seriatim_core::chain;
use seriatim_core::chain::Header;
use seriatim_core::hash::Hash;
use seriatim_journal::Append;
use seriatim_journal::Committed;
use seriatim_journal::Error;
use seriatim_journal::Filter;
use seriatim_journal::Kind;
use seriatim_journal::Status;

use crate::support::*;

#[test]
fn what_was_written_is_read_and_anyone_can_follow_the_chain() {
    let house = House::new();
    let mut store = house.open();
    let holder = holder(&store);
    let lease = begin(&mut store, &holder, "run-1");
    let large = "y".repeat(100_000);
    step(&mut store, &lease, "build", &large);
    let done = step(&mut store, &lease, "test", "");
    let mut seen = Vec::new();
    let mut previous = Hash::ZERO;
    let tip = store
        .load(lease.run, |entry| {
            let body = entry.body.unwrap();
            assert_eq!(entry.body_hash, Hash::of(body));
            let header = Header {
                run: "run-1",
                seq: entry.seq,
                kind: entry.kind.byte(),
                at: entry.at.0,
                key: entry.key,
                request: entry.request,
                body: entry.body_hash,
            };
            assert_eq!(entry.hash, chain::link(&previous, &header));
            previous = entry.hash;
            seen.push((entry.kind, entry.key.to_owned(), body.len()));
        })
        .unwrap();
    let expected = [
        (Kind::Start, "", 13),
        (Kind::Intent, "build", 100_000),
        (Kind::Outcome, "build", 100_000),
        (Kind::Intent, "test", 0),
        (Kind::Outcome, "test", 0),
    ];
    assert_eq!(seen, expected.map(|(kind, key, len)| (kind, key.to_owned(), len)));
    assert_eq!((tip.entries, tip.head), (done.entries, done.head));
    assert_eq!(tip, store.tip(lease.run).unwrap());
    assert!(store.verify().is_sound());
}

#[test]
fn many_runs_share_one_durable_write() {
    let house = House::new();
    let mut store = house.open();
    let holder = holder(&store);
    let runs = (0..200).map(|i| (new_run(&format!("run-{i}")), vec![])).collect();
    let leases = store.create(runs, &holder).unwrap();
    assert_eq!(store.commits(), 1);
    let batch = leases
        .iter()
        .map(|lease| {
            let mut append = Append::to(lease);
            append.entries =
                vec![entry(&store, Kind::Outcome, "a", "{}"), entry(&store, Kind::Intent, "b", "{}")];
            append
        })
        .collect::<Vec<_>>();
    let committed = store.commit(&batch).unwrap();
    assert_eq!(committed.len(), 200);
    assert_eq!(store.commits(), 2);
    assert!(leases.iter().all(|lease| store.tip(lease.run).unwrap().entries == 2));
    assert_eq!(store.verify().entries, 400);
}

#[test]
fn one_fenced_run_does_not_keep_the_others_from_being_written() {
    let house = House::new();
    let mut store = house.open();
    let holder = holder(&store);
    let (one, two) = (begin(&mut store, &holder, "one"), begin(&mut store, &holder, "two"));
    let append = |token, lease| {
        let mut append = Append::to(lease);
        append.token = token;
        append.entries = vec![entry(&store, Kind::Fact, "", "{}")];
        append
    };
    let batch = [append(one.token + 1, &one), append(two.token, &two)];
    let committed = store.commit(&batch).unwrap();
    assert_eq!(committed[0], Committed::Fenced { holder: Some(holder.info().clone()) });
    assert!(matches!(committed[1], Committed::Done(_)));
    assert_eq!(store.tip(one.run).unwrap().entries, 1);
    assert_eq!(store.tip(two.run).unwrap().entries, 2);
}

#[test]
fn runs_are_listed_newest_first_and_found_by_any_unique_beginning() {
    let house = House::new();
    let mut store = house.open();
    let holder = holder(&store);
    for name in ["2026-a1", "2026-a2", "2026-b1", "2026-b"] {
        begin(&mut store, &holder, name);
    }
    let b1 = store.find("2026-b1").unwrap();
    let lease = seriatim_journal::Lease { run: b1.id, token: 1, taken_over_from: None };
    finish(&mut store, &lease);
    let names = |filter: &Filter| {
        store.runs(filter).unwrap().runs.into_iter().map(|run| run.name).collect::<Vec<_>>()
    };
    assert_eq!(names(&Filter::default()), ["2026-b", "2026-b1", "2026-a2", "2026-a1"]);
    assert_eq!(names(&Filter { limit: Some(1), ..Filter::default() }), ["2026-b"]);
    assert_eq!(names(&Filter { status: Some(Status::Completed), ..Filter::default() }), ["2026-b1"]);
    assert_eq!(store.find("2026-a1").unwrap().name, "2026-a1");
    assert_eq!(store.find("2026-b").unwrap().name, "2026-b", "a whole name wins over a longer one");
    let Err(Error::AmbiguousRun { candidates, .. }) = store.find("2026-a") else { panic!() };
    assert_eq!(candidates, ["2026-a1", "2026-a2"]);
    assert!(matches!(store.find("nope"), Err(Error::NoSuchRun { .. })));
    assert!(matches!(store.find(""), Err(Error::NoSuchRun { .. })));
}

#[test]
fn a_run_on_the_same_subject_is_refused_until_the_first_is_finished() {
    let house = House::new();
    let mut store = house.open();
    let holder = holder(&store);
    let on = |name: &str, subject: &str| {
        let mut run = new_run(name);
        run.subject = subject.into();
        vec![(run, vec![])]
    };
    let first = store.create(on("first", "a.yaml"), &holder).unwrap().remove(0);
    store.create(on("other", "b.yaml"), &holder).unwrap();
    let Err(Error::SubjectBusy { run, status, holder: busy, .. }) =
        store.create(on("second", "a.yaml"), &holder)
    else {
        panic!()
    };
    assert_eq!((run.as_str(), status), ("first", Status::Running));
    assert_eq!(busy.as_deref(), Some(holder.info()));
    finish(&mut store, &first);
    store.create(on("second", "a.yaml"), &holder).unwrap();
    assert!(matches!(store.create(on("second", "c"), &holder), Err(Error::NameTaken { .. })));
    assert!(store.verify().is_sound());
}

#[test]
fn secrets_do_not_get_past_the_door_by_any_way() {
    let house = House::new();
    let mut store = house.open();
    let holder =
        seriatim_journal::Holder::register(&store, &format!("seriatim run --password {SECRET}"), NOON)
            .unwrap();
    let mut run = new_run("run");
    run.title = format!("use {SECRET}");
    run.subject = format!("{SECRET}.yaml");
    let lease = store.create(vec![(run, vec![])], &holder).unwrap().remove(0);
    let words = format!("{{\"note\":\"{SECRET}\"}}");
    step(&mut store, &lease, "build", &words);
    let mut append = Append::to(&lease);
    append.entries = vec![entry(&store, Kind::Intent, "ask", "{}")];
    append.open = vec![question(&store, "ask", &words)];
    append.status = Some((Status::Waiting, format!("somebody who knows {SECRET}")));
    let id = commit(&mut store, append).opened.remove(0);
    let mut answer = crate::calls::answer(&store, &id, &words, &words, SECRET);
    answer.digest = Hash::of(words.as_bytes());
    store.signal(&answer).unwrap();
    assert!(!contains(&house.bytes(), SECRET.as_bytes()));
    assert_eq!(store.run(lease.run).unwrap().title, "use [redacted:secret]");
    assert!(store.verify().is_sound());
}

#[test]
fn the_files_of_a_run_are_remembered_with_their_latest_hash() {
    let house = House::new();
    let mut store = house.open();
    let holder = holder(&store);
    let lease = begin(&mut store, &holder, "run");
    for content in ["one", "two"] {
        let mut append = Append::to(&lease);
        append.projections =
            vec![("b.yaml".into(), Hash::of(content.as_bytes())), ("a.md".into(), Hash::ZERO)];
        commit(&mut store, append);
    }
    let expected = [("a.md".to_owned(), Hash::ZERO), ("b.yaml".to_owned(), Hash::of(b"two"))];
    assert_eq!(store.projections(lease.run).unwrap(), expected);
}
