//! One run: its chain, its row, and whether the ledger and its calls agree with them.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use seriatim_core::hash::Hash;

use super::Check;
use super::ledger::ByRun;
use super::ledger::Lines;
use crate::calls;
use crate::calls::CallRow;
use crate::entry::EntryRef;
use crate::entry::Kind;
use crate::erase::note_key;
use crate::error::Error;
use crate::flaw::Flaw;
use crate::flaw::Problem;
use crate::ledger::identity_of_row;
use crate::read::Walk;
use crate::row::RunRow;
use crate::run::RunRef;

/// What is remembered of a run's entries while they pass by.
#[derive(Default)]
struct Seen {
    bodiless: BTreeSet<u64>,
    notes: BTreeSet<String>,
    /// By key of an open call: the latest intent and the latest outcome.
    calls: BTreeMap<String, (Option<u64>, Option<u64>)>,
    /// By position of a line of the ledger: the hash that it names.
    heads: BTreeMap<u64, Hash>,
}

impl Seen {
    fn note(&mut self, entry: EntryRef<'_>) {
        if entry.body.is_none() {
            self.bodiless.insert(entry.seq);
        }
        if entry.kind == Kind::Note {
            self.notes.insert(entry.key.to_owned());
        }
        if let Some((intent, outcome)) = self.calls.get_mut(entry.key) {
            match entry.kind {
                Kind::Intent => *intent = Some(entry.seq),
                Kind::Outcome => *outcome = Some(entry.seq),
                _ => {}
            }
        }
        if let Some(head) = self.heads.get_mut(&(entry.seq + 1)) {
            *head = entry.hash;
        }
    }
}

impl Check<'_> {
    /// Checks `run` and tells its name, as far as that can be read.
    pub(super) fn run(&mut self, run: RunRef, ledger: &ByRun) -> Option<String> {
        self.report.runs += 1;
        let name = self.name(run)?;
        let row = match RunRow::read(&self.session, run) {
            Ok(Ok(row)) => Some(row),
            Ok(Err(flaw)) => {
                self.found(Problem::of_run(&name, flaw));
                None
            }
            Err(error) => {
                self.run_unreadable(&name, &error);
                None
            }
        };
        let lines = ledger.get(&name);
        let open = self.open_calls(run);
        let mut seen = Seen::default();
        seen.calls.extend(open.iter().map(|call| (call.key.clone(), (None, None))));
        let heads = lines.iter().flat_map(|lines| &lines.heads);
        seen.heads.extend(heads.map(|(_, entries, _)| (*entries, Hash::ZERO)));

        let complete = self.chain(run, &name, row.as_ref(), &mut seen);
        for seq in seen.bodiless.iter().filter(|seq| !seen.notes.contains(&note_key(**seq))) {
            self.found(Problem::of_entry(&name, *seq, Flaw::BodyMissing));
        }
        if complete {
            self.calls_against(&name, &open, &seen);
        }
        match lines {
            Some(lines) => self.ledger_against(&name, row.as_ref(), lines, &seen, complete),
            None => self.found(Problem::of_run(&name, Flaw::RunUnknown)),
        }
        Some(name)
    }

    /// The name, even of a row that was changed; a run without one cannot be told from others.
    fn name(&mut self, run: RunRef) -> Option<String> {
        match self.session.one("SELECT name FROM run WHERE id = ?1", [run.0], |row| row.get(0)) {
            Ok(name) => Some(name),
            Err(error) => {
                let message = format!("row {} of the runs: {error}", run.0);
                self.found(Problem::of_store(Flaw::Database { message }));
                None
            }
        }
    }

    fn run_unreadable(&mut self, name: &str, error: &Error) {
        self.found(Problem::of_run(name, Flaw::Unreadable { message: error.to_string() }));
    }

    /// Walks along the chain. Whether all entries could be seen.
    fn chain(&mut self, run: RunRef, name: &str, row: Option<&RunRow>, seen: &mut Seen) -> bool {
        let mut walk = Walk::new(run, name, row);
        let walked = walk.run(&self.session, &mut |entry| seen.note(entry));
        self.report.entries += walk.seq;
        let seq = walk.seq;
        match walked {
            Ok(Ok(())) => true,
            Ok(Err(flaw)) => {
                self.found(Problem::of_entry(name, seq, flaw));
                false
            }
            Err(error) => {
                self.run_unreadable(name, &error);
                false
            }
        }
    }

    fn open_calls(&self, run: RunRef) -> Vec<CallRow> {
        // Rows that cannot be read are named with their table.
        calls::open_of(&self.session, run).unwrap_or_default()
    }

    /// What is open must have been asked for and not been answered.
    fn calls_against(&mut self, name: &str, open: &[CallRow], seen: &Seen) {
        for call in open {
            let id = call.id.to_string();
            match seen.calls.get(&call.key) {
                Some((Some(intent), outcome)) => {
                    if outcome.is_some_and(|outcome| outcome > *intent) {
                        self.found(Problem::of_run(name, Flaw::CallHasOutcome { call: id }));
                    }
                }
                _ => {
                    let flaw = Flaw::CallWithoutIntent { call: id, key: call.key.clone() };
                    self.found(Problem::of_run(name, flaw));
                }
            }
        }
    }

    /// The run must be what the ledger says it was, at every moment that the ledger knows of.
    fn ledger_against(
        &mut self,
        name: &str,
        row: Option<&RunRow>,
        lines: &Lines,
        seen: &Seen,
        complete: bool,
    ) {
        for (line, entries, head) in &lines.heads {
            let passed = seen.heads.get(entries).copied().unwrap_or(Hash::ZERO);
            if complete && passed != *head {
                self.found(Problem::of_run(name, Flaw::LedgerHead { line: *line }));
            }
        }
        let Some(row) = row else { return };
        if row.status.is_finished() != lines.ended {
            let flaw = Flaw::StatusAgainstLedger { status: row.status.to_string() };
            self.found(Problem::of_run(name, flaw));
        }
        match identity_of_row(&self.session, row) {
            Ok(identity) if lines.identities.iter().all(|known| *known == identity) => {}
            Ok(_) => self.found(Problem::of_run(name, Flaw::Identity)),
            Err(error) => self.run_unreadable(name, &error),
        }
    }
}
