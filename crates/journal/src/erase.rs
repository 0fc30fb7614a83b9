//! Erasing a body: the words go, their hash and the chain over it stay.

use rusqlite::params;
use seriatim_core::hash::Hash;
use seriatim_core::time::Utc;

use crate::append::add_entries;
use crate::calls::CallRow;
use crate::door::Clean;
use crate::entry::Kind;
use crate::entry::NewEntry;
use crate::error::Error;
use crate::lease::Lease;
use crate::row::RunRow;
use crate::row::Tip;
use crate::session::Session;
use crate::signals::SignalRow;
use crate::store::Store;

/// What became of the bytes of an erased body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Erased {
    /// They are gone from the files of the store.
    Gone,
    /// They are gone from the database, but a process that is reading keeps the log, and them in it.
    GoneButForTheLog,
}

/// The key of the note that says that the body of entry `seq` was erased.
pub(crate) fn note_key(seq: u64) -> String {
    format!("erased:{seq}")
}

impl Store {
    /// Erases the body of entry `seq` of the run that `lease` holds, wherever it stands, and notes it in that run
    /// with `why`.
    pub fn erase(&mut self, lease: &Lease, seq: u64, why: Clean, at: Utc) -> Result<Erased, Error> {
        self.write(|session| erase_one(session, lease, seq, why, at))?;
        // The database overwrites what is deleted; the log still has the pages as they were.
        let busy = self.alone(|session| {
            session.one("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0))
        })?;
        Ok(if busy == 0 { Erased::Gone } else { Erased::GoneButForTheLog })
    }
}

fn erase_one(session: &Session<'_>, lease: &Lease, seq: u64, why: Clean, at: Utc) -> Result<(), Error> {
    let broken = |flaw| Error::Broken { run: format!("row {}", lease.run.0), seq, flaw };
    let mut row = RunRow::read(session, lease.run)?.map_err(broken)?;
    let mut tip = Tip::read(session, row.id)?;
    row.agrees_with(&tip).map_err(broken)?;
    if row.token != lease.token || row.holder.is_none() {
        return Err(Error::Fenced { holder: row.holder_info().map(Box::new), run: row.name });
    }
    let id = row.id.entry_id(seq);
    let key =
        session.first("SELECT key FROM entry WHERE id = ?1", [id], |columns| columns.get::<_, String>(0))?;
    let Some(key) = key else { return Err(Error::NoSuchEntry { run: row.name, seq }) };
    session.execute("UPDATE entry SET body = NULL WHERE id = ?1", [id])?;
    erase_beside_the_journal(session, &row, &key)?;
    let note = NewEntry { kind: Kind::Note, key: note_key(seq), request: Hash::ZERO, at, body: why };
    let status = row.status;
    add_entries(session, &row, &mut tip, &[note])?;
    row.store(session, &tip, status)
}

/// Questions and answers of the same key say the same words.
fn erase_beside_the_journal(session: &Session<'_>, row: &RunRow, key: &str) -> Result<(), Error> {
    let calls = session.all(
        "SELECT kind, number, run, key, digest, body, since, closed, outcome, seal FROM call
            WHERE run = ?1 AND key = ?2",
        params![row.id.0, key],
        |columns| Ok(CallRow::decode(columns)),
    )?;
    for call in calls.into_iter().flatten() {
        let answer = session.first(
            "SELECT id, run, kind, call, body, by, at, digest, consumed, seal FROM signal WHERE call = ?1",
            [call.id.to_string()],
            |columns| Ok(SignalRow::decode(columns)),
        )?;
        if let Some(mut answer) = answer.flatten() {
            answer.body = None;
            answer.update(session)?;
        }
        call.erase(session)?;
    }
    Ok(())
}
