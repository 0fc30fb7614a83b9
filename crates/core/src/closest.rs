//! The known word that was probably meant.

/// The word of `known` nearest to `given`, if it is near enough to be worth a suggestion.
pub fn closest<'k>(given: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let wanted = folded(given);
    // A third of the letters may differ: one in a short word, several in a long one.
    let allowed = (wanted.len() / 3).max(1);
    let mut best: Option<(usize, &str)> = None;
    for word in known {
        let candidate = folded(word);
        if candidate.len().abs_diff(wanted.len()) > allowed {
            continue;
        }
        let distance = distance(&wanted, &candidate);
        let near = distance <= allowed && distance < candidate.len();
        if near && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, word));
        }
    }
    best.map(|(_, word)| word)
}

/// Letters without case; `-`, `_` and blanks are one and the same. Long texts are cut: nobody meant those.
fn folded(word: &str) -> Vec<char> {
    word.chars()
        .take(100)
        .flat_map(char::to_lowercase)
        .map(|c| if matches!(c, '-' | ' ') { '_' } else { c })
        .collect()
}

/// Damerau-Levenshtein (optimal string alignment): insert, delete, replace, swap neighbours.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before_last: Vec<usize> = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_finger_are_found() {
        let known = ["description", "id", "name", "escalation_triggers", "max_iterations"];
        for (given, meant) in [
            ("descripton", Some("description")),
            ("Description", Some("description")),
            ("nmae", Some("name")),
            ("escalation-triggers", Some("escalation_triggers")),
            ("maxIterations", Some("max_iterations")),
            ("colour", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(closest(given, known), meant, "{given}");
        }
    }

    #[test]
    fn a_swap_is_one_step() {
        let chars = |s: &str| s.chars().collect::<Vec<_>>();
        assert_eq!(distance(&chars("abcd"), &chars("acbd")), 1);
        assert_eq!(distance(&chars("kitten"), &chars("sitting")), 3);
        assert_eq!(distance(&chars(""), &chars("abc")), 3);
    }
}
