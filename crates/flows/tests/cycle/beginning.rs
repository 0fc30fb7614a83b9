//! How a cycle begins: its document, its goal, its documents and its automation file.

use serde_json::json;
use seriatim_flows::cycle::DOCUMENT;
use seriatim_flows::registry::End;

use crate::world::GOAL;
use crate::world::World;

/// A document in which an earlier cycle is open.
fn open_document() -> String {
    let story = World::new().cancelled_at("planner").run();
    let calls = story.played.calls.iter();
    let written = calls.filter_map(|call| match &call.request {
        seriatim_flows::Request::Write(file) if file.path == DOCUMENT && file.text.contains("SIGNAL") => {
            Some(file.text.clone())
        }
        _ => None,
    });
    written.into_iter().next().unwrap()
}

// CY-23, CY-79
#[test]
fn cy_23_an_occupied_document_is_archived_when_a_person_says_so() {
    let earlier = open_document();
    let story = World::new().file(DOCUMENT, &earlier).answers("A cycle is open", "approve").run();
    assert_eq!(story.asked(), ["A cycle is open -> approve", "Approval -> commit"]);
    assert_eq!(story.archive(), ["2026-01-18_cycle-001_incomplete.md", "2026-01-18_cycle-002.md"]);
    assert_eq!(story.archived("2026-01-18_cycle-001_incomplete.md"), earlier);
    assert_eq!(
        story.told()[..3],
        [
            "ada put the earlier cycle into the archive.",
            "The document was archived as docs/context/archive/2026-01-18_cycle-001_incomplete.md.",
            "Cycle 002 of work began.",
        ]
    );
}

// CY-23
#[test]
fn cy_23_an_occupied_document_stays_when_a_person_says_no() {
    let earlier = open_document();
    let story = World::new().file(DOCUMENT, &earlier).answers("A cycle is open", "cancel").run();
    assert_eq!(story.ended.status, End::Cancelled);
    assert_eq!(story.ended.message, "The cycle was not begun; its document is in use.");
    assert_eq!(story.document(), earlier);
    assert_eq!(story.archive(), Vec::<&str>::new());
    assert_eq!(story.told(), ["ada left the earlier cycle open."]);
    assert!(story.called().is_empty());
}

// CY-02, CY-25, CY-28
#[test]
fn cy_25_a_goal_is_asked_for_until_it_can_be_worked_on() {
    let mut world = World::new();
    world.start.goal = None;
    let story = world.says("Goal", "provide_input", "do the thing").says("Goal", "provide_input", GOAL).run();
    assert_eq!(story.asked(), ["Goal -> provide_input", "Goal -> provide_input", "Approval -> commit"]);
    let questions = story.played.questions();
    assert_eq!(questions[0].0.question, "What is the goal of this cycle?");
    assert!(
        questions[1].0.question.starts_with("\"do the thing\" is not specific enough yet. What is missing: ")
    );
    assert_eq!(
        story.told()[..4],
        [
            "Cycle 001 of work began.".to_owned(),
            "ada wrote a goal. [do the thing]".to_owned(),
            format!("ada wrote a goal. [{GOAL}]"),
            format!("The goal is: {GOAL}."),
        ]
    );
}

#[test]
fn without_a_goal_no_cycle_begins_and_the_document_is_clear() {
    let mut world = World::new();
    world.start.goal = None;
    let story = world.answers("Goal", "cancel").run();
    assert_eq!(story.ended.message, "No goal was given; the cycle was not begun.");
    assert_eq!((story.ended.status, story.ended.good), (End::Cancelled, false));
    assert_eq!(story.document(), "");
    assert_eq!(story.told(), ["Cycle 001 of work began.", "ada gave no goal."]);
}

// CY-12 to CY-15, CY-24, CY-27, CY-29, E-39
#[test]
fn cy_12_documents_go_to_the_role_that_may_read_them_and_others_are_refused() {
    let mut world = World::new()
        .file("docs/agent_docs/CODEBASE.md", "the codebase\n")
        .file("docs/agent_docs/GOALS.md", "the goals\n")
        .file("docs/agent_docs/DECISIONS.md", "the decisions\n")
        .file("docs/agent_docs/TESTING.md", "the tests\n")
        .file("docs/context/archive/2026-01-17_cycle-004.md", "# Cycle 004\n");
    world.start.goal = Some(format!(
        "{GOAL}\nDone when: the tests pass\nContext docs: CODEBASE, GOALS, DECISIONS, TESTING, GONE, PROMPTS"
    ));
    let story = world.file("docs/agent_docs/PROMPTS.md", "the prompts\n").run();
    assert!(story.brief("planner", 0).contains("## Document docs/agent_docs/GOALS.md\nthe goals\n"));
    assert!(
        !story.brief("planner", 0).contains("the decisions")
            && !story.brief("planner", 0).contains("the tests\n")
    );
    assert!(story.brief("judge", 0).contains("## Document docs/agent_docs/TESTING.md\nthe tests\n"));
    assert!(!story.brief("actor", 0).contains("## Document"));
    assert_eq!(
        story.facts("documents_refused"),
        [json!({"fact": "documents_refused", "cycle": 5, "why": [
            "`docs/agent_docs/DECISIONS.md` is one document more than the 2 that a role may read",
            "`docs/agent_docs/GONE.md` does not exist, or is a link to something else",
            "the Planner may not read `docs/agent_docs/PROMPTS.md`",
        ]})]
    );
    assert_eq!(
        story.facts("goal_taken")[0]["documents"],
        json!(["docs/agent_docs/CODEBASE.md", "docs/agent_docs/GOALS.md", "docs/agent_docs/TESTING.md"])
    );
    let document = story.archived("2026-01-18_cycle-005.md");
    assert!(document.contains("Earlier cycles were looked at: not said"), "{document}");
    assert!(
        document.contains("Not given to the roles:\n- `docs/agent_docs/DECISIONS.md` is one"),
        "{document}"
    );
}

#[test]
fn problems_of_the_automation_file_are_recorded_and_its_values_hold() {
    let story = World::new()
        .automation(
            "loop: {max_consecutive_insufficient: 1, colour: red}\narchiving: {incomplete_suffix: _open}\n",
        )
        .insufficient(1)
        .answers("Paused", "stop")
        .run();
    assert_eq!(story.facts("automation_findings").len(), 1);
    assert!(story.told()[0].starts_with("The automation file has 1 problem; defaults are used there. ["));
    assert_eq!(story.archive(), ["2026-01-18_cycle-001_open.md"]);
}
