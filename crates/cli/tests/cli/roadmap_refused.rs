//! Phases that evidence refuses: said in plain words, told to the agent, and tried again three times at most.

use serde_json::Value;

use crate::roadmap_support::Project;
use crate::roadmap_support::SHORT;
use crate::roadmap_support::add;
use crate::roadmap_support::texts;

/// The rules by which a try was refused.
fn rules(tried: &Value) -> Vec<String> {
    let objections = tried["objections"].as_array().unwrap();
    objections.iter().map(|objection| objection["rule"].as_str().unwrap().to_owned()).collect()
}

/// The words of the first objection against a try.
fn words(tried: &Value) -> &str {
    tried["objections"][0]["message"].as_str().unwrap_or_else(|| panic!("{tried:#}"))
}

/// DW-61 and DW-62: the acceptance test and the unit tests have to fail for a valid reason, seen by the engine.
#[test]
fn e_54_red_by_an_import_error_or_a_syntax_error_is_refused_and_the_agent_hears_why() {
    let project = Project::of("tdd_phases: [RED_ACCEPTANCE, RED_UNIT, GREEN, COMMIT]\n", &[add()]);
    project.agent(
        r#"case "$SERIATIM_PHASE $number" in
        "RED_ACCEPTANCE 1") write_test ;;
        "RED_ACCEPTANCE 2") echo 'RESULT = (' >"$code" ;;
        *) usual ;;
        esac
        finish"#,
    );
    project.step("01-01").exits(0);
    let tries = project.tries("01-01", "RED_ACCEPTANCE");
    assert_eq!(tries.len(), 3, "{tries:#?}");
    assert_eq!(
        (rules(&tries[0]), rules(&tries[1])),
        (vec!["red-is-broken".into()], vec!["red-is-broken".into()])
    );
    assert!(words(&tries[0]).contains("an empty function, so that they run and fail on what they assert"));
    let heard = project.brief("01-01", "RED_ACCEPTANCE", 2);
    let feedback = heard["feedback"][0].as_str().unwrap();
    assert!(feedback.contains("failed for another reason"), "{feedback}");
    assert!(
        feedback.contains("The output ended with:") && feedback.contains("ModuleNotFoundError"),
        "{feedback}"
    );
    assert!(
        project
            .prompt("01-01", "RED_ACCEPTANCE", 2)
            .contains("ModuleNotFoundError: No module named 'src.add'")
    );
    assert!(project.prompt("01-01", "RED_ACCEPTANCE", 3).contains("SyntaxError"));
    // DW-77: what was tried before is kept.
    let history = project.phase("01-01", "RED_ACCEPTANCE")["history"].clone();
    assert_eq!(history.as_array().unwrap().len(), 2, "{history:#}");
    assert_eq!(history[0]["outcome"], "FAIL");
}

/// A step whose test passes before there is any code, three times over.
fn stays_green(answers: &[(&str, &str, &str)]) -> (Project, crate::support::Output) {
    let project = Project::short();
    project.agent(
        r#"if [ "$SERIATIM_PHASE $number" = "RED 4" ]; then write_code 0; else write_code 5; write_test; fi
        finish"#,
    );
    let output = project.step_answering("01-01", answers);
    (project, output)
}

#[test]
fn dw_61_red_that_stays_green_is_asked_about_after_three_calls() {
    let (project, output) = stays_green(&[]);
    let asked = output.exits(3).asked();
    assert!(
        asked.contains("RED needs a test that fails, but the gate `tests` passes: 1 test ran, it passed."),
        "{asked}"
    );
    for option in ["fix     Fix the test", "skip    Skip it, approved", "cancel  Stop here"] {
        assert!(asked.contains(option), "{asked}");
    }
    assert_eq!(project.count("01-01", "RED"), 3);
    let tries = project.tries("01-01", "RED");
    assert!(tries.iter().all(|tried| rules(tried) == ["red-is-green"]), "{tries:#?}");

    // The words of the person reach the agent; what it was told before stands there, too.
    project.resume(&[("stays green", "fix", "Compare with a sum that is missing.")]).exits(0);
    assert_eq!(project.count("01-01", "RED"), 4);
    let feedback = texts(&project.brief("01-01", "RED", 4)["feedback"]);
    assert_eq!(
        feedback.last().map(String::as_str),
        Some("Compare with a sum that is missing."),
        "{feedback:?}"
    );
    assert_eq!(project.phase("01-01", "RED")["history"].as_array().unwrap().len(), 3);
    project.assert_done(&["01-01"]);
}

