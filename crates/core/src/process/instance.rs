//! One run of a process as its file describes it: where the definition is, what goes in, where it stands.

use serde_json::Map;
use serde_json::Value as Json;

use super::Definition;
use super::SourceType;
use super::Status;
use super::Trust;
use super::definition::Profile;
use crate::doc::At;
use crate::doc::Fields;
use crate::doc::Limits;
use crate::doc::Node;
use crate::doc::Sink;
use crate::finding::Finding;
use crate::finding::Place;
use crate::finding::Severity;
use crate::time::Utc;

/// A process instance. Fields that an error finding was reported for hold a stand-in.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    pub place: Place,
    pub id: At<String>,
    pub created: Option<At<String>>,
    pub created_by: Option<At<String>>,
    /// The only name of the process that people get to see (PX-13).
    pub description: At<String>,
    /// `None` when the source cannot be used; an error finding says why.
    pub source: Option<Source>,
    pub trigger: Option<At<String>>,
    pub inputs: Vec<Given>,
    /// The place of `context.inputs`, or of the nearest thing above it.
    pub inputs_place: Place,
    /// Runtime parameters with the types they were written with (PX-16).
    pub parameters: Map<String, Json>,
    pub test_mode: bool,
    pub status: At<Status>,
    pub execution_log_id: Option<At<String>>,
    pub approval: Option<Approval>,
    pub run_count: u32,
    pub started: Option<At<String>>,
    pub completed: Option<At<String>>,
    pub outcome: Option<Json>,
    /// What a suspended run needs to go on (PX-89).
    pub continuation: Option<Json>,
}

/// Where the definition comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    WellKnown { definition_id: Option<At<String>>, path: At<String> },
    Dynamic { definition: Box<Definition> },
}

/// An input that the instance gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    pub name: At<String>,
    pub value: Json,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Approval {
    pub place: Place,
    pub definition_approved: bool,
    pub approved_by: Option<At<String>>,
    pub approved_at: Option<At<String>>,
    pub trust_level: Option<At<Trust>>,
    pub approval_decision_id: Option<At<String>>,
    /// The digest of the definition that the trust is bound to.
    pub definition_digest: Option<At<String>>,
}

impl Instance {
    /// Reads an instance file with everything that is wrong about it, its inline definition included.
    pub fn parse(bytes: &[u8]) -> (Option<Instance>, Vec<Finding>) {
        let (root, mut findings) = crate::doc::parse(bytes, &Limits::default());
        let Some(root) = root else { return (None, findings) };
        let sink = Sink::default();
        let instance = Instance::of(&root, &sink);
        findings.extend(sink.into_findings());
        (instance, findings)
    }

    /// Reads an instance from its tree.
    pub fn of(root: &Node, sink: &Sink) -> Option<Instance> {
        let mut top = Fields::of(root, "a process instance", sink)?;
        let mut fields = match top.required("instance") {
            Some(node) => Fields::of(node, "the section `instance`", sink)?,
            None => return None,
        };
        top.finish();
        let id = fields.required_text("id");
        instance_id(&id, sink);
        let mut context = fields.map("context", "`context`");
        let (inputs, inputs_place) = inputs(context.as_mut(), fields.place());
        let (approval, run_count) = approval(&mut fields);
        let instance = Instance {
            place: root.place,
            id,
            created: timestamp(&mut fields, "created"),
            created_by: fields.text("created_by"),
            description: fields.required_text("plain_english_description"),
            source: source(&mut fields),
            trigger: context.as_mut().and_then(|context| context.text("trigger")),
            inputs,
            inputs_place,
            parameters: context.as_mut().map(|context| object(context, "parameters")).unwrap_or_default(),
            test_mode: context.as_mut().and_then(|c| c.flag("test_mode")).is_some_and(|flag| flag.value),
            status: status(&mut fields),
            execution_log_id: fields.text("execution_log_id"),
            approval,
            run_count,
            started: timestamp(&mut fields, "started"),
            completed: timestamp(&mut fields, "completed"),
            outcome: fields.json("outcome"),
            continuation: fields.json("continuation"),
        };
        if let Some(context) = context {
            context.finish();
        }
        fields.finish();
        Some(instance)
    }

    /// The inputs as one JSON object.
    pub fn inputs_json(&self) -> Map<String, Json> {
        self.inputs.iter().map(|given| (given.name.value.clone(), given.value.clone())).collect()
    }

    pub fn trust(&self) -> Option<Trust> {
        self.approval.as_ref().and_then(|approval| approval.trust_level).map(|level| level.value)
    }
}

fn instance_id(id: &At<String>, sink: &Sink) {
    if !id.is_empty() && !is_stamped(id, "PINST") {
        let message = format!("`{id}` is not a usual id of an instance");
        sink.push(
            Finding::warning("id", id.place, message).help("ids have the form `PINST-20260118-143052`"),
        );
    }
}

