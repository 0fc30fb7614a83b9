//! What a phase has to show, in words for its agent: what the engine will run, and what it refuses.

use std::fmt::Write as _;

use super::Assignment;
use super::Call;
use super::DEMAND_TITLE;
use crate::roadmap::proof::POST_REFACTOR_LIST;
use crate::roadmap::proof::QUICK_LINES;
use crate::roadmap::proof::Sort;

/// Of the phase at hand, or of all where the call is for the whole step.
pub(super) fn section(assignment: &Assignment<'_>) -> String {
    let mut text = format!("{DEMAND_TITLE}\n\n");
    match (assignment.call, assignment.phase) {
        (Call::Phase, Some(phase)) => {
            let _ = write!(text, "Your phase is {phase}. {}", of_phase(assignment, phase));
        }
        _ => {
            text.push_str("Each phase is looked at when it is over:\n");
            for phase in assignment.schema.names() {
                let _ = write!(text, "\n### {phase}\n\n{}", of_phase(assignment, phase));
            }
        }
    }
    text.push_str(&bounds(assignment));
    text
}

/// What holds for every phase. A step that says nothing about its files is not one that may change none (K-33).
fn bounds(assignment: &Assignment<'_>) -> String {
    let files = match assignment.context.step.allowed_files() {
        Some(_) => {
            "Change only files that the deliverables above allow. A change anywhere else is refused by name."
        }
        None => "The step names no files: change only what its description needs.",
    };
    format!(
        "\nIn every phase:\n\
         - {files}\n\
         - Do not touch the gates: neither their commands nor files that they stand on, nor the configuration.\n\
         - Do not commit, push, stash or reset. The engine commits.\n\
         - Do not begin another step, and make no decision that belongs to one.\n"
    )
}

fn of_phase(assignment: &Assignment<'_>, phase: &str) -> String {
    let sort = Sort::of(phase);
    let mut text = format!("{}\n", task(sort));
    let _ = write!(text, "\n{}", gates(assignment.gates, sort));
    let refused = refusals(sort, assignment.gates);
    if !refused.is_empty() {
        text.push_str("\nRefused, and named to you:\n");
        for refusal in refused {
            let _ = writeln!(text, "- {refusal}");
        }
    }
    if sort == Sort::Refactor {
        text.push_str(&refactoring(phase, assignment.quick));
        text.push_str("\nThe phase is over when all of this holds:\n");
        for item in POST_REFACTOR_LIST {
            let _ = writeln!(text, "- {item}");
        }
    }
    text
}

/// What is to be done.
fn task(sort: Sort) -> &'static str {
    match sort {
        Sort::Prepare => {
            "Take the skip marker off the acceptance scenario of this step, and see that no other scenario is newly \
             enabled. Write no code of the product yet."
        }
        Sort::RedAcceptance => {
            "Run the acceptance scenario of this step, and write it first where it is not there yet. It has to fail \
             because the behaviour is missing. Write no code of the product beyond what lets it be compiled and \
             imported."
        }
        Sort::RedUnit => {
            "Write unit tests for what is missing. They have to run, and to fail on what they assert. Write no code of \
             the product beyond what lets them be compiled and imported."
        }
        Sort::Red => {
            "Write the acceptance scenario and the unit tests of this step. They have to run, and to fail on what they \
             assert. Write no code of the product beyond what lets them be compiled and imported."
        }
        Sort::GreenUnit => "Write the least code that lets the unit tests pass.",
        Sort::CheckAcceptance => {
            "Run the acceptance scenario again and say whether it passes by now. It may still fail; it may not \
             be broken."
        }
        Sort::Green => "Write the least code that lets all tests pass, and run all of them.",
        Sort::Review => {
            "Look at the work of this step with the review criteria above, mend what you can without changing \
             behaviour, and report what you found."
        }
        Sort::Refactor => "Make the code better in small moves, with all tests green after each.",
        Sort::Final => "Run everything once more and mend what does not hold.",
        Sort::Commit => {
            "See that everything holds and that nothing is left over. The engine runs all gates, records the files \
             that the step changed, and commits."
        }
        Sort::Other => "Carry it out as the roadmap describes it above.",
    }
}

