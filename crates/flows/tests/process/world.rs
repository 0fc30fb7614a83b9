//! A world in memory: files, a clock, agents and people that follow a script. It drives the flow by hand, turn by
//! turn, and keeps everything that was said and done.

use std::collections::BTreeMap;
use std::collections::VecDeque;

use serde_json::Map;
use serde_json::Value;
use serde_json::json;
use seriatim_core::doc;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::hash::Hash;
use seriatim_core::projection;
use seriatim_core::question::Answer;
use seriatim_core::question::Question;
use seriatim_core::report;
use seriatim_core::report::Demand;
use seriatim_core::report::Report;
use seriatim_core::report::Status;
use seriatim_core::time::Utc;
use seriatim_flows::Call;
use seriatim_flows::Request;
use seriatim_flows::process::Start;
use seriatim_flows::registry;
use seriatim_flows::request::Assignment;
use seriatim_flows::request::Computed;
use seriatim_flows::request::Done;
use seriatim_flows::request::EditFile;
use seriatim_flows::request::Edited;
use seriatim_flows::request::FreshIds;
use seriatim_flows::request::Signal;
use seriatim_flows::request::Text;
use seriatim_flows::request::WOULD_WRITE;

use crate::build;
use crate::proof;
use crate::stage;
use crate::stage::body;
use crate::story::Story;

/// What lies outside the run and may change while it goes on.
pub(crate) struct Outside {
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) now: Utc,
}

impl Outside {
    pub(crate) fn minutes_pass(&mut self, minutes: u64) {
        self.now = self.now.plus_ms(minutes * 60_000);
    }

    pub(crate) fn replace(&mut self, path: &str, old: &str, new: &str) {
        let text = self.files.get_mut(path).unwrap();
        assert!(text.contains(old), "{path} has no {old}");
        *text = text.replacen(old, new, 1);
    }
}

type Happening = Box<dyn FnOnce(&mut Outside)>;
type Holds = Box<dyn Fn(&Map<String, Value>) -> bool>;

/// What an agent does when it is called.
enum Reply {
    /// A report as it writes it, read as the engine reads it.
    Report(Value),
    Failure(Failure),
}

struct Line {
    step: String,
    reply: Reply,
    meanwhile: Option<Happening>,
}

/// What a person answers.
struct Word {
    /// Part of the header or the question.
    about: String,
    choice: String,
    text: Option<String>,
}

/// The script of one run.
pub(crate) struct World {
    pub(crate) definition: Value,
    pub(crate) instance: Value,
    pub(crate) start: Start,
    pub(crate) outside: Outside,
    /// How much later it is each time somebody looks at the clock.
    pub(crate) tick_ms: u64,
    agents: VecDeque<Line>,
    always: BTreeMap<String, Value>,
    people: Vec<Word>,
    /// Which option people take where there is no word for a question; the first when this is used up.
    moods: VecDeque<usize>,
    conditions: BTreeMap<String, Holds>,
    suspensions: VecDeque<Happening>,
    /// Somebody cancels the run when this is asked, or when this step is under way.
    cancel_at: Option<String>,
    projector: Box<dyn projection::Projector>,
    seen: Seen,
}

/// What was said and done.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) calls: Vec<Call>,
    pub(crate) questions: Vec<(Question, String)>,
    pub(crate) agents: Vec<Assignment>,
    pub(crate) waits: u32,
    pub(crate) instances: Vec<String>,
}

impl World {
    pub(crate) fn new(definition: Value) -> World {
        World {
            definition,
            instance: build::instance(),
            start: Start {
                instance: build::INSTANCE.into(),
                actor: "ai:claude".into(),
                progress_every: 3,
                ..Start::default()
            },
            outside: Outside { files: BTreeMap::new(), now: Utc::parse("2026-01-18T15:00:00Z").unwrap() },
            tick_ms: 1000,
            agents: VecDeque::new(),
            always: BTreeMap::new(),
            people: vec![],
            moods: VecDeque::new(),
            conditions: BTreeMap::new(),
            suspensions: VecDeque::new(),
            cancel_at: None,
            projector: Box::new(projection::NoFiles),
            seen: Seen::default(),
        }
    }