/// True for ids of the form `PREFIX-YYYYMMDD-HHMMSS`.
pub fn is_stamped(id: &str, prefix: &str) -> bool {
    let mut parts = id.split('-');
    let digits = |part: Option<&str>, count: usize| {
        part.is_some_and(|part| part.len() == count && part.bytes().all(|b| b.is_ascii_digit()))
    };
    parts.next() == Some(prefix)
        && digits(parts.next(), 8)
        && digits(parts.next(), 6)
        && parts.next().is_none()
}

/// A point in time; any other text is kept with a warning.
pub(super) fn timestamp(fields: &mut Fields<'_>, name: &'static str) -> Option<At<String>> {
    let text = fields.text(name)?;
    if Utc::parse(&text).is_none() {
        let message = format!("`{text}` is not a point in time");
        let help = "write it as in \"2026-01-18T14:30:52Z\"";
        fields.sink().push(Finding::warning("timestamp", text.place, message).help(help));
    }
    Some(text)
}

fn inputs(context: Option<&mut Fields<'_>>, parent: Place) -> (Vec<Given>, Place) {
    let Some(context) = context else { return (vec![], parent) };
    let Some((key, node)) = context.entry("inputs") else { return (vec![], context.place()) };
    if node.is_null() {
        return (vec![], key.place);
    }
    let Some(entries) = node.as_map() else {
        context.wrong_type("inputs", "a mapping from inputs to their values", node);
        return (vec![], key.place);
    };
    let given = entries
        .iter()
        .map(|(name, node)| Given { name: At::new(name.text.clone(), name.place), value: node.to_json() });
    (given.collect(), key.place)
}

fn object(fields: &mut Fields<'_>, name: &'static str) -> Map<String, Json> {
    match fields.node(name).map(|node| (node, node.to_json())) {
        Some((_, Json::Object(map))) => map,
        Some((node, _)) => {
            fields.wrong_type(name, "a mapping", node);
            Map::new()
        }
        None => Map::new(),
    }
}

/// The status; `PENDING` is an old word for PLANNED, and an instance without one has not begun.
fn status(fields: &mut Fields<'_>) -> At<Status> {
    if let Some(node) = fields.node("status").filter(|node| node.as_str() == Some("PENDING")) {
        return At::new(Status::Planned, node.place);
    }
    let place = fields.place();
    fields.word("status", Severity::Error).unwrap_or(At::new(Status::Planned, place))
}

/// The approval and the run count, which stands beside it or, in older files, inside it (K-94).
fn approval(fields: &mut Fields<'_>) -> (Option<Approval>, u32) {
    let beside = fields.count("run_count");
    let Some(mut inner) = fields.map("approval", "`approval`") else {
        return (None, beside.map_or(0, |count| count.value));
    };
    let inside = inner.count("run_count");
    let approval = Approval {
        place: inner.place(),
        definition_approved: inner.flag("definition_approved").is_some_and(|flag| flag.value),
        approved_by: inner.text("approved_by"),
        approved_at: timestamp(&mut inner, "approved_at"),
        trust_level: inner.word("trust_level", Severity::Error),
        approval_decision_id: inner.text("approval_decision_id"),
        definition_digest: inner.text("definition_digest"),
    };
    inner.finish();
    (Some(approval), beside.or(inside).map_or(0, |count| count.value))
}

/// The source of the definition (PX-10, PX-11, PX-12).
fn source(fields: &mut Fields<'_>) -> Option<Source> {
    fields.required("definition_source")?;
    let mut source = fields.map("definition_source", "`definition_source`")?;
    source.required("type")?;
    let kind = source.word::<SourceType>("type", Severity::Error)?;
    let definition_id = source.text("definition_id");
    let found = match kind.value {
        SourceType::WellKnown => {
            let path = source.required_text("definition_path");
            let usable = !path.trim().is_empty() && stays_inside(&path, source.sink());
            usable.then_some(Source::WellKnown { definition_id, path })
        }
        SourceType::Dynamic => source.required("inline_definition").and_then(|node| {
            let definition = Definition::of(node, Profile::Dynamic, source.sink())?;
            Some(Source::Dynamic { definition: Box::new(definition) })
        }),
    };
    source.ignore(&["definition_path", "inline_definition"]);
    source.finish();
    found
}

/// Paths from documents stay inside the workspace.
fn stays_inside(path: &At<String>, sink: &Sink) -> bool {
    let absolute = path.starts_with(['/', '\\', '~']) || path.get(1..2) == Some(":");
    let climbs = path.split(['/', '\\']).any(|part| part == "..");
    if absolute || climbs {
        let message = format!("the path `{path}` leads out of the workspace");
        sink.push(
            Finding::error("path", path.place, message)
                .help("write it relative to the workspace, without `..`"),
        );
    }
    !absolute && !climbs
}
