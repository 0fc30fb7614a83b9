//! The paths that an action speaks of: what a role promises to write, and which trees belong to whom.

use std::collections::BTreeSet;

use crate::guard::path;
use crate::guard::scope::glob::BadPattern;
use crate::guard::scope::glob::Pattern;

/// The generic framework (OC-16).
pub const FRAMEWORK: &str = "agents/";
/// What belongs to the solution (OC-12).
pub const PLANNING: &str = "planning-mds/";
/// Evidence of runs: in no snapshot, and in no restore.
pub const EVIDENCE: &str = "planning-mds/operations/evidence/";
/// Where invalid output is kept (OC-39).
pub const FAILED_ARTIFACTS: &str = ".artifacts-failed/";
/// Where error reports lie (OC-72).
pub const ERROR_LOGS: &str = "logs/errors/";
/// Where snapshots lie (OC-66).
pub const SNAPSHOTS: &str = ".snapshots/";

/// Folders that the engine writes itself: never a violation of anybody's scope.
pub const OWN: [&str; 5] = [SNAPSHOTS, FAILED_ARTIFACTS, ERROR_LOGS, EVIDENCE, ".seriatim/"];

/// Whether the engine alone writes here.
pub fn is_own(path: &str) -> bool {
    path::relative(path).is_some_and(|path| OWN.iter().any(|folder| path.starts_with(folder)))
}

/// Whether a path, or all that a pattern can mean, lies in the framework.
pub fn is_framework(path: &str) -> bool {
    path::relative(path).is_some_and(|path| path.starts_with(FRAMEWORK))
}

/// What one entry of `writes` promises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promise {
    pub text: String,
    pub kind: PromiseKind,
    pattern: Pattern,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromiseKind {
    /// This very file.
    File,
    /// At least one file in this folder.
    Folder,
    /// Leave to write what fits.
    Pattern,
}

impl Promise {
    /// Reads an entry, in which placeholders may still stand.
    pub fn parse(entry: &str) -> Result<Promise, BadPattern> {
        let entry = super::placeholders::expand(entry.trim(), |_| None);
        let pattern = Pattern::parse(&entry)?;
        let (kind, text) = match () {
            () if entry.contains(['*', '?', '[', '{']) => (PromiseKind::Pattern, entry),
            () if entry.ends_with('/') => (PromiseKind::Folder, entry),
            () => (PromiseKind::File, path::relative(&entry).unwrap_or(entry)),
        };
        Ok(Promise { text, kind, pattern })
    }

    /// Whether a path is among what was promised.
    pub fn covers(&self, path: &str) -> bool {
        self.pattern.matches(path)
    }
}

/// Whether an entry names one file and nothing else.
pub fn names_one_file(entry: &str) -> bool {
    Promise::parse(entry).is_ok_and(|promise| promise.kind == PromiseKind::File)
}

/// Whether one of `entries` covers a path.
pub fn covered(entries: &[String], path: &str) -> bool {
    entries.iter().any(|entry| Promise::parse(entry).is_ok_and(|promise| promise.covers(path)))
}

/// What is owed and not there, by `writes` and the files that exist: files, folders without any file, and patterns
/// where none of them has found one. A list of patterns says where a role may write; it does not say that it has
/// something to write in each place.
pub fn missing(writes: &[String], existing: &BTreeSet<String>) -> Vec<String> {
    let promises: Vec<Promise> = writes.iter().filter_map(|entry| Promise::parse(entry).ok()).collect();
    let there = |promise: &Promise| existing.iter().any(|path| promise.covers(path));
    let (patterns, named): (Vec<&Promise>, Vec<&Promise>) =
        promises.iter().partition(|promise| promise.kind == PromiseKind::Pattern);
    let absent = named.into_iter().filter(|promise| !there(promise));
    let mut missing: Vec<String> = absent.map(|promise| promise.text.clone()).collect();
    if !patterns.iter().any(|promise| there(promise)) {
        missing.extend(patterns.iter().map(|promise| promise.text.clone()));
    }
    missing
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn listing(paths: &[&str]) -> BTreeSet<String> {
        paths.iter().map(|path| (*path).to_owned()).collect()
    }

    fn owed(writes: &[&str], existing: &[&str]) -> Vec<String> {
        let writes: Vec<String> = writes.iter().map(|entry| (*entry).to_owned()).collect();
        missing(&writes, &listing(existing))
    }

    #[test]
    fn oc_41_what_is_owed_and_absent_is_found() {
        assert_eq!(owed(&["planning-mds/a.md", "b.md"], &["b.md"]), ["planning-mds/a.md"]);
        assert_eq!(owed(&["{PRODUCT_ROOT}/b.md"], &["b.md"]), Vec::<String>::new());
        assert_eq!(owed(&["docs/"], &["docs2/x"]), ["docs/"]);
        assert_eq!(owed(&["docs/"], &["docs/deep/x"]), Vec::<String>::new());
        assert_eq!(owed(&["api/*.yaml"], &["api/deep/x.yaml"]), ["api/*.yaml"]);
        assert_eq!(owed(&["a/**", "b/**"], &["b/x"]), Vec::<String>::new());
        assert_eq!(owed(&["a/**", "b/**"], &["c"]), ["a/**", "b/**"]);
        assert_eq!(owed(&[], &[]), Vec::<String>::new());
    }

    #[test]
    fn promises_never_lead_out_of_the_workspace() {
        for entry in ["/etc/passwd", "../x", "a/../../x", "", "  "] {
            assert!(Promise::parse(entry).is_err(), "{entry}");
        }
        let promise = Promise::parse("./a.md").unwrap();
        assert_eq!((promise.kind, promise.text.as_str()), (PromiseKind::File, "a.md"));
    }

    #[test]
    fn oc_16_the_trees_are_told_apart() {
        assert!(is_framework("agents/templates/x.md") && is_framework("./agents/**"));
        assert!(!is_framework("planning-mds/agents/x") && !is_framework("agents.md"));
        assert!(is_own("logs/errors/x.json") && is_own(".snapshots/a/manifest.json"));
        assert!(!is_own("logs/other.json") && !is_own("planning-mds/operations/runbook.md"));
    }

    proptest! {
        #[test]
        fn oc_14_a_named_file_covers_itself_alone(path in "[a-z]{1,6}(/[a-z]{1,6}){0,3}", other in "[a-z]{1,6}(/[a-z]{1,6}){0,3}") {
            let promise = Promise::parse(&path).unwrap();
            prop_assert!(promise.covers(&path));
            prop_assert_eq!(promise.covers(&other), path == other);
            prop_assert!(owed(&[&path], &[&path]).is_empty());
            prop_assert_eq!(owed(&[&path], &[]), [path.clone()]);
        }
    }
}
