//! Leases: at most one process writes a run, and one that lost its lease cannot write any more.

use std::collections::BTreeMap;
use std::path::Path;

use seriatim_core::time::Utc;

use crate::append::add_entries;
use crate::entry::NewEntry;
use crate::error::Error;
use crate::flaw::Flaw;
use crate::holder;
use crate::holder::Holder;
use crate::holder::HolderInfo;
use crate::ledger;
use crate::ledger::What;
use crate::read::WORKSPACE;
use crate::read::workspace_of;
use crate::row::RunRow;
use crate::row::Tip;
use crate::run::NewRun;
use crate::run::RunRef;
use crate::run::Status;
use crate::session::Session;
use crate::store::Store;

/// The right to write a run. Its token grows with every lease of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub run: RunRef,
    pub token: u64,
    /// The dead process that had the run before.
    pub taken_over_from: Option<HolderInfo>,
}

/// Why a run could not be leased.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    /// A living process has it; it may be this one.
    By(HolderInfo),
    /// The run is damaged.
    Broken(Flaw),
}

/// Whether holders live, asked once each.
pub(crate) struct Liveness<'a> {
    dir: &'a Path,
    known: BTreeMap<String, bool>,
    /// The latest row's holder, as it stands there: neighbours often have the same.
    latest: Option<(String, Option<HolderInfo>)>,
}

impl Liveness<'_> {
    pub(crate) fn in_dir(dir: &Path) -> Liveness<'_> {
        Liveness { dir, known: BTreeMap::new(), latest: None }
    }

    /// The holder that a row names, if it lives.
    pub(crate) fn living(&mut self, stored: &str) -> Option<HolderInfo> {
        if let Some((_, known)) = self.latest.as_ref().filter(|(text, _)| text == stored) {
            return known.clone();
        }
        let info = serde_json::from_str(stored).ok().filter(|info| self.of(info));
        self.latest = Some((stored.to_owned(), info.clone()));
        info
    }

    pub(crate) fn of(&mut self, info: &HolderInfo) -> bool {
        if let Some(alive) = self.known.get(&info.file) {
            return *alive;
        }
        let alive = holder::is_alive(self.dir, info);
        self.known.insert(info.file.clone(), alive);
        alive
    }
}

impl Store {
    /// Creates runs with their first entries and leases them to `holder`, all or none.
    pub fn create(
        &mut self,
        runs: Vec<(NewRun, Vec<NewEntry>)>,
        holder: &Holder,
    ) -> Result<Vec<Lease>, Error> {
        let door = self.door().clone();
        let dir = self.dir().to_owned();
        let holder = holder_text(holder);
        let workspace = self.workspace().to_owned();
        self.write(|session| {
            let mut liveness = Liveness::in_dir(&dir);
            runs.into_iter()
                .map(|(mut run, entries)| {
                    run.title = door.clean_text(&run.title);
                    run.subject = door.clean_text(&run.subject);
                    create_one(session, &run, &workspace, &entries, &holder, &mut liveness)
                })
                .collect()
        })
    }

    /// Leases runs to `holder`, each that no living process has.
    pub fn acquire(
        &mut self,
        runs: &[RunRef],
        holder: &Holder,
        at: Utc,
    ) -> Result<Vec<Result<Lease, Held>>, Error> {
        let dir = self.dir().to_owned();
        let holder = holder_text(holder);
        self.write(|session| {
            let mut liveness = Liveness::in_dir(&dir);
            runs.iter().map(|run| acquire_one(session, *run, &holder, at, &mut liveness)).collect()
        })
    }
}

fn holder_text(holder: &Holder) -> String {
    // Serialising plain owned data into memory cannot fail.
    serde_json::to_string(holder.info()).unwrap_or_default()
}

fn acquire_one(
    session: &Session<'_>,
    run: RunRef,
    holder: &str,
    at: Utc,
    liveness: &mut Liveness<'_>,
) -> Result<Result<Lease, Held>, Error> {
    let mut row = match RunRow::read(session, run)? {
        Ok(row) => row,
        Err(flaw) => return Ok(Err(Held::Broken(flaw))),
    };
    let before = row.holder_info();
    if let Some(info) = before.as_ref().filter(|info| liveness.of(info)) {
        return Ok(Err(Held::By(info.clone())));
    }
    let (tip, status) = (Tip::read(session, run)?, row.status);
    if let Err(flaw) = row.agrees_with(&tip) {
        return Ok(Err(Held::Broken(flaw)));
    }
    row.token += 1;
    row.holder = Some(holder.to_owned());
    row.updated = row.updated.max(at);
    row.store(session, &tip, status)?;
    Ok(Ok(Lease { run, token: row.token, taken_over_from: before }))
}

fn create_one(
    session: &Session<'_>,
    run: &NewRun,
    workspace: &str,
    entries: &[NewEntry],
    holder: &str,
    liveness: &mut Liveness<'_>,
) -> Result<Lease, Error> {
    refuse_busy_subject(session, run, workspace, liveness)?;
    if session.first("SELECT 1 FROM run WHERE name = ?1", [&run.name], |_| Ok(()))?.is_some() {
        return Err(Error::NameTaken { name: run.name.clone() });
    }
    let mut row = RunRow::insert(session, run, workspace, Status::Running, Some(holder))?;
    let mut tip = Tip::NONE;
    add_entries(session, &row, &mut tip, entries)?;
    row.store(session, &tip, Status::Running)?;
    ledger::add(session, &row.name, &tip, What::Begun, run.at, ledger::identity(run, workspace))?;
    Ok(Lease { run: row.id, token: row.token, taken_over_from: None })
}

/// The same work is never started twice while the first is not finished.
fn refuse_busy_subject(
    session: &Session<'_>,
    run: &NewRun,
    workspace: &str,
    liveness: &mut Liveness<'_>,
) -> Result<(), Error> {
    if run.subject.is_empty() {
        return Ok(());
    }
    let found = session.first(
        &format!(
            "SELECT id FROM run WHERE flow = ?1 AND subject = ?2 AND subject <> '' AND status < 3
                AND {WORKSPACE} = {}",
            workspace_of("?3")
        ),
        [run.flow.as_str(), &run.subject, workspace],
        |row| row.get(0).map(RunRef),
    )?;
    let Some(other) = found else { return Ok(()) };
    match RunRow::read(session, other)? {
        Ok(row) => Err(Error::SubjectBusy {
            holder: row.holder_info().filter(|info| liveness.of(info)).map(Box::new),
            run: row.name,
            subject: run.subject.clone(),
            status: row.status,
        }),
        Err(flaw) => Err(Error::Broken { run: format!("row {}", other.0), seq: 0, flaw }),
    }
}
