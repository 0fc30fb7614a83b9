//! Files of an action that are there and cannot be used.

use seriatim_flows::registry::End;

use crate::world::World;
use crate::world::exit;

const PLAN: &str = "- backend-developer\n- {gate: approval, name: release}";
const LIFECYCLE: &str = "current_stage: a\nstages:\n  a:\n    required_gates: [docs]\ngates:\n  docs:\n    command: [check-docs]\n";

/// Asserts that no role was called, because of this file.
#[track_caller]
fn not_started(path: &str, text: &str, why: &str) {
    let story = World::new(PLAN).file(path, text).play();
    let ended = story.ended();
    assert_eq!((ended.status, ended.good), (End::Failed, false), "{}", ended.message);
    assert!(ended.message.contains(why), "{}", ended.message);
    assert!(ended.message.contains("To fix it: "), "{}", ended.message);
    assert_eq!(ended.findings.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), [path]);
    assert_eq!(story.calls("backend-developer"), 0);
    assert!(story.asked().is_empty());
}

#[test]
fn a_broken_lifecycle_a_broken_seal_and_a_broken_copy_of_the_last_approval_stop_the_action() {
    let line = "lifecycle-stage.yaml:1: the `[` opened here is not closed";
    not_started("lifecycle-stage.yaml", "current_stage: [\n", line);
    not_started(".snapshots/sealed.json", "{", ".snapshots/sealed.json:1: EOF while parsing");
}

#[test]
fn a_lifecycle_that_a_role_breaks_or_removes_is_asked_about_and_never_counts_as_none() {
    for broken in [Some("stages: [\n"), None] {
        let story = World::new(PLAN)
            .file("lifecycle-stage.yaml", LIFECYCLE)
            .command("check-docs", vec![exit(0, "fine\n")])
            .says_while("Gate release", "approve", move |world| {
                match broken {
                    Some(text) => world.files.insert("lifecycle-stage.yaml".to_owned(), text.to_owned()),
                    None => world.files.remove("lifecycle-stage.yaml"),
                };
            })
            .usually(&["cancel", "keep"])
            .play();
        assert!(!story.ended().good, "{}", story.ended().message);
        assert_eq!(story.asked()[..2], ["Gate release", "Gate release"]);
        let again = &story.question("Gate release").details;
        assert!(again.contains("The approval does not count yet: lifecycle-stage.yaml"), "{again}");
    }
}
