//! The ledger: its chain, and what it says about each run.

use std::collections::BTreeMap;

use rusqlite::Row;
use seriatim_core::hash::Hash;

use super::Check;
use crate::flaw::Flaw;
use crate::flaw::Problem;
use crate::ledger::Line;
use crate::ledger::What;
use crate::session::Blob32;

/// What the ledger says about one run.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines {
    /// The number of the line, how many entries the run had then, and the hash of the last of them.
    pub(super) heads: Vec<(i64, u64, Hash)>,
    pub(super) identities: Vec<Hash>,
    pub(super) ended: bool,
}

pub(super) type ByRun = BTreeMap<String, Lines>;

impl Check<'_> {
    pub(super) fn ledger(&mut self) -> ByRun {
        let mut lines = ByRun::new();
        if let Err(error) = self.read_ledger(&mut lines) {
            self.found(Problem::of_store(Flaw::Database { message: error.to_string() }));
        }
        lines
    }

    fn read_ledger(&mut self, lines: &mut ByRun) -> rusqlite::Result<()> {
        let mut statement = self
            .session
            .conn
            .prepare("SELECT n, run, what, at, entries, head, identity, hash FROM ledger ORDER BY n")?;
        let mut rows = statement.query([])?;
        let (mut expected, mut previous) = (1, Hash::ZERO);
        while let Some(row) = rows.next()? {
            let n: i64 = row.get(0)?;
            if n != expected {
                self.found(Problem::of_store(Flaw::LedgerGap { line: expected }));
            }
            match line(row, &previous, lines) {
                Ok(hash) => previous = hash,
                // The stored hash goes on: one changed line is one problem.
                Err(stored) => {
                    let run = row.get::<_, String>(1).ok();
                    self.found(Problem { run, seq: None, flaw: Flaw::Ledger { line: n } });
                    previous = stored.unwrap_or(previous);
                }
            }
            expected = n + 1;
        }
        Ok(())
    }
}

/// Reads one line and gives its hash; as an error, when it does not follow from the one before it.
fn line(row: &Row<'_>, previous: &Hash, lines: &mut ByRun) -> Result<Hash, Option<Hash>> {
    let stored = row.get::<_, Blob32>(7).map_err(|_| None)?.0;
    let name: String = row.get(1).map_err(|_| Some(stored))?;
    let decode = || -> rusqlite::Result<Line<'_>> {
        Ok(Line {
            n: row.get(0)?,
            run: &name,
            what: row.get(2)?,
            at: row.get(3)?,
            entries: row.get(4)?,
            head: row.get::<_, Blob32>(5)?.0,
            identity: row.get::<_, Blob32>(6)?.0,
        })
    };
    let line = decode().map_err(|_| Some(stored))?;
    let of_run = lines.entry(name.clone()).or_default();
    of_run.heads.push((line.n as i64, line.entries, line.head));
    of_run.identities.push(line.identity);
    of_run.ended = line.what == What::Ended as u8;
    if line.link(previous) == stored { Ok(stored) } else { Err(Some(stored)) }
}
