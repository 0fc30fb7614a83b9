//! RETURN: who is asked, whether the correction runs, and when it ends, over four failures in a row.

use serde_json::json;
use seriatim_flows::registry::End;

use crate::build::alone;
use crate::build::definition;
use crate::build::done;
use crate::build::holds;
use crate::build::returning;
use crate::build::trigger;
use crate::build::watching;
use crate::build::with;
use crate::story::Story;
use crate::story::has;
use crate::world::World;

const RED: &str = "The build is red";

/// Fails four times in a row, then would be done.
fn four_failures(severity: &str, fix: Option<&str>) -> World {
    World::new(returning(severity, fix)).reports_times(4, "5.1.2", &holds(RED))
}

/// One word per failure: `asked+fix+back`, `back`, `asked+back`, `block`.
fn table(story: &Story) -> String {
    let events = story.events();
    let (returns, rest) = events.split_at(events.len() - 1);
    assert!(rest[0].starts_with("BLOCK 5.1.2 > - "), "{events:#?}");
    let mut questions = story.seen.questions.iter();
    let asks: usize = story.seen.questions.len();
    let mut row = vec![];
    for (i, event) in returns.iter().enumerate() {
        assert!(event.starts_with("RETURN 5.1.2 > 5.1.1 "), "{event}");
        assert!(event.contains(&format!(" #{}", i + 1)), "{event}");
        let last = i + 1 == returns.len();
        let mut parts = vec![];
        if !last && questions.next().is_some() {
            parts.push("asked");
        }
        if event.ends_with("fixed") {
            parts.push("fix");
        }
        parts.push(if last { "block" } else { "back" });
        row.push(parts.join("+"));
    }
    assert!(questions.next().is_none(), "{asks} questions for {row:?}");
    row.join(" ")
}

/// The steps that were carried out in between, by the last part of their ids.
fn course(story: &Story) -> String {
    let steps = story.steps();
    let short = |s: &String| s.split(' ').next().unwrap().rsplit('.').next().unwrap().to_owned();
    steps.iter().map(short).collect::<Vec<_>>().join(" ")
}

/// E-10, PX-70, PX-78, PX-82, K-69.
#[test]
fn e_10_px_70_px_78_px_82_k_69_low_is_fixed_without_a_word_and_blocks_at_the_fourth() {
    let story = four_failures("LOW", Some("ON_RETRY")).run();
    assert_eq!(
        story.events(),
        [
            "RETURN 5.1.2 > 5.1.1 LOW #1",
            "RETURN 5.1.2 > 5.1.1 LOW #2 fixed",
            "RETURN 5.1.2 > 5.1.1 LOW #3 fixed",
            "RETURN 5.1.2 > 5.1.1 LOW #4",
            "BLOCK 5.1.2 > - LOW #4",
        ]
    );
    assert_eq!(story.asked(), Vec::<String>::new());
    assert_eq!(course(&story), "1 2 1 2 2a 1 2 2a 1 2");
    assert_eq!(story.ended.status, End::Blocked);
    assert_eq!(story.result(), "BLOCKED");
    assert_eq!(
        story.ended.message,
        "The process could not continue because The build is red. Manual intervention required."
    );
}

/// PX-75, PX-76, PX-77, PX-78, PX-79, PX-80, PX-81, PX-82, K-65, K-69.
#[test]
fn px_75_to_px_82_k_65_to_k_69_the_whole_table_of_four_failures() {
    // Severity, mode of the correction, and what each failure led to. At HIGH the second failure blocks (E-12).
    let rows = [
        ("LOW", None, "back back back block"),
        ("LOW", Some("ON_RETRY"), "back fix+back fix+back block"),
        ("LOW", Some("ALWAYS"), "fix+back fix+back fix+back block"),
        ("LOW", Some("ASK"), "asked+fix+back asked+fix+back asked+fix+back block"),
        ("MEDIUM", None, "back back back block"),
        ("MEDIUM", Some("ASK"), "asked+fix+back asked+fix+back asked+fix+back block"),
        ("HIGH", None, "asked+back block"),
        ("HIGH", Some("ON_RETRY"), "asked+fix+back block"),
        ("HIGH", Some("ALWAYS"), "asked+fix+back block"),
        ("HIGH", Some("ASK"), "asked+fix+back block"),
    ];
    for (severity, fix, expected) in rows {
        let story = four_failures(severity, fix).run();
        assert_eq!(table(&story), expected, "{severity} {fix:?}");
        assert_eq!(story.ended.status, End::Blocked);
    }
}

