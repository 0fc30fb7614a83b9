//! Books: chains that nobody holds. Whoever has the writers' turn may add to one.
//!
//! A run is written by the holder of its lease. What short-lived processes have to say (hooks, commands of agents)
//! belongs to no run that they could hold, so it has a chain of its own. Beside its entries a book has memos: what
//! was folded from them, written in the same transaction, so that a hook need not read the whole book.

use rusqlite::params;
use seriatim_core::hash::Hash;
use seriatim_core::time::Utc;

use crate::append::add_entries;
use crate::calls;
use crate::calls::OpenCall;
use crate::door::Clean;
use crate::entry::Kind;
use crate::entry::NewEntry;
use crate::error::Error;
use crate::ledger;
use crate::ledger::What;
use crate::read::WORKSPACE;
use crate::read::workspace_of;
use crate::row::RunRow;
use crate::row::Tip;
use crate::run::NewRun;
use crate::run::RunRef;
use crate::run::Status;
use crate::seal::Seal;
use crate::seal::Sealer;
use crate::session::Session;
use crate::store::Moment;
use crate::store::Store;
use crate::store::renew_log;

/// A book that is open for writing, within one transaction.
pub struct Page<'a> {
    session: &'a Session<'a>,
    row: RunRow,
    tip: Tip,
}

impl Page<'_> {
    pub fn run(&self) -> RunRef {
        self.row.id
    }

    /// Where the chain ends now.
    pub fn tip(&self) -> Tip {
        self.tip
    }

    /// Adds an entry and gives its place and hash.
    pub fn add(&mut self, entry: NewEntry) -> Result<(u64, Hash), Error> {
        let seq = self.tip.entries;
        add_entries(self.session, &self.row, &mut self.tip, &[entry])?;
        Ok((seq, self.tip.head))
    }

    /// Asks a person. The same question under the same key stays as it is; another one takes its place.
    pub fn ask(&mut self, call: &OpenCall, at: Utc) -> Result<String, Error> {
        let entry = NewEntry {
            kind: Kind::Intent,
            key: call.key.clone(),
            request: Hash::ZERO,
            at,
            body: call.body.clone(),
        };
        self.add(entry)?;
        calls::open(self.session, self.row.id, call, at)
    }

    /// Takes notice of an answer: the question is open no longer.
    pub fn answer(&mut self, key: &str, answer: Clean, at: Utc) -> Result<(), Error> {
        let entry =
            NewEntry { kind: Kind::Outcome, key: key.to_owned(), request: Hash::ZERO, at, body: answer };
        let (seq, _) = self.add(entry)?;
        calls::close(self.session, self.row.id, key, at, Some(seq))
    }

    /// The bodies of all entries with this key, in order; those that were erased are left out.
    pub fn bodies(&self, key: &str) -> Result<Vec<Vec<u8>>, Error> {
        let [first, last] = self.row.id.entry_ids();
        self.session.all(
            "SELECT body FROM entry WHERE id BETWEEN ?1 AND ?2 AND key = ?3 AND body IS NOT NULL ORDER BY id",
            params![first, last, key],
            |row| row.get(0),
        )
    }

    /// The body of the last entry with this key.
    pub fn last_body(&self, key: &str) -> Result<Option<Vec<u8>>, Error> {
        let [first, last] = self.row.id.entry_ids();
        self.session.first(
            "SELECT body FROM entry WHERE id BETWEEN ?1 AND ?2 AND key = ?3 AND body IS NOT NULL ORDER BY id DESC LIMIT 1",
            params![first, last, key],
            |row| row.get(0),
        )
    }

    pub fn memo(&self, key: &str) -> Result<Option<Vec<u8>>, Error> {
        memo(self.session, self.row.id, key)
    }

    /// The memos whose keys begin with `prefix`, by key.
    pub fn memos(&self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, Error> {
        memos(self.session, self.row.id, prefix)
    }

    pub fn set(&mut self, key: &str, value: &Clean) -> Result<(), Error> {
        let (run, bytes) = (self.row.id, value.as_bytes());
        self.session.execute(
            "INSERT INTO memo(run, key, value, seal) VALUES(?1, ?2, ?3, ?4)
                ON CONFLICT(run, key) DO UPDATE SET value = excluded.value, seal = excluded.seal",
            params![run.0, key, bytes, seal(run, key, bytes)],
        )?;
        Ok(())
    }

    pub fn forget(&mut self, key: &str) -> Result<(), Error> {
        self.session.execute("DELETE FROM memo WHERE run = ?1 AND key = ?2", params![self.row.id.0, key])?;
        Ok(())
    }
}

impl Store {
    /// The book of a flow, where there is one.
    pub fn book(&self, flow: &str) -> Result<Option<RunRef>, Error> {
        find(&self.session(), flow, self.workspace())
    }

