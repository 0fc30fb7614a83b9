//! Patterns over paths of the workspace, as scopes and excludes are written.

use serde::Deserialize;
use serde::Serialize;

/// A pattern such as `docs/`, `src/**/*.rs` or `.git`. `*` and `?` stay within one component, `**` stands for any
/// number of them, and whatever is named includes everything below it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pattern(String);

impl Pattern {
    pub fn new(text: impl Into<String>) -> Pattern {
        Pattern(text.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// True when the path, relative and with `/`, is meant by the pattern or lies below what it means.
    pub fn covers(&self, path: &str) -> bool {
        let parts: Vec<&str> = path.split('/').collect();
        (1..=parts.len()).any(|end| components_match(&self.components(), &parts[..end]))
    }

    /// Like `covers`, but a pattern without a slash in its middle names a component at any depth, as in a
    /// `.gitignore`: `target` and `target/` mean every directory of that name.
    pub fn excludes(&self, path: &str) -> bool {
        let name = self.0.trim_end_matches('/');
        if name.contains('/') {
            self.covers(path)
        } else {
            path.split('/').any(|part| part_matches(name, part))
        }
    }

    /// True when something below the directory may be covered, so that it is worth looking into.
    pub fn may_cover_below(&self, directory: &str) -> bool {
        let parts: Vec<&str> = directory.split('/').collect();
        let components = self.components();
        self.covers(directory)
            || (0..=components.len()).any(|end| components_match(&components[..end], &parts))
            || components.iter().position(|part| *part == "**").is_some_and(|at| {
                (0..=parts.len()).any(|end| components_match(&components[..at], &parts[..end]))
            })
    }

    fn components(&self) -> Vec<&str> {
        self.0.split('/').filter(|part| !part.is_empty() && *part != ".").collect()
    }
}

fn components_match(pattern: &[&str], path: &[&str]) -> bool {
    match pattern.split_first() {
        None => path.is_empty(),
        Some((&"**", rest)) => (0..=path.len()).any(|skip| components_match(rest, &path[skip..])),
        Some((first, rest)) => path
            .split_first()
            .is_some_and(|(part, below)| part_matches(first, part) && components_match(rest, below)),
    }
}

/// Matches one component by remembering the last star, so that many stars take no more than quadratic time.
fn part_matches(pattern: &str, part: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let part: Vec<char> = part.chars().collect();
    let (mut p, mut t) = (0, 0);
    let mut last_star: Option<(usize, usize)> = None;
    while t < part.len() {
        match pattern.get(p) {
            Some('*') => {
                last_star = Some((p, t));
                p += 1;
            }
            Some(c) if *c == '?' || *c == part[t] => {
                p += 1;
                t += 1;
            }
            _ => {
                let Some((star, taken)) = last_star else { return false };
                last_star = Some((star, taken + 1));
                p = star + 1;
                t = taken + 1;
            }
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(pattern: &str, covered: &[&str], not: &[&str]) {
        let pattern = Pattern::new(pattern);
        for path in covered {
            assert!(pattern.covers(path), "{path} should be covered by {pattern:?}");
        }
        for path in not {
            assert!(!pattern.covers(path), "{path} should not be covered by {pattern:?}");
        }
    }

    #[test]
    fn what_patterns_mean() {
        check("docs/", &["docs", "docs/a", "docs/a/b"], &["doc", "docs2/a", "x/docs"]);
        check("src/*.rs", &["src/a.rs"], &["src/a/b.rs", "src/a.rsx", "a.rs"]);
        check("src/**/*.rs", &["src/a.rs", "src/a/b/c.rs"], &["a.rs", "src/a.txt"]);
        check("**", &["a", "a/b"], &[]);
        check("a?c*", &["abc", "axcde/f"], &["ac", "bbc"]);
        check("[x]", &["[x]"], &["x"]);
    }

    #[test]
    fn excludes_without_a_slash_hold_at_any_depth() {
        let git = Pattern::new(".git");
        assert!(git.excludes(".git/config") && git.excludes("sub/.git/HEAD"));
        assert!(!git.excludes(".gitignore"));
        assert!(Pattern::new("target/").excludes("a/target/x"));
        assert!(!Pattern::new("a/target").excludes("b/a/target"));
    }

    #[test]
    fn directories_on_the_way_are_entered_and_others_are_not() {
        let pattern = Pattern::new("a/b/*.md");
        assert!(pattern.may_cover_below("a") && pattern.may_cover_below("a/b"));
        assert!(!pattern.may_cover_below("c") && !pattern.may_cover_below("a/c"));
        assert!(Pattern::new("a/**/x").may_cover_below("a/q/r"));
    }

    proptest! {
        #[test]
        fn a_path_covers_itself_and_what_is_below(path in "[a-c]{1,3}(/[a-c]{1,3}){0,3}", more in "[a-c]{1,3}") {
            let below = format!("{path}/{more}");
            prop_assert!(Pattern::new(&path).covers(&path));
            prop_assert!(Pattern::new(&path).covers(&below));
            prop_assert!(!Pattern::new(&below).covers(&path));
        }

        /// What is covered is always reached: no directory above it is skipped.
        #[test]
        fn covered_paths_are_reached(
            pattern in "([a-b*?]{1,3}|\\*\\*)(/([a-b*?]{1,3}|\\*\\*)){0,3}",
            path in "[a-b]{1,3}(/[a-b]{1,3}){1,3}",
        ) {
            let pattern = Pattern::new(pattern);
            if pattern.covers(&path) {
                for (at, _) in path.match_indices('/') {
                    prop_assert!(pattern.may_cover_below(&path[..at]), "{:?} {}", pattern, &path[..at]);
                }
            }
        }
    }
}
