//! Snapshots of real directories.

use std::collections::BTreeMap;
use std::fs;
use std::fs::Permissions;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::path::PathBuf;

use proptest::prelude::*;
use seriatim_core::time::Utc;
use seriatim_engine::hands::disk::Disk;
use seriatim_engine::hands::paths::Workspace;
use seriatim_engine::hands::pattern::Pattern;
use seriatim_engine::hands::snapshot::DEFAULT_EXCLUDES;
use seriatim_engine::hands::snapshot::Manifest;
use seriatim_engine::hands::snapshot::Plan;
use seriatim_engine::hands::snapshot::SnapshotError;
use seriatim_engine::hands::snapshot::Snapshots;
use seriatim_engine::hands::snapshot::Take;
use tempfile::TempDir;
use tempfile::tempdir;

struct Place {
    directory: TempDir,
}

impl Place {
    fn new() -> Place {
        let place = Place { directory: tempdir().unwrap() };
        fs::create_dir(place.path("")).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join("w").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn mode(&self, name: &str) -> u32 {
        fs::symlink_metadata(self.path(name)).unwrap().permissions().mode() & 0o7777
    }

    fn snapshots(&self) -> Snapshots<'static> {
        Snapshots::new(&Disk, Workspace::new(self.path("")).unwrap(), ".seriatim/snapshots")
    }

    fn take(&self, scope: &[&str]) -> Manifest {
        self.snapshots().create(&take(scope)).unwrap().0
    }

    /// Restores without looking at the plan first.
    fn restore(&self, id: &str) -> String {
        let snapshots = self.snapshots();
        let plan = snapshots.compare(id, None).unwrap();
        snapshots.restore(&plan, now()).unwrap().undo
    }

    fn plan(&self, id: &str) -> Plan {
        self.snapshots().compare(id, None).unwrap()
    }
}

fn now() -> Utc {
    Utc::parse("2026-02-07T10:30:00Z").unwrap()
}

fn take(scope: &[&str]) -> Take {
    Take {
        action: "build".to_owned(),
        run: "r1".to_owned(),
        created: now(),
        scope: scope.iter().map(|text| Pattern::new(*text)).collect(),
        excludes: DEFAULT_EXCLUDES.map(Pattern::new).to_vec(),
    }
}

/// Everything below a directory: path to mode and content, links as their target.
fn picture(root: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.ends_with(".seriatim") {
                continue;
            }
            let meta = fs::symlink_metadata(&path).unwrap();
            let content = if meta.is_symlink() {
                fs::read_link(&path).unwrap().into_os_string().into_vec()
            } else if meta.is_dir() {
                directories.push(path.clone());
                Vec::new()
            } else {
                fs::read(&path).unwrap()
            };
            found.insert(path, (meta.permissions().mode(), content));
        }
    }
    found
}

#[test]
fn oc_66_a_snapshot_has_an_id_and_a_manifest_with_checksums() {
    let place = Place::new();
    place.write("docs/a.md", "abc");
    let (manifest, hash) = place.snapshots().create(&take(&[])).unwrap();
    assert_eq!(manifest.id, "build-2026-02-07-10-30-00");
    let text = place.read(".seriatim/snapshots/build-2026-02-07-10-30-00/manifest.json");
    assert_eq!(hash, seriatim_core::hash::Hash::of(text.as_bytes()));
    assert!(text.contains("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"), "{text}");
    // Taken twice within a second, the next free second is used and no content is stored twice.
    assert_eq!(place.take(&[]).id, "build-2026-02-07-10-30-01");
    let listing = place.snapshots().list().unwrap();
    let ids: Vec<&str> = listing.snapshots.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, ["build-2026-02-07-10-30-01", "build-2026-02-07-10-30-00"]);
    assert_eq!(fs::read_dir(place.path(".seriatim/snapshots/objects")).unwrap().count(), 1);
}

