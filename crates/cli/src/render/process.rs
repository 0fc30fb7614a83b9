//! A process as people and machines see it before it is run.

use std::fmt::Write as _;

use serde_json::Value;
use serde_json::json;
use seriatim_core::doc::At;
use seriatim_core::process::Action;
use seriatim_core::process::Decimal;
use seriatim_core::process::Definition;
use seriatim_core::process::Pattern;
use seriatim_core::process::definition::Criterion;
use seriatim_core::process::definition::Step;
use seriatim_core::process::definition::Trigger;
use seriatim_core::process::diagram;
use seriatim_core::process::diagram::Diagram;
use seriatim_core::process::diagram::readable;
use seriatim_core::process::diagram::wrap;
use seriatim_core::process::engagement::Level;
use seriatim_core::process::result::purpose;

use crate::render::table::cut;
use crate::render::table::table;
use crate::ui::Tone;
use crate::ui::tone;

/// Longer texts are cut: the file has them in full.
const LINES_MAX: usize = 40;

/// Everything there is to say about a definition.
pub(crate) struct Sheet<'d> {
    pub(crate) definition: &'d Definition,
    pub(crate) diagram: &'d Diagram,
    pub(crate) path: &'d str,
    /// How many errors `check` finds in it.
    pub(crate) errors: usize,
    /// The file that the flow was drawn into.
    pub(crate) picture: Option<String>,
}

impl Sheet<'_> {
    fn level(&self) -> Level {
        Level::of(self.definition.composition.as_ref())
    }

    /// The technical side.
    pub(crate) fn document(&self) -> Value {
        let d = self.definition;
        let inputs: Vec<Value> = d
            .inputs
            .iter()
            .map(|i| json!({"type": i.kind.value, "required": i.required, "description": text(i.description.as_ref())}))
            .collect();
        let outputs: Vec<Value> = d
            .outputs
            .iter()
            .map(|o| json!({"type": o.kind.value, "description": text(o.description.as_ref())}))
            .collect();
        let steps: Vec<Value> = d.steps.iter().map(|s| self.step_document(s)).collect();
        let fixes: Vec<Value> = d
            .control_flow
            .fix_steps
            .iter()
            .map(|f| {
                let mut fix = self.step_document(&f.step);
                fix["trigger_from"] = json!(f.trigger_from.value);
                fix["invocation"] = json!(f.invocation.word());
                fix
            })
            .collect();
        json!({
            "id": d.id.value,
            "name": d.name.value,
            "path": self.path,
            "description": text(d.description.as_ref()),
            "version": text(d.version.as_ref()),
            "phase": d.phase.as_ref().map(|p| p.value),
            "type": purpose(d).word(),
            "engagement": {"level": level_word(self.level()), "words": in_words(self.level())},
            "inputs": inputs,
            "outputs": outputs,
            "steps": steps,
            "fix_steps": fixes,
            "entry_criteria": criteria(&d.quality.entry_criteria),
            "exit_criteria": criteria(&d.quality.exit_criteria),
            "sla": self.times(),
            "flow": {"text": diagram::text(self.diagram, 100), "mermaid": diagram::mermaid(self.diagram)},
            "svg": self.picture,
            "errors": self.errors,
        })
    }

    fn step_document(&self, step: &Step) -> Value {
        let pattern = self.level().elevate(step.pattern.value);
        json!({
            "id": step.id.value,
            "name": step.name.value,
            "description": text(step.description.as_ref()),
            "capability": step.capability.value.word(),
            "pattern": step.pattern.value.word(),
            "done_by": diagram::who(pattern),
            "human_role": text(step.human_role.as_ref()),
            "ai_role": text(step.ai_role.as_ref()),
            "when": text(step.when.as_ref()),
            "triggers": step.triggers.iter().map(trigger_document).collect::<Vec<_>>(),
            "criteria": criteria(&step.completion_criteria),
            "validation": criteria(&step.validation),
        })
    }

    fn times(&self) -> Value {
        let Some(sla) = &self.definition.quality.sla else { return Value::Null };
        let minutes = |span: &Option<At<Decimal>>| span.as_ref().map(|m| m.value.to_f64());
        json!({
            "expected_minutes": minutes(&sla.expected_duration_minutes),
            "timeout_minutes": minutes(&sla.timeout_minutes),
            "warning_percent": sla.warning_threshold_percent.to_f64(),
        })
    }

    /// The same for people.
    pub(crate) fn text(&self, columns: usize) -> String {
        let d = self.definition;
        let mut out = tone(Tone::Strong, readable(&d.name.value));
        out.push('\n');
        let phase = d.phase.as_ref().map(|p| format!("  ·  phase {p}")).unwrap_or_default();
        let about = format!("{}  ·  {}{phase}  ·  {}", readable(&d.id.value), purpose(d), self.path);
        let _ = writeln!(out, "{}", tone(Tone::Faint, about));
        if let Some(description) = &d.description {
            paragraph(&mut out, &description.value, columns);
        }
        let level = format!("Engagement of people: {}. {}", level_word(self.level()), in_words(self.level()));
        paragraph(&mut out, &level, columns);
        self.inputs(&mut out, columns);
        heading(&mut out, "Steps");
        let rows: Vec<Vec<String>> = d.steps.iter().map(|s| self.step_row(s)).collect();
        let _ = writeln!(out, "{}", table(&["step", "name", "what", "done by", "role"], &rows));
        list(&mut out, "What must be true at the beginning", &d.quality.entry_criteria, columns);
        list(&mut out, "What must be true at the end", &d.quality.exit_criteria, columns);
        self.time(&mut out, columns);
        heading(&mut out, "Flow");
        out.push_str(&diagram::text(self.diagram, columns));
        self.questions(&mut out, columns);
        out
    }

    fn inputs(&self, out: &mut String, columns: usize) {
        if self.definition.inputs.is_empty() {
            return;
        }
        heading(out, "Inputs");
        for input in &self.definition.inputs {
            let need = if input.required { "needed" } else { "optional" };
            let about = input.description.as_ref().map(|d| format!(": {}", d.value)).unwrap_or_default();
            item(out, &format!("{} ({need}){about}", input.kind), columns);
        }
    }

    fn step_row(&self, step: &Step) -> Vec<String> {
        let pattern = self.level().elevate(step.pattern.value);
        // Whoever leads comes first.
        let roles = match pattern {
            Pattern::HumanOnly | Pattern::HumanLed => [&step.human_role, &step.ai_role],
            Pattern::Partnership | Pattern::AiLed | Pattern::AiOnly => [&step.ai_role, &step.human_role],
        };
        let roles: Vec<&str> = roles.into_iter().flatten().map(|role| role.value.as_str()).collect();
        vec![
            readable(&step.id.value),
            cut(&readable(&step.name.value), 40),
            step.capability.value.word().to_owned(),
            diagram::who(pattern).to_owned(),
            cut(&readable(&roles.join("; ")), 60),
        ]
    }

    fn time(&self, out: &mut String, columns: usize) {
        let Some(sla) = &self.definition.quality.sla else { return };
        let mut parts = vec![];
        if let Some(expected) = &sla.expected_duration_minutes {
            parts.push(format!("about {expected} minutes are expected"));
        }
        if let Some(timeout) = &sla.timeout_minutes {
            let warning = sla.warning_threshold_percent;
            parts.push(format!("after {timeout} minutes it stops (a warning comes at {warning} %)"));
        }
        if !parts.is_empty() {
            heading(out, "Time");
            parts.push("time that it lies suspended does not count".to_owned());
            parts.iter().for_each(|part| item(out, part, columns));
        }
    }

    /// What a person may be asked, step by step: the picture only has the number.
    fn questions(&self, out: &mut String, columns: usize) {
        let mut lines = vec![];
        for step in &self.definition.steps {
            for trigger in step.triggers.iter().filter(|t| t.action.value == Action::Escalate) {
                let weight =
                    trigger.severity.as_ref().map(|s| format!(" ({})", s.value.word().to_lowercase()));
                lines.push(format!("{}: {}{}", step.name, trigger.condition, weight.unwrap_or_default()));
            }
        }
        if !lines.is_empty() {
            heading(out, "A person is asked when");
            lines.iter().for_each(|line| item(out, line, columns));
        }
    }
}

