//! Going back (OC-64 to OC-67): when that is done, what is shown before, and what a run leaves behind so that damage done
//! to it later is noticed. How files are kept and brought back is the engine's business.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::Serialize;

use crate::choices;
use crate::choices::Choices;
use crate::hash::Hash;
use crate::question::Choice;
use crate::question::Question;
use crate::seal::Seal;
use crate::seal::Sealed;
use crate::time::Utc;

/// A moment as names of files carry it: `2026-02-07-10-30-00`.
pub fn stamp(at: Utc) -> String {
    at.seconds().trim_end_matches('Z').replace(['T', ':'], "-")
}

/// Something that might call for going back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// A person asks for it: "undo last action".
    Asked,
    /// Artifacts are damaged.
    Corruption,
    /// A person cancels in mid-action.
    Cancelled,
    /// One of several roles failed.
    PartialFailure,
    /// A gate sent work back.
    GateRejection,
    /// Output was invalid.
    InvalidOutput,
}

impl Occasion {
    /// Whether going back is offered. What stands after a partial failure, a rejection or an invalid output is kept:
    /// it is good work, or something to learn from (OC-65).
    pub fn offers_rollback(self) -> bool {
        match self {
            Occasion::Asked | Occasion::Corruption | Occasion::Cancelled => true,
            Occasion::PartialFailure | Occasion::GateRejection | Occasion::InvalidOutput => false,
        }
    }
}

choices! {
    /// What a person does about files that changed outside of any run.
    pub enum AfterDamage {
        Keep = "keep",
        Rollback = "rollback",
        Cancel = "cancel",
    }
}

choices! {
    /// Whether files go back to a snapshot.
    pub enum Confirmed {
        Restore = "confirm",
        Cancel = "cancel",
    }
}

/// A file that is not as a run left it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    pub path: String,
    pub kind: DamageKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DamageKind {
    Changed,
    Mode { was: u32, is: u32 },
    Missing,
    CameBack,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            DamageKind::Changed => write!(f, "{} (changed outside of any run)", self.path),
            DamageKind::Mode { was, is } => write!(f, "{} (its mode was {was:o} and is {is:o})", self.path),
            DamageKind::Missing => write!(f, "{} (gone)", self.path),
            DamageKind::CameBack => write!(f, "{} (was removed, and is there again)", self.path),
        }
    }
}

impl Sealed {
    /// What is not as the run left it. Files that came later are nobody's damage.
    pub fn damage(&self, now: &BTreeMap<String, Seal>) -> Vec<Damage> {
        let mut damage = vec![];
        for (path, was) in &self.files {
            let kind = match now.get(path) {
                None => Some(DamageKind::Missing),
                Some(is) if is.hash != was.hash => Some(DamageKind::Changed),
                Some(is) if is.mode != was.mode => Some(DamageKind::Mode { was: was.mode, is: is.mode }),
                Some(_) => None,
            };
            damage.extend(kind.map(|kind| Damage { path: path.clone(), kind }));
        }
        let back = self.deleted.iter().filter(|path| now.contains_key(*path));
        damage.extend(back.map(|path| Damage { path: path.clone(), kind: DamageKind::CameBack }));
        damage.sort_by(|one, other| one.path.cmp(&other.path));
        damage
    }

    /// Asks what to do about damage before the next action starts.
    pub fn question(&self, damage: &[Damage]) -> Question {
        let listed: Vec<String> = damage.iter().map(|one| format!("- {one}")).collect();
        let files = if damage.len() == 1 { "1 file is" } else { "some files are" };
        Question {
            header: "Changed artifacts".to_owned(),
            question: format!(
                "Since the action \"{}\" ended, {files} not as it left them. Go on with them?",
                self.action
            ),
            why: "Nobody's work on record explains the difference; it may be a person's edit, or damage."
                .to_owned(),
            tried: vec![],
            details: listed.join("\n"),
            options: vec![
                Choice::new(
                    AfterDamage::Keep.id(),
                    "Keep",
                    "The files count as they are now, and the next action starts.",
                ),
                Choice::new(
                    AfterDamage::Rollback.id(),
                    "Rollback",
                    "You are shown what would change, and choose the snapshot to go back to.",
                ),
                Choice::new(
                    AfterDamage::Cancel.id(),
                    "Cancel",
                    "The next action does not start, and nothing is changed.",
                ),
            ],
            free_text: true,
            about: vec![Hash::of(listed.join("\n").as_bytes())],
        }
    }
}

/// A snapshot that can be gone back to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub id: String,
    pub action: String,
    pub created: Utc,
}

/// Asks which snapshot to go back to (OC-67), the newest first.
pub fn select_question(snapshots: &[Listed]) -> Question {
    let mut newest: Vec<&Listed> = snapshots.iter().collect();
    newest.sort_by(|one, other| other.created.cmp(&one.created).then_with(|| other.id.cmp(&one.id)));
    let mut options: Vec<Choice> = newest
        .iter()
        .map(|one| {
            let words =
                format!("The state before the action \"{}\", of {}.", one.action, one.created.seconds());
            Choice::new(&one.id, &one.id, &words)
        })
        .collect();
    options.push(Choice::new("cancel", "Cancel", "Nothing is changed."));
    Question {
        header: "Rollback".to_owned(),
        question: "Which state shall the files go back to?".to_owned(),
        why: String::new(),
        tried: vec![],
        details: String::new(),
        options,
        free_text: false,
        about: vec![],
    }
}

/// Asks to confirm a restoration (OC-67). `words` is the summary of the difference, `conflicts` what a person changed since
/// the action (E-65), and `digest` stands for exactly this difference.
pub fn confirm_question(id: &str, words: &str, conflicts: &[String], digest: Hash) -> Question {
    let mut why = "What is replaced becomes a snapshot first, so that this can be undone.".to_owned();
    if !conflicts.is_empty() {
        why = format!(
            "These were changed by a person since, and would be undone too: {}. {why}",
            conflicts.join(", ")
        );
    }
    Question {
        header: "Rollback".to_owned(),
        question: format!("{}. Shall the files go back to {id}?", words.trim_end_matches('.')),
        why,
        tried: vec![],
        details: conflicts.iter().map(|path| format!("- {path}")).collect::<Vec<_>>().join("\n"),
        options: vec![
            Choice::new(Confirmed::Restore.id(), "Restore", "All of this is done, and it is on record."),
            Choice::new(Confirmed::Cancel.id(), "Cancel", "Nothing is changed."),
        ],
        free_text: true,
        about: vec![digest],
    }
}

/// A restoration as it is put on record (OC-67).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RolledBack {
    pub snapshot: String,
    /// The snapshot of what was replaced: restoring it is the undo.
    pub undo: String,
    /// The difference as it was confirmed.
    pub words: String,
    pub by: String,
    pub at: Utc,
}
