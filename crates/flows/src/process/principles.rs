//! Principles and modes: a run starts small and grows when the work turns out to be more than it seemed.

use serde_json::json;
use seriatim_core::process::ObservationType;
use seriatim_core::process::principles;
use seriatim_core::process::principles::PROGRESSIVE;
use seriatim_core::process::result;
use seriatim_core::reading::BrokenFile;

use super::course::Course;
use super::people;

const QUICK: &str = "QUICK";
const FULL: &str = "FULL";

impl Course<'_> {
    /// Reads the reference document and keeps what applies (PX-29 to PX-32). One that is there and cannot be read keeps
    /// the run from going on.
    pub(super) async fn consult_principles(&mut self) -> Result<(), BrokenFile> {
        if let Some(path) = self.start.principles.clone()
            && let Some(text) = self.cx.reading(&path).await.optional()?
        {
            let phase = self.definition.phase.as_ref().map(|p| p.value);
            let all = principles::parse(&text.text);
            self.principles = principles::relevant(&all, phase, result::purpose(&self.definition));
        }
        let stated = self.definition.disclosure.as_ref().and_then(|d| d.initial_mode.as_ref());
        self.full = stated.is_some_and(|mode| mode.value.eq_ignore_ascii_case(FULL));
        Ok(())
    }

    /// Says which principles shaped the run (PX-31). Called once the log is there.
    pub(super) async fn note_principles(&mut self) {
        if !self.principles.is_empty() {
            let ids: Vec<_> = self.principles.iter().map(|p| format!("{} {}", p.id, p.title)).collect();
            let value = json!({"consulted": ids, "mode": self.mode()});
            self.observe(ObservationType::State, "Principles consulted", value).await;
        } else if self.has_modes() {
            let value = json!({"principle": PROGRESSIVE, "mode": self.mode()});
            self.observe(ObservationType::State, "Mode of this run", value).await;
        }
    }

    pub(super) fn mode(&self) -> &'static str {
        if self.full { FULL } else { QUICK }
    }

    fn has_modes(&self) -> bool {
        !self.definition.control_flow.modes.is_empty() || self.definition.disclosure.is_some()
    }

    /// Whether the present mode leaves this step out.
    pub(super) fn left_out_by_mode(&self, id: &str) -> bool {
        let mode = self.definition.control_flow.modes.iter().find(|m| m.name.value == self.mode());
        mode.is_some_and(|m| m.skip_steps.iter().any(|s| s.value == id))
    }

    /// What an agent should say when it holds, because it makes the work larger.
    pub(super) fn upgrade_triggers(&self) -> Vec<String> {
        match &self.definition.disclosure {
            Some(disclosure) if !self.full => disclosure.upgrade_triggers.clone(),
            _ => vec![],
        }
    }

    /// Complexity has emerged: the person may want the whole thing (PX-30).
    pub(super) async fn offer_full(&mut self, why: &str) {
        let prompt = self.definition.disclosure.as_ref().and_then(|d| d.upgrade_prompt.as_ref());
        let prompt = prompt.map(|p| p.value.clone());
        let asked = people::upgrade(self.title(), prompt.as_deref(), why);
        let Some((choice, answer)) = self.choose(asked).await else { return };
        self.full = match choice {
            people::Extent::Full => true,
            people::Extent::Quick => false,
        };
        let value = json!({"because": why, "mode": self.mode(), "by": answer.by});
        self.observe(ObservationType::Event, "Mode of this run", value).await;
    }
}
