//! A step that a person does: what they choose, and what it says of the step.

use serde_json::Map;
use serde_json::Value;
use serde_json::json;
use seriatim_core::choices::Choices;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::process::Capability;
use seriatim_core::process::ObservationType;
use seriatim_core::process::definition::Step;
use seriatim_core::question::Answer;
use seriatim_core::report::Report;
use seriatim_core::verdict::PersonWord;
use seriatim_core::verdict::Verdict;

use super::after::Settled;
use super::course::Course;
use super::people;
use super::people::OwnStep;
use super::records::Decided;
use super::records::Observed;
use super::step::Product;
use super::step::Said;
use super::step::Work;
use super::step::put;

impl Course<'_> {
    /// A person does the whole step; no agent is called (PX-53, PX-54).
    pub(super) async fn by_person(&mut self, work: &mut Work) -> Product {
        let step = work.step.clone();
        let open = match step.capability.value {
            Capability::Decide => self.open_matters(),
            _ => vec![],
        };
        let asked = people::drive(self.title(), &step, &self.results, &open, &self.owed_outputs());
        let Some(answer) = self.ask(asked).await else {
            return Product::of("Would be done by a person.".to_owned(), Map::new(), Said::Done);
        };
        let mut said = said(&answer);
        put(&mut self.answers, (step.id.value.clone(), step.name.value.clone(), said.clone()));
        said.extend(self.fields_of(answer.text.as_deref().unwrap_or_default()));
        let held: Vec<String> = (step.triggers.iter().enumerate())
            .filter(|(i, _)| people::trigger_choice(*i) == answer.choice)
            .map(|(_, trigger)| trigger.condition.value.clone())
            .collect();
        let own = OwnStep::of(&answer.choice);
        let label = match own {
            Some(own) => own.label().to_owned(),
            None => held.first().cloned().unwrap_or_else(|| "Done".to_owned()),
        };
        let words = answer.text.clone().filter(|t| !t.trim().is_empty());
        let by = if held.is_empty() { "by" } else { "- said by" };
        let summary = match &words {
            Some(words) => format!("{label} {by} {}: {words}", answer.by),
            None => format!("{label} {by} {}.", answer.by),
        };
        let accepted = own == Some(OwnStep::Approve) && !open.is_empty();
        let (actor, subject) = (format!("human:{}", answer.by), step.name.value.clone());
        let ids = if step.capability.value == Capability::Decide {
            let mut rationale = words.unwrap_or_else(|| "No reason was given.".to_owned());
            if accepted {
                rationale = format!("{rationale} Accepted with it: {}.", open.join("; "));
            }
            self.record(vec![Decided { actor, subject, outcome: label, rationale }], vec![]).await
        } else {
            let (kind, value) = (ObservationType::Event, json!(summary));
            self.record(vec![], vec![Observed { kind, observer: actor, subject, value }]).await
        };
        work.ids.add(ids);
        if accepted {
            self.accept_open_matters(&answer);
        }
        let decided = match own {
            Some(OwnStep::Cancel) => Said::Stop(answer.by.clone()),
            Some(OwnStep::Skip) => Said::Skip(answer.by.clone()),
            Some(
                OwnStep::Approve
                | OwnStep::Changes
                | OwnStep::Reject
                | OwnStep::Done
                | OwnStep::Pass
                | OwnStep::Fail,
            )
            | None => Said::Done,
        };
        let word = self.word_of(&step, own, &held, &answer);
        let changes = own == Some(OwnStep::Changes);
        Product { triggers: held, word: Some(word), changes, ..Product::of(summary, said, decided) }
    }

    /// What a person's choice says of the step.
    fn word_of(&self, step: &Step, own: Option<OwnStep>, held: &[String], answer: &Answer) -> Verdict {
        let (name, by) = (&step.name.value, &answer.by);
        let words = answer.text.as_deref().map(str::trim).filter(|t| !t.is_empty());
        let why = words.map(|words| format!(": {}", words.trim_end_matches('.'))).unwrap_or_default();
        let confirmed =
            |what: &str| Verdict::decided(by, PersonWord::Confirmed, format!("'{name}' {what}{why}"));
        match own {
            Some(OwnStep::Approve) => confirmed("is approved"),
            Some(OwnStep::Pass) => confirmed("passes"),
            Some(OwnStep::Done) => confirmed("is done"),
            Some(OwnStep::Changes) => Verdict::bad(format!("{by} asks for changes in '{name}'{why}")),
            Some(OwnStep::Reject) => Verdict::bad(format!("{by} refused '{name}'{why}")),
            Some(OwnStep::Fail) => Verdict::bad(format!("{by} says that '{name}' does not pass{why}")),
            Some(OwnStep::Skip | OwnStep::Cancel) => Verdict::unknown(format!("'{name}' was not done")),
            // A condition of the definition holds. Where the step judges, nobody has said whether it passes.
            None => match (self.owes_verdict(step), held.first()) {
                (true, condition) => {
                    let what = condition.map(|c| format!(": {}", people::trimmed(c))).unwrap_or_default();
                    Verdict::unknown(format!("'{name}' gave no verdict{what}"))
                }
                (false, Some(condition)) => {
                    let what =
                        format!("'{name}' went on although this holds: {}", people::trimmed(condition));
                    Verdict::decided(by, PersonWord::AcceptedUnchecked, what)
                }
                (false, None) => confirmed("is done"),
            },
        }
    }

    /// A validation that says no follows the definition's policy for it, where there is one; otherwise the work goes on
    /// and its result says so.
    pub(super) async fn on_failed_validation(
        &mut self,
        work: &mut Work,
        product: &Product,
    ) -> Option<Settled> {
        if work.step.capability.value != Capability::Validate || self.test() {
            return None;
        }
        let claim = match (&product.word, &product.report) {
            (Some(word), _) => Some(word.clone()),
            (None, Some(report)) => seriatim_core::process::judging::claim(&work.step, report),
            (None, None) => None,
        };
        let Some(Verdict::Bad(reasons)) = claim else { return None };
        let fault = Failure::new(Class::Invalid, reasons.join("; "));
        self.return_by_policy(work, product, &fault).await
    }

    /// Outputs that the interface declares and no step has given so far, with their descriptions.
    pub(super) fn owed_outputs(&self) -> Vec<(String, String)> {
        let given = |name: &str| {
            self.results.iter().any(|(_, _, map)| map.get(name).is_some_and(|value| !value.is_null()))
        };
        let declared = self.definition.outputs.iter().filter(|output| !given(&output.kind.value));
        declared
            .map(|output| {
                let about = output.description.as_ref().map(|d| d.value.clone()).unwrap_or_default();
                (output.kind.value.clone(), about)
            })
            .collect()
    }

    /// Outputs that a person names in their words, `name: value` on a line of its own (K-111).
    fn fields_of(&self, text: &str) -> Map<String, Value> {
        let mut fields = Map::new();
        for line in text.lines() {
            let Some((name, value)) = line.trim().trim_start_matches("- ").split_once(':') else { continue };
            let name = name.trim().to_lowercase().replace([' ', '-'], "_");
            let declared = self.definition.outputs.iter().map(|output| &output.kind.value);
            let known = declared.into_iter().find(|d| d.to_lowercase().replace([' ', '-'], "_") == name);
            if let (Some(known), false) = (known, value.trim().is_empty()) {
                fields.insert(known.clone(), json!(value.trim()));
            }
        }
        fields
    }

    /// The report of a person who did an agent's work, with the outputs that their words name.
    pub(super) fn with_fields(&self, mut report: Report) -> Report {
        if report.person.is_some() {
            let fields = self.fields_of(&report.summary);
            report.outputs.extend(fields);
        }
        report
    }
}

fn said(answer: &Answer) -> Map<String, Value> {
    let mut said = Map::new();
    said.insert("choice".into(), json!(answer.choice));
    said.insert("text".into(), json!(answer.text.clone().unwrap_or_default()));
    said.insert("by".into(), json!(answer.by));
    said
}
