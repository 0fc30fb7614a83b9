//! Reading files of configuration and state before a run exists: absent is told from broken by type.

use seriatim_core::config::Config;
use seriatim_core::config::Kind;
use seriatim_core::reading::BrokenFile;
use seriatim_core::reading::Reading;
use seriatim_core::reading::text_of;

use crate::agents::scripted::SCRIPT_BYTES_MAX;
use crate::agents::scripted::understand_script;
use crate::hands::files::FileError;
use crate::hands::files::Files;
use crate::hands::paths::Workspace;

/// Documents and state files larger than this are not read.
pub(crate) const READ_BYTES_MAX: u64 = 16 << 20;

/// Reads a file of a workspace. Links are followed inside of it; one that leads out or nowhere is a broken file.
pub fn read_file(files: &dyn Files, workspace: &Workspace, path: &str) -> Reading<Vec<u8>> {
    read_within(files, workspace, path, READ_BYTES_MAX)
}

fn read_within(files: &dyn Files, workspace: &Workspace, path: &str, limit_bytes: u64) -> Reading<Vec<u8>> {
    match workspace.read(files, path.as_ref(), limit_bytes) {
        Ok(found) => Reading::Read(found.bytes),
        Err(error) if error.is_absence() => Reading::Absent,
        Err(error) => Reading::Broken(broken_file(path, &error)),
    }
}

/// Returns what an error of the disk means for a reader, with what a person can do about it.
pub fn broken_file(path: &str, error: &FileError) -> BrokenFile {
    BrokenFile::unreadable(path, &error.to_string(), remedy(error))
}

fn remedy(error: &FileError) -> &'static str {
    match error {
        FileError::DeadLink { .. } => "remove the link, or bring its target back",
        FileError::Outside { .. } => {
            "put the file itself into the workspace; links are followed inside of it"
        }
        FileError::IsDirectory { .. } | FileError::Special { .. } | FileError::NotDirectory { .. } => {
            "put a file there, or remove it"
        }
        FileError::Permission { .. } => "make it readable for you with chmod or chown",
        FileError::NotUtf8 { .. } => "save the file as UTF-8",
        FileError::TooLarge { .. } => "make it smaller",
        FileError::NotFound { .. }
        | FileError::Changed { .. }
        | FileError::NoSpace { .. }
        | FileError::ReadOnly { .. }
        | FileError::BadName { .. }
        | FileError::NotEmpty { .. }
        | FileError::Io { .. } => "make it a file that can be read",
    }
}

/// Returns the scripts of scripted agents that cannot be used, each with its agent.
pub fn broken_scripts<'c>(
    files: &dyn Files,
    workspace: &Workspace,
    config: &'c Config,
) -> Vec<(&'c str, BrokenFile)> {
    let scripts = config.agents.iter().filter_map(|(name, agent)| match &agent.kind {
        Kind::Scripted { script } => Some((name.as_str(), script)),
        Kind::Command { .. } | Kind::Human => None,
    });
    let read = |(name, script): (&'c str, &String)| {
        let bytes = read_within(files, workspace, script, SCRIPT_BYTES_MAX);
        let text = bytes.and_then(|bytes| text_of(script, bytes));
        let lines = text.parse_whole(script, |text| understand_script(text.as_bytes()));
        let help = "write the script, or name the one that is meant in seriatim.toml";
        lines.required(script, help).err().map(|broken| (name, broken))
    };
    scripts.filter_map(read).collect()
}