    /// The next time this step is done, this is reported. Without a line a step is done and says so.
    pub(crate) fn reports(mut self, step: &str, report: Value) -> World {
        self.agents.push_back(Line { step: step.into(), reply: Reply::Report(report), meanwhile: None });
        self
    }

    /// The same for several times in a row.
    pub(crate) fn reports_times(self, times: u32, step: &str, report: &Value) -> World {
        (0..times).fold(self, |world, _| world.reports(step, report.clone()))
    }

    /// Whenever this step is done and there is no line for it, this is reported.
    pub(crate) fn always(mut self, step: &str, report: Value) -> World {
        self.always.insert(step.into(), report);
        self
    }

    pub(crate) fn fails(mut self, step: &str, class: Class, message: &str) -> World {
        let reply = Reply::Failure(Failure::new(class, message));
        self.agents.push_back(Line { step: step.into(), reply, meanwhile: None });
        self
    }

    /// The engine ends while this step is done.
    pub(crate) fn interrupted(mut self, step: &str) -> World {
        let reply = Reply::Failure(Failure::interrupted());
        self.agents.push_back(Line { step: step.into(), reply, meanwhile: None });
        self
    }

    /// While this step is done, something happens outside.
    pub(crate) fn meanwhile(mut self, step: &str, what: impl FnOnce(&mut Outside) + 'static) -> World {
        let reply = Reply::Report(build::done(&format!("Did {step}")));
        self.agents.push_back(Line { step: step.into(), reply, meanwhile: Some(Box::new(what)) });
        self
    }

    /// The next question with these words is answered like this. Without a word people take the first option.
    pub(crate) fn answers(self, about: &str, choice: &str) -> World {
        self.says(about, choice, None)
    }

    pub(crate) fn answers_with(self, about: &str, choice: &str, text: &str) -> World {
        self.says(about, choice, Some(text))
    }

    fn says(mut self, about: &str, choice: &str, text: Option<&str>) -> World {
        let text = text.map(str::to_owned);
        self.people.push(Word { about: about.into(), choice: choice.into(), text });
        self
    }

    /// People who take these options, by number, one after the other.
    pub(crate) fn wavering(mut self, moods: Vec<usize>) -> World {
        self.moods = moods.into();
        self
    }

    /// How a condition in CEL comes out; the language itself is the engine's.
    pub(crate) fn condition(
        mut self,
        text: &str,
        holds: impl Fn(&Map<String, Value>) -> bool + 'static,
    ) -> World {
        self.conditions.insert(text.into(), Box::new(holds));
        self
    }

    /// What happens while the run is put off, before somebody continues it.
    pub(crate) fn while_suspended(mut self, what: impl FnOnce(&mut Outside) + 'static) -> World {
        self.suspensions.push_back(Box::new(what));
        self
    }

    pub(crate) fn cancelled_at(mut self, about: &str) -> World {
        self.cancel_at = Some(about.into());
        self
    }

    pub(crate) fn file(mut self, path: &str, text: &str) -> World {
        self.outside.files.insert(path.into(), text.into());
        self
    }

    pub(crate) fn inputs(mut self, inputs: Value) -> World {
        self.instance["instance"]["context"]["inputs"] = inputs;
        self
    }

    pub(crate) fn parameters(mut self, parameters: Value) -> World {
        self.instance["instance"]["context"]["parameters"] = parameters;
        self
    }

    pub(crate) fn rehearsal(mut self) -> World {
        self.instance["instance"]["context"]["test_mode"] = json!(true);
        self
    }

    /// An instance that has run before, with this much trust.
    pub(crate) fn trusted(mut self, level: &str, digest: Option<&str>) -> World {
        self.instance["instance"]["run_count"] = json!(1);
        self.instance["instance"]["approval"] = json!({"definition_approved": true, "trust_level": level});
        if let Some(digest) = digest {
            self.instance["instance"]["approval"]["definition_digest"] = json!(digest);
        }
        self
    }

