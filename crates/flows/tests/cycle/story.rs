//! What came of a run, in forms that tests can compare as a whole.

use serde_json::Value;
use seriatim_core::cycle::CycleFact;
use seriatim_core::cycle::block;
use seriatim_core::cycle::view;
use seriatim_core::plain;
use seriatim_core::projection::Fact;
use seriatim_core::question::Answer;
use seriatim_core::question::Question;
use seriatim_core::sentence::Sentence;
use seriatim_core::sentence::SharedFact;
use seriatim_core::sentence::told;
use seriatim_core::time::Utc;
use seriatim_core::view::RunView;
use seriatim_flows::Call;
use seriatim_flows::Request;
use seriatim_flows::cycle::DOCUMENT;
use seriatim_flows::registry::Ended;

use crate::stage::Played;
use crate::world::Files;
use crate::world::Seen;

pub(crate) struct Story {
    pub(crate) ended: Ended,
    pub(crate) seen: Seen,
    pub(crate) files: Files,
    pub(crate) played: Played,
}

impl Story {
    /// Every question says what, why and what one can do; every fact has a sentence; every document is well-formed.
    pub(crate) fn new(played: Played, seen: Seen, files: Files) -> Story {
        for (question, _) in played.questions() {
            assert_eq!(plain::complete(&question), vec![], "{question:#?}");
        }
        let story = Story { ended: played.ended.clone(), seen, files, played };
        assert_eq!(story.sentences().len(), story.all_facts().len());
        for (path, text) in story.files.iter().filter(|(path, _)| path.starts_with("docs/context/")) {
            for found in block::read_all(text) {
                assert_eq!(found.findings, vec![], "{path}\n{text}");
            }
        }
        story
    }

    pub(crate) fn sentences(&self) -> Vec<Sentence> {
        let sentence = |fact: &Value| told::<CycleFact>(fact).or_else(|| told::<SharedFact>(fact));
        let all = self.all_facts();
        all.iter().map(|fact| sentence(fact).unwrap_or_else(|| panic!("{fact} has no sentence"))).collect()
    }

    /// What `log` tells: one line for each fact, but for those that every cycle of this world begins with.
    pub(crate) fn told(&self) -> Vec<String> {
        let usual = ["Not checked, because it is not configured:", "Before the work 1 test ran."];
        let is_usual = |line: &String| usual.iter().any(|words| line.starts_with(words));
        self.told_all().into_iter().filter(|line| !is_usual(line)).collect()
    }

    pub(crate) fn told_all(&self) -> Vec<String> {
        let line =
            |s: Sentence| if s.detail.is_empty() { s.text } else { format!("{} [{}]", s.text, s.detail) };
        self.sentences().into_iter().map(line).collect()
    }

    pub(crate) fn all_facts(&self) -> Vec<Value> {
        let fact = |call: &Call| match &call.request {
            Request::Record { fact } => Some(fact.clone()),
            _ => None,
        };
        self.played.calls.iter().filter_map(fact).collect()
    }

    /// The facts of one kind.
    pub(crate) fn facts(&self, kind: &str) -> Vec<Value> {
        self.all_facts().into_iter().filter(|fact| fact["fact"] == kind).collect()
    }

    /// `header -> choice`, one for each question.
    pub(crate) fn asked(&self) -> Vec<String> {
        let chosen = |(question, answer): (Question, Option<Answer>)| {
            format!(
                "{} -> {}",
                question.header,
                answer.map_or("cancelled".to_owned(), |answer| answer.choice)
            )
        };
        self.played.questions().into_iter().map(chosen).collect()
    }

    /// The first question with this header.
    #[track_caller]
    pub(crate) fn question(&self, header: &str) -> Question {
        let found = self.played.questions().into_iter().find(|(question, _)| question.header == header);
        found.unwrap_or_else(|| panic!("nobody asked `{header}`: {:?}", self.asked())).0
    }

    /// The roles in the order in which they were called.
    pub(crate) fn called(&self) -> Vec<&str> {
        self.seen.briefs.iter().map(|(role, _)| role.as_str()).collect()
    }

    /// The nth brief of a role, from 0.
    #[track_caller]
    pub(crate) fn brief(&self, role: &str, nth: usize) -> &str {
        &self.seen.briefs.iter().filter(|(called, _)| called == role).nth(nth).unwrap().1
    }

    /// The document of the cycle that is open.
    pub(crate) fn document(&self) -> &str {
        self.files.get(DOCUMENT).map_or("", String::as_str)
    }

    /// The names in the archive.
    pub(crate) fn archive(&self) -> Vec<&str> {
        self.files.keys().filter_map(|path| path.strip_prefix("docs/context/archive/")).collect()
    }

    #[track_caller]
    pub(crate) fn archived(&self, name: &str) -> &str {
        let found = self.files.get(&format!("docs/context/archive/{name}"));
        found.unwrap_or_else(|| panic!("the archive has {:?}", self.archive()))
    }

    /// `Human INIT > Planner`, one for each stage of an archived document.
    #[track_caller]
    pub(crate) fn blocks(&self, name: &str) -> Vec<String> {
        let line = |found: block::FoundBlock| {
            let word = |role: Option<block::Role>| role.map_or("?", block::Role::word);
            let mark = found.mark.map_or("?", block::Mark::word);
            format!("{} {mark} > {}", word(found.role), word(found.next))
        };
        block::read_all(self.archived(name)).into_iter().map(line).collect()
    }

    pub(crate) fn view(&self) -> RunView {
        let facts: Vec<Fact> = self.all_facts().into_iter().map(|data| Fact { at: Utc(0), data }).collect();
        view::view(&facts)
    }
}
