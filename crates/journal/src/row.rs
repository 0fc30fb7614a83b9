//! The row of a run, and the tip of its chain: read within one transaction, never kept beyond it.
//!
//! The row changes when the run's standing does: its status, what it waits for, its lease. A plain append leaves it
//! alone, so that one page is written and not two; the tip of the chain is then the last entry.

use rusqlite::OptionalExtension;
use rusqlite::Row;
use rusqlite::params;
use seriatim_core::hash::Hash;
use seriatim_core::time::Utc;

use crate::error::At;
use crate::error::Error;
use crate::flaw::Flaw;
use crate::holder::HolderInfo;
use crate::run::NewRun;
use crate::run::RunRef;
use crate::run::Status;
use crate::seal::Seal;
use crate::seal::Sealer;
use crate::session::Blob32;
use crate::session::Session;

const SELECT: &str = "SELECT id, name, status, waiting_for, updated, entries, head, token, holder, seal
    FROM run WHERE id = ?1";

/// The part of a run's row that changes as the run goes on.
#[derive(Clone, Debug)]
pub(crate) struct RunRow {
    pub(crate) id: RunRef,
    pub(crate) name: String,
    pub(crate) status: Status,
    pub(crate) waiting_for: String,
    pub(crate) updated: Utc,
    /// How many entries there were when the standing last changed, and the hash of the last of them.
    pub(crate) entries: u64,
    pub(crate) head: Hash,
    pub(crate) token: u64,
    pub(crate) holder: Option<String>,
}

/// Where a run's chain ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tip {
    /// How many entries there are.
    pub entries: u64,
    /// The hash of the last.
    pub head: Hash,
    /// When it was written; nothing when there is none.
    pub at: Option<Utc>,
}

impl Tip {
    pub(crate) const NONE: Tip = Tip { entries: 0, head: Hash::ZERO, at: None };

    pub(crate) fn read(session: &Session<'_>, run: RunRef) -> Result<Tip, Error> {
        let last = session.first(
            "SELECT id & 0xffffffff, hash, at FROM entry WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC LIMIT 1",
            run.entry_ids(),
            |row| {
                Ok(Tip {
                    entries: row.get::<_, u64>(0)? + 1,
                    head: row.get::<_, Blob32>(1)?.0,
                    at: Some(Utc(row.get(2)?)),
                })
            },
        )?;
        Ok(last.unwrap_or(Tip::NONE))
    }
}

