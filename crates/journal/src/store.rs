//! The store: opening, closing, and the one way to write.

use std::cell::Cell;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::OpenFlags;
use rusqlite::Row;
use rusqlite::config::DbConfig;
use seriatim_core::redact::Redactor;

use crate::append::Standings;
use crate::door::Clean;
use crate::door::Door;
use crate::error::At;
use crate::error::Error;
use crate::lock::WriterLock;
use crate::private;
use crate::private::Access;
use crate::relocate::Node;
use crate::schema;
use crate::schema::Found;
use crate::session::Session;

/// Only readers and closing processes ever meet SQLite's own locks; writers wait at ours.
const BUSY_WAIT: Duration = Duration::from_secs(5);

/// Room for the pages of one commit of many runs: what does not fit is written twice.
const CACHE_KIB: u32 = 4_096;

/// A log that short-lived processes leave behind is begun anew when this many pages of it are in no other place.
const LOG_PAGES_MAX: i64 = 32;

/// More than the statements there are.
const STATEMENTS_MAX: usize = 64;

/// How a store is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// A command that writes: it moves the write-ahead log into the database now and then.
    Writer,
    /// A short-lived process that must be quick: it leaves that to others.
    Hook,
    Reader,
}

/// The journal of a workspace, by one connection.
pub struct Store {
    pub(crate) conn: Connection,
    dir: PathBuf,
    path: PathBuf,
    /// The file that was opened; another one at the same path is another store.
    node: Option<Node>,
    /// The workspace for which it is used, as its runs name it.
    workspace: String,
    lock: Option<WriterLock>,
    door: Door,
    mode: Mode,
    /// A write failed in a way that leaves the connection in doubt.
    in_doubt: bool,
    /// The state of the database that `changed` was last asked about.
    seen: Cell<i64>,
    commits: u64,
    /// Of the runs that this connection appends to.
    pub(crate) standings: Standings,
    observer: Option<Observer>,
}

/// The moments around a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Nothing is locked and nothing is written.
    Before,
    /// All of it is durable, and nothing is shown outside yet.
    Committed,
}

/// Is called at the moments around each transaction.
pub type Observer = Arc<dyn Fn(Moment) + Send + Sync>;

impl Store {
    /// Opens the store in `dir` (the `.seriatim` of a workspace) and creates it where there is none.
    pub fn open(dir: &Path, redactor: Redactor) -> Result<Store, Error> {
        Store::open_to_write(dir, redactor, Mode::Writer)
    }

    /// Like `open`, for a process that lives for a moment: it never checkpoints.
    pub fn open_for_hook(dir: &Path, redactor: Redactor) -> Result<Store, Error> {
        Store::open_to_write(dir, redactor, Mode::Hook)
    }

    fn open_to_write(dir: &Path, redactor: Redactor, mode: Mode) -> Result<Store, Error> {
        let path = database_path(dir);
        enter_to_write(dir, &path)?;
        if mode == Mode::Writer {
            private::tighten_below(dir);
        }
        let lock = WriterLock::open(dir)?;
        let conn = match connect_current(&path, mode) {
            Some(conn) => conn,
            None => create_or_migrate(&path, &lock, mode)?,
        };
        keep_new_log(dir, &path)?;
        Ok(Store::with(conn, dir, path, Some(lock), redactor, mode))
    }

