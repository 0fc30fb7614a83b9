//! The exploration: the programs of all dialects over the mailbox, with every hand doing well or badly, and the machine
//! of steps with every decision. What must hold is in [`properties`], what is known not to hold in [`known`].
//!
//! `cargo test -p seriatim-flows --test explore -- --nocapture` prints what was gone through. The long set, with one
//! deviation more, is chosen by `SERIATIM_EXPLORE=long`.

#[cfg(test)]
mod action;
#[cfg(test)]
mod cycle;
#[cfg(test)]
mod graph;
#[cfg(test)]
mod guard;
#[cfg(test)]
mod hands;
#[cfg(test)]
mod known;
#[cfg(test)]
mod ledger;
#[cfg(test)]
mod process;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod report;
#[cfg(test)]
mod roadmap;
#[cfg(test)]
mod search;

// The documents of the suite about processes.
#[cfg(test)]
#[expect(dead_code, reason = "the exploration uses a part of it")]
#[path = "../process/build.rs"]
mod build;
// The repository and the runner of tests of the suite about roadmaps.
#[cfg(test)]
#[expect(dead_code, reason = "the exploration uses a part of it")]
#[path = "../roadmap/repository.rs"]
mod repository;
#[cfg(test)]
#[path = "../roadmap/runner.rs"]
mod runner;
#[cfg(test)]
#[expect(dead_code, reason = "the repository answers in its form; the rest is for scripted runs")]
#[path = "../support/stage.rs"]
mod stage;

use report::Dialect;
use report::bounds;

#[test]
fn a_cycle_has_no_hole_beyond_the_known_ones() {
    let mut dialect = Dialect::new("cycle");
    dialect.explore("tests and lint", bounds(2), &|| Box::new(cycle::World::with(&["tests", "lint"])));
    dialect.explore("a smaller suite", bounds(1), &|| Box::new(cycle::World::with(&["tests"]).with_subset()));
    dialect.explore("no gates", bounds(1), &|| Box::new(cycle::World::with(&[])));
    let strict = "loop: {max_consecutive_insufficient: 1}\nagents: {judge: {required_checks: [linter]}}\n";
    dialect.explore("automation", bounds(1), &|| Box::new(cycle::World::with(&["tests"]).automated(strict)));
    dialect.close();
}

#[test]
fn a_roadmap_has_no_hole_beyond_the_known_ones() {
    let mut dialect = Dialect::new("roadmap");
    dialect.explore("tests", bounds(2), &|| Box::new(roadmap::World::with(&["tests"])));
    dialect.explore("no gates", bounds(1), &|| Box::new(roadmap::World::with(&[])));
    dialect.close();
}

/// A maker, a reviewer, a gate that measures and one at which a person decides.
const WHOLE: &str = "- backend-developer
- security
- {gate: quality, name: numbers, thresholds: {pass_rate_pct: 50}}
- {gate: approval, name: release}";

#[test]
fn an_action_has_no_hole_beyond_the_known_ones() {
    let mut dialect = Dialect::new("action");
    dialect.explore("all gates", bounds(2), &|| Box::new(action::World::with(WHOLE)));
    dialect.close();
}

#[test]
fn a_process_has_no_hole_beyond_the_known_ones() {
    let mut dialect = Dialect::new("process");
    dialect.explore("criteria", bounds(2), &|| Box::new(process::World::new()));
    dialect.close();
}

#[test]
fn a_step_under_guard_has_no_hole_beyond_the_known_ones() {
    let mut dialect = Dialect::new("guard");
    guard::explore(&mut dialect);
    dialect.close();
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test about files on disk, not a flow")]
fn no_test_file_is_forgotten() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/explore");
    let listed = include_str!("main.rs");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(module) = name.strip_suffix(".rs") else { continue };
        assert!(module == "main" || listed.contains(&format!("mod {module};")), "{name} is not listed");
    }
}
