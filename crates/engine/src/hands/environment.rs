//! The environment of the process, read once at its edge.

use std::env;
use std::path::PathBuf;

/// Facts about the process that its start decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// The project that the client names for its session.
    pub project_dir: Option<PathBuf>,
    /// The index that git commits from, absolute, where it is another one than the usual.
    pub index_file: Option<PathBuf>,
    /// Whether the hooks came with a plugin of the client.
    pub has_plugin: bool,
    /// The system's folder for temporary files.
    pub temporary: PathBuf,
    pub pid: u32,
}

impl Environment {
    /// Reads the environment of this process.
    pub fn of_process() -> Environment {
        let path = |name: &str| env::var_os(name).map(PathBuf::from);
        Environment {
            project_dir: path("CLAUDE_PROJECT_DIR"),
            index_file: path("GIT_INDEX_FILE").and_then(|index| std::path::absolute(index).ok()),
            has_plugin: env::var_os("CLAUDE_PLUGIN_ROOT").is_some(),
            temporary: env::temp_dir(),
            pid: std::process::id(),
        }
    }
}
