//! A workshop for tests: a directory, real processes, and a watch that remembers and acts.

use std::borrow::Cow;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Mutex;

use rustix::event::PollFd;
use rustix::event::PollFlags;
use rustix::event::Timespec;
use rustix::event::poll;
use rustix::process::Pid;
use rustix::process::PidfdFlags;
use rustix::process::pidfd_open;
use seriatim_engine::hands::process::Ended;
use seriatim_engine::hands::process::Processes;
use seriatim_engine::hands::process::Spawn;
use seriatim_engine::hands::process::Stop;
use seriatim_engine::hands::process::Stream;
use seriatim_engine::hands::process::Watch;
use seriatim_engine::hands::process::environment;
use seriatim_engine::hands::runner::Supervised;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_seriatim-supervise");

pub(crate) const SECRET: &str = "hunter2-hunter2";

pub(crate) fn processes() -> Supervised {
    Supervised::by(PROGRAM)
}

/// A shell script in `directory`, with the path as its only variable and little grace.
pub(crate) fn script(directory: &Path, text: &str) -> Spawn {
    command(directory, &["sh", "-c", text])
}

pub(crate) fn command(directory: &Path, argv: &[&str]) -> Spawn {
    let marker = format!("test-{}-{}", std::process::id(), directory.display());
    let argv = argv.iter().map(|word| (*word).to_owned()).collect();
    Spawn { env: environment(&["PATH"]), grace_ms: 200, ..Spawn::new(argv, directory, marker) }
}

#[track_caller]
pub(crate) fn run(spawn: &Spawn) -> Ended {
    processes().run(spawn, &Witness::default()).unwrap()
}

/// Remembers lines, hides [`SECRET`], keeps a hold of every process that announces itself by `NAME pid=N`, and
/// throws the switch at a line that says `stop me`.
#[derive(Default)]
pub(crate) struct Witness {
    pub(crate) stop: Option<Stop>,
    pub(crate) lines: Mutex<Vec<String>>,
    announced: Mutex<Vec<Option<OwnedFd>>>,
}

impl Witness {
    pub(crate) fn with_switch() -> Witness {
        Witness { stop: Some(Stop::new().unwrap()), ..Witness::default() }
    }

    /// Checks that as many processes as given have announced themselves, and that all of them have ended.
    #[track_caller]
    pub(crate) fn assert_gone(&self, count: usize) {
        let announced = self.announced.lock().unwrap();
        assert_eq!(announced.len(), count, "{:?}", self.lines.lock().unwrap());
        for handle in announced.iter().flatten() {
            assert!(has_ended(handle, 0), "a process is still alive: {:?}", self.lines.lock().unwrap());
        }
    }
}

impl Watch for Witness {
    fn line(&self, _: Stream, line: &str) {
        self.lines.lock().unwrap().push(line.to_owned());
        if let Some(handle) = announced(line) {
            self.announced.lock().unwrap().push(handle);
        }
        if let Some(stop) = self.stop.as_ref().filter(|_| line.contains("stop me")) {
            stop.stop();
        }
    }

    fn clean<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if text.contains(SECRET) { Cow::Owned(text.replace(SECRET, "***")) } else { Cow::Borrowed(text) }
    }

    fn stop(&self) -> Option<&Stop> {
        self.stop.as_ref()
    }
}

/// A handle on the process that the line announces; within it nothing if that process has ended already.
pub(crate) fn announced(line: &str) -> Option<Option<OwnedFd>> {
    let (_, pid) = line.split_once("pid=")?;
    let pid = Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    Some(pidfd_open(pid, PidfdFlags::empty()).ok())
}

/// Waits for the end of a process; the limit only keeps a broken test from hanging.
pub(crate) fn has_ended(handle: &OwnedFd, limit_s: i64) -> bool {
    let mut sources = [PollFd::new(handle, PollFlags::IN)];
    poll(&mut sources, Some(&Timespec { tv_sec: limit_s, tv_nsec: 0 })).unwrap() == 1
}
