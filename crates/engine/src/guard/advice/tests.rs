//! Each kind of trouble has its own advice.

use seriatim_core::guard::scope::Violation;
use seriatim_core::guard::scope::Why;

use super::*;

fn scope() -> String {
    Violation { path: "other.rs".to_owned(), why: Why::Unlisted }.to_string()
}

#[test]
fn every_trouble_has_an_advice_of_its_own() {
    let of = |error: &str| on("01-01", &[error.to_owned()]);
    let phases = of("Phase RED NOT_EXECUTED and task is IN_PROGRESS");
    assert!(phases[0].contains("seriatim phase start 01-01 PHASE"), "{phases:?}");
    let scope = of(&scope());
    assert!(scope[0].contains("git restore") && !scope[0].contains("seriatim phase"), "{scope:?}");
    let red = of("G6: `tests` is red: 1 failed");
    assert!(red[0].starts_with("Mend what the gate names"), "{red:?}");
    let broken = of("Gate `lint` is broken: its command could not be run");
    assert!(broken[0].contains("seriatim.toml"), "{broken:?}");
    let unseen = of(&reconcile::sentence("a9"));
    assert!(unseen[0].contains("seriatim inbox") && !unseen[0].contains("seriatim phase"), "{unseen:?}");
    let state = of("Step file not found: steps/01-01.json");
    assert!(state[0].contains("seriatim check"), "{state:?}");
    let all = [phases, scope, red, broken, unseen, state];
    assert!(all.iter().all(|advice| advice.len() == 1));
}

#[test]
fn each_kind_is_advised_on_once_and_a_held_step_is_for_a_person() {
    let errors = [scope(), "Phase RED left IN_PROGRESS (abandoned)".to_owned(), scope()];
    assert_eq!(on("01-01", &errors).len(), 2);
    let held = format!("step 01-01 (steps/01-01.json){HELD}{}", scope());
    let advice = on("01-01", &[held]);
    assert!(matches!(advice.as_slice(), [one] if one.contains("seriatim answer")), "{advice:?}");
}
