//! A program with a sixth dialect, which only the tests have: one room in `core`, one in `flows`, and one line here.

mod core;
mod flows;

use std::process::ExitCode;

use seriatim_flows::registry::Registry;

static REGISTRY: Registry = Registry::new(&[
    &seriatim_flows::process::DIALECT,
    &seriatim_flows::cycle::DIALECT,
    &seriatim_flows::roadmap::DIALECT,
    &seriatim_flows::action::DIALECT,
    &seriatim_flows::guard::DIALECT,
    &flows::DIALECT,
]);

fn main() -> ExitCode {
    seriatim::main_with(&REGISTRY)
}
