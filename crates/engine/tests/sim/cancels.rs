//! Runs are cancelled at any moment, by another process: they end cancelled, and their epilogue is done once.

use seriatim_core::process::facts::Fact;
use seriatim_engine::drive::History;
use seriatim_engine::hands::files::Files;
use seriatim_engine::sim::Rng;
use seriatim_journal::Kind;
use seriatim_journal::Status;

use crate::plan;
use crate::proof;
use crate::seeds;
use crate::world::Life;
use crate::world::ROOT;
use crate::world::World;

#[test]
fn a_run_that_is_cancelled_at_any_moment_ends_once_and_for_all() {
    seeds::each("a_run_that_is_cancelled_at_any_moment_ends_once_and_for_all", 150, |seed| {
        let mut rng = Rng::of(seed, &["plan"]);
        let count = 1 + rng.index(2);
        let plan = (0..count).map(|number| plan::process(&mut rng, number)).collect();
        let mut world = World::new(seed, 30, plan);
        world.live_on(
            |world, number| {
                let rng = &mut world.rng;
                let harm = number < 6;
                Life {
                    crash_after: (harm && rng.chance(60)).then(|| rng.below(400)),
                    power_cut: rng.chance(40),
                    attended: rng.chance(40),
                    interrupt_in_ms: None,
                    cancel_in_ms: rng.chance(70).then(|| (rng.index(count), rng.below(3_000))),
                    jumps: 0,
                }
            },
            |world, _| {
                if world.rng.chance(20) {
                    world.cancel(world.rng.clone().index(count));
                }
                proof::sound(world);
            },
        );
        proof::tidy(&world);
        (0..count).for_each(|index| ended_once(&world, index));
    });
}

fn ended_once(world: &World, index: usize) {
    let store = world.store();
    let info = world.info(&store, index).unwrap();
    let (mut notes, mut ends) = (0, 0);
    let count = |entry: seriatim_journal::EntryRef<'_>| {
        notes += usize::from(entry.kind == Kind::Note && entry.key == "!cancel");
        ends += usize::from(entry.kind == Kind::End);
    };
    store.load(info.id, count).unwrap();
    assert_eq!((notes, ends), (usize::from(info.status == Status::Cancelled), 1), "{info:?}");
    let history = History::read(&store, &info).unwrap();
    let facts = history.facts.iter().filter_map(|fact| serde_json::from_value::<Fact>(fact.data.clone()).ok());
    let finished = facts.filter(|fact| matches!(fact, Fact::Finished(_))).count();
    assert_eq!(finished, 1, "{info:?}");
    let instance = std::path::Path::new(ROOT).join(&world.plan[index].subject);
    let text = String::from_utf8(world.files.read(&instance, 1 << 20).unwrap().bytes).unwrap();
    assert_eq!(text.contains("status: CANCELLED"), info.status == Status::Cancelled, "{text}");
    assert!(text.contains("# Comments and order stay as they are."));
}
