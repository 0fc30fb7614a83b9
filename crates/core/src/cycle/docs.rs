//! The context diet: which documents a role may read besides its brief, and how many (CY-12 to CY-16).

use std::collections::BTreeSet;

use super::Role;

/// Where the documents for the roles are.
pub const FOLDER: &str = "docs/agent_docs";

/// For analysis and planning. `DATABASE` is what the goal form refers to next to `CODEBASE` (CY-27).
const PLANNING: [&str; 5] = ["CODEBASE", "GOALS", "UX_PRINCIPLES", "DECISIONS", "DATABASE"];

/// Words by which documents about tests and quality are known.
const QUALITY: [&str; 9] =
    ["TEST", "TESTS", "TESTING", "QUALITY", "SECURITY", "LINT", "LINTING", "COVERAGE", "QA"];

/// Why a document is not given to a role.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("the {role} may not read `{document}`")]
    NotForRole { role: Role, document: String },
    #[error("`{document}` is one document more than the {limit} that a role may read")]
    TooMany { document: String, limit: u32 },
}

/// Whether `role` may read the document of this name: `GOALS`, `GOALS.md` and `docs/agent_docs/GOALS.md` are one.
pub fn allowed(role: Role, name: &str) -> bool {
    let name = bare(name);
    let about_quality = || name.split(['_', '-', ' ']).any(|word| QUALITY.contains(&word));
    match role {
        Role::Human => true,
        Role::Planner => PLANNING.contains(&name.as_str()),
        // The Planner's instruction is all there is.
        Role::Actor => false,
        Role::Judge => !PLANNING.contains(&name.as_str()) && about_quality(),
    }
}

fn bare(name: &str) -> String {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    file.split('.').next().unwrap_or(file).trim().to_uppercase()
}

/// Whether `role` may read all of these documents. The paths are canonical and relative to the project, so that a
/// link or `..` is no way to a third one (E-39); those outside of the folder are no documents of the diet.
pub fn check<'p>(
    role: Role,
    canonical: impl IntoIterator<Item = &'p str>,
    limit: u32,
) -> Result<(), Refused> {
    if role == Role::Human {
        return Ok(());
    }
    let mut read = BTreeSet::new();
    let below = |path: &&str| path.strip_prefix(FOLDER).is_some_and(|rest| rest.starts_with('/'));
    for path in canonical.into_iter().filter(below) {
        if !allowed(role, path) {
            return Err(Refused::NotForRole { role, document: path.to_owned() });
        }
        read.insert(path);
        if read.len() > usize::try_from(limit).unwrap_or(usize::MAX) {
            return Err(Refused::TooMany { document: path.to_owned(), limit });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOALS: &str = "docs/agent_docs/GOALS.md";
    const CODEBASE: &str = "docs/agent_docs/CODEBASE.md";
    const DECISIONS: &str = "docs/agent_docs/DECISIONS.md";

    // CY-13, CY-14, CY-15, CY-16
    #[test]
    fn cy_13_cy_14_cy_15_cy_16_each_role_has_its_documents() {
        for (name, readers) in [
            ("CODEBASE", "Human Planner"),
            ("goals.md", "Human Planner"),
            ("docs/agent_docs/UX_PRINCIPLES.md", "Human Planner"),
            ("DECISIONS", "Human Planner"),
            ("TESTING.md", "Human Judge"),
            ("SECURITY.md", "Human Judge"),
            ("CODE_QUALITY.md", "Human Judge"),
            ("LATEST.md", "Human"),
            ("PROMPTS.md", "Human"),
        ] {
            let found: Vec<&str> =
                Role::ALL.into_iter().filter(|role| allowed(*role, name)).map(Role::word).collect();
            assert_eq!(found.join(" "), readers, "{name}");
        }
    }

    // CY-12, CY-29
    #[test]
    fn cy_12_cy_29_a_third_document_is_refused() {
        assert_eq!(check(Role::Planner, [GOALS, CODEBASE], 2), Ok(()));
        let refused = check(Role::Planner, [GOALS, CODEBASE, DECISIONS], 2).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "`docs/agent_docs/DECISIONS.md` is one document more than the 2 that a role may read"
        );
        assert_eq!(check(Role::Human, [GOALS, CODEBASE, DECISIONS], 2), Ok(()));
        let refused = check(Role::Actor, [GOALS], 2).unwrap_err();
        assert_eq!(refused.to_string(), "the Actor may not read `docs/agent_docs/GOALS.md`");
    }

    #[test]
    fn e_39_documents_are_counted_by_their_canonical_paths() {
        // Two links to one document lead to one canonical path.
        assert_eq!(check(Role::Planner, [GOALS, CODEBASE, GOALS], 2), Ok(()));
        assert_eq!(check(Role::Planner, [GOALS, CODEBASE, "src/lib.rs"], 2), Ok(()));
    }
}