impl RunRow {
    /// Makes the row of a new run, without any entry yet. It is sealed when it is stored for the first time.
    pub(crate) fn insert(
        session: &Session<'_>,
        run: &NewRun,
        workspace: &str,
        status: Status,
        holder: Option<&str>,
    ) -> Result<RunRow, Error> {
        // The seal needs the row's number, which comes with the row.
        session.execute(
            "INSERT INTO run(name, flow, flow_version, title, subject, started, status, waiting_for, updated, entries,
                head, token, holder, seal, workspace) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, '', ?6, 0, x'', 0, NULL, x'', ?8)",
            params![
                run.name,
                run.flow,
                run.flow_version,
                run.title,
                run.subject,
                run.at.0,
                status.byte(),
                workspace
            ],
        )?;
        Ok(RunRow {
            id: RunRef(session.conn.last_insert_rowid()),
            name: run.name.clone(),
            status,
            waiting_for: String::new(),
            updated: run.at,
            entries: 0,
            head: Hash::ZERO,
            token: u64::from(holder.is_some()),
            holder: holder.map(str::to_owned),
        })
    }

    /// The row of `run`, or what is wrong with it.
    pub(crate) fn read(session: &Session<'_>, run: RunRef) -> Result<Result<RunRow, Flaw>, Error> {
        let found = session
            .conn
            .prepare_cached(SELECT)
            .and_then(|mut statement| statement.query_row([run.0], |row| Ok(RunRow::decode(row))).optional())
            .at(session.path)?;
        found.ok_or_else(|| Error::NoSuchRun { given: format!("row {}", run.0) })
    }

    /// Reads a row that was selected as above, and checks its seal.
    fn decode(row: &Row<'_>) -> Result<RunRow, Flaw> {
        let unreadable = |column| move |_| Flaw::Column { column };
        let status: i64 = row.get(2).map_err(unreadable("status"))?;
        let seal: Seal = row.get(9).map_err(unreadable("seal"))?;
        let decoded = RunRow {
            id: RunRef(row.get(0).map_err(unreadable("id"))?),
            name: row.get(1).map_err(unreadable("name"))?,
            status: u8::try_from(status).ok().and_then(Status::from_byte).ok_or(Flaw::Status(status))?,
            waiting_for: row.get(3).map_err(unreadable("waiting_for"))?,
            updated: Utc(row.get(4).map_err(unreadable("updated"))?),
            entries: row.get(5).map_err(unreadable("entries"))?,
            head: row.get::<_, Blob32>(6).map_err(unreadable("head"))?.0,
            token: row.get(7).map_err(unreadable("token"))?,
            holder: row.get(8).map_err(unreadable("holder"))?,
        };
        // A changed row is never sealed again by a later write: that would hide the change.
        if decoded.seal() == seal { Ok(decoded) } else { Err(Flaw::Row) }
    }

    fn seal(&self) -> Seal {
        Sealer::new("run")
            .number(self.id.0)
            .text(&self.name)
            .number(i64::from(self.status.byte()))
            .text(&self.waiting_for)
            .number(self.updated.0)
            .number(self.entries as i64)
            .hash(&self.head)
            .number(self.token as i64)
            .optional(self.holder.as_deref().map(str::as_bytes))
            .seal()
    }

    /// Writes the row back, with the chain as it is now. `before` is the status that stands there.
    pub(crate) fn store(&mut self, session: &Session<'_>, tip: &Tip, before: Status) -> Result<(), Error> {
        self.entries = tip.entries;
        self.head = tip.head;
        self.updated = self.updated.max(tip.at.unwrap_or_default());
        let RunRow { id, waiting_for, updated, entries, head, token, holder, .. } = &*self;
        let seal = self.seal();
        // The status is part of an index, which is only touched when it has to be: one page less to write.
        if before == self.status {
            session.execute(
                "UPDATE run SET waiting_for = ?2, updated = ?3, entries = ?4, head = ?5, token = ?6, holder = ?7,
                    seal = ?8 WHERE id = ?1",
                params![id.0, waiting_for, updated.0, entries, Blob32(*head), token, holder, seal],
            )?;
        } else {
            session.execute(
                "UPDATE run SET waiting_for = ?2, updated = ?3, entries = ?4, head = ?5, token = ?6, holder = ?7,
                    seal = ?8, status = ?9 WHERE id = ?1",
                params![
                    id.0,
                    waiting_for,
                    updated.0,
                    entries,
                    Blob32(*head),
                    token,
                    holder,
                    seal,
                    self.status.byte()
                ],
            )?;
        }
        Ok(())
    }

    /// Whether the chain that ends at `tip` can be the one that this row was written for.
    pub(crate) fn agrees_with(&self, tip: &Tip) -> Result<(), Flaw> {
        if tip.entries < self.entries {
            return Err(Flaw::Cut { counted: self.entries, found: tip.entries });
        }
        if tip.entries == self.entries && tip.head != self.head {
            return Err(Flaw::Head);
        }
        // Only the holder of a lease can have added more.
        if tip.entries > self.entries && self.holder.is_none() {
            return Err(Flaw::Surplus { counted: self.entries });
        }
        Ok(())
    }

    /// Who holds the lease, dead or alive.
    pub(crate) fn holder_info(&self) -> Option<HolderInfo> {
        self.holder.as_deref().and_then(|text| serde_json::from_str(text).ok())
    }
}
