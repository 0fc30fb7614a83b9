//! Runs: the row that says where each stands.

use std::fmt;

use seriatim_core::time::Utc;

use crate::holder::HolderInfo;

/// A run within its store: cheap to keep and to compare, without meaning outside of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunRef(pub(crate) i64);

impl RunRef {
    /// The id of the row of entry `seq`: the entries of a run stand together, in order.
    pub(crate) fn entry_id(self, seq: u64) -> i64 {
        (self.0 << 32) | (seq as i64 & 0xffff_ffff)
    }

    /// The ids that entries of this run can have.
    pub(crate) fn entry_ids(self) -> [i64; 2] {
        [self.entry_id(0), self.entry_id(0xffff_ffff)]
    }
}

/// Where a run stands. The numbers are stored: they never change, and the finished ones come last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Status {
    Running = 0,
    Waiting = 1,
    Suspended = 2,
    Completed = 3,
    Blocked = 4,
    Failed = 5,
    Cancelled = 6,
}

impl Status {
    pub const ALL: [Status; 7] = [
        Status::Running,
        Status::Waiting,
        Status::Suspended,
        Status::Completed,
        Status::Blocked,
        Status::Failed,
        Status::Cancelled,
    ];

    pub(crate) fn byte(self) -> u8 {
        self as u8
    }

    pub(crate) fn from_byte(byte: u8) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.byte() == byte)
    }

    /// Whether nothing more will happen in the run.
    pub fn is_finished(self) -> bool {
        self >= Status::Completed
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Status::Running => "running",
            Status::Waiting => "waiting",
            Status::Suspended => "suspended",
            Status::Completed => "completed",
            Status::Blocked => "blocked",
            Status::Failed => "failed",
            Status::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A run that is to be created.
#[derive(Clone, Debug)]
pub struct NewRun {
    /// The public id; the caller sees to it that it sorts by time.
    pub name: String,
    pub flow: String,
    pub flow_version: u32,
    pub title: String,
    /// What it works on, such as the path of an instance; empty for nothing. While a run is not finished,
    /// no other of the same flow can be created on the same subject.
    pub subject: String,
    pub at: Utc,
}

/// What the store knows about a run without reading its entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunInfo {
    pub id: RunRef,
    pub name: String,
    pub flow: String,
    pub flow_version: u32,
    pub title: String,
    pub subject: String,
    /// The workspace that it belongs to, as the store was told: `.`, a path from there, or an absolute one.
    pub workspace: String,
    pub status: Status,
    /// Whom or what it waits for, in words; empty unless it waits.
    pub waiting_for: String,
    pub started: Utc,
    /// When its status, what it waits for, or its holder last changed.
    pub updated: Utc,
    /// The living process that has the lease.
    pub holder: Option<HolderInfo>,
    /// Said to be running, but no living process has it.
    pub interrupted: bool,
}
