//! A place for tests of worlds: a workspace, layers, a store, a shared folder, and a user who works there.

use std::ffi::OsStr;
use std::fs;
use std::fs::File;
use std::fs::Permissions;
use std::io::BufRead;
use std::io::BufReader;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::path::PathBuf;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;

use rustix::event::PollFd;
use rustix::event::PollFlags;
use rustix::event::Timespec;
use rustix::event::poll;
use rustix::fs::CWD;
use rustix::fs::FileType;
use rustix::fs::Mode;
use rustix::fs::OFlags;
use rustix::fs::mknodat;
use rustix::fs::open;
use seriatim_engine::hands::process::Ended;
use seriatim_engine::hands::process::Spawn;
use seriatim_engine::hands::process::SpawnError;
use seriatim_engine::hands::process::environment;
use seriatim_engine::hands::walls::Walls;
use seriatim_engine::hands::world::Cover;
use seriatim_engine::hands::world::WorldPlan;
use tempfile::TempDir;

use crate::support::PROGRAM;

const OTHER: u32 = 12345;

/// Who runs the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum User {
    Current,
    /// An ordinary user, when the tests themselves run as root.
    Other,
}

/// The users for whom each rule is tried. Where the system allows no namespaces at all there is nobody.
pub(crate) fn users() -> Vec<User> {
    let mut users = vec![User::Current];
    if rustix::process::geteuid().is_root() {
        users.push(User::Other);
    } else {
        println!("not tried as another user: only root can become one");
    }
    users.retain(|user| {
        let site = Site::new(*user);
        let output = site.engine(&["probe", site.path("layers").to_str().unwrap()]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let forbidden = said.contains("namespace") && !output.status.success();
        assert!(forbidden || output.status.success(), "{user:?}: {said}");
        if forbidden {
            println!("not tried as {user:?}: {said}");
        }
        !forbidden
    });
    users
}

pub(crate) struct Site {
    folder: TempDir,
    pub(crate) user: User,
    pub(crate) workspace: PathBuf,
}

/// How a process in a world ended, and the lines of its standard output.
pub(crate) struct Outcome {
    pub(crate) lines: Vec<String>,
    pub(crate) ended: Result<Ended, SpawnError>,
}

impl Outcome {
    #[track_caller]
    pub(crate) fn ended(&self) -> &Ended {
        self.ended.as_ref().unwrap_or_else(|error| panic!("{error}"))
    }

    #[track_caller]
    pub(crate) fn refused(&self) -> &SpawnError {
        self.ended.as_ref().unwrap_err()
    }
}

impl Site {
    pub(crate) fn new(user: User) -> Site {
        Site::in_base(user, Path::new("/var/tmp"), OsStr::new("workspace"))
    }

    pub(crate) fn in_base(user: User, base: &Path, name: &OsStr) -> Site {
        let folder = TempDir::new_in(base).unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let workspace = folder.path().join(name);
        let site = Site { folder, user, workspace };
        fs::create_dir(&site.workspace).unwrap();
        for name in ["shared", "store", "layers", "layers/upper", "layers/work", "layers/own"] {
            fs::create_dir(site.path(name)).unwrap();
        }
        fs::set_permissions(site.path("layers"), Permissions::from_mode(0o700)).unwrap();
        fs::write(site.workspace.join("tracked"), "one\n").unwrap();
        fs::create_dir(site.workspace.join("sub")).unwrap();
        fs::write(site.workspace.join("sub/file"), "deep\n").unwrap();
        fs::write(site.path("store/journal"), "secret\n").unwrap();
        let engine = site.path("engine");
        if fs::hard_link(PROGRAM, &engine).is_err() {
            // Not copied by this process: another thread that forks meanwhile would hold the copy open for writing.
            assert!(Command::new("cp").arg(PROGRAM).arg(&engine).status().unwrap().success());
        }
        site.hand_over();
        site
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Gives all files to the user who works here.
    pub(crate) fn hand_over(&self) {
        if self.user == User::Other {
            let owner = format!("{OTHER}:{OTHER}");
            let names = ["shared", "store", "layers"].map(|name| self.path(name));
            let done = Command::new("chown")
                .args(["-R", "-h", &owner])
                .args(names)
                .arg(&self.workspace)
                .status()
                .unwrap();
            assert!(done.success());
        }
    }

    /// The workspace is covered, the store hidden, the shared folder shared.
    pub(crate) fn plan(&self) -> WorldPlan {
        let cover = Cover {
            at: self.workspace.clone(),
            lowers: vec![],
            upper: self.path("layers/upper"),
            work: self.path("layers/work"),
        };
        WorldPlan {
            covers: vec![cover],
            share: vec![self.path("shared")],
            hide: vec![self.path("store")],
            ..WorldPlan::new(self.path("layers/own"))
        }
    }

    /// A shell script in the workspace. It finds its places in the variables `WS`, `SHARED`, `STORE` and `SITE`.
    pub(crate) fn script(&self, text: &str) -> Spawn {
        let marker = format!("world-{}-{}", std::process::id(), self.folder.path().display());
        let argv = ["sh", "-c", text].map(str::to_owned).to_vec();
        let mut env = environment(&["PATH"]);
        for (name, path) in [("SHARED", "shared"), ("STORE", "store"), ("SITE", "")] {
            env.push((name.to_owned(), self.path(path).display().to_string()));
        }
        if let Some(path) = self.workspace.to_str() {
            env.push(("WS".to_owned(), path.to_owned()));
        }
        let world = Some(self.plan());
        Spawn { env, grace_ms: 200, world, ..Spawn::new(argv, &self.workspace, marker) }
    }

    pub(crate) fn walled(&self, text: &str, walls: Walls) -> Spawn {
        Spawn { world: None, walls: Some(walls), ..self.script(text) }
    }

    /// The engine's program, as the user of this site.
    pub(crate) fn engine(&self, arguments: &[&str]) -> Command {
        let program = self.path("engine");
        let mut command = match self.user {
            User::Current => Command::new(program),
            User::Other => {
                let id = OTHER.to_string();
                let mut command = Command::new("setpriv");
                command.args(["--reuid", &id, "--regid", &id, "--clear-groups", "--"]).arg(program);
                command
            }
        };
        command.args(arguments).current_dir("/");
        command
    }

    /// Writes the description of a process to where the engine's program can read it.
    pub(crate) fn describe(&self, spawn: &Spawn) -> String {
        let file = self.path("spawn.json");
        fs::write(&file, serde_json::to_vec(spawn).unwrap()).unwrap();
        file.to_str().unwrap().to_owned()
    }

    #[track_caller]
    pub(crate) fn run(&self, spawn: &Spawn) -> Outcome {
        let file = self.describe(spawn);
        run_engine(&mut self.engine(&["spawn", &file]))
    }

    /// Runs a script that must succeed, and returns what it printed.
    #[track_caller]
    pub(crate) fn lines(&self, text: &str) -> Vec<String> {
        let outcome = self.run(&self.script(text));
        let ended = outcome.ended();
        assert!(ended.success(), "{:?}: {:?} {}", self.user, ended.how, ended.stderr);
        outcome.lines
    }

    pub(crate) fn start(&self, spawn: &Spawn) -> (Child, impl Iterator<Item = String> + use<>) {
        let file = self.describe(spawn);
        let mut child = self.engine(&["spawn", &file]).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        (child, lines)
    }

    /// A fifo in the shared folder that this test reads. Its end comes when the last writer has ended.
    pub(crate) fn fifo(&self, name: &str) -> Lifesign {
        let path = self.path("shared").join(name);
        mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o666), 0).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o666)).unwrap();
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Lifesign { reader: open(&path, flags, Mode::empty()).unwrap() }
    }

    /// Every file below a folder with its content, sorted.
    pub(crate) fn content(folder: &Path) -> Vec<(PathBuf, String)> {
        let mut found = vec![];
        let mut folders = vec![folder.to_owned()];
        while let Some(next) = folders.pop() {
            for entry in fs::read_dir(&next).unwrap().flatten() {
                let path = entry.path();
                let kind = entry.file_type().unwrap();
                if kind.is_dir() {
                    folders.push(path.clone());
                }
                let text = if kind.is_file() { fs::read(&path).unwrap() } else { format!("{kind:?}").into() };
                let name = path.strip_prefix(folder).unwrap().to_owned();
                found.push((name, String::from_utf8_lossy(&text).into_owned()));
            }
        }
        found.sort();
        found
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // The kernel leaves a folder without any rights there, which an ordinary user cannot remove as it is.
        for name in ["layers/work/work", "layers/work2/work"] {
            let _ = fs::set_permissions(self.path(name), Permissions::from_mode(0o700));
        }
    }
}

