//! Reading a report: what the protocol asks for, and what the step asks for beyond it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;
use serde_json::Value;

use super::DecisionNote;
use super::Judged;
use super::ObservationNote;
use super::ProposedOption;
use super::ProposedQuestion;
use super::Report;
use super::ReportedError;
use super::Status;
use super::Usage;
use super::fields::Fields;
use super::fields::Problems;
use super::fields::quoted;
use super::fields::shown;
use super::once;
use crate::process::judging;

const KNOWN: [&str; 13] = [
    "status",
    "summary",
    "outputs",
    "confidence",
    "triggers",
    "criteria",
    "decisions",
    "observations",
    "questions",
    "artifacts",
    "usage",
    "error",
    "verdict",
];
const OBSERVATION_TYPES: [&str; 3] = ["MEASUREMENT", "STATE", "EVENT"];

/// What a step asks of a report.
///
/// Outputs and judgements are owed only by work that is said to be done: an agent that stopped half-way, or
/// failed, has no more to give, and asking it again for what it does not have would hide why it stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Names that must stand in `outputs`.
    pub required_outputs: Vec<String>,
    /// The criteria that the brief gave the agent to judge.
    pub criteria: Vec<String>,
    /// Each criterion needs its answer, and no other is welcome.
    pub judge_all: bool,
    /// The conditions that the brief gave the agent to watch for; no other can be reported.
    pub triggers: Vec<String>,
    /// The verdict that a judging step owes.
    pub verdict: Option<OwedVerdict>,
    /// How large a report may be.
    pub max_bytes: usize,
}

/// The verdict that a report owes: a word, or an answer to every criterion of the brief.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwedVerdict {
    /// The words of the dialect, the ones to name first.
    pub words: Vec<String>,
    /// Criteria of the step are computed, so that it can do without a word where no other criterion is to be judged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub measured: bool,
}

impl Default for Demand {
    fn default() -> Demand {
        Demand {
            required_outputs: vec![],
            criteria: vec![],
            judge_all: false,
            triggers: vec![],
            verdict: None,
            max_bytes: 1 << 20,
        }
    }
}

/// Reads a report, or says everything that the agent has to change.
pub fn read(bytes: &[u8], demand: &Demand) -> Result<Report, Vec<String>> {
    if bytes.len() > demand.max_bytes {
        return Err(vec![format!(
            "the report has {} bytes, and at most {} are accepted; \
             put large material into files and name them in `artifacts`",
            bytes.len(),
            demand.max_bytes
        )]);
    }
    let once::Parsed { value, twice } = parse(bytes).map_err(|problem| vec![problem])?;
    let Value::Object(object) = &value else {
        return Err(vec![format!("one JSON object expected; got {}", shown(&value))]);
    };
    let mut problems = Problems::default();
    for name in twice {
        problems.add(format!("`{name}` stands twice in the report; say it once"));
    }
    let fields = Fields::root(object);
    let status = status(&fields, &mut problems);
    let mut report = rest(&fields, &mut problems, status.unwrap_or(Status::Done));
    if status == Some(Status::Done) {
        owed_outputs(&report, demand, &mut problems);
        owed_judgements(&report, demand, &mut problems);
        owed_verdict(&mut report, demand, &mut problems);
    }
    contradictions(&report, &mut problems);
    contradicted_verdict(&report, demand, &mut problems);
    known_triggers(&report, demand, &mut problems);
    to_the_letter(&mut report, demand);
    let sentences = problems.into_sentences();
    if sentences.is_empty() { Ok(report) } else { Err(sentences) }
}

fn parse(bytes: &[u8]) -> Result<once::Parsed, String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_end();
    if bytes.is_empty() {
        return Err("the report is empty; one JSON object expected".to_owned());
    }
    once::parse(bytes).map_err(|error| {
        if bytes.trim_ascii_start().starts_with(b"```") {
            return "the report stands in a code fence; write the JSON object alone, without ```".to_owned();
        }
        let said = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        let why = said.strip_suffix(&place).unwrap_or(&said);
        format!("the report is not valid JSON: {why} (line {}, column {})", error.line(), error.column())
    })
}

