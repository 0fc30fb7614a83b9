//! Laws 1 to 3 for the cycle, as tables: nothing is good by default, red is red, findings stay.

use serde_json::Value;
use serde_json::json;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::gate;
use seriatim_core::gate::Gate;
use seriatim_core::hash::Hash;
use seriatim_flows::request::Done;
use seriatim_flows::request::Ran;

use crate::story::Story;
use crate::world::World;
use crate::world::greet;
use crate::world::step;

/// What a role can do wrong.
const DEEDS: [&str; 10] = [
    "exit 1",
    "killed",
    "timeout",
    "not installed",
    "no report",
    "not JSON",
    "partial",
    "failed",
    "empty outputs",
    "contradictory outputs",
];

/// The role does it every time that it is called.
fn always(mut world: World, role: &'static str, deed: &str) -> World {
    let good = match role {
        "planner" => step(json!({})),
        "actor" => json!({"result": "SUCCESS"}),
        _ => json!({"result": "PASS"}),
    };
    for _ in 0..20 {
        world = match deed {
            "exit 1" => world.fails(role, Class::Crash, "it ended with exit code 1"),
            "killed" => world.fails(role, Class::Crash, "it was ended by signal 9"),
            "timeout" => world.fails(role, Class::AgentDeadline, "it did not finish in time"),
            "not installed" => world.fails(role, Class::Contract, "there is no program `agent`"),
            "no report" => world.fails(role, Class::Silent, "it ended without a report"),
            "not JSON" => world.fails(role, Class::Invalid, "its report is not JSON"),
            "partial" => world.replies(role, json!({"status": "partial", "outputs": good.clone()})),
            "failed" => world.fails(role, Class::Contract, "it gave no reason"),
            "empty outputs" => world.reports(role, json!({})),
            "contradictory outputs" => {
                let mut outputs = good.clone();
                match role {
                    "planner" => outputs["questions"] = json!(["To whom?"]),
                    "actor" => outputs["blocker"] = json!({"class": "adjustable", "explanation": "stuck"}),
                    _ => outputs["diagnostics"] = json!("the greeting is wrong"),
                }
                world.reports(role, outputs)
            }
            other => panic!("no such deed: {other}"),
        };
    }
    world
}

/// What follows, in one line: how often the role was called, the questions, and the end.
fn follows(story: &Story, role: &str) -> String {
    let calls = story.called().iter().filter(|called| **called == role).count();
    let good = if story.ended.good { "GOOD" } else { "not good" };
    format!("{calls} calls, {}, {good}", story.asked().join(", "))
}

// K-114, CY-70, CY-72: no cell is a good end.
#[test]
fn no_role_that_fails_in_any_way_leads_to_a_good_end() {
    let mut table = vec![];
    for (role, header) in [("planner", "No usable plan"), ("actor", "Paused"), ("judge", "Not checked")] {
        for deed in DEEDS {
            let story = always(World::new(), role, deed).answers(header, "stop").run();
            assert!(story.seen.deliveries.is_empty(), "{role} {deed}");
            table.push(format!("{role:8}{deed:22} {}", follows(&story, role)));
        }
    }
    insta::assert_snapshot!(table.join("\n"));
}

/// A Judge that says PASS and something against it is corrected; after that nobody knows, and a person is asked.
#[test]
fn k_114_a_judge_that_contradicts_itself_never_passes() {
    for against in [
        json!({"pass": false}),
        json!({"verdict": "FAIL"}),
        json!({"approved": false}),
        json!({"ready": false}),
        json!({"errors": ["the greeting is wrong"]}),
        json!({"issues": [{"severity": "critical", "title": "Injection"}]}),
        json!({"review": {"result": "rejected"}}),
    ] {
        let mut outputs = json!({"result": "PASS"});
        for (key, value) in against.as_object().unwrap() {
            outputs[key] = value.clone();
        }
        let world = (0..20).fold(World::new(), |world, _| world.reports("judge", outputs.clone()));
        let story = world.answers("Not checked", "stop").run();
        assert!(story.seen.deliveries.is_empty() && !story.ended.good, "{against}");
        assert_eq!(follows(&story, "judge"), "3 calls, Not checked -> stop, not good", "{against}");
    }
    let honest =
        json!({"result": "PASS", "failed": 0, "errors": [], "findings": [], "notes": "nothing may fail"});
    let story = World::new().reports("judge", honest).run();
    assert!(story.asked().iter().all(|header| !header.starts_with("Not checked")), "{:?}", story.asked());
}

