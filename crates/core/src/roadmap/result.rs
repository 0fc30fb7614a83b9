//! What a step leaves behind: the result, the files it changed, its commits, and what it cost.

mod checkpoint;
mod files;
mod metrics;
#[cfg(test)]
mod tests;

use serde_json::Value as Json;
use serde_json::json;

pub use self::checkpoint::Checkpoint;
pub use self::checkpoint::Marks;
pub use self::files::ChangedFile;
pub use self::files::FilesModified;
pub use self::files::mutation_scope;
pub use self::metrics::Metrics;
pub use self::metrics::rounded;
use super::state::StepStatus;
use crate::report::Judged;
use crate::time::Utc;

/// How often an agent may fail before a person has to decide (DW-89).
pub const RETRIES_MAX: u32 = 3;

/// One criterion of a step, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Criterion {
    pub criterion: String,
    /// `None` where nobody judged it.
    pub met: Option<bool>,
    pub evidence: Option<String>,
}

/// The criteria of a step with the judgements of a report, which repeats them to the letter. One without an answer
/// stays as not judged.
pub fn judged(criteria: &[String], judgements: &[Judged]) -> Vec<Criterion> {
    let answer = |criterion: &String| {
        let wanted = criterion.trim();
        let said = judgements.iter().rev().find(|judged| judged.criterion.trim() == wanted);
        let reason = said.map(|judged| judged.reason.trim().to_owned()).filter(|reason| !reason.is_empty());
        Criterion { criterion: criterion.clone(), met: said.map(|judged| judged.met), evidence: reason }
    };
    criteria.iter().map(answer).collect()
}

/// How a step ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// DONE (DW-84).
    Success { outputs: Vec<String>, criteria: Vec<Criterion>, metrics: Metrics, notes: Option<String> },
    /// FAILED (DW-85).
    Failure {
        reason: String,
        partial: bool,
        criteria: Vec<Criterion>,
        suggestions: Vec<String>,
        can_retry: bool,
    },
    /// IN_REVIEW (DW-86).
    Review { reason: String, from: String },
}

impl Ending {
    pub fn status(&self) -> StepStatus {
        match self {
            Ending::Success { .. } => StepStatus::Done,
            Ending::Failure { .. } => StepStatus::Failed,
            Ending::Review { .. } => StepStatus::InReview,
        }
    }

    /// The name of the time at which it ended so.
    fn time_field(&self) -> &'static str {
        match self {
            Ending::Success { .. } => "completed_at",
            Ending::Failure { .. } => "failed_at",
            Ending::Review { .. } => "review_requested_at",
        }
    }

    /// The record: `state` and `execution_result`.
    pub fn record(&self, agent: &str, started_at: Utc, now: Utc) -> Json {
        let mut state = begun(agent, started_at);
        if let Some(state) = state.as_object_mut() {
            state.insert("status".to_owned(), json!(self.status().word()));
            state.remove("updated");
            state.insert(self.time_field().to_owned(), json!(now.seconds()));
            state.insert("updated".to_owned(), json!(now.seconds()));
        }
        json!({"state": state, "execution_result": self.result()})
    }

    fn result(&self) -> Json {
        match self {
            Ending::Success { outputs, criteria, metrics, notes } => json!({
                "success": true,
                "outputs": outputs,
                "acceptance_criteria_met": criteria.iter().map(Criterion::to_json).collect::<Vec<_>>(),
                "metrics": {
                    "execution_time_hours": metrics.hours(),
                    "tokens_used": metrics.input_tokens.saturating_add(metrics.output_tokens),
                },
                "agent_notes": notes,
            }),
            Ending::Failure { reason, partial, criteria, suggestions, can_retry } => {
                let of = |met: bool| {
                    let of = criteria.iter().filter(|criterion| (criterion.met == Some(true)) == met);
                    of.map(|criterion| criterion.criterion.as_str()).collect::<Vec<_>>()
                };
                json!({
                    "success": false,
                    "failure_reason": reason,
                    "partial_completion": partial,
                    "completed_criteria": of(true),
                    "blocked_criteria": of(false),
                    "recovery_suggestions": suggestions,
                    "can_retry": can_retry,
                })
            }
            Ending::Review { reason, from } => json!({
                "success": true,
                "outputs_require_review": true,
                "review_reason": reason,
                "review_requested_from": format!("@{}", from.trim_start_matches('@')),
            }),
        }
    }
}

impl Criterion {
    fn to_json(&self) -> Json {
        json!({"criterion": self.criterion, "met": self.met, "evidence": self.evidence})
    }
}

/// The `state` of a step that has begun (DW-50).
pub fn begun(agent: &str, now: Utc) -> Json {
    json!({
        "status": StepStatus::InProgress.word(),
        "assigned_to": agent,
        "started_at": now.seconds(),
        "updated": now.seconds(),
    })
}

/// Who changed a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actor {
    System,
    Agent(String),
}

impl Actor {
    fn word(&self) -> String {
        match self {
            Actor::System => "system".to_owned(),
            Actor::Agent(name) => format!("@{}", name.trim_start_matches('@')),
        }
    }
}

/// An entry of `state_history` (DW-49).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    pub status: StepStatus,
    pub at: Utc,
    pub actor: Actor,
    pub reason: Option<String>,
    pub note: Option<String>,
}

impl Transition {
    pub fn to_json(&self) -> Json {
        let mut entry = json!({
            "status": self.status.word(), "timestamp": self.at.seconds(), "actor": self.actor.word(),
        });
        if let Some(entry) = entry.as_object_mut() {
            let words = [("reason", &self.reason), ("note", &self.note)];
            for (name, text) in words.into_iter().filter_map(|(name, text)| Some((name, text.as_deref()?))) {
                entry.insert(name.to_owned(), json!(text));
            }
        }
        entry
    }
}

/// The record of an agent that broke down (DW-89). `attempts` is how often it was tried again so far.
pub fn agent_error(message: &str, trace: &str, attempts: u32) -> Json {
    json!({"execution_error": {
        "type": "agent_error",
        "error_message": message,
        "stack_trace": trace,
        "retry_attempts": attempts,
        "max_retries": RETRIES_MAX,
    }})
}
