//! The face: one binary, one file per command. It is a library so that a program with other dialects has the same face.

mod answers;
mod args;
mod aside;
mod assignments;
mod bench;
mod commands;
mod conditions;
mod conform;
mod error;
mod exit;
mod guard;
mod inside;
mod isolation;
mod progress;
mod prompt;
mod record;
mod render;
mod roadmaps;
mod session;
mod steps;
mod templates;
mod ui;
mod workers;
mod workspace;

use std::process::ExitCode;

use seriatim_flows::registry::Registry;

/// Does what the command line says, with these dialects.
pub fn main_with(registry: &'static Registry) -> ExitCode {
    // The supervisor of an agent is this same binary. It must be small and quick, so nothing else comes first.
    if std::env::args_os().nth(1).is_some_and(|a| a == seriatim_engine::SUPERVISE) {
        return ExitCode::from(seriatim_engine::supervise());
    }
    if std::env::args_os().nth(1).is_some_and(|a| a == seriatim_engine::inside::CLAIM) {
        return inside::carry_out(registry);
    }
    // Inside a world nothing else is of use: the engine decides. Everywhere else this is a look at one variable.
    if let Some(code) = inside::forward(registry) {
        return code;
    }
    if std::env::args_os().nth(1).is_some_and(|a| a == "hook")
        && let Some(code) = commands::hook::fast(std::env::args_os().skip(2))
    {
        return code;
    }
    args::run(registry, std::env::args_os().skip(1), inside::Caller::of_process()).into()
}
