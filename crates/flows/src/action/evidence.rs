//! The evidence of an action: five files that anybody can read, written as it goes on.

use seriatim_core::action::evidence;
use seriatim_core::action::evidence::Written;
use seriatim_core::action::facts::ActionFact;
use seriatim_core::action::facts::ErrorAt;
use seriatim_core::ledger::LedgerEntry;

use super::course::Course;
use crate::Cx;
use crate::request::Expect;
use crate::request::WriteFile;

impl Course {
    pub(super) fn evidence_folder(&self) -> String {
        evidence::folder(&self.id)
    }

    /// Writes the five files, and records where they are.
    pub(super) async fn write_evidence_and_tell(&mut self, cx: &Cx) {
        let files = self.write_evidence(cx).await;
        cx.record(&ActionFact::EvidenceWritten { folder: self.evidence_folder(), files });
    }

    /// Writes the five files as things stand, and returns the names of those that were written. Nothing personal is in
    /// them (OC-73).
    pub(super) async fn write_evidence(&mut self, cx: &Cx) -> Vec<String> {
        self.proof.writes = self
            .written
            .iter()
            .map(|(path, (change, role))| Written { path: path.clone(), change: *change, role: role.clone() })
            .collect();
        self.proof.findings = self.findings.entries().iter().map(LedgerEntry::told).collect();
        self.proof.not_checked = self.not_checked();
        self.proof.waived.clone_from(&self.waived);
        let folder = self.evidence_folder();
        let mut written = vec![];
        for (name, text) in self.proof.files() {
            let text = self.clean(text);
            let file = WriteFile {
                path: format!("{}/{name}", folder.trim_end_matches('/')),
                text,
                expect: Expect::Any,
                append: false,
                durable: true,
            };
            match cx.write(file).await {
                Ok(_) => written.push(name.to_owned()),
                Err(failure) => {
                    cx.record(&ActionFact::Error { at: ErrorAt::Evidence, text: failure.message });
                }
            }
        }
        written
    }

    fn clean(&self, text: String) -> String {
        match &self.redactor {
            Some(redactor) => redactor.clean(&text).into_owned(),
            None => text,
        }
    }
}
