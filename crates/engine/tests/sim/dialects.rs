//! Every dialect with a crash at every point, and what the long set says about it.

use std::time::Instant;

use seriatim_engine::sim::Rng;

use crate::crashes::does_the_same_work;
use crate::crashes::ends_as_without_crashes;
use crate::crashes::survives_every_point;
use crate::plan;
use crate::plan::Planned;
use crate::plan_action;
use crate::plan_cycle;
use crate::plan_roadmap;
use crate::seeds;

/// A dialect, with a small plan and a large one for each seed.
pub(crate) struct Dialect {
    pub(crate) name: &'static str,
    small: fn(&mut Rng) -> Vec<Planned>,
    pub(crate) large: fn(&mut Rng) -> Vec<Planned>,
}

pub(crate) const DIALECTS: [Dialect; 4] = [
    Dialect {
        name: "process",
        small: |rng| vec![plan::small_process(rng)],
        large: |rng| vec![plan::process(rng, 0)],
    },
    Dialect {
        name: "cycle",
        small: |rng| vec![plan_cycle::cycle(rng, 0, 0)],
        large: |rng| vec![plan_cycle::cycle(rng, 0, 25)],
    },
    Dialect {
        name: "action",
        small: |rng| vec![plan_action::action(rng, 0, 0, false)],
        large: |rng| vec![plan_action::action(rng, 0, 20, true)],
    },
    Dialect {
        name: "roadmap",
        small: |rng| vec![plan_roadmap::roadmap(rng, 0, 0, 1, 1)],
        large: |rng| vec![plan_roadmap::roadmap(rng, 0, 20, 2, 1)],
    },
];

fn dialect(name: &str) -> &'static Dialect {
    DIALECTS.iter().find(|dialect| dialect.name == name).unwrap()
}

/// The line that people read.
fn tell(name: &str, seeds: usize, points: u64) {
    println!("simulation: {name:<12} {seeds:>5} seeds  {points:>9} crash points  0 differences");
}

/// Dies once at each single point of a small plan.
fn at_every_point(test: &str, name: &str) {
    let dialect = dialect(name);
    let (seeds, points) = seeds::counted(test, 1, |seed| {
        let plan = (dialect.small)(&mut Rng::of(seed, &["plan"]));
        survives_every_point(seed, 0, &plan)
    });
    tell(name, seeds, points);
}

/// Dies anywhere, several times in a row, while much else goes wrong.
fn anywhere(test: &str, name: &str, count: u64) {
    let dialect = dialect(name);
    let (seeds, points) = seeds::counted(test, count, |seed| {
        let plan = (dialect.large)(&mut Rng::of(seed, &["plan"]));
        ends_as_without_crashes(seed, &plan)
    });
    tell(name, seeds, points);
}

#[test]
fn e_86_a_process_survives_a_crash_at_every_single_point() {
    at_every_point("e_86_a_process_survives_a_crash_at_every_single_point", "process");
}

#[test]
fn e_86_a_cycle_survives_a_crash_at_every_single_point() {
    at_every_point("e_86_a_cycle_survives_a_crash_at_every_single_point", "cycle");
}

#[test]
fn e_86_an_action_survives_a_crash_at_every_single_point() {
    at_every_point("e_86_an_action_survives_a_crash_at_every_single_point", "action");
}

#[test]
fn e_86_a_roadmap_survives_a_crash_at_every_single_point() {
    at_every_point("e_86_a_roadmap_survives_a_crash_at_every_single_point", "roadmap");
}

#[test]
fn e_86_with_crashes_anywhere_a_roadmap_ends_as_without() {
    anywhere("e_86_with_crashes_anywhere_a_roadmap_ends_as_without", "roadmap", 4);
}

/// Steps side by side come home in the order in which they are done, so that the history may be another one.
#[test]
fn e_86_steps_side_by_side_are_all_done_once_whenever_the_engine_dies() {
    let test = "e_86_steps_side_by_side_are_all_done_once_whenever_the_engine_dies";
    let (seeds, points) = seeds::counted(test, 2, |seed| {
        let plan = vec![plan_roadmap::roadmap(&mut Rng::of(seed, &["plan"]), 0, 0, 3, 2)];
        does_the_same_work(seed, &plan, 6)
    });
    tell("side by side", seeds, points);
}

#[test]
fn e_86_with_crashes_anywhere_a_process_ends_as_without() {
    anywhere("e_86_with_crashes_anywhere_a_process_ends_as_without", "process", 4);
}

#[test]
fn e_86_with_crashes_anywhere_a_cycle_ends_as_without() {
    anywhere("e_86_with_crashes_anywhere_a_cycle_ends_as_without", "cycle", 4);
}

#[test]
fn e_86_with_crashes_anywhere_an_action_ends_as_without() {
    anywhere("e_86_with_crashes_anywhere_an_action_ends_as_without", "action", 4);
}

/// The long set: for every seed each single point of the small plan and of the large one, and crashes anywhere.
/// `SERIATIM_SEEDS` says how many seeds, and `SERIATIM_DIALECT` names one dialect alone.
#[test]
#[ignore = "takes long; run it with --ignored --nocapture"]
fn long() {
    let only = std::env::var("SERIATIM_DIALECT").ok();
    for dialect in DIALECTS.iter().filter(|dialect| only.as_deref().is_none_or(|only| only == dialect.name)) {
        let began = Instant::now();
        let (seeds, points) = seeds::counted("long -- --ignored --nocapture", 20, |seed| {
            let small = (dialect.small)(&mut Rng::of(seed, &["plan"]));
            let large = (dialect.large)(&mut Rng::of(seed, &["plan"]));
            survives_every_point(seed, 0, &small)
                + survives_every_point(seed, 30, &large)
                + ends_as_without_crashes(seed, &large)
        });
        tell(dialect.name, seeds, points);
        println!("            {} s", began.elapsed().as_secs());
    }
}