fn gates(configured: &[String], sort: Sort) -> String {
    let run = sort.gates_among(configured);
    let names = run.iter().map(|gate| format!("`{gate}`")).collect::<Vec<_>>().join(", ");
    match (run.as_slice(), sort) {
        ([], Sort::Prepare) => {
            "The engine reads the test file itself and counts the scenarios that are enabled.\n".to_owned()
        }
        ([], _) => {
            "The project has no gate for this phase, so that it closes on your report. Say what you ran and what it \
             showed.\n"
                .to_owned()
        }
        ([_], _) => format!("When you report, the engine runs the gate {names} itself.\n"),
        _ => format!("When you report, the engine runs these gates itself, in this order: {names}.\n"),
    }
}

const NO_RED: [&str; 4] = [
    "a test that passes already",
    "a failure because something cannot be imported, compiled, collected or set up",
    "no test that ran at all",
    "a test that is put off",
];
const NO_RED_UNIT: [&str; 5] = [
    "tests that pass already",
    "a failure because something cannot be imported, compiled, collected or set up",
    "a failure because the code says that it is not written yet: let it return something wrong instead",
    "no test that ran at all",
    "a test that is put off",
];
const NO_CHEATING: [&str; 6] = [
    "one test that fails, or none that ran",
    "a change to a test that was red, or to any other part of its file",
    "a marker that skips a test or expects it to fail",
    "a test or a test file that is gone or has another name",
    "fewer tests that ran than at RED",
    "a change to a gate",
];
const NO_LOSS: [&str; 5] = [
    "one test that fails, or none that ran",
    "a marker that skips a test or expects it to fail",
    "a test or a test file that is gone or has another name",
    "fewer tests that ran than at RED",
    "a change to a gate",
];

fn refusals(sort: Sort, configured: &[String]) -> Vec<&'static str> {
    let fixed: &[&str] = match sort {
        Sort::Prepare => {
            &["no scenario that is enabled, or several", "another scenario than the one of this step"]
        }
        Sort::RedAcceptance => &NO_RED,
        Sort::RedUnit | Sort::Red => &NO_RED_UNIT,
        Sort::GreenUnit | Sort::Green => &NO_CHEATING,
        Sort::CheckAcceptance => &["tests that cannot run", "a test that is put off, or is gone"],
        Sort::Review | Sort::Refactor | Sort::Final | Sort::Commit => &NO_LOSS,
        Sort::Other => &[],
    };
    let mut all = fixed.to_vec();
    let run = sort.gates_among(configured);
    if run.contains(&"coverage") {
        all.push("coverage below what its gate demands, or lower than when the step began");
    }
    if run.iter().any(|gate| ["lint", "security"].contains(gate)) {
        all.push("any other gate that does not pass");
    }
    if sort == Sort::Review {
        all.push("a finding of yours that is critical or high and not mended");
    }
    all
}

/// Three levels, or a quick look at them (DW-65, E-55). Older lists have a phase for each level.
fn refactoring(phase: &str, quick: bool) -> String {
    if quick {
        return format!(
            "\nGREEN added fewer than {QUICK_LINES} lines, so a quick look of two to three minutes is enough: names, \
             complexity, organisation. Mend what strikes you and stop there.\n"
        );
    }
    let level = LEVELS.iter().find(|(level, _)| phase.ends_with(&format!("_{level}")));
    match level {
        Some((level, words)) => format!("\nThe level of this phase is {level}: {words}.\n"),
        None => {
            let levels: Vec<String> =
                LEVELS.iter().take(3).map(|(level, words)| format!("- {level}: {words}")).collect();
            format!(
                "\nGo through three levels, one after the other:\n{}\n\nLarger moves of the architecture (L4 to L6) \
                 are made once, after all steps.\n",
                levels.join("\n")
            )
        }
    }
}

const LEVELS: [(&str, &str); 4] = [
    ("L1", "naming, until names speak the language of the business"),
    ("L2", "complexity, until each function does one thing"),
    ("L3", "organization, until what belongs together stands together"),
    ("L4", "patterns, until the structure is that of the architecture"),
];
