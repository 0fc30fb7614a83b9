//! Calls that wait for somebody outside: questions, assignments and the like, by short ids.

use std::fmt;

use rusqlite::Row;
use rusqlite::params;
use seriatim_core::hash::Hash;
use seriatim_core::time::Utc;

use crate::door::Clean;
use crate::error::Error;
use crate::read::WORKSPACE;
use crate::run::RunRef;
use crate::seal::Seal;
use crate::seal::Sealer;
use crate::session::Blob32;
use crate::session::Session;
use crate::store::Store;

/// What sort of call it is. The numbers are stored: they never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum OpenKind {
    /// A person has to decide.
    Question = 0,
    /// A live session has to do some work and report it.
    Assignment = 1,
    /// Something else has to happen.
    Signal = 2,
}

impl OpenKind {
    const ALL: [OpenKind; 3] = [OpenKind::Question, OpenKind::Assignment, OpenKind::Signal];

    fn letter(self) -> char {
        match self {
            OpenKind::Question => 'q',
            OpenKind::Assignment => 'a',
            OpenKind::Signal => 's',
        }
    }

    fn from_number(number: i64) -> Option<OpenKind> {
        OpenKind::ALL.into_iter().find(|kind| *kind as i64 == number)
    }
}

/// The id of a call: `q12`. Unique in the workspace, never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallId {
    pub(crate) kind: OpenKind,
    pub(crate) number: i64,
}

impl CallId {
    /// Reads what a person typed; a mere number is that of a question.
    pub(crate) fn parse(given: &str) -> Option<CallId> {
        let given = given.trim().to_ascii_lowercase();
        let lettered = OpenKind::ALL.into_iter().find(|kind| given.starts_with(kind.letter()));
        let digits = if lettered.is_some() { &given[1..] } else { &given };
        let number =
            if digits.bytes().all(|b| b.is_ascii_digit()) { digits.parse().ok()? } else { return None };
        Some(CallId { kind: lettered.unwrap_or(OpenKind::Question), number })
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.kind.letter(), self.number)
    }
}

/// A call that a run wants to be open.
#[derive(Clone, Debug)]
pub struct OpenCall {
    /// The key of the request, whose intent is in the journal.
    pub key: String,
    pub kind: OpenKind,
    /// What an answer is bound to.
    pub digest: Hash,
    /// The question or assignment as it is shown.
    pub body: Clean,
}

/// Which open calls are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenFilter {
    pub run: Option<RunRef>,
    pub kind: Option<OpenKind>,
    /// Those of the runs of one workspace.
    pub workspace: Option<String>,
}

/// A call that is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    pub id: String,
    pub kind: OpenKind,
    pub run: RunRef,
    pub run_name: String,
    /// The title of the run.
    pub title: String,
    /// The workspace of the run.
    pub workspace: String,
    pub key: String,
    pub digest: Hash,
    pub body: Vec<u8>,
    pub since: Utc,
    /// Somebody has answered already, and the run has not taken notice yet.
    pub answered: Option<Answered>,
}

/// An answer that was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// Nothing when it was erased.
    pub body: Option<Vec<u8>>,
    pub by: String,
    pub at: Utc,
}

/// A call that is closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closed {
    pub id: String,
    pub run: RunRef,
    pub key: String,
    pub at: Utc,
    /// The body of the outcome that closed it; nothing when it was closed without one, or that was erased.
    pub outcome: Option<Vec<u8>>,
    /// The answer of another process, if that is what the outcome came from.
    pub answered: Option<Answered>,
}

/// A call, as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    Open(Open),
    Closed(Closed),
}

impl Store {
    /// What waits for somebody, the longest first.
    pub fn open_calls(&self, filter: &OpenFilter) -> Result<Vec<Open>, Error> {
        let session = self.session();
        let mut calls = match filter.run {
            Some(run) => open_of(&session, run)?,
            None => {
                let sql =
                    "SELECT kind, number, run, key, digest, body, since, closed, outcome, seal FROM call
                    WHERE closed IS NULL";
                session.all(sql, [], |row| Ok(CallRow::decode(row)))?.into_iter().flatten().collect()
            }
        };
        calls.retain(|call| filter.kind.is_none_or(|kind| call.id.kind == kind));
        calls.sort_by_key(|call| (call.since, call.id.kind, call.id.number));
        let open = calls.into_iter().map(|call| call.open(&session)).collect::<Result<Vec<_>, _>>()?;
        let Some(wanted) = &filter.workspace else { return Ok(open) };
        let wanted = self.workspace_or_origin(wanted)?;
        Ok(open.into_iter().filter(|call| call.workspace == wanted).collect())
    }

