//! The laws of joining: nothing is good by default.

use proptest::prelude::*;

use super::*;

fn good() -> Verdict {
    Verdict::checked("tests", "3 passed", None)
}

fn any_verdict() -> impl Strategy<Value = Verdict> {
    prop_oneof![
        Just(good()),
        Just(Verdict::judged("judge", "PASS")),
        Just(Verdict::bad("a test failed")),
        Just(Verdict::unknown("it was killed")),
        Just(Verdict::absent("not configured", "configuration")),
    ]
}

#[test]
fn nothing_joined_is_never_good() {
    assert_eq!(Verdict::join([]), Verdict::absent("nothing was checked", ""));
    let absent = Verdict::absent("no gate is configured", "configuration");
    let joined = Verdict::join([absent.clone(), absent]);
    assert!(!joined.is_good(), "{joined}");
    assert_eq!(
        joined.to_string(),
        "not run: nothing was checked: no gate is configured; no gate is configured"
    );
}

#[test]
fn a_claim_never_makes_evidence_better() {
    let claim = Verdict::judged("judge", "PASS");
    assert_eq!(Verdict::bad("red").over(claim.clone()), Verdict::bad("red"));
    assert_eq!(Verdict::unknown("killed").over(claim.clone()), Verdict::unknown("killed"));
    assert_eq!(Verdict::absent("not configured", "configuration").over(claim.clone()), claim);
    assert_eq!(good().over(Verdict::bad("INSUFFICIENT")), Verdict::bad("INSUFFICIENT"));
}

#[test]
fn an_accepted_unknown_stays_marked() {
    let accepted = Verdict::unknown("the suite was killed").accepted("ann", "checked by hand");
    assert!(accepted.is_good());
    assert_eq!(accepted.footing(), Some(Footing::Waived));
    let joined = Verdict::join([good(), accepted]);
    assert_eq!(joined.waivers(), ["accepted unchecked by ann: checked by hand (the suite was killed)"]);
    assert_eq!(Verdict::join([good(), Verdict::judged("j", "ok")]).footing(), Some(Footing::Judged));
    assert_eq!(good().footing(), Some(Footing::Checked));
}

proptest! {
    #[test]
    fn one_bad_is_bad_and_one_unknown_is_never_good(all in prop::collection::vec(any_verdict(), 0..6)) {
        let joined = Verdict::join(all.clone());
        let has = |word: &str| all.iter().any(|verdict| verdict.word() == word);
        let expected = match () {
            () if has("bad") => "bad",
            () if has("unknown") => "unknown",
            () if has("good") => "good",
            () => "not run",
        };
        prop_assert_eq!(joined.word(), expected);
    }

    #[test]
    fn what_is_stored_is_what_is_read(verdict in any_verdict()) {
        let text = serde_json::to_string(&verdict).unwrap();
        prop_assert_eq!(serde_json::from_str::<Verdict>(&text).unwrap(), verdict);
    }
}
