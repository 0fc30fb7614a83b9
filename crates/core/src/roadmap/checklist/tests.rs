//! Each item of the report, one by one.

use super::*;

/// One fact that holds makes its own item hold and no other.
#[track_caller]
fn only(checklist: &Checklist, item: Item, side: Side) {
    assert_eq!(checklist.side, side);
    assert_eq!(checklist.items.len(), 8);
    let met: Vec<Item> = checklist.items.iter().filter(|checked| checked.met).map(|c| c.item).collect();
    assert_eq!(met, [item]);
    assert_eq!(item.side(), side);
}

#[test]
fn dw_98_the_agents_name_was_extracted() {
    let facts = CoordinatorFacts { agent_extracted: true, ..CoordinatorFacts::default() };
    only(&Checklist::coordinator(&facts), Item::AgentExtracted, Side::Coordinator);
}

#[test]
fn dw_99_the_agents_name_is_in_the_registry() {
    let facts = CoordinatorFacts { agent_known: true, ..CoordinatorFacts::default() };
    only(&Checklist::coordinator(&facts), Item::AgentKnown, Side::Coordinator);
}

#[test]
fn dw_100_the_paths_are_valid() {
    let facts = CoordinatorFacts { paths_valid: true, ..CoordinatorFacts::default() };
    only(&Checklist::coordinator(&facts), Item::PathsValid, Side::Coordinator);
}

#[test]
fn dw_101_the_absolute_path_is_right() {
    let facts = CoordinatorFacts { path_absolute: true, ..CoordinatorFacts::default() };
    only(&Checklist::coordinator(&facts), Item::PathAbsolute, Side::Coordinator);
}

#[test]
fn dw_102_the_checklist_passed() {
    let facts = CoordinatorFacts { checklist_passed: true, ..CoordinatorFacts::default() };
    only(&Checklist::coordinator(&facts), Item::ChecklistPassed, Side::Coordinator);
}

#[test]
fn dw_103_the_invocation_was_prepared() {
    let facts = CoordinatorFacts { invocation_prepared: true, ..CoordinatorFacts::default() };
    only(&Checklist::coordinator(&facts), Item::InvocationPrepared, Side::Coordinator);
}

#[test]
fn dw_104_the_invocation_succeeded() {
    let facts = CoordinatorFacts { invocation_succeeded: true, ..CoordinatorFacts::default() };
    only(&Checklist::coordinator(&facts), Item::InvocationSucceeded, Side::Coordinator);
}

#[test]
fn dw_105_the_user_was_told() {
    let facts = CoordinatorFacts { user_told: true, ..CoordinatorFacts::default() };
    only(&Checklist::coordinator(&facts), Item::UserTold, Side::Coordinator);
}

#[test]
fn dw_106_the_state_was_loaded() {
    let facts = AgentFacts { state_loaded: true, ..AgentFacts::default() };
    only(&Checklist::agent(&facts), Item::StateLoaded, Side::Agent);
}

#[test]
fn dw_107_the_dependencies_are_complete() {
    let facts = AgentFacts { dependencies_complete: true, ..AgentFacts::default() };
    only(&Checklist::agent(&facts), Item::DependenciesComplete, Side::Agent);
}

#[test]
fn dw_108_the_agent_had_the_full_context() {
    let facts = AgentFacts { context_full: true, ..AgentFacts::default() };
    only(&Checklist::agent(&facts), Item::ContextFull, Side::Agent);
}

#[test]
fn dw_109_the_transitions_are_recorded() {
    let facts = AgentFacts { transitions_recorded: true, ..AgentFacts::default() };
    only(&Checklist::agent(&facts), Item::TransitionsRecorded, Side::Agent);
}

#[test]
fn dw_110_the_results_were_captured() {
    let facts = AgentFacts { results_captured: true, ..AgentFacts::default() };
    only(&Checklist::agent(&facts), Item::ResultsCaptured, Side::Agent);
}

#[test]
fn dw_111_the_state_was_updated() {
    let facts = AgentFacts { state_updated: true, ..AgentFacts::default() };
    only(&Checklist::agent(&facts), Item::StateUpdated, Side::Agent);
}

#[test]
fn dw_112_the_history_was_kept() {
    let facts = AgentFacts { history_kept: true, ..AgentFacts::default() };
    only(&Checklist::agent(&facts), Item::HistoryKept, Side::Agent);
}

#[test]
fn dw_113_the_metrics_were_tracked() {
    let facts = AgentFacts { metrics_tracked: true, ..AgentFacts::default() };
    only(&Checklist::agent(&facts), Item::MetricsTracked, Side::Agent);
}

#[test]
fn every_item_has_a_name_and_words_of_its_own() {
    let ids: std::collections::BTreeSet<&str> = Item::ALL.iter().map(|item| item.id()).collect();
    let words: std::collections::BTreeSet<&str> = Item::ALL.iter().map(|item| item.words()).collect();
    assert_eq!((ids.len(), words.len()), (16, 16));
    assert!(Item::ALL.is_sorted());
}

#[test]
fn a_checklist_says_what_is_not_met_and_keeps_notes() {
    let facts = AgentFacts {
        state_loaded: true,
        dependencies_complete: true,
        context_full: true,
        transitions_recorded: true,
        results_captured: true,
        state_updated: true,
        history_kept: true,
        metrics_tracked: false,
    };
    let checklist = Checklist::agent(&facts)
        .note(Item::MetricsTracked, "the agent reported no tokens")
        .note(Item::UserTold, "belongs to the other side");
    assert!(!checklist.is_met());
    assert_eq!(checklist.unmet().map(|checked| checked.item).collect::<Vec<_>>(), [Item::MetricsTracked]);
    let json = checklist.to_json();
    assert_eq!(
        json[7],
        json!({
            "id": "metrics-tracked",
            "item": "time, tokens and attempts were measured",
            "met": false,
            "note": "the agent reported no tokens",
        })
    );
    assert_eq!(json[0], json!({"id": "state-loaded", "item": "the state of the step was read", "met": true}));
    assert!(Checklist::agent(&AgentFacts { metrics_tracked: true, ..facts }).is_met());
}
