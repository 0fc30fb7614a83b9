//! Why a phase was skipped: a prefix from a closed list, and a reason in words (DS-99, K-07, K-08).

/// The prefixes with which a skip may be committed.
pub const VALID: [&str; 3] = ["BLOCKED_BY_DEPENDENCY:", "NOT_APPLICABLE:", "APPROVED_SKIP:"];

/// Work that was put off: named at the stop, refused at the commit (K-09).
pub const DEFERRED: &str = "DEFERRED:";

/// What the engine writes for phases that come after a checkpoint (K-06).
pub const CHECKPOINT_PENDING: &str = "CHECKPOINT_PENDING";

/// What the reason of a skip is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A prefix of the list, and words after it.
    Valid,
    /// Nothing is said.
    Missing,
    /// Put off.
    Deferred,
    /// Not skipped but still to come, after a checkpoint.
    Pending,
    /// A prefix of the list without a reason after it.
    Bare,
    /// Anything else.
    Unknown,
}

/// Judges a reason. Blanks around it do not matter; case does (E-49).
pub fn reason(text: Option<&str>) -> Reason {
    let text = text.unwrap_or_default().trim();
    let pending =
        text.strip_prefix(CHECKPOINT_PENDING).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'));
    if text.is_empty() {
        return Reason::Missing;
    }
    if pending {
        return Reason::Pending;
    }
    if text.starts_with(DEFERRED) {
        return Reason::Deferred;
    }
    if let Some(prefix) = VALID.iter().find(|prefix| text.starts_with(**prefix)) {
        return if text.len() > prefix.len() { Reason::Valid } else { Reason::Bare };
    }
    if VALID.iter().any(|prefix| prefix.trim_end_matches(':') == text) {
        Reason::Bare
    } else {
        Reason::Unknown
    }
}

/// The reason of a phase that a roadmap or the engine pre-set as skipped; the bare form gets the words that it lacks.
pub fn preset(text: &str, task_type: &str) -> String {
    match reason(Some(text)) {
        Reason::Bare => {
            let prefix = text.trim().trim_end_matches(':');
            format!("{prefix}: preset for {task_type}")
        }
        _ => text.trim().to_owned(),
    }
}

/// The prefixes for a sentence.
pub fn in_words() -> String {
    VALID.map(|prefix| format!("`{prefix}`")).join(", ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ds_99_k_06_k_08_e_49_three_prefixes_are_valid_and_the_rest_is_named() {
        for (text, expected) in [
            ("BLOCKED_BY_DEPENDENCY: no database", Reason::Valid),
            ("NOT_APPLICABLE: documents only", Reason::Valid),
            ("  APPROVED_SKIP: by the reviewer ", Reason::Valid),
            ("NOT_APPLICABLE:x", Reason::Valid),
            ("NOT_APPLICABLE:", Reason::Bare),
            ("NOT_APPLICABLE:   ", Reason::Bare),
            ("NOT_APPLICABLE", Reason::Bare),
            ("not_applicable: x", Reason::Unknown),
            (" DEFERRED: later", Reason::Deferred),
            ("DEFERRED:", Reason::Deferred),
            ("CHECKPOINT_PENDING", Reason::Pending),
            ("CHECKPOINT_PENDING: after GREEN", Reason::Pending),
            ("CHECKPOINT_PENDINGS", Reason::Unknown),
            ("FOO: x", Reason::Unknown),
            ("", Reason::Missing),
            ("  \n", Reason::Missing),
        ] {
            assert_eq!(reason(Some(text)), expected, "{text:?}");
        }
        assert_eq!(reason(None), Reason::Missing);
    }

    #[test]
    fn k_07_the_bare_form_is_made_whole_when_it_was_pre_set() {
        assert_eq!(preset("NOT_APPLICABLE", "research"), "NOT_APPLICABLE: preset for research");
        assert_eq!(preset("NOT_APPLICABLE: no code", "research"), "NOT_APPLICABLE: no code");
        assert_eq!(reason(Some(&preset("NOT_APPLICABLE:", "research"))), Reason::Valid);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn k_08_only_a_listed_prefix_with_a_reason_is_valid(text in "\\PC{0,40}") {
            let listed = VALID.iter().any(|prefix| {
                text.trim().strip_prefix(prefix).is_some_and(|rest| !rest.trim().is_empty())
            });
            prop_assert_eq!(reason(Some(&text)) == Reason::Valid, listed);
        }
    }
}
