//! The user's hooks look at the change before it is judged, so that what they do to it is checked and shown.

use seriatim_core::cycle::plan::PlanStep;
use seriatim_core::failure::Failure;

use super::act::Done;
use super::battery::compared;
use super::course::Course;
use crate::request::Check;
use crate::request::GitCall;
use crate::request::HookRun;
use crate::request::Hooked;

/// What the document calls them.
const NAME: &str = "Commit Hooks";

impl Course<'_> {
    /// Runs the hooks on all that the cycle has changed, and returns that as they left it.
    pub(super) async fn run_hooks(&mut self, step: &PlanStep, work: Done) -> Result<Done, Failure> {
        self.message = format!("{}\n\nGoal: {}", step.title, self.goal.text);
        self.hooks = None;
        if work.paths.is_empty() {
            return Ok(work);
        }
        let run = HookRun {
            message: self.message.clone(),
            paths: work.paths.clone(),
            check: Check { on: self.seen_work(), ours: self.files_of_work(), ..Check::named("hooks") },
            into: self.isolated.then(|| self.actors_view()).filter(|_| !self.unmerged.is_empty()),
            apart: self.state_files(),
            ..HookRun::default()
        };
        let hooked: Hooked = match self.cx.git(GitCall::Hooks(run)).await {
            Ok(hooked) => hooked,
            // Hooks that cannot be run have not let it pass.
            Err(failure) => {
                self.hooks = Some(compared(NAME, &[failure.message], ""));
                return Ok(work);
            }
        };
        if !hooked.ran {
            return Ok(work);
        }
        if !hooked.message.is_empty() {
            self.message = hooked.message;
        }
        let words = match hooked.changed.is_empty() {
            true => "they let it pass".to_owned(),
            false => format!("they let it pass, and changed {}", hooked.changed.join(", ")),
        };
        self.hooks = Some(compared(NAME, &[], &words));
        if hooked.changed.is_empty() {
            return Ok(work);
        }
        if self.isolated {
            self.survey_work().await?;
        }
        self.work(work.remarks, work.lines).await
    }
}
