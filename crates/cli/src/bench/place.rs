//! Where the temporary stores are: made, named, and taken away again.

use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering;

use serde::Serialize;
use signal_hook::consts::SIGHUP;
use signal_hook::consts::SIGINT;
use signal_hook::consts::SIGTERM;

use crate::error::CommandError;
use crate::error::Result;

/// The disk that is measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Device {
    /// Where it is mounted.
    pub(crate) mount: String,
    pub(crate) device: String,
    pub(crate) filesystem: String,
}

/// A folder of this process alone; everything in it goes when this does.
#[derive(Debug)]
pub(crate) struct Place {
    dir: PathBuf,
    /// Folders that were not there before, the deepest first.
    made: Vec<PathBuf>,
    interrupted: Arc<AtomicBool>,
    next: AtomicU32,
}

impl Place {
    /// Makes the folder below `base`. From now on Ctrl-C only asks: whoever works here looks and stops.
    pub(crate) fn make(base: &Path) -> Result<Place> {
        let unusable =
            |e: std::io::Error| CommandError::usage(format!("{} cannot be used: {e}", base.display()));
        let base = std::path::absolute(base).map_err(unusable)?;
        let made = base.ancestors().take_while(|dir| !dir.exists()).map(Path::to_owned).collect();
        let dir = base.join(format!("bench-{}", std::process::id()));
        let interrupted = Arc::new(AtomicBool::new(false));
        let place = Place { dir, made, interrupted, next: AtomicU32::new(0) };
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, place.interrupted.clone()).map_err(unusable)?;
        }
        std::fs::create_dir_all(&place.dir).map_err(unusable)?;
        Ok(place)
    }

    /// A folder that nothing else is in. It is made by whoever uses it.
    pub(crate) fn fresh(&self, name: &str) -> PathBuf {
        self.dir.join(format!("{name}-{}", self.next.fetch_add(1, Ordering::Relaxed)))
    }

    /// Set when somebody wants to stop.
    pub(crate) fn interrupt(&self) -> Arc<AtomicBool> {
        self.interrupted.clone()
    }

    /// Ends the command when somebody wants to stop.
    pub(crate) fn go_on(&self) -> Result<()> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Err(CommandError::not_good("interrupted; the temporary stores are taken away"));
        }
        Ok(())
    }

    /// The disk below, as the kernel names it.
    pub(crate) fn device(&self) -> Device {
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let found = mounts.lines().filter_map(mount).filter(|d| self.dir.starts_with(&d.mount));
        // Of two mounts on the same folder the later one is seen.
        found.max_by_key(|d| d.mount.len()).unwrap_or_default()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Best effort: what stays behind is in a folder that says what it is.
        let _ = std::fs::remove_dir_all(&self.dir);
        for dir in &self.made {
            let _ = std::fs::remove_dir(dir);
        }
    }
}

/// One line of the kernel's table of mounts.
fn mount(line: &str) -> Option<Device> {
    let mut words = line.split(' ');
    let (device, mount, filesystem) = (words.next()?, words.next()?, words.next()?);
    Some(Device { mount: mount.to_owned(), device: device.to_owned(), filesystem: filesystem.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_was_made_goes_again() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().join(".seriatim").join("bench");
        let place = Place::make(&base).unwrap();
        let one = place.fresh("store");
        std::fs::create_dir_all(&one).unwrap();
        assert_ne!(one, place.fresh("store"));
        drop(place);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_was_there_before_stays() {
        let dir = tempfile::tempdir().unwrap();
        drop(Place::make(dir.path()).unwrap());
        assert!(dir.path().exists());
    }

    #[test]
    fn a_line_of_the_table_of_mounts() {
        let found = mount("/dev/vda / ext4 rw,relatime 0 0").unwrap();
        assert_eq!(
            (found.mount.as_str(), found.device.as_str(), found.filesystem.as_str()),
            ("/", "/dev/vda", "ext4")
        );
    }
}
