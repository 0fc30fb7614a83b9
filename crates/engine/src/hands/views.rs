//! The port of views: where the processes of an attempt work, and what is taken of it.
//!
//! A view belongs to one piece of work of one run. Each attempt at that work adds a layer to it, so that the next one
//! finds what the one before left; what the flow takes is merged into the place that the view covers.

mod bare;
mod effects;
mod folder;
mod worlds;

use std::path::Path;
use std::path::PathBuf;

use seriatim_core::world::Effect;
use seriatim_core::world::Isolation;
use seriatim_core::world::Network;
use seriatim_core::world::Overlap;
use seriatim_core::world::Unmerged;
use seriatim_core::world::ViewFile;
use seriatim_core::world::ViewMerged;

pub use bare::Bare;
pub use worlds::Worlds;
pub use worlds::WorldsAt;
pub use worlds::coverable;
pub use worlds::in_force;

use crate::hands::files::FileError;
use crate::hands::git::TreeEdit;
use crate::hands::inside::AnswerInside;
use crate::hands::inside::Listening;
use crate::hands::layers::LayerError;
use crate::hands::process::Spawn;
use crate::hands::world::NoWorld;

/// A piece of work of a run, and where its attempts work.
#[derive(Clone, Copy, Debug)]
pub struct ViewOf<'a> {
    pub run: &'a str,
    pub view: &'a str,
    /// The workspace itself, or a working tree or copy of it.
    pub place: &'a Path,
}

/// A view that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewPlace {
    pub view: String,
    pub place: PathBuf,
    /// Where its layers are.
    pub folder: PathBuf,
}

/// The layers of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunLayers {
    pub run: String,
    pub folder: PathBuf,
}

/// What a process may use besides its view.
#[derive(Clone, Debug)]
pub struct Guest {
    /// What [`Views::isolation`] returned for it.
    pub isolation: Isolation,
    /// Folders that it shares with this machine, read-write: its desk, and those that the configuration names.
    pub share: Vec<PathBuf>,
    pub network: Network,
    /// What it writes is thrown away before the next process enters the view, caches aside: a check.
    pub fresh: bool,
    /// Files of another view that it sees as if they were merged.
    pub on: Option<Unmerged>,
    /// Files that it sees in another version than the place has, or the folder at which it finds the place.
    pub covered: Covered,
    /// The folder at whose path it finds the place, as [`Views::shown_at`] said; absent where that is the place itself.
    pub shown_at: Option<PathBuf>,
    /// What earlier processes of the view did to the repository is still there: a person who looks at their work.
    pub looks: bool,
}

/// Files of a place that a process sees in another version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Covered {
    /// Those that it does not see at all.
    pub absent: Vec<String>,
    /// Those that it sees as they are in a folder, under the same paths from the top of the repository.
    pub present: Vec<String>,
}

/// A file of a view beside that of the place which the view covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewDifference {
    pub file: ViewFile,
    pub before: Option<ViewSide>,
    pub after: Option<ViewSide>,
}

/// How much room a view takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ViewSize {
    pub files: u64,
    pub bytes: u64,
    /// Files in folders that git ignores, which are no work.
    pub ignored_files: u64,
}

/// One side of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViewSide {
    File {
        mode: u32,
        bytes: u64,
        /// Where its content lies.
        at: PathBuf,
    },
    Link {
        target: String,
    },
    Folder,
    /// A pipe, a socket or a device.
    Special,
}

/// What a view changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub isolation: Isolation,
    pub files: Vec<ViewFile>,
    pub effects: Vec<Effect>,
}

/// Returns those of some paths that are no work: what git ignores by the rules of the place itself. A path that ends in
/// `/` is a folder.
pub type Ignores<'a> = &'a dyn Fn(&[String]) -> Vec<String>;

/// Where the common ancestor of two versions of a file is found; nothing where it is not known.
pub type Ancestor<'a> = &'a dyn Fn(&str) -> Option<Vec<u8>>;

/// What a merge has to know of the repository.
#[derive(Clone, Copy)]
pub struct Knowledge<'a> {
    pub ancestor: Ancestor<'a>,
    pub ignores: Ignores<'a>,
}

/// Views of workspaces.
pub trait Views: Send + Sync {
    /// Returns the isolation that a process gets that works in a place; without a wish the best that works there.
    fn isolation(
        &self,
        wanted: Option<Isolation>,
        place: &Path,
        share: &[PathBuf],
    ) -> Result<Isolation, ViewError>;

