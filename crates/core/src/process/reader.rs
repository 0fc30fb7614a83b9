//! Reads a definition from its tree, collecting everything that is wrong with it.

use super::Decimal;
use super::Definition;
use super::Invocation;
use super::NotADecimal;
use super::Pattern;
use super::definition::Composition;
use super::definition::ControlFlow;
use super::definition::Criterion;
use super::definition::Disclosure;
use super::definition::FixStep;
use super::definition::Input;
use super::definition::Mode;
use super::definition::Output;
use super::definition::Profile;
use super::definition::Quality;
use super::definition::Retry;
use super::definition::Sla;
use super::definition::Step;
use super::definition::Trigger;
use super::words::Action;
use super::words::Capability;
use crate::doc::At;
use crate::doc::Fields;
use crate::doc::Node;
use crate::doc::Sink;
use crate::finding::Finding;
use crate::finding::Place;
use crate::finding::Severity;

/// The sections that stand beside `definition` or, in some files, inside it.
const SECTIONS: [&str; 7] =
    ["interfaces", "steps", "control_flow", "quality", "flow", "references", "progressive_disclosure"];

/// Reads the whole definition.
pub(super) fn definition(root: &Node, profile: Profile, sink: &Sink) -> Option<Definition> {
    let mut top = Fields::of(root, "a process definition", sink)?;
    let inside = top.node("definition");
    let mut header = match inside {
        Some(node) => Fields::of(node, "the section `definition`", sink)?,
        // A definition inside an instance may be written flat.
        None if profile == Profile::Dynamic => Fields::of(root, "an inline definition", sink)?,
        None => {
            top.missing("definition");
            return None;
        }
    };
    let sections = Sections { root, inside, sink };
    let (inputs, outputs) = sections.fields("interfaces", "`interfaces`").map(interfaces).unwrap_or_default();
    let definition = Definition {
        profile,
        place: root.place,
        id: process_id(&mut header, profile),
        name: header.required_text("name"),
        description: header.text("description"),
        version: header.text("version"),
        phase: phase(&mut header),
        purpose: header.word("type", Severity::Warning),
        composition: composition(&mut header),
        inputs,
        outputs,
        steps: steps(&sections, top.place()),
        control_flow: sections.fields("control_flow", "`control_flow`").map(control_flow).unwrap_or_default(),
        quality: sections.fields("quality", "`quality`").map(quality).unwrap_or_default(),
        flow: sections.text("flow"),
        references: sections.get("references").map(Node::to_json),
        disclosure: sections.fields("progressive_disclosure", "`progressive_disclosure`").map(disclosure),
        digest: root.digest(),
    };
    header.ignore(&SECTIONS);
    top.ignore(&SECTIONS);
    header.finish();
    if inside.is_some() {
        top.finish();
    }
    Some(definition)
}

/// Where the sections of a definition are looked up.
struct Sections<'n> {
    root: &'n Node,
    inside: Option<&'n Node>,
    sink: &'n Sink,
}

impl<'n> Sections<'n> {
    fn get(&self, name: &str) -> Option<&'n Node> {
        self.root.get(name).or_else(|| self.inside?.get(name)).filter(|node| !node.is_null())
    }

    fn fields(&self, name: &str, what: &'static str) -> Option<Fields<'n>> {
        Fields::of(self.get(name)?, what, self.sink)
    }

    fn text(&self, name: &str) -> Option<At<String>> {
        let node = self.get(name)?;
        let text = node.scalar_text();
        if text.is_none() {
            let message = format!("`{name}` must be a text, but this is {}", node.in_words());
            self.sink.push(Finding::error("type", node.place, message));
        }
        text.map(|text| At::new(text, node.place))
    }
}

