//! A run as people and machines see it when a command lets go of it.

use serde_json::Value;
use serde_json::json;
use seriatim_core::config::Difference;
use seriatim_core::finding::has_errors;
use seriatim_core::question::Question;
use seriatim_core::view::RunView;
use seriatim_engine::drive::Left;
use seriatim_engine::drive::Outcome;
use seriatim_engine::drive::Story;
use seriatim_flows::registry::FileFindings;
use seriatim_flows::registry::Registry;
use seriatim_journal::Open;
use seriatim_journal::OpenFilter;
use seriatim_journal::OpenKind;
use seriatim_journal::RunInfo;
use seriatim_journal::Store;

use crate::error::Result;
use crate::exit::Exit;
use crate::render;
use crate::render::isolation::WeakerIsolation;
use crate::ui::Tone;
use crate::ui::Ui;
use crate::ui::tone;
use crate::workers::Worker;
use crate::workspace::Workspace;

/// How many files people are shown by name.
const FILES_SHOWN: usize = 5;

/// What there is to say about a run.
pub(crate) struct View {
    pub(crate) info: RunInfo,
    pub(crate) outcome: Value,
    pub(crate) message: String,
    pub(crate) open: Vec<(Open, Question)>,
    /// Where an agent was kept apart less than by a world, in words.
    pub(crate) weaker: Option<String>,
    pub(crate) findings: Vec<FileFindings>,
    pub(crate) files: Vec<String>,
    /// What a person should hear of.
    pub(crate) alerts: Vec<String>,
    pub(crate) exit: Exit,
    /// Who does the work, where the run began here.
    pub(crate) workers: Option<Vec<Worker>>,
    /// In what the configuration differs from the recorded one, where nobody has decided.
    pub(crate) differences: Vec<Difference>,
}

/// What the dialect of a run shows of it; nothing for a dialect that this program does not have.
pub(crate) fn dialect_view(registry: &Registry, info: &RunInfo, story: &Story) -> RunView {
    registry.dialect(&info.flow).map(|dialect| (dialect.view)(&story.facts())).unwrap_or_default()
}

/// Returns whether a record is that of a run. A dialect without a program keeps a book, which has no end.
pub(crate) fn is_work(registry: &Registry, info: &RunInfo) -> bool {
    registry.dialect(&info.flow).is_none_or(|dialect| dialect.flow.is_some())
}

/// The open questions of a run, or of all.
pub(crate) fn open_questions(store: &Store, filter: &OpenFilter) -> Result<Vec<(Open, Question)>> {
    let rows = store.open_calls(filter)?;
    Ok(rows
        .into_iter()
        .filter(|row| row.kind != OpenKind::Signal)
        .filter_map(|row| serde_json::from_slice(&row.body).ok().map(|q| (row, q)))
        .collect())
}

impl View {
    /// After a drive.
    pub(crate) fn after(registry: &Registry, store: &Store, outcome: Outcome) -> Result<View> {
        let mut view = View::of(registry, store, store.run(outcome.run)?)?;
        view.files = outcome.files;
        match outcome.left {
            Left::Ended(_) | Left::Parked => {}
            Left::Interrupted => {
                view.message = "The work was stopped here and can be continued.".to_owned();
                view.exit = Exit::Waiting;
            }
            Left::Stuck(why) => {
                view.message = format!("The work had to stop: {why}. Nothing that was recorded is lost.");
                view.exit = Exit::NotGood;
            }
            Left::Undecided(matter) => {
                view.message = render::configuration::message(&view.info.name, &matter);
                view.differences = matter.differences;
                // What was answered already waits for nobody but this decision.
                view.open.retain(|(row, _)| row.answered.is_none());
                view.exit = Exit::Waiting;
            }
            Left::Halted(halt) => {
                view.message = format!("The work cannot be continued by this program: {halt}");
                view.exit = Exit::NotGood;
            }
            Left::Fenced(holder) => {
                let by = holder.map_or_else(|| "another process".to_owned(), |h| h.to_string());
                view.message = format!("Another process has taken this work over: {by}");
                view.exit = Exit::Held;
            }
        }
        Ok(view)
    }

    /// As the journal has it.
    pub(crate) fn of(registry: &Registry, store: &Store, info: RunInfo) -> Result<View> {
        let story = Story::read(store, &info)?;
        let shown = dialect_view(registry, &info, &story);
        View::from_parts(store, info, story, &shown)
    }

