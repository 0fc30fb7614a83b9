//! The context of a flow: its only way to the world.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::task::Poll;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Map;
use serde_json::Value;
use seriatim_core::choices::Choices;
use seriatim_core::failure::Class;
use seriatim_core::machine::Machine;
use seriatim_core::machine::Refused;
use seriatim_core::question::Answer;
use seriatim_core::question::Question;
use seriatim_core::reading::BrokenFile;
use seriatim_core::reading::Reading;
use seriatim_core::report::Report;
use seriatim_core::time::Utc;

use crate::request::Assignment;
use crate::request::BookCall;
use crate::request::Command;
use crate::request::Comparison;
use crate::request::Computed;
use crate::request::Conditions;
use crate::request::Delivered;
use crate::request::Delivery;
use crate::request::Difference;
use crate::request::Done;
use crate::request::EditFile;
use crate::request::Edited;
use crate::request::FreshIds;
use crate::request::GitCall;
use crate::request::Post;
use crate::request::Posted;
use crate::request::Ran;
use crate::request::ReadFile;
use crate::request::Request;
use crate::request::SceneCall;
use crate::request::SetField;
use crate::request::Signal;
use crate::request::Stand;
use crate::request::Survey;
use crate::request::Surveyed;
use crate::request::Text;
use crate::request::Transition;
use crate::request::WorldCall;
use crate::request::WriteFile;
use crate::run::Halt;
use crate::run::Met;
use crate::run::Shared;
use crate::run::Switched;
use crate::run::lock;
use seriatim_core::hash::Hash;

/// A mailbox with an address: each call gets the next key below `path`.
pub struct Cx {
    pub(crate) hub: Shared,
    pub(crate) path: String,
    next: AtomicU32,
    /// A call of this scope is open, or it has forked and waits for its branches.
    pub(crate) open: AtomicBool,
}

impl Cx {
    pub(crate) fn at(hub: &Shared, path: String) -> Cx {
        Cx { hub: hub.clone(), path, next: AtomicU32::new(0), open: AtomicBool::new(false) }
    }

    pub(crate) fn key(&self) -> String {
        format!("{}/{}", self.path, self.next.fetch_add(1, Relaxed))
    }

    /// Returns the configuration that a person put in place of the one of the start, if one did before the next call.
    /// To be used for that call: the replay then meets the same request under the same configuration.
    pub fn configuration(&self) -> Option<Switched> {
        let next = format!("{}/{}", self.path, self.next.load(Relaxed));
        lock(&self.hub).switched(&next)
    }

    /// A fact is synchronous: it needs no outcome and is committed with the turn.
    pub(crate) fn fact(&self, key: &str, request: Request) {
        let mut hub = lock(&self.hub);
        if self.open.load(Relaxed) {
            hub.halt(Halt::Overlap { key: key.to_owned() });
            return;
        }
        hub.meet(key, request);
    }

    /// An effect. It never resolves unless its outcome is in the journal.
    async fn call<T: DeserializeOwned>(&self, request: Request) -> T {
        let key = self.key();
        if self.open.swap(true, Relaxed) {
            lock(&self.hub).halt(Halt::Overlap { key: key.clone() });
            return std::future::pending().await;
        }
        let mut first = Some(request);
        let out = poll_fn(|_| {
            let mut hub = lock(&self.hub);
            let body = match first.take() {
                Some(request) => match hub.meet(&key, request) {
                    Met::Known(body) => body,
                    Met::Waits | Met::Halted => return Poll::Pending,
                },
                None => match hub.take(&key) {
                    Some(body) => body,
                    None => return Poll::Pending,
                },
            };
            match serde_json::from_slice(&body) {
                Ok(value) => Poll::Ready(value),
                Err(error) => {
                    hub.halt(Halt::Shape { key: key.clone(), error: error.to_string() });
                    Poll::Pending
                }
            }
        })
        .await;
        self.open.store(false, Relaxed);
        out
    }

