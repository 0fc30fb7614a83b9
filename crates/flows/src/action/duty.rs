//! The work of one role: called, looked at, corrected, and taken over when it holds.

use std::collections::BTreeSet;

use serde_json::Value;
use seriatim_core::action::Duty;
use seriatim_core::action::boundary;
use seriatim_core::action::evidence::Change;
use seriatim_core::action::evidence::CommandRun;
use seriatim_core::action::facts::ActionFact;
use seriatim_core::action::facts::FileWritten;
use seriatim_core::action::facts::Skipped;
use seriatim_core::action::output;
use seriatim_core::action::output::Artifact;
use seriatim_core::action::output::Problem;
use seriatim_core::action::paths;
use seriatim_core::action::severity;
use seriatim_core::action::severity::Concern;
use seriatim_core::action::severity::PlainReview;
use seriatim_core::action::severity::Severity;
use seriatim_core::action::trouble;
use seriatim_core::action::trouble::Cause;
use seriatim_core::action::trouble::Impacted;
use seriatim_core::action::trouble::Next;
use seriatim_core::action::trouble::Scene;
use seriatim_core::action::trouble::Spent;
use seriatim_core::config::DEFAULT_AGENT;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::report::Report;
use seriatim_core::report::Status;
use seriatim_core::time::Utc;
use seriatim_core::verdict::PersonWord;
use seriatim_core::verdict::Verdict;
use seriatim_core::verdict::claims::Claims;

use super::call::Turn;
use super::course::Course;
use super::course::Did;
use super::failing::Decided;
use super::scope::within_scope;
use crate::Cx;
use crate::request::Check;
use crate::request::Command;
use crate::request::SceneCall;
use crate::request::SceneChange;
use crate::request::SceneKind;
use crate::request::Taken;
use crate::request::TreePlace;
use crate::reviewer;

/// Why a role's work does not go on.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Gone {
    Cancel { by: String },
    Rollback { by: String },
    Broken { why: String },
}

/// A role whose work does not go on, and what it did until then.
#[derive(Debug)]
pub(super) struct Stopped {
    pub(super) gone: Gone,
    pub(super) did: Did,
}

/// One role at work.
pub(super) struct Shift<'d> {
    pub(super) stage: u32,
    pub(super) duty: &'d Duty,
    pub(super) scene: Scene,
    /// The name of its copy, where it has one.
    pub(super) copy: String,
    pub(super) turn: Turn,
    pub(super) spent: Spent,
    pub(super) began: Utc,
    pub(super) tried: Vec<String>,
    pub(super) artifacts: Vec<Impacted>,
    pub(super) did: Did,
    pub(super) given: String,
    pub(super) gave: String,
    /// What failed calls left in the view outside of the contract. It is never merged, and held against no later call.
    pub(super) strays: Vec<String>,
    /// The view holds work within the contract of a call that was refused for what else it wrote.
    pub(super) refused: bool,
}

impl Course {
    /// Lets one role work until its work holds, or a person decides otherwise.
    pub(super) async fn duty(
        &self,
        cx: &Cx,
        stage: u32,
        duty: &Duty,
        scene: Scene,
        words: &[String],
        copy: Option<(String, TreePlace)>,
    ) -> Result<Did, Box<Stopped>> {
        let (copy, TreePlace { name: cwd, path, .. }) = copy.unwrap_or_default();
        let times = &self.start.timeouts;
        let configured = times.get(&duty.role).or_else(|| times.get(DEFAULT_AGENT)).copied();
        let mut shift = Shift {
            stage,
            duty,
            scene,
            copy,
            turn: Turn {
                attempt: self.calls.get(&duty.role).copied().unwrap_or(0),
                feedback: words.to_vec(),
                agent: None,
                timeout_ms: configured.unwrap_or(duty.timeout_ms),
                cwd,
                path,
            },
            spent: Spent::default(),
            began: cx.now().await,
            tried: vec![],
            artifacts: vec![],
            did: Did {
                owes: duty.writes.clone(),
                role: duty.role.clone(),
                title: duty.title(),
                reads: duty.reads.clone(),
                review: duty.review,
                ..Did::default()
            },
            given: String::new(),
            gave: String::new(),
            strays: vec![],
            refused: false,
        };
        match self.shift(cx, &mut shift).await {
            Ok(()) => Ok(shift.did),
            Err(gone) => {
                self.keep_unfinished(cx, &shift).await;
                Err(Box::new(Stopped { gone, did: shift.did }))
            }
        }
    }

