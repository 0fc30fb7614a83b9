//! Two engines on one store: one has the run, the other is told who has it; one that lost it cannot write any more.

use std::cell::RefCell;
use std::rc::Rc;

use seriatim_engine::drive::Driver;
use seriatim_engine::drive::Left;
use seriatim_engine::hands::clock::Clock;
use seriatim_engine::hands::paths::Workspace;
use seriatim_engine::sim::Rng;
use seriatim_journal::Held;
use seriatim_journal::Holder;

use crate::dialects::DIALECTS;
use crate::dialects::Dialect;
use crate::people::Onlooker;
use crate::proof;
use crate::seeds;
use crate::world::Life;
use crate::world::ROOT;
use crate::world::World;

fn world(seed: u64, dialect: &Dialect) -> World {
    World::new(seed, 20, (dialect.large)(&mut Rng::of(seed, &["plan"])))
}

#[test]
fn of_two_engines_one_has_the_run_and_a_fenced_one_writes_nothing() {
    seeds::each("of_two_engines_one_has_the_run_and_a_fenced_one_writes_nothing", 2, |seed| {
        DIALECTS.iter().for_each(|dialect| one_has_the_run(seed, dialect));
    });
}

fn one_has_the_run(seed: u64, dialect: &Dialect) {
    let mut unharmed = world(seed, dialect);
    unharmed.live_on(|_, _| Life::default(), |_, _| {});

    let mut world = world(seed, dialect);
    let mut schedule = world.schedule();
    let takes_over_in_ms = world.rng.below(2_500);
    let mut first = world.store();
    let holder = Holder::register(&first, "the first", world.clock.now()).unwrap();
    let holder = Rc::new(RefCell::new(Some(holder)));
    let leases = world.leases(&mut first, holder.borrow().as_ref().unwrap());
    let run = leases[0].1.id;

    let mut second = world.store();
    let other = Holder::register(&second, "the second", world.clock.now()).unwrap();
    let refused = second.acquire(&[run], &other, world.clock.now()).unwrap().remove(0);
    assert!(matches!(refused, Err(Held::By(by)) if by.command == "the first"));

    // The first is taken for dead while it still works: its lock is gone, its store is not.
    let taken = Rc::new(RefCell::new(None));
    let (clock, theirs, taking) = (world.clock.clone(), holder.clone(), taken.clone());
    schedule.meanwhile(takes_over_in_ms, move || {
        theirs.borrow_mut().take();
        let lease = second.acquire(&[run], &other, clock.now()).unwrap().remove(0).unwrap();
        *taking.borrow_mut() = Some((lease, second.tip(run).unwrap(), other));
    });
    let mut onlooker =
        Onlooker { seed, fate: world.fate.clone(), attended: true, answered: Default::default() };
    let mut driver = Driver::new(
        &mut first,
        &mut schedule,
        &mut onlooker,
        world.config.clone(),
        world.files.clone(),
        Workspace::simulated(ROOT),
    );
    for (lease, info) in leases {
        driver.take_up(lease, &info).unwrap();
    }
    let outcome = driver.drive().unwrap().remove(0);
    drop(schedule);
    let taken = taken.borrow_mut().take();
    match &taken {
        // It was done before anybody thought it dead.
        None => assert!(matches!(outcome.left, Left::Ended(_)), "{outcome:?}"),
        Some((lease, tip, _)) => {
            let Left::Fenced(by) = &outcome.left else { panic!("{outcome:?}") };
            assert_eq!(by.as_ref().map(|by| by.command.as_str()), Some("the second"));
            assert_eq!(first.tip(run).unwrap(), *tip, "a fenced engine wrote");
            assert_eq!(lease.token, 2);
        }
    }
    // Both are dead now.
    drop((first, holder, taken));
    proof::sound(&world);
    finish(world, &unharmed);
}

/// Whoever comes next brings it to its end, as if nothing had been.
fn finish(mut world: World, unharmed: &World) {
    world.files.outlive();
    world.live_on(|_, _| Life::default(), |_, _| {});
    proof::sound(&world);
    proof::tidy(&world);
    proof::every_attempt_is_on_record(&world);
    proof::ends(&world).assert_same(&proof::ends(unharmed), &world);
}
