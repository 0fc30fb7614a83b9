//! The folder in which the suite lays its workspaces out; it goes again unless it is to be kept.

use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;

use signal_hook::consts::SIGHUP;
use signal_hook::consts::SIGINT;
use signal_hook::consts::SIGTERM;

use crate::error::CommandError;
use crate::error::Result;

/// How many names are tried before the folder for temporary files counts as unusable.
const NAMES_TRIED: u32 = 1_000;

/// A folder of this process alone.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) dir: PathBuf,
    keep: bool,
    interrupted: Arc<AtomicBool>,
}

impl Place {
    /// Makes the folder. From now on Ctrl-C only asks: whoever waits here looks and stops.
    pub(crate) fn make(base: &Path, keep: bool) -> Result<Place> {
        let unusable =
            |e: std::io::Error| CommandError::usage(format!("{} cannot be used: {e}", base.display()));
        let base = base.canonicalize().map_err(unusable)?;
        let named = |n: u32| base.join(format!("seriatim-conform-{}-{n}", std::process::id()));
        let made = |dir: &PathBuf| std::fs::create_dir(dir).is_ok();
        let Some(dir) = (1..=NAMES_TRIED).map(named).find(made) else {
            return Err(CommandError::usage(format!("no folder can be made in {}", base.display())));
        };
        let place = Place { dir, keep, interrupted: Arc::new(AtomicBool::new(false)) };
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, place.interrupted.clone()).map_err(unusable)?;
        }
        Ok(place)
    }

    /// Whether somebody wants to stop.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.keep {
            // Best effort: what stays behind is in a folder that says what it is.
            let _ = std::fs::remove_dir_all(&self.dir);
        }
    }
}
