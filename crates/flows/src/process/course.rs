//! The course of one process run: what it works on and what has come of it so far.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use seriatim_core::plain::Words;
use seriatim_core::process::Definition;
use seriatim_core::process::Instance;
use seriatim_core::process::facts::Began;
use seriatim_core::process::facts::Fact;
use seriatim_core::process::facts::StepRecord;
use seriatim_core::process::log::EXECUTIONS;
use seriatim_core::process::machine::INSTANCE;
use seriatim_core::question::Answer;
use seriatim_core::question::Question;
use seriatim_core::time::Utc;
use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use super::Start;
use crate::Cx;
use crate::request::FreshIds;
use crate::request::SetField;

pub(super) struct Course<'c> {
    pub(super) cx: &'c Cx,
    pub(super) start: Start,
    pub(super) definition: Definition,
    pub(super) instance: Instance,
    /// Where the instance stands by now.
    pub(super) standing: String,
    pub(super) execution: String,
    pub(super) began: Utc,
    /// Id, name and outputs of steps that are done.
    pub(super) results: Vec<(String, String, Map<String, Value>)>,
    /// Id, name, and what a person said.
    pub(super) answers: Vec<(String, String, Map<String, Value>)>,
    pub(super) steps: Vec<StepRecord>,
    pub(super) errors: u32,
    pub(super) recorded: BTreeSet<String>,
    /// What people must not be shown, and what to show instead.
    pub(super) words: Words,
    pub(super) names: BTreeMap<String, String>,
}

impl<'c> Course<'c> {
    pub(super) fn new(
        cx: &'c Cx,
        start: Start,
        definition: Definition,
        instance: Instance,
        began: Utc,
    ) -> Course<'c> {
        let mut names: BTreeMap<String, String> =
            definition.steps.iter().map(|s| (s.id.value.clone(), s.name.value.clone())).collect();
        for fix in &definition.control_flow.fix_steps {
            names.insert(fix.step.id.value.clone(), fix.step.name.value.clone());
        }
        names.insert(instance.id.value.clone(), instance.description.value.clone());
        names.insert(definition.id.value.clone(), definition.name.value.clone());
        Course {
            cx,
            standing: instance.status.value.word().to_owned(),
            start,
            words: Words::new(names.keys().cloned()),
            definition,
            instance,
            execution: String::new(),
            began,
            results: vec![],
            answers: vec![],
            steps: vec![],
            errors: 0,
            recorded: BTreeSet::new(),
            names,
        }
    }

    /// The only name of the work that people get to see (PX-13).
    pub(super) fn title(&self) -> &str {
        &self.instance.description.value
    }

    /// Creates the execution log and says so in the instance (PX-40, PX-41).
    pub(super) async fn begin(&mut self) {
        self.open_log().await;
        let set = vec![
            ("execution_log_id", json!(self.execution)),
            ("started", json!(self.began.seconds())),
            ("completed", Value::Null),
        ];
        self.move_instance("IN_PROGRESS", "start", set).await;
    }

    pub(super) async fn open_log(&mut self) {
        let wanted = FreshIds {
            prefix: "EXEC".into(),
            folder: EXECUTIONS.into(),
            extension: "yaml".into(),
            count: 1,
        };
        self.execution = self.cx.ids(wanted).await.pop().unwrap_or_default();
        self.cx.record(&Fact::Began(Began {
            execution_id: self.execution.clone(),
            instance_id: self.instance.id.value.clone(),
            at: self.began,
            test_mode: self.instance.test_mode,
        }));
    }

    /// Moves the instance by its machine and writes the change into its file, every other byte kept.
    pub(super) async fn move_instance(&mut self, to: &str, trigger: &str, fields: Vec<(&str, Value)>) {
        let entity = self.instance.id.value.clone();
        let moved = self.cx.go(&INSTANCE, &entity, &self.standing, to, trigger, BTreeMap::new());
        if let Err(refused) = moved {
            self.error(&format!("instance: StateError - {refused}"));
            return;
        }
        self.standing = to.to_owned();
        let mut set = vec![field("status", json!(to))];
        set.extend(fields.into_iter().map(|(name, value)| field(name, value)));
        if let Err(failure) = self.cx.edit(&self.start.instance, set, None).await {
            self.error(&format!("instance: {} - {}", failure.class, failure.message));
        }
    }

    /// Every error is on record, in the fixed form (PX-133).
    pub(super) fn error(&mut self, text: &str) {
        self.errors += 1;
        self.cx.record(&Fact::Error { text: text.to_owned() });
    }

    /// Asks a person, in plain words only (PX-05, PX-06).
    pub(super) async fn ask(&self, question: Question) -> Answer {
        self.cx.ask(self.words.question(question, &self.names)).await
    }

    /// Text for people, free of ids and field names.
    pub(super) fn plain(&self, text: &str) -> String {
        self.words.mend(text, &self.names)
    }
}

fn field(name: &str, value: Value) -> SetField {
    SetField { path: vec!["instance".into(), name.into()], value }
}
