//! Scenarios in feature files.

use super::Marker;
use super::Scenario;
use super::Source;

/// Tags by which scenarios are left out of a run.
const PUT_OFF: [&str; 6] = ["@skip", "@wip", "@ignore", "@ignored", "@disabled", "@pending"];

/// The words for a scenario, in the languages that are met most.
const SCENARIO: [&str; 14] = [
    "Scenario",
    "Scenario Outline",
    "Scenario Template",
    "Example",
    "Szenario",
    "Szenariogrundriss",
    "Beispiel",
    "Scénario",
    "Plan du scénario",
    "Escenario",
    "Esquema del escenario",
    "Cenário",
    "Esquema do Cenário",
    "Scenariusz",
];

const GROUP: [&str; 8] = [
    "Feature",
    "Rule",
    "Funktionalität",
    "Regel",
    "Fonctionnalité",
    "Característica",
    "Funcionalidade",
    "Regla",
];

#[derive(Default)]
struct Reader {
    source: Source,
    tags_put_off: bool,
    waiting: Vec<usize>,
    feature_put_off: bool,
    rule_put_off: bool,
    in_text: Option<&'static str>,
}

pub(super) fn read(text: &str) -> Source {
    let mut reader = Reader::default();
    for (number, line) in (1_u32..).zip(text.lines()) {
        reader.line(number, line.trim());
    }
    reader.source
}

impl Reader {
    fn line(&mut self, number: u32, line: &str) {
        let fence = ["\"\"\"", "```"].into_iter().find(|fence| line.starts_with(fence));
        match (self.in_text, fence) {
            (Some(open), Some(fence)) if open == fence => self.in_text = None,
            (Some(_), _) => {}
            (None, Some(fence)) => self.in_text = Some(fence),
            (None, None) => self.plain(number, line),
        }
    }

    fn plain(&mut self, number: u32, line: &str) {
        if line.starts_with('@') {
            self.tags(number, line);
            return;
        }
        let Some((keyword, name)) = line.split_once(':') else { return };
        let (keyword, name) = (keyword.trim(), name.trim());
        if SCENARIO.contains(&keyword) {
            let enabled = !(self.feature_put_off || self.rule_put_off || self.tags_put_off);
            self.source.scenarios.push(Scenario { name: name.to_owned(), line: number, enabled });
        } else if matches!(keyword, "Rule" | "Regel" | "Regla") {
            self.rule_put_off = self.tags_put_off;
        } else if GROUP.contains(&keyword) {
            self.feature_put_off = self.tags_put_off;
        } else if !matches!(keyword, "Examples" | "Scenarios" | "Background") {
            return;
        }
        for at in self.waiting.drain(..) {
            if let Some(marker) = self.source.markers.get_mut(at) {
                marker.test = Some(name.to_owned());
            }
        }
        self.tags_put_off = false;
    }

    fn tags(&mut self, number: u32, line: &str) {
        let tags = line.split_whitespace().take_while(|tag| !tag.starts_with('#'));
        for tag in tags.flat_map(|tags| tags.split_inclusive('@').filter(|tag| *tag != "@")) {
            let tag = format!("@{}", tag.trim_matches('@'));
            if PUT_OFF.contains(&tag.to_lowercase().as_str()) {
                self.tags_put_off = true;
                self.waiting.push(self.source.markers.len());
                self.source.markers.push(Marker { line: number, word: tag, test: None });
            }
        }
    }
}