    /// From a story that was read already, and what the dialect shows of it.
    pub(crate) fn from_parts(store: &Store, info: RunInfo, story: Story, shown: &RunView) -> Result<View> {
        let open = open_questions(store, &OpenFilter { run: Some(info.id), ..OpenFilter::default() })?;
        let mut view = View {
            outcome: Value::Null,
            message: String::new(),
            open,
            weaker: WeakerIsolation::of_story(&story).words(),
            findings: vec![],
            files: vec![],
            alerts: shown.alerts.clone(),
            exit: Exit::Waiting,
            workers: None,
            differences: vec![],
            info,
        };
        if let Some((_, ended)) = story.ended {
            view.exit = if ended.good { Exit::Good } else { Exit::NotGood };
            view.outcome = ended.outcome;
            view.message = ended.message;
            view.findings = ended.findings;
            return Ok(view);
        }
        view.message = match (&view.info.holder, view.open.is_empty()) {
            (Some(holder), _) => format!("Under way, held by {holder}."),
            (None, false) => format!("Waiting for an answer: {}.", view.info.waiting_for),
            (None, true) if view.info.interrupted => "Interrupted; it can be continued.".to_owned(),
            (None, true) => match &shown.suspended {
                Some(why) => format!("Deferred: {why}. Continue it once that is settled."),
                None => "Suspended; it can be continued.".to_owned(),
            },
        };
        Ok(view)
    }

    /// What a question says about isolation. An assignment is work to do, which needs no such word.
    fn weakness(&self, row: &Open) -> Option<&str> {
        self.weaker.as_deref().filter(|_| row.kind == OpenKind::Question)
    }

    /// The document of `run --json`, `resume --json` and `status RUN --json`.
    pub(crate) fn document(&self) -> Value {
        let questions: Vec<_> = self
            .open
            .iter()
            .map(|(row, q)| render::question::Plain::of(&row.id, q, self.weakness(row)))
            .collect();
        let findings: Vec<_> = self
            .findings
            .iter()
            .flat_map(|f| f.findings.iter().map(|one| render::findings::Plain::of(one, Some(&f.path))))
            .collect();
        let mut document = json!({
            "run": self.info.name,
            "flow": self.info.flow,
            "status": self.info.status.as_str(),
            "interrupted": self.info.interrupted,
            "title": self.info.title,
            "outcome": self.outcome,
            "questions": questions,
            "message": self.message,
            "findings": findings,
            "files": self.files,
            "alerts": self.alerts,
        });
        if let Some(workers) = &self.workers {
            document["workers"] = json!(workers);
        }
        if !self.differences.is_empty() {
            document["configuration"] = json!({"differences": self.differences});
        }
        document
    }

    /// The same for people.
    pub(crate) fn show(&self, ui: &Ui, workspace: &Workspace) -> Exit {
        if ui.json {
            ui.document(&self.document());
            return self.exit;
        }
        for file in self.findings.iter().filter(|f| has_errors(&f.findings) || ui.verbose) {
            let text = std::fs::read_to_string(workspace.root.join(&file.path)).unwrap_or_default();
            render::findings::to_stderr(&file.path, &text, &file.findings);
        }
        for (row, question) in &self.open {
            ui.say(format!(
                "\n{}\n\n{}\n",
                render::question::body(question, self.weakness(row)),
                render::question::by_word(question)
            ));
            ui.say(render::question::way_to_answer(&row.id, question));
        }
        let tone_of_exit = match self.exit {
            Exit::Good => Tone::Good,
            Exit::Waiting => Tone::Attention,
            _ => Tone::Bad,
        };
        let state = if self.info.interrupted { "interrupted" } else { self.info.status.as_str() };
        ui.say(format!("\n{} {}", tone(tone_of_exit, format!("{state}:")), self.message));
        for alert in &self.alerts {
            ui.say(format!("{} {alert}", tone(Tone::Attention, "alert:")));
        }
        for file in self.files.iter().take(FILES_SHOWN) {
            ui.tell(format!("  {}", tone(Tone::Faint, file)));
        }
        if self.files.len() > FILES_SHOWN {
            ui.tell(tone(Tone::Faint, format!("  ... and {} more files", self.files.len() - FILES_SHOWN)));
        }
        let name = &self.info.name;
        match (self.info.status.is_finished(), self.differences.is_empty()) {
            (true, _) => ui.tell(tone(Tone::Faint, format!("More with:  seriatim show {name}"))),
            (false, true) => ui.tell(format!("Continue with:  seriatim resume {name}")),
            // The message names the two ways to continue.
            (false, false) => {}
        }
        self.exit
    }
}
