//! The ledger of findings: what reviewers found stays until it is closed by name.

use std::collections::BTreeMap;

use seriatim_core::action::facts::ActionFact;
use seriatim_core::action::severity::Concern;
use seriatim_core::hash::Hash;
use seriatim_core::ledger::Closing;
use seriatim_core::ledger::FindingLedger;
use seriatim_core::ledger::NotClosed;

use super::course::Course;
use super::course::Did;
use crate::Cx;
use crate::request::SceneCall;
use crate::request::SealOf;

/// The things that findings are about, as they are now. Where the engine could not look, nothing is known.
pub(super) struct Things {
    files: BTreeMap<String, Hash>,
    work: Option<Hash>,
}

impl Things {
    /// Returns the state of what a finding is about: its file, or all of the work where it names none.
    pub(super) fn of(&self, concern: &Concern) -> Option<Hash> {
        match concern.file.is_empty() {
            true => self.work,
            false => self.files.get(&concern.file).copied(),
        }
    }
}

impl Course {
    /// Looks at everything that these and all known findings are about.
    pub(super) async fn things(&self, cx: &Cx, concerns: &[Concern]) -> Things {
        let known = self.findings.entries().iter().map(|entry| &entry.concern);
        let named = known.chain(concerns).map(|concern| concern.file.clone());
        let mut paths: Vec<String> = named.filter(|path| !path.is_empty()).collect();
        paths.sort();
        paths.dedup();
        let work = self.digest(cx).await;
        if paths.is_empty() {
            return Things { files: BTreeMap::new(), work };
        }
        let seals: Result<Vec<Option<SealOf>>, _> = cx.scene(SceneCall::Seals { paths: paths.clone() }).await;
        let state = |seal: Option<SealOf>| match seal {
            Some(seal) => Hash::of(format!("{} {:o}", seal.hash, seal.mode).as_bytes()),
            None => Hash::of(b"gone"),
        };
        let files = seals.map(|seals| paths.into_iter().zip(seals.into_iter().map(state)).collect());
        Things { files: files.unwrap_or_default(), work }
    }

    /// Returns why a report cannot close what it calls closed.
    pub(super) async fn refused_closings(
        &self,
        cx: &Cx,
        closings: &[Closing],
        person: Option<&str>,
    ) -> Vec<NotClosed> {
        if closings.is_empty() {
            return vec![];
        }
        let things = self.things(cx, &[]).await;
        close(&mut self.findings.clone(), "", closings, person, &things)
    }

    /// Takes a review into the ledger: first what it closes, then what it found.
    pub(super) async fn note_findings(&mut self, cx: &Cx, did: &Did) {
        if did.concerns.is_empty() && did.closings.is_empty() {
            return;
        }
        let things = self.things(cx, &did.concerns).await;
        for refused in close(&mut self.findings, &did.title, &did.closings, did.person.as_deref(), &things) {
            self.notes.push(format!("A closing of {} does not count: {refused}.", did.title));
        }
        self.findings.note(did.concerns.clone(), |concern| things.of(concern));
        self.tell_findings(cx);
    }

    pub(super) fn tell_findings(&self, cx: &Cx) {
        cx.record(&ActionFact::Findings { findings: self.findings.entries().to_vec() });
    }

    /// Returns the findings that are open.
    pub(super) fn open_concerns(&self) -> Vec<Concern> {
        self.findings.open().map(|entry| entry.concern.clone()).collect()
    }
}

fn close(
    ledger: &mut FindingLedger,
    by: &str,
    closings: &[Closing],
    person: Option<&str>,
    things: &Things,
) -> Vec<NotClosed> {
    match person {
        Some(person) => ledger.close_by_person(person, closings),
        None => ledger.close(by, closings, |concern| things.of(concern)),
    }
}
