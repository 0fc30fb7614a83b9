//! A process as a picture: its steps in a line, what leads back, and what leads off it.
//!
//! This is the picture without a form; the modules below draw it as text for a terminal, as SVG and as Mermaid. All
//! of them are pure: the same definition gives the same bytes.

mod lettering;
mod mermaid;
mod plan;
mod svg;
#[cfg(test)]
mod tests;
mod text;

use std::collections::BTreeMap;

use super::Action;
use super::Capability;
use super::Definition;
use super::Invocation;
use super::Pattern;
use super::Severity;
use super::definition::Step;
use super::definition::Trigger;
use super::engagement::Level;

pub use lettering::readable;
pub use lettering::wrap;
pub use mermaid::mermaid;
pub use svg::MADE_BY;
pub use svg::svg;
pub use text::text;

/// What is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagram {
    pub id: String,
    pub name: String,
    pub description: String,
    /// In the order in which they are done.
    pub stations: Vec<Station>,
    /// Ways that leave the line and join it again, each at the side.
    pub returns: Vec<Return>,
    /// How many ways run beside each other at most.
    pub tracks: usize,
}

/// A step on the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Station {
    pub id: String,
    pub name: String,
    pub capability: Capability,
    /// By which the step is really carried out at this level of engagement.
    pub pattern: Pattern,
    pub remarks: Vec<String>,
    pub asides: Vec<Aside>,
}

/// What stands beside a step, off the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Aside {
    Fix {
        id: String,
        name: String,
        pattern: Pattern,
        invocation: Invocation,
    },
    Defer {
        reason: Reason,
    },
    Block {
        reason: Reason,
    },
    /// The work goes on in another process.
    Exit {
        target: String,
        name: Option<String>,
        reason: Reason,
    },
}

/// All ways that lead to one step from elsewhere than the step before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Return {
    /// The index of the station.
    pub to: usize,
    pub origins: Vec<Origin>,
    /// 0 is next to the line.
    pub track: usize,
}

/// A step from which a way leads back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The index of the station.
    pub from: usize,
    pub reasons: Vec<Reason>,
}

/// When a way is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    pub condition: String,
    pub severity: Option<Severity>,
    /// How often, where that is limited.
    pub times_max: Option<u32>,
}

impl Diagram {
    /// The picture of a definition. `processes` are the names of those that a step may hand over to, by id.
    pub fn of(definition: &Definition, processes: &BTreeMap<String, String>) -> Diagram {
        let level = Level::of(definition.composition.as_ref());
        let mut sketch = Sketch { definition, processes, level, returns: BTreeMap::new() };
        let stations =
            definition.steps.iter().enumerate().map(|(index, step)| sketch.station(index, step)).collect();
        let returns = sketch.returns.into_iter().map(|(to, origins)| {
            let origins = origins.into_iter().map(|(from, reasons)| Origin { from, reasons }).collect();
            Return { to, origins, track: 0 }
        });
        let (returns, tracks) = side_by_side(returns.collect());
        Diagram {
            id: definition.id.value.clone(),
            name: definition.name.value.clone(),
            description: definition.description.as_ref().map(|d| d.value.clone()).unwrap_or_default(),
            stations,
            returns,
            tracks,
        }
    }
}

/// A diagram that is being made.
struct Sketch<'d> {
    definition: &'d Definition,
    processes: &'d BTreeMap<String, String>,
    level: Level,
    /// Reasons by target and origin.
    returns: BTreeMap<usize, BTreeMap<usize, Vec<Reason>>>,
}

