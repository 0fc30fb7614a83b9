//! The doctor: tries out whether the guard of a project guards, and says what it does not guard.
//!
//! Version, trust, settings and git can each disarm a guard without a word. So nothing is taken from what was
//! installed: files are read as they are now, and the hooks are really called.

mod canary;
mod clients;
mod project;

#[cfg(test)]
pub(super) use clients::is_trusted;

use seriatim_engine::guard::rules::Rules;
use seriatim_engine::ports::Ports;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use seriatim_core::guard::client::Client;
use seriatim_engine::guard::Mark;
use seriatim_engine::guard::Project;

use super::plan::Marked;
use super::plan::named;

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Check {
    pub(crate) name: String,
    pub(crate) ok: bool,
    pub(crate) detail: String,
    /// How to mend it; absent where nothing is to be mended.
    pub(crate) help: Option<String>,
}

/// All that was looked at, and what no check can make good.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Health {
    pub(crate) checks: Vec<Check>,
    pub(crate) ok: bool,
    /// What is not protected, also where all is well: one sentence each.
    pub(crate) not_protected: Vec<String>,
}

impl Health {
    fn good(&mut self, name: impl Into<String>, detail: impl Into<String>) {
        self.checks.push(Check { name: name.into(), ok: true, detail: detail.into(), help: None });
    }

    fn bad(&mut self, name: impl Into<String>, detail: impl Into<String>, help: impl Into<String>) {
        let (name, detail, help) = (name.into(), detail.into(), Some(help.into()));
        self.checks.push(Check { name, ok: false, detail, help });
    }

    fn unprotected(&mut self, sentence: impl Into<String>) {
        self.not_protected.push(sentence.into());
    }
}

/// Looks at everything.
pub(crate) fn examine(root: &Path) -> Health {
    let mut health = Health::default();
    project::program(&mut health, root);
    match Marked::read(root) {
        Marked::No => {
            let help = "put the guard in with `seriatim guard install`";
            health.bad("mark", "this project is not guarded", help);
            health.unprotected("Nothing in this project is protected: it has no guard.");
            return health;
        }
        Marked::Unreadable => {
            let help = "`seriatim guard uninstall`, then `seriatim guard install`";
            let mark = named(root, &Project::mark_path(root));
            health.bad(
                "mark",
                format!("{mark} cannot be read; hooks still refuse, but cannot tell what was there"),
                help,
            );
            guarded(&mut health, root, &Mark::default());
        }
        Marked::Yes { mark, .. } => {
            let clients: Vec<&str> = mark.clients.iter().map(|installed| installed.client.name()).collect();
            health.good("mark", format!("guarded for {}", clients.join(", ")));
            guarded(&mut health, root, &mark);
        }
    }
    health.ok = health.checks.iter().all(|check| check.ok);
    health
}

fn guarded(health: &mut Health, root: &Path, mark: &Mark) {
    let ports = Ports::real();
    let project = Project::new(root, Arc::clone(&ports.files));
    let rules = Rules::read(&project);
    project::store_place(health, root);
    // Before anything is called: a hook that writes the record also restores audit files that were altered.
    project::store(health, root, &rules);
    for installed in &mark.clients {
        clients::settings(health, root, installed);
        clients::switches(health, root, installed);
        clients::version(health, root, installed.client);
        if installed.client == Client::Codex {
            clients::trust(health, root, installed);
        }
        canary::sing(health, root, installed.client);
    }
    project::git(health, root, mark);
    project::open_steps(health, &project, &ports);
    project::gates(health, &rules);
    always(health);
}

/// What no hook on this machine can see.
fn always(health: &mut Health) {
    for sentence in [
        "A client that is started without its hooks (`claude --bare`, `--safe-mode`, another settings file) asks nobody.",
        "A program that a client runs can compute and make a commit by itself; git's hooks see it, `git commit --no-verify` \
         and `git push --no-verify` pass them by.",
        "Nothing is enforced on the server: whoever pushes from elsewhere is not asked. Let its own checks run `seriatim check` on the step files.",
        "Whoever may write these files may take the guard away; that is recorded where a client says it, and seen here.",
    ] {
        health.unprotected(sentence);
    }
}
