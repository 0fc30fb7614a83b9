//! Entries: what a run's journal consists of.

use std::fmt;

use seriatim_core::hash::Hash;
use seriatim_core::time::Utc;

use crate::door::Clean;

/// What sort of entry it is. The numbers are stored and covered by the chain: they never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// The run began, with what it was given.
    Start = 0,
    /// A request is about to be performed.
    Intent = 1,
    /// What became of a request.
    Outcome = 2,
    /// Something that the flow recorded.
    Fact = 3,
    /// A mark of the engine's own, never seen by flows: resumed, taken over, erased.
    Note = 4,
    /// The run is over.
    End = 5,
}

impl Kind {
    const ALL: [Kind; 6] = [Kind::Start, Kind::Intent, Kind::Outcome, Kind::Fact, Kind::Note, Kind::End];

    /// The byte that is stored.
    pub fn byte(self) -> u8 {
        self as u8
    }

    /// The kind that is stored as `byte`.
    pub fn from_byte(byte: u8) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.byte() == byte)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Start => "start",
            Kind::Intent => "intent",
            Kind::Outcome => "outcome",
            Kind::Fact => "fact",
            Kind::Note => "note",
            Kind::End => "end",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An entry that is to be appended.
#[derive(Clone, Debug)]
pub struct NewEntry {
    pub kind: Kind,
    /// The key of the request it belongs to, or empty. Keys are made by flows and stored as they are.
    pub key: String,
    /// The hash of the request it belongs to, or zero.
    pub request: Hash,
    pub at: Utc,
    pub body: Clean,
}

/// An entry as it stands in the store, borrowed from the row that is being read.
#[derive(Clone, Copy, Debug)]
pub struct EntryRef<'a> {
    pub seq: u64,
    pub kind: Kind,
    pub key: &'a str,
    pub at: Utc,
    pub request: Hash,
    pub hash: Hash,
    pub body_hash: Hash,
    /// Nothing when the body was erased.
    pub body: Option<&'a [u8]>,
}
