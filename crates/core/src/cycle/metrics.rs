//! The five metrics of cycles and their goals (CY-87 to CY-91), as JSON, as a table and as a chart.

mod chart;
mod fold;

use serde::Deserialize;
use serde::Serialize;
use serde_json::Value;
use serde_json::json;

use crate::time::span_in_words;

pub use fold::RunCycles;
pub use fold::fold_run;

/// How a cycle ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// PASS, approved, and committed or merged.
    Completed,
    /// Paused or stopped.
    Incomplete,
    Failed,
    /// Not ended yet.
    Open,
}

/// What the metrics need to know of one cycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CycleSummary {
    pub number: u32,
    /// How often a step was planned and tried.
    pub iterations: u32,
    pub passes: u32,
    /// PASS on the word of a person, where the Judge did not answer or is a person (K-114).
    pub passes_by_people: u32,
    pub insufficients: u32,
    pub paused: bool,
    pub end: End,
    /// From PASS to the person's approval.
    pub approval_latency_ms: Option<u64>,
}

/// What a metric should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Aim {
    AtMost(f64),
    AtLeast(f64),
    Below(f64),
}

impl Aim {
    fn met(self, value: f64) -> bool {
        match self {
            Aim::AtMost(limit) => value <= limit,
            Aim::AtLeast(limit) => value >= limit,
            Aim::Below(limit) => value < limit,
        }
    }

    fn number(self) -> f64 {
        match self {
            Aim::AtMost(limit) | Aim::AtLeast(limit) | Aim::Below(limit) => limit,
        }
    }
}

/// One metric: nothing can be said while nothing was counted, and not every metric has a goal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metric {
    pub value: Option<f64>,
    pub goal: Option<Aim>,
}

impl Metric {
    /// Whether the goal is met, where there are a goal and a value.
    pub fn met(&self) -> Option<bool> {
        Some(self.goal?.met(self.value?))
    }

    fn json(&self) -> Value {
        json!({
            "value": self.value.map(number),
            "goal": self.goal.map(|goal| number(goal.number())),
            "met": self.met(),
        })
    }
}

/// How the cycles that ended did end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Split {
    pub pass: u32,
    pub incomplete: u32,
    pub failed: u32,
}

/// The five metrics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metrics {
    pub avg_iterations: Metric,
    /// The share of the Judge's results that are PASS.
    pub pass_rate: Metric,
    /// How often a person said PASS in its place.
    pub passes_by_people: u32,
    pub approval_latency_s: Metric,
    /// The share of cycles that were paused.
    pub pause_frequency: Metric,
    /// The share of ended cycles that were completed.
    pub completion: Metric,
    pub split: Split,
}

/// Computes the metrics. Cycles that are still open count only where they have something to tell: by the Judge's
/// results, the person's answers and their pauses.
pub fn metrics(cycles: &[CycleSummary]) -> Metrics {
    let sum = |of: fn(&CycleSummary) -> u32| cycles.iter().map(|c| u64::from(of(c))).sum::<u64>();
    let ended = |end: End| count(cycles.iter().filter(|c| c.end == end).count());
    let split =
        Split { pass: ended(End::Completed), incomplete: ended(End::Incomplete), failed: ended(End::Failed) };
    let closed = u64::from(split.pass) + u64::from(split.incomplete) + u64::from(split.failed);
    let iterations: u64 = cycles.iter().filter(|c| c.end != End::Open).map(|c| u64::from(c.iterations)).sum();
    let (passes, results) = (sum(|c| c.passes), sum(|c| c.passes) + sum(|c| c.insufficients));
    let latencies: Vec<u64> = cycles.iter().filter_map(|c| c.approval_latency_ms).collect();
    let waited = latencies.iter().copied().fold(0, u64::saturating_add);
    let metric = |value, goal| Metric { value, goal };
    Metrics {
        avg_iterations: metric(share(iterations, closed), Some(Aim::AtMost(3.0))),
        pass_rate: metric(share(passes, results), Some(Aim::AtLeast(0.7))),
        passes_by_people: u32::try_from(sum(|c| c.passes_by_people)).unwrap_or(u32::MAX),
        approval_latency_s: metric(share(waited, latencies.len() as u64 * 1000), None),
        pause_frequency: metric(
            share(sum(|c| u32::from(c.paused)), cycles.len() as u64),
            Some(Aim::Below(0.1)),
        ),
        completion: metric(share(u64::from(split.pass), closed), None),
        split,
    }
}

/// A quotient of whole numbers, to three places.
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| (part as f64 / whole as f64 * 1000.0).round() / 1000.0)
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Whole numbers are written without a fraction.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 1e15 { json!(value as i64) } else { json!(value) }
}

/// One line of the table and of the chart.
struct Row {
    name: &'static str,
    metric: Metric,
    value: String,
    goal: &'static str,
    /// What fills the whole width of the chart.
    full: f64,
}

impl Metrics {
    /// `{"avg_iterations": {"value", "goal", "met"}, ...}`; the completion also tells its split.
    pub fn json(&self) -> Value {
        let mut completion = self.completion.json();
        let Split { pass, incomplete, failed } = self.split;
        completion["split"] = json!({"pass": pass, "incomplete": incomplete, "failed": failed});
        let mut pass_rate = self.pass_rate.json();
        pass_rate["by_people"] = json!(self.passes_by_people);
        json!({
            "avg_iterations": self.avg_iterations.json(),
            "pass_rate": pass_rate,
            "approval_latency_s": self.approval_latency_s.json(),
            "pause_frequency": self.pause_frequency.json(),
            "completion": completion,
        })
    }

    /// The table for people: metric, value, goal, and whether it is met.
    pub fn table(&self) -> Vec<[String; 4]> {
        let cells = |row: Row| {
            let met = row.metric.met().map_or("", |met| if met { "met" } else { "missed" });
            [row.name, &row.value, row.goal, met].map(str::to_owned)
        };
        self.rows().into_iter().map(cells).collect()
    }

    /// The metrics as a small picture (SVG).
    pub fn chart(&self) -> String {
        chart::draw(&self.rows())
    }

    fn rows(&self) -> [Row; 5] {
        let shown = |metric: Metric, words: &dyn Fn(f64) -> String| {
            metric.value.map_or_else(|| "none yet".to_owned(), words)
        };
        let percent = |value: f64| format!("{}%", (value * 1000.0).round() / 10.0);
        let seconds = |value: f64| span_in_words((value * 1000.0) as u64);
        let Split { pass, incomplete, failed } = self.split;
        let ended = |value: f64| {
            format!("{} ({pass} passed, {incomplete} incomplete, {failed} failed)", percent(value))
        };
        let people = self.passes_by_people;
        let passed = shown(self.pass_rate, &percent);
        let passed = match people {
            0 => passed,
            people => format!("{passed} ({people} more on a person's word)"),
        };
        let row = |name, metric: Metric, words: &dyn Fn(f64) -> String, goal, full: f64| Row {
            name,
            metric,
            value: shown(metric, words),
            goal,
            full: metric.value.map_or(full, |value| value.max(full)),
        };
        [
            row("Iterations per cycle", self.avg_iterations, &|value| value.to_string(), "at most 3", 6.0),
            Row { value: passed, ..row("Judge PASS rate", self.pass_rate, &percent, "at least 70%", 1.0) },
            row("Approval latency", self.approval_latency_s, &seconds, "", 3600.0),
            row("Paused cycles", self.pause_frequency, &percent, "below 10%", 1.0),
            row("Completed cycles", self.completion, &ended, "", 1.0),
        ]
    }
}

#[cfg(test)]
mod tests;
