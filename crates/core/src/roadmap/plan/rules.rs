//! The rules about the form of a roadmap, under the names that its authors know them by.

use std::collections::BTreeSet;

use super::AGENTS;
use super::Form;
use super::Group;
use super::Roadmap;
use super::Step;
use super::field;
use crate::closest::closest;
use crate::doc::At;
use crate::doc::Node;
use crate::finding::Finding;
use crate::finding::Place;
use crate::finding::Severity;
use crate::roadmap::source;

const CRITERIA_MAX: usize = 5;
const CRITERION_WORDS_MAX: usize = 30;
const NAME_WORDS_MAX: usize = 10;
const DESCRIPTION_WORDS_MAX: usize = 50;
/// More steps than this for each production file is a plan cut too fine.
const STEPS_PER_FILE_MAX: f64 = 2.5;

/// A field that has to be there.
pub(super) fn missing(place: Place, what: &str, name: &str) -> Finding {
    Finding::error("MISSING_REQUIRED_FIELD", place, format!("{what} needs the field `{name}`"))
        .help(format!("add `{name}:` here"))
}

/// A rule about the form: an error in the official form, a warning elsewhere.
pub(super) fn of_form(finding: Finding, form: Form) -> Finding {
    let severity = if form == Form::Official { finding.severity } else { Severity::Warning };
    Finding { severity, ..finding }
}

pub(super) fn duplicate(id: &At<String>, known: Place) -> Finding {
    let message = format!("the step id `{id}` is there twice; the first one is at line {}", known.line);
    Finding::error("DUPLICATE_STEP_ID", id.place, message).help("give one of them another id")
}

pub(super) fn legacy_criteria(name: &str, place: Place) -> Finding {
    let message =
        format!("`{name}` is one text; it is read as a list, one criterion for each line or semicolon");
    Finding::warning("LEGACY_CRITERIA_STRING", place, message).help("write the criteria as a list")
}

/// Checks what was read against the rules. `agents` are those of the project itself.
pub(super) fn check(roadmap: &Roadmap, root: &Node, agents: &[String]) -> Vec<Finding> {
    let mut findings = vec![];
    head(roadmap, root, &mut findings);
    for group in &roadmap.groups {
        group_form(roadmap, group, &mut findings);
    }
    let known: Vec<&str> = AGENTS.into_iter().chain(agents.iter().map(String::as_str)).collect();
    for step in &roadmap.steps {
        step_form(roadmap, step, &mut findings);
        lengths(step, &mut findings);
        findings.extend(unknown_agent(step, &known));
    }
    findings.extend(ratio(roadmap, root.place));
    findings
}

/// The header, and what it counts.
fn head(roadmap: &Roadmap, root: &Node, findings: &mut Vec<Finding>) {
    let header = root.get("roadmap").filter(|node| node.as_map().is_some());
    let place = header.map_or(root.place, |node| node.place);
    if roadmap.project_id.is_empty() {
        findings.push(missing(place, "a roadmap", "project_id"));
    }
    let counted = |names: &[&str]| {
        let holders = [header, Some(root)];
        holders
            .into_iter()
            .flatten()
            .find_map(|node| source::first(node, names).filter(|n| n.as_int().is_some()))
    };
    let (steps, phases) = (counted(&["total_steps"]), counted(&["phases", "total_phases"]));
    if roadmap.form == Form::Official {
        let absent = [
            (roadmap.created_at.is_none(), "created_at"),
            (steps.is_none(), "total_steps"),
            (phases.is_none(), "phases"),
        ];
        findings.extend(
            absent.iter().filter(|(gone, _)| *gone).map(|(_, name)| missing(place, "`roadmap`", name)),
        );
        findings.extend(scope(roadmap, root));
    }
    let mut compare = |node: Option<&Node>, rule: &str, what: &str, there: usize| {
        let Some(node) = node else { return };
        let said = node.as_int().unwrap_or_default();
        if usize::try_from(said) != Ok(there) {
            let message = format!("the roadmap says {said} {what}, but it has {there}");
            findings.push(Finding::error(rule, node.place, message).help(format!("write {there}")));
        }
    };
    compare(steps, "TOTAL_STEPS_MISMATCH", "steps", roadmap.steps.len());
    if !roadmap.groups.is_empty() {
        compare(phases, "PHASES_COUNT_MISMATCH", "phases", roadmap.groups.len());
    }
}

/// Where the sources are; later checks of the whole take their scope from there.
fn scope(roadmap: &Roadmap, root: &Node) -> Option<Finding> {
    let node = source::first(root, &["implementation_scope"])
        .or_else(|| root.get("roadmap").and_then(|node| node.get("implementation_scope")));
    let help = "name the folders of the production code under `implementation_scope.source_directories`";
    match node {
        None => {
            let message = "the roadmap has no `implementation_scope`";
            Some(Finding::warning("MISSING_IMPLEMENTATION_SCOPE", root.place, message).help(help))
        }
        Some(node) if roadmap.source_directories.is_empty() => {
            let message = "`implementation_scope` has no `source_directories`";
            Some(Finding::warning("MISSING_SOURCE_DIRECTORIES", node.place, message).help(help))
        }
        Some(_) => None,
    }
}

