//! Layers of a copy-on-write view as plain folders: what an upper layer means, and how its change is merged.
//!
//! An agent works in an overlay view; its writes land in an upper layer. Everything here is done while nothing is
//! mounted: finding an entry through the layers, reading the change, merging it into the real folder, building the
//! layer that gates see, and removing layers.
//!
//! Architecture invariant: no symbolic link of a layer or of the real folder is ever followed.

mod access;
mod attributes;
mod change;
mod copied;
mod foreign;
mod gate;
mod home;
mod look;
mod node;
mod remove;
mod sealed;
mod writes;

use std::io;
use std::path::Component;
use std::path::Path;
use std::path::PathBuf;

use rustix::io::Errno;
use serde::Deserialize;
use serde::Serialize;

pub use self::change::LayerSurvey;
pub use self::copied::CopyListing;
pub use self::foreign::foreign;
pub use self::home::Homecoming;
pub use self::node::Node;
pub use self::remove::remove_layers;
pub use self::remove::size;
pub use self::sealed::seal_copy;
use crate::hands::files::FileError;
use crate::hands::paths::decode_name;
use crate::hands::paths::encode_name;

/// The layers of one view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerStack {
    /// Newest first.
    uppers: Vec<PathBuf>,
    /// The real folder.
    lower: PathBuf,
    /// A file that was created when the view was opened. Its change time is on the clock of the file system, as are
    /// the times that it is compared with.
    began: PathBuf,
}

impl LayerStack {
    /// Returns the stack of `uppers` (newest first) over the real folder `lower`. The file `began` must have been
    /// created when the view was opened.
    pub fn new(uppers: Vec<PathBuf>, lower: impl Into<PathBuf>, began: impl Into<PathBuf>) -> LayerStack {
        LayerStack { uppers, lower: lower.into(), began: began.into() }
    }
}

/// One path in which the view differs from the real folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerChange {
    /// In the form of [`encode_name`].
    pub path: String,
    /// The entry of the real folder now.
    pub before: Option<Node>,
    /// The entry of the view.
    pub after: Option<Node>,
    /// Whether the entry of the real folder may have been changed since the view was opened. It is a guess on the safe
    /// side by change times. It misses one case: a file that was removed from the real folder after it was replaced
    /// by rename in the view looks like an addition. Only a list of paths from the start knows better.
    pub meanwhile: bool,
    /// Where the entry of the view lies.
    pub source: Option<PathBuf>,
}

/// One path to be merged into the real folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HomeStep {
    /// In the form of [`encode_name`].
    pub path: String,
    /// What the real folder must have for the step to be no conflict.
    pub before: Option<Node>,
    /// What the real folder has afterwards.
    pub after: Option<Node>,
    /// Where the content of a file lies, in the form of [`encode_name`].
    source: Option<String>,
}

impl HomeStep {
    /// Returns a step whose content comes from any file, such as the result of a text merge.
    pub fn new(
        path: impl Into<String>,
        before: Option<Node>,
        after: Option<Node>,
        source: Option<&Path>,
    ) -> HomeStep {
        let source = source.map(|source| encode_name(source.as_os_str()));
        HomeStep { path: path.into(), before, after, source }
    }

    /// Returns where the content of a file lies.
    pub fn source(&self) -> Option<PathBuf> {
        self.source.as_deref().and_then(decode_name).map(PathBuf::from)
    }
}

impl From<&LayerChange> for HomeStep {
    fn from(change: &LayerChange) -> HomeStep {
        HomeStep::new(&change.path, change.before.clone(), change.after.clone(), change.source.as_deref())
    }
}

/// Why layers could not be read, merged or removed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayerError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{} has the attribute {name}, which no view of ours writes", path.display())]
    Attribute { path: PathBuf, name: String },
    #[error("{} is a symbolic link, and no link is followed in a layer", path.display())]
    Link { path: PathBuf },
    #[error("{path} is a pipe, a socket or a device, and these are not merged")]
    Special { path: String },
    #[error("{path:?} is not a path inside of the view")]
    BadPath { path: String },
    #[error("{path} has no content to merge: its file {} is missing or has changed", origin.display())]
    Source { path: String, origin: PathBuf },
    #[error("{} holds another merge that is not finished", kept.display())]
    OtherMerge { kept: PathBuf },
    #[error("{} cannot be read as the plan of a merge: {reason}", path.display())]
    BadPlan { path: PathBuf, reason: String },
    #[error("{path} was saved again and again while it was merged; one version is kept as {}", aside.display())]
    Restless { path: String, aside: PathBuf },
    #[error("{} is on another file system than the layers to be removed", path.display())]
    OtherFileSystem { path: PathBuf },
}

impl LayerError {
    fn of(path: &Path, error: &io::Error) -> LayerError {
        LayerError::File(FileError::of(path, error))
    }

    fn errno(path: &Path, errno: Errno) -> LayerError {
        LayerError::of(path, &errno.into())
    }
}

/// Returns a path of the view as it is joined to folders. A path that is empty, absolute or has `..` is refused.
fn inside(path: &str) -> Result<PathBuf, LayerError> {
    let bad = || LayerError::BadPath { path: path.to_owned() };
    let decoded = PathBuf::from(decode_name(path).ok_or_else(bad)?);
    let plain = decoded.components().all(|part| matches!(part, Component::Normal(_)));
    // Components hide doubled and trailing slashes; a path that has them is not one that we wrote.
    let same = decoded.components().collect::<PathBuf>().as_os_str() == decoded.as_os_str();
    let whole = !path.is_empty() && !decoded.as_os_str().as_encoded_bytes().contains(&0);
    if plain && same && whole { Ok(decoded) } else { Err(bad()) }
}