    /// One attempt of an agent.
    pub async fn agent(&self, assignment: Assignment) -> Done<Report> {
        self.call(Request::Agent(Box::new(assignment))).await
    }

    /// A question to a person. Silence waits.
    pub async fn ask(&self, question: Question) -> Answer {
        self.call(Request::Ask(question)).await
    }

    /// A question of the engine's own. Returns the option as a type, so that the caller matches it exhaustively. The
    /// options of the question must be ones of `C`; anything else is a mistake in the flow and halts the run.
    pub async fn choose<C: Choices>(&self, question: Question) -> (C, Answer) {
        let stranger = question.options.iter().find(|option| C::of(&option.id).is_none());
        if let Some(stranger) = stranger {
            return self.halted(format!("the option `{}` is not one that the flow knows", stranger.id)).await;
        }
        let answer = self.ask(question).await;
        match C::of(&answer.choice) {
            Some(choice) => (choice, answer),
            None => {
                self.halted(format!("the answer `{}` is not an option of the question", answer.choice)).await
            }
        }
    }

    /// Halts the run for good because of a mistake in the flow; never returns.
    async fn halted<T>(&self, error: String) -> T {
        lock(&self.hub).halt(Halt::Shape { key: self.path.clone(), error });
        std::future::pending().await
    }

    /// A command that the engine runs; its output is evidence.
    pub async fn exec(&self, command: Command) -> Done<Ran> {
        self.call(Request::Exec(command)).await
    }

    /// The text of a file.
    pub async fn read(&self, path: &str) -> Done<Text> {
        self.call(Request::Read(ReadFile { path: path.to_owned() })).await
    }

    /// Reads a file of configuration or state: the same request as [`Cx::read`], with absence told from every other reason
    /// why there is no text.
    pub async fn reading(&self, path: &str) -> Reading<Text> {
        reading_of(path, self.read(path).await)
    }

    /// Writes a file; gives the hash of its content.
    pub async fn write(&self, file: WriteFile) -> Done<Hash> {
        self.call(Request::Write(file)).await
    }

    /// Sets fields of a YAML file and keeps every other byte.
    pub async fn edit(&self, path: &str, set: Vec<SetField>, believed: Option<Hash>) -> Done<Edited> {
        self.call(Request::Edit(EditFile { path: path.to_owned(), set, believed })).await
    }

    /// Which of these files exist.
    pub async fn look(&self, paths: Vec<String>) -> Vec<bool> {
        self.call(Request::Look { paths }).await
    }

    /// Names in folders and numbers of lines.
    pub async fn survey(&self, folders: Vec<String>, files: Vec<String>) -> Surveyed {
        self.call(Request::Survey(Survey { folders, files })).await
    }

    /// Where the repository stands.
    pub async fn stand(&self) -> Done<Stand> {
        self.call(Request::Git(GitCall::Stand { tree: String::new() })).await
    }

    /// What differs between a tree and the files as they are, without those `apart`.
    pub async fn changes(&self, since: &str, apart: Vec<String>, limit_bytes: u64) -> Done<Difference> {
        let (since, tree) = (since.to_owned(), String::new());
        self.call(Request::Git(GitCall::Changes { since, apart, limit_bytes, tree })).await
    }

    /// Commits, merges or pushes what was approved.
    pub async fn deliver(&self, delivery: Delivery) -> Done<Delivered> {
        self.call(Request::Git(GitCall::Deliver(delivery))).await
    }

    /// Something else of the repository; the outcome is of the type that the call has.
    pub async fn git<T: DeserializeOwned>(&self, call: GitCall) -> Done<T> {
        self.call(Request::Git(call)).await
    }

    /// Changes a state file through the book, with its audit lines.
    pub async fn post(&self, post: Post) -> Done<Posted> {
        self.call(Request::Book(BookCall::Post(Box::new(post)))).await
    }

    /// Returns what an earlier run left in the book under a key; null where there is nothing.
    pub async fn recall(&self, key: String) -> Value {
        self.call(Request::Book(BookCall::Recall { key })).await
    }

