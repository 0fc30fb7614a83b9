//! The closing pass after the last step: refactoring of the whole, a check of the tests themselves, a last look.

use serde_json::json;
use seriatim_core::failure::Failure;
use seriatim_core::report::Brief;
use seriatim_core::roadmap::facts::Closing;
use seriatim_core::roadmap::facts::ClosingMutation;
use seriatim_core::roadmap::facts::ClosingRefactoring;
use seriatim_core::roadmap::facts::ClosingReview;
use seriatim_core::roadmap::facts::MutationStatus;
use seriatim_core::roadmap::facts::RefactoringStatus;
use seriatim_core::roadmap::facts::ReviewStatus;
use seriatim_core::roadmap::facts::RoadmapFact;
use seriatim_core::roadmap::machine;
use seriatim_core::roadmap::proof;
use seriatim_core::roadmap::proof::Earlier;
use seriatim_core::roadmap::proof::Sort;
use seriatim_core::roadmap::result::FilesModified;
use seriatim_core::roadmap::result::mutation_scope;
use seriatim_core::roadmap::store::StateFile;
use seriatim_core::roadmap::verdict::Level;
use seriatim_core::world::ViewFile;

use super::project::Project;
use crate::Cx;
use crate::attempts::Cap;
use crate::attempts::attempts;
use crate::gate::GateCall;
use crate::gate::run_gate;
use crate::request::Assignment;
use crate::request::Check;
use crate::request::Checkpoint;
use crate::request::Command;
use crate::request::CommitBase;
use crate::request::Committed;
use crate::request::Difference;
use crate::request::Done;
use crate::request::FileChange;
use crate::request::GitCall;
use crate::request::HookRun;
use crate::request::Hooked;
use crate::request::Stand;
use crate::views;
use crate::views::Rules;

/// What the closing pass is called where steps have their ids.
const FINALIZE: &str = "finalize";
/// Its one phase (DW-67).
const PHASE: &str = "REFACTOR_ARCHITECTURE";

/// Runs the closing pass and returns its result, or why it was skipped. The steps are done in any case.
pub(super) async fn close(cx: &Cx, project: &Project) -> Result<Closing, String> {
    let scope = match recorded(cx, project).await {
        Ok(files) => mutation_scope(files.iter()),
        Err(why) => {
            let text = format!("The closing pass was skipped: {why}.");
            cx.record(&RoadmapFact::Error { text: text.clone(), about: None });
            return Err(text);
        }
    };
    let refactored = refactor(cx, project, &scope).await;
    let mutation = mutate(cx, project, &scope).await;
    let review = review(cx, project).await;
    let words = [&refactored.words, &mutation.words, &review.words]
        .into_iter()
        .filter(|words| !words.is_empty())
        .cloned()
        .collect::<Vec<_>>()
        .join(" ");
    let closing = Closing { refactoring: refactored, mutation, review, mutation_scope: scope, words };
    cx.record(&RoadmapFact::Finalized { closing: closing.clone() });
    Ok(closing)
}

/// What all steps together changed (DW-71).
async fn recorded(cx: &Cx, project: &Project) -> Result<Vec<FilesModified>, String> {
    let mut all = vec![];
    for step in &project.roadmap.steps {
        let file: StateFile = project.state(cx, &step.id).await.map_err(|broken| broken.headline())?;
        all.extend(file.files_modified(&step.id));
    }
    Ok(all)
}

