//! The room of the tally dialect in `flows`: how it begins, and its program.

use serde::Deserialize;
use serde::Serialize;
use serde_json::Value;
use serde_json::json;
use seriatim_core::choices;
use seriatim_core::choices::Choices;
use seriatim_core::config::Config;
use seriatim_core::finding::has_errors;
use seriatim_core::question::Choice;
use seriatim_core::question::Question;
use seriatim_core::report::Brief;
use seriatim_core::view::MetricsView;
use seriatim_flows::Cx;
use seriatim_flows::attempts::Cap;
use seriatim_flows::attempts::attempts;
use seriatim_flows::entrance::Argument;
use seriatim_flows::entrance::Entrance;
use seriatim_flows::entrance::Ground;
use seriatim_flows::entrance::NoStart;
use seriatim_flows::entrance::Prepared;
use seriatim_flows::entrance::Shape;
use seriatim_flows::entrance::Words;
use seriatim_flows::registry::Dialect;
use seriatim_flows::registry::End;
use seriatim_flows::registry::Ended;
use seriatim_flows::registry::Flow;
use seriatim_flows::registry::no_files;
use seriatim_flows::registry::no_state_file;
use seriatim_flows::registry::nothing_left;
use seriatim_flows::request::Assignment;

use crate::core;
use crate::core::Tally;
use crate::core::TallyFact;

pub(crate) static DIALECT: Dialect = Dialect {
    name: "tally",
    flow: Some(Flow {
        name: "tally",
        version: 1,
        start: |cx, input| Box::pin(tally(cx, input)),
        cancelled: nothing_left,
        projector: no_files,
        pins: |config| Config {
            agents: config.agents.clone(),
            others: config.others.clone(),
            ..Config::default()
        },
        apply: no_state_file,
    }),
    entrances: &[Entrance {
        word: "tally",
        about: "Count things",
        more: "",
        usage: "",
        arguments: &[
            Argument { name: "file", help: "The list of things", shape: Shape::Place { value: "FILE" } },
            Argument {
                name: "from",
                help: "Where to begin",
                shape: Shape::Number { value: "N", least: 0, most: 9, default: "0" },
            },
        ],
        prepare,
    }],
    documents: core::DOCUMENTS,
    sections: &["tally"],
    tell: core::tell,
    view: core::view,
    raises_alerts: false,
    metrics: Some(|runs| MetricsView {
        document: json!({"tallies": runs.len()}),
        heading: vec!["figure".to_owned(), "value".to_owned()],
        rows: vec![vec!["tallies".to_owned(), runs.len().to_string()]],
        ..MetricsView::default()
    }),
    guide: "docs/guide/tallies.md",
};

#[derive(Debug, Serialize, Deserialize)]
struct Start {
    title: String,
    things: Vec<String>,
    from: u32,
    unit: String,
}

choices! {
    /// What becomes of a thing that could not be counted.
    enum Uncounted { Retry = "retry", Skip = "skip" }
}

fn prepare(words: &Words, ground: &mut dyn Ground) -> Result<Prepared, NoStart> {
    let path = words.one("file").unwrap_or_default();
    let file = ground.named(path).map_err(NoStart::usage)?;
    let (tally, findings) = Tally::read(&file.bytes);
    let Some(tally) = tally.filter(|_| !has_errors(&findings)) else {
        let text = String::from_utf8_lossy(&file.bytes).into_owned();
        return Err(NoStart::not_good(format!("{path} has errors")).because_of(path, text, findings));
    };
    let unit =
        ground.config().others.get("tally").and_then(|table| table["unit"].as_str()).unwrap_or("piece");
    let start = Start {
        title: tally.title.clone(),
        things: tally.things,
        from: words.number("from").unwrap_or(0),
        unit: unit.to_owned(),
    };
    Prepared::new(tally.title, path, &start)
}

async fn tally(cx: Cx, input: Value) -> Ended {
    let start: Start = match serde_json::from_value(input) {
        Ok(start) => start,
        Err(error) => return ended(false, &error.to_string(), 0),
    };
    cx.record(&TallyFact::Opened { title: start.title.clone(), things: start.things.len() });
    let mut total = u64::from(start.from);
    for thing in &start.things {
        loop {
            let assign = |attempt: u32, feedback: &[String]| Assignment {
                agents: vec!["counter".to_owned()],
                title: format!("Count {thing}"),
                brief: Brief {
                    step: thing.clone(),
                    role: "counter".to_owned(),
                    attempt,
                    feedback: feedback.to_vec(),
                    ..Brief::default()
                },
                required: vec!["number".to_owned()],
                ..Assignment::default()
            };
            let tried = attempts(&cx, Cap::default(), 0, vec![], assign).await;
            let number =
                tried.result.ok().and_then(|report| report.outputs.get("number").and_then(Value::as_u64));
            if let Some(number) = number {
                total += number;
                cx.record(&TallyFact::Counted { thing: thing.clone(), number });
                break;
            }
            let (choice, answer) = cx.choose(uncounted(thing)).await;
            match choice {
                Uncounted::Retry => {}
                Uncounted::Skip => {
                    cx.record(&TallyFact::LeftOut { thing: thing.clone(), by: answer.by });
                    break;
                }
            }
        }
    }
    ended(true, &format!("Counted {total} {}s in all.", start.unit), total)
}

fn uncounted(thing: &str) -> Question {
    Question {
        header: "Not counted".to_owned(),
        question: format!("The {thing} could not be counted. Shall they be counted again?"),
        why: "The sum would lack them.".to_owned(),
        tried: vec![],
        details: String::new(),
        options: vec![
            Choice::new(Uncounted::Retry.id(), "Count again", "They are counted once more."),
            Choice::new(Uncounted::Skip.id(), "Skip them", "The sum lacks them, and the record says so."),
        ],
        free_text: false,
        about: vec![],
    }
}

fn ended(good: bool, message: &str, total: u64) -> Ended {
    Ended {
        status: if good { End::Completed } else { End::Failed },
        good,
        outcome: json!({"total": total}),
        message: message.to_owned(),
        findings: vec![],
    }
}
