//! Files of a cycle that are there and cannot be used: it does not begin, and nothing of them is replaced.

use seriatim_flows::cycle::DOCUMENT;
use seriatim_flows::registry::End;

use crate::story::Story;
use crate::world::World;

/// A document that a person wrote by hand.
const BY_HAND: &str = "# Cycle 009: work\n\nA goal that a person wrote by hand.\n";

/// Asserts that the cycle did not begin, because of this.
#[track_caller]
fn not_begun(story: &Story, why: &str) {
    assert_eq!((story.ended.status, story.ended.good), (End::Failed, false), "{}", story.ended.message);
    assert!(story.ended.message.starts_with("The cycle was not begun: "), "{}", story.ended.message);
    assert!(story.ended.message.contains(why), "{}", story.ended.message);
    assert!(!story.ended.findings.is_empty());
    assert!(story.called().is_empty());
}

#[test]
fn a_document_that_cannot_be_read_is_left_as_it_is() {
    let story = World::new().file(DOCUMENT, BY_HAND).with(|world| world.bad_reads = vec![1, 2]).run();
    not_begun(&story, "docs/context/current_cycle.md cannot be read");
    assert_eq!(story.files[DOCUMENT], BY_HAND);
}

#[test]
fn an_automation_file_that_cannot_be_read_never_means_the_defaults() {
    let strict = "loop: {max_consecutive_insufficient: 1}\n";
    let story = World::new().automation(strict).with(|world| world.bad_reads = vec![1, 2]).run();
    not_begun(&story, "automation.yaml cannot be read");
}

#[test]
fn rules_of_the_automation_file_that_nobody_understands_stop_the_cycle() {
    let pattern = "agents: {actor: {forbidden_commands: ['rm (-rf']}}\n";
    not_begun(&World::new().automation(pattern).run(), "is not a valid regular expression");
    let check = "agents: {judge: {required_checks: [lintr]}}\n";
    not_begun(&World::new().automation(check).run(), "`lintr` is not a known check");
    not_begun(&World::new().automation("").run(), "automation.yaml:1: the file is empty");
}
