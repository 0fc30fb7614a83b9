//! Which seeds are tried, and what is said about one that fails.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::panic::catch_unwind;

/// Tries a property on `count` seeds, or on those that the environment names.
pub(crate) fn each(test: &str, count: u64, property: impl Fn(u64)) {
    counted(test, count, |seed| {
        property(seed);
        0
    });
}

/// The same for a property that tells how many points it tried; how many seeds and points there were.
pub(crate) fn counted(test: &str, count: u64, property: impl Fn(u64) -> u64) -> (usize, u64) {
    let mut points = 0;
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let seeds: Vec<u64> = match (number("SERIATIM_SEED"), number("SERIATIM_SEEDS")) {
        (Some(seed), _) => vec![seed],
        (None, count_wanted) => (0..count_wanted.unwrap_or(count)).collect(),
    };
    for seed in &seeds {
        match catch_unwind(AssertUnwindSafe(|| property(*seed))) {
            Ok(tried) => points += tried,
            Err(payload) => {
                let why = words(payload.as_ref());
                panic!(
                    "seed {seed} fails: {why}\nrepeat it with:  \
                     SERIATIM_SEED={seed} cargo test -p seriatim-engine --test sim {test}"
                );
            }
        }
    }
    (seeds.len(), points)
}

/// The points that are tried: all of them, or the one that `SERIATIM_POINT` names, or those from it on (`17-`).
pub(crate) fn points(count: u64) -> std::ops::Range<u64> {
    let Ok(named) = std::env::var("SERIATIM_POINT") else { return 0..count };
    match named.strip_suffix('-') {
        Some(from) => from.parse().unwrap()..count,
        None => {
            let point = named.parse().unwrap();
            point..point + 1
        }
    }
}

fn words(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("it gave no reason")
}
