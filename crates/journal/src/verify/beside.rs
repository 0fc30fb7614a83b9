//! What stands beside the chains: calls, signals and the records of files. Each row has a seal.

use rusqlite::Row;
use rusqlite::types::ValueRef;

use super::Check;
use crate::append::projection_seal;
use crate::book;
use crate::calls::CallRow;
use crate::flaw::Flaw;
use crate::flaw::Problem;
use crate::run::RunRef;
use crate::seal::Seal;
use crate::session::Blob32;
use crate::signals::SignalRow;

impl Check<'_> {
    /// Checks the seals of all rows, or of those that belong to `run`.
    pub(super) fn beside(&mut self, run: Option<RunRef>) {
        self.rows(
            "SELECT kind, number, run, key, digest, body, since, closed, outcome, seal FROM call
                WHERE ?1 IS NULL OR run = ?1",
            run,
            |row| match CallRow::decode(row) {
                Some(_) => None,
                None => Some(Flaw::Call { call: format!("{}/{}", shown(row, 0), shown(row, 1)) }),
            },
        );
        self.rows(
            "SELECT id, run, kind, call, body, by, at, digest, consumed, seal FROM signal
                WHERE ?1 IS NULL OR run = ?1",
            run,
            |row| match SignalRow::decode(row) {
                Some(_) => None,
                None => Some(Flaw::Signal { id: row.get(0).unwrap_or_default() }),
            },
        );
        self.rows("SELECT run, path, hash, seal FROM projection WHERE ?1 IS NULL OR run = ?1", run, |row| {
            match projection_is_sound(row) {
                Some(true) => None,
                _ => Some(Flaw::Projection { path: shown(row, 1) }),
            }
        });
        self.rows("SELECT run, key, value, seal FROM memo WHERE ?1 IS NULL OR run = ?1", run, |row| {
            match memo_is_sound(row) {
                Some(true) => None,
                _ => Some(Flaw::Memo { key: shown(row, 1) }),
            }
        });
    }

    fn rows(&mut self, sql: &str, run: Option<RunRef>, flaw: impl Fn(&Row<'_>) -> Option<Flaw>) {
        if let Err(error) = self.read_rows(sql, run, flaw) {
            self.found(Problem::of_store(Flaw::Database { message: error.to_string() }));
        }
    }

    fn read_rows(
        &mut self,
        sql: &str,
        run: Option<RunRef>,
        flaw: impl Fn(&Row<'_>) -> Option<Flaw>,
    ) -> rusqlite::Result<()> {
        let mut statement = self.session.conn.prepare(sql)?;
        let mut rows = statement.query([run.map(|run| run.0)])?;
        while let Some(row) = rows.next()? {
            if let Some(flaw) = flaw(row) {
                self.found(Problem::of_store(flaw));
            }
        }
        Ok(())
    }
}

fn projection_is_sound(row: &Row<'_>) -> Option<bool> {
    let path: String = row.get(1).ok()?;
    let seal: Seal = row.get(3).ok()?;
    let hash = row.get::<_, Blob32>(2).ok()?.0;
    Some(projection_seal(RunRef(row.get(0).ok()?), &path, &hash) == seal)
}

fn memo_is_sound(row: &Row<'_>) -> Option<bool> {
    let (key, value): (String, Vec<u8>) = (row.get(1).ok()?, row.get(2).ok()?);
    let seal: Seal = row.get(3).ok()?;
    Some(book::seal(RunRef(row.get(0).ok()?), &key, &value) == seal)
}

/// Whatever is in a column, for a person to recognise the row by.
fn shown(row: &Row<'_>, column: usize) -> String {
    match row.get_ref(column) {
        Ok(ValueRef::Integer(number)) => number.to_string(),
        Ok(ValueRef::Text(text)) => String::from_utf8_lossy(text).into_owned(),
        _ => "?".to_owned(),
    }
}