fn process_id(header: &mut Fields<'_>, profile: Profile) -> At<String> {
    let id = match profile {
        Profile::WellKnown => header.required_text("id"),
        Profile::Dynamic => match header.text("id") {
            Some(id) => id,
            None => return At::new("PROC-DYNAMIC".to_owned(), header.place()),
        },
    };
    let numbered =
        id.strip_prefix("PROC-").and_then(|rest| rest.split_once('.')).is_some_and(|(phase, number)| {
            matches!(phase, "1" | "2" | "3" | "4" | "5" | "6" | "7")
                && !number.is_empty()
                && number.bytes().all(|b| b.is_ascii_digit())
        });
    if !numbered && !id.is_empty() && *id != "PROC-DYNAMIC" {
        let message = format!("`{id}` is not a usual id of a process");
        header.sink().push(Finding::warning("id", id.place, message).help("ids have the form `PROC-5.1`"));
    }
    id
}

fn phase(header: &mut Fields<'_>) -> Option<At<u32>> {
    let phase = header.count("phase")?;
    if !(1..=7).contains(&phase.value) {
        let message = format!("phase {phase} is outside 1 to 7");
        header.sink().push(Finding::warning("phase", phase.place, message));
    }
    Some(phase)
}

fn composition(header: &mut Fields<'_>) -> Option<Composition> {
    header.required("information_composition")?;
    let (key, _) = header.entry("information_composition")?;
    let mut shares = header.map("information_composition", "`information_composition`")?;
    let composition = Composition {
        place: key.place,
        formal: share(&mut shares, "formal"),
        tacit: share(&mut shares, "tacit"),
        emergent: share(&mut shares, "emergent"),
    };
    shares.finish();
    Some(composition)
}

/// One share, which lies between 0 and 100 (E-02).
fn share(shares: &mut Fields<'_>, name: &'static str) -> At<Decimal> {
    if shares.required(name).is_none() {
        return At::new(Decimal::ZERO, shares.place());
    }
    let share = decimal(shares, name).unwrap_or_else(|| At::new(Decimal::ZERO, shares.place()));
    if share.value < Decimal::ZERO || share.value > Decimal::whole(100) {
        let message = format!("the share `{name}` must be between 0 and 100 (got {share})");
        shares.sink().push(Finding::error("share", share.place, message));
    }
    share
}

/// A number that is kept exactly.
fn decimal(fields: &mut Fields<'_>, name: &'static str) -> Option<At<Decimal>> {
    let node = fields.node(name)?;
    match node.scalar_text().map(|text| text.parse::<Decimal>()) {
        Some(Ok(number)) => Some(At::new(number, node.place)),
        Some(Err(NotADecimal::Size)) => {
            fields.wrong_type(name, "a number with at most nine places after the point", node);
            None
        }
        _ => {
            fields.wrong_type(name, "a number", node);
            None
        }
    }
}

fn interfaces(mut fields: Fields<'_>) -> (Vec<Input>, Vec<Output>) {
    let sink = fields.sink();
    let mut inputs = vec![];
    for node in fields.list("inputs") {
        let Some(mut input) = Fields::of(node, "an input", sink) else { continue };
        inputs.push(Input {
            place: node.place,
            kind: input.required_text("type"),
            required: input.flag("required").is_some_and(|flag| flag.value),
            description: input.text("description"),
        });
        input.finish();
    }
    let mut outputs = vec![];
    for node in fields.list("outputs") {
        let Some(mut output) = Fields::of(node, "an output", sink) else { continue };
        outputs.push(Output {
            place: node.place,
            kind: output.required_text("type"),
            description: output.text("description"),
        });
        output.ignore(&["required"]);
        output.finish();
    }
    fields.finish();
    (inputs, outputs)
}

fn steps(sections: &Sections<'_>, parent: Place) -> Vec<Step> {
    let sink = sections.sink;
    let Some(node) = sections.get("steps") else {
        let finding = Finding::error("missing-field", parent, "a process definition needs the field `steps`");
        sink.push(finding.help("add `steps:` with at least one step"));
        return vec![];
    };
    let Some(items) = node.as_seq() else {
        let message = format!("`steps` must be a list, but this is {}", node.in_words());
        sink.push(Finding::error("type", node.place, message));
        return vec![];
    };
    if items.is_empty() {
        sink.push(Finding::error("missing-field", node.place, "a process needs at least one step"));
    }
    let mut steps = vec![];
    for item in items {
        let Some(mut fields) = Fields::of(item, "a step", sink) else { continue };
        steps.push(step(&mut fields));
        fields.finish();
    }
    steps
}