#[test]
fn px_77_medium_is_asked_about_from_the_second_time_on() {
    let story = four_failures("MEDIUM", Some("ON_RETRY")).run();
    assert_eq!(
        story.events(),
        [
            "RETURN 5.1.2 > 5.1.1 MEDIUM #1",
            "RETURN 5.1.2 > 5.1.1 MEDIUM #2 fixed",
            "RETURN 5.1.2 > 5.1.1 MEDIUM #3 fixed",
            "RETURN 5.1.2 > 5.1.1 MEDIUM #4",
            "BLOCK 5.1.2 > - MEDIUM #4",
        ]
    );
    let question = "Build: This failed again. I'll run the correction step. OK? What failed: The build is red. The \
                    correction: Repair what is red. -> fix";
    assert_eq!(story.asked(), [question, question]);
}

/// E-11, K-66.
#[test]
fn e_11_k_66_always_runs_the_correction_the_first_time_and_medium_asks_later() {
    let story = four_failures("MEDIUM", Some("ALWAYS")).run();
    let fixed: Vec<bool> = story.events().iter().map(|e| e.ends_with("fixed")).collect();
    assert_eq!(fixed, [true, true, true, false, false]);
    assert_eq!(story.asked().len(), 2);
}

/// E-12, K-65.
#[test]
fn e_12_k_65_high_approved_and_failing_again_is_told_and_blocks() {
    let story = four_failures("HIGH", Some("ON_RETRY")).run();
    assert_eq!(
        story.asked(),
        ["Build: A serious issue occurred: The build is red. Shall it be mended and tried again? -> approve"]
    );
    assert_eq!(
        story.events(),
        ["RETURN 5.1.2 > 5.1.1 HIGH #1 fixed", "RETURN 5.1.2 > 5.1.1 HIGH #2", "BLOCK 5.1.2 > - HIGH #2",]
    );
    has(&story.observed(), "EVENT Told about Build: A serious issue occurred again: The build is red");
}

/// E-12, K-65.
#[test]
fn e_12_k_65_with_a_higher_limit_each_time_is_asked_and_stopping_is_the_default() {
    for (fix, approve) in [(None, "approve"), (Some("ON_RETRY"), "approve"), (Some("ASK"), "fix")] {
        let mut world = four_failures("HIGH", fix)
            .answers("A serious issue", approve)
            .answers("A serious issue", approve)
            .answers("A serious issue", approve);
        world.definition["control_flow"]["retry_policy"] =
            json!({"on_validation_failure": {"high_max_iterations": 3}});
        let story = world.run();
        assert_eq!(story.asked().len(), 3, "{fix:?}");
        assert!(story.seen.questions.iter().all(|(q, _)| q.options[0].id == "cancel"), "{fix:?}");
        let last = story.events().pop().unwrap();
        assert_eq!(last, "BLOCK 5.1.2 > - HIGH #4");
    }
}

#[test]
fn px_75_a_serious_issue_that_a_person_refuses_blocks_at_once() {
    let story = four_failures("HIGH", Some("ALWAYS")).answers("A serious issue", "cancel").run();
    assert_eq!(story.events(), ["RETURN 5.1.2 > 5.1.1 HIGH #1", "BLOCK 5.1.2 > - - #1"]);
    assert_eq!(course(&story), "1 2");
    assert_eq!(story.ended.status, End::Blocked);
}

