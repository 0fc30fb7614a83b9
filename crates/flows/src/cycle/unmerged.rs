//! The Actor's work before the approval: it stays in a view, where it is measured, checked and judged.

use seriatim_core::cycle::block::Role;
use seriatim_core::failure::Failure;
use seriatim_core::world::Isolation;
use seriatim_core::world::ViewFile;

use super::course::Course;
use crate::request::Difference;
use crate::request::GitCall;
use crate::request::Unmerged;
use crate::request::WorldCall;
use crate::views;
use crate::views::Rules;

impl Course<'_> {
    /// The view of the Actor, in which all work of the cycle gathers until it is approved.
    pub(super) fn actors_view(&self) -> String {
        Role::Actor.word().to_lowercase()
    }

    /// Whether a file of the view may become part of the work: everything but the files of the cycle itself.
    fn is_work(file: &ViewFile, state_files: &[String]) -> bool {
        let is_state =
            |entry: &String| file.path == *entry || (entry.ends_with('/') && file.path.starts_with(entry));
        !state_files.iter().any(is_state)
    }

    /// Looks at what the Actor has changed so far.
    pub(super) async fn survey_work(&mut self) -> Result<(), Failure> {
        let (view, state) = (self.actors_view(), self.state_files());
        let takes = |file: &ViewFile| Course::is_work(file, &state);
        let rules = Rules { takes: &takes, names: &|path| self.planned.contains(path) };
        let left = views::survey(self.cx, &view, &view, &rules).await?;
        self.isolated |= left.isolation != Isolation::None;
        self.unmerged = left.merged.into_iter().map(|file| file.path).collect();
        Ok(())
    }

    /// The work that checks and the other roles see as if it were merged.
    pub(super) fn seen_work(&self) -> Option<Unmerged> {
        let is_any = self.isolated && !self.unmerged.is_empty();
        is_any.then(|| Unmerged { view: self.actors_view(), paths: self.unmerged.clone() })
    }

    /// The files of the work, merged or not; nothing where it cannot be told from other changes.
    pub(super) fn files_of_work(&self) -> Option<Vec<String>> {
        self.isolated.then(|| self.merged.iter().chain(&self.unmerged).cloned().collect())
    }

    /// The tree that the workspace was at the beginning with all work of the cycle in it, and nothing else.
    pub(super) async fn tree_of_work(&self) -> Result<String, Failure> {
        let call = GitCall::ViewTree {
            view: self.actors_view(),
            base: self.base.clone().unwrap_or_default(),
            paths: self.unmerged.clone(),
            merged: self.merged.iter().cloned().collect(),
        };
        self.cx.git(call).await
    }

    /// What differs between a tree and the work as it is.
    pub(super) async fn difference(
        &self,
        from: &str,
        apart: Vec<String>,
        limit_bytes: u64,
    ) -> Result<Difference, Failure> {
        if !self.isolated {
            return self.cx.changes(from, apart, limit_bytes).await;
        }
        let (from, to) = (from.to_owned(), self.tree_of_work().await?);
        self.cx.git(GitCall::Compare { from, to, apart, limit_bytes }).await
    }

    /// Remembers the work of before, so that an attempt beyond the limits can be taken back.
    pub(super) async fn save_work(&self) {
        // Without a view there is nothing to remember here; a snapshot of the workspace serves then.
        let _: Result<(), _> = self.cx.world(WorldCall::Save { view: self.actors_view() }).await;
    }

    /// Takes the last attempt back.
    pub(super) async fn reset_work(&mut self) -> Result<(), Failure> {
        self.cx.world::<()>(WorldCall::Reset { view: self.actors_view() }).await?;
        self.survey_work().await
    }

    /// Merges the approved work into the workspace. Returns whether it is there as it was approved: where a person had to
    /// decide about files that were changed on both sides, it has to be judged again.
    pub(super) async fn merge_work(&mut self) -> Result<bool, Failure> {
        if !self.isolated || self.unmerged.is_empty() {
            return Ok(true);
        }
        let view = self.actors_view();
        let paths = self.unmerged.clone();
        // What was approved is what the survey found, by the same rules.
        let is_approved = |path: &str| paths.iter().any(|approved| approved == path);
        let rules = Rules { takes: &|file: &ViewFile| is_approved(&file.path), names: &is_approved };
        let left = views::merge(self.cx, &view, &view, "", &rules).await?;
        self.merged.extend(left.merged.into_iter().map(|file| file.path));
        self.unmerged.clear();
        Ok(!left.overlapped)
    }
}
