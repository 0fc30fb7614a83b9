//! Reads, writes and calls that fail, and what is tried again.

use serde_json::json;
use seriatim_core::failure::Class;

use crate::world::World;

// CY-66: a read that fails once is no foreign change of the document.
#[test]
fn cy_66_a_read_that_failed_is_tried_once_more() {
    for bad in 1..=6 {
        let story = World::new().with(|world| world.bad_reads = vec![bad]).run();
        assert!(story.ended.good, "{bad}");
        assert!(story.facts("document_tampered").is_empty(), "{bad}");
        assert_eq!(story.document(), "", "{bad}");
    }
}

// CY-67
#[test]
fn cy_67_a_network_error_is_retried_with_backoff() {
    let down = |world: World| world.fails("planner", Class::Transport, "the connection was reset");
    let story = down(down(World::new())).run();
    assert_eq!(story.called(), ["planner", "planner", "planner", "actor", "judge"]);
    assert_eq!(story.seen.slept_ms, [1000, 2000]);
    assert_eq!(
        story.told()[2..4],
        [
            "Attempt 1 of planner failed: the connection was reset.",
            "Attempt 2 of planner failed: the connection was reset.",
        ]
    );
}

// CY-70
#[test]
fn cy_70_a_report_that_cannot_be_read_is_corrected_with_feedback() {
    let story = World::new().fails("judge", Class::Invalid, "its report is not JSON").run();
    assert_eq!(story.called(), ["planner", "actor", "judge", "judge"]);
    assert!(story.brief("judge", 1).contains("The last attempt could not be used: its report is not JSON"));
}

#[test]
fn an_archive_that_cannot_be_written_is_recorded() {
    let story = World::new().with(|world| world.bad_writes = vec!["docs/context/archive/"]).run();
    assert_eq!(
        story.facts("error"),
        [json!({"fact": "error", "effect": "archive", "text": "archive: the disk is full"})]
    );
    assert_eq!(story.facts("archived"), Vec::<serde_json::Value>::new());
}
