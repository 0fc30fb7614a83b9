//! Starts the program that an order names, and says in the terms of the caller why it did not start.

use std::env;
use std::fs;
use std::fs::File;
use std::io;
use std::io::ErrorKind;
use std::io::Read;
use std::io::Seek;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::path::PathBuf;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::thread;

use rustix::fs::MemfdFlags;
use rustix::fs::memfd_create;
use rustix::io::Errno;

use crate::hands::process::SpawnError;
use crate::hands::walls;
use crate::hands::walls::Walls;
use crate::hands::wire::Order;

/// Takes the input from the line. It lies in memory as a file, complete before the agent starts. So an agent that
/// never reads it, or only a part of it, blocks nobody.
pub(super) fn receive_input(line: &mut UnixStream, bytes: u64) -> io::Result<File> {
    let mut file = File::from(memfd_create("stdin", MemfdFlags::CLOEXEC)?);
    let copied = io::copy(&mut line.take(bytes), &mut file)?;
    if copied < bytes {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    file.rewind()?;
    Ok(file)
}

/// Opens the file that an agent reads as its input.
pub(super) fn open_input(path: &Path) -> Result<File, SpawnError> {
    File::open(path).map_err(|error| no_input(path, &error))
}

/// Returns the terminal that this process has as its output.
pub(super) fn terminal() -> io::Result<File> {
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}

/// Copies a file into memory: a descriptor of a real file, or of a folder, would lead out of a world.
pub(super) fn copy_input(path: &Path) -> Result<(File, u64), SpawnError> {
    let copy = || -> io::Result<(File, u64)> {
        let mut source = File::open(path)?;
        if !source.metadata()?.is_file() {
            return Err(io::Error::new(ErrorKind::InvalidInput, "it is not a regular file"));
        }
        let mut file = File::from(memfd_create("stdin", MemfdFlags::CLOEXEC)?);
        let bytes = io::copy(&mut source, &mut file)?;
        file.rewind()?;
        Ok((file, bytes))
    };
    copy().map_err(|error| no_input(path, &error))
}

fn no_input(path: &Path, error: &io::Error) -> SpawnError {
    SpawnError::NoInput { path: path.to_owned(), reason: error.to_string() }
}

/// Starts the agent in a process group of its own, within its walls if it has some.
pub(super) fn launch(order: &Order, stdin: Option<File>) -> Result<Child, SpawnError> {
    match &order.walls {
        None => spawn(order, stdin.map_or_else(Stdio::null, Stdio::from)),
        Some(walls) => {
            // Walls hold for the thread that puts them up and for all that it starts: the supervisor stays outside.
            let confined = || launch_within(order, walls, stdin);
            thread::scope(|scope| {
                let thread = thread::Builder::new().spawn_scoped(scope, confined);
                let thread = thread.map_err(|error| failed(order, &error))?;
                thread.join().unwrap_or_else(|_| Err(failed(order, &ErrorKind::Other.into())))
            })
        }
    }
}

fn launch_within(order: &Order, walls: &Walls, stdin: Option<File>) -> Result<Child, SpawnError> {
    // It is opened here, where it can be, and not by the agent.
    let nothing = || File::open("/dev/null").map_err(|error| failed(order, &error));
    let stdin = stdin.map_or_else(nothing, Ok)?;
    walls::put_up(walls)?;
    spawn(order, Stdio::from(stdin))
}

fn failed(order: &Order, error: &io::Error) -> SpawnError {
    let program = order.argv.first().cloned().unwrap_or_default();
    SpawnError::Os { program, reason: error.to_string() }
}

fn spawn(order: &Order, stdin: Stdio) -> Result<Child, SpawnError> {
    let Some((program, arguments)) = order.argv.split_first() else { return Err(SpawnError::Empty) };
    let spawned = Command::new(program)
        .args(arguments)
        .current_dir(&order.cwd)
        .env_clear()
        .envs(order.env.iter().map(|(name, value)| (name, value)))
        .stdin(stdin)
        .process_group(0)
        .spawn();
    spawned.map_err(|error| explain(order, program, &error))
}

/// Says in the terms of the caller why a program did not start; the error of the system alone can mean several
/// things.
fn explain(order: &Order, program: &str, error: &io::Error) -> SpawnError {
    let reason = error.to_string();
    if let Err(error) = fs::read_dir(&order.cwd) {
        return SpawnError::NoDirectory { path: order.cwd.clone(), reason: error.to_string() };
    }
    let exists = candidates(order, program).iter().any(|path| path.exists());
    let program = program.to_owned();
    match error.kind() {
        ErrorKind::NotFound if exists => {
            SpawnError::NotExecutable { program, reason: "its interpreter was not found".to_owned() }
        }
        ErrorKind::NotFound | ErrorKind::NotADirectory => SpawnError::NotFound { program },
        // A directory of the `PATH` that may not be entered gives this error for a program that is nowhere.
        ErrorKind::PermissionDenied if !exists && !program.contains('/') => SpawnError::NotFound { program },
        ErrorKind::PermissionDenied => SpawnError::NotExecutable { program, reason },
        _ if error.raw_os_error() == Some(Errno::NOEXEC.raw_os_error()) => {
            SpawnError::NotExecutable { program, reason }
        }
        _ => SpawnError::Os { program, reason },
    }
}

/// Where the program may be.
fn candidates(order: &Order, program: &str) -> Vec<PathBuf> {
    if program.contains('/') {
        return vec![order.cwd.join(program)];
    }
    let path = order.env.iter().find(|(name, _)| name == "PATH").map_or("", |(_, value)| value);
    env::split_paths(path).map(|directory| order.cwd.join(directory).join(program)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hands::wire::Source;

    #[test]
    fn a_forbidden_directory_in_the_path_does_not_hide_that_a_program_is_missing() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("there"), "not executable").unwrap();
        let order = Order {
            argv: Vec::new(),
            cwd: directory.path().to_owned(),
            env: vec![("PATH".to_owned(), directory.path().display().to_string())],
            stdin: Source::Nothing,
            deadline_ms: None,
            grace_ms: 0,
            world: None,
            walls: None,
        };
        let code = |program: &str| explain(&order, program, &ErrorKind::PermissionDenied.into()).exit_code();
        assert_eq!(code("missing"), Some(127));
        assert_eq!(code("there"), Some(126));
        assert_eq!(code("./missing"), Some(126));
    }

    #[test]
    fn only_a_regular_file_is_copied_as_input() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("brief");
        fs::write(&path, "do it").unwrap();
        let (mut copy, bytes) = copy_input(&path).unwrap();
        let mut text = String::new();
        copy.read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), bytes), ("do it", 5));
        for odd in [directory.path(), Path::new("/dev/null"), Path::new("/no/such/file")] {
            assert!(matches!(copy_input(odd), Err(SpawnError::NoInput { .. })), "{}", odd.display());
        }
    }
}
