//! Settings that switch all hooks of a client off: those of the project, of one person in it, of the user and of the
//! machine.

use std::path::Path;
use std::path::PathBuf;

use serde_json::Value;
use seriatim_core::guard::client::Client;
use seriatim_engine::guard::Installed;

use super::clients::Settings;
use super::clients::places;

/// Settings that an administrator gives to all users of a machine.
const MANAGED: [&str; 2] = [
    "/etc/claude-code/managed-settings.json",
    "/Library/Application Support/ClaudeCode/managed-settings.json",
];

/// What keeps a client from running the hooks of this project: one sentence for each file.
pub(super) fn off(root: &Path, installed: &Installed) -> Vec<String> {
    let client = installed.client;
    let mut off = vec![];
    for path in files(root, installed) {
        let Some(folder) = path.parent() else { continue };
        let Some(file) = path.file_name().and_then(|file| file.to_str()) else { continue };
        if Settings::read(folder, file).is_ok_and(|settings| settings.switched_off(client)) {
            let shown = path.strip_prefix(root).unwrap_or(&path).display();
            let by = if client == Client::Claude { " (`disableAllHooks`)" } else { "" };
            off.push(format!("{shown} switches all hooks off{by}"));
        }
    }
    if client == Client::Claude {
        off.extend(
            MANAGED.iter().filter(|path| managed_only(Path::new(path))).map(|path| {
                format!("{path} allows managed hooks alone, so those of the project are not run")
            }),
        );
    }
    off
}

fn files(root: &Path, installed: &Installed) -> Vec<PathBuf> {
    let mut files = vec![root.join(&installed.settings.path)];
    files.extend(places(installed.client).into_iter().map(|place| root.join(place)));
    let home = std::env::var_os("HOME").map(PathBuf::from);
    match installed.client {
        Client::Claude => {
            let folder = std::env::var_os("CLAUDE_CONFIG_DIR").map(PathBuf::from);
            let folder = folder.or_else(|| home.map(|home| home.join(".claude")));
            files.extend(folder.map(|folder| folder.join("settings.json")));
            files.extend(MANAGED.iter().map(PathBuf::from));
        }
        Client::Gemini => files.extend(home.map(|home| home.join(".gemini/settings.json"))),
        Client::Codex => {}
    }
    files.sort();
    files.dedup();
    files.retain(|file| file.exists());
    files
}

fn managed_only(path: &Path) -> bool {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let settings: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
    settings["allowManagedHooksOnly"] == Value::Bool(true)
}
