//! Nothing is good by default, red is red, and findings stay until they are closed by name.

use serde_json::json;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::failure::FailureCause;
use seriatim_core::gate;
use seriatim_core::gate::Gate;
use seriatim_core::report::Report;
use seriatim_flows::request::Done;
use seriatim_flows::request::Ran;

use crate::story::Story;
use crate::world::World;
use crate::world::done;
use crate::world::exit;
use crate::world::work;

const REVIEW: &str = "- backend-developer\n- security\n- {gate: approval, name: release}";

/// The ten ways in which a role gives nothing that can be used.
fn failures() -> Vec<(&'static str, Done<Report>)> {
    let failed = |class, words: &str| Err(Failure::new(class, words));
    let report = |value| Ok(serde_json::from_value(value).unwrap());
    vec![
        ("exit 1", failed(Class::Crash, "it ended with exit code 1")),
        ("killed", failed(Class::Crash, "it was killed")),
        ("timeout", failed(Class::AgentDeadline, "its time was over")),
        (
            "not installed",
            Err(Failure::new(Class::Contract, "no program").because(Some(FailureCause::NoProgram))),
        ),
        ("no report", failed(Class::Silent, "it reported nothing")),
        ("not JSON", failed(Class::Invalid, "its report is not JSON")),
        ("partial", report(json!({"status": "partial", "summary": "half", "outputs": {"findings": []}}))),
        ("failed", failed(Class::Contract, "it cannot be done")),
        ("empty outputs", report(json!({"status": "done"}))),
        (
            "contradictory",
            done(json!({"verdict": "approved", "result": "failed",
            "findings": [{"severity": "critical", "title": "weak hash"}]})),
        ),
    ]
}

/// A reviewer that says two things at once is corrected, then a person is asked: it never reviews anything.
#[test]
fn k_114_a_reviewer_that_contradicts_itself_is_corrected_then_asked_about() {
    let critical = json!([{"severity": "critical", "title": "weak hash"}]);
    for outputs in [
        json!({"status": "APPROVED", "findings": critical}),
        json!({"verdict": "approved", "ready": false, "findings": []}),
        json!({"pass": true, "errors": ["weak hash"], "findings": []}),
        json!({"result": "PASS", "summary": {"approved": false}, "findings": []}),
        json!({"ready": false, "findings": []}),
    ] {
        let story = always(World::new(REVIEW), "security", &done(outputs.clone()))
            .usually(&["cancel", "keep"])
            .play();
        assert!(!story.ended().good, "{outputs}");
        assert!(!story.asked()[0].starts_with("Gate "), "{outputs}: {:?}", story.asked());
    }
}

fn always(mut world: World, role: &'static str, result: &Done<Report>) -> World {
    for call in 1..=12 {
        let result = result.clone();
        world = world.act(role, call, move |_| result.clone());
    }
    world
}

/// K-114: no failure of any role is a good end by itself; after the corrections a person is asked.
#[test]
fn k_114_no_failure_of_a_role_counts_as_done() {
    let beside = "- parallel: [backend-developer, frontend-developer]\n- {gate: approval, name: release}";
    for (steps, role) in [(REVIEW, "backend-developer"), (REVIEW, "security"), (beside, "frontend-developer")]
    {
        for (name, result) in failures() {
            let story = always(World::new(steps), role, &result).usually(&["cancel", "keep"]).play();
            assert!(!story.ended().good, "{role} {name}: {}", story.ended().message);
            let asked = story.asked();
            assert!(!asked[0].starts_with("Gate "), "{role} {name}: {asked:?}");
            assert_eq!(story.ended().outcome["result"], "CANCELLED", "{role} {name}");
        }
    }
}

/// A reviewer that a person skips, fixes by hand or lets pass leaves its review unknown: the next approval names it and
/// needs words, and the result keeps it.
#[test]
fn a_review_that_did_not_take_place_is_accepted_by_name_or_not_at_all() {
    let steps = "- backend-developer\n- {agent: security, optional: true}\n- {gate: approval, name: release}";
    for (name, result, choice) in [
        ("invalid", Err(Failure::new(Class::Invalid, "not JSON")), "override"),
        ("invalid", Err(Failure::new(Class::Invalid, "not JSON")), "fix"),
        ("crash", Err(Failure::new(Class::Contract, "crashed")), "skip"),
    ] {
        let world = World::new(steps).act("security", 1, |files| {
            files.insert("planning-mds/security/review.md".to_owned(), "# Review\n".to_owned());
            Err(Failure::new(Class::Invalid, "not JSON"))
        });
        let mut world = if choice == "skip" { World::new(steps) } else { world };
        for call in if choice == "skip" { 1..=3 } else { 2..=3 } {
            let result = result.clone();
            world = world.act("security", call, move |_| result.clone());
        }
        let story =
            world.says(": Security", choice, "never mind").says("Gate release", "approve", "a demo").play();
        story.completes();
        let question = story.question("Gate release");
        assert_eq!(question.options[0].label, "Accept unchecked", "{name} {choice}");
        assert!(
            question.details.contains("Unknown:\n- review by Security: "),
            "{choice}: {}",
            question.details
        );
        let message = &story.ended().message;
        assert!(
            message.contains("review by Security: accepted unchecked by ann: a demo"),
            "{choice}: {message}"
        );
        let overrides = story.ended().outcome["overrides"].to_string();
        assert!(overrides.contains("accepted unchecked by ann"), "{choice}: {overrides}");
        let files = &story.world().files;
        let decisions = files.iter().find(|(path, _)| path.ends_with("gate-decisions.md")).unwrap().1;
        assert!(decisions.contains("review by Security: accepted unchecked by ann"), "{choice}: {decisions}");
    }
}