#[test]
fn oc_67_restoring_reverts_brings_back_and_deletes_what_is_new() {
    let place = Place::new();
    for name in ["docs/changed", "docs/deleted", "docs/same"] {
        place.write(name, "before");
    }
    place.write("outside", "before");
    let id = place.take(&["docs/"]).id;
    place.write("docs/changed", "after");
    fs::remove_file(place.path("docs/deleted")).unwrap();
    place.write("docs/sub/new", "after");
    place.write("outside", "after");
    let plan = place.plan(&id);
    assert_eq!(
        plan.in_words(),
        "This will revert 1 file, bring back 1 deleted file, delete 1 new file, adjust 1 directory"
    );
    let changed = picture(&place.path(""));
    let undo = place.restore(&id);
    assert_eq!((place.read("docs/changed"), place.read("docs/deleted")), ("before".into(), "before".into()));
    assert!(!place.path("docs/sub").exists());
    assert_eq!(place.read("outside"), "after");
    assert_eq!(place.plan(&id).steps, []);
    place.restore(&undo);
    assert_eq!(picture(&place.path("")), changed);
}

#[test]
fn e_67_links_modes_and_empty_directories_come_back_and_links_are_not_followed() {
    let place = Place::new();
    let outside = place.directory.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("precious"), "precious").unwrap();
    place.write("tool", "#!/bin/sh\n");
    fs::set_permissions(place.path("tool"), Permissions::from_mode(0o750)).unwrap();
    fs::create_dir_all(place.path("empty/er")).unwrap();
    fs::set_permissions(place.path("empty/er"), Permissions::from_mode(0o700)).unwrap();
    symlink(&outside, place.path("link")).unwrap();
    symlink("nowhere", place.path("dangling")).unwrap();
    let before = picture(&place.path(""));
    let manifest = place.take(&[]);
    assert!(!format!("{manifest:?}").contains("precious"));

    fs::set_permissions(place.path("tool"), Permissions::from_mode(0o644)).unwrap();
    fs::remove_dir_all(place.path("empty")).unwrap();
    fs::remove_file(place.path("link")).unwrap();
    fs::create_dir(place.path("link")).unwrap();
    fs::write(place.path("link/file"), "x").unwrap();
    fs::remove_file(place.path("dangling")).unwrap();
    place.restore(&manifest.id);
    assert_eq!(picture(&place.path("")), before);
    assert_eq!(fs::read_to_string(outside.join("precious")).unwrap(), "precious");
}

#[test]
fn e_67_a_directory_that_became_a_link_does_not_lead_the_restoration_out() {
    let place = Place::new();
    place.write("docs/a", "before");
    let id = place.take(&[]).id;
    let outside = place.directory.path().join("outside");
    fs::rename(place.path("docs"), &outside).unwrap();
    fs::write(outside.join("a"), "theirs").unwrap();
    symlink(&outside, place.path("docs")).unwrap();
    place.restore(&id);
    assert_eq!(place.read("docs/a"), "before");
    assert!(!place.path("docs").is_symlink());
    assert_eq!(fs::read_to_string(outside.join("a")).unwrap(), "theirs");
}

#[test]
fn directories_that_forbid_writing_are_restored_and_forbid_it_again() {
    let place = Place::new();
    let forbid = |name: &str| fs::set_permissions(place.path(name), Permissions::from_mode(0o555)).unwrap();
    let allow = |name: &str| fs::set_permissions(place.path(name), Permissions::from_mode(0o755)).unwrap();
    place.write("locked/a", "before");
    place.write("gone/b", "before");
    forbid("locked");
    forbid("gone");
    let before = picture(&place.path(""));
    let id = place.take(&[]).id;
    allow("locked");
    place.write("locked/a", "after");
    place.write("locked/new", "after");
    forbid("locked");
    allow("gone");
    fs::remove_dir_all(place.path("gone")).unwrap();
    place.restore(&id);
    assert_eq!(picture(&place.path("")), before);
    // So that the directory can be removed at the end.
    allow("locked");
    allow("gone");
}