    /// Opens the store in `dir` without changing it; nothing where there is none.
    pub fn open_read_only(dir: &Path, redactor: Redactor) -> Result<Option<Store>, Error> {
        let path = database_path(dir);
        if !enter_to_read(dir, &path)? {
            return Ok(None);
        }
        match fs::metadata(&path) {
            Ok(found) if found.len() > 0 => {}
            // A file without content is one that another process is about to fill.
            Ok(_) => return Ok(None),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).at(&path),
        }
        let (conn, found) = match connect(&path, Mode::Reader).and_then(|conn| inspected(conn, &path)) {
            Ok(opened) => opened,
            // The directory cannot hold the files by which SQLite coordinates; without a log there is nothing
            // to coordinate.
            Err(Error::ReadOnly { .. } | Error::Sqlite { .. } | Error::Io { .. }) if log_is_empty(&path) => {
                inspected(connect_immutable(&path)?, &path)?
            }
            Err(error) => return Err(error),
        };
        match found {
            Found::Empty => Ok(None),
            Found::Older(found) => Err(Error::Older { path, found }),
            Found::Current => Ok(Some(Store::with(conn, dir, path, None, redactor, Mode::Reader))),
        }
    }

    fn with(
        conn: Connection,
        dir: &Path,
        path: PathBuf,
        lock: Option<WriterLock>,
        redactor: Redactor,
        mode: Mode,
    ) -> Store {
        let store = Store {
            conn,
            dir: dir.to_owned(),
            node: Node::at(&path),
            path,
            workspace: String::new(),
            lock,
            door: Door::new(redactor),
            mode,
            in_doubt: false,
            seen: Cell::new(0),
            commits: 0,
            standings: Standings::default(),
            observer: None,
        };
        // Asking for the first time sets what later states are compared with.
        let _ = store.changed();
        store
    }

    /// Uses the store for one of its workspaces: new runs belong to it, and its book is meant. Without that it is the
    /// one in which the store was made.
    #[must_use]
    pub fn at(self, workspace: &str) -> Store {
        Store { workspace: workspace.to_owned(), ..self }
    }

    /// The workspace for which the store is used.
    pub fn workspace(&self) -> &str {
        &self.workspace
    }

    /// The name under which lists have the runs of `workspace`.
    pub fn workspace_or_origin(&self, workspace: &str) -> Result<String, Error> {
        if !workspace.is_empty() {
            return Ok(workspace.to_owned());
        }
        self.session().one("SELECT origin FROM store", [], |row| row.get(0))
    }

    /// Whether the file that was opened still is the store. One that was removed or replaced takes no more entries.
    pub fn check_place(&self) -> Result<(), Error> {
        match self.node {
            Some(node) if Node::at(&self.path) == Some(node) => Ok(()),
            _ => Err(Error::Lost { path: self.path.clone() }),
        }
    }

    /// The directory that the store is in.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The database file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The way for bytes into the store, for other threads too.
    pub fn door(&self) -> &Door {
        &self.door
    }

    /// Takes secrets out of `bytes`, so that they can be stored.
    pub fn clean(&self, bytes: Vec<u8>) -> Clean {
        self.door.clean(bytes)
    }

    /// Has `observer` called around each transaction from now on. A simulation ends the process there.
    pub fn observe(&mut self, observer: Observer) {
        self.observer = Some(observer);
    }

    pub(crate) fn observer(&self) -> Option<Observer> {
        self.observer.clone()
    }

    pub(crate) fn tell(&self, moment: Moment) {
        if let Some(observer) = &self.observer {
            observer(moment);
        }
    }

    /// How many transactions this connection has made durable.
    pub fn commits(&self) -> u64 {
        self.commits
    }

    /// Whether another connection has written since this was last asked.
    pub fn changed(&self) -> Result<bool, Error> {
        self.check_place()?;
        let version = self.session().one("PRAGMA data_version", [], |row| row.get(0))?;
        Ok(self.seen.replace(version) != version)
    }

    /// Whether another connection may have written, by what the latest commit met. Costs nothing; what comes
    /// after that commit is known to `changed` alone.
    pub fn met_others(&self) -> bool {
        self.standings.version() != self.seen.get()
    }

    /// Ends the use of the store. The last process to do so moves the log into the database and removes it.
    pub fn close(self) -> Result<(), Error> {
        let Store { conn, path, lock, mode, .. } = self;
        if mode == Mode::Writer {
            conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).at(&path)?;
        }
        // Others would find the database locked for a moment, and SQLite's waiting is by sleeping.
        let _turn = lock.as_ref().map(WriterLock::turn).transpose()?;
        conn.close().map_err(|(_, error)| error).at(&path)
    }

    /// Ends the use of the store, however it was opened, as `close` does it.
    pub fn tidy(self) -> Result<(), Error> {
        Store { mode: Mode::Writer, ..self }.close()
    }

    /// Ends the use of the store by a process that ends itself at once: the kernel closes and frees all there is, and
    /// needs no time for it.
    pub fn leave(self) {
        let Store { conn, .. } = self;
        std::mem::forget(conn);
    }

    /// Whether this is a process that lives for a moment.
    pub(crate) fn is_brief(&self) -> bool {
        self.mode == Mode::Hook
    }

    pub(crate) fn session(&self) -> Session<'_> {
        Session { conn: &self.conn, path: &self.path }
    }

    /// Does `work` in one durable transaction, while no other process writes.
    pub(crate) fn write<T>(
        &mut self,
        work: impl FnOnce(&Session<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.tell(Moment::Before);
        let (value, changes) = self.alone(|session| {
            let before = session.conn.total_changes();
            session.execute("BEGIN IMMEDIATE", [])?;
            let value = work(session)?;
            session.execute("COMMIT", [])?;
            Ok((value, session.conn.total_changes() - before))
        })?;
        // What was removed while it was written took the entries with it.
        self.check_place()?;
        self.commits += u64::from(changes > 0);
        self.tell(Moment::Committed);
        Ok(value)
    }

    /// Does `work` while no other process writes.
    pub(crate) fn alone<T>(
        &mut self,
        work: impl FnOnce(&Session<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let Some(lock) = &self.lock else { return Err(Error::ReadOnly { path: self.path.clone() }) };
        let turn = lock.turn()?;
        self.check_place()?;
        // Whatever is written now may be about them; an append has them with it.
        self.standings.forget();
        if self.in_doubt {
            let conn = connect(&self.path, self.mode)?;
            schema::inspect(&conn, &self.path)?;
            keep_new_log(&self.dir, &self.path)?;
            self.conn = conn;
            self.in_doubt = false;
        }
        let session = Session { conn: &self.conn, path: &self.path };
        let result = work(&session);
        if let Err(error) = &result {
            if !self.conn.is_autocommit() {
                // The first failure is the one that matters; a rollback that fails as well leaves the
                // connection in doubt, as that one did.
                let _ = session.execute("ROLLBACK", []);
            }
            self.in_doubt = error.is_of_the_disk();
        }
        drop(turn);
        result
    }
}

/// Moves a long write-ahead log into the database, so that the next commit begins it anew. Whoever opens the store when
/// nobody else has it open reads all of the log first, and with short-lived processes that is everybody.
///
/// The file keeps its length. To write over what is there takes half the time of making a file longer, of which the
/// file system has to keep a record. That is also why this comes before a commit and not after one: that the log is in
/// the database is known to this process alone, until it writes.
pub(crate) fn renew_log(session: &Session<'_>) {
    let pages = |row: &Row<'_>| Ok(row.get::<_, i64>(1)? - row.get::<_, i64>(2)?);
    let waiting = session.one("PRAGMA wal_checkpoint(NOOP)", [], pages);
    if waiting.is_ok_and(|waiting| waiting >= LOG_PAGES_MAX) {
        // A reader that is in the way is not waited for; the next one who writes tries again.
        let _ = session.one("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
    }
}

pub(crate) fn database_path(dir: &Path) -> PathBuf {
    dir.join("journal.db")
}

/// Sees to it that the folder and the files of the store are this user's alone, and makes what is not there.
fn enter_to_write(dir: &Path, path: &Path) -> Result<(), Error> {
    match private::look_at_folder(dir) {
        Ok(Access::Private) => {}
        Ok(Access::Readable { mode }) if is_current(path) => {
            return Err(Error::Exposed { path: dir.to_owned(), mode });
        }
        // Earlier versions left that to the umask.
        Ok(Access::Readable { .. }) => private::tighten_folder(dir)?,
        Err(Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound => private::make_folder(dir)?,
        Err(error) => return Err(error),
    }
    for ending in ["-wal", "-shm", "-journal"] {
        private::check_file(&beside(path, ending))?;
    }
    // SQLite gives the files beside the database its mode.
    private::open_file(path).map(drop)
}

/// The same for those who change nothing. False where there is no store.
fn enter_to_read(dir: &Path, path: &Path) -> Result<bool, Error> {
    match private::look_at_folder(dir) {
        Ok(Access::Private) => {}
        Ok(Access::Readable { mode }) if is_current(path) => {
            return Err(Error::Exposed { path: dir.to_owned(), mode });
        }
        Ok(Access::Readable { .. }) => {}
        Err(Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    }
    for ending in ["", "-wal", "-shm", "-journal"] {
        private::check_file_to_read(&beside(path, ending))?;
    }
    Ok(true)
}

fn is_current(path: &Path) -> bool {
    connect_current(path, Mode::Reader).is_some()
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// A connection to a store that needs nothing done to it; nothing when it has to be looked at under the lock.
fn connect_current(path: &Path, mode: Mode) -> Option<Connection> {
    if fs::metadata(path).map_or(0, |found| found.len()) == 0 {
        return None;
    }
    let conn = connect(path, mode).ok()?;
    matches!(schema::inspect(&conn, path), Ok(Found::Current)).then_some(conn)
}

/// Under the lock, so that of several processes that come first only one does the work.
fn create_or_migrate(path: &Path, lock: &WriterLock, mode: Mode) -> Result<Connection, Error> {
    let _turn = lock.turn()?;
    let conn = connect(path, mode)?;
    let found = schema::inspect(&conn, path)?;
    if found == Found::Empty {
        conn.execute_batch("PRAGMA page_size = 4096").at(path)?;
        conn.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).at(path)?;
    }
    schema::migrate(&conn, path, found)?;
    // The files may be new, and have something in them already.
    sync_folder(path.parent().unwrap_or(path))?;
    Ok(conn)
}

/// Makes sure that a new write-ahead log is found again after a crash. Only an empty log can be new: nobody writes to
/// one before this was done, and nobody takes it away from a connection that has read. SQLite itself would do it for
/// every connection that writes, which costs a short-lived process as much as its only commit.
fn keep_new_log(dir: &Path, path: &Path) -> Result<(), Error> {
    if log_is_empty(path) { sync_folder(dir) } else { Ok(()) }
}

pub(crate) fn sync_folder(dir: &Path) -> Result<(), Error> {
    match fs::File::open(dir).and_then(|folder| folder.sync_all()) {
        // Not every file system knows that of a folder; then there is nothing to be done.
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
        done => done.at(dir),
    }
}

pub(crate) fn connect(path: &Path, mode: Mode) -> Result<Connection, Error> {
    let access = match mode {
        Mode::Writer | Mode::Hook => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
        Mode::Reader => OpenFlags::SQLITE_OPEN_READ_ONLY,
    };
    let conn = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX).at(path)?;
    conn.busy_timeout(BUSY_WAIT).at(path)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).at(path)?;
    // Statements that look at parameters are otherwise planned anew whenever one is bound.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).at(path)?;
    if mode != Mode::Reader {
        // What is deleted is overwritten: an erased body leaves no copy in the unused part of a page.
        conn.execute_batch("PRAGMA synchronous = FULL; PRAGMA secure_delete = ON").at(path)?;
    }
    match mode {
        Mode::Writer => conn.execute_batch(&format!("PRAGMA cache_size = -{CACHE_KIB}")).at(path)?,
        Mode::Hook => conn.query_row("PRAGMA wal_autocheckpoint = 0", [], |_| Ok(())).at(path)?,
        Mode::Reader => {}
    }
    Ok(conn)
}

/// Reads a database that nobody can be writing, without any file beside it.
fn connect_immutable(path: &Path) -> Result<Connection, Error> {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                uri.push(char::from(*byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri.push_str("?immutable=1");
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let conn = Connection::open_with_flags(&uri, flags).at(path)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    Ok(conn)
}

fn inspected(conn: Connection, path: &Path) -> Result<(Connection, Found), Error> {
    let found = schema::inspect(&conn, path)?;
    Ok((conn, found))
}

fn log_is_empty(path: &Path) -> bool {
    fs::metadata(beside(path, "-wal")).map_or(0, |found| found.len()) == 0
}

#[cfg(test)]
mod tests;
