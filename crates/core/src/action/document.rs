//! An action's own file, `agents/actions/<action>.md` (OC-06, OC-109): prose for people, and front matter that may wire
//! the action by itself.

mod drawing;
#[cfg(test)]
mod tests;

use super::inputs::Input;
use super::map::Wiring;
use super::markdown;
use super::markdown::Heading;
use super::placeholders;
use crate::doc;
use crate::doc::At;
use crate::doc::Sink;
use crate::finding::Finding;
use crate::finding::Place;

/// What an action file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActionFile {
    /// The name by which it is called: that of its file.
    pub name: String,
    pub title: String,
    /// The first paragraph under `## User Intent`.
    pub intent: String,
    /// The drawing under `## Agent Flow`.
    pub flow: String,
    pub prerequisites: Vec<String>,
    /// The paths under `## Output Contract`.
    pub outputs: Vec<String>,
    /// The steps in their order, by their headings.
    pub steps: Vec<StepHeading>,
    /// What has to hold in the end, point by point.
    pub validation: Vec<String>,
    /// The wiring in its front matter.
    pub wiring: Option<Wiring>,
}

/// `### Step 1.75: Review`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepHeading {
    pub number: String,
    pub title: String,
    pub line: u32,
}

impl ActionFile {
    /// Reads a file as far as it can be read, and says everything that is wrong with it.
    pub fn read(path: &str, text: &str) -> (ActionFile, Vec<Finding>) {
        let mut findings = vec![];
        let name = name_of(path);
        let body = doc::front_matter(text).map_or(0, |(_, body)| body);
        let wiring = front_matter(&name, text, &mut findings);
        // What is before the body is blanked, so that every line keeps its number.
        let blanked: String = text
            .char_indices()
            .map(|(at, c)| if at < body && !matches!(c, '\n' | '\r') { ' ' } else { c })
            .collect();
        let headings = markdown::headings(&blanked);
        let section = |names: &[&str]| names.iter().find_map(|name| markdown::section(&blanked, name));
        let list = |names: &[&str]| -> Vec<String> {
            let bullets = section(names).map(|section| markdown::bullets(section.body)).unwrap_or_default();
            bullets.into_iter().map(str::to_owned).collect()
        };
        let file = ActionFile {
            title: title(&headings).unwrap_or_else(|| name.clone()),
            intent: section(&["User Intent", "Intent", "Purpose"])
                .map(|section| markdown::paragraph(section.body))
                .unwrap_or_default(),
            flow: section(&["Agent Flow", "Flow"])
                .map(|section| section.body.trim().to_owned())
                .unwrap_or_default(),
            prerequisites: list(&["Prerequisites", "Required Inputs", "Inputs"]),
            outputs: section(&["Output Contract"]).map(|section| promised(section.body)).unwrap_or_default(),
            steps: headings.iter().filter_map(step_heading).collect(),
            validation: list(&["Validation Criteria", "Validation", "Completion Criteria"]),
            wiring,
            name,
        };
        check(&file, text, &headings, &mut findings);
        doc::sort(&mut findings);
        (file, findings)
    }

    /// What the drawing says, where it can be read as a plan.
    pub fn drawn(&self) -> Option<Wiring> {
        let prerequisites =
            self.prerequisites.iter().map(|words| At::new(words.clone(), Place::TOP)).collect();
        Some(Wiring { prerequisites, ..drawing::read(&self.name, &self.flow)? })
    }
}

/// The name of an action is that of its file.
fn name_of(path: &str) -> String {
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    file.split_once('.').map_or(file, |(stem, _)| stem).to_owned()
}

/// The paths of an output contract: those in code spans, and entries that are nothing but a path.
fn promised(body: &str) -> Vec<String> {
    let spans = body.split('`').skip(1).step_by(2);
    let bare = markdown::bullets(body).into_iter().filter(|entry| !entry.contains([' ', '`']));
    let mut paths: Vec<String> = vec![];
    for path in spans.chain(bare).filter_map(Input::path_in) {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

fn front_matter(name: &str, text: &str, findings: &mut Vec<Finding>) -> Option<Wiring> {
    findings.extend(doc::unclosed_front_matter(text));
    let (yaml, _) = doc::front_matter(text)?;
    // The line of hyphens is left where it is: it begins a YAML document, and keeps all places.
    let (root, more) = placeholders::parse(text.get(..yaml.end)?);
    findings.extend(more);
    let sink = Sink::default();
    if let Some(root) = root.as_ref().filter(|root| !root.is_null() && root.as_map().is_none()) {
        let message = format!("front matter must be a mapping, but this is {}", root.in_words());
        sink.push(Finding::error("type", root.place, message).help("write it as `name: value`"));
    }
    let wiring = root.as_ref().and_then(|root| Wiring::of_front_matter(root, name, &sink));
    findings.extend(sink.into_findings());
    wiring
}

fn title(headings: &[Heading<'_>]) -> Option<String> {
    let first = headings.iter().find(|heading| heading.level == 1)?;
    let words = first.title.strip_prefix("Action:").unwrap_or(first.title).trim();
    (!words.is_empty()).then(|| words.to_owned())
}

fn step_heading(heading: &Heading<'_>) -> Option<StepHeading> {
    let rest = heading.title.strip_prefix("Step ").filter(|_| heading.level >= 2)?;
    let (number, title) = rest.split_once([':', '-', '—']).unwrap_or((rest, ""));
    let number = number.trim();
    let digits = !number.is_empty() && number.chars().all(|c| c.is_ascii_alphanumeric() || c == '.');
    digits.then(|| StepHeading {
        number: number.to_owned(),
        title: title.trim().to_owned(),
        line: heading.line.number,
    })
}

fn check(file: &ActionFile, text: &str, headings: &[Heading<'_>], findings: &mut Vec<Finding>) {
    if text.trim().is_empty() {
        findings.push(Finding::error("empty", Place::TOP, "the file is empty"));
        return;
    }
    let first = headings.iter().find(|heading| heading.level == 1);
    match first {
        Some(first) if first.title.starts_with("Action:") => {}
        Some(first) => findings.push(
            Finding::warning("action-title", first.line.place(), "the title does not begin with `Action:`")
                .help(format!("write `# Action: {}`", first.title)),
        ),
        None => findings.push(
            Finding::error("action-title", Place::TOP, "an action file needs a title")
                .help("begin it with `# Action: <name>`"),
        ),
    }
    let place = first.map_or(Place::TOP, |first| first.line.place());
    if file.intent.is_empty() {
        findings.push(
            Finding::warning("missing-section", place, "the section `User Intent` is missing or empty")
                .help("say what a person wants who asks for this action; intents are compared with it"),
        );
    }
    if file.flow.is_empty() && file.wiring.is_none() {
        findings.push(
            Finding::warning("missing-section", place, "the section `Agent Flow` is missing or empty")
                .help("draw who works after whom: `Architect → (Backend Developer + Frontend Developer)`"),
        );
    }
    step_order(file, findings);
}

/// Steps are carried out in the order in which they are numbered (OC-11), so the two must agree.
fn step_order(file: &ActionFile, findings: &mut Vec<Finding>) {
    let value = |step: &StepHeading| step.number.parse::<f64>().ok();
    for pair in file.steps.windows(2) {
        let [before, step] = pair else { continue };
        if let (Some(one), Some(other)) = (value(before), value(step))
            && other <= one
        {
            let place = Place { line: step.line, ..Place::TOP };
            let message = format!("step {} stands behind step {}", step.number, before.number);
            findings
                .push(Finding::warning("step-order", place, message).help("number the steps in their order"));
        }
    }
}
