//! The process dialect: a definition's steps, one after the other, with people where the definition wants them.

mod after;
mod brief;
mod completion;
mod course;
mod criteria;
mod dialect;
pub(crate) mod entrance;
mod finish;
pub mod library;
mod matters;
mod open;
mod people;
mod person;
mod principles;
mod records;
mod returning;
pub(crate) mod settings;
mod step;
mod trigger;

use serde::Deserialize;
use serde::Serialize;
use serde_json::Value;
use serde_json::json;
use seriatim_core::process::ExecutionStatus;
use seriatim_core::process::Instance;
use seriatim_core::process::facts::Fact;
use seriatim_core::process::facts::Finished;
use seriatim_core::process::log::Log;
use seriatim_core::projection::Projector;

pub use dialect::DIALECT;

use crate::Cx;
use crate::registry::End;
use crate::registry::Ended;
use crate::request::SetField;

use open::Opening;
use step::Next;

/// What a process run is started with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// The instance, relative to the workspace.
    pub instance: String,
    /// The run was started from a definition: required inputs that are missing are asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ask_for_inputs: bool,
    /// Who stands in records as the one that carried it out.
    pub actor: String,
    /// Processes that a step may hand over to: id and plain name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known_processes: Vec<(String, String)>,
    /// The document with the project's principles, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principles: Option<String>,
    /// A word about the progress is due after this many steps (K-79).
    pub progress_every: u32,
}

pub(crate) async fn process(cx: Cx, input: Value) -> Ended {
    let start: Start = match serde_json::from_value(input) {
        Ok(start) => start,
        Err(e) => return unusable(&e.to_string()),
    };
    let mut course = match open::open(&cx, &start).await {
        Opening::Ready(course) => course,
        Opening::Over(ended) => return ended,
    };
    if let Err(broken) = course.consult_principles().await {
        let reason = format!("The project's principles cannot be used: {}.", broken.headline());
        return course.block(None, None, &reason).await;
    }
    if let Err(reason) = course.entry().await {
        return course.block(None, None, &reason).await;
    }
    course.begin().await;
    let mut i = 0;
    while i < course.definition.steps.len() {
        if let Some(reason) = course.check_time(i).await {
            return course.block(Some(i), None, &reason).await;
        }
        match course.step(i).await {
            Next::Forward => i += 1,
            Next::Goto(target) | Next::Return { target, .. } => i = target,
            Next::Block { reason, severity } => return course.block(Some(i), severity, &reason).await,
            Next::Fail { why } => return course.fail(i, &why).await,
        }
        if let Err(reason) = course.check_progress(i).await {
            return course.block(Some(i.saturating_sub(1)), None, &reason).await;
        }
    }
    course.complete().await
}

/// What is left to do when somebody cancels the run: the files must not say that it goes on.
pub(crate) async fn cancelled(cx: Cx, input: Value) -> Ended {
    let at = cx.now().await;
    if let Ok(start) = serde_json::from_value::<Start>(input)
        && !is_dry_run(&cx, &start).await
    {
        let field = |name: &str, value: Value| SetField { path: vec!["instance".into(), name.into()], value };
        let set = vec![field("status", json!("CANCELLED")), field("completed", json!(at.seconds()))];
        // A file that is gone or broken by now cannot say anything; the journal does.
        let _ = cx.edit(&start.instance, set, None).await;
    }
    cx.record(&Fact::Error { text: "Cancelled - a person stopped the work".to_owned() });
    cx.record(&Fact::Finished(Finished { at, status: ExecutionStatus::Failed, note: None }));
    Ended::cancelled("The work was cancelled. What was done until then is kept in its log.")
}

/// A dry run leaves its instance alone (PX-27).
async fn is_dry_run(cx: &Cx, start: &Start) -> bool {
    let text = cx.read(&start.instance).await;
    text.is_ok_and(|text| Instance::parse(text.text.as_bytes()).0.is_some_and(|instance| instance.test_mode))
}

/// The files of a process run.
pub(crate) fn projector(_input: &Value) -> Box<dyn Projector> {
    Box::new(Log::default())
}

fn unusable(why: &str) -> Ended {
    Ended {
        status: End::Failed,
        good: false,
        outcome: Value::Null,
        message: format!("The run was started with data that cannot be used: {why}"),
        findings: vec![],
    }
}