fn level_word(level: Level) -> &'static str {
    match level {
        Level::High => "high",
        Level::Medium => "medium",
        Level::Low => "low",
    }
}

/// What a level means for those who take part.
fn in_words(level: Level) -> &'static str {
    match level {
        Level::High => {
            "Much of the knowledge is in people's heads, so they are asked before and after every step that an agent \
             does."
        }
        Level::Medium => {
            "They are asked before weighty steps, when an agent is unsure, and every few steps whether the direction \
             is right."
        }
        Level::Low => {
            "Nearly everything is written down, so they are asked only where the steps themselves say so."
        }
    }
}

fn text(value: Option<&At<String>>) -> Option<&str> {
    value.map(|v| v.value.as_str())
}

fn criteria(all: &[Criterion]) -> Vec<Value> {
    all.iter().map(|c| json!({"criterion": c.text, "when": text(c.when.as_ref())})).collect()
}

fn trigger_document(trigger: &Trigger) -> Value {
    json!({
        "condition": trigger.condition.value,
        "action": trigger.action.value.word(),
        "severity": trigger.severity.as_ref().map(|s| s.value.word()),
        "target": text(trigger.target.as_ref()),
        "when": text(trigger.when.as_ref()),
    })
}

fn heading(out: &mut String, title: &str) {
    let _ = writeln!(out, "\n{}", tone(Tone::Strong, title));
}

fn paragraph(out: &mut String, words: &str, columns: usize) {
    out.push('\n');
    for line in wrap(words, columns, LINES_MAX) {
        let _ = writeln!(out, "{line}");
    }
}

fn item(out: &mut String, words: &str, columns: usize) {
    for (i, line) in wrap(words, columns.saturating_sub(4), LINES_MAX).iter().enumerate() {
        let mark = if i == 0 { "  - " } else { "    " };
        let _ = writeln!(out, "{mark}{line}");
    }
}

fn list(out: &mut String, title: &str, all: &[Criterion], columns: usize) {
    if all.is_empty() {
        return;
    }
    heading(out, title);
    for criterion in all {
        let computed =
            criterion.when.as_ref().map(|when| format!("  [computed: {when}]")).unwrap_or_default();
        item(out, &format!("{}{computed}", criterion.text), columns);
    }
}
