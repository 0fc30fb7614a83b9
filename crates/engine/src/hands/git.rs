//! Git, by the `git` program.
//!
//! It runs under [`Processes`] like everything else: a commit starts the user's hooks, which may start anything
//! and leave it behind, and a read may hang on a network file system. One way of running means one deadline, one
//! clean end and one port to simulate.
//!
//! Reads never touch the user's index, object store or hooks. What the working tree holds is found out with an
//! index and an object store of our own, in which it is added as a whole: the tree that comes out is exact also for
//! untracked files, links, modes and renames, and it serves as evidence and as the base of later comparisons.
//!
//! Names that are not UTF-8 appear with replacement characters. They are shown and counted, but cannot be
//! committed through this.

mod branches;
mod changes;
mod checked_out;
mod commit;
mod deliver;
mod edited;
mod exact;
mod staged;
mod status;
mod tree;
mod worktree;

use std::path::Path;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;

pub use crate::hands::git::branches::Merged;
pub use crate::hands::git::changes::Change;
pub use crate::hands::git::changes::ChangeKind;
pub use crate::hands::git::changes::Diff;
pub use crate::hands::git::commit::Commit;
pub use crate::hands::git::commit::Committed;
pub use crate::hands::git::edited::TreeEdit;
pub use crate::hands::git::edited::TreeEntry;
pub use crate::hands::git::exact::ExactCommit;
pub use crate::hands::git::status::Place;
pub use crate::hands::git::status::Status;
pub use crate::hands::git::status::StatusEntry;
pub use crate::hands::git::worktree::Worktree;

use crate::hands::files::FileError;
use crate::hands::files::Files;
use crate::hands::paths::Workspace;
use crate::hands::process::Ended;
use crate::hands::process::How;
use crate::hands::process::Input;
use crate::hands::process::Processes;
use crate::hands::process::Spawn;
use crate::hands::process::SpawnError;
use crate::hands::process::Unwatched;
use crate::hands::process::environment;

/// Reads that take longer hang.
const READ_MS: u64 = 120_000;
/// Commits run the user's hooks, which may run tests.
const COMMIT_MS: u64 = 1_800_000;
/// Lists of a million paths fit in.
const KEEP_BYTES: usize = 256 << 20;

/// What is made is on the disk before it is reported: the journal says next that it was made, and it is never made
/// again. By default a loss of power may take objects and branches with it.
const DURABLE: [&str; 4] = ["-c", "core.fsync=all", "-c", "core.fsyncMethod=batch"];

/// What git needs to find itself, the user's configuration, and the keys to sign with.
const ENVIRONMENT: [&str; 16] = [
    "PATH",
    "HOME",
    "LANG",
    "TMPDIR",
    "USER",
    "LOGNAME",
    "XDG_CONFIG_HOME",
    "SSH_AUTH_SOCK",
    "GNUPGHOME",
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
];

/// The repository that a workspace is in.
pub struct Git<'p> {
    processes: &'p dyn Processes,
    files: &'p dyn Files,
    workspace: Workspace,
    /// Where our own index and objects lie.
    private: PathBuf,
    /// The directory at the top of the workspace that is ours and no part of the user's work, if it is in there.
    own: Option<String>,
    env: Vec<(String, String)>,
}

/// Why git did not do what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GitError {
    #[error("the program `git` was not found")]
    NoGit,
    #[error("{} is not in a git repository", path.display())]
    NotARepository { path: PathBuf },
    #[error("the repository has no commit or tree `{name}`")]
    UnknownRevision { name: String },
    #[error("there is nothing to commit")]
    NothingToCommit,
    #[error("a hook of the repository refused the commit:\n{output}")]
    Hook { output: String },
    #[error(
        "the repository is not where the work began: it was {expected} and is {found} now. Nothing was committed"
    )]
    Moved { expected: String, found: String },
    #[error("git does not know who commits; set user.name and user.email")]
    NoIdentity,
    #[error("`git {command}` took longer than {deadline_ms} ms")]
    Deadline { command: String, deadline_ms: u64 },
    #[error("`git {command}` failed:\n{output}")]
    Failed { command: String, how: How, output: String },
    #[error("`git {command}` printed something unexpected: {what}")]
    Unreadable { command: String, what: String },
    #[error(transparent)]
    Spawn(SpawnError),
    #[error(transparent)]
    File(#[from] FileError),
}

/// One call of git.
struct Invocation<'a> {
    arguments: Vec<String>,
    stdin: Input,
    env: &'a [(String, String)],
    hooks: bool,
    /// Paths mean themselves even if they look like patterns.
    literal: bool,
    deadline_ms: u64,
    keep_bytes: usize,
}

impl<'a> Invocation<'a> {
    fn read<S: AsRef<str>>(arguments: &[S]) -> Invocation<'a> {
        Invocation {
            arguments: arguments.iter().map(|word| word.as_ref().to_owned()).collect(),
            stdin: Input::Nothing,
            env: &[],
            hooks: false,
            literal: true,
            deadline_ms: READ_MS,
            keep_bytes: KEEP_BYTES,
        }
    }

    fn env(self, env: &'a [(String, String)]) -> Invocation<'a> {
        Invocation { env, ..self }
    }

    /// Gives paths on the standard input, which has no limit of length, each ended by NUL.
    fn paths<S: AsRef<str>>(self, paths: &[S]) -> Invocation<'a> {
        let bytes = paths.iter().flat_map(|path| path.as_ref().bytes().chain([0])).collect();
        Invocation { stdin: Input::Bytes(bytes), ..self }
    }

    fn name(&self) -> String {
        self.arguments.first().cloned().unwrap_or_default()
    }
}

