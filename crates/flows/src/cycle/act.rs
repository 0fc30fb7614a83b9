//! The Actor: the step and nothing else, measured by the engine (CY-39 to CY-49).

use serde_json::Value;
use seriatim_core::cycle::block::Block;
use seriatim_core::cycle::block::Mark;
use seriatim_core::cycle::block::Role;
use seriatim_core::cycle::choices::BlockedChoice;
use seriatim_core::cycle::facts::BlockerClass;
use seriatim_core::cycle::facts::CycleFact;
use seriatim_core::cycle::facts::Decision;
use seriatim_core::cycle::limits;
use seriatim_core::cycle::limits::Changed;
use seriatim_core::cycle::limits::Measure;
use seriatim_core::cycle::limits::Verdict;
use seriatim_core::cycle::limits::counted;
use seriatim_core::cycle::plan::PlanStep;
use seriatim_core::failure::Failure;
use seriatim_core::forbidden;
use seriatim_core::report::Report;
use seriatim_core::report::Status;

use super::course::Course;
use super::course::one_line;
use super::plan::Called;
use super::theirs::Theirs;
use super::words;
use crate::registry::Ended;
use crate::request::Difference;
use crate::request::FORBIDDEN;
use crate::request::FileChange;

/// How much of a diff goes into the document.
const DIFF_BYTES_MAX: u64 = 256 << 10;

/// What the Actor did, as the engine measured it. Scope is a matter of the step; everything else of all that the
/// cycle has changed so far, or what one try brought in could hide behind the next.
pub(super) struct Done {
    pub(super) paths: Vec<String>,
    pub(super) diff: String,
    /// Credentials that it brings in.
    pub(super) leaks: Vec<String>,
    /// What a person should know at the approval.
    pub(super) remarks: Vec<String>,
    pub(super) lines: u64,
}

pub(super) enum Acted {
    Done(Done),
    Again,
    Pause,
    /// A person stopped it.
    Over(Ended),
    Fatal(String),
}

/// Why a step did not come to an end, and where it goes (K-59).
enum Blocker {
    Adjustable(String),
    /// A person's word is needed, perhaps for one command.
    Approval {
        why: String,
        command: Option<String>,
    },
    Unrecoverable(String),
}

impl Blocker {
    fn class(&self) -> BlockerClass {
        match self {
            Blocker::Adjustable(_) => BlockerClass::Adjustable,
            Blocker::Approval { .. } => BlockerClass::Approval,
            Blocker::Unrecoverable(_) => BlockerClass::Unrecoverable,
        }
    }

    fn why(&self) -> &str {
        match self {
            Blocker::Adjustable(why) | Blocker::Approval { why, .. } | Blocker::Unrecoverable(why) => why,
        }
    }
}

