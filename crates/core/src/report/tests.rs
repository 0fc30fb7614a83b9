//! Reports, and the sentences that answer bad ones.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn step() -> Demand {
    Demand {
        required_outputs: vec!["review".into()],
        criteria: vec!["All tests pass".into(), "Docs are current".into()],
        judge_all: true,
        triggers: vec!["A secret is exposed".into(), "The API changes".into()],
        ..Demand::default()
    }
}

fn problems(value: Value, demand: &Demand) -> Vec<String> {
    read(value.to_string().as_bytes(), demand).unwrap_err()
}

fn free(text: &str) -> Result<Report, Vec<String>> {
    read(text.as_bytes(), &Demand::default())
}

#[test]
fn a_full_report_is_read_and_survives_the_journal() {
    let value = json!({
        "status": "done",
        "summary": "All is well.",
        "outputs": {"review": {"findings": []}, "count": 3},
        "confidence": 80,
        "triggers": [" The API changes\n"],
        "criteria": [
            {"criterion": "All tests pass", "met": true, "confidence": 100, "reason": "42 of 42"},
            {"criterion": "Docs are current ", "met": false},
        ],
        "decisions": [{"subject": "Name", "outcome": "read", "rationale": "shorter"}],
        "observations": [{"type": "measurement", "subject": "Lines", "value": 12}],
        "questions": [{"header": "Name", "question": "Which?", "options": [{"label": "A", "description": "the first"}]}],
        "artifacts": ["notes.md"],
        "usage": {"input_tokens": 10, "output_tokens": 5, "cost_usd": 0.25, "turns": 2},
        "error": null,
        "mood": "cheerful",
        "unknown": [1],
    });
    let report = read(value.to_string().as_bytes(), &step()).unwrap();
    assert_eq!(report.status, Status::Done);
    assert_eq!(report.confidence, Some(80.0));
    assert_eq!(report.triggers, ["The API changes"]);
    assert_eq!(report.criteria[1].criterion, "Docs are current");
    assert_eq!(report.criteria[1].confidence, None);
    assert_eq!(report.observations[0].kind, "MEASUREMENT");
    assert_eq!(report.usage.as_ref().unwrap().turns, 2);
    assert_eq!(report.error, None);
    assert_eq!(report.unknown.keys().collect::<Vec<_>>(), ["mood", "unknown"]);
    let journalled = serde_json::to_vec(&report).unwrap();
    assert_eq!(serde_json::from_slice::<Report>(&journalled).unwrap(), report);
}

#[test]
fn only_the_status_is_required_by_the_protocol() {
    let report = free("{\"status\": \"partial\"}").unwrap();
    assert_eq!(report.status, Status::Partial);
    assert_eq!(report.confidence, None);
    assert_eq!(report.usage, None);
    assert_eq!(serde_json::to_string(&report).unwrap(), "{\"status\":\"partial\"}");
}

#[test]
fn e_23_confidence_is_a_number_from_0_to_100_or_absent() {
    for (given, problem) in [
        (json!("80%"), "`confidence` must be a number from 0 to 100; got \"80%\""),
        (
            json!(0.8),
            "`confidence` must be a number from 0 to 100; got 0.8 (write 80 if it means 80 percent)",
        ),
        (
            json!(0.855),
            "`confidence` must be a number from 0 to 100; got 0.855 (write 85.5 if it means 85.5 percent)",
        ),
        (json!(101), "`confidence` must be a number from 0 to 100; got 101"),
        (json!(-1), "`confidence` must be a number from 0 to 100; got -1"),
        (json!(true), "`confidence` must be a number from 0 to 100; got true"),
    ] {
        let value = json!({"status": "done", "confidence": given});
        assert_eq!(problems(value, &Demand::default()), [problem]);
    }
    for (given, confidence) in [
        (json!(0), Some(0.0)),
        (json!(1), Some(1.0)),
        (json!(79.5), Some(79.5)),
        (json!(100), Some(100.0)),
        (json!(null), None),
    ] {
        let text = json!({"status": "done", "confidence": given}).to_string();
        assert_eq!(free(&text).unwrap().confidence, confidence);
    }
}

