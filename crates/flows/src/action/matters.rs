//! What is known about each part of an action, and what its end rests on.

use seriatim_core::action::facts::ActionFact;
use seriatim_core::action::gate::Does;
use seriatim_core::action::gate::Gate;
use seriatim_core::action::severity::Severity;
use seriatim_core::ledger::LedgerEntry;
use seriatim_core::verdict::Ground;
use seriatim_core::verdict::PersonWord;
use seriatim_core::verdict::Verdict;

use super::course::Course;
use crate::Cx;

impl Course {
    /// Keeps what is known about a matter; a later look replaces it. What a person let count is recorded and stays.
    pub(super) fn settle(&mut self, cx: &Cx, matter: &str, verdict: Verdict) {
        if let Verdict::Good(grounds) = &verdict {
            for ground in grounds.iter() {
                let Ground::Person { who, how, words } = ground else { continue };
                if *how == PersonWord::Confirmed {
                    continue;
                }
                let line = format!("{matter}: {} by {who}: {words}", how.words());
                if !self.waived.contains(&line) {
                    self.waived.push(line);
                    let (matter, by, words) = (matter.to_owned(), who.clone(), words.clone());
                    cx.record(&ActionFact::Waived { matter, how: *how, by, words });
                }
            }
        }
        self.verdicts.insert(matter.to_owned(), verdict);
    }

    /// Returns the matters about which nothing is known, with why.
    pub(super) fn unknown(&self) -> Vec<String> {
        let of = |(matter, verdict): (&String, &Verdict)| match verdict {
            Verdict::Unknown(reasons) => Some(format!("{matter}: {}", reasons.join("; "))),
            Verdict::Good(_) | Verdict::Bad(_) | Verdict::NotApplicable(_) => None,
        };
        self.verdicts.iter().filter_map(of).collect()
    }

    /// A person accepts what is unknown, with their words.
    pub(super) fn accept_unknown(&mut self, cx: &Cx, by: &str, words: &str) {
        let is_unknown = |verdict: &Verdict| matches!(verdict, Verdict::Unknown(_));
        let open: Vec<(String, Verdict)> = self
            .verdicts
            .iter()
            .filter(|(_, verdict)| is_unknown(verdict))
            .map(|(matter, verdict)| (matter.clone(), verdict.clone()))
            .collect();
        for (matter, verdict) in open {
            self.settle(cx, &matter, verdict.accepted(by, words));
        }
    }

    /// Returns whether something is open that nobody has decided upon.
    pub(super) fn is_unsettled(&self) -> bool {
        !self.findings.open_from(Severity::High).is_empty() || !self.unknown().is_empty()
    }

    /// Returns what no check of this action looks at.
    pub(super) fn not_checked(&self) -> Vec<String> {
        let gates: Vec<&Gate> = self.action.stages.iter().flat_map(|stage| &stage.gates).collect();
        let measures = |gate: &&&Gate| matches!(gate.kind.does(), Does::Measure | Does::Run);
        let mut found = vec![];
        if !gates.iter().any(|gate| measures(&gate)) && self.proof.stage.is_none() {
            found.push("this action has no gate that runs a check".to_owned());
        }
        for gate in gates.iter().filter(measures) {
            if !self.has_check(gate) {
                found.push(format!("gate {}: no such check is configured", gate.name));
            }
        }
        let absent = |(matter, verdict): (&String, &Verdict)| match verdict {
            Verdict::NotApplicable(absence) => Some(format!("{matter}: {}", absence.reason)),
            Verdict::Good(_) | Verdict::Bad(_) | Verdict::Unknown(_) => None,
        };
        found.extend(self.verdicts.iter().filter_map(absent));
        found
    }

    /// Returns whether a gate has something to run.
    fn has_check(&self, gate: &Gate) -> bool {
        match gate.kind.does() {
            Does::Measure => !self.start.gates.is_empty(),
            Does::Run => !gate.command.is_empty() || self.configured(gate).is_some(),
            Does::Decide | Does::Clarify | Does::CallAgain => true,
        }
    }

    pub(super) async fn tell_unchecked(&mut self, cx: &Cx) {
        let matters = self.not_checked();
        if !matters.is_empty() {
            cx.record(&ActionFact::NotChecked { matters });
        }
    }

    /// Returns what the end rests on: the verdicts about every role and gate, and the findings that are open.
    pub(super) fn result(&self) -> Verdict {
        let open = self.findings.open_from(Severity::High).into_iter();
        let open = open.map(|entry: &LedgerEntry| Verdict::bad(format!("{} is open", entry.line())));
        Verdict::join(self.verdicts.values().cloned().chain(open))
    }

    /// Returns the last sentences of an action that is done, with what was checked, by whom it was approved, and what was
    /// not checked.
    pub(super) fn good_message(&self) -> String {
        let files = match self.written.len() {
            1 => "1 file".to_owned(),
            count => format!("{count} files"),
        };
        let mut parts = vec![format!("The action {} is done: {files} written.", self.action.name)];
        let (passed, approved) = self.gates_in_words();
        if !passed.is_empty() {
            parts.push(format!("Passed: {}.", passed.join(", ")));
        }
        if !approved.is_empty() {
            parts.push(format!("Approved: {}.", approved.join(", ")));
        }
        for (title, lines) in
            [("Not checked", self.not_checked()), ("Accepted unchecked or overridden", self.waived.clone())]
        {
            if !lines.is_empty() {
                parts.push(format!("{title}: {}.", lines.join("; ").trim_end_matches('.')));
            }
        }
        parts.push(format!("Evidence: {}.", self.evidence_folder()));
        parts.join(" ")
    }

    /// The gates that were executed and passed, and those that a person approved.
    fn gates_in_words(&self) -> (Vec<String>, Vec<String>) {
        let (mut passed, mut approved) = (vec![], vec![]);
        for (matter, verdict) in &self.verdicts {
            let (Some(gate), Verdict::Good(grounds)) = (matter.strip_prefix("gate "), verdict) else {
                continue;
            };
            let person = grounds.iter().find_map(|ground| match ground {
                Ground::Person { who, how: PersonWord::Confirmed, .. } => Some(who),
                Ground::Person { .. } | Ground::Evidence { .. } | Ground::Judgement { .. } => None,
            });
            let executed = grounds.iter().all(|ground| matches!(ground, Ground::Evidence { .. }));
            match person {
                Some(who) => approved.push(format!("{gate} by {who}")),
                None if executed => passed.push(gate.to_owned()),
                None => {}
            }
        }
        (passed, approved)
    }
}

/// The matter of the gates that the lifecycle stage requires.
pub(super) const LIFECYCLE_MATTER: &str = "gate lifecycle";
