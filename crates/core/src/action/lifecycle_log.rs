//! What the lifecycle gates came to, in the documented lines (OC-121): for `lifecycle-gates.log` and for people.

use serde::Deserialize;
use serde::Serialize;

use crate::time::Utc;

/// One gate that was run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateRun {
    pub name: String,
    pub command: Vec<String>,
    pub end: GateEnd,
    /// What it printed.
    pub output: String,
}

/// How a gate ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateEnd {
    Exit(i32),
    /// There is no exit code, for this reason: a signal, its time, a program that is not there.
    Without(String),
}

impl GateRun {
    pub fn passed(&self) -> bool {
        self.end == GateEnd::Exit(0)
    }
}

/// The names of the gates that failed, in their order. One failure keeps no other gate from being run.
pub fn failed(runs: &[GateRun]) -> Vec<&str> {
    runs.iter().filter(|run| !run.passed()).map(|run| run.name.as_str()).collect()
}

/// The whole log of a stage.
pub fn text(stage: &str, runs: &[GateRun]) -> String {
    let mut lines = vec![format!("Lifecycle stage: {stage}")];
    for run in runs {
        lines.push(format!("[GATE] {}", run.name));
        lines.push(format!("  command: {}", run.command.join(" ")));
        lines.extend(Some(run.output.trim_end().to_owned()).filter(|output| !output.trim().is_empty()));
        lines.push(match &run.end {
            GateEnd::Exit(0) => format!("[PASS] {}", run.name),
            GateEnd::Exit(code) => format!("[FAIL] {} (exit code {code})", run.name),
            GateEnd::Without(why) => format!("[FAIL] {} ({why})", run.name),
        });
    }
    let failed = failed(runs);
    lines.push(if failed.is_empty() {
        format!("[SUMMARY] PASSED ({} gate(s))", runs.len())
    } else {
        format!("[SUMMARY] FAILED ({} gate(s)): {}", failed.len(), failed.join(", "))
    });
    lines.join("\n")
}

/// The log as evidence: for which stage it was made, and when (OC-123).
pub fn stamped(stage: &str, at: Utc, runs: &[GateRun]) -> String {
    format!("{}\nRecorded (UTC): {}, for stage {stage}\n", text(stage, runs), at.seconds())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(name: &str, end: GateEnd, output: &str) -> GateRun {
        GateRun {
            name: name.to_owned(),
            command: vec!["check".to_owned(), name.to_owned()],
            end,
            output: output.to_owned(),
        }
    }

    #[test]
    fn oc_121_the_log_has_the_documented_lines() {
        let runs = [
            run("docs", GateEnd::Exit(0), "all good\n"),
            run("infra", GateEnd::Exit(3), ""),
            run("slow", GateEnd::Without("not finished within 2 min".to_owned()), ""),
        ];
        assert_eq!(
            text("planning", &runs),
            "Lifecycle stage: planning\n[GATE] docs\n  command: check docs\nall good\n[PASS] docs\n[GATE] infra\n  command: \
             check infra\n[FAIL] infra (exit code 3)\n[GATE] slow\n  command: check slow\n[FAIL] slow (not finished within 2 \
             min)\n[SUMMARY] FAILED (2 gate(s)): infra, slow"
        );
        assert!(text("planning", &runs[..1]).ends_with("[SUMMARY] PASSED (1 gate(s))"));
        assert!(text("planning", &[]).ends_with("[SUMMARY] PASSED (0 gate(s))"));
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
