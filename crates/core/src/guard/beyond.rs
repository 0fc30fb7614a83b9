//! What an agent of an open step may not do even where a prompt is in order (DS-27).
//!
//! The rules hold for the agent that works on the step, and for the agents it calls. Whoever starts steps is not
//! in one.

use super::scope::Allowed;

/// The step that an agent works on.
#[derive(Clone, Debug)]
pub struct OpenStep<'a> {
    /// The command that started it, as in `command:/nw:execute`.
    pub origin: &'a str,
    pub step_file: &'a str,
    pub step_id: Option<&'a str>,
    /// All of it is done, so that nothing is left to do.
    pub complete: bool,
    pub allowed: Option<&'a Allowed>,
}

/// What the agent is about to do. A call without markers has neither origin nor step.
#[derive(Clone, Debug, Default)]
pub struct Asked<'a> {
    pub origin: Option<&'a str>,
    pub step_file: Option<&'a str>,
    pub step_id: Option<&'a str>,
    /// Files that it would write, relative to the root of the project.
    pub writes: &'a [&'a str],
}

/// Why it may not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error(
        "this agent works on {step} for `{open}` and may not start `{asked}`; report, and leave that to whoever called you"
    )]
    OtherCommand { step: String, open: String, asked: String },
    #[error(
        "this agent works on {open} and may not work on {asked}; report, and leave that to whoever called you"
    )]
    OtherStep { open: String, asked: String },
    #[error("{step} is complete; stop and report, nothing more is to be done for it")]
    AfterCompletion { step: String },
    #[error(
        "Unexpected modification: {path}; {step} may not change it, so leave it and name it in your report if it has to change"
    )]
    OutOfScope { step: String, path: String },
}

/// Says whether something goes beyond the open step.
pub fn beyond(open: &OpenStep<'_>, asked: &Asked<'_>) -> Option<Refusal> {
    let step = named(open.step_file, open.step_id);
    if let Some(origin) = asked.origin.filter(|origin| *origin != open.origin) {
        return Some(Refusal::OtherCommand { step, open: open.origin.into(), asked: origin.into() });
    }
    let file = asked.step_file.unwrap_or(open.step_file);
    let other_file = super::path::relative(file) != super::path::relative(open.step_file);
    let other_id = asked.step_id.is_some() && asked.step_id != open.step_id;
    if other_file || other_id {
        return Some(Refusal::OtherStep { open: step, asked: named(file, asked.step_id) });
    }
    // The books of the step may still be kept when it is complete.
    let kept = |path: &str| open.allowed.is_some_and(|allowed| allowed.is_own(path));
    let works = asked.origin.is_some() || asked.step_file.is_some();
    if open.complete && (works || asked.writes.iter().any(|path| !kept(path))) {
        return Some(Refusal::AfterCompletion { step });
    }
    let outside =
        asked.writes.iter().find(|path| open.allowed.is_some_and(|allowed| !allowed.permits(path)))?;
    Some(Refusal::OutOfScope { step, path: (*outside).to_owned() })
}

fn named(file: &str, id: Option<&str>) -> String {
    match id {
        Some(id) => format!("step {id} of `{file}`"),
        None => format!("`{file}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(allowed: &Allowed) -> OpenStep<'_> {
        OpenStep {
            origin: "command:/nw:execute",
            step_file: "steps/01-02.json",
            step_id: None,
            complete: false,
            allowed: Some(allowed),
        }
    }

    fn allowed() -> Allowed {
        Allowed::new(Some(&["src/**".to_owned()]), true, Some("steps/01-02.json"), &[]).unwrap()
    }

    #[test]
    fn ds_27_work_inside_the_step_is_nobodys_concern() {
        let allowed = allowed();
        let open = open(&allowed);
        for asked in [
            Asked::default(),
            Asked {
                writes: &["src/a.rs", "steps/01-02.json", "steps/audit-2026-01-01.log"],
                ..Asked::default()
            },
            Asked {
                origin: Some("command:/nw:execute"),
                step_file: Some("./steps/01-02.json"),
                ..Asked::default()
            },
        ] {
            assert_eq!(beyond(&open, &asked), None, "{asked:?}");
        }
    }

    #[test]
    fn ds_27_another_command_another_step_and_other_files_are_refused() {
        let allowed = allowed();
        let open = open(&allowed);
        let said = |asked: Asked<'_>| beyond(&open, &asked).unwrap();
        assert!(matches!(
            said(Asked { origin: Some("command:/nw:split"), ..Asked::default() }),
            Refusal::OtherCommand { .. }
        ));
        assert!(matches!(
            said(Asked { step_file: Some("steps/01-03.json"), ..Asked::default() }),
            Refusal::OtherStep { .. }
        ));
        assert!(matches!(
            said(Asked { step_id: Some("01-03"), ..Asked::default() }),
            Refusal::OtherStep { .. }
        ));
        let refusal = said(Asked { writes: &["src/a.rs", "Cargo.toml"], ..Asked::default() });
        assert!(refusal.to_string().starts_with("Unexpected modification: Cargo.toml;"), "{refusal}");
    }

    #[test]
    fn ds_27_after_completion_only_the_books_are_kept() {
        let allowed = allowed();
        let open = OpenStep { complete: true, ..open(&allowed) };
        let books = Asked { writes: &["steps/01-02.json"], ..Asked::default() };
        assert_eq!(beyond(&open, &books), None);
        assert_eq!(beyond(&open, &Asked::default()), None);
        let work = Asked { writes: &["src/a.rs"], ..Asked::default() };
        assert!(matches!(beyond(&open, &work), Some(Refusal::AfterCompletion { .. })));
        let again = Asked { origin: Some("command:/nw:execute"), ..Asked::default() };
        assert!(matches!(beyond(&open, &again), Some(Refusal::AfterCompletion { .. })));
    }
}
