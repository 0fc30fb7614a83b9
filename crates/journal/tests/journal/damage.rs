//! Flipped bytes anywhere in the file: either the check finds them, or nothing that was written has changed.

use std::path::Path;

use rusqlite::Connection;
use rusqlite::types::Value;
use seriatim_journal::Store;

use crate::support::*;

const TABLES: [&str; 6] = ["entry", "run", "ledger", "call", "signal", "projection"];

/// Everything that the tables hold.
fn content(path: &Path) -> rusqlite::Result<Vec<Vec<Value>>> {
    let conn = Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut all = Vec::new();
    for table in TABLES {
        let mut statement = conn.prepare(&format!("SELECT * FROM {table} ORDER BY 1, 2"))?;
        let columns = statement.column_count();
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            all.push((0..columns).map(|i| row.get(i)).collect::<rusqlite::Result<_>>()?);
        }
    }
    Ok(all)
}

/// A generator that is the same everywhere: each test run flips the same bytes.
struct Seeded(u64);

impl Seeded {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

#[test]
fn a_flipped_byte_is_found_or_changes_nothing() {
    let house = House::new();
    let mut store = house.open();
    let we = holder(&store);
    furnish(&mut store, &we);
    for i in 0..40 {
        let lease = begin(&mut store, &we, &format!("more-{i:02}"));
        step(&mut store, &lease, "build", &format!("{{\"number\":{i}}}").repeat(20));
    }
    drop(we);
    store.close().unwrap();
    let sound = std::fs::read(house.database()).unwrap();
    let written = content(&house.database()).unwrap();

    let victim = House::new();
    victim.open().close().unwrap();
    let mut seeded = Seeded(2026);
    let (mut found, mut harmless) = (0, 0);
    for round in 0..400 {
        let mut bytes = sound.clone();
        // The header and the roots of the tables are where a flip does most.
        let at =
            if round % 6 == 0 { seeded.below(bytes.len().min(8_192)) } else { seeded.below(bytes.len()) };
        bytes[at] ^= 1 << seeded.below(8);
        std::fs::write(victim.database(), &bytes).unwrap();
        let sees_it = match Store::open_read_only(&victim.dir(), redactor()) {
            Ok(Some(store)) => !store.verify().is_sound(),
            Ok(None) | Err(_) => true,
        };
        if sees_it {
            found += 1;
        } else {
            harmless += 1;
            assert_eq!(content(&victim.database()).ok().as_ref(), Some(&written), "byte {at} went unnoticed");
        }
    }
    assert!(found > 150 && harmless > 0, "found {found}, harmless {harmless}");
}

#[test]
fn a_torn_file_is_reported_and_what_is_left_is_read() {
    let house = House::new();
    let mut store = house.open();
    let we = holder(&store);
    for i in 0..30 {
        let lease = begin(&mut store, &we, &format!("run-{i:02}"));
        step(&mut store, &lease, "build", &"z".repeat(3_000));
    }
    drop(we);
    store.close().unwrap();
    let mut bytes = std::fs::read(house.database()).unwrap();
    let len = bytes.len();
    bytes[len / 2..len / 2 + 4_096].fill(0);
    std::fs::write(house.database(), &bytes).unwrap();
    let store = Store::open_read_only(&house.dir(), redactor()).unwrap().unwrap();
    let report = store.verify();
    assert!(report.problems.iter().any(|problem| problem.run.is_some()), "{report:?}");
    assert_eq!(report.runs, 30);
    let readable = store.runs(&Default::default()).unwrap().runs;
    let sound = readable.iter().filter(|run| store.load(run.id, |_| {}).is_ok()).count();
    assert!((1..30).contains(&sound), "{sound}");
}
