//! Findings of reviews: they stay until they are closed by name, over all tries and runs of a step.

use std::collections::BTreeMap;

use serde_json::Map;
use serde_json::Value;
use seriatim_core::action::severity::Concern;
use seriatim_core::action::severity::Severity;
use seriatim_core::hash::Hash;
use seriatim_core::ledger;
use seriatim_core::ledger::Closing;
use seriatim_core::ledger::LedgerEntry;
use seriatim_core::ledger::is_blank;
use seriatim_core::report::Report;
use seriatim_core::roadmap::facts::Matter;
use seriatim_core::roadmap::proof;
use seriatim_core::roadmap::proof::Objection;
use seriatim_core::roadmap::proof::ReviewFinding;
use seriatim_core::roadmap::proof::ReviewSeverity;
use seriatim_core::roadmap::proof::Rule;
use seriatim_core::roadmap::proof::Sort;
use seriatim_core::verdict::claims::Claims;

use super::people;
use super::people::FindingsChoice;
use super::prove::Proof;
use super::work::Stop;
use super::work::Work;
use crate::Cx;
use crate::reviewer;

/// What a review says.
#[derive(Default)]
struct Heard {
    open: Vec<Concern>,
    closings: Vec<Closing>,
    fixed_at_once: Vec<Value>,
    /// What its author has to correct.
    problems: Vec<String>,
}

/// From this severity on an open finding keeps a phase from being over.
const HOLDS_FROM: Severity = Severity::High;

