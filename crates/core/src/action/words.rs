//! Words as names and intents are compared by.

/// Words in lower case with hyphens between them: `Code Reviewer` and `code_reviewer` are `code-reviewer`.
pub(crate) fn kebab(name: &str) -> String {
    words(name).join("-")
}

/// The words of a text, in lower case.
pub(super) fn words(text: &str) -> Vec<String> {
    let letters = |c: char| !c.is_alphanumeric();
    text.split(letters).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// What is left of an English word without its endings, so that `planning` is `plan` and `documentation` is
/// `document`. Crude on purpose: it is applied to both sides of every comparison.
pub(super) fn stem(word: &str) -> String {
    const ENDINGS: [&str; 9] = ["ations", "ation", "ings", "ing", "ies", "ers", "ed", "es", "s"];
    let root = ENDINGS.iter().find_map(|ending| word.strip_suffix(ending).filter(|root| root.len() >= 3));
    let mut root = root.unwrap_or(word).to_owned();
    // `planning` loses its second `n`, `features` and `feature` their `e`, `stories` and `story` their last vowel.
    let last: Vec<char> = root.chars().rev().take(2).collect();
    if let [last, before] = last.as_slice()
        && last == before
        && !matches!(last, 's' | 'l')
        && root.len() > 3
    {
        root.pop();
    }
    if root.len() > 3 && root.ends_with(['e', 'y', 'i']) {
        root.pop();
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_do_not_matter() {
        for (one, other) in [
            ("plan", "planning"),
            ("plan", "planned"),
            ("plan", "plans"),
            ("feature", "features"),
            ("review", "reviewing"),
            ("test", "tests"),
            ("test", "testing"),
            ("validate", "validating"),
            ("validate", "validated"),
            ("document", "documentation"),
            ("document", "documenting"),
            ("build", "building"),
            ("story", "stories"),
        ] {
            assert_eq!(stem(one), stem(other), "{one} {other}");
        }
        assert_ne!(stem("plan"), stem("planet"));
        assert_eq!(kebab("  Code_Reviewer (senior) "), "code-reviewer-senior");
    }
}
