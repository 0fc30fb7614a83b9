//! `seriatim commit-gate`

use seriatim_engine::ports::Ports;

use serde_json::json;
use seriatim_engine::guard::Gate;
use seriatim_engine::guard::Guard;
use seriatim_engine::guard::Project;

use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::inside;
use crate::inside::Reads;
use crate::workspace::Workspace;
use crate::workspace::make_redactor;

/// Say whether the staged commit may be made: what the git pre-commit hook runs
///
/// A step governs a commit when its state file is staged, or when it was started under the guard and no passed gate has
/// closed it yet. Where it finishes work, the gates of the project that were not green on these files are run first. Exit codes: 0 it may, 1 it may not (each reason is named).
#[derive(clap::Args, Debug)]
pub(crate) struct CommitGate {
    /// Look at what is about to be pushed, as the pre-push hook gets it on stdin
    #[arg(long)]
    push: bool,
    /// What git gives the hook: the remote's name and address
    #[arg(hide = true)]
    rest: Vec<String>,
}

impl CommitGate {
    /// Returns what it reads: git tells the hook of a push on its standard input.
    pub(crate) fn reads(&self) -> Reads {
        if self.push { Reads::Stdin } else { Reads::Nothing }
    }
}

pub(crate) fn run(context: &Context, command: &CommitGate) -> Result<Exit> {
    let root = Workspace::find(context.workspace.as_deref())?;
    // A hook of git that is left over in a project without a guard holds nobody up.
    let ports = Ports::real();
    let Some(project) = Project::find(&ports.files, &root) else {
        context.ui.document(&json!({"passed": true, "guarded": false, "reasons": []}));
        return Ok(Exit::Good);
    };
    let gate = judge(context, &project, &ports, command);
    let (passed, reasons, advice, notes) = match &gate {
        Ok(gate) => (gate.lets_pass(), gate.reasons(), gate.advice(), gate.notes.clone()),
        // Never a silent pass.
        Err(error) => (false, vec![error.message.clone()], vec![], vec![]),
    };
    context.ui.document(&json!({
        "passed": passed, "guarded": true, "reasons": reasons, "advice": advice, "notes": notes,
    }));
    notes.iter().for_each(|note| context.ui.note(format!("The guard of this project: {note}")));
    if passed {
        return Ok(Exit::Good);
    }
    let what = if command.push { "The push" } else { "The commit" };
    context.ui.note(format!("{what} is held by the guard of this project:"));
    for reason in &reasons {
        context.ui.note(format!("- {reason}"));
    }
    for advice in &advice {
        context.ui.note(advice.clone());
    }
    context.ui.note("`seriatim guard status` shows what is open.".to_owned());
    Ok(Exit::NotGood)
}

fn judge(context: &Context, project: &Project, ports: &Ports, command: &CommitGate) -> Result<Gate> {
    let workspace = Workspace::open_at(context, project.root.clone())?;
    let mut guard = Guard::new(project, ports, &make_redactor).with_config(workspace.config);
    let judged = if command.push {
        let unread =
            |error: std::io::Error| CommandError::usage(format!("what git says cannot be read: {error}"));
        let lines = String::from_utf8(inside::input(context, u64::MAX).map_err(unread)?)
            .map_err(|_| CommandError::usage("what git says cannot be read: it is not UTF-8"))?;
        guard.push_gate(&tips(&lines))
    } else {
        guard.commit_gate()
    };
    judged.map_err(|error| CommandError::usage(error.to_string()))
}

/// What is pushed: each new commit, and the one that the remote has. Branches that are deleted bring nothing.
fn tips(lines: &str) -> Vec<(String, Option<String>)> {
    let is_none = |id: &str| id.bytes().all(|byte| byte == b'0');
    lines
        .lines()
        .filter_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [_, local, _, remote] = words.as_slice() else { return None };
            (!is_none(local)).then(|| ((*local).to_owned(), (!is_none(remote)).then(|| (*remote).to_owned())))
        })
        .collect()
}
