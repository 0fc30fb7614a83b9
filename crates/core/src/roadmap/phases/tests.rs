//! The five generations, and how a file's generation is told.

use proptest::prelude::*;

use super::Schema;
use crate::finding::Finding;

fn names(version: &str) -> Vec<&'static str> {
    Schema::of_version(version).unwrap().names().collect()
}

#[test]
fn k_01_k_02_the_five_generations_are_data() {
    let counts: Vec<usize> = Schema::built_in().iter().map(|schema| schema.phases.len()).collect();
    assert_eq!(counts, [14, 8, 7, 5, 3]);
    assert_eq!(
        names("v1").join(" "),
        "PREPARE RED_ACCEPTANCE RED_UNIT GREEN_UNIT CHECK_ACCEPTANCE GREEN_ACCEPTANCE REVIEW REFACTOR_L1 \
         REFACTOR_L2 REFACTOR_L3 REFACTOR_L4 POST_REFACTOR_REVIEW FINAL_VALIDATE COMMIT"
    );
    assert_eq!(names("2.0")[5..], ["REFACTOR_CONTINUOUS", "REFACTOR_L4", "COMMIT"]);
    let seven = names("3");
    assert_eq!(
        seven,
        ["PREPARE", "RED_ACCEPTANCE", "RED_UNIT", "GREEN", "REVIEW", "REFACTOR_CONTINUOUS", "COMMIT"]
    );
    assert_eq!(names("v4.0"), ["PREPARE", "RED_ACCEPTANCE", "RED_UNIT", "GREEN", "COMMIT"]);
    assert_eq!(names("5.0.0"), ["RED", "GREEN", "COMMIT"]);
    assert_eq!(Schema::usual(), Schema::of_version("v3").unwrap());
    assert_eq!(Schema::of_version("v6"), None);
    assert_eq!(Schema::of_version("latest"), None);
}

#[test]
fn ds_90_each_phase_of_the_first_canon_has_its_gate() {
    let gates: Vec<&str> = Schema::of_version("1")
        .unwrap()
        .phases
        .iter()
        .map(|phase| phase.gate.as_deref().unwrap_or("-"))
        .collect();
    assert_eq!(gates.join(" "), "G1 G2 G3 - - G6 G5 G6 G6 G6 G6 G6 - -");
}

#[test]
fn k_03_k_04_words_of_the_generations() {
    let words: Vec<String> =
        Schema::built_in().iter().map(|schema| format!("{}/{}", schema.done, schema.failed)).collect();
    assert_eq!(
        words,
        [
            "EXECUTED/FAILED",
            "COMPLETED/COMPLETED",
            "COMPLETED/COMPLETED",
            "COMPLETED/COMPLETED",
            "COMPLETED/COMPLETED"
        ]
    );
    assert_eq!(
        Schema::of_version("1").unwrap().titles,
        ["TDD_14_PHASES", "TDD_PHASES", "MANDATORY TDD PHASES"]
    );
}

#[test]
fn k_10_phases_for_acceptance_driven_steps_are_tagged() {
    let tagged = |version: &str| -> Vec<usize> {
        let schema = Schema::of_version(version).unwrap();
        schema.phases.iter().filter(|p| p.atdd_only).map(|p| p.index).collect()
    };
    assert_eq!(tagged("1"), [1, 2, 3, 4]);
    assert_eq!(tagged("3"), [1, 2, 3, 4]);
    assert!(Schema::usual().phase("REVIEW").unwrap().skip_if_stated);
    assert!(!Schema::usual().phase("GREEN").unwrap().skip_if_stated);
}

#[test]
fn k_95_a_file_is_of_the_generation_whose_phases_it_has() {
    let told = |list: &[&str]| Schema::detect(list.iter().copied()).map(|schema| schema.version.as_str());
    for schema in Schema::built_in() {
        let names: Vec<&str> = schema.names().collect();
        assert_eq!(told(&names), Some(schema.version.as_str()));
        let mut twice = names.clone();
        twice.extend(&names);
        assert_eq!(told(&twice), Some(schema.version.as_str()), "duplicates do not matter");
    }
    assert_eq!(told(&names("1")[..13]), Some("1.0"), "one is missing");
    assert_eq!(told(&["PREPARE", "GREEN", "REVIEW"]), Some("3.0"));
    assert_eq!(told(&["RED", "GREEN"]), Some("5.0"));
    assert_eq!(told(&["SPECIFY", "BUILD"]), None);
    assert_eq!(told(&[]), None);
}

#[test]
fn a_project_may_bring_its_own() {
    let own =
        Schema::parse("version: house\ndone: OK\nphases: [THINK, {name: MAKE, gate: G6}, COMMIT]\n").unwrap();
    assert_eq!(own.names().collect::<Vec<_>>(), ["THINK", "MAKE", "COMMIT"]);
    assert_eq!((own.done.as_str(), own.failed.as_str()), ("OK", "OK"));
    assert_eq!(Schema::detect_in([&own], ["MAKE"]), Some(&own));
    let lines = |text: &str| -> Vec<String> {
        let shown = |f: &Finding| format!("{} {}:{} {}", f.rule, f.place.line, f.place.column, f.message);
        Schema::parse(text).unwrap_err().iter().map(shown).collect()
    };
    assert_eq!(
        lines("phases: [A, A]\n"),
        [
            "missing-field 1:1 the phase schema needs the field `version`",
            "duplicate-phase 1:13 the phase `A` is listed twice"
        ]
    );
    assert_eq!(lines("version: x\nphases: []\n"), ["type 2:9 the phase schema needs a list of phases"]);
    assert_eq!(lines("version: [\n").len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn detection_never_prefers_a_schema_that_knows_fewer_of_the_names(
        picked in prop::collection::vec(prop::sample::select(names("1")), 1..20),
    ) {
        let found = Schema::detect(picked.iter().copied()).unwrap();
        let known = |schema: &Schema| picked.iter().filter(|name| schema.phase(name).is_some()).count();
        for other in Schema::built_in() {
            prop_assert!(known(found) >= known(other));
        }
    }
}
