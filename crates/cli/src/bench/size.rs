//! What does not grow: the cost of a step in a long run, and `status` with many runs.

use std::process::Command;
use std::process::Stdio;
use std::time::Instant;

use seriatim_core::redact::Redactor;
use seriatim_engine::home::PLAIN;
use seriatim_flows::rehearsal::Plan;

use super::Sizes;
use super::blocks::Rates;
use super::blocks::Yardstick;
use super::blocks::median;
use super::figures::Size;
use super::ground::Ground;
use super::place::Place;
use super::show::Show;
use super::works::one_after_the_other;
use super::works::warm_ground;
use crate::error::CommandError;
use crate::error::Result;

const SHORT_ENTRIES: u64 = 1_000;
const LONG_ENTRIES: u64 = 1_000_000;
const RUNS: u64 = 10_000;
const LOOKS: usize = 9;

pub(crate) fn size(place: &Place, redactor: &Redactor, sizes: Sizes, show: &mut Show) -> Result<Size> {
    show.now("size: warming the log of SQLite alone");
    let mut yardstick = Yardstick::new(place)?;
    let mut cost = |entries: u64| -> Result<f64> {
        show.now(&format!("size: the cost of a step after {entries} entries"));
        let mut ground = warm_ground(place, redactor)?;
        let mut rates = Rates::default();
        one_after_the_other(place, &mut ground, &mut yardstick, &mut rates, entries / 2, sizes.steps(2_000))?;
        ground.close()?;
        // In commits of SQLite alone, so that a change of the disk's mood between the two does not count.
        Ok(1.0 / rates.ratio())
    };
    let short = cost(SHORT_ENTRIES)?;
    let long = cost(LONG_ENTRIES)?;
    show.now("size: status with many runs");
    let runs = sizes.runs(RUNS);
    let status_s = status(place, redactor, runs)?;
    Ok(Size { entries: LONG_ENTRIES, cost_ratio: long / short, runs, status_s })
}

/// How long `seriatim status` takes, from process start to its end.
fn status(place: &Place, redactor: &Redactor, runs: u64) -> Result<f64> {
    let dir = place.fresh("many");
    let mut ground = Ground::open(&dir.join(PLAIN), redactor.clone())?;
    ground.begin(runs, &Plan { steps: 1, ask: false })?;
    ground.close()?;
    let failed =
        |e: std::io::Error| CommandError::not_good(format!("`seriatim status` could not be started: {e}"));
    let program = std::env::current_exe().map_err(failed)?;
    let mut seconds = vec![];
    for _ in 0..LOOKS {
        place.go_on()?;
        let since = Instant::now();
        let status = Command::new(&program)
            .arg("status")
            .arg("--workspace")
            .arg(&dir)
            .stdout(Stdio::null())
            .status()
            .map_err(failed)?;
        seconds.push(since.elapsed().as_secs_f64());
        if !status.success() {
            return Err(CommandError::not_good("`seriatim status` failed"));
        }
    }
    Ok(median(&seconds))
}
