//! The rules of the validator, one function each.

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::collections::BTreeSet;

use super::budget;
use super::origin::Marker;
use super::origin::Reading;
use super::outline::Section;
use super::outline::is_word;
use super::outline::says_something;
use super::placeholder::Piece;
use super::placeholder::pieces;
use super::placeholder::placeholders;
use super::sections::CONTEXT;
use super::sections::METADATA;
use super::sections::PHASES;
use super::sections::TIMEOUT;
use super::template::PHASE_SECTION;
use super::validate::Form;
use super::validate::Held;
use super::validate::Report;
use crate::closest::closest;
use crate::finding::Place;

/// Titles that are accepted for a section, the one that is written first.
fn accepted<'a>(held: &'a Held<'_>, name: &'a str) -> Vec<&'a str> {
    if name == PHASES && !held.standard.phases.titles.is_empty() {
        let mut titles: Vec<&str> = held.standard.phases.titles.iter().map(String::as_str).collect();
        if held.form == Form::Template {
            titles.extend([PHASES, PHASE_SECTION]);
        }
        return titles;
    }
    vec![name]
}

/// The section under any of its titles. One of the form `{SECTION}` is one only in a template (K-25).
fn section<'a>(held: &'a Held<'_>, name: &'a str) -> Option<&'a Section<'a>> {
    let found = accepted(held, name).into_iter().find_map(|title| held.outline.section(title));
    found.filter(|section| !section.open || held.form == Form::Template)
}

/// The markers of the head block: complete, to the letter, and not contradicting each other (DS-04, K-12, K-24).
pub(super) fn markers(held: &Held<'_>, report: &mut Report) {
    for found in &held.head.found {
        let say = match found.reading {
            Reading::Exact(_) => continue,
            Reading::Loose(marker) => {
                let message = format!("the marker '{}' is not written to the letter", found.written);
                let help = format!("other tools look for {}", marker.line(&found.value));
                report.warning(METADATA, found.place, message, help);
                continue;
            }
            Reading::Misspelt(marker) => Some(marker),
            Reading::Unknown => None,
        };
        match say {
            Some(marker) => {
                let message = format!("MALFORMED: Marker '{}' is not known", found.written);
                report.error(METADATA, found.place, message, format!("write {}", marker.example()));
            }
            None => {
                let message = format!("the marker '{}' is not known and means nothing", found.written);
                report.warning(METADATA, found.place, message, "take it out");
            }
        }
    }
    for marker in Marker::ALL {
        contradiction(held, marker, report);
        unfilled_marker(held, marker, report);
    }
    if section(held, METADATA).is_some() {
        missing_markers(held, report);
    }
}

/// With a section DES_METADATA of its own each marker is spoken of; without one the block stands for the section.
fn missing_markers(held: &Held<'_>, report: &mut Report) {
    for marker in lacking(held) {
        let message = format!("MISSING: Marker '{}' not found", marker.example());
        let help = format!("put {} at the very top of the prompt", marker.example());
        if marker == Marker::Version || held.command.is_none() && marker != Marker::Validation {
            report.warning(METADATA, Place::TOP, message, help);
        } else {
            report.error(METADATA, Place::TOP, message, help);
        }
    }
}

/// The markers that the block should have and does not have.
fn lacking(held: &Held<'_>) -> Vec<Marker> {
    let head = held.head;
    let needs_file = held.command.is_none_or(|command| command.step_file);
    let in_a_list = head.value(Marker::StepFile).is_some_and(|file| {
        [".yaml", ".yml"].iter().any(|ending| file.to_ascii_lowercase().ends_with(ending))
    });
    let mut lacking = vec![];
    for marker in Marker::ALL {
        let is_there = match marker {
            Marker::Validation => head.requires_validation(),
            Marker::StepFile => head.value(marker).is_some() || !needs_file,
            // A state file that holds many steps says nothing about which of them is meant.
            Marker::StepId => head.value(marker).is_some() || !in_a_list,
            Marker::Origin | Marker::Version => head.value(marker).is_some(),
        };
        if !is_there {
            lacking.push(marker);
        }
    }
    lacking
}

