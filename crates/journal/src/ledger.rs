//! The ledger: one chain over the beginnings and endings of all runs.

use rusqlite::params;
use seriatim_core::chain;
use seriatim_core::chain::Header;
use seriatim_core::hash::Hash;
use seriatim_core::time::Utc;

use crate::error::Error;
use crate::row::RunRow;
use crate::row::Tip;
use crate::run::NewRun;
use crate::seal::Sealer;
use crate::session::Blob32;
use crate::session::Session;

/// What a line of the ledger tells. The numbers are stored and covered by the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum What {
    Begun = 0,
    Ended = 1,
    Reopened = 2,
}

/// One line, without the hash that closes it.
pub(crate) struct Line<'a> {
    pub(crate) n: u64,
    pub(crate) run: &'a str,
    pub(crate) what: u8,
    pub(crate) at: i64,
    pub(crate) entries: u64,
    pub(crate) head: Hash,
    pub(crate) identity: Hash,
}

impl Line<'_> {
    pub(crate) fn link(&self, previous: &Hash) -> Hash {
        let header = Header {
            run: self.run,
            seq: self.n,
            kind: self.what,
            at: self.at,
            key: &self.entries.to_string(),
            request: self.head,
            body: self.identity,
        };
        chain::link(previous, &header)
    }
}

/// What a run is, as far as that never changes.
pub(crate) fn identity(run: &NewRun, workspace: &str) -> Hash {
    let sealer = Sealer::new("identity")
        .text(&run.name)
        .text(&run.flow)
        .number(i64::from(run.flow_version))
        .text(&run.title)
        .text(&run.subject)
        .number(run.at.0);
    // Runs of a store that served one workspace alone name none.
    if workspace.is_empty() { sealer.digest() } else { sealer.text(workspace).digest() }
}

/// Adds a line about a run whose chain ends at `tip` now.
pub(crate) fn add(
    session: &Session<'_>,
    run: &str,
    tip: &Tip,
    what: What,
    at: Utc,
    identity: Hash,
) -> Result<(), Error> {
    let last = session.first("SELECT n, hash FROM ledger ORDER BY n DESC LIMIT 1", [], |row| {
        Ok((row.get::<_, u64>(0)?, row.get::<_, Blob32>(1)?.0))
    })?;
    let (n, previous) = last.map_or((1, Hash::ZERO), |(n, hash)| (n + 1, hash));
    let line = Line { n, run, what: what as u8, at: at.0, entries: tip.entries, head: tip.head, identity };
    session.execute(
        "INSERT INTO ledger(n, run, what, at, entries, head, identity, hash) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        params![
            n,
            run,
            line.what,
            at.0,
            tip.entries,
            Blob32(tip.head),
            Blob32(identity),
            Blob32(line.link(&previous))
        ],
    )?;
    Ok(())
}

/// The identity of a run as its row tells it now.
pub(crate) fn identity_of_row(session: &Session<'_>, row: &RunRow) -> Result<Hash, Error> {
    let (run, workspace) = session.one(
        "SELECT flow, flow_version, title, subject, started, workspace FROM run WHERE id = ?1",
        [row.id.0],
        |columns| {
            let run = NewRun {
                name: row.name.clone(),
                flow: columns.get(0)?,
                flow_version: columns.get(1)?,
                title: columns.get(2)?,
                subject: columns.get(3)?,
                at: Utc(columns.get(4)?),
            };
            Ok((run, columns.get::<_, String>(5)?))
        },
    )?;
    Ok(identity(&run, &workspace))
}
