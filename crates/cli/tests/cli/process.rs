//! The program while it runs, and pipes by which tests and agents wait for each other instead of sleeping.

use std::fs;
use std::fs::File;
use std::fs::OpenOptions;
use std::io::Read;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::path::PathBuf;
use std::process::Child;
use std::process::Command;

use regex::Regex;
use rustix::event::PollFd;
use rustix::event::PollFlags;
use rustix::event::Timespec;
use rustix::event::poll;
use rustix::process::Pid;
use rustix::process::PidfdFlags;
use rustix::process::Signal;
use rustix::process::kill_process;
use rustix::process::pidfd_open;

use crate::support::Output;

/// The limit only keeps a broken test from hanging; no test waits for it.
const LIMIT_S: i64 = 240;

/// Whether something can be read from `what`, or a process has ended, before the limit.
fn ready(what: impl AsFd) -> bool {
    let mut sources = [PollFd::new(&what, PollFlags::IN)];
    poll(&mut sources, Some(&Timespec { tv_sec: LIMIT_S, tv_nsec: 0 })).is_ok_and(|n| n == 1)
}

/// A started program. Both streams go to files, so that nothing blocks on a pipe that nobody reads.
pub(crate) struct Running {
    child: Child,
    stdout: PathBuf,
    stderr: PathBuf,
    filters: Vec<(Regex, String)>,
}

