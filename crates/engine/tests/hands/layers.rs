//! Layers that are built by hand.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::fs::chown;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use rustix::fs::CWD;
use rustix::fs::FileType;
use rustix::fs::Mode;
use rustix::fs::OFlags;
use rustix::fs::XattrFlags;
use rustix::fs::lsetxattr;
use rustix::fs::mkdirat;
use rustix::fs::mknodat;
use rustix::fs::openat;
use rustix::process::geteuid;
use seriatim_core::hash::Hash;
use seriatim_engine::hands::layers::HomeStep;
use seriatim_engine::hands::layers::LayerChange;
use seriatim_engine::hands::layers::LayerError;
use seriatim_engine::hands::layers::LayerStack;
use seriatim_engine::hands::layers::Node;
use seriatim_engine::hands::layers::foreign;
use seriatim_engine::hands::layers::remove_layers;
use seriatim_engine::hands::layers::size;

use crate::support::Layers;
use crate::support::nodes;

fn mark(path: &Path, name: &str, value: &str) {
    lsetxattr(path, format!("user.overlay.{name}"), value.as_bytes(), XattrFlags::empty()).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

/// The changes as short lines: what came, what went, and `!` for what was changed meanwhile.
fn lines(stack: &LayerStack) -> Vec<String> {
    let sign = |change: &LayerChange| match (&change.before, &change.after) {
        (None, _) => '+',
        (_, None) => '-',
        _ => '*',
    };
    let changes = stack.change(&|_| false).unwrap();
    let late = |change: &LayerChange| if change.meanwhile { "!" } else { "" };
    changes.iter().map(|c| format!("{}{}{}", sign(c), c.path, late(c))).collect()
}

fn steps(stack: &LayerStack) -> Vec<HomeStep> {
    stack.change(&|_| false).unwrap().iter().map(HomeStep::from).collect()
}

fn file(mode: u32, text: &str) -> Option<Node> {
    Some(Node::File { mode, size: text.len() as u64, hash: Hash::of(text.as_bytes()) })
}

/// Two upper layers over a real folder.
fn stacked() -> (Layers, LayerStack) {
    let layers = Layers::new();
    for name in ["real/a", "real/d/x", "real/d/y", "real/e/z", "real/f/g", "real/plain", "real/o/below"] {
        layers.put(name, name);
    }
    for name in ["older/d/x", "older/new", "older/o/middle", "upper/d/new", "upper/f", "upper/o/top"] {
        layers.put(name, name);
    }
    for name in ["older/e", "upper/new", "upper/a"] {
        layers.whiteout(name);
    }
    mark(&layers.at("older/o"), "opaque", "y");
    symlink("d", layers.at("upper/link")).unwrap();
    layers.begin();
    let stack = layers.stack(&["upper", "older"]);
    (layers, stack)
}

#[test]
fn entries_are_found_where_the_view_has_them() {
    let (layers, stack) = stacked();
    let find = |path: &str| stack.find(path).unwrap();
    let at = |name: &str| Some(layers.at(name));
    assert_eq!(find("plain"), at("real/plain"));
    assert_eq!(
        (find("d/x"), find("d/y"), find("d/new")),
        (at("older/d/x"), at("real/d/y"), at("upper/d/new"))
    );
    assert_eq!((find("a"), find("new"), find("e"), find("e/z")), (None, None, None, None));
    assert_eq!((find("f"), find("f/g")), (at("upper/f"), None));
    assert_eq!(
        (find("o/top"), find("o/middle"), find("o/below")),
        (at("upper/o/top"), at("older/o/middle"), None)
    );
    assert_eq!((find("d"), find("link")), (at("upper/d"), at("upper/link")));
    assert_eq!(stack.find("link/x"), Err(LayerError::Link { path: layers.at("upper/link") }));
    for bad in ["../x", "/etc", "d/../a"] {
        assert!(matches!(stack.find(bad), Err(LayerError::BadPath { .. })), "{bad}");
    }
}

#[test]
fn listings_are_merged() {
    let (layers, stack) = stacked();
    let names = |folder: &str| {
        let listed = stack.list(folder).unwrap();
        listed.into_iter().map(|(name, _)| name).collect::<Vec<OsString>>()
    };
    assert_eq!(names(""), ["d", "f", "link", "o", "plain"]);
    assert_eq!(names("d"), ["new", "x", "y"]);
    assert_eq!(names("o"), ["middle", "top"]);
    assert_eq!(stack.list("d").unwrap()[1], ("x".into(), layers.at("older/d/x")));
    assert!(stack.list("f").is_err() && stack.list("none").is_err());
}

#[test]
fn the_change_lists_every_removed_file() {
    let (_layers, stack) = stacked();
    let expected =
        ["-a", "+d/new", "*d/x", "-e", "-e/z", "*f", "-f/g", "+link", "-o/below", "+o/middle", "+o/top"];
    assert_eq!(lines(&stack), expected);
    let apart = stack.change(&|path| path.starts_with("d") || path == Path::new("e/z")).unwrap();
    let paths: Vec<&str> = apart.iter().map(|change| change.path.as_str()).collect();
    assert_eq!(paths, ["a", "e", "f", "f/g", "link", "o/below", "o/middle", "o/top"]);
}

#[test]
fn people_who_work_meanwhile_are_noticed() {
    let layers = Layers::new();
    for name in ["edited", "both", "dropped", "removed-and-edited", "folder/old"] {
        layers.put(&format!("real/{name}"), "old");
    }
    layers.begin();
    for name in ["edited", "both", "dropped", "new"] {
        layers.put(&format!("upper/{name}"), "agent");
    }
    mark(&layers.at("upper/dropped"), "origin", "x");
    layers.whiteout("upper/removed-and-edited");
    layers.whiteout("upper/folder");
    let stack = layers.stack(&["upper"]);
    assert_eq!(
        lines(&stack),
        ["*both", "*dropped", "*edited", "-folder", "-folder/old", "+new", "-removed-and-edited"]
    );
    layers.put("real/both", "person");
    layers.put("real/removed-and-edited", "person");
    layers.put("real/folder/new", "person");
    fs::remove_file(layers.at("real/dropped")).unwrap();
    assert_eq!(
        lines(&stack),
        [
            "*both!",
            "+dropped!",
            "*edited",
            "-folder!",
            "-folder/new!",
            "-folder/old",
            "+new",
            "-removed-and-edited!"
        ]
    );
}

#[test]
fn equal_copies_are_no_change_and_modes_are() {
    let layers = Layers::new();
    for name in ["real/same", "upper/same", "real/mode", "upper/mode", "real/d/x", "upper/d/x"] {
        layers.put(name, "x");
        layers.chmod(name, 0o644);
    }
    layers.chmod("upper/mode", 0o4755);
    layers.chmod("upper/d", 0o711);
    layers.whiteout("upper/never-was");
    layers.begin();
    let survey = layers.stack(&["upper"]).survey(&|_| false).unwrap();
    let reverted: Vec<&str> = survey.reverted.iter().map(|change| change.path.as_str()).collect();
    assert_eq!(reverted, ["d/x", "same"]);
    let found: Vec<_> = survey.changes.iter().map(|c| (c.path.as_str(), &c.before, &c.after)).collect();
    let folder =
        (Some(Node::Folder { mode: mode(&layers.at("real/d")) }), Some(Node::Folder { mode: 0o711 }));
    let script = (file(0o644, "x"), file(0o4755, "x"));
    assert_eq!(found, [("d", &folder.0, &folder.1), ("mode", &script.0, &script.1)]);
}

#[test]
fn a_missing_layer_is_an_error_and_no_change() {
    let layers = Layers::new();
    layers.put("upper/new", "x");
    layers.begin();
    assert!(layers.stack(&["upper", "none"]).change(&|_| false).is_err());
    fs::remove_dir(layers.at("real")).unwrap();
    assert!(layers.stack(&["upper"]).change(&|_| false).is_err());
}

#[test]
fn special_files_are_named_and_never_merged() {
    let layers = Layers::new();
    mknodat(CWD, layers.at("upper/pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
    layers.begin();
    let stack = layers.stack(&["upper"]);
    let changes = stack.change(&|_| false).unwrap();
    assert_eq!((changes[0].path.as_str(), &changes[0].after), ("pipe", &Some(Node::Special)));
    let refused = Err(LayerError::Special { path: "pipe".to_owned() });
    assert_eq!(stack.home(&steps(&stack), &layers.at("kept")), refused);
    assert!(!layers.at("real/pipe").exists() && !layers.at("kept").exists());
}

#[test]
fn attributes_that_move_content_are_refused_by_name() {
    for name in ["redirect", "metacopy"] {
        let layers = Layers::new();
        layers.put("upper/d/x", "x");
        let path = layers.at(if name == "redirect" { "upper/d" } else { "upper/d/x" });
        mark(&path, "overlay.redirect", "stored escaped by the kernel, and harmless");
        layers.begin();
        assert_eq!(lines(&layers.stack(&["upper"])), ["+d", "+d/x"]);
        mark(&path, name, "/etc");
        let refused = LayerError::Attribute { path, name: format!("user.overlay.{name}") };
        assert_eq!(layers.stack(&["upper"]).change(&|_| false), Err(refused));
    }
}

#[test]
fn unreadable_entries_are_read_and_stay_unreadable() {
    let layers = Layers::new();
    layers.put("upper/closed/deep/file", "x");
    for name in ["upper/closed/deep/file", "upper/closed/deep", "upper/closed"] {
        layers.chmod(name, 0o000);
    }
    layers.begin();
    let stack = layers.stack(&["upper"]);
    let changes = stack.change(&|_| false).unwrap();
    let found: Vec<_> = changes.iter().map(|c| c.after.clone()).collect();
    let closed = Some(Node::Folder { mode: 0 });
    assert_eq!(found, [closed.clone(), closed, file(0, "x")]);
    assert_eq!(mode(&layers.at("upper/closed")), 0);
    assert_eq!(size(&layers.at("upper")), Ok((1, 1)));
    let steps: Vec<HomeStep> = changes.iter().map(HomeStep::from).collect();
    stack.gate_layer(&steps, &layers.at("gate")).unwrap();
    let home = stack.home(&steps, &layers.at("kept")).unwrap();
    assert_eq!((home.conflicts.len(), home.brought.len()), (0, 3));
    assert_eq!((mode(&layers.at("upper/closed")), mode(&layers.at("real/closed"))), (0, 0));
    for layer in ["upper", "gate", "real"] {
        remove_layers(&layers.at(layer)).unwrap();
        assert!(!layers.at(layer).exists());
    }
}

#[test]
fn read_only_folders_of_people_are_no_obstacle() {
    let layers = Layers::new();
    for name in ["real/ro/edit", "real/ro/keep", "real/gone/a", "real/gone/b/c"] {
        layers.put(name, "old");
    }
    for name in ["real/ro", "real/gone/b", "real/gone"] {
        layers.chmod(name, 0o555);
    }
    layers.put("upper/ro/edit", "new");
    layers.chmod("upper/ro", 0o555);
    layers.whiteout("upper/gone");
    layers.begin();
    let stack = layers.stack(&["upper"]);
    let steps = steps(&stack);
    assert_eq!(stack.home(&steps, &layers.at("kept")).unwrap().brought.len(), 5);
    let real = nodes(&layers.at("real"));
    assert_eq!(real.keys().collect::<Vec<_>>(), ["ro", "ro/edit", "ro/keep"]);
    assert_eq!((mode(&layers.at("real/ro")), lines(&stack)), (0o555, vec![]));
    layers.chmod("real/ro", 0o755);
}

#[test]
fn parents_are_made_and_links_on_the_way_are_conflicts() {
    let layers = Layers::new();
    layers.put("upper/new/deep/file", "x");
    layers.put("upper/link/file", "x");
    layers.chmod("upper/new", 0o750);
    fs::create_dir(layers.at("outside")).unwrap();
    layers.begin();
    let stack = layers.stack(&["upper"]);
    let only = |path: &str| {
        let steps = steps(&stack);
        steps.into_iter().filter(|step| step.path == path).collect::<Vec<HomeStep>>()
    };
    let (new, linked) = (only("new/deep/file"), only("link/file"));
    let home = stack.home(&new, &layers.at("kept-1")).unwrap();
    assert_eq!(home.brought, ["new/deep/file"]);
    assert_eq!(mode(&layers.at("real/new")), 0o750);
    symlink(layers.at("outside"), layers.at("real/link")).unwrap();
    let home = stack.home(&linked, &layers.at("kept-2")).unwrap();
    assert_eq!((home.conflicts, home.brought), (vec!["link/file".to_owned()], vec![]));
    assert_eq!(fs::read_dir(layers.at("outside")).unwrap().count(), 0);
    let bad = [HomeStep::new("../outside/x", None, file(0o644, "x"), Some(&layers.at("upper/link/file")))];
    assert!(matches!(stack.home(&bad, &layers.at("kept-3")), Err(LayerError::BadPath { .. })));
}

#[test]
fn a_merge_whose_content_is_gone_changes_nothing() {
    let layers = Layers::new();
    layers.put("real/a", "old");
    layers.put("upper/a", "new");
    layers.put("upper/b", "new");
    layers.begin();
    let stack = layers.stack(&["upper"]);
    let steps = steps(&stack);
    fs::remove_file(layers.at("upper/b")).unwrap();
    let origin = layers.at("upper/b");
    let gone = Err(LayerError::Source { path: "b".to_owned(), origin });
    assert_eq!(stack.home(&steps, &layers.at("kept")), gone);
    assert_eq!(nodes(&layers.at("real")).len(), 1);
    assert_eq!(fs::read_to_string(layers.at("real/a")).unwrap(), "old");
    // The same folder for displaced files takes another merge now, but not two.
    assert_eq!(stack.home(&steps[..1], &layers.at("kept")).unwrap().brought, ["a"]);
    let other = Err(LayerError::OtherMerge { kept: layers.at("kept") });
    assert_eq!(stack.home(&steps[..0], &layers.at("kept")), other);
}

#[test]
fn a_folder_that_others_filled_stays() {
    let layers = Layers::new();
    layers.put("real/d/a", "old");
    layers.whiteout("upper/d");
    layers.begin();
    let stack = layers.stack(&["upper"]);
    let steps = steps(&stack);
    layers.put("real/d/person", "x");
    assert_eq!(stack.home(&steps, &layers.at("kept")).unwrap().brought, ["d/a"]);
    assert_eq!(nodes(&layers.at("real")).keys().collect::<Vec<_>>(), ["d", "d/person"]);
}

#[test]
fn a_gate_layer_has_copies_whiteouts_and_times_that_no_agent_can_set() {
    let layers = Layers::new();
    for name in ["real/o/below", "real/gone", "real/reverted", "real/not-wanted", "real/back"] {
        layers.put(name, "x");
        layers.chmod(name, 0o644);
    }
    layers.begin();
    for (name, text) in
        [("o/new", "y"), ("reverted", "x"), ("not-wanted", "y"), ("back", "y"), ("setuid", "y")]
    {
        layers.put(&format!("upper/{name}"), text);
        layers.chmod(&format!("upper/{name}"), 0o644);
    }
    mark(&layers.at("upper/o"), "opaque", "y");
    layers.chmod("upper/setuid", 0o4755);
    layers.whiteout("upper/gone");
    let long_ago = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    for name in ["real/reverted", "upper/reverted", "upper/back"] {
        fs::File::options().write(true).open(layers.at(name)).unwrap().set_modified(long_ago).unwrap();
    }
    let stack = layers.stack(&["upper"]);
    let survey = stack.survey(&|path| path == Path::new("not-wanted")).unwrap();
    let steps: Vec<HomeStep> = survey.changes.iter().chain(&survey.reverted).map(HomeStep::from).collect();
    stack.gate_layer(&steps, &layers.at("gate")).unwrap();
    let gate = |name: &str| fs::symlink_metadata(layers.at("gate").join(name)).unwrap();
    let names: Vec<String> = nodes(&layers.at("gate")).into_keys().collect();
    assert_eq!(names, ["back", "gone", "o", "o/below", "o/new", "reverted", "setuid"]);
    for removed in ["gone", "o/below"] {
        assert_eq!((gate(removed).mode() & 0o170000, gate(removed).rdev()), (0o020000, 0));
    }
    let time_of = |found: &fs::Metadata| (found.mtime(), found.mtime_nsec());
    for name in ["o/new", "back", "reverted"] {
        let origin = fs::metadata(layers.at("upper").join(name)).unwrap();
        assert_ne!(gate(name).ino(), origin.ino());
        assert_eq!(time_of(&gate(name)), (origin.ctime(), origin.ctime_nsec()), "{name}");
    }
    assert_eq!(gate("setuid").mode() & 0o7777, 0o755);
    let began = fs::metadata(layers.at("began")).unwrap().mtime();
    for name in ["reverted", "back"] {
        assert!(gate(name).mtime() >= began, "{name} looks older than the build that saw another version");
    }
    assert!(stack.gate_layer(&steps, &layers.at("gate")).is_err(), "the folder must be new");
}

#[test]
fn layers_are_removed_however_deep_and_nothing_beside_them() {
    let layers = Layers::new();
    layers.put("outside/keep", "x");
    layers.put("layers/work/work/x", "x");
    symlink(layers.at("outside"), layers.at("layers/link")).unwrap();
    layers.whiteout("layers/gone");
    layers.chmod("layers/work/work", 0o000);
    // Deeper than a path can name and than there are descriptors.
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut folder = openat(CWD, layers.at("layers"), flags, Mode::empty()).unwrap();
    for _ in 0..2_000 {
        mkdirat(&folder, "deep", Mode::RWXU).unwrap();
        folder = openat(&folder, "deep", flags, Mode::empty()).unwrap();
    }
    symlink(layers.at("layers"), layers.at("alias")).unwrap();
    assert_eq!(remove_layers(&layers.at("alias")), Err(LayerError::Link { path: layers.at("alias") }));
    remove_layers(&layers.at("layers")).unwrap();
    remove_layers(&layers.at("layers")).unwrap();
    assert!(!layers.at("layers").exists() && layers.at("outside/keep").exists());
}

#[test]
fn a_folder_that_is_mounted_inside_of_layers_is_not_emptied() {
    let layers = Layers::new();
    layers.put("real/precious", "x");
    fs::create_dir_all(layers.at("layers/view")).unwrap();
    let (real, view) = (layers.at("real"), layers.at("layers/view"));
    let this = std::env::current_exe().unwrap();
    let script = format!(
        "mount --bind {} {} || exit 77; LAYERS_TO_REMOVE={} {} layers::remove_what_a_test_names --exact",
        real.display(),
        view.display(),
        layers.at("layers").display(),
        this.display()
    );
    let namespaces = if geteuid().is_root() { "-m" } else { "-rm" };
    let output = Command::new("unshare").args([namespaces, "sh", "-c", &script]).output().unwrap();
    if output.status.success() {
        assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
    } else {
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(77) || said.contains("unshare failed"), "{said}");
        println!("skipped, no mounts here: {said}");
    }
    assert!(layers.at("real/precious").exists() && layers.at("layers").exists());
}

/// Called by the test above in a process of its own.
#[test]
fn remove_what_a_test_names() {
    if let Some(named) = std::env::var_os("LAYERS_TO_REMOVE") {
        let path = Path::new(&named).join("view");
        assert_eq!(remove_layers(Path::new(&named)), Err(LayerError::OtherFileSystem { path }));
    }
}

#[test]
fn foreign_files_are_found_and_copied_up_without_a_change() {
    let layers = Layers::new();
    for name in ["real/d/e/theirs", "real/mine"] {
        layers.put(name, "x");
    }
    layers.chmod("real/d/e/theirs", 0o640);
    layers.chmod("real/d", 0o2775);
    layers.begin();
    let owner = fs::metadata(layers.at("real/mine")).unwrap();
    let (uid, gid) = (owner.uid(), owner.gid());
    if geteuid().is_root() {
        chown(layers.at("real/d/e/theirs"), Some(uid + 1), None).unwrap();
    }
    let found = foreign(&layers.at("real"), uid, gid, 10).unwrap();
    let expected: &[PathBuf] = if geteuid().is_root() { &["d/e/theirs".into()] } else { &[] };
    assert_eq!(found, expected);
    assert_eq!(foreign(&layers.at("real"), uid + 7, gid, 2).unwrap().len(), 2);
    let stack = layers.stack(&["upper"]);
    stack.copy_up(&layers.at("upper"), Path::new("d/e/theirs")).unwrap();
    stack.copy_up(&layers.at("upper"), Path::new("d/e/theirs")).unwrap();
    assert_eq!(lines(&stack), Vec::<String>::new());
    let times = |name: &str| fs::metadata(layers.at(name)).unwrap().modified().unwrap();
    assert_eq!(times("upper/d/e/theirs"), times("real/d/e/theirs"));
    assert!(stack.copy_up(&layers.at("upper"), Path::new("none")).is_err());
}