fn group_form(roadmap: &Roadmap, group: &Group, findings: &mut Vec<Finding>) {
    let mut say = |finding: Finding| findings.push(of_form(finding, roadmap.form));
    let what = "a phase of the roadmap";
    if group.id.is_empty() {
        say(missing(group.place, what, "id"));
    } else if !is_group_id(&group.id) {
        let message = format!("the phase id `{}` is not two digits", group.id);
        say(Finding::error("INVALID_PHASE_ID", group.place, message).help("write it as `01`"));
    }
    if group.name.is_empty() {
        say(missing(group.place, what, "name"));
    }
}

fn step_form(roadmap: &Roadmap, step: &Step, findings: &mut Vec<Finding>) {
    if step.name.is_empty() {
        findings.push(missing(step.place, &of(step), "name"));
    }
    if step.criteria.is_empty() {
        findings.push(missing(step.place, &of(step), field::CRITERIA[0]));
    }
    if step.id.is_empty() {
        return;
    }
    let head = step.id.get(..5).filter(|head| is_step_id(head));
    let suffixed = head.is_some() && step.id.get(5..6) == Some("-") && step.id.len() > 6;
    if !is_step_id(&step.id) {
        let message = format!("the step id `{}` is not two digits, a hyphen and two digits", step.id);
        let finding = Finding::error("INVALID_STEP_ID", step.place, message).help("write it as `01-01`");
        // A variant such as `01-01-light` is in use, and an id that is in the roadmap is valid (K-102).
        let form = if suffixed { Form::Free } else { roadmap.form };
        findings.push(of_form(finding, form));
    }
    let group = roadmap.group(step).filter(|group| is_group_id(&group.id));
    if let (Some(head), Some(group)) = (head, group)
        && head.get(..2) != Some(group.id.as_str())
    {
        let message = format!("step `{}` stands in phase `{}`", step.id, group.id);
        let finding = Finding::error("STEP_PHASE_MISMATCH", step.place, message)
            .help("the first two digits of a step's id are those of its phase");
        findings.push(of_form(finding, roadmap.form));
    }
}

fn of(step: &Step) -> String {
    if step.id.is_empty() { "a step".to_owned() } else { format!("step `{}`", step.id) }
}

fn is_group_id(id: &str) -> bool {
    id.len() == 2 && id.bytes().all(|byte| byte.is_ascii_digit())
}

/// Two digits, a hyphen, two digits (DW-29).
pub(crate) fn is_step_id(id: &str) -> bool {
    id.split_once('-').is_some_and(|(phase, step)| is_group_id(phase) && is_group_id(step))
}

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

fn lengths(step: &Step, findings: &mut Vec<Finding>) {
    let mut say = |rule: &str, message: String| findings.push(Finding::warning(rule, step.place, message));
    let id = of(step);
    let name = words(&step.name);
    if name > NAME_WORDS_MAX {
        say("STEP_NAME_TOO_LONG", format!("the name of {id} has {name} words; {NAME_WORDS_MAX} are enough"));
    }
    let description = step.description.as_deref().map_or(0, words);
    if description > DESCRIPTION_WORDS_MAX {
        let message =
            format!("the description of {id} has {description} words; {DESCRIPTION_WORDS_MAX} are enough");
        say("DESCRIPTION_TOO_LONG", message);
    }
    let count = step.criteria.len();
    if count > CRITERIA_MAX {
        let message = format!("{id} has {count} criteria; with more than {CRITERIA_MAX} it is several steps");
        say("TOO_MANY_CRITERIA", message);
    }
    for criterion in step.criteria.iter().filter(|criterion| words(criterion) > CRITERION_WORDS_MAX) {
        let message =
            format!("a criterion of {id} has {} words; {CRITERION_WORDS_MAX} are enough", words(criterion));
        say("CRITERIA_TOO_LONG", message);
    }
}

fn unknown_agent(step: &Step, known: &[&str]) -> Option<Finding> {
    let agent = step.agent.as_deref()?;
    if known.contains(&agent) {
        return None;
    }
    let help = match closest(agent, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("known are {}", known.join(", ")),
    };
    let message = format!("{} names the agent `{agent}`, which is not known here", of(step));
    Some(Finding::warning("UNKNOWN_AGENT", step.place, message).help(help))
}

/// Steps for each production file, counting the steps that name such files at all.
fn ratio(roadmap: &Roadmap, place: Place) -> Option<Finding> {
    let is_production = |file: &&String| !file.split('/').any(|part| part.starts_with("test"));
    let mut steps = 0_u32;
    let mut files: BTreeSet<&String> = BTreeSet::new();
    for step in &roadmap.steps {
        let lists = [&step.files.to_modify, &step.files.to_create];
        let named: Vec<&String> = lists.into_iter().flatten().flatten().filter(is_production).collect();
        steps += u32::from(!named.is_empty());
        files.extend(named);
    }
    let count = u32::try_from(files.len()).unwrap_or(u32::MAX);
    let ratio = f64::from(steps) / f64::from(count);
    if count == 0 || ratio <= STEPS_PER_FILE_MAX {
        return None;
    }
    let message = format!(
        "{steps} steps for {count} production files is {ratio:.1} steps for each; \
         more than {STEPS_PER_FILE_MAX} is cut too fine"
    );
    Some(Finding::warning("DECOMPOSITION_RATIO", place, message))
}
