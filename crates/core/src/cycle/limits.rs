//! The limits of one step, and what a change measures against them (CY-42, CY-74, K-57, K-58).

use serde::Deserialize;
use serde::Serialize;

use super::Risk;

/// Which excess stops a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScopeMode {
    /// As the seed has it: lines OR files may be within, so only both exceeded is too much.
    #[default]
    All,
    /// Either exceeded is too much.
    Any,
}

/// What one step, and the loop around it, may use up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Lines added and deleted.
    pub loc: u32,
    pub files: u32,
    /// Lines of a plan's instructions, where a project limits them.
    pub plan_loc: Option<u32>,
    /// Documents that a role may read besides its brief.
    pub docs: u32,
    /// Results in a row that are no success before a person decides (CY-10, K-60).
    pub insufficient: u32,
    /// Minutes without a person before an alert.
    pub minutes: u32,
    pub mode: ScopeMode,
    /// Regular expressions for commands that need a person's approval.
    pub forbidden: Vec<String>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            loc: 150,
            files: 2,
            plan_loc: None,
            docs: 2,
            insufficient: 5,
            minutes: 30,
            mode: ScopeMode::All,
            forbidden: ["rm -rf", "DROP TABLE", "DROP DATABASE", "DELETE FROM.*WHERE 1=1"]
                .map(str::to_owned)
                .to_vec(),
        }
    }
}

impl Limits {
    /// Whether a step of this size is too much, without any slack.
    pub fn exceeded(&self, lines: u64, files: u64) -> bool {
        let (lines, files) = (lines > u64::from(self.loc), files > u64::from(self.files));
        match self.mode {
            ScopeMode::All => lines && files,
            ScopeMode::Any => lines || files,
        }
    }

    /// The limits in words: `150 lines or 2 files`.
    pub fn in_words(&self) -> String {
        let joint = match self.mode {
            ScopeMode::All => "or",
            ScopeMode::Any => "and",
        };
        format!("{} {joint} {}", counted(u64::from(self.loc), "line"), counted(u64::from(self.files), "file"))
    }
}

/// One file of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changed {
    pub path: String,
    pub added: u64,
    pub deleted: u64,
    pub binary: bool,
    pub renamed: bool,
}

/// The size of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measure {
    pub lines: u64,
    pub files: u64,
    pub docs_only: bool,
}

/// Lines added and deleted count, also those of generated files; a rename is one file without lines of its own,
/// and a binary file is a file (E-29).
pub fn measure(changes: &[Changed]) -> Measure {
    let lines_of = |change: &Changed| match change.binary {
        true => 0,
        false => change.added.saturating_add(change.deleted),
    };
    Measure {
        lines: changes.iter().map(lines_of).fold(0, u64::saturating_add),
        files: changes.len() as u64,
        docs_only: !changes.is_empty() && changes.iter().all(|change| is_doc(&change.path)),
    }
}

/// Documents for people. A text file is one only where its place or name says so: `requirements.txt` is none.
pub(super) fn is_doc(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let (stem, ending) = file.split_once('.').map_or((file.as_str(), ""), |(stem, ending)| (stem, ending));
    let in_docs = path.starts_with("docs/") || path.contains("/docs/") || path.starts_with("doc/");
    let named = ["readme", "changelog", "changes", "license", "licence", "notice", "authors", "contributing"]
        .contains(&stem);
    match ending.rsplit('.').next().unwrap_or(ending) {
        "md" | "markdown" | "rst" | "adoc" | "asciidoc" => true,
        "txt" | "" => in_docs || named,
        "png" | "jpg" | "jpeg" | "gif" | "svg" | "pdf" => in_docs,
        _ => false,
    }
}

/// What the measure of a change means for the step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    Fine,
    /// Allowed, and the Judge is told.
    Flagged(String),
    /// A hard stop.
    Stop(String),
}

/// How the lines of a change stand against their limit.
#[derive(PartialEq)]
enum Lines {
    Within,
    /// Above by less than a tenth, in documents alone and at low risk (CY-74).
    Slack,
    Over,
}

/// Judges a change (E-28, E-30).
pub fn judge(measure: &Measure, risk: Risk, limits: &Limits) -> Verdict {
    let limit = u64::from(limits.loc);
    let below_a_tenth = measure.lines.saturating_mul(10) < limit.saturating_mul(11);
    let lines = match () {
        () if measure.lines <= limit => Lines::Within,
        () if measure.docs_only && risk == Risk::Low && below_a_tenth => Lines::Slack,
        () => Lines::Over,
    };
    let files_over = measure.files > u64::from(limits.files);
    match (limits.mode, lines, files_over) {
        (ScopeMode::All, Lines::Over, true) => Verdict::Stop(stop(measure, limits)),
        (ScopeMode::All, Lines::Slack, true) | (ScopeMode::Any, Lines::Slack, false) => {
            Verdict::Flagged(format!(
                "{} were changed where {} are allowed; it passes because less than a tenth more was changed, in documents alone and at low risk.",
                counted(measure.lines, "line"),
                limits.loc
            ))
        }
        (ScopeMode::All, _, _) | (ScopeMode::Any, Lines::Within, false) => Verdict::Fine,
        (ScopeMode::Any, _, _) => Verdict::Stop(stop(measure, limits)),
    }
}

fn stop(measure: &Measure, limits: &Limits) -> String {
    format!(
        "{} in {} were changed; the limit is {}.",
        counted(measure.lines, "line"),
        counted(measure.files, "file"),
        limits.in_words()
    )
}

/// What a person should know before approving: each limit that was exceeded, also where that alone is no stop.
pub fn remarks(measure: &Measure, limits: &Limits) -> Vec<String> {
    let mut remarks = vec![];
    if measure.lines > u64::from(limits.loc) {
        remarks.push(format!(
            "The change has {}, more than the {} that a step should have.",
            counted(measure.lines, "line"),
            limits.loc
        ));
    }
    if measure.files > u64::from(limits.files) {
        remarks.push(format!(
            "The change touches {}, more than the {} that a step should touch.",
            counted(measure.files, "file"),
            limits.files
        ));
    }
    remarks
}

/// Returns a number with its noun: `1 line`, `2 lines`.
pub fn counted(n: u64, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

#[cfg(test)]
mod tests;
