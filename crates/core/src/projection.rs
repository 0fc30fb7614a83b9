//! Projections: the files that the seeds name, computed from facts alone.
//!
//! A projection can be thrown away and made again at any time; what is on the disk is checked against it.

use serde_json::Value;

use crate::time::Utc;

/// A fact as the journal has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    pub at: Utc,
    pub data: Value,
}

/// A file as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Relative to the workspace.
    pub path: String,
    pub text: String,
}

/// Folds facts, in the order of the journal, into files.
pub trait Projector: Send {
    /// Takes the next fact. Facts that it does not know are none of its business.
    fn apply(&mut self, fact: &Fact);

    /// The files whose content changed since the last call, as they should be now.
    fn changed(&mut self) -> Vec<Image>;
}

/// For flows that have no files of their own.
#[derive(Debug, Default)]
pub struct NoFiles;

impl Projector for NoFiles {
    fn apply(&mut self, _fact: &Fact) {}

    fn changed(&mut self) -> Vec<Image> {
        vec![]
    }
}