    pub fn memo(&self, book: RunRef, key: &str) -> Result<Option<Vec<u8>>, Error> {
        memo(&self.session(), book, key)
    }

    /// The memos whose keys begin with `prefix`, by key.
    pub fn memos(&self, book: RunRef, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, Error> {
        memos(&self.session(), book, prefix)
    }

    /// Writes in the book of `new.flow`, which is created where there is none: all that `work` does is durable at
    /// once, or not at all when it fails. Then `publish` shows it outside, still before anybody else writes.
    pub fn write_book<T, E>(
        &mut self,
        new: &NewRun,
        work: impl FnOnce(&mut Page<'_>) -> Result<T, E>,
        publish: impl FnOnce(&T),
    ) -> Result<Result<T, E>, Error> {
        let is_brief = self.is_brief();
        let workspace = self.workspace().to_owned();
        self.tell(Moment::Before);
        let observer = self.observer();
        self.alone(|session| {
            if is_brief {
                renew_log(session);
            }
            session.execute("BEGIN IMMEDIATE", [])?;
            let row = match find(session, &new.flow, &workspace)? {
                Some(run) => RunRow::read(session, run)?.map_err(|flaw| Error::Broken {
                    run: new.flow.clone(),
                    seq: 0,
                    flaw,
                })?,
                None => create(session, new, &workspace)?,
            };
            let tip = Tip::read(session, row.id)?;
            row.agrees_with(&tip).map_err(|flaw| Error::Broken {
                run: row.name.clone(),
                seq: tip.entries,
                flaw,
            })?;
            let mut page = Page { session, row, tip };
            let value = match work(&mut page) {
                Ok(value) => value,
                Err(refused) => {
                    session.execute("ROLLBACK", [])?;
                    return Ok(Err(refused));
                }
            };
            let Page { mut row, tip, .. } = page;
            if tip.entries > row.entries {
                row.store(session, &tip, row.status)?;
            }
            session.execute("COMMIT", [])?;
            if let Some(observer) = &observer {
                observer(Moment::Committed);
            }
            publish(&value);
            Ok(Ok(value))
        })
    }
}

fn find(session: &Session<'_>, flow: &str, workspace: &str) -> Result<Option<RunRef>, Error> {
    session.first(
        &format!(
            "SELECT id FROM run WHERE flow = ?1 AND subject = ?2 AND subject <> '' AND status < 3
                AND {WORKSPACE} = {}",
            workspace_of("?3")
        ),
        [flow, SUBJECT, workspace],
        |row| row.get(0).map(RunRef),
    )
}

/// A book is about the workspace.
const SUBJECT: &str = ".";

fn create(session: &Session<'_>, new: &NewRun, workspace: &str) -> Result<RunRow, Error> {
    // Each workspace of the store has a book of its own, and every run a name of its own.
    let books =
        session.one("SELECT count(*) FROM run WHERE flow = ?1", [&new.flow], |row| row.get::<_, u64>(0))?;
    let name = if books == 0 { new.name.clone() } else { format!("{}-{}", new.name, books + 1) };
    let run = NewRun { subject: SUBJECT.to_owned(), name, ..new.clone() };
    let mut row = RunRow::insert(session, &run, workspace, Status::Suspended, None)?;
    row.store(session, &Tip::NONE, Status::Suspended)?;
    ledger::add(session, &row.name, &Tip::NONE, What::Begun, run.at, ledger::identity(&run, workspace))?;
    Ok(row)
}

fn memo(session: &Session<'_>, run: RunRef, key: &str) -> Result<Option<Vec<u8>>, Error> {
    let found = session.first(
        "SELECT value, seal FROM memo WHERE run = ?1 AND key = ?2",
        params![run.0, key],
        |row| Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, Seal>(1)?)),
    )?;
    // A memo that somebody changed is as good as none: it can be folded anew.
    Ok(found.filter(|(value, found)| *found == seal(run, key, value)).map(|(value, _)| value))
}

fn memos(session: &Session<'_>, run: RunRef, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, Error> {
    let beyond = format!("{prefix}{}", char::MAX);
    let found = session.all(
        "SELECT key, value, seal FROM memo WHERE run = ?1 AND key >= ?2 AND key < ?3 ORDER BY key",
        params![run.0, prefix, beyond],
        |row| Ok((row.get::<_, String>(0)?, row.get::<_, Vec<u8>>(1)?, row.get::<_, Seal>(2)?)),
    )?;
    let sound = |(key, value, found): (String, Vec<u8>, Seal)| {
        (found == seal(run, &key, &value)).then_some((key, value))
    };
    Ok(found.into_iter().filter_map(sound).collect())
}

/// The checksum of a memo.
pub(crate) fn seal(run: RunRef, key: &str, value: &[u8]) -> Seal {
    Sealer::new("memo").number(run.0).text(key).bytes(value).seal()
}