#[test]
fn every_problem_is_told_at_once() {
    let value = json!({
        "status": "success",
        "summary": ["a"],
        "outputs": "none",
        "confidence": "high",
        "triggers": "The API changes",
        "criteria": [{"criterion": 3, "met": "yes", "confidence": 0.5, "reason": {}}, "All tests pass", {}],
        "decisions": [{"subject": 1}],
        "observations": [{"type": "GUESS"}, {"type": 4}],
        "questions": [{"question": 1, "options": ["Yes", {"label": 2}]}],
        "artifacts": ["a", 2],
        "usage": {"input_tokens": -1, "output_tokens": 1.5, "cost_usd": -0.1, "turns": 5_000_000_000_u64},
        "error": "boom",
    });
    assert_eq!(
        problems(value, &Demand::default()),
        [
            "`status` must be \"done\", \"partial\" or \"failed\"; got \"success\"",
            "`summary` must be a text; got a list",
            "`outputs` must be an object; got \"none\"",
            "`confidence` must be a number from 0 to 100; got \"high\"",
            "`triggers` must be a list of texts; got \"The API changes\"",
            "`criteria[1]` must be an object; got \"All tests pass\"",
            "`criteria[0].criterion` must be a text; got 3",
            "`criteria[0].met` must be true or false; got \"yes\"",
            "`criteria[0].confidence` must be a number from 0 to 100; got 0.5 (write 50 if it means 50 percent)",
            "`criteria[0].reason` must be a text; got an object",
            "`criteria[2].criterion` is missing; repeat the criterion to the letter",
            "`criteria[2].met` is missing; it must be true or false",
            "`decisions[0].subject` must be a text; got 1",
            "`observations[0].type` must be \"MEASUREMENT\", \"STATE\" or \"EVENT\"; got \"GUESS\"",
            "`observations[1].type` must be a text; got 4",
            "`questions[0].question` must be a text; got 1",
            "`questions[0].options[0]` must be an object; got \"Yes\"",
            "`questions[0].options[1].label` must be a text; got 2",
            "`artifacts[1]` must be a text; got 2",
            "`usage.input_tokens` must be a whole number from 0 on; got -1",
            "`usage.output_tokens` must be a whole number from 0 on; got 1.5",
            "`usage.cost_usd` must be a number that is not negative; got -0.1",
            "`usage.turns` must be a whole number from 0 on; got 5000000000",
            "`error` must be an object; got \"boom\"",
        ]
    );
    assert_eq!(
        free("{}").unwrap_err(),
        ["`status` is missing; it must be \"done\", \"partial\" or \"failed\""]
    );
}

#[test]
fn a_step_gets_what_it_asked_for_to_the_letter() {
    let value = json!({
        "status": "done",
        "outputs": {"review": null},
        "triggers": ["the api changes"],
        "criteria": [
            {"criterion": "All tests pass", "met": true},
            {"criterion": "All tests pass ", "met": false},
            {"criterion": "docs ok", "met": true},
        ],
    });
    assert_eq!(
        problems(value, &step()),
        [
            "`outputs.review` is missing; this step must report it",
            "`criteria` has no answer for \"Docs are current\"; every criterion needs one, repeated to the letter",
            "`criteria` answers \"docs ok\", which was not asked; repeat the criteria of the brief to the letter",
            "`criteria` answers \"All tests pass \" both with true and with false; answer it once",
            "`triggers` names \"the api changes\", which is no condition of this step; repeat one of these to the letter: \"A secret is exposed\", \"The API changes\"",
        ]
    );
    assert_eq!(
        problems(json!({"status": "partial", "triggers": ["x"]}), &Demand::default()),
        [
            "`triggers` names \"x\", which is no condition of this step; this step has none, so leave `triggers` out"
        ]
    );
}

#[test]
fn criteria_that_need_no_answer_may_be_left_out() {
    let demand = Demand { judge_all: false, required_outputs: vec![], ..step() };
    let report =
        read(b"{\"status\":\"done\",\"criteria\":[{\"criterion\":\"my own\",\"met\":true}]}", &demand);
    assert_eq!(report.unwrap().criteria[0].criterion, "my own");
}

#[test]
fn work_that_failed_owes_no_outputs_and_its_class_decides() {
    for (class, decided) in [
        ("transient", Some(Class::Transport)),
        ("permanent", Some(Class::Contract)),
        ("weather", None),
        ("", None),
    ] {
        let value = json!({"status": "failed", "error": {"class": class, "message": "no"}});
        let report = read(value.to_string().as_bytes(), &step()).unwrap();
        assert_eq!(report.error.unwrap().failure_class(), decided);
    }
    assert_eq!(read(b"{\"status\":\"failed\"}", &step()).unwrap().error, None);
}

#[test]
fn what_is_no_json_object_says_where_and_why() {
    for (text, problem) in [
        ("", "the report is empty; one JSON object expected"),
        (" \n", "the report is empty; one JSON object expected"),
        ("[]", "one JSON object expected; got a list"),
        ("\"done\"", "one JSON object expected; got \"done\""),
        ("null", "one JSON object expected; got null"),
        ("{\n \"status\": done}", "the report is not valid JSON: expected value (line 2, column 12)"),
        ("{\"status\": \"done\"} x", "the report is not valid JSON: trailing characters (line 1, column 20)"),
        ("{\"status\":", "the report is not valid JSON: EOF while parsing a value (line 1, column 10)"),
        (
            "```json\n{\"status\":\"done\"}\n```",
            "the report stands in a code fence; write the JSON object alone, without ```",
        ),
    ] {
        assert_eq!(free(text).unwrap_err(), [problem], "{text}");
    }
    assert!(read(b"\xff\xfe", &Demand::default()).is_err());
    assert!(read(b"\xef\xbb\xbf{\"status\":\"done\"}\r\n", &Demand::default()).is_ok());
}

