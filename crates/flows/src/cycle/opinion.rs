//! What the Judge says, and what it is worth: a report that says nothing usable is no PASS (K-114).

use serde_json::Value;
use seriatim_core::action::severity;
use seriatim_core::action::severity::Concern;
use seriatim_core::action::severity::Severity;
use seriatim_core::cycle::block::Role;
use seriatim_core::cycle::facts::CycleFact;
use seriatim_core::cycle::facts::Opinion;
use seriatim_core::ledger;
use seriatim_core::ledger::Closing;
use seriatim_core::report::Report;
use seriatim_core::report::Status;
use seriatim_core::verdict::PersonWord;
use seriatim_core::verdict::Verdict;
use seriatim_core::verdict::claims::Claims;

use super::course::Course;
use super::course::one_line;
use super::plan::CORRECTIONS;
use super::plan::Called;
use crate::registry::Ended;

/// Whose findings they are.
pub(super) const JUDGE: &str = "judge";

/// A report of the Judge that can be used.
pub(super) struct Spoken {
    pub(super) opinion: Opinion,
    pub(super) found: Vec<Concern>,
    pub(super) closings: Vec<Closing>,
}

impl Course<'_> {
    /// Asks the Judge. What cannot be used is corrected twice; after that its opinion is missing, and says why.
    pub(super) async fn ask_judge(&mut self, prompt: String, now: &Seen<'_>) -> Result<Opinion, Ended> {
        let mut feedback: Vec<String> = vec![];
        for _ in 0..=CORRECTIONS {
            let report = match self.consult(Role::Judge, prompt.clone(), feedback.clone()).await {
                Called::Over(end) => return Err(end),
                Called::Failed(failure) => return Ok(Opinion::Missing(failure.in_one_line())),
                Called::Report(report) => report,
            };
            let problems = match read_opinion(&report) {
                Ok(spoken) => match self.take_findings(&spoken, now) {
                    problems if problems.is_empty() => return Ok(spoken.opinion),
                    problems => problems,
                },
                Err(problems) => problems,
            };
            self.fact(CycleFact::OpinionRejected { cycle: self.number, why: problems.clone() });
            feedback = problems;
        }
        Ok(Opinion::Missing(feedback.join(" ")))
    }
}

/// The change as it is while the Judge looks at it: what findings are about.
pub(super) struct Seen<'w> {
    pub(super) tree: &'w str,
    pub(super) diff: &'w str,
}

/// The verdict that an opinion is.
pub(super) fn weigh_opinion(opinion: &Opinion) -> Verdict {
    match opinion {
        Opinion::Pass => Verdict::judged("the Judge", "PASS"),
        Opinion::Person { by, words } => Verdict::decided(by.clone(), PersonWord::Confirmed, words.clone()),
        Opinion::Insufficient(words) if words.trim().is_empty() => {
            Verdict::bad("The Judge says it is not sufficient.")
        }
        Opinion::Insufficient(words) => Verdict::bad(words.clone()),
        Opinion::Missing(why) => Verdict::unknown(format!("The Judge did not answer: {why}")),
        Opinion::Unknown => Verdict::unknown("The Judge did not answer"),
    }
}

/// Reads what the Judge says, or tells it what to correct. PASS is PASS in so many letters and nothing against it.
fn read_opinion(report: &Report) -> Result<Spoken, Vec<String>> {
    if report.status != Status::Done {
        return Err(vec![
            "The report does not say `done`: a judgement of a part is none. Look at all of it, and report `done`."
                .to_owned(),
        ]);
    }
    let outputs = &report.outputs;
    let mut problems = vec![];
    let mut found = match outputs.get(severity::FINDINGS).is_some_and(|value| !value.is_null()) {
        true => severity::read(JUDGE, outputs).unwrap_or_else(|wrong| {
            problems.extend(wrong);
            vec![]
        }),
        false => vec![],
    };
    let closings = ledger::read_closings(outputs).unwrap_or_else(|wrong| {
        problems.extend(wrong);
        vec![]
    });
    let words = words_of(outputs.get("diagnostics"));
    let opinion = match outputs.get("result").and_then(Value::as_str).map(str::trim) {
        Some("PASS") => {
            if !ledger::is_blank(&words) {
                problems.push(format!(
                    "The report says PASS and gives diagnostics ({}): say INSUFFICIENT, or leave them out.",
                    one_line(&words)
                ));
            }
            if found.iter().any(|concern| concern.severity >= Severity::High) {
                problems.push("The report says PASS and has findings that are high or critical.".to_owned());
            }
            match &report.person {
                Some(by) => Opinion::Person { by: by.clone(), words: report.summary.clone() },
                None => Opinion::Pass,
            }
        }
        Some("INSUFFICIENT") => {
            let words = if ledger::is_blank(&words) { report.summary.clone() } else { words };
            if found.is_empty() {
                found.extend(as_finding(&words));
            }
            Opinion::Insufficient(words)
        }
        other => {
            let given = other.map_or("missing".to_owned(), |word| format!("`{}`", one_line(word)));
            problems.push(format!("`outputs.result` must be PASS or INSUFFICIENT; it was {given}."));
            Opinion::Unknown
        }
    };
    if problems.is_empty() && report.person.is_none() {
        let contradiction = Claims::of_report(report, Severity::High).contradiction();
        problems.extend(contradiction.map(|two| two.to_string()));
    }
    if problems.is_empty() { Ok(Spoken { opinion, found, closings }) } else { Err(problems) }
}

/// What stands in a field, whatever its shape: an empty list, object or text is nothing.
fn words_of(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null | Value::Bool(false)) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// Diagnostics in prose are one finding.
fn as_finding(words: &str) -> Option<Concern> {
    let title = if ledger::is_blank(words) { "The Judge says it is not sufficient" } else { words };
    let title = one_line(title);
    let by = JUDGE.to_owned();
    Some(Concern {
        severity: Severity::High,
        title,
        file: String::new(),
        line: None,
        remedy: String::new(),
        by,
    })
}
