//! The conformance suite: what an orchestrator of actions has to do, tried out on a command point by point.
//!
//! Each probe lays out a workspace, calls the command in it as a person's terminal would, and looks at what came of it:
//! exit codes, questions, files, logs, and who was called when with what.

mod calls;
mod judging;
mod layout;
mod orchestrator;
mod place;
mod probes;
mod reply;
#[cfg(test)]
mod tests;
mod trial;

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;

use seriatim_core::action::conformance::Conformance;
use seriatim_core::action::conformance::Judgement;
use seriatim_core::action::conformance::Point;
use seriatim_core::action::conformance::Probe;

pub(crate) use orchestrator::Orchestrator;
pub(crate) use place::Place;

use trial::Trial;

/// How many trials are under way at once for each core: mostly they wait for pauses to pass.
const TRIALS_PER_CORE: usize = 2;

/// Why the suite came to no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failed {
    #[error("the command cannot be run: {seen}")]
    NoProgram { seen: String },
    #[error("interrupted")]
    Interrupted,
}

/// What came of one probe.
struct Tried {
    judgements: Vec<Judgement>,
    no_program: Option<String>,
}

/// Tries the command out on these points.
pub(crate) fn examine(
    place: &Place,
    orchestrator: &Orchestrator,
    points: &[&'static Point],
    over: &(dyn Fn(&str) + Sync),
) -> Result<Conformance, Failed> {
    let mut wanted: Vec<Probe> = vec![];
    for point in points {
        if !wanted.contains(&point.probe) {
            wanted.push(point.probe);
        }
    }
    let next = AtomicUsize::new(0);
    let tried: Mutex<Vec<Tried>> = Mutex::new(vec![]);
    let work = || {
        while let Some(probe) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
            if place.is_interrupted() {
                return;
            }
            let one = carry_out(place, orchestrator, *probe);
            tried.lock().unwrap_or_else(PoisonError::into_inner).push(one);
            over(name(*probe));
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..wanted.len().min(cores * TRIALS_PER_CORE) {
            scope.spawn(work);
        }
    });
    if place.is_interrupted() {
        return Err(Failed::Interrupted);
    }
    let tried = tried.into_inner().unwrap_or_else(PoisonError::into_inner);
    // Where not one call got anywhere, there is nothing that could be judged.
    if let Some(seen) = tried.iter().map(|one| one.no_program.clone()).collect::<Option<Vec<_>>>()
        && let Some(seen) = seen.into_iter().next()
    {
        return Err(Failed::NoProgram { seen });
    }
    let is_wanted = |judgement: &Judgement| points.iter().any(|point| point.id == judgement.point);
    let judgements = tried.into_iter().flat_map(|one| one.judgements).filter(is_wanted).collect();
    Ok(Conformance { judgements })
}

/// One probe from its layout to its judgements. What hung, died or spoke no JSON fails whatever else it did.
fn carry_out(place: &Place, orchestrator: &Orchestrator, probe: Probe) -> Tried {
    let (layout, play) = probes::of(probe);
    let begun = Trial::begin(place, orchestrator, place.dir.join(name(probe)), layout);
    let (judgements, unusable, no_program) = match begun {
        Ok(mut trial) => match play(&mut trial) {
            Ok(judgements) => (judgements, trial.unusable(), trial.no_program()),
            Err(error) => (vec![], vec![format!("the workspace could not be changed: {error}")], None),
        },
        Err(error) => (vec![], vec![format!("the workspace could not be laid out: {error}")], None),
    };
    if unusable.is_empty() {
        return Tried { judgements, no_program };
    }
    let seen = unusable.join("; ");
    let points = seriatim_core::action::conformance::POINTS.iter().filter(|point| point.probe == probe);
    let failed =
        |point: &Point| Judgement { point: point.id.to_owned(), compliant: false, seen: seen.clone() };
    Tried { judgements: points.map(failed).collect(), no_program }
}

/// The name of a probe, which is that of its folder too.
fn name(probe: Probe) -> &'static str {
    match probe {
        Probe::TransientAndPermanent => "transient-and-permanent",
        Probe::TransientForEver => "transient-for-ever",
        Probe::InvalidForEver => "invalid-for-ever",
        Probe::OneOfThree => "one-of-three",
        Probe::RejectTwice => "reject-twice",
        Probe::Critical => "critical",
        Probe::Rollback => "rollback",
        Probe::MissingArtifact => "missing-artifact",
        Probe::Intent => "intent",
        Probe::Guides => "guides",
        Probe::MissingInputs => "missing-inputs",
        Probe::Locations => "locations",
        Probe::Gates => "gates",
    }
}