#[test]
fn sizes_depths_and_counts_are_bounded() {
    let demand = Demand { max_bytes: 20, ..Demand::default() };
    assert_eq!(
        read(b"{\"status\":\"done\"    }", &demand).unwrap_err(),
        [
            "the report has 21 bytes, and at most 20 are accepted; put large material into files and name them in `artifacts`"
        ]
    );
    assert!(read(b"{\"status\":\"done\"   }", &demand).is_ok());
    let bomb = "[".repeat(100_000);
    assert_eq!(
        free(&bomb).unwrap_err(),
        ["the report is not valid JSON: recursion limit exceeded (line 1, column 128)"]
    );
    let many = json!({"status": "done", "artifacts": vec![1; 100]});
    let told = problems(many, &Demand::default());
    assert_eq!(told.len(), 41);
    assert_eq!(told[40], "60 more problems are not listed");
    let long = problems(json!({"status": "x".repeat(1000)}), &Demand::default());
    assert!(long[0].len() < 150, "{}", long[0]);
}

#[test]
fn a_name_that_stands_twice_is_named_with_its_place_however_deep() {
    for (report, place) in [
        (r#"{"status": "failed", "status": "done"}"#, "status"),
        (r#"{"status": "done", "outputs": {"result": "FAIL", "result": "PASS"}}"#, "outputs.result"),
        (r#"{"status": "done", "outputs": {"result": "FAIL", "res\u0075lt": "PASS"}}"#, "outputs.result"),
        (r#"{"status": "done", "outputs": {"a": [1, {"b": 1, "b": 1}]}}"#, "outputs.a[1].b"),
        (r#"{"status": "done", "odd": {"x": {"y": 1, "z": 2, "y": 3, "y": 4}}}"#, "odd.x.y"),
    ] {
        let problems = read(report.as_bytes(), &Demand::default()).unwrap_err();
        assert_eq!(problems, [format!("`{place}` stands twice in the report; say it once")], "{report}");
    }
    let same_name_elsewhere =
        r#"{"status": "done", "outputs": {"a": {"x": 1}, "b": {"x": 1}, "x": [{"x": 1}]}}"#;
    read(same_name_elsewhere.as_bytes(), &Demand::default()).unwrap();
}

#[test]
fn a_verdict_with_something_against_it_goes_back_to_its_author() {
    let read = |report: &str| read(report.as_bytes(), &Demand::default());
    for against in [
        r#""outputs": {"pass": false}"#,
        r#""error": {"class": "permanent", "message": "it crashed"}"#,
        r#""errors": ["one"]"#,
        r#""outputs": {"findings": [{"severity": "critical", "title": "Weak hash"}]}"#,
    ] {
        let problems = read(&format!(r#"{{"status": "done", "verdict": "PASS", {against}}}"#)).unwrap_err();
        assert!(
            problems[0].starts_with("the report contradicts itself: `verdict` says PASS"),
            "{problems:?}"
        );
        read(&format!(r#"{{"status": "done", "verdict": "FAIL", {against}}}"#)).unwrap();
        // A report that judges nothing may tell of what went wrong.
        read(&format!(r#"{{"status": "done", {against}}}"#)).unwrap();
    }
}

/// Any JSON, with a fair chance of the protocol's own names.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1.0..101.0).prop_map(|number: f64| json!(number)),
        prop::sample::select(vec!["done", "failed", "All tests pass", "The API changes", "80%", "ä"])
            .prop_map(Value::from),
    ];
    let key = prop::sample::select(vec![
        "status",
        "outputs",
        "confidence",
        "triggers",
        "criteria",
        "criterion",
        "met",
        "usage",
        "error",
        "observations",
        "type",
        "questions",
        "options",
        "artifacts",
        "review",
        "other",
    ]);
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6)
                .prop_map(|fields| fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

proptest! {
    #[test]
    fn no_bytes_make_reading_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&bytes, &step());
    }

    #[test]
    fn no_json_makes_reading_panic_and_what_is_read_is_not_lost(value in any_json(), lax in any::<bool>()) {
        let demand = if lax { Demand { triggers: step().triggers, ..Demand::default() } } else { step() };
        let bytes = value.to_string();
        if let Ok(report) = read(bytes.as_bytes(), &demand) {
            let journalled = serde_json::to_vec(&report).unwrap();
            prop_assert_eq!(serde_json::from_slice::<Report>(&journalled).unwrap(), report);
        }
    }
}
