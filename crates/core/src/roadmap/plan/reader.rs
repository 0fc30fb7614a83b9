//! From the tree of a roadmap to its steps, whatever shape it has.

use super::ExecutionConfig;
use super::Form;
use super::Group;
use super::Roadmap;
use super::Step;
use super::TddPhase;
use super::field;
use super::parts;
use super::review;
use super::rules;
use crate::doc::At;
use crate::doc::Fields;
use crate::doc::Node;
use crate::doc::Sink;
use crate::doc::Value;
use crate::finding::Finding;
use crate::roadmap::source;

/// Fields of roadmaps that say nothing about how a step is carried out.
const HEAD: [&str; 34] = [
    "version",
    "description",
    "total_scenarios",
    "total_phases",
    "total_steps",
    "total_estimated_hours",
    "estimated_steps",
    "estimated_files",
    "summary",
    "next_steps",
    "revision_history",
    "metadata",
    "status",
    "complexity",
    "paradigm",
    "quality_gates",
    "baseline",
    "baseline_measurement",
    "migration_strategy",
    "implementation_scope",
    "risks",
    "risk_mitigation",
    "success_criteria",
    "dependencies",
    "notes",
    "author",
    "updated_at",
    "updated",
    "goal",
    "objective",
    "constraints",
    "references",
    "acceptance_tests",
    "critical_path",
];

const GROUP: [&str; 10] = [
    "description",
    "objective",
    "purpose",
    "outcomes",
    "estimated_hours",
    "status",
    "notes",
    "goal",
    "rationale",
    "validation",
];

/// Fields of steps that are known and of no use to the agent.
pub(super) const STEP: [&str; 2] = ["phase", "phase_id"];

/// The header that wraps a roadmap, or only counts it.
fn header(root: &Node) -> Option<&Node> {
    root.get("roadmap").filter(|node| node.as_map().is_some())
}

/// A collection of entries under a key, at the top or in the header.
fn collection<'n>(root: &'n Node, key: &str) -> Option<&'n Node> {
    let filled = |node: &&Node| node.as_seq().is_some() || node.as_map().is_some();
    root.get(key).filter(filled).or_else(|| header(root)?.get(key).filter(filled))
}

/// The entries of a list, or of a mapping from id to entry.
pub(super) fn entries(node: &Node) -> Vec<(Option<At<String>>, &Node)> {
    match &node.value {
        Value::Seq(items) => items.iter().map(|item| (None, item)).collect(),
        Value::Map(map) => {
            map.iter().map(|(key, node)| (Some(At::new(key.text.clone(), key.place)), node)).collect()
        }
        _ => vec![],
    }
}

/// The nodes of all steps.
pub(super) fn step_nodes(root: &Node) -> Vec<&Node> {
    let flat = collection(root, "steps").into_iter().flat_map(entries);
    let groups = collection(root, "phases").into_iter().flat_map(entries);
    let grouped = groups.filter_map(|(_, group)| group.get("steps")).flat_map(entries);
    flat.chain(grouped).map(|(_, node)| node).collect()
}

/// Reads a mapping. Everything that is wrong with the fields by themselves is in the findings.
pub(super) fn read(path: &str, root: &Node) -> (Roadmap, Vec<Finding>) {
    let sink = Sink::default();
    let head = header(root);
    let form = match head {
        Some(head)
            if head.get("total_steps").is_some() || head.get("phases").and_then(Node::as_int).is_some() =>
        {
            Form::Official
        }
        _ => Form::Free,
    };
    let mut roadmap = Roadmap {
        path: path.to_owned(),
        project_id: String::new(),
        form,
        schema_version: None,
        created_at: None,
        methodology: None,
        tdd_phases: vec![],
        execution_config: ExecutionConfig::default(),
        groups: vec![],
        steps: vec![],
        reviews: vec![],
        validation: None,
        source_directories: vec![],
        tokens: 0,
        needs: vec![],
    };
    for (node, what) in [(Some(root), "a roadmap"), (head, "the header `roadmap`")] {
        if let Some(fields) = node.and_then(|node| Fields::of(node, what, &sink)) {
            head_fields(fields, &mut roadmap);
        }
    }
    if roadmap.project_id.is_empty() {
        let metadata = root.get("metadata").and_then(|node| source::first_text(node, &field::PROJECT));
        roadmap.project_id = metadata.unwrap_or_default();
    }
    let mut reader = Reader { roadmap, sink: &sink };
    reader.groups(root);
    let roadmap = reader.roadmap;
    (roadmap, sink.into_findings())
}

