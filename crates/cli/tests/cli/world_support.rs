//! What tests of worlds share: who works, what a folder holds to the last byte, and who is still alive.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::path::PathBuf;

use seriatim_core::hash::Hash;

use crate::support::Env;
use crate::support::is_root;

/// An ordinary user, of whom this machine knows nothing.
pub(crate) const OTHER: u32 = 12345;

/// Who works in a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum User {
    /// The one who runs the tests; in CI that is the superuser.
    Current,
    Other,
}

/// Those as whom each rule is tried.
pub(crate) fn users() -> Vec<User> {
    if is_root() {
        return vec![User::Current, User::Other];
    }
    println!("not tried as another user: only the superuser can become one");
    vec![User::Current]
}

/// Makes the workspace that of a user. What the tests put there afterwards is the superuser's.
pub(crate) fn settle(env: &mut Env, user: User) {
    if user == User::Other {
        env.hand_over(OTHER);
    }
}

/// A folder beside the workspace that is the same in every world.
pub(crate) fn shared(env: &Env) -> PathBuf {
    let path = env.root.with_file_name("shared");
    fs::create_dir_all(&path).unwrap();
    path
}

/// The tables of an agent of shell in a world, whose script lies beside the workspace.
pub(crate) fn agent(env: &Env, script: &str) -> String {
    let shared = shared(env);
    let path = env.root.with_file_name("agent.sh");
    fs::write(&path, format!("share='{}'\n{script}\n", shared.display())).unwrap();
    format!(
        "[agents.default]\nkind = \"command\"\nisolation = \"world\"\nargv = [\"sh\", {:?}]\nenv = [\"PATH\"]\n\
         timeout = \"2m\"\n\n[worlds]\nshare = [{:?}]\n",
        path.display().to_string(),
        shared.display().to_string()
    )
}

/// Everything below a folder: kind, mode, owner and content. Paths for which `apart` is true are left out with all that
/// is below them.
pub(crate) fn listing(folder: &Path, apart: &[&str]) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    list(folder, Path::new(""), apart, &mut found);
    found
}

fn list(top: &Path, folder: &Path, apart: &[&str], found: &mut BTreeMap<PathBuf, String>) {
    for entry in fs::read_dir(top.join(folder)).unwrap() {
        let entry = entry.unwrap();
        let path = folder.join(entry.file_name());
        if apart.iter().any(|name| path == Path::new(name)) {
            continue;
        }
        let meta = entry.metadata().unwrap();
        let content = if meta.is_file() {
            Hash::of(&fs::read(entry.path()).unwrap()).to_string()
        } else if meta.is_symlink() {
            fs::read_link(entry.path()).unwrap().display().to_string()
        } else {
            String::new()
        };
        found.insert(path.clone(), format!("{:o} {}:{} {content}", meta.mode(), meta.uid(), meta.gid()));
        if meta.is_dir() {
            list(top, &path, apart, found);
        }
    }
}

/// The paths in which two listings differ.
pub(crate) fn differing(
    before: &BTreeMap<PathBuf, String>,
    after: &BTreeMap<PathBuf, String>,
) -> Vec<String> {
    let mut paths: Vec<&PathBuf> = before.keys().chain(after.keys()).collect();
    paths.sort();
    paths.dedup();
    let differs = |path: &&&PathBuf| before.get(**path) != after.get(**path);
    paths.iter().filter(differs).map(|path| path.display().to_string()).collect()
}

/// The command lines of processes that hold a word as an argument of their own.
pub(crate) fn living_with(word: &str) -> Vec<String> {
    let mut living = vec![];
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        if line.split(|byte| *byte == 0).any(|part| part == word.as_bytes()) {
            living.push(format!("{}: {:?}", entry.file_name().display(), OsStr::from_bytes(&line)));
        }
    }
    living
}

/// Mounts that name something below a folder.
pub(crate) fn mounts_with(folder: &Path) -> Vec<String> {
    let word = folder.display().to_string();
    let mut found = vec![];
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let table = fs::read_to_string(entry.path().join("mountinfo")).unwrap_or_default();
        let lines = table.lines().filter(|line| line.contains(&word));
        found.extend(lines.map(|line| format!("{}: {line}", entry.file_name().display())));
    }
    found
}