fn contradiction(held: &Held<'_>, marker: Marker, report: &mut Report) {
    let values: BTreeSet<&str> = held.head.all(marker).map(|found| found.value.as_str()).collect();
    let Some(second) = held.head.all(marker).nth(1).filter(|_| values.len() > 1) else { return };
    let message =
        format!("CONFLICT: Marker '{}' is there more than once, with different values", marker.name());
    report.error(METADATA, second.place, message, "leave one of them");
}

fn unfilled_marker(held: &Held<'_>, marker: Marker, report: &mut Report) {
    if held.form == Form::Template {
        return;
    }
    for found in held.head.all(marker).filter(|found| placeholders(&found.value).next().is_some()) {
        let message =
            format!("UNRENDERED: Marker '{}' still has the placeholder '{}'", marker.name(), found.value);
        report.error(METADATA, found.place, message, "fill it in before the prompt is sent");
    }
}

/// Every mandatory section is there and says something (DS-11, DS-14, DS-74).
pub(super) fn sections(held: &Held<'_>, report: &mut Report) {
    let Some(set) = held.standard.library.sections_of(held.command) else { return };
    for name in &set.mandatory {
        let shown = if name == PHASES { held.standard.phases.title() } else { name };
        match section(held, name) {
            Some(found) => {
                // The body of the metadata is made of comments.
                let says = |body: &str| {
                    if name == METADATA { !body.trim().is_empty() } else { says_something(body) }
                };
                if !found.open && !held.outline.bodies(found).any(says) {
                    let message = format!("EMPTY: Mandatory section '{shown}' has no content");
                    let help = format!("write under it: {}", purpose(held, name));
                    report.error(shown, found.title.place(), message, help);
                }
            }
            None if name == METADATA && lacking(held).is_empty() => {}
            None => {
                let message = format!("MISSING: Mandatory section '{shown}' not found");
                let (place, help) = absent(held, name, shown);
                report.error(shown, place, message, help);
            }
        }
    }
}

/// Where a section was probably meant, and what to do about it.
fn absent(held: &Held<'_>, name: &str, shown: &str) -> (Place, String) {
    if name == METADATA {
        let lines: Vec<String> = lacking(held).into_iter().map(Marker::example).collect();
        let lacks = lines.join("\n");
        return (
            Place::TOP,
            format!("put these lines at the very top of the prompt, before any other text:\n{lacks}"),
        );
    }
    let what = purpose(held, name);
    let others = held.outline.others.iter().take(200);
    let near = others.clone().find(|(_, words)| closest(shown, [first_words(words)]).is_some());
    if let Some((line, words)) = near {
        let help = format!("line {} says `{words}`; write `# {shown}` there, to the letter", line.number);
        return (line.place(), help);
    }
    if let Some(open) = held.outline.section(shown).filter(|section| section.open) {
        let help =
            format!("line {} is a place left open for it; put the section there: {what}", open.title.number);
        return (open.title.place(), help);
    }
    (Place::TOP, format!("add a heading `# {shown}` at the start of a line, and under it: {what}"))
}

/// As much of a title as a name of a section has.
fn first_words(title: &str) -> &str {
    title.get(..60).unwrap_or(title)
}

/// What belongs into a section.
fn purpose(held: &Held<'_>, name: &str) -> String {
    let words = match name {
        METADATA => "the marker block",
        "AGENT_IDENTITY" => "who the agent is, its specialty, the step and the project",
        CONTEXT => "background, technical context, the task and its acceptance criteria",
        PHASES => {
            let phases = held.standard.phases;
            return format!("the {} phases in this order: {}", phases.phases.len(), phases.in_order());
        }
        "QUALITY_GATES" => "what the gates G1 to G6 demand",
        "OUTCOME_RECORDING" => "how each result is recorded, and when",
        "BOUNDARY_RULES" => "the one task, what is allowed, what is forbidden, and what to do on completion",
        TIMEOUT => "a budget, such as `approximately 50 turns`, and what to do when it does not suffice",
        _ => "what the agent has to know about it",
    };
    words.to_owned()
}