/// What stands at the head of the file; fields at the top win over those in the header.
fn head_fields(mut fields: Fields<'_>, roadmap: &mut Roadmap) {
    let value = |text: Option<At<String>>| text.map(|text| text.value);
    let project = value(field::text(&mut fields, &field::PROJECT)).unwrap_or_default();
    if roadmap.project_id.is_empty() {
        roadmap.project_id = project;
    }
    let created = value(field::text(&mut fields, &field::CREATED));
    roadmap.created_at = roadmap.created_at.take().or(created);
    let version = value(field::text(&mut fields, &["schema_version"]));
    roadmap.schema_version = roadmap.schema_version.take().or(version);
    let methodology = value(field::text(&mut fields, &["methodology"]));
    roadmap.methodology = roadmap.methodology.take().or(methodology);
    if let Some(node) = fields.node("tdd_phases") {
        roadmap.tdd_phases = tdd_phases(node, &fields);
    }
    if let Some(config) = fields.map("execution_config", "`execution_config`") {
        roadmap.execution_config = execution_config(config);
    }
    if let Some(given) = fields.json("execution_config") {
        roadmap.execution_config.given = Some(given);
    }
    if let Some(node) = fields.node("reviews") {
        roadmap.reviews.extend(review::reviews(node));
    }
    if let Some(node) = fields.node("validation") {
        let status = node.get("status").unwrap_or(node);
        roadmap.validation = status.scalar_text().map(|text| At::new(text, status.place));
    }
    if let Some(scope) = fields.node("implementation_scope") {
        roadmap.source_directories =
            source::texts(source::first(scope, &["source_directories", "directories"]));
    }
    fields.ignore(&["roadmap", "phases", "steps"]);
    fields.ignore(&HEAD);
    fields.finish();
}

fn tdd_phases(node: &Node, fields: &Fields<'_>) -> Vec<TddPhase> {
    let Some(items) = node.as_seq() else {
        fields.wrong_type("tdd_phases", "a list of phases", node);
        return vec![];
    };
    let mut found = vec![];
    for item in items {
        let name =
            item.as_str().map(str::to_owned).or_else(|| source::first_text(item, &["name", "phase_name"]));
        match name {
            Some(name) => {
                found.push(TddPhase { name, description: source::first_text(item, &["description"]) });
            }
            None => fields.wrong_type("tdd_phases", "a list of phases with names", item),
        }
    }
    found
}

fn execution_config(mut fields: Fields<'_>) -> ExecutionConfig {
    let count = |count: Option<At<u32>>| count.map(|count| count.value);
    let max_turns_per_phase = count(fields.count("max_turns_per_phase"));
    let timeout_budget_minutes = count(fields.count("timeout_budget_minutes"));
    let mut timeout_thresholds = vec![];
    for node in fields.list("timeout_thresholds") {
        match node.as_int().and_then(|number| u32::try_from(number).ok()) {
            Some(number) => timeout_thresholds.push(number),
            None => fields.wrong_type("timeout_thresholds", "a list of whole numbers", node),
        }
    }
    ExecutionConfig { max_turns_per_phase, timeout_thresholds, timeout_budget_minutes, given: None }
}

struct Reader<'s> {
    roadmap: Roadmap,
    sink: &'s Sink,
}

