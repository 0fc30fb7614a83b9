//! Reading: lists of runs, one run by its name, and a run's entries with the chain checked on the way.

use rusqlite::Row;
use rusqlite::params;
use seriatim_core::chain;
use seriatim_core::chain::Header;
use seriatim_core::hash::Hash;
use seriatim_core::time::Utc;

use crate::entry::EntryRef;
use crate::entry::Kind;
use crate::error::At;
use crate::error::Error;
use crate::flaw::Flaw;
use crate::flaw::Problem;
use crate::lease::Liveness;
use crate::row::RunRow;
use crate::row::Tip;
use crate::run::RunInfo;
use crate::run::RunRef;
use crate::run::Status;
use crate::session::Blob32;
use crate::session::Session;
use crate::store::Store;

/// How many runs are named when a prefix fits several.
const CANDIDATES_MAX: usize = 8;

const SELECT_RUNS: &str = "SELECT id, name, flow, flow_version, title, subject, status, waiting_for, started,
    updated, holder, COALESCE(NULLIF(workspace, ''), (SELECT origin FROM store)) FROM run";

/// The workspace of a run; one that names none belongs to the workspace in which the store was made.
pub(crate) const WORKSPACE: &str = "COALESCE(NULLIF(workspace, ''), (SELECT origin FROM store))";

/// The same of a parameter.
pub(crate) fn workspace_of(parameter: &str) -> String {
    format!("COALESCE(NULLIF({parameter}, ''), (SELECT origin FROM store))")
}

/// Which runs are wanted; by default all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    pub status: Option<Status>,
    pub flow: Option<String>,
    pub subject: Option<String>,
    /// Those of one workspace.
    pub workspace: Option<String>,
    pub limit: Option<u32>,
}

/// The runs that were found, newest first, and what could not be read on the way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    pub runs: Vec<RunInfo>,
    pub unreadable: Vec<Problem>,
}

impl Store {
    /// The runs of the store, newest first.
    pub fn runs(&self, filter: &Filter) -> Result<Listing, Error> {
        let sql = format!(
            "{SELECT_RUNS} WHERE (?1 IS NULL OR status = ?1) AND (?2 IS NULL OR flow = ?2)
                AND (?3 IS NULL OR subject = ?3) AND (?5 IS NULL OR {WORKSPACE} = {})
                ORDER BY id DESC LIMIT ?4",
            workspace_of("?5")
        );
        let mut statement = self.conn.prepare_cached(&sql).at(self.path())?;
        let limit = filter.limit.map_or(-1, i64::from);
        let mut rows = statement
            .query(params![
                filter.status.map(Status::byte),
                filter.flow,
                filter.subject,
                limit,
                filter.workspace
            ])
            .at(self.path())?;
        let mut liveness = Liveness::in_dir(self.dir());
        let mut listing = Listing::default();
        loop {
            match rows.next() {
                Ok(Some(row)) => match info(row, &mut liveness) {
                    Ok(run) => listing.runs.push(run),
                    Err(flaw) => listing.unreadable.push(Problem { run: name_of(row), seq: None, flaw }),
                },
                Ok(None) => return Ok(listing),
                // A damaged page ends the list, and what was read before it stands.
                Err(error) => {
                    let flaw = Flaw::Database { message: error.to_string() };
                    listing.unreadable.push(Problem::of_store(flaw));
                    return Ok(listing);
                }
            }
        }
    }

