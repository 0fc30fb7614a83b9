//! Tests of the view.

use serde_json::json;

use super::*;
use crate::time::Utc;
use crate::view::Block;
use crate::view::Section;

fn facts(all: Value) -> Vec<Fact> {
    let all = all.as_array().cloned().unwrap_or_default();
    all.into_iter().map(|data| Fact { at: Utc(0), data }).collect()
}

fn whole() -> Value {
    json!([
        {"fact": "cycle_began", "cycle": 3, "project": "work"},
        {"fact": "goal_taken", "cycle": 3, "goal": "Greet politely", "criteria": ["tests pass"], "documents": []},
        {"fact": "plan_rejected", "cycle": 3, "why": ["The step has no success criteria."]},
        {"fact": "plan_made", "cycle": 3, "title": "Greet", "risk": "low", "files": ["greet.sh"], "creates": [],
            "lines": 1, "success_criteria": ["it greets"]},
        {"fact": "work_failed", "cycle": 3, "blocker": "adjustable", "why": "greet.sh is locked"},
        {"fact": "plan_made", "cycle": 3, "title": "Unlock", "risk": "high", "files": ["greet.sh"], "creates": [],
            "lines": 2, "success_criteria": ["it greets"]},
        {"fact": "alert", "alert": "High Risk", "why": "Nobody approved it.", "cycle": 3},
        {"fact": "alert", "alert": "High Risk", "why": "Nobody approved it.", "cycle": 3},
        {"fact": "risk_decided", "cycle": 3, "choice": "approve", "by": "ada", "step": "Unlock"},
        {"fact": "work_done", "cycle": 3, "summary": "as asked", "files": ["greet.sh"], "lines": 2},
        {"fact": "check_ran", "cycle": 3, "check": "Existing Tests", "result": "green", "words": "1 passed\nmore"},
        {"fact": "check_ran", "cycle": 3, "check": "Linter/Formatter", "result": "none", "words": "no such check"},
        {"fact": "judged", "cycle": 3, "pass": true, "evidence": [], "opinion": {"missing": "it crashed"}},
        {"fact": "approval", "cycle": 3, "choice": "commit", "by": "grace", "tree": "t", "latency_ms": 1000,
            "words": "Fine."},
        {"fact": "delivered", "cycle": 3, "how": "commit", "commit": "c0ffee", "branch": "main", "pushed": true,
            "files": ["greet.sh"]},
        {"fact": "archived", "cycle": 3, "path": "docs/context/archive/2026-01-18_cycle-003.md"},
        {"fact": "cycle_ended", "cycle": 3, "end": "completed"},
    ])
}

/// `label: text`, and the rows of tables.
fn lines(section: &Section) -> Vec<String> {
    let mut lines = vec![format!("# {}", section.title)];
    for block in &section.blocks {
        match block {
            Block::Line { label, text, .. } => lines.push(format!("{label}: {text}")),
            Block::Table { rows, .. } => lines.extend(rows.iter().map(|row| row.join(" | "))),
            Block::Output { title, .. } => lines.push(title.clone()),
        }
    }
    lines
}

#[test]
fn a_finished_cycle_is_shown_from_its_goal_to_its_end() {
    let shown = view(&facts(whole()));
    let lines: Vec<String> = shown.sections.iter().flat_map(lines).collect();
    assert_eq!(
        lines,
        [
            "# Goal",
            "goal: Greet politely",
            "done when: tests pass",
            "# Iteration 1",
            "rejected plan: The step has no success criteria.",
            "plan: Greet (low risk, 1 line in greet.sh)",
            "work: greet.sh is locked",
            "# Iteration 2",
            "plan: Unlock (high risk, 2 lines in greet.sh)",
            "work: 2 lines; changed so far: greet.sh",
            "actor: as asked",
            "Existing Tests | passed | 1 passed",
            "Linter/Formatter | not run | no such check",
            "verdict: PASS",
            "judge: no opinion: it crashed",
            "# Decisions",
            "decision: ada approved the risky step \"Unlock\".",
            "decision: grace approved a commit after 1 s. \"Fine.\"",
            "# Result",
            "delivery: 1 file was committed as c0ffee on main and pushed.",
            "archive: docs/context/archive/2026-01-18_cycle-003.md",
            "end: completed",
        ]
    );
    assert_eq!(shown.alerts, ["High Risk: Nobody approved it."]);
    let cycle = &shown.fields["cycles"][0];
    assert_eq!(cycle["iterations"][0]["work"]["result"], "failed");
    assert_eq!(cycle["iterations"][1]["verdict"]["opinion"], json!({"missing": "it crashed"}));
    assert_eq!(cycle["delivery"]["commit"], "c0ffee");
    assert_eq!(cycle["end"], "completed");
}

#[test]
fn an_unfinished_run_shows_what_there_is_and_a_run_without_facts_nothing() {
    let begun = view(&facts(json!([{"fact": "cycle_began", "cycle": 1, "project": "work"}])));
    assert_eq!(begun.sections, vec![]);
    assert_eq!(begun.fields["cycles"][0]["end"], Value::Null);
    assert_eq!(view(&facts(json!([{"fact": "unheard_of"}]))), RunView::default());
}

#[test]
fn two_cycles_of_one_run_have_their_numbers_in_the_titles() {
    let shown = view(&facts(json!([
        {"fact": "cycle_began", "cycle": 1, "project": "work"},
        {"fact": "cycle_ended", "cycle": 1, "end": "incomplete"},
        {"fact": "cycle_began", "cycle": 2, "project": "work"},
        {"fact": "goal_taken", "cycle": 2, "goal": "Another", "criteria": [], "documents": []},
    ])));
    let titles: Vec<&str> = shown.sections.iter().map(|section| section.title.as_str()).collect();
    assert_eq!(titles, ["Cycle 001: Result", "Cycle 002: Goal"]);
}