/// DW-75: a skip that somebody approved has its prefix and the words of that person.
#[test]
fn dw_75_red_that_stays_green_can_be_skipped_with_approval() {
    let (project, output) = stays_green(&[("stays green", "skip", "It was there before")]);
    output.exits(0);
    let red = project.phase("01-01", "RED");
    assert_eq!(red["status"], "SKIPPED", "{red:#}");
    assert_eq!(red["blocked_by"], "APPROVED_SKIP: It was there before (ada)");
    project.assert_done(&["01-01"]);
}

#[test]
fn dw_42_red_that_stays_green_can_be_left_there_and_the_step_can_be_tried_again() {
    let (project, output) = stays_green(&[("stays green", "cancel", "")]);
    output
        .exits(1)
        .says("Step 01-01 was stopped: ada stopped it.")
        .says("seriatim run step @software-crafter calc 01-01");
    let checkpoint = project.checkpoint("01-01");
    assert_eq!(checkpoint["execution_result"]["can_retry"], true, "{checkpoint:#}");
    let status = project.status();
    assert_eq!(status["current"]["can_retry"], true, "{status:#}");
    assert!(status["current"]["failure_reason"].as_str().unwrap().contains("ada stopped it"), "{status:#}");
    assert_eq!(project.subjects(), Vec::<String>::new());
}

