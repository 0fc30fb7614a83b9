//! Files on a real disk.

use std::fs;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;
use std::thread;

use proptest::prelude::*;
use seriatim_core::hash::Hash;
use seriatim_engine::hands::disk::Disk;
use seriatim_engine::hands::files::Entry;
use seriatim_engine::hands::files::Expect;
use seriatim_engine::hands::files::FileError;
use seriatim_engine::hands::files::Files;
use seriatim_engine::hands::files::Kind;
use seriatim_engine::hands::files::TEMPORARY_PREFIX;
use seriatim_engine::hands::files::Write;
use tempfile::tempdir;

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

fn names(directory: &Path) -> Vec<String> {
    Disk.list(directory).unwrap().into_iter().map(|(name, _)| name).collect()
}

#[test]
fn reading_gives_bytes_and_digest_and_keeps_to_the_limit() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("a");
    fs::write(&path, "abc").unwrap();
    let read = Disk.read(&path, 3).unwrap();
    assert_eq!((read.bytes.as_slice(), read.hash), (b"abc".as_slice(), Hash::of(b"abc")));
    assert_eq!(Disk.hash(&path), Ok(Hash::of(b"abc")));
    let too_large = FileError::TooLarge { path: path.clone(), size_bytes: 3, limit_bytes: 2 };
    assert_eq!(Disk.read(&path, 2), Err(too_large));
    assert_eq!(read.into_text(&path), Ok("abc".to_owned()));
    fs::write(&path, [b'a', 0xff]).unwrap();
    let not_text = Disk.read(&path, 9).unwrap().into_text(&path);
    assert_eq!(not_text, Err(FileError::NotUtf8 { path, offset: 1 }));
}

#[test]
fn what_is_not_a_file_is_named_and_a_pipe_does_not_block() {
    let directory = tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
    fs::write(at("file"), "").unwrap();
    assert_eq!(Disk.read(&at("pipe"), 9), Err(FileError::Special { path: at("pipe") }));
    assert_eq!(Disk.read(directory.path(), 9), Err(FileError::IsDirectory { path: directory.path().into() }));
    assert_eq!(Disk.read(&at("none"), 9), Err(FileError::NotFound { path: at("none") }));
    assert_eq!(Disk.read(&at("file/x"), 9), Err(FileError::NotDirectory { path: at("file/x") }));
    assert!(matches!(Disk.read(&at("nul\0"), 9), Err(FileError::BadName { .. })));
    let write = |name: &str| Disk.write(&at(name), b"", Write::REBUILDABLE);
    assert_eq!(write("."), Err(FileError::IsDirectory { path: at(".") }));
    assert!(matches!(write("file/x"), Err(FileError::NotDirectory { .. })));
    assert_eq!(Disk.look(&at("file/x")), Ok(None));
}

#[test]
fn writing_makes_directories_keeps_the_mode_and_leaves_nothing_beside() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("deep/er/file");
    assert_eq!(Disk.write(&path, b"one", Write::DURABLE), Ok(Hash::of(b"one")));
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    Disk.write(&path, b"two", Write::REBUILDABLE).unwrap();
    assert_eq!((fs::read(&path).unwrap(), mode(&path)), (b"two".to_vec(), 0o640));
    Disk.write(&path, b"three", Write::REBUILDABLE.mode(0o600)).unwrap();
    assert_eq!(mode(&path), 0o600);
    assert_eq!(names(path.parent().unwrap()), ["file"]);
}

#[test]
fn a_write_that_expects_something_else_changes_nothing() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("file");
    let changed = |expected: Option<Hash>, found: Option<&[u8]>| {
        Err(FileError::Changed { path: path.clone(), expected, found: found.map(Hash::of) })
    };
    let one = Hash::of(b"one");
    let write = |bytes: &[u8], expect| Disk.write(&path, bytes, Write::DURABLE.expecting(expect));
    assert_eq!(write(b"x", Expect::Hash(one)), changed(Some(one), None));
    assert!(!path.exists());
    assert_eq!(write(b"one", Expect::Absent), Ok(one));
    assert_eq!(write(b"x", Expect::Absent), changed(None, Some(b"one")));
    assert_eq!(write(b"two", Expect::Hash(one)), Ok(Hash::of(b"two")));
    assert_eq!(write(b"x", Expect::Hash(one)), changed(Some(one), Some(b"two")));
    assert_eq!(fs::read(&path).unwrap(), b"two");
    assert_eq!(names(directory.path()), ["file"]);
}

