//! The matters that the result of a run rests on: what each step came to, kept until the end (K-110).

use serde_json::Value;
use serde_json::json;
use seriatim_core::process::Capability;
use seriatim_core::process::Pattern;
use seriatim_core::process::Purpose;
use seriatim_core::process::definition::Step;
use seriatim_core::process::facts::Fact;
use seriatim_core::process::facts::Weighed;
use seriatim_core::process::judging;
use seriatim_core::process::result;
use seriatim_core::process::result::Grade;
use seriatim_core::question::Answer;
use seriatim_core::report::Report;
use seriatim_core::verdict::Footing;
use seriatim_core::verdict::Ground;
use seriatim_core::verdict::PersonWord;
use seriatim_core::verdict::Verdict;

use super::course::Course;
use super::step::Product;
use super::step::Work;

/// What a step came to, the last time it was closed.
pub(super) struct Matter {
    pub(super) step: String,
    pub(super) name: String,
    /// It judges: the result of every type rests on it.
    pub(super) judges: bool,
    /// It is bad because changes were asked for, and for nothing else.
    pub(super) changes: bool,
    pub(super) verdict: Verdict,
}

/// The result of a run, and what it rests on.
pub(super) struct Weighing {
    pub(super) matters: Vec<Weighed>,
    pub(super) verdict: Verdict,
    pub(super) grade: Grade,
}

impl Course<'_> {
    /// Whether a step owes a verdict: every Validate step, and the last decision of a review.
    pub(super) fn owes_verdict(&self, step: &Step) -> bool {
        match step.capability.value {
            Capability::Validate => true,
            Capability::Decide => {
                let last = self.definition.steps.iter().rfind(|s| s.capability.value == Capability::Decide);
                let review = result::purpose(&self.definition) == Purpose::Review;
                review && last.is_some_and(|last| last.id.value == step.id.value)
            }
            Capability::Elicit
            | Capability::Analyse
            | Capability::Synthesise
            | Capability::Transform
            | Capability::Generate
            | Capability::Preserve => false,
        }
    }

    /// Whether the result rests on a step that was skipped: one that owes a verdict, or in which a person decides.
    fn is_missed(&self, step: &Step) -> bool {
        let person = matches!(step.pattern.value, Pattern::HumanOnly | Pattern::HumanLed);
        self.owes_verdict(step) || (person && step.capability.value == Capability::Decide)
    }

    /// Keeps what a step came to, in place of what it came to before.
    fn keep_matter(&mut self, matter: Matter) {
        // A correction on the way back is no step of the path.
        if self.definition.step(&matter.step).is_none() {
            return;
        }
        self.matters.retain(|known| known.step != matter.step);
        self.matters.push(matter);
    }

    /// A step is done: what is known about it now.
    pub(super) fn settle_matter(&mut self, work: &Work, product: &Product) {
        let step = &work.step;
        let mut judges = self.owes_verdict(step);
        let mut verdict = match (&product.word, &product.report) {
            (Some(word), _) => {
                judges |= step.capability.value == Capability::Decide;
                word.clone()
            }
            (None, Some(report)) => {
                let claim = self.claim_of(step, report);
                judges |= step.capability.value == Capability::Decide && claim.is_some();
                let missing = || match judges {
                    true => Verdict::unknown(format!("'{}' gave no verdict", step.name.value)),
                    false => done(step, report),
                };
                Verdict::join(product.computed.iter().cloned().chain([claim.unwrap_or_else(missing)]))
            }
            (None, None) => Verdict::unknown(format!("'{}' gave no report", step.name.value)),
        };
        if let (true, Some(word)) = (verdict.is_good(), &work.word) {
            // A person who is asked and is sure outranks the agent; one who takes what is unsure does not make it known.
            verdict = match word {
                Verdict::Good(grounds) if grounds.iter().all(is_confirmed) => word.clone(),
                word => Verdict::join([verdict, word.clone()]),
            };
        }
        let (step, name) = (step.id.value.clone(), step.name.value.clone());
        self.keep_matter(Matter { step, name, judges, changes: product.changes, verdict });
    }

    /// What the report of a step says of what it judges.
    fn claim_of(&self, step: &Step, report: &Report) -> Option<Verdict> {
        if self.owes_verdict(step) {
            return judging::claim(step, report);
        }
        if step.capability.value != Capability::Decide {
            return None;
        }
        // A decision that only chooses approves nothing; what its criteria say is its own completion.
        let word = Report { criteria: vec![], verdict: report.verdict.to_uppercase(), ..report.clone() };
        judging::claim(step, &word)
    }

    /// A step that a person skipped: not good where it judges, and told in any case.
    pub(super) fn settle_skipped(&mut self, step: &Step, words: &str, by: &str) {
        let mut words = words.trim_end_matches('.').to_owned();
        if let Some(first) = words.get_mut(0..1) {
            first.make_ascii_lowercase();
        }
        let (judges, name) = (self.is_missed(step), &step.name.value);
        let verdict = match judges {
            true => Verdict::unknown(format!("'{name}' gave no verdict: {words}")),
            false => Verdict::absent(format!("'{name}': {words}"), by),
        };
        let (step, name) = (step.id.value.clone(), step.name.value.clone());
        self.keep_matter(Matter { step, name, judges, changes: false, verdict });
    }

    /// A step that the definition itself leaves out here, lawfully or because nobody can tell.
    pub(super) fn settle_left_out(&mut self, step: &Step, verdict: Verdict) {
        let judges = self.owes_verdict(step);
        let (step, name) = (step.id.value.clone(), step.name.value.clone());
        self.keep_matter(Matter { step, name, judges, changes: false, verdict });
    }

    /// Judging matters that are not good so far, one line each.
    pub(super) fn open_matters(&self) -> Vec<String> {
        let open = self.matters.iter().filter(|m| m.judges && !m.verdict.closes());
        open.flat_map(|m| m.verdict.reasons()).collect()
    }

    /// A person decides with the open matters before their eyes: the answer covers those, and no other.
    pub(super) fn accept_open_matters(&mut self, answer: &Answer) {
        let words = answer.text.as_deref().map(str::trim).filter(|t| !t.is_empty());
        for matter in self.matters.iter_mut().filter(|m| m.judges && !m.verdict.closes()) {
            let verdict = std::mem::replace(&mut matter.verdict, Verdict::unknown(""));
            matter.verdict = verdict.accepted(&answer.by, words.unwrap_or("no reason was given"));
            matter.changes = false;
        }
    }

    /// Weighs everything that the result rests on: what judges, the criteria at the end, and, where the work is not
    /// itself to judge, that its steps were done. A step that is not known to be done counts for every type.
    pub(super) fn weigh(&self, exit: Vec<Weighed>) -> Weighing {
        let judging = matches!(result::purpose(&self.definition), Purpose::Validation | Purpose::Review);
        let counts = |m: &&Matter| m.judges || !judging || !m.verdict.closes();
        let counted: Vec<&Matter> = self.matters.iter().filter(counts).collect();
        let mut matters: Vec<Weighed> =
            counted.iter().map(|m| Weighed { matter: m.name.clone(), verdict: m.verdict.clone() }).collect();
        let is_bad = |verdict: &Verdict| matches!(verdict, Verdict::Bad(_));
        let only_changes = counted.iter().filter(|m| is_bad(&m.verdict)).all(|m| m.changes)
            && !exit.iter().any(|w| is_bad(&w.verdict));
        matters.extend(exit);
        let verdict = Verdict::join(matters.iter().map(|w| w.verdict.clone()));
        let grade = result::grade(&verdict, only_changes);
        Weighing { matters, verdict, grade }
    }

    /// What people accepted unchecked or overrode in any step, whether or not the result rests on it.
    pub(super) fn waivers(&self, weighing: &Weighing) -> Vec<String> {
        let of_steps = self.matters.iter().flat_map(|m| m.verdict.waivers());
        let mut all: Vec<String> = vec![];
        for waiver in of_steps.chain(weighing.matters.iter().flat_map(|w| w.verdict.waivers())) {
            if !all.contains(&waiver) {
                all.push(waiver);
            }
        }
        all
    }

    /// Steps that were lawfully not run, one line each.
    pub(super) fn not_run(&self) -> Vec<String> {
        let absent = self.matters.iter().filter(|m| matches!(m.verdict, Verdict::NotApplicable(_)));
        absent.flat_map(|m| m.verdict.reasons()).collect()
    }
}

