//! A merge that dies before every system call that writes, and one in which somebody saves at every such moment.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::fs::symlink;
use std::panic::AssertUnwindSafe;
use std::panic::catch_unwind;
use std::panic::resume_unwind;
use std::path::Path;
use std::path::PathBuf;
use std::rc::Rc;

use proptest::collection::vec;
use proptest::prelude::*;
use rustix::fs::CWD;
use rustix::fs::FileType;
use rustix::fs::Mode;
use rustix::fs::XattrFlags;
use rustix::fs::lsetxattr;
use rustix::fs::mknodat;
use tempfile::TempDir;

use super::super::HomeStep;
use super::super::LayerError;
use super::super::LayerStack;
use super::super::writes::hook;
use super::Homecoming;

/// Every entry of a tree as text.
type Tree = BTreeMap<String, String>;

struct Fixture {
    directory: TempDir,
    steps: Vec<HomeStep>,
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn whiteout(path: &Path) {
    mknodat(CWD, path, FileType::CharacterDevice, Mode::empty(), 0).unwrap();
}

/// Reads a tree without its own times. Files of ours that are left over would be seen.
fn tree(root: &Path) -> Tree {
    let mut tree = Tree::new();
    collect(root, Path::new(""), &mut tree);
    tree
}

fn collect(root: &Path, folder: &Path, tree: &mut Tree) {
    for entry in fs::read_dir(root.join(folder)).unwrap() {
        let entry = entry.unwrap();
        let (path, place, meta) = (folder.join(entry.file_name()), entry.path(), entry.metadata().unwrap());
        let mode = meta.permissions().mode() & 0o7777;
        let text = if meta.is_dir() {
            chmod(&place, mode | 0o700);
            collect(root, &path, tree);
            chmod(&place, mode);
            format!("folder {mode:o}")
        } else if meta.is_symlink() {
            format!("link {}", fs::read_link(&place).unwrap().display())
        } else {
            format!("file {mode:o} {}", fs::read_to_string(&place).unwrap())
        };
        tree.insert(path.display().to_string(), text);
    }
}

/// Returns a folder in memory, since each test builds hundreds of them, or on the disk where memory has no attributes.
fn quick_folder() -> TempDir {
    let has_attributes =
        |folder: &TempDir| lsetxattr(folder.path(), "user.overlay.test", b"y", XattrFlags::empty()).is_ok();
    let memory = tempfile::tempdir_in("/dev/shm").ok().filter(has_attributes);
    memory.unwrap_or_else(|| tempfile::tempdir().unwrap())
}

impl Fixture {
    /// Builds a real folder and an upper layer with every kind of change.
    fn new() -> Fixture {
        let directory = quick_folder();
        let real = |name: &str| directory.path().join("real").join(name);
        let upper = |name: &str| directory.path().join("upper").join(name);
        for name in ["keep", "edit", "gone", "dir/a", "dir/sub/b", "becomes-folder", "becomes-file/x", "mode"]
        {
            put(&real(name), &format!("old {name}"));
        }
        put(&real("append"), "one\n");
        symlink("keep", real("link")).unwrap();
        fs::create_dir(real("folder-mode")).unwrap();
        chmod(&real("folder-mode"), 0o755);
        put(&directory.path().join("began"), "");
        put(&upper("edit"), "new edit");
        put(&upper("append"), "one\ntwo\n");
        for name in ["gone", "dir"] {
            whiteout(&upper(name));
        }
        put(&upper("becomes-folder/inner"), "new inner");
        put(&upper("becomes-file"), "new file");
        put(&upper("mode"), "old mode");
        chmod(&upper("mode"), 0o4755);
        symlink("edit", upper("link")).unwrap();
        fs::create_dir(upper("folder-mode")).unwrap();
        chmod(&upper("folder-mode"), 0o750);
        put(&upper("folder-mode/more"), "new more");
        put(&upper("new/deep/file"), "new deep");
        chmod(&upper("new/deep"), 0o555);
        // Unreadable to an ordinary user once it is merged.
        put(&upper("closed/deep/file"), "new closed");
        chmod(&upper("closed/deep"), 0o000);
        chmod(&upper("closed"), 0o000);
        let mut fixture = Fixture { directory, steps: Vec::new() };
        fixture.steps = fixture.stack().change(&|_| false).unwrap().iter().map(HomeStep::from).collect();
        fixture
    }

