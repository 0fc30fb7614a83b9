//! What the lifecycle gates came to, in the documented lines (OC-121): for `lifecycle-gates.log` and for people.

use crate::gate::CheckEvidence;
use crate::gate::GateEnd;
use crate::time::Utc;
use crate::verdict::Verdict;

/// One gate of the lifecycle that was run, as the log tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedGate {
    pub evidence: CheckEvidence,
    /// What it printed.
    pub output: String,
}

impl LoggedGate {
    pub fn passed(&self) -> bool {
        self.evidence.verdict.is_good()
    }

    /// Returns the line with the result.
    pub fn result_line(&self) -> String {
        let name = &self.evidence.gate;
        if self.passed() {
            return format!("[PASS] {name}");
        }
        format!("[FAIL] {name} ({})", why(&self.evidence))
    }
}

/// Returns why a gate is not good. An exit code is told where there is one.
pub fn why(evidence: &CheckEvidence) -> String {
    match &evidence.end {
        Some(GateEnd::Exit(code)) if evidence.words == format!("exit code {code}") => evidence.words.clone(),
        Some(GateEnd::Exit(0)) | None => evidence.words.clone(),
        Some(GateEnd::Exit(code)) if evidence.words.contains(&format!("exit code {code}")) => {
            match evidence.verdict {
                Verdict::Bad(_) => format!("exit code {code}"),
                Verdict::Good(_) | Verdict::Unknown(_) | Verdict::NotApplicable(_) => evidence.words.clone(),
            }
        }
        Some(GateEnd::Exit(code)) => format!("exit code {code}"),
        Some(GateEnd::Signal) => "ended by a signal".to_owned(),
        Some(GateEnd::Deadline(why) | GateEnd::NotRun(why)) => why.clone(),
    }
}

/// The names of the gates that failed, in their order. One failure keeps no other gate from being run.
pub fn failed(runs: &[LoggedGate]) -> Vec<&str> {
    runs.iter().filter(|run| !run.passed()).map(|run| run.evidence.gate.as_str()).collect()
}

/// Returns the verdict about a stage: that of all its gates.
pub fn verdict(stage: &str, runs: &[LoggedGate]) -> Verdict {
    if runs.is_empty() {
        return Verdict::absent(
            format!("the lifecycle stage {stage} requires no gates"),
            "lifecycle-stage.yaml",
        );
    }
    Verdict::join(runs.iter().map(|run| run.evidence.verdict.clone()))
}

/// Returns the last line. A stage that requires no gates has passed none.
pub fn summary(runs: &[LoggedGate]) -> String {
    let failed = failed(runs);
    match (runs.is_empty(), failed.is_empty()) {
        (true, _) => "[SUMMARY] NOTHING WAS CHECKED (0 gate(s) required)".to_owned(),
        (false, true) => format!("[SUMMARY] PASSED ({} gate(s))", runs.len()),
        (false, false) => format!("[SUMMARY] FAILED ({} gate(s)): {}", failed.len(), failed.join(", ")),
    }
}

/// The whole log of a stage.
pub fn text(stage: &str, runs: &[LoggedGate]) -> String {
    let mut lines = vec![format!("Lifecycle stage: {stage}")];
    for run in runs {
        lines.push(format!("[GATE] {}", run.evidence.gate));
        lines.push(format!("  command: {}", run.evidence.argv.join(" ")));
        lines.extend(Some(run.output.trim_end().to_owned()).filter(|output| !output.trim().is_empty()));
        lines.push(run.result_line());
    }
    lines.push(summary(runs));
    lines.join("\n")
}

/// The log as evidence: for which stage it was made, and when (OC-123).
pub fn stamped(stage: &str, at: Utc, runs: &[LoggedGate]) -> String {
    format!("{}\nRecorded (UTC): {}, for stage {stage}\n", text(stage, runs), at.seconds())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate;

    fn run(name: &str, end: GateEnd, output: &str) -> LoggedGate {
        let run = gate::GateRun {
            gate: name.to_owned(),
            argv: vec!["check".to_owned(), name.to_owned()],
            end,
            good: vec![0],
            reading: gate::OutputReading::default(),
            tail: output.to_owned(),
            output: None,
        };
        LoggedGate { evidence: gate::judge(run, &gate::Demand::default()), output: output.to_owned() }
    }

    #[test]
    fn oc_121_the_log_has_the_documented_lines() {
        let runs = [
            run("docs", GateEnd::Exit(0), "all good\n"),
            run("infra", GateEnd::Exit(3), ""),
            run("slow", GateEnd::Deadline("not finished within 2 min".to_owned()), ""),
        ];
        assert_eq!(
            text("planning", &runs),
            "Lifecycle stage: planning\n[GATE] docs\n  command: check docs\nall good\n[PASS] docs\n[GATE] infra\n  command: \
             check infra\n[FAIL] infra (exit code 3)\n[GATE] slow\n  command: check slow\n[FAIL] slow (not finished within 2 \
             min)\n[SUMMARY] FAILED (2 gate(s)): infra, slow"
        );
        assert!(text("planning", &runs[..1]).ends_with("[SUMMARY] PASSED (1 gate(s))"));
        assert!(text("planning", &[]).ends_with("[SUMMARY] NOTHING WAS CHECKED (0 gate(s) required)"));
        assert!(!verdict("planning", &[]).is_good());
    }

    #[test]
    fn oc_123_evidence_says_for_which_stage_it_was_made_and_when() {
        let at = Utc::parse("2026-02-07T10:30:00Z").unwrap();
        let evidence = stamped("planning", at, &[run("docs", GateEnd::Exit(0), "")]);
        assert!(evidence.starts_with("Lifecycle stage: planning\n"), "{evidence}");
        assert!(
            evidence.ends_with("\nRecorded (UTC): 2026-02-07T10:30:00Z, for stage planning\n"),
            "{evidence}"
        );
    }
}
