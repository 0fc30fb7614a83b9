//! The cycle dialect: Human, Planner, Actor and Judge, in small steps, on one document that only grows.

mod act;
mod alert;
mod battery;
mod course;
mod deliver;
mod dialect;
mod diet;
pub(crate) mod entrance;
mod findings;
mod floor;
mod goal;
mod hooks;
mod judge;
mod offers;
mod opinion;
mod pause;
mod people;
mod plan;
pub(crate) mod settings;
mod theirs;
mod unchecked;
mod unmerged;
mod words;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;
use serde_json::Value;
use serde_json::json;
use seriatim_core::projection::NoFiles;
use seriatim_core::projection::Projector;

pub use dialect::DIALECT;
pub use seriatim_core::gate::Gate;

use crate::Cx;
use crate::registry::End;
use crate::registry::Ended;

use act::Acted;
use course::Course;
use deliver::Approved;
use pause::After;
use plan::Planning;

/// The document of the cycle.
pub const DOCUMENT: &str = "docs/context/current_cycle.md";
/// Where the companion documents are.
pub const AGENT_DOCS: &str = "docs/agent_docs";

/// What a cycle is started with. Gates are pinned here: nobody can loosen them while the cycle runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Start {
    pub project: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub gates: BTreeMap<String, Gate>,
    /// The automation file, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub automation: Option<String>,
    /// The command that hears of alerts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alert: Vec<String>,
}

pub(crate) async fn cycle(cx: Cx, input: Value) -> Ended {
    let start: Start = match serde_json::from_value(input) {
        Ok(start) => start,
        Err(e) => {
            return ended(End::Failed, false, &format!("The cycle cannot be started: {e}"), Value::Null);
        }
    };
    let mut course = match Course::open(&cx, start).await {
        Ok(course) => course,
        Err(end) => return end,
    };
    if let Err(end) = course.take_goal().await {
        return end;
    }
    loop {
        let step = match course.plan().await {
            Planning::Step(step) => step,
            Planning::Again => continue,
            Planning::Over(end) => return end,
        };
        let work = match course.act(&step).await {
            Acted::Done(work) => work,
            Acted::Again => continue,
            Acted::Pause => match course.pause().await {
                After::Continue => continue,
                After::Over(end) => return end,
            },
            Acted::Over(end) => return end,
            Acted::Fatal(blocker) => return course.give_up(&blocker).await,
        };
        let after = course.evaluate(&step, work).await;
        match after {
            Approved::Delivered(end) | Approved::Stopped(end) => return end,
            Approved::Again => {}
            Approved::Pause => match course.pause().await {
                After::Continue => {}
                After::Over(end) => return end,
            },
        }
    }
}

/// A person stopped the cycle: its document says so and is kept.
pub(crate) async fn cancelled(cx: Cx, input: Value) -> Ended {
    let start: Start = match serde_json::from_value(input) {
        Ok(start) => start,
        Err(e) => return Ended::cancelled(&format!("The cycle was stopped. Its start cannot be read: {e}")),
    };
    let mut course = match Course::reopen(&cx, start).await {
        Ok(course) => course,
        Err(broken) => {
            return Ended::cancelled(&format!(
                "The cycle was stopped. Its document stays where it is, since {}. No change of the files was undone.",
                broken.headline()
            ));
        }
    };
    course.keep_incomplete("The cycle was cancelled by a person.").await;
    Ended::cancelled(
        "The cycle was stopped. Its document is kept in the archive; no change of the files was undone.",
    )
}

/// The document is written by requests, since it must be durable stage by stage; there is nothing to project.
pub(crate) fn projector(_input: &Value) -> Box<dyn Projector> {
    Box::new(NoFiles)
}

fn ended(status: End, good: bool, message: &str, outcome: Value) -> Ended {
    Ended { status, good, outcome, message: message.to_owned(), findings: vec![] }
}

/// The outcome of a cycle, as machines read it.
fn outcome(result: &str, course: &Course<'_>, archive: Option<&str>, commit: Option<&str>) -> Value {
    json!({
        "result": result,
        "cycle": course.number,
        "iterations": course.iterations,
        "archive": archive,
        "commit": commit,
    })
}
