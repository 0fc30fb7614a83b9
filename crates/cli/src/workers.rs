//! Who will do the work of a run: which agent, by which program, with which environment.

use std::collections::BTreeMap;
use std::path::Path;
use std::path::PathBuf;

use serde::Serialize;
use seriatim_core::config::Agent;
use seriatim_core::config::Config;
use seriatim_core::config::Kind;
use seriatim_engine::hands::process::DEFAULT_ENVIRONMENT;
use seriatim_journal::Door;

use crate::ui::Tone;
use crate::ui::Ui;
use crate::ui::tone;

/// One agent and what it is called for.
#[derive(Serialize, Debug, Clone)]
pub(crate) struct Worker {
    /// The name of its table; absent where no agent is configured.
    agent: Option<String>,
    /// The roles and steps that it is called for, as far as they are known.
    #[serde(rename = "for")]
    tasks: Vec<String>,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<Vec<String>>,
    /// Where the program of the command is; absent where it was not found.
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    script: Option<String>,
    /// Names of the variables that are handed on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    environment: Vec<String>,
}

/// Finds who works for each of `calls`, which are the names that an agent is looked up by. Where they are not known
/// beforehand, every configured agent is told.
pub(crate) fn find(config: &Config, calls: Option<&[Vec<String>]>, root: &Path, door: &Door) -> Vec<Worker> {
    let mut tasks: BTreeMap<Option<String>, Vec<String>> = BTreeMap::new();
    for names in calls.unwrap_or_default() {
        let agent = config.agent(names).map(|(name, _)| name.to_owned());
        let known = tasks.entry(agent).or_default();
        if let Some(task) = names.first().filter(|task| !task.trim().is_empty() && !known.contains(task)) {
            known.push(task.clone());
        }
    }
    if calls.is_none() {
        tasks.extend(config.agents.keys().map(|name| (Some(name.clone()), vec![])));
    }
    let worker = |(name, tasks): (Option<String>, Vec<String>)| {
        let agent = name.as_ref().and_then(|name| config.agents.get(name));
        describe(name, agent, tasks, root, door)
    };
    tasks.into_iter().map(worker).collect()
}

fn describe(
    name: Option<String>,
    agent: Option<&Agent>,
    tasks: Vec<String>,
    root: &Path,
    door: &Door,
) -> Worker {
    let mut worker = Worker {
        agent: name,
        tasks,
        kind: "none",
        command: None,
        program: None,
        script: None,
        environment: vec![],
    };
    let Some(agent) = agent else { return worker };
    match &agent.kind {
        Kind::Command { argv } => {
            worker.kind = "command";
            worker.environment = match agent.env.is_empty() {
                true => DEFAULT_ENVIRONMENT.map(str::to_owned).to_vec(),
                false => agent.env.clone(),
            };
            let program = argv.first().and_then(|word| locate(word, &worker.environment, root));
            worker.program = program.map(|path| path.display().to_string());
            worker.command = Some(argv.iter().map(|word| door.clean_text(word)).collect());
        }
        Kind::Scripted { script } => {
            worker.kind = "scripted";
            worker.script = Some(script.clone());
        }
        Kind::Human => worker.kind = "human",
    }
    worker
}

/// Where a program is found: by its path from the workspace, else on the `PATH` that the agent is given.
fn locate(program: &str, environment: &[String], root: &Path) -> Option<PathBuf> {
    let is_program = |path: &PathBuf| path.is_file();
    if program.contains('/') {
        return Some(root.join(program)).filter(is_program);
    }
    let path = std::env::var_os("PATH").filter(|_| environment.iter().any(|name| name == "PATH"))?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(is_program)
}

impl Worker {
    /// Returns the worker as one line.
    pub(crate) fn line(&self) -> String {
        let tasks =
            if self.tasks.is_empty() { String::new() } else { format!(" for {}", self.tasks.join(", ")) };
        let Some(agent) = &self.agent else { return format!("nobody{tasks}: no agent is configured") };
        let by = match (&self.command, &self.script) {
            (Some(command), _) => {
                let name = command.first().map_or("", String::as_str);
                let program = match &self.program {
                    Some(program) => program.clone(),
                    None => format!("{name} not found"),
                };
                format!("`{}` ({program}), gets {}", command.join(" "), self.environment.join(", "))
            }
            (None, Some(script)) => format!("plays the script {script}"),
            (None, None) => "a person".to_owned(),
        };
        format!("{agent}{tasks}: {by}")
    }
}

/// Says on stderr who will work.
pub(crate) fn tell(ui: &Ui, workers: &[Worker]) {
    if ui.quiet || ui.json {
        return;
    }
    for worker in workers {
        ui.note(format!("{} {}", tone(Tone::Faint, "worker:"), worker.line()));
    }
}
