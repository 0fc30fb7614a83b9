//! Rehearsals: an agent works in a disposable copy of the workspace, and what it would have changed is told.

use std::path::Path;

use serde_json::Value;
use seriatim_core::report::Report;
use seriatim_flows::request::WOULD_WRITE;

use crate::hands::files::FileError;
use crate::hands::files::Files;
use crate::hands::files::Kind;
use crate::hands::files::Write;
use crate::hands::paths::decode_name;

/// Left out of the copy: our own state, and what builds make again.
const LEFT_OUT: [&str; 3] = [".seriatim", "target", "node_modules"];
/// More changes than this are counted, not listed.
const LISTED_MAX: usize = 200;

/// Copies the workspace without its store. Links that lead to an absolute place are left out: writing through them would not stay in
/// the copy.
pub(super) fn copy(files: &dyn Files, from: &Path, to: &Path, store: &Path) -> Result<(), FileError> {
    files.make_directory(to)?;
    for (name, entry) in files.list(from)? {
        let Some(decoded) = decode_name(&name).filter(|_| !LEFT_OUT.contains(&name.as_str())) else {
            continue;
        };
        let (source, target) = (from.join(&decoded), to.join(&decoded));
        if source == store {
            continue;
        }
        match entry.kind {
            Kind::Directory => copy(files, &source, &target, store)?,
            Kind::File => {
                files.copy(&source, &target, Write::REBUILDABLE.mode(entry.mode))?;
            }
            Kind::Symlink(link) => {
                if let Some(link) = decode_name(&link).filter(|l| Path::new(l).is_relative()) {
                    files.link(&target, Path::new(&link))?;
                }
            }
            Kind::Special => {}
        }
    }
    Ok(())
}

/// What differs between the workspace and the copy, as paths with what would have happened to them.
pub(super) fn changes(files: &dyn Files, original: &Path, copy: &Path) -> Result<Vec<String>, FileError> {
    let mut found = Vec::new();
    compare(files, original, copy, "", &mut found)?;
    if found.len() > LISTED_MAX {
        let more = found.len() - LISTED_MAX;
        found.truncate(LISTED_MAX);
        found.push(format!("... and {more} more"));
    }
    Ok(found)
}

fn compare(
    files: &dyn Files,
    original: &Path,
    copy: &Path,
    inside: &str,
    found: &mut Vec<String>,
) -> Result<(), FileError> {
    let before = if files.look(original)?.is_some() { files.list(original)? } else { vec![] };
    let after = if files.look(copy)?.is_some() { files.list(copy)? } else { vec![] };
    for (name, entry) in &after {
        let Some(decoded) = decode_name(name) else { continue };
        let path = format!("{inside}{name}");
        let (was, is) = (original.join(&decoded), copy.join(&decoded));
        let known = before.iter().find(|(n, _)| n == name).map(|(_, e)| e);
        match (&entry.kind, known.map(|e| &e.kind)) {
            (Kind::Directory, _) if name == ".git" && inside.is_empty() => {}
            (Kind::Directory, _) => compare(files, &was, &is, &format!("{path}/"), found)?,
            (_, None) => found.push(format!("{path} (new)")),
            (Kind::File, Some(Kind::File)) => {
                let differs = files.hash(&was)? != files.hash(&is)?;
                found.extend(differs.then(|| format!("{path} (changed)")));
            }
            (now, Some(then)) if now != then => found.push(format!("{path} (changed)")),
            _ => {}
        }
    }
    for (name, entry) in &before {
        let left_out = inside.is_empty() && LEFT_OUT.contains(&name.as_str());
        let absolute = matches!(&entry.kind, Kind::Symlink(link) if link.starts_with('/'));
        let gone = !after.iter().any(|(n, _)| n == name);
        if gone && !left_out && !absolute && entry.kind != Kind::Special {
            found.push(format!("{inside}{name} (removed)"));
        }
    }
    Ok(())
}

/// Puts what would have been written into the report.
pub(super) fn tell(mut report: Report, paths: Vec<String>) -> Report {
    let paths = paths.into_iter().map(Value::String).collect();
    report.unknown.insert(WOULD_WRITE.to_owned(), Value::Array(paths));
    report
}
