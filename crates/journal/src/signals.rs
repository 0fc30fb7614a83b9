//! Signals: what a process that does not hold a run wants its holder to know.

use rusqlite::Row;
use rusqlite::params;
use seriatim_core::hash::Hash;
use seriatim_core::time::Utc;

use crate::calls;
use crate::calls::Answered;
use crate::calls::Closed;
use crate::door::Clean;
use crate::error::Error;
use crate::row::RunRow;
use crate::run::RunRef;
use crate::run::Status;
use crate::seal::Seal;
use crate::seal::Sealer;
use crate::session::Blob32;
use crate::session::Session;
use crate::store::Store;

/// What sort of signal it is. The numbers are stored: they never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum SignalKind {
    Answer = 0,
    Cancel = 1,
    Resume = 2,
}

impl SignalKind {
    const ALL: [SignalKind; 3] = [SignalKind::Answer, SignalKind::Cancel, SignalKind::Resume];

    fn from_number(number: i64) -> Option<SignalKind> {
        SignalKind::ALL.into_iter().find(|kind| *kind as i64 == number)
    }
}

/// Whom a signal is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// An open call, by its id.
    Call(String),
    Run(RunRef),
}

/// A signal that is to be left for the holder of a run.
#[derive(Clone, Debug)]
pub struct NewSignal {
    pub to: Target,
    pub kind: SignalKind,
    pub body: Clean,
    /// Who says so.
    pub by: String,
    pub at: Utc,
    /// Of what was shown, where it is about a call; zero otherwise.
    pub digest: Hash,
}

/// What became of a signal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signalled {
    Recorded {
        id: i64,
        run: RunRef,
    },
    /// Somebody was first: this is what they said.
    Already(Answered),
    /// The call waits no longer: this is how it ended.
    Closed(Closed),
    /// What was shown is not what is asked any more.
    Changed {
        digest: Hash,
    },
    /// The run is over.
    Over {
        status: Status,
    },
}

/// A signal that the holder has not taken notice of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signal {
    pub id: i64,
    pub run: RunRef,
    pub kind: SignalKind,
    /// The call that it is about.
    pub call: Option<String>,
    /// The key of that call.
    pub key: Option<String>,
    pub digest: Hash,
    pub body: Vec<u8>,
    pub by: String,
    pub at: Utc,
}

impl Store {
    /// Leaves a signal. The first answer to a call wins, and later ones are told what it was.
    pub fn signal(&mut self, signal: &NewSignal) -> Result<Signalled, Error> {
        let by = self.door().clean_text(&signal.by);
        self.write(|session| match &signal.to {
            Target::Call(given) => signal_call(session, given, signal, by),
            Target::Run(run) => match RunRow::read(session, *run)? {
                Ok(row) if row.status.is_finished() => Ok(Signalled::Over { status: row.status }),
                Ok(row) => record(session, SignalRow::new(row.id, None, signal, by)),
                Err(flaw) => Err(Error::Broken { run: format!("row {}", run.0), seq: 0, flaw }),
            },
        })
    }

    /// The runs that have signals waiting for their holders.
    pub fn signalled_runs(&self) -> Result<Vec<RunRef>, Error> {
        let sql = "SELECT DISTINCT run FROM signal WHERE consumed = 0";
        self.session().all(sql, [], |row| row.get(0).map(RunRef))
    }

    /// The signals that wait for the holder of `run`, in the order in which they came.
    pub fn signals(&self, run: RunRef) -> Result<Vec<Signal>, Error> {
        let session = self.session();
        let rows = session.all(
            "SELECT id, run, kind, call, body, by, at, digest, consumed, seal FROM signal
                WHERE run = ?1 AND consumed = 0 ORDER BY id",
            [run.0],
            |row| Ok(SignalRow::decode(row)),
        )?;
        rows.into_iter().flatten().map(|row| row.signal(&session)).collect()
    }
}

/// A row of the table of signals.
#[derive(Clone, Debug)]
pub(crate) struct SignalRow {
    pub(crate) id: i64,
    pub(crate) run: RunRef,
    kind: SignalKind,
    pub(crate) call: Option<String>,
    pub(crate) body: Option<Vec<u8>>,
    by: String,
    at: Utc,
    digest: Hash,
    consumed: bool,
}

