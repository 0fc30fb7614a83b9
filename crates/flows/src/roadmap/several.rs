//! All open steps of a roadmap: one after the other, or side by side where they need nothing of one another.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use serde_json::Value;
use serde_json::json;
use seriatim_core::roadmap::facts::Closing;
use seriatim_core::roadmap::facts::ErrorArea;
use seriatim_core::roadmap::facts::Matter;
use seriatim_core::roadmap::facts::QueuedStep;
use seriatim_core::roadmap::facts::RoadmapFact;
use seriatim_core::roadmap::facts::StepResult;
use seriatim_core::roadmap::plan::Step;
use seriatim_core::roadmap::queue;
use seriatim_core::roadmap::store::memory_key;

use super::begin;
use super::ended;
use super::finalize;
use super::home;
use super::home::CommitKind;
use super::people;
use super::people::ConflictChoice;
use super::project::Project;
use super::work::Memory;
use super::work::Place;
use super::work::StepEnd;
use super::work::Stop;
use super::work::Told;
use super::work::Work;
use crate::Cx;
use crate::registry::End;
use crate::registry::Ended;
use crate::request::CaughtUp;
use crate::request::Done;
use crate::request::GitCall;
use crate::request::Stand;
use crate::request::TreePlace;

/// What the names of working trees begin with; the engine knows where they are.
const TREES: &str = "@trees";

/// Carries a step out in the workspace itself.
pub(super) async fn in_place(cx: &Cx, project: &Project, id: &str) -> StepEnd {
    match carry_out_here(cx, project, id).await {
        Ok(end) => closed(cx, end),
        Err(elsewhere) => elsewhere.go_on(cx, project).await,
    }
}

/// A step whose work lies in a working tree of its own, where it goes on.
struct Elsewhere<'s> {
    step: &'s Step,
    /// The commit at which the workspace is now.
    head: String,
}

impl Elsewhere<'_> {
    async fn go_on(self, cx: &Cx, project: &Project) -> StepEnd {
        let end = one_beside(cx, project, self.step, &self.head).await;
        closed(cx, end)
    }
}

/// Records how a step ended.
fn closed(cx: &Cx, end: StepEnd) -> StepEnd {
    let (step, reason) = (end.told().step.clone(), end.told().reason.clone());
    cx.record(&RoadmapFact::StepClosed { step, status: end.result(), reason });
    end
}

async fn carry_out_here<'p>(cx: &Cx, project: &'p Project, id: &str) -> Result<StepEnd, Elsewhere<'p>> {
    let Some(step) = project.roadmap.step(id) else {
        let message = format!("Step {id} not found in roadmap.");
        return Ok(StepEnd::Blocked(Told::new(id, StepResult::Blocked, message)));
    };
    let mut work = match begin::open(cx, project, step, Place::default()).await {
        Ok(work) => work,
        Err(end) => return Ok(end),
    };
    if work.memory.is_elsewhere()
        && let Ok(Stand { head: Some(head), .. }) = work.stand(cx).await
    {
        return Err(Elsewhere { step, head });
    }
    project.announce(cx, step, &work.schema);
    Ok(match through(cx, &mut work).await {
        Ok(end) => end,
        Err(stop) => work.stopped(cx, stop).await,
    })
}

async fn through(cx: &Cx, work: &mut Work<'_>) -> Result<StepEnd, Stop> {
    work.begin(cx).await?;
    work.phases(cx).await?;
    let files = work.bring_home(cx).await?;
    Ok(work.done(files))
}

/// All open steps, each after everything that it needs.
pub(super) async fn all(cx: &Cx, project: &Project) -> Ended {
    let layers: Vec<Vec<&Step>> = match project.roadmap.layers() {
        Ok(layers) => layers,
        Err(cycle) => return ended(End::Blocked, false, &format!("{cycle}."), Value::Null),
    };
    let mut done = match project.done(cx).await {
        Ok(done) => done,
        Err(broken) => {
            let message = format!(
                "{}. Nothing was begun. To fix it: {}; then start again with `seriatim run roadmap`.",
                broken.headline(),
                broken.remedy()
            );
            return ended(End::Blocked, false, &message, Value::Null);
        }
    };
    let before = done.clone();
    announce_queue(cx, project, &done).await;
    let mut ends: BTreeMap<String, StepEnd> = BTreeMap::new();
    for layer in layers {
        let open: Vec<&Step> = layer.into_iter().filter(|step| !done.contains(&step.id)).collect();
        // What a failed step left in the workspace is not the others' to stumble over.
        let spoilt = ends.values().any(|end| !end.is_done());
        for end in carry_out(cx, project, open, spoilt).await {
            if end.is_done() {
                done.insert(end.told().step.clone());
            }
            ends.insert(end.told().step.clone(), end);
        }
    }
    let closing =
        match ends.values().all(StepEnd::is_done) && !ends.is_empty() && project.start_at(cx).finalize {
            true => Some(finalize::close(cx, project).await),
            false => None,
        };
    let pushed = !ends.is_empty() && ends.values().all(StepEnd::is_done) && home::push(cx, project).await;
    told(project, &before, &ends, closing, pushed)
}

