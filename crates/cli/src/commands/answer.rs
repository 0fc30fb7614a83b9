//! `seriatim answer`

use serde_json::json;
use seriatim_core::question::Answer as Given;
use seriatim_core::question::Question;
use seriatim_engine::drive::ConfigChoice;
use seriatim_engine::guard;
use seriatim_engine::guard::Guard;
use seriatim_engine::guard::Project;
use seriatim_engine::ports::Ports;
use seriatim_journal::Answered;
use seriatim_journal::Call;
use seriatim_journal::NewSignal;
use seriatim_journal::Open;
use seriatim_journal::SignalKind;
use seriatim_journal::Signalled;
use seriatim_journal::Store;
use seriatim_journal::Target;
use std::sync::Arc;

use crate::args::Context;
use crate::commands::resume;
use crate::commands::run::config_choice;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::workspace::Workspace;
use crate::workspace::make_redactor;
use crate::workspace::now;

/// Answer an open question; `resume` then continues its run
///
/// The answer is bound to what was shown. The first answer wins; another one changes nothing.
#[derive(clap::Args, Debug)]
pub(crate) struct Answer {
    /// The question, as `inbox` names it (q1, q2 ...)
    question: String,
    /// The option: its word or its label
    choice: String,
    /// Words of your own
    #[arg(long)]
    text: Option<String>,
    /// Who answers; by default the user of this machine
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// Continue the run at once
    #[arg(long)]
    resume: bool,
    /// With --resume: continue with the recorded configuration (old) or with that of the file (new), where they differ
    #[arg(long, value_name = "old|new", value_parser = config_choice, requires = "resume")]
    config: Option<ConfigChoice>,
}

pub(crate) fn run(context: &Context, command: &Answer) -> Result<Exit> {
    let workspace = match command.resume {
        true => Workspace::open_for(context, command.config)?,
        false => Workspace::open_to_look(context)?,
    };
    let mut store = workspace.store()?;
    let open = match store.call(&command.question)? {
        Call::Open(open) => open,
        Call::Closed(closed) => {
            let recorded = closed.outcome.as_deref().and_then(|b| serde_json::from_slice(b).ok());
            return Err(match recorded {
                Some(given) => answered_before(&command.question, &given),
                None => CommandError::usage(format!("`{}` is no longer open", command.question))
                    .hint("its run ended or went another way; `seriatim inbox` lists what is open"),
            });
        }
    };
    let question: Question = serde_json::from_slice(&open.body)
        .map_err(|e| CommandError::not_good(format!("the question cannot be read: {e}")))?;
    let choice = question.choose(&command.choice, command.text.as_deref()).map_err(|e| {
        CommandError::usage(e.to_string()).hint("`seriatim inbox` shows what each option leads to")
    })?;
    let by = command.by.clone().unwrap_or_else(crate::session::whoami);
    let given =
        Given { choice: choice.id.clone(), text: command.text.clone(), by: by.clone(), digest: open.digest };
    if guard::is_guards(&open.key) {
        return decide(context, &workspace, store, &open, &given, &choice.label);
    }
    let body = store.clean(serde_json::to_vec(&given).unwrap_or_default());
    let signal = NewSignal {
        to: Target::Call(open.id.clone()),
        kind: SignalKind::Answer,
        body,
        by,
        at: now(),
        digest: open.digest,
    };
    match store.signal(&signal)? {
        Signalled::Recorded { .. } => {}
        Signalled::Already(Answered { body, by, .. }) => {
            let recorded = body.as_deref().and_then(|b| serde_json::from_slice::<Given>(b).ok());
            let recorded = recorded.unwrap_or(Given { by, ..given });
            return Err(answered_before(&open.id, &recorded));
        }
        Signalled::Closed(_) | Signalled::Over { .. } | Signalled::Changed { .. } => {
            return Err(CommandError::usage(format!("`{}` is no longer open as it was shown", open.id))
                .hint("`seriatim inbox` lists what is open"));
        }
    }
    context.ui.say(format!("Recorded: {}.", choice.label));
    if command.resume {
        let _ = store.close();
        return resume::run(context, &resume::Resume::of(&open.run_name, command.config));
    }
    context.ui.document(&json!({
        "question": open.id, "run": open.run_name, "choice": given.choice, "text": given.text, "by": given.by,
    }));
    if let Ok(info) = store.run(open.run)
        && info.holder.is_none()
    {
        let there = workspace.elsewhere(&store, &info)?;
        let there = there.map(|folder| format!("--workspace {} ", folder.display())).unwrap_or_default();
        context.ui.tell(format!("Continue with:  seriatim {there}resume {}", open.run_name));
    }
    let _ = store.close();
    Ok(Exit::Good)
}

/// The guard takes notice at once: there is no run that would have to be continued.
fn decide(
    context: &Context,
    workspace: &Workspace,
    store: Store,
    open: &Open,
    given: &Given,
    label: &str,
) -> Result<Exit> {
    let ports = Ports::real();
    let project = Project::new(workspace.home.folder_of(&open.workspace), Arc::clone(&ports.files));
    let guard = Guard::new(&project, &ports, &make_redactor);
    let mut guard = guard.with_config(workspace.config.clone()).with_store(store);
    let decided = guard.decide(&open.key, given);
    decided.map_err(|error| CommandError::not_good(error.to_string()))?;
    context.ui.document(&json!({
        "question": open.id, "run": open.run_name, "choice": given.choice, "text": given.text, "by": given.by,
    }));
    context.ui.say(format!("Recorded: {label}."));
    Ok(Exit::Good)
}

fn answered_before(id: &str, given: &Given) -> CommandError {
    let words = given.text.as_deref().map(|t| format!(" (\"{t}\")")).unwrap_or_default();
    CommandError::usage(format!(
        "`{id}` was answered already: `{}`{words} by {}; that answer stands and nothing was changed",
        given.choice, given.by
    ))
}
