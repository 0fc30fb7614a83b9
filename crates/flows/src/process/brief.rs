//! The brief of a step: everything that an agent is given, and nothing that it has to remember (PX-32).

use serde_json::Map;
use serde_json::Value;
use serde_json::json;
use seriatim_core::choices::Choices;
use seriatim_core::process::Capability;
use seriatim_core::process::definition::Step;
use seriatim_core::process::prompt;
use seriatim_core::process::prompt::Judges;
use seriatim_core::process::result;
use seriatim_core::report::Brief;
use seriatim_core::report::OwedVerdict;
use seriatim_core::report::Report;

use super::course::Course;
use super::course::Part;
use super::people;
use super::people::OwnStep;
use super::step::Work;
use crate::request::Assignment;
use crate::request::PersonChoice;
use crate::request::WOULD_WRITE;

impl Course<'_> {
    /// What an agent would have written in a dry run (PX-23).
    pub(super) fn tell_writes(&self, report: Option<&Report>) {
        let paths = report.and_then(|r| r.unknown.get(WOULD_WRITE)).and_then(Value::as_array);
        for path in paths.into_iter().flatten().filter_map(Value::as_str) {
            self.test_log(format!("TEST: Would write {path}"));
        }
    }

    /// With strict mode, every criterion needs its answer (PX-18).
    pub(super) fn strict(&self) -> bool {
        self.instance.parameters.get("strict_mode") == Some(&Value::Bool(true))
    }

    /// What every brief carries of the work so far.
    pub(super) fn brief_inputs(&self) -> Value {
        let by_id = |parts: &[Part]| -> Map<String, Value> {
            parts.iter().map(|(id, _, map)| (id.clone(), Value::Object(map.clone()))).collect()
        };
        let mut inputs = json!({
            "inputs": self.instance.inputs_json(),
            "steps": by_id(&self.results),
            "answers": by_id(&self.answers),
        });
        if !self.provided.is_empty()
            && let Some(map) = inputs.as_object_mut()
        {
            map.insert("provided".into(), json!(self.provided));
        }
        inputs
    }

    /// What a person can say who does the work of a step's agent.
    fn person_choices(&self, step: &Step) -> Vec<PersonChoice> {
        if !self.owes_verdict(step) {
            return vec![];
        }
        let own = people::own_options(step, &[]);
        let offered = own.into_iter().filter_map(|choice| {
            let verdict = match OwnStep::of(&choice.id)? {
                OwnStep::Pass => "PASS",
                OwnStep::Fail => "FAIL",
                OwnStep::Approve => "APPROVED",
                OwnStep::Changes => "CHANGES_REQUESTED",
                OwnStep::Reject => "REJECTED",
                OwnStep::Done | OwnStep::Skip | OwnStep::Cancel => return None,
            };
            Some(PersonChoice { verdict: verdict.to_owned(), ..PersonChoice::new(choice) })
        });
        offered.collect()
    }

    pub(super) fn assignment(&self, work: &Work, attempt: u32, feedback: &[String]) -> Assignment {
        let step = &work.step;
        let role = step.ai_role.as_ref().map(|r| r.value.clone()).unwrap_or_default();
        let mut triggers: Vec<String> =
            step.triggers.iter().filter(|t| t.when.is_none()).map(|t| t.condition.value.clone()).collect();
        triggers.extend(self.upgrade_triggers());
        let mut guidance = work.guidance.clone();
        guidance
            .extend(self.provided.iter().map(|p| format!("Use this instead of what was given before: {p}")));
        let prompt = prompt::render(&prompt::Material {
            work: self.title(),
            step,
            role: &role,
            inputs: &self.instance.inputs_json(),
            parameters: &self.instance.parameters,
            results: &self.results,
            answers: &self.answers,
            principles: &self.principles,
            mode: self.mode(),
            triggers: &triggers,
            guidance: &guidance,
            feedback,
            owed: &self.owed_outputs(),
            verdict: match step.capability.value {
                _ if self.owes_verdict(step) => Judges::Owes,
                Capability::Decide => Judges::Perhaps,
                _ => Judges::No,
            },
            rehearsal: self.test(),
        });
        let criteria = step
            .completion_criteria
            .iter()
            .chain(&step.validation)
            .filter(|c| c.when.is_none())
            .map(|c| c.text.clone())
            .collect();
        Assignment {
            agents: vec![role.clone()],
            title: step.name.value.clone(),
            brief: Brief {
                step: step.id.value.clone(),
                role,
                attempt,
                prompt,
                inputs: self.brief_inputs(),
                parameters: Value::Object(self.instance.parameters.clone()),
                outputs_expected: self.definition.outputs.iter().map(|o| o.kind.value.clone()).collect(),
                criteria,
                triggers,
                feedback: feedback.to_vec(),
                ..Brief::default()
            },
            judge_all: self.strict(),
            verdict: self.owes_verdict(step).then(|| OwedVerdict {
                words: result::WORDS.map(str::to_owned).to_vec(),
                measured: step.completion_criteria.iter().chain(&step.validation).any(|c| c.when.is_some()),
            }),
            by_person: self.person_choices(step),
            rehearsal: self.test(),
            view: step.id.value.clone(),
            ..Assignment::default()
        }
    }
}