impl Reader<'_> {
    fn groups(&mut self, root: &Node) {
        let groups = collection(root, "phases");
        let flat = collection(root, "steps");
        for (key, node) in groups.into_iter().flat_map(entries) {
            self.group(key, node);
        }
        for (key, node) in flat.into_iter().flat_map(entries) {
            let of_group = source::first(node, &["phase_id", "phase"]).and_then(field::id);
            let group = of_group.and_then(|id| self.roadmap.groups.iter().position(|g| g.id == *id));
            self.step(key, node, group);
        }
        if groups.is_none() && flat.is_none() {
            self.sink.push(rules::missing(root.place, "a roadmap", "phases"));
        } else if self.roadmap.steps.is_empty() {
            let place = groups.or(flat).map_or(root.place, |node| node.place);
            self.sink.push(Finding::warning("empty", place, "the roadmap has no steps"));
        }
    }

    fn group(&mut self, key: Option<At<String>>, node: &Node) {
        let Some(mut fields) = Fields::of(node, "a phase of the roadmap", self.sink) else { return };
        let said = field::first(&mut fields, &field::GROUP_ID).and_then(|(_, node)| field::id(node));
        let id = said.or(key).unwrap_or_else(|| At::new(String::new(), node.place));
        let name = field::text(&mut fields, &field::NAME);
        let default_agent = field::text(&mut fields, &["default_agent", "suggested_agent", "agent"]);
        let strategy = field::text(&mut fields, &["default_deps_strategy"]);
        let sequential = strategy.as_ref().is_some_and(|word| word.eq_ignore_ascii_case("sequential"));
        if let Some(word) = strategy.filter(|word| !sequential && !word.eq_ignore_ascii_case("parallel")) {
            let message = format!("`{word}` is not a strategy for dependencies");
            self.sink.push(
                Finding::warning("unknown-value", word.place, message)
                    .help("write `sequential` or `parallel`"),
            );
        }
        let (depends_on, _) = field::ids(&mut fields, &field::NEEDS);
        let steps = fields.node("steps");
        fields.ignore(&GROUP);
        fields.finish();
        let index = self.roadmap.groups.len();
        self.roadmap.groups.push(Group {
            id: id.value,
            name: name.map(|name| name.value).unwrap_or_default(),
            default_agent: default_agent.map(|agent| agent.value),
            sequential,
            depends_on,
            place: id.place,
        });
        match steps {
            Some(steps) => {
                for (key, node) in entries(steps) {
                    self.step(key, node, Some(index));
                }
            }
            None => {
                let finding = rules::missing(node.place, "a phase of the roadmap", "steps");
                self.sink.push(rules::of_form(finding, self.roadmap.form));
            }
        }
    }

    fn step(&mut self, key: Option<At<String>>, node: &Node, group: Option<usize>) {
        let Some(mut fields) = Fields::of(node, "a step", self.sink) else { return };
        let id = self.step_id(&mut fields, key, group);
        let name = field::text(&mut fields, &field::NAME);
        let description = field::prose(&mut fields, &["description"]);
        let criteria = parts::criteria(&mut fields);
        let agent = field::text(&mut fields, &field::AGENT).map(|agent| agent.value);
        let default_agent = group.and_then(|group| self.roadmap.groups.get(group)?.default_agent.clone());
        let step_type = field::text(&mut fields, &field::KIND).map(|kind| kind.value);
        let (dependencies, says_needs) = field::ids(&mut fields, &field::NEEDS);
        let test_file = field::text(&mut fields, &["test_file"]).map(|file| file.value);
        let scenario_line =
            field::number(&mut fields, &["scenario_line"]).and_then(|line| parts::whole(&line, self.sink));
        let scenario = field::text(&mut fields, &field::SCENARIO).map(|name| name.value);
        let estimated_hours = field::number(&mut fields, &field::HOURS).map(|hours| hours.value);
        let mut files = parts::files(&mut fields);
        if let Some(notes) = fields.node("implementation_notes").filter(|notes| notes.as_map().is_some()) {
            parts::files_in_notes(notes, &mut files);
        }
        let notes = field::prose(&mut fields, &field::NOTES);
        let quality_gates = parts::quality_gates(&mut fields);
        let skipped = parts::skipped(&mut fields);
        let reviews = fields.node("reviews").map(review::reviews).unwrap_or_default();
        fields.ignore(&STEP);
        let known = self.roadmap.steps.iter().find(|known| known.id == id.value);
        if let Some(known) = known.filter(|_| !id.is_empty()) {
            self.sink.push(rules::duplicate(&id, known.place));
        }
        let further = parts::further(node);
        fields.finish();
        if known.is_some() && !id.is_empty() {
            return;
        }
        self.roadmap.steps.push(Step {
            place: id.place,
            id: id.value,
            name: name.map(|name| name.value).unwrap_or_default(),
            description,
            criteria,
            agent: agent.or(default_agent).map(|agent| agent.trim_start_matches('@').to_owned()),
            step_type,
            dependencies,
            test_file,
            scenario_line,
            scenario,
            estimated_hours,
            files,
            quality_gates,
            notes,
            skipped,
            reviews,
            further,
            group,
            says_needs,
        });
    }

    /// The id that a step says, or that of its key. A bare number counts within its group: `01-02`.
    fn step_id(&self, fields: &mut Fields<'_>, key: Option<At<String>>, group: Option<usize>) -> At<String> {
        let place = fields.place();
        let said = field::first(fields, &field::STEP_ID);
        let id = said.and_then(|(_, node)| field::id(node)).or(key);
        let numbered = said.is_some_and(|(name, _)| name == "number");
        let group = group.and_then(|group| self.roadmap.groups.get(group));
        match (id, group) {
            (Some(id), Some(group)) if numbered => At::new(format!("{}-{}", group.id, id.value), id.place),
            (Some(id), _) => id,
            (None, _) => {
                self.sink.push(rules::missing(place, "a step", "step_id"));
                At::new(String::new(), place)
            }
        }
    }
}