/// PX-79, K-68.
#[test]
fn px_79_k_68_ask_is_one_question_with_every_way_out() {
    for severity in ["LOW", "MEDIUM", "HIGH"] {
        let story = World::new(returning(severity, Some("ASK")))
            .reports("5.1.2", holds(RED))
            .answers("Which way shall it take?", "retry")
            .run();
        assert_eq!(story.asked().len(), 1);
        let (question, _) = &story.seen.questions[0];
        let ids: Vec<&str> = question.options.iter().map(|o| o.id.as_str()).collect();
        assert_eq!(ids, ["fix", "retry", "cancel"]);
        // Without the correction the run goes straight back, and the event says so (PX-94).
        assert_eq!(story.events(), [format!("RETURN 5.1.2 > 5.1.1 {severity} #1")]);
        assert_eq!(course(&story), "1 2 1 2");
        assert_eq!(story.ended.status, End::Completed);
    }
}

#[test]
fn px_77_the_correction_can_be_declined() {
    let story = World::new(returning("MEDIUM", Some("ON_RETRY")))
        .reports_times(2, "5.1.2", &holds(RED))
        .answers("This failed again", "retry")
        .run();
    assert_eq!(course(&story), "1 2 1 2 1 2");
    assert!(story.events().iter().all(|e| !e.ends_with("fixed")));
}

#[test]
fn k_99_the_most_returns_are_the_triggers_own_or_the_definitions() {
    let mut own = four_failures("LOW", None);
    own.definition["steps"][1]["escalation_triggers"][0]["max_iterations"] = json!(1);
    own.definition["control_flow"] =
        json!({"retry_policy": {"on_validation_failure": {"max_iterations": 2}}});
    assert_eq!(own.run().events().pop().unwrap(), "BLOCK 5.1.2 > - LOW #2");

    let mut wide = four_failures("LOW", None);
    wide.definition["control_flow"] =
        json!({"retry_policy": {"on_validation_failure": {"max_iterations": 2}}});
    assert_eq!(wide.run().events().pop().unwrap(), "BLOCK 5.1.2 > - LOW #3");
}

#[test]
fn px_81_the_correction_is_found_by_its_origin_runs_by_its_own_pattern_and_is_on_record() {
    let mut world = four_failures("LOW", Some("ALWAYS")).answers("Mend", "done");
    let fix = &mut world.definition["control_flow"]["fix_steps"][0];
    fix["pattern"] = json!("Human-Only");
    fix["ai_role"] = json!("None");
    let story = world.run();
    assert!(!story.called().iter().any(|c| c.starts_with("5.1.2a")), "{:?}", story.called());
    let records = story.step_records();
    let fixes: Vec<_> = records.iter().filter(|r| r["step_id"] == "5.1.2a").collect();
    assert_eq!(fixes.len(), 3);
    assert_eq!(fixes[0]["pattern"], "Human-Only");
    assert_eq!(fixes[0]["outcome_summary"], "Done by ada.");
}

#[test]
fn px_80_a_correction_for_another_step_is_not_run() {
    let mut world = World::new(returning("LOW", Some("ALWAYS"))).reports("5.1.2", holds(RED));
    world.definition["control_flow"]["fix_steps"][0]["id"] = json!("5.1.1a");
    world.definition["control_flow"]["fix_steps"][0]["trigger_from"] = json!("5.1.1");
    let story = world.run();
    assert_eq!(course(&story), "1 2 1 2");
    assert_eq!(story.events(), ["RETURN 5.1.2 > 5.1.1 LOW #1"]);
}

