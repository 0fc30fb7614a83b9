//! Appending: one transaction for any number of runs, one durable write for all of them.

use rusqlite::params;
use seriatim_core::chain;
use seriatim_core::chain::Header;
use seriatim_core::hash::Hash;

use crate::calls;
use crate::calls::OpenCall;
use crate::door::Door;
use crate::entry::Kind;
use crate::entry::NewEntry;
use crate::error::Error;
use crate::flaw::Flaw;
use crate::holder::HolderInfo;
use crate::lease::Lease;
use crate::ledger;
use crate::ledger::What;
use crate::row::RunRow;
use crate::row::Tip;
use crate::run::RunRef;
use crate::run::Status;
use crate::seal::Sealer;
use crate::session::Blob32;
use crate::session::Session;
use crate::signals;
use crate::store::Store;

/// What one turn of a run adds to the journal.
#[derive(Clone, Debug)]
pub struct Append {
    pub run: RunRef,
    /// Of the lease by which the run is held.
    pub token: u64,
    pub entries: Vec<NewEntry>,
    /// The status from now on, and in words what the run waits for.
    pub status: Option<(Status, String)>,
    /// What waits for somebody outside from now on. An open call with the same key and digest stays as it is; with
    /// another digest it is closed and opened anew under another id.
    pub open: Vec<OpenCall>,
    /// Keys of calls that wait no longer. When the run ends, all of them are closed.
    pub close: Vec<String>,
    /// Signals that this append takes notice of.
    pub consumed: Vec<i64>,
    /// Files that were written for the run, with the hashes of their contents.
    pub projections: Vec<(String, Hash)>,
    /// Gives the lease back.
    pub release: bool,
}

impl Append {
    /// Adds nothing yet to the run that `lease` holds.
    pub fn to(lease: &Lease) -> Append {
        Append {
            run: lease.run,
            token: lease.token,
            entries: Vec::new(),
            status: None,
            open: Vec::new(),
            close: Vec::new(),
            consumed: Vec::new(),
            projections: Vec::new(),
            release: false,
        }
    }
}

/// What became of one append of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Committed {
    Done(Done),
    /// The lease has passed on: nothing was written for this run.
    Fenced {
        holder: Option<HolderInfo>,
    },
    /// The run is damaged: nothing was written for it.
    Broken {
        flaw: Flaw,
    },
}

/// Where a run stands after an append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    pub entries: u64,
    pub head: Hash,
    /// The ids of the calls in `Append::open`, in that order.
    pub opened: Vec<String>,
}

impl Store {
    /// Makes all of `batch` durable at once. A run whose lease has passed on is left out and reported; the
    /// others are written.
    pub fn commit(&mut self, batch: &[Append]) -> Result<Vec<Committed>, Error> {
        let door = self.door().clone();
        self.write(|session| batch.iter().map(|append| append_one(session, &door, append)).collect())
    }

    /// The files that were last written for `run`, with the hashes of their contents.
    pub fn projections(&self, run: RunRef) -> Result<Vec<(String, Hash)>, Error> {
        self.session().all("SELECT path, hash FROM projection WHERE run = ?1 ORDER BY path", [run.0], |row| {
            Ok((row.get(0)?, row.get::<_, Blob32>(1)?.0))
        })
    }
}

fn append_one(session: &Session<'_>, door: &Door, append: &Append) -> Result<Committed, Error> {
    let row = match RunRow::read(session, append.run)? {
        Ok(row) => row,
        Err(flaw) => return Ok(Committed::Broken { flaw }),
    };
    // Tokens are given out once per lease, and a lease that was given back has no holder.
    if row.token != append.token || row.holder.is_none() {
        return Ok(Committed::Fenced { holder: row.holder_info() });
    }
    let mut tip = Tip::read(session, row.id)?;
    if let Err(flaw) = row.agrees_with(&tip) {
        return Ok(Committed::Broken { flaw });
    }
    let first = tip.entries;
    add_entries(session, &row, &mut tip, &append.entries)?;
    let now = tip.at.unwrap_or(row.updated);
    for key in &append.close {
        let answers = |entry: &NewEntry| entry.kind == Kind::Outcome && entry.key == *key;
        let outcome = append.entries.iter().position(answers).map(|at| first + at as u64);
        calls::close(session, row.id, key, now, outcome)?;
    }
    let open = append.open.iter().map(|call| calls::open(session, row.id, call, now));
    let opened = open.collect::<Result<Vec<_>, _>>()?;
    signals::consume(session, row.id, &append.consumed)?;
    for (path, hash) in &append.projections {
        store_projection(session, row.id, path, hash)?;
    }
    change_standing(session, door, append, row, &tip)?;
    Ok(Committed::Done(Done { entries: tip.entries, head: tip.head, opened }))
}

/// Writes the run's row, if there is anything to write.
fn change_standing(
    session: &Session<'_>,
    door: &Door,
    append: &Append,
    mut row: RunRow,
    tip: &Tip,
) -> Result<(), Error> {
    if append.status.is_none() && !append.release {
        return Ok(());
    }
    let before = row.status;
    if let Some((status, waiting_for)) = &append.status {
        row.status = *status;
        row.waiting_for = door.clean_text(waiting_for);
    }
    if append.release {
        row.holder = None;
    }
    row.store(session, tip, before)?;
    if before.is_finished() == row.status.is_finished() {
        return Ok(());
    }
    // The run ended, or goes on after its end: both are in the ledger, and what has ended waits for nobody.
    let what = if row.status.is_finished() { What::Ended } else { What::Reopened };
    if what == What::Ended {
        calls::close_all(session, row.id, row.updated)?;
    }
    let identity = ledger::identity_of_row(session, &row)?;
    ledger::add(session, &row.name, tip, what, row.updated, identity)
}

/// Adds `entries` to the chain of the run of `row` and moves its tip.
pub(crate) fn add_entries(
    session: &Session<'_>,
    row: &RunRow,
    tip: &mut Tip,
    entries: &[NewEntry],
) -> Result<(), Error> {
    for entry in entries {
        let body = entry.body.as_bytes();
        let body_hash = Hash::of(body);
        let header = Header {
            run: &row.name,
            seq: tip.entries,
            kind: entry.kind.byte(),
            at: entry.at.0,
            key: &entry.key,
            request: entry.request,
            body: body_hash,
        };
        let hash = chain::link(&tip.head, &header);
        session.execute(
            "INSERT INTO entry(id, kind, at, key, request, hash, body_hash, body)
                VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![
                row.id.entry_id(tip.entries),
                entry.kind.byte(),
                entry.at.0,
                entry.key,
                (entry.request != Hash::ZERO).then_some(Blob32(entry.request)),
                Blob32(hash),
                Blob32(body_hash),
                body
            ],
        )?;
        *tip = Tip { entries: tip.entries + 1, head: hash, at: Some(entry.at) };
    }
    Ok(())
}

/// The checksum of the record of one file.
pub(crate) fn projection_seal(run: RunRef, path: &str, hash: &Hash) -> [u8; 8] {
    Sealer::new("projection").number(run.0).text(path).hash(hash).seal()
}

fn store_projection(session: &Session<'_>, run: RunRef, path: &str, hash: &Hash) -> Result<(), Error> {
    session.execute(
        "INSERT INTO projection(run, path, hash, seal) VALUES(?1, ?2, ?3, ?4)
            ON CONFLICT(run, path) DO UPDATE SET hash = excluded.hash, seal = excluded.seal",
        params![run.0, path, Blob32(*hash), projection_seal(run, path, hash)],
    )?;
    Ok(())
}
