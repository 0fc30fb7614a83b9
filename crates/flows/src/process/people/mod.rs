//! What people are asked, in plain words: what, why, and what they can do.
//!
//! Each question is made here and nowhere else. The first option is the one that goes on as proposed.

use serde_json::Map;
use serde_json::Value;
use seriatim_core::process::Action;
use seriatim_core::process::Capability;
use seriatim_core::process::definition::Step;
use seriatim_core::process::definition::Trigger;
use seriatim_core::question::Choice;
use seriatim_core::question::Question;
use seriatim_core::report::ProposedQuestion;

use super::course::Part;

mod failing;
mod options;

pub(super) use failing::choose_fix;
pub(super) use failing::confirm_fix;
pub(super) use failing::hand_over;
pub(super) use failing::persistent;
pub(super) use failing::serious;
pub(super) use failing::unexpected;
pub(super) use options::AfterFailure;
pub(super) use options::AfterStep;
pub(super) use options::Approval;
pub(super) use options::BeforeStep;
pub(super) use options::Correction;
pub(super) use options::Criterion;
pub(super) use options::Direction;
pub(super) use options::Escalated;
pub(super) use options::Extent;
pub(super) use options::GoOn;
pub(super) use options::MissingInput;
pub(super) use options::OwnStep;
pub(super) use options::Persistent;

fn question(header: &str, what: String, why: String, options: Vec<Choice>) -> Question {
    Question {
        header: header.to_owned(),
        question: what,
        why,
        tried: vec![],
        details: String::new(),
        options,
        free_text: true,
        about: vec![],
    }
}

fn stop() -> Choice {
    Choice::new("cancel", "Stop here", "Nothing more is done; what there is so far is kept.")
}

fn guide(description: &str) -> Choice {
    Choice::new("guide", "Provide guidance", description).with_text()
}

/// The step's words for people: its description, or its name.
pub(super) fn about(step: &Step) -> String {
    step.description.as_ref().map_or_else(|| step.name.value.clone(), |d| d.value.trim().to_owned())
}

fn part_of(work: &str) -> String {
    sentence(&format!("This is part of: {work}"))
}

/// A step that a person drives (PX-53, PX-54). What the definition watches for can be said in one go.
pub(super) fn drive(
    work: &str,
    step: &Step,
    so_far: &[Part],
    open: &[String],
    owed: &[(String, String)],
) -> Question {
    let role = step.human_role.as_ref().map(|r| sentence(&r.value)).unwrap_or_default();
    let mut options = own_options(step, open);
    for (i, trigger) in step.triggers.iter().enumerate().filter(|(_, t)| t.when.is_none()) {
        let leads_to = match trigger.action.value {
            Action::Block => "The work stops for this reason.",
            Action::Defer => "The work is put off for this reason.",
            Action::Return => "The work goes back to an earlier step.",
            Action::Escalate => "You will be asked what to do about it.",
        };
        options.push(Choice::new(&trigger_choice(i), &trigger.condition.value, leads_to));
    }
    options.push(stop());
    let why = format!("{role} {}", part_of(work)).trim().to_owned();
    let what = match &step.description {
        Some(description) => sentence(&description.value),
        None => format!("'{}' is yours to do. What came of it?", step.name.value),
    };
    let what = match open {
        [] => what,
        open => format!("{what}\nStill open: {}.", open.join("; ")),
    };
    let mut asked = question(&step.name.value, what, why, options);
    asked.details =
        so_far.iter().map(|(_, name, outputs)| result(name, outputs)).collect::<Vec<_>>().join("\n\n");
    if !owed.is_empty() {
        asked.details = format!("{}\n\n{}", asked.details, fields(owed)).trim().to_owned();
    }
    asked
}

/// How to give outputs that the work still owes, in words.
fn fields(owed: &[(String, String)]) -> String {
    let mut lines =
        vec!["What still has to come of the work. Write a line for each that you give, its name and a colon first; where there is none, write none and why:".to_owned()];
    for (name, about) in owed {
        let about = if about.is_empty() { String::new() } else { format!(" ({})", trimmed(about)) };
        lines.push(format!("  {}{about}", name.replace(['_', '-'], " ")));
    }
    lines.join("\n")
}

