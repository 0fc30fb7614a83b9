//! Which isolation a process gets.

use seriatim_core::world::Isolation;

use super::copying;
use crate::hands::views::ViewError;
use crate::hands::world::NoWorld;

/// Returns the isolation that a process gets where worlds work or do not; without a wish the best that there is.
pub fn in_force(works: &Result<(), NoWorld>, wanted: Option<Isolation>) -> Result<Isolation, ViewError> {
    match (wanted, works) {
        (Some(Isolation::None), _) => Ok(Isolation::None),
        (Some(Isolation::Copy), _) => match copying::obstacle() {
            None => Ok(Isolation::Copy),
            Some(reason) => Err(ViewError::NoCopy { reason }),
        },
        (Some(Isolation::World) | None, Ok(())) => Ok(Isolation::World),
        (Some(Isolation::World), Err(world)) => Err(ViewError::NoWorld(world.clone())),
        (None, Err(world)) => match copying::obstacle() {
            None => Ok(Isolation::Copy),
            Some(copy) => Err(ViewError::NoIsolation { world: world.clone(), copy }),
        },
    }
}
