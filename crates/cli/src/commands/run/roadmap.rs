//! `seriatim run roadmap`

use seriatim_flows::roadmap::Start;
use seriatim_flows::roadmap::USUAL_AGENT;

use super::Asking;
use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::roadmaps;
use crate::session::Begin;
use crate::session::Session;

/// Carry out all open steps of a roadmap, each after everything that it needs
///
/// One step after the other; with --parallel N up to N steps that need nothing of one another at a time, each in a
/// working tree of its own, brought home in the order of the roadmap. One step's failure keeps the others' work.
#[derive(clap::Args, Debug)]
pub(crate) struct Roadmap {
    /// The project, whose files are in docs/feature/PROJECT
    project: String,
    /// The agent for all steps, instead of those that the steps suggest
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// How many steps may be carried out at a time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    parallel: u32,
    /// Start no agent: a live session takes the assignments (`inbox`) and hands its reports in (`report`)
    #[arg(long)]
    attach: bool,
    #[command(flatten)]
    asking: Asking,
}

pub(super) fn run(context: &Context, command: &Roadmap) -> Result<Exit> {
    let answers = command.asking.answers()?;
    let workspace = crate::workspace::Workspace::open(&context.ui, context.workspace.as_deref())?;
    let registry = roadmaps::registry(&workspace.config);
    let project = seriatim_core::roadmap::command::project(&command.project)?;
    let agent = command.agent.as_deref().map(|agent| agent.trim_start_matches('@').to_owned());
    if let Some(agent) = &agent {
        registry.accept(agent)?;
    }
    let place = roadmaps::find(&workspace.root, &project)?;
    let roadmap = roadmaps::read(&workspace, &place.roadmap)?;
    roadmaps::needs_git(&workspace)?;
    let mut session = Session::open_with(context, command.asking.config)?;
    let available = roadmaps::availability(&workspace.config, &session.store)?;
    let wanted = |step: &seriatim_core::roadmap::plan::Step| {
        agent.clone().or_else(|| step.agent.clone()).unwrap_or_else(|| USUAL_AGENT.to_owned())
    };
    let calls = roadmap.steps.iter().map(|step| vec![wanted(step)]).collect();
    if !command.attach {
        for step in &roadmap.steps {
            available.check(&wanted(step), &registry)?;
        }
    }
    if roadmap.steps.is_empty() {
        return Err(CommandError::usage(format!("{} has no steps", place.roadmap)));
    }
    if let Some(run) = roadmaps::same_work(&session.store, &project, None)? {
        return Err(roadmaps::under_way(&run));
    }
    let start = Start {
        agent,
        parallel: command.parallel,
        attach: command.attach,
        ..roadmaps::start(&workspace, &project, place)
    };
    let begin = Begin {
        flow: "roadmap",
        title: format!("roadmap of {project}"),
        subject: roadmaps::subject(&project, None),
        input: super::input(&start)?,
        calls: Some(calls),
    };
    let view = super::carry_out(context, &mut session, begin, answers, &command.asking)?;
    let exit = view.show(&context.ui, &session.workspace);
    session.close();
    Ok(exit)
}
