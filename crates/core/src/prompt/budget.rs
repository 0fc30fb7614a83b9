//! Whether a text says a number of turns or minutes (K-27).
//!
//! Written by hand: an expression for it takes longer to make than all other rules take together, and a hook makes it
//! for one prompt.

/// A word, a number or both, and what stands between it and the one before.
struct Token<'t> {
    gap: &'t str,
    text: &'t str,
}

/// `50 turns`, `a 45-minute budget`, `max_turns: 50`, `turn limit of 30`.
pub(super) fn is_said(text: &str) -> bool {
    let tokens = tokens(text);
    (0..tokens.len()).any(|at| tokens.get(at..).is_some_and(|rest| counts(rest) || names(rest)))
}

/// A number, perhaps one word, and the unit.
fn counts(tokens: &[Token<'_>]) -> bool {
    let [number, rest @ ..] = tokens else { return false };
    let digits = number.text.len()
        - number.text.trim_start_matches(|c: char| c.is_ascii_digit() || ",.".contains(c)).len();
    let (count, unit) = number.text.split_at(digits);
    // A full stop ends a sentence, and the unit would be in another.
    if !is_count(count) || count.ends_with([',', '.']) {
        return false;
    }
    if !unit.is_empty() {
        return is_unit(unit);
    }
    match rest {
        [next, ..] if joins(next.gap, "*_`~-") && is_unit(next.text) => true,
        [word, next, ..] => {
            let plain = word.text.chars().all(|c| c.is_ascii_alphabetic());
            plain
                && joins(word.gap, "*_`~-")
                && joins(next.gap, "*_")
                && !next.gap.is_empty()
                && is_unit(next.text)
        }
        _ => false,
    }
}

/// The name of a limit, perhaps a word like `of`, and the number.
fn names(tokens: &[Token<'_>]) -> bool {
    let [first, rest @ ..] = tokens else { return false };
    let rest = match first.text.to_ascii_lowercase().as_str() {
        "max_turns" | "max_minutes" | "timeout_minutes" | "turns" | "minutes" | "turn_limit"
        | "turn_budget" | "turnlimit" | "turnbudget" => rest,
        "turn" => match rest {
            [next, behind @ ..] if joins(next.gap, "_-") && is_word(next.text, &["limit", "budget"]) => {
                behind
            }
            _ => return false,
        },
        _ => return false,
    };
    let is_number = |token: &Token<'_>| is_count(token.text.trim_end_matches([',', '.']));
    match rest {
        [next, ..] if joins(next.gap, "*_`:=~-") && is_number(next) => true,
        [word, next, ..] => {
            joins(word.gap, "*_`:=~-")
                && is_word(word.text, &["is", "of", "at", "about", "approximately"])
                && next.gap.chars().all(char::is_whitespace)
                && is_number(next)
        }
        _ => false,
    }
}

fn is_count(text: &str) -> bool {
    text.starts_with(|c: char| ('1'..='9').contains(&c))
        && text.chars().all(|c| c.is_ascii_digit() || ",.".contains(c))
}

fn is_unit(text: &str) -> bool {
    is_word(text, &["turn", "turns", "minute", "minutes", "min", "mins"])
}

fn is_word(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Whether nothing but blanks and these signs stand in between.
fn joins(gap: &str, signs: &str) -> bool {
    gap.chars().all(|c| c.is_whitespace() || signs.contains(c))
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = vec![];
    let mut rest = text;
    loop {
        let start = rest.find(|c: char| c.is_alphanumeric()).unwrap_or(rest.len());
        let (gap, behind) = rest.split_at(start);
        if behind.is_empty() {
            return tokens;
        }
        let number = behind.starts_with(|c: char| c.is_ascii_digit());
        let belongs = |c: char| c.is_alphanumeric() || c == '_' || (number && ",.".contains(c));
        let end = behind.find(|c: char| !belongs(c)).unwrap_or(behind.len());
        let (word, after) = behind.split_at(end);
        // What only decorates a word is no part of it.
        let word_end = word.trim_end_matches('_').len();
        tokens.push(Token { gap, text: word.get(..word_end).unwrap_or(word) });
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k_27_a_number_of_turns_or_minutes() {
        for said in [
            "approximately 50 turns",
            "within **50** turns",
            "50 tool turns",
            "1,000 turns",
            "45-minute",
            "30min",
            "max_turns: 50",
            "max_turns=50",
            "Turn limit: 30",
            "turn budget of 12",
            "turns: ~40",
            "90 minutes.",
            "_25_ turns",
            "timeout_minutes: 20",
            "TURN-LIMIT is 9",
        ] {
            assert!(is_said(said), "{said}");
        }
        for not in [
            "",
            "TIMEOUT",
            "as many turns as you like",
            "0 turns",
            "turns",
            "50 apples, and turns",
            "phase 5. Your turn",
            "max_turns",
            "in 3 of the many turns",
            "turns: none, 5 files",
        ] {
            assert!(!is_said(not), "{not}");
        }
    }
}
