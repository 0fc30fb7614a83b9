//! What a prompt costs: an estimate of its tokens, before and after the rules of a template are put around it.

use serde::Serialize;

/// How many characters make a token, as a rule of thumb for English text.
const CHARACTERS_PER_TOKEN: usize = 4;

/// An estimate of the tokens of a text; never less than the text deserves.
pub fn estimate(text: &str) -> usize {
    text.chars().count().div_ceil(CHARACTERS_PER_TOKEN)
}

/// What validation costs (DS-71): the task's own words, and the whole prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Cost {
    pub before: usize,
    pub after: usize,
}

impl Cost {
    pub fn of(before: &str, after: &str) -> Cost {
        Cost { before: estimate(before), after: estimate(after) }
    }

    /// The tokens that the template adds.
    pub fn added(self) -> usize {
        self.after.saturating_sub(self.before)
    }
}
