//! The sentence of each event of an action.

use super::ActionFact;
use super::CourseChange;
use super::ErrorAt;
use super::FileWritten;
use super::GateResult;
use super::LifecycleResult;
use super::RoleEnd;
use super::RoleResult;
use super::RoleStop;
use super::Skipped;
use super::Voided;
use super::counted;
use crate::action::approval::Iteration;
use crate::action::evidence::Mode;
use crate::action::roles;
use crate::action::severity::Concern;
use crate::choices::Choices;
use crate::ledger::LedgerEntry;
use crate::sentence::Mood;
use crate::sentence::Sentence;
use crate::sentence::Telling;
use crate::time::span_in_words;
use crate::verdict::Verdict;

fn titles(names: &[String]) -> String {
    names.iter().map(|role| roles::title(role)).collect::<Vec<_>>().join(", ")
}

impl Telling for ActionFact {
    fn sentence(&self) -> Sentence {
        match self {
            ActionFact::ActionBegan { action, mode, operator, stage, .. } => {
                began(action, *mode, operator, stage.as_deref())
            }
            ActionFact::SnapshotTaken { snapshot, scope } => {
                Sentence::new(format!("Snapshot {snapshot} taken.")).detail(scope.join(", "))
            }
            ActionFact::EvidenceWritten { folder, files } => {
                Sentence::new(format!("Evidence written to {folder} ({}).", counted(files.len(), "file")))
            }
            ActionFact::StageBegan { stage, roles, .. } => stage_began(*stage, roles),
            ActionFact::RoleCalled { role, attempt, agent, timeout_ms, feedback, .. } => {
                called(role, *attempt, agent.as_deref(), *timeout_ms, feedback)
            }
            ActionFact::RoleDone { role, files, summary, findings, .. } => {
                finished(role, files, summary, findings.len())
            }
            ActionFact::RoleSkipped { role, reason, .. } => reason.sentence(role),
            ActionFact::RoleStopped { role, reason, .. } => reason.sentence(role),
            ActionFact::Waiting { role, text, ms } => {
                Sentence::new(format!("{} is retried in {}.", roles::title(role), span_in_words(*ms)))
                    .detail(text.as_str())
            }
            ActionFact::ParallelResults { roles, .. } => parallel(roles),
            ActionFact::GateRan { gate, command, exit, output, verdict, .. } => {
                ran(gate, command, *exit, output, verdict.as_ref())
            }
            ActionFact::BaseTests { ran, words } => base_tests(*ran, words),
            ActionFact::GateFailed { gate, text } => {
                Sentence::bad(format!("Gate {gate} failed: the measured values are not what it demands."))
                    .detail(text.lines().collect::<Vec<_>>().join("; "))
            }
            ActionFact::GateRound { round } => rounded(round),
            ActionFact::GateEnded { gate, result, .. } => result.sentence(gate),
            ActionFact::ApprovalVoid { why } => why.sentence(),
            ActionFact::FlowChanged { change: CourseChange::Void, reason } => {
                Sentence::attention(format!("All stages begin again: {reason}."))
            }
            ActionFact::Blocked { findings, roles, .. } => blocked(findings, roles),
            ActionFact::Findings { findings } => ledger(findings),
            ActionFact::NotChecked { matters } => {
                Sentence::attention(format!("Not checked: {}.", matters.join("; ").trim_end_matches('.')))
            }
            ActionFact::Waived { matter, how, by, words } => {
                Sentence::attention(format!("{matter}: {} by {by}.", how.words())).detail(words.as_str())
            }
            ActionFact::TrackedFindings { findings } => {
                Sentence::new(format!("{} tracked.", counted(findings.len(), "finding")))
                    .detail(findings.join("; "))
            }
            ActionFact::LifecycleGates { stage, gates, .. } => lifecycle(stage, gates),
            ActionFact::Decision { subject, outcome, actor, rationale, .. } => {
                Sentence::new(format!("{actor} decided on {subject}: {outcome}.")).detail(rationale.as_str())
            }
            ActionFact::RolledBack { event } => {
                Sentence::attention(format!("{} rolled back to snapshot {}.", event.by, event.snapshot))
                    .detail(format!("{} Undo: seriatim snapshot restore {}", event.words, event.undo))
            }
            ActionFact::Error { at, text } => at.sentence(text),
            ActionFact::ArtifactsSealed { files } => {
                let files = counted(usize::try_from(*files).unwrap_or(usize::MAX), "file");
                Sentence::new(format!("Checksums of {files} recorded."))
            }
        }
    }
}

