//! The user's hooks on what would be committed: they run before the commit, in a view of it, and what they change becomes
//! part of the change.

use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::guard::git_hook;
use seriatim_core::world::Isolation;
use seriatim_flows::request::HookRun;
use seriatim_flows::request::Hooked;

use super::failure;
use super::git_at;
use super::is_apart;
use super::private;
use crate::hands::git::Change;
use crate::hands::git::GitError;
use crate::hands::process::How;
use crate::hands::process::Input;
use crate::hands::process::Spawn;
use crate::hands::process::Watch;
use crate::hands::process::environment;
use crate::hands::repository::Repository;
use crate::job::Job;
use crate::perform::Hands;
use crate::perform::file_failure;
use crate::views;

/// Stages the files whose names come on standard input, and runs the hooks as git does. The second and third word are a
/// shell and the text of a hook that asks the guard, without that question: the commit is the engine's own. Nobody but the
/// engine can leave the question out in this way, since nothing that a hook or its environment says has a part in it.
/// The fourth word names the hooks that there are: one that cannot be found in the view is an error, and never a hook that
/// let the change pass. What a hook stages or takes out of the index must be what the files hold: it would be committed by
/// git and seen by nobody. Hooks print to the standard error; the message is printed as they left it.
const SCRIPT: &str = r#"
git read-tree --reset HEAD 2>/dev/null || git read-tree --empty || exit 125
git update-index --add --remove --replace -z --stdin || exit 125
git update-index -q --refresh >/dev/null
staged=$(git write-tree) || exit 125
hooks=$(git rev-parse --path-format=absolute --git-path hooks) || exit 125
for name in $4; do
    [ -x "$hooks/$name" ] && continue
    echo "the folder of hooks, $hooks, is not in the view of the change; name it under share in [worlds] of seriatim.toml" >&2
    exit 125
done
if [ -n "$2" ]; then
    top=$(git rev-parse --show-toplevel) && (cd "$top" && exec "$2" -c "$3" "$hooks/pre-commit") </dev/null >&2 || exit 1
else
    git hook run --ignore-missing pre-commit </dev/null || exit 1
fi
now=$(git write-tree) || exit 1
if [ "$now" != "$staged" ]; then
    top=$(git rev-parse --show-toplevel) && cd "$top" || exit 125
    git diff-tree -r -z --name-only "$staged" "$now" | git update-index --add --remove --replace -z --stdin || exit 125
    files=$(git write-tree) || exit 125
    if [ "$files" != "$now" ]; then
        echo "it stages something else than the files hold:" >&2
        git diff-tree -r --name-only "$now" "$files" >&2
        exit 1
    fi
fi
message=$(git rev-parse --git-path COMMIT_EDITMSG) || exit 125
printf '%s\n' "$1" >"$message" || exit 125
git hook run --ignore-missing commit-msg -- "$message" </dev/null || exit 1
cat "$message"
"#;
/// The script itself failed, and no hook.
const BROKEN: i32 = 125;
/// Hooks may run tests.
const HOOKS_MS: u64 = 1_800_000;
/// What hooks find of the user's environment.
const ENVIRONMENT: [&str; 14] = [
    "PATH",
    "HOME",
    "LANG",
    "TMPDIR",
    "USER",
    "LOGNAME",
    "XDG_CONFIG_HOME",
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
];

