//! Every edge is taken, and every other pair is refused.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use serde_json::Value;

use super::DEFINITION;
use super::PHASE;
use super::STEP;
use super::STEP_V1;
use super::definition;
use crate::machine::Machine;

fn everything_given() -> BTreeMap<String, Value> {
    ["all_phases_valid", "outcome", "blocked_by"].map(|name| (name.to_owned(), Value::from(true))).into()
}

fn listed(machine: &Machine) -> Vec<String> {
    machine
        .edges
        .iter()
        .map(|e| format!("{} -{}-> {} {}", e.from, e.trigger, e.to, e.needs.join(",")))
        .collect()
}

/// Walks every state × state × trigger: what the table lists is taken, everything else is refused with words that
/// name where one could go; and an edge with needs is refused when they are not met.
fn walk(machine: &Machine) -> (usize, usize) {
    let triggers: BTreeSet<&str> = machine.edges.iter().map(|edge| edge.trigger).collect();
    let (mut taken, mut refused) = (0, 0);
    for from in machine.states {
        for to in machine.states {
            for trigger in &triggers {
                let edge =
                    machine.edges.iter().find(|e| e.from == *from && e.to == *to && e.trigger == *trigger);
                let result = machine.apply(from, to, trigger, &everything_given());
                match edge {
                    Some(edge) => {
                        assert_eq!(result, Ok(edge));
                        taken += 1;
                        let bare = machine.apply(from, to, trigger, &BTreeMap::new());
                        assert_eq!(bare.is_ok(), edge.needs.is_empty(), "{from} {to} {trigger}");
                    }
                    None => {
                        let words = result.unwrap_err().to_string();
                        assert!(words.contains(from) && words.contains("one can reach"), "{words}");
                        refused += 1;
                    }
                }
            }
        }
    }
    (taken, refused)
}

// DS-28, DS-116.
#[test]
fn ds_28_the_step_machine_of_step_files_edge_by_edge() {
    assert_eq!(
        listed(&STEP_V1),
        [
            "TODO -agent_starts-> IN_PROGRESS ",
            "IN_PROGRESS -all_phases_complete-> DONE all_phases_valid",
            "IN_PROGRESS -unrecoverable_error-> FAILED ",
            "IN_PROGRESS -timeout_or_interrupt-> PARTIAL ",
            "FAILED -retry_with_fix-> IN_PROGRESS ",
            "PARTIAL -resume-> IN_PROGRESS ",
        ]
    );
    assert_eq!(walk(&STEP_V1), (6, 5 * 5 * 6 - 6));
    assert!(STEP_V1.is_final("DONE"));
    assert_eq!(STEP_V1.states.iter().filter(|state| STEP_V1.is_final(state)).count(), 1);
}

#[test]
fn k_14_k_15_the_step_machine_of_all_dialects() {
    assert_eq!(walk(&STEP), (11, 8 * 8 * 9 - 11));
    assert!(STEP.is_final("DONE"));
    for state in STEP.states.iter().filter(|state| **state != "DONE") {
        assert!(!STEP.is_final(state), "{state} has a way out");
    }
    // A retry of a step file is two edges of the superset.
    for edge in STEP_V1.edges.iter().filter(|edge| edge.from != "FAILED") {
        assert!(STEP.edges.contains(edge), "{edge:?}");
    }
    let none = BTreeMap::new();
    assert!(STEP.apply("FAILED", "RETRY", "retry_with_fix", &none).is_ok());
    assert!(STEP.apply("RETRY", "IN_PROGRESS", "agent_starts", &none).is_ok());
}

#[test]
fn ds_29_k_05_k_90_the_phase_machine_edge_by_edge() {
    assert_eq!(
        listed(&PHASE),
        [
            "NOT_EXECUTED -start-> IN_PROGRESS ",
            "IN_PROGRESS -done-> EXECUTED outcome",
            "IN_PROGRESS -skip-> SKIPPED blocked_by",
            "IN_PROGRESS -fail-> FAILED ",
            "IN_PROGRESS -crash_reset-> NOT_EXECUTED ",
            "FAILED -start-> IN_PROGRESS ",
            "EXECUTED -reopen-> NOT_EXECUTED ",
            "SKIPPED -reopen-> NOT_EXECUTED ",
        ]
    );
    assert_eq!(walk(&PHASE), (8, 5 * 5 * 6 - 8));
}

#[test]
fn ds_28_the_definition_file_says_what_the_table_says() {
    let (read, findings) = definition(DEFINITION);
    assert_eq!(findings, []);
    let read = read.unwrap();
    assert_eq!((read.name.as_str(), read.version.as_str()), ("StepExecutionFSM", "1.0"));
    let ways: BTreeSet<String> = read
        .states
        .iter()
        .flat_map(|state| {
            state.transitions.iter().map(move |way| {
                let guard = way.guard.clone().unwrap_or_default();
                format!("{} -{}-> {} {guard}", state.name, way.trigger.as_deref().unwrap_or("?"), way.to)
            })
        })
        .collect();
    assert_eq!(ways, listed(&STEP_V1).into_iter().collect());
    for state in &read.states {
        assert_eq!(state.terminal, STEP_V1.is_final(&state.name), "{}", state.name);
    }
    let requires = |name: &str| read.phase_states.iter().find(|s| s.name == name).unwrap().requires.clone();
    assert_eq!(requires("EXECUTED"), ["outcome"]);
    assert_eq!(requires("SKIPPED"), ["blocked_by"]);
}

#[test]
fn k_14_a_projects_machine_is_a_part_of_the_known_one() {
    let text = "name: Own\nversion: '1'\nstates:\n  TODO:\n    transitions: [{to: DONE, trigger: wish}]\n  DOEN: {}\n  DONE:\n    terminal: true\n    transitions: [TODO]\nphase_states:\n  NOT_EXECUTED: {transitions: [EXECUTED]}\n";
    let lines: Vec<String> = definition(text)
        .1
        .iter()
        .map(|f| {
            format!(
                "{}:{} {} | {}",
                f.place.line,
                f.place.column,
                f.message,
                f.help.as_deref().unwrap_or("-")
            )
        })
        .collect();
    let no_more = "a project's machine may leave ways out, but may not add any";
    assert_eq!(
        lines,
        [
            format!("5:19 a step cannot go from TODO to DONE by `wish` | {no_more}"),
            "6:3 `DOEN` is not a known state | did you mean `DONE`?".to_owned(),
            "7:3 `DONE` is said to be terminal and has ways out | -".to_owned(),
            format!("9:19 a step cannot go from DONE to TODO | {no_more}"),
            format!("11:32 a phase cannot go from NOT_EXECUTED to EXECUTED | {no_more}"),
        ]
    );
    assert!(definition("name: [").0.is_none());
}