/// Where each step stands in the queue, and when it is likely to begin (DW-97).
async fn announce_queue(cx: &Cx, project: &Project, done: &BTreeSet<String>) {
    let now = cx.now().await;
    let parallel = usize::try_from(project.start.parallel.max(1)).unwrap_or(1);
    let queue = queue::queue(&project.roadmap, done, &[], now, parallel);
    cx.record(&RoadmapFact::Queue { execution_queue: queue.iter().map(QueuedStep::from).collect() });
}

/// The steps of one layer, which need nothing of one another.
async fn carry_out(cx: &Cx, project: &Project, steps: Vec<&Step>, spoilt: bool) -> Vec<StepEnd> {
    let limit = usize::try_from(project.start.parallel.max(1)).unwrap_or(1);
    let stand: Option<Stand> = cx.git(GitCall::Stand { tree: String::new() }).await.ok();
    let head = stand.and_then(|stand| stand.head);
    match head {
        Some(head) if limit > 1 && steps.len() > 1 => {
            let (mut ends, fresh) = begun_here(cx, project, steps).await;
            ends.extend(side_by_side(cx, project, fresh, limit, &head).await);
            ends
        }
        _ => {
            let mut ends: Vec<StepEnd> = vec![];
            for step in steps {
                let spoilt = spoilt || ends.iter().any(|end| !end.is_done());
                ends.extend(one_of_many(cx, project, step, spoilt).await);
            }
            ends
        }
    }
}

/// A step in its turn. Once a step has failed, the next ones are carried out in working trees of their own, where
/// nothing that it left lies around.
async fn one_of_many(cx: &Cx, project: &Project, step: &Step, spoilt: bool) -> Vec<StepEnd> {
    let stand: Option<Stand> = cx.git(GitCall::Stand { tree: String::new() }).await.ok();
    match stand.and_then(|stand| stand.head) {
        Some(head) if spoilt => {
            let (mut ends, fresh) = begun_here(cx, project, vec![step]).await;
            ends.extend(side_by_side(cx, project, fresh, 1, &head).await);
            ends
        }
        _ => vec![in_place(cx, project, &step.id).await],
    }
}

/// Steps that were begun in the workspace are carried on there, since their work lies there; the others are left.
async fn begun_here<'s>(cx: &Cx, project: &Project, steps: Vec<&'s Step>) -> (Vec<StepEnd>, Vec<&'s Step>) {
    let (mut ends, mut fresh) = (vec![], vec![]);
    for step in steps {
        let memory = cx.recall(memory_key(&project.start.state_of(&step.id), &step.id)).await;
        match Memory::read(memory) {
            Ok(memory) if memory.base_tree.is_empty() || memory.beside => fresh.push(step),
            // A record that cannot be read is told there.
            Ok(_) | Err(_) => ends.push(in_place(cx, project, &step.id).await),
        }
    }
    (ends, fresh)
}

/// Each step in a working tree of its own; then home in the order of the roadmap.
async fn side_by_side(
    cx: &Cx,
    project: &Project,
    steps: Vec<&Step>,
    limit: usize,
    base: &str,
) -> Vec<StepEnd> {
    let items: Vec<(String, &Step)> = steps.iter().map(|step| (step.id.clone(), *step)).collect();
    let worked = cx
        .par(limit, items, |cx, step| async move {
            let mut work = open_tree(&cx, project, step, base).await?;
            let result = beside(&cx, &mut work).await;
            Ok((work, result))
        })
        .await;
    let mut ends = vec![];
    for one in worked {
        let end = match one {
            Err(end) => end,
            Ok((work, result)) => come_home(cx, work, result).await,
        };
        ends.push(closed(cx, end));
    }
    ends
}

