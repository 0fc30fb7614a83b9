//! The project: the program itself, git's hooks, the record, and what is open.

use seriatim_engine::guard::GuardError;
use seriatim_engine::hands::disk::Disk;
use seriatim_engine::ports::Ports;
use std::path::Path;
use std::sync::Arc;

use seriatim_core::hash::Hash;
use seriatim_core::roadmap::document::Document;
use seriatim_core::roadmap::verdict::AT_STOP;
use seriatim_core::roadmap::verdict::NOTHING_CHECKED;
use seriatim_core::roadmap::verdict::sentences;
use seriatim_engine::guard::Guard;
use seriatim_engine::guard::Mark;
use seriatim_engine::guard::Project;
use seriatim_engine::guard::book;
use seriatim_engine::guard::rules::Rules;
use seriatim_engine::home::Home;
use seriatim_engine::home::PLAIN;
use seriatim_journal::Store;

use super::Health;
use crate::guard::git_hooks::NAMES;
use crate::guard::git_hooks::Place;
use crate::guard::git_hooks::State;
use crate::guard::plan::named;
use crate::guard::program as other;
use crate::workspace::make_redactor;

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The gates that every project should have.
const GATES: [&str; 2] = ["tests", "lint"];

/// Hooks call the program by its name, so that name has to lead here.
pub(super) fn program(health: &mut Health, root: &Path) {
    let name = "program";
    let Some(found) = other::on_path("seriatim") else {
        return health.bad(name, "seriatim is not on PATH, so no hook can call it", "add its folder to PATH");
    };
    let shown = found.display();
    let here = std::env::current_exe().and_then(|path| path.canonicalize()).ok();
    if here.is_some() && found.canonicalize().ok() == here {
        return health.good(name, format!("{shown} is this program, version {VERSION}"));
    }
    let said =
        found.to_str().and_then(|program| other::said(root, &[program, "--version"])).unwrap_or_default();
    if said.trim() == format!("seriatim {VERSION}") {
        health.good(name, format!("{shown} is another file of the same version, {VERSION}"));
    } else {
        let detail = format!("hooks call {shown}, which says `{}`; this is {VERSION}", said.trim());
        health.bad(name, detail, "put this version first on PATH, or remove the other one");
    }
}

/// The record must not be committed by accident, nor be reached by `git clean`.
pub(super) fn store_place(health: &mut Health, root: &Path) {
    let home = Home::of(root);
    let place = named(root, home.store());
    if !home.is_in_git() || !home.store().ends_with(PLAIN) {
        return health.good("store", format!("{place}/ is out of reach of version control"));
    }
    let help = "run any command that writes when no other one is at work, such as `seriatim watchdog`";
    health.bad("store", format!("{place}/ is where earlier versions kept it, and could be committed"), help);
}

/// Git's hooks, where git looks for them now.
pub(super) fn git(health: &mut Health, root: &Path, mark: &Mark) {
    let Some(place) = Place::of(root) else {
        health.unprotected("Commits are not protected: this is no git repository.");
        return health.bad(
            "git hooks",
            "this is no git repository: commits are not protected",
            "`git init`, then `seriatim guard install`",
        );
    };
    for name in NAMES {
        let path = named(root, &place.folder.join(name));
        let check = format!("git hook {name}");
        let known = mark.git_hooks.iter().any(|kept| kept.path == path);
        let trouble = match place.state(name) {
            State::There => {
                let whose = if known { "" } else { ", though this project did not put it there" };
                health.good(check, format!("{path} is there, executable and unaltered{whose}"));
                continue;
            }
            State::Altered => format!("{path} was altered"),
            State::NotExecutable => format!("{path} is not executable, so git ignores it"),
            State::Foreign => format!("{path} was replaced by somebody else's"),
            State::Missing if known || mark.git_hooks.is_empty() => format!("{path} is missing"),
            State::Missing => {
                let setting = place.configured.as_deref().unwrap_or("unset");
                format!(
                    "git looks for hooks elsewhere since the guard was installed (core.hooksPath is {setting}), and \
                     {path} is missing"
                )
            }
        };
        health.bad(check, trouble, "`seriatim guard install` puts it right");
    }
    if place.tracked {
        let folder = named(root, &place.folder);
        health.unprotected(format!(
            "The hooks of git are in {folder}, which is tracked: a checkout can change them."
        ));
    }
}