/// What a person can say of a step of their own: whether it is decided, whether it passes, or that it is done.
pub(super) fn own_options(step: &Step, open: &[String]) -> Vec<Choice> {
    match step.capability.value {
        Capability::Decide => {
            let goes_on = match open {
                [] => "The decision is recorded and the work goes on.",
                _ => {
                    "The decision is recorded, what is still open is accepted with it, and the work goes on."
                }
            };
            vec![
                Choice::new("approve", "Yes, go ahead", goes_on),
                Choice::new(
                    "changes",
                    "Changes first",
                    "Say what has to change; it is recorded and the work goes on.",
                )
                .with_text(),
                Choice::new("reject", "No", "The refusal is recorded and the work goes on to its end."),
            ]
        }
        Capability::Validate => vec![
            Choice::new("pass", "It passes", "The verdict is recorded as yours and the work goes on."),
            Choice::new("fail", "It does not pass", "Say why; the result of the work says so.").with_text(),
            Choice::new("skip", "Leave it out", "Nobody has checked it then, and the result says so."),
        ],
        Capability::Elicit
        | Capability::Analyse
        | Capability::Synthesise
        | Capability::Transform
        | Capability::Generate
        | Capability::Preserve => vec![
            Choice::new("done", "It is done", "Your words are kept as the result and the work goes on."),
            Choice::new("skip", "Leave it out", "The work goes on without it, and the record says so."),
        ],
    }
}

/// The option by which a person says that a trigger's condition holds.
pub(super) fn trigger_choice(index: usize) -> String {
    format!("holds_{}", index + 1)
}

/// Before a step: what is about to happen (PX-35, PX-37, PX-52, PX-57).
pub(super) enum Before {
    /// The intent, to be confirmed.
    Intent,
    /// The plan, to which the person contributes.
    Plan,
    /// A decision or synthesis that is about to be made.
    Weighty,
}

pub(super) fn before(kind: &Before, work: &str, step: &Step) -> Question {
    let name = &step.name.value;
    let described = step.description.as_ref().map(|d| format!(": {}", trimmed(&d.value)));
    let plan = described.unwrap_or_default();
    let what = match kind {
        Before::Intent => {
            format!(
                "I am about to begin '{name}'{plan}. Does this approach make sense for '{}'?",
                trimmed(work)
            )
        }
        Before::Plan => {
            let plan =
                if plan.is_empty() { "work with what there is so far" } else { &format!("do this{plan}") };
            format!("For '{name}', I plan to {plan}. What's your input on this approach?")
        }
        Before::Weighty => format!("Next comes '{name}'{plan}. Do you have input before it is made?"),
    };
    let why = match kind {
        Before::Intent => {
            "Much of what this needs is in people's heads, so nothing begins without your word."
        }
        Before::Plan => "This step is done together: what you know goes into it before it begins.",
        Before::Weighty => "What is decided here shapes everything after it.",
    };
    let options = vec![
        Choice::new("approve", "Go ahead", "The step begins as described."),
        guide("The step begins with your words in mind."),
        Choice::new("skip", "Leave it out", "The work goes on without this step, and the record says so."),
        stop(),
    ];
    question(name, what, format!("{why} {}", part_of(work)), options)
}

/// After a step: what came of it (PX-36, PX-56, PX-58, PX-60). One question, also when confidence is low.
pub(super) fn after(
    step: &Step,
    summary: &str,
    outputs: &Map<String, Value>,
    doubt: Option<String>,
) -> Question {
    let name = &step.name.value;
    let doubt = doubt.map(|d| format!(" {d}")).unwrap_or_default();
    let what = format!(
        "I completed '{name}'. Here's what I found: {}{doubt} Does this look right before I continue?",
        sentence(summary)
    );
    let options = vec![
        Choice::new("approve", "It looks right", "The work goes on."),
        Choice::new("guide", "Something is wrong", "Say what; the step is done again with that in mind.")
            .with_text(),
        stop(),
    ];
    let why = "The steps after it build on this result.".to_owned();
    let mut asked = question(name, what, why, options);
    asked.details = result(name, outputs);
    asked
}

/// The words for low confidence.
pub(super) fn doubt(step: &Step, confidence: Option<f64>) -> String {
    match confidence {
        Some(c) => format!("I'm not fully confident about '{}': {c} out of 100.", step.name.value),
        None => format!("I'm not fully confident about '{}': no confidence was given.", step.name.value),
    }
}