/// DW-85: the record of a failure; DW-36: nothing was committed.
#[test]
fn dw_63_green_with_a_red_test_is_refused_three_times_although_the_agent_says_that_it_passed() {
    let project = Project::short();
    project.agent(r#"usual; [ $SERIATIM_PHASE = RED ] || write_code 4; finish"#);
    let output = project.step("01-01").exits(1);
    let output = output
        .says("Step 01-01 is FAILED: GREEN was refused 3 times: GREEN is over only when all tests pass, but");
    output.says("1 test ran, 1 failed: test_add (tests/test_add.py:7). Mend the code, not the test.");
    assert_eq!(project.count("01-01", "GREEN"), 3);
    assert_eq!(project.subjects(), Vec::<String>::new());

    // The claim and the evidence are both on record, each by itself.
    let tries = project.tries("01-01", "GREEN");
    assert_eq!(tries.len(), 3, "{tries:#?}");
    for tried in &tries {
        assert_eq!(tried["claim"]["summary"], "GREEN passed, all is well");
        assert_eq!(tried["claim"]["status"], "done");
        assert_eq!(tried["outcome"], "FAIL");
        let evidence = &tried["evidence"][0];
        assert_eq!((&evidence["gate"], &evidence["exit"]), (&"tests".into(), &1.into()));
        assert!(evidence["output"].as_str().unwrap().contains("AssertionError: 4 != 5"), "{evidence:#}");
        assert_eq!(rules(tried), ["not-green"]);
    }
    assert!(project.prompt("01-01", "GREEN", 3).contains("AssertionError: 4 != 5"));

    let checkpoint = project.checkpoint("01-01");
    let result = &checkpoint["execution_result"];
    assert_eq!((&result["success"], &result["can_retry"]), (&false.into(), &true.into()), "{result:#}");
    assert_eq!(result["partial_completion"], true);
    assert!(
        result["failure_reason"].as_str().unwrap().starts_with("GREEN was refused 3 times"),
        "{result:#}"
    );
    assert_eq!(result["recovery_suggestions"].as_array().unwrap().len(), 2);
    assert!(checkpoint["state"]["failed_at"].is_string(), "{checkpoint:#}");
    let green = project.phase("01-01", "GREEN");
    assert_eq!((&green["status"], &green["outcome"]), (&"COMPLETED".into(), &"FAIL".into()), "{green:#}");
}

#[test]
fn dw_65_a_refactoring_that_breaks_a_test_is_refused_and_mended() {
    let project = Project::of("tdd_phases: [RED, GREEN, REFACTOR_CONTINUOUS, COMMIT]\n", &[add()]);
    project
        .agent(r#"usual; [ "$SERIATIM_PHASE $number" != "REFACTOR_CONTINUOUS 1" ] || write_code 6; finish"#);
    project.step("01-01").exits(0);
    let tries = project.tries("01-01", "REFACTOR_CONTINUOUS");
    assert_eq!(tries.len(), 2, "{tries:#?}");
    assert_eq!(rules(&tries[0]), ["not-green"]);
    assert!(
        words(&tries[0]).starts_with("REFACTOR_CONTINUOUS is over only when all tests pass"),
        "{}",
        words(&tries[0])
    );
    assert!(project.prompt("01-01", "REFACTOR_CONTINUOUS", 2).contains("AssertionError: 6 != 5"));
    project.assert_done(&["01-01"]);
}

/// A step whose coverage is what the agent writes; each try of REVIEW takes the next of the values.
fn covered(gate: &str, base: &str, values: &[&str]) -> Project {
    let head = "tdd_phases: [RED, GREEN, REVIEW, COMMIT]\n";
    let project = Project::of(head, &[add().with("files_to_create", "[\"src/add.py\", \"cov/**\"]")]);
    project.with("cov/report.txt", &format!("TOTAL {base}%\n"));
    let value = "value = 'TOTAL ([0-9.]+)%'\n";
    project.configure(&format!(
        "[gates.coverage]\ncommand = [\"sh\", \"-c\", \"cat cov/report.txt\"]\n{value}{gate}"
    ));
    std::fs::write(project.stage("values"), values.join("\n")).unwrap();
    project.agent(
        r#"usual
        [ $SERIATIM_PHASE != REVIEW ] ||
            echo "TOTAL $(sed -n ${number}p "$stage/values")%" >cov/report.txt
        finish"#,
    );
    project
}

/// What was said against each try of REVIEW; nothing where it passed.
fn against_reviews(project: &Project) -> Vec<String> {
    let said = |tried: &Value| tried["objections"][0]["message"].as_str().unwrap_or_default().to_owned();
    project.tries("01-01", "REVIEW").iter().map(said).collect()
}

/// DW-64 with K-51: exactly 80 is not more than 80.
#[test]
fn dw_64_coverage_has_to_be_above_80_percent() {
    let project = covered("comparator = \">\"\n", "50", &["79.9", "80", "80.1"]);
    project.step("01-01").exits(0);
    let said = against_reviews(&project);
    assert!(said[0].starts_with("Coverage is 79.9%, and it has to be above 80%."), "{said:#?}");
    assert!(said[1].starts_with("Coverage is 80%, and it has to be above 80%."), "{said:#?}");
    assert_eq!((said.len(), said[2].as_str()), (3, ""), "{said:#?}");
    assert!(project.prompt("01-01", "REVIEW", 2).contains("Coverage is 79.9%"));
}

#[test]
fn k_51_exactly_the_threshold_is_enough_where_the_comparator_says_so() {
    let project = covered("comparator = \">=\"\nthreshold = 80\n", "50", &["79.9", "80"]);
    project.step("01-01").exits(0);
    let said = against_reviews(&project);
    assert!(said[0].starts_with("Coverage is 79.9%, and it has to be at least 80%."), "{said:#?}");
    assert_eq!((said.len(), said[1].as_str()), (2, ""), "{said:#?}");
}

/// K-51: where nothing is configured this dialect demands more than 80.
#[test]
fn k_51_without_a_comparator_exactly_80_percent_is_not_enough() {
    let project = covered("", "50", &["80", "81"]);
    project.step("01-01").exits(0);
    let said = against_reviews(&project);
    assert_eq!(said.len(), 2, "{said:#?}");
    assert!(said[0].starts_with("Coverage is 80%, and it has to be above 80%."), "{said:#?}");
}

#[test]
fn dw_64_coverage_that_falls_below_that_of_the_base_is_refused() {
    let project = covered("threshold = 40\n", "95.5", &["90", "90", "90"]);
    project.step("01-01").exits(1).says("Coverage fell to 90%; it was 95.5% when the step began.");
    assert_eq!(project.count("01-01", "REVIEW"), 3);
    assert_eq!(project.shown()["coverage"][0]["value"], "95.5%");
    // What was green before stays committed.
    assert_eq!(project.subjects(), ["feat(01-01): GREEN"]);
}

/// DW-64: findings are recorded, and bad ones keep the review open until they are mended.
#[test]
fn dw_64_a_review_with_open_findings_or_an_unmet_criterion_is_not_over() {
    let project = Project::of("tdd_phases: [RED, GREEN, REVIEW, COMMIT]\n", &[add()]);
    project.agent(
        r#"usual
        finding() {
            printf '{"review": {"findings": [{"severity": "high", "title": "A secret in the code", %s}]}}' \
                "\"file\": \"src/add.py\", \"line\": 1, \"resolved\": $1"
        }
        unmet='{"criterion": "add of two numbers is right", "met": false, "reason": "only for 5"}'
        case "$SERIATIM_PHASE $number" in
        "REVIEW 1") finish "$(finding false)" ;;
        "REVIEW 2") report "{\"status\": \"done\", \"criteria\": [$unmet]}" ;;
        "REVIEW 3") echo '# no secret' >>src/add.py; finish "$(finding true)" ;;
        *) finish ;;
        esac"#,
    );
    project.step("01-01").exits(0);
    let said = against_reviews(&project);
    assert!(said[0].contains("A secret in the code"), "{said:#?}");
    assert_eq!(said[1], "The criterion \"add of two numbers is right\" is not met: only for 5");
    assert_eq!(said.len(), 3, "{said:#?}");
    let found = &project.checkpoint("01-01")["review_findings"][0];
    assert_eq!(
        (&found["title"], &found["severity"]),
        (&"A secret in the code".into(), &"high".into()),
        "{found:#}"
    );
}

