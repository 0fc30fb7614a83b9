//! Whether a project is guarded, by what, and what the guard has open.

use seriatim_engine::ports::Ports;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use serde_json::json;
use seriatim_core::guard::client::Client;
use seriatim_core::guard::settings::Presence;
use seriatim_core::guard::settings::State;
use seriatim_core::roadmap::verdict::NOTHING_CHECKED;
use seriatim_core::roadmap::verdict::sentences;
use seriatim_engine::guard::Guard;
use seriatim_engine::guard::Installed;
use seriatim_engine::guard::Mark;
use seriatim_engine::guard::OpenStep;
use seriatim_engine::guard::Project;
use seriatim_engine::guard::rules::Rules;

use super::clients::Settings;
use super::git_hooks;
use super::git_hooks::NAMES;
use super::git_hooks::Place;
use super::plan::Marked;
use super::plan::named;
use super::switches;
use crate::ui::Tone;
use crate::ui::Ui;
use crate::ui::tone;
use crate::workspace::make_redactor;

/// The guard of a project, as it is found.
#[derive(Debug)]
pub(crate) struct Status {
    pub(crate) guarded: bool,
    mark: Option<Mark>,
    /// Where it is, as people see it.
    mark_path: String,
    clients: Vec<ClientHooks>,
    /// Absent where there is no repository.
    git: Option<Vec<(String, git_hooks::State)>>,
    steps: Vec<OpenStep>,
    /// The gates that are run at a stop and at a commit.
    /// Absent where the configuration cannot be read.
    gates: Option<Vec<&'static str>>,
}

/// The hooks of one client.
#[derive(Debug)]
struct ClientHooks {
    client: Client,
    settings: String,
    /// Or why the file cannot be read.
    found: Result<Vec<Presence>, String>,
    /// What switches all of them off, one sentence each.
    off: Vec<String>,
}

impl ClientHooks {
    fn read(root: &Path, installed: &Installed) -> ClientHooks {
        let (client, settings) = (installed.client, installed.settings.path.clone());
        let found = Settings::read(root, &settings)
            .map_err(|error| error.message)
            .and_then(|file| file.present(client).map_err(|error| error.to_string()));
        ClientHooks { client, settings, found, off: switches::off(root, installed) }
    }

    fn is_whole(&self) -> bool {
        let all = |hooks: &Vec<Presence>| hooks.iter().all(|hook| hook.state == State::There);
        self.off.is_empty() && self.found.as_ref().is_ok_and(all)
    }

    fn document(&self) -> Value {
        let hook = |hook: &Presence| json!({"event": hook.event, "state": word(hook.state)});
        let hooks = match &self.found {
            Ok(hooks) => hooks.iter().map(hook).collect(),
            Err(error) => json!({"error": error}),
        };
        json!({"client": self.client, "settings": self.settings, "hooks": hooks, "switched_off": self.off})
    }

    fn in_words(&self) -> String {
        let hooks = match &self.found {
            Ok(hooks) => hooks,
            Err(error) => return error.clone(),
        };
        let gaps = hooks.iter().filter(|hook| hook.state != State::There);
        let gaps: Vec<String> = gaps.map(|hook| format!("{} {}", hook.event, word(hook.state))).collect();
        if gaps.is_empty() { format!("all {} hooks are there", hooks.len()) } else { gaps.join(", ") }
    }
}

impl Status {
    pub(crate) fn read(root: &Path) -> Status {
        let ports = Ports::real();
        let guarded = Project::is_guarded(ports.files.as_ref(), root);
        let mark = match Marked::read(root) {
            Marked::Yes { mark, .. } => Some(mark),
            Marked::No | Marked::Unreadable => None,
        };
        let installed = mark.iter().flat_map(|mark| &mark.clients);
        let clients = installed.map(|installed| ClientHooks::read(root, installed)).collect();
        let git = Place::of(root).map(|place| {
            let state = |name: &&str| (named(root, &place.folder.join(name)), place.state(name));
            NAMES.iter().map(state).collect()
        });
        // A project without a book has nothing open; one whose book cannot be read is the doctor's business.
        let project = Project::new(root, Arc::clone(&ports.files));
        let steps = if guarded && project.state_dir().join("journal.db").exists() {
            open_steps(&mut Guard::new(&project, &ports, &make_redactor))
        } else {
            vec![]
        };
        let mark_path = named(root, &Project::mark_path(root));
        let gates = Rules::read(&project).map(|rules| rules.gates()).ok();
        Status { guarded, clients, mark, mark_path, git, steps, gates }
    }

