//! State files of a roadmap in the simulation.
//!
//! The book that they are kept in knows only the disk of this machine. Until it goes by the driver's own store and its
//! files, what a call reads is laid into a folder of this machine before it, and what it wrote is taken back into the
//! simulated files after it. The engine can die before and after a call, and not within.

use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use seriatim_flows::request::StateCall;

use super::fate::Fate;
use super::files::SimFiles;
use crate::hands::paths::Workspace;
use crate::hands::process::Watch;
use crate::job::Job;
use crate::perform::Hands;
use crate::perform::Stuck;
use crate::perform::perform;

/// A folder of this machine beside the simulated workspace.
pub struct SimRecords {
    pub files: Arc<SimFiles>,
    pub fate: Fate,
    /// The folder whose state folder has the journal of the simulated runs.
    pub folder: PathBuf,
}

impl SimRecords {
    pub(super) fn perform(
        &self,
        hands: &Hands,
        job: &Job,
        call: &StateCall,
        watch: &dyn Watch,
    ) -> Result<Vec<u8>, Stuck> {
        let path = match call {
            StateCall::Recall { path, .. } => path,
            StateCall::Save(save) => &save.path,
        };
        let beside = Path::new(path).parent().unwrap_or(Path::new(""));
        let stuck = |error: std::io::Error| Stuck(error.to_string());
        let there = self.folder.join(beside);
        let here = hands.workspace.root().join(beside);
        self.fate.pass("before a state file is saved");
        let _ = fs::remove_dir_all(&there);
        fs::create_dir_all(&there).map_err(stuck)?;
        for (name, blob) in self.files.below(&here).into_iter().filter(|(name, _)| !name.contains('/')) {
            fs::write(there.join(name), blob.bytes).map_err(stuck)?;
        }
        let real = Hands { workspace: Workspace::simulated(&self.folder), ..hands.clone() };
        let result = perform(&real, job, watch)?;
        for entry in fs::read_dir(&there).map_err(stuck)?.flatten() {
            let place = here.join(entry.file_name());
            let bytes = fs::read(entry.path()).map_err(stuck)?;
            self.files.put(&place, &bytes);
        }
        self.fate.pass("after a state file is saved");
        Ok(result)
    }
}