#[test]
fn a_file_that_is_not_the_steps_is_named_and_neither_staged_nor_deleted() {
    let project = Project::short();
    project.agent(r#"usual; [ $SERIATIM_PHASE != GREEN ] || echo mine >other.txt; finish"#);
    let words = "Unexpected modification: other.txt is not among the files that step 01-01 may change.";
    project.step("01-01").exits(1).says(words);
    assert_eq!(project.env.read("other.txt"), "mine\n");
    assert_eq!(project.git(&["status", "--porcelain", "other.txt"]), "?? other.txt\n");
    let trail = project.git(&["ls-files", "--others", "--", "docs/feature/calc/audit-*.log"]);
    let trail = project.env.read(trail.trim());
    assert_eq!(trail.matches("\"event\":\"SCOPE_VIOLATION\"").count(), 3, "{trail}");
}

/// G1: exactly one scenario is at work.
#[test]
fn dw_59_two_scenarios_that_are_enabled_at_once_are_refused() {
    let project = Project::of("tdd_phases: [PREPARE, RED_ACCEPTANCE, RED_UNIT, GREEN, COMMIT]\n", &[add()]);
    project.agent(
        r#"usual
        [ "$SERIATIM_PHASE $number" != "RED_ACCEPTANCE 1" ] ||
            printf '\n    def test_two(self):\n        self.assertEqual(RESULT, 5)\n' >>"$test"
        finish"#,
    );
    project.step("01-01").exits(0);
    let tries = project.tries("01-01", "RED_ACCEPTANCE");
    assert_eq!(rules(&tries[0]), ["one-scenario"], "{tries:#?}");
    assert!(
        words(&tries[0]).starts_with("2 scenarios of tests/test_add.py were enabled since the step began")
    );
    assert_eq!(tries.len(), 2);
}

#[test]
fn a_phase_without_a_gate_rests_on_the_agents_word_and_that_is_said() {
    let project = Project::of(SHORT, &[add()]);
    let config = project.env.read("seriatim.toml");
    project.with("seriatim.toml", config.split("[gates.tests]").next().unwrap());
    // Nobody approves before the commits of a roadmap, so that a person says at the start that they may go unchecked.
    project.step("01-01").exits(3).says("No check is configured for these phases: RED, GREEN, COMMIT.");
    let blank = project.env.run(&[
        "answer",
        "q1",
        "accept_unchecked",
        "--text",
        " \u{200b} ",
        "--by",
        "ada",
        "--resume",
    ]);
    blank.exits(2).says("needs a few words");
    project
        .env
        .run(&[
            "answer",
            "q1",
            "accept_unchecked",
            "--text",
            "a throw-away script",
            "--by",
            "ada",
            "--resume",
        ])
        .exits(0)
        .says("Without a gate, and so on the agent's word alone: RED, GREEN, COMMIT.")
        .says("RED, GREEN, COMMIT accepted unchecked by ada: a throw-away script.");
    assert_eq!(texts(&project.checkpoint("01-01")["closed_on_claim"]), ["RED", "GREEN", "COMMIT"]);
}