impl Course<'_> {
    pub(super) async fn act(&mut self, step: &PlanStep) -> Acted {
        self.watch_time().await;
        if self.base.is_none() {
            self.take_floor_before_work().await;
        }
        let before = match self.tree_before().await {
            Ok(tree) => tree,
            Err(failure) => return Acted::Fatal(failure.message),
        };
        let planned: Vec<String> = step.files.iter().chain(&step.creates).cloned().collect();
        if let Some(other) = self.respect_theirs(&planned).await {
            return other;
        }
        let safe = if self.isolated { None } else { self.cx.snapshot(vec![]).await.ok() };
        self.save_work().await;
        self.planned.extend(step.targets());
        let called = match self.consult(Role::Actor, words::step_brief(step), vec![]).await {
            Called::Over(end) => return Acted::Over(end),
            Called::Report(report) => Ok(*report),
            Called::Failed(failure) => Err(failure.in_one_line()),
        };
        let intact = self.check_document().await;
        if let Err(failure) = self.survey_work().await {
            return Acted::Fatal(failure.message);
        }
        let difference = match self.difference(&before, self.state_files(), DIFF_BYTES_MAX).await {
            Ok(difference) => difference,
            Err(failure) => return Acted::Fatal(failure.message),
        };
        for file in &difference.files {
            self.by_products.remove(&file.path);
        }
        let measure = limits::measure(&sizes(&difference));
        let verdict = limits::judge(&measure, step.risk, &self.limits);
        let mut remarks = limits::remarks(&measure, &self.limits);
        if let Verdict::Flagged(remark) = &verdict {
            remarks.push(remark.clone());
        }
        let summary = called.as_ref().map(|report| report.summary.clone()).unwrap_or_default();
        let blocker = self.blocker(step, called, intact, &verdict);
        if matches!(verdict, Verdict::Stop(_)) {
            // Beyond the limit nothing stays. Its diff is in the document; without a view it is kept as a snapshot, too.
            self.put_back(safe.as_deref(), measure.lines).await;
        }
        self.write_down(&measure, &difference.diff, blocker.as_ref()).await;
        if let Some(blocker) = blocker {
            let (class, why) = (blocker.class(), blocker.why().to_owned());
            self.fact(CycleFact::WorkFailed { cycle: self.number, blocker: class, why });
            return self.route(blocker).await;
        }
        self.fails = 0;
        let work = self.work(remarks, measure.lines).await;
        let files = work.as_ref().map(|done| done.paths.clone()).unwrap_or_default();
        if let Some(other) = self.respect_theirs(&files).await {
            if matches!(other, Acted::Again) {
                self.put_back(safe.as_deref(), measure.lines).await;
            }
            return other;
        }
        match work {
            Ok(done) => {
                let (files, lines) = (done.paths.clone(), done.lines);
                self.fact(CycleFact::WorkDone { cycle: self.number, summary, files, lines });
                Acted::Done(done)
            }
            Err(failure) => Acted::Fatal(failure.message),
        }
    }

    /// Notes where the work begins, and returns the tree as it is before the next attempt.
    async fn tree_before(&mut self) -> Result<String, Failure> {
        let stand = self.cx.stand().await?;
        self.note_beginning(&stand).await?;
        match self.isolated {
            true => self.tree_of_work().await,
            false => Ok(stand.tree),
        }
    }

    /// Returns how it goes on where files of the work hold changes of the user that must not be taken.
    async fn respect_theirs(&mut self, files: &[String]) -> Option<Acted> {
        match self.mind_theirs(files).await {
            Theirs::Fine => None,
            Theirs::Without(why) => {
                self.diagnostics = Some(why);
                Some(Acted::Again)
            }
            Theirs::Over(end) => Some(Acted::Over(end)),
        }
    }

    /// Takes the last attempt back.
    async fn put_back(&mut self, safe: Option<&str>, lines: u64) {
        let undo = match (self.isolated, safe) {
            (true, _) => self.reset_work().await.map(|()| None),
            (false, Some(id)) => self.cx.restore(id).await.map(Some),
            (false, None) => Ok(None),
        };
        self.fact(CycleFact::WorkPutBack { kept_as: undo.ok().flatten(), lines });
    }

    /// All that the cycle has changed so far.
    pub(super) async fn work(&self, mut remarks: Vec<String>, lines: u64) -> Result<Done, Failure> {
        let base = self.base.clone().unwrap_or_default();
        let all = self.difference(&base, self.apart(), DIFF_BYTES_MAX).await?;
        // The comment came with the change, so a person should see what it lets through.
        for waived in &all.waived {
            let remark = format!("{waived}; a comment on the line says that it is none.");
            if !remarks.contains(&remark) {
                remarks.push(remark);
            }
        }
        Ok(Done { paths: paths(&all), diff: all.diff, leaks: all.leaks, remarks, lines })
    }

    /// Files that are not as they were in a tree; a repository that cannot tell is a change too.
    pub(super) async fn changed_since(&self, tree: &str) -> Vec<String> {
        match self.difference(tree, self.state_files(), 0).await {
            Ok(difference) => paths(&difference),
            Err(failure) => vec![failure.message],
        }
    }

    /// Whether the Actor's work counts, and if not, why.
    fn blocker(
        &self,
        step: &PlanStep,
        called: Result<Report, String>,
        intact: bool,
        verdict: &Verdict,
    ) -> Option<Blocker> {
        let report = match called {
            Ok(report) => report,
            Err(why) => return Some(Blocker::Adjustable(why)),
        };
        if !intact {
            let what = "The Actor changed earlier parts of the cycle document; they were restored.";
            return Some(Blocker::Adjustable(what.to_owned()));
        }
        if let Verdict::Stop(why) = verdict {
            return Some(Blocker::Adjustable(why.clone()));
        }
        let mut said = vec![report.summary.clone()];
        let shown = report.unknown.get(FORBIDDEN).and_then(Value::as_array);
        said.extend(shown.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned));
        let planned: Vec<&String> = step.commands.iter().chain(&self.approved_commands).collect();
        let hits = forbidden::find(&said, &self.limits.forbidden);
        if let Some(hit) = hits.iter().find(|h| !planned.iter().any(|p| **p == h.text)) {
            let why = format!("A command was used that is forbidden ({}): {}", hit.pattern, hit.text);
            return Some(Blocker::Approval { why, command: Some(hit.text.clone()) });
        }
        let is_done = report.status == Status::Done;
        let has_blocker = report.outputs.get("blocker").is_some_and(|blocker| !is_empty(blocker));
        match report.outputs.get("result").and_then(Value::as_str) {
            // A part of a step is a failure with partial results, which the Planner sees (CY-72).
            Some("SUCCESS") if !is_done => {
                let what = format!("The step is only partly done. The Actor says: {}", report.summary);
                Some(Blocker::Adjustable(what))
            }
            Some("SUCCESS") if has_blocker => {
                Some(Blocker::Adjustable("The Actor says SUCCESS and names a blocker.".to_owned()))
            }
            Some("SUCCESS") => None,
            Some("FAIL") => Some(said_blocker(&report)),
            other => {
                let what =
                    format!("The result must be SUCCESS or FAIL; it was {}.", other.unwrap_or("missing"));
                Some(Blocker::Adjustable(what))
            }
        }
    }

    async fn write_down(&mut self, measure: &Measure, diff: &str, blocker: Option<&Blocker>) {
        let (mark, next, said) = match blocker {
            None => (
                Mark::Success,
                Role::Judge,
                format!("{} in {}", counted(measure.lines, "line"), counted(measure.files, "file")),
            ),
            Some(Blocker::Approval { why, .. }) => (Mark::Fail, Role::Human, why.clone()),
            Some(Blocker::Adjustable(why) | Blocker::Unrecoverable(why)) => {
                (Mark::Fail, Role::Planner, why.clone())
            }
        };
        let body = words::with_diff(&said, diff);
        let block = Block { role: Role::Actor, mark, summary: one_line(&said), next, extra: vec![] };
        self.append("Changes", &body, block).await;
    }

    async fn route(&mut self, blocker: Blocker) -> Acted {
        self.iterations += 1;
        match blocker {
            Blocker::Adjustable(why) => {
                self.fails += 1;
                self.blockers.push(why.clone());
                self.diagnostics = Some(why);
                if self.fails >= self.limits.insufficient { Acted::Pause } else { Acted::Again }
            }
            Blocker::Approval { why, command } => {
                self.fails += 1;
                self.blockers.push(why.clone());
                let (choice, answer) = self.ask(super::people::blocked(&why)).await;
                self.decided(Decision::Blocked(choice), &answer);
                match choice {
                    BlockedChoice::Approve => {
                        self.approved_commands.extend(command);
                        self.diagnostics = Some(format!("{why} A person approved it."));
                        Acted::Again
                    }
                    BlockedChoice::Changes => {
                        self.diagnostics =
                            Some(format!("{why} A person said: {}", answer.text.unwrap_or_default()));
                        Acted::Again
                    }
                    BlockedChoice::Stop => Acted::Over(self.stop(&answer.by).await),
                }
            }
            Blocker::Unrecoverable(why) => Acted::Fatal(why),
        }
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.values().all(is_empty),
        Value::Bool(true) | Value::Number(_) => false,
    }
}