fn began(action: &str, mode: Mode, operator: &str, stage: Option<&str>) -> Sentence {
    let by = if operator.is_empty() { String::new() } else { format!(" for {operator}") };
    let how = match mode {
        Mode::Automated => "",
        Mode::Manual => " in manual mode",
    };
    let declared = stage.map(|stage| format!("lifecycle stage {stage}")).unwrap_or_default();
    Sentence::new(format!("The action {action} began{by}{how}.")).detail(declared)
}

fn stage_began(stage: u32, roles: &[String]) -> Sentence {
    if roles.is_empty() {
        return Sentence::new(format!("Stage {stage} began, with gates only."));
    }
    Sentence::new(format!("Stage {stage} began: {}.", titles(roles)))
}

fn called(role: &str, attempt: u32, agent: Option<&str>, timeout_ms: u64, feedback: &[String]) -> Sentence {
    let agent = agent.map(|agent| format!(" ({agent})")).unwrap_or_default();
    let may = format!("may take {}", span_in_words(timeout_ms));
    let first = feedback.first().and_then(|words| words.lines().next()).unwrap_or_default();
    let detail = if first.is_empty() { may } else { format!("{may}; feedback: {first}") };
    Sentence::new(format!("{} called{agent}, attempt {attempt}.", roles::title(role))).detail(detail)
}

fn finished(role: &str, files: &[FileWritten], summary: &str, findings: usize) -> Sentence {
    let found = match findings {
        0 => String::new(),
        count => format!(", {}", counted(count, "finding")),
    };
    let summary = summary.lines().next().unwrap_or_default().trim();
    let paths = files.iter().map(|file| file.path.as_str());
    let detail: Vec<&str> = [summary].into_iter().chain(paths).filter(|text| !text.is_empty()).collect();
    let written = counted(files.len(), "file");
    Sentence::good(format!("{} finished: {written} written{found}.", roles::title(role)))
        .detail(detail.join("; "))
}

fn base_tests(ran: Option<u64>, words: &str) -> Sentence {
    match ran {
        Some(ran) => {
            let count = counted(usize::try_from(ran).unwrap_or(usize::MAX), "test");
            Sentence::new(format!("Before the work {count} ran."))
        }
        None => Sentence::attention("The number of tests before the work is not known.").detail(words),
    }
}

/// How many findings are open, and what became of the others.
fn ledger(findings: &[LedgerEntry]) -> Sentence {
    let open = findings.iter().filter(|entry| entry.is_open()).count();
    let told: Vec<String> = findings.iter().map(LedgerEntry::told).collect();
    Sentence::new(format!("Findings: {open} open of {}.", findings.len())).detail(told.join("; "))
}

fn ran(gate: &str, command: &str, exit: Option<i32>, output: &str, verdict: Option<&Verdict>) -> Sentence {
    let last = output.lines().next_back().unwrap_or_default();
    let red = verdict.filter(|verdict| !verdict.is_good());
    let (mood, end) = match exit {
        Some(0) if let Some(red) = red => {
            let why = red.reasons().join("; ");
            (
                Mood::Bad,
                format!("exit code 0, but {}", why.strip_prefix(&format!("{gate}: ")).unwrap_or(&why)),
            )
        }
        Some(0) => (Mood::Good, "exit code 0".to_owned()),
        Some(code) if verdict.is_some_and(Verdict::is_good) => (Mood::Good, format!("exit code {code}")),
        Some(code) => (Mood::Bad, format!("exit code {code}")),
        None => (Mood::Bad, "no exit code".to_owned()),
    };
    let detail = if last.is_empty() { command.to_owned() } else { format!("{command}: {last}") };
    Sentence { text: format!("Gate {gate} ran: {end}."), detail, mood, ..Sentence::default() }
}

