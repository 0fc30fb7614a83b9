//! The files by which names of hosts are resolved. They often lie below `/run`, which a world hides.

use std::fs;
use std::path::Component;
use std::path::Path;
use std::path::PathBuf;

/// Longer chains of links are a loop.
const HOPS_MAX: usize = 8;

/// Returns the real file of `/etc/resolv.conf` and the places below `/run` at which programs look for it.
pub(super) fn files(run: &Path) -> Option<(PathBuf, Vec<PathBuf>)> {
    chain(Path::new("/etc/resolv.conf"), run)
}

/// Only the file itself is shown: beside it there may be sockets that lead out of a world without network.
fn chain(from: &Path, run: &Path) -> Option<(PathBuf, Vec<PathBuf>)> {
    let real = from.canonicalize().ok().filter(|path| path.is_file())?;
    let mut places = Vec::new();
    let mut here = from.to_owned();
    for _ in 0..HOPS_MAX {
        let Ok(target) = fs::read_link(&here) else { break };
        let folder = here.parent()?.canonicalize().ok()?;
        here = lexical(&folder.join(target));
        if here.starts_with(run) {
            places.push(here.clone());
        }
    }
    if real.starts_with(run) && !places.contains(&real) {
        places.push(real.clone());
    }
    (!places.is_empty()).then_some((real, places))
}

fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn every_hop_below_the_hidden_folder_is_a_place() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let run = root.join("run");
        fs::create_dir_all(run.join("resolve")).unwrap();
        fs::write(run.join("resolve/real.conf"), "nameserver ::1\n").unwrap();
        symlink("resolve/real.conf", run.join("link.conf")).unwrap();
        fs::create_dir(root.join("etc")).unwrap();
        symlink("../run/link.conf", root.join("etc/resolv.conf")).unwrap();
        let (real, places) = chain(&root.join("etc/resolv.conf"), &run).unwrap();
        assert_eq!(real, run.join("resolve/real.conf"));
        assert_eq!(places, [run.join("link.conf"), run.join("resolve/real.conf")]);
        assert_eq!(chain(&run.join("nothing"), &run), None);
        fs::write(root.join("plain"), "").unwrap();
        assert_eq!(chain(&root.join("plain"), &run), None);
    }
}
