//! What nobody knows is asked about, and what the end of a cycle rests on is said.

use serde_json::Value;
use serde_json::json;
use seriatim_core::cycle::choices::UncheckedChoice;
use seriatim_core::cycle::facts::CycleFact;
use seriatim_core::cycle::facts::Opinion;
use seriatim_core::cycle::plan::PlanStep;
use seriatim_core::gate::CheckEvidence;
use seriatim_core::verdict::Verdict;

use super::course::Course;
use super::ended;
use super::judge::Judged;
use super::outcome;
use super::people;
use crate::registry::End;
use crate::registry::Ended;

/// What a person decided about matters that nobody knows.
pub(super) enum Unchecked {
    Accepted,
    Again,
    /// Back to the Planner, with these words.
    Back(String),
    Over(Ended),
}

impl Course<'_> {
    /// Asks about everything that is unknown in a verdict, by name. Only a person's word makes it good.
    pub(super) async fn decide_unchecked(&mut self, step: &PlanStep, judged: &mut Judged) -> Unchecked {
        let matters = judged.verdict.reasons();
        let mut question = people::unchecked(step, &matters, judged);
        question.about = vec![seriatim_core::hash::Hash::of(judged.tree.as_bytes())];
        let (choice, answer) = self.ask(question).await;
        let words = answer.text.clone().unwrap_or_default();
        self.fact(CycleFact::UncheckedDecided {
            cycle: self.number,
            choice,
            matters: matters.clone(),
            by: answer.by.clone(),
            words: words.clone(),
        });
        match choice {
            UncheckedChoice::Accept => {
                judged.accept(&answer.by, &words);
                self.accept_open(&answer.by, &words);
                let told =
                    |matter: &String| format!("{matter} (accepted unchecked by {}: {words})", answer.by);
                self.accepted.extend(matters.iter().map(told));
                Unchecked::Accepted
            }
            UncheckedChoice::Retry => Unchecked::Again,
            UncheckedChoice::Changes => {
                self.guidance.push(words.clone());
                Unchecked::Back(words)
            }
            UncheckedChoice::Stop => Unchecked::Over(self.stop(&answer.by).await),
        }
    }

    /// What stands beside every approval: open findings, and what people accepted unchecked.
    pub(super) fn standing_matters(&self) -> Vec<String> {
        let open = self.ledger.open().map(|entry| format!("Open finding: {}", entry.line()));
        open.chain(self.accepted.iter().map(|matter| format!("Accepted unchecked: {matter}"))).collect()
    }

    /// The end of a cycle whose work was committed: word and exit code come from the verdict alone.
    pub(super) fn end_judged(&self, judged: &Judged, message: &str, archive: &str, commit: &str) -> Ended {
        let is_good = judged.verdict.is_good();
        let result = if is_good { "PASS" } else { "INSUFFICIENT" };
        let mut outcome = outcome(result, self, Some(archive), Some(commit));
        outcome["not_checked"] = json!(judged.not_checked());
        outcome["accepted_unchecked"] = json!(self.accepted);
        outcome["judged_by"] = match &judged.opinion {
            Opinion::Person { by, .. } => json!(by),
            Opinion::Pass => json!("judge"),
            Opinion::Insufficient(_) | Opinion::Missing(_) | Opinion::Unknown => Value::Null,
        };
        ended(End::Completed, is_good, message, outcome)
    }
}

impl Judged {
    /// Makes what is unknown good on a person's word. What is bad stays bad.
    fn accept(&mut self, by: &str, words: &str) {
        let parts = self.evidence.iter().map(|e| e.verdict.clone()).chain(self.parts.iter().cloned());
        let accepted = parts.map(|part| match part {
            Verdict::Unknown(_) => part.accepted(by, words),
            Verdict::Good(_) | Verdict::Bad(_) | Verdict::NotApplicable(_) => part,
        });
        self.verdict = Verdict::join(accepted);
        if matches!(self.opinion, Opinion::Missing(_) | Opinion::Unknown) {
            self.opinion = Opinion::Person { by: by.to_owned(), words: words.to_owned() };
        }
    }

    /// The checks of the project that ran.
    fn ran(&self) -> Vec<&CheckEvidence> {
        self.evidence.iter().filter(|e| e.end.is_some()).collect()
    }

    /// The checks that did not run, because the project does not have them.
    pub(super) fn not_checked(&self) -> Vec<String> {
        let absent = self.evidence.iter().filter(|e| matches!(e.verdict, Verdict::NotApplicable(_)));
        absent.map(|e| e.gate.clone()).collect()
    }

    /// What the verdict rests on, in sentences. "All checks are green" needs one that ran, and all of them good.
    pub(super) fn footing(&self) -> String {
        let mut words = vec![];
        let ran = self.ran();
        if !ran.is_empty() && self.evidence.iter().all(|e| e.verdict.closes()) {
            words.push("All checks are green.".to_owned());
        }
        let absent = self.not_checked();
        if !absent.is_empty() {
            words.push(format!("Not checked: {}.", absent.join(", ")));
        }
        match (&self.opinion, ran.is_empty()) {
            (Opinion::Person { by, .. }, _) => words.push(format!("{by} judged it, not the Judge.")),
            (Opinion::Pass, true) => {
                words.push("No check was run; it rests on the Judge's word alone.".to_owned());
            }
            (Opinion::Pass | Opinion::Insufficient(_) | Opinion::Missing(_) | Opinion::Unknown, _) => {}
        }
        let waived = self.verdict.waivers();
        if !waived.is_empty() {
            words.push(format!("{}.", capital(&waived.join("; "))));
        }
        words.join(" ")
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
