//! The rules that hold before any step runs: V1 to V8, with the constraints C1 to C4 in the place of V2.
//!
//! All findings come at once, in the order of the rules; the messages are those of the framework, to the letter.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use super::Action;
use super::Decimal;
use super::Definition;
use super::Instance;
use super::Pattern;
use super::definition::Profile;
use super::definition::Step;
use super::definition::Trigger;
use super::instance::Given;
use crate::closest::closest;
use crate::doc::At;
use crate::finding::Finding;
use crate::finding::Severity;

/// Among how many names the closest is looked for.
const SUGGESTIONS_MAX: usize = 200;

/// The rules V1 to V7. `known_processes` are the ids of the definitions that a RETURN may hand over to.
pub fn check(definition: &Definition, known_processes: &BTreeSet<String>) -> Vec<Finding> {
    let mut findings = vec![];
    v1_composition(definition, &mut findings);
    v2_roles(definition, &mut findings);
    match definition.profile {
        Profile::WellKnown => v3_sequence(definition, &mut findings),
        Profile::Dynamic => unique_ids(definition, &mut findings),
    }
    let ids: BTreeSet<&str> = definition.steps.iter().map(|step| step.id.as_str()).collect();
    v4_targets(definition, &ids, known_processes, &mut findings);
    v5_severity(definition, &mut findings);
    v6_fix_steps(definition, &ids, &mut findings);
    if definition.profile == Profile::WellKnown {
        v7_flow(definition, &mut findings);
    }
    skipped_steps(definition, &ids, &mut findings);
    findings
}

fn v1_composition(definition: &Definition, findings: &mut Vec<Finding>) {
    let Some(composition) = &definition.composition else { return };
    let sum = composition.sum();
    if sum != Decimal::whole(100) {
        let message = format!("Information composition must sum to 100 (got {sum})");
        findings.push(
            Finding::error("V1", composition.place, message).help("change `formal`, `tacit` or `emergent`"),
        );
    }
}

/// V2, as C1 to C4. A Human-Only step with an AI role breaks two of them, and both are said (E-04).
fn v2_roles(definition: &Definition, findings: &mut Vec<Finding>) {
    let fixes = definition.control_flow.fix_steps.iter().map(|fix| &fix.step);
    for step in definition.steps.iter().chain(fixes) {
        let id = &step.id;
        let mut broken = |rule: &str, place, message: String, help: &str| {
            findings.push(Finding::error(rule, place, message).help(help));
        };
        if let (Pattern::HumanOnly, Some(role)) = (step.pattern.value, &step.ai_role) {
            let message = format!("C1 violated in step {id}: Human-Only pattern cannot have AI role");
            broken("C1", role.place, message, "write `ai_role: None`, or choose another pattern");
            let message = format!("C3 violated in step {id}: AI role defined but pattern is Human-Only");
            broken("C3", step.pattern.place, message, "choose another pattern, or write `ai_role: None`");
        }
        if let (Pattern::AiOnly, Some(role)) = (step.pattern.value, &step.human_role) {
            let message = format!("C2 violated in step {id}: AI-Only pattern cannot have human role");
            broken("C2", role.place, message, "write `human_role: None`, or choose another pattern");
            let message = format!("C4 violated in step {id}: Human role defined but pattern is AI-Only");
            broken("C4", step.pattern.place, message, "choose another pattern, or write `human_role: None`");
        }
    }
}

/// V3: within each `phase.process` the numbers run 1, 2, 3 ... in document order.
fn v3_sequence(definition: &Definition, findings: &mut Vec<Finding>) {
    let mut next: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    let broken = definition.steps.iter().find(|step| {
        let Some((group, number)) = numbers(&step.id) else { return true };
        let expected = next.entry(group).or_insert(1);
        let fits = number == *expected;
        *expected += 1;
        !fits
    });
    if let Some(step) = broken {
        let ids = definition.steps.iter().map(|step| step.id.as_str()).collect::<Vec<_>>().join(", ");
        let message = format!("Step IDs must be sequential (found {ids})");
        findings.push(
            Finding::error("V3", step.id.place, message)
                .help("number the steps as in `5.1.1`, `5.1.2`, `5.1.3`, without gaps"),
        );
    }
}