/// One step in a working tree of its own, and home.
async fn one_beside(cx: &Cx, project: &Project, step: &Step, base: &str) -> StepEnd {
    match open_tree(cx, project, step, base).await {
        Err(end) => end,
        Ok(mut work) => {
            let result = beside(cx, &mut work).await;
            come_home(cx, work, result).await
        }
    }
}

/// Merges a step that got to its end. The working tree of one that did not stays, and the step goes on there when it is
/// carried out again.
async fn come_home(cx: &Cx, mut work: Work<'_>, result: Result<(), Stop>) -> StepEnd {
    let joined = match result {
        Ok(()) => join(cx, &mut work).await,
        Err(stop) => Err(stop),
    };
    match joined {
        Ok(end) => end,
        Err(stop) => work.stopped(cx, stop).await,
    }
}

fn place_of(project: &Project, step: &Step) -> Place {
    Place {
        tree: format!("{TREES}/{}-{}", project.start.project, step.id),
        branch: format!("seriatim/{}/{}", project.start.project, step.id),
        ..Place::default()
    }
}

/// Opens a step in its working tree: the one in which an earlier run left it, or a new one.
async fn open_tree<'p>(
    cx: &Cx,
    project: &'p Project,
    step: &'p Step,
    base: &str,
) -> Result<Work<'p>, StepEnd> {
    let mut work = begin::open(cx, project, step, place_of(project, step)).await?;
    project.announce(cx, step, &work.schema);
    let call = |resume: bool| GitCall::OpenTree {
        tree: work.place.tree.clone(),
        branch: work.place.branch.clone(),
        base: base.to_owned(),
        resume,
    };
    let mut opened: Done<TreePlace> = Ok(TreePlace::default());
    if work.memory.is_elsewhere() {
        opened = cx.git(call(true)).await;
    }
    if opened.as_ref().is_ok_and(|left| !left.resumed) {
        opened = cx.git(call(false)).await;
    }
    match opened {
        Ok(opened) => {
            work.place.path = opened.path;
            work.place.resumed = opened.resumed;
            Ok(work)
        }
        Err(failure) => {
            let message = format!("No working tree could be made for step {}: {}", step.id, failure.message);
            Err(StepEnd::Failed(Told::new(&step.id, StepResult::Failed, message)))
        }
    }
}

/// Everything but the commit at the end.
async fn beside(cx: &Cx, work: &mut Work<'_>) -> Result<(), Stop> {
    work.begin(cx).await?;
    work.phases(cx).await?;
    work.commit_rest(cx).await
}

async fn close_tree(cx: &Cx, place: &Place, merged: bool) {
    let (tree, branch) = (place.tree.clone(), place.branch.clone());
    if let Err(failure) = cx.git::<()>(GitCall::CloseTree { tree, branch, merged }).await {
        let text = format!("working tree: {}", failure.message);
        cx.record(&RoadmapFact::Error { text, about: Some(ErrorArea::WorkingTree) });
    }
}

/// Merges a step that was carried out beside others: the steps that were merged before are merged into its branch, its
/// checks run on both together, and only then the workspace's branch moves.
async fn join(cx: &Cx, work: &mut Work<'_>) -> Result<StepEnd, Stop> {
    work.mind_home(cx).await?;
    loop {
        let message = CommitKind::Merge.subject(&work.step.id);
        let call = GitCall::CatchUp { tree: work.place.tree.clone(), message };
        let caught: CaughtUp = cx.git(call).await.map_err(|failure| Stop::failed(failure.message))?;
        if caught.conflicts.is_empty() {
            break;
        }
        let (step, files) = (work.step.id.clone(), caught.conflicts.clone());
        cx.record(&RoadmapFact::Conflict { step, files });
        let place = work.place.clone();
        let asked = people::conflict(&work.step.id, &caught.conflicts, &place.path, &place.branch);
        let (choice, _) = people::decide(cx, Matter::Conflict, &work.step.id, asked).await;
        match choice {
            ConflictChoice::Retry => {}
            ConflictChoice::Rework => return again(cx, work).await,
            ConflictChoice::Cancel => {
                let reason = format!(
                    "its changes conflict with merged changes in {}; its branch {} is kept",
                    caught.conflicts.join(", "),
                    place.branch
                );
                return Err(Stop::failed(reason));
            }
        }
    }
    work.rebase(cx).await?;
    let place = work.place.clone();
    let files = work.bring_home(cx).await;
    // Once its files are in the workspace the step goes on there, also where the last commit did not come about.
    if !work.place.is_beside() {
        close_tree(cx, &place, true).await;
    }
    Ok(work.done(files?))
}