/// Runs the hooks. A refusal is a failure with what they printed.
pub(super) fn run(hands: &Hands, job: &Job, wanted: &HookRun, watch: &dyn Watch) -> Result<Hooked, Failure> {
    let git = git_at(hands, &wanted.tree, &[])?;
    let git = git.as_ref();
    let names = git.commit_hooks().map_err(failure)?;
    if names.is_empty() {
        return Ok(Hooked::default());
    }
    let place = match wanted.tree.as_str() {
        "" => hands.workspace.root().to_owned(),
        tree => hands.resolve(tree).map_err(|e| file_failure(&e))?,
    };
    let asks_guard = git.pre_commit_script().map_err(failure)?.and_then(|text| git_hook::without_gate(&text));
    let (shell, text) = asks_guard.map(|hook| (hook.shell, hook.text)).unwrap_or_default();
    let names = names.join(" ");
    let argv =
        ["sh", "-c", SCRIPT, "hooks", &wanted.message, &shell, &text, &names].map(str::to_owned).to_vec();
    let mut spawn = Spawn::new(argv, place.clone(), job.marker());
    spawn.env = environment(&ENVIRONMENT);
    spawn.env.push(("GIT_EDITOR".to_owned(), ":".to_owned()));
    spawn.env.push((super::trees::CHECKPOINT.to_owned(), job.run_name.clone()));
    spawn.stdin = Input::Bytes(wanted.paths.iter().flat_map(|path| path.bytes().chain([0])).collect());
    spawn.deadline_ms = Some(HOOKS_MS);
    let theirs = theirs(git, wanted).map_err(failure)?;
    let before = git.tree().map_err(failure)?;
    let isolation = views::enter_check(hands, job, &wanted.check, &place, true, &mut spawn)?;
    if isolation == Isolation::None {
        let index = private(hands).join(format!("hooks-{}", job.file_name()));
        spawn.env.push(("GIT_INDEX_FILE".to_owned(), index.display().to_string()));
    }
    let message = run_script(hands, &spawn, watch)?;
    let mut changed = match isolation {
        Isolation::None => {
            let after = git.changes_since(Some(&before)).map_err(failure)?;
            after.into_iter().flat_map(both).collect()
        }
        Isolation::World | Isolation::Copy => views::written_by_check(hands, job, &wanted.check, &place)?,
    };
    changed.retain(|path: &String| !is_apart(path, &wanted.apart));
    if let Some(path) = changed.iter().find(|path| theirs.contains(path)) {
        return Err(refused(format!(
            "it changes {path}, which holds changes of yours that are not committed"
        )));
    }
    if let Some(path) = changed.iter().find(|path| wanted.bounded && !wanted.paths.contains(path)) {
        return Err(refused(format!("it changes {path}, which is not among the files of the work")));
    }
    if isolation != Isolation::None && !changed.is_empty() {
        views::take_from_check(hands, job, wanted, &place, &changed)?.map_err(refused)?;
    }
    Ok(Hooked { ran: true, message, changed })
}

fn run_script(hands: &Hands, spawn: &Spawn, watch: &dyn Watch) -> Result<String, Failure> {
    let ended = hands.processes.run(spawn, watch);
    let ended = ended.map_err(|e| Failure::new(Class::Contract, e.to_string()).because(e.cause()))?;
    match ended.how {
        How::Exited(0) => Ok(ended.stdout.trim().to_owned()),
        How::Exited(BROKEN) => {
            let what = format!("the hooks of the repository cannot be run:\n{}", ended.stderr.trim());
            Err(Failure::new(Class::Contract, what))
        }
        How::Deadline => Err(refused("it did not finish in time".to_owned())),
        How::Exited(_) | How::Signaled(_) | How::Stopped => Err(refused(ended.stderr.trim().to_owned())),
    }
}

fn refused(output: String) -> Failure {
    failure(GitError::Hook { output })
}

/// Files of the user that differ from the last commit and are no part of the change.
fn theirs(git: &dyn Repository, wanted: &HookRun) -> Result<Vec<String>, GitError> {
    let Some(head) = git.head()? else { return Ok(vec![]) };
    let dirty = git.changes_since(Some(&head))?.into_iter().flat_map(both);
    Ok(dirty.filter(|path| !wanted.paths.contains(path)).collect())
}

fn both(change: Change) -> impl Iterator<Item = String> {
    [Some(change.path), change.old_path].into_iter().flatten()
}