/// A judgement that is too uncertain to stand alone (PX-60).
pub(super) fn uncertain(
    step: &Step,
    summary: &str,
    outputs: &Map<String, Value>,
    confidence: Option<f64>,
) -> Question {
    let what =
        format!("{} What was found: {} How should I take it?", doubt(step, confidence), sentence(summary));
    let options = vec![
        Choice::new("approve", "Take it as it is", "The work goes on with this result."),
        guide("The step is done again with your words in mind."),
        stop(),
    ];
    let why = "A result that nobody is sure of would carry through all that follows.".to_owned();
    let mut asked = question(&step.name.value, what, why, options);
    asked.details = result(&step.name.value, outputs);
    asked
}

/// How far it has come (PX-38).
pub(super) fn progress(work: &str, done: usize, total: usize, lines: &[String]) -> Question {
    let what = format!(
        "{done} of {total} steps of '{}' are behind us. Is the direction still right?",
        trimmed(work)
    );
    let options = vec![
        Choice::new("approve", "Yes, go on", "The work goes on as planned."),
        guide("The steps to come take your words into account."),
        stop(),
    ];
    let why = "It is cheaper to change the direction now than at the end.".to_owned();
    let mut asked = question("How it is going", what, why, options);
    asked.details = lines.iter().map(|l| format!("- {l}")).collect::<Vec<_>>().join("\n");
    asked
}

/// Words by which a matter of security is known (PX-69).
const SECURITY: [&str; 9] = [
    "security",
    "vulnerab",
    "credential",
    "password",
    "secret",
    "authentication",
    "authoriz",
    "authoris",
    "exploit",
];

/// A trigger that wants a person's word (PX-64, PX-65, PX-148).
pub(super) fn escalate(work: &str, step: &Step, trigger: &Trigger, details: Option<String>) -> Question {
    let context = trigger.context.as_ref().map(|c| c.value.as_str()).unwrap_or_default();
    let text = format!("{} {context} {}", trigger.condition.value, step.name.value).to_lowercase();
    let security = SECURITY.iter().any(|word| text.contains(word));
    let mut what = format!("Something needs your attention: {}", sentence(&trigger.condition.value));
    if !context.is_empty() {
        what.push_str(&format!(" Context: {}", sentence(context)));
    }
    let mut options = if security {
        vec![
            Choice::new("approve", "Approve as acceptable risk", "Proceed despite security sensitivity."),
            Choice::new("details", "Show me the details", "I'll explain what I found and my concerns."),
            Choice::new(
                "defer",
                "Flag for security team",
                "The work waits until the security team has looked at it.",
            ),
        ]
    } else {
        vec![
            Choice::new(
                "approve",
                "Continue as it is",
                "The work goes on, and the record says that you knew.",
            ),
            Choice::new(
                "details",
                "Show me the details",
                "What was found is shown, and you are asked again.",
            ),
        ]
    };
    if details.is_some() {
        options.retain(|o| o.id != "details");
    }
    options.extend([
        guide("I'll explain what you need."),
        Choice::new("skip", "Skip step", "The work goes on without this step, and the record says so."),
        stop(),
    ]);
    let why =
        format!("This condition was laid down beforehand as one for a person to judge. {}", part_of(work));
    let mut asked = question(&step.name.value, what, why, options);
    asked.details = details.unwrap_or_default();
    asked
}

/// The approval before a run (PX-114, PX-115).
pub(super) fn approval(work: &str, criteria: &[String], changed: bool) -> Question {
    let list: Vec<String> = criteria.iter().map(|c| format!(" - {c}")).collect();
    let again = if changed { " The process itself has changed since it was last approved." } else { "" };
    let what = format!(
        "Before executing '{work}', please confirm:\n{}\nDo you approve?{again} For future runs: review each time, \
         or trust this approval?",
        list.join("\n")
    );
    let options = vec![
        Choice::new(
            "approve",
            "Approve (review each run)",
            "The work begins, and you are asked again next time.",
        ),
        Choice::new(
            "trust",
            "Approve (trust for future)",
            "The work begins; next time you are asked only when something is unclear or the process has changed.",
        ),
        Choice::new("reject", "Do not approve", "The work does not begin."),
    ];
    question(
        "Before it begins",
        what,
        "These are the conditions under which the work makes sense.".to_owned(),
        options,
    )
}

