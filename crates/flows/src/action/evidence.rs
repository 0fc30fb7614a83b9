//! The evidence of an action: five files that anybody can read, written as it goes on.

use seriatim_core::action::evidence;
use seriatim_core::action::evidence::Written;
use seriatim_core::action::pii;
use seriatim_core::redact::Redactor;

use super::course::Course;
use crate::Cx;
use crate::request::Expect;
use crate::request::WriteFile;

impl Course {
    pub(super) fn evidence_folder(&self) -> String {
        evidence::folder(&self.id)
    }

    /// Writes the five files as things stand. Nothing personal is in them (OC-73).
    pub(super) async fn write_evidence(&mut self, cx: &Cx) {
        self.proof.writes = self
            .written
            .iter()
            .map(|(path, (change, role))| Written { path: path.clone(), change: *change, role: role.clone() })
            .collect();
        let redactor = Redactor::new(&pii::patterns(&self.start.pii_off), &[]).ok();
        let folder = self.evidence_folder();
        for (name, text) in self.proof.files() {
            let text = redactor.as_ref().map_or(text.clone(), |redactor| redactor.clean(&text).into_owned());
            let file = WriteFile {
                path: format!("{}/{name}", folder.trim_end_matches('/')),
                text,
                expect: Expect::Any,
                append: false,
                durable: true,
            };
            if let Err(failure) = cx.write(file).await {
                cx.record(
                    &serde_json::json!({"fact": "error", "text": format!("evidence: {}", failure.message)}),
                );
            }
        }
    }
}