    /// Call after call, with what people decide in between.
    async fn shift(&self, cx: &Cx, shift: &mut Shift<'_>) -> Result<(), Gone> {
        let broken = |failure: Failure| Gone::Broken { why: failure.message };
        if shift.copy.is_empty() {
            cx.scene::<()>(SceneCall::Mark { name: shift.mark() }).await.map_err(broken)?;
        }
        let mut by_hand = false;
        let mut result = self.attempt(cx, shift, false).await;
        loop {
            let Err(failure) = result else { return Ok(()) };
            self.note_failure(cx, shift, &failure).await;
            let decided = match std::mem::take(&mut by_hand) {
                // What a person mended is not overwritten by an agent.
                true => self.escalate(cx, shift, failure).await,
                false => self.next(cx, shift, failure).await,
            };
            match decided? {
                Decided::Again => result = self.attempt(cx, shift, false).await,
                Decided::LookAgain => {
                    by_hand = true;
                    result = self.attempt(cx, shift, true).await;
                }
                Decided::Skip => {
                    let (role, stage) = (shift.duty.role.clone(), shift.stage);
                    cx.record(&ActionFact::RoleSkipped { role, stage, reason: Skipped::Failed });
                    shift.did.skipped = true;
                    return Ok(());
                }
                Decided::TakeAsItIs => {
                    by_hand = true;
                    result = self.take_as_it_is(cx, shift).await;
                }
            }
        }
    }

    /// One call, and everything that is looked at afterwards. After a fix by hand nobody is called.
    async fn attempt(&self, cx: &Cx, shift: &mut Shift<'_>, by_hand: bool) -> Result<(), Failure> {
        let duty = shift.duty;
        shift.artifacts.clear();
        let guide = self.guide(cx, duty).await?;
        shift.did.guide = (duty.guide.clone(), guide.body.clone());
        if !by_hand {
            shift.turn.attempt += 1;
            shift.did.calls += 1;
            shift.given = self.prompt(duty, &guide, &shift.turn);
            if shift.is_marked_anew() {
                cx.scene::<()>(SceneCall::Mark { name: shift.call_mark() }).await?;
            }
            cx.record(&ActionFact::RoleCalled {
                role: duty.role.clone(),
                stage: shift.stage,
                attempt: shift.turn.attempt,
                agent: shift.turn.agent.clone(),
                timeout_ms: shift.turn.timeout_ms,
                feedback: shift.turn.feedback.clone(),
            });
            let called = self.call(cx, duty, shift.given.clone(), &shift.turn).await;
            let heard = match called.map_err(tried_again) {
                Ok(report) => self.hear(cx, shift, &report).await,
                Err(failure) => Err(failure),
            };
            let outside = self.merge_work(cx, shift, heard.is_ok()).await;
            heard?;
            within_scope(shift, &outside?)?;
        } else {
            self.merge_refused(cx, shift).await?;
        }
        self.look(cx, shift).await?;
        shift.did.verdict = Some(shift.verdict(by_hand));
        self.take(cx, shift).await
    }

    /// Takes invalid output on a person's word. Work that does not exist cannot be taken.
    async fn take_as_it_is(&self, cx: &Cx, shift: &mut Shift<'_>) -> Result<(), Failure> {
        self.merge_refused(cx, shift).await?;
        let listed: Vec<String> = cx.scene(SceneCall::Files { copy: shift.copy.clone() }).await?;
        let missing = shift.duty.missing(&listed.into_iter().collect());
        if missing.is_empty() {
            return self.take(cx, shift).await;
        }
        shift.artifacts = Impacted::of_missing(&missing);
        Err(Failure::new(Class::MissingArtifact, output::missing_text(&shift.duty.role, &missing)))
    }

