//! Tests of routing.

use proptest::prelude::*;

use super::*;

fn nine() -> Vec<Candidate> {
    candidates(None, None, &[])
}

fn one(intent: &str) -> Option<String> {
    match route(intent, &nine()) {
        Routed::One(name) => Some(name),
        Routed::Unclear(_) => None,
    }
}

#[test]
fn oc_09_clear_words_lead_to_one_action() {
    for (intent, action) in [
        ("build", "build"),
        ("  Build ", "build"),
        ("Run the plan action", "plan"),
        ("bootstrap a new project for farmers", "init"),
        ("please review the customer code", "review"),
        ("write tests for the customer service", "test"),
        ("Write a blog article about the release", "blog"),
        ("document the public interface", "document"),
        ("implement the whole application", "build"),
        ("check for gaps and alignment", "validate"),
        ("deliver a vertical slice for login", "feature"),
        ("gather the requirements", "plan"),
    ] {
        assert_eq!(one(intent).as_deref(), Some(action), "{intent}");
    }
}

#[test]
fn oc_10_what_is_ambiguous_is_a_question() {
    for intent in [
        "build the login feature",
        "review the plan",
        "do something",
        "",
        "make it nice",
        "test and document it",
    ] {
        assert_eq!(one(intent), None, "{intent}");
    }
    let Routed::Unclear(likely) = route("build the login feature", &nine()) else { panic!("clear") };
    let names: Vec<&str> = likely.iter().take(2).map(|candidate| candidate.name.as_str()).collect();
    assert_eq!(names, ["feature", "build"]);
    let question = question("build the login feature", &likely);
    assert_eq!(question.question, "Which action is meant by \"build the login feature\"?");
    assert_eq!(question.choose("feature", None).unwrap().id, "feature");
    assert_eq!(question.options.last().unwrap().id, "cancel");
}

#[test]
fn oc_10_a_negation_is_never_guessed_at() {
    assert_eq!(one("do not build anything yet"), None);
    assert_eq!(one("don't review, just stop"), None);
}

#[test]
fn oc_05_the_catalogue_says_which_actions_there_are() {
    let (catalogue, _) =
        Catalogue::read("- [ship](ship.md) - Publish a release to customers\n- [plan](plan.md) - Plans\n");
    let (file, _) = ActionFile::read(
        "agents/actions/ship.md",
        "# Action: Ship\n\n## User Intent\nBring a version out.\n",
    );
    let found = candidates(Some(&catalogue), None, std::slice::from_ref(&file));
    assert_eq!(found[0].intent, "Bring a version out.");
    assert_eq!(route("ship it", &found), Routed::One("ship".to_owned()));
    assert!(matches!(route("build", &found), Routed::Unclear(all) if all.len() == 2));
    // What only the map knows can be asked for, too; without a catalogue so can the nine.
    let (map, _) =
        AgentMap::read("agents: {}\nactions:\n  paint: {description: Paint it, steps: [architect]}\n");
    let names = |found: &[Candidate]| found.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
    assert_eq!(
        names(&candidates(Some(&catalogue), Some(&map), std::slice::from_ref(&file))),
        ["ship", "plan", "paint"]
    );
    let all = candidates(None, Some(&map), &[file]);
    assert_eq!((names(&all)[..3].join(" "), all.len()), ("paint ship init".to_owned(), 11));
}

#[test]
fn oc_09_the_longer_name_is_the_one_that_was_said() {
    let (catalogue, _) =
        Catalogue::read("- [plan](plan.md)\n- [review](review.md)\n- [plan-review](plan-review.md)\n");
    let all = candidates(Some(&catalogue), None, &[]);
    assert_eq!(route("run the plan review for login", &all), Routed::One("plan-review".to_owned()));
    assert_eq!(route("plan it", &all), Routed::One("plan".to_owned()));
    assert!(matches!(route("plan and review", &all), Routed::Unclear(_)));
}

proptest! {
    #[test]
    fn oc_10_a_route_is_always_an_action_that_exists(intent in ".{0,80}") {
        let all = nine();
        match route(&intent, &all) {
            Routed::One(name) => prop_assert!(all.iter().any(|candidate| candidate.name == name)),
            Routed::Unclear(likely) => prop_assert!(!likely.is_empty()),
        }
    }

    #[test]
    fn oc_10_two_names_are_never_decided_between(first in 0_usize..9, second in 0_usize..9) {
        prop_assume!(first != second);
        let all = nine();
        let intent = format!("{} {}", all[first].name, all[second].name);
        let decided = matches!(route(&intent, &all), Routed::One(_));
        prop_assert!(!decided, "{}", intent);
    }
}
