//! Leases: who may write, what happens when they die, and that the old holder is shut out.

use std::io::BufRead;
use std::io::BufReader;
use std::path::Path;
use std::process::Command;
use std::process::Stdio;

use seriatim_journal::Append;
use seriatim_journal::Committed;
use seriatim_journal::Held;
use seriatim_journal::Holder;
use seriatim_journal::Kind;
use seriatim_journal::Status;
use seriatim_journal::Store;

use crate::support::*;

#[test]
fn a_second_process_is_told_who_holds_the_run() {
    let house = House::new();
    let (mut ours, mut theirs) = (house.open(), house.open());
    let (we, they) = (holder(&ours), holder(&theirs));
    let lease = begin(&mut ours, &we, "run");
    let held = theirs.acquire(&[lease.run], &they, NOON).unwrap().remove(0).unwrap_err();
    assert_eq!(held, Held::By(we.info().clone()));
    let told = we.info().to_string();
    let host = &we.info().host;
    let pid = std::process::id();
    assert_eq!(
        told,
        format!("process {pid} (`seriatim run process release.yaml`) on {host} since 2026-09-21T14:13:20Z")
    );
    let run = theirs.run(lease.run).unwrap();
    assert_eq!((run.holder.as_ref(), run.interrupted), (Some(we.info()), false));
    let again = ours.acquire(&[lease.run], &we, NOON).unwrap().remove(0);
    assert_eq!(again, Err(Held::By(we.info().clone())), "nobody holds a run twice");
}

#[test]
fn e_86_the_run_of_a_dead_process_is_taken_over_and_its_late_writes_are_refused() {
    let house = House::new();
    let (mut ours, mut theirs) = (house.open(), house.open());
    let we = holder(&ours);
    let lease = begin(&mut ours, &we, "run");
    step(&mut ours, &lease, "build", "{}");
    let dead = we.info().clone();
    drop(we);
    let run = theirs.run(lease.run).unwrap();
    assert!(run.interrupted && run.holder.is_none());
    let they = holder(&theirs);
    let taken = theirs.acquire(&[lease.run], &they, NOON).unwrap().remove(0).unwrap();
    assert_eq!(taken.token, lease.token + 1);
    assert_eq!(taken.taken_over_from, Some(dead));
    let mut late = Append::to(&lease);
    late.entries = vec![entry(&ours, Kind::Outcome, "build", "{}")];
    let refused = ours.commit(&[late]).unwrap().remove(0);
    assert_eq!(refused, Committed::Fenced { holder: Some(they.info().clone()) });
    step(&mut theirs, &taken, "test", "{}");
    assert!(!theirs.run(lease.run).unwrap().interrupted);
    assert!(theirs.verify().is_sound());
}

/// Not a test of its own: the process that the next test kills. Without its directory it does nothing.
#[test]
fn a_process_that_holds_a_run() {
    let Some(dir) = std::env::var_os(HELD) else { return };
    let mut store = Store::open(Path::new(&dir), redactor()).unwrap();
    let holder = holder(&store);
    let lease = begin(&mut store, &holder, "run");
    step(&mut store, &lease, "build", "{}");
    println!("\nholding");
    // Until it is killed.
    let _ = std::io::stdin().read_line(&mut String::new());
}

const HELD: &str = "SERIATIM_TEST_HELD_STORE";

#[test]
fn e_86_a_killed_process_is_noticed_at_once_and_what_it_committed_is_there() {
    let house = House::new();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "lease::a_process_that_holds_a_run", "--nocapture"])
        .env(HELD, house.dir())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "holding"));
    let mut store = house.open();
    let run = store.find("run").unwrap();
    assert_eq!(run.holder.as_ref().map(|holder| holder.pid), Some(child.id()));
    child.kill().unwrap();
    child.wait().unwrap();
    let run = store.find("run").unwrap();
    assert!(run.interrupted);
    let we = holder(&store);
    let lease = store.acquire(&[run.id], &we, NOON).unwrap().remove(0).unwrap();
    assert_eq!(lease.taken_over_from.map(|dead| dead.pid), Some(child.id()));
    assert_eq!(store.tip(run.id).unwrap().entries, 3);
    assert!(store.verify().is_sound());
}

#[test]
fn a_lease_that_was_given_back_is_no_lease() {
    let house = House::new();
    let mut store = house.open();
    let holder = holder(&store);
    let lease = begin(&mut store, &holder, "run");
    park(&mut store, &lease, "approve", "{}");
    let refused = store.commit(&[Append::to(&lease)]).unwrap().remove(0);
    assert_eq!(refused, Committed::Fenced { holder: None });
    let run = store.run(lease.run).unwrap();
    assert_eq!((run.status, run.waiting_for.as_str(), run.interrupted), (Status::Waiting, "a person", false));
    let next = store.acquire(&[lease.run], &holder, NOON).unwrap().remove(0).unwrap();
    assert_eq!((next.token, next.taken_over_from), (2, None));
}

#[test]
fn a_killed_process_leaves_a_file_that_the_next_one_sweeps() {
    let house = House::new();
    let store = house.open();
    let holders = house.dir().join("holders");
    let first = holder(&store);
    let living = holders.join(&first.info().file);
    // What a process leaves behind that had no time to clean up: a file without a lock.
    let dead = holders.join("1-0000000000000000.lock");
    std::fs::copy(&living, &dead).unwrap();
    let second = holder(&store);
    assert!(living.exists() && !dead.exists());
    assert!(holders.join(&second.info().file).exists());
    drop(second);
    assert_eq!(std::fs::read_dir(&holders).unwrap().count(), 1);
}

#[test]
fn a_holder_that_cannot_be_found_any_more_is_dead() {
    let house = House::new();
    let mut store = house.open();
    let we = holder(&store);
    let lease = begin(&mut store, &we, "run");
    std::fs::remove_dir_all(house.dir().join("holders")).unwrap();
    assert!(store.run(lease.run).unwrap().interrupted);
    let next = Holder::register(&store, "next", NOON).unwrap();
    assert!(store.acquire(&[lease.run], &next, NOON).unwrap().remove(0).is_ok());
}

#[test]
fn of_many_who_want_a_run_one_gets_it() {
    let house = House::new();
    let mut store = house.open();
    let first = holder(&store);
    let lease = begin(&mut store, &first, "run");
    drop(first);
    let winners = std::thread::scope(|scope| {
        let tries = (0..8).map(|_| {
            scope.spawn(|| {
                let mut store = house.open();
                let holder = holder(&store);
                let got = store.acquire(&[lease.run], &holder, NOON).unwrap().remove(0).is_ok();
                (got, holder)
            })
        });
        let tries = tries.collect::<Vec<_>>();
        // All holders live until the last has tried.
        let tried = tries.into_iter().map(|one| one.join().unwrap()).collect::<Vec<_>>();
        tried.iter().filter(|(got, _)| *got).count()
    });
    assert_eq!(winners, 1);
}
