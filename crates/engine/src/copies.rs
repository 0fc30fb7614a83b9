//! Snapshots and restores as requests: done twice, they are done once.

use std::path::PathBuf;

use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_flows::request::Comparison;

use crate::hands::pattern::Pattern;
use crate::hands::snapshot::DEFAULT_EXCLUDES;
use crate::hands::snapshot::Retention;
use crate::hands::snapshot::SnapshotError;
use crate::hands::snapshot::Snapshots;
use crate::hands::snapshot::Take;
use crate::job::Job;
use crate::labelled::Labelled;
use crate::perform::Hands;
use crate::perform::file_failure;

/// Where snapshots are kept, in the store.
pub const FOLDER: &str = "snapshots";

/// The snapshots of our own.
fn private(hands: &Hands) -> Snapshots<'_> {
    Snapshots::new(hands.files.as_ref(), hands.workspace.clone(), hands.workspace.store().join(FOLDER))
}

/// Those that people see (OC-66).
fn labelled(hands: &Hands) -> Labelled<'_> {
    Labelled::new(hands.files.as_ref(), hands.workspace.clone())
}

fn failure(error: SnapshotError) -> Failure {
    match error {
        SnapshotError::File(error) => file_failure(&error),
        SnapshotError::Unknown { .. } => Failure::new(Class::MissingArtifact, error.to_string()),
        other => Failure::new(Class::Storage, other.to_string()),
    }
}

/// Takes a snapshot and gives its id. One that the same call took before the engine died is found again.
pub(crate) fn take(hands: &Hands, job: &Job, scope: &[String], label: &str) -> Result<String, Failure> {
    if label.is_empty() {
        return take_in(&private(hands), job, scope, job.file_name());
    }
    let labelled = labelled(hands);
    let id = take_in(labelled.all(), job, scope, label.to_owned())?;
    // What is too many or too old goes (OC-68, OC-69). The snapshot is there, whatever comes of that.
    let _ = labelled.prune(&Retention::default(), &job.told.needed, hands.clock.now());
    Ok(id)
}

fn take_in(all: &Snapshots<'_>, job: &Job, scope: &[String], action: String) -> Result<String, Failure> {
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

/// Brings a snapshot back and gives the id of the snapshot of what was replaced. Done again after a crash it goes on.
pub(crate) fn restore(hands: &Hands, job: &Job, id: &str, is_labelled: bool) -> Result<String, Failure> {
    let people = labelled(hands);
    let own = private(hands);
    let all = if is_labelled { people.all() } else { &own };
    let plan = all.compare(id, None).map_err(failure)?;
    all.restore_again(&plan, job.at).map(|restored| restored.undo).map_err(failure)
}

/// The files that bringing a snapshot back may write.
pub(crate) fn writes(hands: &Hands, id: &str, is_labelled: bool) -> Vec<PathBuf> {
    let people = labelled(hands);
    let own = private(hands);
    let all = if is_labelled { people.all() } else { &own };
    let items = all.manifest(id).map(|manifest| manifest.items).unwrap_or_default();
    items.into_iter().map(|item| PathBuf::from(item.path)).collect()
}

/// What bringing a snapshot with a label back would change.
pub(crate) fn compare(hands: &Hands, id: &str) -> Result<Comparison, Failure> {
    let plan = labelled(hands).difference(id).map_err(failure)?.plan;
    Ok(Comparison {
        words: plan.in_words(),
        paths: plan.steps.iter().map(|step| step.path.clone()).collect(),
        conflicts: plan.conflicts().map(str::to_owned).collect(),
        digest: plan.digest(),
    })
}