/// Every phase is named as a whole word, in order, inside its section (DS-15, K-26).
pub(super) fn phases(held: &Held<'_>, report: &mut Report) {
    let Some(found) = section(held, PHASES).filter(|section| !section.open) else { return };
    let list = held.standard.phases;
    let mut places: BTreeMap<&str, Vec<usize>> = list.names().map(|name| (name, vec![])).collect();
    let mut count = 0;
    for body in held.outline.bodies(found) {
        if held.form == Form::Template && placeholders(body).any(|name| name == "phase_table") {
            return;
        }
        for word in body.split(|c: char| !is_word(c)).filter(|word| !word.is_empty()) {
            count += 1;
            if let Some(places) = places.get_mut(word) {
                places.push(count);
            }
        }
    }
    let place = found.title.place();
    let order = format!(
        "list all {} phases of schema {} in this order: {}",
        list.phases.len(),
        list.version,
        list.in_order()
    );
    let mut before: Option<(&str, usize)> = None;
    let mut in_order = true;
    for name in list.names() {
        let at = places.get(name).map(Vec::as_slice).unwrap_or_default();
        if at.is_empty() {
            report.error(
                list.title(),
                place,
                format!("INCOMPLETE: TDD phase '{name}' not mentioned"),
                &order,
            );
            continue;
        }
        let least = before.map_or(0, |(_, at)| at);
        match (at.iter().find(|at| **at > least), before) {
            (Some(at), _) => before = Some((name, *at)),
            (None, Some((earlier, _))) if in_order => {
                // One message: when one phase is moved, those behind it would all seem to be out of place.
                in_order = false;
                let message = format!("OUT OF ORDER: TDD phase '{name}' does not come after '{earlier}'");
                report.error(list.title(), place, message, &order);
            }
            (None, _) => {}
        }
    }
}

/// The budget is a number of turns or minutes, in its section; without a section, anywhere (DS-16, DS-78, K-27).
pub(super) fn timeout(held: &Held<'_>, report: &mut Report) {
    let wanted = held.standard.library.sections_of(held.command);
    if !wanted.is_some_and(|set| set.mandatory.iter().any(|name| name == TIMEOUT)) {
        return;
    }
    let found = section(held, TIMEOUT);
    let has_budget = match found {
        Some(section) if section.open => true,
        Some(section) => held.outline.bodies(section).any(|body| says_budget(body, held.form)),
        None => says_budget(held.text, held.form),
    };
    if !has_budget {
        let place = found.map_or(Place::TOP, |section| section.title.place());
        let help = "say a number of turns or minutes, such as: finish within approximately 50 turns";
        report.error(TIMEOUT, place, "MISSING: No timeout/turn-limit instruction found", help);
    }
}

fn says_budget(text: &str, form: Form) -> bool {
    let number_for_placeholder = |piece: Piece<'_>| match piece {
        Piece::Text(text) => text.to_owned(),
        Piece::Placeholder(_) | Piece::Escaped(_) => "1".to_owned(),
    };
    match form {
        Form::Prompt => budget::is_said(text),
        Form::Template => {
            budget::is_said(&pieces(text).into_iter().map(number_for_placeholder).collect::<String>())
        }
    }
}

/// No placeholder is left in a prompt (K-25). The words of a task may hold braces of their own.
pub(super) fn unfilled(held: &Held<'_>, report: &mut Report) {
    if held.form == Form::Template {
        return;
    }
    if !held.text.contains('{') {
        return;
    }
    // Braces are usual in prompts, names in braces are not; and to know all names every template has to be read.
    let known = LazyCell::new(|| held.standard.library.placeholders());
    let mut said = BTreeSet::new();
    for section in &held.outline.sections {
        let title = section.title.text;
        let bodies = held.outline.bodies(section).chain([title].into_iter().filter(|_| section.open));
        for name in bodies.flat_map(placeholders) {
            let is_title = section.open && name == section.name;
            if !(known.contains(name) || is_title) || !said.insert((name, section.name == CONTEXT)) {
                continue;
            }
            let message = format!("UNRENDERED: Placeholder '{{{name}}}' was not filled in");
            let help = "render the template, and send what comes out of it";
            if section.name == CONTEXT {
                report.warning(CONTEXT, section.title.place(), message, help);
            } else {
                report.error(&section.name, section.title.place(), message, help);
            }
        }
    }
}

/// A fence that is never closed makes code of everything behind it, titles included.
pub(super) fn fences(held: &Held<'_>, report: &mut Report) {
    if let Some(line) = held.outline.open_fence {
        let message =
            format!("the code fence of line {} is never closed, so no section behind it counts", line.number);
        report.warning("code-fence", line.place(), message, "close it with a line of the same signs");
    }
}
