//! Snapshots for people: what they hold, what bringing one back does, and which are kept.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use seriatim_core::hash::Hash;
use seriatim_core::seal::Seal;
use tempfile::TempDir;

use super::*;
use crate::hands::disk::Disk;
use crate::hands::pattern::Pattern;
use crate::hands::snapshot::Take;

struct Place {
    _dir: TempDir,
    root: PathBuf,
}

impl Place {
    fn new() -> Place {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        Place { _dir: dir, root }
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).unwrap()
    }

    fn labelled(&self) -> Labelled<'static> {
        Labelled::new(&Disk, Workspace::new(&self.root).unwrap())
    }

    fn take(&self, run: &str, at: Utc) -> String {
        let take = Take {
            action: "build".to_owned(),
            run: run.to_owned(),
            created: at,
            scope: vec![],
            excludes: vec![Pattern::new("target")],
        };
        self.labelled().all().create(&take).unwrap().0.id
    }

    /// The run of a snapshot ends and leaves these files.
    fn seal(&self, id: &str, files: &[&str], deleted: &[&str]) {
        let seal = |path: &&str| {
            let hash = Hash::of(self.read(path).as_bytes());
            ((*path).to_owned(), Seal { hash, mode: 0o644 })
        };
        let sealed = Sealed {
            action: "build".to_owned(),
            run: "r1".to_owned(),
            at: now(),
            snapshot: id.to_owned(),
            files: files.iter().map(seal).collect::<BTreeMap<_, _>>(),
            deleted: deleted.iter().map(|path| (*path).to_owned()).collect(),
        };
        self.write(&format!("{FOLDER}/{SEAL}"), &serde_json::to_string(&sealed).unwrap());
    }
}

fn now() -> Utc {
    Utc::parse("2026-02-07T10:30:00Z").unwrap()
}

fn conflicts(difference: &Difference) -> Vec<&str> {
    difference.plan.conflicts().collect()
}

#[test]
fn e_65_what_is_not_as_the_run_left_it_is_somebodys() {
    let place = Place::new();
    for path in ["kept", "edited", "gone", "theirs"] {
        place.write(path, "before");
    }
    let id = place.take("r1", now());
    assert!(!place.labelled().difference(&id).unwrap().told_apart);
    for path in ["kept", "edited", "new"] {
        place.write(path, "action");
    }
    fs::remove_file(place.root.join("gone")).unwrap();
    place.seal(&id, &["kept", "edited", "new"], &["gone"]);
    let difference = place.labelled().difference(&id).unwrap();
    assert!(difference.told_apart);
    assert_eq!(conflicts(&difference), Vec::<&str>::new());

    place.write("edited", "person");
    place.write("theirs", "person");
    place.write("added", "person");
    let difference = place.labelled().difference(&id).unwrap();
    assert_eq!(conflicts(&difference), ["added", "edited", "theirs"]);
    assert!(difference.plan.in_words().ends_with("undone as well: added, edited, theirs"));

    // The seal of the last action says nothing about an earlier one.
    place.seal("another", &["edited"], &[]);
    assert!(!place.labelled().difference(&id).unwrap().told_apart);
}

// OC-67: a restoration is on record before it is done, and its undo knows what came after it.
#[test]
fn oc_67_restorations_are_on_record_and_undone() {
    let place = Place::new();
    place.write("a", "before");
    place.write("b", "before");
    let id = place.take("r1", now());
    place.write("a", "action");
    let labelled = place.labelled();
    let plan = labelled.difference(&id).unwrap().plan;
    let undo = labelled.restore(&plan, "ada", now()).unwrap().undo;
    assert_eq!(place.read("a"), "before");
    let expected = Restoration {
        snapshot: id.clone(),
        undo: undo.clone(),
        by: "ada".to_owned(),
        at: "2026-02-07T10:30:00.000Z".to_owned(),
        words: "This will revert 1 file".to_owned(),
        run: "r1".to_owned(),
    };
    assert_eq!(labelled.restorations(), [expected]);

    place.write("b", "person");
    let back = labelled.difference(&undo).unwrap();
    assert!(back.told_apart);
    assert_eq!(conflicts(&back), ["b"]);
    let again = labelled.restore(&back.plan, "ada", now()).unwrap().undo;
    assert_eq!((place.read("a"), place.read("b")), ("action".to_owned(), "before".to_owned()));
    assert!(again.starts_with("before-restore-build-"), "{again}");
    assert!(!again.contains("before-restore-before"), "{again}");
}

// What is on record stays on record, even where a foreign manifest holds it.
#[test]
fn oc_66_what_is_apart_is_in_no_snapshot_and_no_restoration() {
    let place = Place::new();
    let apart = [
        "planning-mds/operations/evidence/x",
        "logs/errors/x",
        ".artifacts-failed/x",
        ".seriatim/x",
        ".git/x",
    ];
    for path in apart {
        place.write(path, "before");
    }
    place.write("planning-mds/plan.md", "before");
    let id = place.take("r1", now());
    let paths: Vec<String> =
        place.labelled().manifest(&id).unwrap().items.into_iter().map(|item| item.path).collect();
    assert_eq!(paths, ["logs", "planning-mds", "planning-mds/operations", "planning-mds/plan.md"]);

    // Another tool took everything.
    let everything = Snapshots::new(&Disk, Workspace::new(&place.root).unwrap(), FOLDER);
    let take = Take {
        action: "plan".to_owned(),
        run: "r2".to_owned(),
        created: now(),
        scope: vec![],
        excludes: vec![],
    };
    let foreign = everything.create(&take).unwrap().0.id;
    for path in apart {
        place.write(path, "after");
    }
    place.write("planning-mds/plan.md", "after");
    let labelled = place.labelled();
    let plan = labelled.difference(&foreign).unwrap().plan;
    assert_eq!(
        plan.steps.iter().map(|step| step.path.as_str()).collect::<Vec<_>>(),
        ["planning-mds/plan.md"]
    );
    labelled.restore(&plan, "ada", now()).unwrap();
    assert_eq!(place.read("planning-mds/plan.md"), "before");
    assert!(apart.iter().all(|path| place.read(path) == "after"));
}

#[test]
fn e_66_the_oldest_go_and_what_is_needed_or_cannot_be_read_stays() {
    let place = Place::new();
    place.write("a", "1");
    let days = |count: u64| Utc(0).plus_ms(count * 86_400_000);
    let old = place.take("suspended", days(0));
    let outlived = place.take("over", days(1));
    let newest = place.take("over", days(60));
    place.seal(&outlived, &["a"], &[]);
    place.write(&format!("{FOLDER}/torn/manifest.json"), "{");
    let labelled = place.labelled();
    let rule = Retention::default();
    let kept = labelled.prune(&rule, &Needed::Unknown, days(60)).unwrap();
    assert_eq!(kept.snapshots, Vec::<String>::new());
    let needed = Needed::By(BTreeSet::from(["suspended".to_owned()]));
    let pruned = labelled.prune(&rule, &needed, days(60)).unwrap();
    assert_eq!(pruned.snapshots, [outlived]);
    let listing = labelled.list().unwrap();
    assert_eq!(listing.damaged, ["torn"]);
    assert_eq!(listing.snapshots.into_iter().map(|one| one.id).collect::<Vec<_>>(), [newest, old]);
}