    /// The files that were not given as text are written from their trees.
    fn lay_out(&mut self) {
        for (path, tree) in [(build::DEFINITION, &self.definition), (build::INSTANCE, &self.instance)] {
            if !tree.is_null() {
                self.outside.files.entry(path.into()).or_insert_with(|| doc::write(tree));
            }
        }
    }

    /// Runs it to its end, and proves what holds for every run.
    pub(crate) fn run(mut self) -> Story {
        self.lay_out();
        let input = serde_json::to_value(&self.start).unwrap();
        self.projector = (registry::newest("process").unwrap().projector)(&input);
        let played = stage::play("process", &input, &mut self);
        let chosen = |(question, answer): (Question, Option<Answer>)| {
            (question, answer.map(|answer| answer.choice).unwrap_or_default())
        };
        self.seen.questions = played.questions().into_iter().map(chosen).collect();
        self.seen.calls = played.calls;
        let story = Story::new(played.ended, self.seen, self.outside.files);
        proof::prove(&story);
        story
    }
}

impl stage::World for World {
    fn witness(&mut self, fact: &Value) {
        self.projector.apply(&projection::Fact { at: self.outside.now, data: fact.clone() });
        for image in self.projector.changed() {
            self.outside.files.insert(image.path, image.text);
        }
    }

    fn perform(&mut self, request: &Request) -> Option<Vec<u8>> {
        Some(match request {
            Request::Agent(assignment) if self.cancel_at.as_ref() == Some(&assignment.brief.step) => {
                return None;
            }
            Request::Agent(assignment) => body(&self.attempt(assignment)),
            Request::Ask(question) => body(&self.ask(question)?),
            Request::Read(file) => body(&self.read(&file.path)),
            Request::Edit(edit) => body(&self.edit(edit)),
            Request::Look { paths } => {
                body(&paths.iter().map(|p| self.outside.files.contains_key(p)).collect::<Vec<_>>())
            }
            Request::Compute(wanted) => {
                let compute = |text: &String| match self.conditions.get(text) {
                    Some(holds) => Computed::Holds(holds(&wanted.about)),
                    None => Computed::Unknown("nobody knows that word".into()),
                };
                body(&wanted.conditions.iter().map(compute).collect::<Vec<_>>())
            }
            Request::Now => {
                self.outside.now = self.outside.now.plus_ms(self.tick_ms);
                body(&self.outside.now)
            }
            Request::Sleep { ms } => {
                self.outside.now = self.outside.now.plus_ms(*ms);
                body(&self.outside.now)
            }
            Request::Ids(wanted) => body(&self.ids(wanted)),
            Request::Wait { signal } => {
                assert_eq!(signal, "resume");
                self.seen.waits += 1;
                if let Some(happens) = self.suspensions.pop_front() {
                    happens(&mut self.outside);
                }
                body(&Signal { by: "grace".into(), text: None, at: self.outside.now })
            }
            other => panic!("a process makes no request `{}`", other.name()),
        })
    }
}

