//! Each kind of trouble has its own advice.

use seriatim_core::guard::scope::Violation;
use seriatim_core::guard::scope::Why;
use seriatim_core::roadmap::verdict::Evidence;
use seriatim_core::roadmap::verdict::PhaseFault;

use super::*;

fn scope() -> Objection {
    Objection::Scope(Violation { path: "other.rs".to_owned(), why: Why::Unlisted })
}

fn abandoned() -> Objection {
    Objection::Phase { phase: "RED".to_owned(), fault: PhaseFault::Abandoned }
}

#[test]
fn every_trouble_has_an_advice_of_its_own() {
    let of = |error: Objection| on("01-01", &[error]);
    let phases = of(abandoned());
    assert!(phases[0].contains("seriatim phase start 01-01 PHASE"), "{phases:?}");
    let scope = of(scope());
    assert!(scope[0].contains("git restore") && !scope[0].contains("seriatim phase"), "{scope:?}");
    let red = Evidence { result: Shown::Red, ..Evidence::broken("tests", "1 failed") };
    let red = of(Objection::Gate(red));
    assert!(red[0].starts_with("Mend what the gate names"), "{red:?}");
    let broken = of(Objection::Gate(Evidence::broken("lint", "its command could not be run")));
    assert!(broken[0].contains("seriatim.toml"), "{broken:?}");
    let unseen = of(Objection::Unseen { agent: "a9".to_owned() });
    assert!(unseen[0].contains("seriatim inbox") && !unseen[0].contains("seriatim phase"), "{unseen:?}");
    let state = of(Objection::StateFile { problem: "Step file not found: steps/01-01.json".to_owned() });
    assert!(state[0].contains("seriatim check"), "{state:?}");
    let older = of(Objection::Other { text: "Phase RED left IN_PROGRESS (abandoned)".to_owned() });
    assert!(older[0].contains("judged anew") && !older[0].contains("seriatim phase"), "{older:?}");
    let all = [phases, scope, red, broken, unseen, state, older];
    assert!(all.iter().all(|advice| advice.len() == 1));
}

#[test]
fn each_kind_is_advised_on_once_and_a_held_step_is_for_a_person() {
    assert_eq!(on("01-01", &[scope(), abandoned(), scope()]).len(), 2);
    let held = Objection::Held { step: "step 01-01 (steps/01-01.json)".to_owned(), errors: vec![scope()] };
    let advice = on("01-01", &[held]);
    assert!(matches!(advice.as_slice(), [one] if one.contains("seriatim answer")), "{advice:?}");
}