fn open(story: &Story) -> bool {
    story.question("Gate").details.contains("F1 CRITICAL: weak hash in engine/api.md (security)")
}

/// OC-58: a critical finding survives whatever does not close it by name.
#[test]
fn oc_58_a_critical_finding_survives_everything_but_its_closing_by_name() {
    let steps = "- backend-developer\n- {agent: security, optional: true}\n- {gate: approval, name: release}";
    let first = || World::new(steps).finds(1, "critical");
    let fail = |mut world: World, class: Class| {
        for call in 2..=12 {
            world = world.fails("security", call, Failure::new(class, "not now"));
        }
        world
    };
    let mut omits = first();
    for call in 2..=12 {
        omits = omits.act("security", call, move |files| work("security", files, call));
    }
    let unchanged = {
        let mut world = first();
        for call in 2..=12 {
            world = world.act("security", call, move |files| {
                work("security", files, call)?;
                done(json!({"findings": [], "closed": [{"id": "F1", "reason": "fine"}]}))
            });
            world = world.act("backend-developer", call, |_| done(json!({})));
        }
        world
    };
    let cases = [
        ("omission", omits, vec![]),
        ("closed without a change", unchanged, vec![("Invalid output: Security", "override")]),
        ("crash and skip", fail(first(), Class::Contract), vec![("Failure: Security", "skip")]),
        ("invalid report", fail(first(), Class::Invalid), vec![("Invalid output: Security", "override")]),
        ("manual fix", fail(first(), Class::Invalid), vec![("Invalid output: Security", "fix")]),
    ];
    for (name, world, answers) in cases {
        let mut world = world;
        for (about, choice) in answers {
            for _ in 0..3 {
                world = world.says(about, choice, "as you like");
            }
        }
        let story = world.usually(&["cancel", "keep"]).play();
        assert!(!story.ended().good, "{name}");
        assert!(open(&story), "{name}: {}", story.question("Gate").details);
        let options = story.options("Gate release");
        assert!(!options.contains(&"approve".to_owned()), "{name}: {options:?}");
        assert_eq!(story.ended().outcome["findings"][0]["state"], "open", "{name}");
    }
}

/// A restoration from outside begins all stages again, and the finding stays.
#[test]
fn a_critical_finding_survives_a_restoration() {
    let mut world =
        World::new("- backend-developer\n- security\n- {gate: approval, name: release}").finds(1, "critical");
    for call in 2..=12 {
        world = world.act("security", call, move |files| work("security", files, call));
    }
    let story = world
        .says_while("Gate release", "cancel", World::restored_outside)
        .usually(&["cancel", "keep"])
        .play();
    assert!(open(&story));
}

/// It ends by name, after the thing changed, and everyone can see by whom and why.
#[test]
fn a_finding_that_its_reviewer_closes_by_name_is_told_with_who_and_why() {
    let story = World::new(REVIEW).finds(1, "critical").says("Gate release", "approve", "").play();
    story.completes();
    assert_eq!(
        story.ended().outcome["findings"][0]["state"],
        json!({"closed": {"by": "Security", "reason": "fixed"}})
    );
    let told = "F1 CRITICAL: weak hash in engine/api.md (security): closed by Security: fixed";
    assert!(story.question("Gate release").details.contains(told));
}

/// OC-59: several high findings are justified one by one; blanks are no justification.
#[test]
fn oc_59_each_high_finding_is_justified_by_name() {
    let two = |_: &mut crate::world::Files| {
        done(json!({"findings": [
            {"severity": "high", "title": "weak hash"}, {"severity": "high", "title": "open port"}]}))
    };
    let story =
        World::new("- backend-developer\n- {agent: security, writes: []}\n- {gate: approval, name: release}")
            .act("security", 1, two)
            .act("security", 2, two)
            .act("security", 3, two)
            .says("Gate release", "approve", "F1 is a demo")
            .says("Gate release", "approve", "F1 is a demo, F2 is behind a wall")
            .usually(&["cancel", "keep"])
            .play();
    story.completes();
    assert_eq!(story.asked(), ["Gate release", "Gate release"]);
    let notes = story.question("Gate release").details;
    assert!(notes.contains("The approval gave no justification of F2."), "{notes}");
    let question = story.question("Gate release");
    assert!(question.choose("approve", Some(" \u{200b}\u{2060} ")).is_err());
}

