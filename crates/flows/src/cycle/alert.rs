//! Alerts: on record, and told to the command that the project names (CY-83 to CY-86).

use seriatim_core::cycle::alert;
use seriatim_core::cycle::alert::Alert;
use seriatim_core::cycle::facts::CycleFact;
use seriatim_core::cycle::facts::FailedEffect;

use super::course::Course;
use crate::request::Command;

/// The command of an alert must not hold the cycle up.
const COMMAND_TIMEOUT_MS: u64 = 30_000;

impl Course<'_> {
    /// Puts an alert on record. A command that cannot hear of it is put on record too, and changes nothing else.
    pub(super) async fn alert(&mut self, alert: Alert) {
        self.adopt();
        let (name, why) = (alert.name(), alert.sentence());
        self.fact(CycleFact::Alert { alert, why: why.to_owned(), cycle: self.number });
        if self.start.alert.is_empty() {
            return;
        }
        let argv = self.start.alert.iter().cloned().chain([name.to_owned(), why.to_owned()]).collect();
        let told =
            self.cx.exec(Command { argv, timeout_ms: Some(COMMAND_TIMEOUT_MS), ..Command::default() }).await;
        let trouble = match told {
            Ok(ran) if ran.ok() => return,
            Ok(ran) => ran.code.map_or("it was ended by a signal".to_owned(), |c| format!("exit code {c}")),
            Err(failure) => failure.message,
        };
        let text = format!("the command for alerts failed: {trouble}");
        self.fact(CycleFact::Error { effect: Some(FailedEffect::Alert), text });
    }

    /// Too long without a person is worth an alert, once (CY-86).
    pub(super) async fn watch_time(&mut self) {
        let now = self.cx.now().await;
        if !self.alerted_duration && alert::overdue(self.last_human, now, &self.limits) {
            self.alerted_duration = true;
            self.alert(Alert::DurationExceeded).await;
        }
    }

    /// One more loop without a person; the third is worth an alert, and those after it say nothing new (CY-83).
    pub(super) async fn count_loop(&mut self) {
        let was_stuck = alert::stuck(self.loops_since_human);
        self.loops_since_human += 1;
        if !was_stuck && alert::stuck(self.loops_since_human) {
            self.alert(Alert::StuckCycles).await;
        }
    }
}
