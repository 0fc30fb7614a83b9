//! From words to an action (OC-09, OC-10). It is computed from names, the catalogue and what the action files call their
//! user intent, never by an agent: one clear match is taken, and anything else is a question.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use super::catalogue::Catalogue;
use super::document::ActionFile;
use super::map::AgentMap;
use super::matrix;
use super::words::kebab;
use super::words::stem;
use super::words::words;
use crate::question::Choice;
use crate::question::Question;

/// The option by which no action starts. It stands beside names of actions, which are data.
pub const CANCEL: &str = "cancel";

/// An action that can be meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Candidate {
    pub name: String,
    pub description: String,
    /// What its file says people want of it.
    pub intent: String,
}

/// What an intent comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Routed {
    /// This action is meant.
    One(String),
    /// Several could be, the likelier ones first; or all there are, where none is any likelier.
    Unclear(Vec<Candidate>),
}

/// What a name counts for. Nothing that is said elsewhere outweighs it.
const NAME: u32 = 24;
/// What a word counts for by which an action is commonly meant.
const SYNONYM: u32 = 10;
/// What all words of a description together can count for; each the less, the more actions share it.
const WORD: u32 = 4;
const WORDS_MAX: u32 = 8;
/// Below this nothing is clear: it takes a name, a common word for it, or two words that no other action has.
const CLEAR: u32 = 8;

/// Words that say nothing about what is wanted.
const EMPTY: [&str; 38] = [
    "a", "all", "an", "and", "any", "are", "as", "at", "be", "by", "can", "do", "for", "from", "in", "is",
    "it", "its", "me", "my", "of", "on", "or", "our", "please", "run", "start", "action", "that", "the",
    "then", "this", "to", "us", "we", "with", "you", "your",
];

/// Words that turn what follows into its opposite. What is meant then is for a person to say.
const NEGATIONS: [&str; 9] = ["not", "cannot", "don", "never", "without", "except", "skip", "instead", "no"];

/// The actions of a workspace: those of its catalogue first (OC-05), then those that only the map or a file knows. Without
/// a catalogue the nine of the contract are among them.
pub fn candidates(
    catalogue: Option<&Catalogue>,
    map: Option<&AgentMap>,
    files: &[ActionFile],
) -> Vec<Candidate> {
    let intent = |name: &str| {
        files.iter().find(|file| file.name == name).map(|file| file.intent.clone()).unwrap_or_default()
    };
    let candidate = |name: &str, description: &str| Candidate {
        name: name.to_owned(),
        description: description.to_owned(),
        intent: intent(name),
    };
    let listed = catalogue.map(|catalogue| catalogue.entries.as_slice()).unwrap_or_default();
    let wired = map.map(|map| map.actions.as_slice()).unwrap_or_default();
    let built_in = if listed.is_empty() { matrix::CONTRACTS.as_slice() } else { &[] };
    let all = listed
        .iter()
        .map(|entry| candidate(&entry.name, &entry.description))
        .chain(wired.iter().map(|wiring| candidate(&wiring.name, &wiring.description)))
        .chain(
            files.iter().filter(|file| file.name != "README").map(|file| candidate(&file.name, &file.intent)),
        )
        .chain(built_in.iter().map(|contract| candidate(contract.name, contract.purpose)));
    let mut found: Vec<Candidate> = vec![];
    for one in all {
        if !found.iter().any(|known| known.name == one.name) {
            found.push(one);
        }
    }
    found
}

/// The action that is meant by a name or by words.
pub fn route(intent: &str, candidates: &[Candidate]) -> Routed {
    let whole = kebab(intent);
    if let Some(exact) = candidates.iter().find(|candidate| kebab(&candidate.name) == whole) {
        return Routed::One(exact.name.clone());
    }
    let said = Said::of(intent);
    let named = said.names(candidates);
    let rarity = Rarity::of(candidates);
    let mut scored: Vec<(u32, &Candidate)> =
        candidates.iter().map(|candidate| (score(&said, &named, candidate, &rarity), candidate)).collect();
    // Stable: what scores the same stays in the order of the catalogue.
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    if let [(best, first), rest @ ..] = scored.as_slice() {
        let second = rest.first().map_or(0, |(score, _)| *score);
        if *best >= CLEAR && *best >= second.saturating_mul(2) && !said.negated {
            return Routed::One(first.name.clone());
        }
    }
    let likely: Vec<Candidate> =
        scored.iter().filter(|(score, _)| *score > 0).map(|(_, candidate)| (*candidate).clone()).collect();
    Routed::Unclear(if likely.is_empty() { candidates.to_vec() } else { likely })
}