fn kilobytes(early: &str, last: &str) -> String {
    format!("{early}\n{}{last}\n", "some line of a long output\n".repeat(4000))
}

/// One result of the gate as the engine hands it over: what was read in the whole output beside the end of it.
fn ran(code: Option<i32>, whole: &str, report: Option<&str>) -> Done<Ran> {
    let declared = Gate { value: report.map(|_| "coverage.xml".to_owned()), ..Gate::default() };
    let query = gate::query("coverage", &declared);
    let reports = [report.map(str::to_owned)];
    let reading = gate::read(&query, whole, code, &reports);
    let tail = gate::tail(whole);
    Ok(Ran { code, stdout: tail, reading: Some(reading), reports: Some(reports.to_vec()), ..Ran::default() })
}

/// Red is red: the gate matrix at a quality gate that demands coverage.
#[test]
fn the_gate_matrix_is_good_only_where_all_of_it_is() {
    const COBERTURA: &str =
        "<coverage line-rate=\"0.95\" lines-covered=\"95\" lines-valid=\"100\"></coverage>";
    let outputs = [
        ("all passed", "==== 10 passed in 0.1s ===="),
        ("one failed early", "FAILED tests/a.py::test_a - assert 1 == 2"),
        ("none ran", "==== no tests ran in 0.01s ===="),
        ("fewer", "==== 3 passed in 0.1s ===="),
    ];
    for code in [Some(0), Some(1), Some(101), Some(137), None] {
        for (tests, early) in outputs {
            let last = if tests == "one failed early" { "==== 1 failed, 9 passed in 0.1s ====" } else { "" };
            let whole = kilobytes(early, last);
            for (source, report) in
                [("output", None), ("fresh report", Some(COBERTURA)), ("none of its own", None)]
            {
                let printed =
                    if source == "output" { format!("TOTAL 100 5 95%\n{whole}") } else { whole.clone() };
                let value = (source != "output").then_some("coverage.xml");
                let with = |text: &str| {
                    let mut done = ran(code, text, report);
                    if source == "none of its own"
                        && let Ok(done) = &mut done
                    {
                        // A stale report, or one that the agent wrote: the check itself wrote none.
                        done.reports = Some(vec![None]);
                    }
                    done
                };
                let tests_query = gate::query("tests", &Gate::default());
                let tested = |text: &str| {
                    let mut done = ran(code, text, None);
                    if let Ok(done) = &mut done {
                        done.reading = Some(gate::read(&tests_query, text, code, &[]));
                    }
                    done
                };
                let base = Ok(Ran {
                    code: Some(0),
                    reading: Some(gate::read(&tests_query, "==== 10 passed in 0.1s ====\n", Some(0), &[])),
                    ..Ran::default()
                });
                let story = World::new("- backend-developer\n- {gate: quality, name: numbers}")
                    .gate("coverage", "cov", value, Some("80"))
                    .gate("tests", "run-tests", None, None)
                    .command("cov", vec![with(&printed), with(&printed)])
                    .command("run-tests", vec![base, tested(&whole), tested(&whole)])
                    .usually(&["cancel", "keep"])
                    .play();
                let expected = code == Some(0) && tests == "all passed" && source != "none of its own";
                let cell = format!("{code:?} x {tests} x {source}: {}", story.ended().message);
                assert_eq!(story.ended().good, expected, "{cell}\n{:#?}", story.log);
                assert_eq!(story.asked().is_empty(), expected, "{cell}");
            }
        }
    }
}

/// A pass rate that is met does not outvote a red exit code.
#[test]
fn oc_57_a_number_never_outvotes_a_red_exit_code() {
    let red = || exit(1, "==== 1 failed, 9 passed in 0.1s ====\n");
    let story =
        World::new("- backend-developer\n- {gate: quality, name: numbers, thresholds: {pass_rate_pct: 50}}")
            .gate("tests", "run-tests", None, None)
            .command("run-tests", vec![exit(0, "==== 10 passed in 0.1s ====\n"), red()])
            .says("Gate numbers", "cancel", "")
            .says("Cancel", "keep", "")
            .play();
    assert!(!story.ended().good);
    assert_eq!(story.options("Gate numbers"), ["fix", "retry", "cancel"]);
    assert!(story.log.contains(&"Before the work 10 tests ran.".to_owned()));
}

