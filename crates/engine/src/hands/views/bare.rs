//! No views: processes work in the workspace itself.

use std::path::Path;
use std::path::PathBuf;

use seriatim_core::world::Isolation;
use seriatim_core::world::Overlap;
use seriatim_core::world::ViewMerged;

use super::Guest;
use super::Ignores;
use super::Knowledge;
use super::RunLayers;
use super::Seen;
use super::ViewDifference;
use super::ViewError;
use super::ViewOf;
use super::ViewPlace;
use super::ViewSize;
use super::Views;
use crate::hands::git::TreeEdit;
use crate::hands::inside::AnswerInside;
use crate::hands::inside::Listening;
use crate::hands::process::Spawn;

/// Lets every process work where it is started. For the simulation, and for what is none of a run's attempts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bare;

impl Views for Bare {
    fn isolation(
        &self,
        _wanted: Option<Isolation>,
        _place: &Path,
        _share: &[PathBuf],
    ) -> Result<Isolation, ViewError> {
        Ok(Isolation::None)
    }

    fn enter(
        &self,
        _of: ViewOf<'_>,
        _guest: &Guest,
        _spawn: &mut Spawn,
        _ignores: Ignores<'_>,
    ) -> Result<(), ViewError> {
        Ok(())
    }

    fn shown_at(&self, _place: &Path, _isolation: Isolation) -> Option<PathBuf> {
        None
    }

    fn covering(&self, _of: ViewOf<'_>) -> Result<Option<PathBuf>, ViewError> {
        Ok(None)
    }

    fn edits(
        &self,
        _of: ViewOf<'_>,
        _paths: &[String],
        _ignores: Ignores<'_>,
    ) -> Result<Vec<TreeEdit>, ViewError> {
        Ok(vec![])
    }

    fn adopt(
        &self,
        _of: ViewOf<'_>,
        _from: ViewOf<'_>,
        _paths: &[String],
        _ignores: Ignores<'_>,
    ) -> Result<(), ViewError> {
        Ok(())
    }

    fn keep(&self, _of: ViewOf<'_>, _paths: &[String], _ignores: Ignores<'_>) -> Result<(), ViewError> {
        Ok(())
    }

    fn save(&self, _of: ViewOf<'_>, _ignores: Ignores<'_>) -> Result<(), ViewError> {
        Ok(())
    }

    fn reset(&self, _of: ViewOf<'_>, _ignores: Ignores<'_>) -> Result<(), ViewError> {
        Ok(())
    }

    fn written(&self, _of: ViewOf<'_>, _path: &str) -> Result<Option<PathBuf>, ViewError> {
        Ok(None)
    }

    fn listen(&self, _spawn: &mut Spawn, _answer: AnswerInside) -> Result<Option<Listening>, ViewError> {
        Ok(None)
    }

    fn change(&self, _of: ViewOf<'_>, _ignores: Ignores<'_>) -> Result<Seen, ViewError> {
        Ok(Seen { isolation: Isolation::None, files: vec![], effects: vec![] })
    }

    fn differences(&self, _of: ViewOf<'_>, _ignores: Ignores<'_>) -> Result<Vec<ViewDifference>, ViewError> {
        Ok(vec![])
    }

    fn merge(
        &self,
        _of: ViewOf<'_>,
        _key: &str,
        _paths: &[String],
        _overlap: Overlap,
        _knowledge: &Knowledge<'_>,
    ) -> Result<ViewMerged, ViewError> {
        Ok(ViewMerged::default())
    }

    fn drop_view(&self, _of: ViewOf<'_>) -> Result<(), ViewError> {
        Ok(())
    }

    fn list(&self, _run: &str) -> Result<Vec<ViewPlace>, ViewError> {
        Ok(vec![])
    }

    fn size(&self, _of: ViewOf<'_>, _ignores: Ignores<'_>) -> Result<ViewSize, ViewError> {
        Ok(ViewSize::default())
    }

    fn runs(&self) -> Result<Vec<RunLayers>, ViewError> {
        Ok(vec![])
    }

    fn drop_run(&self, _run: &str) -> Result<(), ViewError> {
        Ok(())
    }
}