/// The fields that steps and fix steps share.
fn step(fields: &mut Fields<'_>) -> Step {
    Step {
        place: fields.place(),
        id: fields.required_text("id"),
        name: fields.required_text("name"),
        description: fields.text("description"),
        capability: fields.required_word("capability", Capability::Analyse),
        // The stand-in is the pattern that no constraint speaks about.
        pattern: fields.required_word("pattern", Pattern::Partnership),
        human_role: role(fields, "human_role"),
        ai_role: role(fields, "ai_role"),
        when: fields.text("when"),
        triggers: triggers(fields),
        completion_criteria: criteria(fields, "completion_criteria"),
        validation: criteria(fields, "validation"),
        artifacts: fields.lines("artifacts"),
    }
}

/// A role; `None` in any case, blank, null and absent mean that there is none.
fn role(fields: &mut Fields<'_>, name: &'static str) -> Option<At<String>> {
    fields.text(name).filter(|role| !role.trim().is_empty() && !role.trim().eq_ignore_ascii_case("none"))
}

fn triggers(fields: &mut Fields<'_>) -> Vec<Trigger> {
    let sink = fields.sink();
    let mut triggers = vec![];
    for node in fields.list("escalation_triggers") {
        let Some(mut trigger) = Fields::of(node, "an escalation trigger", sink) else { continue };
        triggers.push(Trigger {
            place: node.place,
            condition: trigger.required_text("condition"),
            action: trigger.required_word("action", Action::Escalate),
            severity: weight(&mut trigger),
            target: trigger.text("target"),
            context: context(&mut trigger),
            when: trigger.text("when"),
            max_iterations: trigger.count("max_iterations"),
        });
        trigger.finish();
    }
    triggers
}

/// The severity of a trigger. An unknown word was reported as that and must not count as missing too; the
/// stand-in is the most careful one.
fn weight(trigger: &mut Fields<'_>) -> Option<At<super::Severity>> {
    let place = trigger.node("severity")?.place;
    Some(trigger.word("severity", Severity::Error).unwrap_or(At::new(super::Severity::High, place)))
}

/// What a question about the trigger should mention; real files write it in any form.
fn context(trigger: &mut Fields<'_>) -> Option<At<String>> {
    let node = trigger.node("context")?;
    let text = node.scalar_text().unwrap_or_else(|| node.to_json().to_string());
    Some(At::new(text, node.place))
}

/// Criteria: one text, or a list of texts and of mappings `{criterion, when}`.
fn criteria(fields: &mut Fields<'_>, name: &'static str) -> Vec<Criterion> {
    let sink = fields.sink();
    let Some(node) = fields.node(name) else { return vec![] };
    let items = node.as_seq().unwrap_or(std::slice::from_ref(node));
    let mut criteria = vec![];
    for item in items {
        if let Some(text) = item.scalar_text() {
            criteria.push(Criterion { place: item.place, text, when: None });
        } else if item.as_map().is_some() {
            let Some(mut fields) = Fields::of(item, "a criterion", sink) else { continue };
            let text = fields.required_text("criterion").value;
            criteria.push(Criterion { place: item.place, text, when: fields.text("when") });
            fields.finish();
        } else {
            fields.wrong_type(name, "a text or a list of texts", item);
        }
    }
    criteria
}

fn control_flow(mut fields: Fields<'_>) -> ControlFlow {
    let sink = fields.sink();
    let mut retry = Retry::default();
    if let Some(mut policy) = fields.map("retry_policy", "`retry_policy`") {
        if let Some(mut failure) = policy.map("on_validation_failure", "`on_validation_failure`") {
            retry.return_to = failure.text("return_to");
            retry.max_iterations = failure.count("max_iterations");
            retry.high_max_iterations = failure.count("high_max_iterations");
            failure.finish();
        }
        retry.high_max_iterations = retry.high_max_iterations.or(policy.count("high_max_iterations"));
        policy.finish();
    }
    retry.high_max_iterations = retry.high_max_iterations.or(fields.count("high_max_iterations"));
    let mut fix_steps = vec![];
    for node in fields.list("fix_steps") {
        let Some(mut fix) = Fields::of(node, "a fix step", sink) else { continue };
        fix_steps.push(FixStep {
            trigger_from: fix.required_text("trigger_from"),
            invocation: fix.word("invocation", Severity::Error).map_or(Invocation::OnRetry, |at| at.value),
            step: step(&mut fix),
        });
        fix.finish();
    }
    let modes = modes(&mut fields);
    fields.finish();
    ControlFlow { retry, fix_steps, modes }
}

