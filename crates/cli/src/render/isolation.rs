//! How far the agents of a run were kept apart: what left their views, what stayed there, and who worked without one.

use serde_json::Value;
use serde_json::json;
use seriatim_core::sentence::Mood;
use seriatim_core::sentence::SharedFact;
use seriatim_core::sentence::Telling;
use seriatim_core::view::Section;
use seriatim_core::world::Isolation;
use seriatim_engine::drive::AgentWork;
use seriatim_engine::drive::Happening;
use seriatim_engine::drive::Story;
use seriatim_engine::job::Job;
use seriatim_flows::Request;

/// The facts that flows record about views.
pub(crate) const VIEW_MERGED: &str = "view_merged";
pub(crate) const OVERLAP_DECIDED: &str = "overlap_decided";
const VERSIONS_REPLACED: &str = "versions_replaced";
/// What the log says of an agent that is started without a view.
pub(crate) const BARE: &str = "in the workspace itself, without isolation";
/// How many names are told before the rest is counted.
const NAMED_MAX: usize = 3;

/// Work whose agents were kept apart less than by a world.
#[derive(Debug, Default)]
pub(crate) struct WeakerIsolation {
    works: Vec<(String, Isolation)>,
}

impl WeakerIsolation {
    /// Reads it from the record of a run.
    pub(crate) fn of_story(story: &Story) -> WeakerIsolation {
        let mut weaker = WeakerIsolation::default();
        for event in &story.events {
            match &event.what {
                Happening::Called(work) => weaker.take_work(work),
                Happening::Fact(fact) => weaker.take_fact(fact),
                _ => {}
            }
        }
        weaker
    }

    /// Takes in a request that is being performed.
    pub(crate) fn take_job(&mut self, job: &Job) {
        if let Request::Agent(assignment) = &job.request {
            self.take_work(&AgentWork::of(assignment, Some(&job.config)));
        }
    }

    /// Takes in a fact of the journal.
    pub(crate) fn take_fact(&mut self, fact: &Value) {
        if let Some(SharedFact::ViewMerged { step, isolation, .. }) = shared(fact)
            && isolation != Isolation::World
        {
            self.add(step, isolation);
        }
    }

    fn take_work(&mut self, work: &AgentWork) {
        if work.bare {
            let name = if work.title.is_empty() { &work.step } else { &work.title };
            self.add(name.clone(), Isolation::None);
        }
    }

    fn add(&mut self, name: String, isolation: Isolation) {
        if !self.works.contains(&(name.clone(), isolation)) {
            self.works.push((name, isolation));
        }
    }

    /// Returns a sentence for each kind of weaker isolation; nothing where all work was done in worlds.
    pub(crate) fn words(&self) -> Option<String> {
        let sentences: Vec<String> =
            Isolation::ALL.into_iter().filter_map(|isolation| self.sentence(isolation)).collect();
        (!sentences.is_empty()).then(|| sentences.join(" "))
    }

    fn sentence(&self, isolation: Isolation) -> Option<String> {
        let weakness = isolation.weakness()?;
        let of_kind = self.works.iter().filter(|(_, found)| *found == isolation);
        let names: Vec<&str> = of_kind.map(|(name, _)| name.as_str()).collect();
        if names.is_empty() {
            return None;
        }
        let first = names.iter().take(NAMED_MAX).copied().collect::<Vec<_>>().join(", ");
        let who = match names.len().saturating_sub(NAMED_MAX) {
            0 => first,
            more => format!("{first} and {more} more"),
        };
        let agent = if names.len() == 1 { "The agent of" } else { "The agents of" };
        Some(format!("{agent} {who} {weakness}."))
    }

    /// Returns it for machines.
    pub(crate) fn document(&self) -> Value {
        self.works.iter().map(|(work, isolation)| json!({"work": work, "isolation": isolation})).collect()
    }
}

fn shared(fact: &Value) -> Option<SharedFact> {
    let is_ours = [VIEW_MERGED, OVERLAP_DECIDED, VERSIONS_REPLACED].iter().any(|name| fact["fact"] == *name);
    is_ours.then(|| serde_json::from_value(fact.clone()).ok()).flatten()
}

/// Returns the section of `show` about views, for every dialect.
pub(crate) fn section(story: &Story) -> Section {
    let mut section = Section::new("Isolation");
    for event in &story.events {
        let Happening::Fact(fact) = &event.what else { continue };
        let Some(fact) = shared(fact) else { continue };
        let label = match &fact {
            SharedFact::ViewMerged { step, .. }
            | SharedFact::OverlapDecided { step, .. }
            | SharedFact::VersionsReplaced { step, .. } => step.clone(),
            SharedFact::AttemptFailed { .. } | SharedFact::Transition { .. } => continue,
        };
        let told = fact.sentence();
        let detail = if told.detail.is_empty() { String::new() } else { format!(" {}", told.detail) };
        section.line(&label, format!("{}{detail}", told.text));
        told.below.iter().for_each(|line| section.toned(Mood::Attention, &label, line));
    }
    if let Some(words) = WeakerIsolation::of_story(story).words() {
        section.toned(Mood::Attention, "Weaker than a world", words);
    }
    section
}
