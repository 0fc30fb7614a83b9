//! Which snapshots are kept (OC-68, OC-69, K-106).

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use seriatim_core::time::Utc;

use crate::hands::snapshot::Summary;

const DAY_MS: u64 = 86_400_000;

/// How many snapshots of an action are kept, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    pub per_action_max: usize,
    pub age_days_max: u64,
}

impl Default for Retention {
    fn default() -> Retention {
        Retention { per_action_max: 10, age_days_max: 30 }
    }
}

impl Retention {
    /// The ids to remove, the oldest first.
    pub fn outlived(&self, snapshots: &[Summary], referenced: &BTreeSet<String>, now: Utc) -> Vec<String> {
        let kept = self.keep(snapshots, referenced, now);
        let mut outlived: Vec<&Summary> = snapshots.iter().filter(|one| !kept.contains(&one.id)).collect();
        outlived.sort_by(|one, other| one.created.cmp(&other.created).then_with(|| one.id.cmp(&other.id)));
        outlived.into_iter().map(|one| one.id.clone()).collect()
    }

    /// The ids to keep: the newest of each action in any case, further ones while neither limit is reached, and
    /// whatever an unfinished run refers to.
    pub fn keep(&self, snapshots: &[Summary], referenced: &BTreeSet<String>, now: Utc) -> Vec<String> {
        let mut newest_first: Vec<&Summary> = snapshots.iter().collect();
        newest_first
            .sort_by(|one, other| other.created.cmp(&one.created).then_with(|| other.id.cmp(&one.id)));
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        let mut kept = Vec::new();
        for snapshot in newest_first {
            let newer = seen.entry(&snapshot.action).or_default();
            let young = now.since_ms(snapshot.created) <= self.age_days_max.saturating_mul(DAY_MS);
            if *newer == 0 || (*newer < self.per_action_max && young) || referenced.contains(&snapshot.id) {
                kept.push(snapshot.id.clone());
            }
            *newer += 1;
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn snapshot(action: &str, day: u64) -> Summary {
        Summary {
            id: format!("{action}-{day}"),
            action: action.to_owned(),
            run: String::new(),
            created: Utc(0).plus_ms(day * DAY_MS),
            files: 0,
            size_bytes: 0,
        }
    }

    #[test]
    fn e_66_the_eleventh_goes_and_what_a_run_refers_to_stays() {
        let snapshots: Vec<Summary> = (100..111).map(|day| snapshot("build", day)).collect();
        let now = Utc(0).plus_ms(111 * DAY_MS);
        let kept = Retention::default().keep(&snapshots, &BTreeSet::new(), now);
        assert_eq!(kept.len(), 10);
        assert!(!kept.contains(&"build-100".to_owned()));

        let snapshots = [snapshot("build", 0), snapshot("build", 31)];
        let now = Utc(0).plus_ms(31 * DAY_MS);
        assert_eq!(Retention::default().keep(&snapshots, &BTreeSet::new(), now), ["build-31"]);
        let referenced = BTreeSet::from(["build-0".to_owned()]);
        assert_eq!(Retention::default().keep(&snapshots, &referenced, now), ["build-31", "build-0"]);
    }

    proptest! {
        #[test]
        fn k_106_the_newest_of_each_action_is_always_kept(
            taken in proptest::collection::vec(("[ab]", 0u64..200), 1..40),
            today in 0u64..400,
        ) {
            let snapshots: Vec<Summary> = taken.iter().map(|(action, day)| snapshot(action, *day)).collect();
            let kept = Retention::default().keep(&snapshots, &BTreeSet::new(), Utc(0).plus_ms(today * DAY_MS));
            for action in ["a", "b"] {
                let of_action = || snapshots.iter().filter(|it| it.action == action);
                if let Some(newest) = of_action().max_by_key(|it| it.created) {
                    prop_assert!(kept.contains(&newest.id));
                }
            }
        }
    }
}
