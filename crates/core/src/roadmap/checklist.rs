//! The report over one execution: sixteen items that either hold or do not, eight for the one who called the agent
//! and eight for what the agent's work came to (DW-98 to DW-113).

#[cfg(test)]
mod tests;

use serde_json::Value as Json;
use serde_json::json;

/// One item of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Item {
    AgentExtracted,
    AgentKnown,
    PathsValid,
    PathAbsolute,
    ChecklistPassed,
    InvocationPrepared,
    InvocationSucceeded,
    UserTold,
    StateLoaded,
    DependenciesComplete,
    ContextFull,
    TransitionsRecorded,
    ResultsCaptured,
    StateUpdated,
    HistoryKept,
    MetricsTracked,
}

/// Who an item is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Coordinator,
    Agent,
}

impl Item {
    /// All of them, in the order of the report.
    pub const ALL: [Item; 16] = [
        Item::AgentExtracted,
        Item::AgentKnown,
        Item::PathsValid,
        Item::PathAbsolute,
        Item::ChecklistPassed,
        Item::InvocationPrepared,
        Item::InvocationSucceeded,
        Item::UserTold,
        Item::StateLoaded,
        Item::DependenciesComplete,
        Item::ContextFull,
        Item::TransitionsRecorded,
        Item::ResultsCaptured,
        Item::StateUpdated,
        Item::HistoryKept,
        Item::MetricsTracked,
    ];

    /// A short name that stays the same.
    pub fn id(self) -> &'static str {
        self.row().0
    }

    /// The item in plain words, as something that holds.
    pub fn words(self) -> &'static str {
        self.row().1
    }

    pub fn side(self) -> Side {
        if self <= Item::UserTold { Side::Coordinator } else { Side::Agent }
    }

    fn row(self) -> (&'static str, &'static str) {
        match self {
            Item::AgentExtracted => ("agent-extracted", "the agent's name was taken from the command"),
            Item::AgentKnown => ("agent-known", "the agent's name is one of those that are known"),
            Item::PathsValid => ("paths-valid", "the paths of the files were found and are valid"),
            Item::PathAbsolute => ("path-absolute", "the absolute path of the state file was made correctly"),
            Item::ChecklistPassed => ("checklist-passed", "every check before the call of the agent passed"),
            Item::InvocationPrepared => {
                ("invocation-prepared", "the call of the agent was prepared with the right parameters")
            }
            Item::InvocationSucceeded => {
                ("invocation-succeeded", "the call of the agent came back with success")
            }
            Item::UserTold => ("user-told", "the user was told that the agent was called"),
            Item::StateLoaded => ("state-loaded", "the state of the step was read"),
            Item::DependenciesComplete => {
                ("dependencies-complete", "everything that the step needs is complete")
            }
            Item::ContextFull => ("context-full", "the agent had the whole context of the step"),
            Item::TransitionsRecorded => ("transitions-recorded", "every change of state is on record"),
            Item::ResultsCaptured => ("results-captured", "the results of the execution were kept"),
            Item::StateUpdated => ("state-updated", "the state of the step holds the results"),
            Item::HistoryKept => ("history-kept", "the history of the state is complete"),
            Item::MetricsTracked => ("metrics-tracked", "time, tokens and attempts were measured"),
        }
    }
}

/// What is known about the call of an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoordinatorFacts {
    pub agent_extracted: bool,
    pub agent_known: bool,
    pub paths_valid: bool,
    pub path_absolute: bool,
    pub checklist_passed: bool,
    pub invocation_prepared: bool,
    pub invocation_succeeded: bool,
    pub user_told: bool,
}

/// What is known about the work of an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentFacts {
    pub state_loaded: bool,
    pub dependencies_complete: bool,
    pub context_full: bool,
    pub transitions_recorded: bool,
    pub results_captured: bool,
    pub state_updated: bool,
    pub history_kept: bool,
    pub metrics_tracked: bool,
}

/// An item, and whether it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    pub item: Item,
    pub met: bool,
    /// What there is to say about it; may be empty.
    pub note: String,
}

/// The items of one side, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checklist {
    pub side: Side,
    pub items: Vec<Checked>,
}

impl Checklist {
    /// The report about the call of an agent (DW-98 to DW-105).
    pub fn coordinator(facts: &CoordinatorFacts) -> Checklist {
        Checklist::of(Side::Coordinator, |item| match item {
            Item::AgentExtracted => facts.agent_extracted,
            Item::AgentKnown => facts.agent_known,
            Item::PathsValid => facts.paths_valid,
            Item::PathAbsolute => facts.path_absolute,
            Item::ChecklistPassed => facts.checklist_passed,
            Item::InvocationPrepared => facts.invocation_prepared,
            Item::InvocationSucceeded => facts.invocation_succeeded,
            Item::UserTold => facts.user_told,
            _ => false,
        })
    }

    /// The report about the work of an agent (DW-106 to DW-113).
    pub fn agent(facts: &AgentFacts) -> Checklist {
        Checklist::of(Side::Agent, |item| match item {
            Item::StateLoaded => facts.state_loaded,
            Item::DependenciesComplete => facts.dependencies_complete,
            Item::ContextFull => facts.context_full,
            Item::TransitionsRecorded => facts.transitions_recorded,
            Item::ResultsCaptured => facts.results_captured,
            Item::StateUpdated => facts.state_updated,
            Item::HistoryKept => facts.history_kept,
            Item::MetricsTracked => facts.metrics_tracked,
            _ => false,
        })
    }

    fn of(side: Side, met: impl Fn(Item) -> bool) -> Checklist {
        let checked = |item| Checked { item, met: met(item), note: String::new() };
        let items = Item::ALL.into_iter().filter(|item| item.side() == side).map(checked).collect();
        Checklist { side, items }
    }

    /// Adds what there is to say about an item; nothing where the item belongs to the other side.
    #[must_use]
    pub fn note(mut self, item: Item, note: impl Into<String>) -> Checklist {
        if let Some(checked) = self.items.iter_mut().find(|checked| checked.item == item) {
            checked.note = note.into();
        }
        self
    }

    /// Whether every item holds.
    pub fn is_met(&self) -> bool {
        self.items.iter().all(|checked| checked.met)
    }

    /// The items that do not hold.
    pub fn unmet(&self) -> impl Iterator<Item = &Checked> {
        self.items.iter().filter(|checked| !checked.met)
    }

    /// As a list of objects, each with id, words, and whether it holds.
    pub fn to_json(&self) -> Json {
        let item = |checked: &Checked| {
            let mut item = json!({
                "id": checked.item.id(),
                "item": checked.item.words(),
                "met": checked.met,
            });
            if let (Some(item), false) = (item.as_object_mut(), checked.note.is_empty()) {
                item.insert("note".to_owned(), json!(checked.note));
            }
            item
        };
        Json::Array(self.items.iter().map(item).collect())
    }
}
