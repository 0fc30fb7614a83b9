//! The plan of a merge: which system calls in which order, so that each can be done again or undone.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::path::PathBuf;

use rustix::process::geteuid;
use serde::Deserialize;
use serde::Serialize;
use seriatim_core::hash::Hash;

use super::super::HomeStep;
use super::super::LayerError;
use super::super::LayerStack;
use super::super::access::Access;
use super::super::inside;
use super::super::look::Seen;
use super::super::look::metadata;
use super::super::node::MERGED_BITS;
use super::super::node::Node;
use super::super::node::same;
use super::root::Root;
use crate::hands::files::MERGE_PREFIX;
use crate::hands::paths::encode_name;

pub(super) const VERSION: u32 = 1;
/// The mode of a parent that neither the view nor the real folder has.
const PARENT_MODE: u32 = 0o755;
/// What an owner needs to change entries of a folder: the mode of new folders until the end.
pub(super) const MADE_MODE: u32 = 0o700;

/// Everything that one merge does, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Plan {
    pub(super) version: u32,
    /// Names this merge in the names of its temporary files.
    pub(super) token: String,
    pub(super) deeds: Vec<Deed>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Deed {
    /// In the form of [`encode_name`].
    pub(super) path: String,
    /// The folder of the temporary file: the nearest one that is there before, during and after the merge.
    pub(super) anchor: String,
    pub(super) work: Work,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Work {
    /// Makes a folder writable to its owner while the merge works in it.
    Loosen {
        from: u32,
        to: u32,
    },
    /// Gives a folder its mode, when everything else is done. `made`: the folder was made by this merge, so a mode that others gave it is no conflict.
    Mode {
        from: u32,
        to: u32,
        made: bool,
    },
    RemoveFile {
        before: Node,
        after: Option<Node>,
    },
    /// `mode` is the one that it has at that moment. `emptied`: another entry takes its place, so it must be empty.
    RemoveFolder {
        mode: u32,
        emptied: bool,
    },
    /// With the mode [`MADE_MODE`] until the end.
    MakeFolder {
        mode: u32,
    },
    Put {
        before: Option<Node>,
        after: Node,
        source: Option<String>,
    },
}

impl Plan {
    /// Returns the plan of a merge that has nothing to do.
    pub(super) fn nothing(token: &str) -> Plan {
        Plan { version: VERSION, token: token.to_owned(), deeds: Vec::new() }
    }

    pub(super) fn temporary(&self, index: usize, deed: &Deed) -> Result<PathBuf, LayerError> {
        let name = OsString::from(format!("{MERGE_PREFIX}{}-{index}", self.token));
        Ok(deed.anchor_path()?.join(name))
    }
}

impl Deed {
    pub(super) fn place(&self) -> Result<PathBuf, LayerError> {
        inside(&self.path)
    }

    pub(super) fn anchor_path(&self) -> Result<PathBuf, LayerError> {
        if self.anchor.is_empty() { Ok(PathBuf::new()) } else { inside(&self.anchor) }
    }

    /// Returns whether the deed has a file beside the one that it changes.
    pub(super) fn has_temporary(&self) -> bool {
        matches!(self.work, Work::RemoveFile { .. } | Work::Put { .. })
    }
}

/// Returns the name of a merge, the same for the same steps and the same folder for displaced files.
pub(super) fn token(wanted: &[HomeStep], kept: &Path) -> Result<String, LayerError> {
    let text = serde_json::to_vec(wanted)
        .map_err(|error| LayerError::BadPlan { path: kept.to_owned(), reason: error.to_string() })?;
    Ok(Hash::of_parts(&[&text, kept.as_os_str().as_encoded_bytes()]).short())
}

/// The steps that are still to be done.
type Todo<'s> = BTreeMap<PathBuf, &'s HomeStep>;

/// A plan, or the paths that are neither as before nor as wanted.
pub(super) struct Planned {
    pub(super) plan: Plan,
    pub(super) conflicts: Vec<String>,
}

pub(super) fn plan(
    stack: &LayerStack,
    root: &Root,
    wanted: &[HomeStep],
    token: String,
) -> Result<Planned, LayerError> {
    let (todo, mut conflicts) = open_steps(root, wanted)?;
    let mut planner = Planner { root, todo: &todo, folders: BTreeMap::new(), modes: BTreeMap::new() };
    let implied = planner.implied_folders(stack, &mut conflicts)?;
    let mut deeds = planner.removals()?;
    deeds.append(&mut planner.folders(&implied)?);
    deeds.append(&mut planner.contents()?);
    let mut all = planner.loosened(&mut deeds)?;
    all.append(&mut deeds);
    // Children first: a folder that is closed cannot be walked through.
    for (path, FinalMode { from, to, made }) in planner.modes.into_iter().rev() {
        all.push(deed(&path, Path::new(""), Work::Mode { from, to, made }));
    }
    conflicts.sort();
    conflicts.dedup();
    Ok(Planned { plan: Plan { version: VERSION, token, deeds: all }, conflicts })
}

/// Sorts the steps into those to be done and those that conflict. A step whose result is there already is neither.
fn open_steps<'s>(root: &Root, wanted: &'s [HomeStep]) -> Result<(Todo<'s>, Vec<String>), LayerError> {
    let (mut todo, mut conflicts) = (Todo::new(), Vec::new());
    for step in wanted {
        let path = inside(&step.path)?;
        let now = root.node(&path)?;
        let wants_folder = step.before.is_none() && step.after.as_ref().is_some_and(Node::is_folder);
        // A new folder that others made as well is theirs, with their mode.
        let made = wants_folder && now.as_ref().is_some_and(Node::is_folder);
        if made || same(now.as_ref(), step.after.as_ref()) {
            continue;
        }
        if same(now.as_ref(), step.before.as_ref()) {
            todo.insert(path, step);
        } else {
            conflicts.push(step.path.clone());
        }
    }
    Ok((todo, conflicts))
}

