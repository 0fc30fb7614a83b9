//! A project in a closed world: no program is on PATH but those that a test puts there.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use crate::phases::FOURTEEN;
use crate::support::Env;
use crate::support::Output;

/// What hooks and git need, beside the program itself.
const TOOLS: [&str; 9] = ["sh", "git", "cat", "dirname", "basename", "grep", "env", "script", "true"];

pub(crate) struct Stage {
    pub(crate) env: Env,
    bin: PathBuf,
}

/// Files: their modes and their bytes, the latter escaped so that a difference can be read.
pub(crate) type Tree = BTreeMap<String, (u32, String)>;

impl Stage {
    /// A folder without a repository.
    pub(crate) fn bare() -> Stage {
        let env = Env::new();
        let bin = env.root.with_file_name("bin");
        fs::create_dir(&bin).unwrap();
        for tool in TOOLS {
            if let Some(found) = which(tool) {
                symlink(found, bin.join(tool)).unwrap();
            }
        }
        symlink(env!("CARGO_BIN_EXE_seriatim"), bin.join("seriatim")).unwrap();
        let env = env
            .variable("PATH", bin.to_str().unwrap())
            .variable("GIT_CONFIG_GLOBAL", "/dev/null")
            .variable("GIT_CONFIG_NOSYSTEM", "1")
            .variable("GIT_AUTHOR_NAME", "Ada")
            .variable("GIT_AUTHOR_EMAIL", "ada@example.org")
            .variable("GIT_COMMITTER_NAME", "Ada")
            .variable("GIT_COMMITTER_EMAIL", "ada@example.org");
        Stage { env, bin }
    }

    /// A repository.
    pub(crate) fn new() -> Stage {
        let stage = Stage::bare();
        stage.env.git(&["init", "-q", "-b", "main", "."]);
        stage
    }

    /// A program on PATH.
    pub(crate) fn program(&self, name: &str, script: &str) -> &Stage {
        let path = self.bin.join(name);
        let _ = fs::remove_file(&path);
        executable(&path, script);
        self
    }

    pub(crate) fn without(&self, name: &str) -> &Stage {
        fs::remove_file(self.bin.join(name)).unwrap();
        self
    }

    /// A file of the project with a mode.
    pub(crate) fn put(&self, path: &str, mode: u32, text: &str) -> &Stage {
        self.env.file(path, text);
        fs::set_permissions(self.env.path(path), fs::Permissions::from_mode(mode)).unwrap();
        self
    }

    #[track_caller]
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.env.run(args)
    }

    #[track_caller]
    pub(crate) fn install(&self, clients: &[&str]) -> Output {
        let mut args = vec!["guard", "install", "--yes"];
        clients.iter().for_each(|client| args.extend(["--client", client]));
        self.run(&args).exits(0)
    }

    #[track_caller]
    pub(crate) fn uninstall(&self) -> Output {
        self.run(&["guard", "uninstall", "--yes"]).exits(0)
    }

    /// Git, however it ends.
    #[track_caller]
    pub(crate) fn git(&self, args: &[&str]) -> Output {
        let mut command = Command::new("git");
        command.args(args);
        self.env.furnish(&mut command);
        self.env.start_command(command).output()
    }

    /// The files of the project, leaving out what git itself writes when it works.
    pub(crate) fn tree(&self) -> Tree {
        self.files(|path| !path.starts_with(".git/") || path.starts_with(".git/hooks/"))
    }

    /// The same without the record of the guard, which stays.
    pub(crate) fn tree_without_record(&self) -> Tree {
        let mut tree = self.tree();
        tree.retain(|path, _| !path.starts_with(".seriatim/"));
        tree
    }

    fn files(&self, wanted: impl Fn(&str) -> bool) -> Tree {
        let files = self.env.files_below(".");
        let named = files.into_iter().map(|path| (path.to_string_lossy().replace("/./", "/"), path));
        let root = format!("{}/", self.env.root.display());
        named
            .filter_map(|(name, path)| Some((name.strip_prefix(&root)?.to_owned(), path)))
            .filter(|(name, _)| wanted(name))
            .map(|(name, path)| {
                (name, (mode(&path), fs::read(&path).unwrap_or_default().escape_ascii().to_string()))
            })
            .collect()
    }
}

pub(crate) fn executable(path: &Path, script: &str) {
    fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

pub(crate) fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

fn which(tool: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(tool)).find(|file| file.is_file())
}

/// A step whose phases are all open.
pub(crate) fn open_step() -> String {
    let phases: Vec<serde_json::Value> = FOURTEEN
        .iter()
        .map(|name| serde_json::json!({"phase_name": name, "status": "NOT_EXECUTED", "outcome": null}))
        .collect();
    let step = serde_json::json!({
        "task_id": "01-01", "project_id": "bakery", "state": {"status": "IN_PROGRESS"},
        "tdd_cycle": {"phase_execution_log": phases},
    });
    serde_json::to_string_pretty(&step).unwrap()
}
