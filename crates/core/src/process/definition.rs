//! What a process is: its steps, triggers, criteria and limits, each with its place in the file.

use serde_json::Value as Json;

use super::Action;
use super::Capability;
use super::Decimal;
use super::Invocation;
use super::Pattern;
use super::Purpose;
use super::Severity;
use crate::doc::At;
use crate::doc::Limits;
use crate::doc::Node;
use crate::doc::Sink;
use crate::finding::Finding;
use crate::finding::Place;
use crate::guard::path;
use crate::hash::Hash;

/// How strictly a definition is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// A file of its own: every rule holds.
    WellKnown,
    /// Embedded in an instance: no flow diagram is needed and step ids are free.
    Dynamic,
}

/// A process definition. Fields that an error finding was reported for hold a stand-in; a definition with
/// errors must not be run.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    pub profile: Profile,
    pub place: Place,
    pub id: At<String>,
    pub name: At<String>,
    pub description: Option<At<String>>,
    pub version: Option<At<String>>,
    pub phase: Option<At<u32>>,
    /// `definition.type`.
    pub purpose: Option<At<Purpose>>,
    pub composition: Option<Composition>,
    pub inputs: Vec<Input>,
    pub outputs: Vec<Output>,
    pub steps: Vec<Step>,
    pub control_flow: ControlFlow,
    pub quality: Quality,
    /// The diagram, normally in a Mermaid fence.
    pub flow: Option<At<String>>,
    pub references: Option<Json>,
    pub disclosure: Option<Disclosure>,
    pub(super) digest: Hash,
}

/// The shares of formal, tacit and emergent information, in percent. A share that is missing counts as zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Composition {
    /// The place of the key `information_composition`.
    pub place: Place,
    pub formal: At<Decimal>,
    pub tacit: At<Decimal>,
    pub emergent: At<Decimal>,
}

impl Composition {
    pub fn sum(&self) -> Decimal {
        self.formal.value + self.tacit.value + self.emergent.value
    }

    /// What decides how much a person is involved (PX-33).
    pub fn non_formal(&self) -> Decimal {
        self.tacit.value + self.emergent.value
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    pub place: Place,
    pub kind: At<String>,
    pub required: bool,
    pub description: Option<At<String>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    pub place: Place,
    pub kind: At<String>,
    pub description: Option<At<String>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub place: Place,
    pub id: At<String>,
    pub name: At<String>,
    pub description: Option<At<String>>,
    pub capability: At<Capability>,
    pub pattern: At<Pattern>,
    /// `None`, null and absent all mean that there is no such role.
    pub human_role: Option<At<String>>,
    pub ai_role: Option<At<String>>,
    /// A condition in CEL: the step is skipped where it is false.
    pub when: Option<At<String>>,
    pub triggers: Vec<Trigger>,
    pub completion_criteria: Vec<Criterion>,
    pub validation: Vec<Criterion>,
    /// Files that are its results even where they steer other work: roadmaps, instances, maps.
    pub artifacts: Vec<At<String>>,
}

impl Step {
    /// Whether the step names this very file as its result.
    pub fn names(&self, file: &str) -> bool {
        self.artifacts.iter().any(|named| path::relative(&named.value).as_deref() == Some(file))
    }
}

/// A condition that changes the course of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Trigger {
    pub place: Place,
    pub condition: At<String>,
    pub action: At<Action>,
    /// Rule V5 demands it.
    pub severity: Option<At<Severity>>,
    pub target: Option<At<String>>,
    pub context: Option<At<String>>,
    /// The condition in CEL; computed, and preferred to a judgement.
    pub when: Option<At<String>>,
    pub max_iterations: Option<At<u32>>,
}

/// A criterion in plain words, with its computable form where one is given.
#[derive(Clone, Debug, PartialEq)]
pub struct Criterion {
    pub place: Place,
    pub text: String,
    pub when: Option<At<String>>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ControlFlow {
    pub retry: Retry,
    pub fix_steps: Vec<FixStep>,
    pub modes: Vec<Mode>,
}

/// `control_flow.retry_policy.on_validation_failure`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Retry {
    pub return_to: Option<At<String>>,
    pub max_iterations: Option<At<u32>>,
    /// How often a HIGH trigger may be asked about before it blocks (K-65).
    pub high_max_iterations: Option<At<u32>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct FixStep {
    pub trigger_from: At<String>,
    pub invocation: Invocation,
    /// A fix step runs as any other step does.
    pub step: Step,
}

/// One entry of `control_flow.mode_variations`.
#[derive(Clone, Debug, PartialEq)]
pub struct Mode {
    pub name: At<String>,
    pub skip_steps: Vec<At<String>>,
    pub time_budget_minutes: Option<At<Decimal>>,
    pub depth: Option<Json>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quality {
    pub entry_criteria: Vec<Criterion>,
    pub exit_criteria: Vec<Criterion>,
    pub sla: Option<Sla>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Sla {
    pub place: Place,
    pub expected_duration_minutes: Option<At<Decimal>>,
    pub timeout_minutes: Option<At<Decimal>>,
    pub warning_threshold_percent: Decimal,
}

/// `progressive_disclosure`: how a run starts small and grows.
#[derive(Clone, Debug, PartialEq)]
pub struct Disclosure {
    pub initial_mode: Option<At<String>>,
    pub upgrade_triggers: Vec<String>,
    pub upgrade_prompt: Option<At<String>>,
}

/// How often a RETURN may happen where nothing else is said (PX-82).
pub const MAX_ITERATIONS: u32 = 3;

impl Definition {
    /// Reads a definition file: syntax, fields and types. The rules V1 to V7 are in [`super::rules`].
    pub fn parse(bytes: &[u8]) -> (Option<Definition>, Vec<Finding>) {
        let (root, mut findings) = crate::doc::parse(bytes, &Limits::default());
        let Some(root) = root else { return (None, findings) };
        let sink = Sink::default();
        let definition = Definition::of(&root, Profile::WellKnown, &sink);
        findings.extend(sink.into_findings());
        (definition, findings)
    }

    /// Reads a definition from its tree.
    pub fn of(root: &Node, profile: Profile, sink: &Sink) -> Option<Definition> {
        super::reader::definition(root, profile, sink)
    }

    /// The digest of the parsed content: insensitive to comments and white space, not to the order of keys.
    pub fn digest(&self) -> Hash {
        self.digest
    }

    pub fn step(&self, id: &str) -> Option<&Step> {
        self.steps.iter().find(|step| *step.id == id)
    }

    /// The fix step of an origin step.
    pub fn fix_step(&self, origin: &str) -> Option<&FixStep> {
        self.control_flow.fix_steps.iter().find(|fix| *fix.trigger_from == origin)
    }

    /// Where a RETURN goes: the trigger's own target, else that of the retry policy.
    pub fn return_target<'d>(&'d self, trigger: &'d Trigger) -> Option<&'d At<String>> {
        trigger.target.as_ref().or(self.control_flow.retry.return_to.as_ref())
    }

    /// How often a trigger may return (K-99): its own limit, else the definition's, else three.
    pub fn max_iterations(&self, trigger: &Trigger) -> u32 {
        let limit = trigger.max_iterations.or(self.control_flow.retry.max_iterations);
        limit.map_or(MAX_ITERATIONS, |limit| limit.value)
    }
}
