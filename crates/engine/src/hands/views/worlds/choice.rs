//! Which isolation a process gets.

use std::path::Path;
use std::path::PathBuf;

use seriatim_core::world::Isolation;

use super::copying;
use crate::hands::home::repository_around;
use crate::hands::views::ViewError;
use crate::hands::world::NoWorld;
use crate::hands::world::WorldStep;
use crate::hands::world::mounts_below;

/// Returns whether a world can cover a place and its repository. What is mounted inside keeps it from that; the superuser
/// may share such folders.
pub fn coverable(place: &Path, share: &[PathBuf]) -> Result<(), NoWorld> {
    let repository = repository_around(place);
    let others = repository.into_iter().flat_map(|found| [found.top, found.common]);
    let is_root = rustix::process::geteuid().is_root();
    let is_shared = |point: &PathBuf| is_root && share.iter().any(|folder| point.starts_with(folder));
    for covered in [place.to_owned()].into_iter().chain(others) {
        if let Some(point) = mounts_below(&covered).into_iter().find(|point| !is_shared(point)) {
            let (step, reason) = (
                WorldStep::Overlay,
                format!("{} is a mount point inside of {}", point.display(), covered.display()),
            );
            let help = match is_root {
                true => "name it as `share` in [worlds] of seriatim.toml, or unmount it",
                false => "unmount it",
            };
            return Err(NoWorld { step, reason, help: help.to_owned() });
        }
    }
    Ok(())
}

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