    fn real(&self) -> PathBuf {
        self.directory.path().join("real")
    }

    fn kept(&self) -> PathBuf {
        self.directory.path().join("kept")
    }

    fn stack(&self) -> LayerStack {
        let at = |name: &str| self.directory.path().join(name);
        LayerStack::new(vec![at("upper")], at("real"), at("began"))
    }

    fn home(&self) -> Result<Homecoming, LayerError> {
        self.stack().home(&self.steps, &self.kept())
    }

    /// Merges with a hook that is called before each write, with the number of the write. Returns `None` if it died.
    fn home_with(&self, mut each: impl FnMut(usize) + 'static) -> Option<Result<Homecoming, LayerError>> {
        let mut count = 0;
        hook::set(Some(Box::new(move || {
            each(count);
            count += 1;
        })));
        let ended = catch_unwind(AssertUnwindSafe(|| self.home()));
        hook::set(None);
        ended.ok()
    }

    /// Returns whether all that is somebody's is still somewhere.
    fn has_kept(&self, text: &str) -> bool {
        let kept = tree(&self.kept());
        tree(&self.real()).values().chain(kept.values()).any(|found| found.ends_with(text))
    }
}

fn die_at(at: usize) -> impl FnMut(usize) + 'static {
    move |count| {
        if count == at {
            resume_unwind(Box::new("died"));
        }
    }
}

fn trees() -> (Tree, Tree) {
    let fixture = Fixture::new();
    let before = tree(&fixture.real());
    let home = fixture.home().unwrap();
    assert_eq!(home.conflicts, Vec::<String>::new());
    assert_eq!(home.brought.len(), fixture.steps.len());
    (before, tree(&fixture.real()))
}

#[test]
fn a_merge_makes_the_real_folder_as_the_view_and_keeps_what_it_displaced() {
    let fixture = Fixture::new();
    fixture.home().unwrap();
    let expected = [
        ("append", "file 644 one\ntwo\n"),
        ("becomes-file", "file 644 new file"),
        ("becomes-folder", "folder 755"),
        ("becomes-folder/inner", "file 644 new inner"),
        ("closed", "folder 0"),
        ("closed/deep", "folder 0"),
        ("closed/deep/file", "file 644 new closed"),
        ("edit", "file 644 new edit"),
        ("folder-mode", "folder 750"),
        ("folder-mode/more", "file 644 new more"),
        ("keep", "file 644 old keep"),
        ("link", "link edit"),
        // The set-user-id bit is not merged.
        ("mode", "file 755 old mode"),
        ("new", "folder 755"),
        ("new/deep", "folder 555"),
        ("new/deep/file", "file 644 new deep"),
    ];
    let expected = expected.map(|(path, text)| (path.to_owned(), text.to_owned()));
    assert_eq!(tree(&fixture.real()), Tree::from(expected));
    let displaced = tree(&fixture.kept().join("displaced"));
    assert_eq!(displaced["dir/sub/b"], "file 644 old dir/sub/b");
    assert_eq!(displaced["edit"], "file 644 old edit");
    assert_eq!(displaced["link"], "link keep");
    // Running it again changes nothing, also when people have worked on.
    put(&fixture.real().join("edit"), "later");
    assert_eq!(fixture.home().unwrap().brought.len(), fixture.steps.len());
    assert_eq!(fs::read_to_string(fixture.real().join("edit")).unwrap(), "later");
}

#[test]
fn a_conflict_that_is_there_before_brings_nothing() {
    let fixture = Fixture::new();
    put(&fixture.real().join("edit"), "person");
    put(&fixture.real().join("new/deep/file"), "person");
    let before = tree(&fixture.real());
    let home = fixture.home().unwrap();
    assert_eq!((home.conflicts, home.brought), (vec!["edit".into(), "new/deep/file".into()], vec![]));
    assert_eq!(tree(&fixture.real()), before);
}

