//! Which sub-agents were seen at a hook, so that those that nobody saw can be told.
//!
//! Calls without markers are none of the guard's business and must cost nothing, so they are not in the journal: one
//! short line in a file for each is enough to know later that a hook was there.

use std::collections::BTreeSet;
use std::path::PathBuf;

use seriatim_core::guard::event::SpawnDone;
use seriatim_core::guard::event::SpawnStatus;

use super::GuardError;
use super::project::Project;
use super::transcript;
use crate::hands::files::read_text;

/// Stands before the id of a call or a sub-agent without a step whose end is awaited.
const WAITS: char = '?';
/// Stands before the id of one that came to its end.
const OVER: char = '!';

/// What was noted in a session.
#[derive(Default)]
pub(super) struct Sightings {
    ids: BTreeSet<String>,
    waiting: BTreeSet<String>,
}

impl Sightings {
    pub(super) fn read(project: &Project, session: Option<&str>) -> Result<Sightings, GuardError> {
        match read_text(project.files.as_ref(), &path(project, session)) {
            Ok(text) => Ok(Sightings::parse(&text)),
            Err(error) if error.is_absence() => Ok(Sightings::default()),
            Err(error) => Err(error.into()),
        }
    }

    fn parse(text: &str) -> Sightings {
        let mut seen = Sightings::default();
        for line in text.lines() {
            if let Some(id) = line.strip_prefix(OVER) {
                seen.waiting.remove(id);
            } else if let Some(id) = line.strip_prefix(WAITS) {
                seen.waiting.insert(id.to_owned());
                seen.ids.insert(id.to_owned());
            } else {
                seen.ids.insert(line.to_owned());
            }
        }
        seen
    }

    /// Whether a call or a sub-agent was seen.
    pub(super) fn has(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    /// Whether a sub-agent without a step may be at work.
    pub(super) fn any_waits(&self) -> bool {
        !self.waiting.is_empty()
    }
}

/// Notes ids of calls and of sub-agents. What cannot be noted is only found missing later.
pub(super) fn note(project: &Project, session: Option<&str>, ids: &[&str]) {
    let text: String = ids.iter().map(|id| format!("{id}\n")).collect();
    append(project, session, &text);
}

/// Notes that a call without a step was let through, and has to come back.
pub(super) fn waits(project: &Project, session: Option<&str>, id: Option<&str>) {
    append(project, session, &id.map(|id| format!("{WAITS}{id}\n")).unwrap_or_default());
}

/// Notes that nobody is at work any more for a call, or under the name of an agent.
pub(super) fn over(project: &Project, session: Option<&str>, id: Option<&str>) {
    append(project, session, &id.map(|id| format!("{OVER}{id}\n")).unwrap_or_default());
}

/// Notes that a call came back: with its end, or with the name of the agent that works on in the background.
pub(super) fn came_back(project: &Project, session: Option<&str>, done: &SpawnDone) {
    let SpawnDone { tool_use_id, agent_id, status, .. } = done;
    let agent = agent_id.iter().map(|id| format!("{id}\n"));
    let waited = Sightings::read(project, session).unwrap_or_default().waiting;
    let is_awaited = tool_use_id.as_ref().is_some_and(|call| waited.contains(call));
    let ended = match (status, tool_use_id, agent_id) {
        _ if !is_awaited => String::new(),
        (SpawnStatus::Launched, Some(call), Some(agent)) => format!("{OVER}{call}\n{WAITS}{agent}\n"),
        (SpawnStatus::Launched, ..) | (_, None, _) => String::new(),
        (_, Some(call), _) => format!("{OVER}{call}\n"),
    };
    append(project, session, &agent.chain([ended]).collect::<String>());
}

fn append(project: &Project, session: Option<&str>, lines: &str) {
    if lines.is_empty() {
        return;
    }
    let _ = project.files.append(&path(project, session), lines.as_bytes(), false);
}

fn path(project: &Project, session: Option<&str>) -> PathBuf {
    project.guard_dir().join("seen").join(transcript::safe(session.unwrap_or("none")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn one_is_awaited_whose_last_line_says_so(lines in proptest::collection::vec((0..3_u8, 0..4_u8), 0..20)) {
            let text: String = lines
                .iter()
                .map(|(what, id)| match what {
                    0 => format!("toolu_{id}\n"),
                    1 => format!("{WAITS}toolu_{id}\n"),
                    _ => format!("{OVER}toolu_{id}\n"),
                })
                .collect();
            let seen = Sightings::parse(&text);
            for id in 0..4_u8 {
                let of_id = || lines.iter().filter(|(_, other)| *other == id).map(|(what, _)| *what);
                let awaited = of_id().rfind(|what| *what != 0) == Some(1);
                prop_assert_eq!(seen.waiting.contains(&format!("toolu_{id}")), awaited);
                prop_assert_eq!(seen.has(&format!("toolu_{id}")), of_id().any(|what| what != 2));
            }
        }
    }
}
