//! `lifecycle-stage.yaml`: the current stage, which gates each stage requires, and how a gate is run (OC-116).

use serde::Serialize;

use crate::closest::closest;
use crate::doc;
use crate::doc::Fields;
use crate::doc::Limits;
use crate::doc::Node;
use crate::doc::Sink;
use crate::finding::Finding;
use crate::finding::has_errors;
use crate::time::parse_span;

/// The stages that the contract knows, in their order (OC-117 to OC-120). A file may have others.
pub const STAGES: [&str; 4] = ["framework-bootstrap", "planning", "implementation", "release-readiness"];

/// Stands for the folder of the product in commands.
pub const PRODUCT_ROOT: &str = "{PRODUCT_ROOT}";

/// The whole file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Lifecycle {
    pub current_stage: String,
    pub stages: Vec<Stage>,
    pub gates: Vec<Gate>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stage {
    pub name: String,
    pub description: String,
    pub required_gates: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Gate {
    pub name: String,
    pub description: String,
    pub command: Vec<String>,
    /// How long it may take, where the file says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

/// A stage that the file does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Unknown stage '{stage}'. Known stages: {}", .known.join(", "))]
pub struct UnknownStage {
    pub stage: String,
    pub known: Vec<String>,
}

impl Lifecycle {
    /// Reads a file, or says everything that keeps it from being used.
    pub fn read(bytes: &[u8]) -> Result<(Lifecycle, Vec<Finding>), Vec<Finding>> {
        let (root, mut findings) = doc::parse(bytes, &Limits::default());
        let sink = Sink::default();
        let lifecycle = root.as_ref().and_then(|root| Lifecycle::of(root, &sink));
        findings.extend(sink.into_findings());
        doc::sort(&mut findings);
        match lifecycle {
            Some(lifecycle) if !has_errors(&findings) => Ok((lifecycle, findings)),
            _ => Err(findings),
        }
    }

    /// Reads a tree.
    pub fn of(root: &Node, sink: &Sink) -> Option<Lifecycle> {
        let mut fields = Fields::of(root, "a lifecycle file", sink)?;
        fields.ignore(&["version", "release_posture", "implementation_scope"]);
        let current = fields.required_text("current_stage");
        let stages = fields.required("stages");
        let gates = fields.required("gates");
        fields.finish();
        let gates =
            entries(gates, "gates", sink).into_iter().map(|(name, node)| gate(name, node, sink)).collect();
        let mut lifecycle = Lifecycle { current_stage: current.value, stages: vec![], gates };
        for (name, node) in entries(stages, "stages", sink) {
            let stage = lifecycle.stage_of(name, node, sink);
            lifecycle.stages.push(stage);
        }
        if !lifecycle.current_stage.is_empty() && lifecycle.stage(&lifecycle.current_stage).is_err() {
            let message = format!("current_stage `{}` is not one of the stages", lifecycle.current_stage);
            let finding = Finding::error("unknown-stage", current.place, message);
            let known = lifecycle.stages.iter().map(|stage| stage.name.as_str());
            sink.push(match closest(&lifecycle.current_stage, known) {
                Some(meant) => finding.help(format!("did you mean `{meant}`?")),
                None => finding,
            });
        }
        Some(lifecycle)
    }

    fn stage_of(&self, name: &str, node: &Node, sink: &Sink) -> Stage {
        let mut stage = Stage { name: name.to_owned(), ..Stage::default() };
        if node.is_null() {
            return stage;
        }
        let Some(mut fields) = Fields::of(node, "a stage", sink) else { return stage };
        stage.description = fields.text("description").map(|text| text.value).unwrap_or_default();
        for required in fields.lines("required_gates") {
            if !self.gates.iter().any(|gate| gate.name == required.value) {
                let message = format!("Stage '{name}' references unknown gates: {}", required.value);
                let finding = Finding::error("unknown-gate", required.place, message);
                sink.push(match closest(&required.value, self.gates.iter().map(|gate| gate.name.as_str())) {
                    Some(meant) => finding.help(format!("did you mean `{meant}`?")),
                    None => finding.help("define it under `gates`"),
                });
            }
            stage.required_gates.push(required.value);
        }
        fields.finish();
        stage
    }

    /// A stage by its name.
    pub fn stage(&self, name: &str) -> Result<&Stage, UnknownStage> {
        self.stages.iter().find(|stage| stage.name == name).ok_or_else(|| UnknownStage {
            stage: name.to_owned(),
            known: self.stages.iter().map(|stage| stage.name.clone()).collect(),
        })
    }

    /// The gates that a stage requires, in its order.
    pub fn required<'l>(&'l self, stage: &'l Stage) -> impl Iterator<Item = &'l Gate> {
        stage.required_gates.iter().filter_map(|name| self.gates.iter().find(|gate| gate.name == *name))
    }
}

/// How long a gate may take when nothing says otherwise.
const GATE_TIMEOUT_MS: u64 = 20 * 60_000;

impl Gate {
    /// Returns the gate as it is run and judged, with the folder of the product in its place.
    pub fn declared_in(&self, product_root: &str) -> crate::gate::Gate {
        crate::gate::Gate {
            command: self.command_in(product_root),
            timeout_ms: Some(self.timeout_ms.unwrap_or(GATE_TIMEOUT_MS)),
            ..crate::gate::Gate::default()
        }
    }

    /// The command with the folder of the product in its place.
    pub fn command_in(&self, product_root: &str) -> Vec<String> {
        self.command.iter().map(|word| word.replace(PRODUCT_ROOT, product_root)).collect()
    }
}

/// The entries of a mapping that must be one.
fn entries<'n>(node: Option<&'n Node>, name: &str, sink: &Sink) -> Vec<(&'n str, &'n Node)> {
    let Some(node) = node else { return vec![] };
    match node.as_map() {
        Some(map) => map.iter().map(|(key, node)| (key.text.as_str(), node)).collect(),
        None => {
            let message = format!("`{name}` must be a mapping, but this is {}", node.in_words());
            sink.push(Finding::error("type", node.place, message));
            vec![]
        }
    }
}

fn gate(name: &str, node: &Node, sink: &Sink) -> Gate {
    let mut gate = Gate { name: name.to_owned(), ..Gate::default() };
    let bad = |place| {
        let message = format!("Gate '{name}' must define a non-empty command list");
        Finding::error("gate-command", place, message).help("write it as a list: [program, argument]")
    };
    let Some(mut fields) = Fields::of(node, "a gate", sink) else { return gate };
    gate.description = fields.text("description").map(|text| text.value).unwrap_or_default();
    if let Some(timeout) = fields.text("timeout") {
        gate.timeout_ms = parse_span(&timeout.value).filter(|ms| *ms > 0);
        if gate.timeout_ms.is_none() {
            let message = format!("`{}` is not a span of time", timeout.value);
            sink.push(Finding::error("type", timeout.place, message).help("write it like 30s, 20m or 1h30m"));
        }
    }
    let command = fields.node("command");
    fields.finish();
    let words = command.and_then(Node::as_seq).unwrap_or_default();
    gate.command = words.iter().filter_map(Node::scalar_text).collect();
    let whole =
        gate.command.len() == words.len() && gate.command.first().is_some_and(|word| !word.trim().is_empty());
    if !whole {
        sink.push(bad(command.map_or(node.place, |command| command.place)));
    }
    gate
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "version: 1\ncurrent_stage: planning\nstages:\n  framework-bootstrap:\n    required_gates: []\n  \
                        planning:\n    description: Plans\n    required_gates: [docs, links]\n  implementation:\ngates:\n  \
                        docs:\n    description: >\n      All documents\n    command: [check-docs, '{PRODUCT_ROOT}/docs']\n  \
                        links:\n    command: [check-links]\n    timeout: 2m\n";

    fn said(text: &str) -> Vec<String> {
        match Lifecycle::read(text.as_bytes()) {
            Ok((_, findings)) | Err(findings) => {
                findings.iter().map(|f| format!("{} {}: {}", f.place.line, f.rule, f.message)).collect()
            }
        }
    }

    // OC-116, OC-117, OC-118, OC-119, OC-120
    #[test]
    fn oc_116_stage_stages_and_gates_come_from_one_file() {
        let (lifecycle, findings) = Lifecycle::read(GOOD.as_bytes()).unwrap();
        assert!(findings.is_empty(), "{findings:?}");
        let stage = lifecycle.stage(&lifecycle.current_stage).unwrap();
        let gates: Vec<&str> = lifecycle.required(stage).map(|gate| gate.name.as_str()).collect();
        assert_eq!(gates, ["docs", "links"]);
        assert_eq!(lifecycle.gates[0].command_in("/work/product"), ["check-docs", "/work/product/docs"]);
        assert_eq!(lifecycle.gates[1].timeout_ms, Some(120_000));
        assert!(lifecycle.stage("implementation").unwrap().required_gates.is_empty());
        let unknown = lifecycle.stage("plan").unwrap_err().to_string();
        assert_eq!(
            unknown,
            "Unknown stage 'plan'. Known stages: framework-bootstrap, planning, implementation"
        );
        assert_eq!(STAGES.len(), 4);
    }

    #[test]
    fn oc_116_everything_that_is_wrong_is_said_at_once() {
        let bad = "current_stage: planing\nstages:\n  planning:\n    required_gates: [doc, links]\ngates:\n  docs:\n    \
                   command: check-docs\n  links:\n    command: []\n  more:\n    description: none\n";
        assert_eq!(
            said(bad),
            [
                "1 unknown-stage: current_stage `planing` is not one of the stages",
                "4 unknown-gate: Stage 'planning' references unknown gates: doc",
                "7 gate-command: Gate 'docs' must define a non-empty command list",
                "9 gate-command: Gate 'links' must define a non-empty command list",
                "11 gate-command: Gate 'more' must define a non-empty command list",
            ]
        );
        for (text, words) in [
            ("- a\n", "must be a mapping"),
            ("stages: {}\ngates: {}\n", "current_stage"),
            ("current_stage: a\ngates: {}\n", "stages"),
            ("current_stage: a\nstages: {a: {}}\n", "gates"),
            ("current_stage: a\nstages: [a]\ngates: {}\n", "`stages` must be a mapping"),
        ] {
            assert!(said(text).iter().any(|line| line.contains(words)), "{text}: {:?}", said(text));
        }
    }
}