fn rounded(round: &Iteration) -> Sentence {
    let (count, gate, by) = (round.iteration, &round.gate, &round.by);
    Sentence::new(format!("Round {count} at gate {gate}: {} by {by}.", round.decision.id()))
        .detail(round.reason.as_str())
}

fn blocked(findings: &[Concern], roles: &[String]) -> Sentence {
    let listed: Vec<String> = findings.iter().map(ToString::to_string).collect();
    Sentence::bad(format!("{} sent back to {}.", counted(findings.len(), "critical finding"), titles(roles)))
        .detail(listed.join("; "))
}

impl Skipped {
    fn sentence(self, role: &str) -> Sentence {
        let role = roles::title(role);
        match self {
            Skipped::NotNeeded => Sentence::new(format!("{role} is not needed.")),
            Skipped::Failed => Sentence::attention(format!("{role} was skipped.")),
        }
    }
}

impl RoleStop {
    fn sentence(self, role: &str) -> Sentence {
        let why = match self {
            RoleStop::Cancelled => "a person asked to cancel the action",
            RoleStop::RolledBack => "a person asked for a rollback",
            RoleStop::Broken => "the engine cannot go on",
        };
        Sentence::attention(format!("{} stopped: {why}.", roles::title(role)))
    }
}

impl GateResult {
    fn sentence(self, gate: &str) -> Sentence {
        match self {
            GateResult::Passed => Sentence::good(format!("Gate {gate} passed.")),
            GateResult::Approved => Sentence::good(format!("Gate {gate} approved.")),
            GateResult::Overridden => Sentence::attention(format!("Gate {gate} failed and was overridden.")),
            GateResult::Clarified => Sentence::good(format!("Gate {gate}: no question is open.")),
            GateResult::Reviewed => Sentence::good(format!("Gate {gate}: the roles reviewed their work.")),
        }
    }
}

impl Voided {
    fn sentence(self) -> Sentence {
        Sentence::attention(match self {
            Voided::FilesChanged => "The approval is void: files changed after they were shown.",
            Voided::StageChanged => "The approval is void: another lifecycle stage is declared by now.",
        })
    }
}

impl ErrorAt {
    fn sentence(self, text: &str) -> Sentence {
        let what = match self {
            ErrorAt::Evidence => "The evidence could not be written",
            ErrorAt::ErrorLog => "The error log could not be written",
            ErrorAt::Rollback => "The rollback failed",
            ErrorAt::Records => "A state file could not be written",
            ErrorAt::Role => "The action cannot go on",
        };
        Sentence::bad(format!("{what}: {}.", text.trim_end_matches('.')))
    }
}

fn parallel(results: &[RoleResult]) -> Sentence {
    let word = |end: RoleEnd| match end {
        RoleEnd::Done => "finished",
        RoleEnd::Skipped => "skipped",
        RoleEnd::Stopped => "stopped",
        RoleEnd::Retrying => "failed and is retried",
    };
    let listed: Vec<String> =
        results.iter().map(|one| format!("{} {}", roles::title(&one.role), word(one.result))).collect();
    let sentence = Sentence::new(format!("Parallel roles: {}.", listed.join(", ")));
    let good = results.iter().all(|one| one.result == RoleEnd::Done);
    Sentence { mood: if good { Mood::Good } else { Mood::Attention }, ..sentence }
}

fn lifecycle(stage: &str, gates: &[LifecycleResult]) -> Sentence {
    let failed: Vec<&str> =
        gates.iter().filter(|gate| !gate.passed()).map(|gate| gate.gate.as_str()).collect();
    if gates.is_empty() {
        return Sentence::attention(format!(
            "Lifecycle stage {stage} requires no gates: nothing was checked."
        ));
    }
    if failed.is_empty() {
        let passed = counted(gates.len(), "gate");
        return Sentence::good(format!("Lifecycle stage {stage}: {passed} passed."));
    }
    Sentence::bad(format!(
        "Lifecycle stage {stage}: {} of {} failed.",
        failed.len(),
        counted(gates.len(), "gate")
    ))
    .detail(failed.join(", "))
}