// K-114: only a person's word makes it good, and everything says whose word it was.
#[test]
fn k_114_a_judge_that_does_not_answer_is_good_only_on_a_persons_word() {
    let mut table = vec![];
    for deed in DEEDS {
        let story = always(World::new(), "judge", deed).says("Not checked", "accept", "I read it.").run();
        let matter = story.facts("unchecked_decided")[0]["matters"][0].as_str().unwrap().to_owned();
        assert!(story.ended.good && story.ended.message.contains("Accepted unchecked by ada: I read it."));
        assert_eq!(story.facts("judged")[0]["opinion"]["person"]["by"], "ada", "{deed}");
        table.push(format!("{deed:22} {matter}"));
    }
    insta::assert_snapshot!(table.join("\n"));
}

/// How the command of a gate ends.
const EXITS: [(&str, Option<i32>); 5] = [
    ("exit 0", Some(0)),
    ("exit 1", Some(1)),
    ("exit 101", Some(101)),
    ("exit 137", Some(137)),
    ("signal", None),
];

/// What the tests print.
fn printed(which: &str) -> String {
    let noise = "x".repeat(79);
    match which {
        "all passed" => "test result: ok. 3 passed; 0 failed; 0 ignored\n".to_owned(),
        "one failed early" => format!(
            "test a ... FAILED\ntest result: FAILED. 2 passed; 1 failed; 0 ignored\n{}test result: ok. 3 passed; 0 failed; 0 ignored\n",
            format!("{noise}\n").repeat(1300)
        ),
        "none ran" => "test result: ok. 0 passed; 0 failed; 0 ignored\n".to_owned(),
        _ => "test result: ok. 1 passed; 0 failed; 0 ignored\n".to_owned(),
    }
}

/// What the engine reads from a whole output, and what it keeps of it: the beginning is lost to people, not to the judge.
fn ran_with(code: Option<i32>, output: &str, coverage: &str, gate: &Gate) -> Done<Ran> {
    let report = "<?xml version=\"1.0\"?>\n<coverage line-rate=\"0.95\" branch-rate=\"0\"></coverage>\n";
    let (text, reports) = match coverage {
        "in output" => (format!("{output}TOTAL 95%\n"), vec![]),
        "fresh report" => (output.to_owned(), vec![Some(report.to_owned())]),
        // One that the command did not write in this run is not told at all.
        _ => (output.to_owned(), vec![None]),
    };
    let reading = gate::read(&gate::query("tests", gate), &text, code, &reports);
    let kept = text[text.len().saturating_sub(4000)..].to_owned();
    let output = Some(Hash::of(kept.as_bytes()));
    Ok(Ran { code, stdout: kept, output, reading: Some(reading), reports: Some(reports), ..Ran::default() })
}

// Law 2: a gate is good only with a good exit, all tests green, none fewer, and the demanded value from this very run.
#[test]
fn a_gate_is_good_in_two_cells_of_the_matrix_alone() {
    let mut table = vec![];
    let mut goods = 0;
    for (end, code) in EXITS {
        for tests in ["all passed", "one failed early", "none ran", "fewer than before"] {
            for coverage in ["in output", "fresh report", "stale report", "report the agent wrote"] {
                let value = if coverage == "in output" { r"TOTAL (\d+)%" } else { "coverage.xml" };
                let gate = Gate {
                    command: vec!["tests".to_owned()],
                    value: Some(value.to_owned()),
                    threshold: Some(90.0),
                    ..Gate::default()
                };
                let mut world = World::new();
                for _ in 0..12 {
                    world = world.command("tests", ran_with(code, &printed(tests), coverage, &gate));
                }
                world.floor = ran_with(Some(0), &printed("all passed"), coverage, &gate);
                world.start.gates.insert("tests".to_owned(), gate);
                let story = world.lenient("stop").run();
                let result = story.facts("check_ran")[0]["result"].as_str().unwrap().to_owned();
                goods += usize::from(story.ended.good);
                assert_eq!(story.ended.good, result == "good");
                assert_eq!(story.ended.good, story.ended.outcome["result"] == "PASS");
                table.push(format!("{end:9}{tests:18} {coverage:23} {result}"));
            }
        }
    }
    assert_eq!(goods, 2);
    insta::assert_snapshot!(table.join("\n"));
}

// Law 1: without checks nothing is green, and it is said at the start, at the approval and at the end.
#[test]
fn without_checks_it_is_said_and_nothing_reads_green() {
    let story = World::new().with(|world| world.start.gates.clear()).run();
    let not = "Existing Tests, Linter/Formatter, Security Scans";
    assert_eq!(story.told_all()[1], format!("Not checked, because it is not configured: {not}."));
    let asked = story.question("Approval").question;
    let words = format!("Not checked: {not}. No check was run; it rests on the Judge's word alone.");
    assert_eq!(asked, format!("\"Greet politely\" is done. {words} What shall happen with it?"));
    assert!(story.ended.message.contains(&words), "{}", story.ended.message);
    let document = story.archived("2026-01-18_cycle-001.md");
    assert!(!document.contains("green") && document.contains(&words), "{document}");
    assert_eq!(story.ended.outcome["not_checked"].as_array().map(Vec::len), Some(3));
}

