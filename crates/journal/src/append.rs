//! Appending: one transaction for any number of runs, one durable write for all of them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use rusqlite::Statement;
use rusqlite::params;
use seriatim_core::chain;
use seriatim_core::chain::Header;
use seriatim_core::hash::Hash;

use crate::calls;
use crate::calls::OpenCall;
use crate::door::Door;
use crate::entry::Kind;
use crate::entry::NewEntry;
use crate::error::At;
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

/// Where the runs stand that this process is writing, so that they need not be read again for every append.
///
/// What is kept here is what stands in the store: it is thrown away when another connection has written, when this
/// one does anything but append, and when a commit fails.
#[derive(Default)]
pub(crate) struct Standings {
    /// The state of the database that they were read from.
    version: i64,
    runs: BTreeMap<RunRef, Standing>,
    /// How many entries this process has seen in each run. A store with fewer is an older one that was put in its
    /// place.
    seen: BTreeMap<RunRef, u64>,
}

struct Standing {
    row: RunRow,
    tip: Tip,
}

impl Standings {
    /// The state of the database that they were read from; zero when they were not.
    pub(crate) fn version(&self) -> i64 {
        self.version
    }

    /// Forgets where the runs are, but not how far they were.
    pub(crate) fn forget(&mut self) {
        self.version = 0;
        self.runs.clear();
    }

    /// Within a transaction: forgets everything if anybody else has written since.
    fn refresh(&mut self, session: &Session<'_>) -> Result<(), Error> {
        let version = session.one("PRAGMA data_version", [], |row| row.get(0))?;
        if std::mem::replace(&mut self.version, version) != version {
            self.runs.clear();
        }
        Ok(())
    }

    fn of(&mut self, session: &Session<'_>, run: RunRef) -> Result<Result<&mut Standing, Flaw>, Error> {
        match self.runs.entry(run) {
            Entry::Occupied(known) => Ok(Ok(known.into_mut())),
            Entry::Vacant(place) => {
                let row = match RunRow::read(session, run)? {
                    Ok(row) => row,
                    Err(flaw) => return Ok(Err(flaw)),
                };
                let tip = Tip::read(session, run)?;
                if self.seen.get(&run).is_some_and(|seen| *seen > tip.entries) {
                    return Err(Error::Lost { path: session.path.to_owned() });
                }
                Ok(row.agrees_with(&tip).map(|()| place.insert(Standing { row, tip })))
            }
        }
    }
}

impl Store {
    /// Makes all of `batch` durable at once. A run whose lease has passed on is left out and reported; the
    /// others are written.
    pub fn commit(&mut self, batch: &[Append]) -> Result<Vec<Committed>, Error> {
        let door = self.door().clone();
        let mut standings = std::mem::take(&mut self.standings);
        let committed = self.write(|session| {
            standings.refresh(session)?;
            let mut insert = session.conn.prepare_cached(INSERT).at(session.path)?;
            let write = |append| append_one(session, &door, &mut insert, &mut standings, append);
            batch.iter().map(write).collect()
        })?;
        // Only now: of a transaction that failed nothing stands.
        self.standings = standings;
        Ok(committed)
    }

    /// The files that were last written for `run`, with the hashes of their contents.
    pub fn projections(&self, run: RunRef) -> Result<Vec<(String, Hash)>, Error> {
        self.session().all("SELECT path, hash FROM projection WHERE run = ?1 ORDER BY path", [run.0], |row| {
            Ok((row.get(0)?, row.get::<_, Blob32>(1)?.0))
        })
    }
}

fn append_one(
    session: &Session<'_>,
    door: &Door,
    insert: &mut Statement<'_>,
    standings: &mut Standings,
    append: &Append,
) -> Result<Committed, Error> {
    let Standing { row, tip } = match standings.of(session, append.run)? {
        Ok(standing) => standing,
        Err(flaw) => return Ok(Committed::Broken { flaw }),
    };
    // Tokens are given out once per lease, and a lease that was given back has no holder.
    if row.token != append.token || row.holder.is_none() {
        let holder = row.holder_info();
        standings.runs.remove(&append.run);
        return Ok(Committed::Fenced { holder });
    }
    let first = tip.entries;
    insert_entries(session, insert, row, tip, &append.entries)?;
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
    change_standing(session, door, append, row, tip)?;
    let done = Done { entries: tip.entries, head: tip.head, opened };
    standings.seen.insert(append.run, done.entries);
    if append.release {
        standings.runs.remove(&append.run);
    }
    Ok(Committed::Done(done))
}

/// Writes the run's row, if there is anything to write.
fn change_standing(
    session: &Session<'_>,
    door: &Door,
    append: &Append,
    row: &mut RunRow,
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
    let identity = ledger::identity_of_row(session, row)?;
    ledger::add(session, &row.name, tip, what, row.updated, identity)
}

const INSERT: &str = "INSERT INTO entry(id, kind, at, key, request, hash, body_hash, body)
    VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";

/// Adds `entries` to the chain of the run of `row` and moves its tip.
pub(crate) fn add_entries(
    session: &Session<'_>,
    row: &RunRow,
    tip: &mut Tip,
    entries: &[NewEntry],
) -> Result<(), Error> {
    let mut insert = session.conn.prepare_cached(INSERT).at(session.path)?;
    insert_entries(session, &mut insert, row, tip, entries)
}

fn insert_entries(
    session: &Session<'_>,
    insert: &mut Statement<'_>,
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
        insert
            .execute(params![
                row.id.entry_id(tip.entries),
                entry.kind.byte(),
                entry.at.0,
                entry.key,
                (entry.request != Hash::ZERO).then_some(Blob32(entry.request)),
                Blob32(hash),
                Blob32(body_hash),
                body
            ])
            .at(session.path)?;
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