    /// What the role says: its findings, its questions, its own doubt.
    async fn hear(&self, cx: &Cx, shift: &mut Shift<'_>, report: &Report) -> Result<(), Failure> {
        shift.gave =
            serde_json::to_string(report).unwrap_or_else(|error| format!("not writable as JSON: {error}"));
        shift.did.summary.clone_from(&report.summary);
        shift.did.raised = report.questions.iter().map(|question| question.question.clone()).collect();
        if report.status == Status::Partial {
            return Err(unusable("its work is only partly done", vec![report.summary.clone()]));
        }
        let text =
            |name: &str| report.outputs.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let by_person = self.is_by_person(shift.duty, &shift.turn);
        shift.did.person = by_person.then(|| text("by"));
        let claims = Claims::of_report(report, Severity::Critical);
        if !shift.duty.review {
            let refusal = claims.refusal().filter(|_| !by_person);
            return match refusal.map(|claim| format!("the report says done, and {claim}")) {
                Some(problem) => Err(unusable("it contradicts itself", vec![problem])),
                None => Ok(()),
            };
        }
        let review = match by_person {
            true => reviewer::read(&shift.duty.role, &report.outputs),
            false => reviewer::read_report(&shift.duty.role, &report.outputs),
        };
        let PlainReview { found, closed } =
            review.map_err(|problems| unusable("its findings cannot be used", problems))?;
        if !by_person && let Some(problem) = contradiction(&claims, &found) {
            return Err(unusable("it contradicts itself", vec![problem]));
        }
        let refused = self.refused_closings(cx, &closed, shift.did.person.as_deref()).await;
        if !refused.is_empty() {
            let problems = refused.iter().map(ToString::to_string).collect();
            return Err(unusable("it closes findings that it cannot close", problems));
        }
        (shift.did.concerns, shift.did.closings) = (found, closed);
        Ok(())
    }

    /// Looks at what was written: where, whether it is all there, and whether it holds.
    async fn look(&self, cx: &Cx, shift: &mut Shift<'_>) -> Result<(), Failure> {
        let changes = self.changes(cx, shift).await?;
        let listed: Vec<String> = cx.scene(SceneCall::Files { copy: shift.copy.clone() }).await?;
        let existing: BTreeSet<String> = listed.into_iter().collect();
        let missing = shift.duty.missing(&existing);
        if !missing.is_empty() {
            shift.artifacts = Impacted::of_missing(&missing);
            let text = output::missing_text(&shift.duty.role, &missing);
            return Err(Failure::new(Class::MissingArtifact, text));
        }
        let problems = self.problems(cx, shift, &changes, &existing).await;
        if problems.is_empty() {
            return Ok(());
        }
        shift.artifacts = Impacted::of_problems(&problems);
        self.keep_invalid(cx, shift, &changes).await;
        let message = problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        Err(Failure { feedback: vec![output::feedback(&problems)], ..Failure::new(Class::Invalid, message) })
    }

    /// What the role wrote since it began, within its contract.
    pub(super) async fn changes(&self, cx: &Cx, shift: &Shift<'_>) -> Result<Vec<SceneChange>, Failure> {
        let found: Vec<SceneChange> =
            cx.scene(SceneCall::Changes { name: shift.mark(), copy: shift.copy.clone() }).await?;
        let own = |change: &SceneChange| !paths::is_own(&change.path) && shift.duty.may_write(&change.path);
        Ok(found.into_iter().filter(own).collect())
    }

    /// Everything that is wrong with the files, all at once (OC-36).
    async fn problems(
        &self,
        cx: &Cx,
        shift: &mut Shift<'_>,
        changes: &[SceneChange],
        existing: &BTreeSet<String>,
    ) -> Vec<Problem> {
        let mut texts: Vec<(String, Option<String>)> = vec![];
        for change in changes.iter().filter(|change| change.kind != SceneKind::Deleted && !change.ignored) {
            let path = shift.at(&change.path);
            texts.push((change.path.clone(), cx.read(&path).await.ok().map(|text| text.text)));
        }
        let artifacts: Vec<Artifact<'_>> =
            texts.iter().map(|(path, text)| Artifact { path, text: text.as_deref() }).collect();
        let mut problems = output::validate(shift.duty, &artifacts, existing);
        for (path, text) in &texts {
            let named =
                text.as_deref().and_then(|text| boundary::solution_words(path, text, &self.start.solution));
            problems.extend(named.map(|breach| Problem {
                path: path.clone(),
                line: None,
                message: breach.to_string(),
            }));
            problems.extend(self.syntax(cx, shift, path).await);
        }
        problems
    }

