//! What is known about a matter: good, bad, unknown, or lawfully not applicable. Nothing is good by default.
//!
//! Every dialect, the guard and the commit gate decide by this one type. A dialect says what it asks; it never says what
//! counts as yes.

pub mod claims;
#[cfg(test)]
mod tests;

use std::fmt;

use serde::Deserialize;
use serde::Serialize;

use crate::hash::Hash;

/// What is known about a matter.
///
/// Absent, unreadable, invalid, partial, timed out, killed, not installed, not run, cut off, zero tests: all of that is
/// [`Verdict::Unknown`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Good(Grounds),
    Bad(Vec<String>),
    Unknown(Vec<String>),
    NotApplicable(Absence),
}

/// A lawful absence: it is always told, and never counted as passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Absence {
    pub reason: String,
    /// Who says so: a document, a mode, the configuration, a person.
    pub by: String,
}

/// What a good verdict rests on: at least one ground.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Grounds(Vec<Ground>);

/// One thing that a good verdict rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Ground {
    /// The engine ran or measured it itself.
    Evidence {
        what: String,
        words: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<Hash>,
    },
    /// An agent judged it, where the dialect provides for a judgement. Evidence and people outrank it.
    Judgement { who: String, words: String },
    /// A person decided it.
    Person { who: String, how: PersonWord, words: String },
}

/// How a person made a matter good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PersonWord {
    /// The person answers for the matter itself.
    Confirmed,
    /// Nobody knows, and the person lets it count all the same.
    AcceptedUnchecked,
    /// It is bad, and the person lets it pass where the dialect allows that.
    Overridden,
}

impl PersonWord {
    /// Returns the words by which summaries and questions mark it.
    pub fn words(self) -> &'static str {
        match self {
            PersonWord::Confirmed => "confirmed",
            PersonWord::AcceptedUnchecked => "accepted unchecked",
            PersonWord::Overridden => "overridden",
        }
    }
}

/// On what a good verdict rests at its weakest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Footing {
    /// Everything was executed, measured, or confirmed by a person.
    Checked,
    /// Something rests on the agent's word.
    Judged,
    /// A person accepted something unchecked, or overrode it.
    Waived,
}

impl Verdict {
    /// Returns a good verdict that rests on what the engine ran or measured.
    pub fn checked(what: impl Into<String>, words: impl Into<String>, output: Option<Hash>) -> Verdict {
        Verdict::Good(Grounds(vec![Ground::Evidence { what: what.into(), words: words.into(), output }]))
    }

    /// Returns a good verdict that rests on an agent's judgement.
    pub fn judged(who: impl Into<String>, words: impl Into<String>) -> Verdict {
        Verdict::Good(Grounds(vec![Ground::Judgement { who: who.into(), words: words.into() }]))
    }

    /// Returns a good verdict that rests on a person's decision.
    pub fn decided(who: impl Into<String>, how: PersonWord, words: impl Into<String>) -> Verdict {
        Verdict::Good(Grounds(vec![Ground::Person { who: who.into(), how, words: words.into() }]))
    }

    pub fn bad(reason: impl Into<String>) -> Verdict {
        Verdict::Bad(vec![reason.into()])
    }

    pub fn unknown(reason: impl Into<String>) -> Verdict {
        Verdict::Unknown(vec![reason.into()])
    }

    /// Returns a lawful absence, with who says that the matter does not apply.
    pub fn absent(reason: impl Into<String>, by: impl Into<String>) -> Verdict {
        Verdict::NotApplicable(Absence { reason: reason.into(), by: by.into() })
    }

    /// Returns the verdict about all of them: one bad makes it bad; else one unknown makes it unknown; else it is good if
    /// one is; else nothing was checked.
    pub fn join(all: impl IntoIterator<Item = Verdict>) -> Verdict {
        let (mut grounds, mut bad, mut unknown, mut absent) = (vec![], vec![], vec![], vec![]);
        for verdict in all {
            match verdict {
                Verdict::Good(Grounds(more)) => grounds.extend(more),
                Verdict::Bad(reasons) => bad.push(reasons),
                Verdict::Unknown(reasons) => unknown.push(reasons),
                Verdict::NotApplicable(absence) => absent.push(absence),
            }
        }
        if !bad.is_empty() {
            return Verdict::Bad(bad.concat());
        }
        if !unknown.is_empty() {
            return Verdict::Unknown(unknown.concat());
        }
        if !grounds.is_empty() {
            return Verdict::Good(Grounds(grounds));
        }
        let reasons: Vec<&str> = absent.iter().map(|absence| absence.reason.as_str()).collect();
        let reason = match reasons.is_empty() {
            true => "nothing was checked".to_owned(),
            false => format!("nothing was checked: {}", reasons.join("; ")),
        };
        let by = absent.first().map(|absence| absence.by.clone()).unwrap_or_default();
        Verdict::absent(reason, by)
    }