fn deed(path: &Path, anchor: &Path, work: Work) -> Deed {
    Deed { path: encode_name(path.as_os_str()), anchor: encode_name(anchor.as_os_str()), work }
}

/// The mode that a folder has during the merge and the one that it gets.
struct FinalMode {
    from: u32,
    to: u32,
    made: bool,
}

/// Notes that a folder has another mode by the time it is removed, so that undoing gives it that one.
fn reopen(deeds: &mut [Deed], path: &Path, open: u32) {
    let path = encode_name(path.as_os_str());
    for deed in deeds.iter_mut().filter(|deed| deed.path == path) {
        if let Work::RemoveFolder { mode, .. } = &mut deed.work {
            *mode = open;
        }
    }
}

struct Planner<'p> {
    root: &'p Root,
    todo: &'p Todo<'p>,
    /// The mode of real folders; `None` where no folder is.
    folders: BTreeMap<PathBuf, Option<u32>>,
    /// Modes to be set at the end.
    modes: BTreeMap<PathBuf, FinalMode>,
}

impl Planner<'_> {
    /// Returns the mode of the real folder at a path, if there is one.
    fn real_mode(&mut self, path: &Path) -> Result<Option<u32>, LayerError> {
        if let Some(known) = self.folders.get(path) {
            return Ok(*known);
        }
        let mode = match self.root.node(path)? {
            Some(Node::Folder { mode }) => Some(mode & MERGED_BITS),
            _ => None,
        };
        self.folders.insert(path.to_owned(), mode);
        Ok(mode)
    }

    /// Returns the parents that no step makes and that are missing, with the modes that the view shows.
    fn implied_folders(
        &mut self,
        stack: &LayerStack,
        conflicts: &mut Vec<String>,
    ) -> Result<BTreeMap<PathBuf, u32>, LayerError> {
        let (access, mut implied) = (Access::default(), BTreeMap::new());
        for (path, step) in self.todo.iter().filter(|(_, step)| step.after.is_some()) {
            for above in path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()) {
                let planned = self.todo.get(above).map(|step| step.after.as_ref());
                match planned {
                    Some(Some(Node::Folder { .. })) => continue,
                    Some(_) => {
                        conflicts.push(step.path.clone());
                        break;
                    }
                    None => {}
                }
                if self.real_mode(above)?.is_some() || implied.contains_key(above) {
                    continue;
                }
                if self.root.node(above)?.is_some() {
                    conflicts.push(step.path.clone());
                    break;
                }
                let place = match stack.look(&access, above)? {
                    Seen::Folder(folder) => folder.place(),
                    Seen::Nothing | Seen::Entry { .. } => None,
                };
                let mode = match place {
                    Some(place) => metadata(&place)?.map(|found| {
                        access.mode(&place, std::os::unix::fs::MetadataExt::mode(&found)) & MERGED_BITS
                    }),
                    None => None,
                };
                implied.insert(above.to_owned(), mode.unwrap_or(PARENT_MODE));
            }
        }
        Ok(implied)
    }

    /// Returns the nearest folder above a path that is there now and stays.
    fn anchor(&mut self, path: &Path) -> Result<PathBuf, LayerError> {
        for above in path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()) {
            let stays =
                self.todo.get(above).is_none_or(|step| step.after.as_ref().is_some_and(Node::is_folder));
            if stays && self.real_mode(above)?.is_some() {
                return Ok(above.to_owned());
            }
        }
        Ok(PathBuf::new())
    }

    /// Returns the removals, children before their folders.
    fn removals(&mut self) -> Result<Vec<Deed>, LayerError> {
        let mut deeds = Vec::new();
        for (path, step) in self.todo.iter().rev() {
            let folder_stays = step.after.as_ref().is_some_and(Node::is_folder);
            let work = match &step.before {
                Some(Node::Folder { .. }) if folder_stays => continue,
                Some(Node::Folder { mode }) => {
                    Work::RemoveFolder { mode: mode & MERGED_BITS, emptied: step.after.is_some() }
                }
                Some(before) if step.after.is_none() || folder_stays => {
                    Work::RemoveFile { before: before.clone(), after: step.after.clone() }
                }
                Some(_) | None => continue,
            };
            deeds.push(deed(path, &self.anchor(path)?, work));
        }
        Ok(deeds)
    }

    /// Returns the folders to be made, parents first, and remembers the modes that are set at the end.
    fn folders(&mut self, implied: &BTreeMap<PathBuf, u32>) -> Result<Vec<Deed>, LayerError> {
        let mut wanted = implied.clone();
        for (path, step) in self.todo {
            let Some(Node::Folder { mode }) = &step.after else { continue };
            let mode = mode & MERGED_BITS;
            match &step.before {
                Some(Node::Folder { mode: before }) => {
                    let from = before & MERGED_BITS;
                    self.modes.insert(path.clone(), FinalMode { from, to: mode, made: false });
                }
                _ => {
                    wanted.insert(path.clone(), mode);
                }
            }
        }
        let mut deeds = Vec::new();
        for (path, mode) in wanted {
            deeds.push(deed(&path, Path::new(""), Work::MakeFolder { mode }));
            if mode != MADE_MODE {
                self.modes.insert(path, FinalMode { from: MADE_MODE, to: mode, made: true });
            }
        }
        Ok(deeds)
    }

    /// Returns the files and links to be put in place.
    fn contents(&mut self) -> Result<Vec<Deed>, LayerError> {
        let mut deeds = Vec::new();
        for (path, step) in self.todo {
            let Some(after) = step.after.as_ref().filter(|after| !after.is_folder()) else { continue };
            // A folder in its place was removed by a deed of its own.
            let before = step.before.clone().filter(|before| !before.is_folder());
            let work = Work::Put { before, after: after.clone(), source: step.source.clone() };
            deeds.push(deed(path, &self.anchor(path)?, work));
        }
        Ok(deeds)
    }

    /// Returns the deeds that make folders writable in which something is to be changed, parents first. At the end the
    /// folders that stay get their modes.
    fn loosened(&mut self, deeds: &mut [Deed]) -> Result<Vec<Deed>, LayerError> {
        if geteuid().is_root() {
            return Ok(Vec::new());
        }
        let mut touched = BTreeSet::new();
        for deed in deeds.iter() {
            touched.insert(deed.anchor_path()?);
            touched.extend(deed.place()?.parent().map(Path::to_owned));
        }
        let mut loosened = Vec::new();
        for path in touched.into_iter().filter(|path| !path.as_os_str().is_empty()) {
            let Some(mode) = self.real_mode(&path)?.filter(|mode| mode & 0o300 != 0o300) else { continue };
            let open = mode | MADE_MODE;
            loosened.push(deed(&path, Path::new(""), Work::Loosen { from: mode, to: open }));
            if let Some(known) = self.modes.get_mut(&path) {
                known.from = open;
            } else if !self.is_removed(&path) {
                self.modes.insert(path, FinalMode { from: open, to: mode, made: false });
            } else {
                reopen(deeds, &path, open);
            }
        }
        Ok(loosened)
    }

    fn is_removed(&self, path: &Path) -> bool {
        self.todo.get(path).is_some_and(|step| !step.after.as_ref().is_some_and(Node::is_folder))
    }
}