/// `5.1.10` as ((5, 1), 10).
fn numbers(id: &str) -> Option<((u64, u64), u64)> {
    let mut parts = id.split('.').map(|part| {
        Some(part).filter(|p| p.bytes().all(|b| b.is_ascii_digit())).and_then(|p| p.parse::<u64>().ok())
    });
    let (phase, process, number) = (parts.next()??, parts.next()??, parts.next()??);
    parts.next().is_none().then_some(((phase, process), number))
}

/// Free ids must at least be different, or nothing could be addressed.
fn unique_ids(definition: &Definition, findings: &mut Vec<Finding>) {
    let mut seen = BTreeSet::new();
    for step in &definition.steps {
        if !seen.insert(step.id.as_str()) {
            let message = format!("two steps have the id `{}`", step.id);
            findings.push(Finding::error("duplicate-id", step.id.place, message));
        }
    }
}

fn v4_targets(
    definition: &Definition,
    ids: &BTreeSet<&str>,
    known: &BTreeSet<String>,
    findings: &mut Vec<Finding>,
) {
    let fixes = definition.control_flow.fix_steps.iter().map(|fix| &fix.step);
    for step in definition.steps.iter().chain(fixes) {
        for trigger in &step.triggers {
            findings.extend(v4_target(definition, step, trigger, ids, known));
        }
    }
    let return_to = definition.control_flow.retry.return_to.as_ref();
    if let Some(target) = return_to.filter(|t| !ids.contains(t.as_str()) && !is_process(t)) {
        let message = format!("`return_to` names the step '{target}', which does not exist");
        findings.push(Finding::warning("V4", target.place, message).help(one_of(ids)));
    }
}

fn v4_target(
    definition: &Definition,
    step: &Step,
    trigger: &Trigger,
    ids: &BTreeSet<&str>,
    known: &BTreeSet<String>,
) -> Option<Finding> {
    let action = trigger.action.value;
    let target = match action {
        Action::Return => definition.return_target(trigger),
        Action::Defer if trigger.target.is_some() => trigger.target.as_ref(),
        Action::Defer | Action::Escalate | Action::Block => return None,
    };
    let (text, place) = target.map_or(("", trigger.place), |at: &At<String>| (at.as_str(), at.place));
    if ids.contains(text) {
        return None;
    }
    if is_process(text) {
        return Some(if known.contains(text) {
            Finding::note("V4", place, format!("{action} hands over to the process {text}"))
        } else {
            Finding::warning(
                "V4",
                place,
                format!("{action} hands over to the process {text}, which is not known here"),
            )
        });
    }
    let message = format!("{action} target '{text}' does not exist in step {}", step.id);
    let finding = match action {
        Action::Return => Finding::error("V4", place, message),
        // Where a deferred run goes on is decided by a person; the target is no more than a hint.
        _ => Finding::warning("V4", place, message),
    };
    Some(finding.help(one_of(ids)))
}

fn is_process(target: &str) -> bool {
    target.starts_with("PROC-")
}

/// The ids that would have been right; of a long list only the beginning.
fn one_of(ids: &BTreeSet<&str>) -> String {
    let shown = ids.iter().take(12).map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ");
    let more = if ids.len() > 12 { " ..." } else { "" };
    format!("the steps are {shown}{more}")
}

fn v5_severity(definition: &Definition, findings: &mut Vec<Finding>) {
    let fixes = definition.control_flow.fix_steps.iter().map(|fix| &fix.step);
    for step in definition.steps.iter().chain(fixes) {
        for trigger in step.triggers.iter().filter(|trigger| trigger.severity.is_none()) {
            let message = format!("Escalation trigger in step {} missing required severity", step.id);
            findings.push(
                Finding::error("V5", trigger.place, message).help("add `severity: LOW`, `MEDIUM` or `HIGH`"),
            );
        }
    }
}