    /// Computes conditions over some facts.
    pub async fn compute(&self, conditions: Vec<String>, about: Map<String, Value>) -> Vec<Computed> {
        self.call(Request::Compute(Conditions { conditions, about })).await
    }

    /// The time.
    pub async fn now(&self) -> Utc {
        self.call(Request::Now).await
    }

    /// A pause; gives the time at its end.
    pub async fn sleep(&self, ms: u64) -> Utc {
        self.call(Request::Sleep { ms }).await
    }

    /// Fresh ids in the form of the seeds.
    pub async fn ids(&self, wanted: FreshIds) -> Vec<String> {
        self.call(Request::Ids(wanted)).await
    }

    /// Waits for a signal from outside, such as `resume`.
    pub async fn wait(&self, signal: &str) -> Signal {
        self.call(Request::Wait { signal: signal.to_owned() }).await
    }

    /// A restorable copy of the files in `scope`; gives its id.
    pub async fn snapshot(&self, scope: Vec<String>) -> Done<String> {
        self.call(Request::Snapshot { scope, label: String::new() }).await
    }

    /// Brings a snapshot back; gives the id of the snapshot of what was replaced.
    pub async fn restore(&self, id: &str) -> Done<String> {
        self.call(Request::Restore { id: id.to_owned(), labelled: false }).await
    }

    /// The same for people: under a name of its own, where they find it.
    pub async fn labelled_snapshot(&self, scope: Vec<String>, label: &str) -> Done<String> {
        self.call(Request::Snapshot { scope, label: label.to_owned() }).await
    }

    /// Brings a snapshot with a label back; gives the id of the snapshot of what was replaced.
    pub async fn restore_labelled(&self, id: &str) -> Done<String> {
        self.call(Request::Restore { id: id.to_owned(), labelled: true }).await
    }

    /// What bringing a snapshot with a label back would change.
    pub async fn compare(&self, id: &str) -> Done<Comparison> {
        self.call(Request::Compare { id: id.to_owned() }).await
    }

    /// Something about the files of the workspace as a whole; the outcome is of the type that the call has.
    pub async fn scene<T: DeserializeOwned>(&self, call: SceneCall) -> Done<T> {
        self.call(Request::Scene(call)).await
    }

    /// Something about a view; the outcome is of the type that the call has.
    pub async fn world<T: DeserializeOwned>(&self, call: WorldCall) -> Done<T> {
        self.call(Request::World(call)).await
    }

    /// Appends a fact; projections follow from it.
    pub fn record(&self, fact: &impl Serialize) {
        let key = self.key();
        match serde_json::to_value(fact) {
            Ok(fact) => self.fact(&key, Request::Record { fact }),
            Err(error) => lock(&self.hub).halt(Halt::Shape { key, error: error.to_string() }),
        }
    }

    /// Moves an entity, if its machine has that edge. A refused transition changes nothing and is not recorded.
    pub fn go(
        &self,
        machine: &Machine,
        entity: &str,
        from: &str,
        to: &str,
        trigger: &str,
        fields: BTreeMap<String, Value>,
    ) -> Result<(), Refused> {
        machine.apply(from, to, trigger, &fields)?;
        let key = self.key();
        self.fact(
            &key,
            Request::Go(Transition {
                machine: machine.name.to_owned(),
                entity: entity.to_owned(),
                from: from.to_owned(),
                to: to.to_owned(),
                trigger: trigger.to_owned(),
                fields,
            }),
        );
        Ok(())
    }
}

/// Returns what the outcome of reading a file means for a reader of configuration or state.
pub(crate) fn reading_of(path: &str, outcome: Done<Text>) -> Reading<Text> {
    match outcome {
        Ok(text) => Reading::Read(text),
        Err(failure) if failure.class == Class::MissingArtifact => Reading::Absent,
        Err(failure) => {
            Reading::Broken(BrokenFile::unreadable(path, &failure.message, "make it a file that can be read"))
        }
    }
}