#[test]
fn e_13_counters_are_per_step_and_going_round_in_circles_ends() {
    let back = |limit: u32| {
        let more = json!({"target": "5.1.1", "max_iterations": limit});
        with(trigger(RED, "RETURN", "LOW"), more)
    };
    let steps = |limit: u32| {
        definition(vec![
            alone("5.1.1", "Write", "Generate"),
            watching(alone("5.1.2", "Build", "Analyse"), vec![back(limit)]),
            watching(alone("5.1.3", "Test", "Analyse"), vec![back(limit)]),
        ])
    };
    // Twice by each: none of the two has used up its three.
    let story = World::new(steps(3))
        .reports("5.1.2", holds(RED))
        .reports("5.1.2", done("Built"))
        .reports("5.1.3", holds(RED))
        .reports("5.1.2", holds(RED))
        .reports("5.1.2", done("Built"))
        .reports("5.1.3", holds(RED))
        .run();
    assert_eq!(
        story.events(),
        [
            "RETURN 5.1.2 > 5.1.1 LOW #1",
            "RETURN 5.1.3 > 5.1.1 LOW #1",
            "RETURN 5.1.2 > 5.1.1 LOW #2",
            "RETURN 5.1.3 > 5.1.1 LOW #2",
        ]
    );
    assert_eq!(story.ended.status, End::Completed);

    let endless = World::new(steps(1000)).always("5.1.2", holds(RED)).run();
    assert_eq!(endless.events().len(), 52);
    assert_eq!(endless.ended.status, End::Blocked);
}

/// E-15, PX-83.
#[test]
fn e_15_px_83_everything_from_the_target_on_runs_again_and_the_first_pass_stays_on_record() {
    let back = with(trigger(RED, "RETURN", "LOW"), json!({"target": "5.1.1"}));
    let steps = vec![
        alone("5.1.1", "Write", "Generate"),
        alone("5.1.2", "Build", "Analyse"),
        watching(alone("5.1.3", "Test", "Analyse"), vec![back]),
    ];
    let gives = |n: u32| with(done("Wrote it"), json!({"outputs": {"draft": n}}));
    let story = World::new(definition(steps))
        .reports("5.1.1", gives(1))
        .reports("5.1.1", gives(2))
        .reports("5.1.2", with(done("Built"), json!({"outputs": {"built": 1}})))
        .reports("5.1.3", holds(RED))
        .run();
    assert_eq!(
        story.steps(),
        [
            "5.1.1 COMPLETED #1",
            "5.1.2 COMPLETED #1",
            "5.1.3 ESCALATED #1",
            "5.1.1 COMPLETED #2",
            "5.1.2 COMPLETED #2",
            "5.1.3 COMPLETED #2",
        ]
    );
    // The first pass is readable until it is replaced.
    let steps_seen = |step: &str, nth| story.call(step, nth).brief.inputs["steps"].clone();
    assert_eq!(steps_seen("5.1.1", 1), json!({"5.1.1": {"draft": 1}, "5.1.2": {"built": 1}}));
    assert_eq!(steps_seen("5.1.2", 1), json!({"5.1.1": {"draft": 2}, "5.1.2": {"built": 1}}));
    assert_eq!(story.outputs()["draft"], 2);
}

#[test]
fn a_validation_that_fails_without_a_trigger_returns_by_the_definitions_policy() {
    let check = with(alone("5.1.2", "Check", "Validate"), json!({"completion_criteria": ["It is green"]}));
    let mut steps = definition(vec![alone("5.1.1", "Write", "Generate"), check]);
    steps["control_flow"] = json!({"retry_policy": {"on_validation_failure": {"return_to": "5.1.1"}}});
    let red =
        json!({"status": "done", "summary": "No", "criteria": [{"criterion": "It is green", "met": false}]});
    let story = World::new(steps).reports("5.1.2", red).run();
    assert_eq!(story.events(), ["RETURN 5.1.2 > 5.1.1 MEDIUM #1"]);
    assert_eq!(story.errors(), ["5.1.2: ValidationError - Completion criteria not satisfied: It is green"]);
    assert_eq!(story.ended.status, End::Completed);
}

#[test]
fn a_correction_that_fails_ends_the_run() {
    let mut world = four_failures("LOW", Some("ALWAYS"));
    world.definition["control_flow"]["fix_steps"][0]["escalation_triggers"] =
        json!([trigger("It cannot be mended", "BLOCK", "HIGH")]);
    let story = world.reports("5.1.2a", holds("It cannot be mended")).run();
    assert_eq!(story.steps(), ["5.1.1 COMPLETED #1", "5.1.2 ESCALATED #1", "5.1.2a ESCALATED #1"]);
    assert_eq!(story.ended.status, End::Blocked);
    assert!(story.ended.message.contains("It cannot be mended"));
}