/// Runs the engine's program and reads what became of the process. The mounts of this machine must not change by it.
#[track_caller]
pub(crate) fn run_engine(command: &mut Command) -> Outcome {
    let mounts = || fs::read_to_string("/proc/self/mountinfo").unwrap();
    let before = mounts();
    let output = command.stderr(Stdio::inherit()).output().unwrap();
    assert_eq!(mounts(), before);
    let text = String::from_utf8(output.stdout).unwrap();
    let last = text.lines().last().unwrap_or_else(|| panic!("nothing was said: {:?}", output.status));
    let ended: Result<Ended, SpawnError> = match last.split_once(' ').unwrap() {
        ("ended", told) => Ok(serde_json::from_str(told).unwrap()),
        ("refused", told) => Err(serde_json::from_str(told).unwrap()),
        _ => panic!("{last}"),
    };
    let stdout = ended.as_ref().map_or("", |ended| ended.stdout.as_str());
    Outcome { lines: stdout.lines().map(str::to_owned).collect(), ended }
}

/// The reading end of a fifo.
pub(crate) struct Lifesign {
    reader: OwnedFd,
}

impl Lifesign {
    /// Checks that somebody has written, and that no writer lives; the limit only keeps a broken test from hanging.
    #[track_caller]
    pub(crate) fn assert_over(self, limit_s: i64) {
        use std::io::Read;
        rustix::fs::fcntl_setfl(&self.reader, OFlags::empty()).unwrap();
        let mut file = File::from(self.reader);
        let mut text = Vec::new();
        loop {
            let mut sources = [PollFd::new(&file, PollFlags::IN)];
            let ready = poll(&mut sources, Some(&Timespec { tv_sec: limit_s, tv_nsec: 0 })).unwrap();
            assert_eq!(ready, 1, "a writer still lives");
            let mut buffer = [0u8; 4096];
            match file.read(&mut buffer).unwrap() {
                0 => break,
                count => text.extend_from_slice(&buffer[..count]),
            }
        }
        assert!(!text.is_empty(), "nobody has written");
    }
}