// Law 2: tests that go are named; the step's own words or a person's let them go.
#[test]
fn tests_that_go_without_a_word_are_refused_by_name() {
    let two = "def test_a():\n    assert 1\n\ndef test_b():\n    assert 1\n";
    let one = "def test_a():\n    assert 1\n";
    let world = |title: &str| {
        let mut world = World::new()
            .file("tests/test_x.py", two)
            .reports("planner", step(json!({"title": title})))
            .does("actor", json!({"result": "SUCCESS"}), move |outside| {
                greet(outside);
                outside.write("tests/test_x.py", one);
            });
        world.floor = crate::world::ran(0, "test result: ok. 2 passed; 0 failed; 0 ignored\n");
        world
    };
    let refused = world("Greet politely").cancelled_at("Paused").run();
    let reason = refused.facts("judged")[0]["reasons"][0].as_str().unwrap().to_owned();
    assert!(
        reason.starts_with(
            "Existing Tests: 1 test ran, but before the work 2 tests ran; test_b is gone from tests/test_x.py"
        ),
        "{reason}"
    );
    let lawful = world("Remove test_b from tests/test_x.py").run();
    assert!(lawful.ended.good);
    let details = lawful.question("Approval").details;
    assert!(details.contains("Note: test_b is gone from tests/test_x.py, as the step says."), "{details}");
}

// Law 2: a test that keeps its name and its place in the count, and checks nothing any more, is refused by name.
#[test]
fn tests_that_are_emptied_or_put_off_behind_the_count_are_refused_by_name() {
    let two = "def test_a():\n    assert a()\n\ndef test_b():\n    assert b()\n";
    let world = |title: &str, after: &'static str| {
        let mut world = World::new()
            .file("tests/test_x.py", two)
            .reports("planner", step(json!({"title": title})))
            .does("actor", json!({"result": "SUCCESS"}), move |outside| {
                greet(outside);
                outside.write("tests/test_x.py", after);
            });
        world.floor = crate::world::ran(0, "test result: ok. 1 passed; 0 failed; 0 ignored\n");
        world
    };
    for (body, says) in [
        ("    pass\n", "test_b in tests/test_x.py:4 checks nothing any more"),
        ("    assert True\n", "test_b in tests/test_x.py:4 checks nothing any more"),
        ("    b()\n", "test_b in tests/test_x.py:4 checks nothing any more"),
        ("    pytest.skip('later')\n    assert b()\n", "pytest.skip puts test_b off in tests/test_x.py:5"),
    ] {
        let after: &'static str = format!("def test_a():\n    assert a()\n\ndef test_b():\n{body}").leak();
        let refused = world("Greet politely", after).cancelled_at("Paused").run();
        let reasons = refused.facts("judged")[0]["reasons"].to_string();
        let says = format!("{says}, and neither the plan nor a person says so");
        assert!(reasons.contains(&says), "{body}: {reasons}");
        assert!(world("Remove test_b from tests/test_x.py", after).run().ended.good, "{body}");
    }
    let other = "def test_a():\n    assert a()\n\ndef test_b():\n    assert b() == 2\n";
    assert!(world("Greet politely", other).run().ended.good);
}

// Law 2: what loads or runs the tests changes by plan or not at all.
#[test]
fn a_file_under_the_tests_that_the_plan_does_not_name_is_refused_by_name() {
    for path in ["conftest.py", "tests/__pycache__/a.pyc", "pytest.ini", "sitecustomize.py"] {
        let story = World::new()
            .does("actor", json!({"result": "SUCCESS"}), move |outside| {
                greet(outside);
                outside.write(path, "x\n");
            })
            .cancelled_at("Paused")
            .run();
        let reason = format!("Test files: {path} decides what the tests do, and the plan does not name it");
        assert_eq!(story.facts("judged")[0]["reasons"], json!([reason]));
        let planned = World::new()
            .reports("planner", step(json!({"creates": [path]})))
            .does("actor", json!({"result": "SUCCESS"}), move |outside| {
                greet(outside);
                outside.write(path, "x\n");
            })
            .run();
        let details = planned.question("Approval").details;
        assert!(details.contains(&format!("Note: The checks stand on {path}, which the plan changes.")));
    }
}

fn findings(story: &Story) -> Vec<Value> {
    let last = story.facts("findings_noted").pop().unwrap();
    last["findings"].as_array().unwrap().iter().map(|finding| finding["state"].clone()).collect()
}