fn status(fields: &Fields<'_>, problems: &mut Problems) -> Option<Status> {
    let expected = "\"done\", \"partial\" or \"failed\"";
    match fields.get("status") {
        Some(Value::String(word)) if word == "done" => Some(Status::Done),
        Some(Value::String(word)) if word == "partial" => Some(Status::Partial),
        Some(Value::String(word)) if word == "failed" => Some(Status::Failed),
        Some(other) => {
            fields.wrong("status", expected, other, problems);
            None
        }
        None => {
            problems.add(format!("`status` is missing; it must be {expected}"));
            None
        }
    }
}

fn rest(fields: &Fields<'_>, problems: &mut Problems, status: Status) -> Report {
    Report {
        status,
        summary: fields.text("summary", problems),
        outputs: fields.object("outputs", problems).map(|outputs| outputs.all().clone()).unwrap_or_default(),
        confidence: fields.confidence(problems),
        triggers: fields.texts("triggers", problems),
        criteria: judgements(fields, problems),
        verdict: fields.text("verdict", problems).trim().to_owned(),
        decisions: decisions(fields, problems),
        observations: observations(fields, problems),
        questions: questions(fields, problems),
        artifacts: fields.texts("artifacts", problems),
        usage: fields.object("usage", problems).map(|usage| Usage {
            input_tokens: usage.whole("input_tokens", problems),
            output_tokens: usage.whole("output_tokens", problems),
            cost_usd: usage.amount("cost_usd", problems),
            turns: usage.whole("turns", problems),
        }),
        error: fields.object("error", problems).map(|error| ReportedError {
            class: error.text("class", problems),
            message: error.text("message", problems),
        }),
        person: None,
        unknown: fields
            .all()
            .iter()
            .filter(|(key, _)| !KNOWN.contains(&key.as_str()))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
    }
}

fn judgements(fields: &Fields<'_>, problems: &mut Problems) -> Vec<Judged> {
    let mut judged = vec![];
    for entry in fields.objects("criteria", problems) {
        let criterion = entry.text("criterion", problems);
        if criterion.is_empty() && entry.get("criterion").is_none_or(Value::is_string) {
            problems
                .add(format!("`{}` is missing; repeat the criterion to the letter", entry.name("criterion")));
        }
        let met = match entry.get("met") {
            Some(Value::Bool(met)) => *met,
            Some(other) => {
                entry.wrong("met", "true or false", other, problems);
                false
            }
            None => {
                problems.add(format!("`{}` is missing; it must be true or false", entry.name("met")));
                false
            }
        };
        let confidence = entry.confidence(problems);
        let reason = entry.text("reason", problems);
        judged.push(Judged { criterion, met, confidence, reason });
    }
    judged
}

fn decisions(fields: &Fields<'_>, problems: &mut Problems) -> Vec<DecisionNote> {
    let entries = fields.objects("decisions", problems);
    let note = |entry: &Fields<'_>, problems: &mut Problems| DecisionNote {
        subject: entry.text("subject", problems),
        outcome: entry.text("outcome", problems),
        rationale: entry.text("rationale", problems),
    };
    entries.iter().map(|entry| note(entry, problems)).collect()
}

fn observations(fields: &Fields<'_>, problems: &mut Problems) -> Vec<ObservationNote> {
    let mut notes = vec![];
    for entry in fields.objects("observations", problems) {
        let kind = entry.text("type", problems).to_uppercase();
        if !kind.is_empty() && !OBSERVATION_TYPES.contains(&kind.as_str()) {
            let expected = "\"MEASUREMENT\", \"STATE\" or \"EVENT\"";
            entry.wrong("type", expected, entry.get("type").unwrap_or(&Value::Null), problems);
        }
        let subject = entry.text("subject", problems);
        let value = entry.get("value").cloned().unwrap_or_default();
        notes.push(ObservationNote { kind, subject, value });
    }
    notes
}

fn questions(fields: &Fields<'_>, problems: &mut Problems) -> Vec<ProposedQuestion> {
    let mut questions = vec![];
    for entry in fields.objects("questions", problems) {
        let header = entry.text("header", problems);
        let question = entry.text("question", problems);
        let mut options = vec![];
        for option in entry.objects("options", problems) {
            let label = option.text("label", problems);
            options.push(ProposedOption { label, description: option.text("description", problems) });
        }
        questions.push(ProposedQuestion { header, question, options });
    }
    questions
}

fn owed_outputs(report: &Report, demand: &Demand, problems: &mut Problems) {
    for name in &demand.required_outputs {
        if report.outputs.get(name).is_none_or(Value::is_null) {
            problems.add(format!("`outputs.{name}` is missing; this step must report it"));
        }
    }
}

