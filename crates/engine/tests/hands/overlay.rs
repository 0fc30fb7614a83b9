//! Layers that the kernel's overlay wrote, compared with what the view showed.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use rustix::process::geteuid;
use seriatim_engine::hands::layers::HomeStep;
use seriatim_engine::hands::layers::Node;
use seriatim_engine::hands::paths::decode_name;
use seriatim_engine::hands::paths::encode_name;

use crate::support::Layers;
use crate::support::nodes;

/// The exit code of the script when no overlay can be mounted here.
const NO_OVERLAY: i32 = 77;

/// Runs a script in a view over `lower` (newest first) and copies what the view shows to the folder `copy`. Returns
/// false, and says why, if this machine has no overlay for us.
fn in_view(layers: &Layers, lower: &[&str], upper: Option<&str>, script: &str, copy: &str) -> bool {
    let at = |name: &str| layers.at(name).display().to_string();
    for name in ["view", copy, "work"].into_iter().chain(upper) {
        fs::create_dir_all(layers.at(name)).unwrap();
    }
    let lower: Vec<String> = lower.iter().map(|name| at(name)).collect();
    let upper =
        upper.map_or(String::new(), |upper| format!(",upperdir={},workdir={}", at(upper), at("work")));
    fs::write(layers.at("script"), script).unwrap();
    let outer = format!(
        "mount -t overlay overlay -o lowerdir={}{upper},userxattr {view} || exit {NO_OVERLAY}
        cd {view} || exit 1; sh {script}; cp -a {view}/. {copy}/",
        lower.join(":"),
        view = at("view"),
        script = at("script"),
        copy = at(copy),
    );
    let namespaces = if geteuid().is_root() { "-m" } else { "-rm" };
    let output = Command::new("unshare").args([namespaces, "sh", "-c", &outer]).output().unwrap();
    if output.status.code() == Some(NO_OVERLAY)
        || String::from_utf8_lossy(&output.stderr).contains("unshare failed")
    {
        println!("skipped, no overlay here: {}", String::from_utf8_lossy(&output.stderr));
        return false;
    }
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    true
}

type Changes = BTreeMap<String, (Option<Node>, Option<Node>)>;

/// Compares two trees in full.
fn full_comparison(before: &BTreeMap<String, Node>, after: &BTreeMap<String, Node>) -> Changes {
    let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    paths
        .into_iter()
        .map(|path| (path.clone(), (before.get(path).cloned(), after.get(path).cloned())))
        .filter(|(_, (before, after))| before != after)
        .collect()
}

/// The modes as they are merged.
fn merged_modes(nodes: BTreeMap<String, Node>) -> BTreeMap<String, Node> {
    let masked = |node| match node {
        Node::File { mode, size, hash } => Node::File { mode: mode & 0o777, size, hash },
        Node::Folder { mode } => Node::Folder { mode: mode & 0o777 },
        other => other,
    };
    nodes.into_iter().map(|(path, node)| (path, masked(node))).collect()
}

/// Checks everything that layers promise against what the view showed, which is in the folder `copy`.
fn check(layers: &Layers, uppers: &[&str]) -> Result<(), TestCaseError> {
    let stack = layers.stack(uppers);
    let view = nodes(&layers.at("copy"));
    let expected = full_comparison(&nodes(&layers.at("real")), &view);
    let changes = stack.change(&|_| false).unwrap();
    prop_assert!(changes.is_sorted_by_key(|change| &change.path));
    let found: Changes =
        changes.iter().map(|c| (c.path.clone(), (c.before.clone(), c.after.clone()))).collect();
    prop_assert_eq!(found, expected);
    for (path, node) in &view {
        let place = stack.find(decode_name(path).unwrap()).unwrap();
        prop_assert!(place.is_some(), "{} is not found", path);
        if let Node::Folder { .. } = node {
            let listed = stack.list(decode_name(path).unwrap()).unwrap();
            let listed: BTreeSet<String> = listed.iter().map(|(name, _)| encode_name(name)).collect();
            let below = view.keys().filter_map(|known| known.strip_prefix(&format!("{path}/")));
            let shown: BTreeSet<String> =
                below.filter(|name| !name.contains('/')).map(str::to_owned).collect();
            prop_assert_eq!(listed, shown);
        }
    }
    let steps: Vec<HomeStep> = changes.iter().map(HomeStep::from).collect();
    if steps.iter().any(|step| step.before == Some(Node::Special) || step.after == Some(Node::Special)) {
        prop_assert!(stack.home(&steps, &layers.at("kept")).is_err());
        return Ok(());
    }
    stack.gate_layer(&steps, &layers.at("gate")).unwrap();
    in_view(layers, &["gate", "real"], None, "", "gate-copy");
    let (gate, view) = (nodes(&layers.at("gate-copy")), merged_modes(view));
    prop_assert_eq!(merged_modes(gate), view.clone());
    let home = stack.home(&steps, &layers.at("kept")).unwrap();
    prop_assert_eq!((home.conflicts, home.brought.len()), (vec![], steps.len()));
    prop_assert_eq!(merged_modes(nodes(&layers.at("real"))), view);
    Ok(())
}

