//! Gates that measure: thresholds, comparators, and what a person may do about the difference.

use crate::action_support::RELEASE;
use crate::action_support::Workshop;

/// One gate for each comparator, and a person at the end.
const COMPARATORS: &str = "- backend-developer\n\
    - {gate: quality, name: at-least, thresholds: {coverage: \">= 80\"}}\n\
    - {gate: quality, name: more-than, thresholds: {coverage: \"> 80\"}}\n\
    - {gate: quality, name: at-most, thresholds: {coverage: \"<= 80\"}}\n\
    - {gate: quality, name: less-than, thresholds: {coverage: \"< 80\"}}\n";
const ONE: &str = "- backend-developer\n- {gate: quality, name: tested}\n- {gate: approval, name: release}\n";
const GATE: &str = "Quality gate tested";

/// A workshop whose coverage is what stands in a file.
fn measured(steps: &str, covered: u32) -> Workshop {
    let workshop = Workshop::of(steps);
    workshop.configure("[gates.coverage]\ncommand = [\"cat\", \"covered\"]\n");
    cover(&workshop, covered);
    workshop
}

/// So many of a thousand lines are covered.
fn cover(workshop: &Workshop, covered: u32) {
    let (missed, percent) = (1000 - covered, f64::from(covered) / 10.0);
    workshop.env.file("covered", format!("Name  Stmts  Miss  Cover\nTOTAL  1000  {missed}  {percent}%\n"));
}

/// Which of the four gates let a coverage pass.
fn passed(covered: u32) -> [bool; 4] {
    let workshop = measured(COMPARATORS, covered);
    workshop.run_answering(&["build"], &[("Quality gate", "override", "to see the next one")]).exits(0);
    let decisions = workshop.decisions();
    ["at-least", "more-than", "at-most", "less-than"].map(|gate| {
        let decision =
            decisions.iter().find(|one| one.starts_with(gate)).unwrap_or_else(|| panic!("{decisions:?}"));
        assert!(decision.ends_with("passed") || decision.ends_with("override"), "{decision}");
        decision.ends_with("passed")
    })
}

/// K-51: exactly 80 is enough for "at least", and for nothing stricter.
#[test]
fn k_51_coverage_79_9_with_each_comparator() {
    assert_eq!(passed(799), [false, false, true, true]);
}

#[test]
fn k_51_coverage_80_with_each_comparator() {
    assert_eq!(passed(800), [true, false, true, false]);
}

#[test]
fn k_51_coverage_80_1_with_each_comparator() {
    assert_eq!(passed(801), [true, true, false, false]);
}

/// OC-106: the developers hear the numbers, and the gate is run again; to look again costs no work.
#[test]
fn oc_57_fix_and_retry() {
    let workshop = measured(ONE, 650);
    workshop.build(&[]).exits(3);
    let question = workshop.question();
    assert_eq!(question.choices(), ["fix", "lower_threshold", "override", "retry", "cancel"]);
    assert_eq!(question.labels()[..3], ["Fix coverage", "Lower threshold", "Override"]);
    assert_eq!(question.with_words(), ["lower_threshold", "override"]);
    question.every_option_has_its_consequence();
    assert_eq!(question.details(), "Coverage: 65% (threshold: 80%)\n❌ FAIL - Below threshold");
    workshop.resume(&[(GATE, "fix", "")]).exits(3);
    assert_eq!(workshop.count("backend-developer"), 2);
    assert_eq!(
        workshop.feedback("backend-developer", 2),
        ["Coverage: 65% (threshold: 80%); raise it to what is demanded"]
    );
    cover(&workshop, 900);
    workshop.resume(&[(GATE, "retry", ""), RELEASE]).exits(0);
    assert_eq!(workshop.count("backend-developer"), 2);
    assert_eq!(workshop.facts("gate_ran").len(), 3);
    // OC-99: the command, its exit code and its output are on record.
    assert!(workshop.evidence("commands.log").contains("$ cat covered\n    exit code 0"));
    workshop.verify();
}

