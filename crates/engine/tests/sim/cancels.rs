//! Runs are cancelled at any moment, by another process: they end cancelled, and their epilogue is done once.

use seriatim_engine::hands::files::Files;
use seriatim_engine::sim::Rng;
use seriatim_journal::Kind;
use seriatim_journal::Status;

use crate::dialects::DIALECTS;
use crate::plan;
use crate::proof;
use crate::seeds;
use crate::world::Life;
use crate::world::ROOT;
use crate::world::World;

#[test]
fn a_run_that_is_cancelled_at_any_moment_ends_once_and_for_all() {
    seeds::each("a_run_that_is_cancelled_at_any_moment_ends_once_and_for_all", 10, |seed| {
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
        proof::every_attempt_has_an_outcome(&world);
        (0..count).for_each(|index| ended_once(&world, index));
    });
}

/// The end of a cancelled run is written once in every dialect, and every attempt has an outcome.
#[test]
fn a_run_of_any_dialect_that_is_cancelled_at_any_moment_ends_once() {
    seeds::each("a_run_of_any_dialect_that_is_cancelled_at_any_moment_ends_once", 2, |seed| {
        for dialect in &DIALECTS {
            let mut world = World::new(seed, 30, (dialect.large)(&mut Rng::of(seed, &["plan"])));
            world.live_on(
                |world, number| {
                    let rng = &mut world.rng;
                    Life {
                        crash_after: (number < 4 && rng.chance(60)).then(|| rng.below(400)),
                        power_cut: rng.chance(40),
                        attended: rng.chance(40),
                        cancel_in_ms: rng.chance(70).then(|| (0, rng.below(2_000))),
                        ..Life::default()
                    }
                },
                |world, _| proof::sound(world),
            );
            proof::tidy(&world);
            proof::every_attempt_has_an_outcome(&world);
            let store = world.store();
            let info = world.info(&store, 0).unwrap();
            let (mut notes, mut ends) = (0, 0);
            let count = |entry: seriatim_journal::EntryRef<'_>| {
                notes += usize::from(entry.kind == Kind::Note && entry.key == "!cancel");
                ends += usize::from(entry.kind == Kind::End);
            };
            store.load(info.id, count).unwrap();
            // A person may also have stopped it by an answer.
            assert!(ends == 1 && notes <= 1, "{}: {info:?}", dialect.name);
        }
    });
}

fn ended_once(world: &World, index: usize) {
    let store = world.store();
    let info = world.info(&store, index).unwrap();
    let (mut notes, mut ends, mut finished) = (0, 0, 0);
    store
        .load(info.id, |entry| {
            notes += usize::from(entry.kind == Kind::Note && entry.key == "!cancel");
            ends += usize::from(entry.kind == Kind::End);
            let words = String::from_utf8_lossy(entry.body.unwrap());
            let is_epilogue = entry.kind == Kind::Fact && entry.key.starts_with("!cancel/");
            finished += usize::from(is_epilogue && words.contains(r#""fact":"finished""#));
        })
        .unwrap();
    let cancelled = usize::from(info.status == Status::Cancelled);
    assert_eq!((notes, finished, ends), (cancelled, cancelled, 1), "{info:?}");
    let instance = std::path::Path::new(ROOT).join(&world.plan[index].subject);
    let text = String::from_utf8(world.files.read(&instance, 1 << 20).unwrap().bytes).unwrap();
    assert_eq!(text.contains("status: CANCELLED"), info.status == Status::Cancelled, "{text}");
    assert!(text.contains("# Comments and order stay as they are."));
}
