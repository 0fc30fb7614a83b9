//! One sentence for each fact of a cycle.

use super::BlockerClass;
use super::CheckResult;
use super::CycleEnd;
use super::CycleFact;
use super::Decision;
use super::DeliveredHow;
use super::FailedEffect;
use super::Opinion;
use crate::cycle::Risk;
use crate::cycle::choices::ApprovalChoice;
use crate::cycle::choices::BlockedChoice;
use crate::cycle::choices::ClarifyChoice;
use crate::cycle::choices::ContextChoice;
use crate::cycle::choices::GoalChoice;
use crate::cycle::choices::MovedChoice;
use crate::cycle::choices::OccupiedChoice;
use crate::cycle::choices::OwnChangesChoice;
use crate::cycle::choices::PauseChoice;
use crate::cycle::choices::PlanlessChoice;
use crate::cycle::choices::RiskChoice;
use crate::cycle::choices::UncheckedChoice;
use crate::cycle::choices::UndeliveredChoice;
use crate::cycle::limits::counted;
use crate::ledger::LedgerEntry;
use crate::sentence::Sentence;
use crate::sentence::Telling;
use crate::time::span_in_words;
use crate::verdict::Verdict;

impl Telling for CycleFact {
    fn sentence(&self) -> Sentence {
        match self {
            CycleFact::AutomationFindings { findings } => automation_findings(findings),
            CycleFact::CycleBegan { cycle, project } => {
                Sentence::new(format!("Cycle {cycle:03} of {project} began."))
            }
            CycleFact::NotChecked { checks, .. } => not_checked(checks),
            CycleFact::FloorTaken { tests, words, .. } => floor_taken(tests.map(|tests| tests.ran()), words),
            CycleFact::GoalTaken { goal, criteria, .. } => {
                Sentence::new(format!("The goal is: {}", ended(goal))).detail(criteria.join("; "))
            }
            CycleFact::DocumentsRefused { why, .. } => documents_refused(why),
            CycleFact::PlannerAsked { questions, .. } => {
                Sentence::new(format!("The Planner asks {}.", counted(questions.len() as u64, "question")))
                    .detail(questions.join(" "))
            }
            CycleFact::ContextPack { role, need } => {
                Sentence::new(format!("The {role} was answered what it lacked: {}", ended(need)))
            }
            CycleFact::PlanRejected { why, .. } => {
                Sentence::bad("The plan could not be used.").detail(why.join(" "))
            }
            CycleFact::PlanMade { title, risk, files, creates, lines, .. } => {
                plan_made(title, *risk, &[files.as_slice(), creates].concat(), *lines)
            }
            CycleFact::RiskDecided { choice, by, step, words, .. } => {
                risk_decided(*choice, by, step).detail(words)
            }
            CycleFact::WorkDone { summary, files, lines, .. } => work_done(summary, files, *lines),
            CycleFact::WorkFailed { blocker, why, .. } => work_failed(*blocker, why),
            CycleFact::WorkPutBack { kept_as, lines } => put_back(kept_as.as_deref(), *lines),
            CycleFact::CheckRan { check, result, words, .. } => check_ran(check, *result, words),
            CycleFact::OpinionRejected { why, .. } => {
                Sentence::bad("The Judge's report could not be used.").detail(why.join(" "))
            }
            CycleFact::FindingsNoted { findings, .. } => findings_noted(findings),
            CycleFact::UncheckedDecided { choice, matters, by, words, .. } => {
                unchecked_decided(*choice, matters, by).detail(words)
            }
            CycleFact::Judged { pass, verdict, opinion, reasons, .. } => {
                judged(*pass, verdict.as_ref(), opinion, reasons)
            }
            CycleFact::Approval { choice, by, latency_ms, words, .. } => {
                approval(*choice, by, *latency_ms).detail(words)
            }
            CycleFact::ApprovalVoid { changed, .. } => Sentence::attention(format!(
                "The approval is void, because {} changed after the verdict.",
                counted(changed.len() as u64, "file")
            ))
            .detail(changed.join(", ")),
            CycleFact::Delivered { how, commit, branch, pushed, files, .. } => {
                delivered(*how, commit, branch.as_deref(), *pushed, files)
            }
            CycleFact::Decided { decision, by, words, .. } => decided(*decision, by).detail(words),
            CycleFact::Paused { archive, .. } => {
                Sentence::attention("The cycle is paused; a person decides how it goes on.").detail(archive)
            }
            CycleFact::Alert { alert, why, .. } => Sentence::attention(format!("{alert}: {why}")),
            CycleFact::DocumentTampered { what, .. } => Sentence::attention(
                "The document of the cycle was changed from outside and was written anew.",
            )
            .detail(what),
            CycleFact::Error { effect, text } => failed_effect(*effect).detail(text),
            CycleFact::Archived { path, .. } => {
                Sentence::new(format!("The document was archived as {path}."))
            }
            CycleFact::CycleEnded { cycle, end } => cycle_ended(*cycle, *end),
        }
    }
}

