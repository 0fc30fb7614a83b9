//! Blocks of work and blocks of bare SQLite, taken in turns.

use std::time::Instant;

use seriatim_journal::Error as JournalError;
use seriatim_journal::probe::Probe;

use super::figures::Limit;
use super::instant::Witness;
use super::place::Place;
use crate::error::Result;

/// Commits in one block of the yardstick, at most.
pub(crate) const COMMITS_MAX: u64 = 50;

/// Syncs by which the disk itself is measured.
const SYNCS: u64 = 100;

/// The rate of `count` things since `since`.
pub(crate) fn per_second(count: u64, since: Instant) -> f64 {
    count as f64 / since.elapsed().as_secs_f64().max(1e-9)
}

/// The middle of `values`, or zero when there are none.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => 0.0,
        len if len % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// SQLite alone, warm, on the same disk.
pub(crate) struct Yardstick {
    probe: Probe,
    /// Commits per second, by block.
    rates: Vec<f64>,
}

impl Yardstick {
    pub(crate) fn new(place: &Place) -> Result<Yardstick> {
        Ok(Yardstick { probe: Probe::warm(&place.fresh("limit"))?, rates: vec![] })
    }

    /// Takes one block of about as many commits as the work had steps; gives its rate.
    pub(crate) fn block(&mut self, steps: u64) -> std::result::Result<f64, JournalError> {
        let commits = steps.clamp(1, COMMITS_MAX);
        let since = Instant::now();
        self.probe.commits(commits)?;
        let rate = per_second(commits, since);
        self.rates.push(rate);
        Ok(rate)
    }

    /// What all blocks together say.
    pub(crate) fn limit(mut self, place: &Place) -> Result<Limit> {
        let mut syncs = vec![];
        for _ in 0..5 {
            place.go_on()?;
            let since = Instant::now();
            self.probe.syncs(SYNCS)?;
            syncs.push(per_second(SYNCS, since));
        }
        Ok(Limit { sqlite_full_per_s: median(&self.rates), fdatasync_per_s: median(&syncs) })
    }
}

/// Rates of the work and of the yardstick, block by block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rates {
    pub(crate) work: Vec<f64>,
    pub(crate) limit: Vec<f64>,
}

impl Rates {
    /// What share of the yardstick the work reached. The medians of many small blocks in turns are steadier than the
    /// shares of neighbouring ones: another process that syncs now and then falls in step with those.
    pub(crate) fn ratio(&self) -> f64 {
        median(&self.work) / median(&self.limit)
    }
}

/// Stops the work after each block of steps and takes one of the yardstick.
pub(crate) struct Interleaved<'a> {
    yardstick: &'a mut Yardstick,
    rates: &'a mut Rates,
    steps: u64,
    since: Option<Instant>,
    done: u64,
    /// What kept a block of the yardstick from being taken.
    pub(crate) trouble: Option<JournalError>,
}

impl<'a> Interleaved<'a> {
    /// Blocks of `steps` steps each.
    pub(crate) fn new(yardstick: &'a mut Yardstick, rates: &'a mut Rates, steps: u64) -> Interleaved<'a> {
        Interleaved { yardstick, rates, steps: steps.max(1), since: None, done: 0, trouble: None }
    }
}

impl Witness for Interleaved<'_> {
    fn begins(&mut self, _key: &str) {
        // The first step begins the first block; each later one tells that the step before it is durable.
        if let Some(since) = self.since {
            self.done += 1;
            if self.done < self.steps {
                return;
            }
            self.rates.work.push(per_second(self.steps, since));
            match self.yardstick.block(self.steps) {
                Ok(rate) => self.rates.limit.push(rate),
                Err(error) => self.trouble = Some(error),
            }
        }
        self.done = 0;
        self.since = Some(Instant::now());
    }
}

/// Notes when the first step began: what is made ready before it is none.
#[derive(Default)]
pub(crate) struct First {
    pub(crate) at: Option<Instant>,
}

impl Witness for First {
    fn begins(&mut self, _key: &str) {
        self.at.get_or_insert_with(Instant::now);
    }
}

/// Nobody looks.
pub(crate) struct Unseen;

impl Witness for Unseen {
    fn begins(&mut self, _key: &str) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle() {
        assert_eq!(median(&[]), 0.0);
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
    }

    #[test]
    fn a_disk_that_is_slow_now_and_then_does_not_change_the_ratio() {
        let rates =
            Rates { work: vec![80.0, 8.0, 80.0, 81.0, 79.0], limit: vec![100.0, 101.0, 10.0, 99.0, 100.0] };
        assert_eq!(rates.ratio(), 0.8);
    }
}
