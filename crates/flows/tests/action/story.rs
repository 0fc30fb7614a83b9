//! A run that was carried out: what was asked, told, written, and how it ended.

use std::collections::BTreeSet;

use serde_json::Value;
use seriatim_core::action::facts;
use seriatim_core::action::facts::ActionFact;
use seriatim_core::action::view::view;
use seriatim_core::projection::Fact;
use seriatim_core::question::Question;
use seriatim_flows::registry::End;
use seriatim_flows::registry::Ended;

use crate::stage::Played;
use crate::world::World;

/// A run that was carried out.
pub(crate) struct Story {
    pub(crate) played: Played<World>,
    pub(crate) facts: Vec<ActionFact>,
    /// What `log` says, line by line.
    pub(crate) log: Vec<String>,
}

impl Story {
    pub(crate) fn of(played: Played<World>) -> Story {
        let recorded = played.facts();
        let words =
            |fact: &Value| facts::sentence(fact).unwrap_or_else(|| panic!("no sentence: {fact}")).text;
        let log: Vec<String> = recorded.iter().map(words).collect();
        assert!(log.iter().all(|line| line.ends_with('.')), "{log:#?}");
        let typed = recorded.iter().filter(|fact| fact["fact"] != "attempt_failed");
        let facts = typed.map(|fact| serde_json::from_value(fact.clone()).unwrap()).collect();
        let at = played.world.now;
        let shown = view(&recorded.into_iter().map(|data| Fact { at, data }).collect::<Vec<_>>());
        assert_eq!(shown.fields.len(), 13);
        Story { played, facts, log }
    }

    pub(crate) fn world(&self) -> &World {
        &self.played.world
    }

    pub(crate) fn ended(&self) -> &Ended {
        &self.played.ended
    }

    /// The whole log, without the lines about the snapshot and the evidence, which are the same in all runs.
    #[track_caller]
    pub(crate) fn tells(&self, expected: &[&str]) -> &Story {
        let usual = [
            "Snapshot ",
            "Evidence written",
            "The action build began",
            "Checksums of",
            "Not checked: ",
            "Findings: ",
        ];
        let own: Vec<&String> =
            self.log.iter().filter(|line| !usual.iter().any(|usual| line.starts_with(usual))).collect();
        assert_eq!(own, expected);
        self
    }

    #[track_caller]
    pub(crate) fn ends(&self, status: End, message: &str) -> &Story {
        assert_eq!((self.ended().status, self.ended().message.as_str()), (status, message));
        self
    }

    #[track_caller]
    pub(crate) fn completes(&self) -> &Story {
        assert_eq!(self.ended().status, End::Completed, "{}\n{:#?}", self.ended().message, self.log);
        assert!(self.ended().good);
        self
    }

    /// The headers of all questions, in their order.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.played.questions().iter().map(|question| question.header.clone()).collect()
    }

    /// The question with this header, the last where there are several.
    #[track_caller]
    pub(crate) fn question(&self, about: &str) -> Question {
        let questions = self.played.questions();
        let found = questions.into_iter().rev().find(|question| question.header.contains(about));
        found.unwrap_or_else(|| panic!("{about} was not asked: {:?}", self.asked())).clone()
    }

    /// The ids of the options of a question.
    #[track_caller]
    pub(crate) fn options(&self, about: &str) -> Vec<String> {
        self.question(about).options.into_iter().map(|option| option.id).collect()
    }

    /// How often a role was called.
    pub(crate) fn calls(&self, role: &str) -> u32 {
        self.world().called.get(role).copied().unwrap_or(0)
    }

    /// The files that the flow itself wrote, each once.
    pub(crate) fn written(&self) -> BTreeSet<&str> {
        self.played.writes().into_iter().map(|file| file.path.as_str()).collect()
    }
}
