//! A folded cycle as sections for people and as a JSON object for machines.

use serde_json::Value;
use serde_json::json;

use super::CycleStory;
use super::Iteration;
use super::VerdictLine;
use super::WorkLine;
use crate::cycle::facts::CheckResult;
use crate::cycle::facts::CycleEnd;
use crate::cycle::facts::Opinion;
use crate::cycle::limits::counted;
use crate::sentence::Mood;
use crate::verdict::Verdict;
use crate::view::Section;

/// Returns the sections of one cycle; `named` puts its number into their titles.
pub(super) fn of_cycle(cycle: &CycleStory, named: bool) -> Vec<Section> {
    let title = |words: &str| match named {
        true => format!("Cycle {:03}: {words}", cycle.number),
        false => words.to_owned(),
    };
    let mut sections = vec![goal(cycle, title("Goal"))];
    for (index, round) in cycle.iterations.iter().enumerate() {
        sections.push(iteration(round, title(&format!("Iteration {}", index + 1))));
    }
    let mut decisions = Section::new(title("Decisions"));
    for line in &cycle.decisions {
        let words =
            if line.words.trim().is_empty() { String::new() } else { format!(" \"{}\"", line.words.trim()) };
        decisions.line("decision", format!("{}{words}", line.what));
    }
    sections.push(decisions);
    let mut findings = Section::new(title("Findings"));
    for finding in &cycle.findings {
        let mood = if finding.is_open() { Mood::Bad } else { Mood::Neutral };
        findings.toned(mood, "finding", finding.told());
    }
    sections.push(findings);
    sections.push(result(cycle, title("Result")));
    sections.retain(|section| !section.is_empty());
    sections
}

fn goal(cycle: &CycleStory, title: String) -> Section {
    let mut section = Section::new(title);
    if !cycle.goal.is_empty() {
        section.line("goal", cycle.goal.as_str());
    }
    for criterion in &cycle.criteria {
        section.line("done when", criterion.as_str());
    }
    if !cycle.documents.is_empty() {
        section.line("documents", cycle.documents.join(", "));
    }
    section
}

fn iteration(round: &Iteration, title: String) -> Section {
    let mut section = Section::new(title);
    for why in &round.rejected {
        section.toned(Mood::Bad, "rejected plan", why.as_str());
    }
    if let Some(plan) = &round.plan {
        let targets = [plan.files.as_slice(), &plan.creates].concat();
        let size = counted(u64::from(plan.lines), "line");
        section
            .line("plan", format!("{} ({} risk, {size} in {})", plan.title, plan.risk, targets.join(", ")));
    }
    match &round.work {
        Some(WorkLine::Done { summary, files, lines }) => {
            let size = counted(*lines, "line");
            section.line("work", format!("{size}; changed so far: {}", files.join(", ")));
            section.line("actor", summary.as_str());
        }
        Some(WorkLine::Failed { why, .. }) => section.toned(Mood::Bad, "work", why.as_str()),
        None => {}
    }
    let rows = round.checks.iter().map(|check| {
        let words = check.words.lines().next().unwrap_or_default().to_owned();
        vec![check.check.clone(), result_in_words(check.result).to_owned(), words]
    });
    section.table(&["check", "result", "details"], rows.collect());
    if let Some(verdict) = &round.verdict {
        tell_verdict(&mut section, verdict);
    }
    section
}

fn result_in_words(result: CheckResult) -> &'static str {
    match result {
        CheckResult::Good => "passed",
        CheckResult::Bad => "failed",
        CheckResult::Unknown => "unknown",
        CheckResult::NotRun => "not run",
    }
}

fn tell_verdict(section: &mut Section, verdict: &VerdictLine) {
    let waived = verdict.verdict.as_ref().map(Verdict::waivers).unwrap_or_default();
    let (mood, word) = match (verdict.pass, verdict.verdict.as_ref()) {
        (true, _) if !waived.is_empty() => (Mood::Attention, "PASS, accepted unchecked"),
        (true, _) => (Mood::Good, "PASS"),
        (false, Some(Verdict::Unknown(_))) => (Mood::Bad, "unknown"),
        (false, _) => (Mood::Bad, "INSUFFICIENT"),
    };
    section.toned(mood, "verdict", word);
    for reason in &verdict.reasons {
        section.line("reason", reason.as_str());
    }
    match &verdict.opinion {
        Opinion::Missing(why) => {
            section.toned(Mood::Attention, "judge", format!("no opinion: {why}"));
        }
        Opinion::Pass => section.line("judge", "PASS"),
        Opinion::Insufficient(_) => section.line("judge", "INSUFFICIENT"),
        Opinion::Person { by, .. } => section.line("judge", format!("PASS on the word of {by}")),
        Opinion::Unknown => {}
    }
}

fn result(cycle: &CycleStory, title: String) -> Section {
    let mut section = Section::new(title);
    for remark in &cycle.remarks {
        let detail = if remark.detail.is_empty() { String::new() } else { format!(" {}", remark.detail) };
        section.toned(remark.mood, "note", format!("{}{detail}", remark.text));
    }
    if let Some(delivery) = &cycle.delivery {
        section.toned(Mood::Good, "delivery", delivery.text.as_str());
    }
    if !cycle.not_checked.is_empty() {
        section.toned(Mood::Attention, "not checked", cycle.not_checked.join(", "));
    }
    for matter in &cycle.accepted {
        section.toned(Mood::Attention, "accepted unchecked", matter.as_str());
    }
    for path in &cycle.archives {
        section.line("archive", path.as_str());
    }
    match cycle.end {
        Some(CycleEnd::Completed) => section.toned(Mood::Good, "end", "completed"),
        Some(CycleEnd::Incomplete) => section.toned(Mood::Attention, "end", "incomplete"),
        Some(CycleEnd::Failed) => section.toned(Mood::Bad, "end", "failed"),
        None => {}
    }
    section
}

/// Returns one cycle for machines.
pub(super) fn json_of_cycle(cycle: &CycleStory) -> Value {
    json!({
        "cycle": cycle.number,
        "project": cycle.project,
        "goal": cycle.goal,
        "criteria": cycle.criteria,
        "documents": cycle.documents,
        "iterations": cycle.iterations,
        "decisions": cycle.decisions,
        "delivery": cycle.delivery,
        "not_checked": cycle.not_checked,
        "accepted_unchecked": cycle.accepted,
        "findings": cycle.findings,
        "archive": cycle.archives,
        "end": cycle.end,
    })
}
