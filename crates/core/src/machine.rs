//! State machines are data: states, edges, triggers and the fields that an edge demands. One function applies them.

use std::collections::BTreeMap;

use serde_json::Value;

/// One permitted transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    pub from: &'static str,
    pub to: &'static str,
    pub trigger: &'static str,
    /// Fields that must be given, and not null.
    pub needs: &'static [&'static str],
}

/// A machine: its name for people, its states, and its edges.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    pub name: &'static str,
    pub states: &'static [&'static str],
    pub edges: &'static [Edge],
}

/// Why a transition was refused. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("{machine}: no way from {from} to {to} by `{trigger}`; from {from} one can reach: {reachable}")]
    NoEdge { machine: &'static str, from: String, to: String, trigger: String, reachable: String },
    #[error("{machine}: going from {from} to {to} needs `{field}`")]
    MissingField { machine: &'static str, from: String, to: String, field: &'static str },
}

impl Machine {
    /// Checks one transition.
    pub fn apply(
        &self,
        from: &str,
        to: &str,
        trigger: &str,
        fields: &BTreeMap<String, Value>,
    ) -> Result<&Edge, Refused> {
        let found = self.edges.iter().find(|e| e.from == from && e.to == to && e.trigger == trigger);
        let Some(edge) = found else {
            let mut reachable: Vec<_> = self.edges.iter().filter(|e| e.from == from).map(|e| e.to).collect();
            reachable.dedup();
            let reachable = if reachable.is_empty() { "nothing".to_owned() } else { reachable.join(", ") };
            return Err(Refused::NoEdge {
                machine: self.name,
                from: from.to_owned(),
                to: to.to_owned(),
                trigger: trigger.to_owned(),
                reachable,
            });
        };
        let missing = edge.needs.iter().find(|name| fields.get(**name).is_none_or(Value::is_null));
        if let Some(field) = missing {
            return Err(Refused::MissingField {
                machine: self.name,
                from: from.to_owned(),
                to: to.to_owned(),
                field,
            });
        }
        Ok(edge)
    }

    /// States from which nothing leads on.
    pub fn is_final(&self, state: &str) -> bool {
        self.states.contains(&state) && !self.edges.iter().any(|e| e.from == state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOOR: Machine = Machine {
        name: "door",
        states: &["OPEN", "SHUT", "GONE"],
        edges: &[
            Edge { from: "OPEN", to: "SHUT", trigger: "close", needs: &[] },
            Edge { from: "SHUT", to: "OPEN", trigger: "open", needs: &["key"] },
            Edge { from: "SHUT", to: "GONE", trigger: "wreck", needs: &[] },
        ],
    };

    #[test]
    fn every_pair_is_allowed_by_the_table_or_refused() {
        for from in DOOR.states {
            for to in DOOR.states {
                for trigger in ["close", "open", "wreck"] {
                    let listed =
                        DOOR.edges.iter().any(|e| e.from == *from && e.to == *to && e.trigger == trigger);
                    let fields = BTreeMap::from([("key".to_owned(), Value::from("k"))]);
                    assert_eq!(DOOR.apply(from, to, trigger, &fields).is_ok(), listed);
                }
            }
        }
        assert!(DOOR.is_final("GONE") && !DOOR.is_final("OPEN"));
    }

    #[test]
    fn a_refusal_names_the_way_out_or_the_missing_field() {
        let none = BTreeMap::new();
        assert_eq!(
            DOOR.apply("OPEN", "GONE", "wreck", &none).unwrap_err().to_string(),
            "door: no way from OPEN to GONE by `wreck`; from OPEN one can reach: SHUT"
        );
        assert_eq!(
            DOOR.apply("SHUT", "OPEN", "open", &none).unwrap_err().to_string(),
            "door: going from SHUT to OPEN needs `key`"
        );
    }
}
