//! The context graph: who made which record. Where a workspace has one, every record is a node in it with an edge
//! from its maker.

use serde_json::Value;
use serde_json::json;

use super::facts::Decision;
use super::facts::Observation;
use super::log;
use crate::doc;
use crate::projection::Image;
use crate::time::Utc;

/// The folder of the graph; without it there is no graph.
pub const GRAPH: &str = ".dialogue/context-graph";
/// So much of a maker's name stands in the name of a file.
const MAKER_BYTES_MAX: usize = 80;

/// What the graph says of a record.
struct Entry<'r> {
    id: &'r str,
    at: Utc,
    artifact: &'static str,
    /// The name of the field with the record's type, and the type.
    kind: (&'static str, &'static str),
    title: &'r str,
    summary: Value,
    /// The name of the field with the maker, and the maker.
    maker: (&'static str, &'r str),
}

/// The node and the edge of a decision.
pub fn of_decision(decision: &Decision) -> [Image; 2] {
    images(&Entry {
        id: &decision.id,
        at: decision.at,
        artifact: "DECISION",
        kind: ("decision_type", decision.kind.word()),
        title: &decision.subject,
        summary: json!(decision.outcome),
        maker: ("author", &decision.actor),
    })
}

/// The node and the edge of an observation.
pub fn of_observation(observation: &Observation) -> [Image; 2] {
    images(&Entry {
        id: &observation.id,
        at: observation.at,
        artifact: "OBSERVATION",
        kind: ("observation_type", observation.kind.word()),
        title: &observation.subject,
        summary: observation.value.clone(),
        maker: ("observer", &observation.observer),
    })
}

fn images(entry: &Entry<'_>) -> [Image; 2] {
    let at = entry.at.seconds();
    let ((kind, word), (role, maker)) = (entry.kind, entry.maker);
    let node = json!({
        "id": entry.id,
        "node_type": "ARTIFACT",
        "metadata": {
            "artifact_type": entry.artifact,
            kind: word,
            "temporal_class": "Ephemeral",
            "content_type": "text/yaml",
            "title": entry.title,
            "summary": entry.summary,
            "location_hint": log::record_path(entry.id),
            role: maker,
        },
        "created": at,
        "updated": at,
        "status": "ACTIVE",
    });
    let edge_id = format!("created-{}-{}", file_name(maker), entry.id);
    let edge = json!({
        "id": edge_id,
        "source": maker,
        "target": entry.id,
        "edge_type": "CREATED",
        "metadata": { "timestamp": at, kind: word },
        "created": at,
        "confidence": 1.0,
    });
    [
        Image { path: format!("{GRAPH}/nodes/artifacts/{}.yaml", entry.id), text: doc::write(&node) },
        Image { path: format!("{GRAPH}/edges/actor-artifact/{edge_id}.yaml"), text: doc::write(&edge) },
    ]
}

/// A maker as a part of a file's name: `ai:claude` is `ai-claude`, and nothing leads to another folder.
fn file_name(maker: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' };
    // Letters of other scripts take up to four bytes each; names of files end at 255.
    let mut name = String::new();
    for c in maker.chars().map(plain) {
        if name.len() + c.len_utf8() > MAKER_BYTES_MAX {
            break;
        }
        name.push(c);
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::DecisionType;

    fn decision(actor: &str) -> Decision {
        Decision {
            id: "DEC-20260118-143052".into(),
            at: Utc::parse("2026-01-18T14:30:52Z").unwrap(),
            kind: DecisionType::Tactical,
            actor: actor.into(),
            subject: "Cache: how long".into(),
            outcome: "One \"hour\"".into(),
            rationale: String::new(),
            context: String::new(),
            reference: String::new(),
            tags: vec![],
        }
    }

    #[test]
    fn a_record_is_a_node_with_an_edge_from_its_maker() {
        let [node, edge] = of_decision(&decision("ai:claude"));
        insta::assert_snapshot!(format!("{}\n{}\n{}\n{}", node.path, node.text, edge.path, edge.text));
    }

    #[test]
    fn a_maker_never_leads_to_another_folder() {
        let path = |maker: &str| of_decision(&decision(maker))[1].path.clone();
        let folder = format!("{GRAPH}/edges/actor-artifact/");
        for (maker, name) in [
            ("human:ada", "human-ada"),
            ("../../../etc/x", "..-..-..-etc-x"),
            ("a b\nc\0d", "a-b-c-d"),
            ("ädä", "ädä"),
        ] {
            assert_eq!(path(maker), format!("{folder}created-{name}-DEC-20260118-143052.yaml"));
        }
        let long = path(&"検".repeat(500));
        assert!(long.len() - folder.len() < 255, "{long}");
    }
}
