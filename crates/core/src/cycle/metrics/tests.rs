//! Tests of the metrics.

use super::*;
use crate::projection::Fact;
use crate::time::Utc;

fn cycle(number: u32, iterations: u32, passes: u32, insufficients: u32, end: End) -> CycleSummary {
    CycleSummary {
        number,
        iterations,
        passes,
        passes_by_people: 0,
        insufficients,
        paused: false,
        end,
        approval_latency_ms: None,
    }
}

fn some() -> Vec<CycleSummary> {
    vec![
        CycleSummary { approval_latency_ms: Some(90_000), ..cycle(1, 2, 1, 1, End::Completed) },
        CycleSummary { paused: true, ..cycle(2, 5, 0, 5, End::Incomplete) },
        CycleSummary { approval_latency_ms: Some(30_500), ..cycle(3, 1, 1, 0, End::Completed) },
        cycle(4, 9, 1, 0, End::Open),
    ]
}

// CY-87, CY-88, CY-89, CY-90, CY-91
#[test]
fn cy_87_cy_88_cy_89_cy_90_cy_91_the_five_metrics_and_their_goals() {
    assert_eq!(
        metrics(&some()).json(),
        json!({
            "avg_iterations": {"value": 2.667, "goal": 3, "met": true},
            "pass_rate": {"value": 0.333, "goal": 0.7, "met": false, "by_people": 0},
            "approval_latency_s": {"value": 60.25, "goal": null, "met": null},
            "pause_frequency": {"value": 0.25, "goal": 0.1, "met": false},
            "completion": {
                "value": 0.667, "goal": null, "met": null,
                "split": {"pass": 2, "incomplete": 1, "failed": 0},
            },
        })
    );
}

#[test]
fn nothing_counted_is_no_value_and_meets_nothing() {
    let found = metrics(&[]);
    assert_eq!(found.json()["avg_iterations"], json!({"value": null, "goal": 3, "met": null}));
    assert_eq!(found.table()[0], ["Iterations per cycle", "none yet", "at most 3", ""]);
    assert!(found.chart().contains("none yet"));
}

#[test]
fn goals_are_met_at_three_and_at_seventy_but_not_at_ten_percent() {
    let mut cycles: Vec<CycleSummary> = (1..=10).map(|n| cycle(n, 3, 7, 3, End::Completed)).collect();
    cycles[0].paused = true;
    let found = metrics(&cycles);
    assert_eq!(found.avg_iterations.met(), Some(true));
    assert_eq!(found.pass_rate.met(), Some(true));
    assert_eq!(found.pause_frequency.met(), Some(false));
}

#[test]
fn the_table_speaks_to_people() {
    let table: Vec<String> = metrics(&some()).table().into_iter().map(|row| row.join(" | ")).collect();
    assert_eq!(
        table,
        [
            "Iterations per cycle | 2.667 | at most 3 | met",
            "Judge PASS rate | 33.3% | at least 70% | missed",
            "Approval latency | 1 min |  | ",
            "Paused cycles | 25% | below 10% | missed",
            "Completed cycles | 66.7% (2 passed, 1 incomplete, 0 failed) |  | ",
        ]
    );
}

#[test]
fn the_chart_is_the_same_each_time_and_well_formed() {
    let svg = metrics(&some()).chart();
    assert_eq!(svg, metrics(&some()).chart());
    assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"));
    assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
    assert_eq!(svg.matches("<text").count(), 10);
    assert_eq!(svg.matches("<line").count(), 3);
    assert!(svg.contains("width=\"67\""), "{svg}");
}

#[test]
fn the_facts_of_a_run_are_folded_into_its_cycles() {
    let facts: Vec<Fact> = [
        json!({"fact": "judged", "cycle": 9, "pass": true, "evidence": []}),
        json!({"fact": "cycle_began", "cycle": 1, "project": "work"}),
        json!({"fact": "judged", "cycle": 1, "pass": false, "evidence": []}),
        json!({"fact": "paused", "cycle": 1, "archive": "a.md"}),
        json!({"fact": "alert", "alert": "5-Loop Pause", "why": "Too often.", "cycle": 1}),
        json!({"fact": "cycle_ended", "cycle": 1, "end": "incomplete"}),
        json!({"fact": "cycle_began", "cycle": 2, "project": "work"}),
        json!({"fact": "judged", "cycle": 2, "pass": true, "evidence": []}),
        json!({"fact": "approval", "cycle": 2, "choice": "commit", "by": "ada", "tree": "t", "latency_ms": 5}),
        json!({"fact": "cycle_ended", "cycle": 2, "end": "completed"}),
        json!({"fact": "attempt_failed", "step": "judge"}),
    ]
    .map(|data| Fact { at: Utc(0), data })
    .into();
    let found = fold_run(&facts);
    assert_eq!(
        found.cycles,
        [
            CycleSummary { paused: true, ..cycle(1, 1, 0, 1, End::Incomplete) },
            CycleSummary { approval_latency_ms: Some(5), ..cycle(2, 1, 1, 0, End::Completed) },
        ]
    );
    assert_eq!(found.alerts, ["5-Loop Pause: Too often."]);
}