impl Sketch<'_> {
    fn station(&mut self, index: usize, step: &Step) -> Station {
        let pattern = self.level.elevate(step.pattern.value);
        let mut asides = vec![];
        for trigger in &step.triggers {
            self.trigger(index, trigger, &mut asides);
        }
        self.policy(index, step, pattern, &mut asides);
        if let Some(fix) = self.definition.fix_step(&step.id) {
            asides.insert(
                0,
                Aside::Fix {
                    id: fix.step.id.value.clone(),
                    name: fix.step.name.value.clone(),
                    pattern: self.level.elevate(fix.step.pattern.value),
                    invocation: fix.invocation,
                },
            );
        }
        Station {
            id: step.id.value.clone(),
            name: step.name.value.clone(),
            capability: step.capability.value,
            pattern,
            remarks: self.remarks(step),
            asides,
        }
    }

    fn trigger(&mut self, index: usize, trigger: &Trigger, asides: &mut Vec<Aside>) {
        let mut reason = Reason {
            condition: trigger.condition.value.clone(),
            severity: trigger.severity.as_ref().map(|s| s.value),
            times_max: None,
        };
        match trigger.action.value {
            // Who is asked stays on the line; the number of conditions is a remark.
            Action::Escalate => {}
            Action::Block => asides.push(Aside::Block { reason }),
            Action::Defer => asides.push(Aside::Defer { reason }),
            Action::Return => {
                reason.times_max = Some(self.times_max(trigger));
                let target = self.definition.return_target(trigger).map(|t| t.value.clone());
                self.lead(index, target, reason, asides);
            }
        }
    }

    /// The definition's own policy sends every validation back that an agent does and that fails without a trigger.
    fn policy(&mut self, index: usize, step: &Step, pattern: Pattern, asides: &mut Vec<Aside>) {
        let by_agent = !matches!(pattern, Pattern::HumanOnly | Pattern::HumanLed);
        let retry = &self.definition.control_flow.retry;
        if let Some(target) = &retry.return_to
            && step.capability.value == Capability::Validate
            && by_agent
        {
            let max = retry.max_iterations.as_ref().map_or(super::definition::MAX_ITERATIONS, |m| m.value);
            let reason = Reason {
                condition: "Its criteria are not met".to_owned(),
                severity: Some(Severity::Medium),
                times_max: Some(max),
            };
            self.lead(index, Some(target.value.clone()), reason, asides);
        }
    }

    /// Leads to a step of this process, or out of it.
    fn lead(&mut self, from: usize, target: Option<String>, reason: Reason, asides: &mut Vec<Aside>) {
        let target = target.unwrap_or_default();
        match self.definition.steps.iter().position(|step| step.id.value == target) {
            Some(to) => {
                self.returns.entry(to).or_default().entry(from).or_default().push(reason);
            }
            None => {
                let name = self.processes.get(&target).cloned();
                asides.push(Aside::Exit { target, name, reason });
            }
        }
    }

    /// A serious matter blocks when it comes again, unless the definition says more (K-65).
    fn times_max(&self, trigger: &Trigger) -> u32 {
        let max = self.definition.max_iterations(trigger);
        if trigger.severity.as_ref().is_some_and(|s| s.value == Severity::High) {
            let stated = self.definition.control_flow.retry.high_max_iterations.as_ref();
            return max.min(stated.map_or(1, |m| m.value));
        }
        max
    }

    fn remarks(&self, step: &Step) -> Vec<String> {
        let mut remarks = vec![];
        if let Some(when) = &step.when {
            remarks.push(format!("only where {}", when.value));
        }
        for mode in &self.definition.control_flow.modes {
            if mode.skip_steps.iter().any(|id| id.value == step.id.value) {
                remarks.push(format!("left out in the mode {}", mode.name));
            }
        }
        match step.triggers.iter().filter(|t| t.action.value == Action::Escalate).count() {
            0 => {}
            1 => remarks.push("may ask a person (1 condition)".to_owned()),
            n => remarks.push(format!("may ask a person ({n} conditions)")),
        }
        remarks
    }
}

impl Return {
    /// The first and the last station that it touches.
    fn span(&self) -> (usize, usize) {
        let all = || self.origins.iter().map(|o| o.from).chain([self.to]);
        (all().min().unwrap_or(self.to), all().max().unwrap_or(self.to))
    }
}

/// Gives each way a track of its own where ways overlap; the shortest are next to the line, so that they nest.
fn side_by_side(mut returns: Vec<Return>) -> (Vec<Return>, usize) {
    returns.sort_by_key(|r| {
        let (first, last) = r.span();
        (last - first, first, r.to)
    });
    let mut tracks: Vec<Vec<(usize, usize)>> = vec![];
    for r in &mut returns {
        let (first, last) = r.span();
        let free = tracks.iter().position(|taken| taken.iter().all(|(from, to)| last < *from || *to < first));
        r.track = free.unwrap_or(tracks.len());
        if free.is_none() {
            tracks.push(vec![]);
        }
        tracks[r.track].push((first, last));
    }
    (returns, tracks.len())
}

impl Reason {
    /// Severity and number: `medium, up to 3 times`.
    pub fn weight(&self) -> String {
        let severity = self.severity.map(|s| s.word().to_lowercase());
        let times =
            self.times_max.map(|n| if n == 1 { "once".to_owned() } else { format!("up to {n} times") });
        severity.into_iter().chain(times).collect::<Vec<_>>().join(", ")
    }

    /// All of it: `Tests fail (medium, up to 3 times)`.
    pub fn words(&self) -> String {
        match self.weight() {
            weight if weight.is_empty() => self.condition.clone(),
            weight => format!("{} ({weight})", self.condition.trim().trim_end_matches('.')),
        }
    }
}

/// Who does a step, in words.
pub fn who(pattern: Pattern) -> &'static str {
    match pattern {
        Pattern::HumanOnly => "a person",
        Pattern::HumanLed => "a person leads",
        Pattern::Partnership => "agent and person together",
        Pattern::AiLed => "an agent leads",
        Pattern::AiOnly => "an agent alone",
    }
}

/// When a fix step runs, in words.
pub fn when(invocation: Invocation) -> &'static str {
    match invocation {
        Invocation::Always => "before going back, every time",
        Invocation::OnRetry => "before going back, from the second time on",
        Invocation::Ask => "before going back, if a person wants it",
    }
}
