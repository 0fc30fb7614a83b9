//! `seriatim conform`

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;
use seriatim_core::action::conformance;
use seriatim_core::action::conformance::Conformance;
use seriatim_core::action::conformance::POINTS;
use seriatim_core::action::conformance::Point;
use seriatim_core::time::parse_span;

use crate::args::Context;
use crate::conform;
use crate::conform::Failed;
use crate::conform::Orchestrator;
use crate::conform::Place;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;

/// Try an orchestrator out: whether it keeps the contract of actions, point by point
///
/// The suite lays out workspaces in a temporary folder and calls `CMD run action ...`, `CMD answer ...` and `CMD resume ...`
/// in them. Left out, CMD is this program. Options of CMD go behind two dashes: `seriatim conform -- CMD --option`.
///
/// Exit codes: 0 compliant, 1 not compliant, 2 CMD cannot be run.
#[derive(clap::Args, Debug)]
pub(crate) struct Conform {
    /// The orchestrator with its arguments; those that name a file here are made absolute
    #[arg(value_name = "CMD")]
    command: Vec<OsString>,
    /// Judge this point only; may be repeated
    #[arg(long = "point", value_name = "ID", value_parser = point)]
    points: Vec<&'static Point>,
    /// Keep the workspaces, with everything that was said in them
    #[arg(long)]
    keep: bool,
    /// How long one call of CMD may take
    #[arg(long, value_name = "TIME", default_value = "1m", value_parser = span)]
    timeout: Duration,
}

fn point(id: &str) -> std::result::Result<&'static Point, String> {
    conformance::point(id).ok_or_else(|| {
        let known: Vec<&str> = POINTS.iter().map(|point| point.id).collect();
        format!("there is no such point; there are: {}", known.join(", "))
    })
}

fn span(text: &str) -> std::result::Result<Duration, String> {
    let ms = parse_span(text).filter(|ms| *ms > 0);
    ms.map(Duration::from_millis).ok_or_else(|| "write a time such as 30s or 2m".to_owned())
}

pub(crate) fn run(context: &Context, command: &Conform) -> Result<Exit> {
    let orchestrator = match command.command.as_slice() {
        [] => Orchestrator::itself(command.timeout),
        words => Orchestrator::typed(words, command.timeout),
    };
    let orchestrator = orchestrator.map_err(|error| CommandError::usage(error.to_string()))?;
    let wanted = |point: &&Point| command.points.is_empty() || command.points.contains(point);
    let points: Vec<&'static Point> = POINTS.iter().filter(wanted).collect();
    let place = Place::make(&std::env::temp_dir(), command.keep)?;
    let tell = |probe: &str| {
        if context.ui.interactive() && !context.ui.quiet {
            context.ui.note(format!("tried: {probe}"));
        }
    };
    let result = conform::examine(&place, &orchestrator, &points, &tell).map_err(|failed| match failed {
        Failed::NoProgram { .. } => CommandError::usage(failed.to_string())
            .hint("name a program that takes `run action`, `answer` and `resume`"),
        Failed::Interrupted => CommandError::not_good(failed.to_string()),
    })?;
    let kept = command.keep.then(|| place.dir.clone());
    context.ui.document(&document(&orchestrator, &points, &result, kept.as_ref()));
    context.ui.say(result.in_words(&points));
    if let Some(folder) = kept {
        context.ui.note(format!("The workspaces are kept in {}.", folder.display()));
    }
    let holds = points.iter().all(|point| result.holds(point));
    Ok(if holds { Exit::Good } else { Exit::NotGood })
}

fn document(
    orchestrator: &Orchestrator,
    points: &[&Point],
    result: &Conformance,
    kept: Option<&PathBuf>,
) -> serde_json::Value {
    let argv: Vec<String> =
        orchestrator.argv.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let judged = |point: &&Point| {
        json!({
            "id": point.id, "requirement": point.requirement, "list": point.list, "text": point.text,
            "compliant": result.holds(point),
            "seen": result.judgement(point.id).map(|judgement| judgement.seen.as_str()),
            "expected": point.judged,
        })
    };
    json!({
        "command": argv,
        "compliant": points.iter().all(|point| result.holds(point)),
        "held": points.iter().filter(|point| result.holds(point)).count(),
        "of": points.len(),
        "points": points.iter().map(judged).collect::<Vec<_>>(),
        "kept": kept.map(|folder| folder.display().to_string()),
    })
}
