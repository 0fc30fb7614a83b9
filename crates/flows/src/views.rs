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
use seriatim_core::world::is_engine_file;

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
    /// Those of them that are held back whatever the flow allows, since they steer runs.
    pub held: Vec<String>,
    pub effects: Vec<Effect>,
    /// A person decided about files that were changed on both sides, so that the result is not what the view held.
    pub overlapped: bool,
}

impl Default for Left {
    fn default() -> Left {
        Left {
            isolation: Isolation::None,
            merged: vec![],
            kept: vec![],
            held: vec![],
            effects: vec![],
            overlapped: false,
        }
    }
}

/// Which files of a view a flow takes.
#[derive(Clone, Copy)]
pub struct Rules<'a> {
    /// Whether a file is within the work.
    pub takes: &'a (dyn Fn(&ViewFile) -> bool + Send + Sync),
    /// Whether the definition of the work names this very file. What steers runs is taken on no other word: neither a
    /// pattern nor the agent itself can say so.
    pub names: &'a (dyn Fn(&str) -> bool + Send + Sync),
}

/// Nothing is taken.
const NOTHING: Rules<'static> = Rules { takes: &|_| false, names: &|_| false };

impl Rules<'_> {
    /// Whether a file is the engine's own, or steers runs of some dialect and is not named.
    fn holds(&self, file: &ViewFile) -> bool {
        is_engine_file(&file.path) || (file.steers.is_some() && !(self.names)(&file.path))
    }

    /// Divides the change of a view into what is merged and what is kept; ignored files are neither.
    fn divide(&self, change: ViewChange) -> Left {
        let work: Vec<ViewFile> = change.files.into_iter().filter(|file| !file.ignored).collect();
        let held: Vec<String> =
            work.iter().filter(|file| self.holds(file)).map(|file| file.path.clone()).collect();
        // A file or link in the place of a folder would take what is held back in it along.
        let is_above = |file: &ViewFile| held.iter().any(|path| is_below(path, &file.path));
        let (merged, kept) = work.into_iter().partition(|file| {
            let is_held = held.contains(&file.path) || is_above(file);
            file.kind != ViewKind::Special && !is_held && (self.takes)(file)
        });
        Left { isolation: change.isolation, merged, kept, held, effects: change.effects, overlapped: false }
    }
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// Asks what a view changes.
async fn change(cx: &Cx, view: &str, place: &str, named: &[String]) -> Result<ViewChange, Failure> {
    let (view, place) = (view.to_owned(), place.to_owned());
    cx.world(WorldCall::Change { view, place, named: named.to_vec() }).await
}

/// Merges what the rules say of a view into the place in which its attempts worked.
pub async fn merge(cx: &Cx, step: &str, view: &str, place: &str, rules: &Rules<'_>) -> Result<Left, Failure> {
    merge_named(cx, step, view, place, &[], rules).await
}

/// Does the same, where some files are work even though git ignores them: the agent names them as its results.
pub async fn merge_named(
    cx: &Cx,
    step: &str,
    view: &str,
    place: &str,
    named: &[String],
    rules: &Rules<'_>,
) -> Result<Left, Failure> {
    let left = rules.divide(change(cx, view, place, named).await?);
    settle(cx, step, view, place, left).await
}

/// Merges what was divided.
async fn settle(cx: &Cx, step: &str, view: &str, place: &str, mut left: Left) -> Result<Left, Failure> {
    let paths: Vec<String> = left.merged.iter().map(|file| file.path.clone()).collect();
    // What the flow does not take counts no more, also where it takes nothing: the next attempt begins without it.
    let is_any = !paths.is_empty() || !left.kept.is_empty();
    left.overlapped = is_any && merge_paths(cx, step, view, place, &paths).await?;
    record(cx, step, &left);
    Ok(left)
}

/// Merges what the rules say of a view if the flow accepts the work. Work that it refuses stays in the view for the next
/// attempt, without what the rules do not take.
pub async fn merge_accepted(
    cx: &Cx,
    step: &str,
    view: &str,
    place: &str,
    rules: &Rules<'_>,
    accepts: impl FnOnce(&Left) -> bool,
) -> Result<Left, Failure> {
    let left = rules.divide(change(cx, view, place, &[]).await?);
    let paths: Vec<String> = left.merged.iter().map(|file| file.path.clone()).collect();
    if accepts(&left) {
        return settle(cx, step, view, place, left).await;
    }
    let kept = left.merged.into_iter().chain(left.kept).collect();
    let left = Left { merged: vec![], kept, ..left };
    record(cx, step, &left);
    let (view, place) = (view.to_owned(), place.to_owned());
    cx.world::<()>(WorldCall::Keep { view, place, paths }).await?;
    Ok(left)
}

/// Returns what would be merged of a view, which stays as it is until the flow merges it.
pub async fn survey(cx: &Cx, step: &str, view: &str, rules: &Rules<'_>) -> Result<Left, Failure> {
    let left = rules.divide(change(cx, view, "", &[]).await?);
    record(cx, step, &Left { merged: vec![], ..left.clone() });
    Ok(left)
}

/// Looks at what a view changes and leaves it as it is: the work goes on there.
pub async fn look(cx: &Cx, step: &str, view: &str, place: &str) -> Result<Left, Failure> {
    let left = NOTHING.divide(change(cx, view, place, &[]).await?);
    record(cx, step, &left);
    Ok(left)
}

/// Drops the view of a role that only looks: nothing that it changed is merged.
pub async fn discard(cx: &Cx, step: &str, view: &str, place: &str) -> Result<Left, Failure> {
    let left = look(cx, step, view, place).await?;
    let (view, place) = (view.to_owned(), place.to_owned());
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
    let Left { isolation, merged, kept, held, effects, overlapped: _ } = left;
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
        held: held.clone(),
        effects: effects.clone(),
    });
}
