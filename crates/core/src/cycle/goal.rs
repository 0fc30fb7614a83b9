//! The goal form: what a person wants, and what is missing before anybody can plan it (CY-25, CY-27).

use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;
use serde::Serialize;

/// Shorter goals leave too much to guess.
const WORDS_MIN: usize = 8;

/// What a person wrote into the goal form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Goal {
    pub text: String,
    /// Measurable success criteria.
    pub criteria: Vec<String>,
    /// How things stand now.
    pub state: String,
    /// Context documents that the person refers to.
    pub docs: Vec<String>,
    /// Whether earlier archives were reviewed; nothing where there are none. It is on record either way (CY-24).
    pub archives_reviewed: Option<bool>,
}

/// What would have to be added before the goal can be taken, in plain sentences; nothing when it can.
pub fn missing(goal: &Goal) -> Vec<String> {
    let words = goal.text.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count();
    if words == 0 {
        return vec!["There is no goal yet: say what should be different when the work is done.".to_owned()];
    }
    let mut missing = vec![];
    if words < WORDS_MIN {
        missing.push(format!(
            "The goal has {words} {}: describe in at least {WORDS_MIN} what should be different when the work is done.",
            if words == 1 { "word" } else { "words" }
        ));
    }
    if !names_something_checkable(&goal.text) && !goal.criteria.iter().any(|c| names_something_checkable(c)) {
        missing.push(
            "The goal names nothing that can be checked: add a file, a name from the code, a number, or a check that has to pass."
                .to_owned(),
        );
    }
    missing
}

/// A path, an identifier, a number or a gate.
fn names_something_checkable(text: &str) -> bool {
    CHECKABLE.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

/// Always there: a test holds that each part is found.
static CHECKABLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let parts = [
        // A number.
        r"\d",
        // A quotation from the code.
        r"`[^`\s][^`]*`",
        // A path or a file: not `and/or`, whose second part has no ending, unless a folder is marked as one.
        r"(?:^|[\s(\x22'])\.{0,2}/?[\w.-]+(?:/[\w.-]+)*(?:/|\.[A-Za-z]{2,5})(?:$|[\s),;:'\x22]|\.(?:$|\s))",
        r"(?:^|[\s(\x22'])/[\w.-]+",
        r"[\w-]{2,}\.[chrR]\b",
        r"\w+/\w+/\w+",
        // An identifier: snake_case, camelCase, a::b, call(), --option.
        r"[A-Za-z]\w*_\w+",
        r"[a-z][a-z0-9]*[A-Z][A-Za-z0-9]*",
        r"\w::\w",
        r"\w\(\)",
        r"(?:^|\s)--[a-z]",
        // A gate.
        r"(?i)\b(?:tests?|lint|lints|linter|linters|clippy|formatter|build|builds|compiles?|coverage|benchmarks?|type-?checks?|gates?|ci)\b",
    ];
    Regex::new(&parts.map(|part| format!("(?:{part})")).join("|")).ok()
});

#[cfg(test)]
mod tests {
    use super::*;

    fn goal(text: &str) -> Goal {
        Goal { text: text.to_owned(), ..Goal::default() }
    }

    #[test]
    fn cy_25_an_empty_or_vague_goal_is_told_what_it_lacks() {
        for empty in ["", "  \n ", "--- !!"] {
            assert_eq!(
                missing(&goal(empty)),
                ["There is no goal yet: say what should be different when the work is done."]
            );
        }
        assert_eq!(
            missing(&goal("do the thing")),
            [
                "The goal has 3 words: describe in at least 8 what should be different when the work is done.",
                "The goal names nothing that can be checked: add a file, a name from the code, a number, or a check that has to pass.",
            ]
        );
        assert_eq!(
            missing(&goal("please make everything better and/or nicer for all of us. Thanks!")).len(),
            1
        );
        assert_eq!(missing(&goal("fix src/lib.rs")).len(), 1);
    }

    #[test]
    fn a_goal_of_eight_words_that_names_something_is_taken() {
        for checkable in [
            "src/parser.rs",
            "README.md,",
            "README.md.",
            "main.c",
            "src/",
            "/health",
            "`Parser`",
            "parse_line",
            "parseLine",
            "parser::line",
            "parse()",
            "--strict",
            "30",
            "tests",
            "the linter",
            "CI",
        ] {
            let text = format!("make it so that users are happy with {checkable}");
            assert_eq!(missing(&goal(&text)), Vec::<String>::new(), "{text}");
        }
        assert_eq!(missing(&goal("make it so that users are happy with life")).len(), 1);
        assert_eq!(missing(&goal("make it so that users are happy with life. Really. Etc.")).len(), 1);
    }

    #[test]
    fn cy_27_criteria_may_carry_what_can_be_checked() {
        let mut goal = goal("make it so that users are happy with life");
        goal.criteria.push("`cargo test` passes".to_owned());
        assert_eq!(missing(&goal), Vec::<String>::new());
    }
}
