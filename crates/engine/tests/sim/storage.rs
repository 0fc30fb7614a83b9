//! A disk without room, or one that cannot be written: the run stops with a clear word, and goes on later.

use seriatim_engine::drive::Left;
use seriatim_engine::sim::Rng;
use seriatim_engine::sim::Trouble;

use crate::plan;
use crate::plan::Planned;
use crate::proof;
use crate::seeds;
use crate::world::Life;
use crate::world::World;

fn plan(seed: u64) -> Vec<Planned> {
    let mut rng = Rng::of(seed, &["plan"]);
    let count = 1 + rng.index(3);
    (0..count).map(|number| plan::process(&mut rng, number)).collect()
}

#[test]
fn e_87_a_full_or_read_only_disk_stops_a_run_and_room_lets_it_finish() {
    seeds::each("e_87_a_full_or_read_only_disk_stops_a_run_and_room_lets_it_finish", 6, |seed| {
        let mut unharmed = World::new(seed, 20, plan(seed));
        let written_before = unharmed.files.writes();
        unharmed.live_on(|_, _| Life::default(), |_, _| {});
        let writes = unharmed.files.writes() - written_before;

        let mut world = World::new(seed, 20, plan(seed));
        let mut stuck = 0;
        world.live_on(
            |world, number| {
                world.files.relieve();
                if number < 3 {
                    let trouble = if world.rng.chance(50) { Trouble::NoSpace } else { Trouble::ReadOnly };
                    let after = world.rng.below(writes);
                    world.files.refuse_after(after, trouble);
                }
                let interrupt_in_ms = world.rng.chance(20).then(|| world.rng.below(1_000));
                Life { attended: world.rng.chance(50), interrupt_in_ms, ..Life::default() }
            },
            |world, lived| {
                for outcome in lived.iter().flatten() {
                    match &outcome.left {
                        Left::Ended(_) | Left::Parked | Left::Interrupted => {}
                        Left::Stuck(why) => {
                            stuck += 1;
                            let clear = ["there is no space left to write", "mounted read-only"];
                            assert!(clear.iter().any(|words| why.contains(words)), "{why}");
                        }
                        other => panic!("{other:?}"),
                    }
                }
                proof::sound(world);
            },
        );
        assert!(stuck <= 3 * world.plan.len());
        proof::tidy(&world);
        proof::every_attempt_is_on_record(&world);
        proof::ends(&world).assert_same(&proof::ends(&unharmed), &world);
    });
}
