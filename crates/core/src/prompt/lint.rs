//! The lint of templates: whatever would make every prompt of a template wrong is found in the template.

use super::library::Library;
use super::origin::Head;
use super::outline::Outline;
use super::outline::lines;
use super::outline::title;
use super::phases::PhaseList;
use super::placeholder::placeholders;
use super::registry::Level;
use super::render::COMPUTED;
use super::template::PHASE_SECTION;
use super::template::Template;
use super::template::stem;
use super::validate::Form;
use super::validate::Held;
use super::validate::Report;
use super::validate::Standard;
use crate::closest::closest;
use crate::doc;
use crate::finding::Finding;
use crate::finding::Place;

/// The line with which every step prompt ends (DS-114).
pub const START: &str = "BEGIN EXECUTION NOW.";

/// Checks a template with everything it takes over from those of the library. Placeholders are at home in it (K-25).
pub fn lint(file: &str, text: &str, library: &Library, phases: &PhaseList) -> Vec<Finding> {
    let (template, mut findings) = Template::parse(stem(file), text, &library.sections.names());
    let whole = match library.resolve_template(&template) {
        Ok(whole) => whole,
        Err(more) => {
            findings.extend(more);
            return findings;
        }
    };
    findings.extend(unclosed(&template));
    findings.extend(misspelt_placeholders(text, library));
    if !template.is_abstract {
        findings.extend(rules(&whole, library, phases));
    }
    doc::sort(&mut findings);
    findings
}

/// The rules for prompts, applied to the template as a whole.
fn rules(whole: &Template, library: &Library, phases: &PhaseList) -> Vec<Finding> {
    let command = library.command_of(whole);
    let level = command.map_or(Level::Full, |command| command.level);
    let mut findings = vec![];
    if let Some(name) = whole.command.as_deref().filter(|name| library.registry.get(name).is_none()) {
        let help = match library.registry.closest(name) {
            Some(near) => format!("did you mean `{}`?", near.name),
            None => "register it in _validation-schema.json".to_owned(),
        };
        let message =
            format!("the command `{name}` is not registered, so its prompts are held to the strictest rules");
        findings.push(Finding::warning("template-command", Place::TOP, message).help(help));
    }
    if level == Level::None {
        return findings;
    }
    let text = whole.text();
    let head = Head::of(&text);
    let mut titles = library.titles(phases);
    titles.push(PHASE_SECTION);
    let standard = Standard { library, phases };
    let held = Held {
        text: &text,
        head: &head,
        outline: Outline::read(&text, titles),
        command,
        level,
        standard: &standard,
        form: Form::Template,
    };
    let mut report = Report::default();
    held.examine(&mut report);
    let found = report.into_validation(head.metadata()).findings();
    // Places are those of the whole, which no file holds; what is inherited has none in this one.
    findings.extend(found.into_iter().map(|finding| Finding { place: Place::TOP, ..finding }));
    if level == Level::Full && !text.trim_end().ends_with(START) {
        let message = format!("the template does not end with `{START}`");
        findings.push(
            Finding::warning("template-closing", Place::TOP, message)
                .help(format!("end it with that line, or write `closing: {START}` in its head")),
        );
    }
    findings
}

fn unclosed(template: &Template) -> Vec<Finding> {
    let finding = |name: &str| {
        let message =
            format!("a code fence in the section `{name}` is never closed and would swallow the next one");
        Finding::error("code-fence", Place::TOP, message).help("close it with a line of the same signs")
    };
    template.open_fences().map(|part| finding(&part.name)).collect()
}

/// A name that is nearly that of a placeholder which the renderer fills was probably meant as that one.
fn misspelt_placeholders(text: &str, library: &Library) -> Vec<Finding> {
    let titles = library.sections.names();
    let built_in = Library::standard().placeholders();
    let known = || built_in.iter().map(String::as_str).chain(COMPUTED);
    let mut findings = vec![];
    for line in lines(text) {
        if title(line.text).is_some_and(|title| title.open && titles.contains(&title.words)) {
            continue;
        }
        for name in placeholders(line.text).filter(|name| !known().any(|known| known == *name)) {
            if let Some(meant) = closest(name, known()) {
                let message = format!("the placeholder `{{{name}}}` is none that is filled by itself");
                findings.push(
                    Finding::warning("placeholder", line.place(), message)
                        .help(format!("did you mean `{{{meant}}}`?")),
                );
            }
        }
    }
    findings
}
