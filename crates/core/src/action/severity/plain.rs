//! What a person writes about findings in plain words. It is read generously, and what cannot be read is asked about.

use serde_json::Value;

use super::Concern;
use super::Severity;
use crate::ledger::Closing;
use crate::ledger::is_blank;
use crate::ledger::read_closings;

/// A review in a person's words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlainReview {
    pub found: Vec<Concern>,
    pub closed: Vec<Closing>,
}

const NEGATIONS: [&str; 7] = ["no", "0", "zero", "none", "without", "not", "nothing"];
/// Words that join severities under one negation: "no critical or high issues".
const JOINTS: [&str; 5] = ["or", "and", "nor", "any", "more"];
const NOTHING: [&str; 9] = [
    "none",
    "no",
    "nothing",
    "no findings",
    "no issues",
    "no problems",
    "no concerns",
    "nothing found",
    "0 findings",
];

/// Reads a review: a JSON object with `findings` and `closed`, or lines. A line that names a severity is a finding unless
/// it is negated, `closed F1: reason` closes one, and a line behind a finding belongs to it. Returns the lines that
/// cannot be read.
pub fn read_plain(by: &str, text: &str) -> Result<PlainReview, Vec<String>> {
    if let Ok(Value::Object(given)) = serde_json::from_str::<Value>(text) {
        return Ok(PlainReview { found: super::read(by, &given)?, closed: read_closings(&given)? });
    }
    let mut review = PlainReview::default();
    let (mut unread, mut says_none, mut follows) = (vec![], false, false);
    for line in text.lines().map(str::trim).filter(|line| !is_blank(line)) {
        if let Some(closing) = closing(line) {
            review.closed.push(closing);
            follows = false;
            continue;
        }
        match mention(line) {
            Mention::Severity(severity) => {
                review.found.push(concern(by, severity, line));
                follows = true;
            }
            Mention::Negated => (says_none, follows) = (true, false),
            Mention::Nothing if is_none(line) => (says_none, follows) = (true, false),
            Mention::Nothing if follows => {
                if let Some(last) = review.found.last_mut() {
                    last.remedy = [last.remedy.as_str(), line].join(" ").trim().to_owned();
                }
            }
            Mention::Nothing => {
                unread.push(format!("`{line}` names no severity (critical, high, medium, low)"));
            }
        }
    }
    if review == PlainReview::default() && !says_none && unread.is_empty() {
        unread.push("there are no words: write `none`, or one finding on each line".to_owned());
    }
    if unread.is_empty() { Ok(review) } else { Err(unread) }
}

enum Mention {
    Severity(Severity),
    /// Every severity that is named is negated.
    Negated,
    Nothing,
}

fn words_of(line: &str) -> Vec<String> {
    let words = line.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// The gravest severity that a line names and does not negate.
fn mention(line: &str) -> Mention {
    let words = words_of(line);
    let known = |word: &String| Severity::ALL.into_iter().find(|severity| severity.word() == word);
    let (mut gravest, mut named) = (None, false);
    for (index, word) in words.iter().enumerate() {
        let Some(severity) = known(word) else { continue };
        named = true;
        let before = words.iter().take(index).rev();
        let mut before = before.skip_while(|word| known(word).is_some() || JOINTS.contains(&word.as_str()));
        let negated = before.next().is_some_and(|word| NEGATIONS.contains(&word.as_str()));
        let counted_none = words.get(index + 1).is_some_and(|next| next == "0" || next == "none");
        if !negated && !counted_none {
            gravest = gravest.max(Some(severity));
        }
    }
    match (gravest, named) {
        (Some(severity), _) => Mention::Severity(severity),
        (None, true) => Mention::Negated,
        (None, false) => Mention::Nothing,
    }
}

fn is_none(line: &str) -> bool {
    NOTHING.contains(&words_of(line).join(" ").as_str())
}

/// `closed F1: the query is parameterised now`
fn closing(line: &str) -> Option<Closing> {
    let (first, rest) = line.split_once(char::is_whitespace)?;
    if !["closed", "close", "closes"].contains(&first.trim_end_matches(':').to_lowercase().as_str()) {
        return None;
    }
    let rest = rest.trim();
    let end = rest.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(rest.len());
    let (id, reason) = rest.split_at(end);
    let is_id = id.strip_prefix(['F', 'f']).is_some_and(|number| number.parse::<u32>().is_ok());
    let reason = reason.trim_start_matches(|letter: char| !letter.is_alphanumeric()).to_owned();
    is_id.then(|| Closing { id: id.to_owned(), reason })
}

fn concern(by: &str, severity: Severity, line: &str) -> Concern {
    let title = match line.split_once(':') {
        Some((head, rest)) if words_of(head) == [severity.word()] && !is_blank(rest) => rest.trim(),
        Some(_) | None => line,
    };
    Concern {
        severity,
        title: title.to_owned(),
        file: String::new(),
        line: None,
        remedy: String::new(),
        by: by.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        match read_plain("security", text) {
            Ok(review) => review.found.iter().map(|one| format!("{} {}", one.severity, one.title)).collect(),
            Err(unread) => unread.into_iter().map(|line| format!("? {line}")).collect(),
        }
    }

    #[test]
    fn words_of_a_person_are_read_generously() {
        for (text, expected) in [
            ("CRITICAL: weak hash", vec!["CRITICAL weak hash"]),
            ("- weak hash (critical)", vec!["CRITICAL - weak hash (critical)"]),
            ("I found one high issue in login", vec!["HIGH I found one high issue in login"]),
            ("This is not critical but high", vec!["HIGH This is not critical but high"]),
            ("critical: a\nmedium: b", vec!["CRITICAL a", "MEDIUM b"]),
            ("no critical issues", vec![]),
            ("No critical or high issues.", vec![]),
            ("0 critical, 0 high", vec![]),
            ("critical: 0\nhigh: none", vec![]),
            ("none", vec![]),
            ("No findings.", vec![]),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_asked_about() {
        for text in ["", "  \u{200b}", "looks fine", "none\nbut the login is open", "sql injection in login"]
        {
            assert!(found(text).iter().all(|line| line.starts_with('?')), "{text}");
            assert!(!found(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_line_behind_a_finding_belongs_to_it_and_closings_name_their_finding() {
        let review =
            read_plain("security", "high: weak hash\nuse argon2\nclosed F2: parameterised now").unwrap();
        assert_eq!(review.found[0].remedy, "use argon2");
        assert_eq!(review.closed, [Closing { id: "F2".to_owned(), reason: "parameterised now".to_owned() }]);
    }
}
