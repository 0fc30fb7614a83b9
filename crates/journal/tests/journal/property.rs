//! Rules that hold for any history.

use proptest::prelude::*;
use rusqlite::params;
use rusqlite::types::Value;
use seriatim_core::hash::Hash;
use seriatim_journal::Append;
use seriatim_journal::Kind;
use seriatim_journal::Lease;
use seriatim_journal::Status;
use seriatim_journal::Store;

use crate::support::*;

#[derive(Clone, Debug)]
enum Act {
    Append { run: usize, entries: Vec<(u8, String, Vec<u8>)>, status: Option<Status> },
    Ask { run: usize, key: String },
    Close { run: usize, key: String },
    Release { run: usize },
    Erase { run: usize, seq: u64 },
}

fn act() -> impl Strategy<Value = Act> {
    let key = prop_oneof!["[a-c]", any::<String>()];
    let body = proptest::collection::vec(any::<u8>(), 0..40);
    let long = (0u8..255, 3_000..9_000usize).prop_map(|(byte, len)| vec![byte; len]);
    let entry = (0u8..6, key, prop_oneof![9 => body, 1 => long]);
    let status = proptest::sample::select(Status::ALL.to_vec());
    prop_oneof![
        5 => (0..3usize, proptest::collection::vec(entry, 0..4), proptest::option::weighted(0.2, status))
            .prop_map(|(run, entries, status)| Act::Append { run, entries, status }),
        2 => (0..3usize, "[a-c]").prop_map(|(run, key)| Act::Ask { run, key }),
        1 => (0..3usize, "[a-c]").prop_map(|(run, key)| Act::Close { run, key }),
        1 => (0..3usize).prop_map(|run| Act::Release { run }),
        1 => (0..3usize, 0..9u64).prop_map(|(run, seq)| Act::Erase { run, seq }),
    ]
}

/// Does `acts` to a store with three runs.
fn play(house: &House, acts: Vec<Act>) -> Store {
    let mut store = house.open();
    let holder = holder(&store);
    let mut leases = ["one", "two", "three"].map(|name| begin(&mut store, &holder, name));
    for act in acts {
        match act {
            Act::Append { run, entries, status } => {
                let mut append = Append::to(&leases[run]);
                append.entries = entries
                    .into_iter()
                    .map(|(kind, key, body)| seriatim_journal::NewEntry {
                        kind: Kind::from_byte(kind).unwrap(),
                        // A key of its own: what is open is asked for once.
                        key: format!("x{key}"),
                        request: Hash::of(&body),
                        at: NOON,
                        body: store.clean(body),
                    })
                    .collect();
                append.status = status.map(|status| (status, "somebody".into()));
                commit(&mut store, append);
            }
            Act::Ask { run, key } => {
                let mut append = Append::to(&leases[run]);
                append.entries = vec![entry(&store, Kind::Intent, &key, "{}")];
                append.open = vec![question(&store, &key, "{}")];
                commit(&mut store, append);
            }
            Act::Close { run, key } => {
                let mut append = Append::to(&leases[run]);
                append.entries = vec![entry(&store, Kind::Outcome, &key, "{}")];
                append.close = vec![key];
                commit(&mut store, append);
            }
            Act::Release { run } => again(&mut store, &holder, &mut leases[run]),
            Act::Erase { run, seq } => {
                let _ = store.erase(&leases[run], seq, seriatim_journal::Clean::empty(), NOON);
            }
        }
    }
    store
}

/// Gives the lease back and takes it again.
fn again(store: &mut Store, holder: &seriatim_journal::Holder, lease: &mut Lease) {
    let mut append = Append::to(lease);
    append.release = true;
    commit(store, append);
    *lease = store.acquire(&[lease.run], holder, NOON).unwrap().remove(0).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn any_history_is_sound(acts in proptest::collection::vec(act(), 0..12)) {
        let house = House::new();
        let store = play(&house, acts);
        prop_assert_eq!(store.verify().problems, vec![]);
        for run in store.runs(&Default::default()).unwrap().runs {
            let tip = store.load(run.id, |_| {}).unwrap();
            prop_assert_eq!(tip, store.tip(run.id).unwrap());
            prop_assert!(store.verify_run(run.id).unwrap().is_sound());
        }
    }

    #[test]
    fn any_single_change_of_an_entry_is_found(
        acts in proptest::collection::vec(act(), 0..6),
        row in any::<proptest::sample::Index>(),
        column in 0..7usize,
        noise in 1..i64::MAX,
    ) {
        let house = House::new();
        drop(play(&house, acts));
        let outsider = house.outsider();
        let rows: usize = outsider.query_row("SELECT count(*) FROM entry", [], |row| row.get(0)).unwrap();
        let column = ["id", "kind", "at", "key", "hash", "body_hash", "body"][column];
        let select = format!("SELECT id, {column} FROM entry ORDER BY id LIMIT 1 OFFSET ?1");
        let (id, before): (i64, Value) =
            outsider.query_row(&select, [row.index(rows)], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let update = format!("UPDATE entry SET {column} = ?2 WHERE id = ?1");
        outsider.execute(&update, params![id, changed(before, noise)]).unwrap();
        drop(outsider);
        let problems = house.open().verify().problems;
        prop_assert!(problems.iter().any(|problem| problem.seq.is_some()), "{} {:?}", column, problems);
    }
}

/// Anything but what it was.
fn changed(value: Value, noise: i64) -> Value {
    match value {
        Value::Integer(number) => Value::Integer(number + 1 + noise % 100_000),
        Value::Text(text) => Value::Text(format!("{text}{noise}")),
        Value::Blob(mut bytes) => {
            match usize::try_from(noise).map(|noise| noise % bytes.len().max(1)) {
                Ok(at) if !bytes.is_empty() => bytes[at] ^= 1,
                _ => bytes.push(0),
            }
            Value::Blob(bytes)
        }
        // An erased body.
        Value::Null | Value::Real(_) => Value::Blob(noise.to_be_bytes().to_vec()),
    }
}