/// The record opens, its chain holds, and the audit files are what it makes them.
pub(super) fn store(health: &mut Health, root: &Path, rules: &Result<Rules, GuardError>) {
    let help = "`seriatim verify` names what is damaged";
    let redactor = match rules {
        Ok(rules) => make_redactor(&rules.config.redact),
        Err(error) => {
            return health.bad(
                "record",
                error.to_string(),
                "mend what is named; until then every door stays shut",
            );
        }
    };
    let redactor = match redactor {
        Ok(redactor) => redactor,
        Err(error) => return health.bad("record", format!("seriatim.toml: {error}"), "mend the pattern"),
    };
    let home = Home::of(root);
    let store = match Store::open_read_only(home.store(), redactor) {
        Ok(Some(store)) => store.at(&home.key()),
        Ok(None) => return health.good("record", "nothing is recorded yet"),
        Err(error) => return health.bad("record", error.to_string(), help),
    };
    let flaws: Vec<String> = store.verify().problems.iter().map(|problem| problem.flaw.to_string()).collect();
    if !flaws.is_empty() {
        return health.bad("record", flaws.join("; "), help);
    }
    let trails = store.book(book::FLOW).and_then(|book| match book {
        Some(book) => book::trails(&store, book),
        None => Ok(vec![]),
    });
    match trails {
        Err(error) => health.bad("record", error.to_string(), help),
        Ok(trails) => {
            let altered: Vec<&str> = trails
                .iter()
                .filter(|trail| !is_sound(root, trail))
                .map(|trail| trail.file.as_str())
                .collect();
            if altered.is_empty() {
                health.good(
                    "record",
                    format!("its chain holds, and {} audit file(s) are as it makes them", trails.len()),
                );
            } else {
                health.bad(
                    "record",
                    format!("audit files were altered or are gone: {}", altered.join(", ")),
                    help,
                );
            }
        }
    }
}

fn is_sound(root: &Path, trail: &book::Expected) -> bool {
    let project = Project::new(root, Arc::new(Disk));
    let Ok(found) = std::fs::read(project.file(&trail.file)) else { return false };
    let (bytes, hash) = trail.adopted.unwrap_or((0, Hash::of(b"")));
    let Some((before, ours)) = usize::try_from(bytes).ok().and_then(|bytes| found.split_at_checked(bytes))
    else {
        return false;
    };
    Hash::of(before) == hash && ours == trail.text.as_bytes()
}

/// Steps that are under way: what they may change, and what keeps them from being closed.
pub(super) fn open_steps(health: &mut Health, project: &Project, ports: &Ports) {
    let name = "open steps";
    if !project.state_dir().is_dir() {
        return;
    }
    let mut guard = Guard::new(project, ports, &make_redactor);
    let steps = match guard.steps() {
        Ok(steps) => steps,
        Err(error) => return health.bad(name, error.to_string(), "`seriatim verify` tells more"),
    };
    let mut trouble = vec![];
    for step in &steps {
        if step.patterns.is_none() && is_undeclared(project, &step.step_file, &step.task_id) {
            trouble.push(format!(
                "{} declares no allowed_file_patterns, so that it may change any file",
                step.in_words()
            ));
        }
        match guard.unaccounted(step) {
            Ok(found) => {
                trouble.extend(sentences(&found).iter().map(|what| format!("{}: {what}", step.in_words())));
            }
            Err(error) => trouble.push(format!("{}: {error}", step.in_words())),
        }
        trouble
            .extend(sentences(&step.holds).iter().map(|hold| format!("{} is held: {hold}", step.in_words())));
    }
    if trouble.is_empty() {
        let none = steps.is_empty();
        health
            .good(name, if none { "none".to_owned() } else { format!("{}, none of them held", steps.len()) });
    } else {
        let help = "declare task_specification.allowed_file_patterns; finish or fail what is held";
        health.bad(name, trouble.join("; "), help);
    }
}

fn is_undeclared(project: &Project, file: &str, task_id: &str) -> bool {
    let Ok(text) = std::fs::read_to_string(project.root.join(file)) else { return false };
    let states = Document::read(file, &text).map(|document| document.states()).unwrap_or_default();
    states.iter().any(|state| state.task_id == task_id && state.allowed_patterns.is_none())
}

/// Without gates, what an agent says of its tests stands alone.
pub(super) fn gates(health: &mut Health, rules: &Result<Rules, GuardError>) {
    let Ok(rules) = rules else { return };
    let missing: Vec<&str> =
        GATES.into_iter().filter(|gate| !rules.config.gates.contains_key(*gate)).collect();
    let run: Vec<&str> = AT_STOP.into_iter().filter(|gate| rules.config.gates.contains_key(*gate)).collect();
    let run = match run.as_slice() {
        [] => NOTHING_CHECKED.to_owned(),
        some => format!("{} are run when a step is said to be done", some.join(", ")),
    };
    if missing.is_empty() {
        return health.good("gates", run);
    }
    health.good("gates", format!("{run}; not configured: {}", missing.join(", ")));
    health.unprotected(format!(
        "No gate is configured for {}: what an agent says of it is believed. Name a command under [gates] in seriatim.toml.",
        missing.join(" and ")
    ));
}
