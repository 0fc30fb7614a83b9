//! `seriatim observe`

use serde_json::json;
use seriatim_core::process::ObservationType;
use seriatim_core::process::facts::Observation;
use seriatim_core::process::graph;
use seriatim_core::process::log;

use crate::args::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::record;
use crate::record::Book;
use crate::record::Page;

/// Record an observation: prints its id, and nothing else
///
/// The arguments stand in the order of the logging scripts that it replaces. A text that is also an option of this
/// command (such as -v) is taken as a text after `--`.
#[derive(clap::Args, Debug)]
pub(crate) struct Observe {
    /// MEASUREMENT, STATE or EVENT
    #[arg(value_name = "TYPE", allow_hyphen_values = true)]
    kind: String,
    /// Who observed: ai:claude, human:ada
    #[arg(allow_hyphen_values = true)]
    observer: String,
    /// What was observed
    #[arg(allow_hyphen_values = true)]
    subject: String,
    /// What was found
    #[arg(allow_hyphen_values = true)]
    value: String,
    /// What it belongs to
    #[arg(allow_hyphen_values = true, default_value = "")]
    context: String,
    /// Words to find it by, separated by commas
    #[arg(allow_hyphen_values = true, default_value = "")]
    tags: String,
}

pub(crate) fn run(context: &Context, command: &Observe) -> Result<Exit> {
    let kind: ObservationType = record::word(&command.kind)?;
    record::required("OBSERVER", &command.observer)?;
    record::required("SUBJECT", &command.subject)?;
    let book = Book::open(context)?;
    let observation = Observation {
        id: String::new(),
        at: book.now(),
        kind,
        observer: book.clean(&command.observer),
        subject: book.clean(&command.subject),
        value: json!(book.clean(&command.value)),
        context: book.clean(&command.context),
        tags: book.tags(&command.tags),
    };
    let page = |id: &str| {
        let observation = Observation { id: id.to_owned(), ..observation.clone() };
        Page {
            text: log::framed(&log::observation_file(&observation)),
            graph: graph::of_observation(&observation),
        }
    };
    book.enter(context, "OBS", page)
}