    /// The syntax of code, by the checker that is configured for files of its kind (OC-35).
    async fn syntax(&self, cx: &Cx, shift: &mut Shift<'_>, path: &str) -> Option<Problem> {
        let ending = path.rsplit_once('.').map(|(_, ending)| ending)?;
        let argv = self.start.syntax.get(ending)?;
        let argv: Vec<String> = argv.iter().map(|word| word.replace("{file}", path)).collect();
        let at = cx.now().await;
        let check = Some(Check::named("syntax"));
        let command =
            Command { argv: argv.clone(), cwd: shift.turn.cwd.clone(), check, ..Command::default() };
        let (exit, said, duration_ms) = match cx.exec(command).await {
            Ok(ran) => (ran.code, format!("{}{}", ran.stdout, ran.stderr), ran.duration_ms),
            Err(failure) => (None, failure.message, 0),
        };
        let stage = self.proof.stage.clone();
        shift.did.commands.push(CommandRun { at, argv, within: vec![], exit, duration_ms, stage });
        let said = said
            .lines()
            .rev()
            .find(|line| !line.trim().is_empty())
            .unwrap_or("it does not parse")
            .trim()
            .to_owned();
        (exit != Some(0)).then(|| Problem {
            path: path.to_owned(),
            line: None,
            message: format!("Syntax: {said}"),
        })
    }

    /// Invalid output is kept, each try apart (OC-39, E-62).
    pub(super) async fn keep_invalid(&self, cx: &Cx, shift: &Shift<'_>, changes: &[SceneChange]) {
        let kept: Vec<(String, String)> = changes
            .iter()
            .filter(|change| change.kind != SceneKind::Deleted)
            .map(|change| {
                let to = output::failed_path(&self.id, &shift.duty.role, shift.turn.attempt, &change.path);
                (change.path.clone(), to)
            })
            .collect();
        let _: Result<(), _> = cx.scene(SceneCall::Keep { copy: shift.copy.clone(), paths: kept }).await;
    }

    /// A copy goes when its role stops; what was begun in it does not (OC-33).
    async fn keep_unfinished(&self, cx: &Cx, shift: &Shift<'_>) {
        if shift.copy.is_empty() {
            return;
        }
        if let Ok(changes) = self.changes(cx, shift).await {
            self.keep_invalid(cx, shift, &changes).await;
        }
    }

    /// Takes the work over into the workspace.
    async fn take(&self, cx: &Cx, shift: &mut Shift<'_>) -> Result<(), Failure> {
        let changes = self.changes(cx, shift).await?;
        if !shift.copy.is_empty() {
            let paths: Vec<String> = changes.iter().filter(|c| !c.ignored).map(|c| c.path.clone()).collect();
            let taken: Taken = cx.scene(SceneCall::Take { copy: shift.copy.clone(), paths }).await?;
            if !taken.conflicts.is_empty() {
                let what = format!("others changed the same files meanwhile: {}", taken.conflicts.join(", "));
                shift.artifacts = taken
                    .conflicts
                    .into_iter()
                    .map(|path| Impacted { path, note: "changed twice".into() })
                    .collect();
                return Err(Failure::new(Class::Contract, what));
            }
        }
        let of = |change: &SceneChange| match change.kind {
            SceneKind::Added => Change::Created,
            SceneKind::Deleted => Change::Deleted,
            SceneKind::Modified | SceneKind::Mode => Change::Updated,
        };
        let written = changes.iter().filter(|c| !c.ignored).map(|c| (c.path.clone(), of(c)));
        shift.did.written = written.collect();
        let files = shift.did.written.iter();
        cx.record(&ActionFact::RoleDone {
            role: shift.duty.role.clone(),
            stage: shift.stage,
            calls: shift.did.calls,
            files: files.map(|(path, change)| FileWritten { path: path.clone(), change: *change }).collect(),
            summary: shift.did.summary.clone(),
            findings: shift.did.concerns.clone(),
        });
        Ok(())
    }