#[test]
fn dying_before_any_write_leaves_nothing_half_done() {
    let (before, after) = trees();
    for exchange in [true, false] {
        hook::allow_exchange(exchange);
        for at in 0.. {
            let fixture = Fixture::new();
            if fixture.home_with(die_at(at)).is_some() {
                assert!(at > 40, "only {at} writes");
                break;
            }
            // A second death, while the first one is repaired.
            let again = fixture.home_with(die_at(at % 7));
            let home = again.unwrap_or_else(|| fixture.home()).unwrap();
            assert_eq!(home.conflicts, Vec::<String>::new(), "{at}");
            assert_eq!(tree(&fixture.real()), after, "{at}");
            assert!(fixture.has_kept("old gone") && fixture.has_kept("old edit"), "{at}");
        }
    }
    hook::allow_exchange(true);
    assert_ne!(before, after);
}

/// Saves as editors do: a new file is renamed over the old one.
fn save(path: &Path, text: &str) {
    let (folder, beside) = (path.parent().unwrap(), path.with_file_name("editor-file"));
    let mode = folder.metadata().unwrap().permissions();
    // A person who wants to can write into a folder that is read-only to its owner.
    chmod(folder, mode.mode() | 0o200);
    fs::write(&beside, text).unwrap();
    fs::rename(beside, path).unwrap();
    fs::set_permissions(folder, mode).unwrap();
}

/// Checks that the merge is whole or not there at all, but for what lies on the way to the file that somebody saved and
/// below it.
#[track_caller]
fn check_whole(fixture: &Fixture, saved: &str, home: &Homecoming, trees: &(Tree, Tree), note: &str) {
    let others = |mut tree: Tree| {
        tree.retain(|path, _| !Path::new(path).starts_with(saved) && !Path::new(saved).starts_with(path));
        tree
    };
    let expected = if home.conflicts.is_empty() { trees.1.clone() } else { trees.0.clone() };
    assert_eq!(others(tree(&fixture.real())), others(expected), "{note}");
    assert!(fixture.has_kept("person"), "{note}");
    for (path, text) in trees.0.iter().filter(|(path, text)| *path != saved && text.starts_with("file")) {
        assert!(fixture.has_kept(text), "{note}: {path} is lost");
    }
}

#[test]
fn somebody_who_saves_at_any_moment_loses_nothing() {
    let trees = trees();
    for saved in ["edit", "gone", "new-file", "append", "becomes-folder", "becomes-file"] {
        let mut conflicts = 0;
        for at in 0.. {
            let fixture = Fixture::new();
            let (path, has_saved) = (fixture.real().join(saved), Rc::new(Cell::new(None)));
            let note = Rc::clone(&has_saved);
            let home = fixture.home_with(move |count| {
                if count == at {
                    note.set(Some(!path.is_dir()));
                    if !path.is_dir() {
                        save(&path, "person");
                    }
                }
            });
            let home = home.unwrap().unwrap();
            match has_saved.get() {
                None => break,
                Some(false) => {}
                Some(true) => {
                    conflicts += home.conflicts.len();
                    check_whole(&fixture, saved, &home, &trees, &format!("{saved} {at}"));
                }
            }
        }
        assert!(conflicts > 0 || saved == "new-file", "{saved}");
    }
}

#[test]
fn somebody_who_saves_after_a_crash_loses_nothing() {
    let trees = trees();
    for saved in ["edit", "gone", "new/deep/file", "append"] {
        for at in 0.. {
            let fixture = Fixture::new();
            if fixture.home_with(die_at(at)).is_some() {
                break;
            }
            let path = fixture.real().join(saved);
            if path.parent().is_some_and(Path::is_dir) {
                save(&path, "person");
                let home = fixture.home().unwrap();
                check_whole(&fixture, saved, &home, &trees, &format!("{saved} {at}"));
            }
        }
    }
}