/// The variations by mode. No schema lists what else may stand in them, so nothing in them is unknown.
fn modes(fields: &mut Fields<'_>) -> Vec<Mode> {
    let sink = fields.sink();
    let Some(node) = fields.node("mode_variations") else { return vec![] };
    let Some(entries) = node.as_map() else {
        fields.wrong_type("mode_variations", "a mapping from modes to their variations", node);
        return vec![];
    };
    let mut modes = vec![];
    for (key, node) in entries.iter().filter(|(_, node)| !node.is_null()) {
        let Some(mut mode) = Fields::of(node, "a mode", sink) else { continue };
        modes.push(Mode {
            name: At::new(key.text.clone(), key.place),
            skip_steps: mode.lines("skip_steps"),
            time_budget_minutes: time_budget(&mut mode),
            depth: mode.json("depth"),
        });
    }
    modes
}

/// A time budget in words says nothing that could be computed.
fn time_budget(mode: &mut Fields<'_>) -> Option<At<Decimal>> {
    let node = mode.node("time_budget_minutes")?;
    let minutes = node.scalar_text().and_then(|text| text.parse::<Decimal>().ok());
    if minutes.is_none() {
        let message =
            format!("`time_budget_minutes` is {}, which is no number, and is ignored", node.in_words());
        mode.sink().push(Finding::warning("type", node.place, message));
    }
    minutes.map(|minutes| At::new(minutes, node.place))
}

fn quality(mut fields: Fields<'_>) -> Quality {
    let quality = Quality {
        entry_criteria: criteria(&mut fields, "entry_criteria"),
        exit_criteria: criteria(&mut fields, "exit_criteria"),
        sla: fields.map("sla", "`sla`").map(sla),
    };
    fields.finish();
    quality
}

fn sla(mut fields: Fields<'_>) -> Sla {
    let expected_duration_minutes = minutes(&mut fields, "expected_duration_minutes");
    let timeout_minutes = minutes(&mut fields, "timeout_minutes");
    let percent = decimal(&mut fields, "warning_threshold_percent");
    if let Some(percent) = percent.filter(|p| p.value < Decimal::ZERO || p.value > Decimal::whole(100)) {
        let message = format!("`warning_threshold_percent` must be between 0 and 100 (got {percent})");
        fields.sink().push(Finding::error("sla", percent.place, message));
    }
    let place = fields.place();
    fields.finish();
    let warning_threshold_percent = percent.map_or(Decimal::whole(80), |percent| percent.value);
    Sla { place, expected_duration_minutes, timeout_minutes, warning_threshold_percent }
}

fn minutes(fields: &mut Fields<'_>, name: &'static str) -> Option<At<Decimal>> {
    let minutes = decimal(fields, name)?;
    if minutes.value <= Decimal::ZERO {
        let message = format!("`{name}` must be more than 0 (got {minutes})");
        fields.sink().push(Finding::error("sla", minutes.place, message));
    }
    Some(minutes)
}

/// Upgrade triggers are texts, or mappings with a condition.
fn disclosure(mut fields: Fields<'_>) -> Disclosure {
    let upgrade_triggers = fields.node("upgrade_triggers").map_or(vec![], |node| {
        let items = node.as_seq().unwrap_or(std::slice::from_ref(node));
        items.iter().filter_map(|item| item.get("condition").unwrap_or(item).scalar_text()).collect()
    });
    Disclosure {
        initial_mode: fields.text("initial_mode"),
        upgrade_triggers,
        upgrade_prompt: fields.text("upgrade_prompt"),
    }
}
