//! Questions to people, and their answers.
//!
//! A question says what it is about, why it matters, what was tried, and what each option leads to. The answer
//! is bound to a digest of what was shown: when that changes, the answer is void and the question is asked again.

use serde::Deserialize;
use serde::Serialize;

use crate::hash::Hash;

/// One thing that a person can choose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// Semantic and stable (`approve`, `retry`, `skip`, `cancel` ...): what scripts use.
    pub id: String,
    /// The dialect's words for it.
    pub label: String,
    /// What happens when it is chosen.
    pub description: String,
    /// This choice only makes sense with words of the person's own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_text: bool,
}

impl Choice {
    pub fn new(id: &str, label: &str, description: &str) -> Choice {
        Choice { id: id.into(), label: label.into(), description: description.into(), needs_text: false }
    }

    #[must_use]
    pub fn with_text(mut self) -> Choice {
        self.needs_text = true;
        self
    }
}

/// A question as a person sees it. The first choice is the one that goes on as proposed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// A few words: the matter at hand.
    pub header: String,
    /// What needs attention, as a whole sentence.
    pub question: String,
    /// Why it matters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// What was already tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<String>,
    /// Material that belongs to the question: a diff, a list of findings, a summary.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub details: String,
    pub options: Vec<Choice>,
    /// Whether words of the person's own are welcome with any choice.
    #[serde(default)]
    pub free_text: bool,
    /// Digests of what the answer is about beyond these words (a definition, a diff, evidence).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub about: Vec<Hash>,
}

/// What a person decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The id of the chosen option.
    pub choice: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Who answered.
    pub by: String,
    /// The digest of the question that was shown.
    pub digest: Hash,
}

/// Why a choice cannot be taken as an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("`{given}` is not one of the options: {known}")]
    UnknownChoice { given: String, known: String },
    #[error("the option `{choice}` needs a few words: add them with --text")]
    NeedsText { choice: String },
}

impl Question {
    /// What an answer is bound to: every word that was shown, and what it was about.
    pub fn digest(&self) -> Hash {
        // Serialising plain owned data into memory cannot fail.
        Hash::of(&serde_json::to_vec(self).unwrap_or_default())
    }

    /// Finds the option that `given` names, by id or by label, without regard to case.
    pub fn choose(&self, given: &str, text: Option<&str>) -> Result<&Choice, Refused> {
        let wanted = given.trim();
        let same = |s: &str| s.eq_ignore_ascii_case(wanted);
        let Some(choice) = self
            .options
            .iter()
            .find(|o| same(&o.id))
            .or_else(|| self.options.iter().find(|o| same(&o.label)))
        else {
            let known = self.options.iter().map(|o| format!("`{}`", o.id)).collect::<Vec<_>>().join(", ");
            return Err(Refused::UnknownChoice { given: given.to_owned(), known });
        };
        if choice.needs_text && text.is_none_or(crate::ledger::is_blank) {
            return Err(Refused::NeedsText { choice: choice.id.clone() });
        }
        Ok(choice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question() -> Question {
        Question {
            header: "Release".into(),
            question: "Shall it go out?".into(),
            why: "Nobody can call it back.".into(),
            tried: vec![],
            details: String::new(),
            options: vec![
                Choice::new("approve", "Send it", "It is published."),
                Choice::new("changes", "Ask for changes", "Work goes on.").with_text(),
            ],
            free_text: true,
            about: vec![],
        }
    }

    #[test]
    fn a_choice_is_found_by_id_or_label_and_never_guessed() {
        let q = question();
        assert_eq!(q.choose("APPROVE", None).unwrap().id, "approve");
        assert_eq!(q.choose(" send it ", None).unwrap().id, "approve");
        assert_eq!(
            q.choose("app", None).unwrap_err().to_string(),
            "`app` is not one of the options: `approve`, `changes`"
        );
    }

    #[test]
    fn e_64_an_option_that_needs_words_refuses_blank_ones() {
        let q = question();
        assert!(q.choose("changes", Some("  ")).is_err());
        assert!(q.choose("changes", Some("rename it")).is_ok());
    }

    #[test]
    fn the_digest_changes_with_every_word_and_with_what_it_is_about() {
        let q = question();
        let mut other = q.clone();
        other.options[0].description.push('!');
        assert_ne!(q.digest(), other.digest());
        let mut about = q.clone();
        about.about.push(Hash::of(b"diff"));
        assert_ne!(q.digest(), about.digest());
    }
}