fn automation_findings(findings: &[String]) -> Sentence {
    let problems = counted(findings.len() as u64, "problem");
    Sentence::attention(format!("The automation file has {problems}; defaults are used there."))
        .detail(findings.join("; "))
}

fn documents_refused(why: &[String]) -> Sentence {
    let documents = counted(why.len() as u64, "document");
    Sentence::attention(format!("{documents} of the goal cannot be given to a role.")).detail(why.join("; "))
}

fn not_checked(checks: &[String]) -> Sentence {
    Sentence::attention(format!("Not checked, because it is not configured: {}.", checks.join(", ")))
}

fn work_done(summary: &str, files: &[String], lines: u64) -> Sentence {
    let (lines, files) = (counted(lines, "line"), counted(files.len() as u64, "file"));
    Sentence::new(format!("The Actor did the step: {lines} changed, {files} so far.")).detail(summary)
}

fn plan_made(title: &str, risk: Risk, targets: &[String], lines: u32) -> Sentence {
    let text = format!(
        "The Planner planned \"{title}\": {} in {}, {risk} risk.",
        counted(u64::from(lines), "line"),
        counted(targets.len() as u64, "file")
    );
    let sentence = match risk {
        Risk::Low | Risk::Medium => Sentence::new(text),
        Risk::High => Sentence::attention(text),
    };
    sentence.detail(targets.join(", "))
}

fn risk_decided(choice: RiskChoice, by: &str, step: &str) -> Sentence {
    match choice {
        RiskChoice::Approve => Sentence::new(format!("{by} approved the risky step \"{step}\".")),
        RiskChoice::Changes => {
            Sentence::new(format!("{by} rejected the risky step \"{step}\" and asked for another plan."))
        }
        RiskChoice::Stop => Sentence::bad(format!("{by} stopped the cycle at the risky step \"{step}\".")),
    }
}

fn work_failed(blocker: BlockerClass, why: &str) -> Sentence {
    let text = match blocker {
        BlockerClass::Adjustable => "The step failed and goes back to the Planner",
        BlockerClass::Approval => "The step needs a person's decision",
        BlockerClass::Unrecoverable => "The step failed and cannot be continued",
    };
    Sentence::bad(format!("{text}: {}", ended(why)))
}

fn put_back(kept_as: Option<&str>, lines: u64) -> Sentence {
    let lines = counted(lines, "line");
    match kept_as {
        Some(id) => Sentence::bad(format!("The change of {lines} was undone because it exceeds the limits."))
            .detail(format!("snapshot {id}")),
        None => Sentence::bad(format!(
            "The change of {lines} exceeds the limits and could not be undone; the files still hold it."
        )),
    }
}

fn check_ran(check: &str, result: CheckResult, words: &str) -> Sentence {
    match result {
        CheckResult::Good => Sentence::good(format!("Check \"{check}\" passed.")).detail(words),
        CheckResult::Bad => Sentence::bad(format!("Check \"{check}\" failed.")).detail(words),
        CheckResult::Unknown => {
            Sentence::attention(format!("Check \"{check}\" says nothing about the work.")).detail(words)
        }
        CheckResult::NotRun => {
            Sentence::attention(format!("Check \"{check}\" was not run: none is configured."))
        }
    }
}

