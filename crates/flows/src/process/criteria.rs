//! Entry and exit criteria: computed where they can be, judged where they must be, asked where that is unsure.

use serde_json::Map;
use serde_json::Value;
use serde_json::json;
use seriatim_core::failure::Class;
use seriatim_core::process::ObservationType;
use seriatim_core::process::Trust;
use seriatim_core::process::definition::Criterion;
use seriatim_core::process::facts::Weighed;
use seriatim_core::process::judging;
use seriatim_core::question::Choice;
use seriatim_core::report::Brief;
use seriatim_core::report::Judged;
use seriatim_core::report::Report;
use seriatim_core::report::Status;
use seriatim_core::verdict::PersonWord;
use seriatim_core::verdict::Verdict;

use super::course::Course;
use super::people;
use super::records::Decided;
use crate::attempts::Cap;
use crate::attempts::attempts;
use crate::request::Assignment;
use crate::request::Computed;
use crate::request::PersonChoice;
use crate::views;

/// A criterion and what is known about it.
struct Settled {
    text: String,
    how: String,
    verdict: Verdict,
}

impl Settled {
    fn is_met(&self) -> bool {
        self.verdict.is_good()
    }
}

impl Course<'_> {
    /// Whether the run may begin (PX-113 to PX-119).
    pub(super) async fn entry(&mut self) -> Result<(), String> {
        let criteria = self.definition.quality.entry_criteria.clone();
        if criteria.is_empty() {
            return Ok(());
        }
        let computed = self.computed(&criteria).await;
        let mut settled: Vec<Settled> = computed;
        let open: Vec<String> =
            criteria.iter().filter(|c| c.when.is_none()).map(|c| c.text.clone()).collect();
        if (self.test() || settled.iter().all(Settled::is_met)) && !open.is_empty() {
            if self.must_be_approved() {
                self.approve(&criteria).await?;
            } else {
                settled.extend(self.judged("entry-criteria", &open, true).await);
                self.bind_trust().await;
            }
        }
        let unmet: Vec<&str> = settled.iter().filter(|s| !s.is_met()).map(|s| s.text.as_str()).collect();
        if self.test() {
            for s in &settled {
                self.test_log(format!("TEST: entry criterion '{}': {}", s.text, verdict(s.is_met())));
            }
            return Ok(());
        }
        if unmet.is_empty() {
            Ok(())
        } else {
            Err(format!("what must be true at the beginning is not: {}", unmet.join("; ")))
        }
    }

    /// On the first run, without trust, or when the definition is another than the one that was trusted (E-22).
    fn must_be_approved(&self) -> bool {
        if self.test() {
            return false;
        }
        let trusted = self.instance.trust() == Some(Trust::TrustApproved);
        self.instance.run_count == 0 || !trusted || self.trust_is_stale()
    }

    fn trust_is_stale(&self) -> bool {
        let bound = self.instance.approval.as_ref().and_then(|a| a.definition_digest.as_ref());
        bound.is_some_and(|d| d.value != self.definition.digest().to_string())
    }

    /// Trust without a digest is believed once, and bound to what it is believed for.
    async fn bind_trust(&mut self) {
        let bound = self.instance.approval.as_ref().is_some_and(|a| a.definition_digest.is_some());
        if !bound {
            let digest = self.definition.digest().to_string();
            self.edit(vec![("approval.definition_digest", json!(digest))]).await;
        }
    }

    async fn approve(&mut self, criteria: &[Criterion]) -> Result<(), String> {
        let texts: Vec<String> = criteria.iter().map(|c| c.text.clone()).collect();
        let mut question = people::approval(self.title(), &texts, self.trust_is_stale());
        // The approval is for this definition and these inputs, and for no others.
        question.about = vec![
            self.definition.digest(),
            seriatim_core::hash::Hash::of(Value::Object(self.instance.inputs_json()).to_string().as_bytes()),
        ];
        let Some((choice, answer)) = self.choose(question).await else { return Ok(()) };
        let (outcome, trust) = match choice {
            people::Approval::Approve => ("Approved for this run", Some("REVIEW_EACH")),
            people::Approval::Trust => ("Approved, and trusted for future runs", Some("TRUST_APPROVED")),
            people::Approval::Reject => ("Not approved", None),
        };
        let decided = Decided {
            actor: format!("human:{}", answer.by),
            subject: format!("Approval of '{}'", self.title()),
            outcome: outcome.to_owned(),
            rationale: answer.text.clone().unwrap_or_else(|| "No reason was given.".to_owned()),
        };
        let ids = self.record(vec![decided], vec![]).await;
        let Some(trust) = trust else {
            return Err(format!("{} did not approve it", answer.by));
        };
        let at = self.cx.now().await;
        self.edit(vec![
            ("approval.definition_approved", json!(true)),
            ("approval.approved_by", json!(format!("human:{}", answer.by))),
            ("approval.approved_at", json!(at.seconds())),
            ("approval.trust_level", json!(trust)),
            ("approval.approval_decision_id", json!(ids.decisions.first())),
            ("approval.definition_digest", json!(self.definition.digest().to_string())),
        ])
        .await;
        Ok(())
    }

    /// What is known about the exit criteria (PX-121, PX-122). Every evaluation is on record.
    pub(super) async fn exit(&mut self) -> Vec<Weighed> {
        let criteria = self.definition.quality.exit_criteria.clone();
        if criteria.is_empty() {
            return vec![];
        }
        let mut settled = self.computed(&criteria).await;
        let open: Vec<String> =
            criteria.iter().filter(|c| c.when.is_none()).map(|c| c.text.clone()).collect();
        if !open.is_empty() {
            settled.extend(self.judged("exit-criteria", &open, false).await);
        }
        for s in &settled {
            if self.test() {
                self.test_log(format!("TEST: exit criterion '{}': {}", s.text, verdict(s.is_met())));
            } else {
                let value = json!({"criterion": s.text, "met": s.is_met(), "how": s.how});
                self.observe(ObservationType::State, "Exit criterion", value).await;
            }
        }
        settled.into_iter().map(|s| Weighed { matter: s.text, verdict: s.verdict }).collect()
    }

    /// Those with a condition: no confidence is needed for them.
    async fn computed(&mut self, criteria: &[Criterion]) -> Vec<Settled> {
        let with: Vec<(&Criterion, String)> =
            criteria.iter().filter_map(|c| c.when.as_ref().map(|w| (c, w.value.clone()))).collect();
        if with.is_empty() {
            return vec![];
        }
        let conditions = with.iter().map(|(_, when)| when.clone()).collect();
        let outcomes = self.cx.compute(conditions, self.about(None)).await;
        with.iter()
            .zip(outcomes)
            .map(|((criterion, when), outcome)| {
                let text = criterion.text.clone();
                match outcome {
                    Computed::Holds(true) => {
                        let verdict = Verdict::checked(&text, when, None);
                        Settled { text, how: "computed".to_owned(), verdict }
                    }
                    Computed::Holds(false) => {
                        let verdict = Verdict::bad(not_met(&text, ""));
                        Settled { text, how: "computed".to_owned(), verdict }
                    }
                    Computed::Unknown(why) => {
                        let how = format!("could not be computed: {why}");
                        let verdict = Verdict::unknown(format!("Criterion \"{text}\" {how}"));
                        Settled { text, how, verdict }
                    }
                }
            })
            .collect()
    }

    /// What conditions can speak of.
    pub(super) fn about(&self, outputs: Option<&Map<String, Value>>) -> Map<String, Value> {
        let steps: Map<String, Value> =
            self.results.iter().map(|(id, _, map)| (id.clone(), Value::Object(map.clone()))).collect();
        let mut all = Map::new();
        for (_, _, map) in &self.results {
            all.extend(map.clone());
        }
        if let Some(own) = outputs {
            all.extend(own.clone());
        }
        let mut about = Map::new();
        about.insert("inputs".into(), Value::Object(self.instance.inputs_json()));
        about.insert("parameters".into(), Value::Object(self.instance.parameters.clone()));
        about.insert("outputs".into(), Value::Object(all));
        about.insert("steps".into(), Value::Object(steps));
        about
    }

    /// Those that an agent has to judge; what it is unsure of goes to a person.
    async fn judged(&mut self, step: &str, criteria: &[String], entry: bool) -> Vec<Settled> {
        let course = &*self;
        let assign = |attempt: u32, feedback: &[String]| course.judging(step, criteria, attempt, feedback);
        let tried = attempts(self.cx, Cap::default(), 0, vec![], assign).await;
        if !self.test() && tried.result.is_ok() {
            // Who judges only looks. What a judge wrote all the same is on record, and dropped with its view.
            let _ = views::discard(self.cx, step, step, "").await;
        }
        let mut person = None;
        let (answers, trouble) = match tried.result {
            Ok(report) => match unusable(&report) {
                None => {
                    person = report.person;
                    (report.criteria, String::new())
                }
                Some(why) => {
                    self.error(&format!("{step}: {} - {why}", Class::Invalid));
                    (vec![], format!("it could not be judged: {why}"))
                }
            },
            Err(failure) => {
                self.error(&format!("{step}: {} - {}", failure.class, failure.message));
                (vec![], format!("it could not be judged: {}", failure.message))
            }
        };
        let threshold = self.level.threshold(self.definition.composition.as_ref());
        let mut settled = Vec::new();
        for text in criteria {
            let judged = answers.iter().find(|j| j.criterion == *text);
            let sure = judged.filter(|j| j.confidence.is_some_and(|c| c >= threshold));
            settled.push(match sure {
                Some(j) => {
                    let verdict = match (j.met, &person) {
                        (true, Some(by)) => Verdict::decided(by, PersonWord::Confirmed, text),
                        (true, None) => Verdict::judged("the judge of the criteria", text),
                        (false, _) => Verdict::bad(not_met(text, &j.reason)),
                    };
                    Settled { text: text.clone(), how: how(j), verdict }
                }
                None => self.ask_criterion(text, judged, &trouble, entry).await,
            });
        }
        settled
    }

    async fn ask_criterion(
        &mut self,
        text: &str,
        judged: Option<&Judged>,
        trouble: &str,
        entry: bool,
    ) -> Settled {
        let reason = judged.map_or(trouble, |j| j.reason.as_str()).to_owned();
        let inputs = self.instance.inputs_json();
        let question = people::criterion(self.title(), text, &reason, &inputs, entry);
        let Some((choice, answer)) = self.choose(question).await else {
            // A dry run asks nobody; what it tells is the judge's word, and its result is none of the words of a type.
            let verdict = match judged.is_some_and(|j| j.met) {
                true => Verdict::judged("the judge of the criteria", text),
                false => Verdict::unknown(text),
            };
            return Settled { text: text.to_owned(), how: "not asked in a dry run".to_owned(), verdict };
        };
        let met = match choice {
            people::Criterion::Met => true,
            people::Criterion::NotMet => false,
        };
        let subject = if entry {
            "Entry criterion confirmed by a person"
        } else {
            "Exit criterion confirmed by a person"
        };
        let value = json!({"criterion": text, "met": met, "by": answer.by, "words": answer.text});
        self.observe(ObservationType::Event, subject, value).await;
        let verdict = match met {
            true => Verdict::decided(&answer.by, PersonWord::Confirmed, text),
            false => Verdict::bad(not_met(text, answer.text.as_deref().unwrap_or_default())),
        };
        Settled { text: text.to_owned(), how: format!("said by {}", answer.by), verdict }
    }

    fn judging(&self, step: &str, criteria: &[String], attempt: u32, feedback: &[String]) -> Assignment {
        let title =
            if step == "entry-criteria" { "Judge whether it can begin" } else { "Judge what was achieved" };
        let inputs = self.brief_inputs();
        let mut prompt =
            format!("# {title}\n\nThe work as a whole: {}\n\n## Judge each of these\n", self.title());
        for criterion in criteria {
            prompt.push_str(&format!("- {criterion}\n"));
        }
        prompt.push_str(&format!("\n## What is known\n{inputs}\n"));
        for line in feedback {
            prompt.push_str(&format!("\nThe last attempt could not be used: {line}\n"));
        }
        prompt.push_str(
            "\n## How to report\nWrite one JSON object to the file that SERIATIM_REPORT names: {\"status\": \"done\", \
             \"criteria\": [{\"criterion\": \"word for word\", \"met\": true, \"confidence\": 0-100, \"reason\": \
             \"...\"}]}\n",
        );
        Assignment {
            agents: vec![step.to_owned(), "judge".to_owned()],
            title: title.to_owned(),
            brief: Brief {
                step: step.to_owned(),
                role: "judge".to_owned(),
                attempt,
                prompt,
                inputs,
                parameters: Value::Object(self.instance.parameters.clone()),
                criteria: criteria.to_vec(),
                feedback: feedback.to_vec(),
                ..Brief::default()
            },
            judge_all: true,
            by_person: judge_choices(criteria),
            rehearsal: self.test(),
            view: step.to_owned(),
            ..Assignment::default()
        }
    }
}

