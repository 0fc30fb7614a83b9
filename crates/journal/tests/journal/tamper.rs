//! Tampering by SQL: every column of every table, and the check names the place.

use std::sync::OnceLock;

use seriatim_journal::Flaw;
use seriatim_journal::Problem;
use seriatim_journal::Report;
use seriatim_journal::Store;

use crate::support::*;

/// The database of a furnished store, made once.
fn furnished() -> &'static [u8] {
    static DATABASE: OnceLock<Vec<u8>> = OnceLock::new();
    DATABASE.get_or_init(|| {
        let house = House::new();
        let mut store = house.open();
        let we = holder(&store);
        furnish(&mut store, &we);
        assert_eq!(store.verify().problems, []);
        store.close().unwrap();
        std::fs::read(house.database()).unwrap()
    })
}

/// A furnished store after `sql` was done to it, and what the check says, without the missing guards.
fn tampered(sql: &str) -> (House, Report) {
    let house = House::new();
    seriatim_journal::private::make_folder(&house.dir()).unwrap();
    std::fs::write(house.database(), furnished()).unwrap();
    let outsider = house.outsider();
    let changed = outsider.execute(sql, []).unwrap_or_else(|error| panic!("{sql}: {error}"));
    assert!(changed > 0, "{sql} changed nothing");
    drop(outsider);
    let mut report = Store::open_read_only(&house.dir(), redactor()).unwrap().unwrap().verify();
    report.problems.retain(|problem| !matches!(problem.flaw, Flaw::Schema { .. }));
    (house, report)
}

fn entry_problem(run: &str, seq: u64, flaw: Flaw) -> Problem {
    Problem { run: Some(run.into()), seq: Some(seq), flaw }
}

#[test]
fn a_change_in_any_column_of_an_entry_is_found_and_the_entry_named() {
    for (change, flaw) in [
        ("kind = 3", Flaw::Hash),
        ("kind = 77", Flaw::Hash),
        ("kind = 300", Flaw::Kind(300)),
        ("at = at + 1", Flaw::Hash),
        ("key = 'other'", Flaw::Hash),
        ("key = CAST(x'ff' AS TEXT)", Flaw::Column { column: "key" }),
        ("request = zeroblob(32)", Flaw::Hash),
        ("request = x'00'", Flaw::Column { column: "request" }),
        ("hash = zeroblob(32)", Flaw::Hash),
        ("body_hash = zeroblob(32)", Flaw::Hash),
        ("body = x'00'", Flaw::Body),
        ("body = NULL", Flaw::BodyMissing),
        ("id = id + 1000", Flaw::Gap),
    ] {
        let (_house, report) = tampered(&format!("UPDATE entry SET {change} WHERE id = (1 << 32) + 2"));
        assert!(report.problems.contains(&entry_problem("run-done", 2, flaw)), "{change}: {report:?}");
        assert!(report.problems.iter().all(|p| p.run.as_deref() == Some("run-done")), "{change}: {report:?}");
        assert_eq!(report.runs, 3, "the others are checked all the same");
    }
}

#[test]
fn entries_that_are_taken_away_or_added_are_found() {
    let (_house, report) = tampered("DELETE FROM entry WHERE id = (1 << 32) + 2");
    assert_eq!(report.problems, [entry_problem("run-done", 2, Flaw::Gap)]);
    let (_house, report) = tampered("DELETE FROM entry WHERE id = (1 << 32) + 5");
    assert_eq!(report.problems, [entry_problem("run-done", 5, Flaw::Cut { counted: 6, found: 5 })]);
    let (_house, report) = tampered(
        "INSERT INTO entry SELECT id + 1, kind, at, key, request, hash, body_hash, body FROM entry
            WHERE id = (1 << 32) + 5",
    );
    assert_eq!(report.problems, [entry_problem("run-done", 6, Flaw::Hash)]);
    let (_house, report) = tampered(
        "INSERT INTO entry SELECT 99 << 32, kind, at, key, request, hash, body_hash, body FROM entry
            WHERE id = 1 << 32",
    );
    assert_eq!(report.problems, [Problem { run: None, seq: None, flaw: Flaw::Orphans { row: 99 } }]);
}

#[test]
fn a_change_in_any_column_of_a_run_is_found() {
    for change in [
        "name = 'run-other'",
        "flow = 'cycle'",
        "flow_version = 4",
        "title = 'x'",
        "subject = 'x'",
        "workspace = 'elsewhere'",
        "started = 1",
        "status = 1",
        "status = 99",
        "waiting_for = 'x'",
        "updated = 1",
        "entries = 1",
        "head = zeroblob(32)",
        "token = 9",
        "holder = '{}'",
        "seal = zeroblob(8)",
        "seal = x''",
    ] {
        let (_house, report) = tampered(&format!("UPDATE run SET {change} WHERE id = 1"));
        let named = |p: &Problem| matches!(p.run.as_deref(), Some("run-done" | "run-other"));
        assert!(report.problems.iter().any(named), "{change}: {report:?}");
        assert!(report.problems.iter().all(named), "{change}: {report:?}");
    }
}