impl Weighing {
    /// Returns whether the good result rests on what agents say, at least in part.
    pub(super) fn is_on_the_agents_word(&self) -> bool {
        let Verdict::Good(grounds) = &self.verdict else { return false };
        self.verdict.footing() == Some(Footing::Judged)
            || grounds.iter().any(|ground| matches!(ground, Ground::Judgement { .. }))
    }

    /// Returns the reasons of all matters that are bad, or of those that are unknown.
    pub(super) fn reasons(&self, bad: bool) -> Vec<String> {
        let wanted = |verdict: &Verdict| match verdict {
            Verdict::Bad(_) => bad,
            Verdict::Unknown(_) => !bad,
            Verdict::Good(_) | Verdict::NotApplicable(_) => false,
        };
        self.matters.iter().filter(|w| wanted(&w.verdict)).flat_map(|w| w.verdict.reasons()).collect()
    }

    /// Outputs that are owed and that nobody spoke of make the result bad.
    pub(super) fn add_lacking(&mut self, lacking: &[String]) {
        let matter = "What has to come of the work".to_owned();
        let verdict = Verdict::bad(format!("nobody gave {}", lacking.join(", ")));
        self.verdict = Verdict::join([self.verdict.clone(), verdict.clone()]);
        self.matters.push(Weighed { matter, verdict });
        self.grade = Grade::Bad;
    }

    /// Returns the facts that the result rests on.
    pub(super) fn facts(&self) -> impl Iterator<Item = Fact> {
        self.matters.iter().cloned().map(Fact::Weighed)
    }

    /// Returns what the outcome of the instance says of it.
    pub(super) fn to_json(&self, accepted: &[String], not_run: &[String]) -> Value {
        let rests_on = match (&self.verdict, self.is_on_the_agents_word()) {
            (Verdict::Good(_), true) => "the agent's word",
            (Verdict::Good(_), false) => "evidence and people",
            (Verdict::Bad(_) | Verdict::Unknown(_) | Verdict::NotApplicable(_), _) => "nothing good",
        };
        json!({
            "word": self.verdict.word(),
            "rests_on": rests_on,
            "bad": self.reasons(true),
            "unknown": self.reasons(false),
            "accepted": accepted,
            "not_run": not_run,
        })
    }
}

fn is_confirmed(ground: &Ground) -> bool {
    matches!(ground, Ground::Person { how: PersonWord::Confirmed, .. })
}

/// A step that does not judge is done on the word of whoever did it.
fn done(step: &Step, report: &Report) -> Verdict {
    let words = format!("'{}' is done", step.name.value);
    match &report.person {
        Some(person) => Verdict::decided(person, PersonWord::Confirmed, words),
        None => Verdict::judged(judging::who(step), words),
    }
}