    /// Returns the verdict about one matter of which there is evidence and a claim. Evidence that says something wins; a
    /// claim can only make worse what evidence calls good.
    #[must_use]
    pub fn over(self, claim: Verdict) -> Verdict {
        match self {
            Verdict::Bad(_) => self,
            Verdict::Good(_) => match claim {
                Verdict::Bad(_) => claim,
                Verdict::Good(_) | Verdict::Unknown(_) | Verdict::NotApplicable(_) => self,
            },
            Verdict::Unknown(_) => match claim {
                Verdict::Bad(_) => claim,
                Verdict::Good(_) | Verdict::Unknown(_) | Verdict::NotApplicable(_) => self,
            },
            Verdict::NotApplicable(_) => claim,
        }
    }

    pub fn is_good(&self) -> bool {
        matches!(self, Verdict::Good(_))
    }

    /// Returns whether a step, phase, role or gate may close on it: good, or a lawful absence that is told.
    pub fn closes(&self) -> bool {
        matches!(self, Verdict::Good(_) | Verdict::NotApplicable(_))
    }

    /// Returns why it is not good; nothing where it is.
    pub fn reasons(&self) -> Vec<String> {
        match self {
            Verdict::Good(_) => vec![],
            Verdict::Bad(reasons) | Verdict::Unknown(reasons) => reasons.clone(),
            Verdict::NotApplicable(absence) => vec![absence.reason.clone()],
        }
    }

    /// Returns on what it rests at its weakest, where it is good.
    pub fn footing(&self) -> Option<Footing> {
        let Verdict::Good(Grounds(grounds)) = self else { return None };
        grounds.iter().map(Ground::footing).max()
    }

    /// Returns what people accepted unchecked or overrode in it, one line each.
    pub fn waivers(&self) -> Vec<String> {
        let Verdict::Good(Grounds(grounds)) = self else { return vec![] };
        let waiver = |ground: &Ground| match ground {
            Ground::Person { who, how, words } if *how != PersonWord::Confirmed => {
                Some(format!("{} by {who}: {words}", how.words()))
            }
            Ground::Person { .. } | Ground::Evidence { .. } | Ground::Judgement { .. } => None,
        };
        grounds.iter().filter_map(waiver).collect()
    }

    /// Returns the word for tables and logs.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Good(_) => "good",
            Verdict::Bad(_) => "bad",
            Verdict::Unknown(_) => "unknown",
            Verdict::NotApplicable(_) => "not run",
        }
    }

    /// Returns the good verdict that a person's word makes of it. A matter that is good already stays as it is.
    #[must_use]
    pub fn accepted(self, who: &str, words: &str) -> Verdict {
        match self {
            Verdict::Good(_) | Verdict::NotApplicable(_) => self,
            Verdict::Unknown(reasons) => {
                let about = format!("{words} ({})", reasons.join("; "));
                Verdict::decided(who, PersonWord::AcceptedUnchecked, about)
            }
            Verdict::Bad(reasons) => {
                let about = format!("{words} ({})", reasons.join("; "));
                Verdict::decided(who, PersonWord::Overridden, about)
            }
        }
    }
}

impl Grounds {
    pub fn iter(&self) -> impl Iterator<Item = &Ground> {
        self.0.iter()
    }
}

impl Ground {
    fn footing(&self) -> Footing {
        match self {
            Ground::Evidence { .. } | Ground::Person { how: PersonWord::Confirmed, .. } => Footing::Checked,
            Ground::Judgement { .. } => Footing::Judged,
            Ground::Person { how: PersonWord::AcceptedUnchecked | PersonWord::Overridden, .. } => {
                Footing::Waived
            }
        }
    }
}

impl fmt::Display for Verdict {
    /// One line: the word, and why.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reasons = self.reasons();
        match reasons.is_empty() {
            true => f.write_str(self.word()),
            false => write!(f, "{}: {}", self.word(), reasons.join("; ")),
        }
    }
}
