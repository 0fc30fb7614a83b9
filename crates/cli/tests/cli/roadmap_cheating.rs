//! Ways to green that prove nothing: each is refused by its name, and what it touched has to be put back.

use serde_json::Value;

use crate::roadmap_support::Project;
use crate::roadmap_support::SHORT;
use crate::roadmap_support::add;
use crate::roadmap_support::texts;

/// A step whose agent cheats at its first try of GREEN, and does its work at the second. Gives what the first try was
/// refused for: rules and words.
#[track_caller]
fn cheat(project: &Project, cheating: &str, mending: &str) -> Vec<(String, String)> {
    project.agent(&format!(
        r#"case "$SERIATIM_PHASE $number" in
        "GREEN 1") {cheating} ;;
        "GREEN 2") {mending}; usual ;;
        *) usual ;;
        esac
        finish"#
    ));
    project.step("01-01").exits(0);
    project.assert_done(&["01-01"]);
    let tries = project.tries("01-01", "GREEN");
    assert_eq!(tries.len(), 2, "{tries:#?}");
    assert_eq!(texts(&project.brief("01-01", "GREEN", 2)["feedback"]).len(), objections(&tries[0]).len());
    objections(&tries[0])
}

fn objections(tried: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let all = tried["objections"].as_array().unwrap().iter();
    all.map(|objection| (text(&objection["rule"]), text(&objection["message"]))).collect()
}

#[track_caller]
fn assert_named(objections: &[(String, String)], rule: &str, words: &str) {
    let found = objections.iter().any(|(by, said)| by == rule && said.contains(words));
    assert!(found, "{rule}: {words}\n{objections:#?}");
}

#[test]
fn green_by_rewriting_the_red_test_is_refused() {
    let said = cheat(&Project::short(), "write_test 0", "write_test");
    let words = "The tests in tests/test_add.py were changed after they were red (line 7 at `Test::test_add`). Put them \
                 back as they were at RED and mend the code instead";
    assert_named(&said, "red-test-changed", words);
}

#[test]
fn green_by_a_skip_marker_is_refused() {
    let skip = r#"sed -i "s/    def/    @unittest.skip('later')\n    def/" "$test""#;
    let said = cheat(&Project::short(), skip, "write_test");
    assert_named(
        &said,
        "skip-marker",
        "on line 6 of tests/test_add.py puts off `Test::test_add`. Take it out",
    );
}

#[test]
fn green_by_deleting_the_test_is_refused() {
    let delete = r#"write_code 5; sed -i '6,$d' "$test"; echo '    pass' >>"$test""#;
    let said = cheat(&Project::short(), delete, "write_test");
    assert_named(
        &said,
        "test-deleted",
        "The test `Test::test_add` is gone: it stood on line 6 of tests/test_add.py at RED.",
    );
}

#[test]
fn green_by_deleting_the_test_file_is_refused() {
    let said = cheat(&Project::short(), r#"rm "$test""#, "write_test");
    let words =
        "The test file tests/test_add.py is gone with `Test::test_add`. Bring it back as it was at RED.";
    assert_named(&said, "test-file-deleted", words);
}

/// The script is even among the files that the step may change.
#[test]
fn green_by_editing_the_script_of_a_gate_is_refused() {
    let project = Project::of(SHORT, &[add().with("files_to_create", "[\"src/add.py\", \"check.sh\"]")]);
    let edit =
        r#"cp check.sh "$stage/kept"; printf 'echo "Ran 1 test in 0.001s"; echo; echo OK\n' >check.sh"#;
    let said = cheat(&project, edit, r#"cp "$stage/kept" check.sh"#);
    assert_named(&said, "gate-edited", "check.sh was changed, and the gate `tests` stands on it.");
    // A gate that was edited shows nothing, so it was not even asked.
    assert_eq!(project.tries("01-01", "GREEN")[0]["evidence"].as_array().unwrap().len(), 0);
}

#[test]
fn green_by_editing_the_configuration_is_refused() {
    let project = Project::of(SHORT, &[add().with("files_to_create", "[\"src/add.py\", \"seriatim.toml\"]")]);
    let edit = r#"cp seriatim.toml "$stage/kept"; sed -i 's/"sh", "check.sh"/"true"/' seriatim.toml"#;
    let said = cheat(&project, edit, r#"cp "$stage/kept" seriatim.toml"#);
    assert_named(&said, "gate-edited", "seriatim.toml was changed, and the gate `all gates` stands on it.");
}

/// The cases lie in a file whose language nobody reads, so that only their number shows it.
#[test]
fn green_with_fewer_tests_than_at_red_is_refused() {
    let project = Project::of(SHORT, &[add().with("files_to_modify", "[\"cases.txt\"]")]);
    project.with("cases.txt", "one\ntwo\nthree\n").with("cases.sh", CASES);
    project.configure("[gates.acceptance]\ncommand = [\"sh\", \"cases.sh\"]\n");
    let said = cheat(&project, "usual; sed -i '3d' cases.txt", "echo three >>cases.txt");
    let words = "At RED the gate `acceptance` ran 3 tests, and now it runs 2. Bring the missing ones back";
    assert_named(&said, "test-count", words);
}

const CASES: &str = r#"# Each line of cases.txt is a test; all of them fail until the module is right.
ran=$(grep -c . cases.txt)
rule=----------------------------------------------------------------------
if grep -q 'RESULT = 5' src/add.py; then
    printf '%s\nRan %s tests in 0.001s\n\nOK\n' $rule $ran
else
    printf '======================================================================\nFAIL: case (cases)\n%s\n' $rule
    printf 'Traceback (most recent call last):\n  File "cases.txt", line 1, in case\n    x\nAssertionError: no\n\n'
    printf '%s\nRan %s tests in 0.001s\n\nFAILED (failures=1)\n' $rule $ran
    exit 1
fi
"#;

/// Who cheats to the end has to show RED again when the step is tried anew.
#[test]
fn red_is_void_when_its_test_was_rewritten_to_the_end() {
    let project = Project::short();
    project.agent("[ $SERIATIM_PHASE = RED ] && usual || write_test 0; finish");
    project
        .step("01-01")
        .exits(1)
        .says("GREEN was refused 3 times: The tests in tests/test_add.py were changed");
    assert_eq!(project.phase("01-01", "RED")["status"], "NOT_EXECUTED");
    let trail = project.git(&["ls-files", "--others", "--", "docs/feature/calc/audit-*.log"]);
    assert!(project.env.read(trail.trim()).contains("RED is void"), "{trail}");
    project.agent("usual; finish");
    project.step("01-01").exits(0);
    assert_eq!((project.count("01-01", "RED"), project.count("01-01", "GREEN")), (2, 4));
    project.assert_done(&["01-01"]);
}
