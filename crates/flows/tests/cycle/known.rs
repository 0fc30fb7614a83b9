//! Known holes: ways in which a cycle ends well, or loses something, although it should not. The list only shrinks:
//! a hole that is closed fails here until its line is removed.

use serde_json::json;
use seriatim_core::failure::Class;
use seriatim_flows::cycle::DOCUMENT;

use crate::story::Story;
use crate::world::World;
use crate::world::step;

/// A document that a person wrote by hand.
const BY_HAND: &str = "# Cycle 009: work\n\nA goal that a person wrote by hand.\n";

/// A name, a run, and whether the run shows the hole.
type Hole = (&'static str, fn() -> Story, fn(&Story) -> bool);

const HOLES: &[Hole] = &[
    ("a step that changed other files than the planned ones passes", other_files, ends_well),
    ("a document that could not be archived is cleared", archive_fails, lost_the_document),
    ("a cancellation at the question about an earlier cycle archives it", cancelled_at_occupied, cleared),
    ("work beyond the limits stays where no snapshot could be taken", no_snapshot, committed_a),
    ("a file that the Judge left is committed", judge_writes, committed_a),
    ("a file that a failed Actor left is committed", failed_actor_writes, committed_a),
    ("a command that a person allowed once is allowed in every later step", allowed_for_good, ends_well),
    ("text that a person added to the document is removed and kept nowhere", person_writes, lost_postscript),
    ("\"Try again\" after a refused commit plans anew instead", retry_refused, planned_twice),
];

#[test]
fn the_list_of_known_holes_only_shrinks() {
    let closed: Vec<&str> =
        HOLES.iter().filter(|(_, run, shows)| !shows(&run())).map(|(name, ..)| *name).collect();
    assert_eq!(closed, Vec::<&str>::new(), "closed: remove these lines");
}

fn ends_well(story: &Story) -> bool {
    story.ended.good
}

fn lost_the_document(story: &Story) -> bool {
    story.archive().is_empty() && story.document().is_empty()
}

fn cleared(story: &Story) -> bool {
    story.document().is_empty()
}

fn committed_a(story: &Story) -> bool {
    story.ended.good && story.seen.deliveries[0].paths.iter().any(|path| path == "a.sh")
}

fn lost_postscript(story: &Story) -> bool {
    !story.files.values().any(|text| text.contains("P.S."))
}

fn planned_twice(story: &Story) -> bool {
    story.called().iter().filter(|role| **role == "planner").count() == 2
}

fn other_files() -> Story {
    World::new()
        .does("actor", json!({"result": "SUCCESS"}), |outside| outside.write("other.sh", "echo\n"))
        .run()
}

fn archive_fails() -> Story {
    World::new().with(|world| world.bad_writes = vec!["docs/context/archive/"]).run()
}

fn cancelled_at_occupied() -> Story {
    World::new().file(DOCUMENT, BY_HAND).cancelled_at("A cycle is open").run()
}

fn no_snapshot() -> Story {
    let too_much = |outside: &mut crate::world::Outside| {
        for path in ["a.sh", "b.sh", "c.sh"] {
            outside.write(path, &"echo\n".repeat(60));
        }
    };
    let world = World::new().with(|world| world.no_snapshots = true);
    world.does("actor", json!({"result": "SUCCESS"}), too_much).run()
}

fn judge_writes() -> Story {
    World::new().does("judge", json!({"result": "PASS"}), |outside| outside.write("a.sh", "echo\n")).run()
}

fn failed_actor_writes() -> Story {
    World::new().does("actor", json!({"result": "FAIL"}), |outside| outside.write("a.sh", "echo\n")).run()
}

fn allowed_for_good() -> Story {
    let other = step(json!({"title": "Another step", "commands": ["rm -rf build"]}));
    World::new()
        .reports("planner", step(json!({})))
        .shows("actor", "rm -rf build")
        .answers("The work was held", "approve")
        .reports("planner", other)
        .run()
}

fn person_writes() -> Story {
    World::new()
        .meanwhile("Approval", "commit", |outside| {
            let text = format!("{}\nP.S. Please wait.\n", outside.files[DOCUMENT]);
            outside.write(DOCUMENT, &text);
        })
        .run()
}

fn retry_refused() -> Story {
    World::new().delivery_fails(Class::Denied, "the hook says no").answers("Not committed", "retry").run()
}