/// Fewer tests than before are bad unless a person says why; that stays marked.
#[test]
fn fewer_tests_than_before_need_a_persons_words() {
    let counted = |count: u32| exit(0, &format!("==== {count} passed in 0.1s ====\n"));
    let story =
        World::new("- backend-developer\n- {gate: quality, name: numbers, thresholds: {pass_rate_pct: 50}}")
            .gate("tests", "run-tests", None, None)
            .command("run-tests", vec![counted(10), counted(9), counted(9)])
            .says("Gate numbers", "fewer_tests", "the old API is gone")
            .play();
    story.completes();
    assert!(story.question("Gate numbers").details.contains("9 tests ran, but before the work 10 tests ran"));
    let message = &story.ended().message;
    assert!(message.contains("number of tests: overridden by ann: the old API is gone"), "{message}");
}

/// Nothing reads green where nothing was checked.
#[test]
fn without_gates_every_approval_and_the_end_say_what_was_not_checked() {
    let story = World::new("- backend-developer\n- {gate: quality, name: numbers}")
        .says("Gate numbers", "approve", "")
        .play();
    story.completes();
    let expected = "gate numbers: no such check is configured";
    assert!(story.log.contains(&format!("Not checked: {expected}.")), "{:#?}", story.log);
    assert!(story.question("Gate numbers").details.contains(&format!("Not checked:\n- {expected}")));
    let message = &story.ended().message;
    assert!(message.contains("Approved: numbers by ann. Not checked: gate numbers:"), "{message}");
    assert!(!message.contains("passed") && !message.contains("Passed"), "{message}");
    assert_eq!(story.ended().outcome["not_checked"], json!([expected]));
}

/// What is let pass is marked at the end, and the word for it is not "passed".
#[test]
fn overrides_and_lowered_thresholds_stand_in_message_and_result() {
    for (choice, words) in
        [("override", "overridden by ann: a demo"), ("lower_threshold", "threshold lowered: a demo")]
    {
        let low = || exit(0, "Coverage: 1%\n");
        let story = World::new("- backend-developer\n- {gate: quality, name: numbers}")
            .gate("coverage", "cov", Some("Coverage: ([0-9]+)%"), Some("80"))
            .command("cov", vec![low(), low()])
            .says("Quality gate", choice, "a demo")
            .play();
        story.completes();
        assert!(story.ended().message.contains(words), "{choice}: {}", story.ended().message);
        assert!(story.ended().outcome["overrides"].to_string().contains(words), "{choice}");
    }
}

/// What a role does to tests that it does not owe is named at the next approval.
#[test]
fn a_role_that_deletes_tests_or_writes_their_configuration_is_named() {
    let map = "- {agent: backend-developer, writes: [engine/]}\n- {gate: approval, name: release}";
    let story = World::new(map)
        .file("engine/tests/test_api.py", "def test_a(): pass\n")
        .act("backend-developer", 1, |files| {
            files.remove("engine/tests/test_api.py");
            files.insert("engine/conftest.py".to_owned(), "import pytest\n".to_owned());
            done(json!({}))
        })
        .says("Gate release", "approve", "")
        .play();
    story.completes();
    let details = story.question("Gate release").details;
    assert!(
        details.contains("Backend Developer deleted the test file engine/tests/test_api.py."),
        "{details}"
    );
    assert!(details.contains("wrote engine/conftest.py, which decides how tests are run."), "{details}");
}

/// `kind = "human"`: a reviewer has options of its own, and words that cannot be read are asked about.
#[test]
fn a_person_who_reviews_says_findings_or_none() {
    let human = |answers: Vec<(&'static str, &'static str)>| {
        let mut world = World::new(REVIEW).starting(|start| {
            start.people = [("security".to_owned(), true)].into();
        });
        for (call, (choice, words)) in answers.into_iter().enumerate() {
            let call = u32::try_from(call).unwrap() + 1;
            world = world.act("security", call, move |files| {
                work("security", files, call)?;
                done(json!({"choice": choice, "answer": words, "by": "eve"}))
            });
        }
        world.usually(&["approve", "cancel", "keep"])
    };
    let story = human(vec![("none", "")]).play();
    story.completes();
    assert_eq!(story.ended().outcome["findings"], json!([]));
    let story = human(vec![("done", "looks odd to me"), ("done", "one high issue: odd login")]).play();
    story.completes();
    assert_eq!(story.ended().outcome["findings"][0]["severity"], "high");
    assert_eq!(story.calls("security"), 2);
    let story = human(vec![("done", "critical: odd login"), ("done", "closed F1: it is meant so")]).play();
    story.completes();
    assert_eq!(
        story.ended().outcome["findings"][0]["state"],
        json!({"closed": {"by": "eve", "reason": "it is meant so"}})
    );
}