#[test]
fn dying_while_everything_goes_back_leaves_nothing_half_done() {
    let trees = trees();
    for at in 0.. {
        let fixture = Fixture::new();
        let path = fixture.real().join("new/deep");
        let mut since = None;
        // The conflict shows late, after nearly everything is applied.
        let died = fixture.home_with(move |_| {
            if let Some(count) = &mut since {
                if *count == at {
                    resume_unwind(Box::new("died"));
                }
                *count += 1;
            } else if path.is_dir() {
                save(&path.join("file"), "person");
                since = Some(0);
            }
        });
        if let Some(home) = died {
            assert_eq!(home.unwrap().conflicts, ["new/deep/file"]);
            assert!(at > 30, "only {at} writes");
            break;
        }
        let home = fixture.home().unwrap();
        // The folders of the file that somebody saved there stay.
        for folder in ["new", "new/deep"] {
            assert!(fixture.real().join(folder).is_dir());
        }
        let mut now = tree(&fixture.real());
        assert_eq!(now.remove("new/deep/file").as_deref(), Some("file 644 person"));
        now.retain(|path, _| !path.starts_with("new"));
        assert_eq!(home.conflicts, ["new/deep/file"], "{at}");
        assert_eq!(now, trees.0, "{at}");
    }
}

/// A small tree: paths of up to three names with a number that says what is there.
fn any_tree() -> impl Strategy<Value = Vec<(Vec<&'static str>, u8)>> {
    let name = prop::sample::select(vec!["a", "b", "c"]);
    vec((vec(name, 1..4), 0..12u8), 0..10)
}

/// Builds a tree; entries that do not fit are left out.
fn build(root: &Path, entries: &[(Vec<&str>, u8)]) {
    fs::create_dir_all(root).unwrap();
    for (names, what) in entries {
        let path: PathBuf = names.iter().fold(root.to_owned(), |path, name| path.join(name));
        if fs::create_dir_all(path.parent().unwrap()).is_err() || path.symlink_metadata().is_ok() {
            continue;
        }
        match what {
            0..2 => symlink(format!("nowhere-{what}"), &path).unwrap(),
            2..4 => {
                fs::create_dir(&path).unwrap();
                chmod(&path, [0o755, 0o750][usize::from(what - 2)]);
            }
            _ => {
                fs::write(&path, format!("text {}", what % 3)).unwrap();
                chmod(&path, if what % 2 == 0 { 0o644 } else { 0o755 });
            }
        }
    }
}

/// Makes an upper layer of a whole view: every folder is opaque, and what the view lacks at the top is removed.
fn make_upper(upper: &Path, real: &Path) {
    for path in
        tree(upper).keys().map(|path| upper.join(path)).filter(|path| !path.is_symlink() && path.is_dir())
    {
        lsetxattr(&path, "user.overlay.opaque", b"y", XattrFlags::empty()).unwrap();
    }
    for entry in fs::read_dir(real).unwrap() {
        let path = upper.join(entry.unwrap().file_name());
        if path.symlink_metadata().is_err() {
            whiteout(&path);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_view_is_merged_whatever_crashes_come_between(
        before in any_tree(),
        after in any_tree(),
        deaths in vec(0..60usize, 0..4),
        exchange in any::<bool>(),
    ) {
        let directory = quick_folder();
        let at = |name: &str| directory.path().join(name);
        build(&at("real"), &before);
        build(&at("upper"), &after);
        let view = tree(&at("upper"));
        make_upper(&at("upper"), &at("real"));
        put(&at("began"), "");
        let mut fixture = Fixture { directory, steps: Vec::new() };
        fixture.steps = fixture.stack().change(&|_| false).unwrap().iter().map(HomeStep::from).collect();
        hook::allow_exchange(exchange);
        for death in deaths {
            fixture.home_with(die_at(death));
        }
        let home = fixture.home();
        hook::allow_exchange(true);
        let home = home.unwrap();
        prop_assert_eq!((home.conflicts, home.brought.len()), (vec![], fixture.steps.len()));
        prop_assert_eq!(tree(&fixture.real()), view);
        prop_assert_eq!(fixture.stack().change(&|_| false).unwrap(), vec![]);
    }
}
