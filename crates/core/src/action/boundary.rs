//! Where a role may write (OC-14, OC-16): only what its contract names, and nothing of a solution into the framework.

#[cfg(test)]
mod tests;

use std::fmt;

use super::paths;
use super::plan::Duty;
use super::words::words;
use crate::guard::scope;
use crate::guard::scope::Allowed;
use crate::guard::scope::Changed;
use crate::guard::scope::Undeclared;
use crate::guard::scope::Why;

/// A change that a role had no right to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    pub path: String,
    pub kind: BreachKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BreachKind {
    /// The framework is generic, and the contract of the role does not name it.
    Framework,
    /// Words of the solution in a file of the framework.
    Solution { words: Vec<String> },
    /// Outside of what the role owes.
    Contract { why: Why },
    /// It steers runs, and the contract names no such file.
    Steers,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        match &self.kind {
            BreachKind::Framework => write!(
                f,
                "{path} belongs to the generic framework; write what is about this solution to {}",
                paths::PLANNING
            ),
            BreachKind::Solution { words } => {
                write!(
                    f,
                    "{path} belongs to the generic framework, but names this solution: {}",
                    words.join(", ")
                )
            }
            BreachKind::Steers => {
                write!(f, "{path} steers runs, and your contract does not name it; put it back as it was")
            }
            BreachKind::Contract { why: Why::Outside } => write!(f, "{path} is outside of the workspace"),
            BreachKind::Contract { why: Why::RenamedFrom { from } } => {
                write!(f, "{path} was moved from {from}, which is not yours to change")
            }
            BreachKind::Contract { why: Why::LinksOutside { target } } => {
                write!(f, "{path} is a link to {target}, which is not yours to change")
            }
            BreachKind::Contract { why: Why::Mode } => {
                write!(f, "{path} is not yours to change, nor is its mode")
            }
            BreachKind::Contract { .. } => write!(f, "{path} is not among the files that you may write"),
        }
    }
}

/// The changes of a role that its contract does not cover. What the engine itself writes never counts, and of what git
/// ignores only what guards secrets does.
pub fn judge(duty: &Duty, changed: &[Changed]) -> Result<Vec<Breach>, Vec<Undeclared>> {
    let own: Vec<String> = paths::OWN.iter().map(|folder| (*folder).to_owned()).collect();
    let allowed = Allowed::new(Some(&duty.writes), false, None, &own)?;
    let verdict = scope::judge(&allowed, changed);
    let mut breaches: Vec<Breach> = verdict
        .violations
        .into_iter()
        .map(|violation| {
            let framework = paths::is_framework(&violation.path);
            let kind =
                if framework { BreachKind::Framework } else { BreachKind::Contract { why: violation.why } };
            Breach { path: violation.path, kind }
        })
        .collect();
    // `**/README.md` does not mean those of the framework: it has to be named.
    let named: Vec<String> = duty.writes.iter().filter(|entry| paths::is_framework(entry)).cloned().collect();
    for change in changed.iter().filter(|change| !change.ignored && paths::is_framework(&change.path)) {
        let known = breaches.iter().any(|breach| breach.path == change.path);
        if !known && !paths::covered(&named, &change.path) {
            breaches.push(Breach { path: change.path.clone(), kind: BreachKind::Framework });
        }
    }
    Ok(breaches)
}

/// Whether a text that is going into the framework names the solution: its project, its customers, its entities. Words
/// of fewer than four letters are too common to tell.
pub fn solution_words(path: &str, text: &str, solution: &[String]) -> Option<Breach> {
    if !paths::is_framework(path) {
        return None;
    }
    let said = format!(" {} ", words(text).join(" "));
    let mut found: Vec<String> = solution
        .iter()
        .filter(|term| term.chars().filter(|c| c.is_alphanumeric()).count() >= 4)
        .filter(|term| said.contains(&format!(" {} ", words(term).join(" "))))
        .cloned()
        .collect();
    found.sort();
    found.dedup();
    (!found.is_empty()).then(|| Breach { path: path.to_owned(), kind: BreachKind::Solution { words: found } })
}

/// What the role is told.
pub fn feedback(breaches: &[Breach]) -> Vec<String> {
    breaches.iter().map(ToString::to_string).collect()
}
