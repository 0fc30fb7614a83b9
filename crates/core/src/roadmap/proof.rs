//! What a phase must show before it is over, and what counts as cheating.
//!
//! An agent says that a phase is done; the engine looks for itself. What it ran and found comes in here as data, and
//! reasons come out: each an [`Objection`] in words that an agent can act on. No objection means that the phase holds.

mod cheating;
mod gate;
mod quality;
mod rule;
mod scenario;
mod skeleton;
mod sort;
#[cfg(test)]
mod tests;

pub use cheating::GateFile;
pub use cheating::LoaderFile;
pub use cheating::TestFile;
pub use cheating::cheats;
pub use cheating::gate_edits;
pub use cheating::loader_edits;
pub use cheating::losses;
pub use gate::Earlier;
pub use gate::Seen;
pub use gate::judge;
pub use gate::see;
pub use quality::POST_REFACTOR_LIST;
pub use quality::QUICK_LINES;
pub use quality::REVIEW_LIST;
pub use quality::ReviewFinding;
pub use quality::ReviewSeverity;
pub use quality::coverage;
pub use quality::is_quick;
pub use quality::post_refactor_list;
pub use quality::review_findings;
pub use rule::Rule;
pub use scenario::one_scenario;
pub use skeleton::walking_skeleton;
pub use sort::Sort;
pub use sort::fallback;

/// One reason why a phase is not over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objection {
    /// The rule that says so.
    pub rule: Rule,
    /// Plain words that an agent can act on.
    pub message: String,
    /// The part of a gate's output that shows it; empty where no gate was run for it.
    pub output: String,
}

impl Objection {
    fn new(rule: Rule, message: impl Into<String>) -> Objection {
        Objection { rule, message: message.into(), output: String::new() }
    }

    fn showing(mut self, output: &str) -> Objection {
        output.clone_into(&mut self.output);
        self
    }
}

/// What the next call is told: each objection as a text of its own, the message first and then the end of the output.
/// Where several rest on one and the same output, it is given once.
pub fn feedback(objections: &[Objection]) -> Vec<String> {
    let mut shown: Vec<&str> = vec![];
    let mut texts = vec![];
    for objection in objections {
        let output = objection.output.trim_end();
        let is_new = !output.is_empty() && !shown.contains(&output);
        texts.push(match is_new {
            true => format!("{}\nThe output ended with:\n{output}", objection.message),
            false => objection.message.clone(),
        });
        shown.push(output);
    }
    texts
}
