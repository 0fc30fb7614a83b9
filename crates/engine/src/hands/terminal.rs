//! A process on the terminal of the person who started this program: a shell in a view.
//!
//! It gets a terminal of its own, whose other end is here. So its keys and its job control stay inside, and nothing
//! that runs there can type into the real terminal.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::io::ErrorKind;
use std::io::Read;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::fd::BorrowedFd;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Child;
use std::process::Command;

use rustix::fs::Mode;
use rustix::fs::OFlags;
use rustix::process::Pid;
use rustix::process::PidfdFlags;
use rustix::process::Signal;
use rustix::process::pidfd_open;
use rustix::pty::OpenptFlags;
use rustix::termios::OptionalActions;
use rustix::termios::Termios;

use crate::hands::process::How;
use crate::hands::process::Spawn;
use crate::hands::process::SpawnError;
use crate::hands::runner::order_of;
use crate::hands::supervise;
use crate::hands::wait;
use crate::hands::wire;
use crate::hands::wire::Report;
use crate::hands::wire::Source;

/// How often the size of the real terminal is looked at.
const LOOK_MS: u64 = 250;
const READ_BYTES: usize = 16 << 10;

/// Runs a process on the terminal from which this program reads, and returns how it ended. Its input is the person.
///
/// The program must call [`supervise::main`] when its first argument is [`supervise::ARGUMENT`].
pub fn run_on_terminal(spawn: &Spawn) -> Result<How, SpawnError> {
    let name = spawn.argv.first().ok_or(SpawnError::Empty)?;
    let lost = |error: io::Error| SpawnError::Supervisor { program: name.clone(), reason: error.to_string() };
    let mut session = Session::start(spawn).map_err(lost)?;
    let passed = {
        let _raw = Raw::enter().map_err(lost)?;
        session.pass_on()
    };
    if passed.is_err() {
        // It fails only when the supervisor has ended already.
        let _ = session.child.kill();
    }
    session.child.wait().map_err(lost)?;
    passed.map_err(lost)?;
    match wire::receive(&mut session.lifeline) {
        Ok(Report::Ended { how, .. }) => Ok(how),
        Ok(Report::NotStarted(error)) => Err(error),
        Err(_) => Ok(How::Signaled(Signal::KILL.as_raw())),
    }
}

struct Session {
    child: Child,
    /// Readable when the supervisor has ended.
    over: OwnedFd,
    lifeline: UnixStream,
    /// This program's end of the terminal of the process.
    keys: File,
}

impl Session {
    fn start(spawn: &Spawn) -> io::Result<Session> {
        let (mut lifeline, theirs) = UnixStream::pair()?;
        let keys = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        rustix::pty::grantpt(&keys)?;
        rustix::pty::unlockpt(&keys)?;
        let name: CString = rustix::pty::ptsname(&keys, Vec::new())?;
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let screen = rustix::fs::open(name.as_c_str(), flags, Mode::empty())?;
        adopt_size(keys.as_fd());
        let child = Command::new("/proc/self/exe")
            .arg0("seriatim")
            .args([supervise::ARGUMENT, &spawn.marker])
            .env_clear()
            .stdin(OwnedFd::from(theirs))
            .stdout(screen.try_clone()?)
            .stderr(screen)
            .spawn()?;
        let over = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
        wire::send(&mut lifeline, &order_of(spawn, Source::Terminal))?;
        Ok(Session { child, over, lifeline, keys: File::from(keys) })
    }

    /// Passes keys in and characters out until the supervisor has ended.
    fn pass_on(&mut self) -> io::Result<()> {
        let stdin = io::stdin();
        let (mut listens, mut prints) = (true, true);
        loop {
            let [typed, printed, over] = wait::ready(
                [
                    listens.then_some(stdin.as_fd()),
                    prints.then_some(self.keys.as_fd()),
                    Some(self.over.as_fd()),
                ],
                wait::in_ms(LOOK_MS),
            )?;
            adopt_size(self.keys.as_fd());
            if printed {
                prints = self.print()?;
            }
            if typed {
                listens = self.type_in(stdin.as_fd())?;
            }
            if over && !printed {
                return Ok(());
            }
        }
    }

    /// Shows what was printed, and returns whether more may come.
    fn print(&mut self) -> io::Result<bool> {
        let mut buffer = [0u8; READ_BYTES];
        match self.keys.read(&mut buffer) {
            Ok(0) => Ok(false),
            Ok(count) => {
                let mut out = io::stdout().lock();
                out.write_all(&buffer[..count])?;
                out.flush()?;
                Ok(true)
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(true),
            // Nobody has the other end any more.
            Err(_) => Ok(false),
        }
    }

    /// Passes on what was typed, and returns whether more may come.
    fn type_in(&mut self, stdin: BorrowedFd<'_>) -> io::Result<bool> {
        let mut buffer = [0u8; READ_BYTES];
        match rustix::io::read(stdin, &mut buffer) {
            Ok(0) => Ok(false),
            Ok(count) => Ok(self.keys.write_all(&buffer[..count]).is_ok()),
            Err(rustix::io::Errno::INTR) => Ok(true),
            Err(_) => Ok(false),
        }
    }
}

/// Gives a terminal the size of the real one, where that has a size.
fn adopt_size(keys: BorrowedFd<'_>) {
    if let Ok(size) = rustix::termios::tcgetwinsize(io::stdin()) {
        let _ = rustix::termios::tcsetwinsize(keys, size);
    }
}

/// The real terminal passes every key on as it is while this lives.
struct Raw {
    before: Termios,
}

impl Raw {
    fn enter() -> io::Result<Raw> {
        let before = rustix::termios::tcgetattr(io::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        rustix::termios::tcsetattr(io::stdin(), OptionalActions::Flush, &raw)?;
        Ok(Raw { before })
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // A terminal that went away needs no mode.
        let _ = rustix::termios::tcsetattr(io::stdin(), OptionalActions::Drain, &self.before);
    }
}
