//! Findings of the Judge and of the engine, kept until they are closed by name.

use seriatim_core::action::severity::Concern;
use seriatim_core::action::severity::Severity;
use seriatim_core::cycle::bypass;
use seriatim_core::cycle::facts::CycleFact;
use seriatim_core::cycle::facts::Opinion;
use seriatim_core::hash::Hash;
use seriatim_core::ledger::Closing;
use seriatim_core::ledger::LedgerEntry;
use seriatim_core::verdict::Verdict;

use super::act::Done;
use super::course::Course;
use super::floor::TestChange;
use super::opinion::JUDGE;
use super::opinion::Seen;
use super::opinion::Spoken;

/// Who found what the engine found.
const ENGINE: &str = "engine";

impl Seen<'_> {
    /// What a finding is about, as it is now: the change of its file, or all of the change.
    fn hash_of(&self, concern: &Concern) -> Option<Hash> {
        if concern.file.is_empty() {
            return Some(Hash::of(self.tree.as_bytes()));
        }
        let head = [format!("--- a/{}", concern.file), format!("+++ b/{}", concern.file)];
        let mut is_inside = false;
        let mut part = String::new();
        for line in self.diff.lines() {
            if line.starts_with("--- ") || line.starts_with("+++ ") || line.starts_with("diff ") {
                is_inside = head.iter().any(|head| line == head);
            }
            if is_inside {
                part.push_str(line);
                part.push('\n');
            }
        }
        Some(Hash::of(part.as_bytes()))
    }
}

impl Course<'_> {
    /// Takes in what the engine itself finds in a change. What it does not find any more it closes by name.
    pub(super) fn note_findings(&mut self, work: &Done, change: &TestChange, now: &Seen<'_>) {
        let finding = |severity, title: String, file: String, line| Concern {
            severity,
            title,
            file,
            line,
            remedy: String::new(),
            by: ENGINE.to_owned(),
        };
        let mut found: Vec<Concern> = vec![];
        for leak in &work.leaks {
            found.push(finding(Severity::Critical, format!("Credential: {leak}"), String::new(), None));
        }
        for tell_tale in bypass::find(&work.diff) {
            let line = Some(u64::from(tell_tale.line));
            found.push(finding(Severity::High, tell_tale.why, tell_tale.file, line));
        }
        for under in &change.under {
            found.push(finding(Severity::High, under.clone(), String::new(), None));
        }
        let ids = self.ledger.note(found, |concern| now.hash_of(concern));
        let over: Vec<Closing> = self
            .ledger
            .open()
            .filter(|entry| entry.concern.by == ENGINE && !ids.contains(&entry.id))
            .map(|entry| Closing {
                id: entry.id.clone(),
                reason: "the change does not have it any more".to_owned(),
            })
            .collect();
        // The engine has looked again itself: where it finds nothing any more, the change is another one.
        let _ = self.ledger.close(ENGINE, &over, |_| None);
        self.tell_findings();
    }

    /// Takes in what the Judge found and what it calls closed. Returns what it has to correct: PASS while one of its
    /// findings is open says two things at once.
    pub(super) fn take_findings(&mut self, spoken: &Spoken, now: &Seen<'_>) -> Vec<String> {
        self.ledger.note(spoken.found.clone(), |concern| now.hash_of(concern));
        let by = match &spoken.opinion {
            Opinion::Person { by, .. } => by.as_str(),
            Opinion::Pass | Opinion::Insufficient(_) | Opinion::Missing(_) | Opinion::Unknown => JUDGE,
        };
        let is_engines = |closing: &&Closing| {
            let named = |entry: &&LedgerEntry| entry.id.eq_ignore_ascii_case(closing.id.trim());
            self.ledger.entries().iter().find(named).is_some_and(|entry| entry.concern.by == ENGINE)
        };
        let closings: Vec<Closing> =
            spoken.closings.iter().filter(|closing| !is_engines(closing)).cloned().collect();
        let refused = self.ledger.close(by, &closings, |concern| now.hash_of(concern));
        let mut problems: Vec<String> = refused.iter().map(|refused| format!("{refused}.")).collect();
        match &spoken.opinion {
            Opinion::Pass => problems.extend(self.judges_open().iter().map(|entry| {
                format!(
                    "PASS, but {} is open: close it by name in `outputs.closed` with a reason, or say INSUFFICIENT.",
                    entry.line()
                )
            })),
            // A person who says PASS has seen the open findings; they stay on record as accepted on that word.
            Opinion::Person { by, words } => self.accept_open(&by.clone(), &words.clone()),
            Opinion::Insufficient(_) | Opinion::Missing(_) | Opinion::Unknown => {}
        }
        self.tell_findings();
        problems
    }

    /// Open findings that a Judge can close, as its brief lists them. The engine closes its own.
    pub(super) fn closable(&self) -> Vec<String> {
        let others = self.ledger.open().filter(|entry| entry.concern.by != ENGINE);
        others.map(LedgerEntry::line).collect()
    }

    /// Open findings of the Judge that keep a PASS from counting. Milder ones are shown at the approval.
    fn judges_open(&self) -> Vec<&LedgerEntry> {
        let grave = self.ledger.open_from(Severity::High).into_iter();
        grave.filter(|entry| entry.concern.by != ENGINE).collect()
    }

    /// The verdict about the Judge's open findings: a critical one is bad, others nobody has closed are unknown.
    pub(super) fn weigh_findings(&self) -> Vec<Verdict> {
        let weigh = |entry: &&LedgerEntry| match entry.concern.severity {
            Severity::Critical => Verdict::bad(format!("Open finding {}", entry.line())),
            Severity::High | Severity::Medium | Severity::Low => {
                Verdict::unknown(format!("Open finding {}", entry.line()))
            }
        };
        self.judges_open().iter().map(weigh).collect()
    }

    /// Lets the Judge's open findings stand on a person's word, critical ones aside.
    pub(super) fn accept_open(&mut self, by: &str, words: &str) {
        let ids: Vec<String> = self.judges_open().iter().map(|entry| entry.id.clone()).collect();
        let words = if seriatim_core::ledger::is_blank(words) { "PASS" } else { words };
        for id in ids {
            // A critical one cannot be accepted here: it stays open and keeps the verdict bad.
            let _ = self.ledger.accept(&id, by, words, false);
        }
        self.tell_findings();
    }

    /// Puts the ledger on record where it says something new.
    fn tell_findings(&mut self) {
        if self.ledger.entries() != self.told_findings {
            self.told_findings = self.ledger.entries().to_vec();
            let findings = self.told_findings.clone();
            self.fact(CycleFact::FindingsNoted { cycle: self.number, findings });
        }
    }
}
