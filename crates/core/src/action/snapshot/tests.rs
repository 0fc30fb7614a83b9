//! Tests of going back.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn seal(text: &str) -> Seal {
    Seal { hash: Hash::of(text.as_bytes()), mode: 0o644 }
}

fn files(entries: &[(&str, Seal)]) -> BTreeMap<String, Seal> {
    entries.iter().map(|(path, seal)| ((*path).to_owned(), *seal)).collect()
}

fn sealed() -> Sealed {
    Sealed {
        action: "plan".to_owned(),
        run: "r1".to_owned(),
        at: Utc(0),
        snapshot: "plan-1970-01-01-00-00-00".to_owned(),
        files: files(&[("a.md", seal("a")), ("b.sh", seal("b")), ("c.md", seal("c"))]),
        deleted: BTreeSet::from(["old.md".to_owned()]),
    }
}

#[test]
fn oc_66_a_moment_is_written_as_names_carry_it() {
    assert_eq!(stamp(Utc::parse("2026-02-07T10:30:00Z").unwrap()), "2026-02-07-10-30-00");
}

// OC-64, OC-65, OC-93
#[test]
fn oc_65_good_work_is_never_rolled_back_for_a_failure() {
    for occasion in [Occasion::PartialFailure, Occasion::GateRejection, Occasion::InvalidOutput] {
        assert!(!occasion.offers_rollback());
    }
    for occasion in [Occasion::Asked, Occasion::Corruption, Occasion::Cancelled] {
        assert!(occasion.offers_rollback());
    }
}

#[test]
fn oc_64_damage_outside_of_a_run_is_found() {
    let sealed = sealed();
    assert_eq!(sealed.damage(&sealed.files), []);
    let mut now =
        files(&[("a.md", seal("x")), ("b.sh", Seal { mode: 0o755, ..seal("b") }), ("old.md", seal("o"))]);
    now.insert("new.md".to_owned(), seal("n"));
    let damage = sealed.damage(&now);
    let said: Vec<String> = damage.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "a.md (changed outside of any run)",
            "b.sh (its mode was 644 and is 755)",
            "c.md (gone)",
            "old.md (was removed, and is there again)",
        ]
    );
    let question = sealed.question(&damage);
    let ids: Vec<&str> = question.options.iter().map(|option| option.id.as_str()).collect();
    assert_eq!(ids, ["keep", "rollback", "cancel"]);
    let text = serde_json::to_string(&sealed).unwrap();
    assert_eq!(serde_json::from_str::<Sealed>(&text).unwrap(), sealed);
}

// OC-67, E-65
#[test]
fn e_65_a_confirmation_names_what_a_person_changed() {
    let question = confirm_question(
        "build-2026-02-07-10-30-00",
        "This will revert 5 files, delete 3 new files",
        &["planning-mds/notes.md".to_owned()],
        Hash::ZERO,
    );
    assert!(question.question.starts_with("This will revert 5 files, delete 3 new files."));
    assert!(question.why.contains("planning-mds/notes.md"));
    assert_eq!(question.about, [Hash::ZERO]);
    assert!(question.choose("approve", None).is_err());
}

#[test]
fn oc_67_a_person_selects_the_snapshot() {
    let listed =
        |id: &str, at: i64| Listed { id: id.to_owned(), action: "plan".to_owned(), created: Utc(at) };
    let question = select_question(&[listed("one", 1), listed("three", 3), listed("two", 2)]);
    let ids: Vec<&str> = question.options.iter().map(|option| option.id.as_str()).collect();
    assert_eq!(ids, ["three", "two", "one", "cancel"]);
}

proptest! {
    #[test]
    fn oc_64_damage_is_exactly_what_differs(
        then in proptest::collection::btree_map("[a-d]", "[xy]", 0..5),
        now in proptest::collection::btree_map("[a-d]", "[xy]", 0..5),
    ) {
        let seals = |map: &BTreeMap<String, String>| -> BTreeMap<String, Seal> {
            map.iter().map(|(path, text)| (path.clone(), seal(text))).collect()
        };
        let sealed = Sealed { files: seals(&then), deleted: BTreeSet::new(), ..sealed() };
        let damaged: Vec<String> = sealed.damage(&seals(&now)).into_iter().map(|one| one.path).collect();
        let differs: Vec<String> =
            then.iter().filter(|(path, text)| now.get(*path) != Some(text)).map(|(path, _)| path.clone()).collect();
        prop_assert_eq!(damaged, differs);
    }
}
