//! What flows post into the book: a state file, its audit lines and a memory, in one transaction of the driver's store.

use serde::Deserialize;
use serde::Serialize;
use serde_json::Value;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_flows::registry::Flow;
use seriatim_flows::registry::Posting;
use seriatim_flows::request::BookCall;
use seriatim_flows::request::Post;
use seriatim_flows::request::Posted;
use seriatim_journal::Store;

use crate::guard::GuardError;
use crate::guard::Project;
use crate::guard::book;
use crate::job::Job;
use crate::perform::Stuck;

/// What is remembered under the key of a post.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Memory {
    /// The last call that was carried out: doing it again adds nothing.
    pub(crate) done: String,
    /// What a later run has to know.
    pub(crate) value: Value,
}

/// The run that posts: its dialect, and what it was started with.
pub(crate) struct Poster<'r> {
    pub(crate) flow: &'static Flow,
    pub(crate) input: &'r Value,
    pub(crate) job: &'r Job,
}

impl Poster<'_> {
    /// Performs one call and returns its outcome. A store or a disk that refuses to work is not the flow's to handle.
    pub(crate) fn perform(
        &self,
        store: &mut Store,
        project: &Project,
        call: &BookCall,
    ) -> Result<Vec<u8>, Stuck> {
        match call {
            BookCall::Recall { key } => {
                let memory: Option<Memory> = book::memo(store, key).map_err(|e| stuck(&e))?;
                outcome(&memory.unwrap_or_default().value)
            }
            BookCall::Post(post) => outcome(&self.post(store, project, post)?),
        }
    }

    fn post(
        &self,
        store: &mut Store,
        project: &Project,
        post: &Post,
    ) -> Result<Result<Posted, Failure>, Stuck> {
        let marker = self.job.marker();
        let mut refused = None;
        let posted = book::write(store, project, post.at, |desk| {
            let memory: Memory = desk.memo(&post.key)?.unwrap_or_default();
            if memory.done == marker {
                return Ok(Posted::default());
            }
            let text = match project.read(&post.path)? {
                Some(text) => Some(text),
                // Removing a state file does not remove what is on record about it.
                None => desk.last_state(&post.path)?,
            };
            let applied = (self.flow.apply)(&Posting {
                input: self.input,
                path: &post.path,
                text: text.as_deref(),
                change: &post.change,
                at: post.at,
            });
            let applied = match applied {
                Ok(applied) => applied,
                Err(failure) => {
                    let message = failure.message.clone();
                    refused = Some(failure);
                    return Err(GuardError::Refused(message));
                }
            };
            for audit in &applied.audit {
                desk.record_line(&audit.file, &audit.line)?;
            }
            // The state file stands for its lines as well: it is written after them, and what is not written is found
            // by looking at it.
            if !applied.audit.is_empty() || text.as_deref() != Some(&applied.text) {
                desk.write_state(&post.path, applied.text)?;
            }
            let value = if post.memory.is_null() { memory.value } else { post.memory.clone() };
            desk.remember(&post.key, &Memory { done: marker, value })?;
            Ok(Posted { foreign: applied.foreign })
        });
        match (posted, refused) {
            (Ok(posted), _) => Ok(Ok(posted)),
            (Err(_), Some(failure)) => Ok(Err(failure)),
            (Err(GuardError::Refused(what)), None) => Ok(Err(Failure::new(Class::Contract, what))),
            (Err(error), None) => Err(stuck(&error)),
        }
    }
}

fn stuck(error: &GuardError) -> Stuck {
    Stuck(error.to_string())
}

fn outcome(value: &impl Serialize) -> Result<Vec<u8>, Stuck> {
    serde_json::to_vec(value).map_err(|error| Stuck(format!("an outcome cannot be recorded: {error}")))
}
