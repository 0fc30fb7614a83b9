//! `seriatim decide`

use seriatim_core::process::DecisionType;
use seriatim_core::process::facts::Decision;
use seriatim_core::process::graph;
use seriatim_core::process::log;

use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::record;
use crate::record::Book;
use crate::record::Page;

/// Record a decision: prints its id, and nothing else
///
/// The arguments stand in the order of the logging scripts that it replaces. A text that is also an option of this
/// command (such as -v) is taken as a text after `--`.
#[derive(clap::Args, Debug)]
pub(crate) struct Decide {
    /// OPERATIONAL, TACTICAL, DESIGN or ADR
    #[arg(value_name = "TYPE", allow_hyphen_values = true)]
    kind: String,
    /// Who decided: ai:claude, human:ada
    #[arg(allow_hyphen_values = true)]
    actor: String,
    /// What the decision is about
    #[arg(allow_hyphen_values = true)]
    subject: String,
    /// What was decided
    #[arg(allow_hyphen_values = true)]
    outcome: String,
    /// Why; may be empty, but not for DESIGN and ADR
    #[arg(allow_hyphen_values = true)]
    rationale: String,
    /// What it belongs to; DESIGN and ADR need it
    #[arg(allow_hyphen_values = true, default_value = "")]
    context: String,
    /// Words to find it by, separated by commas
    #[arg(allow_hyphen_values = true, default_value = "")]
    tags: String,
    /// A document that it refers to
    #[arg(value_name = "REF", allow_hyphen_values = true, default_value = "")]
    reference: String,
}

pub(crate) fn run(context: &Context, command: &Decide) -> Result<Exit> {
    let kind: DecisionType = record::word(&command.kind)?;
    record::required("ACTOR", &command.actor)?;
    record::required("SUBJECT", &command.subject)?;
    record::required("OUTCOME", &command.outcome)?;
    if matches!(kind, DecisionType::Design | DecisionType::Adr) {
        for (name, text) in [("RATIONALE", &command.rationale), ("CONTEXT", &command.context)] {
            if text.trim().is_empty() {
                return Err(CommandError::usage(format!("a decision of type {kind} needs a {name}")).hint(
                    "a decision of that reach is worth nothing without its reasons; nothing was recorded",
                ));
            }
        }
    }
    let book = Book::open(context)?;
    let decision = Decision {
        id: String::new(),
        at: book.now(),
        kind,
        actor: book.clean(&command.actor),
        subject: book.clean(&command.subject),
        outcome: book.clean(&command.outcome),
        rationale: book.clean(&command.rationale),
        context: book.clean(&command.context),
        reference: book.clean(&command.reference),
        tags: book.tags(&command.tags),
    };
    let page = |id: &str| {
        let decision = Decision { id: id.to_owned(), ..decision.clone() };
        Page { text: log::framed(&log::decision_file(&decision)), graph: graph::of_decision(&decision) }
    };
    book.enter(context, "DEC", page)
}
