//! The settings of a client were changed in mid-session: they must still ask the guard.

use seriatim_core::guard::client::Client;
use seriatim_core::guard::event::Event;
use seriatim_core::guard::path;
use seriatim_core::guard::reply::Reply;
use seriatim_core::guard::settings;
use seriatim_core::guard::settings::State;
use seriatim_core::roadmap::audit::Happening;

use super::Guard;
use super::GuardError;

impl Guard<'_> {
    /// A change that leaves our hooks as they are is nobody's concern; one that takes them away is refused.
    pub(super) fn config_change(&mut self, event: &Event, file: Option<&str>) -> Result<Reply, GuardError> {
        let named = file.and_then(|file| path::within(self.project.root_text(), file));
        if let Some(file) = self.switched_off(event.client) {
            self.disarming("all")?;
            return Ok(Reply::Deny {
                reason: format!(
                    "{file} switches all hooks off, the guard's included. The change is not taken over."
                ),
            });
        }
        for settings in self.settings_of(event.client) {
            if named.as_ref().is_some_and(|named| *named != settings) {
                continue;
            }
            if let Some(missing) = self.missing(event.client, &settings) {
                let said = self.project.root.join(&settings);
                self.disarming(&missing)?;
                return Ok(Reply::Deny {
                    reason: format!(
                        "{} no longer holds the hooks of the guard ({missing}). The change is not taken over; a person can \
                         take the guard away with `seriatim guard uninstall`.",
                        said.display()
                    ),
                });
            }
        }
        Ok(Reply::Pass)
    }

    /// The files that must hold our hooks. A mark that names none, because somebody damaged it, means the usual one;
    /// but hooks that came with a plugin are in no file of the project.
    fn settings_of(&self, client: Client) -> Vec<String> {
        let mark = self.project.mark();
        let listed = mark.clients.iter().filter(|installed| installed.client == client);
        let listed: Vec<String> = listed.map(|installed| installed.settings.path.clone()).collect();
        if listed.is_empty() && !self.ports.environment.has_plugin {
            return vec![client.settings_path().to_owned()];
        }
        listed
    }

    /// A settings file of the project that switches all hooks off.
    fn switched_off(&self, client: Client) -> Option<String> {
        let usual = client.settings_path();
        let files = [usual.to_owned(), usual.replace("settings.json", "settings.local.json")];
        files.into_iter().find(|file| {
            let text = self.project.text(file).unwrap_or_default();
            settings::switches_off(&text, client)
        })
    }

    /// Which of our hooks a settings file lacks.
    fn missing(&self, client: Client, file: &str) -> Option<String> {
        let text = self.project.text(file).ok();
        match settings::present(text.as_deref(), client) {
            Ok(hooks) => {
                let gone: Vec<&str> =
                    hooks.iter().filter(|hook| hook.state != State::There).map(|hook| hook.event).collect();
                (!gone.is_empty()).then(|| gone.join(", "))
            }
            Err(error) => Some(error.to_string()),
        }
    }

    fn disarming(&mut self, what: &str) -> Result<(), GuardError> {
        let what =
            format!("the settings of the client were changed so that hooks of the guard are gone: {what}");
        self.transact(|desk| {
            let event = desk.event(Happening::IntegrityIncident, "").with("what", what);
            desk.happened(&event)
        })
    }
}