impl Work<'_> {
    /// Takes the findings of a review into the ledger, closes what it closes by name, and holds the phase while grave
    /// ones are open. Phases after the review are held too: nothing but a name closes a finding.
    pub(super) async fn keep_findings(
        &mut self,
        cx: &Cx,
        sort: Sort,
        report: Option<&Report>,
        proof: &mut Proof,
    ) -> Result<(), Stop> {
        if sort == Sort::Review
            && let Some(report) = report
        {
            self.hear_review(cx, report, proof).await?;
        }
        if sort == Sort::Review || sort.is_after_red() && !self.memory.findings.entries().is_empty() {
            let held = self.memory.findings.open_from(HOLDS_FROM);
            proof.objections.extend(held.into_iter().map(objection));
        }
        Ok(())
    }

    async fn hear_review(&mut self, cx: &Cx, report: &Report, proof: &mut Proof) -> Result<(), Stop> {
        proof.objections.extend(contradiction(report));
        let heard = match &report.person {
            Some(_) => match reviewer::read(&self.agent, &report.outputs) {
                Ok(review) => Heard { open: review.found, closings: review.closed, ..Heard::default() },
                Err(problems) => Heard { problems, ..Heard::default() },
            },
            None => self.read_review(&report.outputs),
        };
        let Heard { open, closings, fixed_at_once, problems } = heard;
        proof.objections.extend(problems.iter().map(|problem| refusal(problem)));
        let entries = self.memory.findings.open().map(|entry| entry.concern.file.clone());
        let files: Vec<String> = entries.chain(open.iter().map(|concern| concern.file.clone())).collect();
        let things = self.things(cx, files).await?;
        let at = |concern: &Concern| things.get(&concern.file).copied();
        let refused = match &report.person {
            Some(person) => self.memory.findings.close_by_person(person, &closings),
            None => self.memory.findings.close(&self.agent, &closings, at),
        };
        proof.objections.extend(refused.iter().map(|refused| refusal(&refused.to_string())));
        self.memory.findings.note(open, at);
        proof.notes.extend(self.memory.findings.entries().iter().map(LedgerEntry::told));
        let documents = self.memory.findings.entries().iter().map(LedgerEntry::document);
        self.findings = documents.chain(fixed_at_once).collect();
        Ok(())
    }

    /// Reads the report of an agent that reviewed.
    fn read_review(&self, outputs: &Map<String, Value>) -> Heard {
        let found = proof::review_findings(outputs);
        let (mut closings, problems) = match ledger::read_closings(outputs) {
            Ok(closings) => (closings, vec![]),
            Err(problems) => (vec![], problems),
        };
        let concern = |finding: &ReviewFinding| self.concern(finding);
        let (resolved, open): (Vec<_>, Vec<_>) = found.iter().partition(|finding| finding.resolved);
        // One that is reported as resolved closes the entry that is open; a new one was found and fixed in one go.
        for finding in &resolved {
            let known = self.memory.findings.find_open(&concern(finding));
            let reason =
                finding.remedy.clone().unwrap_or_else(|| "the reviewer calls it resolved".to_owned());
            closings.extend(known.map(|entry| Closing { id: entry.id.clone(), reason }));
        }
        let fixed_at_once = resolved.into_iter().map(ReviewFinding::to_json).collect();
        Heard { open: open.into_iter().map(concern).collect(), closings, fixed_at_once, problems }
    }

    fn concern(&self, finding: &ReviewFinding) -> Concern {
        Concern {
            severity: match finding.severity {
                ReviewSeverity::Low => Severity::Low,
                ReviewSeverity::Medium => Severity::Medium,
                ReviewSeverity::High => Severity::High,
                ReviewSeverity::Critical => Severity::Critical,
            },
            title: finding.title.clone(),
            file: finding.file.clone().unwrap_or_default(),
            line: finding.line,
            remedy: finding.remedy.clone().unwrap_or_default(),
            by: self.agent.clone(),
        }
    }

    /// The things that findings are about, as they are now: files by their content, and all of the work under no name.
    async fn things(&self, cx: &Cx, files: Vec<String>) -> Result<BTreeMap<String, Hash>, Stop> {
        let mut things = BTreeMap::new();
        for file in files {
            if things.contains_key(&file) {
                continue;
            }
            let hash = match file.as_str() {
                "" => Hash::of(self.stand(cx).await?.tree.as_bytes()),
                path => match cx.read(&self.place.at(path)).await {
                    Ok(text) => text.hash,
                    Err(_) => Hash::of(b"not there"),
                },
            };
            things.insert(file, hash);
        }
        Ok(things)
    }

    /// Asks a person about findings that stay open: fixed, accepted by name with a reason, or the step stops.
    pub(super) async fn ask_about_findings(&mut self, cx: &Cx) -> Result<Option<String>, Stop> {
        let held = self.memory.findings.open_from(HOLDS_FROM);
        let lines: Vec<String> = held.iter().map(|entry| entry.line()).collect();
        let ids: Vec<String> = held.iter().map(|entry| entry.id.clone()).collect();
        let critical = held.iter().any(|entry| entry.concern.severity == Severity::Critical);
        let question = people::findings(&self.step.id, &lines, critical);
        let (choice, answer) = people::decide(cx, Matter::Findings, &self.step.id, question).await;
        let words = answer.text.clone().unwrap_or_default();
        match choice {
            FindingsChoice::Fix => Ok(Some(words)),
            FindingsChoice::Accept if is_blank(&words) => Ok(Some(words)),
            FindingsChoice::Accept => {
                for id in &ids {
                    let accepted = self.memory.findings.accept(id, &answer.by, &words, false);
                    accepted.map_err(|refused| Stop::failed(refused.to_string()))?;
                }
                self.findings = self.memory.findings.entries().iter().map(LedgerEntry::document).collect();
                Ok(None)
            }
            FindingsChoice::Cancel => Err(Stop::Cancelled { by: answer.by }),
        }
    }
}

fn objection(entry: &LedgerEntry) -> Objection {
    let remedy = match entry.concern.remedy.trim() {
        "" => String::new(),
        remedy => format!(" Remedy: {}", people::sentence(remedy)),
    };
    let message = format!(
        "The review's finding {} is open.{remedy} Fix it, and close it by name in the report of the review: \
         \"closed\": [{{\"id\": \"{}\", \"reason\": \"how it was fixed\"}}].",
        entry.line(),
        entry.id
    );
    Objection { rule: Rule::ReviewFinding, message, output: String::new() }
}

/// A review that contradicts itself, or that says no without a finding that would hold the phase, has to say what holds.
fn contradiction(report: &Report) -> Option<Objection> {
    let claims = Claims::of_report(report, HOLDS_FROM);
    if let Some(two) = claims.contradiction() {
        return Some(refusal(&two.to_string()));
    }
    let review = report.outputs.get("review").and_then(Value::as_object);
    let inside = review.map(|review| Claims::of_outputs(review, HOLDS_FROM)).unwrap_or_default();
    let no = claims.refusal().or(inside.refusal())?;
    Some(refusal(&format!("{no}, so that the review is not over; report what is wrong as findings")))
}

fn refusal(why: &str) -> Objection {
    Objection { rule: Rule::ReviewFinding, message: people::sentence(why), output: String::new() }
}
