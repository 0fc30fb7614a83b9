//! The course of one cycle: its document, its counters, and what every stage shares.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use serde_json::Value;
use seriatim_core::choices::Choices;
use seriatim_core::cycle::archive;
use seriatim_core::cycle::automation::Automation;
use seriatim_core::cycle::automation::Gates;
use seriatim_core::cycle::automation::Names;
use seriatim_core::cycle::block;
use seriatim_core::cycle::block::Block;
use seriatim_core::cycle::block::Mark;
use seriatim_core::cycle::block::Role;
use seriatim_core::cycle::choices::OccupiedChoice;
use seriatim_core::cycle::document;
use seriatim_core::cycle::document::Prefix;
use seriatim_core::cycle::document::Stage;
use seriatim_core::cycle::facts::CycleEnd;
use seriatim_core::cycle::facts::CycleFact;
use seriatim_core::cycle::facts::Decision;
use seriatim_core::cycle::facts::FailedEffect;
use seriatim_core::cycle::goal::Goal;
use seriatim_core::cycle::limits::Limits;
use seriatim_core::failure::Class;
use seriatim_core::finding::Finding;
use seriatim_core::gate::CheckEvidence;
use seriatim_core::hash::Hash;
use seriatim_core::ledger::FindingLedger;
use seriatim_core::ledger::LedgerEntry;
use seriatim_core::question::Answer;
use seriatim_core::question::Question;
use seriatim_core::reading::BrokenFile;
use seriatim_core::reading::Reading;
use seriatim_core::time::Utc;

use super::DOCUMENT;
use super::Start;
use super::ended;
use super::floor::Floor;
use super::people;
use crate::Cx;
use crate::cx::reading_of;
use crate::registry::End;
use crate::registry::Ended;
use crate::request::CommitBase;
use crate::request::Done;
use crate::request::Expect;
use crate::request::Text;
use crate::request::WriteFile;

pub(super) struct Course<'c> {
    pub(super) cx: &'c Cx,
    pub(super) start: Start,
    pub(super) limits: Limits,
    /// What the project wants approved beforehand, and how long its tests may take.
    pub(super) rules: Gates,
    names: Names,
    pub(super) number: u32,
    /// How many earlier cycles the archive holds.
    pub(super) archived: usize,
    /// The document as the engine wrote it.
    text: String,
    stages: u32,
    pub(super) goal: Goal,
    /// Questions of the Planner and what was answered.
    pub(super) talk: Vec<(String, String)>,
    /// What the next plan has to take into account.
    pub(super) diagnostics: Option<String>,
    /// Every reason why work was sent back, for the summary of a pause.
    pub(super) blockers: Vec<String>,
    pub(super) plans: u32,
    pub(super) iterations: u32,
    pub(super) insufficient: u32,
    pub(super) fails: u32,
    pub(super) loops_since_human: u32,
    pub(super) last_human: Utc,
    pub(super) alerted_duration: bool,
    /// Context that a role asked for and a person gave; only that role's next brief has it.
    pub(super) packs: BTreeMap<Role, Vec<String>>,
    /// Commands that a person approved though they are forbidden.
    pub(super) approved_commands: Vec<String>,
    /// The tree before the cycle's first change: what is judged and committed is all that came since.
    pub(super) base: Option<String>,
    /// The commit and branch on which it began, where the commit is made.
    pub(super) onto: Option<CommitBase>,
    /// Files that the user had changed and not committed at that time, and that must stay out of the commit.
    pub(super) theirs: BTreeSet<String>,
    /// The message of the commit, as the user's hooks left it.
    pub(super) message: String,
    /// What those hooks say about the change; nothing where there are none.
    pub(super) hooks: Option<CheckEvidence>,
    /// The branch that is checked out, as the last look at the repository found it.
    pub(super) branch: Option<String>,
    /// Files that the checks left behind; they are not work.
    pub(super) by_products: BTreeSet<String>,
    /// Whether the Actor works in a view, so that the workspace is as it was until the approval.
    pub(super) isolated: bool,
    /// Files that the steps of this cycle named so far: they may be documents that steer runs, which the approval shows.
    pub(super) planned: BTreeSet<String>,
    /// Files of the view that would be merged.
    pub(super) unmerged: Vec<String>,
    /// Files that were merged after an approval and are not committed yet.
    pub(super) merged: BTreeSet<String>,
    /// The documents that each role is given (CY-12).
    pub(super) diet: BTreeMap<Role, Vec<String>>,
    /// How many tests run on the base, for each gate that counted them.
    pub(super) floors: Vec<Floor>,
    /// What the Judge and the engine found, until it is closed by name.
    pub(super) ledger: FindingLedger,
    pub(super) told_findings: Vec<LedgerEntry>,
    /// Matters that people accepted unchecked in this run: every later approval shows them.
    pub(super) accepted: Vec<String>,
    /// What people said when they sent work back or restarted the cycle.
    pub(super) guidance: Vec<String>,
}