    /// The run that `prefix` names: by its whole name, or by any beginning that fits no other.
    pub fn find(&self, prefix: &str) -> Result<RunInfo, Error> {
        let session = self.session();
        let beyond = format!("{prefix}{}", char::MAX);
        let sql =
            format!("{SELECT_RUNS} WHERE name >= ?1 AND name < ?2 ORDER BY name LIMIT {CANDIDATES_MAX}");
        let mut liveness = Liveness::in_dir(self.dir());
        let mut found = session.all(&sql, [prefix, &beyond], |row| {
            let name = name_of(row).unwrap_or_default();
            Ok(info(row, &mut liveness).map_err(|flaw| Error::Broken { run: name, seq: 0, flaw }))
        })?;
        let whole = |run: &Result<RunInfo, Error>| run.as_ref().is_ok_and(|run| run.name == prefix);
        if prefix.is_empty() || found.is_empty() {
            return Err(Error::NoSuchRun { given: prefix.to_owned() });
        }
        if found.len() == 1 || found.first().is_some_and(whole) {
            return found.swap_remove(0);
        }
        let candidates = found.into_iter().flatten().map(|run| run.name).collect();
        Err(Error::AmbiguousRun { given: prefix.to_owned(), candidates })
    }

    /// What the store knows about `run`.
    pub fn run(&self, run: RunRef) -> Result<RunInfo, Error> {
        let sql = format!("{SELECT_RUNS} WHERE id = ?1");
        let mut liveness = Liveness::in_dir(self.dir());
        let given = || format!("row {}", run.0);
        self.session()
            .first(&sql, [run.0], |row| Ok(info(row, &mut liveness)))?
            .ok_or_else(|| Error::NoSuchRun { given: given() })?
            .map_err(|flaw| Error::Broken { run: given(), seq: 0, flaw })
    }

    /// Where the chain of `run` ends, without a look at what comes before.
    pub fn tip(&self, run: RunRef) -> Result<Tip, Error> {
        Tip::read(&self.session(), run)
    }

    /// Reads the entries of `run` in order and hands each to `each`, once the chain is proven up to it.
    pub fn load(&self, run: RunRef, mut each: impl FnMut(EntryRef<'_>)) -> Result<Tip, Error> {
        let session = self.session();
        // Row and entries have to be of the same moment: the holder may be writing.
        let moment = self.conn.unchecked_transaction().at(self.path())?;
        let row = RunRow::read(&session, run)?.map_err(|flaw| Error::Broken {
            run: format!("row {}", run.0),
            seq: 0,
            flaw,
        })?;
        let mut last = None;
        let mut walk = Walk::new(run, &row.name, Some(&row));
        let walked = walk.run(&session, &mut |entry| {
            last = Some(entry.at);
            each(entry);
        })?;
        drop(moment);
        let Walk { seq, head, .. } = walk;
        match walked {
            Ok(()) => Ok(Tip { entries: seq, head, at: last }),
            Err(flaw) => Err(Error::Broken { run: row.name, seq, flaw }),
        }
    }
}

fn name_of(row: &Row<'_>) -> Option<String> {
    let name = row.get_ref(1).ok()?.as_bytes().ok()?;
    Some(String::from_utf8_lossy(name).into_owned())
}

fn info(row: &Row<'_>, liveness: &mut Liveness<'_>) -> Result<RunInfo, Flaw> {
    let unreadable = |column| move |_| Flaw::Column { column };
    let status: i64 = row.get(6).map_err(unreadable("status"))?;
    let status = u8::try_from(status).ok().and_then(Status::from_byte).ok_or(Flaw::Status(status))?;
    let holder = row.get_ref(10).ok().and_then(|value| value.as_str_or_null().ok());
    let holder = holder.ok_or(Flaw::Column { column: "holder" })?;
    let holder = holder.and_then(|stored| liveness.living(stored));
    Ok(RunInfo {
        id: RunRef(row.get(0).map_err(unreadable("id"))?),
        name: row.get(1).map_err(unreadable("name"))?,
        flow: row.get(2).map_err(unreadable("flow"))?,
        flow_version: row.get(3).map_err(unreadable("flow_version"))?,
        title: row.get(4).map_err(unreadable("title"))?,
        subject: row.get(5).map_err(unreadable("subject"))?,
        status,
        waiting_for: row.get(7).map_err(unreadable("waiting_for"))?,
        started: Utc(row.get(8).map_err(unreadable("started"))?),
        updated: Utc(row.get(9).map_err(unreadable("updated"))?),
        workspace: row.get(11).map_err(unreadable("workspace"))?,
        interrupted: status == Status::Running && holder.is_none(),
        holder,
    })
}

/// A way along the chain of one run. `seq` and `head` tell how far it got.
pub(crate) struct Walk<'a> {
    run: RunRef,
    name: &'a str,
    /// What the chain must agree with; nothing when the row cannot be read.
    row: Option<&'a RunRow>,
    pub(crate) seq: u64,
    pub(crate) head: Hash,
}

