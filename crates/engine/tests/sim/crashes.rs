//! The engine dies anywhere, any number of times, and every run ends as it would have without (E-86).

use seriatim_engine::drive::Left;
use seriatim_engine::hands::clock::Clock;
use seriatim_engine::sim::Rng;

use crate::plan;
use crate::plan::Planned;
use crate::proof;
use crate::proof::Ends;
use crate::seeds;
use crate::world::Life;
use crate::world::World;

/// Attempts that the engine's own end cuts off are tried again at most 25 times; worlds stay well below.
const CRASHES_MAX: usize = 8;

/// Far more than any of these worlds works, and less than somebody sets a clock back.
const HOUR_MS: u64 = 3_600_000;

fn several(seed: u64) -> Vec<Planned> {
    let mut rng = Rng::of(seed, &["plan"]);
    let count = 2 + rng.index(3);
    let mut plan: Vec<Planned> = (0..count).map(|number| plan::process(&mut rng, number)).collect();
    plan.push(plan::rehearsal(&mut rng, count));
    plan
}

/// The same world without any harm: how its runs end, and how many points it passes.
fn unharmed(seed: u64, mishaps: u64, plan: &[Planned]) -> (Ends, u64) {
    let mut world = World::new(seed, mishaps, plan.to_vec());
    world.live_on(|_, _| Life::default(), |_, lived| assert!(lived.is_ok()));
    proof::sound(&world);
    proof::tidy(&world);
    proof::every_attempt_is_on_record(&world);
    let ends = proof::ends(&world);
    assert_eq!(ends.incidents, [""; 0], "nobody died, so that every write was made");
    (ends, world.fate.passed())
}

/// A life that ends early more often than not, as long as the world has not seen enough of that.
fn harmed(world: &mut World, points: u64) -> Life {
    let enough = world.crashes.len() >= CRASHES_MAX;
    let rng = &mut world.rng;
    Life {
        crash_after: (!enough && rng.chance(80)).then(|| rng.below(points)),
        power_cut: rng.chance(40),
        attended: rng.chance(40),
        interrupt_in_ms: (!enough && rng.chance(10)).then(|| rng.below(1_000)),
        cancel_in_ms: None,
        jumps: if rng.chance(30) { 2 } else { 0 },
    }
}

/// Dies anywhere, several times, and must end as without. Returns how often it died.
pub(crate) fn ends_as_without_crashes(seed: u64, plan: &[Planned]) -> u64 {
    let (expected, points) = unharmed(seed, 30, plan);
    let mut world = World::new(seed, 30, plan.to_vec());
    world.live_on(
        |world, _| harmed(world, points),
        |world, lived| {
            for outcome in lived.iter().flatten() {
                let fine = matches!(outcome.left, Left::Ended(_) | Left::Parked | Left::Interrupted);
                assert!(fine, "{outcome:?} after {:?}", world.crashes);
            }
            proof::sound(world);
        },
    );
    proof::tidy(&world);
    proof::every_attempt_is_on_record(&world);
    proof::ends(&world).assert_same(&expected, &world);
    let took_ms = world.clock.monotonic_ms();
    assert!(
        took_ms < HOUR_MS,
        "E-88: clocks that are set back must not make anybody wait; it took {took_ms} ms"
    );
    world.crashes.len() as u64
}

/// Dies once at each point at which the engine can: around every commit, between a commit and its effects, between an
/// effect and its outcome, and in the middle of writing files. Returns how many points there are.
pub(crate) fn survives_every_point(seed: u64, mishaps: u64, plan: &[Planned]) -> u64 {
    let (expected, points) = unharmed(seed, mishaps, plan);
    for point in seeds::points(points) {
        let mut world = World::new(seed, mishaps, plan.to_vec());
        world.live_on(
            |world, number| Life {
                crash_after: (number == 0).then_some(point),
                power_cut: point % 2 == 1,
                ..Life { attended: world.crashes.is_empty(), ..Life::default() }
            },
            |_, _| {},
        );
        proof::sound(&world);
        proof::tidy(&world);
        proof::every_attempt_is_on_record(&world);
        proof::ends(&world).assert_same(&expected, &world);
    }
    points
}

/// Dies once at each of some points, and must have done the same work in whatever order.
pub(crate) fn does_the_same_work(seed: u64, plan: &[Planned], tries: u64) -> u64 {
    let mut unharmed = World::new(seed, 0, plan.to_vec());
    unharmed.live_on(|_, _| Life::default(), |_, lived| assert!(lived.is_ok()));
    let (expected, points) = (proof::work(&unharmed), unharmed.fate.passed());
    for number in 0..tries {
        let point = Rng::of(seed, &["point", &number.to_string()]).below(points);
        let mut world = World::new(seed, 0, plan.to_vec());
        let life = |_: &mut World, number| Life {
            crash_after: (number == 0).then_some(point),
            power_cut: point % 2 == 1,
            ..Life::default()
        };
        world.live_on(life, |_, _| {});
        proof::sound(&world);
        proof::tidy(&world);
        assert_eq!(proof::work(&world), expected, "after {:?}", world.crashes);
    }
    tries
}

#[test]
fn e_86_many_runs_at_once_end_as_without_crashes() {
    seeds::each("e_86_many_runs_at_once_end_as_without_crashes", 3, |seed| {
        ends_as_without_crashes(seed, &several(seed));
    });
}