/// A criterion that could not be judged with confidence (PX-117, PX-121, PX-149).
pub(super) fn criterion(
    work: &str,
    criterion: &str,
    reason: &str,
    inputs: &Map<String, Value>,
    entry: bool,
) -> Question {
    let reason = if reason.trim().is_empty() { "there is too little to go by" } else { trimmed(reason) };
    let what = if entry {
        format!(
            "I'm uncertain if '{criterion}' is met because {reason}. I'm checking '{work}'. Could you tell me whether \
             it is met?"
        )
    } else {
        format!(
            "I'm uncertain if '{criterion}' was achieved: {reason}. I'm checking '{work}'. Could you tell me whether \
             it was achieved?"
        )
    };
    let (yes, no) = if entry {
        ("The work can begin as far as this is concerned.", "The work does not begin.")
    } else {
        ("It counts as achieved.", "It counts as not achieved, and the result says so.")
    };
    let options = vec![Choice::new("approve", "Yes, it is", yes), Choice::new("reject", "No, it is not", no)];
    let why = "What must be true is not left to a guess.".to_owned();
    let mut asked = question(if entry { "Before it begins" } else { "At the end" }, what, why, options);
    if !inputs.is_empty() {
        asked.details = result("What was given", inputs);
    }
    asked
}

/// The work has grown (PX-30).
pub(super) fn upgrade(work: &str, prompt: Option<&str>, why: &str) -> Question {
    let what = match prompt {
        Some(prompt) => sentence(prompt),
        None => format!("'{}' turns out to be more than it seemed. Shall it be done in full?", trimmed(work)),
    };
    let options = vec![
        Choice::new("full", "Do it in full", "Steps that were left out so far are done as well."),
        Choice::new("quick", "Keep it quick", "The work goes on as it was begun."),
    ];
    question("More than it seemed", what, sentence(why), options)
}

/// Most of the time is used (PX-46).
pub(super) fn slow(step: &Step, percent: u64) -> Question {
    let what = format!("Process at {percent}% of timeout. Shall '{}' still begin?", step.name.value);
    let options =
        vec![Choice::new("approve", "Yes, go on", "The work goes on until its time is over."), stop()];
    question("Time is short", what, "Past its time the work is stopped.".to_owned(), options)
}

/// A question that the agent itself would like to see answered.
pub(super) fn of_agent(work: &str, step: &Step, proposed: &ProposedQuestion) -> Question {
    let mut options: Vec<Choice> = proposed
        .options
        .iter()
        .enumerate()
        .filter(|(_, o)| !o.label.trim().is_empty())
        .map(|(i, o)| {
            let description = if o.description.trim().is_empty() {
                "The step takes this into account."
            } else {
                &o.description
            };
            Choice::new(&format!("option_{}", i + 1), &o.label, description)
        })
        .collect();
    if options.is_empty() {
        options.push(Choice::new("approve", "Go on", "The step goes on as it thinks best."));
    }
    options.push(guide("I'll explain what you need."));
    let header = if proposed.header.trim().is_empty() { &step.name.value } else { &proposed.header };
    question(
        header,
        sentence(&proposed.question),
        format!("'{}' wants to know. {}", step.name.value, part_of(work)),
        options,
    )
}

/// What came of a step, as a few lines.
pub(super) fn result(name: &str, outputs: &Map<String, Value>) -> String {
    let mut lines = vec![name.to_owned()];
    for (key, value) in outputs {
        let value = match value {
            Value::String(s) => s.trim_end().to_owned(),
            other => other.to_string(),
        };
        let key = key.replace(['_', '-'], " ");
        if value.contains('\n') {
            lines.push(format!("  {key}:"));
            lines.extend(value.lines().map(|l| format!("    {l}")));
        } else {
            lines.push(format!("  {key}: {value}"));
        }
    }
    lines.join("\n")
}

/// A text with a capital at its beginning and a full stop at its end.
pub(super) fn sentence(text: &str) -> String {
    let text = text.trim();
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let stop = if text.is_empty() || text.ends_with(['.', '!', '?', ':', ')']) { "" } else { "." };
    format!("{first}{}{stop}", chars.as_str())
}

/// A text without a full stop at its end, for the middle of a sentence.
pub(super) fn trimmed(text: &str) -> &str {
    text.trim().trim_end_matches('.')
}
