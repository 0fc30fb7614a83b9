//! Where the house stands, and what cargo knows about it.

use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// What cargo prints. The lock file is taken as it is, and the network is not needed: the tests themselves were
/// built from the same packages.
#[track_caller]
pub(crate) fn cargo(args: &[&str]) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo).args(args).args(["--locked", "--offline"]).current_dir(root()).output();
    let output = output.unwrap();
    assert!(output.status.success(), "cargo {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// All packages that a build for the usual target needs. Those of other systems may not be on this machine at all.
pub(crate) fn packages() -> Vec<Value> {
    let platform = ["--filter-platform", "x86_64-unknown-linux-gnu"];
    let text = cargo(&[&["metadata", "--format-version", "1"][..], &platform].concat());
    let metadata: Value = serde_json::from_str(&text).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// Every Rust file of the house, with its path as people write it.
pub(crate) fn sources() -> Vec<(String, String)> {
    let mut files = vec![];
    gather(&root().join("crates"), &mut files);
    let root = root();
    let named = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        (path.strip_prefix(&root).unwrap().display().to_string(), text)
    };
    files.sort();
    files.into_iter().map(named).collect()
}

fn gather(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() && entry.file_name() != "target" {
            gather(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}
