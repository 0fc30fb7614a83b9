//! What is about to be changed: shown first, agreed to, then done.

use seriatim_engine::hands::disk::Disk;
use std::path::Path;

use serde_json::Value;
use serde_json::json;
use seriatim_core::hash::Hash;
use seriatim_engine::guard::Mark;
use seriatim_engine::guard::Project;
use seriatim_engine::hands::files::Expect;

use super::change;
use super::change::Act;
use super::change::ChangeError;
use crate::error::CommandError;
use crate::error::Result;
use crate::prompt;
use crate::ui::Tone;
use crate::ui::Ui;
use crate::ui::tone;

/// The mark holds what settings said before, which may be meant for nobody else.
const MARK_MODE: u32 = 0o600;

/// One file, what becomes of it in words, and how that is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) path: String,
    pub(super) lines: Vec<String>,
    pub(super) acts: Vec<Act>,
}

/// All that is to be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(super) changes: Vec<Change>,
    /// What whoever agrees should know.
    pub(super) warnings: Vec<String>,
}

impl Plan {
    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    pub(crate) fn show(&self, ui: &Ui) {
        for change in &self.changes {
            ui.say(tone(Tone::Strong, &change.path));
            change.lines.iter().for_each(|line| ui.say(format!("  {line}")));
        }
        self.warnings.iter().for_each(|warning| ui.warn(warning));
    }

    pub(crate) fn document(&self) -> Value {
        let change = |change: &Change| json!({"path": change.path, "changes": change.lines});
        json!({"changed": self.changes.iter().map(change).collect::<Vec<_>>(), "warnings": self.warnings})
    }

    /// Asks whether it shall be done. Where nobody can be asked, the answer has to be given beforehand.
    pub(crate) fn agreed(&self, ui: &Ui, yes: bool) -> Result<bool> {
        if yes || self.is_empty() {
            return Ok(true);
        }
        prompt::agreed(ui, "Make these changes?")
    }

    pub(crate) fn carry_out(&self) -> Result<()> {
        change::carry_out(self.changes.iter().flat_map(|change| &change.acts)).map_err(|error| match error {
            ChangeError::HalfWay { .. } => CommandError::not_good(error.to_string()).hint(
                "`seriatim guard status` says what is there; run the command again once the cause is gone",
            ),
            _ => CommandError::usage(format!("{error}; everything is as it was"))
                .hint("mend that, then run the command again"),
        })
    }
}

/// The mark of a project. One that cannot be read is told apart from none.
#[derive(Debug)]
pub(super) enum Marked {
    No,
    Unreadable,
    Yes { mark: Mark, hash: Hash },
}

impl Marked {
    pub(super) fn read(root: &Path) -> Marked {
        let Ok(bytes) = std::fs::read(Project::mark_path(root)) else {
            return if Project::is_guarded(&Disk, root) { Marked::Unreadable } else { Marked::No };
        };
        match serde_json::from_slice::<Mark>(&bytes) {
            Ok(mark) if mark.version <= VERSION => Marked::Yes { mark, hash: Hash::of(&bytes) },
            _ => Marked::Unreadable,
        }
    }
}

/// The version of the mark. A later one is not guessed at.
pub(super) const VERSION: u32 = 1;

/// Writes the mark, over the one that was read.
pub(super) fn write_mark(root: &Path, mark: &Mark, before: Expect) -> Act {
    let mut bytes = serde_json::to_vec_pretty(mark).unwrap_or_default();
    bytes.push(b'\n');
    Act::Write { path: Project::mark_path(root), bytes, mode: Some(MARK_MODE), expect: before }
}

/// How a path is shown and kept: from the root of the project, or whole where it lies outside.
pub(super) fn named(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned()
}
