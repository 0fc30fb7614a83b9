//! The schema and its numbered migrations.

use std::path::Path;

use rusqlite::Connection;

use crate::error::At;
use crate::error::Error;

/// Each brings the store forward by one; the number of the last is the schema's version. A migration that has
/// been released is never changed.
const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001_journal.sql"),
    include_str!("../migrations/0002_memo.sql"),
    include_str!("../migrations/0003_workspace.sql"),
];

/// Tells our databases from others: `seri` in ASCII.
const APPLICATION_ID: i32 = 0x7365_7269;

/// The schema's version that this program reads and writes.
pub(crate) fn supported() -> u32 {
    MIGRATIONS.len() as u32
}

/// What a database file turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Empty,
    Current,
    Older(u32),
}

/// Looks at an open database without changing it.
pub(crate) fn inspect(conn: &Connection, path: &Path) -> Result<Found, Error> {
    let number = |pragma: &str| conn.query_row(pragma, [], |row| row.get::<_, i32>(0)).at(path);
    let version = number("PRAGMA user_version")?;
    let application = number("PRAGMA application_id")?;
    if version == 0 && application == 0 {
        let objects: i64 =
            conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).at(path)?;
        return if objects == 0 { Ok(Found::Empty) } else { Err(Error::Foreign { path: path.to_owned() }) };
    }
    match u32::try_from(version) {
        Ok(version) if application == APPLICATION_ID && version > 0 => {
            if version > supported() {
                return Err(Error::Newer { path: path.to_owned(), found: version, supported: supported() });
            }
            Ok(if version == supported() { Found::Current } else { Found::Older(version) })
        }
        _ => Err(Error::Foreign { path: path.to_owned() }),
    }
}

/// Brings the database forward to the supported version, in one transaction.
pub(crate) fn migrate(conn: &Connection, path: &Path, found: Found) -> Result<(), Error> {
    let done = match found {
        Found::Current => return Ok(()),
        Found::Empty => 0,
        Found::Older(version) => version as usize,
    };
    let mut script = String::from("BEGIN IMMEDIATE;\n");
    for migration in &MIGRATIONS[done..] {
        script.push_str(migration);
    }
    script.push_str(&format!(
        "PRAGMA application_id = {APPLICATION_ID};\nPRAGMA user_version = {};\nCOMMIT;",
        supported()
    ));
    let migrated = conn.execute_batch(&script);
    if migrated.is_err() && !conn.is_autocommit() {
        // The first failure is the one that matters.
        let _ = conn.execute_batch("ROLLBACK");
    }
    migrated.at(path)
}

/// All objects of a fresh store: name and text. What `verify` compares a store with.
pub(crate) fn expected_objects() -> rusqlite::Result<Vec<(String, Option<String>)>> {
    let conn = Connection::open_in_memory()?;
    for migration in MIGRATIONS {
        conn.execute_batch(migration)?;
    }
    objects(&conn)
}

/// All objects of a store: name and text.
pub(crate) fn objects(conn: &Connection) -> rusqlite::Result<Vec<(String, Option<String>)>> {
    let mut statement = conn.prepare("SELECT name, sql FROM sqlite_schema ORDER BY name")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}
