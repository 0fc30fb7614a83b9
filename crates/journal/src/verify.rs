//! Verifying a store: every chain, every seal, and whether they agree with each other.
//!
//! Nothing here gives up. What cannot be read becomes a problem with its place, and the check goes on with the
//! next thing.

mod beside;
mod ledger;
mod run;

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use crate::error::Error;
use crate::flaw::Flaw;
use crate::flaw::Problem;
use crate::run::RunRef;
use crate::schema;
use crate::session::Session;
use crate::store::Store;

/// A damaged database has more to say than anybody wants to read.
const DATABASE_MESSAGES_MAX: usize = 20;

/// What a check of the store found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How many runs were looked at.
    pub runs: u64,
    /// How many entries were proven.
    pub entries: u64,
    pub problems: Vec<Problem>,
}

impl Report {
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }
}

impl Store {
    /// Checks everything there is.
    pub fn verify(&self) -> Report {
        let mut check = Check { session: self.session(), report: Report::default() };
        check.database();
        check.schema();
        let lines = check.ledger();
        let runs = check.run_ids();
        let mut names = BTreeMap::new();
        for run in &runs {
            if let Some(name) = check.run(*run, &lines) {
                names.insert(name, *run);
            }
        }
        for name in lines.keys().filter(|name| !names.contains_key(*name)) {
            check.found(Problem::of_run(name, Flaw::RunMissing));
        }
        check.orphans(&runs);
        check.beside(None);
        check.report
    }

    /// Checks one run, and the ledger that all runs share.
    pub fn verify_run(&self, run: RunRef) -> Result<Report, Error> {
        let name = self.run(run)?.name;
        let mut check = Check { session: self.session(), report: Report::default() };
        let lines = check.ledger();
        check.run(run, &lines);
        check.beside(Some(run));
        check.report.problems.retain(|problem| problem.run.as_ref().is_none_or(|run| *run == name));
        Ok(check.report)
    }
}

/// A check under way.
struct Check<'a> {
    session: Session<'a>,
    report: Report,
}

impl Check<'_> {
    fn found(&mut self, problem: Problem) {
        self.report.problems.push(problem);
    }

    /// What SQLite itself finds.
    fn database(&mut self) {
        let sql = format!("PRAGMA integrity_check({DATABASE_MESSAGES_MAX})");
        match self.session.all(&sql, [], |row| row.get::<_, String>(0)) {
            Ok(messages) => {
                for message in messages.into_iter().filter(|message| message != "ok") {
                    self.found(Problem::of_store(Flaw::Database { message }));
                }
            }
            Err(error) => self.unreadable(&error),
        }
    }

    fn unreadable(&mut self, error: &Error) {
        self.found(Problem::of_store(Flaw::Database { message: error.to_string() }));
    }

    /// A table without its guards, or with other columns, is not what was written.
    fn schema(&mut self) {
        let (Ok(expected), Ok(found)) = (schema::expected_objects(), schema::objects(self.session.conn))
        else {
            return self.found(Problem::of_store(Flaw::Schema { object: "sqlite_schema".into() }));
        };
        let expected = expected.into_iter().collect::<BTreeSet<_>>();
        let found = found.into_iter().collect::<BTreeSet<_>>();
        let names = expected.symmetric_difference(&found).map(|(name, _)| name).collect::<BTreeSet<_>>();
        for object in names {
            self.found(Problem::of_store(Flaw::Schema { object: object.clone() }));
        }
    }

    /// The numbers of all runs that can be reached, from both ends: a damaged page hides what is on it only.
    fn run_ids(&mut self) -> BTreeSet<RunRef> {
        let mut ids = BTreeSet::new();
        for sql in ["SELECT id FROM run ORDER BY id", "SELECT id FROM run ORDER BY id DESC"] {
            match self.column(sql, &mut ids) {
                Ok(()) => break,
                Err(error) => {
                    self.found(Problem::of_store(Flaw::Database { message: error.to_string() }));
                }
            }
        }
        ids
    }

    fn column(&self, sql: &str, into: &mut BTreeSet<RunRef>) -> rusqlite::Result<()> {
        let mut statement = self.session.conn.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            into.insert(RunRef(row.get(0)?));
        }
        Ok(())
    }

    /// Entries whose run is gone.
    fn orphans(&mut self, runs: &BTreeSet<RunRef>) {
        let mut from = i64::MIN;
        loop {
            let sql = "SELECT min(id) >> 32 FROM entry WHERE id >= ?1";
            match self.session.one(sql, [from], |row| row.get::<_, Option<i64>>(0)) {
                Ok(None) => return,
                Ok(Some(row)) => {
                    if !runs.contains(&RunRef(row)) {
                        self.found(Problem::of_store(Flaw::Orphans { row }));
                    }
                    // The last run that an id can name has none after it.
                    if row >= i64::MAX >> 32 {
                        return;
                    }
                    from = RunRef(row + 1).entry_id(0);
                }
                Err(error) => return self.unreadable(&error),
            }
        }
    }
}