    /// What is done about a failure: by itself where that makes sense, else a person decides.
    async fn next(&self, cx: &Cx, shift: &mut Shift<'_>, failure: Failure) -> Result<Decided, Gone> {
        let cause = Cause::of(&failure);
        if cause == Cause::Interrupted {
            shift.spent.interruptions += 1;
        } else {
            shift.spent.calls += 1;
        }
        let next = trouble::next(cause, shift.spent);
        if shift.scene == Scene::Parallel && !matches!(next, Next::Ask | Next::Stop) {
            self.tell_retry(cx, &shift.duty.role, &failure.message);
        }
        match next {
            Next::Wait { ms } => {
                let text = trouble::wait_line(&failure.message, ms);
                cx.record(&ActionFact::Waiting { role: shift.duty.role.clone(), text, ms });
                cx.sleep(ms).await;
                Ok(Decided::Again)
            }
            Next::Correct => {
                shift.spent.corrections += 1;
                shift.turn.feedback = match failure.feedback.is_empty() {
                    true => vec![failure.message.clone()],
                    false => failure.feedback.clone(),
                };
                Ok(Decided::Again)
            }
            Next::Again => Ok(Decided::Again),
            Next::Ask => self.escalate(cx, shift, failure).await,
            Next::Stop => Err(Gone::Broken { why: failure.message }),
        }
    }
}

impl Shift<'_> {
    /// Under which name the workspace was remembered before the role began.
    pub(super) fn mark(&self) -> String {
        if self.copy.is_empty() { format!("{}-{}", self.stage, self.duty.role) } else { self.copy.clone() }
    }

    /// What is known about work that passed every look at it.
    fn verdict(&self, by_hand: bool) -> Verdict {
        let title = self.duty.title();
        let found = severity::counted(&self.did.concerns);
        match (&self.did.person, self.duty.review, by_hand) {
            (_, true, true) => Verdict::unknown("its files were fixed by hand, and it reported no findings"),
            (Some(person), true, false) => Verdict::decided(person, PersonWord::Confirmed, found),
            (None, true, false) => Verdict::judged(title, found),
            (_, false, _) if self.duty.writes.is_empty() => Verdict::judged(title, self.did.summary.clone()),
            (_, false, _) => Verdict::checked(title, "its files are there and valid", None),
        }
    }

    /// Whether the workspace is remembered again before the next call, since others had time to change it.
    fn is_marked_anew(&self) -> bool {
        self.copy.is_empty() && !self.tried.is_empty()
    }

    /// Under which name the workspace was remembered before the last call.
    pub(super) fn call_mark(&self) -> String {
        if self.is_marked_anew() { format!("{}-again", self.mark()) } else { self.mark() }
    }

    fn at(&self, path: &str) -> String {
        if self.turn.cwd.is_empty() { path.to_owned() } else { format!("{}/{path}", self.turn.cwd) }
    }
}

/// A role that only says that it failed is tried again like one that crashed (OC-48).
fn tried_again(failure: Failure) -> Failure {
    let class = if failure.unclassed { Class::Crash } else { failure.class };
    Failure { class, ..failure }
}

/// A report that its author has to correct.
fn unusable(what: &str, problems: Vec<String>) -> Failure {
    let message = format!("{what}: {}", problems.join("; "));
    Failure { feedback: problems, ..Failure::new(Class::Invalid, message) }
}

/// How a review contradicts itself: by its claims, or because it refuses and says nowhere why.
fn contradiction(claims: &Claims, found: &[Concern]) -> Option<String> {
    let unfounded = claims.refusal().filter(|_| found.is_empty());
    let unfounded = unfounded.map(|claim| format!("{claim}, and no finding says why"));
    claims.contradiction().map(|two| two.to_string()).or(unfounded)
}
