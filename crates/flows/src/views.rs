//! Work in views: an agent changes what it likes in a view of its own, and what the flow allows is merged.

use seriatim_core::choices::Choices;
use seriatim_core::failure::Failure;
use seriatim_core::question::Choice;
use seriatim_core::question::Question;
use seriatim_core::sentence::OverlapChoice;
use seriatim_core::sentence::SharedFact;
use seriatim_core::world::Effect;
use seriatim_core::world::Isolation;
use seriatim_core::world::Overlap;
use seriatim_core::world::ViewChange;
use seriatim_core::world::ViewFile;
use seriatim_core::world::ViewKind;
use seriatim_core::world::ViewMerged;

use crate::Cx;
use crate::request::WorldCall;

/// What an attempt left in its view once the flow has taken what it allows.
#[derive(Clone, Debug, PartialEq)]
pub struct Left {
    pub isolation: Isolation,
    /// Files that were merged.
    pub merged: Vec<ViewFile>,
    /// Files that the view changes and that were not merged: those that the flow does not allow.
    pub kept: Vec<ViewFile>,
    pub effects: Vec<Effect>,
    /// A person decided about files that were changed on both sides, so that the result is not what the view held.
    pub overlapped: bool,
}

impl Default for Left {
    fn default() -> Left {
        Left { isolation: Isolation::None, merged: vec![], kept: vec![], effects: vec![], overlapped: false }
    }
}

/// Which files of a view a flow allows to be merged.
pub type Allows<'a> = &'a (dyn Fn(&ViewFile) -> bool + Send + Sync);

/// Merges what `allows` says of a view into the place in which its attempts worked.
pub async fn merge(
    cx: &Cx,
    step: &str,
    view: &str,
    place: &str,
    allows: Allows<'_>,
) -> Result<Left, Failure> {
    merge_named(cx, step, view, place, &[], allows).await
}

/// Does the same, where some files are work even though git ignores them: the agent names them as its results.
pub async fn merge_named(
    cx: &Cx,
    step: &str,
    view: &str,
    place: &str,
    named: &[String],
    allows: Allows<'_>,
) -> Result<Left, Failure> {
    let (view, place) = (view.to_owned(), place.to_owned());
    let call = WorldCall::Change { view: view.clone(), place: place.clone(), named: named.to_vec() };
    let change: ViewChange = cx.world(call).await?;
    let (taken, kept) = divide(change.files, allows);
    let paths: Vec<String> = taken.iter().map(|file| file.path.clone()).collect();
    // What the flow does not take counts no more, also where it takes nothing: the next attempt begins without it.
    let is_any = !paths.is_empty() || !kept.is_empty();
    let overlapped = is_any && merge_paths(cx, step, &view, &place, &paths).await?;
    let left = Left { isolation: change.isolation, merged: taken, kept, effects: change.effects, overlapped };
    record(cx, step, &left);
    Ok(left)
}

/// Divides the files of a view into those that are merged and those that are kept; ignored ones are neither.
fn divide(files: Vec<ViewFile>, allows: Allows<'_>) -> (Vec<ViewFile>, Vec<ViewFile>) {
    let work = files.into_iter().filter(|file| !file.ignored);
    work.partition(|file| file.kind != ViewKind::Special && allows(file))
}

/// Returns what would be merged of a view, which stays as it is until the flow merges it.
pub async fn survey(cx: &Cx, step: &str, view: &str, allows: Allows<'_>) -> Result<Left, Failure> {
    let change: ViewChange =
        cx.world(WorldCall::Change { view: view.to_owned(), place: String::new(), named: vec![] }).await?;
    let (merged, kept) = divide(change.files, allows);
    let left = Left {
        isolation: change.isolation,
        merged: vec![],
        kept,
        effects: change.effects,
        overlapped: false,
    };
    record(cx, step, &left);
    Ok(Left { merged, ..left })
}

/// Looks at what a view changes and leaves it as it is: the work goes on there.
pub async fn look(cx: &Cx, step: &str, view: &str, place: &str) -> Result<Left, Failure> {
    let (view, place) = (view.to_owned(), place.to_owned());
    let change: ViewChange = cx.world(WorldCall::Change { view, place, named: vec![] }).await?;
    let kept: Vec<ViewFile> = change.files.into_iter().filter(|file| !file.ignored).collect();
    let left = Left {
        isolation: change.isolation,
        merged: vec![],
        kept,
        effects: change.effects,
        overlapped: false,
    };
    record(cx, step, &left);
    Ok(left)
}