fn owed_judgements(report: &Report, demand: &Demand, problems: &mut Problems) {
    if !demand.judge_all {
        return;
    }
    for criterion in &demand.criteria {
        if !report.criteria.iter().any(|judged| same(&judged.criterion, criterion)) {
            problems.add(format!(
                "`criteria` has no answer for {criterion:?}; every criterion needs one, repeated to the letter"
            ));
        }
    }
    for judged in report.criteria.iter().filter(|judged| !judged.criterion.is_empty()) {
        if !demand.criteria.iter().any(|criterion| same(&judged.criterion, criterion)) {
            problems.add(format!(
                "`criteria` answers {}, which was not asked; repeat the criteria of the brief to the letter",
                quoted(&judged.criterion)
            ));
        }
    }
}

/// A judging step says its word, as a field or among its outputs, or answers every criterion that it was given.
fn owed_verdict(report: &mut Report, demand: &Demand, problems: &mut Problems) {
    let Some(owed) = &demand.verdict else { return };
    let known = |word: &str| owed.words.iter().find(|known| known.eq_ignore_ascii_case(word.trim())).cloned();
    let names = owed.words.iter().take(3).map(|word| format!("{word:?}")).collect::<Vec<_>>().join(", ");
    if !report.verdict.is_empty() {
        match known(&report.verdict) {
            Some(word) => report.verdict = word,
            None => problems.add(format!(
                "`verdict` is {}, which is no word of a verdict; use one of {names}",
                quoted(&report.verdict)
            )),
        }
        return;
    }
    if let Some(word) = report.outputs.get("verdict").and_then(Value::as_str).and_then(known) {
        report.verdict = word;
        return;
    }
    let answered =
        |criterion: &String| report.criteria.iter().any(|judged| same(&judged.criterion, criterion));
    let judged = demand.criteria.iter().all(answered) && (owed.measured || !demand.criteria.is_empty());
    // A condition of the definition that holds leads elsewhere, whatever the verdict would be.
    if !judged && report.triggers.is_empty() {
        problems.add(format!(
            "`verdict` is missing; this step judges, so it must say one of {names}, with the reason in `summary`"
        ));
    }
}

/// One criterion cannot be met and not met.
fn contradictions(report: &Report, problems: &mut Problems) {
    let mut answers: BTreeMap<&str, bool> = BTreeMap::new();
    for judged in report.criteria.iter().filter(|judged| !judged.criterion.is_empty()) {
        let first = *answers.entry(judged.criterion.trim()).or_insert(judged.met);
        if first != judged.met {
            problems.add(format!(
                "`criteria` answers {} both with true and with false; answer it once",
                quoted(&judged.criterion)
            ));
        }
    }
}

/// A step that judges cannot pass and report what is against it. A condition that holds leads elsewhere all the same.
fn contradicted_verdict(report: &Report, demand: &Demand, problems: &mut Problems) {
    let judges = demand.verdict.is_some() || !report.verdict.is_empty();
    if judges && report.status == Status::Done && report.triggers.is_empty() {
        let contradiction = judging::claims(report).contradiction();
        contradiction.into_iter().for_each(|two| problems.add(two.to_string()));
    }
}

fn known_triggers(report: &Report, demand: &Demand, problems: &mut Problems) {
    for trigger in &report.triggers {
        if demand.triggers.iter().any(|known| same(known, trigger)) {
            continue;
        }
        let known: Vec<String> = demand.triggers.iter().map(|known| format!("{known:?}")).collect();
        let remedy = if known.is_empty() {
            "this step has none, so leave `triggers` out".to_owned()
        } else {
            format!("repeat one of these to the letter: {}", known.join(", "))
        };
        problems.add(format!(
            "`triggers` names {}, which is no condition of this step; {remedy}",
            quoted(trigger)
        ));
    }
}

/// Blanks around a condition or a criterion do not count; from here on it reads exactly as it was asked.
fn to_the_letter(report: &mut Report, demand: &Demand) {
    let judged = report.criteria.iter_mut().map(|judged| (&mut judged.criterion, &demand.criteria));
    let fired = report.triggers.iter_mut().map(|trigger| (trigger, &demand.triggers));
    for (said, asked) in judged.chain(fired) {
        if let Some(asked) = asked.iter().find(|asked| same(asked, said)) {
            said.clone_from(asked);
        }
    }
}

fn same(a: &str, b: &str) -> bool {
    a.trim() == b.trim()
}
