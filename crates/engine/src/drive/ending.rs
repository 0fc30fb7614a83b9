//! How the driver lets go of runs: parked, stopped, or over.

use seriatim_core::failure::Failure;
use seriatim_core::hash::Hash;
use seriatim_core::time::Utc;
use seriatim_flows::registry::Ended;
use seriatim_journal::Append;
use seriatim_journal::Kind;
use seriatim_journal::Lease;
use seriatim_journal::NewEntry;
use seriatim_journal::OpenFilter;
use seriatim_journal::RunRef;
use seriatim_journal::Store;

use super::BREATH_MS;
use super::Driver;
use super::Error;
use super::Left;
use super::Outcome;
use super::live::Where;
use super::live::status_of;
use super::load::EPILOGUE;
use super::mail::CancelNote;
use super::note;
use crate::job::Address;

impl Driver<'_> {
    /// Gives all runs back: they wait, and nothing needs to live.
    pub(super) fn park_all(&mut self) -> Result<(), Error> {
        for run in self.live.keys().copied().collect::<Vec<_>>() {
            self.let_go(run, Left::Parked)?;
        }
        Ok(())
    }

    /// Stops what is under way, journals that it was cut off, and gives all runs back.
    pub(super) fn put_down(&mut self) -> Result<(), Error> {
        self.stop_all();
        let now = self.schedule.now();
        for run in self.live.keys().copied().collect::<Vec<_>>() {
            if let Some(live) = self.live.get_mut(&run) {
                live.cut_off_agents(&self.door, &Failure::interrupted(), now);
            }
            self.let_go(run, Left::Interrupted)?;
        }
        Ok(())
    }

    /// Ends all jobs and waits until they are over. A second interrupt leaves them to their supervisors.
    pub(super) fn stop_all(&mut self) {
        for run in self.live.keys().copied().collect::<Vec<_>>() {
            self.stop_run(run);
        }
    }

    pub(super) fn stop_run(&mut self, run: RunRef) {
        let Some(live) = self.live.get_mut(&run) else { return };
        let mut at_work: Vec<Address> = Vec::new();
        for (key, opened) in live.open.iter_mut().filter(|(_, o)| o.place == Where::AtWork) {
            opened.place = Where::Stopping;
            at_work.push(Address { run, key: key.clone() });
        }
        at_work.iter().for_each(|address| self.schedule.stop(address));
        // What is heard meanwhile may be about other runs, and may stop those as well: what is waited for is
        // therefore what the run says, never a count of events.
        while !self.impatient && self.is_stopping(run) {
            for event in self.schedule.wait(BREATH_MS) {
                self.hear(event);
            }
            self.listener.tick();
        }
    }

    fn is_stopping(&self, run: RunRef) -> bool {
        self.live.get(&run).is_some_and(|live| live.open.values().any(|o| o.place == Where::Stopping))
    }

    /// Gives one run back, with whatever is still to be journalled.
    pub(super) fn let_go(&mut self, run: RunRef, left: Left) -> Result<(), Error> {
        self.stop_run(run);
        let Some(live) = self.live.get_mut(&run) else { return Ok(()) };
        let append = Append {
            run: live.lease.run,
            token: live.lease.token,
            entries: std::mem::take(&mut live.entries),
            status: Some(live.standing()),
            open: vec![],
            close: std::mem::take(&mut live.close),
            consumed: std::mem::take(&mut live.consumed),
            projections: vec![],
            release: true,
        };
        // A run that halted keeps its journal as it was: a program that fits can still continue it.
        let append = match left {
            Left::Halted(_) => {
                Append { entries: vec![], close: vec![], consumed: vec![], status: None, ..append }
            }
            _ => append,
        };
        let given = self.store.commit(std::slice::from_ref(&append));
        if given.is_err() {
            self.keep_unrecorded(&[append]);
        }
        self.forget(run, left);
        given?;
        Ok(())
    }

    pub(super) fn forget(&mut self, run: RunRef, left: Left) {
        let Some(live) = self.live.remove(&run) else { return };
        let files = self.files.remove(&run).unwrap_or_default();
        self.left.push(Outcome { run, name: live.name, left, files });
    }
}

/// Ends a run on record without its program: its version is not in this program, or the folder that it works in is gone.
/// Its files stay as they are.
pub fn end_on_record(
    store: &mut Store,
    lease: &Lease,
    by: &str,
    at: Utc,
    message: &str,
) -> Result<(), Error> {
    let door = store.door().clone();
    let ended = Ended::cancelled(message);
    let end = NewEntry {
        kind: Kind::End,
        key: String::new(),
        request: Hash::ZERO,
        at,
        body: door.clean(serde_json::to_vec(&ended)?),
    };
    let cancelled = note(&door, EPILOGUE, at, &CancelNote { cancelled_by: by, at, on_record: true })?;
    let open = store.open_calls(&OpenFilter { run: Some(lease.run), ..OpenFilter::default() })?;
    let append = Append {
        entries: vec![cancelled, end],
        close: open.into_iter().map(|call| call.key).collect(),
        status: Some((status_of(ended.status), String::new())),
        release: true,
        ..Append::to(lease)
    };
    store.commit(&[append])?;
    Ok(())
}
