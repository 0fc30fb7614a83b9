//! `seriatim run step`

use seriatim_core::roadmap::command;
use seriatim_core::roadmap::command::Message;
use seriatim_core::roadmap::command::Target;
use seriatim_flows::roadmap::Start;

use super::Asking;
use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::roadmaps;
use crate::session::Begin;
use crate::session::Session;

/// Carry out one step of a roadmap through its phases
///
/// The agent is called once for each phase; the engine runs the tests itself, keeps the state file, and commits at
/// checkpoints. What was begun before is continued at its first open phase.
#[derive(clap::Args, Debug)]
#[command(override_usage = "seriatim run step [OPTIONS] @AGENT PROJECT STEP")]
pub(crate) struct Step {
    /// @AGENT, PROJECT and STEP, like: @software-crafter auth-upgrade 01-01
    #[arg(required = true, num_args = 0.., value_name = "PARAMETER")]
    parameters: Vec<String>,
    /// Start no agent: a live session takes the assignments (`inbox`) and hands its reports in (`report`)
    #[arg(long)]
    attach: bool,
    #[command(flatten)]
    asking: Asking,
}

pub(super) fn run(context: &Context, command: &Step) -> Result<Exit> {
    let answers = command.asking.answers()?;
    let workspace = crate::workspace::Workspace::open(&context.ui, context.workspace.as_deref())?;
    let registry = roadmaps::registry(&workspace.config);
    let invocation = command::parse(&command.parameters, &registry)?;
    let (project, step) = match invocation.target {
        Target::Step { project, step } => (project, step),
        Target::File { path } => of_file(&path)?,
    };
    let place = roadmaps::find(&workspace.root, &project)?;
    let roadmap = roadmaps::read(&workspace, &place.roadmap)?;
    if roadmap.step(&step).is_none() {
        let available = roadmap.ids().into_iter().map(str::to_owned).collect();
        return Err(Message::StepNotFound { step, available }.into());
    }
    roadmaps::needs_git(&workspace)?;
    let mut session = Session::open_with(context, command.asking.config)?;
    if !command.attach {
        roadmaps::availability(&workspace.config, &session.store)?.check(&invocation.agent, &registry)?;
    }
    if let Some(run) = roadmaps::same_work(&session.store, &project, Some(&step))? {
        return Err(roadmaps::under_way(&run));
    }
    let start = Start {
        only: Some(step.clone()),
        agent: Some(invocation.agent.clone()),
        attach: command.attach,
        ..roadmaps::start(&workspace, &project, place)
    };
    context.ui.tell(format!("Step {step} of {project} goes to @{}.", invocation.agent));
    let name = roadmap.step(&step).map(|step| step.name.clone()).unwrap_or_default();
    let begin = Begin {
        flow: "roadmap",
        title: format!("@{} {project} {step}: {name}", invocation.agent),
        subject: roadmaps::subject(&project, Some(&step)),
        input: super::input(&start)?,
        calls: Some(vec![vec![invocation.agent.clone()]]),
    };
    let view = super::carry_out(context, &mut session, begin, answers, &command.asking)?;
    let exit = view.show(&context.ui, &session.workspace);
    session.close();
    Ok(exit)
}

/// The step that an old path names (K-13).
fn of_file(path: &str) -> Result<(String, String)> {
    let parts: Vec<&str> = path.split('/').collect();
    let at = parts.iter().position(|part| *part == "steps");
    let project = at.and_then(|at| parts.get(at.checked_sub(1)?)).copied();
    let step = parts.last().and_then(|name| name.strip_suffix(".json"));
    match (project, step) {
        (Some(project), Some(step)) => Ok((project.to_owned(), step.to_owned())),
        _ => Err(CommandError::usage(format!("{path} does not name a step file of a project"))
            .hint("docs/feature/PROJECT/steps/STEP.json")),
    }
}
