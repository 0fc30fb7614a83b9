//! Whole cycles: everything that is recorded, asked and written on the straight way, as one text.

use std::fmt::Write as _;

use seriatim_core::view::Block;
use seriatim_flows::registry::End;

use crate::story::Story;
use crate::world::World;

/// A run as one text: what `log` tells, what `show` shows, its document and its end.
fn as_text(story: &Story, archived: &str) -> String {
    let mut text = format!("log:\n{}\n\nshow:\n", story.told().join("\n"));
    for section in story.view().sections {
        writeln!(text, "# {}", section.title).unwrap();
        for block in section.blocks {
            match block {
                Block::Line { label, text: words, .. } => writeln!(text, "{label}: {words}").unwrap(),
                Block::Table { rows, .. } => {
                    rows.iter().for_each(|row| writeln!(text, "{}", row.join(" | ")).unwrap());
                }
                Block::Output { .. } => panic!("a cycle shows no output"),
            }
        }
    }
    let Story { ended, .. } = story;
    write!(text, "\ndocument:\n{}\nend:\n{:?} {}\n", story.archived(archived), ended.status, ended.message)
        .unwrap();
    writeln!(text, "{}", ended.outcome).unwrap();
    text
}

// CY-01 to CY-07, CY-26, CY-32, CY-44, CY-53, CY-57, CY-75, CY-81, CY-92
#[test]
fn cy_92_a_cycle_goes_straight_from_the_goal_to_the_commit() {
    let world = World::new().with(|world| world.remote = true);
    let story = world.meanwhile("Approval", "commit", |outside| outside.minutes_pass(2)).run();
    assert_eq!(story.called(), ["planner", "actor", "judge"]);
    assert_eq!(story.asked(), ["Approval -> commit"]);
    assert_eq!((story.ended.status, story.ended.good), (End::Completed, true));
    assert_eq!(story.document(), "");
    insta::assert_snapshot!(as_text(&story, "2026-01-18_cycle-001.md"));
}

// CY-03, CY-06, CY-08, CY-30, CY-31, CY-63
#[test]
fn cy_08_a_cycle_with_questions_an_insufficient_verdict_and_a_pass() {
    let story = World::new()
        .reports("planner", serde_json::json!({"kind": "questions", "questions": ["To whom?", "How loud?"]}))
        .says("Before the plan", "provide_input", "To all of them, quietly.")
        .insufficient(1)
        .run();
    assert_eq!(story.called(), ["planner", "planner", "actor", "judge", "planner", "actor", "judge"]);
    assert!(
        story.brief("planner", 1).contains("To whom? How loud?\n## The answer\nTo all of them, quietly.")
    );
    assert!(story.brief("planner", 2).contains("## What the last try was sent back for\ntoo curt\nGreen: "));
    // The Actor has neither of them (CY-14).
    assert!(!story.brief("actor", 1).contains("quietly") && !story.brief("actor", 1).contains("too curt"));
    insta::assert_snapshot!(as_text(&story, "2026-01-18_cycle-001.md"));
}

// CY-78, CY-94, K-59
#[test]
fn cy_94_an_unrecoverable_blocker_ends_the_cycle_as_failed() {
    let blocker = serde_json::json!({"class": "unrecoverable", "explanation": "the disk is gone"});
    let story =
        World::new().reports("actor", serde_json::json!({"result": "FAIL", "blocker": blocker})).run();
    assert_eq!((story.ended.status, story.ended.good), (End::Failed, false));
    assert_eq!(story.called(), ["planner", "actor"]);
    insta::assert_snapshot!(as_text(&story, "2026-01-18_cycle-001_failed.md"));
}

// CY-10, CY-76, CY-77, CY-93
#[test]
fn cy_93_a_pause_and_a_restart_are_told_as_a_whole() {
    let story = World::new().insufficient(5).says("Paused", "guide", "Say it with a smile.").run();
    assert_eq!(story.asked(), ["Paused -> guide", "Approval -> commit"]);
    insta::assert_snapshot!(as_text(&story, "2026-01-18_cycle-001.md"));
}
