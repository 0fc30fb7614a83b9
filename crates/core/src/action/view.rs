//! An action as `show` presents it, computed from its facts alone.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::json;

use super::evidence::Change;
use super::evidence::Mode;
use super::facts::ActionFact;
use super::facts::FileWritten;
use super::facts::GateResult;
use super::facts::LifecycleResult;
use super::facts::RoleStop;
use super::facts::Skipped;
use super::facts::counted;
use super::gate::GateKind;
use super::roles;
use super::severity::Concern;
use super::severity::Severity;
use crate::hash::Hash;
use crate::ledger::FindingState;
use crate::ledger::LedgerEntry;
use crate::projection::Fact;
use crate::sentence::Mood;
use crate::sentence::SharedFact;
use crate::verdict::PersonWord;
use crate::view::Block;
use crate::view::RunView;
use crate::view::Section;

/// Returns what there is to show about an action: its stages and roles, gates, decisions, findings, files and evidence.
pub fn view(facts: &[Fact]) -> RunView {
    let mut story = Story::default();
    for fact in facts {
        if let Ok(fact) = serde_json::from_value::<ActionFact>(fact.data.clone()) {
            story.take(fact);
        } else if let Ok(SharedFact::AttemptFailed { step, .. }) = serde_json::from_value(fact.data.clone()) {
            story.attempt_failed(&step);
        }
    }
    story.view()
}

/// One role in one stage.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct RoleView {
    stage: u32,
    role: String,
    calls: u32,
    result: RoleState,
    #[serde(skip_serializing_if = "String::is_empty")]
    summary: String,
    files: Vec<FileWritten>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum RoleState {
    Waiting,
    Working,
    Failed,
    Done,
    Skipped,
    NotNeeded,
    Stopped,
}

impl RoleState {
    fn words(self) -> &'static str {
        match self {
            RoleState::Waiting => "waiting",
            RoleState::Working => "working",
            RoleState::Failed => "failed",
            RoleState::Done => "done",
            RoleState::Skipped => "skipped",
            RoleState::NotNeeded => "not needed",
            RoleState::Stopped => "stopped",
        }
    }
}

/// One gate, with everything that ran for it.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct GateView {
    gate: String,
    stage: u32,
    kind: GateKind,
    result: GateResult,
}

/// A command of a gate.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct CommandView {
    gate: String,
    command: String,
    exit: Option<i32>,
    output_hash: Option<Hash>,
    #[serde(skip)]
    output: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct DecisionView {
    subject: String,
    outcome: String,
    actor: String,
    rationale: String,
    at: String,
}

/// Something that a person let count although it is unknown or bad.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct WaiverView {
    matter: String,
    how: PersonWord,
    by: String,
    words: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct LifecycleView {
    stage: String,
    gates: Vec<LifecycleResult>,
}

/// What the facts add up to.
#[derive(Default)]
struct Story {
    action: String,
    mode: Option<Mode>,
    snapshot: Option<String>,
    evidence: Option<String>,
    roles: Vec<RoleView>,
    gates: Vec<GateView>,
    commands: Vec<CommandView>,
    decisions: Vec<DecisionView>,
    findings: Vec<LedgerEntry>,
    not_checked: Vec<String>,
    waived: Vec<WaiverView>,
    files: BTreeMap<String, (Change, String)>,
    lifecycle: Option<LifecycleView>,
    errors: Vec<String>,
    alerts: Vec<String>,
}

impl Story {
    fn take(&mut self, fact: ActionFact) {
        match fact {
            ActionFact::ActionBegan { action, mode, .. } => {
                self.action = action;
                self.mode = Some(mode);
            }
            ActionFact::SnapshotTaken { snapshot, .. } => self.snapshot = Some(snapshot),
            ActionFact::EvidenceWritten { folder, .. } => self.evidence = Some(folder),
            ActionFact::StageBegan { stage, roles, .. } => {
                for role in roles {
                    self.role(stage, &role).result = RoleState::Waiting;
                }
            }
            ActionFact::RoleCalled { role, stage, .. } => {
                let role = self.role(stage, &role);
                role.calls += 1;
                role.result = RoleState::Working;
            }
            ActionFact::RoleDone { role, stage, files, summary, findings, .. } => {
                self.role_done(&role, stage, files, summary, findings);
            }
            ActionFact::RoleSkipped { role, stage, reason } => {
                self.role(stage, &role).result = match reason {
                    Skipped::NotNeeded => RoleState::NotNeeded,
                    Skipped::Failed => RoleState::Skipped,
                };
            }
            ActionFact::RoleStopped { role, stage, reason } => {
                self.role(stage, &role).result = match reason {
                    RoleStop::Cancelled | RoleStop::RolledBack => RoleState::Stopped,
                    RoleStop::Broken => RoleState::Failed,
                };
            }
            ActionFact::GateRan { gate, command, exit, output, output_hash, .. } => {
                self.commands.push(CommandView { gate, command, exit, output_hash, output });
            }
            ActionFact::GateEnded { gate, kind, stage, result } => self.gate_ended(gate, kind, stage, result),
            ActionFact::Decision { subject, outcome, actor, rationale, at, .. } => {
                let at = at.to_string();
                self.decisions.push(DecisionView { subject, outcome, actor, rationale, at });
            }
            ActionFact::LifecycleGates { stage, gates, .. } => {
                self.lifecycle = Some(LifecycleView { stage, gates });
            }
            ActionFact::Blocked { findings, .. } => {
                let count = counted(findings.len(), "critical finding");
                self.alert(format!("{count} blocked the action."));
            }
            ActionFact::FlowChanged { .. } | ActionFact::RolledBack { .. } => {
                self.files.clear();
            }
            ActionFact::Findings { findings } => self.findings = findings,
            ActionFact::NotChecked { matters } => self.not_checked = matters,
            ActionFact::Waived { matter, how, by, words } => {
                self.alert(format!("{matter}: {} by {by}.", how.words()));
                self.waived.push(WaiverView { matter, how, by, words });
            }
            ActionFact::Error { text, .. } => self.errors.push(text),
            ActionFact::Waiting { .. }
            | ActionFact::ParallelResults { .. }
            | ActionFact::GateFailed { .. }
            | ActionFact::GateRound { .. }
            | ActionFact::ApprovalVoid { .. }
            | ActionFact::TrackedFindings { .. }
            | ActionFact::BaseTests { .. }
            | ActionFact::ArtifactsSealed { .. } => {}
        }
    }