/// Does the step anew in the workspace, on top of what is there now.
async fn again(cx: &Cx, work: &mut Work<'_>) -> Result<StepEnd, Stop> {
    close_tree(cx, &work.place.clone(), false).await;
    let stopped = Stop::failed("it was in conflict with merged changes, and is done again");
    let _ = work.stopped(cx, stopped).await;
    work.start_over(cx).await?;
    work.phases(cx).await?;
    let files = work.bring_home(cx).await?;
    Ok(work.done(files))
}

/// What is left when a person cancels: nothing is undone, and the steps say how they stand.
pub(super) async fn leave(cx: &Cx, project: &Project) -> String {
    let steps: Vec<&Step> = match &project.start.only {
        Some(id) => project.roadmap.step(id).into_iter().collect(),
        None => project.roadmap.steps.iter().collect(),
    };
    for step in steps {
        if let Ok(mut work) = begin::open(cx, project, step, Place::default()).await
            && work.state.status == seriatim_core::roadmap::state::StepStatus::InProgress
        {
            let now = cx.now().await;
            let recovered = seriatim_core::roadmap::machine::crash(&work.state, now);
            if work.take(Ok((recovered.state, recovered.events)), now).is_ok() {
                work.state.failure_reason = Some("A person cancelled the run".to_owned());
                if let Err(Stop::Failed { reason, .. }) = work.save(cx).await {
                    cx.record(&RoadmapFact::Error { text: reason, about: Some(ErrorArea::StateFile) });
                }
                cx.record(&RoadmapFact::StepClosed {
                    step: step.id.clone(),
                    status: StepResult::Cancelled,
                    reason: "a person cancelled the run".to_owned(),
                });
            }
        }
    }
    "The work was cancelled. What is committed stays, nothing was undone, and steps can be tried again."
        .to_owned()
}

fn told(
    project: &Project,
    before: &BTreeSet<String>,
    ends: &BTreeMap<String, StepEnd>,
    closing: Option<Result<Closing, String>>,
    pushed: bool,
) -> Ended {
    let count = |wanted: fn(&StepEnd) -> bool| ends.values().filter(|end| wanted(end)).count();
    let (done, failed) = (count(StepEnd::is_done), count(|end| matches!(end, StepEnd::Failed(_))));
    let blocked = count(|end| matches!(end, StepEnd::Blocked(_)));
    let cancelled = count(|end| matches!(end, StepEnd::Cancelled(_)));
    let good = failed + blocked + cancelled == 0;
    let total = project.roadmap.steps.len();
    let mut message = format!("{} of {total} steps are done", before.len() + done);
    if good && done == 0 {
        message.push_str("; there was nothing to do");
    }
    for (number, word) in [(failed, "failed"), (blocked, "blocked"), (cancelled, "stopped")] {
        if number > 0 {
            message.push_str(&format!(", {number} {word}"));
        }
    }
    message.push('.');
    let troubles = ends.values().filter(|end| !end.is_done()).map(|end| end.told().message.clone());
    for trouble in troubles {
        message.push_str(&format!("\n{trouble}"));
    }
    let words = closing.as_ref().map(|closing| match closing {
        Ok(closing) => closing.words.as_str(),
        Err(words) => words.as_str(),
    });
    if let Some(words) = words.filter(|words| !words.is_empty()) {
        message.push_str(&format!("\n{words}"));
    }
    let status = match () {
        () if failed > 0 => End::Failed,
        () if cancelled > 0 => End::Cancelled,
        () if blocked > 0 => End::Blocked,
        () => End::Completed,
    };
    let steps: Vec<Value> = project
        .roadmap
        .steps
        .iter()
        .map(|step| match ends.get(&step.id) {
            Some(end) => end.outcome(),
            None => {
                json!({"step": step.id, "status": if before.contains(&step.id) { "DONE" } else { "TODO" }})
            }
        })
        .collect();
    let finalize = match &closing {
        None => Value::Null,
        Some(Ok(closing)) => json!(closing),
        Some(Err(words)) => json!({"words": words}),
    };
    let outcome = json!({
        "project": project.start.project, "steps": steps, "done": before.len() + done, "failed": failed,
        "blocked": blocked, "total": total, "finalize": finalize, "pushed": pushed,
    });
    ended(status, good, &message, outcome)
}