/// Architecture levels L4 to L6, once for the whole: briefed, gated, and put back when a gate turns red.
async fn refactor(cx: &Cx, project: &Project, scope: &[String]) -> ClosingRefactoring {
    let stand: Stand = match cx.git(GitCall::Stand { tree: String::new() }).await {
        Ok(stand) => stand,
        Err(failure) => return ClosingRefactoring::new(RefactoringStatus::Omitted, failure.message),
    };
    let safe = cx.snapshot(vec![]).await.ok();
    let agent = project.start.agent.clone().unwrap_or_else(|| super::USUAL_AGENT.to_owned());
    let assign = |attempt: u32, feedback: &[String]| assignment(project, &agent, scope, attempt, feedback);
    let attempted = attempts(cx, Cap::default(), 0, vec![], assign).await;
    let report = match attempted.result {
        Ok(report) => report,
        Err(failure) => {
            let words = format!("The closing refactoring (L4 to L6) was not done: {}.", failure.message);
            return ClosingRefactoring::new(RefactoringStatus::NotDone, words);
        }
    };
    let rules = Rules { takes: &|file: &ViewFile| scope.contains(&file.path), names: &|_| false };
    let left = match views::merge(cx, FINALIZE, FINALIZE, "", &rules).await {
        Ok(left) => left,
        Err(failure) => return ClosingRefactoring::new(RefactoringStatus::NotDone, failure.message),
    };
    let changed = match changes(cx, &stand.tree).await {
        Ok(changed) => changed,
        // What nobody can look at is not taken.
        Err(failure) => {
            let words = format!("The closing refactoring was put back: {}.", failure.message);
            return put_back(cx, safe.as_deref(), report.summary, words).await;
        }
    };
    let kept = left.kept.iter().map(|file| file.path.as_str());
    let outside: Vec<&str> = changed
        .iter()
        .map(|f| f.path.as_str())
        .filter(|path| !scope.iter().any(|s| s == path))
        .chain(kept)
        .collect();
    let paths: Vec<String> =
        changed.iter().cloned().flat_map(|file| [Some(file.path), file.old_path]).flatten().collect();
    let (message, seen) = match look_with_hooks(cx, project, &paths).await {
        Ok(looked) => looked,
        Err(failure) => return ClosingRefactoring::new(RefactoringStatus::NotCommitted, failure.message),
    };
    let red = red_gates(cx, project).await;
    if !red.is_empty() || !outside.is_empty() {
        let why = match outside.is_empty() {
            true => red.join(" "),
            false => format!("it changed files that no step changed: {}.", outside.join(", ")),
        };
        let words = format!("The closing refactoring was refused and put back: {why}");
        return put_back(cx, safe.as_deref(), report.summary, words).await;
    }
    if changed.is_empty() {
        return ClosingRefactoring {
            claim: Some(report.summary),
            ..ClosingRefactoring::new(RefactoringStatus::NothingToChange, "")
        };
    }
    let checkpoint = Checkpoint {
        message,
        trailers: vec![("Step".to_owned(), FINALIZE.to_owned())],
        paths,
        seen,
        onto: Some(CommitBase::of(&stand)),
        ..Checkpoint::default()
    };
    commit_refactoring(cx, checkpoint, report.summary).await
}

async fn commit_refactoring(cx: &Cx, checkpoint: Checkpoint, claim: String) -> ClosingRefactoring {
    match cx.git::<Committed>(GitCall::Commit(checkpoint)).await {
        Ok(made) => ClosingRefactoring {
            commit: Some(made.commit),
            files: Some(made.paths),
            claim: Some(claim),
            ..ClosingRefactoring::new(RefactoringStatus::Done, "The closing refactoring is committed.")
        },
        Err(failure) => ClosingRefactoring::new(RefactoringStatus::NotCommitted, failure.message),
    }
}

/// Has the user's hooks look at the change. Returns the message of its commit and the tree that is committed.
async fn look_with_hooks(cx: &Cx, project: &Project, paths: &[String]) -> Done<(String, String)> {
    let mut message = format!("refactor({}): L4-L6\n\nArchitecture of the whole", project.start.project);
    if !paths.is_empty() {
        let run = HookRun {
            message: message.clone(),
            paths: paths.to_vec(),
            check: Check { ours: Some(paths.to_vec()), ..Check::named("hooks") },
            bounded: true,
            ..HookRun::default()
        };
        let hooked: Hooked = cx.git(GitCall::Hooks(run)).await?;
        message = Some(hooked.message).filter(|text| !text.is_empty()).unwrap_or(message);
    }
    let seen: Stand = cx.git(GitCall::Stand { tree: String::new() }).await?;
    Ok((message, seen.tree))
}

/// Brings the files back as they were before the closing pass, and says whether that succeeded.
async fn put_back(cx: &Cx, safe: Option<&str>, claim: String, words: String) -> ClosingRefactoring {
    let restored = match safe {
        Some(id) => cx.restore(id).await.is_ok(),
        None => false,
    };
    ClosingRefactoring {
        restored: Some(restored),
        claim: Some(claim),
        ..ClosingRefactoring::new(RefactoringStatus::Refused, words)
    }
}

async fn changes(cx: &Cx, since: &str) -> Result<Vec<FileChange>, Failure> {
    let apart = vec![".seriatim/".to_owned(), "docs/feature/".to_owned()];
    let call = GitCall::Changes { since: since.to_owned(), apart, limit_bytes: 0, tree: String::new() };
    let found: Difference = cx.git(call).await?;
    Ok(found.files)
}

