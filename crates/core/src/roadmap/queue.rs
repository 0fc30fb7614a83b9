//! The queue of a roadmap: which steps wait, in which order they come, and when they probably begin (DW-97).

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use serde_json::Value as Json;
use serde_json::json;

use super::plan::Roadmap;
use super::plan::Step;
use crate::time::Utc;

/// A step that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queued {
    pub step: String,
    /// From 1 on.
    pub position: usize,
    pub queued_at: Utc,
    /// Unknown where something before it has no estimate, or where it waits for itself.
    pub estimated_start: Option<Utc>,
}

impl Queued {
    /// The step, and its place in the queue as files carry it.
    pub fn to_json(&self) -> Json {
        json!({
            "step_id": self.step,
            "execution_queue": {
                "queued_at": self.queued_at.seconds(),
                "position": self.position,
                "estimated_start": self.estimated_start.map(Utc::seconds),
            },
        })
    }
}

/// A point in time that may not be known; what is not known comes last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum When {
    At(Utc),
    Unknown,
}

impl When {
    fn known(self) -> Option<Utc> {
        match self {
            When::At(time) => Some(time),
            When::Unknown => None,
        }
    }
}

/// No estimate is longer than this, so that a slip in a number does not leave the calendar.
const HOURS_MAX: f64 = 24.0 * 365.0;
const MS_PER_HOUR: f64 = 3_600_000.0;

/// The steps that are neither done nor running, in the order in which they begin when at most `parallel` of them are at
/// work at once. Each begins when everything that it needs is over and a place is free; where several could, the first
/// of the file does. Steps that are running are taken to have their whole estimate before them, and steps that name a
/// file in common are never at work together.
pub fn queue(
    roadmap: &Roadmap,
    done: &BTreeSet<String>,
    running: &[String],
    now: Utc,
    parallel: usize,
) -> Vec<Queued> {
    let mut plan = Plan { roadmap, now, ends: BTreeMap::new(), begun: vec![], places: vec![] };
    plan.places.resize(parallel.max(1), When::At(now));
    for step in roadmap.steps.iter().filter(|step| done.contains(&step.id)) {
        plan.ends.insert(&step.id, When::At(now));
    }
    for step in roadmap.steps.iter().filter(|step| running.contains(&step.id) && !done.contains(&step.id)) {
        plan.begin(step, When::At(now));
    }
    let mut waiting: Vec<&Step> =
        roadmap.steps.iter().filter(|step| !plan.ends.contains_key(step.id.as_str())).collect();
    let mut queue = vec![];
    while !waiting.is_empty() {
        let starts = waiting.iter().enumerate().filter_map(|(at, step)| Some((plan.start(step)?, at)));
        // Where nothing can begin, the rest waits for itself and is listed as the file has it.
        let (start, at) = starts.min().unwrap_or((When::Unknown, 0));
        let step = waiting.remove(at);
        plan.begin(step, start);
        queue.push(Queued {
            step: step.id.clone(),
            position: queue.len() + 1,
            queued_at: now,
            estimated_start: start.known(),
        });
    }
    queue
}

/// What is at work when.
struct Plan<'r> {
    roadmap: &'r Roadmap,
    now: Utc,
    /// When each step that is done, running or planned is over.
    ends: BTreeMap<&'r str, When>,
    /// Those that are running or planned.
    begun: Vec<&'r Step>,
    /// When each of the places is free.
    places: Vec<When>,
}

impl<'r> Plan<'r> {
    /// When a step can begin; `None` while something that it needs has no place in the plan yet.
    fn start(&self, step: &Step) -> Option<When> {
        let mut start = self.places.iter().min().copied().unwrap_or(When::At(self.now));
        for need in self.roadmap.needs(&step.id) {
            start = start.max(*self.ends.get(need)?);
        }
        if self.places.len() > 1 {
            for other in self.begun.iter().filter(|other| !Roadmap::shared_files(step, other).is_empty()) {
                start = start.max(*self.ends.get(other.id.as_str())?);
            }
        }
        Some(start)
    }

    fn begin(&mut self, step: &'r Step, start: When) {
        let end = match (start, length_ms(step)) {
            (When::At(start), Some(ms)) => When::At(start.plus_ms(ms)),
            _ => When::Unknown,
        };
        self.ends.insert(&step.id, end);
        self.begun.push(step);
        if let Some(place) = self.places.iter_mut().min() {
            *place = end;
        }
    }
}

fn length_ms(step: &Step) -> Option<u64> {
    let hours = step.estimated_hours.filter(|hours| hours.is_finite() && *hours >= 0.0)?;
    Some((hours.min(HOURS_MAX) * MS_PER_HOUR).round() as u64)
}