// Law 3: a finding ends by name alone; a crash, an omission or an invalid report closes nothing.
#[test]
fn a_finding_of_the_judge_survives_crash_omission_and_garbage() {
    let found = json!({"result": "INSUFFICIENT", "diagnostics": "SQL injection"});
    let first = || World::new().reports("judge", found.clone());
    let crash =
        first().fails("judge", Class::Crash, "it ended with exit code 7").answers("Not checked", "stop");
    let story = crash.run();
    assert_eq!(
        story.facts("unchecked_decided")[0]["matters"],
        json!([
            "The Judge did not answer: it ended with exit code 7",
            "Open finding F1 HIGH: SQL injection (judge)"
        ])
    );
    assert_eq!(findings(&story), [json!("open")]);
    let omits = (0..3).fold(first(), |world, _| world.reports("judge", json!({"result": "PASS"})));
    let story = omits.answers("Not checked", "stop").run();
    assert!(story.brief("judge", 1).contains("## Open findings\n- F1 HIGH: SQL injection (judge)"));
    assert!(
        story
            .brief("judge", 2)
            .contains("PASS, but F1 HIGH: SQL injection (judge) is open: close it by name")
    );
    assert_eq!(findings(&story), [json!("open")]);
    let named = first().run();
    assert!(named.ended.good);
    assert_eq!(findings(&named), [json!({"closed": {"by": "judge", "reason": "it is fixed"}})]);
    let accepted = (0..3).fold(first(), |world, _| world.reports("judge", json!({"result": "PASS"})));
    let story = accepted.says("Not checked", "accept", "Only tests use it.").run();
    assert_eq!(findings(&story), [json!({"accepted": {"by": "ada", "reason": "Only tests use it."}})]);
    assert!(story.ended.good);
}

// Law 3: a critical finding cannot be accepted; the work goes back.
#[test]
fn a_critical_finding_is_never_accepted() {
    let finding = json!([{"severity": "critical", "title": "SQL injection", "file": "greet.sh"}]);
    let mut world = World::new().reports("judge", json!({"result": "INSUFFICIENT", "findings": finding}));
    for _ in 0..4 {
        world = world.fails("judge", Class::Crash, "it ended with exit code 7");
    }
    let story = world.cancelled_at("Paused").run();
    assert_eq!(story.asked(), ["Paused -> cancelled"]);
    assert_eq!(
        story.facts("judged")[1]["reasons"],
        json!(["Open finding F1 CRITICAL: SQL injection in greet.sh (judge)"])
    );
}

// Law 1: a check that the automation file requires and nobody configured is unknown.
#[test]
fn a_required_check_that_is_not_configured_is_asked_about() {
    let automation = "agents: {judge: {required_checks: [existing_tests, linter]}}\n";
    let story = World::new().automation(automation).answers("Not checked", "stop").run();
    assert_eq!(
        story.facts("unchecked_decided")[0]["matters"],
        json!(["Linter/Formatter was not run: the automation file requires it, and it is not configured"])
    );
}

// Law 1: what a person accepted stays at every later approval of the run.
#[test]
fn an_accepted_matter_is_shown_at_later_approvals_and_in_show() {
    let gone = || Err(Failure::new(Class::MissingArtifact, "there is no program `lint`"));
    let story = World::new()
        .gate("lint")
        .command("lint", gone())
        .says("Not checked", "accept", "The linter is being replaced.")
        .says("Approval", "changes", "Shorter, please.")
        .run();
    let second =
        story.played.questions().into_iter().filter(|(q, _)| q.header == "Approval").nth(1).unwrap().0;
    let line = "Accepted unchecked: Linter/Formatter: there is no program `lint` (accepted unchecked by ada: The linter is being replaced.)";
    assert!(second.details.contains(line), "{}", second.details);
    let shown = serde_json::to_string(&story.view().fields).unwrap();
    assert!(
        shown.contains("there is no program `lint` (accepted by ada: The linter is being replaced.)"),
        "{shown}"
    );
    assert_eq!(story.ended.outcome["accepted_unchecked"].as_array().map(Vec::len), Some(1));
}

// Law 1: an automation file that cannot be read or understood stops the cycle before any agent is called.
#[test]
fn a_broken_automation_file_stops_the_cycle_before_any_agent() {
    let strict = "loop: {max_consecutive_insufficient: 1}\n";
    let unread = World::new().automation(strict).with(|world| world.bad_reads = vec![1, 2]).run();
    let pattern = World::new().automation("agents: {actor: {forbidden_commands: ['rm (-rf']}}\n").run();
    for (story, why) in
        [(unread, "the read timed out"), (pattern, "`rm (-rf` is not a valid regular expression")]
    {
        assert_eq!(story.called(), Vec::<&str>::new());
        assert!(!story.ended.good && story.ended.message.contains(why), "{}", story.ended.message);
    }
}
