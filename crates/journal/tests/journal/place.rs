//! Where a store is: private to one user, no link, moved whole, and never replaced unnoticed.

use std::fs;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::fs::symlink;
use std::path::Path;

use rusqlite::Connection;
use seriatim_journal::Append;
use seriatim_journal::Error;
use seriatim_journal::Filter;
use seriatim_journal::Holder;
use seriatim_journal::Kind;
use seriatim_journal::OpenFilter;
use seriatim_journal::Relocated;
use seriatim_journal::Store;
use seriatim_journal::finish_relocation;
use seriatim_journal::private;
use seriatim_journal::relocate;

use crate::support::*;

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// All files and folders below a folder, with the folder itself.
fn everything(dir: &Path) -> Vec<std::path::PathBuf> {
    let mut found = vec![dir.to_owned()];
    for entry in fs::read_dir(dir).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            found.extend(everything(&entry.path()));
        } else {
            found.push(entry.path());
        }
    }
    found
}

#[test]
fn folders_and_files_of_a_store_are_for_one_user_alone() {
    let house = House::new();
    let mut store = house.open();
    let we = holder(&store);
    furnish(&mut store, &we);
    let found = everything(&house.dir());
    assert!(found.iter().any(|path| path.ends_with("journal.db-wal")), "{found:?}");
    assert!(found.iter().any(|path| path.parent().unwrap().ends_with("holders")), "{found:?}");
    for path in found {
        assert_eq!(mode(&path), if path.is_dir() { 0o700 } else { 0o600 }, "{}", path.display());
    }
}

#[test]
fn a_store_that_others_can_enter_is_refused_and_loose_files_are_tightened() {
    let house = House::new();
    house.open().close().unwrap();
    for loose in [0o755, 0o750, 0o777, 0o702] {
        set_mode(&house.dir(), loose);
        let refused = Store::open(&house.dir(), redactor()).err().unwrap();
        assert!(matches!(refused, Error::Exposed { mode, .. } if mode == loose), "{loose:o}: {refused}");
        let refused = Store::open_read_only(&house.dir(), redactor()).err().unwrap();
        assert!(matches!(refused, Error::Exposed { .. }), "{loose:o}: {refused}");
    }
    set_mode(&house.dir(), 0o700);
    for file in ["journal.db", "journal.lock", "journal.next"] {
        set_mode(&house.dir().join(file), 0o666);
    }
    house.open().close().unwrap();
    for file in ["journal.db", "journal.lock", "journal.next"] {
        assert_eq!(mode(&house.dir().join(file)), 0o600, "{file}");
    }
}

#[test]
fn the_folder_of_an_earlier_version_is_tightened_and_its_runs_belong_to_the_first_workspace() {
    let house = House::new();
    let mut store = house.open();
    let we = holder(&store);
    furnish(&mut store, &we);
    drop(we);
    store.close().unwrap();
    let earlier = Connection::open(house.database()).unwrap();
    earlier
        .execute_batch("ALTER TABLE run DROP COLUMN workspace; DROP TABLE store; PRAGMA user_version = 2;")
        .unwrap();
    drop(earlier);
    set_mode(&house.dir(), 0o755);
    assert!(matches!(Store::open_read_only(&house.dir(), redactor()), Err(Error::Older { found: 2, .. })));
    let store = house.open();
    assert_eq!(mode(&house.dir()), 0o700);
    assert_eq!(store.verify().problems, []);
    let here = Filter { workspace: Some(".".to_owned()), ..Filter::default() };
    assert_eq!(store.runs(&here).unwrap().runs.len(), 3);
    assert!(store.runs(&Filter::default()).unwrap().runs.iter().all(|run| run.workspace == "."));
}

#[test]
fn links_are_refused_wherever_they_stand_in_a_store() {
    for name in ["journal.db", "journal.db-wal", "journal.db-shm", "journal.lock", "journal.next"] {
        let house = House::new();
        house.open().close().unwrap();
        let (there, elsewhere) = (house.dir().join(name), house.dir().with_file_name("elsewhere"));
        if there.exists() {
            fs::rename(&there, &elsewhere).unwrap();
        } else {
            fs::write(&elsewhere, "").unwrap();
        }
        symlink(&elsewhere, &there).unwrap();
        let refused = Store::open(&house.dir(), redactor()).err().unwrap();
        assert!(matches!(&refused, Error::Link { path } if path == &there), "{name}: {refused}");
    }
    let house = House::new();
    house.open().close().unwrap();
    let elsewhere = house.dir().with_file_name("elsewhere");
    fs::rename(house.dir(), &elsewhere).unwrap();
    symlink(&elsewhere, house.dir()).unwrap();
    assert!(matches!(Store::open(&house.dir(), redactor()), Err(Error::Link { .. })));
    assert!(matches!(Store::open_read_only(&house.dir(), redactor()), Err(Error::Link { .. })));
    let house = House::new();
    let store = house.open();
    symlink(elsewhere, house.dir().join("holders")).unwrap();
    assert!(matches!(Holder::register(&store, "x", NOON), Err(Error::Link { .. })));
}

#[test]
fn the_folder_of_another_user_is_refused() {
    let house = House::new();
    house.open().close().unwrap();
    // Only the superuser can give files away.
    if std::os::unix::fs::chown(house.dir(), Some(12_345), None).is_err() {
        eprintln!("SKIPPED: files can only be given to another user by the superuser");
        return;
    }
    let refused = Store::open(&house.dir(), redactor()).err().unwrap();
    assert!(matches!(refused, Error::OtherOwner { owner: 12_345, .. }), "{refused}");
}