impl Running {
    #[track_caller]
    pub(crate) fn start(mut command: Command, folder: &Path, filters: Vec<(Regex, String)>) -> Running {
        let (out, err) = (tempfile::NamedTempFile::new_in(folder), tempfile::NamedTempFile::new_in(folder));
        let (out, err) = (out.unwrap(), err.unwrap());
        command.stdout(out.reopen().unwrap()).stderr(err.reopen().unwrap());
        let child = command.spawn().unwrap();
        let (_, stdout) = out.keep().unwrap();
        let (_, stderr) = err.keep().unwrap();
        Running { child, stdout, stderr, filters }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn output(mut self) -> Output {
        let pid = Pid::from_child(&self.child);
        let handle = pidfd_open(pid, PidfdFlags::empty()).unwrap();
        if !ready(&handle) {
            let _ = self.child.kill();
            panic!("it does not end: {}", self.said());
        }
        let status = self.child.wait().unwrap();
        let read = |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
        Output::new(read(&self.stdout), read(&self.stderr), status.code(), self.filters)
    }

    /// SIGKILL: it has no chance to tidy up.
    #[track_caller]
    pub(crate) fn kill(mut self) -> Output {
        self.child.kill().unwrap();
        self.output()
    }

    /// Waits until `what` can be read, or until its own end; returns whether it can be read.
    #[track_caller]
    fn speaks(&self, what: impl AsFd) -> bool {
        let own = pidfd_open(Pid::from_child(&self.child), PidfdFlags::empty()).unwrap();
        let mut sources = [PollFd::new(&what, PollFlags::IN), PollFd::new(&own, PollFlags::IN)];
        let count = poll(&mut sources, Some(&Timespec { tv_sec: LIMIT_S, tv_nsec: 0 })).unwrap();
        assert!(count > 0, "nobody wrote to the pipe:\n{}", self.said());
        sources[0].revents().contains(PollFlags::IN)
    }

    /// Waits until `what` can be read.
    #[track_caller]
    fn wait_for(&self, what: impl AsFd) {
        assert!(self.speaks(what), "it ended too early:\n{}", self.said());
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    fn said(&self) -> String {
        let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
        format!("{}{}", read(&self.stdout), read(&self.stderr))
    }
}

/// A pipe with a name. The test holds both ends, so opening it never blocks anybody; only reading does.
pub(crate) struct Fifo {
    file: File,
}

impl Fifo {
    pub(crate) fn new(path: &Path) -> Fifo {
        let made = Command::new("mkfifo").arg(path).status().unwrap();
        assert!(made.success(), "mkfifo {}", path.display());
        Fifo { file: OpenOptions::new().read(true).write(true).open(path).unwrap() }
    }

    /// Waits for a line from an agent of `engine`, for as long as that lives.
    #[track_caller]
    pub(crate) fn line(&mut self, engine: &Running) -> String {
        self.until("\n", engine).trim_end_matches('\n').to_owned()
    }

    /// Waits for a line from an agent of `engine`; nothing where that ends without one.
    #[track_caller]
    pub(crate) fn line_unless_over(&mut self, engine: &Running) -> Option<String> {
        engine.speaks(&self.file).then(|| self.line(engine))
    }

    /// Waits until something ends with `words`, and gives all of it.
    #[track_caller]
    pub(crate) fn until(&mut self, words: &str, engine: &Running) -> String {
        let mut read = vec![];
        while !read.ends_with(words.as_bytes()) {
            engine.wait_for(&self.file);
            let mut byte = [0];
            self.file.read_exact(&mut byte).unwrap();
            read.extend(byte);
        }
        String::from_utf8(read).unwrap()
    }

    /// The same, for a process that says its own id; the handle is of that very process.
    #[track_caller]
    pub(crate) fn process(&mut self, engine: &Running) -> Handle {
        let own = self.line(engine);
        let pid = below(engine.pid()).into_iter().find(|pid| names_itself(*pid, own.trim()));
        let pid = pid.unwrap_or_else(|| own.trim().parse().unwrap());
        Handle(pidfd_open(Pid::from_raw(pid).unwrap(), PidfdFlags::empty()).unwrap())
    }

    /// Lets the other side go on.
    pub(crate) fn send(&mut self, words: &str) {
        self.file.write_all(format!("{words}\n").as_bytes()).unwrap();
    }
}

/// All descendants of a process, as the test numbers them.
fn below(top: u32) -> Vec<i32> {
    let mut found = vec![];
    let lists = fs::read_dir(format!("/proc/{top}/task")).into_iter().flatten().flatten();
    for list in lists.map(|task| fs::read_to_string(task.path().join("children")).unwrap_or_default()) {
        for child in list.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()) {
            found.push(child.cast_signed());
            found.extend(below(child));
        }
    }
    found
}

/// Whether a process knows itself by this number: inside of a world it is another one than outside.
fn names_itself(pid: i32, own: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:")).unwrap_or_default();
    numbers.split_whitespace().last() == Some(own)
}

/// A hold of one process that was alive when it was taken.
pub(crate) struct Handle(OwnedFd);

impl Handle {
    /// The process with this command line that works in a folder. Inside of a world a process knows another id of itself.
    #[track_caller]
    pub(crate) fn of(command: &[&str], folder: &Path) -> Handle {
        let line: Vec<u8> = command.iter().flat_map(|word| word.bytes().chain([0])).collect();
        let pids =
            fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        let is_it = |pid: &i32| {
            let of = |name: &str| format!("/proc/{pid}/{name}");
            fs::read(of("cmdline")).is_ok_and(|found| found == line)
                && fs::read_link(of("cwd")).is_ok_and(|found| found == folder)
        };
        let pid = pids.into_iter().find(is_it).unwrap_or_else(|| panic!("{command:?} does not run"));
        Handle(pidfd_open(Pid::from_raw(pid).unwrap(), PidfdFlags::empty()).unwrap())
    }

    /// The process with a number; nothing where it has ended by now.
    pub(crate) fn numbered(pid: i32) -> Option<Handle> {
        pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok().map(Handle)
    }

    /// Waits until it has ended.
    #[track_caller]
    pub(crate) fn ends(&self) {
        assert!(ready(&self.0), "a process goes on living");
    }

    /// It has ended by now, without waiting.
    #[track_caller]
    pub(crate) fn has_ended(&self) {
        let mut sources = [PollFd::new(&self.0, PollFlags::IN)];
        let ended = poll(&mut sources, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap();
        assert_eq!(ended, 1, "a process is still alive");
    }
}
