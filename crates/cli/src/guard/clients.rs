//! The clients of a project, and their settings files.

use std::path::Path;
use std::path::PathBuf;

use seriatim_core::guard::client::Client;
use seriatim_core::guard::settings;
use seriatim_core::guard::settings::Presence;
use seriatim_core::guard::settings::SettingsError;
use seriatim_core::guard::settings::State;

use super::program;
use crate::error::CommandError;
use crate::error::Result;

/// The settings of one person, which are not shared.
pub(super) const CLAUDE_LOCAL: &str = ".claude/settings.local.json";

/// Reads a name from the command line.
pub(crate) fn parse(name: &str) -> std::result::Result<Client, String> {
    Client::from_name(name).ok_or_else(|| "the clients are claude, codex and gemini".to_owned())
}

/// The clients that are meant when none is named: those that are there, or have settings here; else claude.
pub(super) fn detected(root: &Path) -> Vec<Client> {
    let has_folder = |client: Client| root.join(client.settings_path()).parent().is_some_and(Path::is_dir);
    let found: Vec<Client> = Client::ALL
        .into_iter()
        .filter(|client| program::on_path(client.name()).is_some() || has_folder(*client))
        .collect();
    if found.is_empty() { vec![Client::Claude] } else { found }
}

/// Where hooks of a client may stand in a project.
pub(super) fn places(client: Client) -> Vec<&'static str> {
    match client {
        Client::Claude => vec![client.settings_path(), CLAUDE_LOCAL],
        Client::Codex | Client::Gemini => vec![client.settings_path()],
    }
}

/// A settings file as it is now.
#[derive(Debug)]
pub(super) struct Settings {
    /// The file itself, where its name is a link to it.
    pub(super) file: PathBuf,
    pub(super) text: Option<String>,
}

impl Settings {
    pub(super) fn read(root: &Path, path: &str) -> Result<Settings> {
        let named = root.join(path);
        let is_link = named.symlink_metadata().is_ok_and(|meta| meta.file_type().is_symlink());
        let file = if is_link {
            let broken = |e| CommandError::usage(format!("{path} is a link that leads nowhere: {e}"));
            named.canonicalize().map_err(broken)?
        } else {
            named
        };
        let text = match std::fs::read(&file) {
            Ok(bytes) => Some(String::from_utf8(bytes).map_err(|_| {
                CommandError::usage(format!("{path} is not text in UTF-8, so it is left as it is"))
            })?),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => None,
            Err(e) => return Err(CommandError::usage(format!("{path} cannot be read: {e}"))),
        };
        Ok(Settings { file, text })
    }

    pub(super) fn present(&self, client: Client) -> std::result::Result<Vec<Presence>, SettingsError> {
        settings::present(self.text.as_deref(), client)
    }

    /// Whether any hook of ours is in there, as it should be or not.
    pub(super) fn has_any(&self, client: Client) -> bool {
        self.present(client).is_ok_and(|all| all.iter().any(|hook| hook.state != State::Missing))
    }

    /// Whether the file switches all hooks off.
    pub(super) fn switched_off(&self, client: Client) -> bool {
        // A file with our hooks and nothing else is compared with this one, our hooks put in as well: the only
        // thing of ours in which the two can differ is the switch.
        let pure = settings::install(None, client);
        let mended = settings::install(self.text.as_deref(), client);
        match (pure, mended) {
            (Ok(pure), Ok(mended)) => settings::touches_ours(Some(&pure.text), Some(&mended.text), client),
            _ => false,
        }
    }
}

/// A mistake in a settings file, in words.
pub(super) fn broken(path: &str, error: &SettingsError) -> String {
    format!("{path}, {error}")
}
