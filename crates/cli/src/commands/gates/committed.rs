//! Whether stages and gates are as the version control has them: a stage is changed by a commit, and by nothing else
//! (OC-122).

use std::path::Path;

use seriatim_core::action::lifecycle::Lifecycle;
use seriatim_engine::hands::disk::Disk;
use seriatim_engine::hands::git::Git;
use seriatim_engine::hands::paths::Workspace;
use seriatim_engine::hands::runner::Supervised;

/// How the file stands to the version control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Committed {
    Same,
    /// There is no version control.
    Nowhere,
    /// Not so, and this is to be said about it.
    Not(String),
}

impl Committed {
    /// For machines: nothing where there is no version control.
    pub(super) fn answer(&self) -> Option<bool> {
        match self {
            Committed::Same => Some(true),
            Committed::Nowhere => None,
            Committed::Not(_) => Some(false),
        }
    }
}

/// Looks at the file `name` in `folder`, whose text is `text` and means `now`.
pub(super) fn look(folder: &Path, name: &str, text: &[u8], now: &Lifecycle) -> Committed {
    let Ok(workspace) = Workspace::new(folder) else { return Committed::Nowhere };
    let processes = Supervised::by_this_program();
    let private = workspace.store().join("git");
    let git = Git::new(&processes, &Disk, workspace, private);
    if !git.is_repository().unwrap_or(false) {
        return Committed::Nowhere;
    }
    let Some(before) = git.text_at("HEAD", name) else {
        return Committed::Not(format!("{name} is not committed: its stages are valid once it is"));
    };
    if before.as_bytes() == text {
        return Committed::Same;
    }
    Committed::Not(match Lifecycle::read(before.as_bytes()) {
        Ok((before, _)) if before.current_stage != now.current_stage => format!(
            "the stage `{}` is not valid yet: the committed stage is `{}`, and changing it takes a commit of {name}",
            now.current_stage, before.current_stage
        ),
        _ => format!(
            "{name} differs from its committed version: the difference is not valid until it is committed"
        ),
    })
}