    /// The row of a role, made where it is not there yet.
    fn role(&mut self, stage: u32, role: &str) -> &mut RoleView {
        let index = self.roles.iter().position(|known| known.stage == stage && known.role == role);
        let index = index.unwrap_or_else(|| {
            self.roles.push(RoleView {
                stage,
                role: role.to_owned(),
                calls: 0,
                result: RoleState::Waiting,
                summary: String::new(),
                files: vec![],
            });
            self.roles.len() - 1
        });
        &mut self.roles[index]
    }

    fn role_done(
        &mut self,
        role: &str,
        stage: u32,
        files: Vec<FileWritten>,
        summary: String,
        findings: Vec<Concern>,
    ) {
        for file in &files {
            let made = self.files.get(&file.path).is_some_and(|(change, _)| *change == Change::Created);
            let change = if made && file.change == Change::Updated { Change::Created } else { file.change };
            self.files.insert(file.path.clone(), (change, role.to_owned()));
        }
        self.note_untracked(findings);
        let row = self.role(stage, role);
        row.result = RoleState::Done;
        row.summary = summary;
        for file in files {
            row.files.retain(|known| known.path != file.path);
            row.files.push(file);
        }
    }

    /// Runs of earlier versions recorded no ledger: what their reviewers found is open.
    fn note_untracked(&mut self, found: Vec<Concern>) {
        let known = |concern: &Concern| self.findings.iter().any(|entry| entry.concern == *concern);
        let new: Vec<Concern> = found.into_iter().filter(|concern| !known(concern)).collect();
        for concern in new {
            let id = format!("F{}", self.findings.len() + 1);
            let state = FindingState::Open;
            self.findings.push(LedgerEntry { id, concern, seen_at: None, state });
        }
    }

    fn gate_ended(&mut self, gate: String, kind: GateKind, stage: u32, result: GateResult) {
        if result == GateResult::Overridden {
            self.alert(format!("The gate {gate} failed and was overridden."));
        }
        self.gates.retain(|known| known.gate != gate);
        self.gates.push(GateView { gate, stage, kind, result });
    }

    /// An attempt carries the name of its role and no stage: it belongs to the row that was called last.
    fn attempt_failed(&mut self, role: &str) {
        let working = self.roles.iter_mut().rev();
        let mut row = working.filter(|row| row.role == role && row.result == RoleState::Working);
        if let Some(row) = row.next() {
            row.result = RoleState::Failed;
        }
    }

    fn alert(&mut self, words: String) {
        if !self.alerts.contains(&words) {
            self.alerts.push(words);
        }
    }

    /// The open findings first, the gravest of them first.
    fn entries(&self) -> Vec<&LedgerEntry> {
        let mut entries: Vec<&LedgerEntry> = self.findings.iter().collect();
        entries.sort_by_key(|entry| (!entry.is_open(), std::cmp::Reverse(entry.concern.severity)));
        entries
    }

