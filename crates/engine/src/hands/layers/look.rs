//! Looking through a stack of layers as the kernel does.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::ffi::OsString;
use std::fs;
use std::fs::Metadata;
use std::io::ErrorKind;
use std::path::Component;
use std::path::Path;
use std::path::PathBuf;

use super::LayerError;
use super::LayerStack;
use super::access::Access;
use super::attributes::is_whiteout;
use super::attributes::marks;
use crate::hands::files::FileError;
use crate::hands::paths::encode_name;

/// A folder of the view: the folders of layers that it is made of. It has at least one.
#[derive(Clone, Debug)]
pub(super) struct Merged {
    /// Newest first.
    pub(super) uppers: Vec<PathBuf>,
    /// The real folder, if it is seen through the layers.
    pub(super) real: Option<PathBuf>,
}

/// What the view has under a name.
#[derive(Debug)]
pub(super) enum Seen {
    Nothing,
    /// A file, a link or a special file. `copied`: the oldest layer that has it copied it from the real folder.
    Entry {
        place: PathBuf,
        found: Metadata,
        copied: bool,
    },
    Folder(Merged),
}

impl LayerStack {
    /// Returns where the view's entry at a relative path lies, or `None` if the view has none. A link at the end is
    /// not followed; one on the way is an error. A place inside of a folder that the agent made unreadable is
    /// unreadable again when this returns.
    pub fn find(&self, path: impl AsRef<Path>) -> Result<Option<PathBuf>, LayerError> {
        let access = Access::default();
        Ok(match self.look(&access, path.as_ref())? {
            Seen::Nothing => None,
            Seen::Entry { place, .. } => Some(place),
            Seen::Folder(folder) => folder.place(),
        })
    }

    /// Returns the entries of a folder of the view, sorted by name, each with the place where it lies.
    pub fn list(&self, folder: impl AsRef<Path>) -> Result<Vec<(OsString, PathBuf)>, LayerError> {
        let (access, path) = (Access::default(), folder.as_ref());
        let merged = match self.look(&access, path)? {
            Seen::Folder(merged) => merged,
            Seen::Nothing => return Err(FileError::NotFound { path: path.to_owned() }.into()),
            Seen::Entry { .. } => return Err(FileError::NotDirectory { path: path.to_owned() }.into()),
        };
        let mut names = names_of(&merged.uppers)?;
        if let Some(real) = &merged.real {
            names.append(&mut names_of_real(real)?);
        }
        let mut listed = Vec::new();
        for name in names {
            let place = match merged.step(&access, &name)? {
                Seen::Nothing => None,
                Seen::Entry { place, .. } => Some(place),
                Seen::Folder(folder) => folder.place(),
            };
            listed.extend(place.map(|place| (name, place)));
        }
        Ok(listed)
    }

    pub(super) fn look(&self, access: &Access, path: &Path) -> Result<Seen, LayerError> {
        let mut seen = Seen::Folder(self.root());
        for part in path.components() {
            let name = match part {
                Component::Normal(name) => name,
                Component::CurDir => continue,
                _ => return Err(LayerError::BadPath { path: encode_name(path.as_os_str()) }),
            };
            seen = match seen {
                Seen::Folder(folder) => folder.step(access, name)?,
                Seen::Entry { place, found, .. } if found.is_symlink() => {
                    return Err(LayerError::Link { path: place });
                }
                Seen::Entry { .. } | Seen::Nothing => return Ok(Seen::Nothing),
            };
        }
        Ok(seen)
    }

    pub(super) fn root(&self) -> Merged {
        Merged { uppers: self.uppers.clone(), real: Some(self.lower.clone()) }
    }
}

impl Merged {
    /// Returns the folder whose mode the view shows.
    pub(super) fn place(&self) -> Option<PathBuf> {
        self.uppers.first().or(self.real.as_ref()).cloned()
    }

    /// Looks at one name. A whiteout hides everything below it; an entry that is no folder hides folders below it, and
    /// ends a folder that is merged from layers above it; an opaque folder is the last one of its kind.
    pub(super) fn step(&self, access: &Access, name: &OsStr) -> Result<Seen, LayerError> {
        let mut folders = Vec::new();
        let mut entry: Option<(PathBuf, Metadata, bool)> = None;
        let mut hidden = false;
        for upper in &self.uppers {
            let place = upper.join(name);
            let Some(found) = metadata(&place)? else { continue };
            if is_whiteout(&found) {
                hidden = true;
                break;
            }
            if found.is_dir() {
                if entry.is_some() {
                    hidden = true;
                    break;
                }
                access.open_folder(&place, &found)?;
                let opaque = marks(&place, &found)?.opaque;
                folders.push(place);
                if opaque {
                    hidden = true;
                    break;
                }
            } else if folders.is_empty() {
                let copied = marks(&place, &found)?.copied;
                match &mut entry {
                    // An older layer has it too: that one says whether it began as a copy of the real file.
                    Some(newest) => newest.2 = copied,
                    None => entry = Some((place, found, copied)),
                }
            } else {
                hidden = true;
                break;
            }
        }
        if let Some((place, found, copied)) = entry {
            return Ok(Seen::Entry { place, found, copied });
        }
        let below = self.real.as_ref().filter(|_| !hidden).map(|real| real.join(name));
        let below = match below {
            Some(place) => metadata(&place)?.filter(|found| !is_whiteout(found)).map(|found| (place, found)),
            None => None,
        };
        Ok(match below {
            Some((place, found)) if found.is_dir() => {
                Seen::Folder(Merged { uppers: folders, real: Some(place) })
            }
            Some((place, found)) if folders.is_empty() => Seen::Entry { place, found, copied: false },
            _ if folders.is_empty() => Seen::Nothing,
            _ => Seen::Folder(Merged { uppers: folders, real: None }),
        })
    }
}

/// Returns what is at a path, without following a link at its end.
pub(super) fn metadata(path: &Path) -> Result<Option<Metadata>, LayerError> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(LayerError::of(path, &error)),
    }
}

/// Returns all names in the folders.
pub(super) fn names_of(folders: &[PathBuf]) -> Result<BTreeSet<OsString>, LayerError> {
    let mut names = BTreeSet::new();
    for folder in folders {
        let of = |error| LayerError::of(folder, &error);
        for entry in fs::read_dir(folder).map_err(of)? {
            names.insert(entry.map_err(of)?.file_name());
        }
    }
    Ok(names)
}

/// Returns the names in a real folder; none if it was removed meanwhile, which people may do at any time.
pub(super) fn names_of_real(folder: &Path) -> Result<BTreeSet<OsString>, LayerError> {
    match names_of(&[folder.to_owned()]) {
        Err(LayerError::File(error)) if error.is_absence() => Ok(BTreeSet::new()),
        names => names,
    }
}