/// The Actor's own word about what stands in its way.
fn said_blocker(report: &Report) -> Blocker {
    let blocker = report.outputs.get("blocker").cloned().unwrap_or_default();
    let explained = blocker["explanation"].as_str().unwrap_or(&report.summary).to_owned();
    let explained =
        if explained.trim().is_empty() { "The Actor gave no reason.".to_owned() } else { explained };
    // A class that is missing or not known is one that the Planner can work around.
    match blocker["class"].as_str().and_then(BlockerClass::of) {
        Some(BlockerClass::Approval) => Blocker::Approval { why: explained, command: None },
        Some(BlockerClass::Unrecoverable) => Blocker::Unrecoverable(explained),
        Some(BlockerClass::Adjustable) | None => Blocker::Adjustable(explained),
    }
}

fn sizes(difference: &Difference) -> Vec<Changed> {
    let size = |f: &FileChange| Changed {
        path: f.path.clone(),
        added: f.added,
        deleted: f.deleted,
        binary: f.binary,
        renamed: f.old_path.is_some(),
    };
    difference.files.iter().map(size).collect()
}

/// Every path that a change is about, also those that were left.
pub(super) fn paths(difference: &Difference) -> Vec<String> {
    difference.files.iter().flat_map(|f| std::iter::once(f.path.clone()).chain(f.old_path.clone())).collect()
}
