//! What makes a prompt unfit for an agent that knows nothing but the prompt (DW-10 to DW-13).
//!
//! What comes from the roadmap or from a gate is quoted and not judged: a step may well be about prompts and speak of
//! placeholders or of old paths.

use std::sync::LazyLock;

use regex::Regex;

use super::FEEDBACK_TITLE;
use crate::finding::Finding;
use crate::finding::Place;
use crate::prompt::outline;
use crate::prompt::outline::Line;

/// The title of the context, without the warning behind it; and as templates write it.
const CONTEXT: [&str; 2] = ["TASK CONTEXT", "TASK_CONTEXT"];

/// The title of the state, without the name of the file.
const STATE: &str = "STATE TRACKING";

/// Where a line stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Words of the one who sends the prompt.
    Own,
    /// What the roadmap says.
    Context,
    /// Where the state is kept, whatever file that is.
    State,
    /// What gates printed.
    Feedback,
}

/// Words by which a prompt leans on something that its agent never saw.
const CONVERSATION_WORDS: [&str; 10] = [
    r"(?:as|like|what) (?:we|i)(?: have|'ve)?(?: just| already| previously)? (?:discussed|talked about)",
    r"(?:as|like|what) (?:we|i)(?: have|'ve)?(?: just| already| previously)? (?:agreed|mentioned|said|decided)",
    r"as you (?:said|mentioned|agreed|(?:already )?know)",
    r"as (?:(?:previously|already|just) )?(?:discussed|agreed)",
    r"as mentioned (?:earlier|before|previously)",
    r"(?:earlier|previous|prior|our|last) (?:conversation|discussion|chat)",
    r"(?:our|the) (?:last|previous|earlier) session",
    r"(?:remember|recall) (?:that|what|how|when) we",
    r"where we left off",
    r"like last time",
];

static CONVERSATION: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(&format!(r"(?i)\b(?:{})\b", CONVERSATION_WORDS.join("|"))));

/// The path of a step in a file of its own.
static OLD_PATH: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"(?:^|[\s/\x22'`(=])steps/[\w.-]+\.json\b"));

/// The fields of a context, and the names that prompts are addressed with.
static PLACEHOLDER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let names = "agent[-_]name|project[-_]id|step[-_]id|task_context|name|description|acceptance_criteria|test_file|\
                 scenario_line|acceptance_test_scenario|quality_gates|deliverables|implementation_notes|dependencies|\
                 estimated_hours|suggested_agent|tdd_phases|execution_config";
    pattern(&format!(
        r"\{{(?:(?:{names})(?:\[[^\]{{}}]*\])?|format_\w+\([^{{}}]*\)|task_context[\[.][^{{}}]*)\}}"
    ))
});

/// A pattern of this file; tests see to it that each of them is one, by what it finds.
fn pattern(text: &str) -> Option<Regex> {
    Regex::new(text).ok()
}

/// Everything that makes a prompt unfit. A prompt that [`super::render`] made has no such fault.
pub fn check(prompt: &str) -> Vec<Finding> {
    let mut findings = vec![];
    let mut part = Part::Own;
    let mut context: Option<bool> = None;
    for line in outline::lines(prompt) {
        if let Some(next) = part_of(&line, part) {
            part = next;
            if part == Part::Context {
                context.get_or_insert(false);
            }
            continue;
        }
        if part == Part::Context && !line.text.trim().is_empty() {
            context = Some(true);
        }
        findings.extend(faults(&line, part));
    }
    if context != Some(true) {
        let message = match context {
            None => {
                "the prompt does not carry the context of its step, so that its agent would have to load the roadmap"
            }
            Some(_) => "the context of the step is empty",
        };
        let help = "take the context out of the roadmap and put it under `## TASK CONTEXT`";
        findings.insert(0, Finding::error("no-context", Place::TOP, message).help(help));
    }
    findings
}

/// The part that begins with this line.
fn part_of(line: &Line<'_>, now: Part) -> Option<Part> {
    // A fence that a value left open must not swallow the titles behind it, so fences are not looked at; no value
    // of a rendered prompt has a line that begins like a title.
    if line.text == FEEDBACK_TITLE {
        return Some(Part::Feedback);
    }
    let signs = line.text.bytes().take_while(|byte| *byte == b'#').count();
    let words = line.text.get(signs..)?.strip_prefix(' ').filter(|_| (1..=3).contains(&signs))?;
    match () {
        () if now == Part::Feedback => None,
        () if CONTEXT.iter().any(|title| words.starts_with(title)) => Some(Part::Context),
        () if words.starts_with(STATE) => Some(Part::State),
        // What follows the context is from the roadmap, too: its phases and its configuration.
        () if now == Part::Context => None,
        () => Some(Part::Own),
    }
}

fn faults(line: &Line<'_>, part: Part) -> Vec<Finding> {
    let found = |pattern: &Option<Regex>| {
        pattern
            .as_ref()
            .and_then(|pattern| pattern.find(line.text))
            .map(|found| found.as_str().trim().to_owned())
    };
    let mut faults = vec![];
    if part == Part::Own
        && let Some(words) = found(&CONVERSATION)
    {
        let message =
            format!("the prompt refers to an earlier conversation (`{words}`), which its agent never saw");
        let help = "write out what was said";
        faults.push(Finding::error("conversation", line.place(), message).help(help));
    }
    if part == Part::Own
        && let Some(path) = found(&OLD_PATH)
    {
        let path = path.trim_start_matches(['/', '"', '\'', '`', '(', '=']);
        let message =
            format!("`{path}` is the old path of a step; steps have no files of their own any more");
        let help = "name the project and the step: `seriatim run step @AGENT PROJECT STEP`";
        faults.push(Finding::error("old-step-path", line.place(), message).help(help));
    }
    let open = match part {
        Part::Own | Part::State => found(&PLACEHOLDER),
        // In the context a placeholder is one that nobody filled only where it stands for a whole value.
        Part::Context => {
            found(&PLACEHOLDER).filter(|placeholder| value_of(line.text) == placeholder.as_str())
        }
        Part::Feedback => None,
    };
    if let Some(placeholder) = open {
        let message = format!("the placeholder `{placeholder}` was never filled");
        faults.push(Finding::error("placeholder", line.place(), message).help("put the value in its place"));
    }
    faults
}

/// What stands behind the label of a field: `{name}` in `**Name**: {name}`.
fn value_of(line: &str) -> &str {
    let line = line.trim();
    let labelled = line.strip_prefix("**").and_then(|rest| rest.split_once("**")).map(|(_, rest)| rest);
    labelled.and_then(|rest| rest.split_once(':')).map_or(line, |(_, value)| value.trim())
}
