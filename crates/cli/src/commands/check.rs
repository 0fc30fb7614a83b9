//! `seriatim check`

use std::path::Path;
use std::path::PathBuf;

use serde::Serialize;
use seriatim_core::check::Surroundings;
use seriatim_core::closest::closest;
use seriatim_core::doc;
use seriatim_core::documents::DocumentKind;
use seriatim_core::documents::check_unknown;
use seriatim_core::documents::look_at;
use seriatim_core::finding::Finding;
use seriatim_core::finding::Severity;
use seriatim_flows::registry::Registry;

use crate::args::Context;
use crate::conditions;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::render;
use crate::workspace::Workspace;

/// The largest file that is read; a larger one is a finding, not a crash.
const READ_BYTES_MAX: u64 = (16 << 20) + 1;

/// Check files against their rules: all findings at once, each with its place
///
/// The kind of a file is found from its content and name, or named with --kind. Exit codes: 0 no errors, 1 errors
/// were found, 2 a file is missing or cannot be read.
#[derive(clap::Args, Debug)]
pub(crate) struct Check {
    /// The files
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// What the files are (process-definition, process-instance, config ...)
    #[arg(long)]
    kind: Option<String>,
}

#[derive(Serialize)]
struct Document<'a> {
    files: Vec<File<'a>>,
    errors: usize,
    warnings: usize,
}

#[derive(Serialize)]
struct File<'a> {
    path: String,
    kind: Option<&'static str>,
    findings: Vec<render::findings::Plain<'a>>,
}

pub(crate) fn run(context: &Context, command: &Check) -> Result<Exit> {
    let ui = &context.ui;
    let kind = command.kind.as_deref().map(|name| named(context.registry, name)).transpose()?;
    // Everything is read before anything is said, so that a missing file changes nothing.
    let mut read = Vec::new();
    for file in &command.files {
        read.push((file, read_file(file)?));
    }
    let root = Workspace::find(context.workspace.as_deref())?;
    let checked: Vec<Checked> =
        read.iter().map(|(file, bytes)| check_one(context.registry, &root, file, bytes, kind)).collect();
    let count = |severity| {
        checked.iter().flat_map(|c| &c.findings).filter(|f: &&Finding| f.severity == severity).count()
    };
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    ui.document(&Document {
        files: checked
            .iter()
            .map(|c| File {
                path: c.path.clone(),
                kind: c.kind,
                findings: c.findings.iter().map(|f| render::findings::Plain::of(f, None)).collect(),
            })
            .collect(),
        errors,
        warnings,
    });
    if !ui.json {
        for Checked { path, kind, text, findings } in &checked {
            if findings.is_empty() {
                ui.tell(format!("{path}: {}, no problems found", kind.unwrap_or("kind unknown")));
            } else {
                ui.say(render::findings::picture(path, text, findings).trim_end());
            }
        }
        if errors + warnings > 0 {
            ui.tell(format!("\n{errors} error(s), {warnings} warning(s) in {} file(s)", checked.len()));
        }
    }
    Ok(if errors > 0 { Exit::NotGood } else { Exit::Good })
}

/// Returns the kind of document that a word names.
fn named(registry: &Registry, name: &str) -> Result<&'static DocumentKind> {
    let known: Vec<&'static str> = registry.documents().map(|kind| kind.name).collect();
    registry.documents().find(|kind| kind.name == name).ok_or_else(|| {
        let meant = closest(name, known.iter().copied());
        let meant = meant.map(|kind| format!("; did you mean `{kind}`?")).unwrap_or_default();
        CommandError::usage(format!("`{name}` is not a kind of file{meant}"))
            .hint(format!("known kinds: {}", known.join(", ")))
    })
}

fn read_file(path: &Path) -> Result<Vec<u8>> {
    use std::io::Read;
    let fail = |e: std::io::Error| CommandError::usage(format!("{} cannot be read: {e}", path.display()));
    let file = std::fs::File::open(path).map_err(fail)?;
    if file.metadata().map_err(fail)?.is_dir() {
        return Err(
            CommandError::usage(format!("{} is a folder", path.display())).hint("name the files in it")
        );
    }
    let mut bytes = Vec::new();
    file.take(READ_BYTES_MAX).read_to_end(&mut bytes).map_err(fail)?;
    Ok(bytes)
}

/// A file with everything that was found about it.
struct Checked {
    path: String,
    kind: Option<&'static str>,
    text: String,
    findings: Vec<Finding>,
}

/// Checks a file, together with the documents that belong to it where they can be read.
fn check_one(
    registry: &Registry,
    root: &Path,
    file: &Path,
    bytes: &[u8],
    kind: Option<&'static DocumentKind>,
) -> Checked {
    let path = file.display().to_string();
    let text = String::from_utf8_lossy(bytes).into_owned();
    let kind = kind.or_else(|| look_at(&path, bytes, |look| registry.recognise(look)));
    let findings = match kind {
        Some(kind) => {
            let beside = (kind.beside)(bytes).into_iter();
            let files = beside.filter_map(|path| Some((path.clone(), std::fs::read(root.join(path)).ok()?)));
            let tables = registry.sections().map(str::to_owned).collect();
            let around = Surroundings { files: files.collect(), tables, ..Surroundings::default() };
            let mut findings = (kind.check)(&path, bytes, &around);
            findings.extend(conditions::findings(&(kind.conditions)(bytes)));
            doc::sort(&mut findings);
            findings
        }
        None => check_unknown(&path, bytes),
    };
    Checked { path, kind: kind.map(|kind| kind.name), text, findings }
}
