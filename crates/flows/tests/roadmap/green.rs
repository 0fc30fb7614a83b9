//! GREEN and what follows it: the tests that were red pass, and they are the same tests.

use seriatim_flows::registry::End;

use crate::repository::Files;
use crate::story::Story;
use crate::world::World;
use crate::world::step;
use crate::world::test_of;

fn thrice(place: &'static str, deed: fn(&mut Files)) -> World {
    World::one().does(place, deed).does(place, deed).does(place, deed)
}

#[track_caller]
fn rules(story: &Story, phase: &str) -> Vec<String> {
    let view = story.view();
    let phases = view.fields["phases"].as_array().unwrap();
    let of = phases
        .iter()
        .filter(|one| one["phase"] == phase)
        .flat_map(|one| one["objections"].as_array().unwrap());
    of.map(|objection| objection["rule"].as_str().unwrap().to_owned()).collect()
}

fn rewrite_test(files: &mut Files) {
    files.insert("tests/test_add.py".to_owned(), test_of("add").replace("== 5", "== 0"));
}

/// The cap of refusals: three attempts, then the step is FAILED, and RED has to be shown again (DW-63, DW-85).
#[test]
fn dw_63_dw_85_green_with_rewritten_tests_is_refused_three_times_and_red_is_void() {
    let story = thrice("01-01 GREEN", rewrite_test).run();
    insta::assert_snapshot!(story.whole());
    assert_eq!(rules(&story, "GREEN"), ["red-test-changed", "red-test-changed", "red-test-changed"]);
    // A repeated run goes on from RED (DW-92).
    let again = story.again().run();
    assert_eq!(again.calls(), ["01-01 RED", "01-01 GREEN"]);
    assert_eq!(again.log()[1], "Step 01-01 (Function add) goes on with @software-crafter.");
    assert_eq!(again.ended().status, End::Completed);
}

#[test]
fn green_by_a_skip_marker_is_refused() {
    let story = World::one()
        .also("01-01 GREEN", |files| {
            let text = test_of("add").replace("def test_add", "@pytest.mark.skip\ndef test_add");
            files.insert("tests/test_add.py".to_owned(), text);
        })
        .also("01-01 GREEN", |files| {
            files.insert("tests/test_add.py".to_owned(), test_of("add"));
        })
        .run();
    let found = rules(&story, "GREEN");
    assert!(found.contains(&"skip-marker".to_owned()), "{found:?}");
    assert_eq!(story.ended().status, End::Completed);
}

#[test]
fn green_with_fewer_tests_than_red_is_refused() {
    let red = "=== short test summary info ===\nFAILED tests/test_add.py::test_add - assert 0 == 5\n\
               ==== 1 failed, 1 passed in 0.01s ====\n";
    let story = World::one().shows("tests", 1, red).run();
    assert_eq!(rules(&story, "GREEN"), ["test-count", "test-count", "test-count"]);
    assert_eq!(story.ended().status, End::Failed);
}

#[test]
fn green_with_tests_that_fail_is_refused() {
    let story = thrice("01-01 GREEN", |_| {}).run();
    assert_eq!(rules(&story, "GREEN"), ["not-green", "not-green", "not-green"]);
    // The tests are those that were red, so that a repeated run goes on with GREEN.
    assert_eq!(story.again().run().calls(), ["01-01 GREEN"]);
}

/// Files outside of the step's are named, and never committed.
#[test]
fn green_that_changes_other_files_is_refused() {
    let story = World::one()
        .also("01-01 GREEN", |files| {
            files.insert("src/other.py".to_owned(), "X = 1\n".to_owned());
        })
        .also("01-01 GREEN", |files| {
            files.remove("src/other.py");
        })
        .run();
    assert_eq!(rules(&story, "GREEN"), ["scope"]);
    assert_eq!(
        story.log_of(&["GREEN: refused"]),
        [
            "Step 01-01, GREEN: refused. Unexpected modification: src/other.py is not among the files that step 01-01 \
          may change. Put it back as it was, or have it added to the step's files."
        ]
    );
    assert_eq!(story.ended().status, End::Completed);
}

#[test]
fn green_that_edits_a_gate_is_refused_and_the_gate_is_not_run() {
    let story = World::one()
        .also("01-01 GREEN", |files| {
            files.insert("seriatim.toml".to_owned(), String::new());
        })
        .also("01-01 GREEN", |files| {
            files.insert("seriatim.toml".to_owned(), "[gates.tests]\n".to_owned());
        })
        .run();
    assert_eq!(rules(&story, "GREEN"), ["scope", "gate-edited"]);
    assert_eq!(story.log_of(&["GREEN: the gate"]).len(), 1);
    assert_eq!(story.ended().status, End::Completed);
}

/// DW-65: refactoring leaves the tests green.
#[test]
fn dw_65_refactoring_that_breaks_a_test_is_refused() {
    let mut world = World::of("", &[step("01-01", "add", &[])]);
    world.start.only = Some("01-01".to_owned());
    let story = world
        .does("01-01 REFACTOR_CONTINUOUS", |files| {
            files.insert("src/add.py".to_owned(), "RESULT = 4\n".to_owned());
        })
        .does("01-01 REFACTOR_CONTINUOUS", |files| {
            files.insert("src/add.py".to_owned(), "RESULT = 5\n".to_owned());
        })
        .run();
    assert_eq!(rules(&story, "REFACTOR_CONTINUOUS"), ["not-green"]);
    assert_eq!(story.commits(), ["feat(01-01): GREEN", "review(01-01)", "feat(01-01): DONE"]);
    assert_eq!(story.ended().status, End::Completed);
}

/// DW-64: coverage is measured before the step and must not fall.
#[test]
fn dw_64_coverage_that_falls_is_refused() {
    let story = World::one()
        .gate("coverage")
        .shows("coverage", 0, "TOTAL 100 5 95%\n")
        .shows("coverage", 0, "TOTAL 100 10 90%\n")
        .run();
    assert_eq!(story.log_of(&["Coverage before"]), ["Coverage before step 01-01: 95%."]);
    assert_eq!(rules(&story, "COMMIT"), ["coverage-fell"]);
    assert_eq!(story.view().fields["coverage"][0]["value"], "95%");
    assert_eq!(story.ended().status, End::Failed);
}