const MANY_OPERATIONS: &str = r#"
mv rename-me renamed
mv folder moved-folder
rm -rf folder-to-file && echo file > folder-to-file
rm file-to-link && ln -s ../outside file-to-link
rm -rf again && mkdir again && echo new > again/new
rm -rf again-equal && mkdir again-equal && printf old > again-equal/same
chmod 750 script; chmod 700 mode-folder
touch touched
printf old > rewritten
mkdir -p deep/er/new && echo x > deep/er/new/file && chmod 000 deep/er
echo x > unreadable && chmod 000 unreadable
mkdir setgid && chmod 2775 setgid && echo x > setgid/in
ln renamed hard-link
echo x > '-rf'; echo x > 'back\slash'; echo x > 'tab	"quote'; echo x > '.wh.whiteout'; rm -- '-old'
python3 -c 'import os; os.mkdir(b"bad\xff\n"); open(b"bad\xff\n/\xfe", "w").write("x"); os.remove(b"old\xff")'
ln -s /etc/passwd absolute; ln -s nowhere dangling
sed -i s/old/new/ edited
setfattr -n user.overlay.opaque -v y moved-folder 2>/dev/null
export HOME=/nonexistent GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
g() { git -c user.name=a -c user.email=a@b -c safe.directory='*' "$@" >/dev/null 2>&1; }
g init repository && cd repository && echo x > a && g add a && g commit -m one && g mv a b && g commit -m two
true
"#;

#[test]
fn the_change_of_a_real_overlay_is_that_of_a_full_comparison() {
    let layers = Layers::new();
    for name in [
        "rename-me",
        "folder/a",
        "folder/b/c",
        "folder-to-file/x",
        "file-to-link",
        "again/x/y",
        "again/z",
        "again-equal/same",
        "script",
        "mode-folder/x",
        "touched",
        "rewritten",
        "edited",
        "deep/x",
        "-old",
        "untouched/file",
    ] {
        layers.put(&format!("real/{name}"), "old");
    }
    let odd = layers.at("real").join(decode_name("old\\xff").unwrap());
    fs::write(odd, "x").unwrap();
    layers.begin();
    if in_view(&layers, &["real"], Some("upper"), MANY_OPERATIONS, "copy") {
        check(&layers, &["upper"]).unwrap();
    }
}

#[test]
fn a_view_that_was_only_read_has_no_change() {
    let layers = Layers::new();
    layers.put("real/a/b", "x");
    layers.begin();
    if in_view(
        &layers,
        &["real"],
        Some("upper"),
        "cat a/b; ls -R; touch a; chmod 755 a; chmod $(stat -c %a a/b) a/b",
        "copy",
    ) {
        assert_eq!(layers.stack(&["upper"]).change(&|_| false).unwrap(), []);
    }
}

fn name() -> impl Strategy<Value = String> {
    proptest::collection::vec(prop::sample::select(vec!["a", "b", "c"]), 1..4)
        .prop_map(|parts| parts.join("/"))
}

fn operation() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (name(), 0..4u8).prop_map(|(path, text)| format!("mkdir -p $(dirname {path}); echo {text} > {path}")),
        2 => name().prop_map(|path| format!("mkdir -p {path}")),
        3 => name().prop_map(|path| format!("rm -rf {path}")),
        3 => (name(), name()).prop_map(|(one, other)| format!("mv -T {one} {other}")),
        2 => (name(), name()).prop_map(|(one, other)| format!("mv {one} {other}")),
        1 => (name(), name()).prop_map(|(one, other)| format!("ln -sfn {one} {other}")),
        1 => (name(), name()).prop_map(|(one, other)| format!("ln {one} {other}")),
        1 => (name(), name()).prop_map(|(one, other)| format!("cp -a {one} {other}")),
        2 => (name(), prop::sample::select(vec!["755", "700", "500", "644", "000"]))
            .prop_map(|(path, mode)| format!("chmod {mode} {path}")),
        1 => name().prop_map(|path| format!("touch -d 2001-01-01 {path}")),
        1 => name().prop_map(|path| format!("rm -rf {path}; mkdir {path}; echo 1 > {path}/a")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_work_in_two_layers_is_read_and_merged_as_the_view_showed_it(
        at_first in proptest::collection::vec(operation(), 0..12),
        earlier in proptest::collection::vec(operation(), 0..12),
        later in proptest::collection::vec(operation(), 0..12),
        fifo in prop::bool::weighted(0.1),
    ) {
        let layers = Layers::new();
        // What people made unreadable to themselves cannot be compared; the error names it.
        let script = at_first.join("\n") + "\nchmod -R u+rwX .";
        // Links that lead out of the folder would be followed by `mkdir -p` and others; inside of it all is well.
        Command::new("sh").current_dir(layers.at("real")).args(["-c", &script]).output().unwrap();
        fs::write(layers.at("began"), "").unwrap();
        let later = later.join("\n") + if fifo { "\nmkfifo pipe" } else { "" };
        let ran = in_view(&layers, &["real"], Some("older"), &earlier.join("\n"), "first-copy")
            && in_view(&layers, &["older", "real"], Some("upper"), &later, "copy");
        if ran {
            check(&layers, &["upper", "older"])?;
        }
    }
}
