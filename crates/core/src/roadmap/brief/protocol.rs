//! How the state of a step is kept, and how an agent reports.

use std::fmt::Write as _;

use super::Assignment;
use super::Call;
use super::REPORT_TITLE;
use super::STATE_TITLE;
use super::STRUCTURE_TITLE;

/// The state file: which it is, and who writes it (DW-09, K-104).
pub(super) fn state(assignment: &Assignment<'_>) -> String {
    let path = assignment.status_path;
    let mut text = format!(
        "{STATE_TITLE}\n\n\
         **CRITICAL**: DO NOT load roadmap.yaml (context provided above).\n\
         **READ/WRITE ONLY**: {path}\n\n\
         No other file holds the state of this step.\n"
    );
    text.push_str(&match assignment.call {
        Call::Phase => format!(
            "In this call the engine writes it for you, before and after the phase:\n\n\
             1. Carry out {} and no other phase.\n\
             2. Never write the state file; you may read it.\n\
             3. Report when the phase is over, as the end of this text says.\n\
             4. Keep count of your turns and report them.\n",
            assignment.phase.map_or_else(|| "this phase".to_owned(), |phase| format!("the phase {phase}"))
        ),
        Call::Step => {
            let from = match assignment.phase {
                Some(phase) => format!("Go on with {phase}; the phases before it are over."),
                None => "Begin with the first phase that is not over.".to_owned(),
            };
            format!(
                "It is written by the commands that you report with:\n\n\
                 1. {from}\n\
                 2. Carry out each phase in order, one after the other.\n\
                 3. Report each phase with `seriatim phase` when it begins and as soon as it is over, never several \
                 at once.\n\
                 4. Keep count of your turns and report them.\n"
            )
        }
    });
    text
}

/// What the state file looks like (DW-37), with the words of the list of phases that is used (K-03); the protocol for
/// issues belongs to it.
pub(super) fn structure(assignment: &Assignment<'_>) -> String {
    let Assignment { context, schema, .. } = *assignment;
    let at_hand = assignment.phase.and_then(|name| schema.phase(name)).or_else(|| schema.phases.first());
    let (index, name) = at_hand.map_or((0, "PREPARE"), |phase| (phase.index, phase.name.as_str()));
    let step = &context.step.id;
    let (first, done) = (schema.phases.first().map_or(name, |phase| phase.name.as_str()), &schema.done);
    let mut text = format!("{STRUCTURE_TITLE}\n\n```yaml\n");
    for line in [
        "execution_status:".to_owned(),
        "  current:".to_owned(),
        format!("    step_id: \"{step}\""),
        format!("    phase_index: {index}"),
        format!("    phase_name: \"{name}\""),
        "    started_at: \"2026-01-29T15:00:00Z\"".to_owned(),
        "    turn_count: 12".to_owned(),
        "  step_checkpoint:".to_owned(),
        format!("    step_id: \"{step}\""),
        "    phases:".to_owned(),
        "      - phase_index: 0".to_owned(),
        format!("        phase_name: \"{first}\""),
        format!("        status: \"{done}\"  # or IN_PROGRESS, SKIPPED, NOT_EXECUTED"),
        "        outcome: \"PASS\"  # or FAIL".to_owned(),
        "        duration_minutes: 10".to_owned(),
        "        turn_count: 3".to_owned(),
        format!("      # {} phases in all", schema.phases.len()),
    ] {
        let _ = writeln!(text, "{line}");
    }
    let _ = writeln!(text, "```\n");
    text.push_str(&issues(assignment));
    text
}

/// What to do when something goes wrong (DW-42).
fn issues(assignment: &Assignment<'_>) -> String {
    let (project, step) = (&assignment.context.project_id, &assignment.context.step.id);
    match assignment.call {
        Call::Phase => {
            "If you encounter issues:\n\
             - Report `failed` with `\"error\": {\"class\": \"permanent\", \"message\": \"the reason\"}`, or \
             `partial` with what is left in `summary`.\n\
             - The class says whether another try can help: `transient` if so, `permanent` if not. The engine sets \
             `can_retry` from it.\n\
             - Stop there. A truthful report of a failure is worth more than a finished phase that does not hold.\n"
                .to_owned()
        }
        Call::Step => format!(
            "If you encounter issues:\n\
             - Record the phase with `seriatim phase fail --project {project} {step} PHASE --note \"what went \
             wrong\"`; it keeps the reason, and the engine sets `can_retry`.\n\
             - Where you cannot finish, record what is left with `seriatim phase partial --project {project} {step} \
             --suggest \"what is left\"`.\n\
             - Return the error in your report and stop there.\n"
        ),
    }
}

/// A report as an agent writes it.
const REPORT: &str = r#"{"status": "done",
 "summary": "what you did, in plain words",
 "criteria": [{"criterion": "the text of an acceptance criterion", "met": true, "reason": "what shows it"}],
 "artifacts": ["path of a file that you wrote"],
 "outputs": {},
 "usage": {"turns": 12}}"#;

/// How to report.
pub(super) fn report(assignment: &Assignment<'_>) -> String {
    let Assignment { context, .. } = *assignment;
    let (project, step) = (&context.project_id, &context.step.id);
    let mut text = format!("{REPORT_TITLE}\n\n");
    if assignment.call == Call::Step {
        let _ = write!(
            text,
            "Each phase, at the moment it begins and at the moment it is over:\n\n```\n\
             seriatim phase start --project {project} {step} PHASE\n\
             seriatim phase done --project {project} {step} PHASE --outcome PASS --note \"what happened\" --tests \
             TOTAL,PASSED,FAILED\n\
             seriatim phase skip --project {project} {step} PHASE --reason \"PREFIX: why\"\n```\n\n\
             A phase is skipped only with a reason that begins with `BLOCKED_BY_DEPENDENCY:`, `NOT_APPLICABLE:` or \
             `APPROVED_SKIP:`.\n\n"
        );
    }
    let _ = write!(
        text,
        "At the end of this call write one JSON object to the file that the environment variable SERIATIM_REPORT \
         names; where it is not set, write it to a file and hand it in with `seriatim report {step} FILE`:\n\n\
         ```json\n{REPORT}\n```\n\n\
         `status` is `done`, `partial` or `failed`, and is all that is required. Repeat acceptance criteria to the \
         letter. Your report is kept as what you say; whether it holds is seen by what the engine runs itself, and \
         both stand on record side by side.\n"
    );
    text
}
