//! Going back: what would change is shown, a person confirms it, and it is on record.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use serde_json::Value;
use serde_json::json;
use seriatim_core::action::evidence::Change;
use seriatim_core::action::facts::ActionFact;
use seriatim_core::action::facts::ErrorAt;
use seriatim_core::action::paths;
use seriatim_core::action::snapshot;
use seriatim_core::action::snapshot::AfterDamage;
use seriatim_core::action::snapshot::Confirmed;
use seriatim_core::action::snapshot::RolledBack;
use seriatim_core::reading::Reading;
use seriatim_core::seal::Seal;
use seriatim_core::seal::Sealed;

use super::course::Course;
use super::course::Leave;
use super::documents::understand_restores;
use super::documents::understand_sealed;
use super::ended;
use super::open::not_started;
use crate::Cx;
use crate::registry::End;
use crate::registry::Ended;
use crate::request::Expect;
use crate::request::SceneCall;
use crate::request::SealOf;
use crate::request::WriteFile;

/// Where restorations are told, those by people included.
pub(super) const RESTORES: &str = ".snapshots/restores.jsonl";
/// How the files of the last action were left.
pub(super) const SEALED: &str = ".snapshots/sealed.json";

impl Course {
    /// Brings the files back as they were before the action, if a person confirms exactly that (OC-67). Nothing where
    /// they do not.
    pub(super) async fn roll_back(&mut self, cx: &Cx, by: &str) -> Option<Leave> {
        let id = self.snapshot.clone()?;
        let comparison = match cx.compare(&id).await {
            Ok(comparison) => comparison,
            Err(failure) => {
                cx.record(&ActionFact::Error { at: ErrorAt::Rollback, text: failure.message });
                return None;
            }
        };
        // Folders come and go with the files in them, those of the evidence included.
        let holds = |path: &str, file: &str| {
            file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let ours = |path: &&String| {
            self.written.keys().any(|file| holds(path, file)) || holds(path, paths::EVIDENCE)
        };
        let foreign: Vec<String> = comparison.paths.iter().filter(|path| !ours(path)).cloned().collect();
        let mut question = snapshot::confirm_question(&id, &comparison.words, &foreign, comparison.digest);
        let listed = comparison.paths.iter().map(|path| format!("- {path}")).collect::<Vec<_>>().join("\n");
        question.details = format!("{}\n{listed}", comparison.words);
        let (choice, answer) = self.choose(cx, "Rollback", question).await;
        match choice {
            Confirmed::Restore => {}
            Confirmed::Cancel => return None,
        }
        let undo = match cx.restore_labelled(&id).await {
            Ok(undo) => undo,
            Err(failure) => {
                cx.record(&ActionFact::Error { at: ErrorAt::Rollback, text: failure.message });
                return None;
            }
        };
        let at = cx.now().await;
        let done = RolledBack {
            snapshot: id.clone(),
            undo: undo.clone(),
            words: comparison.words.clone(),
            by: answer.by.clone(),
            at,
        };
        cx.record(&ActionFact::RolledBack { event: done });
        let line = json!({
            "snapshot": id, "undo": undo, "by": by, "at": at.to_string(), "words": comparison.words, "run": self.id,
        });
        let file = WriteFile {
            path: RESTORES.to_owned(),
            text: format!("{line}\n"),
            expect: Expect::Any,
            append: true,
            durable: true,
        };
        self.keep(cx, file).await;
        self.looked_at = cx.now().await;
        self.written.clear();
        let words = people_words(&comparison.words);
        Some(Leave::RolledBack { by: answer.by, words, undo })
    }

    /// Whether somebody restored a snapshot from outside since the last look: then the stages are void.
    pub(super) async fn restored_meanwhile(&mut self, cx: &Cx) -> bool {
        let since = std::mem::replace(&mut self.looked_at, cx.now().await);
        match understand_restores(cx.reading(RESTORES).await.map(|text| text.text)) {
            Reading::Absent => false,
            Reading::Read(times) => times.into_iter().any(|at| at > since),
            // Nobody can say that nothing was restored, so that the stages count as void until the file is fixed.
            Reading::Broken(broken) => {
                let why = format!("{}. To fix it: {}.", broken.headline(), broken.remedy());
                cx.record(&ActionFact::Error { at: ErrorAt::Records, text: why.clone() });
                self.notes.push(format!("The approval does not count yet: {why}"));
                true
            }
        }
    }

    /// Keeps in mind how the files were left, so that damage can be told from work.
    pub(super) async fn seal(&mut self, cx: &Cx) {
        let paths: Vec<String> = self.written.keys().cloned().collect();
        let seals: Vec<Option<SealOf>> =
            cx.scene(SceneCall::Seals { paths: paths.clone() }).await.unwrap_or_default();
        let files: BTreeMap<String, Seal> = paths
            .into_iter()
            .zip(seals)
            .filter_map(|(path, seal)| seal.map(|seal| (path, Seal { hash: seal.hash, mode: seal.mode })))
            .collect();
        let gone = self.written.iter().filter(|(_, (change, _))| *change == Change::Deleted);
        let deleted: BTreeSet<String> = gone.map(|(path, _)| path.clone()).collect();
        let sealed = Sealed {
            action: self.action.name.clone(),
            run: self.id.clone(),
            at: cx.now().await,
            snapshot: self.snapshot.clone().unwrap_or_default(),
            files,
            deleted,
        };
        let files = u32::try_from(sealed.files.len()).unwrap_or(u32::MAX);
        match serde_json::to_string_pretty(&sealed) {
            Ok(text) => {
                let path = SEALED.to_owned();
                let file = WriteFile { path, text, expect: Expect::Any, append: false, durable: true };
                if self.keep(cx, file).await {
                    cx.record(&ActionFact::ArtifactsSealed { files });
                }
            }
            Err(error) => cx.record(&ActionFact::Error { at: ErrorAt::Records, text: error.to_string() }),
        }
    }

    /// Writes a state file of the dialect. Returns false, with the reason on record, where that fails.
    pub(super) async fn keep(&self, cx: &Cx, file: WriteFile) -> bool {
        match cx.write(file).await {
            Ok(_) => true,
            Err(failure) => {
                cx.record(&ActionFact::Error { at: ErrorAt::Records, text: failure.message });
                false
            }
        }
    }

    /// Artifacts that were changed outside of any run are found before an action starts.
    pub(super) async fn look_for_damage(&mut self, cx: &Cx) -> Result<(), Ended> {
        let reading = understand_sealed(cx.reading(SEALED).await.map(|text| text.text));
        let sealed = reading.optional().map_err(|broken| not_started(&self.action.name, &[broken]))?;
        let Some(sealed) = sealed else { return Ok(()) };
        let paths: Vec<String> = sealed.files.keys().chain(&sealed.deleted).cloned().collect();
        let seals: Vec<Option<SealOf>> =
            cx.scene(SceneCall::Seals { paths: paths.clone() }).await.unwrap_or_default();
        let now: BTreeMap<String, Seal> = paths
            .into_iter()
            .zip(seals)
            .filter_map(|(path, seal)| seal.map(|seal| (path, Seal { hash: seal.hash, mode: seal.mode })))
            .collect();
        let damage = sealed.damage(&now);
        if damage.is_empty() {
            return Ok(());
        }
        let question = sealed.question(&damage);
        let (choice, answer) = self.choose(cx, "Changed artifacts", question).await;
        match choice {
            AfterDamage::Keep => {
                let listed: Vec<String> = damage.iter().map(ToString::to_string).collect();
                self.notes.push(format!(
                    "{} kept files that changed outside of a run: {}",
                    answer.by,
                    listed.join(", ")
                ));
                Ok(())
            }
            AfterDamage::Rollback => {
                self.snapshot = Some(sealed.snapshot.clone());
                let message = match self.roll_back(cx, &answer.by).await {
                    Some(Leave::RolledBack { words, undo, .. }) => format!(
                        "The files are as they were before the action {}: {words} Undo with:  seriatim snapshot restore \
                         {undo}",
                        sealed.action
                    ),
                    Some(Leave::Cancelled { .. } | Leave::Broken { .. }) | None => {
                        "Nothing was changed, and no action was started.".to_owned()
                    }
                };
                Err(ended(End::Cancelled, false, &message, Value::Null))
            }
            AfterDamage::Cancel => Err(ended(End::Cancelled, false, "No action was started.", Value::Null)),
        }
    }
}

fn people_words(words: &str) -> String {
    let first = words.lines().next().unwrap_or_default().trim().trim_end_matches('.');
    format!("{first}.")
}