#[test]
fn oc_57_lowering_the_threshold_takes_words_that_the_next_approval_shows() {
    let workshop = measured(ONE, 650);
    workshop.build(&[]).exits(3);
    let id = workshop.question().id().to_owned();
    workshop.env.run(&["answer", &id, "lower_threshold"]).exits(2).says("needs a few words");
    workshop.resume(&[(GATE, "lower_threshold", "the rest is generated")]).exits(3);
    let question = workshop.question();
    assert_eq!(question.header(), "Gate release");
    assert!(
        question.details().contains(
            "threshold of gate tested: overridden by ada: threshold lowered: the rest is generated"
        ),
        "{}",
        question.details()
    );
    // It holds for this run: a check that runs again demands no more, but no less either.
    cover(&workshop, 640);
    workshop
        .resume(&[("Gate release", "changes", "Shorter")])
        .exits(3)
        .says("Coverage: 64% (threshold: 65%)");
}

#[test]
fn oc_57_an_override_takes_words_that_the_next_approval_shows() {
    let workshop = measured(ONE, 799);
    workshop.build(&[(GATE, "override", "agreed with the board")]).exits(3);
    let question = workshop.question();
    assert!(
        question.details().contains("gate tested: overridden by ada: agreed with the board"),
        "{}",
        question.details()
    );
    workshop.resume(&[RELEASE]).exits(0);
}

/// The configuration says what is demanded where the map does not.
#[test]
fn oc_57_threshold_and_comparator_come_from_the_configuration() {
    let workshop = Workshop::of(ONE);
    workshop.configure(
        "[gates.coverage]\ncommand = [\"cat\", \"covered\"]\nthreshold = 90\ncomparator = \">\"\n",
    );
    cover(&workshop, 900);
    workshop.build(&[]).exits(3).says("Coverage: 90% (threshold: above 90%)");
    cover(&workshop, 901);
    workshop.resume(&[(GATE, "retry", ""), RELEASE]).exits(0);
}

/// OC-18: what was not measured is never good enough, and where nothing can be measured a person decides.
#[test]
fn oc_18_a_gate_without_a_measure_is_not_passed_by() {
    let workshop = measured(ONE, 900);
    workshop.env.file("covered", "nothing to see here\n");
    workshop.build(&[]).exits(3).says("Coverage: not measured (threshold: 80%)");
    let workshop = Workshop::of("- backend-developer\n- {gate: quality, name: tested}\n");
    workshop.build(&[]).exits(3).says("Nothing is configured that the gate tested could measure");
    workshop.resume(&[("Gate tested", "approve", "")]).exits(0);
}

/// A command that fails is asked about, whatever it printed.
#[test]
fn oc_18_tests_that_fail_are_not_passed_by() {
    let workshop = measured(ONE, 900);
    workshop.configure("[gates.tests]\ncommand = [\"sh\", \"-c\", \"echo two tests failed; exit 1\"]\n");
    workshop.build(&[]).exits(3).says("two tests failed");
    let question = workshop.question();
    assert_eq!(question.choices(), ["fix", "retry", "cancel"]);
    workshop.resume(&[("Gate tested", "fix", "")]).exits(3);
    assert!(workshop.feedback("backend-developer", 2)[0].contains("two tests failed"));
}

/// OC-106: what the tests printed is counted, and compared like coverage.
#[test]
fn oc_106_a_pass_rate_is_measured_from_the_output_of_the_tests() {
    let workshop = Workshop::of(
        "- quality-engineer\n- {gate: quality, name: tested, thresholds: {pass_rate_pct: 100}}\n",
    );
    workshop.configure("[gates.tests]\ncommand = [\"sh\", \"tests.sh\"]\n");
    workshop.env.file("tests.sh", "echo '==== 1 failed, 3 passed in 0.12s ===='; exit 1\n");
    workshop.build(&[]).exits(3).says("1 failed, 3 passed");
    workshop.env.file("tests.sh", "echo '==== 4 passed in 0.12s ===='\n");
    workshop.resume(&[("Gate tested", "retry", "")]).exits(0);
    assert_eq!(workshop.decisions().last().unwrap(), "tested passed");
}
