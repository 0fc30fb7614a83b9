//! A connection and the path that its failures are told with.

use std::path::Path;

use rusqlite::Connection;
use rusqlite::OptionalExtension;
use rusqlite::Params;
use rusqlite::Row;
use rusqlite::types::FromSql;
use rusqlite::types::FromSqlError;
use rusqlite::types::FromSqlResult;
use rusqlite::types::ToSql;
use rusqlite::types::ToSqlOutput;
use rusqlite::types::ValueRef;
use seriatim_core::hash::Hash;

use crate::error::At;
use crate::error::Error;

/// Statements are prepared once and kept.
#[derive(Clone, Copy)]
pub(crate) struct Session<'a> {
    pub(crate) conn: &'a Connection,
    pub(crate) path: &'a Path,
}

impl Session<'_> {
    pub(crate) fn execute(&self, sql: &str, params: impl Params) -> Result<usize, Error> {
        self.conn.prepare_cached(sql).and_then(|mut statement| statement.execute(params)).at(self.path)
    }

    /// The one row that must be there.
    pub(crate) fn one<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        self.conn
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_row(params, read))
            .at(self.path)
    }

    /// The first row, if there is one.
    pub(crate) fn first<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, Error> {
        self.conn
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_row(params, read).optional())
            .at(self.path)
    }

    pub(crate) fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Error> {
        self.conn
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_map(params, read)?.collect())
            .at(self.path)
    }
}

/// A hash as SQLite keeps it: 32 bytes.
pub(crate) struct Blob32(pub(crate) Hash);

impl FromSql for Blob32 {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Blob32> {
        let bytes = value.as_blob()?;
        bytes
            .try_into()
            .map(|bytes| Blob32(Hash(bytes)))
            .map_err(|_| FromSqlError::InvalidBlobSize { expected_size: 32, blob_size: bytes.len() })
    }
}

impl ToSql for Blob32 {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Blob(&self.0.0)))
    }
}
