//! What this machine can do, as ratios to its disk.
//!
//! Absolute numbers say more about a disk than about a program. So SQLite alone is measured on the same disk, in
//! blocks between those of the work: a disk whose mood changes spoils both alike.

mod blocks;
mod figures;
mod ground;
mod instant;
mod other;
mod place;
mod show;
mod size;
mod works;
mod worlds;

use seriatim_core::redact::Redactor;

use crate::error::Result;
use crate::ui::Ui;
use blocks::Yardstick;
use figures::Figures;
use show::Show;

pub(crate) use other::Part;
pub(crate) use other::play;
pub(crate) use place::Place;

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Work {
    /// SQLite alone: durable commits of one row, and bare syncs
    Limit,
    /// One run of 1,000 steps, each durable before the next one starts
    W1,
    /// 200 runs of 10 steps at once
    W2,
    /// Killed in the middle of 1,000 steps: from process start to the next durable step
    W3,
    /// 1,000 runs that wait for a person: room in the store, time to resume them all
    W4,
    /// 100 attempts of an agent that does nothing, in worlds and without; -m sets the files of the large workspace
    W5,
    /// A million entries in one run, and `status` with 10,000 runs
    Size,
}

impl Work {
    /// What is measured when nothing is said.
    pub(crate) const USUAL: [Work; 5] = [Work::Limit, Work::W1, Work::W2, Work::W3, Work::W4];
}

/// How much of it, where somebody said so.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sizes {
    pub(crate) n: Option<u64>,
    pub(crate) m: Option<u64>,
}

impl Sizes {
    fn steps(self, usual: u64) -> u64 {
        self.n.unwrap_or(usual)
    }

    fn runs(self, usual: u64) -> u64 {
        self.m.unwrap_or(usual)
    }
}

/// Measures `works`, one after the other.
pub(crate) fn measure(
    ui: &Ui,
    place: &Place,
    redactor: &Redactor,
    works: &[Work],
    sizes: Sizes,
) -> Result<Figures> {
    let mut show = Show::new(ui);
    let mut figures = Figures::at(place);
    let wanted = |work| works.contains(&work);
    if wanted(Work::Limit) || wanted(Work::W1) || wanted(Work::W2) {
        show.now("limit: warming the log of SQLite alone");
        let mut yardstick = Yardstick::new(place)?;
        if wanted(Work::Limit) {
            works::limit(&mut yardstick, sizes, &mut show)?;
        }
        if wanted(Work::W1) || wanted(Work::W2) {
            show.now("w1 and w2: warming the log of the engine");
            let mut ground = works::warm_ground(place, redactor)?;
            if wanted(Work::W1) {
                figures.w1 = Some(works::w1(place, &mut ground, &mut yardstick, sizes, &mut show)?);
            }
            if wanted(Work::W2) {
                figures.w2 = Some(works::w2(place, &mut ground, &mut yardstick, sizes, &mut show)?);
            }
            ground.close()?;
        }
        figures.limit = Some(yardstick.limit(place)?);
    }
    if wanted(Work::W3) {
        figures.w3 = Some(works::w3(place, sizes, &mut show)?);
    }
    if wanted(Work::W4) {
        figures.w4 = Some(works::w4(place, redactor, sizes, &mut show)?);
    }
    if wanted(Work::W5) {
        figures.w5 = Some(worlds::w5(place, redactor, sizes, &mut show)?);
    }
    if wanted(Work::Size) {
        figures.size = Some(size::size(place, redactor, sizes, &mut show)?);
    }
    show.clear();
    Ok(figures)
}
