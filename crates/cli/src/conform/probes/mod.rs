//! The probes: what each lays out, what it does with it, and how its points are judged.

mod contract;
mod failing;
mod gates;
mod places;
mod side_by_side;

use std::io;

use seriatim_core::action::conformance::Judgement;
use seriatim_core::action::conformance::Probe;

use super::layout::Layout;
use super::trial::Trial;

/// Carries a probe out in its workspace.
pub(super) type Play = fn(&mut Trial<'_>) -> io::Result<Vec<Judgement>>;

/// The layout of a probe, and its course.
pub(super) fn of(probe: Probe) -> (&'static Layout, Play) {
    match probe {
        Probe::TransientAndPermanent => (&failing::BOTH_SORTS, failing::both_sorts),
        Probe::TransientForEver => (&failing::TRANSIENT, failing::transient),
        Probe::InvalidForEver => (&failing::INVALID, failing::invalid),
        Probe::MissingArtifact => (&failing::MISSING, failing::missing),
        Probe::OneOfThree => (&side_by_side::LAYOUT, side_by_side::one_of_three),
        Probe::RejectTwice => (&gates::REJECTED, gates::reject_twice),
        Probe::Critical => (&gates::CRITICAL, gates::critical),
        Probe::Gates => (&gates::EVERY_SORT, gates::every_sort),
        Probe::Rollback => (&places::ROLLBACK, places::roll_back),
        Probe::Locations => (&places::LOCATIONS, places::locations),
        Probe::Intent => (&contract::INTENT, contract::intent),
        Probe::Guides => (&contract::GUIDES, contract::guides),
        Probe::MissingInputs => (&contract::INPUTS, contract::missing_inputs),
    }
}