impl SignalRow {
    fn new(run: RunRef, call: Option<String>, signal: &NewSignal, by: String) -> SignalRow {
        SignalRow {
            id: 0,
            run,
            kind: signal.kind,
            call,
            body: Some(signal.body.as_bytes().to_vec()),
            by,
            at: signal.at,
            digest: signal.digest,
            consumed: false,
        }
    }

    /// Nothing when the row was changed from outside.
    pub(crate) fn decode(row: &Row<'_>) -> Option<SignalRow> {
        let decoded = SignalRow {
            id: row.get(0).ok()?,
            run: RunRef(row.get(1).ok()?),
            kind: SignalKind::from_number(row.get(2).ok()?)?,
            call: row.get(3).ok()?,
            body: row.get(4).ok()?,
            by: row.get(5).ok()?,
            at: Utc(row.get(6).ok()?),
            digest: row.get::<_, Blob32>(7).ok()?.0,
            consumed: row.get(8).ok()?,
        };
        let seal: Seal = row.get(9).ok()?;
        (decoded.seal() == seal).then_some(decoded)
    }

    fn seal(&self) -> Seal {
        Sealer::new("signal")
            .number(self.id)
            .number(self.run.0)
            .number(self.kind as i64)
            .optional(self.call.as_deref().map(str::as_bytes))
            .optional(self.body.as_deref())
            .text(&self.by)
            .number(self.at.0)
            .hash(&self.digest)
            .number(i64::from(self.consumed))
            .seal()
    }

    /// Writes what can change: whether it was consumed, and its body.
    pub(crate) fn update(&self, session: &Session<'_>) -> Result<(), Error> {
        session.execute(
            "UPDATE signal SET body = ?2, consumed = ?3, seal = ?4 WHERE id = ?1",
            params![self.id, self.body, self.consumed, self.seal()],
        )?;
        Ok(())
    }

    fn signal(self, session: &Session<'_>) -> Result<Signal, Error> {
        let key = match &self.call {
            Some(call) => match calls::find(session, call) {
                Ok(call) => Some(call.key),
                // The call was changed from outside, which `verify` tells.
                Err(Error::NoSuchCall { .. }) => None,
                Err(error) => return Err(error),
            },
            None => None,
        };
        Ok(Signal {
            id: self.id,
            run: self.run,
            kind: self.kind,
            call: self.call,
            key,
            digest: self.digest,
            body: self.body.unwrap_or_default(),
            by: self.by,
            at: self.at,
        })
    }
}

fn signal_call(
    session: &Session<'_>,
    given: &str,
    signal: &NewSignal,
    by: String,
) -> Result<Signalled, Error> {
    let call = calls::find(session, given)?;
    if call.closed.is_some() {
        return Ok(Signalled::Closed(call.closed(session)?));
    }
    if let Some(answered) = call.answered(session)? {
        return Ok(Signalled::Already(answered));
    }
    if call.digest != signal.digest {
        return Ok(Signalled::Changed { digest: call.digest });
    }
    record(session, SignalRow::new(call.run, Some(call.id.to_string()), signal, by))
}

fn record(session: &Session<'_>, mut row: SignalRow) -> Result<Signalled, Error> {
    // The seal needs the row's number, which comes with the row.
    session.execute(
        "INSERT INTO signal(run, kind, call, body, by, at, digest, consumed, seal)
            VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, x'')",
        params![
            row.run.0,
            row.kind as u8,
            row.call,
            row.body,
            row.by,
            row.at.0,
            Blob32(row.digest),
            row.consumed
        ],
    )?;
    row.id = session.conn.last_insert_rowid();
    row.update(session)?;
    Ok(Signalled::Recorded { id: row.id, run: row.run })
}

/// Marks signals of `run` as taken notice of. Others are left alone.
pub(crate) fn consume(session: &Session<'_>, run: RunRef, ids: &[i64]) -> Result<(), Error> {
    for id in ids {
        let found = session.first(
            "SELECT id, run, kind, call, body, by, at, digest, consumed, seal FROM signal
                WHERE id = ?1 AND run = ?2",
            [*id, run.0],
            |row| Ok(SignalRow::decode(row)),
        )?;
        let Some(mut row) = found.flatten() else { continue };
        row.consumed = true;
        // The answer to a call stays for those who come second; all else is in the journal from now on.
        if row.call.is_none() {
            row.body = None;
        }
        row.update(session)?;
    }
    Ok(())
}