fn judged(pass: bool, verdict: Option<&Verdict>, opinion: &Opinion, reasons: &[String]) -> Sentence {
    let waived = verdict.map(Verdict::waivers).unwrap_or_default();
    if !pass {
        let word = match verdict {
            Some(Verdict::Unknown(_)) => "unknown",
            Some(Verdict::Good(_) | Verdict::Bad(_) | Verdict::NotApplicable(_)) | None => "INSUFFICIENT",
        };
        return Sentence::bad(format!("The verdict is {word}.")).detail(reasons.join("; "));
    }
    let text = match opinion {
        Opinion::Person { by, .. } => format!("The verdict is PASS, on the word of {by}."),
        Opinion::Missing(_) => "The verdict is PASS without an opinion of the Judge.".to_owned(),
        Opinion::Pass | Opinion::Insufficient(_) | Opinion::Unknown => match waived.is_empty() {
            true => "The verdict is PASS.".to_owned(),
            false => "The verdict is PASS, with matters that were accepted unchecked.".to_owned(),
        },
    };
    let detail = match opinion {
        Opinion::Missing(why) => why.clone(),
        Opinion::Pass | Opinion::Insufficient(_) | Opinion::Person { .. } | Opinion::Unknown => {
            waived.join("; ")
        }
    };
    match waived.is_empty() {
        true => Sentence::good(text).detail(detail),
        false => Sentence::attention(text).detail(detail),
    }
}

fn floor_taken(ran: Option<u64>, words: &str) -> Sentence {
    match ran {
        Some(count) => Sentence::new(format!("Before the work {} ran.", counted(count, "test"))),
        None => Sentence::attention("The tests before the work could not be counted.").detail(words),
    }
}

fn findings_noted(findings: &[LedgerEntry]) -> Sentence {
    let open = findings.iter().filter(|finding| finding.is_open()).count() as u64;
    let told: Vec<String> = findings.iter().map(LedgerEntry::told).collect();
    let text = format!("{} of {} open.", counted(open, "finding"), findings.len());
    let sentence = if open == 0 { Sentence::new(text) } else { Sentence::attention(text) };
    sentence.detail(told.join("; "))
}

fn unchecked_decided(choice: UncheckedChoice, matters: &[String], by: &str) -> Sentence {
    let matters = matters.join("; ");
    match choice {
        UncheckedChoice::Accept => {
            Sentence::attention(format!("{by} accepted unchecked: {}", ended(&matters)))
        }
        UncheckedChoice::Retry => Sentence::new(format!("{by} had it checked again: {}", ended(&matters))),
        UncheckedChoice::Changes => {
            Sentence::new(format!("{by} sent unchecked work back to the Planner: {}", ended(&matters)))
        }
        UncheckedChoice::Stop => {
            Sentence::bad(format!("{by} stopped the cycle at unchecked work: {}", ended(&matters)))
        }
    }
}

fn approval(choice: ApprovalChoice, by: &str, latency_ms: u64) -> Sentence {
    let after = span_in_words(latency_ms);
    match choice {
        ApprovalChoice::Commit => Sentence::good(format!("{by} approved a commit after {after}.")),
        ApprovalChoice::Merge => Sentence::good(format!("{by} approved a merge after {after}.")),
        ApprovalChoice::Squash => Sentence::good(format!("{by} approved a squashed commit after {after}.")),
        ApprovalChoice::Changes => Sentence::new(format!("{by} asked for changes after {after}.")),
        ApprovalChoice::Stop => {
            Sentence::bad(format!("{by} stopped the cycle at the approval after {after}."))
        }
    }
}

fn delivered(
    how: DeliveredHow,
    commit: &str,
    branch: Option<&str>,
    pushed: bool,
    files: &[String],
) -> Sentence {
    let verb = match how {
        DeliveredHow::Commit => "committed",
        DeliveredHow::Merge => "committed and merged",
        DeliveredHow::Squash => "squashed",
    };
    let onto = branch.map(|branch| format!(" on {branch}")).unwrap_or_default();
    let pushed = if pushed { " and pushed" } else { ", not pushed" };
    Sentence::good(format!(
        "{} {verb} as {commit}{onto}{pushed}.",
        match files.len() {
            1 => "1 file was".to_owned(),
            count => format!("{count} files were"),
        }
    ))
    .detail(files.join(", "))
}