fn assignment(
    project: &Project,
    agent: &str,
    scope: &[String],
    attempt: u32,
    feedback: &[String],
) -> Assignment {
    let files = scope.iter().map(|file| format!("- {file}")).collect::<Vec<_>>().join("\n");
    let prompt = format!(
        "You are the {agent} agent.\n\nTask type: finalize\n\nPROJECT: {}\n\nAll steps of this project are done and \
         committed. Look at their work as a whole, once, at the levels L4 (abstraction), L5 (patterns) and L6 \
         (architecture), and improve what is worth it. Behaviour stays as it is: the engine runs every gate \
         afterwards, and puts all of it back when one turns red.\n\n## FILES YOU MAY CHANGE\n\n{files}\n\n## REPORT\n\n\
         Write one JSON object to the file that SERIATIM_REPORT names: {{\"status\": \"done\", \"summary\": \"plain \
         words\"}}. Nothing to improve is a good answer.\n",
        project.start.project
    );
    Assignment {
        agents: vec![agent.to_owned()],
        title: format!("{}: closing refactoring", project.start.project),
        brief: Brief {
            step: FINALIZE.to_owned(),
            role: agent.to_owned(),
            attempt,
            prompt,
            scope: json!({"write": scope}),
            feedback: feedback.to_vec(),
            ..Brief::default()
        },
        phase: PHASE.to_owned(),
        attach: project.start.attach,
        view: FINALIZE.to_owned(),
        ..Assignment::default()
    }
}

/// The gates that are not green.
async fn red_gates(cx: &Cx, project: &Project) -> Vec<String> {
    let Some(step) = project.roadmap.steps.first() else { return vec![] };
    let mut objections = vec![];
    for (name, gate) in project.gates(cx).iter().filter(|(name, _)| name.as_str() != "acceptance") {
        let call = GateCall { name: name.clone(), gate: gate.clone(), ..GateCall::default() };
        let seen = [proof::see(&run_gate(cx, &call).await.evidence)];
        objections.extend(proof::judge(&step.id, Sort::Final, &seen, &Earlier::default()));
    }
    objections.into_iter().map(|objection| objection.message).collect()
}

/// Hands the files of all steps to the tool that checks the tests, where one is configured (DW-71).
async fn mutate(cx: &Cx, project: &Project, scope: &[String]) -> ClosingMutation {
    let mutation = project.start_at(cx).mutation;
    if mutation.is_empty() {
        return ClosingMutation::new(MutationStatus::NoTool, "");
    }
    if scope.is_empty() {
        return ClosingMutation::new(MutationStatus::NoFiles, "");
    }
    let fill = |word: &String| if word == "{files}" { scope.to_vec() } else { vec![word.clone()] };
    let argv: Vec<String> = mutation.iter().flat_map(fill).collect();
    let check = Some(Check::named("mutation"));
    match cx.exec(Command { argv: argv.clone(), check, ..Command::default() }).await {
        Ok(ran) => {
            let (status, word) = match ran.ok() {
                true => (MutationStatus::Passed, "passed"),
                false => (MutationStatus::Failed, "found tests that notice too little"),
            };
            ClosingMutation {
                command: Some(argv.join(" ")),
                exit: ran.code,
                output: ran.output,
                ..ClosingMutation::new(status, format!("The mutation tool {word}."))
            }
        }
        Err(failure) => {
            let words = format!("The mutation tool did not run: {}.", failure.message);
            ClosingMutation::new(MutationStatus::NotRun, words)
        }
    }
}

/// The implementation review: the record of every step is whole (DW-91).
async fn review(cx: &Cx, project: &Project) -> ClosingReview {
    let mut findings: Vec<String> = vec![];
    for step in &project.roadmap.steps {
        let file = match project.state(cx, &step.id).await {
            Ok(file) => file,
            Err(broken) => {
                findings.push(format!("step {}: its state cannot be used: {}", step.id, broken.headline()));
                continue;
            }
        };
        let schema = project.schema(&step.id, &file);
        let path = project.start.state_of(&step.id);
        let state = file.step(&path, &project.start.project, &step.id, &schema);
        let verdict = machine::commit(&state, &schema, Level::Final);
        findings.extend(verdict.sentences().into_iter().map(|error| format!("step {}: {error}", step.id)));
    }
    let (status, words) = match findings.is_empty() {
        true => (ReviewStatus::Passed, String::new()),
        false => {
            (ReviewStatus::Findings, format!("The review of the record found: {}.", findings.join("; ")))
        }
    };
    ClosingReview { status, findings, words }
}
