//! `seriatim check`

use std::path::Path;
use std::path::PathBuf;

use serde::Serialize;
use seriatim_core::check;
use seriatim_core::check::Checked;
use seriatim_core::finding::Finding;
use seriatim_core::finding::Severity;
use seriatim_core::kind::Kind;
use seriatim_core::process::Definition;

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
    kind: Option<String>,
    findings: Vec<render::findings::Plain<'a>>,
}

pub(crate) fn run(context: &Context, command: &Check) -> Result<Exit> {
    let ui = &context.ui;
    let kind = match command.kind.as_deref().map(str::parse::<Kind>) {
        Some(Ok(kind)) => Some(kind),
        Some(Err(unknown)) => {
            let known = Kind::ALL.map(Kind::name).join(", ");
            return Err(CommandError::usage(unknown.to_string()).hint(format!("known kinds: {known}")));
        }
        None => None,
    };
    // Everything is read before anything is said, so that a missing file changes nothing.
    let mut read = Vec::new();
    for file in &command.files {
        read.push((file, read_file(file)?));
    }
    let root = Workspace::find(context.workspace.as_deref())?;
    let checked: Vec<(String, Checked)> = read
        .iter()
        .map(|(file, bytes)| (file.display().to_string(), check_one(&root, file, bytes, kind)))
        .collect();
    let count = |severity| {
        checked.iter().flat_map(|(_, c)| &c.findings).filter(|f: &&Finding| f.severity == severity).count()
    };
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    ui.document(&Document {
        files: checked
            .iter()
            .map(|(path, c)| File {
                path: path.clone(),
                kind: c.kind.map(|k| k.name().to_owned()),
                findings: c.findings.iter().map(|f| render::findings::Plain::of(f, None)).collect(),
            })
            .collect(),
        errors,
        warnings,
    });
    if !ui.json {
        for (path, c) in &checked {
            if c.findings.is_empty() {
                let kind = c.kind.map_or("kind unknown", Kind::name);
                ui.tell(format!("{path}: {kind}, nothing to object"));
            } else {
                ui.say(render::findings::picture(path, &c.text, &c.findings).trim_end());
            }
        }
        if errors + warnings > 0 {
            ui.tell(format!("\n{errors} error(s), {warnings} warning(s) in {} file(s)", checked.len()));
        }
    }
    Ok(if errors > 0 { Exit::NotGood } else { Exit::Good })
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

/// An instance is checked together with the definition that it names, where that can be read.
fn check_one(root: &Path, file: &Path, bytes: &[u8], kind: Option<Kind>) -> Checked {
    let mut checked = check::file(&file.display().to_string(), bytes, kind);
    if checked.kind == Some(Kind::ProcessInstance)
        && let Some(path) = check::definition_path(bytes)
        && let Ok(text) = std::fs::read(root.join(path))
        && let (Some(definition), _) = Definition::parse(&text)
    {
        checked.findings.extend(check::instance_with_definition(bytes, &definition));
    }
    if checked.kind == Some(Kind::ProcessDefinition)
        && let (Some(definition), _) = Definition::parse(bytes)
    {
        checked.findings.extend(conditions::findings(&definition));
    }
    seriatim_core::doc::sort(&mut checked.findings);
    checked
}
