//! Linked worktrees: an agent may work apart from the project's own files, in a second checkout of its repository.

use std::path::Path;
use std::path::PathBuf;

use seriatim_core::guard::event::Event;

use super::OpenStep;
use crate::guard::project::Project;
use crate::guard::transcript;
use crate::hands::files::exists;
use crate::hands::files::read_text;

/// A checkout, and the folder of the repository that it is linked to.
struct Link {
    root: PathBuf,
    /// Where git keeps what belongs to this checkout alone.
    git: PathBuf,
}

/// The worktree of the project's repository in which a folder lies.
pub(in crate::guard) fn of(project: &Project, folder: &Path) -> Option<PathBuf> {
    link(project, folder).map(|link| link.root)
}

fn link(project: &Project, folder: &Path) -> Option<Link> {
    let files = project.files.as_ref();
    let root = folder.ancestors().find(|folder| exists(files, &folder.join(".git")))?;
    // Of the main checkout this is a folder, which cannot be read like that.
    let text = read_text(files, &root.join(".git")).ok()?;
    let git = files.resolve(&root.join(text.strip_prefix("gitdir:")?.trim())).ok()?;
    let ours = project.root.join(".git").join("worktrees");
    git.starts_with(&ours).then(|| Link { root: files.resolve(root).unwrap_or(root.to_owned()), git })
}

/// The commit that a worktree was made from: the first line of its own log.
pub(in crate::guard) fn made_from(project: &Project, root: &Path) -> Option<String> {
    let log = read_text(project.files.as_ref(), &link(project, root)?.git.join("logs/HEAD")).ok()?;
    let id = log.lines().next()?.split(' ').nth(1)?;
    let is_id = id.len() >= 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_id && id.bytes().any(|byte| byte != b'0')).then(|| id.to_owned())
}

/// Remembers where an agent works, if that is in a worktree. Which step it works on may be told only at its end.
pub(in crate::guard) fn note(project: &Project, event: &Event) {
    let (Some(agent), Some(cwd)) = (event.agent_id.as_deref(), event.cwd.as_deref()) else { return };
    let Some(root) = of(project, Path::new(cwd)) else { return };
    let place = place(project, agent);
    let noted = read_text(project.files.as_ref(), &place).unwrap_or_default();
    let Some(root) = root.to_str().filter(|root| !noted.lines().any(|line| line == *root)) else { return };
    project.leave_hint(&place, format!("{noted}{root}\n").as_bytes());
}

/// The worktrees in which agents of a step were seen, as far as they still exist.
pub(in crate::guard) fn of_step(project: &Project, step: &OpenStep) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = step.worktrees.keys().map(PathBuf::from).collect();
    for agent in step.agent_id.iter().chain(&step.agents) {
        let noted = read_text(project.files.as_ref(), &place(project, agent)).unwrap_or_default();
        found.extend(noted.lines().map(PathBuf::from));
    }
    found.sort();
    found.dedup();
    found.retain(|root| of(project, root).is_some());
    found
}

fn folder(project: &Project) -> PathBuf {
    project.guard_dir().join("seen").join(".trees")
}

fn place(project: &Project, agent: &str) -> PathBuf {
    folder(project).join(transcript::safe(agent))
}
