//! The home folders of the user: the one that programs are told of, and the one that the list of users names.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::path::PathBuf;

use rustix::process::geteuid;

use super::WorldsAt;
use super::cover::PRIVATE;

/// The list of users.
const USERS: &str = "/etc/passwd";
/// Ways to remotes, and log-ins to them, in a home folder.
const CREDENTIALS: [&str; 7] = [
    ".ssh",
    ".git-credentials",
    ".config/git/credentials",
    ".config/gh",
    ".config/glab-cli",
    ".netrc",
    ".gnupg",
];

/// Returns the home folder that programs find, whether they are told of it or look it up.
pub(super) fn of(at: &WorldsAt) -> Option<PathBuf> {
    at.home.clone().and_then(real).or_else(of_user)
}

/// Names the home folder by its real name where the told one is a link in a folder that a world has of its own.
pub(super) fn rename(at: &WorldsAt, told: &mut String) {
    let is_private = PRIVATE.iter().any(|private| Path::new(told.as_str()).starts_with(private));
    if let (true, Some(home)) = (is_private, of(at).as_deref().and_then(Path::to_str)) {
        home.clone_into(told);
    }
}

/// Returns the ways to remotes that are there, in every home folder of the user: `ssh` asks the list of users, whatever
/// it is told.
pub(super) fn credentials(at: &WorldsAt) -> Vec<PathBuf> {
    let homes = at.home.clone().and_then(real).into_iter().chain(of_user());
    let mut found: Vec<PathBuf> =
        homes.flat_map(|home| CREDENTIALS.map(|name| home.join(name))).filter(|path| path.exists()).collect();
    found.sort();
    found.dedup();
    found
}

/// Resolves links. The root of the file system is nobody's home.
fn real(home: PathBuf) -> Option<PathBuf> {
    fs::canonicalize(home).ok().filter(|home| home.parent().is_some())
}

fn of_user() -> Option<PathBuf> {
    real(named(&fs::read(USERS).ok()?, geteuid().as_raw())?)
}

/// Finds the home folder of a user in the list: name, password, number, group, comment, home, shell.
fn named(users: &[u8], uid: u32) -> Option<PathBuf> {
    let number = uid.to_string();
    let mut lines = users.split(|byte| *byte == b'\n').map(|line| line.split(|byte| *byte == b':'));
    let mut fields = lines.find(|fields| fields.clone().nth(2) == Some(number.as_bytes()))?;
    fields.nth(5).map(|home| Path::new(OsStr::from_bytes(home)).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_users_names_a_home() {
        let users = b"root:x:0:0:root:/root:/bin/sh\nbroken\nada:x:1000:100:Ada, L.:/home/ada b:/bin/sh\n";
        assert_eq!(named(users, 1000), Some("/home/ada b".into()));
        assert_eq!(named(users, 0), Some("/root".into()));
        assert_eq!(named(users, 100), None);
    }
}
