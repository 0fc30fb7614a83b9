//! What an action needs before it starts (OC-12, OC-15): what reads like a path is looked for, prose is asked about.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde::Serialize;

use super::paths::Promise;
use super::placeholders;
use crate::choices;
use crate::choices::Choices;
use crate::question::Choice;
use crate::question::Question;

choices! {
    /// What a person does about an input that is not there.
    pub enum MissingInput {
        /// Their words are the input.
        Provide = "provide_input",
        /// The files are there by now.
        LookAgain = "retry",
        Cancel = "cancel",
    }
}

/// One required input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// As the contract says it.
    pub words: String,
    /// Where it can lie; one of them will do. Empty for what only a person can give.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub any_of: Vec<String>,
}

/// Endings by which a single word is a file.
const ENDINGS: [&str; 12] =
    ["md", "yaml", "yml", "json", "toml", "txt", "py", "sh", "ts", "tsx", "sql", "feature"];
/// Folders by which a word with a slash is a path and not two words.
const FOLDERS: [&str; 10] = [
    "planning-mds",
    "agents",
    "engine",
    "experience",
    "neuron",
    "services",
    "docs",
    "src",
    "scripts",
    "tests",
];

impl Input {
    /// Reads one prerequisite: `planning-mds/BLUEPRINT.md exists` names a file, `tests passing` does not.
    pub fn read(words: &str) -> Input {
        let text = placeholders::expand(words.trim(), |_| None);
        let alone = !text.contains(char::is_whitespace);
        let path = text
            .split_whitespace()
            .map(|word| word.trim_matches(['`', '"', '\'', ',', ';', ':', '(', ')']))
            .map(|word| word.strip_prefix("./").unwrap_or(word).trim_end_matches('.'))
            .find(|word| is_path(word, alone));
        Input { words: words.trim().to_owned(), any_of: path.map(str::to_owned).into_iter().collect() }
    }

    /// The path that a text names, if it names one.
    pub(super) fn path_in(words: &str) -> Option<String> {
        Input::read(words).any_of.into_iter().next()
    }

    /// What only a person can give.
    pub fn is_prose(&self) -> bool {
        self.any_of.is_empty()
    }

    /// Whether it is there. A file without a folder may lie anywhere.
    pub fn is_met(&self, existing: &BTreeSet<String>) -> bool {
        self.any_of.iter().any(|entry| {
            let anywhere = if entry.contains('/') { entry.clone() } else { format!("**/{entry}") };
            // A folder is as good with its slash as without.
            let below = format!("{}/", anywhere.trim_end_matches('/'));
            [anywhere, below]
                .iter()
                .filter_map(|entry| Promise::parse(entry).ok())
                .any(|promise| existing.iter().any(|path| promise.covers(path)))
        })
    }

    /// Asks for an input that is not there (OC-15). It is never guessed.
    pub fn question(&self, action: &str) -> Question {
        let (question, why) = if self.is_prose() {
            (
                format!("The action \"{action}\" needs to know: {}.", self.words),
                "It is a required input, and nothing in the workspace says it.".to_owned(),
            )
        } else {
            (
                format!("The action \"{action}\" needs this first: {}.", self.words),
                format!("It was looked for at {} and is not there.", self.any_of.join(" and ")),
            )
        };
        let provide = Choice::new(
            MissingInput::Provide.id(),
            "Provide it",
            "What you write is given to every role of the action.",
        );
        let retry = Choice::new(
            MissingInput::LookAgain.id(),
            "Look again",
            "The files are looked for again; use it once they are there.",
        );
        let cancel = Choice::new(
            MissingInput::Cancel.id(),
            "Cancel",
            "The action does not start, and nothing was changed.",
        );
        let options = if self.is_prose() {
            vec![provide.with_text(), cancel]
        } else {
            vec![retry, provide.with_text(), cancel]
        };
        Question {
            header: "Missing input".to_owned(),
            question,
            why,
            tried: vec![],
            details: String::new(),
            options,
            free_text: true,
            about: vec![],
        }
    }
}

/// The inputs that have to be asked for: prose without an answer, and files that are not there.
pub fn missing<'i>(
    inputs: &'i [Input],
    existing: &BTreeSet<String>,
    given: &BTreeSet<String>,
) -> Vec<&'i Input> {
    inputs.iter().filter(|input| !given.contains(&input.words) && !input.is_met(existing)).collect()
}

fn is_path(word: &str, alone: bool) -> bool {
    if word.contains("://") || word.is_empty() {
        return false;
    }
    let last = word.rsplit('/').next().unwrap_or(word);
    let is_file = last.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty() && ENDINGS.contains(&ending.to_ascii_lowercase().as_str())
    });
    let in_folder = word.split_once('/').is_some_and(|(first, _)| FOLDERS.contains(&first));
    is_file || in_folder || (alone && word.contains('/')) || (word.ends_with('/') && word.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn listing(paths: &[&str]) -> BTreeSet<String> {
        paths.iter().map(|path| (*path).to_owned()).collect()
    }

    #[test]
    fn oc_15_what_reads_like_a_path_is_looked_for_and_prose_is_asked() {
        for (words, path) in [
            (
                "{PRODUCT_ROOT}/planning-mds/BLUEPRINT.md exists with Sections 0-2",
                "planning-mds/BLUEPRINT.md",
            ),
            ("SOLUTION-PATTERNS.md exists", "SOLUTION-PATTERNS.md"),
            ("`planning-mds/features/`", "planning-mds/features/"),
            ("config/app", "config/app"),
        ] {
            assert_eq!(Input::read(words).any_of, [path], "{words}");
        }
        for prose in
            ["plan action completed", "tests passing", "code and/or tests", "see https://x.org/a.md", "v1.2"]
        {
            assert!(Input::read(prose).is_prose(), "{prose}");
        }
    }

    #[test]
    fn oc_12_inputs_are_found_where_they_lie() {
        let there = listing(&["planning-mds/architecture/SOLUTION-PATTERNS.md", "planning-mds/stories/a.md"]);
        assert!(Input::read("SOLUTION-PATTERNS.md exists").is_met(&there));
        assert!(Input::read("planning-mds/stories").is_met(&there));
        assert!(!Input::read("planning-mds/BLUEPRINT.md").is_met(&there));
        let inputs = [Input::read("planning-mds/BLUEPRINT.md"), Input::read("project name")];
        let given = BTreeSet::from(["project name".to_owned()]);
        assert_eq!(missing(&inputs, &there, &given), [&inputs[0]]);
        assert_eq!(missing(&inputs, &there, &BTreeSet::new()).len(), 2);
    }

    #[test]
    fn oc_15_a_question_about_an_input_takes_no_empty_answer() {
        let question = Input::read("target users").question("init");
        assert_eq!(question.question, "The action \"init\" needs to know: target users.");
        assert!(question.choose("provide_input", Some(" ")).is_err());
        assert!(question.choose("provide_input", Some("farmers")).is_ok());
        let question = Input::read("planning-mds/BLUEPRINT.md").question("plan");
        let ids: Vec<&str> = question.options.iter().map(|option| option.id.as_str()).collect();
        assert_eq!(ids, ["retry", "provide_input", "cancel"]);
    }

    proptest! {
        #[test]
        fn any_words_can_be_a_prerequisite(words in ".{0,60}") {
            let input = Input::read(&words);
            prop_assert!(input.any_of.len() <= 1);
            prop_assert!(!input.is_met(&BTreeSet::new()));
        }
    }
}
