//! What a step cost (DW-90).

use serde_json::Map;
use serde_json::Value as Json;
use serde_json::json;

use crate::report::Usage;
use crate::roadmap::state::PhaseRecord;
use crate::roadmap::state::StepState;

/// The figures of a step, over all of its attempts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metrics {
    pub attempts: u32,
    /// How often work that was over had to be done again.
    pub rework_count: u32,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cost_usd: f64,
    pub turns: u64,
    pub complexity_score: Option<u32>,
    /// In the order of the phases.
    pub minutes_by_phase: Vec<(String, f64)>,
}

impl Metrics {
    /// What the record of a step says: time, turns, and what was done again.
    pub fn of_step(state: &StepState) -> Metrics {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let tries = state.phases.iter().map(|phase| count(phase.history.len()));
        Metrics {
            attempts: tries.clone().max().unwrap_or(0).saturating_add(1),
            rework_count: tries.fold(0, u32::saturating_add),
            turns: state.phases.iter().filter_map(|phase| phase.turn_count).fold(0, u64::saturating_add),
            minutes_by_phase: state.phases.iter().map(|phase| (phase.name.clone(), minutes(phase))).collect(),
            ..Metrics::default()
        }
    }

    /// Adds what one call of an agent cost.
    #[must_use]
    pub fn with_usage(mut self, usage: &Usage) -> Metrics {
        self.input_tokens = self.input_tokens.saturating_add(usage.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(usage.output_tokens);
        self.cost_usd += usage.cost_usd.max(0.0);
        // The record has the turns of the last try of each phase, and the calls those of all tries: neither is added
        // to the other.
        self.turns = self.turns.max(u64::from(usage.turns));
        self
    }

    pub fn minutes(&self) -> f64 {
        self.minutes_by_phase.iter().map(|(_, minutes)| minutes).sum()
    }

    /// Hours with two digits after the point.
    pub fn hours(&self) -> Json {
        rounded(self.minutes() / 60.0)
    }

    /// The record.
    pub fn to_json(&self) -> Json {
        let phases: Map<String, Json> =
            self.minutes_by_phase.iter().map(|(name, minutes)| (name.clone(), rounded(*minutes))).collect();
        json!({"execution_metrics": {
            "attempts": self.attempts,
            "turn_count": self.turns,
            "total_execution_time": self.hours(),
            "tokens": {
                "input": self.input_tokens,
                "output": self.output_tokens,
                "total": self.input_tokens.saturating_add(self.output_tokens),
            },
            "cost_estimate": format!("${:.2}", self.cost_usd),
            "complexity_score": self.complexity_score,
            "rework_count": self.rework_count,
            "minutes_by_phase": phases,
        }})
    }
}

/// A figure with two digits after the point; whole ones have none.
pub fn rounded(value: f64) -> Json {
    let value = (value * 100.0).round() / 100.0;
    match format!("{value:.0}").parse::<i64>() {
        Ok(whole) if value.fract() == 0.0 => Json::from(whole),
        _ => Json::from(value),
    }
}

/// The minutes of a phase, earlier tries included.
fn minutes(phase: &PhaseRecord) -> f64 {
    let earlier = phase.history.iter().filter_map(|entry| entry.get("duration_minutes")?.as_f64());
    earlier.sum::<f64>() + phase.duration_minutes.unwrap_or(0.0)
}