#[test]
fn e_65_what_somebody_edited_after_the_action_is_named() {
    let place = Place::new();
    place.write("a", "0");
    place.write("b", "0");
    let before = place.take(&[]).id;
    place.write("a", "action");
    place.write("b", "action");
    let after = place.take(&[]).id;
    place.write("b", "person");
    place.write("c", "person");
    let plan = place.snapshots().compare(&before, Some(&after)).unwrap();
    assert_eq!(plan.conflicts().collect::<Vec<_>>(), ["b", "c"]);
    assert!(plan.in_words().ends_with("undone as well: b, c"), "{}", plan.in_words());
    let undo = place.snapshots().restore(&plan, now()).unwrap().undo;
    place.restore(&undo);
    assert_eq!((place.read("b"), place.read("c")), ("person".into(), "person".into()));
}

#[test]
fn a_plan_that_was_overtaken_restores_nothing() {
    let place = Place::new();
    place.write("a", "before");
    let id = place.take(&[]).id;
    place.write("a", "seen");
    let plan = place.plan(&id);
    place.write("a", "newer");
    let refused = place.snapshots().restore(&plan, now());
    assert_eq!(refused, Err(SnapshotError::Moved { id: id.clone() }));
    assert_eq!(place.read("a"), "newer");
    assert_eq!(place.snapshots().list().unwrap().snapshots.len(), 1, "no undo for what was not done");
}

#[test]
fn excluded_paths_are_neither_recorded_nor_deleted() {
    let place = Place::new();
    place.write("src/a", "before");
    place.write(".git/config", "git");
    place.write("sub/.git/HEAD", "nested");
    let manifest = place.take(&[]);
    let paths: Vec<&str> = manifest.items.iter().map(|item| item.path.as_str()).collect();
    assert_eq!(paths, ["src", "src/a", "sub"]);
    place.write("target/out", "new");
    place.write("new/target/out", "new");
    place.restore(&manifest.id);
    assert!(place.path("target/out").exists());
    assert!(place.path("new/target/out").exists(), "a new directory with excluded content stays");
    assert_eq!(place.read(".git/config"), "git");
}

#[test]
fn special_files_and_names_that_are_not_text_survive() {
    let place = Place::new();
    let odd = place.path("").join(std::ffi::OsString::from_vec(b"od\xffd\\x".to_vec()));
    fs::write(&odd, "before").unwrap();
    let _socket = UnixListener::bind(place.path("socket")).unwrap();
    let manifest = place.take(&[]);
    assert_eq!(manifest.special, ["socket"]);
    fs::write(&odd, "after").unwrap();
    place.restore(&manifest.id);
    assert_eq!(fs::read_to_string(&odd).unwrap(), "before");
    assert!(place.path("socket").exists());
}

#[test]
fn damage_is_found_and_keeps_the_workspace_as_it_is() {
    let place = Place::new();
    place.write("a", "abc");
    place.write("b", "other");
    let id = place.take(&[]).id;
    assert_eq!(place.snapshots().verify(&id), Ok(Vec::new()));
    let objects = place.path(".seriatim/snapshots/objects");
    let object = objects.join("ba/7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    fs::write(&object, "abd").unwrap();
    let damage = place.snapshots().verify(&id).unwrap();
    assert_eq!(damage.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), ["a"]);
    place.write("a", "after");
    place.write("b", "after");
    let refused = place.snapshots().restore(&place.plan(&id), now());
    assert!(matches!(refused, Err(SnapshotError::Damaged { .. })));
    assert_eq!((place.read("a"), place.read("b")), ("after".into(), "after".into()));
    assert_eq!(place.mode(".seriatim"), place.mode(".seriatim/snapshots"));
}