impl<'c> Course<'c> {
    /// Opens a cycle: the document must be clear, or is put away first (CY-23).
    pub(super) async fn open(cx: &'c Cx, start: Start) -> Result<Course<'c>, Ended> {
        let mut course = Course::new(cx, start).await.map_err(|broken| not_begun(&broken))?;
        let found = read_document(cx).await.map_err(|broken| not_begun(&broken))?;
        if !document::is_clear(&found) {
            let (choice, answer) = cx.choose(people::occupied()).await;
            course.decided(Decision::Occupied(choice), &answer);
            match choice {
                OccupiedChoice::Approve => {
                    course.text = found;
                    course.archive(archive::Suffix::Incomplete).await;
                    course.number += 1;
                }
                OccupiedChoice::Cancel => {
                    let message = "The cycle was not begun; its document is in use.";
                    return Err(ended(End::Cancelled, false, message, Value::Null));
                }
            }
        }
        course.open_document().await;
        Ok(course)
    }

    /// A fresh document, and the fact that a cycle began.
    pub(super) async fn open_document(&mut self) {
        self.stages = 0;
        self.text = document::header(&self.start.project, self.number, &self.last_human.day());
        self.write(Expect::Any).await;
        self.fact(CycleFact::CycleBegan { cycle: self.number, project: self.start.project.clone() });
        let checks = self.not_configured();
        if !checks.is_empty() {
            self.fact(CycleFact::NotChecked { cycle: self.number, checks });
        }
    }

    /// The course of a cycle that was stopped, for its epilogue.
    pub(super) async fn reopen(cx: &'c Cx, start: Start) -> Result<Course<'c>, BrokenFile> {
        let mut course = Course::new(cx, start).await?;
        course.text = read_document(cx).await?;
        // A pause has put this number into the archive already, so the document itself says which one it is.
        course.number = document_number(&course.text).unwrap_or(course.number);
        course.stages = u32::try_from(block::read_all(&course.text).len()).unwrap_or(u32::MAX);
        Ok(course)
    }

    async fn new(cx: &'c Cx, start: Start) -> Result<Course<'c>, BrokenFile> {
        let now = cx.now().await;
        let (automation, findings) = match &start.automation {
            Some(path) => {
                let text = reading_of(path, read_twice(cx, path).await).map(|text| text.text);
                // It was there when the cycle began: its absence now means no default either.
                understand_automation(path, text).required(path, "bring it back; the cycle began with it")?
            }
            None => (Automation::default(), vec![]),
        };
        if !findings.is_empty() {
            let findings = findings.iter().map(|f| f.message.clone()).collect();
            cx.record(&CycleFact::AutomationFindings { findings });
        }
        let folder = automation.names.archive.clone();
        let archived = cx.survey(vec![folder], vec![]).await.folders.pop().unwrap_or_default();
        Ok(Course {
            cx,
            limits: automation.limits,
            rules: automation.gates,
            names: automation.names,
            number: archive::next_number(archived.iter().map(String::as_str)),
            archived: archived.len(),
            text: String::new(),
            stages: 0,
            goal: Goal::default(),
            talk: vec![],
            diagnostics: None,
            blockers: vec![],
            plans: 0,
            iterations: 0,
            insufficient: 0,
            fails: 0,
            loops_since_human: 0,
            last_human: now,
            alerted_duration: false,
            packs: BTreeMap::new(),
            approved_commands: vec![],
            base: None,
            onto: None,
            theirs: BTreeSet::new(),
            message: String::new(),
            hooks: None,
            branch: None,
            by_products: BTreeSet::new(),
            isolated: false,
            planned: BTreeSet::new(),
            unmerged: vec![],
            merged: BTreeSet::new(),
            diet: BTreeMap::new(),
            floors: vec![],
            ledger: FindingLedger::default(),
            told_findings: vec![],
            accepted: vec![],
            guidance: vec![],
            start,
        })
    }

    pub(super) fn fact(&self, fact: CycleFact) {
        self.cx.record(&fact);
    }

    /// Puts a person's answer on record.
    pub(super) fn decided(&self, decision: Decision, answer: &Answer) {
        let words = answer.text.clone().unwrap_or_default();
        self.fact(CycleFact::Decided { cycle: self.number, decision, by: answer.by.clone(), words });
    }

    /// Asks a person: one of the four checkpoints, and the loop counts as looked at.
    pub(super) async fn ask<C: Choices>(&mut self, question: Question) -> (C, Answer) {
        let answered = self.cx.choose(question).await;
        self.loops_since_human = 0;
        self.last_human = self.cx.now().await;
        self.alerted_duration = false;
        answered
    }

    /// Appends a stage. Bytes that were there before must be as they were; a change by another process is put on record
    /// and undone (CY-17, E-27). True when the document was as it should be.
    pub(super) async fn append(&mut self, title: &str, body: &str, block: Block) -> bool {
        let intact = self.check_document().await;
        self.stages += 1;
        let at = self.cx.now().await;
        let stage = Stage { title: title.to_owned(), body: body.to_owned(), block };
        let expect = Expect::Hash(Hash::of(self.text.as_bytes()));
        self.text.push_str(&document::render_stage(self.stages, at, &stage, &self.start.project));
        self.write(expect).await;
        intact
    }

    /// Whether the document still is what the engine wrote; if not, it is written anew.
    pub(super) async fn check_document(&mut self) -> bool {
        let what = match read_document(self.cx).await {
            Ok(found) if found == self.text => return true,
            Ok(found) => match Prefix::of(self.text.as_bytes()).check(found.as_bytes()) {
                Err(tampered) => format!("earlier text was changed at line {}", tampered.at_line),
                Ok(()) => "text was added by another process".to_owned(),
            },
            // What the engine wrote is on record, so that it is written anew; no default takes its place.
            Err(broken) => broken.headline(),
        };
        self.fact(CycleFact::DocumentTampered { cycle: self.number, what });
        self.write(Expect::Any).await;
        false
    }

    async fn write(&mut self, expect: Expect) {
        let file = WriteFile {
            path: DOCUMENT.into(),
            text: self.text.clone(),
            expect,
            append: false,
            durable: true,
        };
        if self.cx.write(file.clone()).await.is_err() {
            // Another process wrote in between: the engine's text counts.
            let _ = self.cx.write(WriteFile { expect: Expect::Any, ..file }).await;
        }
    }

    /// A stage of a person.
    pub(super) async fn append_human(&mut self, title: &str, body: &str, next: Role) {
        let block =
            Block { role: Role::Human, mark: Mark::Init, summary: one_line(title), next, extra: vec![] };
        self.append(title, body, block).await;
    }

    /// Puts a copy of the document into the archive and gives its path (CY-75 to CY-79).
    pub(super) async fn archive(&mut self, suffix: archive::Suffix) -> String {
        let day = self.cx.now().await.day();
        let path = self.names.archived(&day, self.number, suffix);
        let file = WriteFile {
            path: path.clone(),
            text: self.text.clone(),
            expect: Expect::Any,
            append: false,
            durable: true,
        };
        match self.cx.write(file).await {
            Ok(_) => self.fact(CycleFact::Archived { cycle: self.number, path: path.clone() }),
            Err(failure) => self.fact(CycleFact::Error {
                effect: Some(FailedEffect::Archive),
                text: format!("archive: {}", failure.message),
            }),
        }
        path
    }

    /// The document is ready for the next goal.
    pub(super) async fn clear(&mut self) {
        self.text = String::new();
        self.write(Expect::Any).await;
    }

    /// Keeps what there is under the name of an incomplete cycle, and clears the document.
    pub(super) async fn keep_incomplete(&mut self, why: &str) -> String {
        self.append_human("Stopped", why, Role::Human).await;
        let path = self.archive(archive::Suffix::Incomplete).await;
        self.clear().await;
        self.fact(CycleFact::CycleEnded { cycle: self.number, end: CycleEnd::Incomplete });
        path
    }

    /// Returns the cycle's own state files, which never count as work.
    pub(super) fn state_files(&self) -> Vec<String> {
        vec!["docs/context/".to_owned(), ".seriatim/".to_owned(), format!("{}/", self.names.archive)]
    }

    /// Returns what is not part of the change: state files, and files that the checks left behind.
    pub(super) fn apart(&self) -> Vec<String> {
        self.state_files().into_iter().chain(self.by_products.iter().cloned()).collect()
    }
}

/// Reads the document of the cycle; an absent one is empty.
async fn read_document(cx: &Cx) -> Result<String, BrokenFile> {
    let reading = reading_of(DOCUMENT, read_twice(cx, DOCUMENT).await);
    Ok(reading.optional()?.map(|text| text.text).unwrap_or_default())
}

/// Understands an automation file. Its warnings are kept, since real files differ from their own description.
pub(super) fn understand_automation(
    path: &str,
    text: Reading<String>,
) -> Reading<(Automation, Vec<Finding>)> {
    text.parse(path, |text| {
        let (automation, findings) = Automation::parse(text.as_bytes());
        (Some(automation), findings)
    })
}

/// A cycle that does not begin, since a file of its set-up or state cannot be used.
fn not_begun(broken: &BrokenFile) -> Ended {
    let message = format!("The cycle was not begun: {}. To fix it: {}.", broken.headline(), broken.remedy());
    Ended { findings: vec![broken.into()], ..ended(End::Failed, false, &message, Value::Null) }
}

/// Reads a file, and once more when that did not succeed although it is there (CY-66).
pub(super) async fn read_twice(cx: &Cx, path: &str) -> Done<Text> {
    match cx.read(path).await {
        Err(failure) if failure.class != Class::MissingArtifact => cx.read(path).await,
        other => other,
    }
}

/// The number that the header of a document carries.
fn document_number(text: &str) -> Option<u32> {
    text.strip_prefix("# Cycle ")?.split(':').next()?.trim().parse().ok()
}

/// The first line of a text, short enough for a signal block.
pub(super) fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut short: String = line.chars().take(160).collect();
    if short.is_empty() {
        short.push('-');
    }
    short
}