fn decided(decision: Decision, by: &str) -> Sentence {
    let (stops, what) = match decision {
        Decision::Occupied(OccupiedChoice::Approve) => (false, "put the earlier cycle into the archive"),
        Decision::Occupied(OccupiedChoice::Cancel) => (true, "left the earlier cycle open"),
        Decision::Goal(GoalChoice::ProvideInput) => (false, "wrote a goal"),
        Decision::Goal(GoalChoice::Cancel) => (true, "gave no goal"),
        Decision::Clarify(ClarifyChoice::ProvideInput) => (false, "answered the Planner"),
        Decision::Clarify(ClarifyChoice::Approve) => (false, "left the answer to the Planner's judgement"),
        Decision::Clarify(ClarifyChoice::Stop) => (true, "stopped the cycle at the Planner's questions"),
        Decision::Context(ContextChoice::ProvideInput) => (false, "gave the context that was asked for"),
        Decision::Context(ContextChoice::Approve) => (false, "had no further context"),
        Decision::Context(ContextChoice::Stop) => (true, "stopped the cycle at a request for context"),
        Decision::Blocked(BlockedChoice::Approve) => (false, "allowed what held the work"),
        Decision::Blocked(BlockedChoice::Changes) => (false, "asked for another way"),
        Decision::Blocked(BlockedChoice::Stop) => (true, "stopped the cycle because the work was held"),
        Decision::Undelivered(UndeliveredChoice::Retry) => (false, "asked to retry the commit"),
        Decision::Undelivered(UndeliveredChoice::Changes) => {
            (false, "sent the failed commit back to the Planner")
        }
        Decision::Undelivered(UndeliveredChoice::Stop) => (true, "stopped the cycle after the failed commit"),
        Decision::OwnChanges(OwnChangesChoice::Approve) => {
            (false, "let uncommitted changes become part of the commit")
        }
        Decision::OwnChanges(OwnChangesChoice::Changes) => {
            (false, "asked for a plan without the files that have uncommitted changes")
        }
        Decision::OwnChanges(OwnChangesChoice::Stop) => {
            (true, "stopped the cycle because of uncommitted changes")
        }
        Decision::Moved(MovedChoice::Approve) => (false, "had the work judged on the commit of now"),
        Decision::Moved(MovedChoice::Retry) => (false, "had the repository looked at again"),
        Decision::Moved(MovedChoice::Stop) => (true, "stopped the cycle because the branch had moved"),
        Decision::Pause(PauseChoice::Guide) => (false, "restarted the cycle with instructions"),
        Decision::Pause(PauseChoice::NewGoal) => (false, "set a new goal"),
        Decision::Pause(PauseChoice::Stop) => (true, "stopped the cycle at the pause"),
        Decision::Planless(PlanlessChoice::Retry) => (false, "asked the Planner to retry"),
        Decision::Planless(PlanlessChoice::Stop) => (true, "stopped the cycle without a usable plan"),
    };
    let text = format!("{by} {what}.");
    if stops { Sentence::bad(text) } else { Sentence::new(text) }
}

fn failed_effect(effect: Option<FailedEffect>) -> Sentence {
    Sentence::bad(match effect {
        Some(FailedEffect::Alert) => "The command for alerts failed.",
        Some(FailedEffect::Archive) => "The document could not be archived.",
        Some(FailedEffect::Delivery) => "The change could not be committed.",
        None => "An error occurred.",
    })
}

fn cycle_ended(cycle: u32, end: CycleEnd) -> Sentence {
    match end {
        CycleEnd::Completed => Sentence::good(format!("Cycle {cycle:03} is completed.")),
        CycleEnd::Incomplete => Sentence::attention(format!("Cycle {cycle:03} ended incomplete.")),
        CycleEnd::Failed => Sentence::bad(format!("Cycle {cycle:03} failed.")),
    }
}

/// The text with a full stop at its end, on one line.
fn ended(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() || line.ends_with(['.', '!', '?']) { line } else { format!("{line}.") }
}