#[test]
fn of_many_that_expect_absence_one_wins() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("file");
    let won = AtomicUsize::new(0);
    thread::scope(|scope| {
        for number in 0..8u8 {
            let (path, won) = (&path, &won);
            scope.spawn(move || {
                let how = Write::REBUILDABLE.expecting(Expect::Absent);
                if Disk.write(path, &[number], how).is_ok() {
                    won.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
    });
    assert_eq!(won.load(Ordering::SeqCst), 1);
    assert_eq!(names(directory.path()), ["file"]);
}

#[test]
fn appending_adds_and_copying_copies() {
    let directory = tempdir().unwrap();
    let (log, copy) = (directory.path().join("logs/a.log"), directory.path().join("copy"));
    Disk.append(&log, b"one\n", true).unwrap();
    Disk.append(&log, b"two\n", false).unwrap();
    let hash = Disk.copy(&log, &copy, Write::REBUILDABLE.mode(0o600)).unwrap();
    assert_eq!(hash, Hash::of(b"one\ntwo\n"));
    assert_eq!((fs::read(&copy).unwrap(), mode(&copy)), (b"one\ntwo\n".to_vec(), 0o600));
}

#[test]
fn links_are_seen_replaced_and_removed_but_not_followed() {
    let directory = tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::write(at("target"), "kept").unwrap();
    fs::set_permissions(at("target"), Permissions::from_mode(0o640)).unwrap();
    symlink("target", at("link")).unwrap();
    let entry = Disk.look(&at("link")).unwrap().unwrap();
    assert_eq!(entry.kind, Kind::Symlink("target".to_owned()));
    Disk.set_mode(&at("link"), 0o777).unwrap();
    assert_eq!(mode(&at("target")), 0o640);
    Disk.link(&at("link"), Path::new("else\\where")).unwrap();
    assert_eq!(fs::read_link(at("link")).unwrap(), PathBuf::from("else\\where"));
    Disk.write(&at("link"), b"file now", Write::REBUILDABLE).unwrap();
    assert!(!at("link").is_symlink());
    Disk.remove(&at("link")).unwrap();
    Disk.remove(&at("link")).unwrap();
    assert_eq!(fs::read(at("target")).unwrap(), b"kept");
}

#[test]
fn only_empty_directories_are_removed() {
    let directory = tempdir().unwrap();
    let inner = directory.path().join("a/b");
    Disk.make_directory(&inner).unwrap();
    Disk.make_directory(&inner).unwrap();
    let outer = directory.path().join("a");
    assert_eq!(Disk.remove(&outer), Err(FileError::NotEmpty { path: outer.clone() }));
    Disk.remove(&inner).unwrap();
    Disk.remove(&outer).unwrap();
    fs::write(&outer, "").unwrap();
    assert_eq!(Disk.make_directory(&outer), Err(FileError::NotDirectory { path: outer }));
}

#[test]
fn temporary_files_of_the_dead_are_cleared_and_those_of_the_living_are_not() {
    let directory = tempdir().unwrap();
    let at = |name: &str| directory.path().join(format!("{TEMPORARY_PREFIX}{name}"));
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let started = stat.rsplit(')').next().unwrap().split_whitespace().nth(19).unwrap();
    let living = at(&format!("{}-{started}-0", std::process::id()));
    let dead = [at(&format!("{}-1-0", std::process::id())), at("4194999-5-0"), at("nonsense")];
    for path in dead.iter().chain([&living]) {
        fs::write(path, "").unwrap();
    }
    fs::write(directory.path().join("other"), "").unwrap();
    let mut cleared = Disk.clear_temporary(directory.path()).unwrap();
    cleared.sort();
    let mut expected = dead.to_vec();
    expected.sort();
    assert_eq!(cleared, expected);
    assert!(living.exists());
}

#[test]
fn a_lock_keeps_others_out_until_it_is_dropped() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("locks/lock");
    let inside = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let _lock = Disk.lock(&path).unwrap();
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                    inside.fetch_sub(1, Ordering::SeqCst);
                }
            });
        }
    });
    assert_eq!(Disk.sync(directory.path()), Ok(()));
}

#[test]
fn errors_are_sentences_with_the_path() {
    let path = PathBuf::from("/w/a.txt");
    let (one, two) = (Hash::of(b"1"), Hash::of(b"2"));
    let changed = FileError::Changed { path: path.clone(), expected: Some(one), found: Some(two) };
    assert_eq!(
        changed.to_string(),
        format!("/w/a.txt was changed by somebody else: expected {} and found {}", one.short(), two.short())
    );
    let outside = FileError::Outside { path: "../x".into(), root: "/w".into() };
    assert_eq!(outside.to_string(), "../x is outside the workspace /w");
    assert_eq!(
        FileError::NoSpace { path: path.clone() }.to_string(),
        "there is no space left to write /w/a.txt"
    );
    assert_eq!(FileError::NoSpace { path: path.clone() }.path(), path);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_written_is_read(bytes in proptest::collection::vec(any::<u8>(), 0..300_000)) {
        let directory = tempdir().unwrap();
        let path = directory.path().join("file");
        let hash = Disk.write(&path, &bytes, Write::REBUILDABLE).unwrap();
        let read = Disk.read(&path, u64::MAX).unwrap();
        prop_assert_eq!(read.hash, hash);
        prop_assert_eq!(Disk.hash(&path).unwrap(), hash);
        let size_bytes = bytes.len() as u64;
        prop_assert_eq!(read.bytes, bytes);
        let entry = Disk.look(&path).unwrap().unwrap();
        prop_assert_eq!(entry.clone(), Entry { kind: Kind::File, mode: entry.mode, size_bytes });
    }
}