#[test]
fn runs_subjects_and_questions_belong_to_a_workspace() {
    let house = House::new();
    let mut main = house.open().at(".");
    let we = holder(&main);
    let busy = |name: &str| {
        let mut run = new_run(name);
        run.subject = "instance.yaml".into();
        run
    };
    main.create(vec![(busy("one"), vec![])], &we).unwrap();
    assert!(matches!(main.create(vec![(busy("two"), vec![])], &we), Err(Error::SubjectBusy { .. })));
    let mut other = house.open().at("/elsewhere/tree");
    let lease = other.create(vec![(busy("three"), vec![])], &we).unwrap().remove(0);
    let mut asked = Append::to(&lease);
    asked.entries = vec![entry(&other, Kind::Intent, "ask", "{}")];
    asked.open = vec![question(&other, "ask", "{}")];
    commit(&mut other, asked);
    let names = |workspace: &str| {
        let filter = Filter { workspace: Some(workspace.to_owned()), ..Filter::default() };
        main.runs(&filter).unwrap().runs.into_iter().map(|run| run.name).collect::<Vec<_>>()
    };
    assert_eq!((names("."), names("/elsewhere/tree")), (vec!["one".to_owned()], vec!["three".to_owned()]));
    assert_eq!(names(""), ["one"], "the one in which the store was made");
    let open = |workspace: &str| {
        let filter = OpenFilter { workspace: Some(workspace.to_owned()), ..OpenFilter::default() };
        main.open_calls(&filter).unwrap().len()
    };
    assert_eq!((open("."), open("/elsewhere/tree")), (0, 1));
    assert_eq!(main.verify().problems, []);
}

#[test]
fn a_store_that_was_removed_or_replaced_takes_no_more_entries() {
    for replaced in [false, true] {
        let house = House::new();
        let mut store = house.open();
        let we = holder(&store);
        let lease = begin(&mut store, &we, "run");
        let copy = fs::read(house.database()).unwrap();
        fs::remove_file(house.database()).unwrap();
        if replaced {
            fs::write(house.database(), copy).unwrap();
        }
        assert!(matches!(store.changed(), Err(Error::Lost { .. })));
        let late = store.commit(&[Append::to(&lease)]);
        assert!(matches!(late, Err(Error::Lost { .. })), "{late:?}");
        assert_eq!(house.database().exists(), replaced, "nothing is made in its place");
    }
}

#[test]
fn an_older_state_of_the_same_file_takes_no_more_entries() {
    let house = House::new();
    let mut store = house.open();
    let we = holder(&store);
    let lease = begin(&mut store, &we, "run");
    step(&mut store, &lease, "build", "{}");
    let outsider = house.outsider();
    outsider.execute_batch("DELETE FROM entry WHERE id > 1 << 32; UPDATE run SET token = token;").unwrap();
    let late = store.commit(&[Append::to(&lease)]);
    assert!(matches!(late, Err(Error::Lost { .. })), "{late:?}");
}

#[test]
fn a_move_takes_everything_along_and_happens_once() {
    let house = House::new();
    let mut store = house.open();
    let we = holder(&store);
    furnish(&mut store, &we);
    fs::create_dir_all(house.dir().join("snapshots")).unwrap();
    fs::write(house.dir().join("snapshots/one"), "kept").unwrap();
    set_mode(&house.dir(), 0o755);
    let to = house.dir().with_file_name("seriatim");
    assert_eq!(relocate(&house.dir(), &to, "sub").unwrap(), Relocated::Busy, "its holder lives");
    drop(we);
    store.close().unwrap();
    assert_eq!(relocate(&house.dir(), &to, "sub").unwrap(), Relocated::Moved);
    assert!(!house.dir().exists());
    assert_eq!((mode(&to), fs::read_to_string(to.join("snapshots/one")).unwrap()), (0o700, "kept".into()));
    let store = Store::open(&to, redactor()).unwrap();
    assert!(store.runs(&Filter::default()).unwrap().runs.iter().all(|run| run.workspace == "sub"));
    assert_eq!(store.verify().problems, []);
    // A second store at the old place is not this one, and nothing is lost by a second move.
    house.open().close().unwrap();
    assert_eq!(relocate(&house.dir(), &to, ".").unwrap(), Relocated::Elsewhere);
    assert!(!finish_relocation(&house.dir(), &to).unwrap());
    assert!(house.database().exists());
}

#[test]
fn what_a_move_to_another_disk_left_behind_is_known_by_its_id() {
    let house = House::new();
    house.open().close().unwrap();
    let to = house.dir().with_file_name("seriatim");
    private::make_folder(&to).unwrap();
    fs::copy(house.database(), to.join("journal.db")).unwrap();
    // A file that is not at the new place may be anybody's: the old place stays until every one is there.
    assert!(!finish_relocation(&house.dir(), &to).unwrap());
    for entry in fs::read_dir(house.dir()).unwrap().flatten().filter(|entry| entry.path().is_file()) {
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
    assert!(finish_relocation(&house.dir(), &to).unwrap());
    assert!(!house.dir().exists() && to.join("journal.db").exists());
}