    /// The call that a person means by `given`.
    pub fn call(&self, given: &str) -> Result<Call, Error> {
        let session = self.session();
        let row = find(&session, given)?;
        if row.closed.is_none() {
            return Ok(Call::Open(row.open(&session)?));
        }
        Ok(Call::Closed(row.closed(&session)?))
    }
}

/// A row of the table of calls.
#[derive(Clone, Debug)]
pub(crate) struct CallRow {
    pub(crate) id: CallId,
    pub(crate) run: RunRef,
    pub(crate) key: String,
    pub(crate) digest: Hash,
    pub(crate) body: Option<Vec<u8>>,
    pub(crate) since: Utc,
    pub(crate) closed: Option<i64>,
    pub(crate) outcome: Option<i64>,
}

impl CallRow {
    /// Nothing when the row was changed from outside.
    pub(crate) fn decode(row: &Row<'_>) -> Option<CallRow> {
        let decoded = CallRow {
            id: CallId { kind: OpenKind::from_number(row.get(0).ok()?)?, number: row.get(1).ok()? },
            run: RunRef(row.get(2).ok()?),
            key: row.get(3).ok()?,
            digest: row.get::<_, Blob32>(4).ok()?.0,
            body: row.get(5).ok()?,
            since: Utc(row.get(6).ok()?),
            closed: row.get(7).ok()?,
            outcome: row.get(8).ok()?,
        };
        let seal: Seal = row.get(9).ok()?;
        (decoded.seal() == seal).then_some(decoded)
    }

    fn seal(&self) -> Seal {
        Sealer::new("call")
            .number(self.id.kind as i64)
            .number(self.id.number)
            .number(self.run.0)
            .text(&self.key)
            .hash(&self.digest)
            .optional(self.body.as_deref())
            .number(self.since.0)
            .optional_number(self.closed)
            .optional_number(self.outcome)
            .seal()
    }

    fn store(&self, session: &Session<'_>) -> Result<(), Error> {
        session.execute(
            "INSERT INTO call(kind, number, run, key, digest, body, since, closed, outcome, seal)
                VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
                ON CONFLICT(kind, number) DO UPDATE SET body = excluded.body, closed = excluded.closed,
                    outcome = excluded.outcome, seal = excluded.seal",
            params![
                self.id.kind as u8,
                self.id.number,
                self.run.0,
                self.key,
                Blob32(self.digest),
                self.body,
                self.since.0,
                self.closed,
                self.outcome,
                self.seal()
            ],
        )?;
        Ok(())
    }

    /// The body goes: the intent in the journal has it, and closed calls stay for ever.
    fn close(mut self, session: &Session<'_>, at: Utc, outcome: Option<u64>) -> Result<(), Error> {
        self.body = None;
        self.closed = Some(at.0);
        self.outcome = outcome.map(|seq| seq as i64);
        self.store(session)
    }

    /// Takes the body out of an open call.
    pub(crate) fn erase(mut self, session: &Session<'_>) -> Result<(), Error> {
        self.body = None;
        self.store(session)
    }

