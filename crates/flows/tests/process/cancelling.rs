//! What is left to do when somebody cancels a run.

use serde_json::Value;
use serde_json::json;
use seriatim_flows::registry::End;

use crate::build;
use crate::build::alone;
use crate::build::definition;
use crate::build::step;
use crate::world::World;

fn asking() -> Value {
    definition(vec![alone("5.1.1", "Look", "Analyse"), step("5.1.2", "Sign", "Decide", "Human-Only")])
}

#[test]
fn a_cancelled_run_says_so_in_its_files_and_keeps_what_was_done() {
    let story = World::new(asking()).cancelled_at("Sign").run();
    assert_eq!((story.ended.status, story.ended.good), (End::Cancelled, false));
    assert_eq!(story.ended.message, "The work was cancelled. What was done until then is kept in its log.");
    let instance = story.instance();
    assert_eq!(instance["status"], "CANCELLED");
    assert_eq!(instance["completed"], story.log()["execution"]["completed"]);
    assert_eq!(story.log()["execution"]["status"], "FAILED");
    assert_eq!(story.steps(), ["5.1.1 COMPLETED #1"]);
    assert_eq!(story.errors(), ["Cancelled - a person stopped the work"]);
}

#[test]
fn px_27_a_dry_run_that_is_cancelled_leaves_its_instance_alone() {
    let story = World::new(asking()).rehearsal().cancelled_at("5.1.1").run();
    assert_eq!(story.ended.status, End::Cancelled);
    assert_eq!(story.seen.instances, Vec::<String>::new());
    assert_eq!(story.instance()["status"], "PLANNED");
    assert_eq!(story.log()["execution"]["status"], "FAILED");
}

#[test]
fn a_run_that_is_cancelled_before_it_began_has_no_log() {
    let mut definition = asking();
    definition["quality"] = json!({"entry_criteria": ["It is Tuesday"]});
    let story = World::new(definition).cancelled_at("please confirm").run();
    assert_eq!(story.logs(), Vec::<String>::new());
    assert_eq!(story.instance()["status"], "CANCELLED");
}

#[test]
fn an_instance_that_is_gone_does_not_keep_a_run_from_being_cancelled() {
    let story = World::new(asking())
        .meanwhile("5.1.1", |outside| _ = outside.files.remove(build::INSTANCE))
        .cancelled_at("Sign")
        .run();
    assert_eq!(story.ended.status, End::Cancelled);
    assert!(!story.files.contains_key(build::INSTANCE));
}
