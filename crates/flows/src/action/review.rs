//! What reviewers found: critical findings go back by themselves, and no finding is passed by.

use seriatim_core::action::Duty;
use seriatim_core::action::Stage;
use seriatim_core::action::facts::ActionFact;
use seriatim_core::action::gate::Gate;
use seriatim_core::action::gate::GateKind;
use seriatim_core::action::severity;
use seriatim_core::action::severity::MENDS_MAX;
use seriatim_core::action::severity::Verdict;
use seriatim_core::action::trouble::Scene;

use super::course::Course;
use super::course::Leave;
use super::stage::After;
use crate::Cx;

impl Course {
    /// Critical findings go to those who made the files, twice; then the next gate asks without an option to let them
    /// pass (OC-58).
    pub(super) async fn mend(&mut self, cx: &Cx, stage: u32) -> Result<(), Leave> {
        for _ in 0..MENDS_MAX {
            if !self.mend_once(cx, stage).await? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// One round of mending. False where nothing is critical, or nobody could mend it.
    pub(super) async fn mend_once(&mut self, cx: &Cx, stage: u32) -> Result<bool, Leave> {
        let Verdict::Blocked { critical } = severity::judge(&self.open_concerns()) else { return Ok(false) };
        let mut menders: Vec<Duty> = vec![];
        for concern in &critical {
            for duty in self.action.menders(&concern.file, stage) {
                if !menders.iter().any(|known| known.role == duty.role) {
                    menders.push(duty.clone());
                }
            }
        }
        if menders.is_empty() {
            return Ok(false);
        }
        let names: Vec<String> = menders.iter().map(Duty::title).collect();
        cx.record(&ActionFact::Blocked {
            text: severity::block_text(&critical, &names),
            findings: critical.clone(),
            roles: menders.iter().map(|duty| duty.role.clone()).collect(),
        });
        let at = cx.now().await;
        self.put_decision(cx, "security", "blocked", at, "engine", &severity::counted(&critical));
        self.work_on(cx, stage, &menders, Scene::Gate, &severity::feedback(&critical)).await?;
        let reviewers: Vec<Duty> = self.reviewers(stage);
        self.work_on(cx, stage, &reviewers, Scene::Gate, &[]).await?;
        Ok(true)
    }

    /// The reviewers up to a stage whose findings count.
    fn reviewers(&self, stage: u32) -> Vec<Duty> {
        let until = self.action.stages.iter().filter(|one| one.number <= stage);
        let mut found: Vec<Duty> = vec![];
        for duty in until.flat_map(|one| &one.duties).filter(|duty| duty.review) {
            if !found.iter().any(|known| known.role == duty.role) {
                found.push(duty.clone());
            }
        }
        found
    }

    /// Findings behind which no gate comes any more are decided upon all the same.
    pub(super) async fn unbound(&mut self, cx: &Cx, stage: u32) -> Result<After, Leave> {
        self.mend(cx, stage).await?;
        let open = self.open_concerns();
        let tracked = severity::tracked(&open);
        if !tracked.is_empty() {
            let lines: Vec<String> =
                tracked.iter().map(|concern| format!("{}: {concern}", concern.severity)).collect();
            cx.record(&ActionFact::TrackedFindings { findings: lines });
        }
        if !self.is_unsettled() {
            return Ok(After::Next);
        }
        let gate = Gate {
            kind: GateKind::Approval,
            name: "findings".to_owned(),
            command: vec![],
            limits: vec![],
            checklist: vec![],
        };
        let last = self.action.stages.iter().find(|one| one.number == stage).cloned();
        let last = last.unwrap_or(Stage { number: stage, ..Stage::default() });
        self.approve(cx, &last, &gate).await
    }
}