impl Walk<'_> {
    pub(crate) fn new<'a>(run: RunRef, name: &'a str, row: Option<&'a RunRow>) -> Walk<'a> {
        Walk { run, name, row, seq: 0, head: Hash::ZERO }
    }

    /// Goes to the end, or to the first flaw, which is then at `seq`.
    pub(crate) fn run(
        &mut self,
        session: &Session<'_>,
        each: &mut dyn FnMut(EntryRef<'_>),
    ) -> Result<Result<(), Flaw>, Error> {
        let mut statement = session
            .conn
            .prepare_cached(
                "SELECT id, kind, at, key, request, hash, body_hash, body FROM entry
                    WHERE id BETWEEN ?1 AND ?2 ORDER BY id",
            )
            .at(session.path)?;
        let mut rows = statement.query(self.run.entry_ids()).at(session.path)?;
        loop {
            match rows.next() {
                Ok(Some(row)) => {
                    if let Err(flaw) = self.step(row, each) {
                        return Ok(Err(flaw));
                    }
                }
                Ok(None) => return Ok(self.arrive()),
                Err(error) => return Ok(Err(Flaw::Unreadable { message: error.to_string() })),
            }
        }
    }

    /// The row of the run must say what the entries say.
    fn arrive(&self) -> Result<(), Flaw> {
        let tip = Tip { entries: self.seq, head: self.head, at: None };
        self.row.map_or(Ok(()), |row| row.agrees_with(&tip))
    }

    fn step(&mut self, row: &Row<'_>, each: &mut dyn FnMut(EntryRef<'_>)) -> Result<(), Flaw> {
        let unreadable = |column| move |_| Flaw::Column { column };
        if row.get::<_, i64>(0).map_err(unreadable("id"))? != self.run.entry_id(self.seq) {
            return Err(Flaw::Gap);
        }
        if self.row.is_some_and(|row| row.entries == self.seq && row.head != self.head) {
            return Err(Flaw::Head);
        }
        let kind: i64 = row.get(1).map_err(unreadable("kind"))?;
        let at: i64 = row.get(2).map_err(unreadable("at"))?;
        let key = row
            .get_ref(3)
            .ok()
            .and_then(|value| value.as_str().ok())
            .ok_or(Flaw::Column { column: "key" })?;
        let request = row.get::<_, Option<Blob32>>(4).map_err(unreadable("request"))?;
        let hash = row.get::<_, Blob32>(5).map_err(unreadable("hash"))?.0;
        let body_hash = row.get::<_, Blob32>(6).map_err(unreadable("body_hash"))?.0;
        if request.as_ref().is_some_and(|request| request.0 == Hash::ZERO) {
            // The zero hash is never written out.
            return Err(Flaw::Hash);
        }
        let request = request.map_or(Hash::ZERO, |request| request.0);
        let byte = u8::try_from(kind).map_err(|_| Flaw::Kind(kind))?;
        let header = Header { run: self.name, seq: self.seq, kind: byte, at, key, request, body: body_hash };
        if chain::link(&self.head, &header) != hash {
            return Err(Flaw::Hash);
        }
        let kind = Kind::from_byte(byte).ok_or(Flaw::Kind(kind))?;
        let body = row.get_ref(7).ok().and_then(|value| value.as_blob_or_null().ok());
        let body = body.ok_or(Flaw::Column { column: "body" })?;
        if body.is_some_and(|body| Hash::of(body) != body_hash) {
            return Err(Flaw::Body);
        }
        each(EntryRef { seq: self.seq, kind, key, at: Utc(at), request, hash, body_hash, body });
        self.seq += 1;
        self.head = hash;
        Ok(())
    }
}
