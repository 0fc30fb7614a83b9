//! The check of any contract file: recognise it, read it, and say everything that is wrong at once.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use crate::action;
use crate::action::lifecycle::Lifecycle;
use crate::config;
use crate::cycle::Automation;
use crate::cycle::document;
use crate::doc;
use crate::doc::Limits;
use crate::doc::Node;
use crate::doc::Sink;
use crate::finding::Finding;
use crate::finding::Place;
use crate::kind;
use crate::kind::Kind;
use crate::kind::Syntax;
use crate::process::Definition;
use crate::process::Instance;
use crate::process::definition::Profile;
use crate::process::instance::Source;
use crate::process::records;
use crate::process::rules;
use crate::prompt;
use crate::roadmap;

/// What a check has to say about one file.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// What the file is, where that could be told.
    pub kind: Option<Kind>,
    /// Sorted by place.
    pub findings: Vec<Finding>,
    /// The text, for pictures of the places.
    pub text: String,
}

/// What is known around a file.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The ids of the process definitions of the workspace.
    pub processes: BTreeSet<String>,
    /// Documents that belong to the file, by their paths in the workspace.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Tables of the configuration that dialects read themselves.
    pub tables: BTreeSet<String>,
}

/// Checks a file by itself. The kind is detected where it is not given.
pub fn file(name: &str, bytes: &[u8], kind: Option<Kind>) -> Checked {
    file_in(name, bytes, kind, &Surroundings::default())
}

/// Checks a file with what is known around it.
pub fn file_in(name: &str, bytes: &[u8], kind: Option<Kind>, around: &Surroundings) -> Checked {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let syntax = kind.map_or_else(|| Syntax::of_name(name), |kind| syntax_of(kind, name));
    let limits = Limits::default();
    let (kind, mut findings) = if syntax == Syntax::Yaml {
        let (tree, mut findings) = doc::parse(bytes, &limits);
        let kind = kind.or_else(|| kind::detect(name, &text, tree.as_ref()));
        match (kind, &tree) {
            (Some(kind), _) if has_own_reader(kind) => findings = read_findings(kind, name, bytes, &limits),
            (_, Some(tree)) => findings.extend(tree_findings(kind, tree, around)),
            (_, None) => {}
        }
        (kind, findings)
    } else {
        let kind = kind.or_else(|| kind::detect(name, &text, None));
        let findings = match doc::decode(bytes, &limits) {
            Ok(source) => text_findings(name, kind, &source, around),
            Err(finding) => vec![finding],
        };
        (kind, findings)
    };
    doc::sort(&mut findings);
    Checked { kind, findings, text }
}

/// Checks an instance together with its definition: what is said about the instance file, V8 included.
/// The definition's own findings come from checking its file.
pub fn instance_with_definition(bytes: &[u8], definition: &Definition) -> Vec<Finding> {
    let (instance, mut findings) = Instance::parse(bytes);
    if let Some(instance) = instance {
        findings.extend(inline_findings(&instance, &Surroundings::default()));
        if matches!(instance.source, Some(Source::WellKnown { .. })) {
            findings.extend(rules::inputs(definition, &instance));
        }
    }
    doc::sort(&mut findings);
    findings
}

/// The path of the definition that an instance file names, so that a caller can fetch it.
pub fn definition_path(bytes: &[u8]) -> Option<String> {
    match Instance::parse(bytes).0?.source? {
        Source::WellKnown { path, .. } => Some(path.value),
        Source::Dynamic { .. } => None,
    }
}

/// Kinds of Markdown that are written as YAML in some places (an agent map, a schema) are read as what their
/// name says.
fn syntax_of(kind: Kind, name: &str) -> Syntax {
    match (kind.syntax(), Syntax::of_name(name)) {
        (Syntax::Markdown, Syntax::Yaml) if name.contains('.') => Syntax::Yaml,
        (syntax, _) => syntax,
    }
}