    /// Puts a process that is about to start into the view, in which it finds what earlier ones left there.
    fn enter(
        &self,
        of: ViewOf<'_>,
        guest: &Guest,
        spawn: &mut Spawn,
        ignores: Ignores<'_>,
    ) -> Result<(), ViewError>;

    /// Returns the folder at whose path a process finds a place that is not the workspace; nothing where it finds it where it
    /// is. That folder has to be covered so that it is seen as the place is.
    fn shown_at(&self, place: &Path, isolation: Isolation) -> Option<PathBuf>;

    /// Returns the folder into which the versions of [`Covered::present`] are written, emptied; nothing where there are no
    /// views.
    fn covering(&self, of: ViewOf<'_>) -> Result<Option<PathBuf>, ViewError>;

    /// Returns some files of the view as edits of a tree.
    fn edits(
        &self,
        of: ViewOf<'_>,
        paths: &[String],
        ignores: Ignores<'_>,
    ) -> Result<Vec<TreeEdit>, ViewError>;

    /// Puts some files of another view of the same place into this one, as that has them.
    fn adopt(
        &self,
        of: ViewOf<'_>,
        from: ViewOf<'_>,
        paths: &[String],
        ignores: Ignores<'_>,
    ) -> Result<(), ViewError>;

    /// Remembers what the view holds.
    fn save(&self, of: ViewOf<'_>, ignores: Ignores<'_>) -> Result<(), ViewError>;

    /// Puts the view back to what was remembered of it.
    fn reset(&self, of: ViewOf<'_>, ignores: Ignores<'_>) -> Result<(), ViewError>;

    /// Returns where a file is that a process of the view wrote; nothing where none did.
    fn written(&self, of: ViewOf<'_>, path: &str) -> Result<Option<PathBuf>, ViewError>;

    /// Lets a process that entered a view speak with the engine, until what is returned is dropped. Nothing for one that
    /// works without a view.
    fn listen(&self, spawn: &mut Spawn, answer: AnswerInside) -> Result<Option<Listening>, ViewError>;

    /// Returns what the view changes. A view that no process entered changes nothing.
    fn change(&self, of: ViewOf<'_>, ignores: Ignores<'_>) -> Result<Seen, ViewError>;

    /// Returns the files in which the view differs, each with both of its sides.
    fn differences(&self, of: ViewOf<'_>, ignores: Ignores<'_>) -> Result<Vec<ViewDifference>, ViewError>;

    /// Merges files of the view. Done again under the same key, it is done once.
    fn merge(
        &self,
        of: ViewOf<'_>,
        key: &str,
        paths: &[String],
        overlap: Overlap,
        knowledge: &Knowledge<'_>,
    ) -> Result<ViewMerged, ViewError>;

    /// Keeps some files of the view; the rest of its work counts no more.
    fn keep(&self, of: ViewOf<'_>, paths: &[String], ignores: Ignores<'_>) -> Result<(), ViewError>;

    /// Throws a view away.
    fn drop_view(&self, of: ViewOf<'_>) -> Result<(), ViewError>;

    /// Lists the views of a run.
    fn list(&self, run: &str) -> Result<Vec<ViewPlace>, ViewError>;

    /// Measures the layers of a view.
    fn size(&self, of: ViewOf<'_>, ignores: Ignores<'_>) -> Result<ViewSize, ViewError>;

    /// Lists the runs that have layers here.
    fn runs(&self) -> Result<Vec<RunLayers>, ViewError>;

    /// Throws all views of a run away.
    fn drop_run(&self, run: &str) -> Result<(), ViewError>;
}

/// Why something with a view could not be done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ViewError {
    #[error(
        "no isolation works here. No world: {}; {}. No copy: {copy}. \
         Or set `isolation = \"none\"` for this agent to let it work in the workspace itself",
        .world,
        .world.help
    )]
    NoIsolation { world: NoWorld, copy: String },
    #[error("this machine offers no `isolation = \"world\"`: {}; {}", .0, .0.help)]
    NoWorld(NoWorld),
    #[error("`isolation = \"copy\"` cannot be had here: {reason}")]
    NoCopy { reason: String },
    #[error("what the place of the work holds cannot be read: {reason}")]
    NoPlace { reason: String },
    #[error("the folder of layers {} cannot be used: {reason}", path.display())]
    BadFolder { path: PathBuf, reason: String },
    #[error(transparent)]
    Layers(#[from] LayerError),
    #[error(transparent)]
    File(#[from] FileError),
}
