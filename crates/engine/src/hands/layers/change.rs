//! Reading the change: everything in which the view differs from the real folder.

use std::fs;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::path::PathBuf;

use rustix::fs::CWD;

use super::LayerChange;
use super::LayerError;
use super::LayerStack;
use super::access::Access;
use super::look::Merged;
use super::look::Seen;
use super::look::metadata;
use super::look::names_of;
use super::look::names_of_real;
use super::node::Node;
use super::node::read_node;
use crate::hands::files::FileError;
use crate::hands::paths::encode_name;

/// The result of one walk over the layers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LayerSurvey {
    /// Sorted by path.
    pub changes: Vec<LayerChange>,
    /// Files that a layer holds and that are equal to the real ones, sorted by path: written and put back, or copied up
    /// without a change.
    pub reverted: Vec<LayerChange>,
}

impl LayerStack {
    /// Returns everything in which the view differs from the real folder, sorted by path. Paths for which `apart`
    /// returns true are skipped with all that is below them. Copied-up files that are equal are no change. A folder
    /// is one if it was added, removed or has another mode; a removed one is listed with every entry that it had.
    pub fn change(&self, apart: &dyn Fn(&Path) -> bool) -> Result<Vec<LayerChange>, LayerError> {
        Ok(self.survey(apart)?.changes)
    }

    /// Returns the change as [`LayerStack::change`] does, and the files that were put back.
    pub fn survey(&self, apart: &dyn Fn(&Path) -> bool) -> Result<LayerSurvey, LayerError> {
        let began = fs::symlink_metadata(&self.began).map_err(|error| LayerError::of(&self.began, &error))?;
        // Without the real folder everything would look like an addition.
        if !metadata(&self.lower)?.is_some_and(|found| found.is_dir()) {
            return Err(FileError::NotDirectory { path: self.lower.clone() }.into());
        }
        let mut walk = Walk {
            access: Access::default(),
            apart,
            began: changed_at(&began),
            survey: LayerSurvey::default(),
        };
        let real = Real { folder: Some(self.lower.clone()), nearest: self.lower.clone() };
        walk.folder(Path::new(""), &self.root(), &real)?;
        let mut survey = walk.survey;
        survey.changes.sort_by(|one, other| one.path.cmp(&other.path));
        survey.reverted.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(survey)
    }
}

/// Returns when a node was last changed, by the clock of its file system.
pub(super) fn changed_at(found: &Metadata) -> (i64, i64) {
    (found.ctime(), found.ctime_nsec())
}

/// The real folder beside a folder of the view, seen through the layers or not.
struct Real {
    folder: Option<PathBuf>,
    /// The folder itself, or the deepest one above it that exists.
    nearest: PathBuf,
}

struct Walk<'w> {
    access: Access,
    apart: &'w dyn Fn(&Path) -> bool,
    began: (i64, i64),
    survey: LayerSurvey,
}

impl Walk<'_> {
    fn folder(&mut self, path: &Path, merged: &Merged, real: &Real) -> Result<(), LayerError> {
        let mut names = names_of(&merged.uppers)?;
        if let (Some(folder), None) = (&real.folder, &merged.real) {
            // The view does not show the real folder at this place, so all that it has is removed or replaced.
            names.append(&mut names_of_real(folder)?);
        }
        for name in names {
            let path = path.join(&name);
            if (self.apart)(&path) {
                continue;
            }
            let seen = merged.step(&self.access, &name)?;
            let place = real.folder.as_ref().map(|folder| folder.join(&name));
            let found = match &place {
                Some(place) => metadata(place)?,
                None => None,
            };
            let real_entry = place.zip(found);
            let nearest = match &real_entry {
                Some((place, found)) if found.is_dir() => Some(place.clone()),
                _ => None,
            };
            self.entry(&path, &seen, real_entry.as_ref(), real)?;
            if let Seen::Folder(merged) = &seen {
                let nearest_or_above = nearest.clone().unwrap_or_else(|| real.nearest.clone());
                self.folder(&path, merged, &Real { folder: nearest, nearest: nearest_or_above })?;
            } else if let Some(folder) = nearest {
                self.removed(&path, &folder)?;
            }
        }
        Ok(())
    }

    /// Compares one entry of the view with the real one.
    fn entry(
        &mut self,
        path: &Path,
        seen: &Seen,
        real_entry: Option<&(PathBuf, Metadata)>,
        real: &Real,
    ) -> Result<(), LayerError> {
        let before = match real_entry {
            Some((place, _)) => read_node(CWD, place, place)?,
            None => None,
        };
        let (source, copied) = match seen {
            Seen::Nothing => (None, false),
            Seen::Entry { place, found, copied } => {
                if found.is_file() && real_entry.is_none_or(|(real, _)| real != place) {
                    self.access.open_file(place, found)?;
                }
                (Some(place.clone()), *copied)
            }
            Seen::Folder(folder) => (folder.place(), false),
        };
        let after = match &source {
            Some(place) => self.view_node(place)?,
            None => None,
        };
        let lost = before.is_none() && copied && is_late(&real.nearest, self.began)?;
        let meanwhile = lost || real_entry.is_some_and(|(_, found)| changed_at(found) >= self.began);
        let is_reverted = before == after && matches!(after, Some(Node::File { .. }));
        let change = LayerChange { path: encode_name(path.as_os_str()), before, after, meanwhile, source };
        if is_reverted {
            self.survey.reverted.push(change);
        } else if change.before != change.after {
            self.survey.changes.push(change);
        }
        Ok(())
    }

    fn view_node(&self, place: &Path) -> Result<Option<Node>, LayerError> {
        let Some(node) = read_node(CWD, place, place)? else { return Ok(None) };
        let mode = match node {
            Node::File { mode, .. } | Node::Folder { mode } => self.access.mode(place, mode),
            Node::Link { .. } | Node::Special => return Ok(Some(node)),
        };
        Ok(Some(node.with_mode(mode)))
    }

    /// Lists everything below a real folder as removed.
    fn removed(&mut self, path: &Path, folder: &Path) -> Result<(), LayerError> {
        for name in names_of_real(folder)? {
            let (path, place) = (path.join(&name), folder.join(&name));
            if (self.apart)(&path) {
                continue;
            }
            let Some(found) = metadata(&place)? else { continue };
            let before = read_node(CWD, &place, &place)?;
            if before.is_none() {
                continue;
            }
            self.survey.changes.push(LayerChange {
                path: encode_name(path.as_os_str()),
                before,
                after: None,
                meanwhile: changed_at(&found) >= self.began,
                source: None,
            });
            if found.is_dir() {
                self.removed(&path, &place)?;
            }
        }
        Ok(())
    }
}

fn is_late(place: &Path, began: (i64, i64)) -> Result<bool, LayerError> {
    Ok(metadata(place)?.is_none_or(|found| changed_at(&found) >= began))
}