    fn open(self, session: &Session<'_>) -> Result<Open, Error> {
        let sql = format!("SELECT name, title, {WORKSPACE} FROM run WHERE id = ?1");
        let run = session.first(&sql, [self.run.0], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let (run_name, title, workspace) = run.unwrap_or_default();
        Ok(Open {
            answered: self.answered(session)?,
            id: self.id.to_string(),
            kind: self.id.kind,
            run: self.run,
            run_name,
            title,
            workspace,
            key: self.key,
            digest: self.digest,
            body: self.body.unwrap_or_default(),
            since: self.since,
        })
    }

    pub(crate) fn closed(self, session: &Session<'_>) -> Result<Closed, Error> {
        let outcome = match self.outcome {
            None => None,
            Some(seq) => session
                .first("SELECT body FROM entry WHERE id = ?1", [self.run.entry_id(seq as u64)], |row| {
                    row.get(0)
                })?
                .flatten(),
        };
        Ok(Closed {
            answered: self.answered(session)?,
            id: self.id.to_string(),
            run: self.run,
            key: self.key,
            at: Utc(self.closed.unwrap_or_default()),
            outcome,
        })
    }

    pub(crate) fn answered(&self, session: &Session<'_>) -> Result<Option<Answered>, Error> {
        session.first("SELECT body, by, at FROM signal WHERE call = ?1", [self.id.to_string()], |row| {
            Ok(Answered { body: row.get(0)?, by: row.get(1)?, at: Utc(row.get(2)?) })
        })
    }
}

const SELECT_OPEN: &str =
    "SELECT kind, number, run, key, digest, body, since, closed, outcome, seal FROM call
    WHERE run = ?1 AND key = ?2 AND closed IS NULL";

/// Opens `call` for `run` and tells its id.
pub(crate) fn open(session: &Session<'_>, run: RunRef, call: &OpenCall, now: Utc) -> Result<String, Error> {
    let before = session.first(SELECT_OPEN, params![run.0, call.key], |row| Ok(CallRow::decode(row)))?;
    if let Some(Some(before)) = before {
        if before.digest == call.digest && before.id.kind == call.kind {
            return Ok(before.id.to_string());
        }
        before.close(session, now, None)?;
    }
    let last = session.one("SELECT max(number) FROM call WHERE kind = ?1", [call.kind as u8], |row| {
        row.get::<_, Option<i64>>(0)
    })?;
    let opened = CallRow {
        id: CallId { kind: call.kind, number: last.unwrap_or(0) + 1 },
        run,
        key: call.key.clone(),
        digest: call.digest,
        body: Some(call.body.as_bytes().to_vec()),
        since: now,
        closed: None,
        outcome: None,
    };
    opened.store(session)?;
    Ok(opened.id.to_string())
}

/// Closes the open call with `key`, if there is one.
pub(crate) fn close(
    session: &Session<'_>,
    run: RunRef,
    key: &str,
    now: Utc,
    outcome: Option<u64>,
) -> Result<(), Error> {
    let found = session.first(SELECT_OPEN, params![run.0, key], |row| Ok(CallRow::decode(row)))?;
    match found.flatten() {
        Some(call) => call.close(session, now, outcome),
        None => Ok(()),
    }
}

/// Closes all open calls of a run.
pub(crate) fn close_all(session: &Session<'_>, run: RunRef, now: Utc) -> Result<(), Error> {
    open_of(session, run)?.into_iter().try_for_each(|call| call.close(session, now, None))
}

/// By the index of open calls. A condition that also allows for no run at all would look at every call of the store,
/// and whoever takes up many runs asks for each of them.
const SELECT_OPEN_OF: &str =
    "SELECT kind, number, run, key, digest, body, since, closed, outcome, seal FROM call
    WHERE run = ?1 AND closed IS NULL";

/// The open calls of a run, by their keys. One that cannot be read is for `verify` to name; it does not hide the others.
pub(crate) fn open_of(session: &Session<'_>, run: RunRef) -> Result<Vec<CallRow>, Error> {
    let rows = session.all(SELECT_OPEN_OF, [run.0], |row| Ok(CallRow::decode(row)))?;
    Ok(rows.into_iter().flatten().collect())
}

/// The row of the call that a person means by `given`.
pub(crate) fn find(session: &Session<'_>, given: &str) -> Result<CallRow, Error> {
    let id = CallId::parse(given);
    if let Some(id) = id {
        let found = session.first(
            "SELECT kind, number, run, key, digest, body, since, closed, outcome, seal FROM call
                WHERE kind = ?1 AND number = ?2",
            params![id.kind as u8, id.number],
            |row| Ok(CallRow::decode(row)),
        )?;
        if let Some(call) = found.flatten() {
            return Ok(call);
        }
    }
    let (kind, number) = id.map_or((OpenKind::Question, 0), |id| (id.kind, id.number));
    let closest = session.first(
        "SELECT kind, number FROM call WHERE closed IS NULL ORDER BY kind <> ?1, abs(number - ?2) LIMIT 1",
        params![kind as u8, number],
        |row| Ok(OpenKind::from_number(row.get(0)?).map(|kind| (kind, row.get(1)))),
    )?;
    let closest = closest.flatten().and_then(|(kind, number)| Some(CallId { kind, number: number.ok()? }));
    Err(Error::NoSuchCall { given: given.to_owned(), closest: closest.map(|id| id.to_string()) })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rusqlite::Connection;

    use super::SELECT_OPEN_OF;
    use crate::schema;
    use crate::schema::Found;

    #[test]
    fn the_open_calls_of_a_run_are_found_without_a_look_at_those_of_others() {
        let conn = Connection::open_in_memory().unwrap();
        schema::migrate(&conn, Path::new("memory"), Found::Empty).unwrap();
        let mut statement = conn.prepare(&format!("EXPLAIN QUERY PLAN {SELECT_OPEN_OF}")).unwrap();
        let plan: Vec<String> =
            statement.query_map([1], |row| row.get(3)).unwrap().collect::<Result<_, _>>().unwrap();
        assert_eq!(plan, ["SEARCH call USING INDEX call_open (run=?)"]);
    }
}
