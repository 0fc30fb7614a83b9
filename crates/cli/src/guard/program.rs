//! Other programs: whether they are there, and what they say. None of them is waited for longer than a moment.

use std::path::Path;
use std::path::PathBuf;

use seriatim_engine::hands::process::Ended;
use seriatim_engine::hands::process::Input;
use seriatim_engine::hands::process::Processes;
use seriatim_engine::hands::process::Spawn;
use seriatim_engine::hands::process::SpawnError;
use seriatim_engine::hands::process::Unwatched;
use seriatim_engine::hands::runner::Supervised;

/// The longest that is waited for a program which only has to say something.
const DEADLINE_MS: u64 = 20_000;

/// Runs a program with the environment of this one.
pub(super) fn run(folder: &Path, argv: &[&str], stdin: Option<Vec<u8>>) -> Result<Ended, SpawnError> {
    let argv = argv.iter().map(|word| (*word).to_owned()).collect();
    let marker = format!("doctor-{}", std::process::id());
    let env = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let spawn = Spawn {
        env,
        stdin: stdin.map_or(Input::Nothing, Input::Bytes),
        deadline_ms: Some(DEADLINE_MS),
        grace_ms: 1_000,
        ..Spawn::new(argv, folder, marker)
    };
    Supervised::by_this_program().run(&spawn, &Unwatched)
}

/// What a program says when it ends well.
pub(super) fn said(folder: &Path, argv: &[&str]) -> Option<String> {
    run(folder, argv, None).ok().filter(Ended::success).map(|ended| ended.stdout)
}

/// The first program of this name on PATH.
pub(super) fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| is_executable(file))
}

pub(super) fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}
