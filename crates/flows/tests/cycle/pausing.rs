//! The pause, the alerts and the counters behind them.

use serde_json::json;
use seriatim_core::cycle::metrics;
use seriatim_core::projection::Fact;
use seriatim_core::time::Utc;

use crate::world::GOAL;
use crate::world::World;
use crate::world::ran;

// CY-10, CY-58, CY-76, CY-83, CY-85, CY-93
#[test]
fn cy_10_the_fifth_insufficient_in_a_row_pauses_with_all_blockers() {
    let story = World::new().insufficient(5).cancelled_at("Paused").run();
    assert_eq!(story.facts("judged").len(), 5);
    let question = story.question("Paused");
    assert_eq!(question.question, "It was tried 5 times in a row without success. How should it go on?");
    assert_eq!(question.tried.len(), 5);
    let alerts: Vec<_> = story.facts("alert").iter().map(|fact| fact["alert"].clone()).collect();
    assert_eq!(alerts, ["Stuck Cycles", "5-Loop Pause"]);
    assert_eq!(
        story.facts("paused"),
        [
            json!({"fact": "paused", "cycle": 1, "archive": "docs/context/archive/2026-01-18_cycle-001_incomplete.md"})
        ]
    );
    assert_eq!(story.archived("2026-01-18_cycle-001_incomplete.md").matches("\n- too curt").count(), 5);
}

// CY-77, CY-79
#[test]
fn cy_77_a_new_goal_after_a_pause_is_a_new_cycle_of_the_same_run() {
    let other = "Let greet.sh wish a good morning to all who come by";
    let story = World::new().insufficient(5).says("Paused", "new_goal", other).run();
    assert_eq!(story.archive(), ["2026-01-18_cycle-001_incomplete.md", "2026-01-18_cycle-002.md"]);
    let document = story.archived("2026-01-18_cycle-002.md");
    assert!(document.starts_with("# Cycle 002: work\n") && document.contains(other), "{document}");
    // What stood in the way is over; a finding is not.
    assert!(!story.brief("planner", 5).contains("sent back"));
    assert!(story.brief("planner", 5).contains("## Open findings\n- F1 HIGH: too curt (judge)"));
    assert!(document.contains("F1 HIGH: too curt (judge): closed by judge: it is fixed"), "{document}");
    assert!(story.told().contains(&"Cycle 001 ended incomplete.".to_owned()));
    assert_eq!(story.ended.outcome["cycle"], 2);
    let facts: Vec<Fact> = story.all_facts().into_iter().map(|data| Fact { at: Utc(0), data }).collect();
    let found = metrics::fold_run(&facts);
    let line = |c: &metrics::CycleSummary| (c.number, c.passes, c.insufficients, c.paused, c.end);
    assert_eq!(
        found.cycles.iter().map(line).collect::<Vec<_>>(),
        [(1, 0, 5, true, metrics::End::Incomplete), (2, 1, 0, false, metrics::End::Completed)]
    );
}

// CY-25, CY-77
#[test]
fn cy_77_a_new_goal_that_is_vague_is_asked_about_and_may_be_given_up() {
    let story =
        World::new().insufficient(5).says("Paused", "new_goal", "do better").answers("Goal", "cancel").run();
    assert_eq!(story.asked(), ["Paused -> new_goal", "Goal -> cancel"]);
    assert_eq!(story.ended.message, "No goal was given; the cycle was not begun.");
}

// E-31, E-32, E-33, K-60
#[test]
fn e_32_fails_and_insufficients_are_counted_apart() {
    let fail = json!({"result": "FAIL"});
    // Five fails pause although the Judge never ran.
    let fails = (0..5)
        .fold(World::new(), |world, _| world.reports("actor", fail.clone()))
        .cancelled_at("Paused")
        .run();
    assert_eq!((fails.facts("work_failed").len(), fails.facts("judged").len()), (5, 0));
    // A fail between does not reset the count of insufficient ones.
    let mixed = World::new().reports("actor", fail.clone()).insufficient(5).cancelled_at("Paused").run();
    assert_eq!((mixed.facts("work_failed").len(), mixed.facts("judged").len()), (1, 5));
    // A pass does.
    let passed = World::new()
        .insufficient(4)
        .reports("judge", json!({"result": "PASS", "closed": [{"id": "F1", "reason": "it greets now"}]}))
        .says("Approval", "changes", "Shorter.")
        .insufficient(5)
        .cancelled_at("Paused")
        .run();
    assert_eq!(passed.facts("judged").len(), 10);
}

// CY-86
#[test]
fn cy_86_more_than_thirty_minutes_without_a_person_is_an_alert_once() {
    let long = World::new().with(|world| world.agent_minutes = 31).run();
    assert_eq!(long.facts("alert").len(), 1);
    assert_eq!(long.facts("alert")[0]["alert"], "Duration Exceeded");
    let short = World::new().with(|world| world.agent_minutes = 10).run();
    assert!(short.facts("alert").is_empty());
}

// CY-83
#[test]
fn an_alert_is_told_to_the_command_of_the_project_and_its_failure_changes_nothing_else() {
    let mut world = World::new().insufficient(3).command("alarm", ran(3, ""));
    world.start.alert = vec!["alarm".to_owned(), "--now".to_owned()];
    let story = world.run();
    let why = "Planner, Actor and Judge have gone round three times without a person.";
    let alarm: Vec<_> = story.seen.commands.iter().filter(|argv| argv[0] == "alarm").collect();
    assert_eq!(alarm, [&["alarm", "--now", "Stuck Cycles", why].map(str::to_owned).to_vec()]);
    assert_eq!(
        story.facts("error"),
        [json!({"fact": "error", "effect": "alert", "text": "the command for alerts failed: exit code 3"})]
    );
    assert!(story.ended.good && story.brief("planner", 0).contains(GOAL));
}
