//! A workshop for tests: a directory, real processes, and a watch that remembers and acts.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::fs::Permissions;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Mutex;

use rustix::event::PollFd;
use rustix::event::PollFlags;
use rustix::event::Timespec;
use rustix::event::poll;
use rustix::fs::CWD;
use rustix::fs::FileType;
use rustix::fs::Mode;
use rustix::fs::mknodat;
use rustix::process::Pid;
use rustix::process::PidfdFlags;
use rustix::process::geteuid;
use rustix::process::pidfd_open;
use seriatim_core::hash::Hash;
use seriatim_engine::hands::layers::LayerStack;
use seriatim_engine::hands::layers::Node;
use seriatim_engine::hands::paths::encode_name;
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

/// A folder with a real folder, layers over it, and the file whose time is that of the view.
pub(crate) struct Layers {
    pub(crate) directory: tempfile::TempDir,
}

impl Layers {
    /// Builds the folders `real` and `upper`.
    pub(crate) fn new() -> Layers {
        let directory = tempfile::tempdir().unwrap();
        for name in ["real", "upper"] {
            fs::create_dir(directory.path().join(name)).unwrap();
        }
        Layers { directory }
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn put(&self, name: &str, text: &str) {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn whiteout(&self, name: &str) {
        fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
        mknodat(CWD, self.at(name), FileType::CharacterDevice, Mode::empty(), 0).unwrap();
    }

    pub(crate) fn chmod(&self, name: &str, mode: u32) {
        fs::set_permissions(self.at(name), Permissions::from_mode(mode)).unwrap();
    }

    /// Makes the file of the view's time later than everything before, and everything after later than it: the clock
    /// of a file system has steps.
    pub(crate) fn begin(&self) {
        self.tick();
        fs::write(self.at("began"), "").unwrap();
        self.tick();
    }

    fn tick(&self) {
        let now = || {
            fs::write(self.at("tick"), "").unwrap();
            let found = fs::metadata(self.at("tick")).unwrap();
            (found.ctime(), found.ctime_nsec())
        };
        let start = now();
        while now() == start {}
    }

    pub(crate) fn stack(&self, uppers: &[&str]) -> LayerStack {
        let uppers = uppers.iter().map(|name| self.at(name)).collect();
        LayerStack::new(uppers, self.at("real"), self.at("began"))
    }
}

/// Reads a whole tree in the plainest way. What is unreadable to its owner is opened for the moment.
pub(crate) fn nodes(root: &Path) -> BTreeMap<String, Node> {
    let mut nodes = BTreeMap::new();
    collect(root, Path::new(""), &mut nodes);
    nodes
}

fn collect(root: &Path, folder: &Path, nodes: &mut BTreeMap<String, Node>) {
    for entry in fs::read_dir(root.join(folder)).unwrap() {
        let entry = entry.unwrap();
        let (path, place, meta) = (folder.join(entry.file_name()), entry.path(), entry.metadata().unwrap());
        let mode = meta.permissions().mode() & 0o7777;
        let is_closed = (meta.is_dir() || meta.is_file()) && mode & 0o500 != 0o500 && !geteuid().is_root();
        if is_closed {
            fs::set_permissions(&place, Permissions::from_mode(mode | 0o700)).unwrap();
        }
        let node = if meta.is_dir() {
            collect(root, &path, nodes);
            Node::Folder { mode }
        } else if meta.is_symlink() {
            Node::Link { target: encode_name(fs::read_link(&place).unwrap().as_os_str()) }
        } else if meta.is_file() {
            Node::File { mode, size: meta.len(), hash: Hash::of(&fs::read(&place).unwrap()) }
        } else {
            Node::Special
        };
        if is_closed {
            fs::set_permissions(&place, meta.permissions()).unwrap();
        }
        nodes.insert(encode_name(path.as_os_str()), node);
    }
}