impl<'p> Git<'p> {
    /// `private` is a directory of our own, such as `.seriatim/git`. If it is in the workspace, everything below its
    /// first component is left out of all that is said about the workspace, and is never committed.
    pub fn new(
        processes: &'p dyn Processes,
        files: &'p dyn Files,
        workspace: Workspace,
        private: impl AsRef<Path>,
    ) -> Git<'p> {
        let private = workspace.root().join(private);
        let inside = workspace.relative(&private).filter(|inside| !inside.is_empty());
        let own = inside.and_then(|inside| inside.split('/').next().map(str::to_owned));
        Git { processes, files, workspace, private, own, env: environment(&ENVIRONMENT) }
    }

    /// Sets a variable for every call, such as `GIT_INDEX_FILE` inside a hook of git.
    #[must_use]
    pub fn with_variable(mut self, name: &str, value: &str) -> Git<'p> {
        self.env.retain(|(known, _)| known != name);
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Whether the workspace is in the working tree of a repository.
    pub fn is_repository(&self) -> Result<bool, GitError> {
        match self.text(Invocation::read(&["rev-parse", "--is-inside-work-tree"])) {
            Ok(answer) => Ok(answer.trim() == "true"),
            Err(GitError::NotARepository { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The commit that is checked out; `None` before the first one (E-52).
    pub fn head(&self) -> Result<Option<String>, GitError> {
        self.lookup(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
    }

    /// The branch that is checked out; `None` when there is only a commit.
    pub fn branch(&self) -> Result<Option<String>, GitError> {
        self.lookup(&["symbolic-ref", "--quiet", "--short", "HEAD"])
    }

    fn is_own(&self, path: &str) -> bool {
        path.split('/').next().is_some_and(|first| self.own.as_deref() == Some(first))
    }

    /// Asks for something that may not exist, which git says by exit code 1 and silence.
    fn lookup(&self, arguments: &[&str]) -> Result<Option<String>, GitError> {
        let invocation = Invocation::read(arguments);
        let ended = self.run(&invocation)?;
        match ended.how {
            How::Exited(0) => Ok(Some(ended.stdout.trim().to_owned())),
            How::Exited(1) if ended.stderr.trim().is_empty() => Ok(None),
            _ => Err(self.failure(&invocation, ended)),
        }
    }

    /// What a successful call prints.
    fn text(&self, invocation: Invocation<'_>) -> Result<String, GitError> {
        let ended = self.run(&invocation)?;
        if !ended.success() {
            return Err(self.failure(&invocation, ended));
        }
        if ended.cut() {
            return Err(unreadable(&invocation.name(), "more than fits into memory"));
        }
        Ok(ended.stdout)
    }

    fn run(&self, invocation: &Invocation<'_>) -> Result<Ended, GitError> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let mut argv: Vec<String> =
            ["git", "--no-optional-locks", "-c", "core.fsmonitor=false"].map(str::to_owned).to_vec();
        argv.extend(DURABLE.map(str::to_owned));
        let mut env = self.env.clone();
        env.push(("GIT_TERMINAL_PROMPT".to_owned(), "0".to_owned()));
        env.push(("GIT_EDITOR".to_owned(), "true".to_owned()));
        // Options before the command reach the hooks of a commit as variables, so commits do without these.
        if !invocation.hooks {
            let options = ["-c", "core.hooksPath=/dev/null", "-c", "advice.addEmbeddedRepo=false"];
            argv.extend(options.map(str::to_owned));
            env.push(("LC_ALL".to_owned(), "C".to_owned()));
        }
        if invocation.literal {
            argv.push("--literal-pathspecs".to_owned());
        }
        argv.extend(invocation.arguments.iter().cloned());
        for (name, value) in invocation.env {
            env.retain(|(known, _)| known != name);
            env.push((name.clone(), value.clone()));
        }
        let marker = format!("git-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let spawn = Spawn {
            env,
            stdin: invocation.stdin.clone(),
            deadline_ms: Some(invocation.deadline_ms),
            keep_bytes: invocation.keep_bytes,
            ..Spawn::new(argv, self.workspace.root(), marker)
        };
        match self.processes.run(&spawn, &Unwatched) {
            Ok(Ended { how: How::Deadline, .. }) => {
                Err(GitError::Deadline { command: invocation.name(), deadline_ms: invocation.deadline_ms })
            }
            Ok(ended) => Ok(ended),
            Err(SpawnError::NotFound { .. }) => Err(GitError::NoGit),
            Err(error) => Err(GitError::Spawn(error)),
        }
    }

    fn failure(&self, invocation: &Invocation<'_>, ended: Ended) -> GitError {
        if ended.stderr.contains("not a git repository") {
            return GitError::NotARepository { path: self.workspace.root().to_owned() };
        }
        if ended.stderr.contains("Please tell me who you are") || ended.stderr.contains("empty ident name") {
            return GitError::NoIdentity;
        }
        let output = format!("{}{}", ended.stderr, ended.stdout);
        GitError::Failed { command: invocation.name(), how: ended.how, output: output.trim().to_owned() }
    }
}

fn unreadable(command: &str, what: impl Into<String>) -> GitError {
    let what: String = what.into();
    GitError::Unreadable { command: command.to_owned(), what: what.chars().take(200).collect() }
}
