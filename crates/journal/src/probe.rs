//! What the disk can do by itself: SQLite with a plain table, and bare syncs. The engine is measured against it.

use std::fs::File;
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::path::PathBuf;

use rusqlite::Connection;

use crate::error::At;
use crate::error::Error;

/// Commits before anything is measured. A write-ahead log that still grows gives half the rate of one that is
/// written over, and SQLite begins anew every thousand pages.
const WARM_COMMITS: u64 = 1_200;

/// About what a small entry of the journal weighs.
const ROW_BYTES: usize = 128;

/// What a commit of one row writes to the log.
const SYNC_BYTES: usize = 4_096;

/// A database of its own beside nothing else, and a file to sync.
pub struct Probe {
    conn: Connection,
    file: File,
    path: PathBuf,
}

impl Probe {
    /// Makes the probe in `dir`, which must not have one yet, and warms it.
    pub fn warm(dir: &Path) -> Result<Probe, Error> {
        std::fs::create_dir_all(dir).at(dir)?;
        let path = dir.join("probe.db");
        let conn = Connection::open(&path).at(&path)?;
        conn.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).at(&path)?;
        conn.execute_batch("PRAGMA synchronous = FULL").at(&path)?;
        conn.execute_batch("CREATE TABLE plain(id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT")
            .at(&path)?;
        let file_path = dir.join("probe.bytes");
        let file =
            OpenOptions::new().create(true).truncate(true).write(true).open(&file_path).at(&file_path)?;
        let mut probe = Probe { conn, file, path };
        probe.syncs(1)?;
        probe.commits(WARM_COMMITS)?;
        Ok(probe)
    }

    /// Makes `count` rows durable, each by a commit of its own.
    pub fn commits(&mut self, count: u64) -> Result<(), Error> {
        let body = [0x5a_u8; ROW_BYTES];
        let mut insert = self.conn.prepare_cached("INSERT INTO plain(body) VALUES(?1)").at(&self.path)?;
        for _ in 0..count {
            insert.execute([&body[..]]).at(&self.path)?;
        }
        Ok(())
    }

    /// Writes a page over and over, `count` times, and waits for the disk each time.
    pub fn syncs(&mut self, count: u64) -> Result<(), Error> {
        let page = [0x5a_u8; SYNC_BYTES];
        for _ in 0..count {
            self.file.write_all_at(&page, 0).at(&self.path)?;
            self.file.sync_data().at(&self.path)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let mut probe = Probe::warm(dir.path()).unwrap();
        probe.commits(3).unwrap();
        probe.syncs(2).unwrap();
        let rows: u64 = probe.conn.query_row("SELECT count(*) FROM plain", [], |row| row.get(0)).unwrap();
        assert_eq!(rows, WARM_COMMITS + 3);
        let level: u64 = probe.conn.query_row("PRAGMA synchronous", [], |row| row.get(0)).unwrap();
        assert_eq!(level, 2, "FULL");
    }
}
