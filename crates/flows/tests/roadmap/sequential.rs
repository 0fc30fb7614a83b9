//! Steps one after the other, with nothing in the way.

use seriatim_flows::registry::End;

use crate::world::World;

/// DW-40, DW-66, DW-72, DW-84: every phase is saved before and after, and the step is committed and done.
#[test]
fn dw_40_dw_66_dw_72_dw_84_one_step_is_told_saved_and_committed_from_its_beginning_to_its_end() {
    let story = World::one().run();
    insta::assert_snapshot!(story.whole());
}

/// DW-96, DW-97: by default steps follow one another in the order of their dependencies.
#[test]
fn dw_96_dw_97_three_steps_follow_one_another() {
    let story = World::three().run();
    story.ends(End::Completed, "3 of 3 steps are done.");
    insta::assert_snapshot!(story.whole());
}
