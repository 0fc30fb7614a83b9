//! The definition file of the step's machine: read, and checked to be a part of what is known.

use super::PHASE;
use super::STEP;
use super::STEP_V1;
use crate::closest::closest;
use crate::doc;
use crate::doc::Fields;
use crate::doc::Key;
use crate::doc::Limits;
use crate::doc::Node;
use crate::doc::Sink;
use crate::finding::Finding;

/// The definition that is built in, as a project would write it.
pub const DEFINITION: &str = include_str!("step-execution-fsm.yaml");

/// One way out of a state, as the file says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    pub to: String,
    pub trigger: Option<String>,
    pub guard: Option<String>,
}

/// One state, as the file says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    pub name: String,
    pub terminal: bool,
    pub transitions: Vec<Transition>,
    pub requires: Vec<String>,
}

/// The machines of a step and of its phases, as a file defines them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    pub name: String,
    pub version: String,
    pub states: Vec<State>,
    pub phase_states: Vec<State>,
}

/// Reads a definition. What it asks for beyond the known machines is an error (K-14).
pub fn definition(text: &str) -> (Option<Definition>, Vec<Finding>) {
    let (root, mut findings) = doc::parse(text.as_bytes(), &Limits::default());
    let sink = Sink::default();
    let definition = root.as_ref().and_then(|root| read(root, &sink));
    findings.extend(sink.into_findings());
    doc::sort(&mut findings);
    (definition, findings)
}

fn read(root: &Node, sink: &Sink) -> Option<Definition> {
    let mut fields = Fields::of(root, "the state machine", sink)?;
    let name = fields.required_text("name").value;
    let version = fields.required_text("version").value;
    let states = states(fields.required("states"), STEP.states, sink);
    let phase_states = states_of_phases(fields.node("phase_states"), sink);
    fields.ignore(&["commit_gate", "description"]);
    fields.finish();
    for (state, transition, node) in &states.1 {
        let known = [&STEP, &STEP_V1].iter().flat_map(|machine| machine.edges).any(|edge| {
            edge.from == state
                && edge.to == transition.to
                && transition.trigger.as_deref().is_none_or(|trigger| trigger == edge.trigger)
        });
        if !known {
            sink.push(no_way("step", state, transition, node));
        }
    }
    Some(Definition { name, version, states: states.0, phase_states })
}

type Found<'n> = (Vec<State>, Vec<(String, Transition, &'n Node)>);

fn states<'n>(node: Option<&'n Node>, known: &[&'static str], sink: &'n Sink) -> Found<'n> {
    let mut all = vec![];
    let mut ways = vec![];
    for (key, node) in node.and_then(Node::as_map).unwrap_or_default() {
        if !known.contains(&key.text.as_str()) {
            sink.push(unknown_state(key, known));
        }
        let Some(mut fields) = Fields::of(node, "a state", sink) else { continue };
        fields.ignore(&["description", "validation"]);
        let terminal = fields.flag("terminal").is_some_and(|flag| flag.value);
        let requires = fields.lines("requires").into_iter().map(|line| line.value).collect();
        let mut transitions = vec![];
        for entry in fields.list("transitions") {
            let Some(transition) = transition(entry, sink) else { continue };
            ways.push((key.text.clone(), transition.clone(), entry));
            transitions.push(transition);
        }
        if terminal && !transitions.is_empty() {
            let message = format!("`{}` is said to be terminal and has ways out", key.text);
            sink.push(Finding::error("machine", key.place, message));
        }
        fields.finish();
        all.push(State { name: key.text.clone(), terminal, transitions, requires });
    }
    (all, ways)
}

fn states_of_phases(node: Option<&Node>, sink: &Sink) -> Vec<State> {
    let (states, ways) = states(node, PHASE.states, sink);
    for (state, transition, node) in &ways {
        if !PHASE.edges.iter().any(|edge| edge.from == state && edge.to == transition.to) {
            sink.push(no_way("phase", state, transition, node));
        }
    }
    states
}

/// A way out is a mapping, or the bare name of the next state.
fn transition(node: &Node, sink: &Sink) -> Option<Transition> {
    if let Some(to) = node.as_str() {
        return Some(Transition { to: to.to_owned(), trigger: None, guard: None });
    }
    let mut fields = Fields::of(node, "a transition", sink)?;
    let to = fields.required_text("to").value;
    let trigger = fields.text("trigger").map(|word| word.value);
    let guard = fields.text("guard").map(|word| word.value);
    fields.finish();
    Some(Transition { to, trigger, guard })
}

fn unknown_state(key: &Key, known: &[&'static str]) -> Finding {
    let finding = Finding::error("machine", key.place, format!("`{}` is not a known state", key.text));
    match closest(&key.text, known.iter().copied()) {
        Some(word) => finding.help(format!("did you mean `{word}`?")),
        None => finding.help(format!("known are {}", known.join(", "))),
    }
}

fn no_way(what: &str, from: &str, transition: &Transition, node: &Node) -> Finding {
    let by = transition.trigger.as_ref().map(|trigger| format!(" by `{trigger}`")).unwrap_or_default();
    let message = format!("a {what} cannot go from {from} to {}{by}", transition.to);
    Finding::error("machine", node.place, message)
        .help("a project's machine may leave ways out, but may not add any")
}
