//! A flow that does nothing, step by step: what `seriatim bench` measures and the simulation plays with.

use serde::Deserialize;
use serde::Serialize;
use serde_json::Value;
use serde_json::json;

use seriatim_core::config::Config;
use seriatim_core::question::Choice;
use seriatim_core::question::Question;
use seriatim_core::sentence::SharedFact;
use seriatim_core::sentence::told;
use seriatim_core::view::RunView;

use crate::Cx;
use crate::registry::Dialect;
use crate::registry::End;
use crate::registry::Ended;
use crate::registry::Flow;
use crate::registry::no_files;
use crate::registry::no_state_file;
use crate::registry::nothing_left;
use crate::request::Command;

/// What to rehearse.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Commands that do nothing, one after the other.
    pub steps: u64,
    /// Ask a person before the first step.
    #[serde(default)]
    pub ask: bool,
}

/// Not for people: it has no way to begin from the command line.
pub static DIALECT: Dialect = Dialect {
    name: "rehearsal",
    flow: Some(Flow {
        name: "rehearsal",
        version: 1,
        start: |cx, input| Box::pin(rehearsal(cx, input)),
        cancelled: nothing_left,
        projector: no_files,
        pins: |_| Config::default(),
        apply: no_state_file,
    }),
    entrances: &[],
    documents: &[],
    sections: &[],
    tell: told::<SharedFact>,
    view: |_| RunView::default(),
    raises_alerts: false,
    metrics: None,
    guide: "docs/benchmarks.md",
};

pub(crate) async fn rehearsal(cx: Cx, input: Value) -> Ended {
    let plan: Plan = serde_json::from_value(input).unwrap_or_default();
    if plan.ask {
        cx.ask(Question {
            header: "Rehearsal".into(),
            question: "Shall the rehearsal go on?".into(),
            why: "It waits for a person, as real work does.".into(),
            tried: vec![],
            details: String::new(),
            options: vec![
                Choice::new("approve", "Go on", "The steps are done."),
                Choice::new("cancel", "Stop", "Nothing is done."),
            ],
            free_text: false,
            about: vec![],
        })
        .await;
    }
    let mut done = 0u64;
    for _ in 0..plan.steps {
        let ran = cx.exec(Command::default()).await;
        done += u64::from(ran.is_ok_and(|r| r.ok()));
    }
    Ended {
        status: End::Completed,
        good: done == plan.steps,
        outcome: json!({ "done": done }),
        message: format!("The rehearsal is over: {done} of {} steps.", plan.steps),
        findings: vec![],
    }
}