    /// Guarded, with every hook where it belongs.
    pub(crate) fn is_whole(&self) -> bool {
        self.mark.is_some()
            && !self.clients.is_empty()
            && self.clients.iter().all(ClientHooks::is_whole)
            && self
                .git
                .as_ref()
                .is_some_and(|hooks| hooks.iter().all(|(_, state)| *state == git_hooks::State::There))
    }

    pub(crate) fn document(&self) -> Value {
        let clients: Vec<Value> = self.clients.iter().map(ClientHooks::document).collect();
        let git = self.git.as_ref().map(|hooks| {
            hooks.iter().map(|(path, state)| json!({"path": path, "state": state.word()})).collect::<Vec<_>>()
        });
        let steps: Vec<Value> = self
            .steps
            .iter()
            .map(|step| {
                json!({
                    "step": step.task_id, "step_file": step.step_file, "opened": step.opened.to_string(),
                    "ended": step.ended, "holds": sentences(&step.holds),
                    "held_at_commit": step.held_at_commit, "accepted": step.accepted,
                })
            })
            .collect();
        json!({
            "guarded": self.guarded, "mark_readable": self.mark.is_some(), "whole": self.is_whole(),
            "clients": clients, "git_hooks": git, "open_steps": steps,
            "gates": self.gates,
        })
    }

    pub(crate) fn show(&self, ui: &Ui) {
        if !self.guarded {
            ui.say("This project is not guarded. `seriatim guard install` changes that.");
            return;
        }
        let whole =
            if self.is_whole() { tone(Tone::Good, "guarded") } else { tone(Tone::Bad, "guarded, with gaps") };
        ui.say(format!("This project is {whole}."));
        if self.mark.is_none() {
            ui.say(format!(
                "The mark {} cannot be read; `seriatim guard uninstall`, then install again.",
                self.mark_path
            ));
        }
        for hooks in &self.clients {
            ui.say(format!("{:<8} {}: {}", hooks.client.name(), hooks.settings, hooks.in_words()));
            hooks.off.iter().for_each(|off| ui.say(format!("{:<8} {off}: the client asks nobody", "")));
        }
        match &self.git {
            Some(hooks) => {
                hooks
                    .iter()
                    .for_each(|(path, state)| ui.say(format!("{:<8} {path}: {}", "git", state.word())));
            }
            None => ui.say("This is no git repository: commits are not protected."),
        }
        let gates = match self.gates.as_deref() {
            None => "the configuration cannot be read (`seriatim doctor`)".to_owned(),
            Some([]) => NOTHING_CHECKED.to_owned(),
            Some(gates) => format!("run when a step is said to be done: {}", gates.join(", ")),
        };
        ui.say(format!("{:<8} {gates}", "gates"));
        for step in &self.steps {
            ui.say(format!("{:<8} {}, since {}", "open", step.in_words(), step.opened.seconds()));
            sentences(&step.holds).iter().for_each(|hold| ui.say(format!("{:<8} held: {hold}", "")));
            if !step.held_at_commit.is_empty() {
                let gates = step.held_at_commit.join(", ");
                ui.say(format!("{:<8} its commit is held by: {gates} (`seriatim inbox`)", ""));
            }
            step.accepted.iter().for_each(|accepted| ui.say(format!("{:<8} {}", "", accepted.in_words())));
        }
    }
}

/// The open steps, each with all that holds it.
fn open_steps(guard: &mut Guard<'_>) -> Vec<OpenStep> {
    let mut steps = guard.steps().unwrap_or_default();
    for step in &mut steps {
        if let Ok(held) = guard.held_by(step) {
            step.holds = held;
        }
    }
    steps
}

fn word(state: State) -> &'static str {
    match state {
        State::There => "there",
        State::Altered => "altered",
        State::Missing => "missing",
    }
}