/// What a person can say who judges in an agent's place. Several criteria can be answered one by one.
fn judge_choices(criteria: &[String]) -> Vec<PersonChoice> {
    let (met, not_met) = match criteria.len() {
        1 => ("It is met", "It is not met"),
        _ => ("All of them are met", "None of them is met"),
    };
    let each = Choice::new("each", "Ask me one by one", "You are asked about each of them.");
    let all = [
        (Choice::new("met", met, "Your word counts for all that is listed."), Some(true)),
        (
            Choice::new("not_met", not_met, "Your word counts for all that is listed.").with_text(),
            Some(false),
        ),
    ];
    let each = (criteria.len() > 1).then_some((each, None));
    let choice = |(choice, criteria_met)| PersonChoice { criteria_met, ..PersonChoice::new(choice) };
    all.into_iter().chain(each).map(choice).collect()
}

/// Why the report of a judge cannot be used although it can be read.
fn unusable(report: &Report) -> Option<String> {
    if report.status != Status::Done {
        return Some("the judge says that it is only partly done".to_owned());
    }
    let contradicts = judging::claims(report).contradiction().is_some();
    contradicts.then(|| "the judge contradicts itself".to_owned())
}

fn not_met(text: &str, reason: &str) -> String {
    match reason.trim().trim_end_matches('.') {
        "" => format!("\"{text}\" is not met"),
        reason => format!("\"{text}\" is not met: {reason}"),
    }
}

fn how(judged: &Judged) -> String {
    let confidence = judged.confidence.map(|c| format!(" with confidence {c}")).unwrap_or_default();
    let reason = if judged.reason.is_empty() { String::new() } else { format!(": {}", judged.reason) };
    format!("judged{confidence}{reason}")
}

fn verdict(met: bool) -> &'static str {
    if met { "met" } else { "not met" }
}