#[test]
fn a_deleted_run_leaves_a_gap_in_the_ledger() {
    let (_house, report) = tampered("DELETE FROM run WHERE id = 1");
    let missing = Problem { run: Some("run-done".into()), seq: None, flaw: Flaw::RunMissing };
    assert_eq!(report.problems, [missing, Problem { run: None, seq: None, flaw: Flaw::Orphans { row: 1 } }]);
}

#[test]
fn a_change_in_any_column_of_the_ledger_is_found() {
    for change in [
        "n = 100",
        "run = 'x'",
        "what = 0",
        "at = 1",
        "entries = 1",
        "head = zeroblob(32)",
        "identity = zeroblob(32)",
        "hash = zeroblob(32)",
        "hash = x''",
    ] {
        let (_house, report) = tampered(&format!("UPDATE ledger SET {change} WHERE n = 2"));
        assert!(!report.is_sound(), "{change}");
    }
    let (_house, report) = tampered("DELETE FROM ledger WHERE n = 2");
    assert!(report.problems.contains(&Problem { run: None, seq: None, flaw: Flaw::LedgerGap { line: 2 } }));
    let (_house, report) = tampered("DELETE FROM ledger WHERE n = 4");
    let unknown = Problem { run: Some("run-under-way".into()), seq: None, flaw: Flaw::RunUnknown };
    assert_eq!(report.problems, [unknown]);
}

#[test]
fn a_change_beside_the_chains_is_found() {
    for sql in [
        "UPDATE call SET key = 'x'",
        "UPDATE call SET run = 3",
        "UPDATE call SET number = 5",
        "UPDATE call SET digest = zeroblob(32)",
        "UPDATE call SET body = x'00'",
        "UPDATE call SET since = 1",
        "UPDATE call SET closed = 1",
        "UPDATE call SET outcome = 1",
        "UPDATE call SET seal = x'00'",
        "UPDATE signal SET run = 1",
        "UPDATE signal SET kind = 1",
        "UPDATE signal SET call = 'q9'",
        "UPDATE signal SET body = NULL",
        "UPDATE signal SET by = 'eve'",
        "UPDATE signal SET at = 1",
        "UPDATE signal SET digest = zeroblob(32)",
        "UPDATE signal SET consumed = 1",
        "UPDATE projection SET path = 'x'",
        "UPDATE projection SET hash = zeroblob(32)",
        "UPDATE projection SET run = 1",
    ] {
        let (_house, report) = tampered(sql);
        assert!(!report.is_sound(), "{sql}");
    }
}

#[test]
fn missing_guards_are_found() {
    let house = House::new();
    house.open().close().unwrap();
    drop(house.outsider());
    let store = house.open();
    let problems = store.verify().problems;
    assert_eq!(problems.len(), 4);
    assert!(problems.contains(&Problem {
        run: None,
        seq: None,
        flaw: Flaw::Schema { object: "entry_is_kept".into() }
    }));
}

#[test]
fn the_guards_refuse_changes_by_mistake() {
    let house = House::new();
    let mut store = house.open();
    let holder = holder(&store);
    furnish(&mut store, &holder);
    let outsider = rusqlite::Connection::open(house.database()).unwrap();
    for sql in [
        "DELETE FROM entry",
        "UPDATE entry SET key = 'x'",
        "UPDATE entry SET body = x'00'",
        "UPDATE entry SET body = NULL, at = 1",
        "DELETE FROM ledger",
        "UPDATE ledger SET at = 1",
    ] {
        let refused = outsider.execute(sql, []).unwrap_err().to_string();
        assert!(refused.contains("append-only"), "{sql}: {refused}");
    }
}

#[test]
fn a_damaged_run_is_not_written_to_and_does_not_hide_the_others() {
    let house = House::new();
    let mut store = house.open();
    let we = holder(&store);
    let leases = ["one", "two", "three"].map(|name| begin(&mut store, &we, name));
    let outsider = house.outsider();
    outsider.execute("UPDATE run SET status = 99 WHERE name = 'one'", []).unwrap();
    outsider.execute("UPDATE entry SET kind = 99 WHERE id = 2 << 32", []).unwrap();
    let listing = store.runs(&Default::default()).unwrap();
    assert_eq!(listing.runs.iter().map(|run| run.name.as_str()).collect::<Vec<_>>(), ["three", "two"]);
    assert_eq!(listing.unreadable, [Problem { run: Some("one".into()), seq: None, flaw: Flaw::Status(99) }]);
    assert!(store.load(leases[0].run, |_| {}).is_err());
    assert!(store.load(leases[1].run, |_| {}).is_err());
    assert!(store.load(leases[2].run, |_| {}).is_ok());
    let batch = leases.each_ref().map(|lease| {
        let mut append = seriatim_journal::Append::to(lease);
        append.entries = vec![entry(&store, seriatim_journal::Kind::Fact, "", "{}")];
        append
    });
    let committed = store.commit(&batch).unwrap();
    assert_eq!(committed[0], seriatim_journal::Committed::Broken { flaw: Flaw::Status(99) });
    assert!(matches!(committed[2], seriatim_journal::Committed::Done(_)));
    assert!(store.verify_run(leases[2].run).unwrap().is_sound());
    assert!(!store.verify_run(leases[1].run).unwrap().is_sound());
}
