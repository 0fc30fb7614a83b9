//! The settings of a client were changed in mid-session: they must still ask the guard.

use std::path::Path;

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
        let mark = self.project.mark();
        let ours = mark.clients.iter().filter(|installed| installed.client == event.client);
        for installed in ours {
            let named = file.and_then(|file| path::within(self.project.root_text(), file));
            if named.is_some_and(|named| named != installed.settings.path) {
                continue;
            }
            if let Some(missing) = self.missing(event.client, &installed.settings.path) {
                let said = self.project.root.join(&installed.settings.path);
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

    /// Which of our hooks a settings file lacks.
    fn missing(&self, client: Client, file: &str) -> Option<String> {
        let text = std::fs::read_to_string(self.project.root.join(Path::new(file))).ok();
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
        let what = format!("the settings of the client were changed so that hooks of the guard are gone: {what}");
        self.transact(|desk| {
            let event = desk.event(Happening::IntegrityIncident, "").with("what", what);
            desk.happened(&event)
        })
    }
}
