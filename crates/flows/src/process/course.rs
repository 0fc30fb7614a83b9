//! The course of one process run: what it works on and what has come of it so far.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use serde_json::Map;
use serde_json::Value;
use serde_json::json;
use seriatim_core::choices::Choices;
use seriatim_core::hash::Hash;
use seriatim_core::plain::Words;
use seriatim_core::process::Definition;
use seriatim_core::process::Instance;
use seriatim_core::process::ObservationType;
use seriatim_core::process::engagement::Level;
use seriatim_core::process::facts::Began;
use seriatim_core::process::facts::Fact;
use seriatim_core::process::facts::StepRecord;
use seriatim_core::process::log::EXECUTIONS;
use seriatim_core::process::machine::INSTANCE;
use seriatim_core::process::principles::Principle;
use seriatim_core::question::Answer;
use seriatim_core::question::Question;
use seriatim_core::time::Utc;

use super::Start;
use super::matters::Matter;
use crate::Cx;
use crate::request::FreshIds;
use crate::request::SetField;

/// What came of a step: its id, its name, and its outputs or a person's words.
pub(super) type Part = (String, String, Map<String, Value>);

pub(super) struct Course<'c> {
    pub(super) cx: &'c Cx,
    pub(super) start: Start,
    pub(super) definition: Definition,
    /// The file with the definition; that of the instance where it brings its own.
    pub(super) definition_path: String,
    pub(super) instance: Instance,
    /// The hash of the instance file as the engine left it, to see edits by others.
    pub(super) file: Option<Hash>,
    pub(super) level: Level,
    /// Where the instance stands by now.
    pub(super) standing: String,
    pub(super) execution: String,
    /// When the log was opened.
    pub(super) began: Utc,
    /// Time that the run lay suspended; it does not count against the time it may take.
    pub(super) suspended_ms: u64,
    pub(super) warned: bool,
    pub(super) results: Vec<Part>,
    pub(super) answers: Vec<Part>,
    pub(super) steps: Vec<StepRecord>,
    /// What each step came to, the last time.
    pub(super) matters: Vec<Matter>,
    pub(super) errors: u32,
    pub(super) recorded: BTreeSet<String>,
    /// How often each step was carried out.
    pub(super) passes: BTreeMap<String, u32>,
    /// How often each step returned (E-13).
    pub(super) returns: BTreeMap<String, u32>,
    /// What a step that returned was given and found, to tell a persistent failure.
    pub(super) failures: BTreeMap<String, Hash>,
    /// Input that a person gave after a persistent failure.
    pub(super) provided: Vec<String>,
    /// Words of people for the steps to come.
    pub(super) guidance: Vec<String>,
    pub(super) principles: Vec<Principle>,
    pub(super) full: bool,
    /// Steps that the quick mode left out.
    pub(super) left_out: BTreeSet<usize>,
    pub(super) since_progress: u32,
    pub(super) fired: u32,
    /// What the step that ended the run had so far.
    pub(super) partial: Option<(String, Map<String, Value>)>,
    /// For the audit summary.
    pub(super) note: Option<String>,
    /// What people should hear at the end.
    pub(super) remarks: Vec<String>,
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
        file: Hash,
    ) -> Course<'c> {
        let mut names: BTreeMap<String, String> =
            definition.steps.iter().map(|s| (s.id.value.clone(), s.name.value.clone())).collect();
        for fix in &definition.control_flow.fix_steps {
            names.insert(fix.step.id.value.clone(), fix.step.name.value.clone());
        }
        names.extend(start.known_processes.iter().cloned());
        names.insert(instance.id.value.clone(), instance.description.value.clone());
        names.insert(definition.id.value.clone(), definition.name.value.clone());
        Course {
            cx,
            definition_path: start.instance.clone(),
            file: Some(file),
            level: Level::of(definition.composition.as_ref()),
            standing: instance.status.value.word().to_owned(),
            start,
            words: Words::new(names.keys().cloned()),
            definition,
            instance,
            execution: String::new(),
            began: Utc::default(),
            suspended_ms: 0,
            warned: false,
            results: vec![],
            answers: vec![],
            steps: vec![],
            matters: vec![],
            errors: 0,
            recorded: BTreeSet::new(),
            passes: BTreeMap::new(),
            returns: BTreeMap::new(),
            failures: BTreeMap::new(),
            provided: vec![],
            guidance: vec![],
            principles: vec![],
            full: false,
            left_out: BTreeSet::new(),
            since_progress: 0,
            fired: 0,
            partial: None,
            note: None,
            remarks: vec![],
            names,
        }
    }

    /// The only name of the work that people get to see (PX-13).
    pub(super) fn title(&self) -> &str {
        &self.instance.description.value
    }

    /// A dry run: no effects, no questions, no records (PX-19).
    pub(super) fn test(&self) -> bool {
        self.instance.test_mode
    }

    /// Says in the log what a dry run would have done.
    pub(super) fn test_log(&self, text: impl Into<String>) {
        self.cx.record(&Fact::TestLogged { text: text.into() });
    }

    /// Creates the execution log and says so in the instance (PX-40, PX-41).
    pub(super) async fn begin(&mut self) {
        self.open_log().await;
        if self.test() {
            self.test_log("Executing in TEST MODE - no side effects");
        }
        let set = vec![
            ("execution_log_id", json!(self.execution)),
            ("started", json!(self.began.seconds())),
            ("completed", Value::Null),
        ];
        self.move_instance("IN_PROGRESS", "start", set).await;
        if !self.instance.parameters.is_empty() {
            let parameters = Value::Object(self.instance.parameters.clone());
            self.observe(ObservationType::State, "Runtime parameters", parameters).await;
        }
        self.note_principles().await;
    }

    /// The log, once.
    pub(super) async fn open_log(&mut self) {
        if !self.execution.is_empty() {
            return;
        }
        let wanted =
            FreshIds { prefix: "EXEC".into(), folder: EXECUTIONS.into(), extension: "yaml".into(), count: 1 };
        // The clock starts with the log: the time that an approval took is nobody's delay.
        self.began = self.cx.now().await;
        self.execution = self.cx.ids(wanted).await.pop().unwrap_or_default();
        self.cx.record(&Fact::Began(Began {
            execution_id: self.execution.clone(),
            instance_id: self.instance.id.value.clone(),
            at: self.began,
            test_mode: self.test(),
        }));
    }

    /// Moves the instance by its machine and writes the change into its file, every other byte kept.
    pub(super) async fn move_instance(&mut self, to: &str, trigger: &str, fields: Vec<(&str, Value)>) {
        let entity = self.instance.id.value.clone();
        if self.test() {
            return;
        }
        let moved = self.cx.go(&INSTANCE, &entity, &self.standing, to, trigger, BTreeMap::new());
        if let Err(refused) = moved {
            self.error(&format!("instance: StateError - {refused}"));
            return;
        }
        self.standing = to.to_owned();
        let mut set = vec![("status", json!(to))];
        set.extend(fields);
        self.edit(set).await;
    }

    /// Sets fields of the instance, named by the way to them.
    pub(super) async fn edit(&mut self, fields: Vec<(&str, Value)>) {
        let set = fields
            .into_iter()
            .map(|(name, value)| SetField {
                path: std::iter::once("instance").chain(name.split('.')).map(str::to_owned).collect(),
                value,
            })
            .collect();
        self.edit_fields(set).await;
    }

    /// The same by paths. An edit by somebody else during the run is a finding, and is kept.
    pub(super) async fn edit_fields(&mut self, set: Vec<SetField>) {
        if self.test() {
            return;
        }
        match self.cx.edit(&self.start.instance, set, self.file).await {
            Ok(edited) => {
                self.file = Some(edited.hash);
                if edited.foreign {
                    let what = "The file of this run was changed by somebody else while it ran";
                    self.error(&format!("instance: ForeignEdit - {what}"));
                    self.observe_quietly(ObservationType::Event, "Foreign edit", json!(what)).await;
                }
            }
            Err(failure) => self.error(&format!("instance: {} - {}", failure.class, failure.message)),
        }
    }

    /// Every error is in the log, in the fixed form (PX-133).
    pub(super) fn error(&mut self, text: &str) {
        self.errors += 1;
        self.cx.record(&Fact::Error { text: text.to_owned() });
    }

    /// Asks a person, in plain words only (PX-05, PX-06). A dry run says what it would have asked and gets no answer
    /// (PX-25).
    pub(super) async fn ask(&self, question: Question) -> Option<Answer> {
        let question = self.put_plainly(question)?;
        Some(self.cx.ask(question).await)
    }

    /// The same for a question of the engine's own, whose options are a type.
    pub(super) async fn choose<C: Choices>(&self, question: Question) -> Option<(C, Answer)> {
        let question = self.put_plainly(question)?;
        Some(self.cx.choose(question).await)
    }

    fn put_plainly(&self, question: Question) -> Option<Question> {
        let question = self.words.question(question, &self.names);
        if self.test() {
            self.test_log(format!("TEST: Would ask - {}", question.question));
            return None;
        }
        Some(question)
    }

    /// Text for people, free of ids and field names.
    pub(super) fn plain(&self, text: &str) -> String {
        self.words.mend(text, &self.names)
    }

    /// Milliseconds of work so far; time that it lay suspended does not count.
    pub(super) fn elapsed_ms(&self, now: Utc) -> u64 {
        now.since_ms(self.began).saturating_sub(self.suspended_ms)
    }
}
