//! Exactly one scenario is enabled.

use proptest::prelude::*;

use super::super::*;

const PATH: &str = "tests/acceptance/test_kettle.py";
const ALL_OFF: &str =
    "@pytest.mark.skip\ndef test_a():\n    pass\n\n@pytest.mark.skip\ndef test_b():\n    pass\n";
const A_ON: &str = "def test_a():\n    pass\n\n@pytest.mark.skip\ndef test_b():\n    pass\n";
const BOTH_ON: &str = "def test_a():\n    pass\n\ndef test_b():\n    pass\n";

#[track_caller]
fn refused(base: Option<&str>, now: &str, wanted: Option<&str>, words: &str) {
    let objection = one_scenario(PATH, base, now, wanted).unwrap_err();
    assert_eq!(objection.rule.word(), "one-scenario");
    assert!(objection.message.contains(words), "{}", objection.message);
}

/// DW-59: the only enabled scenario, or the only one that was enabled since the step began.
#[test]
fn dw_59_exactly_one_scenario_is_enabled() {
    assert_eq!(one_scenario(PATH, Some(ALL_OFF), A_ON, None), Ok(None));
    assert_eq!(one_scenario(PATH, None, A_ON, None), Ok(None));
    assert_eq!(one_scenario(PATH, Some(A_ON), BOTH_ON, None), Ok(None));
    assert_eq!(one_scenario(PATH, Some(A_ON), A_ON, None), Ok(None));
    refused(Some(ALL_OFF), ALL_OFF, None, "Every scenario of tests/acceptance/test_kettle.py is put off");
    refused(Some(ALL_OFF), BOTH_ON, None, "2 scenarios of tests/acceptance/test_kettle.py were enabled");
    refused(None, BOTH_ON, None, "`test_a` (line 1), `test_b` (line 4)");
    refused(Some(BOTH_ON), BOTH_ON, None, "all of them were when the step began");
    refused(None, "x = 1\n", None, "holds no scenario");
}

/// DW-59: where the roadmap names a scenario that exists, it is that one.
#[test]
fn dw_59_the_scenario_of_the_roadmap_is_the_one() {
    for wanted in
        ["test_a", "TEST_A", "tests/acceptance/test_kettle.py::test_a", "test_a()", "Scenario: test_a"]
    {
        assert_eq!(one_scenario(PATH, Some(ALL_OFF), A_ON, Some(wanted)), Ok(None), "{wanted}");
    }
    refused(
        Some(ALL_OFF),
        A_ON,
        Some("test_b"),
        "`test_b` (line 5) in tests/acceptance/test_kettle.py, is still put off",
    );
    refused(Some(A_ON), BOTH_ON, Some("test_a"), "but `test_b` (line 4) was enabled");
    refused(Some(ALL_OFF), ALL_OFF, Some("test_b"), "Take the skip marker off `test_b`");
    // A title that no scenario has is words and no name.
    assert_eq!(one_scenario(PATH, Some(ALL_OFF), A_ON, Some("Water boils at once")), Ok(None));
    let classes = "class TestKettle:\n    def test_a(self):\n        pass\n\nclass TestPot:\n    @pytest.mark.skip\n    def test_a(self):\n        pass\n";
    assert_eq!(one_scenario(PATH, None, classes, Some("test_a")), Ok(None));
    assert_eq!(one_scenario(PATH, None, classes, Some("TestKettle.test_a")), Ok(None));
    refused(None, classes, Some("TestPot::test_a"), "is still put off");
}

/// DW-59: scenarios of feature files are scenarios, too; of a language that nobody reads nothing is known.
#[test]
fn dw_59_feature_files_are_read_and_others_are_noted() {
    let feature = "Feature: Kettle\n\n  Scenario: Water boils.\n    Given water\n\n  @skip\n  Scenario: Whistle\n    Given steam\n";
    assert_eq!(one_scenario("kettle.feature", None, feature, Some("Scenario: water  boils.")), Ok(None));
    assert!(one_scenario("kettle.feature", None, feature, Some("Whistle")).is_err());
    let note = one_scenario("kettle.robot", None, "*** Test Cases ***", None).unwrap();
    assert!(note.unwrap().contains("kettle.robot"));
}

proptest! {
    /// With any number of scenarios it holds exactly where one is enabled, or one more than before.
    #[test]
    fn dw_59_one_and_only_one(before in prop::collection::vec(any::<bool>(), 1..8), seed in any::<u8>()) {
        let text = |on: &[bool]| -> String {
            let test = |(at, on): (usize, &bool)| {
                format!("{}def test_{at}():\n    pass\n", if *on { "" } else { "@pytest.mark.skip\n" })
            };
            on.iter().enumerate().map(test).collect()
        };
        let now: Vec<bool> = before.iter().enumerate().map(|(at, on)| *on || seed >> at & 1 == 1).collect();
        let new = before.iter().zip(&now).filter(|(before, now)| **now && !**before).count();
        let enabled = now.iter().filter(|on| **on).count();
        let holds = one_scenario(PATH, Some(&text(&before)), &text(&now), None).is_ok();
        prop_assert_eq!(holds, enabled == 1 || new == 1);
    }
}