    fn view(self) -> RunView {
        let artifacts: Vec<_> = self
            .files
            .iter()
            .map(|(path, (change, role))| json!({"path": path, "change": change, "role": role}))
            .collect();
        let mut view = RunView { alerts: self.alerts.clone(), ..RunView::default() };
        for (name, value) in [
            ("action", json!(self.action)),
            ("mode", json!(self.mode)),
            ("snapshot", json!(self.snapshot)),
            ("evidence", json!(self.evidence)),
            ("roles", json!(self.roles)),
            ("gates", json!(self.gates)),
            ("commands", json!(self.commands)),
            ("lifecycle", json!(self.lifecycle)),
            ("decisions", json!(self.decisions)),
            ("findings", json!(self.entries().into_iter().map(LedgerEntry::document).collect::<Vec<_>>())),
            ("not_checked", json!(self.not_checked)),
            ("waived", json!(self.waived)),
            ("artifacts", json!(artifacts)),
        ] {
            view.fields.insert(name.to_owned(), value);
        }
        let sections = [
            self.stages_section(),
            self.gates_section(),
            self.decisions_section(),
            self.findings_section(),
            self.unchecked_section(),
            self.files_section(),
            self.evidence_section(),
        ];
        view.sections = sections.into_iter().filter(|section| !section.is_empty()).collect();
        view
    }

    fn stages_section(&self) -> Section {
        let mut section = Section::new("Stages");
        let row = |row: &RoleView| {
            vec![
                row.stage.to_string(),
                roles::title(&row.role),
                row.calls.to_string(),
                row.result.words().to_owned(),
                counted(row.files.len(), "file"),
                row.summary.lines().next().unwrap_or_default().trim().to_owned(),
            ]
        };
        let mut rows: Vec<&RoleView> = self.roles.iter().collect();
        rows.sort_by_key(|row| row.stage);
        section.table(
            &["stage", "role", "calls", "result", "written", "summary"],
            rows.into_iter().map(row).collect(),
        );
        section
    }

    fn gates_section(&self) -> Section {
        let mut section = Section::new("Gates");
        for gate in &self.gates {
            let (mood, words) = match gate.result {
                GateResult::Passed => (Mood::Good, "passed"),
                GateResult::Approved => (Mood::Good, "approved"),
                GateResult::Overridden => (Mood::Attention, "failed, overridden"),
                GateResult::Clarified => (Mood::Good, "no question open"),
                GateResult::Reviewed => (Mood::Good, "reviewed by the roles"),
            };
            section.toned(mood, &gate.gate, format!("{words} (stage {}, {})", gate.stage, gate.kind.word()));
        }
        for gate in self.lifecycle.iter().flat_map(|lifecycle| &lifecycle.gates) {
            let (mood, words) = match gate.passed() {
                true => (Mood::Good, "passed".to_owned()),
                false => (Mood::Bad, format!("failed, {}", gate.why())),
            };
            section.toned(mood, &gate.gate, format!("{words} (lifecycle)"));
        }
        for command in &self.commands {
            section.blocks.push(Block::Output {
                title: command.gate.clone(),
                command: command.command.clone(),
                exit: command.exit,
                text: command.output.clone(),
                brief: command.exit != Some(0),
            });
        }
        section
    }

    fn decisions_section(&self) -> Section {
        let mut section = Section::new("Decisions");
        for decision in &self.decisions {
            let words = match decision.rationale.trim() {
                "" => String::new(),
                words => format!(": {words}"),
            };
            section.line(&decision.subject, format!("{} by {}{words}", decision.outcome, decision.actor));
        }
        section
    }

    fn findings_section(&self) -> Section {
        let mut section = Section::new("Findings");
        for entry in self.entries() {
            let mood = match (&entry.state, entry.concern.severity) {
                (FindingState::Closed { .. }, _) => Mood::Good,
                (FindingState::Accepted { .. }, _) => Mood::Attention,
                (FindingState::Open, Severity::Critical | Severity::High) => Mood::Bad,
                (FindingState::Open, Severity::Medium) => Mood::Attention,
                (FindingState::Open, Severity::Low) => Mood::Neutral,
            };
            let concern = &entry.concern;
            let words = format!("{concern} ({}), {}", roles::title(&concern.by), entry.state);
            section.toned(mood, &format!("{} {}", entry.id, concern.severity.word()), words);
        }
        section
    }

    fn unchecked_section(&self) -> Section {
        let mut section = Section::new("Not checked");
        for matter in &self.not_checked {
            section.toned(Mood::Attention, "not checked", matter.as_str());
        }
        for waived in &self.waived {
            let words = format!("{} by {}: {}", waived.how.words(), waived.by, waived.words);
            section.toned(Mood::Attention, &waived.matter, words);
        }
        section
    }

    fn files_section(&self) -> Section {
        let mut section = Section::new("Files");
        for (path, (change, role)) in &self.files {
            let word = match change {
                Change::Created => "created",
                Change::Updated => "updated",
                Change::Deleted => "deleted",
            };
            section.line(path, format!("{word} by {}", roles::title(role)));
        }
        section
    }

    fn evidence_section(&self) -> Section {
        let mut section = Section::new("Evidence");
        if let Some(folder) = &self.evidence {
            section.line("folder", folder.as_str());
        }
        if let Some(snapshot) = &self.snapshot {
            section.line("snapshot", format!("{snapshot} (seriatim snapshot restore {snapshot})"));
        }
        for error in &self.errors {
            section.toned(Mood::Bad, "error", error.as_str());
        }
        section
    }
}