fn tree_findings(kind: Option<Kind>, tree: &Node, around: &Surroundings) -> Vec<Finding> {
    let sink = Sink::default();
    let mut more = vec![];
    match kind {
        Some(Kind::ProcessDefinition) => {
            if let Some(definition) = Definition::of(tree, Profile::WellKnown, &sink) {
                more = rules::check(&definition, &around.processes);
            }
        }
        Some(Kind::ProcessInstance) => {
            if let Some(instance) = Instance::of(tree, &sink) {
                more = inline_findings(&instance, around);
            }
        }
        Some(Kind::ExecutionLog) => records::execution_log(tree, &sink),
        Some(Kind::Decision) => records::decision(tree, &sink),
        Some(Kind::Observation) => records::observation(tree, &sink),
        Some(Kind::Lifecycle) => {
            Lifecycle::of(tree, &sink);
        }
        Some(Kind::Automation) => {
            Automation::of(tree, &sink);
        }
        other => more = vec![not_checked(other)],
    }
    let mut findings = sink.into_findings();
    findings.extend(more);
    findings
}

/// The rules for a definition inside an instance, and its inputs.
fn inline_findings(instance: &Instance, around: &Surroundings) -> Vec<Finding> {
    let Some(Source::Dynamic { definition }) = &instance.source else { return vec![] };
    let mut findings = rules::check(definition, &around.processes);
    findings.extend(rules::inputs(definition, instance));
    findings
}

fn text_findings(
    name: &str,
    kind: Option<Kind>,
    source: &doc::Source<'_>,
    around: &Surroundings,
) -> Vec<Finding> {
    match kind {
        Some(Kind::Config) => {
            let tables: Vec<&str> = around.tables.iter().map(String::as_str).collect();
            moved(config::check_with(source.text, &tables), source.skipped)
        }
        Some(Kind::Cycle) => moved(document::check(source.text), source.skipped),
        Some(Kind::AuditLog) => moved(roadmap::audit::check(source.text), source.skipped),
        Some(Kind::Action) => moved(action::check_action(name, source.text), source.skipped),
        Some(Kind::Role) => moved(action::RoleGuide::read(source.text).1, source.skipped),
        Some(Kind::Prompt) => moved(prompt::check_prompt(source.text), source.skipped),
        Some(Kind::Template) => moved(prompt::check_template(name, source.text), source.skipped),
        _ if source.text.trim().is_empty() => {
            vec![Finding::error("empty", Place::TOP, "the file is empty")]
        }
        other => vec![not_checked(other)],
    }
}

/// The documents of a roadmap have readers of their own: JSON among them is held to the rules of JSON, and drift is
/// understood. So have agent maps, whose placeholders are no YAML; a YAML file that is called an action is one of them.
fn has_own_reader(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Step
            | Kind::ExecutionStatus
            | Kind::Roadmap
            | Kind::ExecutionLogTdd
            | Kind::AgentMap
            | Kind::Action
    )
}

fn read_findings(kind: Kind, name: &str, bytes: &[u8], limits: &Limits) -> Vec<Finding> {
    let check = match kind {
        Kind::Roadmap => roadmap::plan::check,
        Kind::ExecutionLogTdd => roadmap::log::check,
        Kind::AgentMap | Kind::Action => action::check_map,
        _ => roadmap::document::check,
    };
    match doc::decode(bytes, limits) {
        Ok(source) => moved(check(name, source.text), source.skipped),
        Err(finding) => vec![finding],
    }
}

/// Findings about a text, with their places in the file that has some bytes before it.
fn moved(mut findings: Vec<Finding>, skipped: usize) -> Vec<Finding> {
    let skipped = u32::try_from(skipped).unwrap_or(0);
    for finding in &mut findings {
        finding.place.start += skipped;
        finding.place.end += skipped;
    }
    findings
}

/// The honest word about a file whose rules are not built in.
fn not_checked(kind: Option<Kind>) -> Finding {
    let message = match kind {
        Some(_) => {
            "this kind of file is recognised but its rules are not built in yet; only its syntax was checked"
        }
        None => "this is no kind of file that is known here; only its syntax was checked",
    };
    let finding = Finding::warning("not-checked", Place::TOP, message);
    match kind {
        Some(_) => finding,
        None => finding.help("name the kind with --kind"),
    }
}
