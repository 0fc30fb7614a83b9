//! Snapshots and restores as requests: done twice, they are done once.

use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;

use crate::hands::pattern::Pattern;
use crate::hands::snapshot::DEFAULT_EXCLUDES;
use crate::hands::snapshot::SnapshotError;
use crate::hands::snapshot::Snapshots;
use crate::hands::snapshot::Take;
use crate::job::Job;
use crate::perform::Hands;
use crate::perform::file_failure;

/// Where snapshots are kept, below the workspace.
pub const FOLDER: &str = ".seriatim/snapshots";

fn snapshots(hands: &Hands) -> Snapshots<'_> {
    Snapshots::new(hands.files.as_ref(), hands.workspace.clone(), FOLDER)
}

fn failure(error: SnapshotError) -> Failure {
    match error {
        SnapshotError::File(error) => file_failure(&error),
        SnapshotError::Unknown { .. } => Failure::new(Class::MissingArtifact, error.to_string()),
        other => Failure::new(Class::Storage, other.to_string()),
    }
}

/// Takes a snapshot and gives its id. One that the same call took before the engine died is found again.
pub(crate) fn take(hands: &Hands, job: &Job, scope: &[String]) -> Result<String, Failure> {
    let all = snapshots(hands);
    let action = job.file_name();
    let listing = all.list().map_err(failure)?;
    if let Some(known) = listing.snapshots.iter().find(|s| s.run == job.run_name && s.action == action) {
        return Ok(known.id.clone());
    }
    let take = Take {
        action,
        run: job.run_name.clone(),
        created: job.at,
        scope: scope.iter().map(Pattern::new).collect(),
        excludes: DEFAULT_EXCLUDES.iter().map(|e| Pattern::new(*e)).collect(),
    };
    all.create(&take).map(|(manifest, _)| manifest.id).map_err(failure)
}

/// Brings a snapshot back and gives the id of the snapshot of what was replaced.
pub(crate) fn restore(hands: &Hands, id: &str) -> Result<String, Failure> {
    let all = snapshots(hands);
    let plan = all.compare(id, None).map_err(failure)?;
    all.restore(&plan, hands.clock.now()).map(|restored| restored.undo).map_err(failure)
}
