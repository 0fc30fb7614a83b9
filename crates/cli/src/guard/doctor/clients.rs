//! The clients: their versions, their settings, and whether they run hooks at all.

use std::path::Path;
use std::path::PathBuf;

use seriatim_core::guard::capabilities::Capabilities;
use seriatim_core::guard::capabilities::Capability;
use seriatim_core::guard::capabilities::Support;
use seriatim_core::guard::capabilities::Version;
use seriatim_core::guard::client::Client;
use seriatim_core::guard::settings;
use seriatim_core::guard::settings::State;
use seriatim_engine::guard::Installed;

use super::Health;
use crate::guard::clients::Settings;
use crate::guard::program;
use crate::guard::switches;

/// Every hook has to be in the settings, as it was put in.
pub(super) fn settings(health: &mut Health, root: &Path, installed: &Installed) {
    let (client, path) = (installed.client, &installed.settings.path);
    let name = format!("hooks of {client}");
    let found = Settings::read(root, path)
        .map_err(|error| error.message)
        .and_then(|settings| settings.present(client).map_err(|error| format!("{path}, {error}")));
    let gaps: Vec<String> = match found {
        Ok(hooks) => hooks
            .iter()
            .filter(|hook| hook.state != State::There)
            .map(|hook| {
                let state = if hook.state == State::Missing { "missing" } else { "altered" };
                format!("{} is {state}", hook.event)
            })
            .collect(),
        Err(error) => return health.bad(name, error, "mend the file, then `seriatim guard install`"),
    };
    if gaps.is_empty() {
        health.good(name, format!("all {} are in {path}, unaltered", settings::hooks(client).len()));
    } else {
        health.bad(name, format!("{path}: {}", gaps.join(", ")), "`seriatim guard install` puts them back");
    }
}

/// Hooks can be switched off as a whole, in more than one place.
pub(super) fn switches(health: &mut Health, root: &Path, installed: &Installed) {
    let client = installed.client;
    let name = format!("{client} runs hooks");
    let off = switches::off(root, installed);
    if off.is_empty() {
        health.good(name, "nothing that can be seen switches them off");
    } else {
        health.bad(name, off.join("; "), "take the switch out; until then the client asks nobody");
    }
}

/// What a client can do depends on its version (DS-34).
pub(super) fn version(health: &mut Health, root: &Path, client: Client) {
    let name = format!("version of {client}");
    let said = program::on_path(client.name())
        .and_then(|program| program::said(root, &[program.to_str()?, "--version"]));
    let version = said.as_deref().and_then(Version::find);
    let able = Capabilities::of(client, version);
    for fact in able.lacking() {
        if let Some(sentence) = sentence(client, fact.capability, fact.support) {
            health.unprotected(sentence);
        }
    }
    let Some(version) = version else {
        health.good(
            name,
            format!("{client} is not on PATH here, or does not say its version; nothing can be said of it"),
        );
        return health
            .unprotected(format!("Whether {client} is new enough is not known: its version was not found."));
    };
    let since =
        able.facts.iter().find(|fact| fact.capability == Capability::OnFailure).and_then(|fact| fact.since);
    match since {
        Some(since) if version < since => {
            let detail =
                format!("{version} lets a tool pass when the hook itself fails; {since} and later refuse");
            health.bad(name, detail, format!("update {client} to {since} or later"));
        }
        _ if able.is_beyond_what_was_seen() => {
            health.good(name, format!("{version}, newer than {}, which this was tried with", able.seen_with));
        }
        _ => health.good(name, version.to_string()),
    }
}

/// What the lack of something means for the user; nothing where other means make up for it.
fn sentence(client: Client, lacking: Capability, support: Support) -> Option<String> {
    Some(match lacking {
        Capability::OnFailure => format!(
            "{client}: when the hook itself cannot be run or takes too long, the tool runs all the same."
        ),
        Capability::ConfigChange => {
            format!(
                "{client}: a change of its settings in mid-session is not refused; it is seen here and at the commit."
            )
        }
        Capability::RunsUntrusted if support == Support::No => {
            format!("{client}: hooks run only after a person has trusted them.")
        }
        Capability::RunsUntrusted => {
            format!("{client}: hooks run only in a folder that a person has trusted.")
        }
        Capability::StopHook => format!(
            "{client}: there is no event of its own for the end of a sub-agent; its last tool stands for it."
        ),
        Capability::TurnLimit => format!(
            "{client}: the limit of turns stands in the prompt; no agent is stopped in the middle of its work."
        ),
        Capability::CallId => {
            format!("{client}: tools of a sub-agent are not told apart from those of the session.")
        }
        Capability::TimeLimit
        | Capability::Inject
        | Capability::Interrupt
        | Capability::Transcript
        | Capability::BackgroundMonitoring => return None,
    })
}

/// Codex skips hooks that nobody has trusted, without a word.
pub(super) fn trust(health: &mut Health, root: &Path, installed: &Installed) {
    let name = "trust of codex";
    let help = "open codex in this project, type /hooks, and trust the hooks of seriatim";
    let home = std::env::var_os("CODEX_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".codex")));
    let config = home.map(|home| home.join("config.toml")).unwrap_or_default();
    let text = std::fs::read_to_string(&config).unwrap_or_default();
    let file = root.join(&installed.settings.path).display().to_string();
    let untrusted: Vec<&str> = settings::hooks(Client::Codex)
        .iter()
        .map(|hook| hook.event)
        .filter(|event| !is_trusted(&text, &file, event))
        .collect();
    if untrusted.is_empty() {
        health.good(
            name,
            "a person has trusted every hook; whether that was before a later change, codex alone knows",
        );
    } else {
        let detail = format!(
            "codex skips these hooks without a word, for nobody has trusted them: {}",
            untrusted.join(", ")
        );
        health.bad(name, detail, help);
    }
}

/// Whether the configuration has a hash for the hooks of an event in this file.
pub(in crate::guard) fn is_trusted(config: &str, file: &str, event: &str) -> bool {
    let section = format!("[hooks.state.\"{file}:{}:", snake(event));
    let mut inside = false;
    config.lines().map(str::trim).any(|line| {
        if line.starts_with('[') {
            inside = line.starts_with(&section);
        }
        inside && line.split_once('=').is_some_and(|(key, _)| key.trim() == "trusted_hash")
    })
}

fn snake(event: &str) -> String {
    let mut name = String::new();
    for letter in event.chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}