fn v6_fix_steps(definition: &Definition, ids: &BTreeSet<&str>, findings: &mut Vec<Finding>) {
    let mut seen = BTreeSet::new();
    for fix in &definition.control_flow.fix_steps {
        let (id, origin) = (&fix.step.id, &fix.trigger_from);
        if !ids.contains(origin.as_str()) {
            let message = format!("Fix step {id} references non-existent step {origin}");
            findings.push(Finding::error("V6", origin.place, message).help(one_of(ids)));
        }
        if **id != format!("{}a", **origin) {
            let message = "Fix step ID must be parent step + 'a' suffix";
            findings.push(Finding::error("V6", id.place, message).help(format!("write `id: {origin}a`")));
        }
        if !seen.insert(id.as_str()) {
            let message = format!("Fix step {id} is defined twice");
            findings.push(Finding::error("V6", id.place, message).help("a step has one fix step; join them"));
        }
    }
}

fn v7_flow(definition: &Definition, findings: &mut Vec<Finding>) {
    let flow = definition.flow.as_ref();
    if flow.is_none_or(|flow| flow.trim().is_empty()) {
        let place = flow.map_or(definition.place, |flow| flow.place);
        findings.push(
            Finding::error("V7", place, "ProcessDefinition must include a flow diagram (Mermaid)")
                .help("add `flow: |` with a Mermaid diagram of the steps"),
        );
    }
}

/// Modes may only skip steps that exist.
fn skipped_steps(definition: &Definition, ids: &BTreeSet<&str>, findings: &mut Vec<Finding>) {
    for mode in &definition.control_flow.modes {
        for id in mode.skip_steps.iter().filter(|id| !ids.contains(id.as_str())) {
            let message = format!("mode {} skips the step '{id}', which does not exist", mode.name);
            findings.push(Finding::warning("skip-steps", id.place, message).help(one_of(ids)));
        }
    }
}

/// V8: the inputs that an instance gives against the interface of its definition. Null counts as not
/// provided (E-09). Places are those of the instance.
pub fn inputs(definition: &Definition, instance: &Instance) -> Vec<Finding> {
    let mut findings = vec![];
    let given: BTreeMap<&str, &Given> = instance.inputs.iter().map(|g| (g.name.as_str(), g)).collect();
    let known: BTreeSet<&str> = definition.inputs.iter().map(|input| input.kind.as_str()).collect();
    for input in definition.inputs.iter().filter(|input| input.required) {
        let given = given.get(input.kind.as_str());
        if given.is_none_or(|given| given.value.is_null()) {
            let place = given.map_or(instance.inputs_place, |given| given.name.place);
            let message = format!("Required input '{}' not provided in instance context", input.kind);
            let help = format!("add `{}:` under `context.inputs`", input.kind);
            findings.push(Finding::error("V8", place, message).help(help));
        }
    }
    for given in instance.inputs.iter().filter(|given| !known.contains(given.name.as_str())) {
        let message = format!("Input '{}' provided but not in interface definition", given.name);
        let finding = Finding::warning("V8", given.name.place, message);
        findings.push(match closest(&given.name, known.iter().copied().take(SUGGESTIONS_MAX)) {
            Some(name) => finding.help(format!("did you mean `{name}`?")),
            None => finding,
        });
    }
    findings
}

/// An error as people are told about it: nobody needs the number of a rule, and what C3 and C4 find C1 and C2 have
/// said already (K-74).
pub fn in_plain_words(finding: &Finding) -> Option<String> {
    if finding.severity != Severity::Error || matches!(finding.rule.as_str(), "C3" | "C4") {
        return None;
    }
    let message = &finding.message;
    let constraint = message.split_once(" violated in ").and_then(|(_, rest)| rest.split_once(": "));
    Some(constraint.map_or_else(|| message.clone(), |(step, what)| format!("{what} in {step}")))
}