#[test]
fn ids_that_are_not_there_or_not_ids_are_unknown() {
    let place = Place::new();
    for id in ["", ".", "..", "../../etc", "a/b", "no-such", "objects"] {
        assert_eq!(place.snapshots().manifest(id), Err(SnapshotError::Unknown { id: id.to_owned() }));
    }
    place.write(".seriatim/snapshots/torn/manifest.json", "{");
    assert!(matches!(place.snapshots().manifest("torn"), Err(SnapshotError::BadManifest { .. })));
    assert_eq!(place.snapshots().list().unwrap().damaged, ["torn"]);
}

#[test]
fn pruning_keeps_what_is_named_and_the_contents_it_needs() {
    let place = Place::new();
    place.write("a", "shared");
    place.write("b", "old");
    let old = place.take(&[]).id;
    place.write("b", "new");
    let new = place.take(&[]).id;
    let pruned = place.snapshots().prune(|_| vec![old.clone()]).unwrap();
    assert_eq!((pruned.snapshots.as_slice(), pruned.objects, pruned.size_bytes), ([old].as_slice(), 1, 3));
    assert_eq!(place.snapshots().verify(&new), Ok(Vec::new()));
    // With a manifest that cannot be read no content is removed.
    place.write(".seriatim/snapshots/torn/manifest.json", "{");
    let pruned = place
        .snapshots()
        .prune(|listing| listing.snapshots.iter().map(|it| it.id.clone()).collect())
        .unwrap();
    assert_eq!((pruned.snapshots.as_slice(), pruned.objects), ([new].as_slice(), 0));
}

/// What somebody may do to a tree.
#[derive(Clone, Debug)]
enum Deed {
    Write(String, String),
    Remove(String),
    Directory(String),
    Link(String, String),
    Mode(String, u32),
}

fn deed() -> impl Strategy<Value = Deed> {
    let path = || "[ab](/[ab]){0,2}";
    prop_oneof![
        (path(), "[xy]{0,2}").prop_map(|(path, text)| Deed::Write(path, text)),
        path().prop_map(Deed::Remove),
        path().prop_map(Deed::Directory),
        (path(), path()).prop_map(|(path, target)| Deed::Link(path, target)),
        (path(), prop_oneof![Just(0o600u32), Just(0o755)]).prop_map(|(path, mode)| Deed::Mode(path, mode)),
    ]
}

/// Does it if it can be done; whatever lies in the way stays.
fn attempt(root: &Path, deed: &Deed) {
    let inside = |path: &str| {
        let parent = root.join(path).parent().unwrap().to_owned();
        (fs::create_dir_all(&parent).is_ok() && fs::canonicalize(parent).unwrap().starts_with(root))
            .then(|| root.join(path))
    };
    let _ = match deed {
        Deed::Write(path, text) => inside(path).filter(|it| !it.is_symlink()).map(|it| fs::write(it, text)),
        Deed::Remove(path) => {
            inside(path).map(|it| fs::remove_file(&it).or_else(|_| fs::remove_dir_all(&it)))
        }
        Deed::Directory(path) => inside(path).map(fs::create_dir),
        Deed::Link(path, target) => inside(path).map(|it| symlink(target, it)),
        Deed::Mode(path, mode) => inside(path)
            .filter(|it| it.is_file() && !it.is_symlink())
            .map(|it| fs::set_permissions(it, Permissions::from_mode(*mode))),
    };
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever was there and whatever was done to it: restoring gives the old tree, and the undo the new one.
    #[test]
    fn oc_87_restoring_is_exact_and_can_be_undone(
        first in proptest::collection::vec(deed(), 0..10),
        then in proptest::collection::vec(deed(), 0..10),
    ) {
        let place = Place::new();
        let root = place.path("").canonicalize().unwrap();
        for deed in &first {
            attempt(&root, deed);
        }
        let before = picture(&root);
        let id = place.take(&[]).id;
        for deed in &then {
            attempt(&root, deed);
        }
        let after = picture(&root);
        let undo = place.restore(&id);
        prop_assert_eq!(picture(&root), before);
        place.restore(&undo);
        prop_assert_eq!(picture(&root), after);
    }
}