impl World {
    /// The report is read as the engine reads it, so that no test can report what no agent could.
    fn attempt(&mut self, assignment: &Assignment) -> Done<Report> {
        self.seen.agents.push(assignment.clone());
        let brief = &assignment.brief;
        let line = self.agents.iter().position(|l| l.step == brief.step).and_then(|i| self.agents.remove(i));
        let (reply, meanwhile) = match line {
            Some(line) => (line.reply, line.meanwhile),
            None => (Reply::Report(self.unscripted(assignment)), None),
        };
        if let Some(happens) = meanwhile {
            happens(&mut self.outside);
        }
        let value = match reply {
            Reply::Report(value) => value,
            Reply::Failure(failure) => return Err(failure),
        };
        let demand = Demand {
            required_outputs: assignment.required.clone(),
            criteria: brief.criteria.clone(),
            judge_all: assignment.judge_all,
            triggers: brief.triggers.clone(),
            verdict: assignment.verdict.clone(),
            ..Demand::default()
        };
        let mut report = report::read(value.to_string().as_bytes(), &demand).map_err(|problems| {
            let message = format!("its report cannot be used: {}", problems.join("; "));
            Failure { feedback: problems, ..Failure::new(Class::Invalid, message) }
        })?;
        if report.status == Status::Failed {
            let class = report.error.as_ref().and_then(report::ReportedError::failure_class);
            return Err(Failure::new(class.unwrap_or(Class::Contract), report.summary));
        }
        if !assignment.rehearsal {
            report.unknown.remove(WOULD_WRITE);
        }
        Ok(report)
    }

    fn unscripted(&self, assignment: &Assignment) -> Value {
        let brief = &assignment.brief;
        if let Some(report) = self.always.get(&brief.step) {
            return report.clone();
        }
        let criteria: Vec<&str> = brief.criteria.iter().map(String::as_str).collect();
        let report = build::judged(&criteria, true, 95, "");
        let report = build::with(
            report,
            json!({"summary": format!("{} is done", assignment.title), "confidence": 95}),
        );
        match &assignment.verdict {
            Some(_) => build::with(report, json!({"verdict": "PASS"})),
            None => report,
        }
    }

    /// Nothing is answered that the question does not offer.
    fn ask(&mut self, question: &Question) -> Option<Answer> {
        let asked = format!("{}\n{}", question.header, question.question);
        if self.cancel_at.as_ref().is_some_and(|at| asked.contains(at)) {
            return None;
        }
        let word = self.people.iter().position(|w| asked.contains(&w.about)).map(|i| self.people.remove(i));
        let (choice, text) = match word {
            Some(word) => (word.choice, word.text),
            None => {
                let mood = self.moods.pop_front().unwrap_or(0);
                let taken = &question.options[mood % question.options.len()];
                (taken.id.clone(), taken.needs_text.then(|| "as you like".to_owned()))
            }
        };
        let chosen = question.choose(&choice, text.as_deref());
        let choice = chosen.unwrap_or_else(|e| panic!("{e}\n{asked}")).id.clone();
        Some(Answer { choice, text, by: "ada".into(), digest: question.digest() })
    }

    fn read(&self, path: &str) -> Done<Text> {
        match self.outside.files.get(path) {
            Some(text) => Ok(Text { text: text.clone(), hash: Hash::of(text.as_bytes()) }),
            None => Err(Failure::new(Class::MissingArtifact, format!("`{path}` does not exist"))),
        }
    }

    fn edit(&mut self, edit: &EditFile) -> Done<Edited> {
        let before = self.read(&edit.path)?;
        let mut text = before.text;
        for set in &edit.set {
            let way: Vec<&str> = set.path.iter().map(String::as_str).collect();
            text = doc::edit::set(&text, &way, &set.value)
                .map_err(|e| Failure::new(Class::Storage, e.to_string()))?;
        }
        let hash = Hash::of(text.as_bytes());
        self.outside.files.insert(edit.path.clone(), text.clone());
        self.seen.instances.push(text);
        Ok(Edited { hash, foreign: edit.believed.is_some_and(|believed| believed != before.hash) })
    }

    /// The second of now, or the next free one (K-85, E-24).
    fn ids(&mut self, wanted: &FreshIds) -> Vec<String> {
        let mut at = self.outside.now;
        let mut ids = vec![];
        while ids.len() < wanted.count as usize {
            let id = format!("{}-{}", wanted.prefix, at.compact());
            let path = format!("{}/{id}.{}", wanted.folder, wanted.extension);
            if let std::collections::btree_map::Entry::Vacant(free) = self.outside.files.entry(path) {
                free.insert("# reserved\n".into());
                ids.push(id);
            }
            at = at.plus_ms(1000);
        }
        ids
    }
}