/// Drops the view of a role that only looks: nothing that it changed is merged.
pub async fn discard(cx: &Cx, step: &str, view: &str, place: &str) -> Result<Left, Failure> {
    let (view, place) = (view.to_owned(), place.to_owned());
    let call = WorldCall::Change { view: view.clone(), place: place.clone(), named: vec![] };
    let change: ViewChange = cx.world(call).await?;
    let kept: Vec<ViewFile> = change.files.into_iter().filter(|file| !file.ignored).collect();
    let left = Left {
        isolation: change.isolation,
        merged: vec![],
        kept,
        effects: change.effects,
        overlapped: false,
    };
    record(cx, step, &left);
    cx.world::<()>(WorldCall::Drop { view, place }).await?;
    Ok(left)
}

/// Merges files, and asks a person where another process changed the same ones meanwhile. Returns whether one was asked.
async fn merge_paths(
    cx: &Cx,
    step: &str,
    view: &str,
    place: &str,
    paths: &[String],
) -> Result<bool, Failure> {
    let mut overlap = Overlap::Refuse;
    loop {
        let (view, place, paths) = (view.to_owned(), place.to_owned(), paths.to_vec());
        let merged: ViewMerged = cx.world(WorldCall::Merge { view, place, paths, overlap }).await?;
        if merged.overlaps.is_empty() {
            if let Some(place) = merged.replaced {
                cx.record(&SharedFact::VersionsReplaced { step: step.to_owned(), place });
            }
            return Ok(overlap != Overlap::Refuse);
        }
        let question = overlap_question(step, &merged.overlaps, overlap == Overlap::Combine);
        let (choice, answer) = cx.choose::<OverlapChoice>(question).await;
        overlap = match choice {
            OverlapChoice::Merge => Overlap::Combine,
            OverlapChoice::KeepMine => Overlap::KeepWorkspace,
            OverlapChoice::TakeTheirs => Overlap::TakeView,
        };
        let (step, files) = (step.to_owned(), merged.overlaps);
        cx.record(&SharedFact::OverlapDecided { step, files, choice, by: answer.by });
    }
}

fn overlap_question(step: &str, files: &[String], tried: bool) -> Question {
    let named = files.join(", ");
    let merge = Choice::new(
        OverlapChoice::Merge.id(),
        "Merge both",
        "Changes on different lines are combined; the checks run on the result.",
    );
    let keep = Choice::new(
        OverlapChoice::KeepMine.id(),
        "Keep the workspace's version",
        "The agent's changes of these files are dropped; its other files are merged.",
    );
    let replace = Choice::new(
        OverlapChoice::TakeTheirs.id(),
        "Take the agent's version",
        "The version in the workspace is kept aside, and the log says where.",
    );
    let why = match tried {
        true => "Both versions change the same lines, so that they cannot be combined.",
        false => {
            "While the agent worked, these files were also changed in the workspace. Nothing was merged yet."
        }
    };
    let options = if tried { vec![keep, replace, merge] } else { vec![merge, keep, replace] };
    Question {
        header: "Changed on both sides".to_owned(),
        question: format!("Which version of these files shall count for {step}: {named}?"),
        why: why.to_owned(),
        tried: vec![],
        details: String::new(),
        options,
        free_text: false,
        about: vec![],
    }
}

/// Records what left the view and what did not, where there is anything to say. A weaker isolation always is.
fn record(cx: &Cx, step: &str, left: &Left) {
    let Left { isolation, merged, kept, effects, overlapped: _ } = left;
    let is_empty = merged.is_empty() && kept.is_empty() && effects.is_empty();
    let silent = is_empty && isolation.weakness().is_none();
    if silent || *isolation == Isolation::None {
        return;
    }
    let paths = |files: &[ViewFile]| files.iter().map(|file| file.path.clone()).collect();
    cx.record(&SharedFact::ViewMerged {
        step: step.to_owned(),
        isolation: *isolation,
        merged: paths(merged),
        kept: paths(kept),
        effects: effects.clone(),
    });
}