/// Asks which action is meant (OC-10). Nothing runs before it is answered.
pub fn question(intent: &str, candidates: &[Candidate]) -> Question {
    let mut options: Vec<Choice> = candidates
        .iter()
        .map(|candidate| {
            let words =
                [&candidate.description, &candidate.intent].into_iter().find(|words| !words.is_empty());
            Choice::new(
                &candidate.name,
                &candidate.name,
                words.map_or("This action starts.", |words| words.as_str()),
            )
        })
        .collect();
    options.push(Choice::new(CANCEL, "Cancel", "No action starts, and nothing was changed."));
    let about = match intent.trim() {
        "" => "Which action shall start?".to_owned(),
        intent => format!("Which action is meant by \"{intent}\"?"),
    };
    Question {
        header: "Which action".to_owned(),
        question: about,
        why: "More than one action fits what was asked, or none fits clearly.".to_owned(),
        tried: vec![],
        details: String::new(),
        options,
        free_text: true,
        about: vec![],
    }
}

/// What was said, in a form that can be compared.
struct Said {
    /// Words without their endings.
    stems: BTreeSet<String>,
    /// The same in their order, for names and synonyms of several words.
    in_order: String,
    negated: bool,
}

impl Said {
    fn of(intent: &str) -> Said {
        let all = words(intent);
        let stems: Vec<String> = all.iter().map(|word| stem(word)).collect();
        Said {
            in_order: format!(" {} ", stems.join(" ")),
            negated: all.iter().any(|word| NEGATIONS.contains(&word.as_str())),
            stems: all.iter().filter(|word| !EMPTY.contains(&word.as_str())).map(|word| stem(word)).collect(),
        }
    }

    /// Whether these words were said, one behind the other.
    fn has(&self, words: &str) -> bool {
        phrase(words).is_some_and(|phrase| self.in_order.contains(&phrase))
    }

    /// The names that were said. Those of more words come first, and what they take is theirs: `plan-review` is neither
    /// `plan` nor `review`.
    fn names(&self, candidates: &[Candidate]) -> BTreeSet<String> {
        let mut by_length: Vec<(&str, String)> =
            candidates.iter().filter_map(|one| Some((one.name.as_str(), phrase(&one.name)?))).collect();
        by_length.sort_by_key(|(_, phrase)| std::cmp::Reverse(phrase.matches(' ').count()));
        // Every blank is doubled, so that two names beside each other do not share one.
        let mut left = self.in_order.replace(' ', "  ");
        let mut named = BTreeSet::new();
        for (name, phrase) in by_length {
            let phrase = phrase.trim().replace(' ', "  ");
            let phrase = format!(" {phrase} ");
            if left.contains(&phrase) {
                left = left.replace(&phrase, " | ");
                named.insert(name.to_owned());
            }
        }
        named
    }
}

/// Words without their endings, with a blank on either side; nothing where there are none.
fn phrase(text: &str) -> Option<String> {
    let stems: Vec<String> = words(text).iter().map(|word| stem(word)).collect();
    (!stems.is_empty()).then(|| format!(" {} ", stems.join(" ")))
}

/// How many actions a word belongs to.
struct Rarity(BTreeMap<String, u32>);

impl Rarity {
    fn of(candidates: &[Candidate]) -> Rarity {
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for candidate in candidates {
            for word in described(candidate) {
                *counts.entry(word).or_default() += 1;
            }
        }
        Rarity(counts)
    }

    fn weight(&self, word: &str) -> u32 {
        WORD / self.0.get(word).copied().unwrap_or(1).max(1)
    }
}

/// The telling words of a description.
fn described(candidate: &Candidate) -> BTreeSet<String> {
    let text = format!("{} {}", candidate.description, candidate.intent);
    words(&text).iter().filter(|word| !EMPTY.contains(&word.as_str())).map(|word| stem(word)).collect()
}

fn score(said: &Said, named: &BTreeSet<String>, candidate: &Candidate, rarity: &Rarity) -> u32 {
    let name = if named.contains(&candidate.name) { NAME } else { 0 };
    let synonyms = matrix::contract(&candidate.name).map(|contract| contract.words).unwrap_or_default();
    let synonym = if synonyms.iter().any(|words| said.has(words)) { SYNONYM } else { 0 };
    let own = described(candidate);
    let shared = said.stems.intersection(&own).map(|word| rarity.weight(word)).sum::<u32>();
    name + synonym + shared.min(WORDS_MAX)
}
