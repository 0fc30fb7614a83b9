//! A run that is over, and what can be asked about it.

use seriatim_core::projection;
use seriatim_core::roadmap::facts::RoadmapFact;
use seriatim_core::sentence::SharedFact;
use seriatim_core::sentence::told;
use seriatim_core::time::Utc;
use seriatim_core::view::Block;
use seriatim_core::view::RunView;
use seriatim_flows::registry::End;
use seriatim_flows::registry::Ended;

use crate::stage::Played;
use crate::world::World;

pub(crate) struct Story {
    pub(crate) played: Played<World>,
}

impl Story {
    /// Every fact has a sentence, and every question of the dialect is recorded as a decision.
    pub(crate) fn new(played: Played<World>) -> Story {
        let story = Story { played };
        story.log();
        let decided =
            story.facts().into_iter().filter(|fact| matches!(fact, RoadmapFact::Decision(_))).count();
        assert_eq!(decided, story.world().answered.len());
        story
    }

    /// Another run in the same project.
    pub(crate) fn again(self) -> World {
        let mut world = self.played.world;
        world.forget();
        world
    }

    pub(crate) fn world(&self) -> &World {
        &self.played.world
    }

    pub(crate) fn ended(&self) -> &Ended {
        &self.played.ended
    }

    #[track_caller]
    pub(crate) fn ends(&self, status: End, message: &str) -> &Story {
        assert_eq!((self.ended().status, self.ended().message.as_str()), (status, message));
        self
    }

    /// The facts of the dialect.
    pub(crate) fn facts(&self) -> Vec<RoadmapFact> {
        self.played.facts().into_iter().filter_map(|fact| serde_json::from_value(fact).ok()).collect()
    }

    /// What `log` tells, without times.
    #[track_caller]
    pub(crate) fn log(&self) -> Vec<String> {
        let facts = self.played.facts();
        let line = |fact: &serde_json::Value| {
            let sentence = told::<RoadmapFact>(fact).or_else(|| told::<SharedFact>(fact));
            let sentence = sentence.unwrap_or_else(|| panic!("no sentence for {fact}"));
            let detail =
                if sentence.detail.is_empty() { String::new() } else { format!(" [{}]", sentence.detail) };
            format!("{}{detail}", sentence.text)
        };
        facts.iter().map(line).collect()
    }

    /// The lines of the log that hold one of these words.
    pub(crate) fn log_of(&self, words: &[&str]) -> Vec<String> {
        self.log().into_iter().filter(|line| words.iter().any(|word| line.contains(word))).collect()
    }

    pub(crate) fn saves(&self) -> &[String] {
        &self.world().book.saves
    }

    /// The commits after the user's, by their subjects.
    pub(crate) fn commits(&self) -> Vec<&str> {
        self.world().repository.subjects.iter().skip(1).map(String::as_str).collect()
    }

    /// The agents that were called, as step and phase.
    pub(crate) fn calls(&self) -> Vec<String> {
        let name = |of: &seriatim_flows::request::Assignment| format!("{} {}", of.brief.step, of.phase);
        self.world().called.iter().map(name).collect()
    }

    pub(crate) fn questions(&self) -> Vec<String> {
        self.played.questions().iter().map(|question| question.header.clone()).collect()
    }

    pub(crate) fn view(&self) -> RunView {
        let at = Utc::parse("2026-01-18T15:00:00Z").unwrap();
        let facts: Vec<projection::Fact> =
            self.played.facts().into_iter().map(|data| projection::Fact { at, data }).collect();
        seriatim_core::roadmap::view::view(&facts)
    }

    /// What `show` has to show, as plain text.
    pub(crate) fn shown(&self) -> String {
        let mut lines = vec![];
        for section in self.view().sections {
            lines.push(format!("# {}", section.title));
            for block in section.blocks {
                match block {
                    Block::Line { label, text, .. } => lines.push(format!("{label}: {text}")),
                    Block::Table { heading, rows } => {
                        lines.push(heading.join(" | "));
                        lines.extend(rows.iter().map(|row| row.join(" | ")));
                    }
                    Block::Output { title, command, exit, text, brief } => {
                        let depth = if brief { "brief" } else { "in full" };
                        lines
                            .push(format!("{title} ({depth}): $ {command} -> {exit:?}\n{}", text.trim_end()));
                    }
                }
            }
        }
        lines.join("\n")
    }

    /// The whole run: log, saves, commits and end.
    pub(crate) fn whole(&self) -> String {
        let part = |title: &str, lines: &[String]| format!("{title}\n{}\n", lines.join("\n"));
        let commits: Vec<String> = self.commits().iter().map(|&subject| subject.to_owned()).collect();
        let ended = self.ended();
        [
            part("LOG", &self.log()),
            part("SAVES", self.saves()),
            part("COMMITS", &commits),
            part("END", &[format!("{:?} {}", ended.status, ended.message)]),
        ]
        .join("\n")
    }
}
