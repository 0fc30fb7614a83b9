//! Which seeds are tried, and what is said about one that fails.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::panic::catch_unwind;

/// Tries a property on `count` seeds, or on those that the environment names.
pub(crate) fn each(test: &str, count: u64, property: impl Fn(u64)) {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let seeds: Vec<u64> = match (number("SERIATIM_SEED"), number("SERIATIM_SEEDS")) {
        (Some(seed), _) => vec![seed],
        (None, count_wanted) => (0..count_wanted.unwrap_or(count)).collect(),
    };
    for seed in seeds {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| property(seed))) {
            let why = words(payload.as_ref());
            panic!(
                "seed {seed} fails: {why}\nrepeat it with:  \
                 SERIATIM_SEED={seed} cargo test -p seriatim-engine --test sim {test}"
            );
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
